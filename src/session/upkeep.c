/* SPDX-License-Identifier: MIT */
#include "session/upkeep.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <signal.h>
#include <spawn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <unistd.h>

#include "base/file.h"
#include "base/program.h"

enum { ARGS_MAX = 12 };

#define HOME "AHR_HOME="

/* A relative one would be another where it is started. Borrows all but the home. */
static char **
make_environment(char *home)
{
    size_t n = 0, kept = 0;
    while (environ[n])
        n++;
    char **env = calloc(n + 2, sizeof(*env));
    for (size_t i = 0; env && i < n; i++)
        if (strncmp(environ[i], HOME, strlen(HOME)) != 0)
            env[kept++] = environ[i];
    if (env)
        env[kept] = home;
    return env;
}

static int
set_files(posix_spawn_file_actions_t *files, int kept_fd)
{
    int r = posix_spawn_file_actions_addchdir_np(files, "/");
    for (int fd = 0; !r && fd < 3; fd++)
        r = posix_spawn_file_actions_addopen(files, fd, "/dev/null", O_RDWR, 0);
    if (!r && kept_fd >= 0)
        r = posix_spawn_file_actions_adddup2(files, kept_fd, SESSION_UPKEEP_FD);
    if (!r)
        r = posix_spawn_file_actions_addclosefrom_np(files,
                                                     SESSION_UPKEEP_FD + (kept_fd >= 0));
    return r;
}

static int
set_attributes(posix_spawnattr_t *attr)
{
    sigset_t none, all;
    sigemptyset(&none);
    sigfillset(&all);
    posix_spawnattr_setsigmask(attr, &none);
    posix_spawnattr_setsigdefault(attr, &all);
    return posix_spawnattr_setflags(attr, POSIX_SPAWN_SETSIGMASK | POSIX_SPAWN_SETSIGDEF |
                                              POSIX_SPAWN_SETSID);
}

/* This program, or from ahr-net the one beside it. */
static int
find_ahr(struct buf *path)
{
    char self[PATH_MAX];
    ssize_t n = readlink("/proc/self/exe", self, sizeof(self) - 1);
    self[n > 0 ? n : 0] = 0;
    bool is_other = !strcmp(file_name(self), "ahr-net");
    int r = is_other ? program_find("ahr", path) : buf_puts(path, "/proc/self/exe");
    return r < 0 ? ENOMEM : 0;
}

static int
spawn(char *const *argv, char *const *env, int kept_fd, pid_t *ret_pid)
{
    AUTO(buf) path = { 0 };
    posix_spawn_file_actions_t files;
    posix_spawnattr_t attr;
    posix_spawn_file_actions_init(&files);
    posix_spawnattr_init(&attr);
    int r = find_ahr(&path);
    if (!r)
        r = set_files(&files, kept_fd);
    if (!r)
        r = set_attributes(&attr);
    if (!r)
        r = posix_spawn(ret_pid, buf_str(&path), &files, &attr, argv, env);
    posix_spawnattr_destroy(&attr);
    posix_spawn_file_actions_destroy(&files);
    return -r;
}

/* It has hardly begun. One that is behind already stays there. */
static void
step_back(pid_t pid)
{
    errno = 0;
    int now = getpriority(PRIO_PROCESS, (id_t)pid);
    if (!errno && now < SESSION_UPKEEP_NICE)
        (void)setpriority(PRIO_PROCESS, (id_t)pid, SESSION_UPKEEP_NICE);
}

/* posix_spawn() takes the words as char *, and changes none. */
static size_t
copy_words(char *ret[ARGS_MAX + 2], const char *const *argv)
{
    static char self[] = "ahr";
    size_t n = 0;
    ret[n++] = self;
    for (size_t i = 0; argv[i] && i < ARGS_MAX; i++)
        memcpy(&ret[n++], &argv[i], sizeof(ret[0]));
    ret[n] = NULL;
    return n;
}

int
session_upkeep_start(const char *home, const char *const *argv, int kept_fd,
                     pid_t *ret_pid)
{
    char *words[ARGS_MAX + 2], *text = NULL;
    pid_t pid = 0;
    copy_words(words, argv);
    if (asprintf(&text, HOME "%s", home) < 0)
        return -ENOMEM;
    char **env = make_environment(text);
    int r = env ? spawn(words, env, kept_fd, &pid) : -ENOMEM;
    free(env);
    free(text);
    if (r < 0)
        return r;
    step_back(pid);
    if (ret_pid)
        *ret_pid = pid;
    return 0;
}
