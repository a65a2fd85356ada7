/* SPDX-License-Identifier: MIT */
/*
 * keyframes_test.c -- the file of keyframes: found again, and never believed over the
 * recording, whatever has become of either.
 */
#include "support/film.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/file.h"
#include "base/le.h"
#include "play/player_priv.h"
#include "tape/crc32c.h"

#define FRAMES "frames"

enum { MS = 1000000 };

static struct film film;

/* -- a file system on which files look old, or new, or all the same -- */

enum age { OLD, NEW, SAME, SAME_TICK };

static struct tape_io_ops ops;
static struct tape_io io = { &ops };
static enum age age;
static uint64_t tick_ns, same_ctime_ns;

static int
aged_identity(struct tape_io *self, int fd, struct tape_identity *ret)
{
    (void)self;
    int e = tape_io_files()->ops->identity(tape_io_files(), fd, ret);
    if (age == OLD) {
        ret->mtime_ns -= UINT64_C(10000000000);
        ret->ctime_ns -= UINT64_C(10000000000);
    } else if (age == SAME) {
        *ret = (struct tape_identity){ 1, 1, 1, 1, same_ctime_ns };
    } else if (age == SAME_TICK) { /* a moment ago, whatever was written since */
        *ret = (struct tape_identity){ 1, 1, 1, tick_ns, tick_ns };
    }
    return e;
}

/* Calls that have to do with the keyframes' file; each may fail. */
static int calls, fail_at, frames_fd = -1, new_fd = -1;
static bool is_for_ever, is_busy;

static bool
fails(void)
{
    calls++;
    return fail_at && (calls == fail_at || (is_for_ever && calls > fail_at));
}

static int
frames_open(struct tape_io *self, const char *path, enum tape_open how)
{
    (void)self;
    bool is_frames = strstr(path, FRAMES);
    if (is_frames && fails())
        return -EACCES;
    int fd = tape_io_files()->ops->open(tape_io_files(), path, how);
    if (is_frames && how == TAPE_OPEN_CREATE)
        new_fd = fd;
    else if (is_frames)
        frames_fd = fd;
    return fd;
}

static ssize_t
frames_read(struct tape_io *self, int fd, void *p, size_t n, uint64_t off)
{
    (void)self;
    if ((fd == frames_fd || fd == new_fd) && fails())
        return -EIO;
    return tape_io_files()->ops->read(tape_io_files(), fd, p, n, off);
}

static ssize_t
frames_write(struct tape_io *self, int fd, const void *p, size_t n, uint64_t off)
{
    (void)self;
    if (fails())
        return -ENOSPC;
    return tape_io_files()->ops->write(tape_io_files(), fd, p, n, off);
}

static int
frames_rename(struct tape_io *self, const char *from, const char *to)
{
    (void)self;
    return fails() ? -EROFS : tape_io_files()->ops->rename(tape_io_files(), from, to);
}

static int
frames_lock(struct tape_io *self, int fd, const char *path)
{
    (void)self;
    return fails() || is_busy ? -EBUSY
                              : tape_io_files()->ops->lock(tape_io_files(), fd, path);
}

static void
frames_close(struct tape_io *self, int fd)
{
    (void)self;
    frames_fd = fd == frames_fd ? -1 : frames_fd;
    new_fd = fd == new_fd ? -1 : new_fd;
    tape_io_files()->ops->close(tape_io_files(), fd);
}

static int
set_up(void **state)
{
    ops = *tape_io_files()->ops;
    ops.identity = aged_identity;
    ops.open = frames_open;
    ops.read = frames_read;
    ops.write = frames_write;
    ops.rename = frames_rename;
    ops.lock = frames_lock;
    ops.close = frames_close;
    age = OLD;
    same_ctime_ns = 1;
    is_busy = false;
    calls = fail_at = 0;
    frames_fd = new_fd = -1;
    return kit_enter_dir(state);
}

static int
tear_down(void **state)
{
    film_release(&film);
    return kit_leave_dir(state);
}

/* -- recordings and players -- */

static void
put(const char *path, struct view bytes)
{
    struct err err;
    assert_int_equal(file_replace(path, bytes, false, &err), 0);
}

