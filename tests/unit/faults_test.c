/* SPDX-License-Identifier: MIT */
/*
 * faults_test.c -- every call to the disk fails once, and for ever; the disk is full; the
 * power goes. Whatever was acknowledged is there afterwards.
 */
#include "support/kit.h"
#include "support/sim_disk.h"

#include <errno.h>
#include <stdio.h>
#include <unistd.h>

enum { COUNT = 60 };

struct run {
    bool saved[COUNT];
    bool is_open, is_finished, is_told;
    struct tape_writer_status st;
    struct err err;
};

static void
hear_trouble(struct tape_writer *w, struct run *run)
{
    struct err trouble;
    while (tape_writer_trouble(w, &trouble)) {
        run->is_told = true;
        assert_non_null(strstr(trouble.text, KIT_PATH));
    }
}

static void
record(struct sim_disk *d, enum tape_sync sync, struct run *run)
{
    struct tape_writer_options opt = kit_options(sync);
    struct tape_writer *w;
    memset(run, 0, sizeof(*run));
    run->is_open = tape_writer_open(&w, &d->io, KIT_PATH, &opt, &run->err) == 0;
    if (!run->is_open) {
        assert_non_null(strstr(run->err.text, KIT_PATH));
        return;
    }
    kit_append(w, 1, COUNT, run->saved);
    hear_trouble(w, run);
    run->is_finished = tape_writer_finish(w, KIT_START, &run->st, &run->err) == 0;
    if (!run->is_finished)
        assert_non_null(strstr(run->err.text, KIT_PATH));
}

static void
check_saved(struct sim_disk *d, const struct run *run, const char *what)
{
    static struct kit_result res;
    kit_read(&d->io, KIT_PATH, &res);
    for (uint32_t i = 1; i < COUNT; i++)
        if (run->saved[i] && !res.has[i])
            fail_msg("%s: record %u was acknowledged and is gone", what, i);
    kit_release(&res);
}

/* The same records whether read as it is or after repair, and repair again changes
 * nothing. */
static void
check_repair(struct sim_disk *d, const struct run *run, const char *what)
{
    struct tape_repair_report report;
    check_saved(d, run, what);
    if (!sim_count_files(d))
        return;
    int r = kit_repair(&d->io, KIT_PATH, &report);
    assert_true(r == 0 || r == ERR_MISSING || r == ERR_DAMAGED);
    check_saved(d, run, what);
    if (r)
        return;
    AUTO(buf) once = { 0 };
    struct view v = sim_file(d, KIT_PATH);
    buf_append(&once, v.p, v.n);
    assert_int_equal(kit_repair(&d->io, KIT_PATH, &report), 0);
    assert_false(report.is_changed);
    v = sim_file(d, KIT_PATH);
    assert_int_equal(v.n, once.n);
    if (v.n)
        assert_memory_equal(v.p, once.p, v.n);
}

static const struct {
    enum sim_fault fault;
    int error;
    const char *name;
} faults[] = {
    { SIM_ERROR, -ENOSPC, "ENOSPC" },
    { SIM_ERROR, -EIO, "EIO" },
    { SIM_ERROR, -EINTR, "EINTR" },
    { SIM_SHORT, 0, "short" },
};

static void
fail_each_call(enum tape_sync sync, bool is_forever)
{
    for (size_t f = 0; f < sizeof(faults) / sizeof(faults[0]); f++) {
        bool hit = true;
        for (int n = 1; hit; n += kit_stride()) {
            struct sim_disk d;
            struct run run;
            char what[80];
            sim_init(&d);
            d.fault = faults[f].fault;
            d.error = faults[f].error;
            d.is_forever = is_forever;
            d.at_call = n;
            snprintf(what, sizeof(what), "%s %s at call %d", faults[f].name,
                     is_forever ? "from then on" : "once", n);
            record(&d, sync, &run);
            hit = d.calls >= n;
            for (uint32_t i = 1; run.is_open && i < COUNT; i++)
                assert_true(run.saved[i] ||
                            run.is_told); /* it does not fail in silence */
            sim_heal(&d);
            check_repair(&d, &run, what);
            sim_release(&d);
        }
    }
}

