/* SPDX-License-Identifier: MIT */
/* pty_test.c -- children on real PTYs: how they start, fail to start, and are signalled.
 */
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cmocka.h>

#include "base/file.h"
#include "pty/child.h"
#include "pty/tty.h"

enum { PATIENCE_MS = 20000 };

static char *on_pty; /* the program of tests/tools */

/* A folder for commands; the test's state. */
static int
make_folder(void **state)
{
    char name[] = "/tmp/ahr-pty-XXXXXX";
    if (!mkdtemp(name))
        return -1;
    *state = strdup(name);
    return *state ? 0 : -1;
}

static int
remove_folder(void **state)
{
    DIR *d = opendir(*state);
    if (!d)
        return -1;
    for (struct dirent *e; (e = readdir(d));)
        unlinkat(dirfd(d), e->d_name, 0);
    closedir(d);
    rmdir(*state);
    free(*state);
    return 0;
}

static void
make_file(const char *folder, const char *name, const char *text, mode_t mode)
{
    AUTO(buf) path = { 0 };
    buf_printf(&path, "%s/%s", folder, name);
    int fd = open(buf_str(&path), O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);
    assert_true(fd >= 0);
    assert_int_equal(file_write_all(fd, text, strlen(text)), 0);
    assert_int_equal(fchmod(fd, mode), 0);
    close(fd);
}

static void
fork_child(struct pty_child *c, char *const *argv, char *const *envp)
{
    struct err err = { 0 };
    assert_int_equal(pty_child_fork(c, argv, envp, NULL, 80, 24, &err), 0);
}

static void
start(struct pty_child *c, char *const *argv)
{
    int status = 0;
    struct err err = { 0 };
    fork_child(c, argv, environ);
    assert_int_equal(pty_child_exec(c, argv[0], &status, &err), 0);
}

/* Reads the PTY until `until` has been said; NULL: until nobody has it open any more. */
static void
listen_to(struct pty_child *c, const char *until, struct buf *said)
{
    for (;;) {
        struct pollfd p = { .fd = c->master_fd, .events = POLLIN };
        assert_int_equal(poll(&p, 1, PATIENCE_MS), 1);
        assert_int_equal(buf_reserve(said, 4096), 0);
        ssize_t n = file_read(c->master_fd, said->p + said->n, 4096);
        if (n == -EIO && !until)
            return;
        assert_true(n > 0);
        said->n += (size_t)n;
        if (until && strstr(buf_str(said), until))
            return;
    }
}

static int
wait_status(pid_t pid)
{
    int status = -1;
    assert_int_equal(waitpid(pid, &status, 0), pid);
    return status;
}

/* What the child says until its end; returns its wait status. */
static int
hear_out(struct pty_child *c, struct buf *said)
{
    listen_to(c, NULL, said);
    close(c->master_fd);
    return wait_status(c->pid);
}

static void
assert_says(struct buf *said, const char *text)
{
    if (!strstr(buf_str(said), text))
        fail_msg("'%s' is not in: %s", text, buf_str(said));
}

static void
start_on_pty(struct pty_child *c, const char *mode)
{
    char *argv[] = { on_pty, strdup(mode), NULL };
    start(c, argv);
    free(argv[1]);
}

static void
run_report(struct buf *said)
{
    struct pty_child c;
    start_on_pty(&c, "report");
    assert_int_equal(hear_out(&c, said), 0);
}

static void
no_signal_is_blocked_or_ignored(void **state)
{
    (void)state;
    sigset_t all, before;
    struct sigaction ignore = { .sa_handler = SIG_IGN }, old[_NSIG];
    for (int i = 1; i <= SIGRTMAX; i++)
        sigaction(i, &ignore, &old[i]);
    sigfillset(&all);
    sigprocmask(SIG_SETMASK, &all, &before);
    /* An ignored SIGCHLD would reap for us. */
    sigaction(SIGCHLD, &(struct sigaction){ .sa_handler = SIG_DFL }, NULL);
    AUTO(buf) said = { 0 };
    run_report(&said);
    sigset_t after;
    sigprocmask(SIG_SETMASK, &before, &after);
    for (int i = 1; i <= SIGRTMAX; i++)
        sigaction(i, &old[i], NULL);
    assert_says(&said, "SigBlk:\t0000000000000000");
    assert_says(&said, "SigIgn:\t0000000000000000");
    assert_int_equal(sigismember(&after, SIGTERM), 1); /* ours is as it was */
}

