/* SPDX-License-Identifier: MIT */
/*
 * store_crowd_test.c -- many at one library.db: all get their turn, nobody sees half of
 * anything, and who dies takes nothing along.
 */
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <sys/file.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/clock.h"
#include "store/store_priv.h"
#include "support/rng.h"
#include "support/store_kit.h"

/* -- others -- */

/* A process that does `work` and ends with what it returns. */
static pid_t
start(int (*work)(int i), int i)
{
    pid_t parent = getpid(), pid = fork();
    assert_true(pid >= 0);
    if (pid == 0) /* none is left behind when another has failed */
        _exit(prctl(PR_SET_PDEATHSIG, SIGKILL) < 0 || getppid() != parent ? 9 : work(i));
    return pid;
}

static int
end_of(pid_t pid)
{
    int status = 0;
    assert_int_equal(waitpid(pid, &status, 0), pid);
    return status;
}

/* A byte in it: go on. */
static int gate[2];

static void
open_gate(void)
{
    assert_int_equal(write(gate[1], "x", 1), 1);
}

/* -- writing -- */

enum { WRITERS = 16, SESSIONS_EACH = 6, PIECES_EACH = 5 };

/* Whoever comes first makes the library. */
static int
write_some(int i)
{
    struct store *s = NULL;
    struct err err = { 0 };
    if (store_open(&s, STORE_KIT_DB, STORE_WRITE, 60000, &err) < 0)
        return fprintf(stderr, "# %s\n", err.text), 1;
    for (int k = 0; k < SESSIONS_EACH; k++)
        store_kit_put(s, i * SESSIONS_EACH + k, STORE_KIT_START, PIECES_EACH);
    store_close(s);
    return 0;
}

static int
read_some(int i)
{
    int seen = 0;
    (void)i;
    while (seen < WRITERS * SESSIONS_EACH * PIECES_EACH) {
        struct store *s = NULL;
        struct err err = { 0 };
        int r = store_open(&s, STORE_KIT_DB, STORE_READ, 60000, &err);
        if (r == ERR_MISSING)
            continue;
        if (r < 0)
            return fprintf(stderr, "# %s\n", err.text), 1;
        int n = store_kit_find(s, "616161", NULL, 0);
        store_close(s);
        if (n < seen || n % PIECES_EACH)
            return 2; /* half a session, or one less than before */
        seen = n;
    }
    return 0;
}

static void
many_write_and_read_at_once_and_nobody_is_turned_away(void **state)
{
    (void)state;
    pid_t pids[WRITERS + 2];
    for (int i = 0; i < WRITERS + 2; i++)
        pids[i] = start(i < WRITERS ? write_some : read_some, i);
    for (int i = 0; i < WRITERS + 2; i++)
        assert_int_equal(end_of(pids[i]), 0);
    struct store *s = store_kit_open(STORE_WRITE);
    AUTO(buf) ids = { 0 };
    store_kit_must(store_ids(s, &ids, NULL));
    assert_int_equal(ids.n / (STORE_ID_LEN + 1), WRITERS * SESSIONS_EACH);
    store_kit_must(store_check(s, NULL));
    store_close(s);
}

/* Waits for its turn to make it. */
static int
write_late(int i)
{
    open_gate();
    return write_some(i);
}

static void
made_by_another_it_is_not_waited_for_until_all_rest(void **state)
{
    (void)state;
    char c;
    struct store *s = store_kit_open(STORE_WRITE);
    store_close(s);
    assert_int_equal(rename(STORE_KIT_DB, "made"), 0);
    int reader = open(STORE_KIT_DB ".lock", O_RDWR | O_CLOEXEC);
    assert_int_equal(flock(reader, LOCK_SH), 0);
    assert_int_equal(pipe(gate), 0);
    pid_t pid = start(write_late, 0);
    assert_int_equal(read(gate[0], &c, 1), 1);
    poll(NULL, 0, 100); /* sooner, it would find it */
    assert_int_equal(rename("made", STORE_KIT_DB), 0);
    assert_int_equal(end_of(pid), 0);
    close(reader);
    close(gate[0]);
    close(gate[1]);
}

