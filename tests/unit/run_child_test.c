/* SPDX-License-Identifier: MIT */
/* run_child_test.c -- commands on pipes: how they start, or do not, and what they have.
 */
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/file.h"
#include "support/run_kit.h"

static void
assert_prints(const char *script, const char *out)
{
    AUTO(buf) got = { 0 };
    struct run_child c = run_kit_start(script, false);
    run_kit_read_all(c.out_fd, &got);
    assert_string_equal(buf_str(&got), out);
    run_kit_reap(c.pid);
    run_child_close(&c);
}

static void
a_command_has_pipes_and_a_group_of_its_own(void **state)
{
    (void)state;
    AUTO(buf) out = { 0 };
    AUTO(buf) err = { 0 };
    struct run_child c = run_kit_start("read a; echo \"got $a\"; echo bad >&2; exit 7",
                                       true);
    assert_int_equal(getpgid(c.pid), c.pid);
    assert_int_equal(file_write_all(c.in_fd, "x\n", 2), 0);
    run_kit_read_all(c.out_fd, &out);
    run_kit_read_all(c.err_fd, &err);
    assert_string_equal(buf_str(&out), "got x\n");
    assert_string_equal(buf_str(&err), "bad\n");
    assert_int_equal(WEXITSTATUS(run_kit_reap(c.pid)), 7);
    run_child_close(&c);
}

static void
without_input_it_reads_nothing(void **state)
{
    (void)state;
    struct run_child c = run_kit_start("cat; echo end", false);
    assert_int_equal(c.in_fd, -1);
    run_child_signal(&c, SIGKILL);
    run_kit_reap(c.pid);
    run_child_close(&c);
    assert_prints("cat; echo end", "end\n");
}

static void
our_ends_do_not_block_and_theirs_do(void **state)
{
    (void)state;
    uint8_t byte;
    struct run_child c = run_kit_start("cat <&0 >/dev/null; sleep 30", true);
    assert_int_equal(file_read(c.out_fd, &byte, 1), -EAGAIN);
    assert_int_equal(fcntl(c.in_fd, F_GETFD), FD_CLOEXEC);
    assert_int_equal(fcntl(c.out_fd, F_GETFD), FD_CLOEXEC);
    assert_int_equal(fcntl(c.err_fd, F_GETFD), FD_CLOEXEC);
    run_child_signal(&c, SIGKILL);
    assert_int_equal(WTERMSIG(run_kit_reap(c.pid)), SIGKILL);
    run_child_close(&c);
}

static void
it_has_signals_as_they_are_at_first(void **state)
{
    (void)state;
    sigset_t usr1, before;
    sigemptyset(&usr1);
    sigaddset(&usr1, SIGUSR1);
    signal(SIGPIPE, SIG_IGN);
    sigprocmask(SIG_BLOCK, &usr1, &before);
    assert_prints("grep -E 'Sig(Blk|Ign)' /proc/self/status | cut -f2",
                  "0000000000000000\n0000000000000000\n");
    sigprocmask(SIG_SETMASK, &before, NULL);
}

static void
a_signal_reaches_its_group_also_when_it_is_stopped(void **state)
{
    (void)state;
    AUTO(buf) out = { 0 };
    struct run_child c = run_kit_start("sleep 60 & echo $!; wait", false);
    assert_true(run_kit_is_ready(c.out_fd, POLLIN, RUN_KIT_PATIENCE_MS));
    run_child_signal(&c, SIGSTOP);
    int status;
    assert_int_equal(waitpid(c.pid, &status, WUNTRACED), c.pid);
    assert_true(WIFSTOPPED(status));
    run_child_signal(&c, SIGTERM);
    assert_int_equal(WTERMSIG(run_kit_reap(c.pid)), SIGTERM);
    run_kit_read_all(c.out_fd, &out); /* ends when the grandchild is gone, too */
    run_child_close(&c);
}

static void
assert_fails(const char *command, const char *dir, int exit_status, const char *text)
{
    struct run_child c;
    struct err err = { 0 };
    int status = 0;
    char *argv[] = { strdup(command), NULL };
    assert_true(run_child_start(&c, argv, environ, dir, true, &status, &err) < 0);
    free(argv[0]);
    assert_int_equal(status, exit_status);
    if (!strstr(err.text, text))
        fail_msg("'%s' is not in '%s'", text, err.text);
    errno = 0;
    assert_int_equal(waitpid(-1, &status, WNOHANG), -1); /* nobody is left */
}

