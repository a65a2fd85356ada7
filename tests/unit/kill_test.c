/* SPDX-License-Identifier: MIT */
/*
 * kill_test.c -- SIGKILL for the writer and for repair, at random instants and at each
 * call that changes the disk. Every record whose append returned comes back, byte for
 * byte.
 */
#include "support/kit.h"

#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

static struct kit_result res;

/* What the child tells before it dies. */
struct ack {
    volatile uint32_t begun;
    volatile uint32_t last; /* the latest record whose append said SAVED */
};

static struct ack *ack;

/* -- a file system that kills us -- */

struct knife {
    struct tape_io io;
    int at_call; /* 0: never */
    int calls;
    bool is_half; /* a write gets half-way */
};

static struct knife knife;

static bool
falls(void)
{
    return __atomic_add_fetch(&knife.calls, 1, __ATOMIC_SEQ_CST) == knife.at_call;
}

static void
die(void)
{
    kill(getpid(), SIGKILL);
    pause();
}

static const struct tape_io_ops *
real(void)
{
    return tape_io_files()->ops;
}

static int
knife_open(struct tape_io *io, const char *path, enum tape_open how)
{
    if (how == TAPE_OPEN_CREATE && falls())
        die();
    return real()->open(io, path, how);
}

static ssize_t
knife_write(struct tape_io *io, int fd, const void *p, size_t n, uint64_t off)
{
    if (falls()) {
        if (knife.is_half)
            real()->write(io, fd, p, n / 2, off);
        die();
    }
    return real()->write(io, fd, p, n, off);
}

static int
knife_sync(struct tape_io *io, int fd)
{
    if (falls())
        die();
    return real()->sync(io, fd);
}

static int
knife_sync_dir(struct tape_io *io, const char *path)
{
    if (falls())
        die();
    return real()->sync_dir(io, path);
}

static int
knife_truncate(struct tape_io *io, int fd, uint64_t size)
{
    if (falls())
        die();
    return real()->truncate(io, fd, size);
}

static int
knife_rename(struct tape_io *io, const char *from, const char *to)
{
    if (falls())
        die();
    return real()->rename(io, from, to);
}

static int
knife_unlink(struct tape_io *io, const char *path)
{
    if (falls())
        die();
    return real()->unlink(io, path);
}

static struct tape_io *
knife_io(int at_call, bool is_half)
{
    static struct tape_io_ops ops;
    ops = *real();
    ops.open = knife_open;
    ops.write = knife_write;
    ops.sync = knife_sync;
    ops.sync_dir = knife_sync_dir;
    ops.truncate = knife_truncate;
    ops.rename = knife_rename;
    ops.unlink = knife_unlink;
    knife = (struct knife){ .io = { &ops }, .at_call = at_call, .is_half = is_half };
    return &knife.io;
}

/* -- the victims -- */

static void
write_until_killed(struct tape_io *io, const char *path, enum tape_sync sync,
                   uint32_t count)
{
    struct tape_writer_options opt = kit_options(sync);
    struct tape_writer *w;
    struct tape_writer_status st;
    struct err err;
    uint8_t room[KIT_DATA_MAX];
    if (tape_writer_open(&w, io, path, &opt, &err) < 0)
        _exit(1);
    ack->begun = 1;
    for (uint32_t i = 1; i < count; i++)
        if (tape_writer_append(w, kit_record(i, room)) == TAPE_SAVED)
            ack->last = i;
    _exit(tape_writer_finish(w, KIT_START, &st, &err) == 0 ? 0 : 2);
}

/* True when the child came to its own end. */
static bool
reap(pid_t pid)
{
    int status;
    assert_int_equal(waitpid(pid, &status, 0), pid);
    if (WIFSIGNALED(status)) {
        assert_int_equal(WTERMSIG(status), SIGKILL);
        return false;
    }
    assert_int_equal(WEXITSTATUS(status), 0);
    return true;
}

static pid_t
fork_repair(struct tape_io *io, const char *path)
{
    pid_t pid = fork();
    if (pid == 0) {
        struct tape_repair_report report;
        int r = kit_repair(io, path, &report);
        _exit(r == 0 || r == ERR_MISSING ? 0 : 1);
    }
    return pid;
}

static void
kill_after(pid_t pid, unsigned usec)
{
    usleep(usec);
    kill(pid, SIGKILL);
}

static void
expect_acked(const char *path)
{
    kit_release(&res);
    kit_read(tape_io_files(), path, &res);
    if (!ack->begun)
        return;
    if (res.count <= ack->last)
        fail_msg("%u records were acknowledged, %u came back", ack->last, res.count);
    assert_true(kit_is_prefix(&res));
    assert_int_equal(res.notes.damages, 0);
}

static void
slurp_file(const char *path, struct buf *b)
{
    int fd = real()->open(tape_io_files(), path, TAPE_OPEN_READ);
    if (fd < 0)
        return;
    ssize_t n;
    while (!buf_reserve(b, 65536) &&
           (n = real()->read(tape_io_files(), fd, b->p + b->n, 65536, b->n)) > 0)
        b->n += (size_t)n;
    real()->close(tape_io_files(), fd);
}

