/* SPDX-License-Identifier: MIT */
#include "gz/pack.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/file.h"
#include "gz/read.h"
#include "gz/stream_priv.h"

enum {
    CHUNK = 256 << 10,
    HEAD = 10, /* of the format, before the name */
    FLAGS_AT = 3,
    FLAG_NAME = 8,
    BADS = 100,
};

/* Who asks whether it is written to has it for a moment. */
static const uint64_t LOCK_WAITS_NS = UINT64_C(300000000);

struct work {
    int dir_fd;
    const char *name; /* borrowed */
    struct buf packed_name;
    const struct gz_progress *progress;
    struct gz *from;  /* what is to go */
    struct stat st;   /* of that */
    int to_fd;        /* GZ_TEMP; -1: none */
    struct buf chunk; /* CHUNK bytes of it */
    struct gz_sizes sizes;
};

static void
work_release(struct work *w)
{
    gz_close(w->from);
    if (w->to_fd >= 0)
        close(w->to_fd);
    buf_release(&w->packed_name);
    buf_release(&w->chunk);
}

static int
work_init(struct work *w)
{
    buf_puts(&w->packed_name, w->name);
    int r = buf_puts(&w->packed_name, GZ_SUFFIX);
    if (!r)
        r = buf_reserve(&w->chunk, CHUNK);
    return r ? r : gz_sweep(w->dir_fd);
}

static int
open_plain(int dir_fd, const char *name, bool is_packed, struct gz **ret)
{
    int fd = openat(dir_fd, name,
                    O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK | O_NOCTTY);
    return fd < 0 ? -errno : gz_open_fd(ret, fd, is_packed);
}

/* Both ways: what goes. It is locked, as those lock it who append to it. */
static int
take(struct work *w, const char *name, bool is_packed)
{
    int r = open_plain(w->dir_fd, name, is_packed, &w->from);
    if (!r)
        r = file_lock(gz_fd(w->from), false, clock_mono_ns() + LOCK_WAITS_NS);
    if (!r && fstat(gz_fd(w->from), &w->st) < 0)
        r = -errno;
    return r;
}

/* -- GZ_TEMP, and into its place -- */

int
gz_sweep(int dir_fd)
{
    return unlinkat(dir_fd, GZ_TEMP, 0) == 0 || errno == ENOENT ? 0 : -errno;
}

static int
make_temp(struct work *w)
{
    w->to_fd = openat(w->dir_fd, GZ_TEMP,
                      O_RDWR | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0600);
    return w->to_fd < 0 ? -errno : 0;
}

/* As what goes: nobody else may read it, and those who could can. */
static int
finish_temp(struct work *w)
{
    const struct timespec times[] = { w->st.st_atim, w->st.st_mtim };
    bool is_anothers = w->st.st_uid != geteuid();
    if (is_anothers && fchown(w->to_fd, w->st.st_uid, w->st.st_gid) < 0)
        return -errno;
    if (fchmod(w->to_fd, w->st.st_mode & 0777) < 0 || futimens(w->to_fd, times) < 0 ||
        fsync(w->to_fd) < 0)
        return -errno;
    return 0;
}

static int
sync_dir(const struct work *w)
{
    return fsync(w->dir_fd) < 0 && errno != EINVAL ? -errno : 0;
}

/* Does the name still mean what we have read? */
static bool
is_still(const struct work *w, const char *name)
{
    struct stat st;
    return fstatat(w->dir_fd, name, &st, AT_SYMLINK_NOFOLLOW) == 0 &&
           st.st_dev == w->st.st_dev && st.st_ino == w->st.st_ino;
}

static int
put_in_place(struct work *w, const char *name)
{
    if (renameat(w->dir_fd, GZ_TEMP, w->dir_fd, name) < 0)
        return -errno;
    return sync_dir(w);
}

/* The one that stays, which somebody else has made: on the disk, before the other goes.
 */
static int
keep(const struct work *w, int fd)
{
    return fsync(fd) < 0 ? -errno : sync_dir(w);
}

static int
let_go(struct work *w, const char *name)
{
    if (!is_still(w, name))
        return ERR_BUSY;
    if (unlinkat(w->dir_fd, name, 0) < 0)
        return -errno;
    return sync_dir(w);
}

/* A NAME.gz that cannot be read to its end may hold what NAME does not. */
static int
set_aside(struct work *w)
{
    AUTO(buf) bad = { 0 };
    struct stat st;
    for (int i = 0; i < BADS; i++) {
        buf_clear(&bad);
        int r = buf_printf(&bad, "%s" GZ_BAD, buf_str(&w->packed_name));
        if (!r && i)
            r = buf_put_u64(&bad, (uint64_t)i);
        if (r < 0)
            return r;
        if (fstatat(w->dir_fd, buf_str(&bad), &st, AT_SYMLINK_NOFOLLOW) == 0)
            continue;
        if (renameat(w->dir_fd, buf_str(&w->packed_name), w->dir_fd, buf_str(&bad)) < 0)
            return -errno;
        return sync_dir(w);
    }
    return -EEXIST;
}

