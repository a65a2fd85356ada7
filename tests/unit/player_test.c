/* SPDX-License-Identifier: MIT */
/*
 * player_test.c -- any place of a recording shows what feeding it from the start shows,
 * however one got there; gaps, steps, texts found, and the clock.
 */
#include "support/film.h"

#include <dirent.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>

#include "base/file.h"
#include "play/clock.h"
#include "support/rng.h"
#include "support/sim_disk.h"
#include "tape/tail.h"

enum { MS = 1000000 };
#define SECOND UINT64_C(1000000000)

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

static void
put_film(void)
{
    sim_put(&disk, KIT_PATH, film_bytes(&film));
}

/* -- seeking -- */

static void
seek_byte(struct play_player *p, const char *path, uint64_t byte_off)
{
    assert_int_equal(play_seek_byte(p, byte_off), 0);
    assert_int_equal(play_work_all(p), 0);
    struct term *want = film_feed(&disk.io, path, byte_off, UINT64_MAX);
    film_expect(p, want, "byte", byte_off);
    if (want)
        term_free(want);
}

static void
seek_time(struct play_player *p, const char *path, uint64_t time_ns)
{
    assert_int_equal(play_seek_ns(p, time_ns), 0);
    assert_int_equal(play_work_all(p), 0);
    struct term *want = film_feed(&disk.io, path, UINT64_MAX, time_ns);
    film_expect(p, want, "time", time_ns);
    if (want)
        term_free(want);
}

/* Some ten places, far and near, and how one comes there from elsewhere. */
static void
seek_around(struct play_player *p, const char *path, uint32_t seed, int times)
{
    uint32_t rng = rng_seed(seed);
    struct play_extent extent = play_extent(p);
    for (int i = 0; i < times; i++) {
        uint32_t parts = rng_below(&rng, 1001);
        if (rng_below(&rng, 2))
            seek_byte(p, path, extent.total_bytes * parts / 1000 + rng_below(&rng, 3));
        else
            seek_time(p, path, extent.duration_ns * parts / 1000);
    }
    seek_byte(p, path, 0);
    seek_time(p, path, UINT64_MAX);
    assert_true(play_place(p).is_end);
    seek_time(p, path, 0);
}

static void
every_place_shows_what_feeding_shows(void **state)
{
    (void)state;
    int films = kit_times(12, 200);
    for (int i = 0; i < films; i++) {
        film_agent(&film, (uint32_t)i, 120000);
        put_film();
        struct play_player *p = film_open(&disk.io, KIT_PATH, NULL);
        seek_around(p, KIT_PATH, (uint32_t)i, 12); /* before all keyframes are known … */
        assert_int_equal(play_index(p), 0);
        assert_int_equal(play_work_all(p), 0);
        seek_around(p, KIT_PATH, (uint32_t)i, 12); /* … and then */
        play_close(p);
        film_release(&film);
    }
}

static void
every_place_of_a_foreign_recording_shows_what_feeding_shows(void **state)
{
    (void)state;
    for (uint32_t i = 0; i < 3; i++) {
        film.is_foreign = true;
        film_agent(&film, 100 + i, 60000);
        put_film();
        struct play_player *p = film_open(&disk.io, KIT_PATH, "frames");
        seek_around(p, KIT_PATH, i, 12);
        play_close(p);
        assert_int_equal(sim_file(&disk, "frames").n, 0);
        film_release(&film);
    }
}

static void
damage_everywhere_changes_no_place_behind_it(void **state)
{
    (void)state;
    uint32_t rng = rng_seed(7);
    for (uint32_t i = 0; i < 8; i++) {
        film_agent(&film, 200 + i, 60000);
        for (int n = 0; n < 3; n++)
            film.file.p[rng_below(&rng, (uint32_t)film.file.n)] ^= 0x10;
        if (i % 2)
            film.file.n -= rng_below(&rng, 2000);
        put_film();
        struct play_player *p = film_open(&disk.io, KIT_PATH, NULL);
        seek_around(p, KIT_PATH, i, 10);
        play_close(p);
        film_release(&film);
    }
}

