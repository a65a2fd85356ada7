/* SPDX-License-Identifier: MIT */
#include "session/lines.h"

#include <errno.h>
#include <fcntl.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <sys/uio.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/file.h"
#include "base/json.h"

static const uint64_t LOCK_WAITS_NS = UINT64_C(50000000);

void
session_snapshot_line(struct buf *out, uint64_t id, uint64_t ts_ns, struct view label,
                      bool is_manual, uint64_t anchor)
{
    struct json json = { .out = out }, *j = &json;
    json_open(j, '{');
    json_key(j, "id"), json_u64(j, id);
    json_key(j, "ts_ns"), json_u64(j, ts_ns);
    json_key(j, "label"), json_bytes(j, label);
    json_key(j, "kind"), json_str(j, is_manual ? "manual" : "auto");
    json_key(j, "anchor_byte"), json_u64(j, anchor);
    json_close(j, '}');
    buf_puts(out, "\n");
}

static void
put_unless(struct json *j, const char *key, uint64_t v, uint64_t none)
{
    json_key(j, key);
    if (v == none)
        json_none(j);
    else
        json_u64(j, v);
}

void
session_instruction_line(struct buf *out, const struct session_instruction *i)
{
    struct json json = { .out = out }, *j = &json;
    json_open(j, '{');
    json_key(j, "id"), json_u64(j, i->id);
    json_key(j, "ts_ns"), json_u64(j, i->ts_ns);
    json_key(j, "anchor_byte"), json_u64(j, i->anchor_byte);
    put_unless(j, "snapshot_id", i->snapshot_id, SESSION_NONE);
    put_unless(j, "row", i->row, SESSION_NO_ROW);
    json_key(j, "text"), json_bytes(j, i->text);
    json_key(j, "delivered"), json_bool(j, i->is_delivered);
    json_close(j, '}');
    buf_puts(out, "\n");
}

/* -- the file -- */

int
session_lines_init(struct session_lines *l, const char *path)
{
    *l = (struct session_lines){ .path = strdup(path),
                                 .fd = -1,
                                 .waiting.ceiling = SESSION_LINES_WAITING_MAX };
    return l->path ? 0 : -ENOMEM;
}

int
session_lines_init_fd(struct session_lines *l, const char *path, int fd)
{
    int r = session_lines_init(l, path);
    if (r < 0)
        close(fd);
    else
        l->fd = fd;
    return r;
}

void
session_lines_use(struct session_lines *l, int fd)
{
    l->fd = fd;
    l->end = 0;
}

void
session_lines_release(struct session_lines *l)
{
    if (l->fd >= 0)
        close(l->fd);
    free(l->path);
    buf_release(&l->waiting);
    *l = (struct session_lines){ .fd = -1 };
}

/* Whoever made the file: a plain one, and nobody else's to read. */
static int
open_file(struct session_lines *l)
{
    struct stat st;
    int fd = open(l->path,
                  O_RDWR | O_APPEND | O_CREAT | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK |
                      O_NOCTTY,
                  0600);
    if (fd < 0)
        return -errno;
    int r = fstat(fd, &st) < 0 ? -errno : S_ISREG(st.st_mode) ? 0 : -EINVAL;
    if (!r && fchmod(fd, 0600) < 0)
        r = -errno;
    if (r < 0) {
        close(fd);
        return r;
    }
    l->fd = fd;
    l->end = 0;
    return 0;
}

/* A file that was left in the middle of a line; `size` is where that is. */
static int
needs_newline(const struct session_lines *l, off_t size, bool *ret)
{
    char last = '\n';
    if (size && (uint64_t)size != l->end && pread(l->fd, &last, 1, size - 1) < 0)
        return -errno;
    *ret = last != '\n';
    return 0;
}

/* A write that was cut short does not say why; the next one does. What that adds is taken
 * back with the rest. */
static int
why_short(int fd)
{
    return write(fd, "\n", 1) < 0 ? -errno : -ENOSPC;
}

/* All of it, or the file is as it was. What another has written behind it meanwhile,
 * without the lock, is not taken back with it. */
static int
put(struct session_lines *l, struct view line, bool is_locked)
{
    struct stat st;
    bool is_open = false;
    if (fstat(l->fd, &st) < 0)
        return -errno;
    int e = needs_newline(l, st.st_size, &is_open);
    if (e < 0)
        return e;
    struct iovec parts[] = { { .iov_base = (char[]){ '\n' }, .iov_len = is_open },
                             { .iov_base = NULL, .iov_len = line.n } };
    memcpy(&parts[1].iov_base, &line.p, sizeof(line.p)); /* it is not written to */
    ssize_t r, n = (ssize_t)(line.n + is_open);
    do
        r = writev(l->fd, parts, 2);
    while (r < 0 && errno == EINTR);
    if (r == n) {
        l->end = (uint64_t)st.st_size + (uint64_t)n;
        return 0;
    }
    e = r < 0 ? -errno : is_locked ? why_short(l->fd) : -ENOSPC;
    if (r > 0 && is_locked)
        (void)!ftruncate(l->fd, st.st_size);
    return e;
}

/* Where there is no lock to be had in a moment the line is written all the same: a write
 * that appends is whole among others, unless the disk fails. */
static int
put_line(struct session_lines *l, struct view line)
{
    int r = l->fd < 0 ? open_file(l) : 0;
    if (r < 0)
        return r;
    bool is_locked = !file_lock(l->fd, false, clock_mono_ns() + LOCK_WAITS_NS);
    r = put(l, line, is_locked);
    if (is_locked)
        (void)flock(l->fd, LOCK_UN);
    return r;
}

int
session_lines_flush(struct session_lines *l)
{
    size_t done = 0;
    int r = 0;
    while (done < l->waiting.n) {
        const uint8_t *p = l->waiting.p + done;
        const uint8_t *end = memchr(p, '\n', l->waiting.n - done);
        size_t n = end ? (size_t)(end - p) + 1 : l->waiting.n - done;
        r = put_line(l, (struct view){ p, n });
        if (r < 0)
            break;
        done += n;
    }
    if (done) {
        l->waiting.n -= done;
        memmove(l->waiting.p, l->waiting.p + done, l->waiting.n);
    }
    return r;
}

int
session_lines_add(struct session_lines *l, struct view line)
{
    int r = session_lines_flush(l);
    if (!r)
        r = put_line(l, line);
    if (r < 0 && buf_append(&l->waiting, line.p, line.n) < 0)
        r = ERR_LIMIT;
    return r;
}

int
session_lines_fd(const struct session_lines *l)
{
    return l->fd;
}

uint64_t
session_lines_count(struct view lines)
{
    uint64_t count = 0;
    for (const uint8_t *end; lines.n && (end = memchr(lines.p, '\n', lines.n)); count++)
        lines = (struct view){ end + 1, lines.n - (size_t)(end + 1 - lines.p) };
    return count;
}

int
session_lines_finish(struct session_lines *l, int (*write)(void *ctx), void *ctx,
                     uint64_t *lost)
{
    int r = -EIO;
    for (int tries = 0; r < 0 && tries < SESSION_LAST_TRIES; tries++) {
        size_t before = l->waiting.n;
        r = write ? write(ctx) : session_lines_flush(l);
        tries = l->waiting.n < before ? -1 : tries;
    }
    *lost += session_lines_count((struct view){ l->waiting.p, l->waiting.n });
    return !r && l->fd >= 0 && fdatasync(l->fd) < 0 ? -errno : r;
}
