/* SPDX-License-Identifier: MIT */
#include "support/film.h"

#include <stdio.h>

#include "base/le.h"
#include "support/rng.h"
#include "support/term_corpus.h"
#include "tape/block.h"
#include "term/dump.h"

enum { SPACING = 4000, MS = 1000000 };

static struct tape_packer packer;

void
film_release(struct film *f)
{
    buf_release(&f->file);
    buf_release(&f->records);
    tape_packer_release(&packer);
    *f = (struct film){ 0 };
}

static void
add(struct film *f, uint64_t wait_ns, struct tape_record rec)
{
    f->ts_ns = (f->ts_ns ? f->ts_ns : KIT_START) + wait_ns;
    rec.ts_ns = f->ts_ns;
    if (!f->record_count++) {
        f->block_ts_ns = f->ts_ns;
        f->block_off = f->byte_off;
    }
    uint8_t *p = buf_grow(&f->records, tape_record_size(&rec));
    assert_non_null(p);
    tape_record_put(p, &rec);
}

void
film_data(struct film *f, uint64_t wait_ns, const void *p, size_t n)
{
    struct tape_record rec = { .tag = TAPE_DATA,
                               .byte_off = f->byte_off,
                               .bytes = { p, n } };
    add(f, wait_ns, rec);
    f->byte_off += n;
}

void
film_text(struct film *f, uint64_t wait_ns, const char *text)
{
    film_data(f, wait_ns, text, strlen(text));
}

void
film_size(struct film *f, uint64_t wait_ns, unsigned cols, unsigned rows)
{
    struct tape_record rec = { .tag = TAPE_RESIZE,
                               .cols = (uint16_t)cols,
                               .rows = (uint16_t)rows };
    add(f, wait_ns, rec);
}

void
film_snapshot(struct film *f, uint64_t id, uint64_t anchor, const char *label)
{
    struct tape_record rec = { .tag = TAPE_SNAPSHOT,
                               .snapshot_id = id,
                               .byte_off = anchor,
                               .bytes = { (const uint8_t *)label, strlen(label) } };
    add(f, MS, rec);
}

void
film_gap(struct film *f, uint32_t bytes, bool is_told)
{
    struct tape_record rec = { .tag = TAPE_MARK, .code = TAPE_MARK_GAP, .val = bytes };
    if (is_told)
        add(f, MS, rec);
    f->byte_off += bytes;
}

void
film_cut(struct film *f, bool is_last)
{
    if (is_last)
        add(f, MS, (struct tape_record){ .tag = TAPE_MARK, .code = TAPE_MARK_END });
    struct tape_block b = { .start_ts_ns = f->block_ts_ns,
                            .start_byte_off = f->block_off,
                            .ordinal = f->ordinal++,
                            .record_count = f->record_count,
                            .flags = is_last ? TAPE_BLOCK_LAST : 0 };
    size_t start = f->file.n;
    f->starts[f->blocks++] = start;
    assert_int_equal(tape_block_seal(&b, (struct view){ f->records.p, f->records.n },
                                     &packer, 1, &f->file),
                     0);
    if (f->is_foreign) {
        f->file.p[start + 36] &= (uint8_t)~TAPE_BLOCK_CHECKED;
        memset(f->file.p + start + 37, 0, 7);
    }
    buf_clear(&f->records);
    f->record_count = 0;
}

struct view
film_bytes(const struct film *f)
{
    return (struct view){ f->file.p, f->file.n };
}

/* -- a session -- */

static void
random_size(struct film *f, uint32_t *rng)
{
    for (uint32_t n = rng_between(rng, 1, 3); n; n--)
        film_size(f, rng_below(rng, 2) * MS, rng_between(rng, 1, 140),
                  rng_between(rng, 1, 50));
}

static void
random_output(struct film *f, uint32_t *rng)
{
    struct buf out = { 0 };
    term_corpus(&out, rng_below(rng, TERM_CORPORA), rng_between(rng, 1, 2500),
                rng_next(rng));
    for (size_t at = 0, n; at < out.n; at += n) {
        n = rng_between(rng, 1, 800);
        n = n < out.n - at ? n : out.n - at;
        film_data(f, rng_below(rng, 3) * 7 * MS, out.p + at, n);
    }
    buf_release(&out);
}

