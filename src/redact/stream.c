/* SPDX-License-Identifier: MIT */
/*
 * stream.c -- bytes in, masked bytes out.
 *
 * Each slice of the input is projected onto the lanes, which say what is a secret and
 * from where on it is too early to tell. What lies before that goes out: everything that
 * is no text of a secret as it is.
 */
#include <errno.h>
#include <stdlib.h>

#include "redact/only.h"
#include "redact/project_priv.h"
#include "redact/star_priv.h"

enum { SLICE = 16 << 10 };

/* The mask that is being written in one lane. */
struct mask {
    bool is_on;
    uint64_t end;  /* raw */
    size_t next;   /* span to come */
    uint64_t find; /* its number + 1; 0: it is told */
};

/* A find on its way to on_find, which hears of them in the order of the input. */
struct find {
    uint32_t rule;
    bool is_done; /* its end is known */
    uint64_t start, end;
};

struct redact_stream {
    struct redact *redact; /* borrowed */
    struct redact_options opt;
    struct project project;
    struct lane lanes[PROJECT_LANES];
    struct mask masks[PROJECT_LANES];
    struct star star;
    struct buf finds; /* struct find, in order */
    uint64_t n_told;
    struct buf raw, kinds; /* what is not handed out yet */
    uint64_t base;         /* raw offset of raw.p[0] */
    size_t projected;      /* how many of them the lanes know */
    struct texts_at texts; /* in the bytes as they stand */
    uint64_t scanned;      /* raw: by that */
    int failed;
};

/* -- lifecycle -- */

static int
reset(struct redact_stream *s)
{
    int e = 0;
    for (size_t i = 0; i < PROJECT_LANES; i++) {
        int r = lane_reset(&s->lanes[i]);
        e = e ? e : r;
        s->masks[i] = (struct mask){ 0 };
        s->lanes[i].cols = s->opt.cols;
        s->lanes[i].is_whole = s->opt.is_whole;
    }
    s->project = (struct project){ .is_terminal = s->opt.is_terminal,
                                   .is_literal = s->redact->texts };
    s->texts = (struct texts_at){ 0 };
    s->scanned = 0;
    if (s->raw.p)
        explicit_bzero(s->raw.p, s->raw.cap);
    buf_clear(&s->raw);
    buf_clear(&s->kinds);
    buf_clear(&s->finds);
    s->n_told = 0;
    s->base = s->projected = 0;
    s->star = (struct star){ .widths = s->star.widths };
    return e;
}

int
redact_stream_new(struct redact_stream **ret, struct redact *r,
                  const struct redact_options *opt)
{
    struct redact_stream *s = calloc(1, sizeof(*s));
    if (!s)
        return -ENOMEM;
    s->redact = r;
    s->opt = *opt;
    int e = 0;
    for (size_t i = 0; !e && i < PROJECT_LANES; i++)
        e = lane_init(&s->lanes[i], r);
    if (!e)
        e = reset(s);
    if (e) {
        redact_stream_free(s);
        return e;
    }
    *ret = s;
    return 0;
}

void
redact_stream_free(struct redact_stream *s)
{
    if (!s)
        return;
    for (size_t i = 0; i < PROJECT_LANES; i++)
        lane_release(&s->lanes[i]);
    if (s->raw.p)
        explicit_bzero(s->raw.p, s->raw.cap);
    star_release(&s->star);
    buf_release(&s->raw);
    buf_release(&s->kinds);
    buf_release(&s->finds);
    free(s);
}

void
redact_stream_reset(struct redact_stream *s)
{
    s->failed = reset(s);
}

void
redact_stream_cut(struct redact_stream *s)
{
    for (size_t i = 0; i < PROJECT_LANES; i++)
        s->lanes[i].is_whole = false;
}

size_t
redact_stream_held(const struct redact_stream *s)
{
    return s->raw.n;
}

void
redact_stream_resize(struct redact_stream *s, uint32_t cols)
{
    s->opt.cols = cols;
    for (size_t i = 0; i < PROJECT_LANES; i++)
        s->lanes[i].cols = cols;
}

/* -- masks -- */

static struct find *
find_of(struct redact_stream *s, const struct mask *m)
{
    return LANE_ITEMS(struct find, &s->finds) + (m->find - 1 - s->n_told);
}

static void
begin_find(struct redact_stream *s, struct mask *m, uint32_t rule, uint64_t at)
{
    struct find f = { .rule = rule, .start = at };
    if (!s->opt.on_find || buf_append(&s->finds, &f, sizeof(f)))
        return;
    m->find = s->n_told + LANE_COUNT(struct find, &s->finds);
}

static void
end_find(struct redact_stream *s, struct mask *m)
{
    if (m->find) {
        find_of(s, m)->end = m->end;
        find_of(s, m)->is_done = true;
    }
    m->find = 0;
}

