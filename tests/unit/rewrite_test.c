/* SPDX-License-Identifier: MIT */
/*
 * rewrite_test.c -- a recording once more: other bytes, and nothing else is other,
 * however the filter lags, whatever is damaged, whichever call to the disk fails.
 */
#include "support/kit.h"
#include "support/rng.h"
#include "support/sim_disk.h"

#include <errno.h>

#include "tape/rewrite.h"
#include "tape/verify.h"

#define NEW_PATH "new.ahr"

enum { COUNT = 80, KINDS = 2 };

/* Turns small letters into stars, `lag` bytes late. */
struct stars {
    struct buf held[KINDS];
    size_t lag;
    uint32_t rng;
    bool is_same; /* changes nothing */
    unsigned flushes[KINDS], resizes;
};

static uint8_t
star_of(const struct stars *s, uint8_t c)
{
    return !s->is_same && c >= 'a' && c <= 'z' ? '*' : c;
}

static int
answer(struct stars *s, enum tape_tag kind, size_t lag, struct buf *out)
{
    struct buf *held = &s->held[kind == TAPE_INPUT];
    size_t n = held->n > lag ? held->n - lag : 0;
    for (size_t i = 0; i < n; i++)
        buf_append(out, (uint8_t[]){ star_of(s, held->p[i]) }, 1);
    held->n -= n;
    if (n)
        memmove(held->p, held->p + n, held->n);
    return out->failed;
}

static int
feed(void *ctx, enum tape_tag kind, struct view bytes, struct buf *out)
{
    struct stars *s = ctx;
    assert_true(kind == TAPE_DATA || kind == TAPE_INPUT);
    buf_append(&s->held[kind == TAPE_INPUT], bytes.p, bytes.n);
    return answer(s, kind, s->lag ? rng_below(&s->rng, (uint32_t)s->lag) : 0, out);
}

static int
flush(void *ctx, enum tape_tag kind, struct buf *out)
{
    struct stars *s = ctx;
    s->flushes[kind == TAPE_INPUT]++;
    return answer(s, kind, 0, out);
}

static void
resize(void *ctx, uint16_t cols, uint16_t rows)
{
    (void)cols, (void)rows;
    ((struct stars *)ctx)->resizes++;
}

/* Longer by its number of stars. */
static int
label(void *ctx, struct view text, struct buf *out)
{
    struct stars *s = ctx;
    for (size_t i = 0; i < text.n; i++) {
        uint8_t c = star_of(s, text.p[i]);
        buf_append(out, &c, 1);
        if (c != text.p[i])
            buf_append(out, &c, 1);
    }
    return out->failed;
}

static struct tape_filter
filter_of(struct stars *s)
{
    return (struct tape_filter){
        .ctx = s, .feed = feed, .flush = flush, .resize = resize, .label = label
    };
}

static int
run(struct sim_disk *d, struct stars *s, struct tape_rewrite_report *ret)
{
    struct err err;
    struct tape_filter f = filter_of(s);
    int e = tape_rewrite(&d->io, KIT_PATH, NEW_PATH, &f, NULL, ret, &err);
    if (e < 0)
        assert_non_null(strstr(err.text, "ahr'"));
    for (int i = 0; i < KINDS; i++)
        buf_release(&s->held[i]);
    return e;
}

static struct tape_reader *
reader_of(struct sim_disk *d, const char *path)
{
    static const struct tape_reader_options none;
    struct tape_reader *r;
    struct err err;
    assert_int_equal(tape_reader_open(&r, &d->io, path, &none, &err), 0);
    return r;
}

static void
same_head(const struct tape_piece *a, const struct tape_piece *b)
{
    assert_int_equal(a->head.ordinal, b->head.ordinal);
    assert_int_equal(a->head.start_ts_ns, b->head.start_ts_ns);
    assert_int_equal(a->head.start_byte_off, b->head.start_byte_off);
    assert_int_equal(a->head.flags & TAPE_BLOCK_LAST, b->head.flags & TAPE_BLOCK_LAST);
    assert_int_equal(a->head.is_checked, b->head.is_checked);
    assert_int_equal(a->record_count, b->record_count);
    assert_int_equal(b->record_count, b->head.record_count);
}