#define EACH_CALL(name, sync)                                    \
    static void name##_with_a_call_failing_once(void **state)    \
    {                                                            \
        (void)state;                                             \
        fail_each_call(sync, false);                             \
    }                                                            \
    static void name##_with_calls_failing_for_ever(void **state) \
    {                                                            \
        (void)state;                                             \
        fail_each_call(sync, true);                              \
    }

EACH_CALL(unsynced, TAPE_SYNC_NONE)
EACH_CALL(synced_each_interval, TAPE_SYNC_INTERVAL)
EACH_CALL(synced_each_block, TAPE_SYNC_BLOCK)
EACH_CALL(synced_always, TAPE_SYNC_ALWAYS)

static void
one_failed_sync_loses_nothing_even_when_the_power_goes(void **state)
{
    (void)state;
    bool hit = true;
    for (int n = 1; hit; n += kit_stride()) {
        for (unsigned seed = 0; seed < 4; seed++) {
            struct sim_disk d;
            struct run run;
            static struct kit_result res;
            sim_init(&d);
            d.fault = SIM_ERROR;
            d.error = -EIO;
            d.is_sync_only = true;
            d.at_call = n;
            record(&d, TAPE_SYNC_BLOCK, &run);
            hit = d.calls >= n;
            /* That call hit nothing but a folder, or the file: say so, and be whole. */
            assert_true(run.is_finished);
            assert_true(!hit || run.st.is_suspect);
            sim_power_cut(&d, seed);
            kit_read(&d.io, KIT_PATH, &res);
            if (run.st.synced_byte_off == run.st.byte_off)
                assert_int_equal(res.count, COUNT);
            else
                assert_int_equal(d.calls,
                                 n); /* the very last sync failed: that of the folder */
            kit_release(&res);
            sim_release(&d);
        }
    }
}

static void
a_disk_that_never_syncs_still_gets_everything(void **state)
{
    (void)state;
    struct sim_disk d;
    struct run run;
    static struct kit_result res;
    sim_init(&d);
    d.fault = SIM_ERROR;
    d.error = -EIO;
    d.is_sync_only = d.is_forever = true;
    d.at_call = 1;
    record(&d, TAPE_SYNC_BLOCK, &run);
    assert_true(run.st.is_suspect);
    assert_int_equal(run.st.dropped_bytes, 0);
    sim_heal(&d);
    check_repair(&d, &run, "no sync works");
    kit_read(&d.io, KIT_PATH, &res);
    assert_int_equal(res.count, COUNT);
    assert_true(res.has_end);
    kit_release(&res);
    sim_release(&d);
}

/* Appends until the sync policy calls so much safe, then takes the power away at each
 * call. */
static void
power_loss_at_each_call(enum tape_sync sync)
{
    bool hit = true;
    int seeds = kit_times(3, 20);
    for (int n = 1; hit; n += kit_stride()) {
        for (int seed = 0; seed < seeds; seed++) {
            struct sim_disk d;
            struct run run;
            uint64_t synced, have;
            sim_init(&d);
            d.fault = SIM_POWER;
            d.at_call = n;
            record(&d, sync, &run);
            hit = d.is_dead;
            synced = run.is_open ? run.st.synced_byte_off : 0;
            sim_power_cut(&d, (unsigned)seed);
            if (sync == TAPE_SYNC_ALWAYS)
                check_saved(&d, &run, "power loss");
            have = kit_contiguous(&d.io, KIT_PATH);
            if (have < synced)
                fail_msg("power loss at call %d, seed %d: %llu bytes were synced, %llu "
                         "are there",
                         n, seed, (unsigned long long)synced, (unsigned long long)have);
            sim_release(&d);
        }
    }
}

static void
what_was_synced_each_interval_survives_power_loss(void **state)
{
    (void)state;
    power_loss_at_each_call(TAPE_SYNC_INTERVAL);
}

static void
what_was_synced_with_its_block_survives_power_loss(void **state)
{
    (void)state;
    power_loss_at_each_call(TAPE_SYNC_BLOCK);
}

static void
each_acknowledged_record_survives_power_loss_when_always_synced(void **state)
{
    (void)state;
    power_loss_at_each_call(TAPE_SYNC_ALWAYS);
}

/* Trouble first, then the loss of power: what was called safe before, between and after
 * is there. */
