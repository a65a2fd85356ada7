/* SPDX-License-Identifier: MIT */
#include "calls/answer.h"

#include <errno.h>
#include <stdlib.h>

#include "turn/fields.h"

enum { SHOWN_MAX = 200 }; /* bytes of an error that is no JSON */

struct calls_answer {
    struct turn_reply *reply;
    bool is_told; /* else it is none of a conversation */
    bool is_stream;
    bool has_begun, has_failed;
    bool is_lost; /* its body is too long to be looked at */
    unsigned status;
    struct buf body; /* of a reply in one piece */
    turn_event_fn fn;
    void *ctx; /* of the current call */
};

int
calls_answer_new(struct calls_answer **ret, enum turn_api api, unsigned status,
                 bool is_stream)
{
    struct calls_answer *a = calloc(1, sizeof(*a));
    if (!a)
        return -ENOMEM;
    int r = turn_reply_new(&a->reply, api);
    if (r < 0) {
        free(a);
        return r;
    }
    turn_reply_set_max(a->reply, CALLS_ANSWER_MAX);
    a->body.ceiling = CALLS_ANSWER_MAX;
    a->is_told = api != TURN_API_AUTO;
    a->is_stream = is_stream;
    a->status = status;
    *ret = a;
    return 0;
}

void
calls_answer_free(struct calls_answer *a)
{
    if (!a)
        return;
    turn_reply_free(a->reply);
    buf_release(&a->body);
    free(a);
}

/* A turn_event_fn: whole messages go on. */
static int
take(void *ctx, const struct turn_event *e)
{
    struct calls_answer *a = ctx;
    a->has_begun |= turn_role_of(e) == TURN_ASSISTANT;
    a->has_failed |= e->type == TURN_ERROR;
    if (!a->is_told || e->is_partial)
        return 0;
    return a->fn(a->ctx, e);
}

int
calls_answer_feed(struct calls_answer *a, struct view bytes, turn_event_fn fn, void *ctx)
{
    a->fn = fn;
    a->ctx = ctx;
    if (a->is_stream)
        return turn_reply_feed(a->reply, bytes, take, a);
    if (a->is_lost)
        return 0;
    int r = buf_append(&a->body, bytes.p, bytes.n);
    if (r != ERR_LIMIT)
        return r;
    a->is_lost = true;
    buf_release(&a->body);
    return 0;
}

static int
tell_error(struct calls_answer *a, struct view text)
{
    struct turn_event e = turn_event(TURN_ERROR);
    e.text = text;
    a->has_failed = true;
    return take(a, &e);
}

static bool
is_blank(uint8_t c)
{
    return c == ' ' || c == '\t' || c == '\r' || c == '\n';
}

/* The beginning of the body; characters are whole. */
static struct view
shown_body(const struct calls_answer *a)
{
    struct view v = { a->body.p, a->body.n };
    while (v.n && is_blank(v.p[0]))
        v = (struct view){ v.p + 1, v.n - 1 };
    if (v.n > SHOWN_MAX)
        for (v.n = SHOWN_MAX; v.n && (v.p[v.n] & 0xc0) == 0x80; v.n--)
            ;
    while (v.n && is_blank(v.p[v.n - 1]))
        v.n--;
    return v;
}

/* "HTTP 502: Bad Gateway …": an answer of something that stands between. */
static int
tell_status(struct calls_answer *a)
{
    AUTO(buf) text = { 0 };
    struct view body = shown_body(a);
    buf_printf(&text, "HTTP %u", a->status);
    if (body.n)
        buf_puts(&text, ": ");
    buf_append(&text, body.p, body.n);
    return text.failed ? text.failed : tell_error(a, (struct view){ text.p, text.n });
}

static int
tell_lost(struct calls_answer *a)
{
    static const char why[] = "the reply is too long, and lost";
    struct turn_event e = turn_event(TURN_WARNING);
    e.text = (struct view){ (const uint8_t *)why, sizeof(why) - 1 };
    return take(a, &e);
}

/* What an error is told with may be a page, which is no reply that is malformed. */
static int
take_body(struct calls_answer *a)
{
    struct view body = { a->body.p, a->body.n };
    if (a->status >= 400 && !turn_fields(body, NULL, 0))
        return 0;
    return turn_reply_body(a->reply, body, take, a);
}

int
calls_answer_end(struct calls_answer *a, struct view error, turn_event_fn fn, void *ctx)
{
    a->fn = fn;
    a->ctx = ctx;
    int r = 0;
    if (a->is_lost && a->status < 400)
        r = tell_lost(a);
    else if (a->body.n)
        r = take_body(a);
    if (r >= 0)
        r = turn_reply_end(a->reply, take, a);
    if (r >= 0 && a->status >= 400 && !a->has_failed)
        r = tell_status(a);
    else if (r >= 0 && error.n && !a->has_failed)
        r = tell_error(a, error);
    buf_release(&a->body);
    return r;
}

bool
calls_answer_has_begun(const struct calls_answer *a)
{
    return a->has_begun;
}

bool
calls_answer_has_failed(const struct calls_answer *a)
{
    return a->has_failed;
}

struct turn_reply_facts
calls_answer_facts(const struct calls_answer *a)
{
    return turn_reply_facts(a->reply);
}