static void
every_place_of_the_golden_recordings_shows_what_feeding_shows(void **state)
{
    (void)state;
    const char *dir = getenv("AHR_GOLDEN");
    assert_non_null(dir);
    DIR *d = opendir(dir);
    assert_non_null(d);
    int count = 0;
    for (struct dirent *e; (e = readdir(d)) != NULL;) {
        char path[4096];
        struct buf bytes = { 0 };
        snprintf(path, sizeof(path), "%s/%s", dir, e->d_name);
        if (!strstr(e->d_name, ".ahr") || file_slurp(path, &bytes) < 0)
            continue;
        sim_put(&disk, e->d_name, (struct view){ bytes.p, bytes.n });
        buf_release(&bytes);
    }
    rewinddir(d);
    for (struct dirent *e; (e = readdir(d)) != NULL;) {
        const char *end = strstr(e->d_name, ".ahr");
        if (!end || end[4])
            continue;
        struct play_player *p = film_open(&disk.io, e->d_name, NULL);
        seek_around(p, e->d_name, 1, 20);
        play_close(p);
        count++;
    }
    closedir(d);
    assert_true(count > 10);
}

/* The same session as one file, and as it lies there when its writer was killed, or a
 * sync has failed: blocks in two segments, the last ones in tails. */
static void
segments_and_tails_are_one_recording(void **state)
{
    (void)state;
    film_agent(&film, 5, 60000);
    size_t half = film.starts[film.blocks / 2], overlap = film.starts[film.blocks / 3];
    put_film();
    sim_put(&disk, "cut.ahr", (struct view){ film.file.p, half });
    sim_put(&disk, "cut.ahr.1",
            (struct view){ film.file.p + overlap, film.file.n - overlap });
    struct play_player *p = film_open(&disk.io, "cut.ahr", "frames");
    struct play_player *whole = film_open(&disk.io, KIT_PATH, NULL);
    struct play_extent a = play_extent(p), b = play_extent(whole);
    assert_int_equal(a.total_bytes, b.total_bytes);
    assert_int_equal(a.duration_ns, b.duration_ns);
    seek_around(p, KIT_PATH, 1, 20);
    play_close(whole);
    play_close(p);
    assert_int_equal(sim_file(&disk, "frames").n, 0);
}

/* A file of blocks, and what has come since in a tail. */
static void
a_recording_that_is_being_made_is_shown_to_its_last_record(void **state)
{
    (void)state;
    for (uint32_t i = 0; i < 4; i++) {
        AUTO(buf) tail = { 0 };
        film_agent(&film, 700 + i, 40000);
        uint64_t sealed = film.byte_off;
        struct tape_tail head = { .ordinal = film.ordinal, .start_byte_off = sealed };
        film.file.n = film.starts[film.blocks - 1]; /* the last block is not sealed */
        head.ordinal--;
        uint32_t crc = tape_tail_put_head(buf_grow(&tail, TAPE_TAIL_HEAD), &head);
        for (int n = 0; n < 20; n++) {
            struct tape_record rec = { .tag = n % 7 == 5 ? TAPE_RESIZE : TAPE_DATA,
                                       .ts_ns = film.ts_ns + (uint64_t)n,
                                       .cols = (uint16_t)(20 + n),
                                       .rows = 10,
                                       .byte_off = sealed,
                                       .bytes = { (const uint8_t *)"tail\r\n", 6 } };
            sealed += rec.tag == TAPE_DATA ? 6 : 0;
            assert_int_equal(tape_tail_put_record(&tail, &rec, &crc), 0);
        }
        char name[64];
        snprintf(name, sizeof(name), KIT_PATH ".tail-%u", (unsigned)head.ordinal);
        put_film();
        sim_put(&disk, name, (struct view){ tail.p, tail.n });
        struct play_player *p = film_open(&disk.io, KIT_PATH, "frames");
        assert_int_equal(play_extent(p).total_bytes, sealed);
        seek_around(p, KIT_PATH, i, 12);
        seek_byte(p, KIT_PATH, sealed - 40);
        play_close(p);
        assert_int_equal(sim_file(&disk, "frames").n, 0);
        disk.io.ops->unlink(&disk.io, name);
        film_release(&film);
    }
}