/* A session on a small screen, so that its keyframes are few bytes. */
static void
small_film(char letter)
{
    film_size(&film, 0, 20, 4);
    for (int i = 0; i < 120; i++) {
        char text[64];
        snprintf(text, sizeof(text), "\033[3%dmline %d of %c%c%c\033[m\r\n", i % 8, i,
                 letter, letter, letter);
        film_text(&film, MS, text);
        if (i == 50)
            film_size(&film, MS, 12, 6);
        if (i % 30 == 20)
            film_snapshot(&film, (uint64_t)i, film.byte_off, "label");
        if (i % 9 == 8)
            film_cut(&film, false);
    }
    film_cut(&film, true);
}

static struct play_player *
open_small(const char *keyframes_path)
{
    struct play_options opt = { .keyframes_path = keyframes_path, .keyframe_bytes = 600 };
    struct play_player *p;
    struct err err;
    assert_int_equal(play_open(&p, &io, KIT_PATH, &opt, &err), 0);
    return p;
}

static void
make_frames(void)
{
    struct play_player *p = open_small(FRAMES);
    assert_int_equal(play_index(p), 0);
    assert_int_equal(play_work_all(p), 0);
    play_close(p);
}

enum { PLACES = 5 };
static struct term *wanted[PLACES];

static uint64_t
place(int i)
{
    return film.byte_off * (uint64_t)(i + 1) / PLACES - 3;
}

/* What feeding shows there; until forget(). */
static void
learn(void)
{
    for (int i = 0; i < PLACES; i++)
        wanted[i] = film_feed(tape_io_files(), KIT_PATH, place(i), UINT64_MAX);
}

static void
forget(void)
{
    for (int i = 0; i < PLACES; i++)
        term_free(wanted[i]);
}

static void
expect_places(struct play_player *p)
{
    for (int i = PLACES; i-- > 0;) {
        assert_int_equal(play_seek_byte(p, place(i)), 0);
        assert_int_equal(play_work_all(p), 0);
        film_expect(p, wanted[i], "byte", place(i));
    }
}

/* Opens a player that must show all places, and closes it. Returns how many keyframes it
 * found. */
static size_t
expect_right(void)
{
    struct play_player *p = open_small(FRAMES);
    size_t found = p->frames.count;
    expect_places(p);
    play_close(p);
    return found;
}

/* -- kept -- */

static void
keyframes_are_found_again(void **state)
{
    (void)state;
    struct stat st;
    small_film('x');
    put(KIT_PATH, film_bytes(&film));
    learn();
    mode_t old = umask(0);
    make_frames();
    umask(old);
    assert_int_equal(stat(FRAMES, &st), 0);
    assert_int_equal(st.st_mode & 07777, 0600);
    assert_int_equal(access(FRAMES ".new", F_OK), -1);
    struct play_player *p = open_small(FRAMES);
    assert_true(p->frames.count > 4 && p->frames.is_complete);
    assert_int_equal(play_snapshots(p)->count, 4);
    assert_int_equal(play_extent(p).total_bytes, film.byte_off);
    assert_int_equal(play_index(p), 0);
    assert_int_equal(play_work(p, 1), 0);
    expect_places(p);
    play_close(p);
    forget();
}

static void
keyframes_met_while_playing_are_kept_too(void **state)
{
    (void)state;
    small_film('x');
    put(KIT_PATH, film_bytes(&film));
    learn();
    struct play_player *p = open_small(FRAMES);
    assert_int_equal(play_advance(p, play_extent(p).duration_ns * 2 / 3, 100000), 0);
    size_t made = p->frames.count;
    play_close(p);
    p = open_small(FRAMES);
    assert_int_equal(p->frames.count, made);
    assert_false(p->frames.is_complete);
    expect_places(p);
    assert_int_equal(play_index(p), 0);
    assert_int_equal(play_work_all(p), 0);
    assert_int_equal(play_snapshots(p)->count, 4);
    assert_true(p->frames.is_complete && p->frames.count > made);
    play_close(p);
    forget();
}

static void
random_recordings_are_the_same_from_the_file(void **state)
{
    (void)state;
    for (uint32_t i = 0; i < (uint32_t)kit_times(6, 60); i++) {
        film_agent(&film, 500 + i, 60000);
        put(KIT_PATH, film_bytes(&film));
        learn();
        make_frames();
        assert_true(expect_right() > 5);
        forget();
        unlink(FRAMES);
        film_release(&film);
    }
}