/* b is a with stars. */
static void
same_record(const struct stars *s, struct tape_record a, struct tape_record b)
{
    AUTO(buf) want = { 0 };
    if (a.tag == TAPE_SNAPSHOT)
        label((void *)(uintptr_t)s, a.bytes, &want);
    for (size_t i = 0; a.tag != TAPE_SNAPSHOT && i < a.bytes.n; i++)
        buf_append(&want, (uint8_t[]){ star_of(s, a.bytes.p[i]) }, 1);
    assert_int_equal(b.bytes.n, want.n);
    if (want.n)
        assert_memory_equal(b.bytes.p, want.p, want.n);
    assert_int_equal(a.tag, b.tag);
    assert_int_equal(a.ts_ns, b.ts_ns);
    assert_int_equal(a.byte_off, b.byte_off);
    assert_int_equal(a.snapshot_id, b.snapshot_id);
    assert_int_equal(a.code, b.code);
    assert_int_equal(a.val, b.val);
    assert_int_equal(a.cols, b.cols);
    assert_int_equal(a.rows, b.rows);
}

/* Block by block, record by record. Returns how many blocks there are. */
static unsigned
expect_starred(struct sim_disk *d, const struct stars *s)
{
    struct tape_reader *old = reader_of(d, KIT_PATH), *new = reader_of(d, NEW_PATH);
    struct tape_piece a, b;
    unsigned n = 0;
    for (; tape_reader_next_piece(old, &a); n++) {
        assert_true(tape_reader_next_piece(new, &b));
        same_head(&a, &b);
        while (a.records.n) {
            struct tape_record x, y;
            const char *reason;
            size_t nx = tape_record_get(a.records, &x, &reason);
            size_t ny = tape_record_get(b.records, &y, &reason);
            same_record(s, x, y);
            a.records = (struct view){ a.records.p + nx, a.records.n - nx };
            b.records = (struct view){ b.records.p + ny, b.records.n - ny };
        }
        assert_int_equal(b.records.n, 0);
    }
    assert_false(tape_reader_next_piece(new, &b));
    tape_reader_close(old);
    tape_reader_close(new);
    return n;
}

static size_t
damages(struct sim_disk *d, const char *path)
{
    struct tape_verify_report v;
    struct err err;
    assert_int_equal(tape_verify(&d->io, path, NULL, &v, &err), 0);
    size_t n = v.notes.damages;
    tape_verify_report_release(&v);
    return n;
}

static void
put_sample(struct sim_disk *d, size_t block_bytes)
{
    struct tape_writer_options opt = kit_options(TAPE_SYNC_NONE);
    opt.block_bytes = block_bytes;
    sim_init(d);
    kit_write(&d->io, KIT_PATH, &opt, COUNT);
}

static void
a_filter_that_changes_nothing_gives_the_same_file(void **state)
{
    (void)state;
    for (uint32_t seed = 1; seed < 20; seed++) {
        struct sim_disk d;
        struct stars s = { .is_same = true, .rng = rng_seed(seed), .lag = seed * 77 };
        struct tape_rewrite_report report;
        put_sample(&d, rng_between(&s.rng, 100, 6000));
        assert_int_equal(run(&d, &s, &report), 0);
        struct view old = sim_file(&d, KIT_PATH), new = sim_file(&d, NEW_PATH);
        assert_int_equal(old.n, new.n);
        assert_memory_equal(old.p, new.p, old.n);
        assert_int_equal(report.changed_bytes + report.changed_labels, 0);
        assert_int_equal(report.changed_blocks, 0);
        assert_int_equal(report.notes.damages, 0);
        tape_rewrite_report_release(&report);
        sim_release(&d);
    }
}

