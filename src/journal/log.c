/* SPDX-License-Identifier: MIT */
#include "journal/log.h"

#include <errno.h>
#include <fcntl.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

enum { PIECE = 64 << 10 };

int
journal_log_open(struct journal_log *ret, const char *path, struct err *err)
{
    struct stat st;
    int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY);
    if (fd < 0)
        return err_sys(err, "cannot open the log '%s'", path);
    if (fstat(fd, &st) < 0 || !S_ISREG(st.st_mode)) {
        close(fd);
        return err_set(err, ERR_USAGE, "'%s' is no plain file", path);
    }
    *ret = (struct journal_log){ .path = strdup(path), .fd = fd };
    if (ret->path)
        return 0;
    close(fd);
    return err_code(err, -ENOMEM, "'%s'", path);
}

void
journal_log_release(struct journal_log *l)
{
    if (l->path)
        close(l->fd);
    free(l->path);
    buf_release(&l->head_text);
    *l = (struct journal_log){ .fd = -1 };
}

int
journal_log_look(struct journal_log *l)
{
    uint8_t bytes[JOURNAL_HEAD_MAX];
    struct journal_head head;
    ssize_t n = pread(l->fd, bytes, sizeof(bytes), 0);
    int r = n < 0 ? -errno : journal_head_read((struct view){ bytes, (size_t)n }, &head);
    if (r < 0)
        return r;
    if (!l->head_text.n)
        l->at = head.size;
    l->head = head;
    buf_clear(&l->head_text);
    return buf_append(&l->head_text, bytes, head.size);
}

ssize_t
journal_log_read(struct journal_log *l, bool is_last, struct buf *ret)
{
    struct stat st;
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
    return is_locked(l->fd);
}

bool
journal_log_is_replaced(const struct journal_log *l)
{
    struct stat held, named;
    return fstat(l->fd, &held) == 0 && stat(l->path, &named) == 0 &&
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
