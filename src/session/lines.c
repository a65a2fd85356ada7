/* SPDX-License-Identifier: MIT */
#include "session/lines.h"

#include <errno.h>
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/json.h"

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
    int r = fstat(fd, &st) < 0 || fchmod(fd, 0600) < 0 ? -errno : 0;
    if (!r && !S_ISREG(st.st_mode))
        r = -EINVAL;
    if (r < 0) {
        close(fd);
        return r;
    }
    l->fd = fd;
    l->is_line_open = true;
    return 0;
}

/* All of it, or the file is as it was. */
static int
put(struct session_lines *l, const void *p, size_t n)
{
    struct stat st;
    if (fstat(l->fd, &st) < 0)
        return -errno;
    ssize_t r;
    do
        r = write(l->fd, p, n);
    while (r < 0 && errno == EINTR);
    if (r == (ssize_t)n)
        return 0;
    int e = r < 0 ? -errno : -ENOSPC; /* what else would cut a write short */
    l->is_line_open |= r > 0 && ftruncate(l->fd, st.st_size) < 0;
    return e;
}

static int
end_open_line(struct session_lines *l)
{
    struct stat st;
    char last = '\n';
    if (fstat(l->fd, &st) < 0)
        return -errno;
    if (st.st_size && pread(l->fd, &last, 1, st.st_size - 1) < 0)
        return -errno;
    int r = last == '\n' ? 0 : put(l, "\n", 1);
    if (!r)
        l->is_line_open = false;
    return r;
}

static int
put_line(struct session_lines *l, struct view line)
{
    int r = l->fd < 0 ? open_file(l) : 0;
    if (!r && l->is_line_open)
        r = end_open_line(l);
    return r < 0 ? r : put(l, line.p, line.n);
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
