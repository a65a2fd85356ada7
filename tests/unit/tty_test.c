/* SPDX-License-Identifier: MIT */
/* tty_test.c -- the user's terminal, here a PTY: raw and back, by whom, its descriptors.
 */
#include <errno.h>
#include <fcntl.h>
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cmocka.h>

#include "pty/guard.h"

struct pair {
    int master_fd, slave_fd;
};

static int
open_pair(void **state)
{
    static struct pair p;
    char name[64];
    p.master_fd = posix_openpt(O_RDWR | O_NOCTTY | O_CLOEXEC);
    if (p.master_fd < 0 || unlockpt(p.master_fd) ||
        ptsname_r(p.master_fd, name, sizeof(name)))
        return -1;
    p.slave_fd = open(name, O_RDWR | O_NOCTTY | O_CLOEXEC);
    *state = &p;
    return p.slave_fd < 0;
}

static int
close_pair(void **state)
{
    struct pair *p = *state;
    close(p->master_fd);
    close(p->slave_fd);
    return 0;
}

static bool
is_raw(int fd)
{
    struct termios now;
    assert_int_equal(tcgetattr(fd, &now), 0);
    return !(now.c_lflag & (ICANON | ECHO | ISIG | IEXTEN)) && !(now.c_oflag & OPOST) &&
           !(now.c_iflag & (ICRNL | IXON));
}

static void
assert_settings(int fd, const struct termios *expected)
{
    struct termios now;
    assert_int_equal(tcgetattr(fd, &now), 0);
    assert_int_equal(now.c_iflag, expected->c_iflag);
    assert_int_equal(now.c_oflag, expected->c_oflag);
    assert_int_equal(now.c_cflag, expected->c_cflag);
    assert_int_equal(now.c_lflag, expected->c_lflag);
    assert_memory_equal(now.c_cc, expected->c_cc, sizeof(now.c_cc));
}

static void
raw_mode_is_entered_and_left(void **state)
{
    struct pair *p = *state;
    struct termios odd;
    assert_int_equal(tcgetattr(p->slave_fd, &odd), 0);
    odd.c_cc[VINTR] = 'q';
    odd.c_lflag ^= ECHOE | TOSTOP;
    assert_int_equal(tcsetattr(p->slave_fd, TCSANOW, &odd), 0);

    struct pty_tty t;
    assert_true(pty_tty_init(&t, p->slave_fd));
    for (int i = 0; i < 2; i++) {
        assert_int_equal(pty_tty_set_raw(&t), 0);
        assert_true(t.is_raw);
        assert_true(is_raw(p->slave_fd));
        pty_tty_restore(&t);
        assert_false(t.is_raw);
        assert_settings(p->slave_fd, &odd);
    }
}

static void
what_was_not_made_raw_is_left_alone(void **state)
{
    struct pair *p = *state;
    struct pty_tty t;
    struct termios other;
    assert_true(pty_tty_init(&t, p->slave_fd));
    other = t.saved;
    other.c_lflag ^= ECHO;
    assert_int_equal(tcsetattr(p->slave_fd, TCSANOW, &other), 0);
    pty_tty_restore(&t);
    assert_settings(p->slave_fd, &other);
}

static void
input_typed_ahead_survives_the_change(void **state)
{
    struct pair *p = *state;
    struct pty_tty t;
    char got[8] = { 0 };
    assert_true(pty_tty_init(&t, p->slave_fd));
    assert_int_equal(write(p->master_fd, "ahead\n", 6), 6);
    int n = 0;
    while (n < 6)
        assert_int_equal(ioctl(p->slave_fd, FIONREAD, &n), 0);
    assert_int_equal(pty_tty_set_raw(&t), 0);
    pty_tty_restore(&t);
    assert_int_equal(read(p->slave_fd, got, sizeof(got)), 6);
    assert_string_equal(got, "ahead\n");
}

static void
what_is_no_terminal_is_none(void **state)
{
    (void)state;
    struct pty_tty t;
    uint16_t cols = 7, rows = 7;
    int fd = open("/dev/null", O_RDWR | O_CLOEXEC);
    assert_false(pty_tty_init(&t, fd));
    assert_int_equal(t.fd, -1);
    assert_false(pty_tty_is_foreground(&t));
    pty_tty_restore(&t);
    assert_false(pty_size(fd, &cols, &rows));
    assert_int_equal(cols, 7);
    assert_false(pty_tty_init(&t, -1));
    close(fd);
}

/* Runs `in_session` in a process that has the terminal for its own; its result must be
 * true. */
static void
assert_in_session(struct pair *p, bool (*in_session)(struct pair *))
{
    int status = -1;
    fflush(NULL);
    pid_t pid = fork();
    if (!pid)
        _exit(setsid() < 0 || ioctl(p->slave_fd, TIOCSCTTY, 0) || !in_session(p));
    assert_int_equal(waitpid(pid, &status, 0), pid);
    assert_int_equal(status, 0);
}