static void
seeking_is_work_that_can_be_stopped_anywhere(void **state)
{
    (void)state;
    film_agent(&film, 9, 60000);
    put_film();
    struct play_player *p = film_open(&disk.io, KIT_PATH, NULL);
    uint32_t rng = rng_seed(3);
    uint64_t total = play_extent(p).total_bytes;
    for (int i = 0; i < 60; i++) {
        uint64_t target = rng_below(&rng, (uint32_t)total);
        assert_int_equal(play_seek_byte(p, target), 0);
        int slices = (int)rng_below(&rng, 20), e = 1;
        while (slices-- && e > 0) {
            assert_in_range(play_work_permille(p), 0, 1000);
            e = play_work(p, rng_between(&rng, 1, 4000));
        }
        play_stop(p);
        assert_int_equal(play_work(p, 1), 0);
        /* Wherever it stands, that is what it shows. */
        struct play_place place = play_place(p);
        assert_true(place.byte_off <= total);
        seek_byte(p, KIT_PATH, place.byte_off);
    }
    play_close(p);
}

/* Whoever looks on must be heard meanwhile: a size costs what it lays out anew. */
static void
a_storm_of_sizes_is_worked_off_in_small_pieces(void **state)
{
    (void)state;
    enum { SIZES = 500, ABOVE = 300, PIECE = 64 << 10 };
    for (int i = 0; i < ABOVE; i++)
        film_text(&film, MS, "a row that has scrolled off\r\n");
    for (unsigned i = 0; i < SIZES; i++) {
        film_size(&film, MS, 20 + i % 2, 10);
        film_text(&film, MS, "x");
    }
    film_cut(&film, true);
    put_film();
    struct play_player *p = film_open(&disk.io, KIT_PATH, NULL);
    assert_int_equal(play_seek_byte(p, UINT64_MAX), 0);
    int e, pieces = 0;
    while ((e = play_work(p, PIECE)) > 0)
        pieces++;
    assert_int_equal(e, 0);
    assert_true(pieces > SIZES / 4);
    assert_int_equal(play_search(p, (struct view){ (const uint8_t *)"none", 4 }, true),
                     0);
    for (pieces = 0; (e = play_work(p, PIECE)) > 0;)
        pieces++;
    assert_int_equal(e, ERR_MISSING);
    assert_true(pieces > SIZES / 4);
    play_close(p);
}

/* -- playing -- */

static void
playing_on_shows_what_seeking_shows(void **state)
{
    (void)state;
    for (uint32_t i = 0; i < 4; i++) {
        film_agent(&film, 300 + i, 60000);
        put_film();
        struct play_player *p = film_open(&disk.io, KIT_PATH, NULL);
        uint64_t duration = play_extent(p).duration_ns;
        if (i % 2) { /* from the middle, with keyframes that are made as it plays */
            seek_byte(p, KIT_PATH, play_extent(p).total_bytes / 2);
            seek_byte(p, KIT_PATH, play_extent(p).total_bytes / 4);
        }
        uint64_t begin = play_place(p).time_ns;
        for (uint64_t n = 0; n <= 40; n++) {
            uint64_t t = begin + (duration - begin) * n / 40;
            int e;
            while ((e = play_advance(p, t, 700)) > 0)
                continue;
            assert_int_equal(e, 0);
            struct term *want = film_feed(&disk.io, KIT_PATH, UINT64_MAX, t);
            film_expect(p, want, "time", t);
            if (want)
                term_free(want);
            assert_int_equal(play_place(p).time_ns, t);
            assert_true(play_next_ns(p) > t);
        }
        assert_true(play_place(p).is_end);
        assert_int_equal(play_next_ns(p), UINT64_MAX);
        play_close(p);
        film_release(&film);
    }
}