static void
bytes_and_labels_change_and_nothing_else(void **state)
{
    (void)state;
    for (uint32_t seed = 1; seed < 40; seed++) {
        struct sim_disk d;
        struct stars s = { .rng = rng_seed(seed), .lag = seed % 5 * 1000 };
        struct tape_rewrite_report report;
        put_sample(&d, rng_between(&s.rng, 100, 6000));
        assert_int_equal(run(&d, &s, &report), 0);
        assert_int_equal(expect_starred(&d, &s), report.blocks);
        assert_int_equal(damages(&d, NEW_PATH), 0);
        assert_true(report.changed_bytes > 1000);
        assert_true(report.changed_labels > 3);
        assert_true(report.changed_blocks <= report.blocks);
        assert_int_equal(s.flushes[0], 1);
        assert_int_equal(s.flushes[1], 1);
        assert_true(s.resizes > 3);
        tape_rewrite_report_release(&report);
        sim_release(&d);
    }
}

static void
a_stream_may_be_answered_at_its_end_only(void **state)
{
    (void)state;
    struct sim_disk d;
    struct stars s = { .rng = rng_seed(7), .lag = 1U << 31 };
    struct tape_rewrite_report report;
    put_sample(&d, 300);
    assert_int_equal(run(&d, &s, &report), 0);
    expect_starred(&d, &s);
    tape_rewrite_report_release(&report);
    sim_release(&d);
}

/* Letters only, in small records of both kinds: what is answered at once is one change.
 */
static void
a_change_may_reach_over_records_and_blocks(void **state)
{
    (void)state;
    static const uint8_t letters[] = "onlysmalllettersinhere";
    struct sim_disk d;
    struct stars s = { .rng = rng_seed(9), .lag = 3000 };
    struct tape_rewrite_report report;
    struct tape_writer_options opt = kit_options(TAPE_SYNC_NONE);
    struct tape_writer_status st;
    struct tape_writer *w;
    struct err err;
    uint64_t bytes = 0;
    sim_init(&d);
    assert_int_equal(tape_writer_open(&w, &d.io, KIT_PATH, &opt, &err), 0);
    for (uint32_t i = 0; i < 1000; i++) {
        struct tape_record rec = { .tag = i % 3 ? TAPE_DATA : TAPE_INPUT,
                                   .ts_ns = KIT_START + i,
                                   .bytes = { letters, rng_between(&s.rng, 1, 22) } };
        bytes += rec.bytes.n;
        tape_writer_append(w, rec);
    }
    assert_int_equal(tape_writer_finish(w, KIT_START + 1000, &st, &err), 0);
    assert_int_equal(run(&d, &s, &report), 0);
    expect_starred(&d, &s);
    assert_int_equal(report.changed_bytes, bytes);
    assert_true(report.changed_blocks > 10);
    tape_rewrite_report_release(&report);
    sim_release(&d);
}

static void
a_file_that_exists_is_left_alone(void **state)
{
    (void)state;
    struct sim_disk d;
    struct stars s = { 0 };
    struct tape_rewrite_report report;
    put_sample(&d, 1500);
    sim_put(&d, NEW_PATH, (struct view){ (const uint8_t *)"mine", 4 });
    assert_int_equal(run(&d, &s, &report), -EEXIST);
    assert_int_equal(sim_file(&d, NEW_PATH).n, 4);
    sim_release(&d);
}

static void
a_missing_recording_leaves_no_file(void **state)
{
    (void)state;
    struct sim_disk d;
    struct stars s = { 0 };
    struct tape_rewrite_report report;
    sim_init(&d);
    assert_int_equal(run(&d, &s, &report), ERR_MISSING);
    assert_int_equal(sim_count_files(&d), 0);
    sim_release(&d);
}

/* What can be read of the old one is in the new one, and a gap ends the streams. */
static void
check_damaged(struct view bytes, bool is_whole)
{
    struct sim_disk d;
    struct stars s = { .rng = rng_seed(3), .lag = 500 };
    struct tape_rewrite_report report;
    sim_init(&d);
    sim_put(&d, KIT_PATH, bytes);
    assert_int_equal(run(&d, &s, &report), 0);
    assert_int_equal(expect_starred(&d, &s), report.blocks);
    if (!is_whole)
        assert_true(report.notes.damages || report.notes.warnings);
    if (report.blocks && damages(&d, KIT_PATH) > 1)
        assert_true(s.flushes[0] > 0);
    tape_rewrite_report_release(&report);
    sim_release(&d);
}

