/* SPDX-License-Identifier: MIT */
/* reply.c -- from what a model's API replies to events: what all of the APIs share. */
#include "turn/reply_priv.h"

#include <errno.h>
#include <stdlib.h>

#include "base/json_in.h"

enum { SCRATCH_KEPT = 1 << 20 }; /* memory that stays behind a long text */

static const struct turn_reply_api *const apis[] = {
    &turn_reply_anthropic,
    &turn_reply_openai_chat,
    &turn_reply_openai_responses,
};

enum { APIS = sizeof(apis) / sizeof(apis[0]) };

const char *
turn_api_name(enum turn_api api)
{
    static const char *const names[] = {
        [TURN_API_AUTO] = "auto",
        [TURN_API_ANTHROPIC] = "anthropic",
        [TURN_API_OPENAI_CHAT] = "openai-chat",
        [TURN_API_OPENAI_RESPONSES] = "openai-responses",
    };
    return names[api];
}

static const struct turn_reply_api *
api_of(enum turn_api api)
{
    for (size_t i = 0; i < APIS; i++)
        if (apis[i]->api == api)
            return apis[i];
    return NULL;
}

enum turn_api
turn_api_guess(struct view name, struct view data)
{
    struct turn_reply_mark m = { .name = name };
    const struct turn_field wanted[] = {
        { "type", &m.type },
        { "object", &m.object },
        { "choices", &m.choices },
        { "error", &m.error },
    };
    if (turn_says(data, "[DONE]"))
        return TURN_API_OPENAI_CHAT;
    if (!turn_fields(data, wanted, sizeof(wanted) / sizeof(wanted[0])))
        return TURN_API_AUTO;
    for (size_t i = 0; i < APIS; i++)
        if (apis[i]->is_mine(&m))
            return apis[i]->api;
    return TURN_API_AUTO;
}

/* -- telling -- */

int
turn_reply_tell(struct turn_reply *r, const struct turn_event *e)
{
    for (size_t i = 0; i < sizeof(r->text) / sizeof(r->text[0]); i++)
        if (r->text[i].failed)
            return r->text[i].failed;
    r->has_said |= turn_role_of(e) == TURN_ASSISTANT;
    r->has_counted |= e->type == TURN_USAGE;
    return r->to.fn(r->to.ctx, e);
}

int
turn_reply_warn(struct turn_reply *r, const char *why)
{
    struct turn_event e = turn_event(TURN_WARNING);
    e.text = (struct view){ (const uint8_t *)why, strlen(why) };
    return turn_reply_tell(r, &e);
}

int
turn_reply_malformed(struct turn_reply *r, struct view data)
{
    struct turn_event e = turn_event(TURN_WARNING);
    int failed = turn_malformed(data, 0, &r->text[3]);
    e.text = turn_view_of(&r->text[3]);
    return failed < 0 ? failed : turn_reply_tell(r, &e);
}

int
turn_reply_set(struct turn_reply *r, struct buf *b, struct view value)
{
    struct view text = turn_text(value, &r->text[3]);
    if (!text.n || text.n > TURN_REPLY_WORD)
        return 0;
    buf_clear(b);
    return buf_append(b, text.p, text.n);
}

int
turn_reply_error(struct turn_reply *r, struct view error)
{
    struct view message = { 0 }, type = { 0 }, code = { 0 };
    const struct turn_field wanted[] = { { "message", &message },
                                         { "type", &type },
                                         { "code", &code } };
    struct turn_event e = turn_event(TURN_ERROR);
    r->has_failed = true;
    if (turn_known_fields(error, wanted, 3)) {
        e.text = turn_text(message, &r->text[0]);
        e.name = turn_text(turn_is(type, "error") ? code : type, &r->text[2]);
        if (!e.name.n)
            e.name = turn_text(code, &r->text[2]);
    } else {
        e.text = turn_text(error, &r->text[0]);
    }
    if (!e.text.n)
        e.text = error;
    return turn_reply_tell(r, &e);
}

int
turn_reply_whole(struct turn_reply *r)
{
    int result = turn_block_end_all(r, r->has_failed);
    r->is_whole = true;
    return result < 0 ? result : turn_reply_usage_end(r);
}

static int
end_message(struct turn_reply *r)
{
    int result = turn_block_end_all(r, true);
    if (result >= 0 && r->api && r->api->end)
        result = r->api->end(r);
    return result < 0 ? result : turn_reply_usage_end(r);
}

int
turn_reply_next(struct turn_reply *r)
{
    int result = end_message(r);
    buf_clear(&r->id);
    buf_clear(&r->model);
    buf_clear(&r->stop);
    buf_clear(&r->raw_usage);
    r->usage = r->raw = TURN_NO_USAGE;
    r->is_final = r->is_whole = r->has_failed = false;
    r->has_said = r->has_counted = false;
    r->before++;
    return result;
}

/* -- taking -- */

