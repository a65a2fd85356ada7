/* SPDX-License-Identifier: MIT */
#include "calls/split.h"

void
calls_split_release(struct calls_split *s)
{
    buf_release(&s->held);
    *s = (struct calls_split){ 0 };
}

/* How many of the bytes are of the event at hand; *ret_ends: it ends with them. Whether a
 * CR is followed by an LF is not waited for: that one begins the next event, then. */
static size_t
find_end(struct calls_split *s, struct view bytes, bool *ret_ends)
{
    for (size_t i = 0; i < bytes.n; i++) {
        uint8_t c = bytes.p[i];
        bool is_same = c == '\n' && s->was_cr;
        s->was_cr = c == '\r';
        if (c != '\n' && c != '\r') {
            const uint8_t *p = bytes.p + i, *end = bytes.p + bytes.n;
            while (p + 1 < end && p[1] != '\n' && p[1] != '\r')
                p++;
            i = (size_t)(p - bytes.p);
            s->has_line = true;
        } else if (is_same) {
            continue;
        } else if (s->has_line) {
            s->has_line = false;
        } else {
            bool has_lf = c == '\r' && i + 1 < bytes.n && bytes.p[i + 1] == '\n';
            s->was_cr &= !has_lf;
            *ret_ends = true;
            return i + 1 + has_lf;
        }
    }
    return bytes.n;
}

static int
hand_out(struct calls_split *s, struct view piece, enum calls_split_end end,
         calls_split_fn fn, void *ctx)
{
    s->is_on = end == CALLS_SPLIT_ON;
    if (!s->held.n)
        return fn(ctx, piece, end);
    int r = buf_append(&s->held, piece.p, piece.n);
    if (!r)
        r = fn(ctx, (struct view){ s->held.p, s->held.n }, end);
    buf_clear(&s->held);
    return r;
}

int
calls_split_feed(struct calls_split *s, struct view bytes, calls_split_fn fn, void *ctx)
{
    s->held.ceiling = (size_t)2 * CALLS_EVENT_MAX;
    while (bytes.n) {
        bool ends = false;
        struct view piece = bytes;
        if (piece.n > CALLS_EVENT_MAX - s->held.n)
            piece.n = CALLS_EVENT_MAX - s->held.n;
        piece.n = find_end(s, piece, &ends);
        bytes = (struct view){ bytes.p + piece.n, bytes.n - piece.n };
        bool is_full = s->held.n + piece.n >= CALLS_EVENT_MAX;
        int r = ends      ? hand_out(s, piece, CALLS_SPLIT_WHOLE, fn, ctx)
                : is_full ? hand_out(s, piece, CALLS_SPLIT_ON, fn, ctx)
                          : buf_append(&s->held, piece.p, piece.n);
        if (r < 0)
            return r;
    }
    return 0;
}

int
calls_split_end(struct calls_split *s, calls_split_fn fn, void *ctx)
{
    struct view rest = { s->held.p, s->held.n };
    int r = rest.n || s->is_on ? fn(ctx, rest, CALLS_SPLIT_CUT) : 0;
    calls_split_release(s);
    return r;
}

/* Off its end. */
static bool
take_line_end(struct view *v)
{
    size_t n = v->n && (v->p[v->n - 1] == '\n' || v->p[v->n - 1] == '\r');
    if (v->n > 1 && v->p[v->n - 1] == '\n' && v->p[v->n - 2] == '\r')
        n = 2;
    v->n -= n;
    return n;
}

enum calls_split_end
calls_split_how(struct view event, bool is_last)
{
    if (!event.n || (take_line_end(&event) && (!event.n || take_line_end(&event))))
        return CALLS_SPLIT_WHOLE;
    return is_last ? CALLS_SPLIT_CUT : CALLS_SPLIT_ON;
}
