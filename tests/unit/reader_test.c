/* SPDX-License-Identifier: MIT */
/*
 * reader_test.c -- recordings that were cut, flipped, shuffled, planted with foreign
 * blocks: everything good comes back, nothing false does, and what is missing is told.
 */
#include "support/kit.h"
#include "support/sim_disk.h"

#include <stdio.h>

#include "base/le.h"
#include "tape/block.h"
#include "tape/brotli.h"
#include "tape/tail.h"
#include "tape/verify.h"

static struct tape_packer packer;

enum { COUNT = 80 };

static struct kit_result res;

static void
read_bytes(struct view bytes)
{
    struct tape_io_memory m;
    tape_io_memory_init(&m, KIT_PATH, bytes);
    kit_release(&res);
    kit_read(&m.io, KIT_PATH, &res);
}

static void
a_whole_recording_comes_back_from_memory(void **state)
{
    (void)state;
    struct kit_sample s;
    kit_sample_init(&s, COUNT, 1500);
    read_bytes((struct view){ s.file.p, s.file.n });
    assert_int_equal(res.count, COUNT);
    assert_true(res.has_end && kit_is_prefix(&res));
    assert_int_equal(res.notes.count, 0);
    kit_sample_release(&s);
}

static void
cut_at_every_byte_all_whole_blocks_come_back(void **state)
{
    (void)state;
    struct kit_sample s;
    kit_sample_init(&s, COUNT, 1500);
    assert_true(s.blocks > 5);
    for (size_t cut = 0; cut < s.file.n; cut++) {
        int whole = 0;
        while (s.start[whole + 1] <= cut)
            whole++;
        read_bytes((struct view){ s.file.p, cut });
        assert_int_equal(res.count, s.records[whole]);
        assert_true(kit_is_prefix(&res));
        assert_int_equal(res.notes.is_torn, cut != s.start[whole]);
    }
    kit_sample_release(&s);
}

static void
cut_at_every_byte_with_tails_every_record_comes_back(void **state)
{
    (void)state;
    struct kit_sample s;
    struct buf tails[64] = { 0 };
    kit_sample_init(&s, COUNT, 1500);
    for (int i = 0; i < s.blocks; i++)
        kit_make_tail(&s, i, &tails[i]);
    for (size_t cut = 0; cut <= s.file.n; cut += (size_t)kit_times(3, 1)) {
        struct sim_disk d;
        struct tape_repair_report report;
        char name[64];
        sim_init(&d);
        sim_put(&d, KIT_PATH, (struct view){ s.file.p, cut });
        for (int i = 0; i < s.blocks; i++) {
            snprintf(name, sizeof(name), KIT_PATH ".tail-%d", i);
            if (s.start[i + 1] > cut ||
                i % 2) /* some of the sealed ones are still there */
                sim_put(&d, name, (struct view){ tails[i].p, tails[i].n });
        }
        for (int pass = 0; pass < 2; pass++) {
            kit_release(&res);
            kit_read(&d.io, KIT_PATH, &res);
            assert_int_equal(res.count, COUNT);
            assert_int_equal(res.notes.damages, 0);
            assert_int_equal(kit_repair(&d.io, KIT_PATH, &report), 0);
            assert_int_equal(sim_count_files(&d), 1);
        }
        sim_release(&d);
    }
    for (int i = 0; i < s.blocks; i++)
        buf_release(&tails[i]);
    kit_sample_release(&s);
}

static void
every_flipped_bit_is_told_or_changes_nothing(void **state)
{
    (void)state;
    struct kit_sample s;
    kit_sample_init(&s, 24, 900);
    assert_true(s.blocks >= 3);
    for (size_t bit = 0; bit < 8 * s.file.n; bit++) {
        s.file.p[bit / 8] ^= (uint8_t)(1U << bit % 8);
        read_bytes((struct view){ s.file.p, s.file.n });
        if (res.count != 24 || !res.has_end)
            assert_true(res.notes.damages > 0);
        /* Only the flipped block is lost. */
        assert_true(res.count + 12 > 24);
        s.file.p[bit / 8] ^= (uint8_t)(1U << bit % 8);
    }
    kit_sample_release(&s);
}

