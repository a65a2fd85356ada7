/* SPDX-License-Identifier: MIT */
#include "snap/still_priv.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <signal.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/file.h"
#include "snap/cache_priv.h"

enum {
    WHOLE_MAX = 1 << 20, /* read before any of it is sent */
    PIECE = 256 << 10,
};

static int64_t
ns_of(const struct timespec *t)
{
    return t->tv_sec * INT64_C(1000000000) + t->tv_nsec;
}

static struct snap_look
look_of(const struct stat *st)
{
    return (struct snap_look){ .ino = st->st_ino,
                               .size_bytes = (uint64_t)st->st_size,
                               .mtime_ns = ns_of(&st->st_mtim),
                               .ctime_ns = ns_of(&st->st_ctim),
                               .mode = st->st_mode };
}

static bool
look_at(int fd, struct snap_look *ret)
{
    struct stat st;
    if (fstat(fd, &st) < 0)
        return false;
    *ret = look_of(&st);
    return true;
}

/* How long ago was the last change, by the clock that the times of files are taken from?
 * Below zero when that clock was set back. */
static int64_t
age_ns(const struct snap_look *l)
{
    struct timespec now;
    clock_gettime(CLOCK_REALTIME_COARSE, &now);
    return ns_of(&now) - l->ctime_ns;
}

bool
snap_look_is_settled(const struct snap_look *l)
{
    int64_t age = age_ns(l);
    /* Where times are whole seconds, or two. */
    bool is_coarse = l->ctime_ns % 1000000000 == 0;
    int64_t granule = (int64_t)(is_coarse ? SNAP_REST_NS : SNAP_GRANULE_NS);
    return age >= granule || age <= -granule;
}

/* A lease for reading is given only where nobody writes. We are told of a break of it by
 * a signal that does nothing. */
static bool
has_no_writer(int fd)
{
    if (fcntl(fd, F_SETSIG, SIGURG) < 0 || fcntl(fd, F_SETLEASE, F_RDLCK) < 0)
        return false;
    fcntl(fd, F_SETLEASE, F_UNLCK);
    return true;
}

static bool
is_at_rest(int fd, struct snap_try *t, const struct snap_look *now)
{
    uint64_t mono = clock_mono_ns();
    if (!t->since_ns || !snap_look_is_same(&t->look, now)) {
        t->look = *now;
        t->since_ns = mono;
    }
    if (age_ns(now) >= (int64_t)SNAP_REST_NS || mono - t->since_ns >= SNAP_REST_NS)
        return true;
    return snap_look_is_settled(now) && has_no_writer(fd);
}

/* How many of the bytes there are; -errno. */
static ssize_t
read_up_to(int fd, uint8_t *p, size_t n)
{
    size_t got = 0;
    while (got < n) {
        ssize_t r = file_read(fd, p + got, n - got);
        if (r < 0)
            return r;
        if (r == 0)
            break;
        got += (size_t)r;
    }
    return (ssize_t)got;
}

/* All of it is here before git hears of it, so that nothing torn is sent. */
static int
read_whole(struct snap_reader *r, int fd, size_t size, bool *ret_is_whole)
{
    buf_clear(&r->bytes);
    int e = buf_reserve(&r->bytes, WHOLE_MAX + 1);
    ssize_t n = e < 0 ? e : read_up_to(fd, r->bytes.p, size + 1);
    if (n < 0)
        return (int)n;
    r->bytes.n = (size_t)n;
    *ret_is_whole = r->bytes.n == size;
    return 0;
}

/* What was promised to git must come, whatever becomes of the file: nobody names it. */
static int
read_pieces(struct snap_reader *r, int fd, uint64_t size, bool *ret_is_whole,
            uint64_t *ret_blob)
{
    buf_clear(&r->bytes);
    int e = buf_reserve(&r->bytes, PIECE);
    if (e < 0)
        return e;
    *ret_blob = snap_import_begin_blob(r->import, size);
    *ret_is_whole = true;
    while (size) {
        size_t want = size < PIECE ? (size_t)size : PIECE;
        ssize_t n = *ret_is_whole ? read_up_to(fd, r->bytes.p, want) : 0;
        if (n < 0)
            e = (int)n;
        if (n != (ssize_t)want) {
            *ret_is_whole = false;
            memset(r->bytes.p, 0, want);
        }
        snap_import_put(r->import, r->bytes.p, want);
        size -= want;
    }
    return e;
}

