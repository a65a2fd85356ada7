/* SPDX-License-Identifier: MIT */
/*
 * launch.c -- how long a command takes to start a program.
 *
 *     launch TIMES FILE COMMAND [ARG]...   starts the command so many times
 *     launch stamp FILE                    the program: leaves the time of its main()
 * there
 *
 * The command is to run the program. For each time there is a line: microseconds from the
 * start to the program's main(), and to the command's end. 0 and 1 are /dev/null.
 */
#include <fcntl.h>
#include <inttypes.h>
#include <spawn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/file.h"

static int
stamp(const char *path)
{
    uint64_t now_ns = clock_mono_ns();
    int fd = open(path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0666);
    return fd < 0 || file_write_all(fd, &now_ns, sizeof(now_ns)) < 0;
}

static int
read_stamp(const char *path, uint64_t *ret_ns)
{
    int fd = open(path, O_RDONLY | O_CLOEXEC);
    ssize_t n = fd < 0 ? -1 : file_read(fd, ret_ns, sizeof(*ret_ns));
    if (fd >= 0)
        close(fd);
    unlink(path);
    return n == sizeof(*ret_ns) ? 0 : -1;
}

static int
launch(const char *path, char **argv)
{
    posix_spawn_file_actions_t files;
    posix_spawn_file_actions_init(&files);
    posix_spawn_file_actions_addopen(&files, STDIN_FILENO, "/dev/null", O_RDONLY, 0);
    posix_spawn_file_actions_addopen(&files, STDOUT_FILENO, "/dev/null", O_WRONLY, 0);
    pid_t pid;
    int status;
    uint64_t main_ns = 0, begin_ns = clock_mono_ns();
    if (posix_spawnp(&pid, argv[0], &files, NULL, argv, environ) != 0 ||
        waitpid(pid, &status, 0) < 0)
        return -1;
    uint64_t end_ns = clock_mono_ns();
    posix_spawn_file_actions_destroy(&files);
    if (status != 0 || read_stamp(path, &main_ns) < 0)
        return -1;
    printf("%.1f %.1f\n", (double)(main_ns - begin_ns) / 1e3,
           (double)(end_ns - begin_ns) / 1e3);
    return 0;
}

int
main(int argc, char **argv)
{
    if (argc == 3 && !strcmp(argv[1], "stamp"))
        return stamp(argv[2]);
    if (argc < 4)
        return 2;
    for (long left = strtol(argv[1], NULL, 10); left > 0; left--) {
        if (launch(argv[2], argv + 3) < 0) {
            fprintf(stderr, "launch: %s did not run the program\n", argv[3]);
            return 1;
        }
    }
    return 0;
}