static bool
is_terminal_three_times(struct buf *said)
{
    return strstr(buf_str(said), "0 is the terminal: 1") &&
           strstr(buf_str(said), "1 is the terminal: 1") &&
           strstr(buf_str(said), "2 is the terminal: 1");
}

static void
the_terminal_is_its_own(void **state)
{
    (void)state;
    AUTO(buf) said = { 0 };
    run_report(&said);
    assert_says(&said, "leads session: 1");
    assert_says(&said, "in foreground: 1");
    assert_true(is_terminal_three_times(&said));
}

static unsigned long long
inherited_fds(void)
{
    unsigned long long fds = 7;
    for (int i = 3; i < 64; i++) {
        int flags = fcntl(i, F_GETFD);
        if (flags >= 0 && !(flags & FD_CLOEXEC))
            fds |= 1ULL << i;
    }
    return fds;
}

static void
descriptors_of_the_shell_are_passed_on_and_no_others(void **state)
{
    (void)state;
    int fd = open("/dev/null", O_RDONLY); /* NOLINT: it is to be inherited */
    assert_true(fd >= 3);
    AUTO(buf) said = { 0 };
    AUTO(buf) expected = { 0 };
    buf_printf(&expected, "fds: %llx\r", inherited_fds());
    run_report(&said);
    close(fd);
    assert_says(&said, buf_str(&expected));
}

/* As a daemon may call us. */
static void
closed_descriptors_of_the_caller_do_no_harm(void **state)
{
    (void)state;
    fflush(NULL);
    pid_t pid = fork();
    if (!pid) {
        for (int i = 0; i < 3; i++)
            close(i);
        AUTO(buf) said = { 0 };
        run_report(&said);
        _exit(is_terminal_three_times(&said) ? 0 : 1);
    }
    assert_int_equal(wait_status(pid), 0);
}

static void
size_and_settings_are_those_that_were_given(void **state)
{
    (void)state;
    struct pty_child c;
    struct termios given, got;
    uint16_t cols = 0, rows = 0;
    char *argv[] = { on_pty, NULL };
    fork_child(&c, argv, environ);
    assert_int_equal(tcgetattr(c.master_fd, &given), 0);
    assert_true(pty_size(c.master_fd, &cols, &rows));
    assert_int_equal(cols, 80);
    assert_int_equal(rows, 24);
    assert_int_equal(given.c_lflag & (ECHO | ICANON | ISIG | IEXTEN),
                     ICANON | ISIG | IEXTEN);
    assert_int_equal(given.c_iflag & (ICRNL | IXON | IUTF8), ICRNL | IUTF8);
    pty_child_cancel(&c);

    given.c_cc[VINTR] = 'i';
    given.c_lflag ^= ECHO | ISIG;
    assert_int_equal(pty_child_fork(&c, argv, environ, &given, 65535, 1, NULL), 0);
    assert_int_equal(tcgetattr(c.master_fd, &got), 0);
    assert_true(pty_size(c.master_fd, &cols, &rows));
    assert_int_equal(cols, 65535);
    assert_int_equal(rows, 1);
    assert_int_equal(got.c_lflag, given.c_lflag);
    assert_memory_equal(got.c_cc, given.c_cc, sizeof(got.c_cc));
    pty_child_cancel(&c);
}

/* Is said before and by exec itself. */
static void
assert_cannot_run(const char *folder, const char *command, int status, const char *why)
{
    struct err checked = { 0 }, err = { 0 };
    struct pty_child c;
    int got = 0;
    AUTO(buf) path = { 0 };
    buf_printf(&path, strchr(command, '/') ? "%s%s" : "%.0s%s", folder, command);
    char *argv[] = { strdup(buf_str(&path)), NULL };
    assert_int_equal(pty_command_check(argv[0], &checked), status);
    assert_non_null(strstr(checked.text, why));
    fork_child(&c, argv, environ);
    assert_true(pty_child_exec(&c, argv[0], &got, &err) < 0);
    assert_int_equal(got, status);
    assert_string_equal(err.text, checked.text);
    assert_non_null(strstr(err.text, argv[0]));
    assert_int_equal(waitpid(c.pid, NULL, 0), -1);
    assert_int_equal(errno, ECHILD);
    assert_int_equal(c.master_fd, -1);
    free(argv[0]);
}

