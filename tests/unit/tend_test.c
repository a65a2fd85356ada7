/* SPDX-License-Identifier: MIT */
/*
 * tend_test.c -- what is started in the background, and when; what is a ruin, and where
 * it goes.
 *
 * This program is what it starts: as `recover` or `index` it waits at home/gate, tells
 * what it has in home/told, and goes when the gate is closed.
 */
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "base/file.h"
#include "library/damaged.h"
#include "library/tend.h"
#include "session/upkeep.h"
#include "support/kit.h"

#define ID "2026-01-02-01234567-89ab-4cde-8f01-23456789abc0"

/* -- as what is started -- */

static void
tell_files(struct buf *out)
{
    DIR *d = opendir("/proc/self/fd");
    for (int fd = 0; fd < 100; fd++) {
        char name[64], to[PATH_MAX];
        snprintf(name, sizeof(name), "/proc/self/fd/%d", fd);
        ssize_t n = readlink(name, to, sizeof(to));
        if (n > 0 && d && fd != dirfd(d))
            buf_printf(out, " %d:%.*s", fd, (int)n, to);
    }
    if (d)
        closedir(d);
}

static int
be_started(int argc, char **argv)
{
    AUTO(buf) out = { 0 };
    AUTO(buf) path = { 0 };
    char cwd[PATH_MAX], end;
    const char *home = getenv("AHR_HOME");
    if (!home || *home != '/')
        return 1;
    for (int i = 1; i < argc; i++)
        buf_printf(&out, "%s ", argv[i]);
    buf_puts(&out, "files");
    tell_files(&out);
    buf_printf(&path, "%s/gate", home);
    int gate = open(buf_str(&path), O_RDONLY | O_CLOEXEC); /* until somebody comes */
    buf_printf(&out, "\n%s\nleader %d\nbehind %d\n", getcwd(cwd, sizeof(cwd)),
               getsid(0) == getpid(),
               getpriority(PRIO_PROCESS, 0) >= SESSION_UPKEEP_NICE);
    buf_clear(&path);
    buf_printf(&path, "%s/told", home);
    int r = file_replace(buf_str(&path), (struct view){ out.p, out.n }, false, NULL);
    (void)file_read(gate, &end, 1);
    return r < 0;
}

/* -- the home -- */

static char home[PATH_MAX];

static int
enter_home(void **state)
{
    int r = kit_enter_dir(state);
    if (r || !getcwd(home, sizeof(home) - 5))
        return -1;
    memcpy(home + strlen(home), "/home", 6);
    return mkdir("home", 0700) < 0 || mkfifo("home/gate", 0600) < 0 ? -1 : 0;
}

static int
open_gate(void)
{
    int gate = open("home/gate", O_WRONLY | O_CLOEXEC);
    assert_true(gate >= 0);
    return gate;
}

static void
close_gate(int gate)
{
    int status;
    close(gate);
    assert_true(wait(&status) > 0);
    assert_int_equal(status, 0);
}

static int
tend(uint64_t interrupted, uint64_t unindexed)
{
    struct library_listed l = { .interrupted = interrupted, .unindexed = unindexed };
    return library_tend(home, &l);
}

/* It was started, and has ended. */
static void
assert_tended(int started)
{
    assert_int_equal(started, 1);
    close_gate(open_gate());
}

static void
assert_told(const char *want)
{
    AUTO(buf) told = { 0 };
    assert_int_equal(file_slurp("home/told", &told), 0);
    if (!strstr(buf_str(&told), want))
        print_message("told: %s", buf_str(&told));
    assert_non_null(strstr(buf_str(&told), want));
}

/* -- in the background -- */

static void
what_is_started_has_nothing_of_ours(void **state)
{
    (void)state;
    int left_open = open(".", O_RDONLY); /* not close-on-exec */
    pid_t pid;
    const char *argv[] = { "index", ID, NULL };
    setenv("AHR_HOME", "relative", 1);
    assert_int_equal(session_upkeep_start(home, argv, -1, &pid), 0);
    close_gate(open_gate());
    close(left_open);
    assert_told("index " ID " files 0:/dev/null 1:/dev/null 2:/dev/null\n/\n");
    assert_told("leader 1\nbehind 1\n");
}

static void
what_tends_has_the_lock_for_its_life(void **state)
{
    (void)state;
    AUTO(buf) want = { 0 };
    assert_int_equal(tend(0, 2), 1);
    int gate = open_gate();
    assert_int_equal(tend(1, 2), 1); /* more to do, but somebody is at it */
    close_gate(gate);
    buf_printf(&want,
               "index --all files 0:/dev/null 1:/dev/null 2:/dev/null 3:%s/"
               "library.tend\n",
               home);
    assert_told(buf_str(&want));
    assert_tended(tend(1, 2));
    assert_told("recover --all files");
}

static void
set_age(int seconds)
{
    struct timespec at[2] = { { .tv_nsec = UTIME_OMIT }, { time(NULL) - seconds, 0 } };
    assert_int_equal(utimensat(AT_FDCWD, "home/library.tend", at, 0), 0);
}

static void
what_did_not_help_is_not_started_again_at_once(void **state)
{
    (void)state;
    assert_tended(tend(1, 0));
    assert_int_equal(tend(1, 0), 0);
    set_age(LIBRARY_TEND_S - 5);
    assert_int_equal(tend(1, 0), 0);
    assert_tended(tend(0, 1)); /* it did something */
    assert_int_equal(tend(0, 1), 0);
    set_age(LIBRARY_TEND_S + 5);
    assert_tended(tend(0, 1));
    set_age(-3600); /* the clock was set back */
    assert_tended(tend(0, 1));
}

