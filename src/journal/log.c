/* SPDX-License-Identifier: MIT */
#include "journal/log.h"

#include <errno.h>
#include <fcntl.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/clock.h"
#include "gz/read.h"

enum { PIECE = 64 << 10, REST_MS = 200 };

static int
open_plain(const char *path)
{
    struct stat st;
    int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY);
    if (fd < 0)
        return -errno;
    if (fstat(fd, &st) == 0 && S_ISREG(st.st_mode))
        return fd;
    close(fd);
    return -EINVAL;
}

/* One or the other; who packs or unpacks it meanwhile is behind us the second time. */
static int
open_either(struct journal_log *l, const char *path)
{
    for (int i = 0;; i++) {
        int r = open_plain(path);
        if (r != -ENOENT) {
            l->fd = r;
            return r < 0 ? r : 0;
        }
        r = gz_open(&l->archive, AT_FDCWD, path);
        if (r < 0 || gz_is_packed(l->archive) || i)
            return r;
        gz_close(l->archive);
        l->archive = NULL;
    }
}

int
journal_log_open(struct journal_log *ret, const char *path, struct err *err)
{
    struct journal_log l = { .fd = -1 };
    int r = open_either(&l, path);
    if (r == -EINVAL)
        return err_set(err, ERR_USAGE, "'%s' is no plain file", path);
    if (r < 0)
        return err_code(err, r, "cannot open the log '%s'", path);
    l.path = strdup(path);
    if (!l.path) {
        journal_log_release(&l);
        return err_code(err, -ENOMEM, "'%s'", path);
    }
    *ret = l;
    return 0;
}

void
journal_log_release(struct journal_log *l)
{
    if (l->fd >= 0)
        close(l->fd);
    gz_close(l->archive);
    free(l->path);
    buf_release(&l->ahead);
    buf_release(&l->head_text);
    *l = (struct journal_log){ .fd = -1 };
}

/* The first bytes of an archive; where it is damaged soon, those before that. */
static ssize_t
look_ahead(struct journal_log *l, uint8_t bytes[JOURNAL_HEAD_MAX])
{
    ssize_t n = 1;
    while (n > 0 && l->ahead.n < JOURNAL_HEAD_MAX) {
        if (buf_reserve(&l->ahead, JOURNAL_HEAD_MAX) < 0)
            return l->ahead.failed;
        n = gz_read(l->archive, l->ahead.p + l->ahead.n, JOURNAL_HEAD_MAX - l->ahead.n);
        l->ahead.n += n > 0 ? (size_t)n : 0;
    }
    if (n < 0 && n != ERR_DAMAGED)
        return n;
    if (l->ahead.n)
        memcpy(bytes, l->ahead.p, l->ahead.n);
    return (ssize_t)l->ahead.n;
}

int
journal_log_look(struct journal_log *l)
{
    uint8_t bytes[JOURNAL_HEAD_MAX];
    struct journal_head head = { 0 };
    if (l->archive && l->head_text.n)
        return 0;
    ssize_t n = l->archive ? look_ahead(l, bytes) : pread(l->fd, bytes, sizeof(bytes), 0);
    if (n < 0 && l->archive)
        return (int)n;
    int r = n < 0 ? -errno : journal_head_read((struct view){ bytes, (size_t)n }, &head);
    if (r < 0)
        return r;
    if (!l->head_text.n)
        l->at = head.size;
    l->head = head;
    buf_clear(&l->head_text);
    return buf_append(&l->head_text, bytes, head.size);
}

static ssize_t
read_archive(struct journal_log *l, struct buf *ret)
{
    if (l->at < l->ahead.n) {
        size_t n = l->ahead.n - (size_t)l->at;
        int r = buf_append(ret, l->ahead.p + l->at, n);
        l->at = l->ahead.n;
        return r < 0 ? r : (ssize_t)n;
    }
    if (buf_reserve(ret, PIECE) < 0)
        return ret->failed;
    ssize_t n = gz_read(l->archive, ret->p + ret->n, PIECE);
    ret->n += n > 0 ? (size_t)n : 0;
    return n;
}