/* -- damaged -- */

/* Whatever lies there as a file of keyframes. Puts a new one there again. */
static void
expect_right_with(struct view bytes)
{
    put(FRAMES, bytes);
    struct play_player *p = open_small(FRAMES);
    expect_places(p);
    free(p->frames.path); /* it shall not be made again */
    p->frames.path = NULL;
    play_close(p);
}

static void
a_file_that_is_cut_anywhere_shows_nothing_wrong(void **state)
{
    (void)state;
    struct buf bytes = { 0 };
    small_film('x');
    put(KIT_PATH, film_bytes(&film));
    learn();
    make_frames();
    assert_int_equal(file_slurp(FRAMES, &bytes), 0);
    for (size_t cut = 0; cut < bytes.n; cut += (size_t)kit_times(3, 1))
        expect_right_with((struct view){ bytes.p, cut });
    buf_release(&bytes);
    forget();
}

static void
a_file_that_is_flipped_anywhere_shows_nothing_wrong(void **state)
{
    (void)state;
    struct buf bytes = { 0 };
    small_film('x');
    put(KIT_PATH, film_bytes(&film));
    learn();
    make_frames();
    assert_int_equal(file_slurp(FRAMES, &bytes), 0);
    for (size_t bit = 0; bit < bytes.n * 8; bit += (size_t)kit_times(7, 1)) {
        bytes.p[bit / 8] ^= (uint8_t)(1 << bit % 8);
        expect_right_with((struct view){ bytes.p, bytes.n });
        bytes.p[bit / 8] ^= (uint8_t)(1 << bit % 8);
    }
    buf_release(&bytes);
    forget();
}

/* The file with other snapshots. */
static void
replace_snapshots(struct buf *file, const void *p, size_t n)
{
    enum { HEAD = 128, ENTRY = 112, PICTURE_AT = 88 };
    AUTO(buf) out = { .ceiling = SIZE_MAX };
    size_t at = HEAD + get_le32(file->p + 100) * ENTRY, old = get_le32(file->p + 104);
    for (size_t i = HEAD; i < at; i += ENTRY) {
        uint8_t *picture_at = file->p + i + PICTURE_AT;
        put_le64(picture_at, get_le64(picture_at) + n - old);
    }
    buf_append(&out, file->p, at);
    buf_append(&out, p, n);
    buf_append(&out, file->p + at + old, file->n - at - old);
    assert_int_equal(out.failed, 0);
    put_le32(out.p + 104, (uint32_t)n);
    put_le32(out.p + 108, tape_crc32c(0, out.p + HEAD, at + n - HEAD));
    put_le32(out.p + 124, tape_crc32c(0, out.p, 124));
    put(FRAMES, (struct view){ out.p, out.n });
}

static void
a_file_with_impossible_snapshots_is_as_if_it_were_not_there(void **state)
{
    (void)state;
    enum { SNAPSHOT = 38, TOO_MANY = (PLAY_EVENTS_MAX + 1) * SNAPSHOT };
    static const size_t sizes[] = { TOO_MANY, SNAPSHOT + 1 };
    uint8_t *snapshots = calloc(1, TOO_MANY);
    small_film('x');
    put(KIT_PATH, film_bytes(&film));
    learn();
    for (size_t i = 0; i < sizeof(sizes) / sizeof(sizes[0]); i++) {
        AUTO(buf) file = { 0 };
        unlink(FRAMES);
        make_frames();
        assert_int_equal(file_slurp(FRAMES, &file), 0);
        replace_snapshots(&file, snapshots, sizes[i]);
        struct play_player *p = open_small(FRAMES);
        assert_int_equal(p->frames.count, 0);
        assert_int_equal(play_snapshots(p)->count, 0);
        expect_places(p);
        assert_int_equal(play_index(p), 0);
        assert_int_equal(play_work_all(p), 0);
        assert_int_equal(play_snapshots(p)->count, 4);
        play_close(p);
    }
    free(snapshots);
    forget();
}

/* -- of another recording -- */

