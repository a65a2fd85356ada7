/* SPDX-License-Identifier: MIT */
/*
 * lines_mend.c -- the end of a file of lines whose writer is dead.
 *
 * NULs behind the last byte that was written are a disk's that has lost power.
 */
#include <errno.h>
#include <sys/stat.h>
#include <unistd.h>

#include "session/lines.h"

enum {
    PIECE = 64 << 10,
    NEAR = 2 << 20,       /* where the last line mostly begins */
    TORN_MAX = 512 << 20, /* a longer one is ended, not looked at */
    FARTHER = 16,
};

static int
read_at(int fd, uint8_t *p, size_t n, off_t at)
{
    ssize_t got = pread(fd, p, n, at);
    return got < 0 ? -errno : (size_t)got == n ? 0 : -EIO;
}

/* How long the file is without NULs at its end. */
static int
find_end(int fd, off_t *size)
{
    uint8_t piece[PIECE];
    for (size_t n; *size; *size -= (off_t)n) {
        n = *size < PIECE ? (size_t)*size : PIECE;
        int r = read_at(fd, piece, n, *size - (off_t)n);
        if (r < 0)
            return r;
        for (size_t left = n; left; left--)
            if (piece[left - 1]) {
                *size -= (off_t)(n - left);
                return 0;
            }
    }
    return 0;
}

/* The last bytes, from the last newline on; all of them when there is none. ERR_LIMIT: it
 * is farther away than that. */
static int
read_last(int fd, off_t size, off_t max, struct buf *bytes, struct view *ret)
{
    off_t from = size > max ? size - max : 0;
    buf_clear(bytes);
    uint8_t *p = buf_grow(bytes, (size_t)(size - from));
    int r = p ? read_at(fd, p, bytes->n, from) : -ENOMEM;
    if (r < 0)
        return r;
    const uint8_t *end = memrchr(p, '\n', bytes->n), *start = end ? end + 1 : p;
    *ret = (struct view){ start, bytes->n - (size_t)(start - p) };
    return !end && from ? ERR_LIMIT : 0;
}

/* Where the file is to end, and whether with a newline that it does not have. */
static int
judge(int fd, const char *begin, session_line_fn is_whole, off_t *size, bool *ret_is_open)
{
    AUTO(buf) bytes = { .ceiling = SIZE_MAX };
    struct view last = { 0 };
    int r = *size ? ERR_LIMIT : 0;
    for (off_t max = NEAR; r == ERR_LIMIT && max <= TORN_MAX; max *= FARTHER)
        r = read_last(fd, *size, max, &bytes, &last);
    *ret_is_open = r == ERR_LIMIT || (!r && last.n);
    if (r < 0 || !last.n)
        return r == ERR_LIMIT ? 0 : r;
    size_t known = last.n < strlen(begin) ? last.n : strlen(begin);
    if (!memcmp(last.p, begin, known) && !is_whole(last)) {
        *size -= (off_t)last.n;
        *ret_is_open = false;
    }
    return 0;
}

int
session_lines_mend(int fd, const char *begin, session_line_fn is_whole)
{
    struct stat st;
    bool is_open = false;
    if (fstat(fd, &st) < 0)
        return -errno;
    off_t size = st.st_size;
    int r = find_end(fd, &size);
    if (!r)
        r = judge(fd, begin, is_whole, &size, &is_open);
    if (r < 0 || (size == st.st_size && !is_open))
        return r;
    if (size < st.st_size && ftruncate(fd, size) < 0)
        return -errno;
    ssize_t n = is_open ? pwrite(fd, "\n", 1, size) : 1;
    if (n < 1 || fsync(fd) < 0)
        return n ? -errno : -EIO;
    return 1;
}
