/* SPDX-License-Identifier: MIT */
/*
 * match_git.c -- abbreviated names of commits, where git says them.
 *
 * A commit made anew has another name each time, though the same is in it. Seven
 * hexadecimal digits may be anything; where git writes them they are that.
 */
#include "calls/match_priv.h"

enum { NAME_LEAST = 7, NAME_MOST = 16, LINE_BACK = 120 };

static bool
is_hex(uint8_t c)
{
    return calls_is_digit(c) || (c >= 'a' && c <= 'f');
}

/* Behind such a name at `start`; 0: there is none. */
static size_t
name_end(struct view in, size_t start)
{
    size_t end = start;
    while (end < in.n && end - start <= NAME_MOST && is_hex(in.p[end]))
        end++;
    bool is_name = end - start >= NAME_LEAST && end - start <= NAME_MOST &&
                   !calls_is_alnum(calls_byte_at(in, end));
    return is_name ? end : 0;
}

static bool
is_behind(struct view in, size_t start, const char *what)
{
    size_t n = strlen(what);
    return start >= n && calls_is_at(in, start - n, what);
}

/* Also where the line's end is an escape, in JSON within a string. */
static bool
is_line_start(struct view in, size_t start)
{
    return !start || in.p[start - 1] == '\n' || is_behind(in, start, "\\n");
}

/* git log --oneline, with --graph or without. */
static bool
is_of_log(struct view in, size_t start, size_t end)
{
    return calls_byte_at(in, end) == ' ' &&
           (is_line_start(in, start) || is_behind(in, start, "* "));
}

/* [main 1a2b3c4] says git commit, [main (root-commit) 1a2b3c4] at first. */
static bool
is_of_commit(struct view in, size_t start, size_t end)
{
    if (calls_byte_at(in, end) != ']' || calls_byte_at(in, start - 1) != ' ')
        return false;
    for (size_t i = start; i && start - i < LINE_BACK && in.p[i - 1] != '\n'; i--)
        if (in.p[i - 1] == '[')
            return is_line_start(in, i - 1);
    return false;
}

/* 1a2b3c4..5d6e7f8 say git pull and git push. A diff says it of contents. */
static bool
is_of_range(struct view in, size_t start, size_t end)
{
    if (calls_is_at(in, end, ".."))
        return name_end(in, end + 2) && !is_behind(in, start, "index ");
    size_t first = start - 2;
    if (!is_behind(in, start, ".."))
        return false;
    while (first && start - first <= NAME_MOST + 2 && is_hex(in.p[first - 1]))
        first--;
    return name_end(in, first) == start - 2 && !is_behind(in, first, "index ");
}

size_t
calls_commit_end(struct view in, size_t start)
{
    static const char *const words[] = { "HEAD is now at ", "HEAD detached at ",
                                         "commit ", "Merge: " };
    size_t end = name_end(in, start);
    if (!end)
        return 0;
    bool is_one = is_of_log(in, start, end) || is_of_commit(in, start, end) ||
                  is_of_range(in, start, end);
    for (size_t i = 0; !is_one && i < sizeof(words) / sizeof(words[0]); i++)
        is_one = is_behind(in, start, words[i]);
    return is_one ? end : 0;
}
