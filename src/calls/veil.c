/* SPDX-License-Identifier: MIT */
/*
 * veil.c -- events on their way to the record: searched, held back, handed out.
 *
 * A lane is one text that comes in pieces. Since nothing of it was held last, all that
 * came is in `raw`, and what its scanner has let out of that in `out`: when nothing is
 * held any more and both are the same, there was no secret.
 */
#include "calls/veil.h"

#include <errno.h>

#include "base/json.h"
#include "base/json_in.h"
#include "calls/veil_priv.h"

enum {
    LANES = 4, /* texts that go on at the same time; each costs some 120 KiB */
    WAITING_MAX = 8192,
    WAITING_BYTES_MAX = 1 << 20,
};

struct lane {
    uint64_t id;   /* 0: it is nobody's */
    uint64_t used; /* the latest is the highest */
    struct redact_stream *stream;
    struct buf raw, out;
};

/* An event that is held, or stands behind one. */
struct waiting {
    uint64_t event, ts_ns;
    struct lane *lane; /* that decides; NULL: it is decided */
    struct buf bytes;  /* as it came */
    struct buf shown;  /* as it was written */
};

struct calls_veil {
    struct calls_mask *mask; /* borrowed */
    struct lane lanes[LANES];
    uint64_t events, uses;
    struct waiting *waiting;
    size_t count, room, bytes;
    struct buf said, text, fed, put, masked; /* scratch */
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

static void
release_waiting(struct waiting *w)
{
    buf_release(&w->bytes);
    buf_release(&w->shown);
}

void
calls_veil_free(struct calls_veil *v)
{
    if (!v)
        return;
    struct buf *scratch[] = { &v->said, &v->text, &v->fed, &v->put, &v->masked };
    for (size_t i = 0; i < sizeof(scratch) / sizeof(scratch[0]); i++)
        buf_release(scratch[i]);
    for (size_t i = 0; i < LANES; i++) {
        redact_stream_free(v->lanes[i].stream);
        buf_release(&v->lanes[i].raw);
        buf_release(&v->lanes[i].out);
    }
    for (size_t i = 0; i < v->count; i++)
        release_waiting(&v->waiting[i]);
    free(v->waiting);
    free(v);
}

static struct view
view_of(const struct buf *b)
{
    return (struct view){ b->p, b->n };
}

/* -- one event as it may be written -- */

/* The event with another text in place of its own, appended to v->put. */
static int
replace_text(struct calls_veil *v, struct view event, const struct veil_text *t,
             struct view text)
{
    struct json j = { .out = &v->put };
    size_t before = (size_t)(t->string.p - event.p);
    buf_append(&v->put, event.p, before);
    json_bytes(&j, text);
    before += t->string.n;
    return buf_append(&v->put, event.p + before, event.n - before);
}

/* Without what is secret by itself; v->masked then has it, unless nothing was. */
static int
mask_whole(struct calls_veil *v, struct view event, struct view *ret)
{
    struct veil_text t = veil_text_find(event);
    struct view searched = t.json.n ? t.json : event;
    buf_clear(&v->masked);
    size_t before = (size_t)(searched.p - event.p);
    buf_append(&v->masked, event.p, before);
    int r = calls_mask_text(v->mask->redact, searched, &v->masked);
    before += searched.n;
    if (r >= 0)
        r = buf_append(&v->masked, event.p + before, event.n - before);
    bool is_same = v->masked.n == event.n && !memcmp(v->masked.p, event.p, event.n);
    *ret = is_same ? event : view_of(&v->masked);
    return r;
}

/* -- handing out -- */

static int
hand_out(const struct calls_veil_to *to, const struct waiting *w, struct view bytes,
         bool is_held, bool is_again)
{
    const struct calls_veiled out = { .event = w->event,
                                      .ts_ns = w->ts_ns,
                                      .bytes = bytes,
                                      .is_held = is_held,
                                      .is_again = is_again };
    return to->write(to->ctx, &out);
}

static int
settle(const struct calls_veil_to *to, const struct waiting *w, struct view bytes)
{
    const struct calls_veiled out = { .event = w->event,
                                      .ts_ns = w->ts_ns,
                                      .bytes = bytes };
    return to->settled(to->ctx, &out);
}

/* Those at the front that are decided go. */
static int
settle_front(struct calls_veil *v, const struct calls_veil_to *to)
{
    size_t n = 0;
    int r = 0;
    while (r >= 0 && n < v->count && !v->waiting[n].lane) {
        struct waiting *w = &v->waiting[n++];
        r = settle(to, w, view_of(&w->shown));
        v->bytes -= w->bytes.n + w->shown.n;
        release_waiting(w);
    }
    v->count -= n;
    memmove(v->waiting, v->waiting + n, v->count * sizeof(*v->waiting));
    return r < 0 ? r : 0;
}

/* There was no secret: what was held is written again as it came. */
static int
clear_lane(struct calls_veil *v, const struct lane *l, const struct calls_veil_to *to)
{
    int r = 0;
    for (size_t i = 0; i < v->count && r >= 0; i++) {
        struct waiting *w = &v->waiting[i];
        struct view whole;
        if (w->lane != l)
            continue;
        r = mask_whole(v, view_of(&w->bytes), &whole);
        if (r >= 0)
            r = hand_out(to, w, whole, false, true);
        v->bytes -= w->shown.n;
        buf_clear(&w->shown);
        if (r >= 0)
            r = buf_append(&w->shown, whole.p, whole.n);
        v->bytes += w->shown.n;
        w->lane = NULL;
    }
    return r;
}

/* There was one: what was written stays. */
static void
keep_lane(struct calls_veil *v, const struct lane *l)
{
    for (size_t i = 0; i < v->count; i++)
        if (v->waiting[i].lane == l)
            v->waiting[i].lane = NULL;
}

static bool
is_clear(const struct lane *l)
{
    return l->raw.n == l->out.n && (!l->raw.n || !memcmp(l->raw.p, l->out.p, l->raw.n));
}

static void
forget_text(struct lane *l)
{
    buf_clear(&l->raw);
    buf_clear(&l->out);
}

/* -- lanes -- */

static struct waiting *
last_of(struct calls_veil *v, const struct lane *l)
{
    for (size_t i = v->count; i-- > 0;)
        if (v->waiting[i].lane == l)
            return &v->waiting[i];
    return NULL;
}

/* What was let out last stands in the last event that was held: that one once more, with
 * it at the end of its text. */
static int
lengthen(struct calls_veil *v, struct waiting *w, struct view more,
         const struct calls_veil_to *to)
{
    struct veil_text t = veil_text_find(view_of(&w->shown));
    struct json_in in = { .p = t.string.p, .end = t.string.p + t.string.n };
    struct view whole;
    /* An event whose text was left out has an empty one, which is found by the event. */
    struct veil_text own = veil_text_find(view_of(&w->bytes));
    buf_clear(&v->text);
    if (t.string.n)
        json_in_str(&in, &v->text);
    buf_append(&v->text, more.p, more.n);
    buf_clear(&v->put);
    int r = replace_text(v, view_of(&w->bytes), &own, view_of(&v->text));
    if (r >= 0)
        r = mask_whole(v, view_of(&v->put), &whole);
    if (r >= 0)
        r = hand_out(to, w, whole, false, true);
    v->bytes -= w->shown.n;
    buf_clear(&w->shown);
    if (r >= 0)
        r = buf_append(&w->shown, whole.p, whole.n);
    v->bytes += w->shown.n;
    return r;
}

/* Its text has ended, or is not waited for any longer. */
static int
end_lane(struct calls_veil *v, struct lane *l, const struct calls_veil_to *to)
{
    size_t before = l->out.n;
    int r = l->stream ? redact_stream_flush(l->stream, &l->out) : 0;
    struct waiting *last = last_of(v, l);
    if (r >= 0 && last && is_clear(l))
        r = clear_lane(v, l, to);
    else if (r >= 0 && last && l->out.n > before)
        r = lengthen(v, last, (struct view){ l->out.p + before, l->out.n - before }, to);
    keep_lane(v, l);
    forget_text(l);
    l->id = 0;
    return r;
}

/* Of that id; else a free one, else that which was not used for the longest time. */
static int
find_lane(struct calls_veil *v, uint64_t id, const struct calls_veil_to *to,
          struct lane **ret)
{
    struct lane *found = &v->lanes[0];
    int r = 0;
    for (size_t i = 0; i < LANES && found->id != id; i++) {
        struct lane *l = &v->lanes[i];
        if (l->id == id || (found->id && (!l->id || l->used < found->used)))
            found = l;
    }
    if (found->id != id) {
        r = end_lane(v, found, to);
        if (!r && !found->stream)
            r = redact_stream_new(&found->stream, v->mask->redact,
                                  &(struct redact_options){ 0 });
        found->id = id;
    }
    found->used = ++v->uses;
    *ret = found;
    return r;
}

/* -- an event -- */

/* Behind others that wait, or held itself. shown: as it was written. */
static int
put_behind(struct calls_veil *v, const struct waiting *as, struct view bytes,
           struct view shown)
{
    if (v->count == v->room) {
        size_t room = v->room ? 2 * v->room : 16;
        struct waiting *more = realloc(v->waiting, room * sizeof(*more));
        if (!more)
            return -ENOMEM;
        v->waiting = more;
        v->room = room;
    }
    struct waiting *w = &v->waiting[v->count];
    *w = *as;
    w->bytes = w->shown = (struct buf){ 0 };
    int r = w->lane ? buf_append(&w->bytes, bytes.p, bytes.n) : 0;
    if (!r)
        r = buf_append(&w->shown, shown.p, shown.n);
    if (r < 0) {
        release_waiting(w);
        return r;
    }
    v->bytes += w->bytes.n + w->shown.n;
    v->count++;
    return 0;
}

static int
pass(struct calls_veil *v, struct waiting *as, struct view bytes, struct view shown,
     const struct calls_veil_to *to)
{
    struct view masked;
    int r = mask_whole(v, shown, &masked);
    if (r >= 0)
        r = hand_out(to, as, masked, as->lane, false);
    if (r < 0)
        return r;
    if (!v->count && !as->lane)
        return settle(to, as, masked);
    return put_behind(v, as, bytes, masked);
}

/* What the lane has let out of this event's text, in v->fed. */
static int
feed(struct calls_veil *v, struct lane *l, struct view text)
{
    buf_clear(&v->fed);
    int r = redact_stream_feed(l->stream, text.p, text.n, &v->fed);
    if (r >= 0) /* the first letters of a token's public prefix are no secret */
        r = redact_stream_rest(l->stream, &v->fed);
    buf_append(&l->raw, text.p, text.n);
    buf_append(&l->out, v->fed.p, v->fed.n);
    return r < 0 ? r : l->raw.failed ? l->raw.failed : l->out.failed;
}

static int
pass_piece(struct calls_veil *v, struct waiting *as, struct view bytes,
           const struct veil_text *t, const struct calls_veil_to *to)
{
    struct json_in in = { .p = t->string.p, .end = t->string.p + t->string.n };
    struct lane *l;
    int r = find_lane(v, t->lane, to, &l);
    if (r < 0)
        return r;
    buf_clear(&v->text);
    if (!json_in_str(&in, &v->text))
        return v->text.failed ? v->text.failed : ERR_DAMAGED;
    r = feed(v, l, view_of(&v->text));
    if (r < 0)
        return r;
    bool is_held = redact_stream_held(l->stream), is_whole = !is_held && is_clear(l);
    if (is_held)
        as->lane = l;
    else if (is_whole)
        r = clear_lane(v, l, to);
    else
        keep_lane(v, l);
    if (!is_held)
        forget_text(l);
    if (r >= 0)
        r = settle_front(v, to);
    if (r < 0 || is_whole)
        return r < 0 ? r : pass(v, as, bytes, bytes, to);
    buf_clear(&v->put);
    r = replace_text(v, bytes, t, view_of(&v->fed));
    return r < 0 ? r : pass(v, as, bytes, view_of(&v->put), to);
}

int
calls_veil_end(struct calls_veil *v, const struct calls_veil_to *to)
{
    int r = 0;
    for (size_t i = 0; i < LANES && r >= 0; i++)
        r = end_lane(v, &v->lanes[i], to);
    return r < 0 ? r : settle_front(v, to);
}

int
calls_veil_event(struct calls_veil *v, struct view bytes, uint64_t ts_ns,
                 const struct calls_veil_to *to)
{
    struct waiting as = { .event = v->events++, .ts_ns = ts_ns };
    buf_clear(&v->said);
    int r = calls_mask_said(v->mask, bytes, &v->said);
    if (r < 0)
        return r;
    bytes = view_of(&v->said);
    if (v->count >= WAITING_MAX || v->bytes >= WAITING_BYTES_MAX)
        r = calls_veil_end(v, to);
    struct veil_text t = veil_text_find(bytes);
    if (r < 0)
        return r;
    return t.string.n ? pass_piece(v, &as, bytes, &t, to)
                      : pass(v, &as, bytes, bytes, to);
}
