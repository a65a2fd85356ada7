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
#include "tape/crc32c.h"
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
    for (size_t cut = 0; cut <= s.file.n; cut += (size_t)kit_stride()) {
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
    for (size_t bit = 0; bit < 8 * s.file.n; bit += (size_t)kit_stride()) {
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
    for (size_t bit = 0; bit < 8 * tail.n; bit += (size_t)kit_stride()) {
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

/* Appends the bytes of DATA; returns how many damages were told. */
static size_t
deliver(struct tape_io *io, struct buf *ret)
{
    struct tape_notes notes = { 0 };
    struct tape_reader_options opt = { .notice = tape_notes_add, .ctx = &notes };
    struct tape_reader *r;
    struct tape_record rec;
    struct err err;
    assert_int_equal(tape_reader_open(&r, io, KIT_PATH, &opt, &err), 0);
    while (tape_reader_next(r, &rec))
        if (rec.tag == TAPE_DATA)
            buf_append(ret, rec.bytes.p, rec.bytes.n);
    tape_reader_close(r);
    size_t damages = notes.damages;
    tape_notes_release(&notes);
    return damages;
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

/* As other writers make it: no checksum, and header_len 48. */
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

/* A block of another recording, printed by the agent and stored as it is. */
static void
a_planted_block_is_never_delivered_whatever_bit_of_the_header_around_it_flips(
    void **state)
{
    (void)state;
    static const struct {
        uint64_t ordinal, ts_ns, off;
    } plants[] = {
        { 1, KIT_START - 1, 1 << 20 },       /* older than what is around it */
        { 0, KIT_START + 5, 1 << 20 },       /* of the past of this very session */
        { 9, KIT_START + 5, 3 },             /* at a place that has gone by */
        { 1 << 20, KIT_START + 5, 1 << 20 }, /* farther ahead than there is room for */
    };
    struct view before = { (const uint8_t *)"before", 6 },
                after = { (const uint8_t *)"after", 5 };
    struct view planted = { (const uint8_t *)"PLANTED", 7 };
    for (size_t k = 0; k < sizeof(plants) / sizeof(plants[0]); k++) {
        AUTO(buf) out = { 0 };
        AUTO(buf) data = { 0 };
        put_data_block(&out, 0, KIT_START, 0, before);
        for (int i = 0; i < 60000; i++) {
            uint8_t byte = (uint8_t)rand();
            buf_append(&data, &byte, 1);
            if (i == 30000)
                put_data_block(&data, plants[k].ordinal, plants[k].ts_ns, plants[k].off,
                               planted);
        }
        size_t at = out.n;
        put_data_block(&out, 1, KIT_START + 10, 6, (struct view){ data.p, data.n });
        assert_non_null(
            memmem(out.p + at + 4, out.n - at - 4, "AHRC", 4)); /* stored as it is */
        put_data_block(&out, 2, KIT_START + 20, 6 + data.n, after);
        for (size_t bit = 0; bit < 8 * TAPE_BLOCK_HEAD; bit++) {
            struct tape_io_memory m;
            AUTO(buf) got = { 0 };
            out.p[at + bit / 8] ^= (uint8_t)(1U << bit % 8);
            tape_io_memory_init(&m, KIT_PATH, (struct view){ out.p, out.n });
            deliver(&m.io, &got);
            assert_null(memmem(got.p, got.n, planted.p, planted.n));
            assert_memory_equal(got.p + got.n - after.n, after.p, after.n);
            out.p[at + bit / 8] ^= (uint8_t)(1U << bit % 8);
        }
    }
}

/* -- one rule each: nothing else could refuse what must not come -- */

static void
put_tail_file(struct sim_disk *d, uint64_t ordinal, uint8_t session, uint64_t ts_ns,
              uint64_t off, const char *text)
{
    AUTO(buf) out = { 0 };
    char name[40];
    struct tape_tail head = { .ordinal = ordinal, .start_byte_off = off };
    memset(head.session_id, session, sizeof(head.session_id));
    uint32_t crc = tape_tail_put_head(buf_grow(&out, TAPE_TAIL_HEAD), &head);
    struct tape_record rec = { .ts_ns = ts_ns,
                               .byte_off = off,
                               .bytes = text_view(text) };
    tape_tail_put_record(&out, &rec, &crc);
    snprintf(name, sizeof(name), KIT_PATH ".tail-%d", (int)ordinal);
    sim_put(d, name, (struct view){ out.p, out.n });
}

static void
put_file(struct sim_disk *d, const char *name, struct buf *bytes)
{
    sim_put(d, name, (struct view){ bytes->p, bytes->n });
    buf_clear(bytes);
}

static void
expect_delivered(struct sim_disk *d, const char *want)
{
    AUTO(buf) got = { 0 };
    size_t damages = deliver(&d->io, &got);
    assert_string_equal(buf_str(&got), want);
    assert_true(damages > 0);
    sim_release(d);
}

static void
what_breaks_one_rule_is_refused(void **state)
{
    (void)state;
    const uint64_t t = KIT_START;
    struct sim_disk d;
    AUTO(buf) f = { 0 };

    sim_init(&d); /* an ordinal that is not above the last */
    put_data_block(&f, 0, t, 0, text_view("a"));
    put_data_block(&f, 2, t + 1, 1, text_view("b"));
    put_data_block(&f, 2, t + 2, 2, text_view("X"));
    put_file(&d, KIT_PATH, &f);
    expect_delivered(&d, "ab");

    sim_init(&d); /* an offset below the end of the last */
    put_data_block(&f, 0, t, 0, text_view("aaaa"));
    put_data_block(&f, 1, t + 1, 2, text_view("X"));
    put_file(&d, KIT_PATH, &f);
    expect_delivered(&d, "aaaa");

    sim_init(&d); /* a segment's block without checksum */
    put_data_block(&f, 0, t, 0, text_view("a"));
    put_file(&d, KIT_PATH, &f);
    foreign(&f, 44);
    put_file(&d, KIT_PATH ".1", &f);
    expect_delivered(&d, "a");

    sim_init(&d); /* a segment's block below what the recording gave */
    put_data_block(&f, 0, t, 0, text_view("aaaa"));
    put_file(&d, KIT_PATH, &f);
    put_data_block(&f, 1, t + 1, 2, text_view("X"));
    put_file(&d, KIT_PATH ".1", &f);
    expect_delivered(&d, "aaaa");

    sim_init(&d); /* … or older */
    put_data_block(&f, 0, t, 0, text_view("aaaa"));
    put_file(&d, KIT_PATH, &f);
    put_data_block(&f, 1, t - 1, 4, text_view("X"));
    put_file(&d, KIT_PATH ".1", &f);
    expect_delivered(&d, "aaaa");

    sim_init(&d); /* a tail of another session */
    put_data_block(&f, 0, t, 0, text_view("a"));
    put_file(&d, KIT_PATH, &f);
    put_tail_file(&d, 1, 7, t + 1, 1, "b");
    put_tail_file(&d, 2, 8, t + 2, 2, "X");
    expect_delivered(&d, "ab");

    sim_init(&d); /* a tail that is older */
    put_data_block(&f, 0, t, 0, text_view("a"));
    put_file(&d, KIT_PATH, &f);
    put_tail_file(&d, 1, 7, t - 1, 1, "X");
    expect_delivered(&d, "a");

    sim_init(&d); /* a tail below what the recording gave */
    put_data_block(&f, 0, t, 0, text_view("aaaa"));
    put_file(&d, KIT_PATH, &f);
    put_tail_file(&d, 1, 7, t + 1, 2, "X");
    expect_delivered(&d, "aaaa");

    sim_init(&d); /* a block without checksum behind a torn one that has one */
    put_data_block(&f, 0, t, 0, text_view("a"));
    f.p[50] ^= 1;
    foreign(&f, 44);
    put_file(&d, KIT_PATH, &f);
    expect_delivered(&d, "");
}

static void
nothing_follows_the_end_of_a_session(void **state)
{
    (void)state;
    struct sim_disk d;
    struct tape_writer_options opt = kit_options(TAPE_SYNC_NONE);
    sim_init(&d);
    kit_write(&d.io, KIT_PATH, &opt, 5);
    put_tail_file(&d, 1, 7, KIT_START + 1000000000, 1 << 20, "X");
    kit_release(&res);
    kit_read(&d.io, KIT_PATH, &res);
    assert_int_equal(res.count, 5);
    assert_true(res.notes.damages > 0);
    sim_release(&d);
}

/* What a torn block holds is the agent's output; the tail has the records. */
static void
a_block_inside_a_torn_one_is_not_taken_for_the_next(void **state)
{
    (void)state;
    struct sim_disk d;
    AUTO(buf) f = { 0 };
    AUTO(buf) data = { 0 };
    AUTO(buf) got = { 0 };
    put_data_block(&f, 0, KIT_START, 0, text_view("a"));
    for (int i = 0; i < 60000; i++) {
        uint8_t byte = (uint8_t)rand();
        buf_append(&data, &byte, 1);
        if (i == 20000) /* of a session that runs at the same time */
            put_data_block(&data, 1, KIT_START + 5, 1, text_view("PLANTED"));
    }
    put_data_block(&f, 1, KIT_START + 5, 1, (struct view){ data.p, data.n });
    f.n -= 5000;
    sim_init(&d);
    put_file(&d, KIT_PATH, &f);
    put_tail_file(&d, 1, 7, KIT_START + 5, 1, "b");
    assert_int_equal(deliver(&d.io, &got), 0);
    assert_string_equal(buf_str(&got), "ab");
    sim_release(&d);
}

/* -- other writers' files -- */

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

static void
seeking_past_a_damaged_header_finds_what_lies_behind_it(void **state)
{
    (void)state;
    struct kit_sample s;
    kit_sample_init(&s, COUNT, 1500);
    for (size_t bit = 0; bit < 64; bit++) { /* of block 3's start_byte_off */
        struct tape_io_memory m;
        struct tape_reader_options opt = { 0 };
        struct tape_reader *r;
        struct tape_record rec;
        struct err err;
        uint8_t *p = s.file.p + s.start[3] + 16 + bit / 8;
        uint64_t want = get_le64(s.file.p + s.start[5] + 16);
        *p ^= (uint8_t)(1U << bit % 8);
        tape_io_memory_init(&m, KIT_PATH, (struct view){ s.file.p, s.file.n });
        assert_int_equal(tape_reader_open(&r, &m.io, KIT_PATH, &opt, &err), 0);
        for (int again = 0; again < 50; again++) { /* looking in vain is paid for anew */
            assert_int_equal(tape_reader_seek_byte(r, want), 0);
            do
                assert_true(tape_reader_next(r, &rec));
            while (rec.tag != TAPE_DATA);
            assert_int_equal(rec.byte_off, want);
        }
        tape_reader_close(r);
        *p ^= (uint8_t)(1U << bit % 8);
    }
    kit_sample_release(&s);
}

/* -- a recording that is being made -- */

static void
a_slow_reader_of_a_growing_recording_skips_nothing(void **state)
{
    (void)state;
    struct sim_disk d;
    struct tape_writer *w;
    struct tape_writer_status st;
    struct tape_reader *r;
    struct tape_record rec;
    struct err err;
    struct tape_reader_options none = { 0 };
    struct tape_writer_options opt = kit_options(TAPE_SYNC_NONE);
    for (uint32_t pace = 1; pace < 40; pace += 3) {
        uint32_t next = 20, seen = 0;
        uint64_t off = 0;
        sim_init(&d);
        assert_int_equal(tape_writer_open(&w, &d.io, KIT_PATH, &opt, &err), 0);
        kit_append(w, 1, next, NULL);
        assert_int_equal(tape_reader_open(&r, &d.io, KIT_PATH, &none, &err), 0);
        while (tape_reader_next(r, &rec)) {
            if (rec.tag == TAPE_DATA) {
                assert_int_equal(rec.byte_off, off);
                off += rec.bytes.n;
            }
            if (++seen % 5 == 0 && next < 2000) { /* meanwhile */
                kit_append(w, next, next + pace, NULL);
                next += pace;
            }
        }
        assert_true(seen >= 20);
        tape_reader_close(r);
        assert_int_equal(tape_writer_finish(w, KIT_START, &st, &err), 0);
        sim_release(&d);
    }
}

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

/* -- for those who have been here before -- */

static struct tape_reader *
open_memory(struct tape_io_memory *m, struct view bytes)
{
    struct tape_reader_options quiet = { 0 };
    struct tape_reader *r;
    struct err err;
    tape_io_memory_init(m, KIT_PATH, bytes);
    assert_int_equal(tape_reader_open(&r, &m->io, KIT_PATH, &quiet, &err), 0);
    return r;
}

/* What is read on from here, as a checksum. */
static uint32_t
sum_of_rest(struct tape_reader *r)
{
    struct tape_piece p;
    uint32_t sum = 0;
    while (tape_reader_next_piece(r, &p))
        sum = tape_crc32c(sum ^ (uint32_t)p.head.ordinal, p.records.p, p.records.n);
    return sum;
}

static void
reading_begins_at_any_block_as_if_all_before_it_had_been_read(void **state)
{
    (void)state;
    for (int damage = -1; damage < 6; damage++) {
        struct kit_sample s;
        struct tape_io_memory m;
        struct tape_piece p;
        struct tape_place places[64];
        size_t count = 0;
        kit_sample_init(&s, COUNT, 1500);
        if (damage >= 0)
            s.file.p[s.start[damage] + 60] ^= 1;
        struct tape_reader *r = open_memory(&m, (struct view){ s.file.p, s.file.n });
        while (tape_reader_next_piece(r, &p))
            places[count++] = (struct tape_place){ p.file_off, p.head.ordinal,
                                                   p.head.crc };
        assert_int_equal(count, s.blocks - (damage >= 0));
        while (count--) {
            struct tape_place wrong = places[count];
            assert_true(tape_reader_begin_at(r, &places[count]));
            uint32_t sum = sum_of_rest(r);
            tape_reader_rewind(r);
            do
                assert_true(tape_reader_next_piece(r, &p));
            while (p.head.ordinal < places[count].ordinal);
            uint32_t want = tape_crc32c((uint32_t)p.head.ordinal, p.records.p,
                                        p.records.n);
            while (tape_reader_next_piece(r, &p))
                want = tape_crc32c(want ^ (uint32_t)p.head.ordinal, p.records.p,
                                   p.records.n);
            assert_int_equal(sum, want);
            wrong.crc ^= 1; /* one that is not there: from the start */
            assert_false(tape_reader_begin_at(r, &wrong));
            assert_true(tape_reader_next_piece(r, &p));
            assert_int_equal(p.file_off, damage == 0 ? s.start[1] : 0);
        }
        tape_reader_close(r);
        kit_sample_release(&s);
    }
}

static void
the_reach_of_a_recording_is_where_reading_ends(void **state)
{
    (void)state;
    struct kit_sample s;
    kit_sample_init(&s, COUNT, 1500);
    for (size_t cut = 0; cut <= s.file.n; cut += 7) {
        struct tape_io_memory m;
        struct tape_record rec;
        uint64_t end = 0, ts_ns = 0, got_end, got_ts_ns;
        struct tape_reader *r = open_memory(&m, (struct view){ s.file.p, cut });
        while (tape_reader_next(r, &rec)) {
            end = rec.tag == TAPE_DATA ? rec.byte_off + rec.bytes.n : end;
            ts_ns = rec.ts_ns;
        }
        assert_int_equal(tape_reader_reach(r, &got_end, &got_ts_ns), 0);
        assert_int_equal(got_end, end);
        assert_int_equal(got_ts_ns, ts_ns);
        tape_reader_close(r);
    }
    kit_sample_release(&s);
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
        cmocka_unit_test(what_breaks_one_rule_is_refused),
        cmocka_unit_test(nothing_follows_the_end_of_a_session),
        cmocka_unit_test(a_block_inside_a_torn_one_is_not_taken_for_the_next),
        cmocka_unit_test(a_header_that_says_48_and_has_44_bytes_is_read),
        cmocka_unit_test(a_header_that_really_has_48_bytes_is_read),
        cmocka_unit_test(a_version_that_is_not_ours_is_refused_by_name),
        cmocka_unit_test(seeking_finds_what_reading_from_the_start_finds),
        cmocka_unit_test(seeking_past_a_damaged_header_finds_what_lies_behind_it),
        cmocka_unit_test(a_slow_reader_of_a_growing_recording_skips_nothing),
        cmocka_unit_test(reading_while_it_is_written_never_shows_damage),
        cmocka_unit_test(reading_begins_at_any_block_as_if_all_before_it_had_been_read),
        cmocka_unit_test(the_reach_of_a_recording_is_where_reading_ends),
    };
    int failed = cmocka_run_group_tests_name("reader", tests, NULL, NULL);
    kit_release(&res);
    return failed;
}
