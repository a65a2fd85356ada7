/* SPDX-License-Identifier: MIT */
/*
 * entire_prompt.c -- prompt.txt: what the user said first.
 *
 * It is there with the first that is said, for a writer may be killed; where that comes
 * line by line, it is replaced once by all of it. One that others have made stays; what a
 * killed writer has left is known by being some of the lines, from the first one on.
 */
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include "journal/entire.h"
#include "journal/entire_priv.h"
#include "journal/file_priv.h"

static const char name[] = "prompt.txt";

enum { PROMPT_MAX = 16 << 20 }; /* of many lines */

void
entire_prompt_find(struct entire_prompt *p, int dir_fd)
{
    struct stat st;
    (void)unlinkat(dir_fd, "prompt.txt.new", 0);
    p->is_left = fstatat(dir_fd, name, &st, AT_SYMLINK_NOFOLLOW) == 0;
}

static bool
is_blank(struct view text)
{
    for (size_t i = 0; i < text.n; i++)
        if (!strchr(" \t\r\n", text.p[i]))
            return false;
    return true;
}

static int
begin(struct entire_prompt *p, struct view text, bool is_plain)
{
    if (is_blank(text))
        return 0;
    p->text.ceiling = SIZE_MAX; /* one event's, and PROMPT_MAX */
    int r = buf_append(&p->text, text.p, text.n);
    if (r < 0)
        return r;
    p->state = ENTIRE_PROMPT_WAITS;
    p->is_open = is_plain;
    p->is_left &= is_plain; /* else it was all there was */
    return 0;
}

int
entire_prompt_add(struct entire_prompt *p, struct view text, bool is_plain)
{
    if (p->state == ENTIRE_PROMPT_NONE)
        return begin(p, text, is_plain);
    if (!p->is_open)
        return 0;
    if (text.n >= PROMPT_MAX || p->text.n >= PROMPT_MAX - text.n) {
        entire_prompt_end(p);
        return 0;
    }
    int r = buf_puts(&p->text, "\n");
    if (!r)
        r = buf_append(&p->text, text.p, text.n);
    p->has_more = p->state == ENTIRE_PROMPT_DONE;
    return r;
}

void
entire_prompt_end(struct entire_prompt *p)
{
    p->is_open = false;
    if (p->has_more)
        p->state = ENTIRE_PROMPT_WAITS;
    p->has_more = false;
    if (p->state == ENTIRE_PROMPT_DONE)
        buf_release(&p->text);
}

/* Has the file the first lines of it, and not all? */
static bool
is_beginning(int dir_fd, struct view text)
{
    AUTO(buf) left = { .ceiling = SIZE_MAX };
    int r = journal_file_read(dir_fd, name, text.n, &left);
    return !r && left.n && left.n < text.n && text.p[left.n] == '\n' &&
           !memcmp(left.p, text.p, left.n);
}

int
entire_prompt_put(struct entire_prompt *p, int dir_fd)
{
    struct view text = { p->text.p, p->text.n };
    if (p->state != ENTIRE_PROMPT_WAITS || (p->is_left && p->is_open))
        return 0;
    p->is_our_own |= p->is_left && is_beginning(dir_fd, text);
    int r = p->is_our_own ? journal_entire_replace(dir_fd, name, text, 0600)
                          : entire_folder_put(dir_fd, name, text);
    if (r < 0)
        return r;
    p->state = ENTIRE_PROMPT_DONE;
    p->is_our_own |= !r;
    p->is_open &= p->is_our_own;
    if (!p->is_open)
        buf_release(&p->text);
    return 0;
}
