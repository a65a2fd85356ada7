/* SPDX-License-Identifier: MIT */
#include "wire/cassette.h"

#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>

#include "calls/match.h"
#include "calls/upstreams.h"
#include "turn/totals.h"
#include "wire/cassette_priv.h"

/* -- requests -- */

static int
leave_out(const struct calls_facts *f, const char *why, struct buf *told)
{
    return buf_printf(told, "call %" PRIu64 " is left out: %s\n", f->number, why);
}

/* Lines of a reply without its head, or an end that only a reply has. */
static bool
has_lost_head(const struct calls_facts *f)
{
    return f->is_stream || f->first_byte_ns != CALLS_NONE ||
           (f->has_end && f->end == CALLS_OK);
}

static void
release_take(struct take *t)
{
    calls_outline_release(&t->outline);
    buf_release(&t->ids);
}

static int
add_take(struct cassette *c, struct take *t, const struct calls_asked *q)
{
    AUTO(buf) buf = { .ceiling = CALLS_ALL_MAX };
    int r = calls_match_normal_ids(q, &buf, &t->ids);
    const struct view normal = { buf.p, buf.n };
    if (!r)
        r = calls_outline_make(normal, &t->outline);
    if (!r) {
        t->hash = turn_hash(normal);
        buf_shrink(&t->ids);
        r = buf_append(&c->takes, t, sizeof(*t));
    }
    if (r < 0)
        release_take(t);
    c->replies += !r && t->has_reply;
    return r;
}

static int
add_call(struct cassette *c, size_t i, struct buf *told)
{
    struct calls_whole w;
    const struct calls_facts *f = calls_facts(c->calls, i);
    struct take t = { .call = i, .has_reply = f->status };
    const char *damaged = f->has_end ? "lines of it are damaged"
                                     : "it goes on, or was cut off ('ahr recover')";
    if (!f->status && has_lost_head(f))
        return leave_out(f, damaged, told);
    int r = calls_get(c->calls, i, &w, NULL);
    if (r == ERR_LIMIT)
        return leave_out(f, "it is too large", told);
    if (r < 0)
        return r;
    if (!w.is_request_whole || (t.has_reply && !w.is_reply_whole))
        return leave_out(f, damaged, told);
    const struct calls_asked q = { f->method, f->url, w.request };
    return add_take(c, &t, &q);
}

static int
tell_damage(const struct cassette *c, bool is_cut, struct buf *told)
{
    uint64_t bad = calls_bad_lines(c->calls);
    if (bad)
        buf_printf(told, "%" PRIu64 " line%s of the recording %s damaged\n", bad,
                   bad == 1 ? "" : "s", bad == 1 ? "is" : "are");
    if (is_cut)
        buf_puts(told, "the recording cannot be read to its end\n");
    return told->failed;
}

int
cassette_open(struct cassette **ret, const char *wire_path, struct redact *redact,
              struct buf *told, struct err *err)
{
    struct cassette *c = calloc(1, sizeof(*c));
    bool is_cut;
    if (!c)
        return err_code(err, -ENOMEM, "cannot read '%s'", wire_path);
    c->redact = redact;
    err->code = 0;
    int r = calls_open(&c->calls, wire_path, &is_cut, err);
    if (!r)
        r = tell_damage(c, is_cut, told);
    for (size_t i = 0; !r && i < calls_count(c->calls); i++)
        r = add_call(c, i, told);
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
    size_t count;
    struct take *all = cassette_takes(c, &count);
    for (size_t i = 0; i < count; i++)
        release_take(&all[i]);
    calls_close(c->calls);
    buf_release(&c->takes);
    free(c);
}

void
cassette_on_miss(struct cassette *c, cassette_miss_fn fn, void *ctx)
{
    c->on_miss = fn;
    c->ctx = ctx;
}

size_t
cassette_count(const struct cassette *c)
{
    return c->replies;
}

struct take *
cassette_takes(const struct cassette *c, size_t *ret_count)
{
    *ret_count = c->takes.n / sizeof(struct take);
    return (struct take *)(void *)c->takes.p;
}

/* -- which one answers -- */

static bool
is_of(const struct cassette *c, const struct take *t, const char *upstream)
{
    struct view name = calls_facts(c->calls, t->call)->upstream;
    return name.n == strlen(upstream) && !memcmp(name.p, upstream, name.n);
}

/* What is asked now. */
struct asked {
    uint64_t hash;
    const struct buf *ids;
    const char *upstream;
};

/* Of two requests that are the same the one of the same conversation: that has more of
 * its ids, which the client was told by the replies before. */
static size_t
count_same(const struct buf *a, const struct buf *b)
{
    size_t n = (a->n < b->n ? a->n : b->n) / sizeof(uint32_t), count = 0;
    const uint32_t *x = (const void *)a->p, *y = (const void *)b->p;
    for (size_t i = 0; i < n; i++)
        count += x[i] == y[i];
    return count;
}

/* How well it fits; of another upstream it is better than none, as that may have another
 * name now. 0: not at all. */
static size_t
fit_of(const struct cassette *c, const struct take *t, const struct asked *q)
{
    if (t->hash != q->hash || !t->has_reply)
        return 0;
    return 1 + count_same(&t->ids, q->ids) +
           (is_of(c, t, q->upstream) ? (size_t)CALLS_ALL_MAX : 0);
}

