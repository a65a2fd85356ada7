/* SPDX-License-Identifier: MIT */
/*
 * run_session_test.c -- a whole run with a real command: what the command is given, and
 * when.
 *
 * Writes that have MARK in them are noted by where they go.
 */
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/uio.h>
#include <unistd.h>

#include "run/run.h"
#include "support/kit.h"

#define MARK "a word to be found again"

static struct buf calls; /* "io command ", as they came */

static const char *
place_of(int fd)
{
    static const char *const places[][2] = { { ".turns.jsonl", "turns" },
                                             { "/io.log", "io" },
                                             { "/1.log", "log" },
                                             { "pipe:", "command" } };
    char name[64], path[4096];
    snprintf(name, sizeof(name), "/proc/self/fd/%d", fd);
    ssize_t n = readlink(name, path, sizeof(path) - 1);
    path[n > 0 ? n : 0] = 0;
    for (size_t i = 0; i < sizeof(places) / sizeof(places[0]); i++)
        if (strstr(path, places[i][0]))
            return places[i][1];
    return NULL;
}

static void
note(int fd, const void *p, size_t n)
{
    const char *place;
    if (gettid() == getpid() && memmem(p, n, MARK, strlen(MARK)) &&
        (place = place_of(fd)))
        buf_printf(&calls, "%s ", place);
}

static void
note_parts(int fd, const struct iovec *parts, int count)
{
    for (int i = 0; i < count; i++)
        note(fd, parts[i].iov_base, parts[i].iov_len);
}

#define WRAP(name, noted, parameters, arguments) \
    ssize_t __real_##name parameters;            \
    ssize_t __wrap_##name parameters;            \
    ssize_t __wrap_##name parameters             \
    {                                            \
        noted;                                   \
        return __real_##name arguments;          \
    }

/* NOLINTBEGIN(bugprone-reserved-identifier): the linker names them */
WRAP(write, note(fd, p, n), (int fd, const void *p, size_t n), (fd, p, n))
WRAP(writev, note_parts(fd, v, n), (int fd, const struct iovec *v, int n), (fd, v, n))
WRAP(pwritev64, note_parts(fd, v, n), (int fd, const struct iovec *v, int n, off_t at),
     (fd, v, n, at))
/* NOLINTEND(bugprone-reserved-identifier) */

static void
say(void *ctx, const char *text)
{
    (void)ctx;
    fail_msg("%s", text);
}

static void
greet(void *ctx, bool has_ignore)
{
    (void)has_ignore;
    (void)ctx;
}

/* `sh -c script` with that input; freed by the caller: the folder it ran in. */
static char *
run(const char *script, const char *input, struct run_result *ret)
{
    char *dir = getcwd(NULL, 0), home[4200], sh[] = "sh", option[] = "-c";
    char *words = strdup(script), *argv[] = { sh, option, words, NULL };
    struct err err = { 0 };
    int fds[2], stdin_fd = fcntl(STDIN_FILENO, F_DUPFD_CLOEXEC, 3);
    snprintf(home, sizeof(home), "%s/home", dir);
    assert_int_equal(mkdir(home, 0700), 0);
    assert_int_equal(pipe2(fds, O_CLOEXEC), 0);
    assert_int_equal(__real_write(fds[1], input, strlen(input)), strlen(input));
    close(fds[1]);
    assert_int_equal(dup2(fds[0], STDIN_FILENO), STDIN_FILENO);
    close(fds[0]);
    struct run_options opt = { .home = home,
                               .root = dir,
                               .argv = argv,
                               .iterations = 1,
                               .cols = 80,
                               .rows = 24,
                               .say = say,
                               .greet = greet };
    if (run_session(&opt, ret, &err) < 0)
        fail_msg("%s", err.text);
    dup2(stdin_fd, STDIN_FILENO);
    close(stdin_fd);
    free(words);
    return dir;
}

static void
what_the_command_gets_is_on_disk_before(void **state)
{
    (void)state;
    struct run_result result;
    free(run("cat >got", MARK "\n", &result));
    assert_int_equal(result.exit_status, 0);
    kit_assert_file("got", MARK "\n");
    const char *told = strstr(buf_str(&calls), "command ");
    assert_non_null(told);
    assert_string_equal(told, "command "); /* the last, and once */
    assert_non_null(strstr(buf_str(&calls), "turns "));
    assert_non_null(strstr(buf_str(&calls), "io "));
    buf_release(&calls);
}

static void
the_command_knows_its_run_and_no_session_around_it(void **state)
{
    (void)state;
    static const char *const around[] = { "AHR_SESSION", "AHR_RUN_DIR", "AHR_IPC",
                                          "AHR_IPC_TOKEN", "AH_RECORDER_IPC_SOCKET" };
    struct run_result result;
    AUTO(buf) want = { 0 };
    for (size_t i = 0; i < sizeof(around) / sizeof(around[0]); i++)
        setenv(around[i], "around", 1);
    setenv("AHR_SESSION_ELSE", "kept", 1);
    char *dir = run("env | grep ^AHR_SESSION= >got; env | grep ^AHR_RUN_DIR= >>got;"
                    "echo \"$AHR_IPC$AHR_IPC_TOKEN$AH_RECORDER_IPC_SOCKET\" >>got;"
                    "echo \"$AHR_SESSION_ELSE\" >>got",
                    "", &result);
    for (size_t i = 0; i < sizeof(around) / sizeof(around[0]); i++)
        unsetenv(around[i]);
    unsetenv("AHR_SESSION_ELSE");
    buf_printf(&want, "AHR_SESSION=%s\nAHR_RUN_DIR=%s/.ahr/sessions/RUN-001\n\nkept\n",
               result.id, dir);
    kit_assert_file("got", buf_str(&want));
    free(dir);
}

int
main(void)
{
    const struct CMUnitTest tests[] = {
        KIT_IN_DIR(what_the_command_gets_is_on_disk_before),
        KIT_IN_DIR(the_command_knows_its_run_and_no_session_around_it),
    };
    return cmocka_run_group_tests_name("run_session", tests, NULL, NULL);
}