void
film_agent(struct film *f, uint32_t seed, size_t bytes)
{
    uint32_t rng = rng_seed(seed);
    film_size(f, 0, TERM_CORPUS_COLS, TERM_CORPUS_ROWS);
    for (uint64_t id = 1; f->byte_off < bytes; id++) {
        switch (rng_below(&rng, 12)) {
        case 0:
            random_size(f, &rng);
            break;
        case 1:
            film_snapshot(f, id, f->byte_off, "a label");
            break;
        case 2:
            if (rng_below(&rng, 4) == 0)
                film_gap(f, rng_between(&rng, 1, 5000), rng_below(&rng, 2));
            break;
        default:
            random_output(f, &rng);
        }
        if (f->record_count && rng_below(&rng, 3) == 0)
            film_cut(f, false);
    }
    film_cut(f, true);
}

/* -- what it shows -- */

struct feed {
    struct term *term;
    unsigned cols, rows;
    uint64_t byte_off;
};

static void
make_model(struct feed *f)
{
    struct term_options opt = term_options_default();
    opt.alternate_rows = 0;
    opt.cols = f->cols;
    opt.rows = f->rows;
    if (f->term)
        term_resize(f->term, f->cols, f->rows);
    else
        f->term = term_new(&opt);
    assert_non_null(f->term);
}

struct term *
film_feed(struct tape_io *io, const char *path, uint64_t byte_off, uint64_t time_ns)
{
    struct feed f = { .cols = 80, .rows = 24 };
    struct tape_reader_options quiet = { 0 };
    struct tape_reader *tape;
    struct tape_record rec;
    struct err err;
    uint64_t start = UINT64_MAX;
    bool is_cut = false;
    assert_int_equal(tape_reader_open(&tape, io, path, &quiet, &err), 0);
    while (tape_reader_next(tape, &rec)) {
        start = start == UINT64_MAX ? rec.ts_ns : start;
        if (rec.ts_ns - start > time_ns && (is_cut = true))
            break;
        f.cols = rec.tag == TAPE_RESIZE && rec.cols ? rec.cols : f.cols;
        f.rows = rec.tag == TAPE_RESIZE && rec.rows ? rec.rows : f.rows;
        if (rec.tag != TAPE_DATA)
            continue;
        uint64_t off = rec.byte_off > f.byte_off ? rec.byte_off : f.byte_off;
        if (off >= byte_off && (is_cut = true))
            break;
        size_t n = byte_off - off < rec.bytes.n ? (size_t)(byte_off - off) : rec.bytes.n;
        make_model(&f);
        term_feed(f.term, rec.bytes.p, n, off);
        f.byte_off = off + n;
        if (n < rec.bytes.n && (is_cut = true))
            break;
    }
    tape_reader_close(tape);
    /* Sizes that are not followed by a byte count at the end. */
    if (!is_cut)
        make_model(&f);
    return f.term;
}

/* All that the model is, but for what has scrolled off and how it is kept. */
static void
dump_picture(const struct term *t, struct buf *ret)
{
    AUTO(buf) bytes = { 0 };
    struct term_options opt = term_options_default();
    struct term *copy;
    struct err err;
    assert_int_equal(term_snapshot((struct term *)(uintptr_t)t, false, &bytes), 0);
    struct view picture = { bytes.p, bytes.n };
    assert_int_equal(term_restore(picture, &opt, &copy, &err), 0);
    dump_all(ret, copy);
    term_free(copy);
}

void
film_expect(const struct play_player *p, const struct term *want, const char *what,
            uint64_t place)
{
    AUTO(buf) x = { 0 };
    AUTO(buf) y = { 0 };
    AUTO(buf) why = { 0 };
    if (!want) { /* nothing has come yet */
        assert_int_equal(play_place(p).byte_off, 0);
        return;
    }
    dump_picture(play_term(p), &x);
    dump_picture(want, &y);
    if (dump_same(&x, &y, &why))
        return;
    fail_msg("another picture at %s %llu: %s", what, (unsigned long long)place,
             buf_str(&why));
}

struct play_player *
film_open(struct tape_io *io, const char *path, const char *keyframes_path)
{
    struct play_options opt = { .keyframes_path = keyframes_path,
                                .keyframe_bytes = SPACING };
    struct play_player *p;
    struct err err = { 0 };
    int e = play_open(&p, io, path, &opt, &err);
    if (e < 0)
        fail_msg("cannot open '%s': %s", path, err.text);
    return p;
}
