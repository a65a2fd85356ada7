/* SPDX-License-Identifier: MIT */
/*
 * repair_test.c -- a recording in pieces, as a failed sync and a kill leave it: two
 * segments, a bad block that only the second has, a torn block, tails. Whatever happens
 * to repair, nothing is lost.
 */
#include "support/kit.h"
#include "support/sim_disk.h"

#include <errno.h>
#include <stdio.h>

enum { COUNT = 80 };

static struct kit_result res;
static struct sim_disk pieces; /* what each test starts from */

static int
make_pieces(void **state)
{
    (void)state;
    struct kit_sample s;
    AUTO(buf) first = { 0 };
    AUTO(buf) second = { 0 };
    kit_sample_init(&s, COUNT, 1500);
    int last = s.blocks - 1;
    buf_append(&first, s.file.p, s.start[4]);
    first.p[s.start[2] + 60] ^= 1; /* block 2 is bad here, good in the second */
    buf_append(&second, s.file.p + s.start[2],
               s.start[last] + 50 - s.start[2]); /* last: torn */
    sim_init(&pieces);
    sim_put(&pieces, KIT_PATH, (struct view){ first.p, first.n });
    sim_put(&pieces, KIT_PATH ".1", (struct view){ second.p, second.n });
    for (int i = last - 1; i <= last; i++) { /* one is sealed already */
        AUTO(buf) tail = { 0 };
        char name[40];
        kit_make_tail(&s, i, &tail);
        snprintf(name, sizeof(name), KIT_PATH ".tail-%d", i);
        sim_put(&pieces, name, (struct view){ tail.p, tail.n });
    }
    kit_sample_release(&s);
    return 0;
}

static int
drop_pieces(void **state)
{
    (void)state;
    sim_release(&pieces);
    kit_release(&res);
    return 0;
}

static void
expect_all(struct sim_disk *d, const char *what)
{
    kit_release(&res);
    kit_read(&d->io, KIT_PATH, &res);
    if (res.count != COUNT || res.notes.damages)
        fail_msg("%s: %u of %d records came back, %zu damages", what, res.count, COUNT,
                 res.notes.damages);
}

/* As it is, repaired, and repaired again: all records, then one file and the same bytes.
 */
static void
expect_whole(struct sim_disk *d, const char *what)
{
    struct tape_repair_report report;
    AUTO(buf) once = { 0 };
    expect_all(d, what);
    assert_int_equal(kit_repair(&d->io, KIT_PATH, &report), 0);
    expect_all(d, what);
    struct view v = sim_file(d, KIT_PATH);
    buf_append(&once, v.p, v.n);
    assert_int_equal(kit_repair(&d->io, KIT_PATH, &report), 0);
    assert_false(report.is_changed);
    v = sim_file(d, KIT_PATH);
    assert_int_equal(v.n, once.n);
    assert_memory_equal(v.p, once.p, v.n);
    assert_int_equal(sim_count_files(d), 1);
}

static void
pieces_are_joined_into_one(void **state)
{
    (void)state;
    struct sim_disk d;
    struct tape_repair_report report;
    sim_copy(&d, &pieces);
    assert_int_equal(kit_repair(&d.io, KIT_PATH, &report), 0);
    assert_int_equal(report.joined_segments, 2);
    assert_int_equal(report.sealed_blocks, 1);
    assert_int_equal(report.torn_bytes, 0);
    expect_whole(&d, "joined");
    assert_true(res.has_end);
    sim_release(&d);
}

static void
a_dry_run_changes_nothing(void **state)
{
    (void)state;
    struct sim_disk d;
    struct tape_repair_report would, did;
    struct err err;
    sim_copy(&d, &pieces);
    assert_int_equal(tape_repair(&d.io, KIT_PATH, true, NULL, &would, &err), 0);
    assert_int_equal(sim_count_files(&d), sim_count_files(&pieces));
    assert_int_equal(kit_repair(&d.io, KIT_PATH, &did), 0);
    assert_memory_equal(&would, &did, sizeof(would));
    sim_release(&d);
}

static void
any_call_of_a_join_may_fail(void **state)
{
    (void)state;
    static const int errors[] = { -EIO, -ENOSPC, -EINTR, 0 /* short */ };
    for (size_t e = 0; e < 4; e++) {
        for (int once = 0; once < 2; once++) {
            bool hit = true;
            for (int n = 1; hit; n++) {
                struct sim_disk d;
                struct tape_repair_report report;
                char what[80];
                sim_copy(&d, &pieces);
                d.fault = errors[e] ? SIM_ERROR : SIM_SHORT;
                d.error = errors[e];
                d.is_forever = !once;
                d.at_call = n;
                kit_repair(&d.io, KIT_PATH, &report);
                hit = d.calls >= n;
                sim_heal(&d);
                snprintf(what, sizeof(what), "error %d %s at call %d", errors[e],
                         once ? "once" : "from then on", n);
                expect_whole(&d, what);
                sim_release(&d);
            }
        }
    }
}

