/* SPDX-License-Identifier: MIT */
#include "play/source.h"

enum { PIECE = 64 << 10 };

void
play_source_release(struct play_source *s)
{
    buf_release(&s->ahead);
}

/* One more read; false at the end. */
static bool
fill(struct play_source *s)
{
    if (s->is_ended)
        return false;
    if (s->at) {
        s->ahead.n -= s->at;
        memmove(s->ahead.p, s->ahead.p + s->at, s->ahead.n);
        s->at = 0;
    }
    int r = buf_reserve(&s->ahead, PIECE);
    ssize_t n = r < 0 ? r : s->read(s->ctx, s->ahead.p + s->ahead.n, PIECE);
    if (n < 0)
        s->error = (int)n;
    s->is_ended = n <= 0;
    if (n > 0)
        s->ahead.n += (size_t)n;
    return n > 0;
}

static struct view
ahead(const struct play_source *s)
{
    size_t n = s->ahead.n - s->at;
    return (struct view){ n ? s->ahead.p + s->at : (const uint8_t *)"", n };
}

struct view
play_source_peek(struct play_source *s, size_t n)
{
    while (s->ahead.n - s->at < n && fill(s))
        continue;
    return ahead(s);
}

void
play_source_take(struct play_source *s, size_t n)
{
    s->at += n;
    s->offset += n;
}

/* What is left of a line that is too long. */
static void
pass_over_line(struct play_source *s)
{
    struct view v;
    while ((v = play_source_peek(s, 1)).n) {
        const uint8_t *end = memchr(v.p, '\n', v.n);
        play_source_take(s, end ? (size_t)(end - v.p) + 1 : v.n);
        if (end)
            return;
    }
}

int
play_source_line(struct play_source *s, size_t max, struct view *ret)
{
    size_t looked = 0;
    for (;;) {
        struct view v = ahead(s);
        const uint8_t *end = looked < v.n ? memchr(v.p + looked, '\n', v.n - looked)
                                          : NULL;
        size_t n = end ? (size_t)(end - v.p) : v.n;
        if (n > max) {
            pass_over_line(s);
            return ERR_LIMIT;
        }
        looked = v.n;
        if (!end && fill(s))
            continue;
        if (!end && !n)
            return 0;
        *ret = (struct view){ ahead(s).p, n }; /* a read may have moved it */
        play_source_take(s, end ? n + 1 : n);
        return 1;
    }
}