/* Until the API is known only errors are understood. */
static int
take_unknown(struct turn_reply *r, struct view data)
{
    struct view error = { 0 };
    const struct turn_field wanted[] = { { "error", &error } };
    bool is_error = turn_fields(data, wanted, 1) && turn_is_there(error);
    return is_error ? turn_reply_error(r, error) : 0;
}

static bool
is_blank(struct view json)
{
    struct json_in in = { .p = json.p, .end = json.p + json.n };
    return !json.n || (!json_in_peek(&in) && in.p == in.end);
}

static bool
is_known(struct turn_reply *r, struct view name, struct view data)
{
    if (!r->api)
        r->api = api_of(turn_api_guess(name, data));
    return r->api != NULL;
}

/* A long text leaves no memory behind. */
static void
begin(struct turn_reply *r, turn_event_fn fn, void *ctx)
{
    r->to = (struct turn_sink){ fn, ctx };
    for (size_t i = 0; i < sizeof(r->text) / sizeof(r->text[0]); i++)
        if (r->text[i].cap > SCRATCH_KEPT)
            buf_release(&r->text[i]);
}

static int
take_event(void *ctx, const struct turn_sse_event *e)
{
    struct turn_reply *r = ctx;
    if (r->is_whole && !(r->api && r->api->is_next && r->api->is_next(r, e->data)))
        return 0;
    if (e->is_too_long || e->data.n > r->max)
        return turn_reply_warn(r, "an event of the stream is too long, and lost");
    if (is_known(r, e->name, e->data))
        return r->api->take_event(r, e->data);
    return turn_fields(e->data, NULL, 0) ? take_unknown(r, e->data)
                                         : turn_reply_malformed(r, e->data);
}

int
turn_reply_event(struct turn_reply *r, const struct turn_sse_event *e, turn_event_fn fn,
                 void *ctx)
{
    begin(r, fn, ctx);
    return take_event(r, e);
}

int
turn_reply_feed(struct turn_reply *r, struct view bytes, turn_event_fn fn, void *ctx)
{
    begin(r, fn, ctx);
    r->sse.max = r->max;
    return turn_sse_feed(&r->sse, bytes, take_event, r);
}

int
turn_reply_body(struct turn_reply *r, struct view json, turn_event_fn fn, void *ctx)
{
    begin(r, fn, ctx);
    if (r->is_whole || is_blank(json))
        return 0;
    if (json.n > r->max)
        return turn_reply_warn(r, "the reply is too long, and lost");
    if (!is_known(r, (struct view){ 0 }, json))
        return take_unknown(r, json);
    if (!turn_fields(json, NULL, 0))
        return turn_reply_malformed(r, json);
    r->is_silent = true;
    int result = r->api->take_body(r, json);
    r->is_silent = false;
    return result;
}

int
turn_reply_end(struct turn_reply *r, turn_event_fn fn, void *ctx)
{
    begin(r, fn, ctx);
    (void)turn_sse_end(&r->sse);
    return end_message(r);
}

struct turn_reply_facts
turn_reply_facts(const struct turn_reply *r)
{
    return (struct turn_reply_facts){
        .api = r->api ? r->api->api : TURN_API_AUTO,
        .id = turn_view_of(&r->id),
        .model = turn_view_of(&r->model),
        .stop = turn_view_of(&r->stop),
        .usage = r->usage,
        .is_final = r->is_final,
        .raw_usage = turn_view_of(&r->raw_usage),
        .is_whole = r->is_whole,
        .has_failed = r->has_failed,
        .before = r->before,
    };
}

int
turn_reply_new(struct turn_reply **ret, enum turn_api api)
{
    struct turn_reply *r = calloc(1, sizeof(*r));
    if (!r)
        return -ENOMEM;
    r->api = api_of(api);
    r->usage = r->raw = TURN_NO_USAGE;
    turn_reply_set_max(r, TURN_REPLY_MAX);
    *ret = r;
    return 0;
}

/* Scratch holds what is said, with its name or as JSON of ours. */
void
turn_reply_set_max(struct turn_reply *r, size_t bytes)
{
    const size_t least = TURN_REPLY_MAX_LEAST, most = SIZE_MAX / 2;
    r->max = bytes < least ? least : bytes < most ? bytes : most;
    for (size_t i = 0; i < sizeof(r->text) / sizeof(r->text[0]); i++)
        r->text[i].ceiling = r->max + TURN_REPLY_WORD;
}

void
turn_reply_free(struct turn_reply *r)
{
    if (!r)
        return;
    turn_sse_release(&r->sse);
    turn_block_release_all(r);
    buf_release(&r->id);
    buf_release(&r->model);
    buf_release(&r->stop);
    buf_release(&r->raw_usage);
    for (size_t i = 0; i < sizeof(r->text) / sizeof(r->text[0]); i++)
        buf_release(&r->text[i]);
    free(r);
}
