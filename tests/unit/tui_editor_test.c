/* SPDX-License-Identifier: MIT */
/* tui_editor_test.c -- $EDITOR on a file, with the terminal. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <errno.h>
#include <fcntl.h>
#include <pty.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/buf.h"
#include "base/clock.h"
#include "base/file.h"
#include "tui/editor.h"

static char folder[] = "/tmp/ahr-editor-XXXXXX";
static char noted[64]; /* what the editor writes */
static char subject[64];

static int
make_folder(void **state)
{
    (void)state;
    assert_non_null(mkdtemp(folder));
    snprintf(noted, sizeof(noted), "%s/noted", folder);
    snprintf(subject, sizeof(subject), "%s/a file", folder);
    return setenv("NOTED", noted, 1);
}

static int
remove_folder(void **state)
{
    (void)state;
    char path[64];
    snprintf(path, sizeof(path), "%s/nano", folder);
    unlink(path);
    unlink(noted);
    return rmdir(folder);
}

static int
edit(const char *visual, const char *editor, unsigned line, struct err *err)
{
    visual ? setenv("VISUAL", visual, 1) : unsetenv("VISUAL");
    editor ? setenv("EDITOR", editor, 1) : unsetenv("EDITOR");
    unlink(noted);
    int fd = open("/dev/null", O_RDWR | O_CLOEXEC);
    assert_true(fd >= 0);
    int r = tui_editor(subject, line, fd, fd, err);
    close(fd);
    return r;
}

static void
is_noted(const char *want)
{
    AUTO(buf) got = { 0 };
    assert_int_equal(file_slurp(noted, &got), 0);
    assert_string_equal(buf_str(&got), want);
}

static void
the_editor_is_what_the_user_has_set(void **state)
{
    (void)state;
    char want[128];
    struct err err;
    const char *says = "f() { printf '%s|' \"$@\" >$NOTED; }; f";
    assert_int_equal(edit(says, "false", 0, &err), 0);
    snprintf(want, sizeof(want), "%s|", subject);
    is_noted(want);
    assert_int_equal(edit("", says, 7, &err), 0); /* an unknown one is told no line */
    is_noted(want);
    const char *with_arguments = "f() { printf '%s|' \"$@\" >$NOTED; }; f -x 'a b'";
    assert_int_equal(edit(NULL, with_arguments, 0, &err), 0);
    snprintf(want, sizeof(want), "-x|a b|%s|", subject);
    is_noted(want);
}

static void
a_known_editor_begins_at_the_line(void **state)
{
    (void)state;
    char path[64], command[80], want[128];
    struct err err;
    snprintf(path, sizeof(path), "%s/nano", folder);
    static const char script[] = "#!/bin/sh\nprintf '%s|' \"$@\" >$NOTED\n";
    int fd = open(path, O_WRONLY | O_CREAT | O_CLOEXEC, 0700);
    assert_true(fd >= 0);
    assert_int_equal(file_write_all(fd, script, sizeof(script) - 1), 0);
    close(fd);
    snprintf(command, sizeof(command), "%s -w", path);
    assert_int_equal(edit(command, NULL, 12, &err), 0);
    snprintf(want, sizeof(want), "-w|+12|%s|", subject);
    is_noted(want);
    assert_int_equal(edit(command, NULL, 0, &err), 0);
    snprintf(want, sizeof(want), "-w|%s|", subject);
    is_noted(want);
}

static void
what_goes_wrong_is_told(void **state)
{
    (void)state;
    struct err err;
    assert_true(edit("exit 3; :", NULL, 0, &err) < 0);
    assert_non_null(strstr(err.text, "3"));
    assert_int_equal(edit("/no/such/editor 2>/dev/null", NULL, 0, &err), ERR_MISSING);
    assert_non_null(strstr(err.text, "/no/such/editor"));
    assert_true(edit("kill -9 $$; :", NULL, 0, &err) < 0);
    assert_non_null(strstr(err.text, "signal 9"));
}

/* In a session of its own, on a terminal of its own: is the editor in the foreground, and
 * are we again, after it? */
static void
run_on_terminal(int fd)
{
    struct err err;
    setsid();
    ioctl(fd, TIOCSCTTY, 0);
    signal(SIGINT, SIG_IGN);
    setenv("VISUAL",
           "f() { ps -o stat= -p $$ | grep -q '+' && kill -INT $$; exit 5; }; f", 1);
    int r = tui_editor("x", 0, fd, fd, &err);
    bool is_interrupted = r < 0 && strstr(err.text, "signal 2");
    _exit(is_interrupted && tcgetpgrp(fd) == getpgrp() ? 0 : 1);
}

static void
it_has_the_terminal_and_its_signals(void **state)
{
    (void)state;
    int master, slave, status;
    assert_int_equal(openpty(&master, &slave, NULL, NULL, NULL), 0);
    pid_t pid = fork();
    if (!pid)
        run_on_terminal(slave);
    assert_int_equal(waitpid(pid, &status, 0), pid);
    assert_int_equal(status, 0);
    close(master);
    close(slave);
}

static pid_t
wait_noted_pid(void)
{
    for (;;) {
        AUTO(buf) got = { 0 };
        if (!file_slurp(noted, &got) && got.n && got.p[got.n - 1] == '\n')
            return (pid_t)strtol(buf_str(&got), NULL, 10);
        usleep(1000);
    }
}

static void
a_signal_that_ends_us_ends_it_first(void **state)
{
    (void)state;
    static const char *const editors[] = {
        "f() { echo $$ >$NOTED; exec sleep 60; }; f",
        "f() { trap '' HUP TERM; echo $$ >$NOTED; exec sleep 60; }; f",
        "f() { echo $$ >$NOTED; kill -STOP $$; exec sleep 60; }; f",
    };
    for (size_t i = 0; i < sizeof(editors) / sizeof(editors[0]); i++) {
        int status;
        struct err err;
        unlink(noted);
        pid_t pid = fork();
        if (!pid) {
            signal(SIGTERM, SIG_DFL);
            signal(SIGCHLD, SIG_IGN); /* as one's parent may have it */
            edit(editors[i], NULL, 0, &err);
            _exit(1);
        }
        pid_t editor = wait_noted_pid();
        kill(pid, SIGTERM);
        assert_int_equal(waitpid(pid, &status, 0), pid);
        assert_true(WIFSIGNALED(status) && WTERMSIG(status) == SIGTERM);
        while (kill(editor, 0) == 0) /* until somebody has reaped it */
            usleep(1000);
        assert_int_equal(errno, ESRCH);
    }
}

static void
one_that_stops_goes_on_after_a_moment(void **state)
{
    (void)state;
    struct err err;
    uint64_t from_ns = clock_mono_ns();
    assert_int_equal(edit("f() { kill -STOP $$; kill -TSTP 0; }; f", NULL, 0, &err), 0);
    assert_true(clock_mono_ns() - from_ns >= 140000000); /* 50 ms, then 100 */
}

int
main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_editor_is_what_the_user_has_set),
        cmocka_unit_test(a_known_editor_begins_at_the_line),
        cmocka_unit_test(what_goes_wrong_is_told),
        cmocka_unit_test(it_has_the_terminal_and_its_signals),
        cmocka_unit_test(a_signal_that_ends_us_ends_it_first),
        cmocka_unit_test(one_that_stops_goes_on_after_a_moment),
    };
    return cmocka_run_group_tests_name("tui_editor", tests, make_folder, remove_folder);
}
