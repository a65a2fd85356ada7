/* SPDX-License-Identifier: MIT */
#include "bench/bench_hostile.h"

#include <stdio.h>
#include <stdlib.h>

#include "support/measure.h"
#include "term/term.h"

enum { ROUNDS = 5, PIECE = 16 << 10, SMALL = 256 << 10, SMALL_HUGE = 256, TIMES = 4 };

/* A stream: head once, then body over and over, in it \1 for how often it was there
 * before, \2 and \3 for that number's two lowest bytes. */
struct hostile {
    const char *name, *head, *body;
};

static const struct hostile hostiles[] = {
    { "plain text, to compare", "", "how the cheapest of all bytes go by, in lines\r\n" },
    { "parameters of 10^6", "",
      "\x1b[1000000@\x1b[1000000P\x1b[1000000X\x1b[1000000;1000000H\x1b[1000000C"
      "\x1b[1000000L\x1b[1000000M\x1b[1000000d\x1b[1000000G\x1b[1000000I" },
    { "one CSI, endless parameters", "\x1b[", "1;38:2;" },
    { "CSI with digits without end", "\x1b[", "9999999999" },
    { "CSI of 64 numbers, SGR", "",
      "\x1b[1;2;3;4;5;6;7;8;9;31;32;33;34;35;36;37;38;5;9;48;5;9;1;2;3;4;5;6;7;8;9;31;"
      "32;33;34;35;36;37;38;5;9;48;5;9;1;2;3;4;5;6;7;8;9;31;32;33;34;35;36m" },
    { "endless OSC", "\x1b]0;", "title" },
    { "endless OSC 8", "\x1b]8;;", "http://x/" },
    { "endless DCS", "\x1bP$q", "data" },
    { "endless APC", "\x1b_G", "data" },
    { "huge SU", "", "x\x1b[99999999S" },
    { "huge SD", "", "x\x1b[99999999T" },
    { "SU 1 in a region", "\x1b[2;39r", "x\x1b[S" },
    { "tabs", "", "\t\t\t\t\t\t\t\t\r" },
    { "huge CHT and CBT", "", "\x1b[99999999I\x1b[99999999Z" },
    { "tabs with no stops", "\x1b[3g", "\t\r" },
    { "marks on one cell", "a", "\u0301" },
    { "joined emoji on one cell", "👩", "\u200d👩" },
    { "flags without end", "", "🇩" },
    { "huge IL", "\x1b[2;39r\x1b[3H", "x\x1b[99999999L" },
    { "huge DL", "\x1b[2;39r\x1b[3H", "x\x1b[99999999M" },
    { "IL 1", "\x1b[H", "x\x1b[L" },
    { "ICH 1", "\x1b[5G", "\x1b[@" },
    { "huge ICH and DCH", "\x1b[5G", "x\x1b[99999999@\x1b[99999999P\r" },
    { "huge REP", "", "x\x1b[1000000000b" },
    { "ED 2", "", "x\x1b[2J" },
    { "DECALN", "", "\x1b#8" },
    { "alternate screen in and out", "", "\x1b[?1049hx\x1b[?1049l" },
    { "RIS", "", "x\033c" },
    { "insert mode", "\x1b[4h", "x\r" },
    { "DECSC and DECRC", "", "\0337\0338" },
    { "links all unlike", "", "\x1b]8;;http://x/\1\ax" },
    { "titles all unlike", "", "\x1b]0;\1\a\x1b[22t" },
    { "foregrounds all unlike", "", "\x1b[38;2;9;\3;\2mx" },
    { "backgrounds all unlike", "", "\x1b[48;2;\2;\3;9mx" },
};

/* On the largest screen one operation may touch 10^7 cells. */
static const struct hostile huge[] = {
    { "ED 2 on 10000x1000", "", "x\x1b[2J" },
    { "huge SU on 10000x1000", "", "x\x1b[99999999S" },
    { "huge REP on 10000x1000", "", "x\x1b[1000000000b" },
    { "DECALN on 10000x1000", "", "\x1b#8" },
    { "lines on 10000x1000", "\x1b[1000H", "x\r\n" },
};

static void
make(struct buf *out, const struct hostile *h, size_t n)
{
    buf_puts(out, h->head);
    for (unsigned i = 0; out->n < n && !out->failed; i++)
        for (const char *p = h->body; *p; p++)
            if (*p <= 3 && *p > 0)
                buf_printf(out, "%u", *p == 1 ? i : *p == 2 ? i & 255 : i >> 8 & 255);
            else
                buf_append(out, p, 1);
    if (out->failed)
        abort();
}

/* Nanoseconds a byte. */
static double
cost_ns(unsigned cols, unsigned rows, struct view data)
{
    struct term_options opt = term_options_default();
    opt.cols = cols;
    opt.rows = rows;
    opt.scrollback_rows = 2000; /* full early, at either size */
    struct term *t = term_new(&opt);
    if (!t)
        abort();
    double begin_s = measure_cpu_s();
    for (size_t at = 0; at < data.n; at += PIECE)
        term_feed(t, data.p + at, data.n - at < PIECE ? data.n - at : PIECE, at);
    double s = measure_cpu_s() - begin_s;
    term_free(t);
    return s * 1e9 / (double)data.n;
}

static void
run(const struct hostile *h, unsigned cols, unsigned rows, size_t n, size_t rounds)
{
    struct buf small = { 0 }, large = { 0 };
    double ns[ROUNDS], more_ns[ROUNDS];
    char name[96];
    make(&small, h, n);
    make(&large, h, n * TIMES);
    for (size_t i = 0; i < rounds; i++) {
        ns[i] = cost_ns(cols, rows, (struct view){ small.p, small.n });
        more_ns[i] = cost_ns(cols, rows, (struct view){ large.p, large.n });
    }
    double one = measure_median(ns, rounds), four = measure_median(more_ns, rounds);
    snprintf(name, sizeof(name), "hostile, %s", h->name);
    measure_line(name, four, "ns/byte");
    snprintf(name, sizeof(name), "hostile, %s: 4x / 1x (~ 1)", h->name);
    measure_line(name, four / one, "x");
    buf_release(&small);
    buf_release(&large);
}

void
bench_hostile(void)
{
    for (size_t i = 0; i < sizeof(hostiles) / sizeof(hostiles[0]); i++)
        run(&hostiles[i], 120, 40, SMALL, ROUNDS);
    for (size_t i = 0; i < sizeof(huge) / sizeof(huge[0]); i++)
        run(&huge[i], 10000, 1000, SMALL_HUGE, 1);
}
