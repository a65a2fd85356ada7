/* SPDX-License-Identifier: MIT */
/*
 * roll_test.c -- a recording read in slices of any size is what it is when read at once;
 * also while it grows, and where it is damaged.
 */
#include "play/roll.h"

#include <stdio.h>

#include "support/film.h"
#include "support/rng.h"
#include "support/sim_disk.h"
#include "term/dump.h"

enum { MS = 1000000, EVERYTHING = 1 << 30 };

static struct film film;
static struct sim_disk disk;

static int
set_up(void **state)
{
    (void)state;
    sim_init(&disk);
    return 0;
}

static int
tear_down(void **state)
{
    (void)state;
    sim_release(&disk);
    film_release(&film);
    return 0;
}

static struct play_roll *
open_roll(const char *path)
{
    const struct play_roll_options opt = { 0 };
    struct play_roll *r;
    struct err err = { 0 };
    if (play_roll_open(&r, &disk.io, path, &opt, &err) < 0)
        fail_msg("%s", err.text);
    return r;
}

static void
load(struct play_loaded *ret, const char *path, uint64_t to_byte)
{
    const struct play_load_options opt = { .to_byte = to_byte, .has_times = true };
    struct err err = { 0 };
    if (play_load(ret, &disk.io, path, &opt, &err) < 0)
        fail_msg("%s", err.text);
}

/* -- the same -- */

static void
expect_model(const struct term *got, const struct term *want, uint64_t place)
{
    AUTO(buf) x = { 0 };
    AUTO(buf) y = { 0 };
    AUTO(buf) why = { 0 };
    dump_all(&x, got);
    dump_all(&y, want);
    if (!dump_same(&x, &y, &why))
        fail_msg("another model at byte %llu: %s", (unsigned long long)place,
                 buf_str(&why));
}

static void
expect_times(const struct play_stamps *got, const struct play_loaded *want)
{
    const struct play_time *times = (const void *)want->times.p;
    uint64_t before = 0;
    for (size_t i = 0; i < want->times.n / sizeof(times[0]); i++) {
        if (times[i].end > before)
            assert_int_equal(play_stamps_time(got, times[i].end), times[i].ts_ns);
        before = times[i].end;
    }
    assert_int_equal(play_stamps_time(got, before + 1), 0);
}

static void
expect_snapshots(const struct play_events *got, const struct play_events *want)
{
    assert_int_equal(got->count, want->count);
    for (size_t i = 0; i < got->count; i++) {
        struct play_event a = play_events_at(got, i), b = play_events_at(want, i);
        assert_int_equal(a.id, b.id);
        assert_int_equal(a.anchor_byte, b.anchor_byte);
        assert_int_equal(a.ts_ns, b.ts_ns);
        assert_int_equal(a.text.n, b.text.n);
    }
}

static void
expect_all(const struct play_roll *r, const char *path)
{
    struct play_loaded want;
    load(&want, path, 0);
    assert_int_equal(play_roll_byte(r), want.total_bytes);
    expect_model(play_roll_term(r), want.term, want.total_bytes);
    expect_times(play_roll_stamps(r), &want);
    expect_snapshots(play_roll_snapshots(r), &want.events);
    play_loaded_release(&want);
}

/* -- slices -- */

static void
make_film(uint32_t seed, size_t bytes)
{
    film_release(&film);
    film_agent(&film, seed, bytes);
    sim_put(&disk, KIT_PATH, film_bytes(&film));
}

static void
any_slices_make_the_same_model(void **state)
{
    (void)state;
    static const size_t slices[] = { 1, 100, 3000, EVERYTHING };
    for (uint32_t i = 0; i < 8; i++) {
        make_film(300 + i, 60000);
        struct play_roll *r = open_roll(KIT_PATH);
        int e;
        while ((e = play_roll_read(r, UINT64_MAX, slices[i % 4])) > 0)
            continue;
        assert_int_equal(e, 0);
        expect_all(r, KIT_PATH);
        assert_int_equal(play_roll_read(r, UINT64_MAX, EVERYTHING), 0);
        expect_all(r, KIT_PATH);
        play_roll_close(r);
    }
}

/* Where bytes are lost just before the place, a size may still be to come. */
static bool
is_behind_gap(const struct play_loaded *l)
{
    struct play_gap gap;
    if (l->gaps.n < sizeof(gap))
        return false;
    memcpy(&gap, l->gaps.p + l->gaps.n - sizeof(gap), sizeof(gap));
    return gap.byte_off + gap.bytes == l->total_bytes;
}

static void
it_stops_at_any_byte(void **state)
{
    (void)state;
    for (uint32_t i = 0; i < 4; i++) {
        make_film(400 + i, 40000);
        uint32_t rng = rng_seed(i);
        uint64_t at = 0, end = film.byte_off;
        struct play_roll *r = open_roll(KIT_PATH);
        while ((at += rng_between(&rng, 1, 2500)) < end) {
            struct play_loaded want;
            while (play_roll_read(r, at, rng_between(&rng, 1, 999)) > 0)
                assert_true(play_roll_byte(r) < at);
            assert_int_equal(play_roll_byte(r), at);
            load(&want, KIT_PATH, at);
            if (!is_behind_gap(&want))
                expect_model(play_roll_term(r), want.term, at);
            play_loaded_release(&want);
        }
        assert_int_equal(play_roll_read(r, UINT64_MAX, EVERYTHING), 0);
        expect_all(r, KIT_PATH);
        play_roll_close(r);
    }
}

