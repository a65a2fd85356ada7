/* SPDX-License-Identifier: MIT */
#include "wire/cassette.h"

#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>

#include "calls/mask.h"
#include "calls/match.h"
#include "calls/read.h"
#include "turn/totals.h"
#include "wire/head.h"

enum { NEAR_MAX = 500 }; /* recorded requests that a miss is held against */

/* A recorded call that can be answered with. */
struct take {
    uint64_t hash; /* of its request's normal form */
    size_t call;
    bool was_played;
};

struct cassette {
    struct calls *calls;
    struct redact *redact; /* borrowed */
    struct buf takes;      /* struct take, in their order */
};

/* A piece of a reply: where it ends, and when it came. */
struct piece {
    size_t end;
    uint64_t after_ns; /* the request */
};

struct cassette_play {
    uv_timer_t timer;
    const struct fetch_events *events;
    void *ctx;
    bool is_original, is_cancelled, is_inside, is_paused, has_head;
    uint64_t begun_ns, head_after_ns;
    unsigned status;
    enum fetch_end end;
    struct buf headers, texts; /* struct calls_header, and what they borrow */
    struct buf reply, pieces;  /* bytes; struct piece */
    size_t at, piece;
    struct buf why;
};

/* -- requests -- */

static int
hash_request(const struct calls_asked *q, uint64_t *ret)
{
    AUTO(buf) normal = { .ceiling = 1 << 30 };
    int r = calls_match_normal(q, &normal);
    *ret = r < 0 ? 0 : turn_hash((struct view){ normal.p, normal.n });
    return r;
}

static int
add_call(struct cassette *c, size_t i, struct buf *told, struct err *err)
{
    struct calls_whole w;
    struct take t = { .call = i };
    const struct calls_facts *f = calls_facts(c->calls, i);
    if (!f->status)
        return 0; /* there was no reply */
    int r = calls_get(c->calls, i, &w, err);
    if (r < 0)
        return r;
    if (!w.is_request_whole || !w.is_reply_whole)
        return buf_printf(told, "call %" PRIu64 " is left out: lines of it are damaged\n",
                          f->number);
    const struct calls_asked q = { f->method, f->url, w.request };
    r = hash_request(&q, &t.hash);
    return r < 0 ? r : buf_append(&c->takes, &t, sizeof(t));
}

int
cassette_open(struct cassette **ret, const char *wire_path, struct redact *redact,
              struct buf *told, struct err *err)
{
    struct cassette *c = calloc(1, sizeof(*c));
    if (!c)
        return err_code(err, -ENOMEM, "cannot read '%s'", wire_path);
    c->redact = redact;
    err->code = 0;
    int r = calls_open(&c->calls, wire_path, NULL, err);
    for (size_t i = 0; !r && i < calls_count(c->calls); i++)
        r = add_call(c, i, told, err);
    if (r < 0) {
        cassette_free(c);
        return err->code ? r : err_code(err, r, "cannot read '%s'", wire_path);
    }
    *ret = c;
    return 0;
}

void
cassette_free(struct cassette *c)
{
    if (!c)
        return;
    calls_close(c->calls);
    buf_release(&c->takes);
    free(c);
}

size_t
cassette_count(const struct cassette *c)
{
    return c->takes.n / sizeof(struct take);
}

/* The first that was not played yet; else the last. */
static struct take *
find_take(struct cassette *c, uint64_t hash)
{
    struct take *all = (void *)c->takes.p, *found = NULL;
    for (size_t i = 0; i < cassette_count(c); i++) {
        if (all[i].hash != hash)
            continue;
        found = &all[i];
        if (!found->was_played)
            break;
    }
    return found;
}

/* -- a miss -- */

/* The recorded request that is most like it. SIZE_MAX: there is none. */
static size_t
find_nearest(struct cassette *c, const struct calls_asked *q)
{
    AUTO(buf) asked = { .ceiling = 1 << 30 };
    AUTO(buf) recorded = { .ceiling = 1 << 30 };
    const struct take *all = (const void *)c->takes.p;
    size_t n = cassette_count(c), best = SIZE_MAX;
    unsigned best_likeness = 0;
    if (calls_match_normal(q, &asked) < 0)
        return best;
    for (size_t i = 0; i < n && i < NEAR_MAX; i++) {
        struct calls_whole w;
        if (calls_get(c->calls, all[i].call, &w, NULL) < 0)
            continue;
        const struct calls_asked other = { w.facts->method, w.facts->url, w.request };
        buf_clear(&recorded);
        if (calls_match_normal(&other, &recorded) < 0)
            continue;
        unsigned likeness = 1 +
                            calls_match_likeness((struct view){ recorded.p, recorded.n },
                                                 (struct view){ asked.p, asked.n });
        if (likeness > best_likeness) {
            best_likeness = likeness;
            best = all[i].call;
        }
    }
    return best;
}