static void
promises_hold_when_trouble_comes_before_the_power_goes(void **state)
{
    (void)state;
    static const enum tape_sync policies[] = { TAPE_SYNC_ALWAYS, TAPE_SYNC_BLOCK,
                                               TAPE_SYNC_INTERVAL };
    for (size_t p = 0; p < 3; p++) {
        for (int repeat = 0; repeat < 4; repeat++) {
            bool hit = true;
            for (int n = 1; hit; n += kit_stride()) {
                struct sim_disk d;
                struct run run;
                sim_init(&d);
                d.fault = SIM_ERROR;
                d.error = n % 2 ? -EIO : -ENOSPC;
                d.at_call = n;
                d.repeat = repeat;
                record(&d, policies[p], &run);
                hit = d.calls >= n;
                sim_power_cut(&d, (unsigned)n % 3);
                if (policies[p] == TAPE_SYNC_ALWAYS)
                    check_saved(&d, &run, "trouble, then power loss");
                if (run.is_open)
                    assert_true(kit_contiguous(&d.io, KIT_PATH) >=
                                run.st.synced_byte_off);
                sim_release(&d);
            }
        }
    }
}

static void
a_full_disk_leaves_a_marked_gap_and_the_rest(void **state)
{
    (void)state;
    enum { PIECE = 60000, PIECES = 300 }; /* 18 MB, of which 8 MiB can be held */
    struct sim_disk d;
    struct tape_writer *w;
    struct tape_writer_status st;
    struct err err;
    struct tape_writer_options opt = kit_options(TAPE_SYNC_INTERVAL);
    opt.block_bytes = 256 << 10;
    sim_init(&d);
    d.capacity = 300000;
    assert_int_equal(tape_writer_open(&w, &d.io, KIT_PATH, &opt, &err), 0);
    uint8_t *piece = malloc(PIECE);
    for (int i = 0; i < PIECE; i++)
        piece[i] = (uint8_t)rand();
    struct tape_record rec = { .bytes = { piece, PIECE } };
    uint64_t dropped = 0;
    for (int i = 0; i < PIECES; i++) {
        rec.ts_ns = KIT_START + (uint64_t)i;
        dropped += tape_writer_append(w, rec) == TAPE_DROPPED;
    }
    assert_true(dropped > 0);
    struct tape_record resize = {
        .tag = TAPE_RESIZE, .ts_ns = rec.ts_ns, .cols = 132, .rows = 50
    };
    assert_int_equal(tape_writer_append(w, resize), TAPE_DROPPED); /* for now */
    struct err trouble;
    assert_true(tape_writer_trouble(w, &trouble));
    assert_non_null(strstr(trouble.text, "No space left on device"));
    d.capacity = 0;
    /* Room again: it takes what is held, then new records, after saying what is missing.
     */
    for (; tape_writer_append(w, rec) == TAPE_DROPPED; dropped++)
        usleep(1000);
    assert_int_equal(tape_writer_finish(w, KIT_START + PIECES, &st, &err), 0);
    assert_int_equal(st.dropped_bytes, dropped * PIECE);
    sim_heal(&d);

    struct tape_reader *r;
    struct tape_reader_options ropt = { 0 };
    struct tape_record got;
    uint64_t next = 0, missing = 0, marked = 0, marks = 0;
    uint16_t cols = 0;
    assert_int_equal(tape_reader_open(&r, &d.io, KIT_PATH, &ropt, &err), 0);
    while (tape_reader_next(r, &got)) {
        cols = got.tag == TAPE_RESIZE ? got.cols : cols;
        if (got.tag == TAPE_MARK && got.code == TAPE_MARK_GAP) {
            marked += got.val;
            marks++;
        }
        if (got.tag != TAPE_DATA)
            continue;
        assert_memory_equal(got.bytes.p, piece, PIECE);
        missing += got.byte_off - next;
        assert_int_equal(missing, marked); /* the mark stands before the record */
        assert_int_equal(cols, missing ? 132 : 80); /* and so does the last size */
        next = got.byte_off + got.bytes.n;
    }
    tape_reader_close(r);
    assert_int_equal(marked, st.dropped_bytes);
    assert_int_equal(marks, st.gaps);
    assert_int_equal(next, st.byte_off);
    free(piece);
    sim_release(&d);
}

