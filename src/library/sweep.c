/* SPDX-License-Identifier: MIT */
/*
 * sweep.c -- what a killed delete, clean or redact has left in sessions/.
 *
 * Whoever deletes or rewrites a session holds its folder, whatever that is called
 * meanwhile. So what is left is told by two locks that are free: that of the folder under
 * the hidden name, and that of the one in its place, if there is one.
 */
#include "library/change.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/buf.h"
#include "base/file.h"
#include "base/tree.h"
#include "session/exchange.h"
#include "session/hold.h"
#include "session/id.h"

enum { NAME_MAX_LEN = sizeof(SESSION_GONE) + SESSION_ID_LEN };

/* The folder of that name in dir_fd, locked: a descriptor; < 0: it is not there, or
 * somebody is at it. */
static int
lock_folder(int dir_fd, const char *name)
{
    return file_locked(
        openat(dir_fd, name, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC));
}

static bool
exists(int dir_fd, const char *name)
{
    struct stat st;
    return fstatat(dir_fd, name, &st, AT_SYMLINK_NOFOLLOW) == 0 || errno != ENOENT;
}

/* Nobody is at it, nor at what is in its place. */
static void
take_away(int dir_fd, const char *name, const char *id, bool can_return)
{
    if (!can_return || exists(dir_fd, id))
        (void)tree_remove(dir_fd, name);
    else if (renameat2(dir_fd, name, dir_fd, id, RENAME_NOREPLACE) < 0 && errno == EINVAL)
        (void)renameat(dir_fd, name, dir_fd, id); /* not known to this file system */
}

static void
sweep(const char *home, int dir_fd, const char *prefix, const char *id, bool can_return)
{
    char name[NAME_MAX_LEN];
    snprintf(name, sizeof(name), "%s%s", prefix, id);
    int place = session_hold(home, id, 0, NULL);
    if (place < 0 && place != ERR_MISSING)
        return;
    int fd = lock_folder(dir_fd, name);
    if (fd == -ENOTDIR || fd == -ELOOP) /* no folder: nobody of ours has made it */
        (void)unlinkat(dir_fd, name, 0);
    if (fd >= 0) {
        take_away(dir_fd, name, id, can_return);
        close(fd);
    }
    if (place >= 0)
        close(place);
}

static int
collect(struct buf *ids, int dir_fd, const char *prefix)
{
    int fd = openat(dir_fd, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    DIR *d = fd < 0 ? NULL : fdopendir(fd);
    size_t n = strlen(prefix);
    int r = 0;
    for (struct dirent *e; d && !r && (e = readdir(d));)
        if (!strncmp(e->d_name, prefix, n) && session_id_is(e->d_name + n))
            r = buf_append(ids, e->d_name + n, SESSION_ID_LEN + 1);
    if (d)
        closedir(d);
    else if (fd >= 0)
        close(fd);
    return r;
}

void
library_sweep(const char *home)
{
    /* In this order: where an old one is left, a new one beside it may be half made. */
    static const struct {
        const char *prefix;
        bool can_return;
    } kinds[] = { { SESSION_GONE, false },
                  { SESSION_OLD, true },
                  { SESSION_NEW, false } };
    AUTO(buf) path = { .ceiling = PATH_MAX };
    buf_printf(&path, "%s/sessions", home);
    int dir_fd = open(buf_str(&path), O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    for (size_t i = 0; dir_fd >= 0 && i < sizeof(kinds) / sizeof(kinds[0]); i++) {
        AUTO(buf) ids = { 0 };
        (void)collect(&ids, dir_fd, kinds[i].prefix);
        for (size_t at = 0; at < ids.n; at += SESSION_ID_LEN + 1)
            sweep(home, dir_fd, kinds[i].prefix, (const char *)ids.p + at,
                  kinds[i].can_return);
    }
    if (dir_fd >= 0)
        close(dir_fd);
}
