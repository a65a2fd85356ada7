/* SPDX-License-Identifier: MIT */
#include "calls/rewrite.h"

#include <errno.h>
#include <stdlib.h>

#include "base/jsonl.h"
#include "calls/bases.h"
#include "calls/mask.h"
#include "calls/read_priv.h"
#include "calls/veil.h"
#include "gz/lines.h"
#include "turn/fields.h"

enum {
    LOT = 1 << 20, /* bytes that are written together */
    BASES_BYTES = 64 << 20,
    VIEWS = 2 * CALLS_HEADERS_MAX + 8,
};

/* In pieces. */
struct body {
    struct calls_mask_stream stream;
    bool had_mask; /* before */
};

/* What goes on of a call while its lines come. */
struct state {
    struct calls_veil *veil;
    uint64_t events; /* that were taken */
    struct body sent, got;
};

struct rewriting {
    const struct calls_rewrite_options *opt;
    struct calls *calls;
    struct calls_mask mask;
    struct calls_bases *bases;
    struct state *states; /* of each call */
    struct jsonl lines;
    struct buf texts, out, masked, ops;
    struct buf view[VIEWS]; /* masked texts of the line at hand */
    size_t views;
    struct calls_header headers[CALLS_HEADERS_MAX];
    uint64_t start_ns, dropped;
    const struct call *call; /* of the line at hand */
};

static int
put(struct rewriting *x, const struct calls_line *l)
{
    calls_line_put(l, x->start_ns, &x->out);
    return x->out.failed;
}

/* -- texts -- */

static int
mask_body(struct rewriting *x, struct view *v)
{
    buf_clear(&x->masked);
    int r = x->opt->mask(x->opt->ctx, *v, &x->masked);
    *v = (struct view){ x->masked.p, x->masked.n };
    return r;
}

/* One of several of a line. */
static int
mask_view(struct rewriting *x, struct view *v)
{
    if (!v->n || x->views == VIEWS)
        return 0;
    struct buf *to = &x->view[x->views++];
    buf_clear(to);
    int r = x->opt->mask(x->opt->ctx, *v, to);
    *v = (struct view){ to->p, to->n };
    return r;
}

static int
put_texts(struct rewriting *x, struct calls_line *l)
{
    struct view *const views[] = { &l->upstream, &l->target, &l->method, &l->url,
                                   &l->error,    &l->model,  &l->stop };
    int r = 0;
    x->views = 0;
    for (size_t i = 0; i < sizeof(views) / sizeof(views[0]) && !r; i++)
        r = mask_view(x, views[i]);
    for (size_t i = 0; i < l->header_count && !r; i++) {
        r = mask_view(x, &x->headers[i].name);
        if (!r)
            r = mask_view(x, &x->headers[i].value);
    }
    return r < 0 ? r : put(x, l);
}

/* -- bodies -- */

/* One in a single piece. */
static int
put_request(struct rewriting *x, struct calls_line *l)
{
    AUTO(buf) kind = { 0 };
    const struct calls_facts *f = &x->call->facts;
    struct calls_whole w;
    int r = calls_get(x->calls, (size_t)(x->call - x->calls->all), &w, NULL);
    if (r < 0)
        return r;
    if (!w.is_request_whole) {
        x->dropped++;
        return 0;
    }
    buf_append(&kind, f->target.p, f->target.n);
    buf_append(&kind, f->url.p, f->url.n);
    r = mask_body(x, &w.request);
    if (!r)
        r = calls_bases_tell(x->bases, l, (struct view){ kind.p, kind.n }, w.request,
                             &x->ops);
    return r < 0 ? r : put(x, l);
}

static int
put_piece(struct rewriting *x, struct calls_line *l, struct body *b)
{
    struct view before = l->bytes;
    buf_clear(&x->masked);
    int r = calls_mask_feed(&x->mask, &b->stream, before, &x->masked);
    if (!r && l->is_last)
        r = calls_mask_flush(&x->mask, &b->stream, &x->masked);
    l->bytes = (struct view){ x->masked.p, x->masked.n };
    b->had_mask |= redact_has_mask(before.p, before.n);
    if (!r && redact_has_mask(l->bytes.p, l->bytes.n) &&
        !redact_has_mask(before.p, before.n))
        x->opt->found(x->opt->ctx, before.n);
    return r < 0 ? r : put(x, l);
}