ssize_t
journal_log_read(struct journal_log *l, bool is_last, struct buf *ret)
{
    struct stat st;
    if (l->archive)
        return read_archive(l, ret);
    if (fstat(l->fd, &st) < 0)
        return -errno;
    uint64_t size = (uint64_t)st.st_size;
    if (size < l->at)
        l->at = size > l->head.size ? size : l->head.size;
    if (buf_reserve(ret, PIECE) < 0)
        return ret->failed;
    ssize_t n = pread(l->fd, ret->p + ret->n, PIECE, (off_t)l->at);
    if (n <= 0)
        return n < 0 ? -errno : 0;
    bool is_held = !is_last && l->head.status == JOURNAL_IN_PROGRESS;
    bool is_end = l->at + (uint64_t)n >= size;
    if (is_held && is_end && ret->p[ret->n + (size_t)n - 1] == '\n')
        n--;
    ret->n += (size_t)n;
    l->at += (uint64_t)n;
    return n;
}

/* Takes the lock for a moment, if nobody else has it alone. */
static bool
is_locked(int fd)
{
    if (flock(fd, LOCK_SH | LOCK_NB) < 0)
        return errno == EWOULDBLOCK;
    flock(fd, LOCK_UN);
    return false;
}

bool
journal_log_is_written(const struct journal_log *l)
{
    return !l->archive && is_locked(l->fd);
}

bool
journal_log_is_replaced(const struct journal_log *l)
{
    struct stat held, named;
    return !l->archive && fstat(l->fd, &held) == 0 && stat(l->path, &named) == 0 &&
           (held.st_dev != named.st_dev || held.st_ino != named.st_ino);
}

bool
journal_run_is_on(const char *dir)
{
    int fd = open(dir, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    bool is_on = fd >= 0 && is_locked(fd);
    if (fd >= 0)
        close(fd);
    return is_on;
}

/* -- io.log, which knows what is a piece -- */

static bool
has(struct view v, const char *text)
{
    return memmem(v.p, v.n, text, strlen(text)) != NULL;
}

/* Quotes inside of a text are escaped: what is found is a member of the line's object. */
static bool
ends_whole(struct view tail)
{
    if (!tail.n || tail.p[tail.n - 1] != '\n')
        return false;
    while (tail.n) {
        const uint8_t *before = memrchr(tail.p, '\n', tail.n - 1);
        size_t begin = before ? (size_t)(before - tail.p) + 1 : 0;
        struct view line = { tail.p + begin, tail.n - begin };
        if (has(line, "\"direction\":\"out\"") || !before)
            return !has(line, "\"partial\":true");
        tail.n = begin;
    }
    return false;
}

bool
journal_run_rests(const char *dir)
{
    AUTO(buf) path = { 0 };
    AUTO(buf) tail = { 0 };
    struct stat st;
    buf_printf(&path, "%s/io.log", dir);
    if (path.failed || buf_reserve(&tail, PIECE) < 0)
        return false;
    int fd = open(buf_str(&path), O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY);
    if (fd < 0)
        return errno == ENOENT && gz_stat(AT_FDCWD, buf_str(&path), &st) == 1;
    bool is_file = fstat(fd, &st) == 0 && S_ISREG(st.st_mode);
    off_t from = is_file && st.st_size > PIECE ? st.st_size - PIECE : 0;
    ssize_t n = is_file ? pread(fd, tail.p, PIECE, from) : -1;
    close(fd);
    if (n <= 0)
        return false;
    struct clock now;
    clock_start(&now);
    uint64_t written_ns = (uint64_t)st.st_mtim.tv_sec * 1000000000 +
                          (uint64_t)st.st_mtim.tv_nsec;
    return now.real_ns > written_ns + (uint64_t)REST_MS * 1000000 &&
           ends_whole((struct view){ tail.p, (size_t)n });
}
