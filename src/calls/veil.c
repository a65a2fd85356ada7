/* SPDX-License-Identifier: MIT */
/*
 * veil.c -- events on their way to the record: searched, held back, handed out.
 *
 * Each string of an event that is a piece of a text is a part; it waits until all of it
 * is let out by its lane. As long as that is just what has come, each part gets its own
 * letters; where there is a secret, all goes into the latest part, and those before stay
 * as they were shown.
 */
#include "calls/veil.h"

#include <errno.h>

#include "base/json_in.h"
#include "calls/veil_priv.h"

enum {
    LANES = 64,  /* texts that go on at the same time */
    STREAMS = 4, /* of them with a scanner; each costs some 120 KiB */
    WAITING_MAX = 8192,
    WAITING_BYTES_MAX = 1 << 20,
    HEAD_MAX = 256, /* "event: …\ndata: " */
};

struct calls_veil {
    struct calls_mask *mask; /* borrowed */
    struct veil_lane lanes[LANES];
    struct redact_stream *streams[STREAMS];
    uint64_t events, uses;
    struct veil_event now;      /* at hand */
    struct veil_event *waiting; /* those before it that wait, or stand behind one */
    size_t count, room, bytes;
    struct veil_sheet sheet;
    struct buf pieces, text, let;  /* scratch: of the event at hand */
    struct calls_mask_stream torn; /* an event that comes in pieces, or breaks off */
    bool is_torn;                  /* the next one is a piece, too */
};

int
calls_veil_new(struct calls_veil **ret, struct calls_mask *mask)
{
    struct calls_veil *v = calloc(1, sizeof(*v));
    if (!v)
        return -ENOMEM;
    v->mask = mask;
    *ret = v;
    return 0;
}

static struct view
view_of(const struct buf *b)
{
    return (struct view){ b->p, b->n };
}

void
calls_veil_free(struct calls_veil *v)
{
    if (!v)
        return;
    veil_sheet_release(&v->sheet);
    buf_release(&v->pieces);
    buf_release(&v->text);
    buf_release(&v->let);
    for (size_t i = 0; i < LANES; i++)
        veil_lane_release(&v->lanes[i]);
    for (size_t i = 0; i < STREAMS; i++)
        redact_stream_free(v->streams[i]);
    for (size_t i = 0; i < v->count; i++)
        veil_event_release(&v->waiting[i]);
    veil_event_release(&v->now);
    calls_mask_stream_release(&v->torn);
    free(v->waiting);
    free(v);
}

/* -- handing out -- */

static struct calls_veiled
veiled(const struct veil_event *e)
{
    return (struct calls_veiled){ .event = e->number,
                                  .ts_ns = e->ts_ns,
                                  .bytes = view_of(&e->shown) };
}

static bool
is_same(const struct buf *a, const struct buf *b)
{
    return a->n == b->n && (!a->n || !memcmp(a->p, b->p, a->n));
}

static int
write_event(struct calls_veil *v, struct veil_event *e, bool is_again,
            const struct calls_veil_to *to)
{
    const struct buf *masked = &v->sheet.masked;
    int r = veil_event_show(e, v->mask->redact, &v->sheet);
    if (r < 0 || (is_again && is_same(&e->shown, masked)))
        return r;
    buf_clear(&e->shown);
    if ((r = buf_append(&e->shown, masked->p, masked->n)) < 0)
        return r;
    struct calls_veiled out = veiled(e);
    out.is_held = e->open > 0;
    out.is_again = is_again;
    return to->write(to->ctx, &out);
}

static int
settle(const struct veil_event *e, const struct calls_veil_to *to)
{
    const struct calls_veiled out = veiled(e);
    return to->settled(to->ctx, &out);
}

/* Those at the front that are decided go. */
static int
settle_front(struct calls_veil *v, const struct calls_veil_to *to)
{
    size_t n = 0;
    int r = 0;
    while (r >= 0 && n < v->count && !v->waiting[n].open) {
        struct veil_event *e = &v->waiting[n++];
        r = settle(e, to);
        v->bytes -= e->cost;
        veil_event_release(e);
    }
    v->count -= n;
    if (n)
        memmove(v->waiting, v->waiting + n, v->count * sizeof(*v->waiting));
    return r < 0 ? r : 0;
}