/* What was held and what was dropped behind it lie side by side, at the end. */
static void
what_a_full_disk_never_took_is_one_gap(void **state)
{
    (void)state;
    enum { PIECE = 1 << 20, PIECES = 12 }; /* of which 8 MiB can be held */
    struct sim_disk d;
    struct tape_writer *w;
    struct tape_writer_status st;
    struct err err;
    struct tape_writer_options opt = kit_options(TAPE_SYNC_INTERVAL);
    sim_init(&d);
    assert_int_equal(tape_writer_open(&w, &d.io, KIT_PATH, &opt, &err), 0);
    kit_append(w, 1, 10, NULL);
    tape_writer_status(w, &st);
    assert_int_equal(st.gaps, 0);
    uint64_t saved = st.byte_off;
    d.capacity = 1; /* full from now on */
    uint8_t *piece = calloc(1, PIECE);
    struct tape_record rec = { .ts_ns = KIT_START, .bytes = { piece, PIECE } };
    for (int i = 0; i < PIECES; i++)
        tape_writer_append(w, rec);
    tape_writer_status(w, &st);
    assert_true(st.dropped_bytes > 0);
    assert_int_equal(st.gaps, 1);
    assert_true(tape_writer_finish(w, KIT_START, &st, &err) < 0);
    assert_int_equal(st.unsaved_bytes + st.dropped_bytes, st.byte_off - saved);
    assert_int_equal(st.gaps, 1);
    free(piece);
    sim_release(&d);
}

/* The same for repair: each call of it fails, then it is run again. */
static void
repair_survives_each_call_failing(void **state)
{
    (void)state;
    struct sim_disk cut;
    struct run run;
    struct tape_repair_report report;
    sim_init(&cut);
    cut.fault = SIM_POWER; /* stop in the middle, with tails and a torn block */
    cut.at_call = 60;
    record(&cut, TAPE_SYNC_NONE, &run);
    sim_heal(&cut);
    for (size_t f = 0; f < sizeof(faults) / sizeof(faults[0]); f++) {
        for (int once = 0; once < 2; once++) {
            bool hit = true;
            for (int n = 1; hit; n += kit_stride()) {
                struct sim_disk d;
                sim_copy(&d, &cut);
                d.fault = faults[f].fault;
                d.error = faults[f].error;
                d.is_forever = !once;
                d.at_call = n;
                kit_repair(&d.io, KIT_PATH, &report);
                hit = d.calls >= n;
                sim_heal(&d);
                char what[80];
                snprintf(what, sizeof(what), "repair, %s %s at call %d", faults[f].name,
                         once ? "once" : "from then on", n);
                check_repair(&d, &run, what);
                sim_release(&d);
            }
        }
    }
    sim_release(&cut);
}

int
main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(unsynced_with_a_call_failing_once),
        cmocka_unit_test(unsynced_with_calls_failing_for_ever),
        cmocka_unit_test(synced_each_interval_with_a_call_failing_once),
        cmocka_unit_test(synced_each_interval_with_calls_failing_for_ever),
        cmocka_unit_test(synced_each_block_with_a_call_failing_once),
        cmocka_unit_test(synced_each_block_with_calls_failing_for_ever),
        cmocka_unit_test(synced_always_with_a_call_failing_once),
        cmocka_unit_test(synced_always_with_calls_failing_for_ever),
        cmocka_unit_test(one_failed_sync_loses_nothing_even_when_the_power_goes),
        cmocka_unit_test(a_disk_that_never_syncs_still_gets_everything),
        cmocka_unit_test(what_was_synced_each_interval_survives_power_loss),
        cmocka_unit_test(what_was_synced_with_its_block_survives_power_loss),
        cmocka_unit_test(each_acknowledged_record_survives_power_loss_when_always_synced),
        cmocka_unit_test(promises_hold_when_trouble_comes_before_the_power_goes),
        cmocka_unit_test(a_full_disk_leaves_a_marked_gap_and_the_rest),
        cmocka_unit_test(what_a_full_disk_never_took_is_one_gap),
        cmocka_unit_test(repair_survives_each_call_failing),
    };
    return cmocka_run_group_tests_name("faults", tests, NULL, NULL);
}
