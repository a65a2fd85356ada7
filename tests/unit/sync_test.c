/* SPDX-License-Identifier: MIT */
/* sync_test.c -- syncs on demand: what a ticket that is done stands for. */
#include "support/kit.h"
#include "support/sim_disk.h"

#include <errno.h>
#include <semaphore.h>
#include <time.h>

#include "tape/names.h"

#define BESIDE "x.snapshots.jsonl"
#define HOUR   UINT64_C(3600000000000) /* patience: whoever needs it hangs */
#define HASTE  UINT64_C(300000000)     /* for ends on a dead disk, which take as long */
#define RETRY  UINT64_C(2000000000)    /* where a disk gets well again */

static struct kit_result res;
static struct buf beside[2]; /* what lose_power() found of these files */

/* A disk, a writer on it that syncs by itself but once an hour, and its news. */
struct rig {
    struct sim_disk d;
    struct tape_io_ops ops;
    const struct tape_io_ops *under;
    sem_t news, gate, at_gate; /* the last: a sync has come to it */
    _Atomic bool is_gated;     /* syncs wait for `gate` */
    _Atomic bool is_tail_refused;
    const char *_Atomic refused; /* writes that begin so fail */
    struct tape_writer_options opt;
    struct tape_writer *w;
};

static struct rig *
rig_of(struct tape_io *io)
{
    return (struct rig *)io; /* the disk is its first member, and its io that one's */
}

static int
gated_sync(struct tape_io *io, int fd)
{
    struct rig *g = rig_of(io);
    if (g->is_gated) {
        sem_post(&g->at_gate);
        sem_wait(&g->gate);
    }
    return g->under->sync(io, fd);
}

static ssize_t
picky_write(struct tape_io *io, int fd, const void *p, size_t n, uint64_t off)
{
    struct rig *g = rig_of(io);
    const char *refused = g->refused;
    bool is_refused = refused && n >= 4 && !memcmp(p, refused, 4);
    return is_refused ? -EIO : g->under->write(io, fd, p, n, off);
}

static int
picky_open(struct tape_io *io, const char *path, enum tape_open how)
{
    uint64_t ordinal;
    struct rig *g = rig_of(io);
    bool is_tail = !strncmp(path, KIT_PATH, strlen(KIT_PATH)) &&
                   tape_tail_suffix(path + strlen(KIT_PATH), &ordinal);
    return is_tail && g->is_tail_refused ? -EIO : g->under->open(io, path, how);
}

static void
post(void *ctx)
{
    sem_post(ctx);
}

static void
rig_open(struct rig *g, enum tape_sync sync, uint64_t patience_ns)
{
    struct err err;
    *g = (struct rig){ .opt = kit_options(sync) };
    sim_init(&g->d);
    sem_init(&g->news, 0, 0);
    sem_init(&g->gate, 0, 0);
    sem_init(&g->at_gate, 0, 0);
    g->under = g->d.io.ops;
    g->ops = *g->under;
    g->ops.open = picky_open;
    g->ops.sync = gated_sync;
    g->ops.write = picky_write;
    g->d.io.ops = &g->ops;
    g->opt.sync_ns = HOUR;
    g->opt.patience_ns = patience_ns;
    g->opt.on_news = post;
    g->opt.news_ctx = &g->news;
    assert_int_equal(tape_writer_open(&g->w, &g->d.io, KIT_PATH, &g->opt, &err), 0);
}

static void
rig_release(struct rig *g)
{
    sem_destroy(&g->news);
    sem_destroy(&g->gate);
    sem_destroy(&g->at_gate);
    sim_release(&g->d);
}

static void
wait_for(sem_t *sem)
{
    struct timespec until;
    clock_gettime(CLOCK_REALTIME, &until);
    until.tv_sec += 60;
    assert_int_equal(sem_timedwait(sem, &until), 0);
}

/* By news alone. */
static void
wait_for_ticket(struct rig *g, uint64_t ticket)
{
    while (tape_writer_synced(g->w) < ticket)
        wait_for(&g->news);
}

static int
finish(struct rig *g)
{
    struct tape_writer_status st;
    struct err err;
    return tape_writer_finish(g->w, KIT_START, &st, &err);
}

static void
set_fault(struct rig *g, enum sim_fault fault, bool is_forever)
{
    pthread_mutex_lock(&g->d.lock);
    g->d.fault = fault;
    g->d.error = -EIO;
    g->d.is_sync_only = true;
    g->d.is_forever = is_forever;
    g->d.at_call = 1;
    g->d.calls = 0;
    pthread_mutex_unlock(&g->d.lock);
}

