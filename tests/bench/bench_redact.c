/* SPDX-License-Identifier: MIT */
/*
 * bench_redact.c -- how fast secrets are looked for, and what it takes: `name value
 * unit`, one line each.
 *
 * Next to it in the same run, in turns, CPU time, medians: memchr() for a byte that is
 * not there, as a lower bound; and the same rules through PCRE2 with its JIT, one after
 * the other, on a smaller piece. `--feed NAME BYTES [PIECE]` feeds one text once and
 * ends, for callgrind.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/num.h"
#include "bench/bench_redact_pcre.h"
#include "bench/bench_redact_texts.h"
#include "support/measure.h"
#include "support/term_corpus.h"

enum {
    ROUNDS = 5,
    OPENS = 21,
    ORDINARY = 8 << 20,
    SMALL_FEEDS = 2 << 20,
    HOSTILE = 1 << 20,
    PCRE = 256 << 10,
    PIECE = 64 << 10,
    PIECE_SMALL = 64,
};

static volatile uintptr_t sink;

static void
line(const char *name, const char *what, double value, const char *unit)
{
    char text[160];
    snprintf(text, sizeof(text), "redact %s%s%s", name, what[0] ? " " : "", what);
    measure_line(text, value, unit);
}

static struct redact *
open_rules(void)
{
    struct redact *r;
    struct err err;
    if (redact_open(&r, NULL, &err) < 0) {
        fprintf(stderr, "bench_redact: %s\n", err.text);
        exit(1);
    }
    return r;
}

/* -- one pass each -- */

static void
count_find(void *ctx, const struct redact_find *find)
{
    (void)find;
    ++*(size_t *)ctx;
}

static double
ours_s(struct redact *r, const struct bench_text *t, struct view data, size_t piece,
       size_t *ret_finds)
{
    struct redact_stream *s;
    struct redact_options opt = { .is_terminal = t->is_terminal,
                                  .cols = t->is_terminal ? TERM_CORPUS_COLS : 0,
                                  .on_find = count_find,
                                  .ctx = ret_finds };
    struct buf out = { 0 };
    *ret_finds = 0;
    if (redact_stream_new(&s, r, &opt) < 0)
        abort();
    double begin_s = measure_cpu_s();
    for (size_t at = 0; at < data.n; at += piece) {
        size_t n = data.n - at < piece ? data.n - at : piece;
        if (redact_stream_feed(s, data.p + at, n, &out) < 0)
            abort();
        if (out.n > PIECE)
            buf_clear(&out); /* written somewhere */
    }
    if (redact_stream_flush(s, &out) < 0)
        abort();
    double spent_s = measure_cpu_s() - begin_s;
    redact_stream_free(s);
    buf_release(&out);
    return spent_s;
}

static double
memchr_s(struct view data)
{
    double begin_s = measure_cpu_s();
    for (size_t at = 0; at < data.n; at += PIECE)
        sink += (uintptr_t)memchr(data.p + at, 0xff,
                                  data.n - at < PIECE ? data.n - at : PIECE);
    return measure_cpu_s() - begin_s;
}

static double
pcre_s(struct bench_pcre *pcre, struct view data)
{
    double begin_s = measure_cpu_s();
    sink += bench_pcre_scan(pcre, data);
    return measure_cpu_s() - begin_s;
}

/* -- ordinary texts -- */

static void
ordinary(struct redact *r, struct bench_pcre *pcre, const struct bench_text *t)
{
    double ours[ROUNDS], small[ROUNDS], bare[ROUNDS], peer[ROUNDS];
    struct buf data = { 0 };
    size_t finds, other;
    bench_text_make(t, &data, ORDINARY);
    struct view all = { data.p, data.n };
    struct view some = { data.p, data.n < SMALL_FEEDS ? data.n : SMALL_FEEDS };
    struct view few = { data.p, data.n < PCRE ? data.n : PCRE };
    for (int i = 0; i < ROUNDS; i++) {
        ours[i] = ours_s(r, t, all, PIECE, &finds) / (double)all.n;
        bare[i] = memchr_s(all) / (double)all.n;
        small[i] = ours_s(r, t, some, PIECE_SMALL, &other) / (double)some.n;
        peer[i] = pcre_s(pcre, few) / (double)few.n;
    }
    double o = measure_median(ours, ROUNDS), b = measure_median(bare, ROUNDS);
    double p = measure_median(peer, ROUNDS), s = measure_median(small, ROUNDS);
    line(t->name, t->is_asked ? "(>= 200)" : "", 1e-6 / o, "MB/s");
    line(t->name, "in 64 bytes", 1e-6 / s, "MB/s");
    line(t->name, "memchr", 1e-6 / b, "MB/s");
    line(t->name, "pcre2", 1e-6 / p, "MB/s");
    line(t->name, "against memchr", b / o, "x");
    line(t->name, "against pcre2", p / o, "x");
    line(t->name, "finds a MB", (double)finds * 1e6 / (double)all.n, "finds");
    buf_release(&data);
}

