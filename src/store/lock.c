/* SPDX-License-Identifier: MIT */
/*
 * lock.c -- who has the library open: path.lock, shared by all who do, held alone by who
 * puts another one in its place. So that he gets his turn however many come and go, he
 * bars path.door for a while, at which all others wait, and again for longer. Killed, he
 * leaves a door that is open.
 */
#include <errno.h>
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/file.h"
#include "store/store_priv.h"

enum {
    BAR_MS = 200, /* the first time; who looks has that patience */
    BAR_MAX_MS = 5000,
    OPEN_MS = 50, /* twice as long as who waits sleeps (clock_back_off()) */
};

/* 0600 whatever the umask. A file that is there is left as it is. */
static int
open_lock(const char *path)
{
    const int flags = O_RDWR | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK;
    int fd = open(path, flags);
    if (fd < 0 && errno == ENOENT) {
        fd = open(path, flags | O_CREAT, 0600);
        if (fd >= 0)
            (void)fchmod(fd, 0600);
    }
    int r = fd < 0 ? -errno : fd;
    if (r == -EACCES || r == -EROFS)
        fd = open(path, (flags & ~O_RDWR) | O_RDONLY);
    return fd < 0 ? r : fd; /* one that is not there could not be made */
}

static int
busy(const struct store *s, struct err *err)
{
    return err_set(err, ERR_BUSY, "'%s' is in use by another ahr; try again", s->path);
}

/* -- those who open it -- */

/* 0 when the door is open, also for who cannot see it. */
static int
pass_door(const struct store *s)
{
    AUTO(buf) path = { 0 };
    if (buf_printf(&path, "%s.door", s->path) < 0)
        return -ENOMEM;
    int fd = open(buf_str(&path), O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK);
    if (fd < 0)
        return 0;
    int r = file_lock(fd, true, s->deadline_ns);
    close(fd);
    return r == ERR_BUSY ? r : 0;
}

int
store_lock(struct store *s, bool is_shared, bool is_needed, struct err *err)
{
    AUTO(buf) path = { 0 };
    int r = buf_printf(&path, "%s.lock", s->path);
    if (r >= 0 && is_shared && s->lock_fd < 0)
        r = pass_door(s);
    if (r >= 0 && s->lock_fd < 0)
        r = s->lock_fd = open_lock(buf_str(&path));
    if (r >= 0)
        r = file_lock(s->lock_fd, is_shared, s->deadline_ns);
    if (r >= 0 || (!is_needed && r != ERR_BUSY))
        return 0;
    return r == ERR_BUSY ? busy(s, err)
                         : err_code(err, r, "cannot lock '%s'", buf_str(&path));
}

/* -- those who make another -- */

/* A lock that goes with its holder: the one before us may have removed the file that we
 * have got. A descriptor, ERR_BUSY or -errno. */
static int
take(const char *path, uint64_t deadline_ns)
{
    for (;;) {
        int fd = open_lock(path);
        int r = fd < 0 ? fd : file_lock(fd, false, deadline_ns);
        if (r >= 0 && file_is_at(fd, path))
            return fd;
        if (fd >= 0)
            close(fd);
        if (r < 0)
            return r;
    }
}

static int
take_beside(const struct store *s, const char *ending, uint64_t deadline_ns,
            struct err *err)
{
    AUTO(buf) path = { 0 };
    int r = buf_printf(&path, "%s%s", s->path, ending);
    if (r >= 0)
        r = take(buf_str(&path), deadline_ns);
    if (r >= 0)
        return r;
    return r == ERR_BUSY ? busy(s, err)
                         : err_code(err, r, "cannot lock '%s'", buf_str(&path));
}

static void
drop_beside(const struct store *s, const char *ending, int *fd)
{
    AUTO(buf) path = { 0 };
    if (*fd < 0)
        return;
    if (buf_printf(&path, "%s%s", s->path, ending) >= 0)
        unlink(buf_str(&path));
    close(*fd);
    *fd = -1;
}

int
store_lock_new(struct store *s, struct err *err)
{
    int r = s->new_lock_fd = take_beside(s, ".lock", 0, err);
    return r < 0 ? r : 0;
}

void
store_unlock_new(struct store *s)
{
    drop_beside(s, ".lock", &s->new_lock_fd);
}

/* Who has it open already and opens it once more stands at the door, too: it is not for
 * ever. */
int
store_lock_alone(struct store *s, struct err *err)
{
    const uint64_t deadline_ns = s->deadline_ns, ms = 1000000;
    for (uint64_t bar_ns = BAR_MS * ms;; bar_ns *= bar_ns < BAR_MAX_MS * ms ? 2 : 1) {
        int r = s->door_fd = take_beside(s, ".door", deadline_ns, err);
        if (r < 0)
            return r;
        uint64_t until_ns = clock_mono_ns() + bar_ns;
        s->deadline_ns = until_ns < deadline_ns ? until_ns : deadline_ns;
        r = store_lock(s, false, true, err);
        s->deadline_ns = deadline_ns;
        if (r != ERR_BUSY || until_ns >= deadline_ns)
            return r;
        drop_beside(s, ".door", &s->door_fd);
        nanosleep(&(struct timespec){ .tv_nsec = OPEN_MS * (long)ms }, NULL);
    }
}

void
store_unlock(struct store *s)
{
    if (s->lock_fd >= 0)
        close(s->lock_fd);
    s->lock_fd = -1;
    drop_beside(s, ".door", &s->door_fd);
}