static enum snap_still
refuse(struct snap_try *t, enum snap_reason why)
{
    t->why = why;
    return SNAP_REFUSED;
}

static enum snap_still
read_once(struct snap_reader *r, int fd, struct snap_try *t)
{
    struct snap_look before, after;
    bool is_whole = false;
    uint64_t blob = 0;
    if (!look_at(fd, &before))
        return refuse(t, SNAP_SKIP_UNREADABLE);
    if (before.size_bytes > r->file_bytes_max)
        return refuse(t, SNAP_SKIP_LARGE);
    if (!is_at_rest(fd, t, &before))
        return SNAP_LATER;
    bool is_small = before.size_bytes <= WHOLE_MAX;
    int e = is_small ? read_whole(r, fd, (size_t)before.size_bytes, &is_whole)
                     : read_pieces(r, fd, before.size_bytes, &is_whole, &blob);
    bool has_after = e >= 0 && look_at(fd, &after);
    bool is_good = has_after && is_whole && snap_look_is_same(&before, &after);
    if (!is_good && !is_small)
        r->import->wasted += before.size_bytes;
    if (!has_after)
        return refuse(t, SNAP_SKIP_UNREADABLE);
    if (!is_good)
        return SNAP_LATER;
    t->blob = is_small
                  ? snap_import_blob(r->import, (struct view){ r->bytes.p, r->bytes.n })
                  : blob;
    t->look = after;
    return SNAP_READ;
}

static enum snap_still
tell(struct snap_try *t, int error)
{
    switch (error) {
    case -ENOENT:
    case -ENOTDIR:
        return SNAP_LOST;
    case -ELOOP:
    case -EINVAL:
    case -ENXIO:
        return SNAP_LATER; /* it has become something else */
    default:
        return refuse(t, SNAP_SKIP_UNREADABLE);
    }
}

enum snap_still
snap_still_read(struct snap_reader *r, struct snap_try *t)
{
    int fd = below_open_file(r->root_fd, t->path);
    if (fd < 0)
        return tell(t, fd);
    enum snap_still s = read_once(r, fd, t);
    close(fd);
    return s;
}

/* A link never changes: another one takes its place. That may have the same inode: so the
 * clock must have moved on, or the two would look the same. */
enum snap_still
snap_still_link(struct snap_reader *r, struct snap_try *t)
{
    char target[PATH_MAX + 1];
    struct stat st;
    const char *name = file_name(t->path);
    size_t dir_len = file_dir_len(t->path);
    char dir[PATH_MAX];
    memcpy(dir, t->path, dir_len);
    dir[dir_len] = 0;
    int fd = below_open(r->root_fd, dir, O_PATH | O_DIRECTORY);
    if (fd < 0)
        return tell(t, fd);
    int e = fstatat(fd, name, &st, AT_SYMLINK_NOFOLLOW) < 0 ? -errno : 0;
    if (!e)
        t->look = look_of(&st);
    bool is_settled = !e && snap_look_is_settled(&t->look);
    ssize_t n = is_settled ? readlinkat(fd, name, target, sizeof(target)) : 0;
    e = n < 0 ? -errno : e;
    close(fd);
    if (!e && !is_settled)
        return SNAP_LATER;
    if (e < 0 || n > PATH_MAX)
        return tell(t, e < 0 ? e : -EIO);
    t->blob = snap_import_blob(r->import, (struct view){ (uint8_t *)target, (size_t)n });
    return SNAP_READ;
}

void
snap_reader_release(struct snap_reader *r)
{
    buf_release(&r->bytes);
}