static void
every_flipped_bit_of_a_tail_is_told_or_cuts_it(void **state)
{
    (void)state;
    struct kit_sample s;
    AUTO(buf) tail = { 0 };
    kit_sample_init(&s, 24, 900);
    kit_make_tail(&s, 1, &tail);
    for (size_t bit = 0; bit < 8 * tail.n; bit++) {
        struct sim_disk d;
        sim_init(&d);
        tail.p[bit / 8] ^= (uint8_t)(1U << bit % 8);
        sim_put(&d, KIT_PATH, (struct view){ s.file.p, s.start[1] });
        sim_put(&d, KIT_PATH ".tail-1", (struct view){ tail.p, tail.n });
        kit_release(&res);
        kit_read(&d.io, KIT_PATH, &res);
        assert_true(kit_is_prefix(&res));
        assert_true(res.count >= s.records[1]);
        assert_true(res.count < s.records[2]);
        assert_true(res.notes.count >= 2); /* no end of session, and this */
        tail.p[bit / 8] ^= (uint8_t)(1U << bit % 8);
        sim_release(&d);
    }
    kit_sample_release(&s);
}

static void
put_blocks(struct buf *out, const struct kit_sample *s, const int *order, int n)
{
    buf_clear(out);
    for (int i = 0; i < n; i++) {
        struct view b = kit_block(s, order[i]);
        buf_append(out, b.p, b.n);
    }
}

static void
swapped_doubled_and_removed_blocks_are_told_and_not_spliced_in(void **state)
{
    (void)state;
    struct kit_sample s;
    AUTO(buf) out = { 0 };
    int order[65];
    kit_sample_init(&s, COUNT, 1500);
    for (int a = 0; a < s.blocks; a++) {
        for (int b = 0; b < s.blocks; b++) {
            int n = 0;
            if (a < b) { /* swapped */
                for (int i = 0; i < s.blocks; i++)
                    order[n++] = i == a ? b : i == b ? a : i;
            } else { /* a once more, before b */
                for (int i = 0; i < s.blocks; i++) {
                    if (i == b)
                        order[n++] = a;
                    order[n++] = i;
                }
            }
            put_blocks(&out, &s, order, n);
            read_bytes((struct view){ out.p, out.n }); /* fails when out of order */
            assert_true(res.notes.damages > 0);
        }
        int n = 0;
        for (int i = 0; i < s.blocks; i++)
            if (i != a)
                order[n++] = i;
        put_blocks(&out, &s, order, n);
        read_bytes((struct view){ out.p, out.n });
        assert_int_equal(res.count + s.records[a + 1] - s.records[a],
                         COUNT + !res.has_end);
        assert_true(res.notes.damages > 0 || a == s.blocks - 1);
        assert_true(res.notes.count > 0);
    }
    kit_sample_release(&s);
}

static void
put_data_block(struct buf *out, uint64_t ordinal, uint64_t ts_ns, uint64_t off,
               struct view data)
{
    struct tape_record rec = { .ts_ns = ts_ns, .byte_off = off, .bytes = data };
    struct tape_block b = {
        .ordinal = ordinal, .start_ts_ns = ts_ns, .start_byte_off = off, .record_count = 1
    };
    AUTO(buf) raw = { 0 };
    tape_record_put(buf_grow(&raw, tape_record_size(&rec)), &rec);
    assert_int_equal(tape_block_seal(&b, (struct view){ raw.p, raw.n }, &packer, 4, out),
                     0);
}

