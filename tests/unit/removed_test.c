/* SPDX-License-Identifier: MIT */
/*
 * removed_test.c -- somebody removes, replaces or cuts a recording's files while it is
 * being made.
 */
#include "support/kit.h"
#include "support/sim_disk.h"

#include <errno.h>
#include <fcntl.h>
#include <semaphore.h>
#include <stdio.h>
#include <sys/stat.h>
#include <unistd.h>

enum { BEFORE = 30, PATIENCE_MS = 20000 };

static struct kit_result res;

/* A recording in the making. */
struct take {
    struct tape_io *io;
    struct tape_writer *w;
    uint32_t next;  /* record */
    int told;       /* troubles with the file's name */
    char text[512]; /* … the last one */
    int other_troubles;
};

static void
take_begin(struct take *t, struct tape_io *io, const char *path, enum tape_sync sync)
{
    struct tape_writer_options opt = kit_options(sync);
    struct err err;
    *t = (struct take){ .io = io, .next = 1 };
    assert_int_equal(tape_writer_open(&t->w, io, path, &opt, &err), 0);
    kit_append(t->w, 1, BEFORE, NULL);
    t->next = BEFORE;
}

static void
hear(struct take *t)
{
    struct err trouble;
    while (tape_writer_trouble(t->w, &trouble)) {
        t->told += trouble.code == -ESTALE;
        t->other_troubles += trouble.code != -ESTALE;
        if (trouble.code == -ESTALE)
            snprintf(t->text, sizeof(t->text), "%s", trouble.text);
    }
}

/* Goes on recording until so many troubles were told. */
static void
go_on_until_told(struct take *t, int told)
{
    for (int i = 0; t->told < told && i < PATIENCE_MS; i++) {
        kit_append(t->w, t->next, t->next + 1, NULL);
        t->next++;
        usleep(1000);
        hear(t);
    }
    assert_int_equal(t->told, told);
}

static int
take_end(struct take *t, struct tape_writer_status *st, struct err *err)
{
    kit_append(t->w, t->next, t->next + 5, NULL);
    t->next += 5;
    hear(t);
    return tape_writer_finish(t->w, KIT_START, st, err);
}

static void
expect_whole(struct take *t, const char *path)
{
    kit_read(t->io, path, &res);
    assert_int_equal(res.count, t->next);
    assert_true(res.has_end);
    assert_int_equal(res.notes.damages, 0);
    kit_release(&res);
}

static void
sim_drop(struct sim_disk *d, const char *path)
{
    assert_int_equal(d->io.ops->unlink(&d->io, path), 0);
}

static void
drop_tails(struct sim_disk *d)
{
    AUTO(buf) names = { 0 };
    d->io.ops->list(&d->io, KIT_PATH, &names);
    for (size_t at = 0; at < names.n; at += strlen((char *)names.p + at) + 1) {
        char path[4096];
        snprintf(path, sizeof(path), KIT_PATH "%s", (char *)names.p + at);
        d->io.ops->unlink(&d->io, path);
    }
}

static const enum tape_sync policies[] = { TAPE_SYNC_NONE, TAPE_SYNC_INTERVAL,
                                           TAPE_SYNC_BLOCK, TAPE_SYNC_ALWAYS };
enum { POLICIES = sizeof(policies) / sizeof(policies[0]) };

static void
a_removed_recording_is_made_again(void **state)
{
    (void)state;
    for (int p = 0; p < POLICIES; p++) {
        struct sim_disk d;
        struct take t;
        struct tape_writer_status st;
        struct err err;
        sim_init(&d);
        take_begin(&t, &d.io, KIT_PATH, policies[p]);
        for (int times = 1; times <= 3; times++) {
            sim_drop(&d, KIT_PATH);
            if (times == 2)
                drop_tails(&d);
            go_on_until_told(&t, times);
            assert_non_null(strstr(t.text, "'" KIT_PATH "' was removed or moved away; "
                                           "made again"));
        }
        assert_int_equal(take_end(&t, &st, &err), 0);
        assert_int_equal(t.told, 3);
        assert_int_equal(t.other_troubles, 0);
        assert_int_equal(st.trouble.code, 0);
        assert_false(st.is_suspect);
        expect_whole(&t, KIT_PATH);
        assert_int_equal(sim_count_files(&d), 1);
        sim_release(&d);
    }
}

