/* SPDX-License-Identifier: MIT */
#include "snap/skip.h"

#include <string.h>

static const struct {
    const char *word, *text;
} reasons[SNAP_REASONS] = {
    [SNAP_SKIP_LARGE] = { "large", "larger than --max-file" },
    [SNAP_SKIP_MANY] = { "many", "more files than --max-files" },
    [SNAP_SKIP_TOTAL] = { "total", "more bytes in all than --max-total" },
    [SNAP_SKIP_UNREADABLE] = { "unreadable", "cannot be read" },
    [SNAP_SKIP_CHANGING] = { "changing", "was being written to" },
    [SNAP_SKIP_DEVICE] = { "device", "a device" },
    [SNAP_SKIP_FIFO] = { "fifo", "a fifo" },
    [SNAP_SKIP_SOCKET] = { "socket", "a socket" },
    [SNAP_SKIP_MOUNT] = { "mount", "another file system" },
    [SNAP_SKIP_NAME] = { "name", "its name cannot be kept" },
    [SNAP_SKIP_OURS] = { "ours", "where ahr keeps its files" },
};

const char *
snap_reason_word(enum snap_reason r)
{
    return reasons[r].word;
}

void
snap_skips_release(struct snap_skips *s)
{
    buf_release(&s->list);
    *s = (struct snap_skips){ 0 };
}

int
snap_skips_add(struct snap_skips *s, enum snap_reason why, const char *path)
{
    s->count++;
    if (s->kept >= SNAP_SKIPS_KEPT)
        return 0;
    size_t before = s->list.n;
    buf_printf(&s->list, "%s %s", snap_reason_word(why), path);
    buf_append(&s->list, "", 1);
    if (!s->list.failed) {
        s->kept++;
        return 0;
    }
    s->list.n = before;
    return s->list.failed;
}

bool
snap_skip_next(struct view *rest, struct snap_skip *ret)
{
    const uint8_t *end = rest->n ? memchr(rest->p, 0, rest->n) : NULL;
    const uint8_t *space = end ? memchr(rest->p, ' ', (size_t)(end - rest->p)) : NULL;
    if (!space)
        return false;
    *ret = (struct snap_skip){ .word = (const char *)rest->p,
                               .word_len = (size_t)(space - rest->p),
                               .path = (const char *)space + 1 };
    rest->n -= (size_t)(end + 1 - rest->p);
    rest->p = end + 1;
    return true;
}

const char *
snap_skip_text(const struct snap_skip *s)
{
    for (int r = 0; r < SNAP_REASONS; r++)
        if (strlen(reasons[r].word) == s->word_len &&
            !strncmp(reasons[r].word, s->word, s->word_len))
            return reasons[r].text;
    return "left out";
}