static void
a_step_is_the_next_output(void **state)
{
    (void)state;
    film_size(&film, 0, 20, 5);
    film_text(&film, SECOND, "one");
    film_snapshot(&film, 1, 3, "here");
    film_size(&film, SECOND, 30, 6);
    film_size(&film, SECOND, 40, 7);
    film_text(&film, SECOND, "two");
    film_cut(&film, true);
    put_film();
    struct play_player *p = film_open(&disk.io, KIT_PATH, NULL);
    assert_int_equal(play_place(p).time_ns, 0);
    assert_int_equal(term_cols(play_term(p)), 20);
    assert_int_equal(play_step(p), 1);
    assert_int_equal(play_place(p).byte_off, 3);
    assert_int_equal(play_place(p).time_ns, SECOND);
    assert_int_equal(term_cols(play_term(p)), 20);
    assert_int_equal(play_step(p), 1);
    assert_int_equal(play_place(p).byte_off, 6);
    assert_int_equal(play_place(p).time_ns, 4 * SECOND + MS);
    assert_int_equal(term_cols(play_term(p)), 40);
    assert_int_equal(play_step(p), 0);
    assert_true(play_place(p).is_end);
    play_close(p);
}

static void
a_gap_is_told_once(void **state)
{
    (void)state;
    struct play_gap gap;
    film_text(&film, MS, "a");
    film_gap(&film, 10, true);
    film_text(&film, MS, "b");
    film_cut(&film, false);
    film_gap(&film, 20, false);
    film_text(&film, MS, "c");
    film_gap(&film, 5, true);
    film_cut(&film, true);
    put_film();
    struct play_player *p = film_open(&disk.io, KIT_PATH, NULL);
    for (int i = 0; i < 2; i++) {
        assert_int_equal(play_advance(p, 0, 100), 0);
        assert_false(play_take_gap(p, &gap));
        assert_int_equal(play_advance(p, SECOND, 100000), 0);
        assert_true(play_take_gap(p, &gap));
        assert_true(gap.byte_off == 1 && gap.bytes == 10 && gap.is_recorded);
        assert_true(play_take_gap(p, &gap));
        assert_true(gap.byte_off == 12 && gap.bytes == 20 && !gap.is_recorded);
        assert_true(play_take_gap(p, &gap));
        assert_true(gap.byte_off == 33 && gap.bytes == 5 && gap.is_recorded);
        assert_false(play_take_gap(p, &gap));
        assert_int_equal(play_extent(p).total_bytes, 38);
        seek_time(p, KIT_PATH, 0);
    }
    play_close(p);
}

/* Who goes elsewhere has not played over it. */
static void
a_gap_that_was_not_asked_for_is_forgotten_by_a_seek(void **state)
{
    (void)state;
    struct play_gap gap;
    film_text(&film, MS, "a");
    film_gap(&film, 10, true);
    film_text(&film, MS, "b");
    film_cut(&film, true);
    put_film();
    struct play_player *p = film_open(&disk.io, KIT_PATH, NULL);
    assert_int_equal(play_advance(p, SECOND, 100000), 0);
    seek_time(p, KIT_PATH, 0);
    assert_false(play_take_gap(p, &gap));
    play_close(p);
}

static void
the_end_is_no_later_than_the_last_record(void **state)
{
    (void)state;
    film_text(&film, MS, "a");
    film_text(&film, 7 * MS, "b");
    film_cut(&film, true);
    put_film();
    struct play_player *p = film_open(&disk.io, KIT_PATH, NULL);
    uint64_t end_ns = play_extent(p).duration_ns;
    assert_int_equal(play_advance(p, 99 * SECOND, 100000), 0);
    assert_true(play_place(p).is_end);
    assert_int_equal(play_place(p).time_ns, end_ns);
    assert_int_equal(play_seek_ns(p, 99 * SECOND), 0);
    assert_int_equal(play_work_all(p), 0);
    assert_int_equal(play_place(p).time_ns, end_ns);
    play_close(p);
}

