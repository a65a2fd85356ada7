/* SPDX-License-Identifier: MIT */
/*
 * store_kill_test.c -- SIGKILL at each call that changes a file (in the long form also
 * behind it) while a library is made, filled, scrubbed, brought up to date or swapped:
 * what is found afterwards is the old one or the new one, whole.
 *
 * Argument: tools/kill_shim, which is loaded into this program started once more.
 */
#include <errno.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>

#include "store/schema_priv.h"
#include "store/store_priv.h"
#include "support/store_kit.h"

static const char *shim;

/* -- what is killed -- */

static int
put_second(struct store *s)
{
    int r = store_begin(s, NULL);
    if (r < 0)
        return r;
    store_kit_fill(s, 2, STORE_KIT_START + 1000000, 3);
    return store_commit(s, NULL);
}

static int
work(const char *what)
{
    struct store *s = NULL;
    int r = !strcmp(what, "swap") ? store_new_beside(&s, STORE_KIT_DB, NULL)
                                  : store_open(&s, STORE_KIT_DB, STORE_WRITE, 0, NULL);
    if (r < 0)
        return 1;
    if (strcmp(what, "scrub") != 0)
        r = put_second(s);
    else
        r = store_scrub(s, NULL);
    if (r == 0 && !strcmp(what, "swap"))
        return store_swap(s, STORE_KIT_DB, 0, NULL) != 0;
    store_close(s);
    return r != 0;
}

/* Ended by itself: its status; killed: -1. */
static int
run_until(const char *what, int call, bool is_after)
{
    char at[16];
    int status = 0;
    pid_t pid = fork();
    if (pid == 0) {
        snprintf(at, sizeof(at), "%d", call);
        setenv("KILL_AT", at, 1);
        setenv("LD_PRELOAD", shim, 1);
        if (is_after)
            setenv("KILL_AFTER", "1", 1);
        execl("/proc/self/exe", "store_kill_test", "--do", what, (char *)NULL);
        _exit(99);
    }
    assert_int_equal(waitpid(pid, &status, 0), pid);
    return WIFSIGNALED(status) ? -1 : WEXITSTATUS(status);
}

/* -- what it finds, and what must be there afterwards -- */

static void
remove_all(void)
{
    static const char *const endings[] = { "",          "-wal",         "-shm",
                                           "-journal",  ".new",         ".new-wal",
                                           ".new-shm",  ".new-journal", ".lock",
                                           ".new.lock", ".door" };
    for (size_t i = 0; i < sizeof(endings) / sizeof(endings[0]); i++) {
        char path[64];
        snprintf(path, sizeof(path), STORE_KIT_DB "%s", endings[i]);
        unlink(path);
    }
}

/* One session, in the log and not yet in the database. */
static void
prepare_one(void)
{
    pid_t pid = fork();
    if (pid == 0) {
        struct store *s = NULL;
        if (store_open(&s, STORE_KIT_DB, STORE_WRITE, 0, NULL) == 0)
            store_kit_put(s, 1, STORE_KIT_START, 3);
        kill(getpid(), SIGKILL);
    }
    assert_int_equal(waitpid(pid, NULL, 0), pid);
}

static void
prepare_none(void)
{
}

static void
prepare_old(void)
{
    char sql[64];
    sqlite3 *db = NULL;
    snprintf(sql, sizeof(sql), "PRAGMA application_id = %d", STORE_APPLICATION_ID);
    assert_int_equal(sqlite3_open(STORE_KIT_DB, &db), SQLITE_OK);
    assert_int_equal(sqlite3_exec(db, sql, NULL, NULL, NULL), SQLITE_OK);
    assert_int_equal(sqlite3_close(db), SQLITE_OK);
}

static void
check_after(const char *old, const char *new)
{
    struct store *s = store_kit_open(STORE_WRITE);
    const char *found = store_kit_found(s, "616161", NULL, 0);
    if (strcmp(found, old) != 0)
        assert_string_equal(found, new);
    store_kit_must(store_check(s, NULL));
    store_close(s);
    store_kit_must(store_new_beside(&s, STORE_KIT_DB, NULL)); /* nothing is in the way */
    store_close(s);
}

static void
kill_everywhere(const char *what, void (*prepare)(void), const char *old, const char *new)
{
    for (int is_after = 0; is_after < kit_times(1, 2); is_after++) {
        int r = -1, call;
        for (call = 1; r < 0; call++) {
            remove_all();
            prepare();
            r = run_until(what, call, is_after);
            check_after(old, new);
        }
        assert_int_equal(r, 0);
        assert_true(call > 3);
    }
}

#define ONE "1.2 1.1 1.0 "
#define TWO "2.2 2.1 2.0 "

static void
killed_while_it_is_made_there_is_none_or_a_whole_one(void **state)
{
    (void)state;
    kill_everywhere("put", prepare_none, "", TWO);
}

static void
killed_while_it_is_brought_up_to_date_it_is_the_old_one(void **state)
{
    (void)state;
    kill_everywhere("put", prepare_old, "", TWO);
}

static void
killed_in_a_change_it_is_as_before_or_after_that(void **state)
{
    (void)state;
    kill_everywhere("put", prepare_one, ONE, TWO ONE);
}

static void
killed_in_a_scrub_nothing_is_lost(void **state)
{
    (void)state;
    kill_everywhere("scrub", prepare_one, ONE, ONE);
}

static void
killed_in_a_swap_it_is_the_old_one_or_the_new_one(void **state)
{
    (void)state;
    kill_everywhere("swap", prepare_one, ONE, TWO);
}

int
main(int argc, char **argv)
{
    const struct CMUnitTest tests[] = {
        KIT_IN_DIR(killed_while_it_is_made_there_is_none_or_a_whole_one),
        KIT_IN_DIR(killed_while_it_is_brought_up_to_date_it_is_the_old_one),
        KIT_IN_DIR(killed_in_a_change_it_is_as_before_or_after_that),
        KIT_IN_DIR(killed_in_a_scrub_nothing_is_lost),
        KIT_IN_DIR(killed_in_a_swap_it_is_the_old_one_or_the_new_one),
    };
    if (argc == 3 && !strcmp(argv[1], "--do"))
        return work(argv[2]);
    if (argc != 2)
        return 2;
    shim = realpath(argv[1], NULL); /* each test has a folder of its own */
    if (access("/dev/shm", W_OK) == 0)
        setenv("TMPDIR", "/dev/shm", 0); /* who is killed needs no disk to forget */
    return cmocka_run_group_tests(tests, NULL, NULL);
}
