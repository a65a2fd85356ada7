/* SPDX-License-Identifier: MIT */
/* sse.c -- from the bytes of a text/event-stream to its events. */
#include "turn/sse.h"

#include "base/num.h"

enum { KEPT = 1 << 20 }; /* memory that stays for the next event */

/* Where the next line ends: each byte is looked at once for each of the two, whatever
 * the stream uses. */
struct scan {
    const uint8_t *p, *end;
    const uint8_t *lf, *cr; /* the first at p or behind it, or the end */
};

static const uint8_t *
find(const struct scan *at, uint8_t byte)
{
    const uint8_t *p = memchr(at->p, byte, (size_t)(at->end - at->p));
    return p ? p : at->end;
}

static const uint8_t *
line_end(struct scan *at)
{
    if (at->lf < at->p)
        at->lf = find(at, '\n');
    if (at->cr < at->p)
        at->cr = find(at, '\r');
    return at->lf < at->cr ? at->lf : at->cr;
}

static size_t
max_of(const struct turn_sse *s)
{
    return s->max ? s->max : (size_t)TURN_SSE_MAX;
}

static void
empty(struct buf *b)
{
    if (b->cap > KEPT)
        buf_release(b);
    buf_clear(b);
}

static bool
is_word(struct view text, const char *word, size_t n)
{
    return text.n == n && !memcmp(text.p, word, n);
}

/* -- events -- */

static void
begin_anew(struct turn_sse *s)
{
    empty(&s->data);
    empty(&s->name);
    s->data_at = s->name_at = (struct view){ 0 };
    s->has_data = s->is_lost = false;
}

/* A blank line. An event without data is none. */
static int
dispatch(struct turn_sse *s, turn_sse_fn fn, void *ctx)
{
    int r = 0;
    if (s->has_data || s->is_lost) {
        struct turn_sse_event e = {
            .name = s->name_at.n ? s->name_at
                                 : (struct view){ (const uint8_t *)"message", 7 },
            .data = s->data_at,
            .id = { s->id.p, s->id.n },
            .retry_ms = s->retry_ms - 1,
            .is_too_long = s->is_lost,
        };
        if (s->is_lost)
            e.data = (struct view){ 0 };
        r = fn(ctx, &e);
    }
    begin_anew(s);
    return r;
}

/* The event gives its memory back at once; it ends where it would have. */
static void
lose(struct turn_sse *s)
{
    empty(&s->data);
    s->data_at = (struct view){ 0 };
    s->is_lost = true;
}

static int
own(struct buf *b, struct view *at)
{
    if (!at->n)
        at->p = (const uint8_t *)"";
    if (at->p == b->p || !at->n)
        return 0;
    buf_clear(b);
    int r = buf_append(b, at->p, at->n);
    *at = (struct view){ b->p, b->n };
    return r;
}

static int
take_data(struct turn_sse *s, struct view value)
{
    if (s->is_lost)
        return 0;
    if (!s->has_data) {
        s->has_data = true;
        s->data_at = value;
        return 0;
    }
    if (s->data_at.n + 1 + value.n > max_of(s)) {
        lose(s);
        return 0;
    }
    int r = own(&s->data, &s->data_at);
    s->data.ceiling = max_of(s);
    if (r >= 0)
        r = buf_append(&s->data, "\n", 1);
    if (r >= 0)
        r = buf_append(&s->data, value.p, value.n);
    s->data_at = (struct view){ s->data.p, s->data.n };
    return r;
}

/* -- lines -- */

static int
take_id(struct turn_sse *s, struct view value)
{
    if (value.n && memchr(value.p, 0, value.n))
        return 0;
    buf_clear(&s->id);
    return buf_append(&s->id, value.p, value.n);
}

static void
take_retry(struct turn_sse *s, struct view value)
{
    uint64_t ms;
    if (num_parse(value, UINT64_MAX - 1, &ms) == 0)
        s->retry_ms = ms + 1;
}

static int
take_field(struct turn_sse *s, struct view name, struct view value)
{
    if (is_word(name, "data", 4))
        return take_data(s, value);
    if (is_word(name, "event", 5))
        s->name_at = value;
    else if (is_word(name, "id", 2))
        return take_id(s, value);
    else if (is_word(name, "retry", 5))
        take_retry(s, value);
    return 0;
}

