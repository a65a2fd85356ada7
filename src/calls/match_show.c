/* SPDX-License-Identifier: MIT */
/* match_show.c -- a piece of a value as people read it: one line, whatever is in it. */
#include "base/utf8.h"
#include "calls/match_priv.h"

enum {
    BEFORE_BYTES = 70,  /* of a value, before the place where it differs */
    BEHIND_BYTES = 120, /* from there on … */
    AFTER_BYTES = 30,   /* … and where it is the same again */
};

/* What turns text around or cannot be seen. */
static bool
is_invisible(uint32_t rune)
{
    return utf8_is_control(rune) || (rune >= 0x200b && rune <= 0x200f) ||
           (rune >= 0x2028 && rune <= 0x202e) || (rune >= 0x2060 && rune <= 0x2069) ||
           rune == 0xfeff;
}

/* The character at i as it is shown; how many bytes it has. */
static size_t
show_rune(struct view v, size_t i, bool is_string, char ret[8], size_t *ret_n)
{
    uint32_t rune = 0xfffd;
    int n = utf8_next(v.p + i, v.n - i, &rune);
    if (n && is_string && (rune == '"' || rune == '\\'))
        *ret_n = (size_t)snprintf(ret, 8, "\\%c", (char)rune);
    else if (n && is_string && (rune == '\n' || rune == '\t'))
        *ret_n = (size_t)snprintf(ret, 8, "\\%c", rune == '\n' ? 'n' : 't');
    else if (n && is_invisible(rune))
        *ret_n = (size_t)snprintf(ret, 8, "\\u%04x", (unsigned)rune & 0xffff);
    else
        *ret_n = utf8_put((uint8_t *)ret, rune);
    return n ? (size_t)n : 1;
}

/* Where the character before i begins. */
static size_t
rune_before(struct view v, size_t i)
{
    uint32_t rune;
    for (size_t n = 1; n <= 4 && n <= i; n++)
        if (utf8_next(v.p + i - n, n, &rune) == (int)n)
            return i - n;
    return i - 1;
}

size_t
calls_show(struct view v, size_t start, bool is_string, size_t most, struct buf *out)
{
    char shown[8];
    size_t i = start;
    for (size_t n, size; i < v.n; i += size, most -= n) {
        size = show_rune(v, i, is_string, shown, &n);
        if (n > most)
            break;
        buf_append(out, shown, n);
    }
    return i;
}

/* Where what is shown before `at` begins. */
static size_t
shown_from(struct view v, size_t at, bool is_string)
{
    char shown[8];
    size_t most = BEFORE_BYTES, n;
    while (at) {
        size_t before = rune_before(v, at);
        show_rune(v, before, is_string, shown, &n);
        if (n > most)
            break;
        most -= n;
        at = before;
    }
    return at;
}

/* Where what follows upon `end` is cut: at a character's end. */
static size_t
shown_to(struct view v, size_t end)
{
    size_t stop = end < v.n && v.n - end > AFTER_BYTES ? end + AFTER_BYTES : v.n;
    while (stop < v.n && (v.p[stop] & 0xc0) == 0x80)
        stop++;
    return stop;
}

void
calls_show_around(struct view v, size_t at, size_t end, bool is_string, struct buf *out)
{
    size_t start = shown_from(v, at, is_string);
    struct view cut = { v.p, shown_to(v, end) };
    buf_puts(out, is_string ? "\"" : "");
    buf_puts(out, start ? CALLS_CUT_SHORT : "");
    end = calls_show(cut, start, is_string, BEFORE_BYTES + BEHIND_BYTES, out);
    buf_puts(out, end < v.n ? CALLS_CUT_SHORT : "");
    buf_puts(out, is_string ? "\"" : "");
}
