/* SPDX-License-Identifier: MIT */
/* talk_kit.c -- requests and replies of a conversation, and what of them is told. */
#include "support/talk_kit.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>

#include <cmocka.h>

#include "support/reply_kit.h"
#include "support/turn_kit.h"

static int
hear(void *ctx, const struct turn_event *e)
{
    return calls_talk_heard(ctx, e);
}

/* In memory of its own, so that a sanitizer sees who reads behind it. */
/* The request before. */
struct past {
    struct buf body;
    struct calls_talk_read read;
};

static void
ask(struct calls_talk *t, enum turn_api api, struct view body, struct past *p,
    struct buf *out)
{
    struct view before = { p ? p->body.p : NULL, p ? p->body.n : 0 };
    if (!p) {
        assert_int_equal(calls_talk_request(t, api, body, turn_kit_write, out), 0);
        return;
    }
    size_t alike = view_common(before, body);
    assert_int_equal(calls_talk_request_like(t, api, body, &p->read, alike, &p->read,
                                             turn_kit_write, out),
                     0);
    buf_clear(&p->body);
    buf_append(&p->body, body.p, body.n);
}

/* p: NULL, or a request is read by what was read of the one before. */
static void
make_call(struct calls_talk *t, enum turn_api api, const struct talk_kit_call *c,
          struct past *p, struct buf *out)
{
    uint8_t *own = malloc(c->bytes.n ? c->bytes.n : 1);
    struct view bytes = { own, c->bytes.n };
    assert_non_null(own);
    if (c->bytes.n)
        memcpy(own, c->bytes.p, c->bytes.n);
    if (c->is_reply) {
        struct turn_reply *r;
        assert_int_equal(turn_reply_new(&r, api), 0);
        assert_int_equal(c->is_stream ? turn_reply_feed(r, bytes, hear, t)
                                      : turn_reply_body(r, bytes, hear, t),
                         0);
        assert_int_equal(turn_reply_end(r, hear, t), 0);
        if (turn_reply_facts(r).stop.n)
            calls_talk_answered(t, calls_talk_asked(t));
        turn_reply_free(r);
    } else {
        ask(t, api, bytes, p, out);
    }
    free(own);
}

void
talk_kit_open(struct talk_kit *k, enum turn_api api)
{
    *k = (struct talk_kit){ .api = api };
    assert_int_equal(calls_talk_new(&k->talk), 0);
}

static void
make_again(struct talk_kit *k, struct past *p)
{
    AUTO(buf) again = { 0 };
    calls_talk_free(k->talk);
    assert_int_equal(calls_talk_new(&k->talk), 0);
    for (size_t i = 0; i < k->n; i++)
        make_call(k->talk, k->api, &k->calls[i], p, &again);
    assert_string_equal(buf_str(&again), buf_str(&k->told));
}

void
talk_kit_close(struct talk_kit *k)
{
    struct past p = { .body.n = 0 };
    make_again(k, NULL);
    make_again(k, &p);
    buf_release(&p.body);
    calls_talk_read_release(&p.read);
    for (size_t i = 0; i < k->n; i++)
        buf_release(&k->calls[i].bytes);
    calls_talk_free(k->talk);
    buf_release(&k->told);
    free(k->calls);
}

static struct talk_kit_call *
add(struct talk_kit *k, bool is_reply)
{
    if (k->n == k->room) {
        k->room = k->room ? 2 * k->room : 16;
        k->calls = realloc(k->calls, k->room * sizeof(*k->calls));
        assert_non_null(k->calls);
    }
    k->calls[k->n] = (struct talk_kit_call){ .is_reply = is_reply };
    return &k->calls[k->n++];
}

static void
put_json(struct buf *out, const char *json)
{
    for (; *json; json++)
        buf_append(out, *json == '\'' ? "\"" : json, 1);
}

void
talk_kit_ask(struct talk_kit *k, const char *body, const char *want)
{
    struct talk_kit_call *c = add(k, false);
    AUTO(buf) out = { 0 };
    put_json(&c->bytes, body);
    make_call(k->talk, k->api, c, NULL, &out);
    assert_string_equal(buf_str(&out), want);
    buf_append(&k->told, out.p, out.n);
}

void
talk_kit_hear(struct talk_kit *k, const char *body)
{
    struct talk_kit_call *c = add(k, true);
    put_json(&c->bytes, body);
    make_call(k->talk, k->api, c, NULL, &k->told);
}

void
talk_kit_hear_some(struct talk_kit *k, const char *lines)
{
    struct talk_kit_call *c = add(k, true);
    c->is_stream = true;
    reply_kit_events(lines, &c->bytes);
    make_call(k->talk, k->api, c, NULL, &k->told);
}
