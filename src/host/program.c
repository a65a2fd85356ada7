/* SPDX-License-Identifier: MIT */
/*
 * program.c -- what the host does not do itself: this program once more, as another
 * command, with its own memory and its own mistakes.
 */
#include <signal.h>
#include <spawn.h>
#include <unistd.h>

#include "host/host_priv.h"

int
host_spawn(char *const *argv, int from_fd, int to_fd, pid_t *ret_pid)
{
    posix_spawn_file_actions_t files;
    posix_spawnattr_t attr;
    sigset_t none, all;
    pid_t pid;
    sigemptyset(&none);
    sigfillset(&all);
    posix_spawn_file_actions_init(&files);
    if (from_fd >= 0)
        posix_spawn_file_actions_adddup2(&files, from_fd, to_fd);
    posix_spawnattr_init(&attr);
    posix_spawnattr_setsigmask(&attr, &none);
    posix_spawnattr_setsigdefault(&attr, &all);
    posix_spawnattr_setflags(&attr, POSIX_SPAWN_SETSIGMASK | POSIX_SPAWN_SETSIGDEF);
    int r = posix_spawn(&pid, "/proc/self/exe", &files, &attr, argv, environ);
    posix_spawnattr_destroy(&attr);
    posix_spawn_file_actions_destroy(&files);
    if (r)
        return -r;
    *ret_pid = pid;
    return 0;
}