static bool
restore_in_background(struct pair *p)
{
    struct pty_tty t;
    int status;
    if (!pty_tty_init(&t, p->slave_fd) || !pty_tty_is_foreground(&t) ||
        pty_tty_set_raw(&t))
        return false;
    pid_t pid = fork();
    if (!pid) {
        setpgid(0, 0);
        bool was_foreground = pty_tty_is_foreground(&t);
        pty_tty_restore(&t);
        _exit(was_foreground);
    }
    if (waitpid(pid, &status, WUNTRACED) != pid)
        return false;
    if (WIFSTOPPED(status))
        kill(pid, SIGKILL);
    return status == 0 && !is_raw(p->slave_fd);
}

static void
the_state_is_put_back_from_the_background_too(void **state)
{
    assert_in_session(*state, restore_in_background);
}

static void
a_terminal_of_others_counts_as_foreground(void **state)
{
    struct pair *p = *state;
    struct pty_tty t;
    assert_true(pty_tty_init(&t, p->slave_fd));
    assert_true(pty_tty_is_foreground(&t));
}

static void
a_terminal_left_raw_is_put_back_for_its_owner(void **state)
{
    struct pair *p = *state;
    struct pty_tty t;
    assert_true(pty_tty_init(&t, p->slave_fd));
    assert_int_equal(pty_tty_set_raw(&t), 0);
    pty_tty_restore_left(p->slave_fd, &t.saved, &t.raw);
    assert_settings(p->slave_fd, &t.saved);
}

static void
a_terminal_that_somebody_else_uses_by_now_is_not(void **state)
{
    struct pair *p = *state;
    struct pty_tty t;
    assert_true(pty_tty_init(&t, p->slave_fd));
    assert_int_equal(pty_tty_set_raw(&t), 0);
    struct termios other = t.raw;
    other.c_lflag |= ISIG;
    assert_int_equal(tcsetattr(p->slave_fd, TCSANOW, &other), 0);
    pty_tty_restore_left(p->slave_fd, &t.saved, &t.raw);
    assert_settings(p->slave_fd, &other);
}

enum deed { DIES, IS_RELIEVED, GAVE_IT_BACK };

/* A program with a guard, on a terminal, comes to its end. */
static void
run_guarded(struct pair *p, enum deed deed)
{
    struct pty_guard guard;
    struct pty_tty t;
    fflush(NULL);
    pid_t pid = fork();
    if (!pid) {
        pty_tty_init(&t, p->slave_fd);
        pty_guard_post(&guard, &t, "given back");
        pty_tty_set_raw(&t);
        if (deed == GAVE_IT_BACK)
            pty_tty_restore(&t);
        if (deed == IS_RELIEVED)
            pty_guard_relieve(&guard);
        raise(SIGKILL);
    }
    assert_int_equal(waitpid(pid, NULL, 0), pid);
}

/* What came out of the terminal when nobody has it any more. */
static void
assert_wrote(struct pair *p, const char *expected)
{
    char got[64] = { 0 };
    size_t n = 0;
    close(p->slave_fd);
    p->slave_fd = -1;
    for (ssize_t r; (r = read(p->master_fd, got + n, sizeof(got) - 1 - n)) > 0;)
        n += (size_t)r;
    assert_string_equal(got, expected);
}

static void
a_guard_puts_back_what_a_killed_program_left(void **state)
{
    struct pair *p = *state;
    struct termios before;
    assert_int_equal(tcgetattr(p->slave_fd, &before), 0);
    run_guarded(p, DIES);
    assert_wrote(p, "given back");
    assert_settings(p->master_fd, &before);
}

static void
a_guard_that_was_relieved_touches_nothing(void **state)
{
    struct pair *p = *state;
    run_guarded(p, IS_RELIEVED);
    assert_wrote(p, "");
    assert_true(is_raw(p->master_fd));
}

static void
a_guard_leaves_alone_what_was_given_back(void **state)
{
    struct pair *p = *state;
    run_guarded(p, GAVE_IT_BACK);
    assert_wrote(p, "");
}

static void
without_a_terminal_there_is_no_guard(void **state)
{
    (void)state;
    const struct pty_tty none = { .fd = -1 };
    struct pty_guard guard;
    pty_guard_post(&guard, &none, "given back");
    assert_int_equal(guard.pid, 0);
    pty_guard_relieve(&guard);
}

static void
a_size_of_nothing_is_none(void **state)
{
    struct pair *p = *state;
    uint16_t cols = 7, rows = 7;
    assert_int_equal(pty_set_size(p->master_fd, 132, 43), 0);
    assert_true(pty_size(p->slave_fd, &cols, &rows));
    assert_int_equal(cols, 132);
    assert_int_equal(rows, 43);
    assert_int_equal(pty_set_size(p->master_fd, 0, 43), 0);
    assert_false(pty_size(p->slave_fd, &cols, &rows));
    assert_int_equal(pty_set_size(p->master_fd, 80, 0), 0);
    assert_false(pty_size(p->slave_fd, &cols, &rows));
    assert_int_equal(cols, 132);
}

