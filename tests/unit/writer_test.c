/* SPDX-License-Identifier: MIT */
/* writer_test.c -- what the writer promises its caller, and the codecs below it. */
#include "support/kit.h"
#include "support/sim_disk.h"

#include <errno.h>
#include <semaphore.h>
#include <stdio.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/le.h"
#include "tape/crc32c.h"
#include "tape/names.h"

static struct kit_result res;

/* -- codecs -- */

static void
the_checksum_is_crc32c_by_table_and_by_hardware(void **state)
{
    (void)state;
    uint8_t bytes[10000];
    assert_int_equal(tape_crc32c(0, "123456789", 9), 0xe3069283);
    assert_int_equal(tape_crc32c_table(0, "123456789", 9), 0xe3069283);
    for (size_t i = 0; i < sizeof(bytes); i++)
        bytes[i] = (uint8_t)(i * i);
    for (size_t n = 0; n < sizeof(bytes); n += 61) {
        uint32_t whole = tape_crc32c(0, bytes, n);
        assert_int_equal(whole, tape_crc32c_table(0, bytes, n));
        assert_int_equal(
            whole, tape_crc32c(tape_crc32c(0, bytes, n / 3), bytes + n / 3, n - n / 3));
    }
}

static void
records_have_the_bytes_of_the_document(void **state)
{
    (void)state;
    static const struct {
        struct tape_record rec;
        const char *bytes;
        size_t n;
    } cases[] = {
        { { .tag = TAPE_DATA,
            .ts_ns = 1,
            .byte_off = 2,
            .bytes = { (const uint8_t *)"ab", 2 } },
          "\0\0\0\0\1\0\0\0\0\0\0\0\2\0\0\0\0\0\0\0\2\0\0\0ab",
          26 },
        { { .tag = TAPE_RESIZE, .ts_ns = 1, .cols = 80, .rows = 24 },
          "\1\0\0\0\1\0\0\0\0\0\0\0\x50\0\x18\0",
          16 },
        { { .tag = TAPE_INPUT, .ts_ns = 1, .bytes = { (const uint8_t *)"q", 1 } },
          "\2\0\0\0\1\0\0\0\0\0\0\0\1\0\0\0q",
          17 },
        { { .tag = TAPE_MARK, .ts_ns = 1, .code = 2, .val = 3 },
          "\3\0\0\0\1\0\0\0\0\0\0\0\2\0\0\0\3\0\0\0",
          20 },
        { { .tag = TAPE_SNAPSHOT,
            .ts_ns = 1,
            .snapshot_id = 45,
            .byte_off = 6,
            .bytes = { (const uint8_t *)"go", 2 } },
          "\4\0\0\0\1\0\0\0\0\0\0\0\x2d\0\0\0\0\0\0\0\6\0\0\0\0\0\0\0\2\0go",
          32 },
    };
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        uint8_t p[64];
        struct tape_record back;
        const char *reason;
        assert_int_equal(tape_record_size(&cases[i].rec), cases[i].n);
        tape_record_put(p, &cases[i].rec);
        assert_memory_equal(p, cases[i].bytes, cases[i].n);
        for (size_t n = 1; n < cases[i].n; n++)
            assert_int_equal(tape_record_get((struct view){ p, n }, &back, &reason), 0);
        assert_int_equal(tape_record_get((struct view){ p, sizeof(p) }, &back, &reason),
                         cases[i].n);
        p[0] = 5;
        assert_int_equal(tape_record_get((struct view){ p, sizeof(p) }, &back, &reason),
                         0);
        assert_string_equal(reason, "unknown record tag");
    }
}

static void
only_our_own_suffixes_are_taken_for_pieces(void **state)
{
    (void)state;
    uint64_t ordinal;
    unsigned segment;
    assert_true(tape_tail_suffix(".tail-0", &ordinal) && ordinal == 0);
    assert_true(tape_tail_suffix(".tail-18446744073709551615", &ordinal));
    static const char *const no_tails[] = { ".tail-",       ".tail-01",
                                            ".tail-1.torn", ".tail--1",
                                            ".tail-1 ",     ".tail-18446744073709551616",
                                            "tail-1",       ".torn" };
    for (size_t i = 0; i < sizeof(no_tails) / sizeof(no_tails[0]); i++)
        assert_false(tape_tail_suffix(no_tails[i], &ordinal));
    assert_true(tape_segment_suffix(".1", &segment) && segment == 1);
    static const char *const no_segments[] = { ".0",  ".01", ".16", ".1.torn",
                                               ".gz", ".",   "" };
    for (size_t i = 0; i < sizeof(no_segments) / sizeof(no_segments[0]); i++)
        assert_false(tape_segment_suffix(no_segments[i], &segment));
}

