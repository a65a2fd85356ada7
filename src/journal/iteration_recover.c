/* SPDX-License-Identifier: MIT */
/* iteration_recover.c -- logs whose writer is dead. */
#include <errno.h>
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/file.h"
#include "base/num.h"
#include "journal/io.h"
#include "journal/iteration.h"

static int
open_log(const char *path, struct stat *ret, struct err *err)
{
    int fd = open(path, O_RDWR | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK | O_NOCTTY);
    if (fd < 0)
        return err_sys(err, "cannot open the log '%s'", path);
    if (fstat(fd, ret) < 0 || !S_ISREG(ret->st_mode)) {
        close(fd);
        return err_set(err, ERR_DAMAGED, "'%s' is no log", path);
    }
    fd = file_locked(fd);
    if (fd == ERR_BUSY)
        return err_set(err, ERR_BUSY, "the log '%s' is being written", path);
    if (fd < 0)
        return err_code(err, fd, "cannot lock the log '%s'", path);
    return fstat(fd, ret) < 0 ? (close(fd), err_sys(err, "'%s'", path)) : fd;
}

/* Nothing, or a head that was never whole? */
static bool
is_beginning(const uint8_t *p, size_t n)
{
    static const char TITLE[] = "# Iteration ";
    size_t len = sizeof(TITLE) - 1;
    return n < JOURNAL_HEAD && !memcmp(p, TITLE, n < len ? n : len);
}

/* Its writer died before it had a head: what the file's name and age tell. */
static void
guess_head(const char *path, const struct stat *st, struct journal_head *ret)
{
    AUTO(buf) when = { 0 };
    const char *name = file_name(path);
    *ret = (struct journal_head){ .status = JOURNAL_IN_PROGRESS, .size = JOURNAL_HEAD };
    if (num_parse((struct view){ (const uint8_t *)name, strcspn(name, ".") }, UINT64_MAX,
                  &ret->iteration) < 0)
        ret->iteration = 0;
    journal_time(
        (uint64_t)st->st_mtim.tv_sec * 1000000000 + (uint64_t)st->st_mtim.tv_nsec, &when);
    snprintf(ret->timestamp, sizeof(ret->timestamp), "%s", buf_str(&when));
}

/* Where the last byte that is not NUL ends: what a power cut leaves unwritten reads as
 * those. -errno. */
static int64_t
find_end(int fd, int64_t size, int64_t first, bool *ret_is_ended)
{
    uint8_t bytes[4096];
    *ret_is_ended = true;
    while (size > first) {
        int64_t from = size - first > (int64_t)sizeof(bytes)
                           ? size - (int64_t)sizeof(bytes)
                           : first;
        ssize_t n = pread(fd, bytes, (size_t)(size - from), from);
        if (n != size - from)
            return n < 0 ? -errno : -EIO;
        while (n && !bytes[n - 1])
            n--;
        if (n) {
            *ret_is_ended = bytes[n - 1] == '\n';
            return from + n;
        }
        size = from;
    }
    return first;
}

static int
end_last_line(int fd, const struct stat *st, size_t first)
{
    bool is_ended;
    int64_t end = find_end(fd, st->st_size, (int64_t)first, &is_ended);
    if (end < 0)
        return (int)end;
    if (end < st->st_size && ftruncate(fd, end) < 0)
        return -errno;
    if (!is_ended && pwrite(fd, "\n", 1, end) != 1)
        return errno ? -errno : -ENOSPC;
    return 0;
}

/* A head that has no room (somebody else's layout) makes the file a new one. */
static int
write_head(int fd, const char *path, const struct journal_head *h, struct err *err)
{
    AUTO(buf) all = { 0 };
    AUTO(buf) head = { 0 };
    if (!journal_head_format(h, h->size, &head)) {
        ssize_t n = pwrite(fd, head.p, head.n, 0);
        if (n == (ssize_t)head.n && !fsync(fd))
            return 1;
        return err_code(err, n < 0 || n == (ssize_t)head.n ? -errno : -ENOSPC,
                        "cannot write the log '%s'", path);
    }
    int r = journal_head_format(h, JOURNAL_HEAD, &head);
    if (!r)
        r = file_read_all(fd, &all);
    if (!r && all.n >= h->size)
        r = buf_append(&head, all.p + h->size, all.n - h->size);
    if (r < 0)
        return err_code(err, r, "cannot write the log '%s'", path);
    r = file_replace(path, (struct view){ head.p, head.n }, true, err);
    return r < 0 ? r : 1;
}

static int
recover(int fd, const char *path, const struct stat *st, struct err *err)
{
    uint8_t bytes[JOURNAL_HEAD_MAX];
    struct journal_head h = { 0 };
    ssize_t n = pread(fd, bytes, sizeof(bytes), 0);
    if (n < 0)
        return err_sys(err, "cannot read the log '%s'", path);
    int r = journal_head_read((struct view){ bytes, (size_t)n }, &h);
    if (r < 0 && !is_beginning(bytes, (size_t)n))
        return err_set(err, ERR_DAMAGED, "'%s' is no log", path);
    if (r < 0)
        guess_head(path, st, &h);
    if (h.status != JOURNAL_IN_PROGRESS)
        return 0;
    r = end_last_line(fd, st, h.size);
    if (r < 0)
        return err_code(err, r, "cannot write the log '%s'", path);
    h.status = JOURNAL_CRASHED;
    journal_head_reason(&h, "unknown");
    return write_head(fd, path, &h, err);
}

int
journal_iteration_recover(const char *path, struct err *err)
{
    struct stat st = { 0 };
    int fd = open_log(path, &st, err);
    if (fd < 0)
        return fd;
    int r = recover(fd, path, &st, err);
    close(fd);
    return r;
}