static void
tell(struct redact_stream *s)
{
    const struct find *v = LANE_ITEMS(struct find, &s->finds);
    size_t n = LANE_COUNT(struct find, &s->finds), told = 0;
    for (; told < n && v[told].is_done; told++) {
        struct redact_find find = { s->redact->rules[v[told].rule]->id, v[told].start,
                                    v[told].end };
        s->opt.on_find(s->opt.ctx, &find);
    }
    s->n_told += told;
    s->finds.n -= told * sizeof(*v);
    if (told && s->finds.n)
        memmove(s->finds.p, v + told, s->finds.n);
}

static void
begin_mask(struct redact_stream *s, struct mask *m, const struct lane_span *span,
           uint64_t at, struct buf *out)
{
    bool is_new = !m->is_on && !span->is_more;
    if (is_new) {
        end_find(s, m);
        begin_find(s, m, span->rule, at);
        m->end = 0;
    }
    m->is_on = true;
    m->end = span->end > m->end ? span->end : m->end;
    if (is_new && !s->opt.keeps_length)
        buf_printf(out, "[REDACTED:%s]", s->redact->rules[span->rule]->id);
}

/* Of one lane: the mask that ends before raw offset `at`, and those that begin there. */
static void
turn_masks(struct redact_stream *s, struct mask *m, const struct buf *spans, uint64_t at,
           struct buf *out)
{
    const struct lane_span *v = LANE_ITEMS(struct lane_span, spans);
    if (at >= m->end)
        m->is_on = false;
    for (; m->next < LANE_COUNT(struct lane_span, spans) && v[m->next].start <= at;
         m->next++)
        if (v[m->next].end > at) /* else inside of another, or handed out at rest */
            begin_mask(s, m, &v[m->next], at, out);
}

static int
compare_spans(const void *a, const void *b)
{
    const struct lane_span *x = a, *y = b;
    if (x->start != y->start)
        return x->start < y->start ? -1 : 1;
    if (x->is_more != y->is_more)
        return x->is_more ? -1 : 1; /* what goes on has the place */
    if (x->rule != y->rule)
        return x->rule < y->rule ? -1 : 1;
    return x->end > y->end ? -1 : x->end < y->end;
}

/* The first byte from `at` on that a mask may hide or begin at. */
static uint64_t
next_mask(const struct redact_stream *s, uint64_t at, uint64_t end)
{
    for (size_t i = 0; i < PROJECT_LANES; i++) {
        const struct mask *m = &s->masks[i];
        const struct buf *spans = &s->lanes[i].spans;
        if (m->is_on)
            return at;
        if (m->next == LANE_COUNT(struct lane_span, spans))
            continue;
        uint64_t start = LANE_ITEMS(struct lane_span, spans)[m->next].start;
        if (start < end)
            end = start > at ? start : at;
    }
    return end;
}

static void
hand_byte(struct redact_stream *s, uint64_t at, struct buf *out)
{
    uint8_t c = s->raw.p[at - s->base], kind = s->kinds.p[at - s->base];
    for (size_t i = 0; i < PROJECT_LANES; i++)
        turn_masks(s, &s->masks[i], &s->lanes[i].spans, at, out);
    if (kind == PROJECT_OTHER || !s->masks[kind].is_on) {
        star_end(&s->star, out);
        buf_append(out, &c, 1);
    } else if (s->opt.keeps_length) {
        star_put(&s->star, c, out);
    }
}

/* Hands out everything before raw offset `end`. */
static int
hand_out(struct redact_stream *s, uint64_t end, struct buf *out)
{
    for (size_t i = 0; i < PROJECT_LANES; i++) {
        struct buf *spans = &s->lanes[i].spans;
        if (spans->n)
            qsort(spans->p, LANE_COUNT(struct lane_span, spans), sizeof(struct lane_span),
                  compare_spans);
    }
    uint64_t at = s->base;
    while (at < end) {
        uint64_t until = next_mask(s, at, end);
        if (until > at)
            star_end(&s->star, out);
        buf_append(out, s->raw.p + (at - s->base), (size_t)(until - at));
        at = until;
        if (at < end)
            hand_byte(s, at++, out);
    }
    return out->failed;
}

/* -- literal texts in the bytes as they stand: half of one may be of a sequence -- */

static void
found_raw(void *ctx, uint64_t start, uint64_t end)
{
    struct redact_stream *s = ctx;
    for (size_t i = 0; i < PROJECT_LANES; i++) {
        uint64_t from = start, to = end;
        while (from < to && s->kinds.p[from - s->base] != i)
            from++;
        while (to > from && s->kinds.p[to - 1 - s->base] != i)
            to--;
        if (to > from)
            texts_lane_add(&s->lanes[i], from, to);
    }
}

static void
scan_raw(struct redact_stream *s)
{
    const struct texts *t = s->redact->texts;
    struct texts_input in = { { s->raw.p, s->projected }, s->base, NULL };
    uint64_t end = s->base + s->projected;
    texts_scan(t, &s->texts, &in, s->scanned, found_raw, s);
    s->scanned = end;
    while (s->texts.node && end - s->texts.start >= REDACT_TEXTS_HOLD)
        texts_give_up(t, &s->texts, &in);
}