static void
stamps_that_go_back_are_not_followed(void **state)
{
    (void)state;
    film_text(&film, MS, "a");
    film_text(&film, 9 * MS, "b");
    film.ts_ns -= 5 * MS;
    film_text(&film, 0, "c");
    film_cut(&film, true);
    put_film();
    struct play_player *p = film_open(&disk.io, KIT_PATH, NULL);
    uint64_t last_ns = 0;
    for (uint64_t next_ns; (next_ns = play_next_ns(p)) != UINT64_MAX; last_ns = next_ns) {
        assert_true(next_ns >= last_ns);
        assert_true(play_step(p) >= 0);
    }
    assert_int_equal(last_ns, 9 * MS);
    play_close(p);
}

/* Of a writer that is not to be trusted. */
static void
offsets_do_not_go_past_the_last_one(void **state)
{
    (void)state;
    film.is_foreign = true;
    film.byte_off = UINT64_MAX - 4;
    film_text(&film, MS, "ab");
    film.byte_off = 3;
    film_text(&film, MS, "cdefgh");
    film_text(&film, MS, "ij");
    film_gap(&film, 10, true);
    film_cut(&film, true);
    put_film();
    struct play_player *p = film_open(&disk.io, KIT_PATH, NULL);
    uint64_t last = 0;
    while (play_step(p) > 0) {
        assert_true(play_place(p).byte_off >= last);
        last = play_place(p).byte_off;
    }
    assert_int_equal(play_place(p).byte_off, UINT64_MAX);
    play_close(p);
}

static void
the_extent_is_known_from_the_start(void **state)
{
    (void)state;
    for (uint32_t i = 0; i < 4; i++) {
        film.is_foreign = i % 2;
        film_agent(&film, 400 + i, 30000);
        put_film();
        struct play_player *p = film_open(&disk.io, KIT_PATH, NULL);
        struct play_extent e = play_extent(p);
        assert_int_equal(e.start_ts_ns, KIT_START);
        assert_int_equal(e.total_bytes, film.byte_off);
        assert_int_equal(e.duration_ns, film.ts_ns - KIT_START);
        play_close(p);
        film_release(&film);
    }
}

static void
an_index_knows_every_snapshot(void **state)
{
    (void)state;
    for (uint64_t i = 0; i < 50; i++) {
        film_text(&film, MS, "some text\r\n");
        film_snapshot(&film, i, (i * 37) % 50, "x"); /* anchors in any order */
        if (i % 7 == 3)
            film_cut(&film, false);
    }
    film_cut(&film, true);
    put_film();
    struct play_player *p = film_open(&disk.io, KIT_PATH, NULL);
    assert_int_equal(play_snapshots(p)->count, 0);
    assert_int_equal(play_advance(p, 10 * MS, 100000), 0);
    assert_int_equal(play_snapshots(p)->count, 5);
    assert_int_equal(play_index(p), 0);
    assert_int_equal(play_work_all(p), 0);
    const struct play_events *e = play_snapshots(p);
    assert_int_equal(e->count, 50);
    for (size_t i = 0; i < 50; i++)
        assert_int_equal(play_events_at(e, i).anchor_byte, i);
    seek_time(p, KIT_PATH, UINT64_MAX);
    assert_int_equal(play_snapshots(p)->count, 50);
    play_close(p);
}

static void
an_empty_recording_is_a_blank_screen(void **state)
{
    (void)state;
    static const char *const nothing[] = { "", "not a recording at all, just text" };
    for (size_t i = 0; i < 2; i++) {
        sim_put(&disk, KIT_PATH,
                (struct view){ (const uint8_t *)nothing[i], strlen(nothing[i]) });
        struct play_player *p = film_open(&disk.io, KIT_PATH, "frames");
        assert_int_equal(play_extent(p).total_bytes, 0);
        assert_true(play_place(p).is_end);
        assert_int_equal(play_next_ns(p), UINT64_MAX);
        seek_around(p, KIT_PATH, 1, 5);
        assert_int_equal(play_step(p), 0);
        play_close(p);
    }
}

