/* SPDX-License-Identifier: MIT */
#include "library/turns.h"

#include <errno.h>
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/file.h"
#include "base/json_in.h"
#include "library/turns_priv.h"
#include "turn/decoder.h"
#include "turn/totals.h"

enum {
    LINE_BYTES_MAX = 2 * TURN_LINE_MAX, /* what was one line of an agent's, and more */
    CHUNK = 64 << 10,
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
    if (!r->unread.lines++)
        r->unread.first = r->lines;
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
        e = r->fn(r->ctx, &event, &at, ++r->events);
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
            r->lines++, r->is_line_known = false;
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
    return e ? e : end_line(r);
}

int
library_turns_read(const char *path, library_turn_fn fn, void *ctx,
                   struct session_unread *ret)
{
    AUTO(turns_reading)
    r = { .fn = fn, .ctx = ctx, .lines = 1, .line.ceiling = LINE_BYTES_MAX };
    struct stat st;
    int fd = open(path, O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK | O_NOCTTY);
    if (fd < 0)
        return errno == ENOENT ? 0 : -errno;
    int e = fstat(fd, &st) < 0 ? -errno : S_ISREG(st.st_mode) ? 0 : ERR_DAMAGED;
    if (!e)
        e = read_all(&r, fd);
    close(fd);
    if (ret)
        *ret = r.unread;
    return e;
}

/* -- the run as a whole -- */

void
library_run_release(struct library_run *r)
{
    buf_release(&r->agent_session_id);
    buf_release(&r->model);
}

struct summing {
    struct library_run *run;
    struct turn_totals totals;
};

static int
keep(struct buf *kept, struct view told)
{
    if (!told.n)
        return 0;
    buf_clear(kept);
    return buf_append(kept, told.p, told.n);
}

/* A library_turn_fn. */
static int
sum_up(void *ctx, const struct turn_event *e, const struct turn_stamp *at,
       uint64_t number)
{
    struct summing *s = ctx;
    int r = turn_totals_add(&s->totals, e);
    s->run->events = number;
    if (at->iteration > s->run->iterations)
        s->run->iterations = at->iteration;
    if (!r && e->type == TURN_SESSION)
        r = keep(&s->run->agent_session_id, e->id);
    if (!r && e->type == TURN_SESSION)
        r = keep(&s->run->model, e->model);
    return r;
}

int
library_run_read(struct library_run *ret, const char *path)
{
    struct summing s = { .run = ret };
    int r = library_turns_read(path, sum_up, &s, &ret->unread);
    ret->usage = turn_totals_usage(&s.totals);
    ret->calls = s.totals.is_known ? s.totals.calls : TURN_UNKNOWN;
    turn_totals_release(&s.totals);
    return r;
}