/* -- the writer -- */

static struct tape_writer *
open_on(struct sim_disk *d, const struct tape_writer_options *opt)
{
    struct tape_writer *w;
    struct err err;
    assert_int_equal(tape_writer_open(&w, &d->io, KIT_PATH, opt, &err), 0);
    return w;
}

static struct tape_writer_status
finish(struct tape_writer *w)
{
    struct tape_writer_status st;
    struct err err;
    assert_int_equal(tape_writer_finish(w, KIT_START, &st, &err), 0);
    return st;
}

/* On a disk that takes nothing any more. */
static void
finish_dead(struct tape_writer *w)
{
    struct tape_writer_status st;
    struct err err;
    assert_true(tape_writer_finish(w, KIT_START, &st, &err) < 0);
}

static void
an_appended_record_is_in_a_file_at_once(void **state)
{
    (void)state;
    struct sim_disk d;
    struct tape_writer_options opt = kit_options(TAPE_SYNC_NONE);
    opt.block_bytes = 1 << 20;
    sim_init(&d);
    struct tape_writer *w = open_on(&d, &opt);
    for (uint32_t i = 1; i < 30; i++) {
        uint8_t room[KIT_DATA_MAX];
        assert_int_equal(tape_writer_append(w, kit_record(i, room)), TAPE_SAVED);
        kit_release(&res);
        kit_read(&d.io, KIT_PATH, &res);
        assert_int_equal(res.count, i + 1);
    }
    finish(w);
    assert_int_equal(sim_count_files(&d), 1);
    sim_release(&d);
}

static void
a_record_of_many_megabytes_is_split_and_whole(void **state)
{
    (void)state;
    enum { SIZE = 5 << 20 };
    struct sim_disk d;
    struct tape_writer_options opt = tape_writer_defaults;
    uint8_t *bytes = malloc(SIZE);
    for (size_t i = 0; i < SIZE; i++)
        bytes[i] = (uint8_t)(i * 2654435761U >> 24);
    sim_init(&d);
    struct tape_writer *w = open_on(&d, &opt);
    assert_int_equal(
        tape_writer_append(w, (struct tape_record){ .bytes = { bytes, SIZE } }),
        TAPE_SAVED);
    struct tape_writer_status st = finish(w);
    assert_int_equal(st.byte_off, SIZE);

    struct tape_reader *r;
    struct tape_reader_options none = { 0 };
    struct tape_record rec;
    struct err err;
    size_t at = 0;
    assert_int_equal(tape_reader_open(&r, &d.io, KIT_PATH, &none, &err), 0);
    while (tape_reader_next(r, &rec)) {
        if (rec.tag != TAPE_DATA)
            continue;
        assert_true(rec.bytes.n <= TAPE_RECORD_BYTES_MAX);
        assert_int_equal(rec.byte_off, at);
        assert_memory_equal(rec.bytes.p, bytes + at, rec.bytes.n);
        at += rec.bytes.n;
    }
    assert_int_equal(at, SIZE);
    tape_reader_close(r);
    free(bytes);
    sim_release(&d);
}

static void
stamps_never_go_back_whatever_the_caller_says(void **state)
{
    (void)state;
    struct sim_disk d;
    struct tape_writer_options opt = kit_options(TAPE_SYNC_NONE);
    sim_init(&d);
    struct tape_writer *w = open_on(&d, &opt);
    static const uint64_t stamps[] = { KIT_START + 10, KIT_START + 5, 0, KIT_START + 20 };
    for (int i = 0; i < 4; i++)
        tape_writer_append(
            w, (struct tape_record){ .tag = TAPE_MARK, .ts_ns = stamps[i], .code = 9 });
    finish(w);
    struct tape_reader *r;
    struct tape_reader_options none = { 0 };
    struct tape_record rec;
    struct err err;
    uint64_t last = 0;
    assert_int_equal(tape_reader_open(&r, &d.io, KIT_PATH, &none, &err), 0);
    while (tape_reader_next(r, &rec)) {
        assert_true(rec.ts_ns >= last);
        last = rec.ts_ns;
    }
    assert_int_equal(last, KIT_START + 20);
    tape_reader_close(r);
    sim_release(&d);
}