/* A block of another recording, printed by the agent and stored as it is. */
static void
a_planted_block_is_never_delivered_whatever_bit_of_the_header_around_it_flips(
    void **state)
{
    (void)state;
    AUTO(buf) out = { 0 };
    AUTO(buf) data = { 0 };
    struct view before = { (const uint8_t *)"before", 6 },
                after = { (const uint8_t *)"after", 5 };
    struct view planted = { (const uint8_t *)"PLANTED", 7 };
    put_data_block(&out, 0, KIT_START, 0, before);
    for (int i = 0; i < 2000; i++) {
        uint8_t byte = (uint8_t)rand();
        buf_append(&data, &byte, 1);
        if (i == 500) /* older than what is around it, as all that can be printed is */
            put_data_block(&data, 1, KIT_START - 1, 1 << 20, planted);
        if (i == 1000) /* as if it came from the past of this very session */
            put_data_block(&data, 0, KIT_START + 5, 1 << 20, planted);
        if (i == 1500)
            put_data_block(&data, 9, KIT_START + 5, 3, planted);
    }
    size_t at = out.n;
    put_data_block(&out, 1, KIT_START + 10, 6, (struct view){ data.p, data.n });
    put_data_block(&out, 2, KIT_START + 20, 6 + data.n, after);
    for (size_t bit = 0; bit < 8 * TAPE_BLOCK_HEAD; bit++) {
        struct tape_io_memory m;
        struct tape_reader_options opt = { 0 };
        struct tape_reader *r;
        struct tape_record rec;
        struct err err;
        bool is_last_there = false;
        out.p[at + bit / 8] ^= (uint8_t)(1U << bit % 8);
        tape_io_memory_init(&m, KIT_PATH, (struct view){ out.p, out.n });
        assert_int_equal(tape_reader_open(&r, &m.io, KIT_PATH, &opt, &err), 0);
        while (tape_reader_next(r, &rec)) {
            assert_false(rec.bytes.n == planted.n &&
                         !memcmp(rec.bytes.p, planted.p, planted.n));
            is_last_there |= rec.bytes.n == after.n &&
                             !memcmp(rec.bytes.p, after.p, after.n);
        }
        assert_true(is_last_there);
        tape_reader_close(r);
        out.p[at + bit / 8] ^= (uint8_t)(1U << bit % 8);
    }
}

/* -- other writers' files -- */

static void
foreign(struct buf *out, size_t head_size)
{
    uint8_t raw[64], head[48] = { 'A', 'H', 'R', 'C', 1, 0, 48, 0 };
    struct tape_record rec = { .ts_ns = 1760542626145118000,
                               .bytes = { (const uint8_t *)"hello world\r\n", 13 } };
    AUTO(buf) packed = { 0 };
    tape_record_put(raw, &rec);
    assert_int_equal(tape_record_size(&rec), 37);
    tape_deflate(&packer, (struct view){ raw, 37 }, 4, &packed);
    put_le64(head + 8, rec.ts_ns);
    put_le32(head + 24, 37);
    put_le32(head + 28, (uint32_t)packed.n);
    put_le32(head + 32, 1);
    buf_append(out, head, head_size);
    buf_append(out, packed.p, packed.n);
}

static void
expect_hello(struct tape_io *io, const char *path)
{
    struct tape_verify_report v;
    struct tape_reader_options opt = { 0 };
    struct tape_reader *r;
    struct tape_record rec;
    struct err err;
    assert_int_equal(tape_verify(io, path, NULL, &v, &err), 0);
    assert_int_equal(v.notes.damages, 0);
    assert_int_equal(v.records, 1);
    tape_verify_report_release(&v);
    assert_int_equal(tape_reader_open(&r, io, path, &opt, &err), 0);
    assert_true(tape_reader_next(r, &rec));
    assert_int_equal(rec.ts_ns, 1760542626145118000);
    assert_int_equal(rec.bytes.n, 13);
    assert_memory_equal(rec.bytes.p, "hello world\r\n", 13);
    assert_false(tape_reader_next(r, &rec));
    tape_reader_close(r);
}

static void
a_header_that_says_48_and_has_44_bytes_is_read(void **state)
{
    (void)state;
    AUTO(buf) out = { 0 };
    struct tape_io_memory m;
    foreign(&out, 44);
    assert_int_equal(out.n, 85);
    tape_io_memory_init(&m, KIT_PATH, (struct view){ out.p, out.n });
    expect_hello(&m.io, KIT_PATH);
}

static void
a_header_that_really_has_48_bytes_is_read(void **state)
{
    (void)state;
    AUTO(buf) out = { 0 };
    struct tape_io_memory m;
    foreign(&out, 48);
    tape_io_memory_init(&m, KIT_PATH, (struct view){ out.p, out.n });
    expect_hello(&m.io, KIT_PATH);
}

static void
a_version_that_is_not_ours_is_refused_by_name(void **state)
{
    (void)state;
    struct kit_sample s;
    kit_sample_init(&s, 10, 1 << 20);
    s.file.p[4] = 7;
    read_bytes((struct view){ s.file.p, s.file.n });
    assert_int_equal(res.count, 0);
    assert_non_null(strstr(res.notes.list[0].text, "version 7"));
    kit_sample_release(&s);
}

/* -- seeking -- */

struct place {
    uint64_t byte_off; /* after the record */
    struct tape_record rec;
};

