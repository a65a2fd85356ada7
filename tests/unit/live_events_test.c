/* SPDX-License-Identifier: MIT */
/* live_events_test.c -- a live session's events, also when they cannot be read at once.
 */
#include <sys/stat.h>
#include <unistd.h>

#include "base/file.h"
#include "client/events_priv.h"
#include "support/alloc_faults.h"
#include "support/kit.h"

#define SECOND 1000000000ULL
#define SNAPSHOTS                                                  \
    "{\"id\":1,\"ts_ns\":2,\"label\":\"one\",\"anchor_byte\":3}\n" \
    "{\"id\":2,\"ts_ns\":3,\"label\":\"two\",\"anchor_byte\":4}\n"
#define INSTRUCTIONS "{\"id\":1,\"ts_ns\":2,\"text\":\"go on\",\"anchor_byte\":3}\n"

static const struct model_tape tape = { "session.ahr", "elsewhere.ahr" };

static void
they_are_read_again_when_they_have_grown(void **state)
{
    (void)state;
    struct events e = { 0 };
    kit_write_file("session.ahr", "");
    assert_false(events_look(&e, &tape, SECOND));
    kit_write_file("session.snapshots.jsonl", SNAPSHOTS);
    assert_false(events_look(&e, &tape, SECOND + 1)); /* too early */
    assert_true(events_look(&e, &tape, 2 * SECOND));
    assert_int_equal(e.list.count, 2);
    assert_false(events_look(&e, &tape, 3 * SECOND));
    kit_write_file("session.instructions.jsonl", INSTRUCTIONS);
    events_expire(&e);
    assert_true(events_look(&e, &tape, 3 * SECOND + 1));
    assert_int_equal(e.list.count, 3);
    events_release(&e);
}

/* Whichever allocation fails, the next look has them all. */
static void
what_memory_was_missing_for_comes_a_second_later(void **state)
{
    (void)state;
    unsigned fail_at = 1;
    kit_write_file("session.ahr", "");
    kit_write_file("session.snapshots.jsonl", SNAPSHOTS);
    kit_write_file("session.instructions.jsonl", INSTRUCTIONS);
    for (bool has_failed = true; has_failed; fail_at++) {
        struct events e = { 0 };
        faults = (struct alloc_faults){ .is_on = true, .fail_at = fail_at };
        events_look(&e, &tape, SECOND);
        has_failed = faults.count >= fail_at;
        faults.is_on = false;
        events_look(&e, &tape, 2 * SECOND);
        assert_int_equal(e.list.count, 3);
        events_release(&e);
    }
    assert_true(fail_at > 3);
}

/* A folder has a size, and cannot be read. */
static void
what_cannot_be_read_is_tried_again(void **state)
{
    (void)state;
    struct events e = { 0 };
    kit_write_file("session.ahr", "");
    kit_write_file("session.snapshots.jsonl", SNAPSHOTS);
    assert_int_equal(mkdir("session.instructions.jsonl", 0700), 0);
    assert_true(events_look(&e, &tape, SECOND));
    assert_int_equal(e.list.count, 2);
    assert_int_equal(e.sizes[0], 0); /* it is not done with them */
    assert_false(events_look(&e, &tape, 2 * SECOND));
    assert_int_equal(e.list.count, 2);
    assert_int_equal(rmdir("session.instructions.jsonl"), 0);
    kit_write_file("session.instructions.jsonl", INSTRUCTIONS);
    assert_true(events_look(&e, &tape, 3 * SECOND));
    assert_int_equal(e.list.count, 3);
    events_release(&e);
}

int
main(void)
{
    const struct CMUnitTest tests[] = {
        KIT_IN_DIR(they_are_read_again_when_they_have_grown),
        KIT_IN_DIR(what_memory_was_missing_for_comes_a_second_later),
        KIT_IN_DIR(what_cannot_be_read_is_tried_again),
    };
    return cmocka_run_group_tests_name("live_events", tests, NULL, NULL);
}
