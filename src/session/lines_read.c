/* SPDX-License-Identifier: MIT */
/*
 * lines_read.c -- the snapshots or instructions of a file, whatever else is in it.
 *
 * A NUL ends a line, too: no line of ours has one, a disk that lost power leaves runs of
 * them, and what stands behind may be good.
 */
#include <errno.h>
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/file.h"
#include "session/lines.h"

enum {
    LINE_MAX_BYTES = 16 << 20, /* far more than the recorder takes */
    CHUNK = 65536,
};

struct reading {
    enum session_moment_kind kind;
    session_moment_fn fn;
    void *ctx;
    struct session_unread unread;
    struct buf line, text;
    uint64_t number;    /* of the line */
    bool is_line_known; /* as one with something unread in it */
};

static void
note_unread(struct reading *r)
{
    if (r->is_line_known)
        return;
    r->is_line_known = true;
    if (!r->unread.lines++)
        r->unread.first = r->number;
}

/* The line is as long as it will be. */
static int
end_line(struct reading *r)
{
    struct view rest = { r->line.p, r->line.n };
    struct session_moment m;
    int e = 0;
    if (r->line.failed == -ENOMEM)
        return -ENOMEM;
    if (r->line.failed) { /* too long for one */
        note_unread(r);
        rest.n = 0;
    }
    while (rest.n && e >= 0) {
        e = session_moment_next(&rest, r->kind, &r->text, &m);
        if (e == ERR_DAMAGED) {
            note_unread(r);
            e = 0;
        } else if (e > 0) {
            e = r->fn(r->ctx, &m);
        }
    }
    buf_clear(&r->line);
    return e < 0 ? e : 0;
}

/* Where the line that begins at p ends; NULL: not before the end. */
static const uint8_t *
find_end(struct view in)
{
    const uint8_t *nul = memchr(in.p, 0, in.n);
    const uint8_t *newline = memchr(in.p, '\n', nul ? (size_t)(nul - in.p) : in.n);
    return newline ? newline : nul;
}

static int
add_chunk(struct reading *r, struct view in)
{
    while (in.n) {
        const uint8_t *end = find_end(in);
        size_t n = end ? (size_t)(end - in.p) : in.n;
        if (!r->line.failed)
            buf_append(&r->line, in.p, n);
        if (!end)
            return 0;
        int e = end_line(r);
        if (e < 0)
            return e;
        if (!*end++)
            while (end < in.p + in.n && !*end)
                end++;
        else
            r->number++, r->is_line_known = false;
        in = (struct view){ end, (size_t)(in.p + in.n - end) };
    }
    return 0;
}

static int
read_all(struct reading *r, int fd)
{
    uint8_t chunk[CHUNK];
    ssize_t n;
    int e = 0;
    while (!e && (n = file_read(fd, chunk, sizeof(chunk))) != 0)
        e = n < 0 ? (int)n : add_chunk(r, (struct view){ chunk, (size_t)n });
    return e < 0 ? e : end_line(r);
}

int
session_moments_read(const char *path, enum session_moment_kind kind,
                     session_moment_fn fn, void *ctx, struct session_unread *ret)
{
    struct reading r = {
        .kind = kind, .fn = fn, .ctx = ctx, .line.ceiling = LINE_MAX_BYTES, .number = 1
    };
    struct stat st;
    int fd = open(path, O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK | O_NOCTTY);
    if (fd < 0 && errno != ENOENT)
        return -errno;
    int e = fd < 0 ? 0 : fstat(fd, &st) < 0 ? -errno : S_ISREG(st.st_mode) ? 0 : -EINVAL;
    if (!e && fd >= 0)
        e = read_all(&r, fd);
    if (fd >= 0)
        close(fd);
    buf_release(&r.line);
    buf_release(&r.text);
    if (e >= 0 && ret)
        *ret = r.unread;
    return e;
}

/* A session_moment_fn; ctx is the keys. */
static int
add_key(void *ctx, const struct session_moment *m)
{
    struct session_snapshot_key key = { m->id, m->ts_ns, m->anchor_byte };
    return buf_append(ctx, &key, sizeof(key));
}

int
session_snapshot_keys(const char *path, struct buf *ret)
{
    return session_moments_read(path, SESSION_SNAPSHOT, add_key, ret, NULL);
}
