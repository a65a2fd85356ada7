/* SPDX-License-Identifier: MIT */
/*
 * veil_lane.c -- a text that comes in pieces, and its scanner, which it may have to lend.
 *
 * A scanner that comes back sees the end of the text again. What it holds of that was
 * let out before, and is left out when it comes once more.
 */
#include "calls/veil_priv.h"

/* What a scanner must see to hold what it held, with what stands before that. */
enum { TAIL = REDACT_HOLD + CALLS_SAID_HOLD + 512, TAIL_MOST = 2 * TAIL };

void
veil_lane_release(struct veil_lane *l)
{
    buf_release(&l->tail);
    calls_said_release(&l->said);
    *l = (struct veil_lane){ 0 };
}

/* First what the call has learnt, then what the rules know. */
static int
scan(struct veil_lane *l, struct view text, struct buf *out)
{
    AUTO(buf) said = { 0 };
    if (!l->mask->learnt)
        return redact_stream_feed(l->stream, text.p, text.n, out);
    int r = calls_said_feed(l->mask, &l->said, text, &said);
    return r < 0 ? r : redact_stream_feed(l->stream, said.p, said.n, out);
}

static int
scan_rest(struct veil_lane *l, struct buf *out)
{
    AUTO(buf) said = { 0 };
    int r = calls_said_flush(l->mask, &l->said, &said);
    if (r >= 0)
        r = redact_stream_feed(l->stream, said.p, said.n, out);
    return r < 0 ? r : redact_stream_flush(l->stream, out);
}

static size_t
count_held(const struct veil_lane *l)
{
    return redact_stream_held(l->stream) + calls_said_held(&l->said);
}

int
veil_lane_resume(struct veil_lane *l, struct redact_stream *stream)
{
    AUTO(buf) out = { 0 };
    l->stream = stream;
    l->is_behind = true;
    l->again = 0;
    redact_stream_reset(stream);
    calls_said_release(&l->said);
    if (l->tail.n == l->held)
        return 0;
    int r = scan(l, (struct view){ l->tail.p, l->tail.n - l->held }, &out);
    if (r >= 0)
        r = redact_stream_rest(stream, &out);
    l->again = count_held(l);
    return r;
}

static int
catch_up(struct veil_lane *l, struct buf *out)
{
    size_t n = l->is_behind ? l->held : 0;
    l->is_behind = false;
    return n ? scan(l, (struct view){ l->tail.p + (l->tail.n - n), n }, out) : 0;
}

/* How much of what comes out was there before: up to a mask, if one begins in it. Where
 * one has begun already, nothing of it comes. */
static size_t
count_again(const struct buf *out, struct view again)
{
    const size_t mask = sizeof(REDACT_MASK) - 1;
    size_t n = 0;
    while (n < again.n && n < out->n && out->p[n] == again.p[n])
        n++;
    bool is_mask = out->n - n >= mask && !memcmp(out->p + n, REDACT_MASK, mask);
    return n == again.n || is_mask ? n : 0;
}

/* The scanner has let out `out`; `n` is how much it held, and was given. */
static struct view
compare(struct veil_lane *l, const struct buf *out, size_t n, bool *ret_is_clean)
{
    size_t held = count_held(l), let = n - held;
    size_t most = l->again < let ? l->again : let;
    const uint8_t *all = l->tail.p + (l->tail.n - n);
    size_t same = count_again(out, (struct view){ all, most });
    struct view rest = { same ? out->p + same : out->p, out->n - same };
    *ret_is_clean = rest.n == let - same &&
                    (!rest.n || !memcmp(rest.p, all + same, rest.n));
    l->again -= most;
    l->held = held - l->again;
    return rest;
}

static void
trim(struct veil_lane *l)
{
    if (l->tail.n <= TAIL_MOST)
        return;
    memmove(l->tail.p, l->tail.p + (l->tail.n - TAIL), TAIL);
    l->tail.n = TAIL;
}

int
veil_lane_feed(struct veil_lane *l, struct view piece, struct buf *out,
               struct view *ret_let, bool *ret_is_clean)
{
    size_t n = l->again + l->held + piece.n;
    buf_clear(out);
    int r = catch_up(l, out);
    if (r >= 0)
        r = scan(l, piece, out);
    if (r >= 0) /* the first letters of a token's public prefix are no secret */
        r = redact_stream_rest(l->stream, out);
    if (r >= 0)
        r = buf_append(&l->tail, piece.p, piece.n);
    if (r < 0)
        return r;
    *ret_let = compare(l, out, n, ret_is_clean);
    trim(l);
    return 0;
}

int
veil_lane_flush(struct veil_lane *l, struct buf *out, struct view *ret_let,
                bool *ret_is_clean)
{
    size_t n = l->again + l->held;
    buf_clear(out);
    int r = catch_up(l, out);
    if (r >= 0)
        r = scan_rest(l, out);
    if (r >= 0)
        *ret_let = compare(l, out, n, ret_is_clean);
    l->stream = NULL;
    l->again = l->held = 0;
    return r;
}