/* -- texts -- */

static int
search(struct play_player *p, const char *text, bool is_backwards)
{
    struct view v = { (const uint8_t *)text, strlen(text) };
    int e = play_search(p, v, is_backwards);
    return e < 0 ? e : play_work_all(p);
}

static void
expect_found(struct play_player *p, const char *text, bool is_backwards, uint64_t at)
{
    assert_int_equal(search(p, text, is_backwards), 0);
    assert_int_equal(play_place(p).byte_off, at);
}

/* Where `text` ends in what the film says. */
static void
a_text_is_found_where_its_last_byte_is(void **state)
{
    (void)state;
    film_size(&film, 0, 40, 5);
    film_text(&film, SECOND, "the quick brown fox\r\n");
    for (int i = 0; i < 200; i++)
        film_text(&film, MS, "filler, \033[31mmore\033[m filler\r\n");
    film_cut(&film, false);
    uint64_t second = film.byte_off + strlen("a slow br\033[1mow\033[mn");
    film_text(&film, SECOND, "a slow br\033[1mow\033[mn fox\r\n");
    film_text(&film, SECOND, "\033[H\033[2JBROWN\r\n");
    uint64_t third = film.byte_off - 2;
    film_cut(&film, true);
    put_film();
    struct play_player *p = film_open(&disk.io, KIT_PATH, NULL);
    for (int i = 0; i < 2; i++) {
        expect_found(p, "brown", false, strlen("the quick brown"));
        expect_found(p, "brown", false, second);
        expect_found(p, "brown", false, third);
        assert_int_equal(search(p, "brown", false), ERR_MISSING);
        assert_int_equal(play_place(p).byte_off, third);
        expect_found(p, "brown", true, second);
        expect_found(p, "brown", true, strlen("the quick brown"));
        assert_int_equal(search(p, "brown", true), ERR_MISSING);
        assert_int_equal(play_place(p).byte_off, strlen("the quick brown"));
        seek_time(p, KIT_PATH, UINT64_MAX);
        expect_found(p, "BROWN", true, third); /* a capital: as it is */
        assert_int_equal(search(p, "BROWN", true), ERR_MISSING);
        seek_time(p, KIT_PATH, 0);
    }
    play_close(p);
}

static void
a_line_that_is_painted_again_is_found_once(void **state)
{
    (void)state;
    film_size(&film, 0, 40, 5);
    film_text(&film, MS, "\r\n");
    for (int i = 0; i < 50; i++) {
        char text[64];
        snprintf(text, sizeof(text), "\033[H\033[2Kthinking, %d s\r\n", i);
        film_text(&film, SECOND, text);
    }
    film_text(&film, SECOND, "not thinking");
    film_cut(&film, true);
    put_film();
    struct play_player *p = film_open(&disk.io, KIT_PATH, NULL);
    expect_found(p, "thinking", false, 2 + strlen("\033[H\033[2Kthinking"));
    expect_found(p, "thinking", false, film.byte_off);
    expect_found(p, "thinking", true, 2 + strlen("\033[H\033[2Kthinking"));
    play_close(p);
}

static void
a_text_that_is_wrapped_or_scrolls_by_is_found(void **state)
{
    (void)state;
    film_size(&film, 0, 10, 4);
    struct buf out = { 0 };
    buf_puts(&out, "12345678wrapped\r\n");
    for (int i = 0; i < 100; i++)
        buf_puts(&out, "x\r\n");
    size_t at = out.n + strlen("by");
    buf_puts(&out, "by\r\n");
    for (int i = 0; i < 100; i++)
        buf_puts(&out, "x\r\n");
    film_data(&film, SECOND, out.p, out.n); /* all in one record */
    buf_release(&out);
    film_cut(&film, true);
    put_film();
    struct play_player *p = film_open(&disk.io, KIT_PATH, NULL);
    expect_found(p, "wrapped", false, 15);
    expect_found(p, "by", false, at);
    play_close(p);
}