/* Of those that fit best the first that was not played yet; else the last. */
static struct take *
find_take(struct cassette *c, const struct asked *q)
{
    size_t count, best = 0;
    struct take *all = cassette_takes(c, &count), *found = NULL;
    for (size_t i = 0; i < count; i++) {
        size_t fit = fit_of(c, &all[i], q);
        if (fit > best || (fit && fit == best && found->was_played))
            found = &all[i];
        best = fit > best ? fit : best;
    }
    return found;
}

static bool
is_among(struct view name, const struct view *names, size_t count)
{
    for (size_t i = 0; i < count; i++)
        if (names[i].n == name.n && !memcmp(names[i].p, name.p, name.n))
            return true;
    return false;
}

int
cassette_upstreams(const struct cassette *c, struct buf *out)
{
    struct view names[CALLS_UPSTREAMS_MAX];
    size_t count = 0;
    for (size_t i = 0; i < calls_count(c->calls) && count < CALLS_UPSTREAMS_MAX; i++) {
        struct view name = calls_facts(c->calls, i)->upstream;
        if (!calls_upstream_is_name(name) || is_among(name, names, count))
            continue;
        names[count++] = name;
        buf_printf(out, "%s%.*s=http://127.0.0.1", count > 1 ? "," : "", (int)name.n,
                   (const char *)name.p);
    }
    return out->failed;
}

/* -- a miss -- */

/* The last that asked the same, and had no answer. */
static const struct calls_facts *
find_unanswered(const struct cassette *c, uint64_t hash)
{
    size_t count;
    const struct take *all = cassette_takes(c, &count);
    while (count--)
        if (all[count].hash == hash && !all[count].has_reply)
            return calls_facts(c->calls, all[count].call);
    return NULL;
}

static void
tell_nearest(struct cassette *c, const struct calls_asked *q, struct view normal,
             struct buf *why)
{
    struct calls_whole w;
    size_t near = cassette_nearest(c, normal);
    if (near == SIZE_MAX || calls_get(c->calls, near, &w, NULL) < 0) {
        buf_puts(why, "nothing is like it");
        return;
    }
    const struct calls_asked recorded = { w.facts->method, w.facts->url, w.request };
    buf_printf(why, "the nearest is call %" PRIu64 ", which differs: ", w.facts->number);
    if (calls_match_difference(&recorded, q, why) < 0)
        buf_puts(why, "?");
}

static void
tell_unanswered(const struct calls_facts *f, struct buf *why)
{
    static const struct view left = { (const uint8_t *)"the client had gone", 19 };
    struct view error = f->error.n ? f->error : left;
    buf_printf(why, "call %" PRIu64 " asked the same, and had none", f->number);
    if (f->has_end)
        buf_printf(why, ": %.*s", (int)error.n, (const char *)error.p);
}

static void
tell_miss(struct cassette *c, const struct calls_asked *q, struct view normal,
          struct buf *why)
{
    AUTO(buf) line = { 0 };
    const struct calls_facts *unanswered = find_unanswered(c, turn_hash(normal));
    buf_puts(why, "this has no answer in the recording: ");
    if (unanswered)
        tell_unanswered(unanswered, why);
    else
        tell_nearest(c, q, normal, why);
    buf_printf(&line, "%.*s %.*s: %s", (int)q->method.n, (const char *)q->method.p,
               (int)q->url.n, (const char *)q->url.p, buf_str(why));
    if (c->on_miss)
        c->on_miss(c->ctx, buf_str(&line));
}

/* -- an answer -- */

/* As it would have been recorded: a large one was masked as it came. */
static int
mask_body(struct calls_mask *m, struct view body, struct buf *out)
{
    struct calls_mask_stream stream = { 0 };
    if (body.n <= CALLS_BODY_MAX)
        return calls_mask_body(m, body, out);
    int r = calls_mask_feed(m, &stream, body, out);
    if (!r)
        r = calls_mask_flush(m, &stream, out);
    calls_mask_stream_release(&stream);
    return r;
}

static int
prepare(struct cassette_play *p, struct cassette *c, const struct cassette_asked *asked)
{
    struct calls_mask *mask = asked->mask;
    AUTO(buf) body = { .ceiling = CALLS_ALL_MAX };
    AUTO(buf) url = { 0 };
    AUTO(buf) form = { .ceiling = CALLS_ALL_MAX };
    AUTO(buf) ids = { 0 };
    mask->redact = c->redact;
    calls_mask_learn_url(mask, asked->url);
    int r = calls_mask_url(mask, asked->url, &url);
    if (!r)
        r = mask_body(mask, asked->body, &body);
    const struct calls_asked q = { asked->method, { url.p, url.n }, { body.p, body.n } };
    if (!r)
        r = calls_match_normal_ids(&q, &form, &ids);
    if (r < 0)
        return r;
    const struct view normal = { form.p, form.n };
    const struct asked key = { turn_hash(normal), &ids, asked->upstream };
    struct take *t = find_take(c, &key);
    if (!t) {
        tell_miss(c, &q, normal, cassette_play_miss(p));
        return 0;
    }
    struct calls_whole w;
    r = calls_get(c->calls, t->call, &w, NULL);
    t->was_played = true;
    return r < 0 ? r : cassette_play_load(p, &w);
}

void
cassette_answer(struct cassette *c, uv_loop_t *loop, const struct cassette_asked *asked,
                bool is_original, const struct fetch_events *events, void *ctx,
                struct cassette_play **ret)
{
    struct cassette_play *p = cassette_play_new(loop, is_original, events, ctx);
    if (!p) {
        events->done(ctx, FETCH_BROKEN, "there is no memory for it");
        return;
    }
    *ret = p;
    cassette_play_begin(p, prepare(p, c, asked));
}
