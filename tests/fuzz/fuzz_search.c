/* SPDX-License-Identifier: MIT */
/*
 * A search in a library of any lines finds what a look at each line alone finds.
 *
 * The input: a byte (1: a regex), the length of the query and the query; the rest is
 * text: lines, of which 0x01 ends a row that wraps and 0x02 a piece. The library is a
 * real one; each round is a change that is taken back.
 */
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "fuzz/fuzz.h"
#include "library/grams_priv.h"
#include "library/pattern_priv.h"
#include "library/piece_priv.h"
#include "library/search.h"

#define ID "2026-11-16-aaaaaaaa-aaaa-4aaa-8aaa-aaaaaaaaaaaa"

enum { PIECES_MAX = 8 };

static char folder[] = "/tmp/ahr-fuzz-XXXXXX";

static void
remove_folder(void)
{
    static const char *const names[] = { "", "-wal", "-shm", ".lock" };
    char path[64];
    for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++) {
        snprintf(path, sizeof(path), "%s/library.db%s", folder, names[i]);
        unlink(path);
    }
    rmdir(folder);
}

static struct store *
library(void)
{
    static struct store *s;
    char path[64];
    struct err err;
    if (s)
        return s;
    CHECK(mkdtemp(folder) && !atexit(remove_folder));
    snprintf(path, sizeof(path), "%s/library.db", folder);
    CHECK(!store_open(&s, path, STORE_WRITE, 1000, &err));
    return s;
}

/* -- the lines, one after the other, as the library has them -- */

struct text {
    struct buf all;  /* as in piece_priv.h, of all pieces */
    struct buf rows; /* uint64_t: where each begins in it */
    struct piece piece;
    int64_t key;
    uint32_t number;
};

static void
put_piece(struct text *t)
{
    AUTO(buf) packed = { 0 }, words = { 0 };
    static struct grams *grams;
    struct err err;
    CHECK(grams || !grams_new(&grams));
    if (!t->piece.rows.n)
        return;
    CHECK(!piece_pack(&t->piece, &packed));
    struct view text = { t->piece.text.p, t->piece.text.n };
    CHECK(!buf_append(&t->all, text.p, text.n));
    CHECK(!piece_words(&t->piece, grams, &words));
    const struct store_piece piece = { .key = t->key,
                                       .number = t->number++,
                                       .packed = { packed.p, packed.n } };
    CHECK(!store_piece_put(library(), &piece, (struct view){ words.p, words.n }, &err));
    piece_clear(&t->piece);
}

static void
put_row(struct text *t, struct view row, bool is_wrapped)
{
    uint64_t start = t->all.n + t->piece.text.n;
    const struct piece_row about = { .index = t->rows.n / sizeof(start),
                                     .write_byte = start,
                                     .ts_ns = start };
    CHECK(!buf_append(&t->rows, &start, sizeof(start)));
    CHECK(!piece_add(&t->piece, &about, row, is_wrapped));
}

static void
put_text(struct text *t, struct view in)
{
    size_t start = 0;
    for (size_t i = 0; i <= in.n; i++) {
        uint8_t c = i < in.n ? in.p[i] : '\n';
        if (c != '\n' && c > 2)
            continue;
        if (i > start || c == '\n')
            put_row(t, (struct view){ in.p + start, i - start }, c == 1);
        if (c == 2 && t->number < PIECES_MAX)
            put_piece(t);
        start = i + 1;
    }
    put_piece(t);
}

/* -- each line alone -- */

struct hit {
    size_t line, line_end, start, end;
};

static uint8_t
fold(uint8_t c)
{
    return c >= 'A' && c <= 'Z' ? (uint8_t)(c | 0x20) : c;
}

/* The first place of the query in a line, as slowly as can be. */
static bool
find_text(struct view query, struct view line, size_t *ret_start, size_t *ret_end)
{
    bool is_folded = true;
    for (size_t i = 0; i < query.n; i++)
        is_folded &= fold(query.p[i]) == query.p[i];
    for (size_t at = 0; at + query.n <= line.n; at++) {
        size_t n = 0;
        while (n < query.n &&
               query.p[n] == (is_folded ? fold(line.p[at + n]) : line.p[at + n]))
            n++;
        if (n < query.n)
            continue;
        *ret_start = at;
        *ret_end = at + n;
        return true;
    }
    return false;
}

static bool
find_regex(struct pattern *p, struct view line, size_t *ret_start, size_t *ret_end)
{
    AUTO(buf) alone = { 0 };
    struct pattern_hit hit;
    buf_append(&alone, line.p, line.n);
    CHECK(!buf_append(&alone, "\n", 1));
    CHECK(!pattern_begin(p, (struct view){ alone.p, alone.n }));
    if (pattern_next(p, &hit) <= 0)
        return false;
    *ret_start = hit.start;
    *ret_end = hit.end;
    return true;
}