static void
a_block_is_sealed_when_its_time_is_up(void **state)
{
    (void)state;
    struct sim_disk d;
    struct tape_writer_options opt = kit_options(TAPE_SYNC_NONE);
    opt.block_ns = 1000;
    sim_init(&d);
    struct tape_writer *w = open_on(&d, &opt);
    assert_int_equal(tape_writer_due_ns(w), KIT_START + 1000);
    tape_writer_tick(w, KIT_START + 999);
    assert_int_equal(tape_writer_due_ns(w), KIT_START + 1000);
    tape_writer_tick(w, KIT_START + 1000);
    assert_int_equal(tape_writer_due_ns(w), UINT64_MAX);
    struct tape_writer_status st = finish(w);
    assert_int_equal(st.sealed_blocks, 2);
    sim_release(&d);
}

/* A disk whose writes to the recording itself wait until they are let go. */
static sem_t gate; /* one block for each post */
static const struct tape_io_ops *under;

static ssize_t
gated_write(struct tape_io *io, int fd, const void *p, size_t n, uint64_t off)
{
    if (n >= 4 && !memcmp(p, "AHRC", 4))
        sem_wait(&gate);
    return under->write(io, fd, p, n, off);
}

static void
gate_disk(struct sim_disk *d, struct tape_io_ops *ops)
{
    sim_init(d);
    sem_init(&gate, 0, 0);
    under = d->io.ops;
    *ops = *under;
    ops->write = gated_write;
    d->io.ops = ops;
}

/* Lets everything through from now on. */
static void
open_gate(void)
{
    for (int i = 0; i < 1000; i++)
        sem_post(&gate);
}

/* Lets one block through; returns the quality it was packed with. */
static int
let_one_through(struct tape_writer *w)
{
    struct tape_writer_status st;
    tape_writer_status(w, &st);
    uint64_t before = st.sealed_blocks;
    sem_post(&gate);
    while (st.sealed_blocks == before) {
        usleep(50);
        tape_writer_status(w, &st);
    }
    return st.quality;
}

static void
quality_steps_down_while_blocks_pile_up_and_comes_back(void **state)
{
    (void)state;
    struct sim_disk d;
    struct tape_io_ops ops;
    struct tape_writer_options opt = kit_options(TAPE_SYNC_NONE);
    struct tape_writer_status st = { 0 };
    gate_disk(&d, &ops);
    struct tape_writer *w = open_on(&d, &opt);
    uint32_t next = 1;
    for (; st.waiting_blocks < 30; tape_writer_status(w, &st), next++)
        kit_append(w, next, next + 1, NULL);
    /* The first was packed when it came; for the others the number of those that wait
     * decides. */
    for (uint64_t left = 30; left; left--) {
        int quality = let_one_through(w);
        assert_int_equal(quality, left == 30  ? quality
                                  : left > 16 ? 0
                                  : left > 8  ? 1
                                              : 4);
    }
    open_gate();
    finish(w);
    kit_release(&res);
    kit_read(&d.io, KIT_PATH, &res);
    assert_int_equal(res.count, next);
    sem_destroy(&gate);
    sim_release(&d);
}