static void
step(const struct work *w, size_t bytes)
{
    if (w->progress)
        w->progress->step(w->progress->ctx, bytes);
}

/* -- held against NAME -- */

/* Up to n bytes, less at the end only. */
static ssize_t
read_at(int fd, uint8_t *p, size_t n, uint64_t at)
{
    size_t done = 0;
    while (done < n) {
        ssize_t r = pread(fd, p + done, n - done, (off_t)(at + done));
        if (r < 0 && errno != EINTR)
            return -errno;
        if (!r)
            break;
        done += r > 0 ? (size_t)r : 0;
    }
    return (ssize_t)done;
}

/* What does it say of fd's file? 1: that is what it holds; 0: it begins so; -EEXIST: it
 * is another. ERR_DAMAGED: it begins so as far as that can be read. */
static int
compare(struct gz *packed, int fd, struct buf *chunk, uint64_t *ret_bytes)
{
    AUTO(buf) other = { 0 };
    uint64_t at = 0;
    ssize_t n = buf_reserve(&other, CHUNK);
    while (!n && (n = gz_read(packed, chunk->p, CHUNK)) > 0) {
        ssize_t m = read_at(fd, other.p, (size_t)n, at);
        if (m < 0)
            return (int)m;
        if (m != n || memcmp(chunk->p, other.p, (size_t)n) != 0)
            return -EEXIST;
        at += (uint64_t)n;
        n = 0;
    }
    *ret_bytes = at;
    if (n < 0)
        return (int)n;
    n = read_at(fd, other.p, 1, at);
    return n < 0 ? (int)n : !n;
}

/* As compare(), of NAME.gz; -ENOENT: there is none. */
static int
compare_packed(struct work *w, int fd, uint64_t *ret_size)
{
    struct gz *packed = NULL;
    struct stat st = { 0 };
    uint64_t bytes;
    int r = open_plain(w->dir_fd, buf_str(&w->packed_name), true, &packed);
    if (r < 0)
        return r;
    r = fstat(gz_fd(packed), &st) < 0 ? -errno : compare(packed, fd, &w->chunk, &bytes);
    *ret_size = (uint64_t)st.st_size;
    int kept = r == 1 ? keep(w, gz_fd(packed)) : 0;
    gz_close(packed);
    return kept < 0 ? kept : r;
}

/* -- NAME to NAME.gz -- */

static int
deflate_all(struct work *w, struct gz_deflater *g)
{
    AUTO(buf) out = { 0 };
    ssize_t n;
    int r = 0;
    do {
        n = gz_read(w->from, w->chunk.p, CHUNK);
        if (n < 0)
            return (int)n;
        w->sizes.plain += (uint64_t)n;
        buf_clear(&out);
        r = w->sizes.plain > GZ_FILE_MAX
                ? ERR_LIMIT
                : gz_deflate(g, (struct view){ w->chunk.p, (size_t)n }, !n, &out);
        if (!r)
            r = file_write_all(w->to_fd, out.p, out.n);
        w->sizes.packed += out.n;
        step(w, (size_t)n);
    } while (!r && n);
    return r;
}

/* From the disk's copy, so far as the system tells them apart. */
static int
read_back(struct work *w)
{
    struct gz *g = NULL;
    uint64_t bytes = 0;
    int fd = dup(w->to_fd);
    int r = fd < 0 || lseek(fd, 0, SEEK_SET) < 0 ? -errno : gz_open_fd(&g, fd, true);
    if (r < 0)
        return r;
    r = compare(g, gz_fd(w->from), &w->chunk, &bytes);
    gz_close(g);
    if (!r)
        return ERR_BUSY; /* it has grown meanwhile */
    bool is_same = r == 1 && bytes == w->sizes.plain;
    bool is_other = r == 1 || r == -EEXIST || r == ERR_DAMAGED;
    return is_same ? 0 : is_other ? -EIO : r;
}

static int
make_packed(struct work *w, bool is_damaged)
{
    struct gz_deflater *g = NULL;
    int r = make_temp(w);
    if (!r)
        r = gz_deflater_new(&g, w->name, (uint64_t)w->st.st_mtim.tv_sec);
    if (r < 0)
        return r;
    r = deflate_all(w, g);
    gz_deflater_free(g);
    if (!r)
        r = finish_temp(w);
    if (!r)
        r = read_back(w);
    if (!r && is_damaged) {
        r = set_aside(w);
        w->sizes.is_aside = !r;
    }
    return r ? r : put_in_place(w, buf_str(&w->packed_name));
}