static void
a_recording_removed_just_before_its_end_is_made_again(void **state)
{
    (void)state;
    for (int p = 0; p < POLICIES; p++) {
        struct sim_disk d;
        struct take t;
        struct tape_writer_options opt = kit_options(policies[p]);
        struct tape_writer_status st;
        struct err err;
        opt.sync_ns = UINT64_C(3600000000000); /* nobody looks before the end */
        sim_init(&d);
        t = (struct take){ .io = &d.io, .next = BEFORE };
        assert_int_equal(tape_writer_open(&t.w, t.io, KIT_PATH, &opt, &err), 0);
        kit_append(t.w, 1, BEFORE, NULL);
        sim_drop(&d, KIT_PATH);
        int r = take_end(&t, &st, &err);
        assert_int_equal(r, 0);
        if (policies[p] < TAPE_SYNC_BLOCK) { /* with the others each sync looks */
            assert_int_equal(st.trouble.code, -ESTALE);
            assert_non_null(strstr(st.trouble.text, "made again"));
        }
        expect_whole(&t, KIT_PATH);
        sim_release(&d);
    }
}

static void
a_file_that_took_its_name_is_left_alone(void **state)
{
    (void)state;
    static const struct view diary = { (const uint8_t *)"a diary", 7 };
    for (int p = 0; p < POLICIES; p++) {
        struct sim_disk d;
        struct take t;
        struct tape_writer_status st;
        struct err err;
        sim_init(&d);
        sim_put(&d, KIT_PATH ".kept", diary); /* this name is somebody's, too */
        take_begin(&t, &d.io, KIT_PATH, policies[p]);
        sim_put(&d, KIT_PATH, diary);
        go_on_until_told(&t, 1);
        assert_non_null(strstr(t.text, "'" KIT_PATH "' was replaced by another file; "
                                       "the recording goes on as '" KIT_PATH ".kept-2'"));
        /* Ours of that name is let go of first: nobody can look and remove at once. */
        for (int i = 0; sim_file(&d, KIT_PATH ".tail-0").n && i < PATIENCE_MS; i++)
            usleep(1000);
        sim_put(&d, KIT_PATH ".tail-0", diary);
        assert_int_equal(take_end(&t, &st, &err), -ESTALE);
        assert_non_null(strstr(err.text, KIT_PATH ".kept-2"));
        assert_int_equal(t.told, 1);
        assert_int_equal(t.other_troubles, 0);
        expect_whole(&t, KIT_PATH ".kept-2");
        assert_int_equal(sim_file(&d, KIT_PATH).n, diary.n);
        assert_int_equal(sim_file(&d, KIT_PATH ".kept").n, diary.n);
        assert_int_equal(sim_file(&d, KIT_PATH ".tail-0").n, diary.n);
        assert_int_equal(sim_count_files(&d), 4);
        sim_release(&d);
    }
}

/* What is acknowledged is in a file that has a name, soon after the old one lost its. */
static void
a_removed_tail_is_made_up_for(void **state)
{
    (void)state;
    struct sim_disk d;
    struct take t;
    struct tape_writer_options opt = kit_options(TAPE_SYNC_NONE);
    struct tape_writer_status st;
    struct err err;
    opt.block_bytes = 4 << 20;
    sim_init(&d);
    t = (struct take){ .io = &d.io, .next = BEFORE };
    assert_int_equal(tape_writer_open(&t.w, t.io, KIT_PATH, &opt, &err), 0);
    kit_append(t.w, 1, BEFORE, NULL);
    sim_drop(&d, KIT_PATH ".tail-0");
    for (int i = 0; i < PATIENCE_MS; i++) {
        kit_read(&d.io, KIT_PATH, &res);
        kit_release(&res);
        if (res.count == t.next)
            break;
        usleep(1000);
        kit_append(t.w, t.next, t.next + 1, NULL);
        t.next++;
    }
    assert_int_equal(res.count, t.next);
    assert_int_equal(take_end(&t, &st, &err), 0);
    assert_int_equal(t.told + t.other_troubles, 0);
    expect_whole(&t, KIT_PATH);
    assert_int_equal(sim_count_files(&d), 1);
    sim_release(&d);
}

