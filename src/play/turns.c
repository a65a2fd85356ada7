/* SPDX-License-Identifier: MIT */
#include "play/turns.h"

#include <errno.h>
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/file.h"
#include "redact/json.h"

enum {
    CHUNK = 64 << 10,
    LINE_MAX_BYTES = 512 << 20, /* an event of TURN_LINE_MAX with all of it escaped */
};

struct reading {
    const struct play_turns_options *opt;
    struct buf line, texts;
    uint64_t number; /* of the line */
    bool is_bad;     /* it is told already */
};

static void
tell_bad(struct reading *r)
{
    if (!r->is_bad && r->opt->bad)
        r->opt->bad(r->opt->ctx, r->number);
    r->is_bad = true;
}

/* 1: it is an event, and was handed out. */
static int
take_event(struct reading *r, struct view text)
{
    struct turn_event e;
    struct turn_stamp at;
    int got = turn_line_read(text, &r->texts, &e, &at);
    if (got < 0)
        return got == ERR_DAMAGED ? 0 : got;
    got = r->opt->fn(r->opt->ctx, &e, &at);
    return got < 0 ? got : 1;
}

/* Where the next event may begin: behind the first byte, as all of ours begin. */
static size_t
next_begin(struct view text)
{
    static const char begin[] = "{\"ts_ns\":";
    const uint8_t *p = text.n > 1
                           ? memmem(text.p + 1, text.n - 1, begin, sizeof(begin) - 1)
                           : NULL;
    return p ? (size_t)(p - text.p) : text.n;
}

static bool
is_blank(struct view text)
{
    for (size_t i = 0; i < text.n; i++)
        if (text.p[i] && text.p[i] != ' ' && text.p[i] != '\t' && text.p[i] != '\r')
            return false;
    return true;
}

/* Its NULs are no part of anything. */
static struct view
trim(struct view text)
{
    while (text.n && !text.p[0])
        text = (struct view){ text.p + 1, text.n - 1 };
    while (text.n && !text.p[text.n - 1])
        text.n--;
    return text;
}

/* The line is as long as it will be: one event, or, where that is not so, each that is
 * in it. */
static int
end_line(struct reading *r)
{
    struct view rest = { r->line.p, r->line.n };
    if (r->line.failed == -ENOMEM)
        return -ENOMEM;
    if (r->line.failed)
        tell_bad(r);
    int got = r->line.failed || is_blank(rest) ? 1 : take_event(r, trim(rest));
    if (!got) {
        for (size_t n; rest.n && got >= 0; rest.p += n, rest.n -= n) {
            n = next_begin(rest);
            got = take_event(r, trim((struct view){ rest.p, n }));
            if (!got)
                tell_bad(r);
        }
    }
    buf_clear(&r->line);
    r->number++;
    r->is_bad = false;
    return got < 0 ? got : 0;
}

static int
add_chunk(struct reading *r, struct view in)
{
    while (in.n) {
        const uint8_t *end = memchr(in.p, '\n', in.n);
        size_t n = end ? (size_t)(end - in.p) : in.n;
        if (!r->line.failed)
            buf_append(&r->line, in.p, n);
        int e = end ? end_line(r) : 0;
        if (e < 0)
            return e;
        n += end != NULL;
        in = (struct view){ in.p + n, in.n - n };
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
    return e || r->opt->is_growing ? e : end_line(r);
}

static int
open_plain(const char *path)
{
    struct stat st;
    int fd = open(path, O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK | O_NOCTTY);
    if (fd < 0)
        return -errno;
    if (fstat(fd, &st) == 0 && S_ISREG(st.st_mode))
        return fd;
    close(fd);
    return -EINVAL;
}

bool
play_turns_exist(const char *path)
{
    struct stat st;
    return lstat(path, &st) == 0 && S_ISREG(st.st_mode) && st.st_size > 0;
}

int
play_turns_read(const char *path, const struct play_turns_options *opt, struct err *err)
{
    struct reading r = { .opt = opt,
                         .number = 1,
                         .line.ceiling = LINE_MAX_BYTES,
                         .texts.ceiling = LINE_MAX_BYTES };
    int fd = open_plain(path);
    if (fd < 0)
        return err_code(err, fd == -ENOENT ? ERR_MISSING : fd, "cannot open '%s'", path);
    int e = read_all(&r, fd);
    close(fd);
    buf_release(&r.line);
    buf_release(&r.texts);
    return e < 0 ? err_code(err, e, "cannot read '%s'", path) : 0;
}

/* -- masked -- */

static int
mask(struct redact *r, struct view *text, struct buf *room, bool is_json)
{
    buf_clear(room);
    room->ceiling = LINE_MAX_BYTES;
    if (!text->n)
        return 0;
    int e = is_json ? redact_json(r, *text, room)
                    : redact_text(r, text->p, text->n, room);
    *text = (struct view){ room->p, room->n };
    return e < 0 ? e : 0;
}

int
play_turns_mask(struct redact *r, struct turn_event *e, struct play_turns_mask *room)
{
    int got = mask(r, &e->text, &room->text, false);
    if (!got)
        got = mask(r, &e->json, &room->json, true);
    if (!got)
        got = mask(r, &e->name, &room->name, false);
    if (!got)
        got = mask(r, &e->model, &room->model, false);
    return got ? got : mask(r, &e->cwd, &room->cwd, false);
}

void
play_turns_mask_release(struct play_turns_mask *room)
{
    buf_release(&room->text);
    buf_release(&room->json);
    buf_release(&room->name);
    buf_release(&room->model);
    buf_release(&room->cwd);
}