int
gz_pack(int dir_fd, const char *name, const struct gz_progress *progress,
        struct gz_sizes *ret)
{
    AUTO(work) w = { .dir_fd = dir_fd, .name = name, .progress = progress, .to_fd = -1 };
    uint64_t size = 0;
    int r = work_init(&w);
    if (!r)
        r = take(&w, name, false);
    if (r < 0)
        return r;
    int there = compare_packed(&w, gz_fd(w.from), &size);
    if (there < 0 && there != -ENOENT && there != ERR_DAMAGED)
        return there;
    if (there == 1)
        w.sizes = (struct gz_sizes){ (uint64_t)w.st.st_size, size, false };
    else if (w.st.st_size)
        r = make_packed(&w, there == ERR_DAMAGED);
    bool is_done = there == 1 || w.st.st_size;
    if (!r && is_done)
        r = let_go(&w, name);
    if (r < 0)
        (void)gz_sweep(dir_fd);
    else
        *ret = w.sizes;
    return r;
}

/* -- NAME.gz to NAME -- */

static int
inflate_all(struct work *w)
{
    ssize_t n;
    while ((n = gz_read(w->from, w->chunk.p, CHUNK)) > 0) {
        w->sizes.plain += (uint64_t)n;
        if (w->sizes.plain > GZ_FILE_MAX)
            return ERR_LIMIT;
        int r = file_write_all(w->to_fd, w->chunk.p, (size_t)n);
        if (r < 0)
            return r;
        step(w, (size_t)n);
    }
    return (int)n;
}

/* NAME is there, too: what it lacks of NAME.gz would be lost. */
static int
compare_there(struct work *w)
{
    struct gz *plain = NULL;
    struct stat st = { 0 };
    uint64_t bytes;
    int r = open_plain(w->dir_fd, w->name, false, &plain);
    if (r < 0)
        return r;
    r = fstat(gz_fd(plain), &st) < 0 ? -errno
                                     : compare(w->from, gz_fd(plain), &w->chunk, &bytes);
    if (r >= 0)
        r = keep(w, gz_fd(plain));
    gz_close(plain);
    w->sizes.plain = (uint64_t)st.st_size;
    return r;
}

static int
make_plain(struct work *w, bool is_rescue)
{
    int r = make_temp(w);
    if (r < 0)
        return r;
    int damaged = inflate_all(w);
    if (damaged && !(damaged == ERR_DAMAGED && is_rescue))
        return damaged;
    r = finish_temp(w);
    if (!r)
        r = put_in_place(w, w->name);
    return r ? r : damaged;
}

static int
unpack(int dir_fd, const char *name, bool is_rescue, const struct gz_progress *progress,
       struct gz_sizes *ret)
{
    AUTO(work) w = { .dir_fd = dir_fd, .name = name, .progress = progress, .to_fd = -1 };
    int r = work_init(&w);
    if (!r)
        r = take(&w, buf_str(&w.packed_name), true);
    if (r < 0)
        return r;
    w.sizes.packed = (uint64_t)w.st.st_size;
    r = compare_there(&w);
    if (r == -ENOENT)
        r = make_plain(&w, is_rescue);
    bool is_rescued = r == ERR_DAMAGED && is_rescue;
    int gone = is_rescued ? set_aside(&w)
               : r < 0    ? r
                          : let_go(&w, buf_str(&w.packed_name));
    if (r < 0)
        (void)gz_sweep(dir_fd);
    if ((!r || is_rescued) && !gone)
        *ret = w.sizes;
    return gone < 0 ? gone : r;
}

int
gz_unpack(int dir_fd, const char *name, const struct gz_progress *progress,
          struct gz_sizes *ret)
{
    return unpack(dir_fd, name, false, progress, ret);
}

int
gz_rescue(int dir_fd, const char *name, const struct gz_progress *progress,
          struct gz_sizes *ret)
{
    return unpack(dir_fd, name, true, progress, ret);
}

bool
gz_is_of(int dir_fd, const char *name)
{
    AUTO(buf) packed = { 0 };
    uint8_t head[HEAD + NAME_MAX + 1];
    size_t n = strlen(name) + 1;
    buf_printf(&packed, "%s" GZ_SUFFIX, name);
    int fd = packed.failed || n > NAME_MAX + 1
                 ? -1
                 : openat(dir_fd, buf_str(&packed),
                          O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK | O_NOCTTY);
    ssize_t got = fd < 0 ? -1 : read_at(fd, head, HEAD + n, 0);
    if (fd >= 0)
        close(fd);
    return got == (ssize_t)(HEAD + n) && head[0] == 0x1f && head[1] == 0x8b &&
           head[FLAGS_AT] == FLAG_NAME && !memcmp(head + HEAD, name, n);
}