/* What is decided needs no more than what was written. */
static void
weigh(struct calls_veil *v, struct veil_event *e)
{
    size_t n;
    if (!e->open) {
        veil_event_release_parts(e);
        buf_release(&e->bytes);
    }
    v->bytes -= e->cost;
    e->cost = sizeof(*e) + e->bytes.n + e->shown.n + e->parts.n;
    const struct veil_part *parts = veil_event_parts(e, &n);
    for (size_t i = 0; i < n; i++)
        e->cost += parts[i].text.n;
    v->bytes += e->cost;
}

/* The event at hand waits. */
static int
put_behind(struct calls_veil *v)
{
    if (v->count == v->room) {
        size_t room = v->room ? 2 * v->room : 16;
        struct veil_event *more = realloc(v->waiting, room * sizeof(*more));
        if (!more)
            return -ENOMEM;
        v->waiting = more;
        v->room = room;
    }
    v->waiting[v->count] = v->now;
    v->now = (struct veil_event){ 0 };
    weigh(v, &v->waiting[v->count++]);
    return 0;
}

/* -- what a lane lets out -- */

struct news {
    struct veil_lane *lane;
    struct view let;
    bool is_clean;
    struct veil_part *last; /* of the lane */
};

static void
decide(struct veil_event *e, struct veil_part *p)
{
    p->lane = NULL;
    p->left = 0;
    e->open--;
}

static int
take_part(struct news *news, struct veil_event *e, struct veil_part *p)
{
    struct view own = news->let;
    if (news->is_clean)
        own.n = own.n < p->left ? own.n : p->left;
    else if (p != news->last)
        own.n = 0;
    p->is_changed |= !news->is_clean;
    p->left = news->is_clean ? p->left - own.n : p == news->last ? news->lane->held : 0;
    if (own.n)
        news->let = (struct view){ own.p + own.n, news->let.n - own.n };
    if (!p->left)
        decide(e, p);
    bool is_all = veil_part_is_own(p) &&
                  !p->text.n; /* at once: its letters are not asked for */
    return is_all ? 0 : buf_append(&p->text, own.p, own.n);
}

/* 1: something of the event was decided. */
static int
take_event(struct news *news, struct veil_event *e)
{
    size_t n, open = e->open;
    struct veil_part *parts = veil_event_parts(e, &n);
    int r = 0;
    for (size_t i = 0; i < n && r >= 0; i++)
        if (parts[i].lane == news->lane)
            r = take_part(news, e, &parts[i]);
    return r < 0 ? r : e->open < open;
}

static struct veil_part *
last_of(const struct calls_veil *v, const struct veil_lane *l)
{
    for (size_t i = v->count + 1; i-- > 0;) {
        size_t n;
        struct veil_part *parts = veil_event_parts(
            i == v->count ? &v->now : &v->waiting[i], &n);
        while (n-- > 0)
            if (parts[n].lane == l)
                return &parts[n];
    }
    return NULL;
}

/* Those before the event at hand that have changed are written again. */
static int
take_news(struct calls_veil *v, struct news *news, const struct calls_veil_to *to)
{
    int r = 0;
    news->last = last_of(v, news->lane);
    for (size_t i = 0; i < v->count && r >= 0; i++) {
        struct veil_event *e = &v->waiting[i];
        if (!e->open || (r = take_event(news, e)) <= 0)
            continue;
        r = write_event(v, e, true, to);
        weigh(v, e);
    }
    return r < 0 ? r : take_event(news, &v->now);
}

/* -- lanes -- */

