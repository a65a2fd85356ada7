/* SPDX-License-Identifier: MIT */
/* iteration_disk.c -- text and head to the file; what a failing disk leaves is repaired.
 */
#include <errno.h>
#include <sys/uio.h>
#include <unistd.h>

#include "journal/iteration_priv.h"

/* One call, through EINTR: a count or -errno; a disk that takes nothing is full. */
static ssize_t
write_at(int fd, const struct iovec *parts, int count, uint64_t at)
{
    ssize_t r;
    do
        r = pwritev(fd, parts, count, (off_t)at);
    while (r < 0 && errno == EINTR);
    return r < 0 ? -errno : r ? r : -ENOSPC;
}

static struct iovec
part_of(const void *p, size_t n)
{
    struct iovec part = { .iov_len = n };
    memcpy(&part.iov_base, &p, sizeof(p)); /* it is not written to */
    return part;
}

static ssize_t
write_bytes(int fd, const void *p, size_t n, uint64_t at)
{
    struct iovec part = part_of(p, n);
    return write_at(fd, &part, 1, at);
}

/* The text from `from` on, and its newline if it has none. */
static ssize_t
write_text(struct journal_disk *d, struct view text, bool is_ended, size_t from)
{
    struct iovec parts[2];
    int count = 0;
    if (from < text.n)
        parts[count++] = part_of(text.p + from, text.n - from);
    if (!is_ended)
        parts[count++] = part_of("\n", 1);
    return write_at(d->fd, parts, count, d->end + from);
}

/* The file ends where the text does. Where it cannot be cut, what is too much at least
 * ends with a line; it goes with the next text. */
static void
cut(struct journal_disk *d)
{
    uint64_t wanted = d->end + d->is_open;
    if (d->size <= wanted)
        return;
    if (!ftruncate(d->fd, (off_t)wanted))
        d->size = wanted;
    else
        write_bytes(d->fd, "\n", 1, d->size - 1);
}

/* `got` bytes of the text are there, the rest is refused. */
static void
take_back(struct journal_disk *d, struct view text, size_t got, size_t *ret_done)
{
    size_t keep = got > JOURNAL_NOTE_MAX ? got - JOURNAL_NOTE_MAX : 0;
    const uint8_t *last = keep ? memrchr(text.p, '\n', keep) : NULL;
    if (d->size < d->end + got)
        d->size = d->end + got;
    if (last) {
        *ret_done = (size_t)(last - text.p) + 1;
        d->end += *ret_done;
        d->is_open = false;
    } else if (got && d->is_open) {
        write_bytes(d->fd, "\n", 1, d->end);
    }
    if (got)
        cut(d);
}

int
journal_disk_put(struct journal_disk *d, struct view text, size_t *ret_done)
{
    bool is_ended = text.p[text.n - 1] == '\n';
    size_t all = text.n + !is_ended, got = 0;
    *ret_done = 0;
    while (got < all) {
        ssize_t r = write_text(d, text, is_ended, got);
        if (r < 0) {
            take_back(d, text, got, ret_done);
            return (int)r;
        }
        got += (size_t)r;
    }
    d->end += text.n;
    d->is_open = !is_ended;
    if (d->size < d->end + d->is_open)
        d->size = d->end + d->is_open;
    cut(d);
    *ret_done = text.n;
    return 0;
}

int
journal_disk_head(struct journal_disk *d, struct view head)
{
    for (size_t got = 0; got < head.n;) {
        ssize_t r = write_bytes(d->fd, head.p + got, head.n - got, got);
        if (r < 0)
            return (int)r;
        got += (size_t)r;
    }
    if (d->size < head.n)
        d->size = head.n;
    return 0;
}

uint64_t
journal_disk_make_room(struct journal_disk *d, uint64_t first)
{
    uint8_t bytes[4096];
    uint64_t from = d->end > first + sizeof(bytes) ? d->end - sizeof(bytes) : first;
    size_t n = (size_t)(d->end - from);
    if (n <= JOURNAL_NOTE_MAX || pread(d->fd, bytes, n, (off_t)from) != (ssize_t)n)
        return 0;
    const uint8_t *last = memrchr(bytes, '\n', n - JOURNAL_NOTE_MAX);
    if (!last)
        return 0;
    uint64_t end = from + (uint64_t)(last - bytes) + 1, given = d->end - end;
    d->end = end;
    d->is_open = false;
    return given;
}