static void
assert_has_own_nonblock(int fd, int how)
{
    int own = pty_reopen_nonblock(fd, how);
    assert_true(own >= 0);
    assert_int_equal(fcntl(own, F_GETFL) & O_NONBLOCK, O_NONBLOCK);
    assert_int_equal(fcntl(fd, F_GETFL) & O_NONBLOCK, 0);
    assert_int_equal(fcntl(own, F_GETFD), FD_CLOEXEC);
    close(own);
}

static void
a_descriptor_of_our_own_leaves_the_others_blocking(void **state)
{
    struct pair *p = *state;
    int fds[2];
    assert_int_equal(pipe2(fds, O_CLOEXEC), 0);
    assert_has_own_nonblock(p->slave_fd, O_RDONLY);
    assert_has_own_nonblock(p->slave_fd, O_WRONLY);
    assert_has_own_nonblock(fds[0], O_RDONLY);
    assert_has_own_nonblock(fds[1], O_WRONLY);
    close(fds[0]);
    close(fds[1]);
}

static void
it_is_the_same_terminal(void **state)
{
    struct pair *p = *state;
    char got[4] = { 0 };
    int own = pty_reopen_nonblock(p->slave_fd, O_RDONLY);
    assert_true(own >= 0);
    assert_int_equal(read(own, got, sizeof(got)), -1);
    assert_int_equal(errno, EAGAIN);
    assert_int_equal(write(p->master_fd, "x\n", 2), 2);
    int n = 0;
    while (n < 2)
        assert_int_equal(ioctl(own, FIONREAD, &n), 0);
    assert_int_equal(read(own, got, sizeof(got)), 2);
    close(own);
}

static void
what_would_be_another_file_is_not_reopened(void **state)
{
    struct pair *p = *state;
    int fds[2];
    assert_int_equal(pty_reopen_nonblock(p->master_fd, O_RDONLY), -1);
    assert_int_equal(errno, ENOTSUP);
    assert_int_equal(socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, fds), 0);
    assert_int_equal(pty_reopen_nonblock(fds[0], O_RDONLY), -1);
    assert_int_equal(errno, ENOTSUP);
    close(fds[0]);
    close(fds[1]);
    int file = open("/proc/self/exe", O_RDONLY | O_CLOEXEC);
    assert_int_equal(pty_reopen_nonblock(file, O_RDONLY), -1);
    assert_int_equal(errno, ENOTSUP);
    close(file);
    assert_int_equal(pty_reopen_nonblock(-1, O_RDONLY), -1);
    assert_int_equal(errno, EBADF);
}

static void
to_reopen_a_terminal_does_not_take_it(void **state)
{
    struct pair *p = *state;
    int status = -1;
    fflush(NULL);
    pid_t pid = fork();
    if (!pid)
        _exit(setsid() < 0 || pty_reopen_nonblock(p->slave_fd, O_RDONLY) < 0 ||
              open("/dev/tty", O_RDONLY | O_CLOEXEC) >= 0);
    assert_int_equal(waitpid(pid, &status, 0), pid);
    assert_int_equal(status, 0);
}

#define WITH_PAIR(test) cmocka_unit_test_setup_teardown(test, open_pair, close_pair)

int
main(void)
{
    const struct CMUnitTest tests[] = {
        WITH_PAIR(raw_mode_is_entered_and_left),
        WITH_PAIR(what_was_not_made_raw_is_left_alone),
        WITH_PAIR(input_typed_ahead_survives_the_change),
        cmocka_unit_test(what_is_no_terminal_is_none),
        WITH_PAIR(the_state_is_put_back_from_the_background_too),
        WITH_PAIR(a_terminal_of_others_counts_as_foreground),
        WITH_PAIR(a_terminal_left_raw_is_put_back_for_its_owner),
        WITH_PAIR(a_terminal_that_somebody_else_uses_by_now_is_not),
        WITH_PAIR(a_guard_puts_back_what_a_killed_program_left),
        WITH_PAIR(a_guard_that_was_relieved_touches_nothing),
        WITH_PAIR(a_guard_leaves_alone_what_was_given_back),
        cmocka_unit_test(without_a_terminal_there_is_no_guard),
        WITH_PAIR(a_size_of_nothing_is_none),
        WITH_PAIR(a_descriptor_of_our_own_leaves_the_others_blocking),
        WITH_PAIR(it_is_the_same_terminal),
        WITH_PAIR(what_would_be_another_file_is_not_reopened),
        WITH_PAIR(to_reopen_a_terminal_does_not_take_it),
    };
    return cmocka_run_group_tests_name("tty", tests, NULL, NULL);
}