/* One that nobody uses, else that of the lane which was not used for the longest time. */
static int
find_stream(struct calls_veil *v, struct redact_stream **ret)
{
    bool is_used[STREAMS] = { false };
    struct veil_lane *oldest = NULL;
    for (size_t i = 0; i < LANES; i++) {
        struct veil_lane *l = &v->lanes[i];
        for (size_t k = 0; k < STREAMS; k++)
            is_used[k] |= l->stream && l->stream == v->streams[k];
        if (l->stream && (!oldest || l->used < oldest->used))
            oldest = l;
    }
    for (size_t k = 0; k < STREAMS; k++) {
        if (is_used[k])
            continue;
        int r = v->streams[k] ? 0
                              : redact_stream_new(&v->streams[k], v->mask->redact,
                                                  &(struct redact_options){ 0 });
        *ret = v->streams[k];
        return r;
    }
    *ret = oldest->stream;
    oldest->stream = NULL;
    return 0;
}

static int
lend_stream(struct calls_veil *v, struct veil_lane *l)
{
    struct redact_stream *stream = NULL;
    int r = l->stream ? 0 : find_stream(v, &stream);
    return r < 0 || l->stream ? r : veil_lane_resume(l, stream);
}

/* What the lane holds is decided as it stands; its text may go on. */
static int
decide_lane(struct calls_veil *v, struct veil_lane *l, const struct calls_veil_to *to)
{
    struct news news = { .lane = l };
    int r = l->held ? lend_stream(v, l) : 0;
    if (r < 0 || !l->held)
        return r;
    r = veil_lane_flush(l, &v->let, &news.let, &news.is_clean);
    return r < 0 ? r : take_news(v, &news, to);
}

static int
decide_all(struct calls_veil *v, const struct calls_veil_to *to)
{
    int r = 0;
    for (size_t i = 0; i < LANES && r >= 0; i++)
        r = decide_lane(v, &v->lanes[i], to);
    return r < 0 ? r : settle_front(v, to);
}

/* Of that id; else a free one, else that which was not used for the longest time. */
static int
find_lane(struct calls_veil *v, uint64_t id, const struct calls_veil_to *to,
          struct veil_lane **ret)
{
    struct veil_lane *found = &v->lanes[0];
    int r = 0;
    for (size_t i = 0; i < LANES && found->id != id; i++) {
        struct veil_lane *l = &v->lanes[i];
        if (l->id == id || (found->id && (!l->id || l->used < found->used)))
            found = l;
    }
    if (found->id && found->id != id) {
        r = decide_lane(v, found, to);
        veil_lane_release(found);
    }
    found->id = id;
    found->mask = v->mask;
    found->used = ++v->uses;
    *ret = found;
    return r < 0 ? r : lend_stream(v, found);
}

/* -- an event -- */

static int
note_parts(struct calls_veil *v, struct veil_event *e)
{
    struct view json;
    int r = veil_text_find(view_of(&e->bytes), &v->pieces, &json);
    const struct veil_piece *pieces = (const void *)v->pieces.p;
    for (size_t i = 0; i < v->pieces.n / sizeof(*pieces) && r >= 0; i++) {
        const struct veil_part part = { .at = (size_t)(pieces[i].json.p - e->bytes.p),
                                        .n = pieces[i].json.n,
                                        .is_echo = !pieces[i].lane };
        r = buf_append(&e->parts, &part, sizeof(part));
    }
    return r;
}

static int
search_part(struct calls_veil *v, struct veil_event *e, struct veil_part *p,
            uint64_t lane, const struct calls_veil_to *to)
{
    const uint8_t *json = e->bytes.p + p->at;
    struct json_in in = { .p = json, .end = json + p->n };
    struct news news = { 0 };
    buf_clear(&v->text);
    if (!json_in_str(&in, &v->text) || v->text.failed)
        return v->text.failed ? v->text.failed : ERR_DAMAGED;
    int r = find_lane(v, lane, to, &news.lane);
    if (r < 0)
        return r;
    p->lane = news.lane;
    p->left = v->text.n;
    e->open++;
    r = veil_lane_feed(news.lane, view_of(&v->text), &v->let, &news.let, &news.is_clean);
    return r < 0 ? r : take_news(v, &news, to);
}