static void
seeking_finds_what_reading_from_the_start_finds(void **state)
{
    (void)state;
    struct kit_sample s;
    struct tape_io_memory m;
    struct tape_reader_options opt = { 0 };
    struct tape_reader *r;
    struct tape_record rec;
    struct err err;
    static struct place all[COUNT + 8];
    int n = 0;
    kit_sample_init(&s, COUNT, 1500);
    tape_io_memory_init(&m, KIT_PATH, (struct view){ s.file.p, s.file.n });
    assert_int_equal(tape_reader_open(&r, &m.io, KIT_PATH, &opt, &err), 0);
    for (uint64_t off = 0; tape_reader_next(r, &rec); n++) {
        off = rec.tag == TAPE_DATA ? rec.byte_off + rec.bytes.n : off;
        all[n] = (struct place){ off, rec };
    }
    uint64_t end = all[n - 1].byte_off;
    for (uint64_t byte = 0; byte <= end + 1; byte++) {
        int want = 0;
        while (want < n && (all[want].rec.tag == TAPE_DATA ? all[want].byte_off <= byte
                                                           : all[want].byte_off < byte))
            want++;
        assert_int_equal(tape_reader_seek_byte(r, byte), 0);
        int e = tape_reader_next(r, &rec);
        assert_int_equal(e, want < n);
        if (e)
            assert_true(rec.ts_ns == all[want].rec.ts_ns && rec.tag == all[want].rec.tag);
    }
    for (int i = n - 1; i >= 0; i--) {
        for (int delta = -1; delta <= 1; delta++) {
            uint64_t ts = all[i].rec.ts_ns + (uint64_t)(int64_t)delta;
            int want = 0;
            while (want < n && all[want].rec.ts_ns < ts)
                want++;
            assert_int_equal(tape_reader_seek_time(r, ts), 0);
            int e = tape_reader_next(r, &rec);
            assert_int_equal(e, want < n);
            if (e)
                assert_int_equal(rec.ts_ns, all[want].rec.ts_ns);
        }
    }
    tape_reader_close(r);
    kit_sample_release(&s);
}

/* -- a recording that is being made -- */

static void
reading_while_it_is_written_never_shows_damage(void **state)
{
    (void)state;
    struct sim_disk d;
    struct tape_writer *w;
    struct tape_writer_status st;
    struct err err;
    struct tape_writer_options opt = kit_options(TAPE_SYNC_INTERVAL);
    uint32_t next = 1, total = (uint32_t)kit_times(4000, 40000);
    sim_init(&d);
    assert_int_equal(tape_writer_open(&w, &d.io, KIT_PATH, &opt, &err), 0);
    while (next < total) {
        bool saved[1];
        uint8_t room[KIT_DATA_MAX];
        for (int i = 0; i < 7; i++)
            saved[0] = tape_writer_append(w, kit_record(next++, room)) == TAPE_SAVED;
        kit_release(&res);
        kit_read(&d.io, KIT_PATH, &res); /* while the sealer is at work */
        assert_true(kit_is_prefix(&res));
        assert_int_equal(res.notes.damages, 0);
        if (saved[0])
            assert_int_equal(res.count, next);
    }
    assert_int_equal(tape_writer_finish(w, KIT_START, &st, &err), 0);
    sim_release(&d);
}

int
main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_whole_recording_comes_back_from_memory),
        cmocka_unit_test(cut_at_every_byte_all_whole_blocks_come_back),
        cmocka_unit_test(cut_at_every_byte_with_tails_every_record_comes_back),
        cmocka_unit_test(every_flipped_bit_is_told_or_changes_nothing),
        cmocka_unit_test(every_flipped_bit_of_a_tail_is_told_or_cuts_it),
        cmocka_unit_test(swapped_doubled_and_removed_blocks_are_told_and_not_spliced_in),
        cmocka_unit_test(
            a_planted_block_is_never_delivered_whatever_bit_of_the_header_around_it_flips),
        cmocka_unit_test(a_header_that_says_48_and_has_44_bytes_is_read),
        cmocka_unit_test(a_header_that_really_has_48_bytes_is_read),
        cmocka_unit_test(a_version_that_is_not_ours_is_refused_by_name),
        cmocka_unit_test(seeking_finds_what_reading_from_the_start_finds),
        cmocka_unit_test(reading_while_it_is_written_never_shows_damage),
    };
    int failed = cmocka_run_group_tests_name("reader", tests, NULL, NULL);
    kit_release(&res);
    return failed;
}
