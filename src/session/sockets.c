/* SPDX-License-Identifier: MIT */
/*
 * sockets.c -- where a live session's sockets are.
 *
 * Temporary folders are everybody's: a folder there counts only when it was made by us,
 * and only inside one where nobody else may rename it.
 */
#include "session/sockets.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdbool.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <time.h>
#include <unistd.h>

#include "base/file.h"

enum {
    /* of a folder whose sockets have room in a struct sockaddr_un, with the NUL */
    DIR_LEN_MAX = sizeof(((struct sockaddr_un *)0)->sun_path) - sizeof("/ctl.sock"),
};

#define OUTSIDE_NAME "ahr-"

static const char *const names[] = { SESSION_CTL_SOCK, SESSION_IPC_SOCK };
enum { NAMES = sizeof(names) / sizeof(names[0]) };

/* A descriptor of a folder that is to be trusted; -EPERM for another. */
static int
open_private(const char *path)
{
    struct stat st;
    int fd = open(path, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
    if (fd < 0)
        return errno == ELOOP || errno == ENOTDIR || errno == EACCES ? -EPERM : -errno;
    int r = fstat(fd, &st) < 0 ? -errno : 0;
    if (!r && (st.st_uid != geteuid() || (st.st_mode & 07777) != 0700))
        r = -EPERM;
    if (!r)
        return fd;
    close(fd);
    return r;
}

static int
check_private(const char *path)
{
    int fd = open_private(path);
    if (fd >= 0)
        close(fd);
    return fd < 0 ? fd : 0;
}

/* May we have a folder in it that nobody else can put another one in the place of? */
static bool
is_fit_parent(const char *path)
{
    struct stat st;
    return path && *path == '/' && stat(path, &st) == 0 && S_ISDIR(st.st_mode) &&
           (st.st_uid == geteuid() || st.st_uid == 0) &&
           (!(st.st_mode & (S_IWGRP | S_IWOTH)) || (st.st_mode & S_ISVTX));
}

/* -- making -- */

static bool
make_named(const char *parent, const char *id, struct buf *dir)
{
    buf_clear(dir);
    if (!is_fit_parent(parent) ||
        buf_printf(dir, "%s/" OUTSIDE_NAME "%s", parent, id) < 0)
        return false;
    const char *path = buf_str(dir);
    return mkdir(path, 0700) == 0 && chmod(path, 0700) == 0 && check_private(path) == 0;
}

static bool
make_unnamed(const char *parent, struct buf *dir)
{
    char path[DIR_LEN_MAX + 1];
    if (!is_fit_parent(parent))
        return false;
    int n = snprintf(path, sizeof(path), "%s/" OUTSIDE_NAME "XXXXXX", parent);
    buf_clear(dir);
    return n < (int)sizeof(path) && mkdtemp(path) && chmod(path, 0700) == 0 &&
           check_private(path) == 0 && buf_puts(dir, path) == 0;
}

static int
note_outside(const char *live_dir, struct buf *dir, struct err *err)
{
    AUTO(buf) note = { .ceiling = PATH_MAX };
    AUTO(buf) text = { 0 };
    buf_printf(&note, "%s/sockets", live_dir);
    buf_printf(&text, "%s\n", buf_str(dir));
    int r = note.failed ? note.failed : text.failed;
    if (r < 0)
        return err_code(err, r, "cannot write '%s/sockets'", live_dir);
    return file_replace(buf_str(&note), (struct view){ text.p, text.n }, false, err);
}

int
session_sockets_make(const char *live_dir, const char *id, struct buf *ret_dir,
                     struct err *err)
{
    AUTO(buf) dir = { .ceiling = DIR_LEN_MAX };
    if (strlen(live_dir) <= DIR_LEN_MAX && check_private(live_dir) == 0) {
        int r = buf_puts(ret_dir, live_dir);
        return r < 0 ? err_code(err, r, "cannot make sockets in '%s'", live_dir) : 0;
    }
    if (!make_named(getenv("XDG_RUNTIME_DIR"), id, &dir) &&
        !make_unnamed(getenv("TMPDIR"), &dir) && !make_unnamed("/tmp", &dir))
        return err_set(err, -ENAMETOOLONG,
                       "no folder for the sockets of '%s': its path is too long, and "
                       "neither XDG_RUNTIME_DIR nor TMPDIR nor /tmp will do",
                       live_dir);
    int r = note_outside(live_dir, &dir, err);
    if (!r && buf_append(ret_dir, dir.p, dir.n) < 0)
        r = err_code(err, ret_dir->failed, "cannot make sockets in '%s'", buf_str(&dir));
    if (r < 0)
        rmdir(buf_str(&dir));
    return r;
}

/* -- finding -- */

/* The folder that live_dir/sockets names: its length, 0 when there is no such file;
 * ERR_DAMAGED when it names what we would not have made. */
static int
read_outside(const char *live_dir, struct buf *ret)
{
    AUTO(buf) path = { .ceiling = PATH_MAX };
    AUTO(buf) text = { .ceiling = PATH_MAX + 65536 }; /* one read of file_slurp */
    if (buf_printf(&path, "%s/sockets", live_dir) < 0)
        return -ENAMETOOLONG;
    int r = file_slurp(buf_str(&path), &text);
    if (r < 0)
        return r == -ENOENT ? 0 : r == ERR_LIMIT ? ERR_DAMAGED : r;
    if (text.n && text.p[text.n - 1] == '\n')
        text.n--;
    if (!text.n || text.n > DIR_LEN_MAX || *text.p != '/' || memchr(text.p, 0, text.n) ||
        strncmp(file_name(buf_str(&text)), OUTSIDE_NAME, strlen(OUTSIDE_NAME)) != 0)
        return ERR_DAMAGED;
    r = buf_append(ret, text.p, text.n);
    return r < 0 ? r : (int)text.n;
}

int
session_sockets_find(const char *live_dir, struct buf *ret_dir, struct err *err)
{
    AUTO(buf) dir = { 0 };
    int r = read_outside(live_dir, &dir);
    if (r == ERR_DAMAGED)
        return err_set(err, r, "'%s/sockets' names no folder of sockets", live_dir);
    if (!r)
        r = buf_puts(&dir, live_dir);
    if (r >= 0)
        r = check_private(buf_str(&dir));
    if (r == -EPERM)
        return err_set(err, r, "'%s' is not this user's private folder; it is not used",
                       buf_str(&dir));
    if (!r)
        r = buf_append(ret_dir, dir.p, dir.n);
    return r < 0 ? err_code(err, r, "cannot find the sockets of '%s'", live_dir) : 0;
}

/* -- the end -- */

static void
remove_in(const char *dir, bool is_outside)
{
    int fd = is_outside ? open_private(dir)
                        : open(dir, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    if (fd < 0)
        return;
    for (size_t i = 0; i < NAMES; i++)
        (void)unlinkat(fd, names[i], 0);
    if (is_outside)
        (void)rmdir(dir);
    else
        (void)unlinkat(fd, "sockets", 0);
    close(fd);
}

void
session_sockets_remove(const char *live_dir)
{
    AUTO(buf) outside = { 0 };
    if (read_outside(live_dir, &outside) > 0)
        remove_in(buf_str(&outside), true);
    remove_in(live_dir, false);
}

static bool
has_ctl(const char *live_dir)
{
    AUTO(buf) path = { .ceiling = PATH_MAX };
    struct err ignored;
    struct stat st;
    int r = session_sockets_find(live_dir, &path, &ignored);
    if (r < 0)
        return r != -ENOENT && r != ERR_MISSING; /* one that is not to be trusted */
    return buf_puts(&path, "/" SESSION_CTL_SOCK) == 0 &&
           lstat(buf_str(&path), &st) == 0 && S_ISSOCK(st.st_mode);
}

bool
session_sockets_are_there(const char *live_dir)
{
    struct timespec pause = { .tv_nsec = 20 * 1000000L };
    bool are_there = has_ctl(live_dir);
    for (int i = 0; !are_there && i < 10; i++) {
        nanosleep(&pause, NULL);
        are_there = has_ctl(live_dir);
    }
    return are_there;
}
