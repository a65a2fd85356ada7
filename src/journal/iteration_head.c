/* SPDX-License-Identifier: MIT */
/* iteration_head.c -- the head of an iteration log, to and from text. Pure. */
#include <inttypes.h>

#include "base/num.h"
#include "base/utf8.h"
#include "journal/iteration.h"

static const char *const STATUSES[] = {
    [JOURNAL_IN_PROGRESS] = "in_progress",
    [JOURNAL_COMPLETED] = "completed",
    [JOURNAL_ABORTED] = "aborted",
    [JOURNAL_CRASHED] = "crashed",
};

enum { STATUS_COUNT = sizeof(STATUSES) / sizeof(STATUSES[0]) };

const char *
journal_status_name(enum journal_status status)
{
    return STATUSES[status];
}

/* -- writing -- */

/* What follows the Status line. */
static void
put_rest(const struct journal_head *h, struct buf *out)
{
    bool is_cut_off = h->status == JOURNAL_ABORTED || h->status == JOURNAL_CRASHED;
    if (h->status == JOURNAL_COMPLETED && h->duration_ms != UINT64_MAX)
        buf_printf(out, "Duration: %" PRIu64 "ms\n", h->duration_ms);
    if (h->status == JOURNAL_COMPLETED && h->exit_code != INT64_MIN)
        buf_printf(out, "Exit Code: %" PRId64 "\n", h->exit_code);
    if (is_cut_off && h->interrupted[0])
        buf_printf(out, "Interrupted: %s\n", h->interrupted);
    buf_puts(out, "---\n\n");
}

int
journal_head_format(const struct journal_head *h, size_t size, struct buf *out)
{
    AUTO(buf) rest = { 0 };
    size_t start = out->n;
    buf_printf(out, "# Iteration %" PRIu64 "\nTimestamp: %s\nStatus: %s", h->iteration,
               h->timestamp, STATUSES[h->status]);
    put_rest(h, &rest);
    size_t used = out->n - start + 1 + rest.n;
    int r = rest.failed ? rest.failed : out->failed;
    if (!r && used > size)
        r = ERR_LIMIT;
    if (r < 0) {
        out->n = start;
        return r;
    }
    uint8_t *p = buf_grow(out, size - used);
    if (p)
        memset(p, ' ', size - used);
    buf_puts(out, "\n");
    buf_append(out, rest.p, rest.n);
    return out->failed;
}

void
journal_head_reason(struct journal_head *h, const char *text)
{
    size_t n = 0, left = strlen(text), max = sizeof(h->interrupted) - 1;
    uint32_t rune;
    int len;
    for (; left; text += len, left -= (size_t)len) {
        const uint8_t *p = (const uint8_t *)text;
        len = utf8_next(p, left, &rune);
        bool is_plain = len > 0 && utf8_is_line(p, (size_t)len) && (n || *text != ' ');
        len = len > 0 ? len : 1;
        if (n + (size_t)len > max)
            break;
        if (is_plain) {
            memcpy(h->interrupted + n, text, (size_t)len);
            n += (size_t)len;
        } else if (n && h->interrupted[n - 1] != ' ') {
            h->interrupted[n++] = ' ';
        }
    }
    while (n && h->interrupted[n - 1] == ' ')
        n--;
    h->interrupted[n] = 0;
}

/* -- reading -- */

static struct view
trimmed(struct view v)
{
    while (v.n && (v.p[v.n - 1] == ' ' || v.p[v.n - 1] == '\r'))
        v.n--;
    while (v.n && v.p[0] == ' ')
        v.p++, v.n--;
    return v;
}

static bool
is_word(struct view v, const char *word)
{
    return v.n == strlen(word) && !memcmp(v.p, word, v.n);
}

static bool
skip_prefix(struct view *v, const char *prefix)
{
    size_t n = strlen(prefix);
    if (v->n < n || memcmp(v->p, prefix, n) != 0)
        return false;
    *v = trimmed((struct view){ v->p + n, v->n - n });
    return true;
}

/* Takes the next line, without its newline. False: there is no whole one. */
static bool
next_line(struct view bytes, size_t *at, struct view *ret)
{
    const uint8_t *p = bytes.p + *at, *end = NULL;
    if (*at < bytes.n)
        end = memchr(p, '\n', bytes.n - *at);
    if (!end)
        return false;
    *ret = (struct view){ p, (size_t)(end - p) };
    *at += ret->n + 1;
    return true;
}

static int
read_text(struct view v, char *ret, size_t size)
{
    if (v.n >= size || !utf8_is_line(v.p, v.n))
        return ERR_DAMAGED;
    memcpy(ret, v.p, v.n);
    ret[v.n] = 0;
    return 0;
}

static int
read_status(struct view v, struct journal_head *h)
{
    for (int i = 0; i < STATUS_COUNT; i++)
        if (is_word(v, STATUSES[i])) {
            h->status = (enum journal_status)i;
            return 0;
        }
    return ERR_DAMAGED;
}

/* What is no number is as if it were not there: "null" is what some would write. */
static void
read_duration(struct view v, struct journal_head *h)
{
    uint64_t ms;
    if (v.n > 2 && !memcmp(v.p + v.n - 2, "ms", 2) &&
        !num_parse((struct view){ v.p, v.n - 2 }, UINT64_MAX - 1, &ms))
        h->duration_ms = ms;
}

static void
read_exit_code(struct view v, struct journal_head *h)
{
    bool is_negative = v.n && v.p[0] == '-';
    uint64_t code;
    if (is_negative)
        v.p++, v.n--;
    if (!num_parse(v, INT64_MAX, &code))
        h->exit_code = is_negative ? -(int64_t)code : (int64_t)code;
}

static int
read_line(struct view line, struct journal_head *h)
{
    if (skip_prefix(&line, "Timestamp:"))
        return read_text(line, h->timestamp, sizeof(h->timestamp));
    if (skip_prefix(&line, "Status:"))
        return read_status(line, h);
    if (skip_prefix(&line, "Interrupted:"))
        return read_text(line, h->interrupted, sizeof(h->interrupted));
    if (skip_prefix(&line, "Duration:"))
        read_duration(line, h);
    else if (skip_prefix(&line, "Exit Code:"))
        read_exit_code(line, h);
    return 0; /* and what a later one may add */
}

int
journal_head_read(struct view bytes, struct journal_head *ret)
{
    struct journal_head h = { .status = JOURNAL_COMPLETED,
                              .duration_ms = UINT64_MAX,
                              .exit_code = INT64_MIN };
    struct view line;
    size_t at = 0;
    if (bytes.n > JOURNAL_HEAD_MAX)
        bytes.n = JOURNAL_HEAD_MAX;
    if (!next_line(bytes, &at, &line) || !skip_prefix(&line, "# Iteration ") ||
        num_parse(trimmed(line), UINT64_MAX, &h.iteration) < 0)
        return ERR_DAMAGED;
    for (;;) {
        if (!next_line(bytes, &at, &line))
            return ERR_DAMAGED;
        if (is_word(trimmed(line), "---"))
            break;
        if (read_line(line, &h) < 0)
            return ERR_DAMAGED;
    }
    size_t behind = at;
    if (next_line(bytes, &behind, &line) && !trimmed(line).n)
        at = behind;
    h.size = at;
    *ret = h;
    return 0;
}