/* From the end. */
static void
look_at_each(const struct text *t, struct view query, struct pattern *regex,
             struct buf *ret)
{
    size_t end = t->all.n;
    while (end) {
        struct hit hit = { .line_end = end - 1, .line = end - 1 };
        while (hit.line && t->all.p[hit.line - 1] != '\n')
            hit.line--;
        struct view line = { t->all.p + hit.line, hit.line_end - hit.line };
        if (regex ? find_regex(regex, line, &hit.start, &hit.end)
                  : find_text(query, line, &hit.start, &hit.end))
            CHECK(!buf_append(ret, &hit, sizeof(hit)));
        end = hit.line;
    }
}

/* -- the search -- */

struct got {
    const struct text *text;
    const struct hit *expected;
    size_t count, expected_count;
};

static int
take_hit(void *ctx, const struct library_hit *hit)
{
    struct got *g = ctx;
    CHECK(g->count < g->expected_count);
    const struct hit *e = &g->expected[g->count++];
    CHECK(!strcmp(hit->id, ID));
    CHECK(hit->start == e->start && hit->end == e->end);
    CHECK(hit->line.n == e->line_end - e->line);
    CHECK(!memcmp(hit->line.p, g->text->all.p + e->line, hit->line.n));
    const uint64_t *rows = (const void *)g->text->rows.p;
    size_t count = g->text->rows.n / sizeof(*rows), at = e->line + e->start;
    CHECK(hit->index < count && rows[hit->index] == hit->write_byte);
    CHECK(hit->write_byte <= at && hit->ts_ns == hit->write_byte);
    CHECK(hit->index + 1 == count || rows[hit->index + 1] > at);
    return 1;
}

static void
compare(const struct text *t, struct view query, struct pattern *regex)
{
    AUTO(buf) expected = { 0 };
    look_at_each(t, query, regex, &expected);
    if (regex && pattern_hard_lines(regex))
        return;
    struct got got = { .text = t,
                       .expected = (const void *)expected.p,
                       .expected_count = expected.n / sizeof(struct hit) };
    const struct library_search search = { .query = query, .is_regex = regex != NULL };
    struct library_searched done;
    struct err err = { 0 };
    CHECK(!library_search(library(), &search, take_hit, &got, &done, &err));
    CHECK(!done.hard_lines);
    CHECK(got.count == got.expected_count && done.hits == got.count);
}

/* The same regex, but one in which no literal is seen: a comment is not known to be
 * harmless. NULL: it is none. */
static struct pattern *
make_regex(struct view query)
{
    AUTO(buf) hidden = { 0 };
    struct pattern *p;
    struct err err;
    if (pattern_new(&p, query, true, &err) < 0)
        return NULL;
    pattern_free(p);
    CHECK(!buf_puts(&hidden, "(?#)") && !buf_append(&hidden, query.p, query.n));
    if (pattern_new(&p, (struct view){ hidden.p, hidden.n }, true, &err) < 0)
        return NULL; /* (*UTF) and the like stand at the beginning alone */
    CHECK(!pattern_literal(p).n);
    return p;
}

static bool
has(struct view text, const char *what)
{
    return memmem(text.p, text.n, what, strlen(what)) != NULL;
}

int
LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct view in = { data, size < 4096 ? size : 4096 };
    bool is_regex = fuzz_byte(&in) & 1;
    size_t n = fuzz_byte(&in);
    n = n < in.n ? n : in.n;
    struct view query = { in.p, n };
    in = (struct view){ in.p + n, in.n - n };
    /* What a literal keeps from PCRE2: see pattern.c. Hard regexes cost time alone. */
    bool is_strange = has(in, "\xc5\xbf") || has(in, "\xe2\x84\xaa");
    if (!n || (is_regex && (is_strange || has(query, "(*"))))
        return 0;
    struct pattern *regex = is_regex ? make_regex(query) : NULL;
    if (is_regex && !regex)
        return 0;
    struct text text = { 0 };
    struct err err;
    const struct store_session row = { .id = ID, .started_at_ns = 1, .exit_code = -1 };
    CHECK(!store_begin(library(), &err));
    CHECK(!store_session_put(library(), &row, &text.key, &err));
    put_text(&text, in);
    compare(&text, query, regex);
    store_rollback(library());
    pattern_free(regex);
    buf_release(&text.all);
    buf_release(&text.rows);
    piece_release(&text.piece);
    return 0;
}