/* -- hostile ones -- */

static void
hostile(struct redact *r, const struct bench_text *t)
{
    double whole[ROUNDS], small[ROUNDS];
    struct buf data = { 0 };
    size_t finds;
    bench_text_make(t, &data, HOSTILE);
    struct view all = { data.p, data.n }, some = { data.p, data.n / 4 };
    int rounds = 0;
    for (double spent_s = 0; rounds < ROUNDS && spent_s < 3; rounds++) {
        double a = ours_s(r, t, all, PIECE, &finds);
        double b = ours_s(r, t, some, PIECE_SMALL, &finds);
        whole[rounds] = a / (double)all.n;
        small[rounds] = b / (double)some.n;
        spent_s += a + b;
    }
    char name[96];
    snprintf(name, sizeof(name), "hostile: %s", t->name);
    line(name, "", 1e-6 / measure_median(whole, (size_t)rounds), "MB/s");
    line(name, "in 64 bytes", 1e-6 / measure_median(small, (size_t)rounds), "MB/s");
    buf_release(&data);
}

/* -- opening, and memory -- */

static void
opening(void)
{
    double open_s[OPENS];
    for (size_t i = 0; i < OPENS; i++) {
        double begin_s = measure_cpu_s();
        struct redact *r = open_rules();
        open_s[i] = measure_cpu_s() - begin_s;
        redact_close(r);
    }
    line("open,", "the first time (< 3)", open_s[0] * 1e3, "ms");
    line("open", "(< 3)", measure_median(open_s, OPENS) * 1e3, "ms");
}

static void
memory(void)
{
    size_t before = measure_heap_bytes();
    struct redact *r = open_rules();
    size_t opened = measure_heap_bytes();
    struct redact_options opt = { .is_terminal = true, .cols = TERM_CORPUS_COLS };
    struct redact_stream *s;
    if (redact_stream_new(&s, r, &opt) < 0)
        abort();
    size_t made = measure_heap_bytes();
    struct buf data = { 0 }, out = { 0 };
    term_corpus(&data, TERM_CORPUS_AGENT, 1 << 20, 1);
    size_t others = measure_heap_bytes() - made;
    if (redact_stream_feed(s, data.p, data.n, &out) < 0)
        abort();
    buf_release(&out);
    size_t fed = measure_heap_bytes() - others;
    line("rules", "", (double)redact_rules(r), "rules");
    line("rules,", "own account", (double)redact_size_bytes(r) / 1024, "KiB");
    line("rules,", "heap", (double)(opened - before) / 1024, "KiB");
    line("stream,", "new", (double)(made - opened) / 1024, "KiB");
    line("stream,", "after 1 MiB", (double)(fed - opened) / 1024, "KiB");
    static const char both[] = "MAILGUN_API_KEY=key-0123456789\nsk-0123456789abcdef\n";
    if (redact_text(r, both, sizeof(both) - 1, &out) < 0)
        abort();
    line("rules,", "all loaded", (double)redact_size_bytes(r) / 1024, "KiB");
    buf_release(&out);
    redact_stream_free(s);
    redact_close(r);
    buf_release(&data);
}

/* -- the program -- */

static size_t
number(const char *text)
{
    uint64_t n;
    if (num_parse((struct view){ (const uint8_t *)text, strlen(text) }, 1 << 30, &n) <
            0 ||
        !n) {
        fprintf(stderr, "bench_redact: no number: %s\n", text);
        exit(2);
    }
    return n;
}

static int
feed_once(const char *name, size_t n, size_t piece)
{
    const struct bench_text *t = bench_text_find(name);
    struct buf data = { .ceiling = 1 << 30 };
    size_t finds;
    if (!t) {
        fprintf(stderr, "bench_redact: no such text: %s\n", name);
        return 2;
    }
    struct redact *r = open_rules();
    bench_text_make(t, &data, n);
    ours_s(r, t, (struct view){ data.p, data.n }, piece, &finds);
    printf("%zu\n", data.n);
    redact_close(r);
    buf_release(&data);
    return 0;
}

int
main(int argc, char **argv)
{
    if (argc >= 4 && strcmp(argv[1], "--feed") == 0)
        return feed_once(argv[2], number(argv[3]), argc > 4 ? number(argv[4]) : PIECE);
    opening();
    memory();
    struct redact *r = open_rules();
    size_t taken;
    struct bench_pcre *pcre = bench_pcre_new(r, &taken);
    line("rules", "that pcre2 takes", (double)taken, "rules");
    for (const struct bench_text *t = bench_ordinary; t->name; t++)
        ordinary(r, pcre, t);
    for (const struct bench_text *t = bench_hostile_texts; t->name; t++)
        hostile(r, t);
    bench_pcre_free(pcre);
    redact_close(r);
    return 0;
}