static void
where_nothing_is_to_do_nothing_is_done(void **state)
{
    (void)state;
    struct library_listed l = { .sessions = 7, .damaged = 3 };
    assert_int_equal(library_tend(home, &l), 0);
    static const int closed[] = { ERR_DAMAGED, ERR_NEWER, ERR_BUSY, -EACCES };
    l.unindexed = l.gone = 2;
    for (size_t i = 0; i < sizeof(closed) / sizeof(closed[0]); i++) {
        l.why.code = closed[i]; /* it could not be indexed */
        assert_int_equal(library_tend(home, &l), 0);
    }
    assert_int_equal(access("home/library.tend", F_OK), -1);
    l.why.code = ERR_MISSING; /* it will be made */
    assert_tended(library_tend(home, &l));
    assert_told("index --all");
}

static void
a_home_that_takes_no_file_is_left_alone(void **state)
{
    (void)state;
    assert_int_equal(unlink("home/gate"), 0);
    assert_int_equal(rmdir("home"), 0);
    assert_int_equal(tend(1, 1), -ENOENT);
    assert_int_equal(mkdir("home", 0700), 0);
    assert_int_equal(symlink("../elsewhere", "home/library.tend"), 0);
    assert_int_equal(tend(1, 1), -ELOOP);
    assert_int_equal(access("elsewhere", F_OK), -1);
}

/* -- ruins -- */

static void
put(const char *path, const void *p, size_t n)
{
    assert_int_equal(file_replace(path, (struct view){ p, n }, false, NULL), 0);
}

static void
only_what_was_read_and_has_no_good_block_is_a_ruin(void **state)
{
    (void)state;
    struct kit_sample s;
    kit_sample_init(&s, 40, 256);
    put("x.ahr", s.file.p, s.file.n);
    assert_int_equal(library_is_ruin("x.ahr", NULL), 0);
    for (int i = 0; i + 1 < s.blocks; i++) /* all but the last one */
        s.file.p[s.start[i] + 60] ^= 1;
    put("x.ahr", s.file.p, s.file.n);
    assert_int_equal(library_is_ruin("x.ahr", NULL), 0);
    s.file.p[s.start[s.blocks - 1] + 60] ^= 1;
    put("x.ahr", s.file.p, s.file.n);
    assert_int_equal(library_is_ruin("x.ahr", NULL), 1);
    s.file.p[4] = 2; /* the version */
    put("x.ahr", s.file.p, s.file.n);
    assert_int_equal(library_is_ruin("x.ahr", NULL), 0);
    put("x.ahr", "text", 4);
    assert_int_equal(library_is_ruin("x.ahr", NULL), 1);
    put("x.ahr", "", 0);
    assert_int_equal(library_is_ruin("x.ahr", NULL), 0);
    kit_sample_release(&s);
}

static void
what_cannot_be_opened_or_read_is_none(void **state)
{
    (void)state;
    struct err err = { 0 };
    assert_true(library_is_ruin("x.ahr", &err) < 0);
    assert_int_equal(mkdir("x.ahr", 0700), 0);
    assert_true(library_is_ruin("x.ahr", &err) < 0);
    assert_non_null(strstr(err.text, "x.ahr"));
}

static void
what_is_set_aside_takes_the_place_of_nothing(void **state)
{
    (void)state;
    for (unsigned i = 1; i <= 3; i++) {
        AUTO(buf) path = { 0 };
        AUTO(buf) want = { 0 };
        assert_int_equal(file_make_dirs("home/sessions/" ID), 0);
        put("home/sessions/" ID "/session.ahr", &i, 1);
        put("home/sessions/" ID "/lock", "", 0);
        assert_int_equal(library_set_aside(home, "sessions", ID, &path, NULL), 0);
        buf_printf(&want, "%s/damaged/" ID, home);
        if (i > 1)
            buf_printf(&want, ".%u", i);
        assert_string_equal(buf_str(&path), buf_str(&want));
        buf_puts(&path, "/lock");
        assert_int_equal(access(buf_str(&path), F_OK), -1);
        assert_int_equal(access("home/sessions/" ID, F_OK), -1);
    }
    AUTO(buf) kept = { 0 };
    assert_int_equal(file_slurp("home/damaged/" ID "/session.ahr", &kept), 0);
    assert_int_equal(kept.p[0], 1);
    assert_int_equal(library_set_aside(home, "sessions", ID, NULL, NULL), ERR_MISSING);
}

#define IN_HOME(test) cmocka_unit_test_setup_teardown(test, enter_home, kit_leave_dir)

int
main(int argc, char **argv)
{
    if (argc > 1)
        return be_started(argc, argv);
    const struct CMUnitTest tests[] = {
        IN_HOME(what_is_started_has_nothing_of_ours),
        IN_HOME(what_tends_has_the_lock_for_its_life),
        IN_HOME(what_did_not_help_is_not_started_again_at_once),
        IN_HOME(where_nothing_is_to_do_nothing_is_done),
        IN_HOME(a_home_that_takes_no_file_is_left_alone),
        IN_HOME(only_what_was_read_and_has_no_good_block_is_a_ruin),
        IN_HOME(what_cannot_be_opened_or_read_is_none),
        IN_HOME(what_is_set_aside_takes_the_place_of_nothing),
    };
    return cmocka_run_group_tests_name("tend", tests, NULL, NULL);
}