static void
a_join_may_be_killed_or_lose_power_at_any_call(void **state)
{
    (void)state;
    bool hit = true;
    for (int n = 1; hit; n++) {
        for (int seed = -1; seed < kit_times(8, 100); seed++) {
            struct sim_disk d;
            struct tape_repair_report report;
            char what[80];
            sim_copy(&d, &pieces);
            d.fault = SIM_POWER;
            d.at_call = n;
            kit_repair(&d.io, KIT_PATH, &report);
            hit = d.is_dead;
            if (seed < 0)
                sim_heal(&d); /* killed: the system still has all that was written */
            else
                sim_power_cut(&d, (unsigned)seed);
            snprintf(what, sizeof(what), "%s at call %d, seed %d",
                     seed < 0 ? "kill" : "power", n, seed);
            expect_whole(&d, what);
            sim_release(&d);
        }
    }
}

/* The same for a mend in place: no second segment. */
static void
a_mend_in_place_may_be_killed_or_lose_power_at_any_call(void **state)
{
    (void)state;
    struct kit_sample s;
    kit_sample_init(&s, COUNT, 1500);
    bool hit = true;
    for (int n = 1; hit; n++) {
        for (int seed = -1; seed < kit_times(8, 100); seed++) {
            struct sim_disk d;
            struct tape_repair_report report;
            sim_init(&d);
            sim_put(&d, KIT_PATH, (struct view){ s.file.p, s.start[3] + 70 });
            for (int i = 3; i < s.blocks; i++) {
                AUTO(buf) tail = { 0 };
                char name[40];
                kit_make_tail(&s, i, &tail);
                snprintf(name, sizeof(name), KIT_PATH ".tail-%d", i);
                sim_put(&d, name, (struct view){ tail.p, tail.n });
            }
            d.fault = SIM_POWER;
            d.at_call = n;
            kit_repair(&d.io, KIT_PATH, &report);
            hit = d.is_dead;
            if (seed < 0)
                sim_heal(&d);
            else
                sim_power_cut(&d, (unsigned)seed);
            expect_whole(&d, "in place");
            sim_release(&d);
        }
    }
    kit_sample_release(&s);
}

static void
a_torn_end_is_kept_whatever_else_is_odd(void **state)
{
    (void)state;
    struct sim_disk d;
    struct kit_sample s;
    struct tape_repair_report report;
    kit_sample_init(&s, COUNT, 1500);
    sim_init(&d);
    sim_put(&d, KIT_PATH, (struct view){ s.file.p, s.start[3] + 70 }); /* and no tail */
    assert_int_equal(kit_repair(&d.io, KIT_PATH, &report), 0);
    assert_int_equal(report.torn_bytes, 70);
    struct view torn = sim_file(&d, KIT_PATH ".torn");
    assert_int_equal(torn.n, 70);
    assert_memory_equal(torn.p, s.file.p + s.start[3], 70);
    sim_release(&d);
    kit_sample_release(&s);
}

/* More than the one block that was being written is missing: one tail does not make up
 * for it. */
static void
a_tail_does_not_cover_blocks_that_it_does_not_hold(void **state)
{
    (void)state;
    struct sim_disk d;
    struct kit_sample s;
    struct tape_repair_report report;
    AUTO(buf) tail = { 0 };
    kit_sample_init(&s, COUNT, 1500);
    for (int i = 3; i < s.blocks; i++)
        s.file.p[s.start[i] + 60] ^= 1;
    kit_make_tail(&s, 2, &tail); /* of a sealed one, to begin with */
    buf_clear(&tail);
    s.file.p[s.start[3] + 60] ^= 1;
    kit_make_tail(&s, 3, &tail);
    s.file.p[s.start[3] + 60] ^= 1;
    sim_init(&d);
    sim_put(&d, KIT_PATH, (struct view){ s.file.p, s.file.n });
    sim_put(&d, KIT_PATH ".tail-3", (struct view){ tail.p, tail.n });
    kit_release(&res);
    kit_read(&d.io, KIT_PATH, &res);
    assert_int_equal(res.count, s.records[4]);
    assert_true(res.notes.damages > 0);
    assert_int_equal(kit_repair(&d.io, KIT_PATH, &report), 0);
    assert_int_equal(report.torn_bytes, s.file.n - s.start[3]);
    sim_release(&d);
    kit_sample_release(&s);
}

int
main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(pieces_are_joined_into_one),
        cmocka_unit_test(a_dry_run_changes_nothing),
        cmocka_unit_test(any_call_of_a_join_may_fail),
        cmocka_unit_test(a_join_may_be_killed_or_lose_power_at_any_call),
        cmocka_unit_test(a_mend_in_place_may_be_killed_or_lose_power_at_any_call),
        cmocka_unit_test(a_torn_end_is_kept_whatever_else_is_odd),
        cmocka_unit_test(a_tail_does_not_cover_blocks_that_it_does_not_hold),
    };
    return cmocka_run_group_tests_name("repair", tests, make_pieces, drop_pieces);
}
