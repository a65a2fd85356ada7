/* SPDX-License-Identifier: MIT */
#include "pty/command_priv.h"

#include <errno.h>
#include <fcntl.h>
#include <stdbool.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/file.h"
#include "pty/child.h"

/* glibc's own when there is no PATH. */
#define DEFAULT_PATH "/bin:/usr/bin"

static const char *
search_path(char *const *envp)
{
    for (; envp && *envp; envp++) {
        if (!strncmp(*envp, "PATH=", 5))
            return *envp + 5;
    }
    return DEFAULT_PATH;
}

int
pty_command_paths(const char *command, char *const *envp, struct buf *ret)
{
    if (!*command)
        return 0;
    if (strchr(command, '/'))
        return buf_append(ret, command, strlen(command) + 1);
    const char *dir = search_path(envp);
    for (;;) {
        size_t n = strcspn(dir, ":");
        buf_append(ret, dir, n);
        if (n) /* an empty one is the current folder */
            buf_append(ret, "/", 1);
        buf_append(ret, command, strlen(command) + 1);
        if (!dir[n])
            return ret->failed;
        dir += n + 1;
    }
}

/* Not here, but maybe in the next folder. */
static bool
goes_on(int errnum)
{
    return errnum == EACCES || errnum == ENOENT || errnum == ENOTDIR ||
           errnum == ESTALE || errnum == ENODEV || errnum == ETIMEDOUT ||
           errnum == ENAMETOOLONG;
}

int
pty_command_each(const struct buf *paths, pty_command_try try, void *arg)
{
    int last = ENOENT;
    bool is_denied = false;
    for (size_t at = 0; at < paths->n;) {
        char *path = (char *)paths->p + at;
        last = try(path, arg);
        if (!goes_on(last))
            return last;
        is_denied |= last == EACCES;
        at += strlen(path) + 1;
    }
    return is_denied ? EACCES : last;
}

/* Does a script ask for an interpreter that is not there? exec then says ENOENT. */
static bool
lacks_interpreter(const char *path)
{
    char line[256] = "";
    int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY);
    ssize_t n = fd < 0 ? 0 : file_read(fd, line, sizeof(line) - 1);
    if (fd >= 0)
        close(fd);
    if (n < 3 || line[0] != '#' || line[1] != '!')
        return false;
    char *name = line + 2 + strspn(line + 2, " \t");
    name[strcspn(name, " \t\n")] = 0;
    return *name == '/' && access(name, F_OK) < 0 && errno == ENOENT;
}

static int
probe(char *path, void *arg)
{
    (void)arg;
    struct stat st;
    if (stat(path, &st))
        return errno;
    if (!S_ISREG(st.st_mode))
        return EACCES;
    if (eaccess(path, X_OK))
        return errno;
    return lacks_interpreter(path) ? ENOENT : 0;
}

int
pty_command_status(int errnum)
{
    return errnum == ENOENT || errnum == ENOTDIR || errnum == ENAMETOOLONG ? 127 : 126;
}

/* The command as a path is there: what is to be said about that? */
static int
explain_file(const char *command, const struct stat *st, int errnum, struct err *err)
{
    if (S_ISDIR(st->st_mode))
        return err_code(err, -EISDIR, "cannot run '%s'", command);
    if (errnum == ENOENT)
        return err_set(err, ERR_MISSING,
                       "cannot run '%s': the interpreter that it asks for is missing",
                       command);
    if (errnum == EACCES && S_ISREG(st->st_mode) && !(st->st_mode & 0111))
        return err_set(err, -EACCES, "cannot run '%s': Permission denied (chmod +x?)",
                       command);
    return err_code(err, -errnum, "cannot run '%s'", command);
}

int
pty_command_error(const char *command, int errnum, struct err *err)
{
    struct stat st;
    bool is_here = !stat(command, &st);
    if (strchr(command, '/') && is_here)
        return explain_file(command, &st, errnum, err);
    if (strchr(command, '/') || errnum != ENOENT)
        return err_code(err, -errnum, "cannot run '%s'", command);
    const char *hint = "";
    if (is_here && S_ISREG(st.st_mode))
        hint = " (it is in this folder: put ./ before it)";
    else if (strpbrk(command, " \t"))
        hint = " (the command and its arguments are words of their own; "
               "for a line of shell: sh -c '...')";
    return err_set(err, ERR_MISSING, "cannot run '%s': command not found%s", command,
                   hint);
}

int
pty_command_check(const char *command, struct err *err)
{
    AUTO(buf) paths = { 0 };
    if (pty_command_paths(command, environ, &paths)) {
        err_code(err, paths.failed, "cannot run '%s'", command);
        return 126;
    }
    int errnum = pty_command_each(&paths, probe, NULL);
    if (!errnum)
        return 0;
    pty_command_error(command, errnum, err);
    return pty_command_status(errnum);
}