static void
what_a_cut_leaves_is_rewritten(void **state)
{
    (void)state;
    struct kit_sample s;
    kit_sample_init(&s, 40, 900);
    for (size_t n = 0; n < s.file.n; n += n < 200 ? 1 : 37)
        check_damaged((struct view){ s.file.p, n }, false);
    kit_sample_release(&s);
}

static void
what_a_flip_leaves_is_rewritten(void **state)
{
    (void)state;
    struct kit_sample s;
    kit_sample_init(&s, 40, 900);
    for (size_t i = 0; i < s.file.n; i += i < 100 ? 1 : 23) {
        s.file.p[i] ^= (uint8_t)(1U << i % 8);
        check_damaged((struct view){ s.file.p, s.file.n }, false);
        s.file.p[i] ^= (uint8_t)(1U << i % 8);
    }
    check_damaged((struct view){ s.file.p, s.file.n }, true);
    kit_sample_release(&s);
}

static void
a_lost_block_ends_both_streams(void **state)
{
    (void)state;
    struct kit_sample s;
    struct sim_disk d;
    struct stars stars = { .rng = rng_seed(3), .lag = 5000 };
    struct tape_rewrite_report report;
    kit_sample_init(&s, COUNT, 1500);
    s.file.p[s.start[3] + 60] ^= 1;
    sim_init(&d);
    sim_put(&d, KIT_PATH, (struct view){ s.file.p, s.file.n });
    assert_int_equal(run(&d, &stars, &report), 0);
    assert_int_equal(report.notes.damages, 1);
    assert_int_equal(report.blocks, s.blocks - 1);
    assert_int_equal(expect_starred(&d, &stars), s.blocks - 1);
    assert_true(stars.flushes[0] >= 2 && stars.flushes[1] == 2);
    assert_int_equal(damages(&d, NEW_PATH), 1); /* the gap stays one */
    tape_rewrite_report_release(&report);
    kit_sample_release(&s);
    sim_release(&d);
}

static void
segments_and_tails_become_one_file(void **state)
{
    (void)state;
    struct kit_sample s;
    struct sim_disk d;
    struct stars stars = { .rng = rng_seed(3), .lag = 700 };
    struct tape_rewrite_report report;
    AUTO(buf) tail = { 0 };
    char name[40];
    kit_sample_init(&s, COUNT, 1500);
    int last = s.blocks - 1;
    kit_make_tail(&s, last, &tail);
    snprintf(name, sizeof(name), KIT_PATH ".tail-%d", last);
    sim_init(&d);
    sim_put(&d, KIT_PATH, (struct view){ s.file.p, s.start[3] });
    sim_put(&d, KIT_PATH ".1",
            (struct view){ s.file.p + s.start[2], s.start[last] - s.start[2] });
    sim_put(&d, name, (struct view){ tail.p, tail.n });
    assert_int_equal(run(&d, &stars, &report), 0);
    assert_int_equal(report.blocks, s.blocks);
    expect_starred(&d, &stars);
    assert_int_equal(damages(&d, NEW_PATH), 0);
    assert_int_equal(sim_count_files(&d), 4);
    tape_rewrite_report_release(&report);
    kit_sample_release(&s);
    sim_release(&d);
}

static void
blocks_without_checksums_stay_readable(void **state)
{
    (void)state;
    struct kit_sample s;
    struct sim_disk d;
    struct stars stars = { .rng = rng_seed(3), .lag = 700 };
    struct tape_rewrite_report report;
    kit_sample_init(&s, COUNT, 1500);
    for (int i = 0; i < s.blocks; i++) {
        uint8_t *head = s.file.p + s.start[i];
        head[36] &= (uint8_t)~TAPE_BLOCK_CHECKED;
        memset(head + 37, 0, TAPE_BLOCK_HEAD - 37);
    }
    sim_init(&d);
    sim_put(&d, KIT_PATH, (struct view){ s.file.p, s.file.n });
    assert_int_equal(run(&d, &stars, &report), 0);
    assert_int_equal(expect_starred(&d, &stars), s.blocks);
    tape_rewrite_report_release(&report);
    kit_sample_release(&s);
    sim_release(&d);
}