/* -- locked by others -- */

static int
lock_out(int i)
{
    sqlite3 *db = NULL;
    (void)i;
    if (sqlite3_open(STORE_KIT_DB, &db) != SQLITE_OK ||
        sqlite3_exec(db,
                     "PRAGMA locking_mode = EXCLUSIVE; BEGIN EXCLUSIVE;"
                     "UPDATE library SET changes = 0; COMMIT;",
                     NULL, NULL, NULL) != SQLITE_OK)
        return 1;
    open_gate();
    pause();
    return 0;
}

static void
one_that_another_program_has_locked_is_busy(void **state)
{
    (void)state;
    char c;
    struct err err = { 0 };
    struct store *s = store_kit_open(STORE_WRITE);
    store_kit_put(s, 1, STORE_KIT_START, 1);
    store_close(s);
    assert_int_equal(pipe(gate), 0);
    pid_t pid = start(lock_out, 0);
    assert_int_equal(read(gate[0], &c, 1), 1);
    uint64_t before = clock_mono_ns();
    assert_int_equal(store_open(&s, STORE_KIT_DB, STORE_READ, 60, &err), ERR_BUSY);
    assert_true(clock_mono_ns() - before >= UINT64_C(60000000));
    assert_non_null(strstr(err.text, "locked by another program"));
    assert_int_equal(store_open(&s, STORE_KIT_DB, STORE_WRITE, 0, &err), ERR_BUSY);
    kill(pid, SIGKILL);
    end_of(pid);
    s = store_kit_open(STORE_WRITE);
    assert_string_equal(store_kit_found(s, "616161", NULL, 0), "1.0 ");
    store_close(s);
    close(gate[0]);
    close(gate[1]);
}

static void
a_change_waits_for_another_and_says_when_it_cannot(void **state)
{
    (void)state;
    struct store *a = store_kit_open(STORE_WRITE), *b = NULL, *c = NULL;
    store_kit_put(a, 1, STORE_KIT_START, 1);
    store_kit_must(store_open(&b, STORE_KIT_DB, STORE_WRITE, 20, NULL));
    store_kit_must(store_open(&c, STORE_KIT_DB, STORE_READ, 20, NULL));
    store_kit_must(store_begin(a, NULL));
    store_kit_fill(a, 2, STORE_KIT_START + 1000000, 1);
    assert_int_equal(store_begin(b, NULL), ERR_BUSY);
    assert_string_equal(store_kit_found(c, "616161", NULL, 0), "1.0 ");
    store_kit_must(store_commit(a, NULL));
    assert_string_equal(store_kit_found(c, "616161", NULL, 0), "2.0 1.0 ");
    store_kit_put(b, 3, STORE_KIT_START + 2000000, 1);
    store_close(a);
    store_close(b);
    store_close(c);
}

static int
look_long(void *ctx, const struct store_piece *piece)
{
    struct err err = { 0 };
    (void)piece;
    assert_int_equal(store_scrub(ctx, &err), ERR_BUSY);
    return 0;
}

static void
a_scrub_says_when_others_read_for_too_long(void **state)
{
    (void)state;
    struct store *reader = store_kit_open(STORE_WRITE);
    struct store *writer = NULL;
    struct store_search all = { 0 };
    store_kit_put(reader, 1, STORE_KIT_START, 2);
    store_kit_must(store_open(&writer, STORE_KIT_DB, STORE_WRITE, 20, NULL));
    store_kit_must(store_pieces(reader, &all, look_long, writer, NULL));
    store_kit_must(store_scrub(writer, NULL));
    assert_int_equal(store_kit_find(reader, "616161", NULL, 0), 2);
    store_close(reader);
    store_close(writer);
}

/* -- the swap -- */

