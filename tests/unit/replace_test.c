/* SPDX-License-Identifier: MIT */
/* replace_test.c -- a file is replaced while each of the calls fails, or is the last. */
#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/file.h"
#include "support/kit.h"

#define OLD "the old text"
#define NEW "a new text, which is longer"

static struct {
    char calls[16]; /* a letter each: chmod, write, sync, rename */
    size_t stop_at; /* the call, from 1, that fails; 0: none */
    bool is_killing;
} disk;

static bool
stops(char call)
{
    size_t n = strlen(disk.calls);
    assert_true(n + 1 < sizeof(disk.calls));
    disk.calls[n] = call;
    if (n + 1 != disk.stop_at)
        return false;
    errno = EIO;
    return true;
}

static int
stop(void)
{
    if (disk.is_killing)
        kill(getpid(), SIGKILL);
    return -1;
}

int __real_fchmod(int fd, mode_t mode);
int __wrap_fchmod(int fd, mode_t mode);
ssize_t __real_write(int fd, const void *p, size_t n);
ssize_t __wrap_write(int fd, const void *p, size_t n);
int __real_fsync(int fd);
int __wrap_fsync(int fd);
int __real_rename(const char *from, const char *to);
int __wrap_rename(const char *from, const char *to);

int
__wrap_fchmod(int fd, mode_t mode)
{
    return stops('c') ? stop() : __real_fchmod(fd, mode);
}

ssize_t
__wrap_write(int fd, const void *p, size_t n)
{
    if (!stops('w'))
        return __real_write(fd, p, n);
    (void)!__real_write(fd, p, n / 2);
    errno = EIO;
    return stop();
}

int
__wrap_fsync(int fd)
{
    return stops('s') ? stop() : __real_fsync(fd);
}

int
__wrap_rename(const char *from, const char *to)
{
    return stops('r') ? stop() : __real_rename(from, to);
}

/* The calls of one that is left alone, or is stopped at one of them. */
static int
replace(const char *text, bool is_synced, size_t stop_at)
{
    memset(&disk.calls, 0, sizeof(disk.calls));
    disk.stop_at = stop_at;
    return file_replace("x", (struct view){ (const uint8_t *)text, strlen(text) },
                        is_synced, NULL);
}

/* The file is whole; returns whether it is the new one. */
static bool
is_new(void)
{
    AUTO(buf) text = { 0 };
    assert_int_equal(file_slurp("x", &text), 0);
    bool is_it = !strcmp(buf_str(&text), NEW);
    if (!is_it)
        assert_string_equal(buf_str(&text), OLD);
    return is_it;
}

static void
what_is_to_be_synced_is_synced_before_and_after_it_takes_its_place(void **state)
{
    (void)state;
    assert_int_equal(replace(OLD, false, 0), 0);
    assert_string_equal(disk.calls, "cwr");
    assert_int_equal(replace(NEW, true, 0), 0);
    assert_string_equal(disk.calls, "cwsrs");
    assert_true(is_new());
}

static void
when_a_call_fails_the_old_file_stays_or_the_new_one_is_there(void **state)
{
    (void)state;
    for (size_t at = 1; at <= strlen("cwsrs"); at++) {
        assert_int_equal(replace(OLD, true, 0), 0);
        assert_int_equal(replace(NEW, true, at), -EIO);
        assert_int_equal(is_new(), at > strlen("cwsr"));
        assert_int_equal(access("x.new", F_OK), -1);
    }
}

static int
killed_at(size_t at)
{
    int status;
    pid_t pid = fork();
    if (pid == 0) {
        disk.is_killing = true;
        _exit(replace(NEW, true, at) < 0);
    }
    assert_int_equal(waitpid(pid, &status, 0), pid);
    return status;
}

static void
a_writer_killed_at_any_call_leaves_one_of_them_whole(void **state)
{
    (void)state;
    for (size_t at = 1; at <= strlen("cwsrs"); at++) {
        assert_int_equal(replace(OLD, true, 0), 0);
        assert_int_equal(killed_at(at), SIGKILL);
        assert_int_equal(is_new(), at > strlen("cwsr"));
        assert_int_equal(replace(NEW, true, 0), 0); /* and is in nobody's way */
        assert_true(is_new());
        assert_int_equal(access("x.new", F_OK), -1);
    }
}

int
main(void)
{
    const struct CMUnitTest tests[] = {
        KIT_IN_DIR(what_is_to_be_synced_is_synced_before_and_after_it_takes_its_place),
        KIT_IN_DIR(when_a_call_fails_the_old_file_stays_or_the_new_one_is_there),
        KIT_IN_DIR(a_writer_killed_at_any_call_leaves_one_of_them_whole),
    };
    return cmocka_run_group_tests_name("replace", tests, NULL, NULL);
}