static void
put_data(struct buf *records, uint64_t at, const char *text)
{
    struct tape_record rec = { .tag = TAPE_DATA, .ts_ns = 1, .byte_off = at };
    rec.bytes = (struct view){ (const uint8_t *)text, strlen(text) };
    tape_record_put(buf_grow(records, tape_record_size(&rec)), &rec);
}

/* What stands on both sides of bytes that were dropped was never one text. */
static void
bytes_that_were_not_recorded_end_the_stream(void **state)
{
    (void)state;
    AUTO(buf) records = { 0 };
    AUTO(buf) file = { 0 };
    struct tape_packer packer = { 0 };
    struct sim_disk d;
    struct stars stars = { .rng = rng_seed(3), .lag = 700 };
    struct tape_rewrite_report report;
    put_data(&records, 0, "before ");
    put_data(&records, 7, "the gap");
    put_data(&records, 100, "behind it");
    struct tape_block block = { .start_ts_ns = 1, .record_count = 3, .is_checked = true };
    assert_int_equal(
        tape_block_seal(&block, (struct view){ records.p, records.n }, &packer, 4, &file),
        0);
    sim_init(&d);
    sim_put(&d, KIT_PATH, (struct view){ file.p, file.n });
    assert_int_equal(run(&d, &stars, &report), 0);
    assert_int_equal(stars.flushes[0], 2);
    assert_int_equal(expect_starred(&d, &stars), 1);
    tape_rewrite_report_release(&report);
    tape_packer_release(&packer);
    sim_release(&d);
}

/* All of it, or an error and no file; the old one is as it was in any case. */
static void
fail_at(struct sim_disk *from, int error, bool is_forever, int n, bool *ret_is_hit)
{
    struct sim_disk d;
    struct stars s = { .rng = rng_seed(5), .lag = 400 };
    struct tape_rewrite_report report;
    sim_copy(&d, from);
    d.fault = error ? SIM_ERROR : SIM_SHORT;
    d.error = error;
    d.is_forever = is_forever;
    d.at_call = n;
    int e = run(&d, &s, &report);
    *ret_is_hit = d.calls >= n;
    sim_heal(&d);
    struct view was = sim_file(from, KIT_PATH), is = sim_file(&d, KIT_PATH);
    assert_int_equal(was.n, is.n);
    assert_memory_equal(was.p, is.p, was.n);
    if (!e)
        expect_starred(&d, &s);
    else if (!is_forever) /* else it could not be taken away */
        assert_int_equal(sim_count_files(&d), 1);
    if (!e)
        tape_rewrite_report_release(&report);
    sim_release(&d);
}

static void
any_call_may_fail(void **state)
{
    (void)state;
    static const int errors[] = { -EIO, -ENOSPC, -EINTR, 0 /* short */ };
    struct sim_disk d;
    put_sample(&d, 3000);
    for (size_t i = 0; i < sizeof(errors) / sizeof(errors[0]); i++)
        for (int is_forever = 0; is_forever < 2; is_forever++) {
            bool is_hit = true;
            for (int n = 1; is_hit; n++)
                fail_at(&d, errors[i], is_forever, n, &is_hit);
        }
    sim_release(&d);
}

int
main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_filter_that_changes_nothing_gives_the_same_file),
        cmocka_unit_test(bytes_and_labels_change_and_nothing_else),
        cmocka_unit_test(a_stream_may_be_answered_at_its_end_only),
        cmocka_unit_test(a_change_may_reach_over_records_and_blocks),
        cmocka_unit_test(a_file_that_exists_is_left_alone),
        cmocka_unit_test(a_missing_recording_leaves_no_file),
        cmocka_unit_test(what_a_cut_leaves_is_rewritten),
        cmocka_unit_test(what_a_flip_leaves_is_rewritten),
        cmocka_unit_test(a_lost_block_ends_both_streams),
        cmocka_unit_test(segments_and_tails_become_one_file),
        cmocka_unit_test(blocks_without_checksums_stay_readable),
        cmocka_unit_test(bytes_that_were_not_recorded_end_the_stream),
        cmocka_unit_test(any_call_may_fail),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