static void
what_was_taken_is_the_takers(void **state)
{
    (void)state;
    make_film(500, 20000);
    struct play_roll *r = open_roll(KIT_PATH);
    assert_int_equal(play_roll_read(r, 10000, EVERYTHING), 0);
    struct term *t = play_roll_take(r);
    struct play_stamps stamps = play_roll_take_stamps(r);
    assert_int_equal(play_roll_read(r, UINT64_MAX, EVERYTHING), 0);
    assert_int_equal(play_roll_byte(r), 10000);
    assert_null(play_roll_term(r));
    assert_int_equal(play_stamps_byte(play_roll_stamps(r), UINT64_MAX), 0);
    play_roll_close(r);
    assert_int_equal(play_stamps_byte(&stamps, UINT64_MAX), 10000);
    play_stamps_release(&stamps);
    assert_true(term_rows(t) > 0);
    term_free(t);
}

static void
damage_is_gone_over(void **state)
{
    (void)state;
    uint32_t rng = rng_seed(11);
    for (uint32_t i = 0; i < 8; i++) {
        film_release(&film);
        film_agent(&film, 600 + i, 50000);
        for (int n = 0; n < 3; n++)
            film.file.p[rng_below(&rng, (uint32_t)film.file.n)] ^= 0x20;
        if (i % 2)
            film.file.n -= rng_below(&rng, 2000);
        sim_put(&disk, KIT_PATH, film_bytes(&film));
        struct play_roll *r = open_roll(KIT_PATH);
        while (play_roll_read(r, UINT64_MAX, 5000) > 0)
            continue;
        expect_all(r, KIT_PATH);
        play_roll_close(r);
    }
}

static void
a_file_without_a_record_is_an_empty_screen(void **state)
{
    (void)state;
    sim_put(&disk, KIT_PATH, (struct view){ (const uint8_t *)"junk", 4 });
    struct play_roll *r = open_roll(KIT_PATH);
    assert_int_equal(play_roll_read(r, UINT64_MAX, 1), 0);
    assert_int_equal(play_roll_byte(r), 0);
    assert_int_equal(term_cols(play_roll_term(r)), 80);
    play_roll_close(r);
}

static void
where_there_is_no_file_it_says_so(void **state)
{
    (void)state;
    const struct play_roll_options opt = { 0 };
    struct play_roll *r;
    struct err err = { 0 };
    assert_true(play_roll_open(&r, &disk.io, "none.ahr", &opt, &err) < 0);
    assert_non_null(strstr(err.text, "none.ahr"));
}

/* -- a recording that grows -- */

/* Some records of each kind, the last one DATA. */
static void
append_some(struct tape_writer *w, uint32_t *rng, uint64_t *ts_ns)
{
    for (uint32_t n = rng_between(rng, 1, 60); n; n--) {
        char text[64];
        int len = snprintf(text, sizeof(text), "line %u of some output\r\n", *rng);
        struct tape_record rec = { .tag = TAPE_DATA,
                                   .bytes = { (const uint8_t *)text, (size_t)len } };
        if (n > 1 && rng_below(rng, 20) == 0)
            rec = (struct tape_record){ .tag = TAPE_RESIZE,
                                        .cols = (uint16_t)rng_between(rng, 20, 100),
                                        .rows = (uint16_t)rng_between(rng, 5, 40) };
        else if (n > 1 && rng_below(rng, 20) == 0)
            rec = (struct tape_record){ .tag = TAPE_SNAPSHOT, .snapshot_id = *ts_ns };
        rec.ts_ns = *ts_ns += rng_below(rng, 3) * MS;
        (void)tape_writer_append(w, rec);
    }
}

static void
what_comes_meanwhile_is_read_too(void **state)
{
    (void)state;
    struct tape_writer_options opt = kit_options(TAPE_SYNC_NONE);
    struct tape_writer_status status;
    struct tape_writer *w;
    struct err err = { 0 };
    uint32_t rng = rng_seed(21);
    uint64_t ts_ns = KIT_START;
    assert_int_equal(tape_writer_open(&w, &disk.io, KIT_PATH, &opt, &err), 0);
    struct play_roll *r = open_roll(KIT_PATH);
    for (int i = 0; i < 60; i++) {
        append_some(w, &rng, &ts_ns);
        tape_writer_status(w, &status);
        if (i % 3 == 0) /* only a part of it, for now */
            assert_true(play_roll_read(r, status.byte_off - 7, 200) >= 0);
        if (i % 3)
            while (play_roll_read(r, status.byte_off, 900) > 0)
                continue;
        if (i % 3)
            assert_int_equal(play_roll_byte(r), status.byte_off);
    }
    assert_int_equal(tape_writer_finish(w, ts_ns + MS, &status, &err), 0);
    while (play_roll_read(r, UINT64_MAX, 900) > 0)
        continue;
    expect_all(r, KIT_PATH);
    play_roll_close(r);
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, set_up, tear_down)

int
main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(any_slices_make_the_same_model),
        TEST(it_stops_at_any_byte),
        TEST(what_was_taken_is_the_takers),
        TEST(damage_is_gone_over),
        TEST(a_file_without_a_record_is_an_empty_screen),
        TEST(where_there_is_no_file_it_says_so),
        TEST(what_comes_meanwhile_is_read_too),
    };
    return cmocka_run_group_tests_name("roll", tests, NULL, NULL);
}
