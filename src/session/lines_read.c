/* SPDX-License-Identifier: MIT */
/*
 * lines_read.c -- which snapshots a file of lines has, whatever else is in it.
 *
 * A line of ours is a flat object. Its numbers have 64 bits, which jansson's do not: so
 * it is read here, by a cursor that stops at the first byte that does not fit.
 */
#include "session/lines.h"

#include <errno.h>
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/file.h"

enum { LINE_MAX_BYTES = 1 << 20, CHUNK = 65536 };

struct cursor {
    const uint8_t *p, *end;
};

static void
skip_blanks(struct cursor *c)
{
    while (c->p < c->end && (*c->p == ' ' || *c->p == '\t' || *c->p == '\r'))
        c->p++;
}

static bool
take(struct cursor *c, char byte)
{
    skip_blanks(c);
    if (c->p == c->end || *c->p != (uint8_t)byte)
        return false;
    c->p++;
    return true;
}

/* As it stands there, between its quotes. */
static bool
take_string(struct cursor *c, struct view *ret)
{
    if (!take(c, '"'))
        return false;
    const uint8_t *start = c->p;
    for (; c->p < c->end && *c->p != '"'; c->p++)
        if (*c->p == '\\' && ++c->p == c->end)
            return false;
    if (c->p == c->end)
        return false;
    *ret = (struct view){ start, (size_t)(c->p++ - start) };
    return true;
}

static bool
take_number(struct cursor *c, uint64_t *ret)
{
    uint64_t v = 0;
    skip_blanks(c);
    const uint8_t *start = c->p;
    for (; c->p < c->end && *c->p >= '0' && *c->p <= '9'; c->p++)
        if (__builtin_mul_overflow(v, (uint64_t)10, &v) ||
            __builtin_add_overflow(v, (uint64_t)(*c->p - '0'), &v))
            return false;
    *ret = v;
    return c->p > start;
}

static bool
take_word(struct cursor *c)
{
    skip_blanks(c);
    const uint8_t *start = c->p;
    while (c->p < c->end && *c->p >= 'a' && *c->p <= 'z')
        c->p++;
    return c->p > start;
}

static bool
is_text(struct view v, const char *text)
{
    return v.n == strlen(text) && !memcmp(v.p, text, v.n);
}

/* One pair; a number that a key is made of sets its bit in *seen. */
static bool
take_pair(struct cursor *c, struct session_snapshot_key *key, unsigned *seen)
{
    const struct {
        const char *name;
        uint64_t *value;
    } fields[] = { { "id", &key->id },
                   { "ts_ns", &key->ts_ns },
                   { "anchor_byte", &key->anchor_byte } };
    struct view name, text;
    uint64_t v;
    if (!take_string(c, &name) || !take(c, ':'))
        return false;
    skip_blanks(c);
    bool is_number = c->p < c->end && *c->p >= '0' && *c->p <= '9';
    if (!is_number)
        return take_string(c, &text) || take_word(c);
    if (!take_number(c, &v))
        return false;
    for (unsigned i = 0; i < sizeof(fields) / sizeof(fields[0]); i++)
        if (is_text(name, fields[i].name)) {
            *fields[i].value = v;
            *seen |= 1U << i;
        }
    return true;
}

bool
session_snapshot_key_of(struct view line, struct session_snapshot_key *ret)
{
    struct session_snapshot_key key = { 0 };
    struct cursor c = { line.p, line.p + line.n };
    unsigned seen = 0;
    if (!take(&c, '{'))
        return false;
    do
        if (!take_pair(&c, &key, &seen))
            return false;
    while (take(&c, ','));
    if (!take(&c, '}') || seen != 7)
        return false;
    skip_blanks(&c);
    if (c.p != c.end)
        return false;
    *ret = key;
    return true;
}

/* -- a file of them -- */

static int
add_key(struct buf *keys, struct buf *line)
{
    struct session_snapshot_key key;
    bool is_whole = !line->failed; /* else it was too long for one of ours */
    bool is_ours = is_whole && line->n &&
                   session_snapshot_key_of((struct view){ line->p, line->n }, &key);
    buf_clear(line);
    return is_ours ? buf_append(keys, &key, sizeof(key)) : 0;
}

static int
add_chunk(struct buf *keys, struct buf *line, struct view chunk)
{
    while (chunk.n) {
        const uint8_t *end = memchr(chunk.p, '\n', chunk.n);
        size_t n = end ? (size_t)(end - chunk.p) : chunk.n;
        if (!line->failed)
            buf_append(line, chunk.p, n);
        if (!end)
            return 0;
        int r = add_key(keys, line);
        if (r < 0)
            return r;
        chunk.p += n + 1;
        chunk.n -= n + 1;
    }
    return 0;
}

static int
read_keys(int fd, struct buf *ret)
{
    AUTO(buf) line = { .ceiling = LINE_MAX_BYTES };
    uint8_t chunk[CHUNK];
    ssize_t n;
    int r = 0;
    while (!r && (n = file_read(fd, chunk, sizeof(chunk))) != 0)
        r = n < 0 ? (int)n : add_chunk(ret, &line, (struct view){ chunk, (size_t)n });
    return r; /* what is behind the last newline is no line */
}

int
session_snapshot_keys(const char *path, struct buf *ret)
{
    struct stat st;
    int fd = open(path, O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK | O_NOCTTY);
    if (fd < 0)
        return errno == ENOENT ? 0 : -errno;
    int r = fstat(fd, &st) < 0 ? -errno : S_ISREG(st.st_mode) ? 0 : -EINVAL;
    if (!r)
        r = read_keys(fd, ret);
    close(fd);
    return r;
}
