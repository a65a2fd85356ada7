/* SPDX-License-Identifier: MIT */
/* stamps_test.c -- which byte came when, and which snapshot is nearest to it. */
#include "play/stamps.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <string.h>

#include <cmocka.h>

#include "play/event.h"

/* -- stamps -- */

static void
nothing_is_known_of_nothing(void **state)
{
    (void)state;
    struct play_stamps s = { 0 };
    assert_int_equal(play_stamps_time(&s, 1), 0);
    assert_int_equal(play_stamps_byte(&s, UINT64_MAX), 0);
    play_stamps_release(&s);
}

static void
each_byte_has_the_time_of_its_record(void **state)
{
    (void)state;
    struct play_stamps s = { 0 };
    play_stamps_add(&s, 10, 1000);
    play_stamps_add(&s, 30, 2000);
    play_stamps_add(&s, 31, 2000);
    play_stamps_add(&s, 50, 9000);
    static const struct {
        uint64_t end, ts_ns;
    } times[] = { { 0, 0 },     { 1, 1000 },  { 10, 1000 }, { 11, 2000 },
                  { 31, 2000 }, { 32, 9000 }, { 50, 9000 }, { 51, 0 } },
      bytes[] = { { 0, 999 },   { 10, 1000 }, { 10, 1999 },      { 31, 2000 },
                  { 31, 8999 }, { 50, 9000 }, { 50, UINT64_MAX } };
    for (size_t i = 0; i < sizeof(times) / sizeof(times[0]); i++)
        assert_int_equal(play_stamps_time(&s, times[i].end), times[i].ts_ns);
    for (size_t i = 0; i < sizeof(bytes) / sizeof(bytes[0]); i++)
        assert_int_equal(play_stamps_byte(&s, bytes[i].ts_ns), bytes[i].end);
    play_stamps_release(&s);
}

static void
neither_bytes_nor_times_go_back(void **state)
{
    (void)state;
    struct play_stamps s = { 0 };
    play_stamps_add(&s, 10, 5000);
    play_stamps_add(&s, 20, 4000);
    play_stamps_add(&s, 15, 6000);
    play_stamps_add(&s, 0, 7000);
    assert_int_equal(play_stamps_time(&s, 20), 5000);
    assert_int_equal(play_stamps_byte(&s, 8000), 20);
    play_stamps_release(&s);
}

static void
of_too_many_the_nearest_are_told_apart_no_more(void **state)
{
    (void)state;
    enum { FAR_COUNT = 1000 };
    const uint64_t count = 3 * (uint64_t)PLAY_STAMPS_MAX, step = 1000, far = 1ULL << 40;
    const uint64_t start = 1ULL << 60, end = start + count * step;
    struct play_stamps s = { 0 };
    for (uint64_t i = 1; i <= count; i++)
        play_stamps_add(&s, i * 10, start + i * step);
    for (uint64_t i = 1; i <= FAR_COUNT; i++)
        play_stamps_add(&s, count * 10 + i, end + i * far);
    assert_true(s.entries.n <= PLAY_STAMPS_MAX * 2 * sizeof(uint64_t));
    assert_in_range(s.min_ns, step, 16 * step);
    for (uint64_t i = 1; i <= count; i += 997) {
        uint64_t ts_ns = start + i * step;
        assert_in_range(play_stamps_time(&s, i * 10), ts_ns - s.min_ns, ts_ns);
        assert_in_range(play_stamps_byte(&s, ts_ns), i * 10, (i + s.min_ns / step) * 10);
    }
    for (uint64_t i = 1; i <= FAR_COUNT; i++)
        assert_int_equal(play_stamps_time(&s, count * 10 + i), end + i * far);
    play_stamps_release(&s);
}

static void
times_that_are_as_far_apart_as_can_be_fit_too(void **state)
{
    (void)state;
    struct play_stamps s = { 0 };
    uint64_t step = UINT64_MAX / (PLAY_STAMPS_MAX + 2);
    for (uint64_t i = 1; i <= PLAY_STAMPS_MAX + 1; i++)
        play_stamps_add(&s, i, i * step);
    assert_true(s.entries.n < PLAY_STAMPS_MAX * 2 * sizeof(uint64_t));
    assert_int_equal(play_stamps_byte(&s, UINT64_MAX), PLAY_STAMPS_MAX + 1);
    play_stamps_release(&s);
}

/* -- the nearest snapshot -- */

static void
add(struct play_events *e, enum play_event_kind kind, uint64_t anchor, uint64_t ts_ns,
    const char *text)
{
    struct play_event event = {
        .kind = kind,
        .id = ts_ns,
        .ts_ns = ts_ns,
        .anchor_byte = anchor,
        .text = { (const uint8_t *)text, strlen(text) },
        .snapshot_id = PLAY_NONE,
    };
    assert_int_equal(play_events_add(e, &event), 0);
}

static void
assert_nearest(const struct play_events *e, uint64_t byte_off, const char *want)
{
    struct play_event event;
    assert_true(play_events_nearest(e, byte_off, &event));
    assert_int_equal(event.text.n, strlen(want));
    assert_memory_equal(event.text.p, want, event.text.n);
}

static void
the_nearest_snapshot_is_found(void **state)
{
    (void)state;
    struct play_events e = { 0 };
    struct play_event none;
    assert_false(play_events_nearest(&e, 5, &none));
    add(&e, PLAY_INSTRUCTION, 5, 1, "told");
    assert_false(play_events_nearest(&e, 5, &none));
    add(&e, PLAY_SNAPSHOT, 100, 2, "a");
    assert_nearest(&e, 0, "a");
    assert_nearest(&e, UINT64_MAX, "a");
    add(&e, PLAY_SNAPSHOT, 200, 3, "b");
    add(&e, PLAY_INSTRUCTION, 149, 9, "told");
    assert_nearest(&e, 149, "a");
    assert_nearest(&e, 151, "b");
    play_events_release(&e);
}

static void
of_two_that_are_as_near_the_newer_one_is_found(void **state)
{
    (void)state;
    struct play_events e = { 0 };
    add(&e, PLAY_SNAPSHOT, 200, 8, "newer");
    add(&e, PLAY_SNAPSHOT, 100, 2, "old");
    assert_nearest(&e, 150, "newer");
    add(&e, PLAY_SNAPSHOT, 100, 9, "newest");
    assert_nearest(&e, 150, "newest");
    assert_nearest(&e, 100, "newest");
    add(&e, PLAY_SNAPSHOT, 100, 7, "older");
    assert_nearest(&e, 100, "newest");
    play_events_release(&e);
}

int
main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(nothing_is_known_of_nothing),
        cmocka_unit_test(each_byte_has_the_time_of_its_record),
        cmocka_unit_test(neither_bytes_nor_times_go_back),
        cmocka_unit_test(of_too_many_the_nearest_are_told_apart_no_more),
        cmocka_unit_test(times_that_are_as_far_apart_as_can_be_fit_too),
        cmocka_unit_test(the_nearest_snapshot_is_found),
        cmocka_unit_test(of_two_that_are_as_near_the_newer_one_is_found),
    };
    return cmocka_run_group_tests_name("stamps", tests, NULL, NULL);
}