static void
what_cannot_run_is_said_with_the_status_of_shells(void **state)
{
    make_file(*state, "plain", "x", 0600);
    assert_cannot_run(*state, "no-such-command-here", 127, ": command not found");
    assert_cannot_run(*state, "ls -l", 127, "words of their own");
    assert_cannot_run(*state, "", 127, "cannot run ''");
    assert_cannot_run(*state, "/nothing", 127, "No such file");
    assert_cannot_run(*state, "/plain/x", 127, "Not a directory");
    assert_cannot_run(*state, "/plain", 126, "Permission denied (chmod +x?)");
    assert_cannot_run(*state, "/", 126, "Is a directory");
}

static void
an_interpreter_that_is_missing_is_named_as_the_reason(void **state)
{
    make_file(*state, "script", "#!/no/such/interpreter\n", 0700);
    AUTO(buf) path = { 0 };
    buf_printf(&path, "%s/script", (char *)*state);
    struct pty_child c;
    struct err err = { 0 };
    int status = 0;
    char *argv[] = { strdup(buf_str(&path)), NULL };
    fork_child(&c, argv, environ);
    assert_true(pty_child_exec(&c, argv[0], &status, &err) < 0);
    assert_int_equal(status, 127);
    assert_non_null(strstr(err.text, "interpreter"));
    free(argv[0]);
}

/* Runs `command x y` with only PATH in its environment. */
static int
run_with_path(const char *path, const char *command, struct buf *said)
{
    struct pty_child c;
    int status = 0;
    AUTO(buf) env = { 0 };
    buf_printf(&env, "PATH=%s", path);
    char *argv[] = { strdup(command), strdup("x"), strdup("y z"), NULL };
    char *envp[] = { strdup(buf_str(&env)), NULL };
    fork_child(&c, argv, envp);
    if (!pty_child_exec(&c, argv[0], &status, NULL))
        status = hear_out(&c, said);
    for (int i = 0; i < 3; i++)
        free(argv[i]);
    free(envp[0]);
    return status;
}

static void
a_script_without_an_interpreter_line_runs_in_sh(void **state)
{
    make_file(*state, "script", "echo \"$0 has $1 and $2\"; exit 3\n", 0700);
    AUTO(buf) said = { 0 };
    AUTO(buf) expected = { 0 };
    buf_printf(&expected, "%s/script has x and y z\r\n", (char *)*state);
    int status = run_with_path(*state, "script", &said);
    assert_int_equal(WEXITSTATUS(status), 3);
    assert_string_equal(buf_str(&said), buf_str(&expected));
}

/* execvp goes on behind a folder that is not there, or has it but not to be run. */
static void
the_childs_own_path_is_searched_to_its_end(void **state)
{
    make_file(*state, "tool", "echo found\n", 0700);
    make_file(*state, "dull", "echo found\n", 0600);
    AUTO(buf) path = { 0 };
    AUTO(buf) said = { 0 };
    buf_printf(&path, "/no/such/folder:/etc/passwd:%s", (char *)*state);
    assert_int_equal(run_with_path(buf_str(&path), "tool", &said), 0);
    assert_string_equal(buf_str(&said), "found\r\n");
    assert_int_equal(run_with_path("/no/such/folder", "tool", &said), 127);
    assert_int_equal(run_with_path(buf_str(&path), "dull", &said), 126);
}

static void
an_empty_part_of_path_is_the_current_folder(void **state)
{
    make_file(*state, "tool", "echo found\n", 0700);
    AUTO(buf) said = { 0 };
    char *before = getcwd(NULL, 0);
    assert_int_equal(chdir(*state), 0);
    int status = run_with_path("/no/such/folder:", "tool", &said);
    assert_int_equal(chdir(before), 0);
    free(before);
    assert_int_equal(status, 0);
    assert_string_equal(buf_str(&said), "found\r\n");
}

static void
a_gate_that_closes_ends_the_child_unrun(void **state)
{
    (void)state;
    struct pty_child c;
    char mode[] = "stop"; /* would never end */
    fork_child(&c, (char *[]){ on_pty, mode, NULL }, environ);
    close(c.gate_fd);
    AUTO(buf) said = { 0 };
    assert_int_equal(hear_out(&c, &said), 0);
    assert_int_equal(said.n, 0);
    close(c.errno_fd);
}

