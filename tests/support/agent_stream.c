/* SPDX-License-Identifier: MIT */
#include "support/agent_stream.h"

static const char *const words[] = {
    "the",     "function", "returns",  "a",       "buffer",  "when",     "file",
    "is",      "not",      "found",    "in",      "session", "we",       "should",
    "check",   "error",    "before",   "reading", "block",   "header",   "and",
    "then",    "write",    "test",     "for",     "this",    "case",     "because",
    "parser",  "accepts",  "length",   "of",      "zero",    "update",   "build",
    "config",  "module",   "import",   "struct",  "const",   "static",   "int",
    "return",  "if",       "while",    "switch",  "default", "break",    "terminal",
    "cursor",  "screen",   "row",      "column",  "scroll",  "region",   "colour",
    "record",  "replay",   "snapshot", "commit",  "branch",  "merge",    "diff",
    "patch",   "index",    "search",   "query",   "store",   "database", "table",
    "journal", "sync",
};

enum { WORDS = sizeof(words) / sizeof(words[0]) };

static uint32_t
next(uint32_t *s)
{
    *s ^= *s << 13;
    *s ^= *s >> 17;
    *s ^= *s << 5;
    return *s;
}

static void
sentence(struct buf *out, uint32_t *s, unsigned n)
{
    for (unsigned i = 0; i < n; i++) {
        uint32_t r = next(s);
        if (r % 23 == 0)
            buf_printf(out, "%s_%s_%u ", words[r % WORDS], words[r / 97 % WORDS],
                       r / 7 % 1000);
        else
            buf_printf(out, "%s ", words[r % WORDS]);
    }
}

/* A spinner frame: three rows up, painted again. */
static void
spin(struct buf *out, uint32_t *s, unsigned tick)
{
    static const char *const frames[] = { "✻", "✽", "✶", "✳", "✢", "·" };
    buf_puts(out, "\x1b[?2026h\x1b[3A\r");
    buf_printf(out,
               "\x1b[38;2;215;119;87m%s\x1b[39m \x1b[38;2;215;119;87mThinking…\x1b[39m "
               "\x1b[2m(%us · ↓ %u tokens · esc to interrupt)\x1b[22m\x1b[K\r\n",
               frames[tick % 6], tick / 8, tick * 17 + next(s) % 9);
    buf_puts(
        out,
        "\x1b[38;2;136;136;136m╭──────────────────────────────────────────────╮\x1b[39m"
        "\x1b[K\r\n\x1b[38;2;136;136;136m│\x1b[39m > \x1b[7m \x1b[27m\x1b[K\r\n"
        "\x1b[?2026l");
}

static void
code_line(struct buf *out, uint32_t *s, unsigned line)
{
    uint32_t r = next(s);
    const char *colour = r % 3 == 0   ? "\x1b[48;2;34;92;43m+"
                         : r % 3 == 1 ? "\x1b[48;2;122;41;54m-"
                                      : " ";
    buf_printf(out,
               "    \x1b[2m%4u\x1b[22m %s  \x1b[38;2;97;175;239m%s\x1b[39m %s(%s, %u);"
               "\x1b[49m\r\n",
               line, colour, words[r % WORDS], words[r / 71 % WORDS],
               words[r / 311 % WORDS], r % 4096);
}

void
agent_stream(struct buf *out, size_t n, uint32_t seed)
{
    uint32_t s = seed * 2654435761U + 1;
    size_t end = out->n + n;
    while (out->n < end) {
        unsigned kind = next(&s) % 10, len = 5 + next(&s) % 20;
        if (kind < 4) {
            for (unsigned i = 0; i < len; i++)
                spin(out, &s, next(&s) % 1000 + i);
        } else if (kind < 7) {
            buf_puts(out, "\x1b[1m●\x1b[22m ");
            sentence(out, &s, len * 3);
            buf_puts(out, "\r\n");
        } else if (kind < 9) {
            for (unsigned i = 0; i < len; i++)
                code_line(out, &s, next(&s) % 900 + i);
        } else {
            for (unsigned i = 0; i < len; i++)
                buf_printf(out, "[%u/%u] Compiling C object src/%s/%s.c.o\r\n", i, len,
                           words[next(&s) % WORDS], words[next(&s) % WORDS]);
        }
    }
}