static void
a_stuck_disk_holds_the_caller_up_once_then_memory_then_a_gap(void **state)
{
    (void)state;
    enum { PIECE = 100000 };
    struct sim_disk d;
    struct tape_io_ops ops;
    struct tape_writer_options opt = kit_options(TAPE_SYNC_NONE);
    struct tape_writer_status st;
    opt.block_bytes = 256 << 10;
    opt.patience_ns = 50000000;
    gate_disk(&d, &ops);
    struct tape_writer *w = open_on(&d, &opt);
    uint8_t *piece = calloc(1, PIECE);
    uint64_t begin_ns = clock_mono_ns(), sent = 0;
    int dropped = 0;
    while (dropped < 3) {
        struct tape_record rec = { .ts_ns = KIT_START, .bytes = { piece, PIECE } };
        dropped += tape_writer_append(w, rec) == TAPE_DROPPED;
        sent += PIECE;
    }
    /* 16 MiB waited in tails, 8 MiB in the open block; the caller waited its patience
     * once. */
    assert_true(sent > 20 << 20 && sent < 30 << 20);
    assert_true(clock_mono_ns() - begin_ns >= opt.patience_ns);
    open_gate();
    st = finish(w);
    sem_destroy(&gate);
    assert_int_equal(st.dropped_bytes, 3 * PIECE);
    assert_int_equal(st.byte_off, sent);
    assert_int_equal(kit_contiguous(&d.io, KIT_PATH), sent - 3 * PIECE);
    free(piece);
    sim_release(&d);
}

static void
post(void *sem)
{
    sem_post(sem);
}

/* Appends 64 KiB at a time as a loop does, which reads no more when there is no room. */
static uint64_t
fill_queue(struct tape_writer *w)
{
    static uint8_t piece[64 << 10];
    struct tape_record rec = { .ts_ns = KIT_START, .bytes = { piece, sizeof(piece) } };
    uint64_t sent = 0;
    for (; tape_writer_has_room(w); sent += sizeof(piece))
        assert_int_equal(tape_writer_append(w, rec), TAPE_SAVED);
    return sent;
}

static void
a_loop_is_told_when_there_is_room_again(void **state)
{
    (void)state;
    struct sim_disk d;
    struct tape_io_ops ops;
    struct tape_writer_options opt = kit_options(TAPE_SYNC_NONE);
    sem_t room;
    sem_init(&room, 0, 0);
    opt.block_bytes = 256 << 10;
    opt.patience_ns = UINT64_C(3600000000000); /* who waits here hangs */
    opt.on_news = post;
    opt.news_ctx = &room;
    gate_disk(&d, &ops);
    struct tape_writer *w = open_on(&d, &opt);
    uint64_t sent = fill_queue(w);
    assert_in_range(sent, 15 << 20, 17 << 20);
    assert_false(tape_writer_has_room(w));
    tape_writer_tick(w, KIT_START + opt.block_ns); /* does not wait, either */
    assert_int_equal(tape_writer_due_ns(w),
                     KIT_START + opt.block_ns + opt.patience_ns / 20);
    for (int i = 0; i < 5; i++) {
        assert_int_equal(sem_trywait(&room), -1); /* it is not told for nothing */
        sem_post(&gate);
        sem_wait(&room);
        uint64_t more = fill_queue(w);
        assert_in_range(more, 64 << 10, 512 << 10);
        sent += more;
    }
    open_gate();
    struct tape_writer_status st = finish(w);
    assert_int_equal(st.byte_off, sent);
    assert_int_equal(st.dropped_bytes, 0);
    assert_int_equal(kit_contiguous(&d.io, KIT_PATH), sent);
    sem_destroy(&room);
    sem_destroy(&gate);
    sim_release(&d);
}

static void
a_loop_does_not_wait_longer_than_its_patience(void **state)
{
    (void)state;
    static uint8_t piece[64 << 10];
    struct sim_disk d;
    struct tape_io_ops ops;
    struct tape_writer_options opt = kit_options(TAPE_SYNC_NONE);
    struct tape_record rec = { .ts_ns = KIT_START, .bytes = { piece, sizeof(piece) } };
    opt.block_bytes = 256 << 10;
    opt.patience_ns = 1000000000;
    gate_disk(&d, &ops);
    struct tape_writer *w = open_on(&d, &opt);
    fill_queue(w);
    uint64_t full_ns = clock_mono_ns();
    while (!tape_writer_has_room(w))
        usleep(1000);
    uint64_t waited_ns = clock_mono_ns() - full_ns;
    assert_true(waited_ns > opt.patience_ns * 9 / 10);
    /* It has been waited for the queue: now memory is filled, then bytes are dropped, and
     * nobody waits again. */
    do {
        assert_true(tape_writer_has_room(w));
    } while (tape_writer_append(w, rec) != TAPE_DROPPED);
    assert_true(clock_mono_ns() - full_ns - waited_ns < opt.patience_ns);
    /* When the disk goes on, so does the recording, and there is waiting again. */
    open_gate();
    while (tape_writer_append(w, rec) == TAPE_DROPPED)
        usleep(1000);
    struct tape_writer_status st = finish(w);
    assert_true(st.dropped_bytes > 0);
    assert_int_equal(st.gaps, 1);
    sem_destroy(&gate);
    sim_release(&d);
}

