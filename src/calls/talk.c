/* SPDX-License-Identifier: MIT */
/*
 * talk.c -- what is new in a request.
 *
 * Of the latest requests the messages are known by their hashes. The one that begins most
 * like this one is what it goes on with; a message that is not in that one, in its place
 * among the others, is new. So a conversation may branch, lose what it has no room for,
 * and stand beside others. What a model has said, and the results of calls, are known
 * wherever they come again.
 */
#include "calls/talk.h"

#include <errno.h>
#include <stdlib.h>

#include "base/json_in.h"
#include "calls/ask_priv.h"
#include "turn/fields.h"
#include "turn/totals.h"

enum {
    KNOWN_MAX = 64, /* requests */
    MESSAGES_MAX = 16384,
    LOOK_AHEAD = 512,   /* messages of the known one that may be gone */
    SAID_MAX = 1 << 18, /* hashes of what was said */
};

static const uint64_t MIX = UINT64_C(0x9e3779b97f4a7c15);

/* A request, as the hashes of its messages. */
struct known {
    enum turn_api api; /* AUTO: none */
    uint64_t used;
    struct buf hashes; /* uint64_t */
};

/* Hashes, by open addressing. */
struct set {
    uint64_t *slots;
    size_t n, room;
};

struct calls_talk {
    struct known known[KNOWN_MAX];
    uint64_t uses;
    struct set said;
    struct buf model; /* as it was told */
    struct buf hashes, plain;
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
calls_talk_free(struct calls_talk *t)
{
    if (!t)
        return;
    for (size_t i = 0; i < KNOWN_MAX; i++)
        buf_release(&t->known[i].hashes);
    for (size_t i = 0; i < ASK_SCRATCH; i++)
        buf_release(&t->to.text[i]);
    buf_release(&t->model);
    buf_release(&t->hashes);
    buf_release(&t->plain);
    free(t->said.slots);
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

/* -- what was said -- */

static uint64_t *
slot_of(const struct set *s, uint64_t hash)
{
    size_t i = (size_t)hash & (s->room - 1);
    while (s->slots[i] && s->slots[i] != hash)
        i = (i + 1) & (s->room - 1);
    return &s->slots[i];
}

static int
grow(struct set *s)
{
    struct set more = { .n = s->n, .room = s->room ? 2 * s->room : 256 };
    more.slots = calloc(more.room, sizeof(*more.slots));
    if (!more.slots)
        return -ENOMEM;
    for (size_t i = 0; i < s->room; i++)
        if (s->slots[i])
            *slot_of(&more, s->slots[i]) = s->slots[i];
    free(s->slots);
    *s = more;
    return 0;
}

/* 1: it was there already. */
static int
add(struct set *s, uint64_t hash)
{
    int r = 2 * s->n >= s->room && s->n < SAID_MAX ? grow(s) : 0;
    if (r < 0)
        return r;
    uint64_t *slot = slot_of(s, hash);
    if (*slot == hash)
        return 1;
    if (s->n >= SAID_MAX)
        return 0;
    *slot = hash;
    s->n++;
    return 0;
}

static struct view
trim(struct view v)
{
    while (v.n && memchr(" \t\r\n", v.p[0], 4))
        v = (struct view){ v.p + 1, v.n - 1 };
    while (v.n && memchr(" \t\r\n", v.p[v.n - 1], 4))
        v.n--;
    return v;
}

/* By what it is known wherever it comes again; 0: it is not. */
static uint64_t
identity(const struct turn_event *e)
{
    bool is_said = (e->type == TURN_TEXT && !e->is_user) || e->type == TURN_THINKING;
    bool is_call = e->type == TURN_TOOL_CALL || e->type == TURN_TOOL_RESULT;
    uint64_t of = is_said ? turn_hash(trim(e->text)) : is_call ? turn_id_hash(e->id) : 0;
    uint64_t h = of ? (of ^ (uint64_t)e->type) * MIX : 0;
    return of && !h ? 1 : h;
}

int
calls_talk_heard(struct calls_talk *t, const struct turn_event *e)
{
    uint64_t id = e->is_partial ? 0 : identity(e);
    int r = id ? add(&t->said, id) : 0;
    return r < 0 ? r : 0;
}

/* Of a message that is new. */
static int
tell(void *ctx, const struct turn_event *e)
{
    struct calls_talk *t = ctx;
    uint64_t id = identity(e);
    int r = id ? add(&t->said, id) : 0;
    return r ? (r < 0 ? r : 0) : t->fn(t->ctx, e);
}

/* -- messages by their hashes -- */

/* Without markers of what may be cached, which move from message to message. */
static struct view
without_markers(struct calls_talk *t, struct view raw)
{
    static const char key[] = "\"cache_control\":";
    const size_t n = sizeof(key) - 1;
    const uint8_t *end = raw.p + raw.n, *from = raw.p, *p;
    buf_clear(&t->plain);
    while ((p = memmem(from, (size_t)(end - from), key, n))) {
        bool is_text = p > raw.p && p[-1] == '\\'; /* in a string */
        buf_append(&t->plain, from, (size_t)(p - from));
        struct json_in in = { .p = p + n, .end = end };
        if (is_text || !json_in_skip(&in)) {
            buf_append(&t->plain, p, n);
            from = p + n;
            continue;
        }
        if (t->plain.n && t->plain.p[t->plain.n - 1] == ',')
            t->plain.n--;
        else if (in.p < end && *in.p == ',')
            in.p++;
        from = in.p;
    }
    if (!t->plain.n)
        return raw;
    buf_append(&t->plain, from, (size_t)(end - from));
    return t->plain.failed ? raw : (struct view){ t->plain.p, t->plain.n };
}

static uint64_t
mix(uint64_t h, uint64_t with)
{
    h = (h ^ with) * MIX;
    return h ^ h >> 29;
}

/* A text is the same as a string and as the one block of an array. */
static uint64_t
hash_content(struct calls_talk *t, struct view content)
{
    struct view block;
    uint64_t h = 1;
    if (!content.n || content.p[0] != '[')
        return mix(h, turn_hash(content));
    while (turn_next(&content, &block)) {
        struct view type = { 0 }, text = { 0 };
        const struct turn_field wanted[] = { { "type", &type }, { "text", &text } };
        bool is_text = turn_known_fields(block, wanted, 2) && text.n &&
                       turn_ends_in(type, "text");
        h = mix(h, turn_hash(is_text ? text : without_markers(t, block)));
    }
    return h;
}

static uint64_t
hash_message(struct calls_talk *t, struct view raw)
{
    struct view role = { 0 }, content = { 0 }, calls = { 0 }, id = { 0 };
    const struct turn_field wanted[] = { { "role", &role },
                                         { "content", &content },
                                         { "tool_calls", &calls },
                                         { "tool_call_id", &id } };
    if (!turn_known_fields(raw, wanted, 4) || !role.n)
        return turn_hash(without_markers(t, raw));
    uint64_t h = mix(turn_hash(role), hash_content(t, content));
    return mix(mix(h, turn_hash(calls)), turn_hash(id));
}

/* -- the request that this one goes on with -- */

static const uint64_t *
hashes_of(const struct buf *b, size_t *ret_n)
{
    *ret_n = b->n / sizeof(uint64_t);
    return (const void *)b->p;
}

static size_t
common(const struct buf *a, const struct buf *b)
{
    size_t an, bn, n = 0;
    const uint64_t *x = hashes_of(a, &an), *y = hashes_of(b, &bn);
    while (n < an && n < bn && x[n] == y[n])
        n++;
    return n;
}

static struct known *
find_known(struct calls_talk *t, enum turn_api api, size_t *ret_common)
{
    struct known *best = NULL;
    *ret_common = 0;
    for (size_t i = 0; i < KNOWN_MAX; i++) {
        struct known *k = &t->known[i];
        size_t n = k->api == api ? common(&k->hashes, &t->hashes) : 0;
        if (n && (n > *ret_common || (n == *ret_common && k->used > best->used))) {
            *ret_common = n;
            best = k;
        }
    }
    return best;
}

/* It takes the place of the one that it goes on with whole, else of the oldest. */
static int
remember(struct calls_talk *t, struct known *from, size_t alike, enum turn_api api)
{
    struct known *k = from;
    if (!k || alike < k->hashes.n / sizeof(uint64_t)) {
        k = &t->known[0];
        for (size_t i = 1; i < KNOWN_MAX; i++)
            if (t->known[i].used < k->used)
                k = &t->known[i];
    }
    k->api = api;
    k->used = ++t->uses;
    buf_clear(&k->hashes);
    return buf_append(&k->hashes, t->hashes.p, t->hashes.n);
}

/* Is message i of this one known? *at: where in the known one what comes next may be. */
static bool
is_known(const struct calls_talk *t, const struct known *from, size_t i, size_t *at)
{
    size_t n, m;
    if (!from)
        return false;
    const uint64_t *mine = hashes_of(&t->hashes, &m),
                   *known = hashes_of(&from->hashes, &n);
    for (size_t k = *at; k < n && k < *at + LOOK_AHEAD; k++)
        if (i < m && known[k] == mine[i]) {
            *at = k + 1;
            return true;
        }
    return false;
}

/* -- a request -- */

static int
note_hashes(struct calls_talk *t, struct view list)
{
    struct view one;
    int r = 0;
    buf_clear(&t->hashes);
    for (size_t n = 0; n < MESSAGES_MAX && !r && turn_next(&list, &one); n++) {
        uint64_t h = hash_message(t, one);
        r = buf_append(&t->hashes, &h, sizeof(h));
    }
    return r;
}

/* Programs ask other models beside the conversation (for a title, say), without tools. */
static int
tell_model(struct calls_talk *t, struct view raw, struct view tools)
{
    struct view model = turn_text(raw, &t->to.text[0]), element;
    bool has_tools = turn_next(&tools, &element);
    if (!model.n || (t->model.n && !has_tools) ||
        (t->model.n == model.n && !memcmp(t->model.p, model.p, model.n)))
        return 0;
    struct turn_event e = turn_event(TURN_SESSION);
    buf_clear(&t->model);
    int r = buf_append(&t->model, model.p, model.n);
    e.model = (struct view){ t->model.p, t->model.n };
    return r < 0 ? r : t->fn(t->ctx, &e);
}

static int
tell_list(struct calls_talk *t, const struct ask_api *api, struct view list)
{
    struct view one;
    size_t at;
    int r = note_hashes(t, list);
    if (r < 0)
        return r;
    struct known *from = find_known(t, api->api, &at);
    size_t alike = at;
    for (size_t i = 0; r >= 0 && i < MESSAGES_MAX && turn_next(&list, &one); i++)
        if (i >= alike && !is_known(t, from, i, &at))
            r = api->tell(&t->to, one);
    return r < 0 ? r : remember(t, from, alike, api->api);
}

int
calls_talk_request(struct calls_talk *t, enum turn_api api, struct view body,
                   turn_event_fn fn, void *ctx)
{
    const struct ask_api *ask = api_of(api);
    struct view list = { 0 }, model = { 0 }, tools = { 0 };
    if (!ask || !body.n)
        return 0;
    const struct turn_field wanted[] = { { ask->list, &list },
                                         { "model", &model },
                                         { "tools", &tools } };
    if (!turn_fields(body, wanted, sizeof(wanted) / sizeof(wanted[0])))
        return 0;
    t->fn = fn;
    t->ctx = ctx;
    t->to.tell = tell;
    t->to.ctx = t;
    int r = tell_model(t, model, tools);
    if (r >= 0 && list.n && list.p[0] == '"')
        r = ask->tell(&t->to, list);
    else if (r >= 0)
        r = tell_list(t, ask, list);
    return r < 0 ? r : 0;
}
