/* SPDX-License-Identifier: MIT */
#include "snap/put_priv.h"

#include <errno.h>
#include <fcntl.h>
#include <stdint.h>
#include <stdio.h>
#include <sys/random.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/banned.h"

enum { TRIES = 16 };

/* A name that nobody has: guessed, and made with O_EXCL. */
static void
guess_name(char name[static 48])
{
    uint64_t number = 0;
    if (getrandom(&number, sizeof(number), GRND_NONBLOCK) < 0)
        number = (uint64_t)getpid();
    snprintf(name, 48, ".ahr-restore-%016llx", (unsigned long long)number);
}

static int
begin_named(struct snap_put *p)
{
    p->has_name = true;
    for (int i = 0; i < TRIES; i++) {
        guess_name(p->made);
        p->fd = openat(p->dir_fd, p->made,
                       O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0600);
        if (p->fd >= 0 || errno != EEXIST)
            break;
    }
    return p->fd < 0 ? -errno : 0;
}

int
snap_put_begin(struct snap_put *p, int dir_fd)
{
    *p = (struct snap_put){ .dir_fd = dir_fd };
    p->fd = openat(dir_fd, ".", O_WRONLY | O_TMPFILE | O_CLOEXEC, 0600);
    if (p->fd >= 0)
        return 0;
    if (errno != EOPNOTSUPP && errno != EISDIR && errno != EINVAL && errno != ENOENT)
        return -errno;
    return begin_named(p);
}

/* The nameless file gets this name, unless something has it. */
static int
give_name(const struct snap_put *p, const char *name)
{
    char self[32];
    snprintf(self, sizeof(self), "/proc/self/fd/%d", p->fd);
    return linkat(AT_FDCWD, self, p->dir_fd, name, AT_SYMLINK_FOLLOW) < 0 ? -errno : 0;
}

/* What has a name of ours goes to its place. */
static int
move(int dir_fd, const char *made, const char *name, bool replaces)
{
    if (replaces)
        return renameat(dir_fd, made, dir_fd, name) < 0 ? -errno : 0;
    if (renameat2(dir_fd, made, dir_fd, name, RENAME_NOREPLACE) == 0)
        return 0;
    if (errno != EINVAL && errno != ENOSYS)
        return -errno;
    if (linkat(dir_fd, made, dir_fd, name, 0) < 0)
        return -errno;
    (void)unlinkat(dir_fd, made, 0);
    return 0;
}

static int
place(struct snap_put *p, const char *name, bool replaces)
{
    if (!p->has_name && !replaces)
        return give_name(p, name);
    int r = 0;
    for (int i = 0; !p->has_name && i < TRIES; i++) {
        guess_name(p->made);
        r = give_name(p, p->made);
        p->has_name = !r;
        if (r != -EEXIST)
            break;
    }
    if (!r)
        r = move(p->dir_fd, p->made, name, replaces);
    if (!r)
        p->has_name = false;
    return r;
}

int
snap_put_end(struct snap_put *p, const char *name, mode_t mode, bool replaces)
{
    int r = fchmod(p->fd, mode) < 0 ? -errno : 0;
    if (!r)
        r = place(p, name, replaces);
    snap_put_drop(p);
    return r;
}

void
snap_put_drop(struct snap_put *p)
{
    if (p->has_name)
        (void)unlinkat(p->dir_fd, p->made, 0);
    close(p->fd);
}

int
snap_put_link(int dir_fd, const char *name, const char *target, bool replaces)
{
    char made[48];
    if (!replaces)
        return symlinkat(target, dir_fd, name) < 0 ? -errno : 0;
    int r = -EEXIST;
    for (int i = 0; r == -EEXIST && i < TRIES; i++) {
        guess_name(made);
        r = symlinkat(target, dir_fd, made) < 0 ? -errno : 0;
    }
    if (r < 0)
        return r;
    r = move(dir_fd, made, name, true);
    if (r < 0)
        (void)unlinkat(dir_fd, made, 0);
    return r;
}