static int
sync_calls(struct rig *g)
{
    pthread_mutex_lock(&g->d.lock);
    int calls = g->d.calls;
    pthread_mutex_unlock(&g->d.lock);
    return calls;
}

/* Reads what a disk has that loses power now, and all that was not synced with it. The
 * recording goes on and ends. */
static void
lose_power(struct rig *g)
{
    struct sim_disk left;
    sim_init(&left);
    pthread_mutex_lock(&g->d.lock);
    for (int i = 0; i < SIM_FILES; i++) {
        const struct sim_name *n = &g->d.durable[i];
        if (n->name)
            sim_put(&left, n->name,
                    (struct view){ n->node->durable.p, n->node->durable.n });
    }
    pthread_mutex_unlock(&g->d.lock);
    kit_release(&res);
    kit_read(&left.io, KIT_PATH, &res);
    for (int i = 0; i < 2; i++) {
        struct view v = sim_file(&left, i ? BESIDE "2" : BESIDE);
        buf_clear(&beside[i]);
        buf_append(&beside[i], v.p, v.n);
    }
    sim_release(&left);
    g->refused = NULL;
    g->is_tail_refused = false;
    assert_int_equal(finish(g), 0);
}

static const enum tape_sync policies[] = { TAPE_SYNC_INTERVAL, TAPE_SYNC_BLOCK,
                                           TAPE_SYNC_ALWAYS };
enum { POLICIES = sizeof(policies) / sizeof(policies[0]) };

static void
what_a_done_ticket_covers_survives_the_loss_of_power(void **state)
{
    (void)state;
    static const uint32_t counts[] = { 1, 2, 10, 60, 61 }; /* blocks have some ten */
    for (size_t p = 0; p < POLICIES; p++)
        for (size_t i = 0; i < sizeof(counts) / sizeof(counts[0]); i++) {
            struct rig g;
            rig_open(&g, policies[p], HOUR);
            kit_append(g.w, 1, counts[i], NULL);
            wait_for_ticket(&g, tape_writer_want_sync(g.w, -1));
            lose_power(&g);
            assert_int_equal(res.count, counts[i]);
            rig_release(&g);
        }
}

static void
tails_keep_what_cannot_be_written_to_the_recording(void **state)
{
    (void)state;
    for (size_t p = 0; p < POLICIES; p++) {
        struct rig g;
        rig_open(&g, policies[p], RETRY);
        g.refused = "AHRC";
        kit_append(g.w, 1, 100, NULL);
        wait_for_ticket(&g, tape_writer_want_sync(g.w, -1));
        lose_power(&g);
        assert_int_equal(res.count, 100);
        rig_release(&g);
    }
}

static void
the_recording_keeps_what_cannot_be_written_to_tails(void **state)
{
    (void)state;
    for (size_t p = 0; p < POLICIES; p++) {
        struct rig g;
        rig_open(&g, policies[p], RETRY);
        g.is_tail_refused = true;
        kit_append(g.w, 1, 100, NULL);
        wait_for_ticket(&g, tape_writer_want_sync(g.w, -1));
        lose_power(&g);
        assert_int_equal(res.count, 100);
        rig_release(&g);
    }
}

static void
all_that_ask_meanwhile_share_one_sync(void **state)
{
    (void)state;
    struct rig g;
    rig_open(&g, TAPE_SYNC_INTERVAL, HOUR);
    kit_append(g.w, 1, 5, NULL); /* no block is full */
    wait_for_ticket(&g, tape_writer_want_sync(g.w, -1));
    set_fault(&g, SIM_NONE, false); /* counts from here */
    g.is_gated = true;
    assert_int_equal(tape_writer_want_sync(g.w, -1), 2);
    uint64_t last = 0;
    for (uint32_t i = 5; i < 10; i++) {
        kit_append(g.w, i, i + 1, NULL);
        for (int k = 0; k < 10; k++)
            last = tape_writer_want_sync(g.w, -1);
    }
    assert_int_equal(last, 52);
    assert_int_equal(tape_writer_synced(g.w), 1);
    sem_post(&g.gate);
    sem_post(&g.gate);
    wait_for_ticket(&g, last);
    assert_in_range(sync_calls(&g), 1, 2); /* one, or the first had begun */
    for (int i = 0; i < 100; i++)
        sem_post(&g.gate);
    assert_int_equal(finish(&g), 0);
    rig_release(&g);
}

