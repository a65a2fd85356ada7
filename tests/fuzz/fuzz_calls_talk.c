/* SPDX-License-Identifier: MIT */
/*
 * Whatever is asked and replied: the same calls tell the same, also where each is read by
 * what was read of the one before; a request tells events that are in it, in their order;
 * made once more, before it is answered, it tells nothing.
 *
 * The input: a byte (which API), then calls, each ended by a NUL: one that begins with
 * "r" is a reply, one with "s" a stream, others are requests.
 */
#include "calls/talk.h"
#include "fuzz/fuzz.h"
#include "support/turn_kit.h"
#include "turn/totals.h"

static int
show(void *ctx, const struct turn_event *e)
{
    CHECK(!e->is_partial && !e->was_cut_off);
    CHECK(e->type == TURN_SESSION || e->type == TURN_TEXT || e->type == TURN_THINKING ||
          e->type == TURN_TOOL_CALL || e->type == TURN_TOOL_RESULT);
    return turn_kit_write(ctx, e);
}

/* A hash of each that is told, if it is in the conversation. */
static int
note(void *ctx, const struct turn_event *e)
{
    AUTO(buf) line = { 0 };
    CHECK(!turn_kit_write(&line, e));
    uint64_t h = turn_hash((struct view){ line.p, line.n });
    return e->type == TURN_SESSION ? 0 : buf_append(ctx, &h, sizeof(h));
}

static struct calls_talk *
begin(void)
{
    struct calls_talk *t;
    CHECK(!calls_talk_new(&t));
    return t;
}

static int
hear(void *ctx, const struct turn_event *e)
{
    return calls_talk_heard(ctx, e);
}

static void
reply(struct calls_talk *t, enum turn_api api, struct view bytes, bool is_stream)
{
    struct turn_reply *r;
    CHECK(!turn_reply_new(&r, api));
    CHECK(!(is_stream ? turn_reply_feed(r, bytes, hear, t)
                      : turn_reply_body(r, bytes, hear, t)));
    CHECK(!turn_reply_end(r, hear, t));
    if (turn_reply_facts(r).stop.n)
        calls_talk_answered(t, calls_talk_asked(t));
    turn_reply_free(r);
}

/* The events of `some` are among those of `all`, in their order. */
static void
check_order(const struct buf *some, const struct buf *all)
{
    size_t at = 0;
    for (size_t i = 0; i < some->n; i += sizeof(uint64_t), at += sizeof(uint64_t)) {
        while (at < all->n && memcmp(all->p + at, some->p + i, sizeof(uint64_t)) != 0)
            at += sizeof(uint64_t);
        CHECK(at < all->n);
    }
}

/* The request before. */
struct past {
    struct view body;
    struct calls_talk_read read;
};

static void
request(struct calls_talk *t, struct calls_talk *other, enum turn_api api,
        struct view body, struct past *p)
{
    AUTO(buf) told = { 0 };
    AUTO(buf) same = { 0 };
    AUTO(buf) all = { 0 };
    struct calls_talk *fresh = begin();
    CHECK(!calls_talk_request(t, api, body, note, &told));
    CHECK(!calls_talk_request(t, api, body, show, &same));
    CHECK(!same.n);
    size_t alike = view_common(p->body, body);
    CHECK(!calls_talk_request_like(other, api, body, &p->read, alike, &p->read, note,
                                   &same));
    p->body = body;
    CHECK(same.n == told.n && (!told.n || !memcmp(same.p, told.p, told.n)));
    CHECK(!calls_talk_request(other, api, body, show, &same));
    CHECK(same.n == told.n);
    CHECK(!calls_talk_request(fresh, api, body, note, &all));
    check_order(&told, &all);
    calls_talk_free(fresh);
}

int
LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct view in = { data ? data : (const uint8_t *)"", size };
    enum turn_api api = TURN_API_ANTHROPIC + fuzz_byte(&in) % 3;
    struct calls_talk *t = begin(), *other = begin();
    struct past past = { .body.n = 0 };
    while (in.n) {
        const uint8_t *end = memchr(in.p, 0, in.n);
        struct view call = { in.p, end ? (size_t)(end - in.p) : in.n };
        size_t n = call.n + (end != NULL);
        in = (struct view){ in.p + n, in.n - n };
        uint8_t kind = call.n ? call.p[0] : 0;
        struct view rest = { call.p + (call.n > 0), call.n - (call.n > 0) };
        if (kind != 'r' && kind != 's') {
            request(t, other, api, call, &past);
            continue;
        }
        reply(t, api, rest, kind == 's');
        reply(other, api, rest, kind == 's');
    }
    calls_talk_free(t);
    calls_talk_free(other);
    calls_talk_read_release(&past.read);
    return 0;
}
