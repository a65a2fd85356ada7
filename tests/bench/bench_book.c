/* SPDX-License-Identifier: MIT */
/*
 * bench_book.c -- how fast a million rows are leafed through: `name value unit`, one line
 * each.
 *
 * The search is for what is not there, and its lower bound memmem() over the same bytes
 * in the same run. CPU time, medians.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "support/measure.h"
#include "support/term_corpus.h"
#include "term/book.h"
#include "term/term_priv.h"

enum { ROUNDS = 5, MILLION = 1000000, FRAMES = 2000, ASKS = 10000 };

static const char absent[] = "undefined reference to `nowhere'";

static void
feed(struct term *t, uint64_t *off, const struct buf *data)
{
    term_feed(t, data->p, data->n, *off);
    *off += data->n;
}

static struct term *
million_rows(enum term_corpus_kind kind, uint64_t *ret_off)
{
    struct term_options opt = term_options_default();
    opt.cols = TERM_CORPUS_COLS;
    opt.rows = TERM_CORPUS_ROWS;
    struct term *t = term_new(&opt);
    struct buf data = { 0 };
    for (uint32_t seed = 1; t && term_scrollback_count(t) < MILLION; seed++) {
        buf_clear(&data);
        term_corpus(&data, kind, 2 << 20, seed);
        feed(t, ret_off, &data);
    }
    if (!t || data.failed || term_error(t))
        abort();
    buf_release(&data);
    return t;
}

static void
say(enum term_corpus_kind kind, const char *what, double value, const char *unit)
{
    char name[128];
    snprintf(name, sizeof(name), "book, %s, 10^6 rows: %s", term_corpus_name(kind), what);
    measure_line(name, value, unit);
}

static void
update(struct term_book *b, const struct term *t)
{
    if (term_book_update(b, t) < 0)
        abort();
}

/* -- searching -- */

static double
find_s(const struct term_book *b, const struct term_needle *needle, bool is_back)
{
    uint64_t at;
    double begin_s = measure_cpu_s();
    if (term_book_find(b, needle, is_back ? term_book_end(b) : 0, is_back, UINT64_MAX,
                       &at) != 0)
        abort();
    return measure_cpu_s() - begin_s;
}

/* The bytes of all pages, heads of rows and runs of styles with them. */
static double
memmem_s(const struct term *t, size_t *ret_bytes)
{
    const struct term_history *h = &t->scrollback;
    double begin_s = measure_cpu_s();
    size_t bytes = 0;
    for (size_t i = 0; i < h->n; i++) {
        const struct buf *data = &h->pages[h->first + i]->data;
        if (memmem(data->p, data->n, absent, strlen(absent)))
            abort();
        bytes += data->n;
    }
    *ret_bytes = bytes;
    return measure_cpu_s() - begin_s;
}

static void
search(enum term_corpus_kind kind, const struct term_book *b)
{
    struct term_needle exact = { { (const uint8_t *)absent, strlen(absent) }, false };
    struct term_needle folded = exact;
    double with_case[ROUNDS], without[ROUNDS], back[ROUNDS], bare[ROUNDS];
    size_t bytes = 0;
    folded.ignores_case = true;
    for (int i = 0; i < ROUNDS; i++) {
        bare[i] = memmem_s(b->term, &bytes);
        with_case[i] = find_s(b, &exact, false);
        without[i] = find_s(b, &folded, false);
        back[i] = find_s(b, &folded, true);
    }
    say(kind, "bytes a row", (double)bytes / (double)term_scrollback_count(b->term), "B");
    say(kind, "memmem over their bytes", measure_median(bare, ROUNDS) * 1e3, "ms");
    say(kind, "search (<= 100)", measure_median(with_case, ROUNDS) * 1e3, "ms");
    say(kind, "search without case (<= 100)", measure_median(without, ROUNDS) * 1e3,
        "ms");
    say(kind, "search backwards without case", measure_median(back, ROUNDS) * 1e3, "ms");
}

/* -- keeping up -- */

/* A new book of all there is. */
static void
opening(enum term_corpus_kind kind, const struct term *t)
{
    double s[ROUNDS];
    size_t heap = 0;
    for (int i = 0; i < ROUNDS; i++) {
        struct term_book b = { 0 };
        size_t before = measure_heap_bytes();
        double begin_s = measure_cpu_s();
        update(&b, t);
        s[i] = measure_cpu_s() - begin_s;
        heap = measure_heap_bytes() - before;
        term_book_release(&b);
    }
    say(kind, "opening", measure_median(s, ROUNDS) * 1e3, "ms");
    say(kind, "the book's own bytes a row", (double)heap / MILLION, "B");
}

/* Some lines come with each frame; at the ceiling as many go. */
static void
frames(enum term_corpus_kind kind, struct term_book *b, struct term *t, uint64_t off)
{
    struct buf data = { 0 };
    double s = 0;
    for (uint32_t i = 0; i < FRAMES; i++) {
        buf_clear(&data);
        term_corpus(&data, kind, 1000, i + 1);
        feed(t, &off, &data);
        double begin_s = measure_cpu_s();
        update(b, t);
        s += measure_cpu_s() - begin_s;
    }
    say(kind, "update a frame of 1 kB", s / FRAMES * 1e6, "us");
    buf_release(&data);
}

static void
asking(enum term_corpus_kind kind, const struct term_book *b)
{
    uint64_t first = term_book_first(b), n = term_book_end(b) - first, sum = 0;
    struct term_line line = { 0 };
    double begin_s = measure_cpu_s();
    for (uint64_t i = 0; i < ASKS; i++)
        sum += term_book_stamp(b, first + n / ASKS * i);
    double stamp_s = measure_cpu_s() - begin_s;
    begin_s = measure_cpu_s();
    for (uint64_t i = 0; i < ASKS; i++)
        sum += term_book_past(b, b->term->byte_off / ASKS * i);
    double past_s = measure_cpu_s() - begin_s;
    begin_s = measure_cpu_s();
    for (uint64_t i = 0; i < ASKS; i++)
        if (term_book_line(b, first + n / ASKS * i, &line) < 0)
            abort();
    double line_s = measure_cpu_s() - begin_s;
    if (!sum)
        abort();
    term_line_release(&line);
    say(kind, "a stamp", stamp_s / ASKS * 1e9, "ns");
    say(kind, "the line past a byte", past_s / ASKS * 1e9, "ns");
    say(kind, "a line", line_s / ASKS * 1e9, "ns");
}

static void
measure(enum term_corpus_kind kind)
{
    uint64_t off = 0;
    struct term *t = million_rows(kind, &off);
    struct term_book b = { 0 };
    opening(kind, t);
    update(&b, t);
    search(kind, &b);
    asking(kind, &b);
    frames(kind, &b, t, off);
    term_book_release(&b);
    term_free(t);
}

int
main(void)
{
    measure(TERM_CORPUS_BUILD_LOG);
    measure(TERM_CORPUS_CJK);
    return 0;
}