static void
replace_block(struct film *of, const struct film *by, size_t i)
{
    size_t end = i + 1 < of->blocks ? of->starts[i + 1] : of->file.n;
    size_t n = end - of->starts[i];
    size_t by_end = i + 1 < by->blocks ? by->starts[i + 1] : by->file.n;
    if (by_end - by->starts[i] == n)
        memcpy(of->file.p + of->starts[i], by->file.p + by->starts[i], n);
}

/* The same session with other letters, in the first blocks: each as long as it was. */
static void
make_twin(size_t blocks)
{
    struct film first = film;
    size_t changed = 0;
    AUTO(buf) old = { 0 };
    assert_int_equal(buf_append(&old, film.file.p, film.file.n), 0);
    film = (struct film){ 0 };
    for (char letter = '!'; letter < 'x'; letter++) {
        small_film(letter);
        for (size_t i = 0; i < blocks; i++)
            replace_block(&first, &film, i);
        buf_release(&film.file);
        buf_release(&film.records);
        film = (struct film){ 0 };
    }
    film = first;
    for (size_t i = 0; i < blocks; i++)
        changed += memcmp(film.file.p + film.starts[i], old.p + film.starts[i], 44) != 0;
    assert_true(changed > blocks / 2);
}

static void
a_recording_that_was_replaced_is_not_shown_by_the_old_keyframes(void **state)
{
    (void)state;
    static const enum age ages[] = { OLD, NEW, SAME };
    for (size_t i = 0; i < 3; i++) {
        age = ages[i];
        unlink(FRAMES);
        small_film('x');
        put(KIT_PATH, film_bytes(&film));
        make_frames();
        make_twin(film.blocks);
        put(KIT_PATH, film_bytes(&film));
        learn();
        size_t found = expect_right();
        if (age != SAME) /* where nothing tells, each block does */
            assert_int_equal(found, 0);
        assert_true(expect_right() > 4); /* those of the new one */
        forget();
        film_release(&film);
    }
}

/* One that was changed in place, within a tick of the clock of when it was read: nothing
 * but its blocks tells. Only the first one is another. */
static void
a_fresh_recording_is_held_against_its_headers(void **state)
{
    (void)state;
    struct clock now;
    clock_start(&now);
    tick_ns = now.real_ns;
    age = SAME_TICK;
    small_film('x');
    put(KIT_PATH, film_bytes(&film));
    make_frames();
    make_twin(1);
    put(KIT_PATH, film_bytes(&film));
    learn();
    assert_int_equal(expect_right(), 0);
    forget();
}

/* Whoever changes a file in place can set its other times back, but not this one. */
static void
a_recording_with_another_change_time_is_held_against_its_headers(void **state)
{
    (void)state;
    age = SAME;
    small_film('x');
    put(KIT_PATH, film_bytes(&film));
    make_frames();
    make_twin(1);
    put(KIT_PATH, film_bytes(&film));
    learn();
    same_ctime_ns = 2;
    assert_int_equal(expect_right(), 0);
    forget();
}

static void
a_copy_of_a_recording_is_known_by_its_headers(void **state)
{
    (void)state;
    small_film('x');
    put(KIT_PATH, film_bytes(&film));
    learn();
    make_frames();
    put(KIT_PATH, film_bytes(&film)); /* another file with the same bytes */
    struct play_player *p = open_small(FRAMES);
    assert_true(p->frames.count > 4 && p->frames.is_complete);
    assert_int_equal(play_snapshots(p)->count, 4);
    expect_places(p);
    play_close(p);
    forget();
}

static void
a_recording_that_has_grown_keeps_its_first_keyframes(void **state)
{
    (void)state;
    small_film('x');
    put(KIT_PATH, (struct view){ film.file.p, film.starts[film.blocks / 2] });
    make_frames();
    put(KIT_PATH, film_bytes(&film));
    learn();
    struct play_player *p = open_small(FRAMES);
    size_t kept = p->frames.count, snapshots = play_snapshots(p)->count;
    assert_true(kept > 2 && !p->frames.is_complete && snapshots < 4);
    expect_places(p);
    assert_int_equal(play_index(p), 0);
    assert_int_equal(play_work_all(p), 0);
    assert_int_equal(play_snapshots(p)->count, 4);
    play_close(p);
    assert_true(expect_right() > kept);
    forget();
}