static void
a_screen_full_of_the_text_is_searched(void **state)
{
    (void)state;
    enum { COLS = 10000, ROWS = 900, AT_ONCE = 65535 };
    film_size(&film, 0, COLS, ROWS);
    film_text(&film, MS, "x");
    for (int i = 0; i < COLS * ROWS / AT_ONCE; i++)
        film_text(&film, MS, "\033[65535b");
    film_text(&film, MS, "\r\nthe end");
    film_cut(&film, true);
    put_film();
    struct play_player *p = film_open(&disk.io, KIT_PATH, NULL);
    expect_found(p, "x", false, 1);
    expect_found(p, "end", false, film.byte_off);
    assert_int_equal(search(p, "x", false), ERR_MISSING);
    play_close(p);
}

static void
searching_is_work_that_leaves_the_place_alone(void **state)
{
    (void)state;
    film_agent(&film, 11, 120000);
    film_release(&film);
    film_agent(&film, 11, 120000);
    put_film();
    struct play_player *p = film_open(&disk.io, KIT_PATH, NULL);
    seek_byte(p, KIT_PATH, 50000);
    for (int i = 0; i < 2; i++) {
        struct view text = { (const uint8_t *)"no such text", 12 };
        assert_int_equal(play_search(p, text, i), 0);
        int e;
        while ((e = play_work(p, 1000)) > 0) {
            assert_int_equal(play_place(p).byte_off, 50000);
            assert_in_range(play_work_permille(p), 0, 1000);
        }
        assert_int_equal(e, ERR_MISSING);
        struct term *want = film_feed(&disk.io, KIT_PATH, 50000, UINT64_MAX);
        film_expect(p, want, "byte", 50000);
        if (want)
            term_free(want);
    }
    assert_int_equal(play_search(p, (struct view){ 0 }, false), -EINVAL);
    play_close(p);
}

/* -- the clock -- */

static void
the_clock_runs_at_its_speed(void **state)
{
    (void)state;
    struct play_clock c = { .speed = PLAY_SPEED_ONE };
    play_clock_set(&c, 100, 1000);
    assert_int_equal(play_clock_now(&c, 0, UINT64_MAX, 1500), 600);
    play_clock_speed(&c, 2500, 1500);
    assert_int_equal(play_clock_now(&c, 0, UINT64_MAX, 1700), 1100);
    play_clock_speed(&c, 1, 1700); /* slower than it goes */
    assert_int_equal(c.speed, PLAY_SPEED_MIN);
    assert_int_equal(play_clock_now(&c, 0, UINT64_MAX, 2700), 1110);
    play_clock_speed(&c, UINT32_MAX, 2700);
    assert_int_equal(c.speed, PLAY_SPEED_MAX);
    assert_int_equal(play_clock_now(&c, 0, UINT64_MAX, UINT64_MAX), UINT64_MAX);
}

static void
the_clock_waits_until_the_next_record(void **state)
{
    (void)state;
    struct play_clock c = { .speed = 3000 };
    play_clock_set(&c, 0, 0);
    uint64_t wait = play_clock_wait(&c, 0, 3000, 0);
    assert_in_range(wait, 1000, 1001);
    assert_true(play_clock_now(&c, 0, 3000, wait) >= 3000);
    assert_int_equal(play_clock_wait(&c, 0, 3000, wait), 0);
    assert_int_equal(play_clock_wait(&c, 0, UINT64_MAX, 0), UINT64_MAX);
    /* A third of a nanosecond is waited for, too. */
    play_clock_set(&c, 0, 0);
    wait = play_clock_wait(&c, 0, 1000, 0);
    assert_true(play_clock_now(&c, 0, 1000, wait) >= 1000);
}