static int
put_body(struct rewriting *x, struct calls_line *l, const struct buf *pieces,
         struct body *b)
{
    if (pieces->n > sizeof(struct piece_place) || !l->is_last)
        return put_piece(x, l, b);
    int r = mask_body(x, &l->bytes);
    return r < 0 ? r : put(x, l);
}

/* Its last piece never came: what waited for more is one. */
static int
end_body(struct rewriting *x, struct body *b, enum calls_type type,
         const struct buf *pieces)
{
    const struct piece_place *each = (const void *)pieces->p;
    size_t count = pieces->n / sizeof(*each);
    buf_clear(&x->masked);
    calls_mask_cut(&b->stream);
    int r = calls_mask_flush(&x->mask, &b->stream, &x->masked);
    if (r < 0 || !count || !x->masked.n)
        return r;
    const struct piece_place *last = &each[count - 1];
    struct calls_line l = calls_line(type, x->call->facts.number, last->ts_ns);
    l.anchor_byte = last->anchor_byte;
    l.piece = last->number + 1;
    l.bytes = (struct view){ x->masked.p, x->masked.n };
    if (!b->had_mask && redact_has_mask(l.bytes.p, l.bytes.n))
        x->opt->found(x->opt->ctx, l.bytes.n);
    return put(x, &l);
}

/* -- events -- */

static int
write_event(void *ctx, const struct calls_veiled *v)
{
    struct rewriting *x = ctx;
    struct calls_line l = calls_line(CALLS_EVENT, x->call->facts.number, v->ts_ns);
    const struct piece_place *each = (const void *)x->call->events.p;
    for (size_t i = x->call->events.n / sizeof(*each); i-- > 0;)
        if (each[i].number == v->event) {
            l.anchor_byte = each[i].anchor_byte;
            break;
        }
    l.event = v->event;
    l.is_held = v->is_held;
    l.bytes = v->bytes;
    return put(x, &l);
}

static int
settle_event(void *ctx, const struct calls_veiled *v)
{
    struct rewriting *x = ctx;
    struct calls_event was;
    size_t i = (size_t)(x->call - x->calls->all);
    int r = calls_event(x->calls, i, v->event, &was);
    if (!r && (was.bytes.n != v->bytes.n ||
               (was.bytes.n && memcmp(was.bytes.p, v->bytes.p, was.bytes.n) != 0)))
        x->opt->found(x->opt->ctx, was.bytes.n);
    return r == ERR_DAMAGED ? 0 : r;
}

static int
take_event(struct rewriting *x, struct state *s, struct view event, uint64_t ts_ns)
{
    const struct calls_veil_to to = { write_event, settle_event, x };
    bool is_last = s->events == x->call->facts.events;
    return calls_veil_event(s->veil, event, calls_split_how(event, is_last), ts_ns, &to);
}

/* The first line of an event stands for it as it was at last; others are passed over. An
 * event that is missing is one without bytes, or the numbers would be others. */
static int
put_event(struct rewriting *x, const struct calls_line *l, struct state *s)
{
    size_t i = (size_t)(x->call - x->calls->all);
    int r = s->veil ? 0 : calls_veil_new(&s->veil, &x->mask);
    while (!r && s->events <= l->event) {
        AUTO(buf) bytes = { .ceiling = CALLS_LINE_MAX };
        struct calls_event e = { .ts_ns = l->ts_ns };
        int got = calls_event(x->calls, i, s->events++, &e);
        if (got == -ENOMEM)
            return got;
        r = got < 0 ? 0 : buf_append(&bytes, e.bytes.p, e.bytes.n);
        if (!r)
            r = take_event(x, s, (struct view){ bytes.p, bytes.n }, e.ts_ns);
    }
    return r;
}

static int
end_state(struct rewriting *x, struct state *s)
{
    const struct calls_veil_to to = { write_event, settle_event, x };
    int r = s->veil ? calls_veil_end(s->veil, &to) : 0;
    calls_veil_free(s->veil);
    s->veil = NULL;
    if (!r)
        r = end_body(x, &s->sent, CALLS_REQUEST_BODY, &x->call->request_body);
    if (!r)
        r = end_body(x, &s->got, CALLS_BODY, &x->call->body);
    calls_mask_stream_release(&s->sent.stream);
    calls_mask_stream_release(&s->got.stream);
    return r;
}

/* -- lines -- */