static void
who_asks_while_a_sync_runs_waits_for_the_next(void **state)
{
    (void)state;
    struct rig g;
    rig_open(&g, TAPE_SYNC_INTERVAL, HOUR);
    kit_append(g.w, 1, 5, NULL); /* no block is full */
    wait_for_ticket(&g, tape_writer_want_sync(g.w, -1));
    g.is_gated = true;
    uint64_t first = tape_writer_want_sync(g.w, -1);
    wait_for(&g.at_gate);
    kit_append(g.w, 5, 6, NULL);
    uint64_t second = tape_writer_want_sync(g.w, -1);
    sem_post(&g.gate);
    wait_for(&g.at_gate); /* the first one is over */
    assert_int_equal(tape_writer_synced(g.w), first);
    g.is_gated = false;
    sem_post(&g.gate);
    wait_for_ticket(&g, second);
    lose_power(&g);
    assert_int_equal(res.count, 6);
    rig_release(&g);
}

static void
a_file_beside_the_recording_is_synced_with_its_name(void **state)
{
    (void)state;
    struct rig g;
    int fds[2];
    rig_open(&g, TAPE_SYNC_INTERVAL, HOUR);
    kit_append(g.w, 1, 3, NULL);
    wait_for_ticket(&g, tape_writer_want_sync(g.w, -1)); /* no name is new */
    for (int i = 0; i < 2; i++) {
        fds[i] = g.ops.open(&g.d.io, i ? BESIDE "2" : BESIDE, TAPE_OPEN_CREATE);
        g.ops.write(&g.d.io, fds[i], "one\n", 4, 0);
    }
    tape_writer_want_sync(g.w, fds[0]);
    tape_writer_want_sync(g.w, fds[1]);
    wait_for_ticket(&g, tape_writer_want_sync(g.w, fds[0]));
    g.ops.write(&g.d.io, fds[0], "two\n", 4, 4);
    set_fault(&g, SIM_NONE, false);
    wait_for_ticket(&g, tape_writer_want_sync(g.w, fds[0]));
    assert_in_range(sync_calls(&g), 1, 2); /* its name is known; the open tail */
    g.ops.write(&g.d.io, fds[1], "three\n", 6, 4);
    lose_power(&g);
    assert_string_equal(buf_str(&beside[0]), "one\ntwo\n");
    assert_string_equal(buf_str(&beside[1]), "one\n");
    rig_release(&g);
}

static void
nobody_waits_for_a_disk_that_does_not_sync(void **state)
{
    (void)state;
    for (size_t p = 0; p < POLICIES; p++) {
        struct rig g;
        struct err err;
        rig_open(&g, policies[p], HOUR);
        set_fault(&g, SIM_ERROR, true);
        bool is_told = false;
        for (uint32_t i = 1; i < 100; i++) {
            kit_append(g.w, i, i + 1, NULL);
            wait_for_ticket(&g, tape_writer_want_sync(g.w, -1));
            is_told |= tape_writer_trouble(g.w, &err);
        }
        assert_true(is_told);
        assert_int_equal(err.code, -EIO);
        tape_writer_want_sync(g.w, -1);
        (void)finish(&g); /* segments cannot be joined */
        kit_release(&res);
        sim_heal(&g.d);
        kit_read(&g.d.io, KIT_PATH, &res);
        assert_true(kit_is_prefix(&res));
        assert_int_equal(res.count, 100);
        rig_release(&g);
    }
}

/* Each of the syncs fails once. Where the recording's or a queued tail's does, another
 * file has the records before the ticket is done; when the open tail's does, that is
 * told, and mended by the next one who asks. */
static void
a_sync_that_fails_once_is_told_and_made_up_for(void **state)
{
    (void)state;
    for (size_t p = 0; p < POLICIES; p++)
        for (int n = 1; n < 8; n++) {
            struct rig g;
            struct err err;
            rig_open(&g, policies[p], HOUR);
            set_fault(&g, SIM_ERROR, false);
            pthread_mutex_lock(&g.d.lock);
            g.d.at_call = n;
            pthread_mutex_unlock(&g.d.lock);
            kit_append(g.w, 1, 60, NULL);
            wait_for_ticket(&g, tape_writer_want_sync(g.w, -1));
            kit_append(g.w, 60, 65, NULL);
            wait_for_ticket(&g, tape_writer_want_sync(g.w, -1));
            bool is_told = tape_writer_trouble(g.w, &err);
            assert_int_equal(is_told, sync_calls(&g) >= n);
            if (is_told) { /* it may have been the last of them */
                kit_append(g.w, 65, 66, NULL);
                wait_for_ticket(&g, tape_writer_want_sync(g.w, -1));
            }
            lose_power(&g);
            assert_int_equal(res.count, 65 + is_told);
            rig_release(&g);
        }
}

