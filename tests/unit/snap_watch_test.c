/* SPDX-License-Identifier: MIT */
/* snap_watch_test.c -- changes below a root are told when they have come to rest. */
#include <fcntl.h>
#include <limits.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <sys/timerfd.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "snap/watch.h"
#include "support/kit.h"

enum { QUIET_MS = 60, NEVER_MS = 600000, SILENCE_MS = 250 };

/* -- what tests use -- */

struct scene {
    char root[PATH_MAX], home[PATH_MAX];
    struct snap_watch_options opt;
    struct snap_watch *watch;
};

static void
write_file(const char *path, const char *text)
{
    FILE *f = fopen(path, "w");
    assert_non_null(f);
    fputs(text, f);
    fclose(f);
}

static uint64_t
now_ns(void)
{
    struct timespec t;
    clock_gettime(CLOCK_REALTIME, &t);
    return (uint64_t)t.tv_sec * 1000000000 + (uint64_t)t.tv_nsec;
}

/* The current folder has a file, and what is made of .gitignore. */
static void
scene_begin(struct scene *s)
{
    *s = (struct scene){ 0 };
    assert_int_equal(mkdir("tree", 0700), 0);
    assert_int_equal(chdir("tree"), 0);
    assert_non_null(getcwd(s->root, sizeof(s->root)));
    snprintf(s->home, sizeof(s->home), "%.4000s/../home", s->root);
    write_file("a", "first");
    write_file(".gitignore", "build/\n");
    assert_int_equal(mkdir("build", 0700), 0);
    assert_int_equal(mkdir(".git", 0700), 0);
    s->opt = (struct snap_watch_options){ .home = s->home, .root = s->root };
}

static void
scene_watch(struct scene *s)
{
    struct err err;
    if (!s->opt.since_ns)
        s->opt.since_ns = now_ns() + UINT64_C(1000000000);
    assert_int_equal(snap_watch_new(&s->watch, &s->opt, &err), 0);
}

static void
scene_end(struct scene *s)
{
    snap_watch_free(s->watch);
    assert_int_equal(chdir(".."), 0);
}

static int
stop_in(int ms)
{
    int fd = timerfd_create(CLOCK_MONOTONIC, TFD_CLOEXEC);
    struct itimerspec at = { .it_value = { ms / 1000, ms % 1000 * 1000000L } };
    assert_true(fd >= 0);
    assert_int_equal(timerfd_settime(fd, 0, &at, NULL), 0);
    return fd;
}

static int
wait_for(struct scene *s, unsigned quiet_ms, unsigned patience_ms, int stop_ms)
{
    struct err err = { 0 };
    int stop_fd = stop_in(stop_ms);
    int r = snap_watch_wait(s->watch, quiet_ms, patience_ms, stop_fd, &err);
    close(stop_fd);
    return r;
}

static void
is_told(struct scene *s)
{
    assert_int_equal(wait_for(s, QUIET_MS, NEVER_MS, 30000), 1);
}

static void
is_silent(struct scene *s)
{
    assert_int_equal(wait_for(s, QUIET_MS, NEVER_MS, SILENCE_MS), 0);
}

/* -- the tests -- */

static void
a_change_is_told_once(void **state)
{
    struct scene s;
    (void)state;
    scene_begin(&s);
    scene_watch(&s);
    is_silent(&s);
    write_file("a", "second");
    is_told(&s);
    is_silent(&s);
    scene_end(&s);
}

static void
every_kind_of_change_is_told(void **state)
{
    struct scene s;
    (void)state;
    scene_begin(&s);
    scene_watch(&s);
    assert_int_equal(chmod("a", 0600), 0);
    is_told(&s);
    assert_int_equal(rename("a", "b"), 0);
    is_told(&s);
    assert_int_equal(symlink("b", "c"), 0);
    is_told(&s);
    assert_int_equal(unlink("b"), 0);
    is_told(&s);
    assert_int_equal(mkdir("d", 0700), 0);
    is_told(&s);
    assert_int_equal(rmdir("d"), 0);
    is_told(&s);
    scene_end(&s);
}

static void
new_folders_are_watched(void **state)
{
    struct scene s;
    (void)state;
    scene_begin(&s);
    scene_watch(&s);
    assert_int_equal(mkdir("d", 0700), 0);
    assert_int_equal(mkdir("d/e", 0700), 0);
    is_told(&s);
    write_file("d/e/f", "deep");
    is_told(&s);
    assert_int_equal(rename("d", "../gone"), 0);
    is_told(&s);
    write_file("../gone/e/f", "elsewhere");
    is_silent(&s);
    scene_end(&s);
}

