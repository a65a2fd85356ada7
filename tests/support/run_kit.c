/* SPDX-License-Identifier: MIT */
#include "support/run_kit.h"

#include <errno.h>
#include <poll.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/file.h"

bool
run_kit_is_ready(int fd, short events, int ms)
{
    struct pollfd p = { .fd = fd, .events = events };
    return poll(&p, 1, ms) > 0;
}

int
run_kit_reap(pid_t pid)
{
    int status = 0;
    assert_int_equal(waitpid(pid, &status, 0), pid);
    return status;
}

struct run_child
run_kit_start(const char *script, bool has_input)
{
    struct run_child c = { .pid = -1 };
    struct err err = { 0 };
    int status = 0;
    char words[3][8] = { "sh", "-c", "" };
    char *argv[] = { words[0], words[1], strdup(script), NULL };
    int r = run_child_start(&c, argv, environ, NULL, has_input, &status, &err);
    free(argv[2]);
    if (r)
        fail_msg("%s", err.text);
    return c;
}

void
run_kit_read_all(int fd, struct buf *ret)
{
    uint8_t bytes[4096];
    for (;;) {
        assert_true(run_kit_is_ready(fd, POLLIN, RUN_KIT_PATIENCE_MS));
        ssize_t n = file_read(fd, bytes, sizeof(bytes));
        if (n == -EAGAIN)
            continue;
        assert_true(n >= 0);
        if (!n)
            return;
        assert_int_equal(buf_append(ret, bytes, (size_t)n), 0);
    }
}

void
run_kit_assert_holds(bool (*fn)(void))
{
    pid_t pid = fork();
    assert_true(pid >= 0);
    if (!pid)
        _exit(fn() ? 0 : 1);
    assert_int_equal(run_kit_reap(pid), 0);
}

void
run_kit_put(int fd, const char *text)
{
    assert_int_equal(file_write_all(fd, text, strlen(text)), 0);
}

void
run_kit_close(int *fd)
{
    close(*fd);
    *fd = -1;
}