static void
nothing_is_left_of_a_cancelled_child(void **state)
{
    (void)state;
    struct pty_child c;
    char *argv[] = { on_pty, NULL };
    fork_child(&c, argv, environ);
    kill(c.pid, SIGSTOP); /* even then */
    int status;
    assert_int_equal(waitpid(c.pid, &status, WUNTRACED), c.pid);
    assert_true(WIFSTOPPED(status));
    int fd = c.master_fd;
    pty_child_cancel(&c);
    assert_int_equal(waitpid(c.pid, NULL, 0), -1);
    assert_int_equal(errno, ECHILD);
    assert_int_equal(fcntl(fd, F_GETFD), -1);
    assert_int_equal(c.master_fd, -1);
    assert_int_equal(c.gate_fd, -1);
    assert_int_equal(c.errno_fd, -1);
}

/* No SIGPIPE, no waiting for ever: it ran, in a way, and was killed. */
static void
a_child_killed_at_the_gate_is_one_that_was_killed(void **state)
{
    (void)state;
    struct pty_child c;
    siginfo_t info;
    int status = 0;
    char *argv[] = { on_pty, NULL };
    fork_child(&c, argv, environ);
    kill(c.pid, SIGKILL);
    assert_int_equal(waitid(P_PID, (id_t)c.pid, &info, WEXITED | WNOWAIT), 0);
    assert_int_equal(pty_child_exec(&c, on_pty, &status, NULL), 0);
    assert_int_equal(WTERMSIG(wait_status(c.pid)), SIGKILL);
    close(c.master_fd);
}

static void
a_signal_reaches_the_child_and_the_job_in_the_foreground(void **state)
{
    (void)state;
    struct pty_child c;
    AUTO(buf) said = { 0 };
    start_on_pty(&c, "jobs");
    listen_to(&c, "ready", &said);
    assert_int_not_equal(tcgetpgrp(c.master_fd), c.pid);
    pty_child_signal(&c, SIGTERM);
    assert_int_equal(WTERMSIG(hear_out(&c, &said)), SIGTERM); /* of both: none holds it */
}

static void
a_child_in_the_foreground_gets_a_signal_once(void **state)
{
    (void)state;
    struct pty_child c;
    AUTO(buf) said = { 0 };
    start_on_pty(&c, "count");
    listen_to(&c, "ready", &said);
    pty_child_signal(&c, SIGRTMIN);
    pty_child_signal(&c, SIGRTMIN + 1);
    assert_int_equal(hear_out(&c, &said), 0);
    assert_string_equal(buf_str(&said), "ready\r\ngot it\r\n");
}

static void
a_stopped_child_notices_a_signal(void **state)
{
    (void)state;
    struct pty_child c;
    AUTO(buf) said = { 0 };
    int status;
    start_on_pty(&c, "stop");
    assert_int_equal(waitpid(c.pid, &status, WUNTRACED), c.pid);
    assert_true(WIFSTOPPED(status));
    pty_child_signal(&c, SIGHUP);
    assert_int_equal(WTERMSIG(hear_out(&c, &said)), SIGHUP);
}

#define WITH_FOLDER(test) \
    cmocka_unit_test_setup_teardown(test, make_folder, remove_folder)

int
main(int argc, char **argv)
{
    if (argc != 2)
        return 2;
    on_pty = argv[1];
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(no_signal_is_blocked_or_ignored),
        cmocka_unit_test(the_terminal_is_its_own),
        cmocka_unit_test(descriptors_of_the_shell_are_passed_on_and_no_others),
        cmocka_unit_test(closed_descriptors_of_the_caller_do_no_harm),
        cmocka_unit_test(size_and_settings_are_those_that_were_given),
        WITH_FOLDER(what_cannot_run_is_said_with_the_status_of_shells),
        WITH_FOLDER(an_interpreter_that_is_missing_is_named_as_the_reason),
        WITH_FOLDER(a_script_without_an_interpreter_line_runs_in_sh),
        WITH_FOLDER(the_childs_own_path_is_searched_to_its_end),
        WITH_FOLDER(an_empty_part_of_path_is_the_current_folder),
        cmocka_unit_test(a_gate_that_closes_ends_the_child_unrun),
        cmocka_unit_test(nothing_is_left_of_a_cancelled_child),
        cmocka_unit_test(a_child_killed_at_the_gate_is_one_that_was_killed),
        cmocka_unit_test(a_signal_reaches_the_child_and_the_job_in_the_foreground),
        cmocka_unit_test(a_child_in_the_foreground_gets_a_signal_once),
        cmocka_unit_test(a_stopped_child_notices_a_signal),
    };
    return cmocka_run_group_tests_name("pty", tests, NULL, NULL);
}