/* Waits, within reason, until so much is called safe from the loss of power. */
static bool
is_synced_up_to(struct tape_writer *w, uint64_t byte_off)
{
    struct tape_writer_status st = { 0 };
    for (int i = 0; i < 20000 && st.synced_byte_off < byte_off; i++) {
        usleep(500);
        tape_writer_status(w, &st);
    }
    return st.synced_byte_off >= byte_off;
}

static void
a_quiet_session_is_synced_each_interval(void **state)
{
    (void)state;
    struct sim_disk d;
    struct tape_writer_options opt = kit_options(TAPE_SYNC_INTERVAL);
    struct tape_writer_status st;
    opt.block_bytes = 1 << 20;
    sim_init(&d);
    struct tape_writer *w = open_on(&d, &opt);
    kit_append(w, 1, 10, NULL); /* nothing is sealed */
    tape_writer_status(w, &st);
    assert_true(is_synced_up_to(w, st.byte_off));
    d.fault = SIM_POWER;
    d.at_call = d.calls + 1;
    finish_dead(w);
    sim_power_cut(&d, 0);
    kit_release(&res);
    kit_read(&d.io, KIT_PATH, &res);
    assert_int_equal(res.count, 10);
    sim_release(&d);
}

/* Takes the power away from a disk that refuses blocks: what was called synced is there.
 */
static void
expect_promise_kept(struct tape_writer *w, struct sim_disk *d)
{
    struct tape_writer_status st;
    tape_writer_status(w, &st);
    finish_dead(w);
    sim_power_cut(d, 0);
    assert_true(kit_contiguous(&d->io, KIT_PATH) >= st.synced_byte_off);
    sem_destroy(&gate);
    sim_release(d);
}

static ssize_t
refuse_blocks(struct tape_io *io, int fd, const void *p, size_t n, uint64_t off)
{
    bool is_block = n >= 4 && !memcmp(p, "AHRC", 4);
    return is_block ? -EIO : under->write(io, fd, p, n, off);
}

static void
there_is_always_room_when_the_disk_fails(void **state)
{
    (void)state;
    static uint8_t piece[64 << 10];
    struct sim_disk d;
    struct tape_io_ops ops;
    struct tape_writer_options opt = kit_options(TAPE_SYNC_NONE);
    struct tape_record rec = { .ts_ns = KIT_START, .bytes = { piece, sizeof(piece) } };
    sem_t room;
    sem_init(&room, 0, 0);
    opt.block_bytes = 256 << 10;
    opt.on_news = post;
    opt.news_ctx = &room;
    gate_disk(&d, &ops);
    struct tape_writer *w = open_on(&d, &opt);
    fill_queue(w); /* the first block's write hangs … */
    ops.write = refuse_blocks;
    open_gate();
    sem_wait(&room); /* … and succeeds, the others fail */
    do {
        while (!tape_writer_has_room(w))
            sem_wait(&room);
    } while (tape_writer_append(w, rec) != TAPE_DROPPED);
    expect_promise_kept(w, &d);
    sem_destroy(&room);
}

static void
what_waits_to_be_written_is_not_called_synced(void **state)
{
    (void)state;
    struct sim_disk d;
    struct tape_io_ops ops;
    struct tape_writer_options opt = kit_options(TAPE_SYNC_INTERVAL);
    gate_disk(&d, &ops);
    ops.write = refuse_blocks; /* tails can be written, the recording cannot */
    struct tape_writer *w = open_on(&d, &opt);
    kit_append(w, 1, 60, NULL);
    for (int i = 0; i < 20; i++) { /* many intervals */
        usleep(1000);
        tape_writer_tick(w, KIT_START);
    }
    expect_promise_kept(w, &d);
}

/* One block is in memory alone: those after it may be safe, the session up to them is
 * not. */