static int
search_event(struct calls_veil *v, struct veil_event *e, const struct calls_veil_to *to)
{
    size_t n;
    int r = note_parts(v, e);
    struct veil_part *parts = veil_event_parts(e, &n);
    const struct veil_piece *found = (const void *)v->pieces.p;
    for (size_t i = 0; i < n && r >= 0; i++)
        if (!parts[i].is_echo)
            r = search_part(v, e, &parts[i], found[i].lane, to);
    return r < 0 ? r : settle_front(v, to);
}

int
calls_veil_end(struct calls_veil *v, const struct calls_veil_to *to)
{
    return decide_all(v, to);
}

/* -- a piece of an event -- */

static bool
is_held(const struct calls_veil *v)
{
    size_t i = 0;
    while (i < LANES && !v->lanes[i].held)
        i++;
    return i < LANES;
}

/* What stands before the JSON in it. */
static size_t
count_head(struct view bytes)
{
    const uint8_t *json = memchr(bytes.p, '{', bytes.n < HEAD_MAX ? bytes.n : HEAD_MAX);
    return json ? (size_t)(json - bytes.p) : 0;
}

/* It is searched as JSON is that breaks off, and not as a part of a longer text: where
 * another event's text may go on in it as a secret, it is left out. */
static int
take_piece(struct calls_veil *v, struct view bytes, enum calls_split_end end)
{
    struct buf *out = &v->now.bytes;
    size_t head = v->is_torn || !bytes.n ? 0 : count_head(bytes);
    if (end == CALLS_SPLIT_CUT && head && is_held(v))
        return buf_puts(out, REDACT_MASK "broken-off]");
    int r = calls_mask_body(v->mask, (struct view){ bytes.p, head }, out);
    if (r >= 0)
        r = calls_mask_feed(v->mask, &v->torn,
                            (struct view){ bytes.p + head, bytes.n - head }, out);
    if (end == CALLS_SPLIT_CUT)
        calls_mask_cut(&v->torn);
    if (r >= 0 && end != CALLS_SPLIT_ON)
        r = calls_mask_flush(v->mask, &v->torn, out);
    return r;
}

/* Nothing but its blank line may be missing. */
static int
is_piece(struct calls_veil *v, struct view bytes, enum calls_split_end end)
{
    struct view json = { 0 };
    if (v->is_torn || end == CALLS_SPLIT_ON)
        return 1;
    int r = end == CALLS_SPLIT_CUT ? veil_text_find(bytes, &v->pieces, &json) : 0;
    return r < 0 ? r : end == CALLS_SPLIT_CUT && !json.n;
}

static int
take_bytes(struct calls_veil *v, struct view bytes, enum calls_split_end end,
           const struct calls_veil_to *to)
{
    struct veil_event *e = &v->now;
    int r = is_piece(v, bytes, end);
    if (r > 0) {
        r = take_piece(v, bytes, end);
        v->is_torn = end == CALLS_SPLIT_ON;
        return r < 0 ? r : e->bytes.failed;
    }
    if (r >= 0)
        r = calls_mask_said(v->mask, bytes, &e->bytes);
    if (r >= 0)
        r = e->bytes.failed;
    return r < 0 ? r : search_event(v, e, to);
}

int
calls_veil_event(struct calls_veil *v, struct view bytes, enum calls_split_end end,
                 uint64_t ts_ns, const struct calls_veil_to *to)
{
    struct veil_event *e = &v->now;
    bool is_full = v->count >= WAITING_MAX || v->bytes >= WAITING_BYTES_MAX;
    int r = is_full ? decide_all(v, to) : 0;
    veil_event_release(e);
    *e = (struct veil_event){ .number = v->events++, .ts_ns = ts_ns };
    if (r >= 0)
        r = take_bytes(v, bytes, end, to);
    if (r >= 0)
        r = write_event(v, e, false, to);
    if (r < 0)
        return r;
    return v->count || e->open ? put_behind(v) : settle(e, to);
}
