/* SPDX-License-Identifier: MIT */
/*
 * talk.c -- what is new in a request.
 *
 * A request is read twice: first for the hashes of the events in it, by which is found
 * what a request before had in the same place; then those events are told that are new.
 * Where it is known to begin as another one, what was read of that is not read again.
 * So a conversation may branch, lose what it has no room for, and stand beside others,
 * and it does not matter how its messages are written. What a model has said, and the
 * results of calls, are known wherever they come again.
 */
#include "calls/talk.h"

#include <errno.h>
#include <stdlib.h>

#include "calls/ask_priv.h"
#include "calls/talk_priv.h"
#include "redact/redact.h"
#include "turn/fields.h"
#include "turn/totals.h"

enum {
    KEPT_MAX = 1 << 20, /* bytes of a text that may come again with more, or less */
    ENDS_MAX = sizeof(size_t) << 20, /* of a request's messages */
};

static const uint64_t MIX = UINT64_C(0x9e3779b97f4a7c15);

struct calls_talk {
    struct talk_known known;
    struct talk_said said;
    struct buf model;            /* as it was told */
    struct buf cut;              /* the latest text of a model's that was cut off */
    struct buf prefill;          /* what the latest request lets the model go on with */
    struct calls_talk_read read; /* the request at hand */
    struct buf rest;  /* … without most of what it has in common with another */
    struct buf flags; /* a byte for each of its events: it is known */
    struct buf news;  /* uint64_t: by what is known what was told of it */
    size_t at;        /* the event at hand */
    uint64_t asked;   /* by what the latest request is known */
    struct ask_to to;
    turn_event_fn fn;
    void *ctx; /* of the current call */
};

static const struct ask_api *const apis[] = { &ask_anthropic, &ask_openai_chat,
                                              &ask_openai_responses };
enum { APIS = sizeof(apis) / sizeof(apis[0]) };

int
calls_talk_new(struct calls_talk **ret)
{
    *ret = calloc(1, sizeof(**ret));
    return *ret ? 0 : -ENOMEM;
}

void
calls_talk_read_release(struct calls_talk_read *r)
{
    buf_release(&r->ends);
    buf_release(&r->counts);
    buf_release(&r->hashes);
    *r = (struct calls_talk_read){ 0 };
}

void
calls_talk_free(struct calls_talk *t)
{
    if (!t)
        return;
    struct buf *all[] = {
        &t->model, &t->cut, &t->prefill, &t->rest, &t->flags, &t->news
    };
    for (size_t i = 0; i < sizeof(all) / sizeof(all[0]); i++)
        buf_release(all[i]);
    for (size_t i = 0; i < ASK_SCRATCH; i++)
        buf_release(&t->to.text[i]);
    calls_talk_read_release(&t->read);
    talk_known_release(&t->known);
    talk_said_release(&t->said);
    free(t);
}

/* -- which API -- */

static bool
ends_in(struct view v, const char *end)
{
    size_t n = strlen(end);
    return v.n >= n && !memcmp(v.p + v.n - n, end, n);
}

enum turn_api
calls_talk_api(struct view method, struct view url)
{
    const uint8_t *query = url.n ? memchr(url.p, '?', url.n) : NULL;
    struct view path = { url.p, query ? (size_t)(query - url.p) : url.n };
    if (method.n != 4 || memcmp(method.p, "POST", 4) != 0)
        return TURN_API_AUTO;
    for (size_t i = 0; i < APIS; i++)
        if (ends_in(path, apis[i]->path))
            return apis[i]->api;
    return TURN_API_AUTO;
}

static const struct ask_api *
api_of(enum turn_api api)
{
    for (size_t i = 0; i < APIS; i++)
        if (apis[i]->api == api)
            return apis[i];
    return NULL;
}

/* -- events by their hashes -- */

static bool
is_blank(uint8_t c)
{
    return c == ' ' || c == '\t' || c == '\r' || c == '\n';
}

static struct view
trim(struct view v)
{
    return view_trim(v, " \t\r\n");
}

static uint64_t
mix(uint64_t h, uint64_t with)
{
    h = (h ^ with) * MIX;
    return h ^ h >> 29;
}