static void
what_cannot_run_is_told_as_shells_tell_it(void **state)
{
    (void)state;
    assert_fails("no-such-command-here", NULL, 127, "command not found");
    assert_fails("/etc/passwd", NULL, 126, "Permission denied");
    assert_fails("/", NULL, 126, "Is a directory");
    assert_fails("true", "/no/such/folder", 126, "/no/such/folder");
}

static void
it_runs_in_the_folder_it_is_told(void **state)
{
    (void)state;
    AUTO(buf) out = { 0 };
    struct run_child c;
    int status;
    char word[] = "pwd", *argv[] = { word, NULL };
    assert_int_equal(run_child_start(&c, argv, environ, "/usr", false, &status, NULL), 0);
    run_kit_read_all(c.out_fd, &out);
    assert_string_equal(buf_str(&out), "/usr\n");
    run_kit_reap(c.pid);
    run_child_close(&c);
}

static bool
has_nothing_of_ours(void)
{
    closefrom(3); /* what the test's own parent has left open goes on to the command */
    struct run_child c = run_kit_start("ls /proc/$$/fd", true);
    AUTO(buf) out = { 0 };
    run_kit_read_all(c.out_fd, &out);
    waitpid(c.pid, NULL, 0);
    return !strcmp(buf_str(&out), "0\n1\n2\n");
}

static void
it_has_no_descriptor_but_0_1_and_2(void **state)
{
    (void)state;
    run_kit_assert_holds(has_nothing_of_ours);
}

static bool
runs_without_012(void)
{
    AUTO(buf) out = { 0 };
    struct run_child c;
    int status;
    char words[3][32] = { "sh", "-c", "cat; echo out; echo err >&2" };
    char *argv[] = { words[0], words[1], words[2], NULL };
    closefrom(0);
    if (run_child_start(&c, argv, environ, NULL, true, &status, NULL) || c.in_fd <= 2 ||
        c.out_fd <= 2 || c.err_fd <= 2)
        return false;
    if (file_write_all(c.in_fd, "in\n", 3))
        return false;
    close(c.in_fd);
    waitpid(c.pid, &status, 0);
    ssize_t n = file_read(c.out_fd, buf_grow(&out, 64), 64);
    if (n != 7 || memcmp(out.p, "in\nout\n", 7) != 0)
        return false;
    n = file_read(c.err_fd, out.p, 64);
    return n == 4 && !memcmp(out.p, "err\n", 4);
}

static void
it_has_0_1_and_2_where_we_have_none(void **state)
{
    (void)state;
    run_kit_assert_holds(runs_without_012);
}

/* With n descriptors free there is an error that says so, or there is a child. */
static bool
fails_clearly(void)
{
    char word[] = "true", *argv[] = { word, NULL };
    int status, failed = 0;
    closefrom(3);
    for (rlim_t n = 3; n < 16; n++) {
        struct rlimit files = { n, 16 };
        struct run_child c;
        struct err err = { 0 };
        setrlimit(RLIMIT_NOFILE, &files);
        if (run_child_start(&c, argv, environ, "/", true, &status, &err)) {
            failed++;
            if (status != 126 || !strstr(err.text, "Too many open files"))
                return false;
        } else {
            waitpid(c.pid, &status, 0);
            run_child_close(&c);
        }
        if (fcntl(3, F_GETFD) >= 0)
            return false; /* something is left open */
    }
    return failed > 3 && failed < 13;
}

static void
without_room_for_its_pipes_it_fails_clearly(void **state)
{
    (void)state;
    run_kit_assert_holds(fails_clearly);
}

int
main(void)
{
    static const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_command_has_pipes_and_a_group_of_its_own),
        cmocka_unit_test(without_input_it_reads_nothing),
        cmocka_unit_test(our_ends_do_not_block_and_theirs_do),
        cmocka_unit_test(it_has_no_descriptor_but_0_1_and_2),
        cmocka_unit_test(it_has_signals_as_they_are_at_first),
        cmocka_unit_test(a_signal_reaches_its_group_also_when_it_is_stopped),
        cmocka_unit_test(what_cannot_run_is_told_as_shells_tell_it),
        cmocka_unit_test(it_runs_in_the_folder_it_is_told),
        cmocka_unit_test(it_has_0_1_and_2_where_we_have_none),
        cmocka_unit_test(without_room_for_its_pipes_it_fails_clearly),
    };
    return cmocka_run_group_tests_name("run_child", tests, NULL, NULL);
}