static void
nothing_behind_a_hole_is_called_synced(void **state)
{
    (void)state;
    for (int n = 1; n < 30; n++) {
        struct sim_disk d;
        struct tape_io_ops ops;
        struct tape_writer_options opt = kit_options(TAPE_SYNC_ALWAYS);
        gate_disk(&d, &ops);
        ops.write = refuse_blocks;
        d.fault = SIM_ERROR;
        d.error = -EIO;
        d.is_sync_only = true;
        d.at_call = n; /* one sync of a tail fails */
        struct tape_writer *w = open_on(&d, &opt);
        for (uint32_t i = 1; i < 60; i++) {
            kit_append(w, i, i + 1, NULL);
            usleep(20); /* so that it is tried again */
        }
        expect_promise_kept(w, &d);
    }
}

static void
two_writers_of_one_file_are_one_too_many(void **state)
{
    (void)state;
    char *dir = kit_make_dir(), path[4096];
    struct tape_writer_options opt = kit_options(TAPE_SYNC_NONE);
    struct tape_writer *w, *other;
    struct tape_repair_report report;
    struct err err;
    snprintf(path, sizeof(path), "%s/x.ahr", dir);
    assert_int_equal(tape_writer_open(&w, tape_io_files(), path, &opt, &err), 0);
    assert_int_equal(tape_writer_open(&other, tape_io_files(), path, &opt, &err),
                     ERR_BUSY);
    assert_int_equal(kit_repair(tape_io_files(), path, &report), ERR_BUSY);
    finish(w);
    assert_int_equal(tape_writer_open(&other, tape_io_files(), path, &opt, &err),
                     -EEXIST);
    kit_remove_dir(dir);
}

static void
a_copy_left_beside_a_recording_is_not_joined_into_it(void **state)
{
    (void)state;
    struct sim_disk d, other;
    struct tape_writer_options opt = kit_options(TAPE_SYNC_NONE);
    struct tape_repair_report report;
    sim_init(&d);
    sim_init(&other);
    kit_write(&d.io, KIT_PATH, &opt, 20);
    opt.start_ts_ns = KIT_START - 1;
    kit_write(&other.io, KIT_PATH, &opt, 90);
    sim_put(&d, KIT_PATH ".1", sim_file(&other, KIT_PATH));
    kit_release(&res);
    kit_read(&d.io, KIT_PATH, &res);
    assert_int_equal(res.count, 20);
    assert_true(res.notes.damages > 0);
    assert_int_equal(kit_repair(&d.io, KIT_PATH, &report), ERR_DAMAGED);
    assert_int_equal(sim_count_files(&d), 2);
    sim_release(&d);
    sim_release(&other);
}

int
main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_checksum_is_crc32c_by_table_and_by_hardware),
        cmocka_unit_test(records_have_the_bytes_of_the_document),
        cmocka_unit_test(only_our_own_suffixes_are_taken_for_pieces),
        cmocka_unit_test(an_appended_record_is_in_a_file_at_once),
        cmocka_unit_test(a_record_of_many_megabytes_is_split_and_whole),
        cmocka_unit_test(stamps_never_go_back_whatever_the_caller_says),
        cmocka_unit_test(a_block_is_sealed_when_its_time_is_up),
        cmocka_unit_test(quality_steps_down_while_blocks_pile_up_and_comes_back),
        cmocka_unit_test(a_stuck_disk_holds_the_caller_up_once_then_memory_then_a_gap),
        cmocka_unit_test(a_loop_is_told_when_there_is_room_again),
        cmocka_unit_test(a_loop_does_not_wait_longer_than_its_patience),
        cmocka_unit_test(there_is_always_room_when_the_disk_fails),
        cmocka_unit_test(a_quiet_session_is_synced_each_interval),
        cmocka_unit_test(what_waits_to_be_written_is_not_called_synced),
        cmocka_unit_test(nothing_behind_a_hole_is_called_synced),
        cmocka_unit_test(two_writers_of_one_file_are_one_too_many),
        cmocka_unit_test(a_copy_left_beside_a_recording_is_not_joined_into_it),
    };
    int failed = cmocka_run_group_tests_name("writer", tests, NULL, NULL);
    kit_release(&res);
    return failed;
}