static void
a_cut_recording_is_told_and_its_rest_is_readable(void **state)
{
    (void)state;
    struct sim_disk d;
    struct take t;
    struct tape_writer_status st;
    struct err err;
    sim_init(&d);
    take_begin(&t, &d.io, KIT_PATH, TAPE_SYNC_INTERVAL);
    while (sim_file(&d, KIT_PATH).n < 3000) {
        kit_append(t.w, t.next, t.next + 1, NULL);
        t.next++;
    }
    int fd = d.io.ops->open(&d.io, KIT_PATH, TAPE_OPEN_WRITE);
    assert_int_equal(d.io.ops->truncate(&d.io, fd, 100), 0);
    d.io.ops->close(&d.io, fd);
    uint32_t cut_at = t.next;
    go_on_until_told(&t, 1);
    assert_non_null(strstr(t.text, "'" KIT_PATH "' was cut while it was being made"));
    assert_int_equal(take_end(&t, &st, &err), -ESTALE);
    assert_int_equal(t.told, 1);
    kit_read(&d.io, KIT_PATH, &res);
    assert_true(res.has_end);
    for (uint32_t i = cut_at; i < t.next; i++)
        assert_true(res.has[i]);
    kit_release(&res);
    sim_release(&d);
}

static void
a_full_disk_delays_the_rescue_until_there_is_room(void **state)
{
    (void)state;
    struct sim_disk d;
    struct take t;
    struct tape_writer_status st;
    struct err err;
    sim_init(&d);
    take_begin(&t, &d.io, KIT_PATH, TAPE_SYNC_INTERVAL);
    while (sim_file(&d, KIT_PATH).n < 3000) {
        kit_append(t.w, t.next, t.next + 1, NULL);
        t.next++;
    }
    d.capacity = 1;
    sim_drop(&d, KIT_PATH);
    go_on_until_told(&t, 1);
    assert_non_null(strstr(t.text, "make room"));
    assert_non_null(strstr(t.text, "No space left on device"));
    d.capacity = 0;
    go_on_until_told(&t, 2);
    assert_non_null(strstr(t.text, "made again"));
    assert_int_equal(take_end(&t, &st, &err), 0);
    assert_int_equal(st.dropped_bytes, 0);
    expect_whole(&t, KIT_PATH);
    sim_release(&d);
}

static void
wake(void *sem)
{
    sem_post(sem);
}

static void
a_loop_with_nothing_to_do_is_woken_to_hear_of_it(void **state)
{
    (void)state;
    struct sim_disk d;
    struct take t = { .io = &d.io, .next = BEFORE };
    struct tape_writer_options opt = kit_options(TAPE_SYNC_NONE);
    struct tape_writer_status st;
    struct err err;
    sem_t news;
    sem_init(&news, 0, 0);
    opt.on_news = wake;
    opt.news_ctx = &news;
    sim_init(&d);
    assert_int_equal(tape_writer_open(&t.w, t.io, KIT_PATH, &opt, &err), 0);
    hear(&t);
    sim_drop(&d, KIT_PATH);
    kit_append(t.w, 1, BEFORE, NULL);
    sem_wait(&news);
    hear(&t);
    assert_int_equal(t.told, 1);
    assert_int_equal(take_end(&t, &st, &err), 0);
    expect_whole(&t, KIT_PATH);
    sem_destroy(&news);
    sim_release(&d);
}

static void
what_was_made_again_survives_power_loss(void **state)
{
    (void)state;
    struct sim_disk d;
    struct take t;
    struct tape_writer_status st = { 0 };
    struct err err;
    sim_init(&d);
    take_begin(&t, &d.io, KIT_PATH, TAPE_SYNC_INTERVAL);
    sim_drop(&d, KIT_PATH);
    go_on_until_told(&t, 1);
    kit_append(t.w, t.next, t.next + 1, NULL);
    t.next++;
    tape_writer_status(t.w, &st);
    for (int i = 0; st.synced_byte_off < st.byte_off && i < PATIENCE_MS; i++) {
        usleep(1000);
        tape_writer_status(t.w, &st);
    }
    d.fault = SIM_POWER;
    d.at_call = d.calls + 1;
    tape_writer_finish(t.w, KIT_START, &st, &err);
    sim_power_cut(&d, 0);
    assert_int_equal(kit_contiguous(&d.io, KIT_PATH), st.byte_off);
    sim_release(&d);
}