static void
tell_miss(struct cassette *c, const struct calls_asked *q, struct buf *why)
{
    struct calls_whole w;
    size_t near = find_nearest(c, q);
    if (near == SIZE_MAX || calls_get(c->calls, near, &w, NULL) < 0) {
        buf_puts(why, "nothing was");
        return;
    }
    const struct calls_asked recorded = { w.facts->method, w.facts->url, w.request };
    buf_printf(why, "the nearest is call %" PRIu64 ", which differs: ", w.facts->number);
    if (calls_match_difference(&recorded, q, why) < 0)
        buf_puts(why, "?");
}

/* -- playing -- */

static void
on_closed(uv_handle_t *handle)
{
    struct cassette_play *p = handle->data;
    struct buf *bufs[] = { &p->headers, &p->texts, &p->reply, &p->pieces, &p->why };
    for (size_t i = 0; i < sizeof(bufs) / sizeof(bufs[0]); i++)
        buf_release(bufs[i]);
    free(p);
}

static void
finish(struct cassette_play *p)
{
    if (!p->is_cancelled)
        p->events->done(p->ctx, p->end, buf_str(&p->why));
    uv_close((uv_handle_t *)&p->timer, on_closed);
}

static void go_on(struct cassette_play *p);

static void
on_timer(uv_timer_t *timer)
{
    go_on(timer->data);
}

/* True: it is not due yet, and will be gone on with then. */
static bool
wait_until(struct cassette_play *p, uint64_t after_ns)
{
    uint64_t passed_ns = uv_hrtime() - p->begun_ns;
    if (!p->is_original || passed_ns >= after_ns)
        return false;
    uv_update_time(p->timer.loop);
    uv_timer_start(&p->timer, on_timer, (after_ns - passed_ns) / 1000000 + 1, 0);
    return true;
}

/* False: it waits. */
static bool
play_piece(struct cassette_play *p)
{
    const struct piece *next = (const struct piece *)(const void *)p->pieces.p + p->piece;
    if (wait_until(p, next->after_ns))
        return false;
    struct view bytes = { p->reply.p + p->at, next->end - p->at };
    if (bytes.n && !p->events->data(p->ctx, bytes)) {
        p->is_paused = true;
        return false;
    }
    p->at = next->end;
    p->piece++;
    return true;
}

static void
go_on(struct cassette_play *p)
{
    size_t pieces = p->pieces.n / sizeof(struct piece);
    bool is_waiting = false;
    p->is_inside = true;
    if (p->status && !p->has_head) {
        is_waiting = wait_until(p, p->head_after_ns);
        p->has_head = !is_waiting;
        if (!is_waiting)
            p->events->head(p->ctx, p->status, (struct view){ 0 },
                            (const void *)p->headers.p,
                            p->headers.n / sizeof(struct calls_header));
    }
    while (!is_waiting && !p->is_cancelled && p->piece < pieces)
        is_waiting = !play_piece(p);
    p->is_inside = false;
    if (p->is_cancelled || !is_waiting)
        finish(p);
}

void
cassette_resume(struct cassette_play *p)
{
    if (!p->is_paused)
        return;
    p->is_paused = false;
    go_on(p);
}

void
cassette_cancel(struct cassette_play *p)
{
    p->is_cancelled = true;
    if (!p->is_inside)
        finish(p);
}

/* -- a reply of the recording -- */

/* What belongs to the connection of that time, or was masked. */
static bool
is_left_out(const struct calls_header *h)
{
    static const char *const names[] = { "content-length", "content-encoding",
                                         "transfer-encoding", "connection", NULL };
    for (const char *const *name = names; *name; name++)
        if (wire_head_is(h->name, *name))
            return true;
    return redact_has_mask(h->value.p, h->value.n);
}

static int
put_header(struct cassette_play *p, struct view name, struct view value)
{
    /* Places, until all texts are there. */
    const struct calls_header h = { { NULL, name.n }, { NULL, value.n } };
    buf_append(&p->texts, name.p, name.n);
    buf_append(&p->texts, value.p, value.n);
    return p->texts.failed ? p->texts.failed : buf_append(&p->headers, &h, sizeof(h));
}

