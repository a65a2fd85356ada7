/* SPDX-License-Identifier: MIT */
/* lines.c -- bytes, however they are cut, as lines. */
#include "turn/lines_priv.h"

#include "base/utf8.h"
#include "turn/decoder.h"

enum {
    BEGINNING = 4096, /* kept of a line that is too long */
    KEPT = 1 << 20,   /* memory that stays for the next line */
};

size_t
turn_lines_whole(struct view text)
{
    for (size_t back = 1; back <= 3 && back <= text.n; back++) {
        const uint8_t *p = text.p + text.n - back;
        bool is_open = false;
        uint32_t cp;
        if ((*p & 0xc0) == 0x80)
            continue;
        if (!utf8_next(p, back, &cp) && utf8_stump(p, back, &is_open) == back && is_open)
            return text.n - back;
        break;
    }
    return text.n;
}

static void
begin_anew(struct turn_lines *l)
{
    if (l->held.cap > KEPT)
        buf_release(&l->held);
    buf_clear(&l->held);
    l->lost = 0;
    l->is_long = false;
}

/* Of a line that is too long only the beginning stays. */
static int
hold(struct turn_lines *l, struct view more)
{
    l->held.ceiling = TURN_LINE_MAX;
    if (!l->lost && l->held.n + more.n <= TURN_LINE_MAX)
        return buf_append(&l->held, more.p, more.n);
    if (l->held.n < BEGINNING) {
        size_t n = BEGINNING - l->held.n;
        n = n < more.n ? n : more.n;
        int r = buf_append(&l->held, more.p, n);
        if (r < 0)
            return r;
        more.n -= n;
    }
    if (l->held.n > BEGINNING) {
        l->lost += l->held.n - BEGINNING;
        l->held.n = BEGINNING;
        buf_shrink(&l->held);
    }
    l->lost += more.n;
    return 0;
}

static bool
is_over_plain(const struct turn_lines *l, size_t more)
{
    return l->mode != TURN_LINES_JSON && !l->is_long && l->held.n + more > TURN_PLAIN_MAX;
}

/* The line is longer than a line of text may be: its beginning goes out, unless it may be
 * JSON. */
static int
cut(struct turn_lines *l, struct view *bytes, turn_line_fn fn, void *ctx)
{
    size_t n = TURN_PLAIN_MAX - l->held.n;
    int r = hold(l, (struct view){ bytes->p, n });
    if (r < 0)
        return r;
    *bytes = (struct view){ bytes->p + n, bytes->n - n };
    if (l->mode == TURN_LINES_MAYBE && memchr(l->held.p, '{', l->held.n)) {
        l->is_long = true;
        return 0;
    }
    size_t whole = turn_lines_whole((struct view){ l->held.p, l->held.n });
    l->is_cut = true;
    r = fn(ctx, (struct view){ l->held.p, whole }, 0);
    l->is_cut = false;
    l->held.n -= whole;
    memmove(l->held.p, l->held.p + whole, l->held.n);
    return r;
}

static int
hand_out(struct turn_lines *l, struct view rest, turn_line_fn fn, void *ctx)
{
    if (!l->held.n && rest.n <= TURN_LINE_MAX)
        return fn(ctx, rest, 0);
    int r = hold(l, rest);
    if (r >= 0)
        r = fn(ctx, (struct view){ l->held.p, l->held.n }, l->lost);
    begin_anew(l);
    return r;
}

int
turn_lines_feed(struct turn_lines *l, struct view bytes, turn_line_fn fn, void *ctx)
{
    while (bytes.n) {
        const uint8_t *end = memchr(bytes.p, '\n', bytes.n);
        size_t n = end ? (size_t)(end - bytes.p) : bytes.n;
        int r;
        if (is_over_plain(l, n)) {
            r = cut(l, &bytes, fn, ctx);
        } else if (!end) {
            return hold(l, bytes);
        } else {
            r = hand_out(l, (struct view){ bytes.p, n }, fn, ctx);
            bytes = (struct view){ end + 1, bytes.n - n - 1 };
        }
        if (r < 0)
            return r;
    }
    return 0;
}

int
turn_lines_end(struct turn_lines *l, turn_line_fn fn, void *ctx)
{
    int r = 0;
    if (l->held.n)
        r = fn(ctx, (struct view){ l->held.p, l->held.n }, l->lost);
    begin_anew(l);
    return r;
}

void
turn_lines_release(struct turn_lines *l)
{
    buf_release(&l->held);
}