static void
what_is_ignored_is_not_looked_into(void **state)
{
    struct scene s;
    (void)state;
    scene_begin(&s);
    scene_watch(&s);
    write_file("build/x", "made");
    write_file(".git/index", "theirs");
    is_silent(&s);
    write_file(".gitignore", "\n");
    is_told(&s);
    write_file("build/x", "no more");
    is_told(&s);
    scene_end(&s);
}

static void
files_that_do_not_count_are_passed_over(void **state)
{
    struct scene s;
    char path[PATH_MAX];
    const char *but[] = { path, NULL };
    for (size_t folders_max = 0; folders_max < 2; folders_max++) {
        scene_begin(&s);
        assert_int_equal(mkdir("d", 0700), 0); /* one too many to be watched */
        snprintf(path, sizeof(path), "%.4000s/x.ahr", s.root);
        s.opt.but = but;
        s.opt.folders_max = folders_max;
        scene_watch(&s);
        write_file("x.ahr", "recorded");
        write_file("x.ahr.tail-1", "more");
        is_silent(&s);
        write_file("x.c", "the agent's");
        is_told(&s);
        scene_end(&s);
        assert_int_equal(rename("tree", folders_max ? "second" : "first"), 0);
    }
    (void)state;
}

/* One folder more than may be watched. */
static void
too_many_folders_are_looked_at(void **state)
{
    struct scene s;
    (void)state;
    scene_begin(&s);
    assert_int_equal(mkdir("d", 0700), 0);
    s.opt.folders_max = 1;
    scene_watch(&s);
    is_silent(&s);
    write_file("d/a", "new");
    is_told(&s);
    write_file("d/a", "newer");
    is_told(&s);
    is_silent(&s);
    scene_end(&s);
}

static void
a_root_that_comes_back_is_seen(void **state)
{
    struct scene s;
    (void)state;
    scene_begin(&s);
    scene_watch(&s);
    assert_int_equal(rename(s.root, "../away"), 0);
    is_told(&s);
    assert_int_equal(mkdir(s.root, 0700), 0);
    assert_int_equal(chdir(s.root), 0);
    write_file("a", "anew");
    is_told(&s);
    scene_end(&s);
}

static void
what_came_before_the_watch_counts(void **state)
{
    struct scene s;
    (void)state;
    uint64_t before = now_ns();
    scene_begin(&s);
    s.opt.since_ns = before;
    scene_watch(&s);
    is_told(&s);
    is_silent(&s);
    scene_end(&s);
}

static void
patience_ends_where_changes_do_not(void **state)
{
    struct scene s;
    (void)state;
    scene_begin(&s);
    scene_watch(&s);
    pid_t writer = fork();
    if (!writer)
        for (int i = 0;; i++, usleep(5000))
            write_file("a", i % 2 ? "one" : "another");
    assert_int_equal(wait_for(&s, 20000, 300, 30000), 1);
    assert_int_equal(kill(writer, SIGKILL), 0);
    assert_int_equal(waitpid(writer, NULL, 0), writer);
    scene_end(&s);
}

static void
it_stops_when_it_is_told(void **state)
{
    struct scene s;
    (void)state;
    scene_begin(&s);
    scene_watch(&s);
    write_file("a", "second");
    assert_int_equal(wait_for(&s, 20000, NEVER_MS, 50), 0);
    scene_end(&s);
}

static void
a_folder_made_just_before_patience_ends_is_watched_too(void **state)
{
    struct scene s;
    (void)state;
    scene_begin(&s);
    scene_watch(&s);
    assert_int_equal(mkdir("late", 0700), 0);
    assert_int_equal(wait_for(&s, NEVER_MS, 0, 30000), 1);
    (void)wait_for(&s, QUIET_MS, NEVER_MS, 4 * SILENCE_MS); /* that it is new */
    is_silent(&s);
    write_file("late/a", "first");
    is_told(&s);
    scene_end(&s);
}

int
main(void)
{
    const struct CMUnitTest tests[] = {
        KIT_IN_DIR(a_change_is_told_once),
        KIT_IN_DIR(every_kind_of_change_is_told),
        KIT_IN_DIR(new_folders_are_watched),
        KIT_IN_DIR(what_is_ignored_is_not_looked_into),
        KIT_IN_DIR(files_that_do_not_count_are_passed_over),
        KIT_IN_DIR(too_many_folders_are_looked_at),
        KIT_IN_DIR(a_root_that_comes_back_is_seen),
        KIT_IN_DIR(what_came_before_the_watch_counts),
        KIT_IN_DIR(patience_ends_where_changes_do_not),
        KIT_IN_DIR(a_folder_made_just_before_patience_ends_is_watched_too),
        KIT_IN_DIR(it_stops_when_it_is_told),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
