/* SPDX-License-Identifier: MIT */
/*
 * output.c -- where a document goes.
 *
 * While there is a file under another name the signals that would end the program are
 * held, and looked for between writes: nobody else would remove it.
 */
#include "cli/output.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/file.h"

static const int held[] = { SIGHUP, SIGINT, SIGQUIT, SIGTERM };

enum { HELD = sizeof(held) / sizeof(held[0]) };

/* Those that are ignored stay so: held, they would wait, and end what was to go on. */
static void
hold_signals(struct cli_output *o)
{
    sigset_t set;
    struct sigaction now;
    sigemptyset(&set);
    for (size_t i = 0; i < HELD; i++)
        if (sigaction(held[i], NULL, &now) == 0 && now.sa_handler != SIG_IGN)
            sigaddset(&set, held[i]);
    sigprocmask(SIG_BLOCK, &set, &o->mask);
}

/* Takes back what was made; a signal that waited ends the program now. */
static void
abandon(struct cli_output *o)
{
    unlink(buf_str(&o->made));
    buf_clear(&o->made);
    sigprocmask(SIG_SETMASK, &o->mask, NULL);
}

static void
heed_signals(struct cli_output *o)
{
    sigset_t pending;
    sigpending(&pending);
    for (size_t i = 0; i < HELD; i++)
        if (sigismember(&pending, held[i]) == 1 && !sigismember(&o->mask, held[i])) {
            abandon(o);
            o->error = -EINTR; /* for one who has another use for it */
            return;
        }
}

/* -- where to -- */

static bool
is_stdout(const struct stat *st)
{
    struct stat own;
    return fstat(STDOUT_FILENO, &own) == 0 && own.st_dev == st->st_dev &&
           own.st_ino == st->st_ino;
}

/* The folder must be there, and take a new file. */
static int
check_folder(struct cli_output *o)
{
    AUTO(buf) dir = { .ceiling = PATH_MAX };
    const char *path = buf_str(&o->path);
    size_t n = file_dir_len(path);
    buf_append(&dir, path, n);
    if (buf_puts(&dir, n ? "/." : ".") < 0) /* a file is no folder */
        return -ENAMETOOLONG;
    return access(buf_str(&dir), W_OK | X_OK) < 0 ? -errno : 0;
}

static int
find_place(struct cli_output *o)
{
    char real[PATH_MAX];
    struct stat st;
    if (!*file_name(o->name))
        return *o->name ? -EISDIR : -ENOENT;
    bool exists = stat(o->name, &st) == 0;
    if (exists && S_ISDIR(st.st_mode))
        return -EISDIR;
    if (exists && is_stdout(&st)) {
        o->name = NULL;
        o->fd = STDOUT_FILENO;
        return 0;
    }
    if (exists && !S_ISREG(st.st_mode))
        return access(o->name, W_OK) < 0 ? -errno : 0;
    if (exists && access(o->name, W_OK) < 0) /* its folder alone would allow it */
        return -errno;
    /* A link that leads nowhere is replaced. */
    int r = buf_puts(&o->path, exists && realpath(o->name, real) ? real : o->name);
    return r < 0 ? r : check_folder(o);
}

/* A folder that is not there is no missing session. */
static int
fail(int code, const char *name, struct err *err)
{
    int r = name ? err_code(err, code, "cannot write '%s'", name)
                 : err_code(err, code, "cannot write to standard output");
    return r == ERR_MISSING ? -ENOENT : r;
}

bool
cli_output_has_colours(void)
{
    const char *no = getenv("NO_COLOR"), *term = getenv("TERM");
    return isatty(STDOUT_FILENO) && !(no && *no) && !(term && !strcmp(term, "dumb"));
}

int
cli_output_init(struct cli_output *o, const char *name, struct err *err)
{
    *o = (struct cli_output){ .name = name, .fd = -1 };
    if (!name || !strcmp(name, "-")) {
        o->name = NULL;
        o->fd = STDOUT_FILENO;
        return 0;
    }
    int r = find_place(o);
    return r < 0 ? fail(r, name, err) : 0;
}

/* -- writing -- */

/* As the file that it replaces; else as any program makes one. */
static mode_t
mode_of(const char *path)
{
    struct stat st;
    if (stat(path, &st) == 0)
        return st.st_mode & 0777;
    mode_t mask = umask(0);
    umask(mask);
    return 0666 & ~mask;
}

static int
make_file(struct cli_output *o)
{
    int r = buf_printf(&o->made, "%s.XXXXXX", buf_str(&o->path));
    if (r >= 0)
        r = buf_append(&o->made, "", 1); /* so that it can be filled in */
    if (r < 0)
        return r;
    hold_signals(o);
    o->fd = mkostemp((char *)o->made.p, O_CLOEXEC);
    if (o->fd >= 0 && fchmod(o->fd, mode_of(buf_str(&o->path))) == 0)
        return 0;
    r = -errno;
    if (o->fd < 0)
        buf_clear(&o->made), sigprocmask(SIG_SETMASK, &o->mask, NULL);
    return r;
}

static int
open_output(struct cli_output *o)
{
    if (o->path.n)
        return make_file(o);
    o->fd = open(o->name, O_WRONLY | O_CLOEXEC | O_NOCTTY);
    return o->fd < 0 ? -errno : 0;
}

int
cli_output_write(void *ctx, struct view bytes)
{
    struct cli_output *o = ctx;
    if (o->fd < 0 && !o->error)
        o->error = open_output(o);
    if (o->made.n)
        heed_signals(o);
    if (!o->error)
        o->error = file_write_all(o->fd, bytes.p, bytes.n);
    return o->error;
}

int
cli_output_fail(const struct cli_output *o, struct err *err)
{
    return fail(o->error, o->name, err);
}

int
cli_output_commit(struct cli_output *o, struct err *err)
{
    int r = cli_output_write(o, (struct view){ 0 }); /* a file, even if it is empty */
    if (!r && o->made.n && fdatasync(o->fd) < 0)     /* before it is the one there is */
        r = -errno;
    if (!r && o->fd != STDOUT_FILENO) {
        r = close(o->fd) < 0 ? -errno
                             : 0; /* some disks tell only now that they are full */
        o->fd = -1;
    }
    if (!r && o->made.n) {
        r = rename(buf_str(&o->made), buf_str(&o->path)) < 0 ? -errno : 0;
        if (!r)
            buf_clear(&o->made), sigprocmask(SIG_SETMASK, &o->mask, NULL);
    }
    o->error = r;
    return r < 0 ? cli_output_fail(o, err) : 0;
}

void
cli_output_release(struct cli_output *o)
{
    if (o->fd >= 0 && o->fd != STDOUT_FILENO)
        close(o->fd);
    if (o->made.n)
        abandon(o);
    buf_release(&o->path);
    buf_release(&o->made);
    o->fd = -1;
}