/* One call after the removal fails, then the disk works again: nothing is lost. */
static void
a_rescue_survives_each_call_failing_once(void **state)
{
    (void)state;
    static const int errors[] = { -EIO, -ENOSPC, -EINTR };
    for (size_t e = 0; e < sizeof(errors) / sizeof(errors[0]); e++)
        for (int p = 0; p < POLICIES; p++)
            for (int n = 1; n < kit_times(40, 120); n++) {
                struct sim_disk d;
                struct take t;
                struct tape_writer_status st;
                struct err err;
                sim_init(&d);
                take_begin(&t, &d.io, KIT_PATH, policies[p]);
                sim_drop(&d, KIT_PATH);
                d.error = errors[e];
                d.at_call = d.calls + n;
                d.fault = SIM_ERROR;
                for (int i = 0; i < 10; i++, t.next++) {
                    kit_append(t.w, t.next, t.next + 1, NULL);
                    usleep(100);
                }
                int r = take_end(&t, &st, &err);
                sim_heal(&d);
                if (r == -ESTALE) /* it was the last attempt */
                    assert_non_null(strstr(err.text, "could not be made again"));
                else /* at worst its segments are not joined */
                    expect_whole(&t, KIT_PATH);
                sim_release(&d);
            }
}

static void
a_rescue_that_never_works_is_told_and_ends(void **state)
{
    (void)state;
    for (int n = 1; n < 30; n++) {
        struct sim_disk d;
        struct take t;
        struct tape_writer_status st;
        struct err err;
        sim_init(&d);
        take_begin(&t, &d.io, KIT_PATH, TAPE_SYNC_INTERVAL);
        sim_drop(&d, KIT_PATH);
        d.error = -EIO;
        d.is_forever = true;
        d.at_call = d.calls + n;
        d.fault = SIM_ERROR;
        for (int i = 0; i < 10; i++, t.next++) {
            kit_append(t.w, t.next, t.next + 1, NULL);
            usleep(100);
        }
        int r = take_end(&t, &st, &err);
        sim_heal(&d);
        if (r < 0)
            assert_non_null(strstr(err.text, KIT_PATH));
        else
            expect_whole(&t, KIT_PATH);
        sim_release(&d);
    }
}

/* -- copying takes turns with other work -- */

static const struct tape_io_ops *under;
static sem_t begun, reads;
static int old_fd = -1, blocks_meanwhile;

static ssize_t
waiting_read(struct tape_io *io, int fd, void *p, size_t n, uint64_t off)
{
    old_fd = fd;
    if (!off) {
        sem_post(&begun);
        sem_wait(&reads);
    }
    return under->read(io, fd, p, n, off);
}

static ssize_t
counting_write(struct tape_io *io, int fd, const void *p, size_t n, uint64_t off)
{
    blocks_meanwhile += fd == old_fd;
    return under->write(io, fd, p, n, off);
}

static void
blocks_are_written_while_a_long_recording_is_made_again(void **state)
{
    (void)state;
    enum { PIECE = 1 << 20, PIECES = 20 };
    struct sim_disk d;
    struct tape_writer_options opt = kit_options(TAPE_SYNC_NONE);
    struct tape_writer *w;
    struct tape_writer_status st;
    struct err err;
    sim_init(&d);
    under = d.io.ops;
    struct tape_io_ops ops = *under;
    ops.read = waiting_read;
    ops.write = counting_write;
    d.io.ops = &ops;
    sem_init(&begun, 0, 0);
    sem_init(&reads, 0, 0);
    opt.patience_ns = UINT64_C(60000000000);
    assert_int_equal(tape_writer_open(&w, &d.io, KIT_PATH, &opt, &err), 0);
    uint8_t *piece = malloc(PIECE);
    for (int i = 0; i < PIECE; i++)
        piece[i] = (uint8_t)rand();
    struct tape_record rec = { .ts_ns = KIT_START, .bytes = { piece, PIECE } };
    for (int i = 0; i < PIECES; i++)
        assert_int_equal(tape_writer_append(w, rec), TAPE_SAVED);
    do
        tape_writer_status(w, &st);
    while (st.waiting_blocks);
    sim_drop(&d, KIT_PATH);
    rec.bytes.n = 2000; /* one block each */
    assert_int_equal(tape_writer_append(w, rec), TAPE_SAVED);
    sem_wait(&begun);
    for (int i = 0; i < 10; i++)
        assert_int_equal(tape_writer_append(w, rec), TAPE_SAVED);
    sem_post(&reads);
    assert_int_equal(tape_writer_finish(w, KIT_START, &st, &err), 0);
    assert_true(blocks_meanwhile >= 10);
    d.io.ops = under;
    assert_int_equal(kit_contiguous(&d.io, KIT_PATH), st.byte_off);
    sem_destroy(&begun);
    sem_destroy(&reads);
    free(piece);
    sim_release(&d);
}

