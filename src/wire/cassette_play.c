/* SPDX-License-Identifier: MIT */
/*
 * cassette_play.c -- a recorded reply on its way to a client, at its pace.
 *
 * Each piece is due when it came then, after the request; the end too.
 */
#include <stdlib.h>

#include "redact/redact.h"
#include "wire/cassette_priv.h"
#include "wire/unpack.h"
#include "wire/wire_priv.h"

enum {
    PIECE_BYTES = 64 << 10, /* no more goes out at once */
    LEFT_MS = 5000,         /* for a client to leave a reply that it has left before */
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
    bool was_left; /* by its client, which may do so again */
    uint64_t begun_ns, head_after_ns, end_after_ns;
    unsigned status;
    enum fetch_end end;
    struct buf headers, texts; /* struct calls_header, and what they borrow */
    struct buf reply, pieces;  /* bytes; struct piece */
    size_t at, piece;
    struct buf why;
};

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

/* Whoever has left it then is about to do so: it does not break off under them, unless
 * they stay. */
static bool
wait_for_end(struct cassette_play *p)
{
    if (wait_until(p, p->end_after_ns))
        return true;
    if (!p->was_left)
        return false;
    p->was_left = false;
    uv_update_time(p->timer.loop);
    uv_timer_start(&p->timer, on_timer, LEFT_MS, 0);
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
    if (!is_waiting && !p->is_cancelled)
        is_waiting = wait_for_end(p);
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

/* A coding that the recorder has undone; of another the bytes are as they came. */
static bool
is_undone(struct view encoding)
{
    struct wire_unpack *u = NULL;
    bool is_known = wire_unpack_new(&u, encoding) >= 0;
    wire_unpack_free(u);
    return is_known;
}

static const struct calls_header *
find_header(const struct calls_whole *w, const char *name)
{
    for (size_t i = 0; i < w->reply_header_count; i++)
        if (wire_head_is(w->reply_headers[i].name, name))
            return &w->reply_headers[i];
    return NULL;
}

/* What belongs to the connection of that time, or was masked; the length is told below.
 */
static bool
is_left_out(const struct calls_header *h, const struct calls_whole *w)
{
    return reply_is_hop(h->name, w->reply_headers, w->reply_header_count) ||
           wire_head_is(h->name, "content-length") ||
           (wire_head_is(h->name, "content-encoding") && is_undone(h->value)) ||
           redact_has_mask(h->value.p, h->value.n);
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

static struct view
view_of(const char *s)
{
    return (struct view){ (const uint8_t *)s, strlen(s) };
}

/* How long the body is: as it was told, if that is what is sent or nothing is; else as it
 * is now. A stream without a length has none, nor what breaks off. */
static int
put_length(struct cassette_play *p, const struct calls_whole *w)
{
    char length[24];
    const struct calls_facts *f = w->facts;
    const struct calls_header *told = find_header(w, "content-length");
    const struct calls_header *packed = find_header(w, "content-encoding");
    bool is_head = f->method.n == 4 && !memcmp(f->method.p, "HEAD", 4);
    bool has_none = is_head || f->status == 204 || f->status == 304;
    snprintf(length, sizeof(length), "%zu", w->reply.n);
    struct view value = view_of(length);
    if (has_none ? !told || f->status == 204 || (packed && is_undone(packed->value))
                 : p->end != FETCH_OK || (f->is_stream && !told))
        return 0;
    return put_header(p, view_of("content-length"), has_none ? told->value : value);
}

static int
copy_headers(struct cassette_play *p, const struct calls_whole *w)
{
    int r = 0;
    for (size_t i = 0; i < w->reply_header_count && !r; i++)
        if (!is_left_out(&w->reply_headers[i], w))
            r = put_header(p, w->reply_headers[i].name, w->reply_headers[i].value);
    if (!r)
        r = put_length(p, w);
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
put_piece(struct cassette_play *p, struct piece *last, size_t end, uint64_t after_ns)
{
    int r = 0;
    while (last->end < end && !r) {
        size_t n = end - last->end;
        last->end += n < PIECE_BYTES ? n : (size_t)PIECE_BYTES;
        last->after_ns = after_ns;
        r = buf_append(&p->pieces, last, sizeof(*last));
    }
    return r;
}

static int
copy_pieces(struct cassette_play *p, const struct calls_whole *w)
{
    struct piece last = { 0 };
    int r = 0;
    for (size_t i = 0; i < w->event_count && !r; i++) {
        uint64_t ts_ns = w->events[i].ts_ns, begun_ns = w->facts->ts_ns;
        r = put_piece(p, &last, last.end + w->events[i].bytes.n,
                      ts_ns > begun_ns ? ts_ns - begun_ns : 0);
    }
    return r;
}

int
cassette_play_load(struct cassette_play *p, const struct calls_whole *w)
{
    const struct calls_facts *f = w->facts;
    p->status = f->status;
    p->end = f->has_end && f->end == CALLS_OK ? FETCH_OK : FETCH_BROKEN;
    p->was_left = f->has_end && f->end == CALLS_ABORTED;
    p->head_after_ns = f->first_byte_ns == CALLS_NONE ? 0 : f->first_byte_ns;
    p->end_after_ns = f->duration_ns == CALLS_NONE ? 0 : f->duration_ns;
    if (p->end != FETCH_OK)
        buf_puts(&p->why, "the recording of this reply breaks off here");
    int r = copy_headers(p, w);
    if (!r)
        r = buf_append(&p->reply, w->reply.p, w->reply.n);
    if (!r)
        r = copy_pieces(p, w);
    return r;
}

struct buf *
cassette_play_miss(struct cassette_play *p)
{
    p->end = FETCH_MISSING;
    return &p->why;
}

/* -- its life -- */

struct cassette_play *
cassette_play_new(uv_loop_t *loop, bool is_original, const struct fetch_events *events,
                  void *ctx)
{
    struct cassette_play *p = calloc(1, sizeof(*p));
    if (!p)
        return NULL;
    uv_timer_init(loop, &p->timer);
    p->timer.data = p;
    p->events = events;
    p->ctx = ctx;
    p->is_original = is_original;
    p->begun_ns = uv_hrtime();
    p->reply.ceiling = CALLS_ALL_MAX;
    return p;
}

void
cassette_play_begin(struct cassette_play *p, int result)
{
    if (result < 0) {
        p->status = 0;
        p->pieces.n = 0;
        p->end_after_ns = 0;
        p->was_left = false;
        p->end = FETCH_BROKEN;
        buf_clear(&p->why);
        buf_puts(&p->why, "the recorded reply cannot be read");
    }
    go_on(p);
}