/* Those behind the last keyframe are met again when the recording is gone through. */
static void
a_recording_that_has_grown_has_each_snapshot_once(void **state)
{
    (void)state;
    enum { SNAPSHOTS = 120 };
    film_size(&film, 0, 20, 4);
    for (uint64_t i = 0; i < SNAPSHOTS; i++) {
        film_text(&film, MS, "some line\r\n");
        film_snapshot(&film, i, film.byte_off, "label");
        if (i % 9 == 8)
            film_cut(&film, false);
    }
    film_cut(&film, true);
    for (size_t blocks = 2; blocks < film.blocks; blocks++) {
        unlink(FRAMES);
        put(KIT_PATH, (struct view){ film.file.p, film.starts[blocks] });
        make_frames();
        put(KIT_PATH, film_bytes(&film));
        struct play_player *p = open_small(FRAMES);
        assert_int_equal(play_index(p), 0);
        assert_int_equal(play_work_all(p), 0);
        assert_int_equal(play_snapshots(p)->count, SNAPSHOTS);
        for (size_t i = 0; i < SNAPSHOTS; i++)
            assert_int_equal(play_events_at(play_snapshots(p), i).id, i);
        play_close(p);
    }
}

static void
keyframes_of_another_version_are_made_anew(void **state)
{
    (void)state;
    AUTO(buf) file = { 0 };
    small_film('x');
    put(KIT_PATH, film_bytes(&film));
    learn();
    make_frames();
    assert_true(expect_right() > 4);
    assert_int_equal(file_slurp(FRAMES, &file), 0);
    file.p[8] ^= 1; /* the model's; the header is whole */
    put_le32(file.p + 124, tape_crc32c(0, file.p, 124));
    put(FRAMES, (struct view){ file.p, file.n });
    assert_int_equal(expect_right(), 0);
    make_frames();
    assert_true(expect_right() > 4);
    forget();
}

static void
other_sizes_at_the_start_have_other_pictures(void **state)
{
    (void)state;
    struct play_options opt = { .keyframes_path = FRAMES, .keyframe_bytes = 600 };
    struct err err;
    for (int i = 0; i < 200; i++) {
        film_text(&film, MS, "this line is longer than sixteen columns\r\n");
        if (i % 9 == 0)
            film_cut(&film, false);
    }
    film_cut(&film, true);
    put(KIT_PATH, film_bytes(&film));
    make_frames();
    struct play_player *p;
    opt.cols = 16;
    assert_int_equal(play_open(&p, &io, KIT_PATH, &opt, &err), 0);
    assert_int_equal(p->frames.count, 0);
    assert_int_equal(play_seek_byte(p, film.byte_off / 2), 0);
    assert_int_equal(play_work_all(p), 0);
    assert_int_equal(term_cols(play_term(p)), 16);
    play_close(p);
}

/* -- more than one, and failures -- */

static void
two_players_at_once_do_no_harm(void **state)
{
    (void)state;
    small_film('x');
    put(KIT_PATH, film_bytes(&film));
    learn();
    struct play_player *a = open_small(FRAMES), *b = open_small(FRAMES);
    assert_int_equal(play_index(a), 0);
    assert_int_equal(play_index(b), 0);
    while (play_work(a, 100) + play_work(b, 150) > 0)
        continue;
    expect_places(a);
    expect_places(b);
    play_close(a);
    expect_places(b);
    play_close(b);
    assert_true(expect_right() > 4);
    forget();
}

static void
what_a_killed_player_left_is_in_nobodys_way(void **state)
{
    (void)state;
    small_film('x');
    put(KIT_PATH, film_bytes(&film));
    learn();
    put(FRAMES ".new", (struct view){ (const uint8_t *)"half of it", 10 });
    /* While another one writes, this one does without. */
    int fd = open(FRAMES ".new", O_RDONLY | O_CLOEXEC);
    assert_int_equal(flock(fd, LOCK_EX | LOCK_NB), 0);
    make_frames();
    assert_int_equal(access(FRAMES, F_OK), -1);
    close(fd);
    make_frames();
    assert_int_equal(access(FRAMES ".new", F_OK), -1);
    assert_true(expect_right() > 4);
    forget();
}