/* A mark may stand before the first line. */
static struct view
without_mark(const struct turn_sse *s, struct view line)
{
    if (!s->has_line && line.n >= 3 && !memcmp(line.p, "\xef\xbb\xbf", 3))
        line = (struct view){ line.p + 3, line.n - 3 };
    return line;
}

static int
take_line(struct turn_sse *s, struct view line, turn_sse_fn fn, void *ctx)
{
    line = without_mark(s, line);
    s->has_line = true;
    if (!line.n)
        return dispatch(s, fn, ctx);
    const uint8_t *colon = memchr(line.p, ':', line.n);
    if (!colon)
        return take_field(s, line, (struct view){ line.p + line.n, 0 });
    struct view name = { line.p, (size_t)(colon - line.p) };
    struct view value = { colon + 1, line.n - name.n - 1 };
    if (value.n && value.p[0] == ' ')
        value = (struct view){ value.p + 1, value.n - 1 };
    return take_field(s, name, value);
}

/* A line, or the rest of one, up to its end. What of the event lies in the held line is
 * copied before that goes. */
static int
end_line(struct turn_sse *s, struct view rest, turn_sse_fn fn, void *ctx)
{
    if (s->is_long) {
        s->is_long = false;
        s->has_line = true;
        return 0;
    }
    if (!s->held.n)
        return take_line(s, rest, fn, ctx);
    int r = buf_append(&s->held, rest.p, rest.n);
    if (r >= 0)
        r = take_line(s, (struct view){ s->held.p, s->held.n }, fn, ctx);
    if (r >= 0)
        r = own(&s->data, &s->data_at);
    if (r >= 0)
        r = own(&s->name, &s->name_at);
    empty(&s->held);
    return r;
}

/* The line has become too long: nothing of it stays, and if it is no comment, of its
 * event neither. */
static void
pass_over(struct turn_sse *s, struct view more)
{
    uint8_t head[4];
    size_t held = s->held.n < sizeof(head) ? s->held.n : sizeof(head);
    size_t rest = more.n < sizeof(head) - held ? more.n : sizeof(head) - held;
    if (held)
        memcpy(head, s->held.p, held);
    memcpy(head + held, more.p, rest);
    struct view begin = without_mark(s, (struct view){ head, held + rest });
    if (!begin.n || begin.p[0] != ':')
        lose(s);
    empty(&s->held);
    s->is_long = true;
}

static bool
is_too_long(const struct turn_sse *s, size_t more)
{
    return !s->is_long && s->held.n + more > max_of(s);
}

/* What goes on in the next piece is copied. */
static int
hold(struct turn_sse *s, struct view rest)
{
    int r = own(&s->data, &s->data_at);
    if (r >= 0)
        r = own(&s->name, &s->name_at);
    if (r < 0 || s->is_long || !rest.n)
        return r;
    return buf_append(&s->held, rest.p, rest.n);
}

int
turn_sse_feed(struct turn_sse *s, struct view bytes, turn_sse_fn fn, void *ctx)
{
    if (!bytes.n)
        return 0;
    struct scan at = { .p = bytes.p, .end = bytes.p + bytes.n };
    if (s->was_cr && *at.p == '\n')
        at.p++;
    s->was_cr = false;
    at.lf = find(&at, '\n');
    at.cr = find(&at, '\r');
    s->held.ceiling = s->name.ceiling = s->id.ceiling = s->data.ceiling = max_of(s);
    int r = 0;
    for (;;) {
        const uint8_t *end = line_end(&at);
        struct view line = { at.p, (size_t)(end - at.p) };
        if (is_too_long(s, line.n))
            pass_over(s, line);
        if (end == at.end)
            return hold(s, line);
        if ((r = end_line(s, line, fn, ctx)) < 0)
            return r;
        at.p = end + 1;
        if (*end == '\r' && at.p == at.end)
            s->was_cr = true;
        else if (*end == '\r' && *at.p == '\n')
            at.p++;
    }
}

bool
turn_sse_end(struct turn_sse *s)
{
    struct view line = without_mark(s, (struct view){ s->held.p, s->held.n });
    bool has_begun = s->has_data || s->is_lost || s->name_at.n ||
                     (line.n && line.p[0] != ':');
    size_t max = s->max;
    turn_sse_release(s);
    s->max = max;
    return has_begun;
}

void
turn_sse_release(struct turn_sse *s)
{
    buf_release(&s->held);
    buf_release(&s->data);
    buf_release(&s->name);
    buf_release(&s->id);
    *s = (struct turn_sse){ 0 };
}