static void
a_pause_stops_the_clock(void **state)
{
    (void)state;
    struct play_clock c = { .speed = 2000 };
    play_clock_set(&c, 0, 0);
    play_clock_pause(&c, true, 100);
    assert_int_equal(play_clock_now(&c, 0, UINT64_MAX, 5000), 200);
    assert_int_equal(play_clock_wait(&c, 0, 300, 5000), UINT64_MAX);
    play_clock_pause(&c, false, 6000);
    assert_int_equal(play_clock_now(&c, 0, UINT64_MAX, 6050), 300);
}

static void
idle_stretches_are_cut_short(void **state)
{
    (void)state;
    struct play_clock c = { .speed = 1000, .idle_limit_ns = 2 * SECOND };
    play_clock_set(&c, 10 * SECOND, 0);
    /* The last record came at 10 s, the next one comes at 100 s. */
    assert_int_equal(play_clock_now(&c, 10 * SECOND, 100 * SECOND, SECOND), 11 * SECOND);
    assert_in_range(play_clock_wait(&c, 10 * SECOND, 100 * SECOND, SECOND), SECOND,
                    SECOND + 1);
    assert_int_equal(play_clock_now(&c, 10 * SECOND, 100 * SECOND, 2 * SECOND),
                     100 * SECOND);
    /* From there it goes on as usual; what is within the limit is not cut. */
    assert_int_equal(play_clock_now(&c, 100 * SECOND, 102 * SECOND, 3 * SECOND),
                     101 * SECOND);
    assert_in_range(play_clock_wait(&c, 100 * SECOND, 102 * SECOND, 3 * SECOND), SECOND,
                    SECOND + 1);
    /* Where the next record is behind already, the clock does not go back to it. */
    assert_int_equal(play_clock_now(&c, 10 * SECOND, 50 * SECOND, 3 * SECOND),
                     101 * SECOND);
    play_clock_pause(&c, true, 3 * SECOND);
    assert_int_equal(play_clock_now(&c, 0, 900 * SECOND, 9 * SECOND), 101 * SECOND);
}

#define FILM(test) cmocka_unit_test_setup_teardown(test, set_up, tear_down)

int
main(void)
{
    const struct CMUnitTest tests[] = {
        FILM(a_storm_of_sizes_is_worked_off_in_small_pieces),
        FILM(every_place_shows_what_feeding_shows),
        FILM(every_place_of_a_foreign_recording_shows_what_feeding_shows),
        FILM(damage_everywhere_changes_no_place_behind_it),
        FILM(every_place_of_the_golden_recordings_shows_what_feeding_shows),
        FILM(segments_and_tails_are_one_recording),
        FILM(a_recording_that_is_being_made_is_shown_to_its_last_record),
        FILM(seeking_is_work_that_can_be_stopped_anywhere),
        FILM(playing_on_shows_what_seeking_shows),
        FILM(a_step_is_the_next_output),
        FILM(a_gap_is_told_once),
        FILM(a_gap_that_was_not_asked_for_is_forgotten_by_a_seek),
        FILM(the_end_is_no_later_than_the_last_record),
        FILM(stamps_that_go_back_are_not_followed),
        FILM(offsets_do_not_go_past_the_last_one),
        FILM(the_extent_is_known_from_the_start),
        FILM(an_index_knows_every_snapshot),
        FILM(an_empty_recording_is_a_blank_screen),
        FILM(a_text_is_found_where_its_last_byte_is),
        FILM(a_line_that_is_painted_again_is_found_once),
        FILM(a_text_that_is_wrapped_or_scrolls_by_is_found),
        FILM(a_screen_full_of_the_text_is_searched),
        FILM(searching_is_work_that_leaves_the_place_alone),
        cmocka_unit_test(the_clock_runs_at_its_speed),
        cmocka_unit_test(the_clock_waits_until_the_next_record),
        cmocka_unit_test(a_pause_stops_the_clock),
        cmocka_unit_test(idle_stretches_are_cut_short),
    };
    return cmocka_run_group_tests_name("player", tests, NULL, NULL);
}