static int
put_line(struct rewriting *x, struct calls_line *l)
{
    struct state *s = &x->states[x->call - x->calls->all];
    bool is_alone = x->call->request_body.n <= sizeof(struct piece_place);
    int r = 0;
    switch (l->type) {
    case CALLS_REQUEST:
    case CALLS_REPLY:
        return put_texts(x, l);
    case CALLS_REQUEST_BODY:
        return is_alone ? put_request(x, l) : put_piece(x, l, &s->sent);
    case CALLS_EVENT:
        return put_event(x, l, s);
    case CALLS_BODY:
        return put_body(x, l, &x->call->body, &s->got);
    case CALLS_END:
        r = end_state(x, s);
        return r < 0 ? r : put_texts(x, l);
    }
    return r;
}

static int
write_out(struct rewriting *x)
{
    int r = x->out.failed;
    if (!r && x->out.n)
        r = x->opt->write(x->opt->ctx, (struct view){ x->out.p, x->out.n });
    buf_clear(&x->out);
    return r;
}

/* When the session began, by a line of it. */
static void
find_start(struct rewriting *x, struct view object, uint64_t ts_ns)
{
    struct view t_ms = { 0 };
    const struct turn_field wanted[] = { { "t_ms", &t_ms } };
    (void)turn_known_fields(object, wanted, 1);
    uint64_t ms = turn_u64(t_ms, UINT64_MAX);
    if (ms <= ts_ns / 1000000)
        x->start_ns = ts_ns - ms * 1000000;
}

/* A jsonl_fn. */
static int
take(void *ctx, struct view object)
{
    struct rewriting *x = ctx;
    struct calls_line l;
    int r = calls_line_get(object, &x->texts, x->headers, &l);
    if (r < 0)
        return r == ERR_DAMAGED ? 0 : r;
    x->call = calls_by_number(x->calls, l.call);
    if (!x->call)
        return 0;
    find_start(x, object, l.ts_ns);
    r = put_line(x, &l);
    if (!r && x->out.n >= LOT)
        r = write_out(x);
    return r < 0 ? r : 1;
}

/* A jsonl_bad_fn. */
static void
drop(void *ctx, uint64_t line)
{
    struct rewriting *x = ctx;
    (void)line;
    x->dropped++;
}

static int
rewrite(struct rewriting *x, const char *path, struct err *err)
{
    int r = calls_open(&x->calls, path, NULL, err);
    if (r < 0)
        return r;
    x->states = calloc(calls_count(x->calls) + 1, sizeof(*x->states));
    r = x->states ? calls_bases_new(&x->bases, BASES_BYTES) : -ENOMEM;
    if (!r)
        r = gz_lines_read(path, &x->lines, false, NULL);
    for (size_t i = 0; !r && i < calls_count(x->calls); i++) {
        x->call = &x->calls->all[i];
        r = end_state(x, &x->states[i]);
    }
    if (!r)
        r = write_out(x);
    return r < 0 ? err_code(err, r, "cannot make '%s' anew", path) : 0;
}

int
calls_rewrite(const char *path, const struct calls_rewrite_options *opt,
              uint64_t *ret_dropped, struct err *err)
{
    struct rewriting *x = calloc(1, sizeof(*x));
    if (!x)
        return err_code(err, -ENOMEM, "cannot make '%s' anew", path);
    x->opt = opt;
    x->mask.redact = opt->secrets;
    x->texts.ceiling = x->masked.ceiling = x->ops.ceiling = CALLS_LINE_MAX;
    x->out.ceiling = 2 * (size_t)CALLS_LINE_MAX;
    x->lines = (struct jsonl){ .fn = take,
                               .bad = drop,
                               .ctx = x,
                               .begin = "{\"ts_ns\":",
                               .line.ceiling = CALLS_LINE_MAX };
    int r = rewrite(x, path, err);
    *ret_dropped = x->dropped;
    for (size_t i = 0; x->states && i < calls_count(x->calls); i++) {
        calls_veil_free(x->states[i].veil);
        calls_mask_stream_release(&x->states[i].sent.stream);
        calls_mask_stream_release(&x->states[i].got.stream);
    }
    for (size_t i = 0; i < VIEWS; i++)
        buf_release(&x->view[i]);
    struct buf *bufs[] = { &x->texts, &x->out, &x->masked, &x->ops };
    for (size_t i = 0; i < sizeof(bufs) / sizeof(bufs[0]); i++)
        buf_release(bufs[i]);
    jsonl_release(&x->lines);
    calls_mask_release(&x->mask);
    calls_bases_free(x->bases);
    calls_close(x->calls);
    free(x->states);
    free(x);
    return r;
}
