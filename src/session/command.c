/* SPDX-License-Identifier: MIT */
/* command.c -- a command as one line. */
#include "session/meta.h"

enum { LINE_MAX_BYTES = 5 << 20 }; /* of a meta's, quoted: a quote takes four bytes */

/* What a shell leaves alone. */
static bool
is_plain(const char *word)
{
    static const char plain[] = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ"
                                "0123456789%+,-./:=@_";
    return *word && !word[strspn(word, plain)];
}

static void
put_word(struct buf *out, const char *word)
{
    if (is_plain(word)) {
        buf_puts(out, word);
        return;
    }
    buf_puts(out, "'");
    for (; *word; word++)
        buf_append(out, *word == '\'' ? "'\\''" : word, *word == '\'' ? 4 : 1);
    buf_puts(out, "'");
}

int
session_command_line(struct view words, size_t max, struct buf *out)
{
    static const char cut[] = "\xe2\x80\xa6";
    AUTO(buf) line = { .ceiling = LINE_MAX_BYTES };
    for (size_t at = 0; at < words.n && line.n < max && !line.failed;) {
        const char *word = (const char *)words.p + at;
        buf_puts(&line, at ? " " : "");
        put_word(&line, word);
        at += strlen(word) + 1;
    }
    if (line.failed)
        return line.failed;
    if (line.n < max)
        return buf_append(out, line.p, line.n);
    size_t n = max > sizeof(cut) ? max - sizeof(cut) : 0;
    while (n && (line.p[n] & 0xc0) == 0x80) /* no half of a character */
        n--;
    buf_append(out, line.p, n);
    return buf_puts(out, max > sizeof(cut) ? cut : "");
}