/* Repaired to the end: the same bytes again and again, and no other file is left. */
static void
expect_repaired(const char *path)
{
    struct tape_repair_report report;
    AUTO(buf) once = { 0 };
    AUTO(buf) again = { 0 };
    AUTO(buf) names = { 0 };
    int r = kit_repair(tape_io_files(), path, &report);
    assert_true(r == 0 || (r == ERR_MISSING && !ack->begun));
    if (r)
        return;
    slurp_file(path, &once);
    assert_int_equal(kit_repair(tape_io_files(), path, &report), 0);
    assert_false(report.is_changed);
    slurp_file(path, &again);
    assert_int_equal(once.n, again.n);
    if (once.n)
        assert_memory_equal(once.p, again.p, once.n);
    assert_int_equal(real()->list(tape_io_files(), path, &names), 0);
    assert_int_equal(names.n, 0);
}

static const enum tape_sync policies[] = { TAPE_SYNC_NONE, TAPE_SYNC_INTERVAL,
                                           TAPE_SYNC_BLOCK, TAPE_SYNC_ALWAYS };

static void
begin(char *path, size_t size, const char *dir)
{
    snprintf(path, size, "%s/x.ahr", dir);
    real()->unlink(tape_io_files(), path);
    ack->begun = ack->last = 0;
}

static void
killed_at_random_instants_loses_nothing(void **state)
{
    (void)state;
    char *dir = kit_make_dir(), path[4096];
    int times = getenv("AHR_TEST_KILLS") ? (int)strtol(getenv("AHR_TEST_KILLS"), NULL, 10)
                                         : kit_times(1000, 20000);
    unsigned seed = (unsigned)getpid();
    uint64_t acked = 0;
    for (int i = 0; i < times; i++) {
        begin(path, sizeof(path), dir);
        pid_t pid = fork();
        if (pid == 0)
            write_until_killed(tape_io_files(), path, policies[i % 4], KIT_RECORDS_MAX);
        while (!ack->begun)
            usleep(50);
        kill_after(pid, (unsigned)rand_r(&seed) % 4000);
        reap(pid);
        acked += ack->last;
        if (i % 2) { /* … and repair is killed, too */
            pid = fork_repair(tape_io_files(), path);
            kill_after(pid, (unsigned)rand_r(&seed) % 1000);
            reap(pid);
        }
        expect_acked(path);
        expect_repaired(path);
        expect_acked(path);
    }
    print_message("# %d kills, %llu records acknowledged and found again\n", times,
                  (unsigned long long)acked);
    kit_remove_dir(dir);
}

static void
killed_at_each_call_loses_nothing(void **state)
{
    (void)state;
    char *dir = kit_make_dir(), path[4096];
    int kills = 0;
    for (size_t p = 0; p < sizeof(policies) / sizeof(policies[0]); p++) {
        for (int half = 0; half < 2; half++) {
            bool is_done = false;
            for (int n = 1; !is_done; n += kit_stride(), kills++) {
                begin(path, sizeof(path), dir);
                pid_t pid = fork();
                if (pid == 0)
                    write_until_killed(knife_io(n, half), path, policies[p], 40);
                is_done = reap(pid);
                expect_acked(path);
                expect_repaired(path);
                expect_acked(path);
            }
        }
    }
    print_message("# %d kills\n", kills);
    kit_remove_dir(dir);
}

/* What a killed writer left, copied so that each try of repair starts from the same. */
static void
repair_killed_at_each_call_loses_nothing(void **state)
{
    (void)state;
    char *dir = kit_make_dir(), path[4096];
    int kills = 0;
    for (int victim = 20; victim < 110; victim += 15) {
        for (int half = 0; half < 2; half++) {
            bool is_done = false;
            for (int n = 1; !is_done; n += kit_stride(), kills++) {
                begin(path, sizeof(path), dir);
                pid_t pid = fork();
                if (pid == 0)
                    write_until_killed(knife_io(victim, true), path, TAPE_SYNC_BLOCK, 60);
                reap(pid);
                pid = fork_repair(knife_io(n, half), path);
                is_done = reap(pid);
                expect_acked(path);
                expect_repaired(path);
                expect_acked(path);
            }
        }
    }
    print_message("# %d kills\n", kills);
    kit_remove_dir(dir);
}

/* Two of them at once: one works, the other is told to wait. */
static void
two_repairs_at_once_do_not_disturb_each_other(void **state)
{
    (void)state;
    char *dir = kit_make_dir(), path[4096];
    for (int i = 0; i < 50; i++) {
        begin(path, sizeof(path), dir);
        pid_t pid = fork();
        if (pid == 0)
            write_until_killed(knife_io(60 + i, true), path, TAPE_SYNC_NONE, 100);
        reap(pid);
        pid_t both[2];
        for (int k = 0; k < 2; k++) {
            both[k] = fork();
            if (both[k] == 0) {
                struct tape_repair_report report;
                int r = kit_repair(tape_io_files(), path, &report);
                _exit(r == 0 || r == ERR_BUSY ? 0 : 1);
            }
        }
        reap(both[0]);
        reap(both[1]);
        expect_repaired(path);
        expect_acked(path);
    }
    kit_remove_dir(dir);
}

int
main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(killed_at_random_instants_loses_nothing),
        cmocka_unit_test(killed_at_each_call_loses_nothing),
        cmocka_unit_test(repair_killed_at_each_call_loses_nothing),
        cmocka_unit_test(two_repairs_at_once_do_not_disturb_each_other),
    };
    ack = mmap(NULL, sizeof(*ack), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1,
               0);
    if (ack == MAP_FAILED)
        return 1;
    int failed = cmocka_run_group_tests_name("kill", tests, NULL, NULL);
    kit_release(&res);
    return failed;
}