static void
a_swap_waits_for_those_who_have_the_old_one(void **state)
{
    (void)state;
    struct err err = { 0 };
    struct store *old = store_kit_open(STORE_WRITE), *beside = NULL, *s = NULL;
    store_kit_put(old, 1, STORE_KIT_START, 1);
    store_kit_must(store_new_beside(&beside, STORE_KIT_DB, NULL));
    assert_int_equal(store_new_beside(&s, STORE_KIT_DB, &err), ERR_BUSY);
    store_kit_put(beside, 2, STORE_KIT_START, 1);
    assert_string_equal(store_kit_found(old, NULL, NULL, 0), "1.0 ");
    assert_int_equal(store_swap(beside, STORE_KIT_DB, 20, &err), ERR_BUSY);
    assert_string_equal(store_kit_found(old, NULL, NULL, 0), "1.0 ");
    assert_int_equal(access(STORE_KIT_DB ".new", F_OK), -1);
    assert_int_equal(access(STORE_KIT_DB ".new.lock", F_OK), -1);
    store_kit_must(store_new_beside(&beside, STORE_KIT_DB, NULL));
    store_kit_put(beside, 2, STORE_KIT_START, 1);
    store_close(old);
    store_kit_must(store_swap(beside, STORE_KIT_DB, 0, NULL));
    s = store_kit_open(STORE_READ);
    assert_string_equal(store_kit_found(s, "616161", NULL, 0), "2.0 ");
    store_close(s);
}

enum { SWAPS = 12 };

static int
swap_often(int i)
{
    for (int k = 0; k < SWAPS; k++) {
        struct store *s = NULL;
        struct err err = { 0 };
        int r = store_new_beside(&s, STORE_KIT_DB, &err);
        if (r == 0) {
            store_kit_put(s, i, STORE_KIT_START, 4);
            r = store_swap(s, STORE_KIT_DB, 60000, &err);
        }
        if (r < 0)
            return fprintf(stderr, "# %s\n", err.text), 1;
    }
    open_gate();
    return 0;
}

/* Until the gate is open: always whole, always there. */
static int
read_on(int i)
{
    char c;
    fcntl(gate[0], F_SETFL, O_NONBLOCK);
    while (read(gate[0], &c, 1) != 1) {
        struct store *s = NULL;
        struct err err = { 0 };
        if (store_open(&s, STORE_KIT_DB, i ? STORE_WRITE : STORE_READ, 60000, &err) < 0)
            return fprintf(stderr, "# %s\n", err.text), 1;
        int n = store_kit_find(s, "616161", NULL, 0);
        if (n == 4 && i && store_begin(s, &err) == 0) {
            store_kit_fill(s, 7, STORE_KIT_START, 0);
            store_commit(s, &err);
        }
        store_close(s);
        if (n != 4)
            return 2;
    }
    open_gate(); /* for the next */
    return 0;
}

static void
swapped_under_all_it_is_always_there_and_whole(void **state)
{
    (void)state;
    pid_t pids[4];
    struct store *s = store_kit_open(STORE_WRITE);
    store_kit_put(s, 1, STORE_KIT_START, 4);
    store_close(s);
    assert_int_equal(pipe(gate), 0);
    for (int i = 0; i < 3; i++)
        pids[i] = start(read_on, i);
    pids[3] = start(swap_often, 2);
    for (int i = 3; i >= 0; i--)
        assert_int_equal(end_of(pids[i]), 0);
    s = store_kit_open(STORE_WRITE);
    assert_int_equal(store_kit_find(s, NULL, NULL, 0), 4);
    store_kit_must(store_check(s, NULL));
    store_close(s);
    close(gate[0]);
    close(gate[1]);
}

static int
open_twice(int i)
{
    struct store *a = NULL, *b = NULL;
    (void)i;
    if (store_open(&a, STORE_KIT_DB, STORE_READ, 60000, NULL) < 0)
        return 1;
    open_gate();
    for (unsigned k = 0; access(STORE_KIT_DB ".door", F_OK) < 0; k++)
        clock_back_off(k, UINT64_MAX);
    if (store_open(&b, STORE_KIT_DB, STORE_WRITE, 60000, NULL) < 0)
        return 3;
    store_close(a);
    store_close(b);
    return 0;
}