static void
a_file_beside_that_fails_is_told(void **state)
{
    (void)state;
    struct rig g;
    struct err err;
    rig_open(&g, TAPE_SYNC_INTERVAL, HOUR);
    int fd = g.ops.open(&g.d.io, BESIDE, TAPE_OPEN_CREATE);
    wait_for_ticket(&g, tape_writer_want_sync(g.w, fd));
    assert_false(tape_writer_trouble(g.w, &err));
    pthread_mutex_lock(&g.d.lock);
    g.d.is_sync_only = true;
    g.d.fault = SIM_ERROR;
    g.d.error = -EIO;
    g.d.calls = 0;
    g.d.at_call = 2; /* after the open tail's */
    pthread_mutex_unlock(&g.d.lock);
    wait_for_ticket(&g, tape_writer_want_sync(g.w, fd));
    assert_true(tape_writer_trouble(g.w, &err));
    assert_string_equal(err.text,
                        "cannot sync a file beside '" KIT_PATH "': Input/output error");
    struct tape_writer_status st;
    tape_writer_status(g.w, &st);
    assert_false(st.is_suspect); /* the recording is not */
    assert_int_equal(finish(&g), 0);
    rig_release(&g);
}

static void
where_nothing_is_synced_tickets_are_done_at_once(void **state)
{
    (void)state;
    struct rig g;
    rig_open(&g, TAPE_SYNC_NONE, HOUR);
    set_fault(&g, SIM_NONE, false);
    kit_append(g.w, 1, 60, NULL);
    uint64_t ticket = tape_writer_want_sync(g.w, -1);
    assert_int_equal(tape_writer_synced(g.w), ticket);
    sem_wait(&g.news); /* told all the same */
    assert_int_equal(finish(&g), 0);
    assert_int_equal(sync_calls(&g), 0);
    rig_release(&g);
}

static void
the_end_includes_what_was_asked_for(void **state)
{
    (void)state;
    for (size_t p = 0; p < POLICIES; p++) {
        struct rig g;
        rig_open(&g, policies[p], HOUR);
        int fd = g.ops.open(&g.d.io, BESIDE, TAPE_OPEN_CREATE);
        g.ops.write(&g.d.io, fd, "one\n", 4, 0);
        kit_append(g.w, 1, 60, NULL);
        tape_writer_want_sync(g.w, fd);
        assert_int_equal(finish(&g), 0);
        sim_power_cut(&g.d, 0);
        assert_int_equal(sim_file(&g.d, BESIDE).n, 4);
        rig_release(&g);
    }
}

static void
the_end_does_not_wait_for_ever(void **state)
{
    (void)state;
    for (size_t p = 0; p < POLICIES; p++) {
        struct rig g;
        rig_open(&g, policies[p], HASTE);
        kit_append(g.w, 1, 60, NULL);
        pthread_mutex_lock(&g.d.lock);
        g.d.is_dead = true;
        pthread_mutex_unlock(&g.d.lock);
        kit_append(g.w, 60, 65, NULL);
        tape_writer_want_sync(g.w, -1);
        assert_true(finish(&g) < 0);
        rig_release(&g);
    }
}

int
main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(what_a_done_ticket_covers_survives_the_loss_of_power),
        cmocka_unit_test(tails_keep_what_cannot_be_written_to_the_recording),
        cmocka_unit_test(the_recording_keeps_what_cannot_be_written_to_tails),
        cmocka_unit_test(all_that_ask_meanwhile_share_one_sync),
        cmocka_unit_test(who_asks_while_a_sync_runs_waits_for_the_next),
        cmocka_unit_test(a_file_beside_the_recording_is_synced_with_its_name),
        cmocka_unit_test(nobody_waits_for_a_disk_that_does_not_sync),
        cmocka_unit_test(a_sync_that_fails_once_is_told_and_made_up_for),
        cmocka_unit_test(a_file_beside_that_fails_is_told),
        cmocka_unit_test(where_nothing_is_synced_tickets_are_done_at_once),
        cmocka_unit_test(the_end_includes_what_was_asked_for),
        cmocka_unit_test(the_end_does_not_wait_for_ever),
    };
    int r = cmocka_run_group_tests_name("sync", tests, NULL, NULL);
    kit_release(&res);
    buf_release(&beside[0]);
    buf_release(&beside[1]);
    return r;
}