static int
copy_headers(struct cassette_play *p, const struct calls_whole *w)
{
    char length[24];
    int r = 0, n = snprintf(length, sizeof(length), "%zu", w->reply.n);
    for (size_t i = 0; i < w->reply_header_count && !r; i++)
        if (!is_left_out(&w->reply_headers[i]))
            r = put_header(p, w->reply_headers[i].name, w->reply_headers[i].value);
    if (!r && !w->facts->is_stream && p->end == FETCH_OK)
        r = put_header(p, (struct view){ (const uint8_t *)"content-length", 14 },
                       (struct view){ (const uint8_t *)length, (size_t)n });
    struct calls_header *each = (void *)p->headers.p;
    const uint8_t *at = p->texts.p;
    for (size_t i = 0; i < p->headers.n / sizeof(*each); i++) {
        each[i].name.p = at;
        each[i].value.p = at + each[i].name.n;
        at += each[i].name.n + each[i].value.n;
    }
    return r;
}

static int
copy_pieces(struct cassette_play *p, const struct calls_whole *w)
{
    const struct calls_facts *f = w->facts;
    struct piece piece = { .after_ns = p->head_after_ns };
    int r = buf_append(&p->reply, w->reply.p, w->reply.n);
    for (size_t i = 0; i < w->event_count && !r; i++) {
        uint64_t ts_ns = w->events[i].ts_ns;
        piece.end += w->events[i].bytes.n;
        piece.after_ns = ts_ns > f->ts_ns ? ts_ns - f->ts_ns : 0;
        r = buf_append(&p->pieces, &piece, sizeof(piece));
    }
    if (r || piece.end == p->reply.n)
        return r;
    piece.end = p->reply.n;
    return buf_append(&p->pieces, &piece, sizeof(piece));
}

static int
load(struct cassette_play *p, struct cassette *c, struct take *t)
{
    struct calls_whole w;
    int r = calls_get(c->calls, t->call, &w, NULL);
    if (r < 0)
        return r;
    const struct calls_facts *f = w.facts;
    p->status = f->status;
    p->end = f->has_end && f->end == CALLS_OK ? FETCH_OK : FETCH_BROKEN;
    p->head_after_ns = f->first_byte_ns == CALLS_NONE ? 0 : f->first_byte_ns;
    if (p->end != FETCH_OK)
        buf_puts(&p->why, "the recording of this reply breaks off here");
    r = copy_headers(p, &w);
    if (!r)
        r = copy_pieces(p, &w);
    t->was_played = true;
    return r;
}

/* As it would have been recorded. */
static int
prepare(struct cassette_play *p, struct cassette *c, const struct cassette_asked *asked)
{
    AUTO(calls_mask) mask = { .redact = c->redact };
    AUTO(buf) body = { .ceiling = 1 << 30 };
    AUTO(buf) url = { 0 };
    uint64_t hash = 0;
    int r = calls_mask_url(&mask, asked->url, &url);
    if (!r)
        r = calls_mask_body(&mask, asked->body, &body);
    const struct calls_asked q = { asked->method, { url.p, url.n }, { body.p, body.n } };
    if (!r)
        r = hash_request(&q, &hash);
    if (r < 0)
        return r;
    struct take *t = find_take(c, hash);
    if (t)
        return load(p, c, t);
    p->end = FETCH_MISSING;
    tell_miss(c, &q, &p->why);
    return 0;
}

void
cassette_answer(struct cassette *c, uv_loop_t *loop, const struct cassette_asked *asked,
                bool is_original, const struct fetch_events *events, void *ctx,
                struct cassette_play **ret)
{
    struct cassette_play *p = calloc(1, sizeof(*p));
    if (!p) {
        events->done(ctx, FETCH_BROKEN, "there is no memory for it");
        return;
    }
    uv_timer_init(loop, &p->timer);
    p->timer.data = p;
    p->events = events;
    p->ctx = ctx;
    p->is_original = is_original;
    p->begun_ns = uv_hrtime();
    p->reply.ceiling = CALLS_ALL_MAX;
    *ret = p;
    int r = prepare(p, c, asked);
    if (r < 0) {
        p->status = 0;
        p->pieces.n = 0;
        p->end = FETCH_BROKEN;
        buf_clear(&p->why);
        buf_puts(&p->why, "the recorded reply cannot be read");
    }
    go_on(p);
}