/* -- real files -- */

static void
remove_folder(const char *dir)
{
    kit_remove_dir(strdup(dir));
}

/* At once, whatever is made in it meanwhile. */
static void
take_folder(const char *dir)
{
    char away[4200];
    snprintf(away, sizeof(away), "%s.away", dir);
    assert_int_equal(rename(dir, away), 0);
    remove_folder(away);
}

static void
a_removed_folder_is_made_again(void **state)
{
    (void)state;
    for (int p = 0; p < POLICIES; p++) {
        char *dir = kit_make_dir(), sub[4096], path[4200];
        struct take t;
        struct tape_writer_status st;
        struct err err;
        struct stat info;
        snprintf(sub, sizeof(sub), "%s/sub", dir);
        snprintf(path, sizeof(path), "%s/x.ahr", sub);
        assert_int_equal(mkdir(sub, 0700), 0);
        take_begin(&t, tape_io_files(), path, policies[p]);
        take_folder(sub);
        go_on_until_told(&t, 1);
        assert_non_null(strstr(t.text, "made again"));
        assert_int_equal(stat(sub, &info), 0);
        assert_int_equal(info.st_mode & 07777, 0700);
        assert_int_equal(take_end(&t, &st, &err), 0);
        assert_int_equal(t.told, 1);
        assert_int_equal(t.other_troubles, 0);
        expect_whole(&t, path);
        remove_folder(sub);
        kit_remove_dir(dir);
    }
}

static void
a_folder_that_cannot_be_made_again_is_told_once(void **state)
{
    (void)state;
    char *dir = kit_make_dir(), sub[4096], file[4096], path[4200];
    struct take t;
    struct tape_writer_status st;
    struct err err;
    snprintf(sub, sizeof(sub), "%s/sub", dir);
    snprintf(file, sizeof(file), "%s/file", dir);
    snprintf(path, sizeof(path), "%s/x.ahr", sub);
    assert_int_equal(mkdir(sub, 0700), 0);
    take_begin(&t, tape_io_files(), path, TAPE_SYNC_INTERVAL);
    close(open(file, O_CREAT | O_WRONLY, 0600));
    assert_int_equal(renameat2(AT_FDCWD, sub, AT_FDCWD, file, RENAME_EXCHANGE), 0);
    remove_folder(file);
    go_on_until_told(&t, 1);
    assert_non_null(strstr(t.text, "make room, or its folder again"));
    for (int i = 0; i < 20; i++, t.next++) {
        usleep(1000);
        kit_append(t.w, t.next, t.next + 1, NULL);
    }
    hear(&t);
    assert_int_equal(t.told, 1);
    assert_int_equal(unlink(sub), 0); /* the way is free again */
    go_on_until_told(&t, 2);
    assert_int_equal(take_end(&t, &st, &err), 0);
    expect_whole(&t, path);
    remove_folder(sub);
    kit_remove_dir(dir);
}

int
main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_removed_recording_is_made_again),
        cmocka_unit_test(a_recording_removed_just_before_its_end_is_made_again),
        cmocka_unit_test(a_file_that_took_its_name_is_left_alone),
        cmocka_unit_test(a_removed_tail_is_made_up_for),
        cmocka_unit_test(a_cut_recording_is_told_and_its_rest_is_readable),
        cmocka_unit_test(a_full_disk_delays_the_rescue_until_there_is_room),
        cmocka_unit_test(a_loop_with_nothing_to_do_is_woken_to_hear_of_it),
        cmocka_unit_test(what_was_made_again_survives_power_loss),
        cmocka_unit_test(a_rescue_survives_each_call_failing_once),
        cmocka_unit_test(a_rescue_that_never_works_is_told_and_ends),
        cmocka_unit_test(blocks_are_written_while_a_long_recording_is_made_again),
        cmocka_unit_test(a_removed_folder_is_made_again),
        cmocka_unit_test(a_folder_that_cannot_be_made_again_is_told_once),
    };
    return cmocka_run_group_tests_name("removed", tests, NULL, NULL);
}