/* The other one has come between our making the file and our locking it. */
static void
a_file_that_another_player_locks_first_is_left_to_it(void **state)
{
    (void)state;
    small_film('x');
    put(KIT_PATH, film_bytes(&film));
    learn();
    struct play_player *p = open_small(FRAMES);
    assert_int_equal(play_index(p), 0);
    is_busy = true;
    assert_int_equal(play_work_all(p), 0);
    assert_int_equal(access(FRAMES, F_OK), -1);
    assert_int_equal(access(FRAMES ".new", F_OK), 0);
    is_busy = false; /* it is gone: ours are not lost */
    play_close(p);
    assert_int_equal(access(FRAMES ".new", F_OK), -1);
    assert_true(expect_right() > 4);
    forget();
}

static void
whichever_call_fails_the_pictures_are_right(void **state)
{
    (void)state;
    small_film('x');
    put(KIT_PATH, film_bytes(&film));
    learn();
    for (int for_ever = 0; for_ever < 2; for_ever++) {
        is_for_ever = for_ever;
        int most = 1000;
        for (int at = 1; at <= most; at++) {
            unlink(FRAMES);
            for (int round = 0; round < 2; round++) { /* makes it, uses it */
                calls = 0;
                fail_at = at;
                struct play_player *p = open_small(FRAMES);
                assert_int_equal(play_index(p), 0);
                assert_int_equal(play_work_all(p), 0);
                expect_places(p);
                play_close(p);
                most = calls < at && round ? at : most;
            }
            fail_at = 0;
        }
        assert_in_range(most, 5, 999);
    }
    unlink(FRAMES ".new");
    forget();
}

/* -- ceilings -- */

static void
past_the_ceiling_there_are_fewer_and_the_pictures_are_right(void **state)
{
    (void)state;
    for (uint32_t i = 0; i < 4; i++) {
        film_agent(&film, 600 + i, 90000);
        put(KIT_PATH, film_bytes(&film));
        learn();
        struct play_player *p = open_small(NULL);
        if (i % 2)
            p->frames.bytes_max = 20000;
        else
            p->frames.count_max = 12;
        p->frames.sized_max = i < 2 ? 3 : 1000;
        assert_int_equal(play_index(p), 0);
        assert_int_equal(play_work_all(p), 0);
        assert_in_range(p->frames.count, 3, i % 2 ? 200 : 12);
        if (i < 2)
            assert_int_equal(p->frames.sized_count, 3);
        expect_places(p);
        play_close(p);
        forget();
        film_release(&film);
    }
}

#define IN_DIR(test) cmocka_unit_test_setup_teardown(test, set_up, tear_down)

int
main(void)
{
    const struct CMUnitTest tests[] = {
        IN_DIR(keyframes_are_found_again),
        IN_DIR(keyframes_met_while_playing_are_kept_too),
        IN_DIR(random_recordings_are_the_same_from_the_file),
        IN_DIR(a_file_that_is_cut_anywhere_shows_nothing_wrong),
        IN_DIR(a_file_that_is_flipped_anywhere_shows_nothing_wrong),
        IN_DIR(a_file_with_impossible_snapshots_is_as_if_it_were_not_there),
        IN_DIR(a_recording_that_was_replaced_is_not_shown_by_the_old_keyframes),
        IN_DIR(a_fresh_recording_is_held_against_its_headers),
        IN_DIR(a_recording_with_another_change_time_is_held_against_its_headers),
        IN_DIR(a_copy_of_a_recording_is_known_by_its_headers),
        IN_DIR(a_recording_that_has_grown_keeps_its_first_keyframes),
        IN_DIR(a_recording_that_has_grown_has_each_snapshot_once),
        IN_DIR(keyframes_of_another_version_are_made_anew),
        IN_DIR(other_sizes_at_the_start_have_other_pictures),
        IN_DIR(two_players_at_once_do_no_harm),
        IN_DIR(what_a_killed_player_left_is_in_nobodys_way),
        IN_DIR(a_file_that_another_player_locks_first_is_left_to_it),
        IN_DIR(whichever_call_fails_the_pictures_are_right),
        IN_DIR(past_the_ceiling_there_are_fewer_and_the_pictures_are_right),
    };
    return cmocka_run_group_tests_name("keyframes", tests, NULL, NULL);
}