static bool
is_of_token(uint8_t c)
{
    return (c >= '0' && c <= '9') || (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') ||
           c == '_' || c == '-';
}

/* What stands before the next mask in *rest, which goes with it. The letters before a
 * mask may be the first ones of the secret, of which more or less is public. */
static struct view
next_piece(struct view *rest)
{
    const uint8_t *end = rest->p + rest->n;
    const uint8_t *mask = memmem(rest->p, rest->n, REDACT_MASK, sizeof(REDACT_MASK) - 1);
    const uint8_t *close = mask ? memchr(mask, ']', (size_t)(end - mask)) : NULL;
    struct view piece = { rest->p, close ? (size_t)(mask - rest->p) : rest->n };
    *rest = close ? (struct view){ close + 1, (size_t)(end - close) - 1 }
                  : (struct view){ 0 };
    while (close && piece.n && is_of_token(piece.p[piece.n - 1]))
        piece.n--;
    return piece;
}

/* The same whether its secrets were masked in pieces or as a whole. */
static uint64_t
hash_text(struct view text)
{
    uint64_t h = 1;
    text = trim(text);
    if (!redact_has_mask(text.p, text.n))
        return turn_hash(text);
    while (text.n) {
        struct view piece = next_piece(&text);
        h = piece.n ? mix(h, turn_hash(piece)) : h;
    }
    return h;
}

/* Of a call with an id that is unique, or not: a server may count them in each reply. */
static uint64_t
hash_call(const struct turn_event *e)
{
    uint64_t id = turn_id_hash(e->id);
    if (id)
        return mix(e->type, id);
    return mix(mix(mix(e->type, turn_hash(e->id)), turn_hash(e->name)),
               hash_text(e->type == TURN_TOOL_CALL ? e->json : e->text));
}

static bool
is_call(const struct turn_event *e)
{
    return e->type == TURN_TOOL_CALL || e->type == TURN_TOOL_RESULT;
}

/* In its place among the others. */
static uint64_t
hash_place(const struct turn_event *e)
{
    bool is_users = e->type == TURN_TEXT && e->is_user;
    uint64_t h = is_call(e) ? hash_call(e) : mix(e->type, hash_text(e->text));
    return is_users ? h | 1 : h & ~(uint64_t)1;
}

/* By what it is known wherever it comes again; 0: it is not. */
static uint64_t
identity(const struct turn_event *e)
{
    bool is_said = (e->type == TURN_TEXT && !e->is_user) || e->type == TURN_THINKING ||
                   e->type == TURN_TOOL_CALL;
    bool is_result = e->type == TURN_TOOL_RESULT && turn_id_hash(e->id);
    return is_said || is_result ? hash_place(e) | 2 : 0;
}

/* -- what was said -- */

static bool
is_models_text(const struct turn_event *e)
{
    return e->type == TURN_TEXT && !e->is_user;
}

static int
keep(struct buf *b, struct view text)
{
    buf_clear(b);
    return text.n <= KEPT_MAX ? buf_append(b, text.p, text.n) : 0;
}

int
calls_talk_heard(struct calls_talk *t, const struct turn_event *e)
{
    uint64_t id = e->is_partial ? 0 : identity(e);
    int r = id ? talk_said_add(&t->said, id) : 0;
    if (r >= 0 && id && e->was_cut_off && is_models_text(e))
        r = keep(&t->cut, trim(e->text));
    return r < 0 ? r : 0;
}

static bool
starts(struct view text, struct view with)
{
    return with.n && text.n >= with.n && !memcmp(text.p, with.p, with.n);
}

/* The beginning of what was cut off: less may have come to the one who asked. Or what the
 * model was given to go on with, and how it did. */
static bool
is_made_of_said(const struct calls_talk *t, const struct turn_event *e)
{
    struct turn_event rest = *e;
    struct view text = trim(e->text), prefill = { t->prefill.p, t->prefill.n };
    if (starts((struct view){ t->cut.p, t->cut.n }, text))
        return true;
    if (!starts(text, prefill))
        return false;
    rest.text = (struct view){ text.p + prefill.n, text.n - prefill.n };
    return talk_said_has(&t->said, identity(&rest));
}

/* -- a request -- */

/* The first time. */
static int
note(void *ctx, const struct turn_event *e)
{
    struct calls_talk *t = ctx;
    const uint64_t h = hash_place(e) ^ t->read.salt;
    return t->at++ < TALK_EVENTS_MAX ? buf_append(&t->read.hashes, &h, sizeof(h)) : 0;
}

/* The second time. What is told more than once in a request was said more than once. */
static int
tell(void *ctx, const struct turn_event *e)
{
    struct calls_talk *t = ctx;
    uint64_t id = identity(e);
    size_t at = t->at++;
    if (at >= t->flags.n || t->flags.p[at] || (id && talk_said_has(&t->said, id)))
        return 0;
    int r = id ? buf_append(&t->news, &id, sizeof(id)) : 0;
    if (r < 0 || (is_models_text(e) && is_made_of_said(t, e)))
        return r;
    return t->fn(t->ctx, e);
}

/* A third time, the last message: does the model go on with it? */
static int
note_prefill(void *ctx, const struct turn_event *e)
{
    struct calls_talk *t = ctx;
    return keep(&t->prefill, is_models_text(e) ? trim(e->text) : (struct view){ 0 });
}

/* The messages, or a text that is the only one. */
static bool
next_message(struct view *rest, struct view *ret)
{
    if (!rest->n || rest->p[0] != '"')
        return turn_next(rest, ret);
    *ret = *rest;
    *rest = (struct view){ 0 };
    return true;
}

static int
read_events(struct calls_talk *t, const struct ask_api *api, struct view message,
            int (*fn)(void *ctx, const struct turn_event *e))
{
    t->to.tell = fn;
    t->to.ctx = t;
    return api->tell(&t->to, message);
}

/* The request at hand: its body, and its list of messages as it is gone through, which
 * may lie in a copy that lacks some of what is before it. */
struct asking {
    const struct ask_api *ask;
    struct view body, list, model, tools;
    size_t skipped;  /* bytes that it lacks */
    size_t messages; /* … so many, which are read already */
};

static int
note_list(struct calls_talk *t, const struct asking *a)
{
    struct view list = a->list, one;
    const uint8_t *before = a->list.p;
    int r = 0;
    while (r >= 0 && t->at < TALK_EVENTS_MAX && t->read.ends.n < ENDS_MAX &&
           next_message(&list, &one)) {
        size_t from = t->at, end = t->read.start + a->skipped;
        r = read_events(t, a->ask, one, note);
        uint32_t count = (uint32_t)(t->at - from);
        end += (size_t)(one.p - before) + one.n;
        if (r >= 0)
            r = buf_append(&t->read.counts, &count, sizeof(count));
        if (r >= 0)
            r = buf_append(&t->read.ends, &end, sizeof(end));
    }
    return r;
}

/* Message i, of which is known that it is one. */
static struct view
message_of(const struct calls_talk *t, const struct asking *a, size_t i)
{
    const size_t *ends = (const void *)t->read.ends.p;
    size_t at = i ? ends[i - 1] : t->read.start;
    bool is_in_list = a->body.p[t->read.start] == '[';
    while (is_in_list && (a->body.p[at] == (i ? ',' : '[') || is_blank(a->body.p[at])))
        at++;
    return (struct view){ a->body.p + at, ends[i] - at };
}

static int
tell_news(struct calls_talk *t, const struct asking *a)
{
    const uint32_t *counts = (const void *)t->read.counts.p;
    size_t count = t->read.counts.n / sizeof(*counts);
    int r = 0;
    t->at = 0;
    for (size_t i = 0; i < count && r >= 0; i++) {
        size_t end = t->at + counts[i];
        size_t most = end < t->flags.n ? end : t->flags.n;
        if (most > t->at && memchr(t->flags.p + t->at, 0, most - t->at))
            r = read_events(t, a->ask, message_of(t, a, i), tell);
        t->at = end;
    }
    struct view last = count ? message_of(t, a, count - 1) : (struct view){ 0 };
    return r < 0 ? r : read_events(t, a->ask, last, note_prefill);
}

static int
tell_list(struct calls_talk *t, const struct asking *a)
{
    int r = note_list(t, a);
    if (r >= 0)
        r = talk_known_match(&t->known, a->ask->api, &t->read.hashes, &t->flags,
                             &t->asked);
    buf_clear(&t->news);
    if (r >= 0 && t->flags.n)
        r = tell_news(t, a);
    const uint64_t *news = (const void *)t->news.p;
    for (size_t i = 0; i < t->news.n / sizeof(*news) && r >= 0; i++)
        r = talk_said_add(&t->said, news[i]);
    return r;
}

/* Programs ask other models beside the conversation (for a title, say), without tools. */
static int
tell_model(struct calls_talk *t, struct view raw, struct view tools)
{
    struct buf *scratch = &t->to.text[0];
    buf_clear(scratch);
    struct view model = turn_text(raw, scratch), element;
    bool has_tools = turn_next(&tools, &element);
    if (scratch->failed)
        return scratch->failed;
    if (!model.n || (t->model.n && !has_tools) ||
        (t->model.n == model.n && !memcmp(t->model.p, model.p, model.n)))
        return 0;
    struct turn_event e = turn_event(TURN_SESSION);
    buf_clear(&t->model);
    int r = buf_append(&t->model, model.p, model.n);
    e.model = (struct view){ t->model.p, t->model.n };
    return r < 0 ? r : t->fn(t->ctx, &e);
}

/* -- what two requests have in common -- */

static void
begin(struct calls_talk *t, enum turn_api api)
{
    t->read.api = api;
    t->read.salt = 0;
    t->read.start = t->at = 0;
    buf_clear(&t->read.ends);
    buf_clear(&t->read.counts);
    buf_clear(&t->read.hashes);
}

/* False: it is no request. */
static bool
take_fields(struct calls_talk *t, struct asking *a, struct view body)
{
    struct view before = { 0 };
    a->list = a->model = a->tools = (struct view){ 0 };
    const struct turn_field wanted[] = { { a->ask->list, &a->list },
                                         { "model", &a->model },
                                         { "tools", &a->tools },
                                         { "previous_response_id", &before } };
    if (!turn_fields(body, wanted, sizeof(wanted) / sizeof(wanted[0])))
        return false;
    t->read.salt = turn_is_there(before) ? turn_hash(before) & ~(uint64_t)1 : 0;
    t->read.start = a->list.n ? (size_t)(a->list.p - body.p) : 0;
    return true;
}

/* So many messages may be left out: all of them lie in what is alike, and so does the one
 * behind them, at which the list goes on as it should. */
static size_t
count_alike(const struct calls_talk_read *like, size_t alike)
{
    const size_t *ends = (const void *)like->ends.p;
    size_t low = 0, high = like->ends.n / sizeof(*ends);
    if (like->hashes.n / sizeof(uint64_t) >= TALK_EVENTS_MAX)
        return 0;
    while (low < high) { /* a number may go on behind its end */
        size_t middle = low + (high - low) / 2;
        if (ends[middle] < alike)
            low = middle + 1;
        else
            high = middle;
    }
    return low ? low - 1 : 0;
}

/* The body without those, and what is known of them. False: it is to be read whole. */
static bool
take_alike(struct calls_talk *t, struct asking *a, const struct calls_talk_read *like,
           size_t alike)
{
    const size_t *ends = (const void *)like->ends.p;
    const uint32_t *counts = (const void *)like->counts.p;
    size_t n = like->api == a->ask->api ? count_alike(like, alike) : 0, events = 0;
    if (!n)
        return false;
    size_t from = ends[n - 1];
    while (is_blank(a->body.p[from]))
        from++;
    a->skipped = ++from - (like->start + 1); /* behind the comma */
    buf_clear(&t->rest);
    buf_append(&t->rest, a->body.p, like->start + 1);
    buf_append(&t->rest, a->body.p + from, a->body.n - from);
    if (t->rest.failed || !take_fields(t, a, (struct view){ t->rest.p, t->rest.n }) ||
        t->read.start != like->start || t->read.salt != like->salt)
        return false;
    for (size_t i = 0; i < n; i++)
        events += counts[i];
    t->at = events;
    buf_append(&t->read.ends, ends, n * sizeof(*ends));
    buf_append(&t->read.counts, counts, n * sizeof(*counts));
    buf_append(&t->read.hashes, like->hashes.p, events * sizeof(uint64_t));
    return true;
}

static int
ask(struct calls_talk *t, const struct ask_api *api, struct view body,
    const struct calls_talk_read *like, size_t alike)
{
    struct asking a = { .ask = api, .body = body };
    begin(t, api->api);
    if (!like || !take_alike(t, &a, like, alike)) {
        begin(t, api->api);
        a.skipped = 0;
        if (!take_fields(t, &a, body))
            return 0;
    }
    int r = tell_model(t, a.model, a.tools);
    if (r >= 0)
        r = tell_list(t, &a);
    return r < 0 ? r : 0;
}

int
calls_talk_request_like(struct calls_talk *t, enum turn_api api, struct view body,
                        const struct calls_talk_read *like, size_t alike,
                        struct calls_talk_read *ret, turn_event_fn fn, void *ctx)
{
    const struct ask_api *found = api_of(api);
    t->asked = 0;
    t->fn = fn;
    t->ctx = ctx;
    begin(t, TURN_API_AUTO);
    int r = found && body.n ? ask(t, found, body, like, alike) : 0;
    if (t->rest.cap > KEPT_MAX)
        buf_release(&t->rest);
    if (r < 0)
        begin(t, TURN_API_AUTO);
    if (ret) {
        struct calls_talk_read old = *ret;
        *ret = t->read;
        t->read = old;
    }
    return r;
}

int
calls_talk_request(struct calls_talk *t, enum turn_api api, struct view body,
                   turn_event_fn fn, void *ctx)
{
    return calls_talk_request_like(t, api, body, NULL, 0, NULL, fn, ctx);
}

uint64_t
calls_talk_asked(const struct calls_talk *t)
{
    return t->asked;
}

void
calls_talk_answered(struct calls_talk *t, uint64_t asked)
{
    if (asked)
        talk_known_answered(&t->known, asked);
}