static void
a_swap_gets_along_with_those_who_open_it_twice(void **state)
{
    (void)state;
    char c;
    struct store *s = store_kit_open(STORE_WRITE);
    store_close(s);
    assert_int_equal(pipe(gate), 0);
    pid_t pid = start(open_twice, 0);
    assert_int_equal(read(gate[0], &c, 1), 1);
    store_kit_must(store_new_beside(&s, STORE_KIT_DB, NULL));
    uint64_t before = clock_mono_ns();
    store_kit_must(store_swap(s, STORE_KIT_DB, 60000, NULL));
    assert_true(clock_mono_ns() - before < UINT64_C(30000000000));
    assert_int_equal(end_of(pid), 0);
    close(gate[0]);
    close(gate[1]);
}

static void
a_broken_one_is_replaced_by_a_swap(void **state)
{
    (void)state;
    struct store *s = NULL;
    for (size_t n = 0; n <= 28; n += 14) {
        int fd = open(STORE_KIT_DB, O_WRONLY | O_CREAT | O_TRUNC, 0600);
        assert_int_equal(write(fd, "not a library, but some text", n), n);
        close(fd);
        fd = open(STORE_KIT_DB "-wal", O_WRONLY | O_CREAT | O_TRUNC, 0600);
        assert_int_equal(write(fd, "nor is this a log", 17), 17);
        close(fd);
        store_kit_must(store_new_beside(&s, STORE_KIT_DB, NULL));
        store_kit_put(s, 1, STORE_KIT_START, 2);
        store_kit_must(store_swap(s, STORE_KIT_DB, 0, NULL));
        s = store_kit_open(STORE_WRITE);
        assert_int_equal(store_kit_find(s, "616161", NULL, 0), 2);
        store_close(s);
    }
}

/* -- killed -- */

static int
write_for_ever(int i)
{
    struct store *s = NULL;
    if (store_open(&s, STORE_KIT_DB, STORE_WRITE, 60000, NULL) < 0)
        return 1;
    for (int k = 0;; k++) {
        if (store_begin(s, NULL) < 0)
            return 1;
        store_kit_fill(s, i * 10000 + k, STORE_KIT_START, 6);
        if (store_commit(s, NULL) < 0)
            return 1;
    }
}

static void
killed_anywhere_sessions_are_there_whole_or_not_at_all(void **state)
{
    (void)state;
    uint32_t rng = rng_seed(5);
    int before = 0;
    for (int i = 1, n = kit_times(20, 500); i <= n; i++) {
        pid_t a = start(write_for_ever, 2 * i), b = start(write_for_ever, 2 * i + 1);
        struct timespec nap = { .tv_nsec = 1000000L * rng_between(&rng, 1, 30) };
        nanosleep(&nap, NULL); /* the moment is what is tried */
        kill(a, SIGKILL);
        kill(b, SIGKILL);
        assert_int_equal(end_of(a), SIGKILL);
        assert_int_equal(end_of(b), SIGKILL);
        struct store *s = store_kit_open(i % 2 ? STORE_WRITE : STORE_READ);
        int now = store_kit_find(s, NULL, NULL, 0);
        assert_int_equal(now % 6, 0);
        assert_int_equal(store_kit_find(s, "616161", NULL, 0), now);
        assert_true(now >= before);
        before = now;
        store_kit_must(store_check(s, NULL));
        store_close(s);
    }
}

int
main(void)
{
    const struct CMUnitTest tests[] = {
        KIT_IN_DIR(many_write_and_read_at_once_and_nobody_is_turned_away),
        KIT_IN_DIR(made_by_another_it_is_not_waited_for_until_all_rest),
        KIT_IN_DIR(one_that_another_program_has_locked_is_busy),
        KIT_IN_DIR(a_change_waits_for_another_and_says_when_it_cannot),
        KIT_IN_DIR(a_scrub_says_when_others_read_for_too_long),
        KIT_IN_DIR(a_swap_waits_for_those_who_have_the_old_one),
        KIT_IN_DIR(swapped_under_all_it_is_always_there_and_whole),
        KIT_IN_DIR(a_swap_gets_along_with_those_who_open_it_twice),
        KIT_IN_DIR(a_broken_one_is_replaced_by_a_swap),
        KIT_IN_DIR(killed_anywhere_sessions_are_there_whole_or_not_at_all),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
