/* SPDX-License-Identifier: MIT */
#include "play/turns.h"

#include <errno.h>
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/file.h"
#include "base/json_in.h"
#include "play/turns_priv.h"
#include "redact/json.h"

enum {
    CHUNK = 64 << 10,
    LINE_MAX_BYTES = 512 << 20, /* an event of TURN_LINE_MAX with all of it escaped */
    TRIES = 64, /* to find a good object behind a bad one on the same line */
};

void
turns_reading_release(struct turns_reading *r)
{
    buf_release(&r->line);
    buf_release(&r->texts);
}

/* Once a line. */
static void
note_unread(struct turns_reading *r)
{
    if (r->is_line_known)
        return;
    r->is_line_known = true;
    if (r->opt->bad)
        r->opt->bad(r->opt->ctx, r->number);
}

/* 1: it was an event; 0: it is none. */
static int
take_object(struct turns_reading *r, struct view object)
{
    struct turn_event event;
    struct turn_stamp at;
    int e = turn_line_read(object, &r->texts, &event, &at);
    if (e == ERR_DAMAGED)
        return 0;
    if (!e)
        e = r->opt->fn(r->opt->ctx, &event, &at);
    return e < 0 ? e : 1;
}

/* Where the next line of ours may begin, which has no newline before it. */
static const uint8_t *
find_next(const uint8_t *p, const uint8_t *end)
{
    static const char begin[] = "{\"ts_ns\":";
    return memmem(p, (size_t)(end - p), begin, sizeof(begin) - 1);
}

/* Several objects, or rubbish with some between it. */
static int
take_pieces(struct turns_reading *r, struct view line)
{
    const uint8_t *p = line.p, *end = line.p + line.n;
    bool is_bad = false;
    for (int i = 0; i < TRIES && p && p < end; i++) {
        struct json_in in = { .p = p, .end = end };
        bool is_object = json_in_peek(&in) == '{';
        const uint8_t *start = in.p;
        if (start == end) /* blanks */
            break;
        is_object = is_object && json_in_skip(&in);
        int e = is_object ? take_object(r, (struct view){ start, (size_t)(in.p - start) })
                          : 0;
        if (e < 0)
            return e;
        is_bad |= !e;
        p = e ? in.p : find_next(start + 1, end);
    }
    if (is_bad)
        note_unread(r);
    return 0;
}

static bool
is_blank(struct view v)
{
    for (size_t i = 0; i < v.n; i++)
        if (v.p[i] != ' ' && v.p[i] != '\t' && v.p[i] != '\r')
            return false;
    return true;
}

int
turns_take_line(struct turns_reading *r, struct view line)
{
    static const uint8_t mark[] = { 0xef, 0xbb, 0xbf };
    if (line.n >= sizeof(mark) && !memcmp(line.p, mark, sizeof(mark)))
        line = (struct view){ line.p + sizeof(mark), line.n - sizeof(mark) };
    if (is_blank(line))
        return 0;
    int e = take_object(r, line);
    return e ? (e < 0 ? e : 0) : take_pieces(r, line);
}

/* The line is as long as it will be. */
static int
end_line(struct turns_reading *r)
{
    int e = r->line.failed == -ENOMEM ? -ENOMEM : 0;
    if (!e && r->line.failed)
        note_unread(r); /* too long for one */
    else if (!e)
        e = turns_take_line(r, (struct view){ r->line.p, r->line.n });
    buf_clear(&r->line);
    return e;
}

/* A NUL ends a line, too: no line of ours has one, and a disk that lost power leaves runs
 * of them. */
static int
add_chunk(struct turns_reading *r, const uint8_t *p, size_t n)
{
    for (const uint8_t *end = p + n; p < end;) {
        const uint8_t *nul = memchr(p, 0, (size_t)(end - p));
        const uint8_t *stop = memchr(p, '\n', (size_t)((nul ? nul : end) - p));
        stop = stop ? stop : nul;
        if (!r->line.failed)
            buf_append(&r->line, p, (size_t)((stop ? stop : end) - p));
        if (!stop)
            return 0;
        int e = end_line(r);
        if (e < 0)
            return e;
        if (*stop == '\n')
            r->number++, r->is_line_known = false;
        p = stop + 1;
    }
    return 0;
}

static int
read_all(struct turns_reading *r, int fd)
{
    AUTO(buf) chunk = { 0 };
    ssize_t n = 0;
    int e = buf_reserve(&chunk, CHUNK);
    while (!e && (n = file_read(fd, chunk.p, CHUNK)) > 0)
        e = add_chunk(r, chunk.p, (size_t)n);
    if (!e && n < 0)
        e = (int)n;
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
    AUTO(turns_reading)
    r = { .opt = opt,
          .number = 1,
          .line.ceiling = LINE_MAX_BYTES,
          .texts.ceiling = LINE_MAX_BYTES };
    int fd = open_plain(path);
    if (fd < 0)
        return err_code(err, fd == -ENOENT ? ERR_MISSING : fd, "cannot open '%s'", path);
    int e = read_all(&r, fd);
    close(fd);
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
        got = mask(r, &e->id, &room->id, false);
    if (!got)
        got = mask(r, &e->parent, &room->parent, false);
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
    buf_release(&room->id);
    buf_release(&room->parent);
    buf_release(&room->json);
    buf_release(&room->name);
    buf_release(&room->model);
    buf_release(&room->cwd);
}
