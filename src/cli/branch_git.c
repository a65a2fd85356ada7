/* SPDX-License-Identifier: MIT */
#include "cli/branch_git.h"

#include <errno.h>
#include <fcntl.h>
#include <spawn.h>
#include <stdbool.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/file.h"

enum { WORDS_MAX = 16, SAID_MAX = 1 << 20 };

static bool
leads_elsewhere(const char *entry)
{
    static const char *const names[] = {
        "GIT_DIR=",        "GIT_WORK_TREE=",        "GIT_INDEX_FILE=",
        "GIT_COMMON_DIR=", "GIT_OBJECT_DIRECTORY=", "GIT_NAMESPACE=",
        "GIT_PREFIX="
    };
    for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++)
        if (!strncmp(entry, names[i], strlen(names[i])))
            return true;
    return false;
}

/* Borrows the entries. */
static char **
make_environment(void)
{
    static char plain[] = "LC_ALL=C";
    size_t n = 0, kept = 0;
    while (environ[n])
        n++;
    char **env = calloc(n + 2, sizeof(*env));
    for (size_t i = 0; env && i < n; i++)
        if (!leads_elsewhere(environ[i]) && strncmp(environ[i], "LC_ALL=", 7) != 0)
            env[kept++] = environ[i];
    if (env)
        env[kept] = plain;
    return env;
}

/* posix_spawn() takes the words as char *, and changes none. */
static void
make_words(char *ret[WORDS_MAX + 6], const char *dir, const char *const *words)
{
    const char *const first[] = { "git", "-C", dir, "-c", "core.hooksPath=/dev/null" };
    size_t n = 0;
    for (; n < sizeof(first) / sizeof(first[0]); n++)
        memcpy(&ret[n], &first[n], sizeof(ret[0]));
    for (size_t i = 0; words[i] && i < WORDS_MAX; i++)
        memcpy(&ret[n++], &words[i], sizeof(ret[0]));
    ret[n] = NULL;
}

/* Its output goes to the pipe; what it complains of, too, where nobody wants the output.
 */
static int
spawn(char *const *argv, int out_fd, bool with_complaints, pid_t *ret)
{
    posix_spawn_file_actions_t files;
    char **env = make_environment();
    if (!env)
        return -ENOMEM;
    posix_spawn_file_actions_init(&files);
    int r = posix_spawn_file_actions_addopen(&files, 0, "/dev/null", O_RDONLY, 0);
    if (!r)
        r = posix_spawn_file_actions_adddup2(&files, out_fd, 1);
    if (!r && with_complaints)
        r = posix_spawn_file_actions_adddup2(&files, out_fd, 2);
    else if (!r)
        r = posix_spawn_file_actions_addopen(&files, 2, "/dev/null", O_WRONLY, 0);
    if (!r)
        r = posix_spawnp(ret, "git", &files, NULL, argv, env);
    posix_spawn_file_actions_destroy(&files);
    free(env);
    return -r;
}

/* The line behind the last newline but the one at the end; or the first line. */
static struct view
find_line(const struct buf *said, bool is_last)
{
    struct view line = { said->p, said->n };
    while (line.n && line.p[line.n - 1] == '\n')
        line.n--;
    const uint8_t *cut = !line.n   ? NULL
                         : is_last ? memrchr(line.p, '\n', line.n)
                                   : memchr(line.p, '\n', line.n);
    if (!cut)
        return line;
    size_t before = (size_t)(cut - line.p);
    return is_last ? (struct view){ cut + 1, line.n - before - 1 }
                   : (struct view){ line.p, before };
}

static int
finish(pid_t pid, const struct buf *said, struct buf *ret, struct err *err)
{
    int status = -1;
    while (waitpid(pid, &status, 0) < 0 && errno == EINTR)
        ;
    bool is_well = WIFEXITED(status) && WEXITSTATUS(status) == 0;
    struct view line = find_line(said, !is_well);
    if (!is_well)
        return err_set(err, -EIO, "git says: %.*s", (int)(line.n > 300 ? 300 : line.n),
                       (const char *)line.p);
    return ret ? buf_append(ret, line.p, line.n) : 0;
}

int
cli_branch_git(const char *dir, const char *const *words, struct buf *ret,
               struct err *err)
{
    AUTO(buf) said = { .ceiling = SAID_MAX };
    char *argv[WORDS_MAX + 6];
    pid_t pid = -1;
    int fds[2];
    make_words(argv, dir, words);
    if (pipe2(fds, O_CLOEXEC) < 0)
        return err_sys(err, "cannot start git");
    int r = spawn(argv, fds[1], !ret, &pid);
    close(fds[1]);
    if (!r)
        (void)file_read_all(fds[0], &said);
    close(fds[0]);
    if (r == -ENOENT)
        return err_set(err, ERR_MISSING, "there is no git here: install it");
    return r < 0 ? err_code(err, r, "cannot start git") : finish(pid, &said, ret, err);
}