/* -- the pass over a slice -- */

/* Forgets what has been handed out. */
static void
drop(struct redact_stream *s, uint64_t end)
{
    size_t n = (size_t)(end - s->base);
    if (!n)
        return;
    s->raw.n -= n;
    s->kinds.n -= n;
    memmove(s->raw.p, s->raw.p + n, s->raw.n);
    memmove(s->kinds.p, s->kinds.p + n, s->kinds.n);
    s->projected -= n;
    s->base = end;
    for (size_t i = 0; i < PROJECT_LANES; i++) {
        struct lane *l = &s->lanes[i];
        struct lane_span *v = LANE_ITEMS(struct lane_span, &l->spans);
        size_t count = LANE_COUNT(struct lane_span, &l->spans), kept = 0;
        for (size_t k = s->masks[i].next; k < count; k++)
            v[kept++] = v[k];
        l->spans.n = kept * sizeof(*v);
        s->masks[i].next = 0;
        lane_trim(l, end);
    }
}

/* Whether the text has come to an end before the input, at a blank that may be a wrap. */
static bool
lags(const struct redact_stream *s, uint64_t raw_end)
{
    return s->project.has_space && raw_end - s->project.space_raw < LANE_LAG;
}

static uint64_t
hold_point(const struct redact_stream *s, bool at_rest)
{
    uint64_t hold = s->base + s->projected, raw_end = s->base + s->raw.n;
    for (size_t i = 0; i < PROJECT_LANES; i++) {
        uint64_t h = lane_hold(&s->lanes[i], raw_end, at_rest);
        hold = h < hold ? h : hold;
    }
    if (s->texts.node && s->texts.start < hold)
        hold = s->texts.start;
    /* A blank that is not in the text yet may be of a secret that goes on. */
    if (lags(s, raw_end) && s->project.space_raw < hold &&
        lane_goes_on(&s->lanes[PROJECT_TEXT]))
        hold = s->project.space_raw;
    return hold > s->base ? hold : s->base;
}

static int
pass(struct redact_stream *s, bool is_end, struct buf *out)
{
    size_t rest = s->raw.n - s->projected;
    if (s->raw.p) /* else nothing has ever come */
        s->projected += project_feed(&s->project, s->lanes, s->raw.p + s->projected, rest,
                                     s->base + s->projected, s->kinds.p + s->projected,
                                     s->projected, is_end);
    if (is_end)
        project_end(&s->project, s->lanes);
    uint64_t raw_end = s->base + s->raw.n;
    for (size_t i = 0; i < PROJECT_LANES; i++) {
        bool is_behind = i == PROJECT_TEXT && lags(s, raw_end);
        int e = lane_settle(&s->lanes[i], is_behind ? s->project.space_raw : raw_end,
                            is_end);
        if (e)
            return e;
    }
    if (s->redact->texts)
        scan_raw(s);
    uint64_t end = is_end ? s->base + s->raw.n : hold_point(s, false);
    int e = hand_out(s, end, out);
    drop(s, end);
    if (is_end)
        star_end(&s->star, out);
    for (size_t i = 0; i < PROJECT_LANES; i++)
        if (is_end || (s->masks[i].end <= end && !s->lanes[i].spans.n &&
                       !lane_goes_on(&s->lanes[i])))
            end_find(s, &s->masks[i]);
    tell(s);
    return e ? e : s->finds.failed;
}

static int
take_in(struct redact_stream *s, const uint8_t *p, size_t n)
{
    int e = buf_append(&s->raw, p, n);
    return !e && !buf_grow(&s->kinds, n) ? s->kinds.failed : e;
}

int
redact_stream_feed(struct redact_stream *s, const void *p, size_t n, struct buf *out)
{
    const uint8_t *at = p;
    while (!s->failed && n) {
        size_t slice = n < SLICE ? n : SLICE;
        s->failed = take_in(s, at, slice);
        if (!s->failed)
            s->failed = pass(s, false, out);
        at += slice;
        n -= slice;
    }
    return s->failed;
}

int
redact_stream_flush(struct redact_stream *s, struct buf *out)
{
    int e = s->failed ? s->failed : pass(s, true, out);
    redact_stream_reset(s);
    s->failed = e ? e : s->failed;
    return s->failed;
}

int
redact_stream_last(struct redact_stream *s, struct view text, struct buf *out)
{
    size_t n = text.n < SLICE ? text.n : SLICE, before = text.n - n;
    int e = redact_stream_feed(s, text.p, before, out);
    if (!e && n)
        s->failed = take_in(s, text.p + before, n);
    return redact_stream_flush(s, out);
}

int
redact_stream_rest(struct redact_stream *s, struct buf *out)
{
    if (s->failed)
        return s->failed;
    uint64_t end = hold_point(s, true);
    s->failed = hand_out(s, end, out);
    drop(s, end);
    return s->failed;
}
