/* SPDX-License-Identifier: MIT */
/*
 * reply_anthropic.c -- replies of the Messages API.
 *
 * Streamed, a message has blocks, each with an index; they begin, go on and stop, and may
 * do so between each other. Its usage is told twice: what went in, with a first count of
 * what comes out, at its beginning; all of it, with the reason of its end, later.
 */
#include "base/json.h"
#include "base/json_in.h"
#include "base/json_scan.h"
#include "turn/claude_priv.h"
#include "turn/reply_priv.h"

/* An event's fields, raw. */
struct event {
    struct view type, index, delta, block, message, usage, error;
};

/* A block's, at its beginning or in a message that is whole. */
struct block {
    struct view type, text, thinking, signature, data;
    struct view id, name, server, input, call, content, is_error;
};

static bool
is_mine(const struct turn_reply_mark *m)
{
    return turn_is(m->type, "message_start") || turn_is(m->type, "message_delta") ||
           turn_is(m->type, "message_stop") || turn_is(m->type, "content_block_start") ||
           turn_is(m->type, "content_block_delta") ||
           turn_is(m->type, "content_block_stop") || turn_is(m->type, "ping") ||
           turn_is(m->type, "message") ||
           (turn_is(m->type, "error") && m->error.n && m->error.p[0] == '{');
}

/* -- blocks -- */

static int
set_proof(struct turn_reply *r, struct turn_block *b, struct view signature)
{
    if (!b || b->type != TURN_THINKING || signature.n <= 2 || signature.p[0] != '"')
        return 0;
    return turn_block_prove(r, b, signature);
}

static int
begin_text(struct turn_reply *r, uint64_t key, const struct block *b)
{
    bool is_thought = turn_is(b->type, "thinking");
    struct turn_block *block;
    int result = turn_block_begin(r, key, is_thought ? TURN_THINKING : TURN_TEXT, &block);
    if (result < 0 || !block || (result = set_proof(r, block, b->signature)) < 0)
        return result;
    struct view text = is_thought ? b->thinking : b->text;
    return turn_block_piece(r, block, turn_text(text, &r->text[0]));
}

/* A call whose arguments follow begins with an empty object. */
static bool
is_empty_object(struct view json)
{
    struct json_in in = { .p = json.p, .end = json.p + json.n };
    return json_in_take(&in, '{') && json_in_take(&in, '}');
}

/* A server's tool is called "server.tool", as in the streams of agents. */
static int
begin_call(struct turn_reply *r, uint64_t key, const struct block *b)
{
    struct buf *name = &r->text[2];
    struct turn_block *block;
    buf_clear(name);
    if (turn_str(b->server, name))
        buf_puts(name, ".");
    (void)turn_str(b->name, name);
    int result = turn_block_begin_call(r, key, turn_text(b->id, &r->text[1]),
                                       turn_view_of(name), &block);
    if (result < 0 || !block || !b->input.n || is_empty_object(b->input))
        return result;
    return turn_block_piece(r, block, b->input);
}

/* What the API itself has called has its result in the reply. */
static int
tell_result(struct turn_reply *r, const struct block *b)
{
    struct turn_event e = turn_event(TURN_TOOL_RESULT);
    e.id = turn_text(b->call, &r->text[1]);
    e.text = turn_text(b->content, &r->text[0]);
    if (!e.text.n)
        e.text = b->content;
    e.is_error = turn_is_true(b->is_error);
    return turn_reply_tell(r, &e);
}

static int
tell_redacted(struct turn_reply *r, struct view data)
{
    struct turn_event e = turn_event(TURN_THINKING);
    struct json j = { .out = &r->text[3] };
    buf_clear(&r->text[3]);
    json_open(&j, '{');
    json_key(&j, "data");
    json_raw(&j, data.n ? data : (struct view){ (const uint8_t *)"null", 4 });
    json_close(&j, '}');
    e.id = turn_view_of(&r->id);
    e.text = (struct view){ (const uint8_t *)"(redacted)", 10 };
    e.json = turn_view_of(&r->text[3]);
    return turn_reply_tell(r, &e);
}

static int
begin_block(struct turn_reply *r, uint64_t key, const struct block *b)
{
    struct turn_block *open = turn_block_find(r, key);
    int result = open ? turn_block_end(r, open, true) : 0;
    if (result < 0)
        return result;
    if (turn_is(b->type, "text") || turn_is(b->type, "thinking"))
        return begin_text(r, key, b);
    if (turn_ends_in(b->type, "tool_use"))
        return begin_call(r, key, b);
    if (turn_ends_in(b->type, "tool_result"))
        return tell_result(r, b);
    return turn_is(b->type, "redacted_thinking") ? tell_redacted(r, b->data) : 0;
}

static int
end_block(struct turn_reply *r, struct turn_block *b)
{
    if (!b)
        return 0;
    if (b->type == TURN_TOOL_CALL && !b->said.n && !b->is_lost) { /* it needs none */
        buf_puts(&b->said, "{}");
        r->held += b->said.n;
    }
    return b->said.failed ? b->said.failed : turn_block_end(r, b, false);
}

static int
end_blocks(struct turn_reply *r)
{
    int result = 0;
    while (r->open && result >= 0)
        result = end_block(r, &r->blocks[0]);
    return result;
}

#define BLOCK_FIELDS(b)                                                                  \
    {                                                                                    \
        { "type", &(b)->type }, { "text", &(b)->text }, { "thinking", &(b)->thinking },  \
            { "signature", &(b)->signature }, { "data", &(b)->data },                    \
            { "id", &(b)->id }, { "name", &(b)->name }, { "server_name", &(b)->server }, \
            { "input", &(b)->input }, { "tool_use_id", &(b)->call },                     \
            { "content", &(b)->content }, { "is_error", &(b)->is_error },                \
    }

enum { BLOCK_FIELD_COUNT = 12 };

static int
start_block(struct turn_reply *r, const struct event *e)
{
    struct block b = { 0 };
    const struct turn_field wanted[BLOCK_FIELD_COUNT] = BLOCK_FIELDS(&b);
    (void)turn_known_fields(e->block, wanted, BLOCK_FIELD_COUNT);
    return begin_block(r, turn_u64(e->index, 0), &b);
}

static int
stop_block(struct turn_reply *r, const struct event *e)
{
    return end_block(r, turn_block_find(r, turn_u64(e->index, 0)));
}

/* A piece of a block; a beginning that was lost costs no text. */
static int
take_delta(struct turn_reply *r, const struct event *e)
{
    struct view type = { 0 }, text = { 0 }, thinking = { 0 }, json = { 0 }, proof = { 0 };
    const struct turn_field wanted[] = {
        { "type", &type },         { "text", &text },       { "thinking", &thinking },
        { "partial_json", &json }, { "signature", &proof },
    };
    uint64_t key = turn_u64(e->index, 0);
    (void)turn_known_fields(e->delta, wanted, sizeof(wanted) / sizeof(wanted[0]));
    if (turn_is(type, "text_delta"))
        return turn_block_say(r, key, TURN_TEXT, turn_text(text, &r->text[0]));
    if (turn_is(type, "thinking_delta"))
        return turn_block_say(r, key, TURN_THINKING, turn_text(thinking, &r->text[0]));
    if (turn_is(type, "input_json_delta"))
        return turn_block_say(r, key, TURN_TOOL_CALL, turn_text(json, &r->text[0]));
    if (turn_is(type, "signature_delta"))
        return set_proof(r, turn_block_find(r, key), proof);
    return 0;
}

/* -- messages -- */

static int
take_usage(struct turn_reply *r, struct view usage, bool is_final)
{
    int result = turn_reply_keep_usage(r, usage);
    return result < 0 ? result : turn_reply_usage(r, claude_usage(usage), is_final);
}

static int
take_head(struct turn_reply *r, struct view message)
{
    struct view id = { 0 }, model = { 0 }, usage = { 0 };
    const struct turn_field wanted[] = { { "id", &id },
                                         { "model", &model },
                                         { "usage", &usage } };
    (void)turn_known_fields(message, wanted, 3);
    int result = turn_reply_set(r, &r->id, id);
    if (result >= 0)
        result = turn_reply_set(r, &r->model, model);
    return result < 0 ? result : take_usage(r, usage, false);
}

/* Of which each has an id? */
static bool
is_other(const struct turn_reply *r, struct view message)
{
    struct view id = { 0 };
    AUTO(buf) text = { 0 };
    const struct turn_field wanted[] = { { "id", &id } };
    (void)turn_known_fields(message, wanted, 1);
    id = turn_text(id, &text);
    return r->id.n && id.n && id.n <= TURN_REPLY_WORD &&
           (id.n != r->id.n || memcmp(id.p, r->id.p, id.n) != 0);
}

static int
take_start(struct turn_reply *r, const struct event *e)
{
    int result = is_other(r, e->message) ? turn_reply_next(r) : 0;
    return result < 0 ? result : take_head(r, e->message);
}

static bool
is_next(const struct turn_reply *r, struct view data)
{
    struct view type = { 0 }, message = { 0 };
    const struct turn_field wanted[] = { { "type", &type }, { "message", &message } };
    return turn_fields(data, wanted, 2) && turn_is(type, "message_start") &&
           is_other(r, message);
}

static int
take_foot(struct turn_reply *r, struct view stop, struct view usage)
{
    int result = turn_reply_set(r, &r->stop, stop);
    bool is_final = stop.n > 2 && stop.p[0] == '"';
    return result < 0 ? result : take_usage(r, usage, is_final);
}

static int
take_end(struct turn_reply *r, const struct event *e)
{
    struct view stop = { 0 };
    const struct turn_field wanted[] = { { "stop_reason", &stop } };
    (void)turn_known_fields(e->delta, wanted, 1);
    return take_foot(r, stop, e->usage);
}

static int
take_stop(struct turn_reply *r, const struct event *e)
{
    (void)e;
    int result = r->has_failed ? 0 : end_blocks(r);
    return result < 0 ? result : turn_reply_whole(r);
}

static int
take_error(struct turn_reply *r, const struct event *e)
{
    return turn_reply_error(r, e->error);
}

/* -- what comes most often, in one look --
 *
 *     {"type":"content_block_delta","index":0,"delta":{"type":"text_delta","text":"…"}}
 *
 * as the API writes it, perhaps with blanks before the last brace. */

static bool
take_word(struct json_in *in, const char *word, size_t n)
{
    if ((size_t)(in->end - in->p) < n || memcmp(in->p, word, n) != 0)
        return false;
    in->p += n;
    return true;
}

static bool
take_index(struct json_in *in, uint64_t *ret)
{
    const uint8_t *start = in->p;
    uint64_t v = 0;
    for (; in->end - in->p > 1 && in->p - start < 4 && *in->p >= '0' && *in->p <= '9';
         in->p++)
        v = v * 10 + (uint64_t)(*in->p - '0');
    *ret = v;
    return in->p > start;
}

/* Behind its first quote. */
static bool
take_text(struct json_in *in, struct buf *out, struct view *ret)
{
    const uint8_t *start = in->p;
    in->p = json_scan(in->p, in->end).end;
    if (in->p < in->end && *in->p == '"') {
        *ret = (struct view){ start, (size_t)(in->p++ - start) };
        return true;
    }
    in->p = start - 1;
    buf_clear(out);
    if (!json_in_str(in, out))
        return false;
    *ret = turn_view_of(out);
    return true;
}

/* False: it is something else, or written in another way. */
static bool
is_plain_delta(struct view data, struct buf *out, uint64_t *ret_key,
               enum turn_type *ret_type, struct view *ret_text)
{
    static const char head[] = "{\"type\":\"content_block_delta\",\"index\":";
    static const char middle[] = ",\"delta\":{\"type\":\"";
    static const struct {
        const char *word;
        enum turn_type type;
    } kinds[] = {
        { "text_delta\",\"text\":\"", TURN_TEXT },
        { "input_json_delta\",\"partial_json\":\"", TURN_TOOL_CALL },
        { "thinking_delta\",\"thinking\":\"", TURN_THINKING },
    };
    struct json_in in = { .p = data.p, .end = data.p + data.n };
    size_t i = 0;
    if (!take_word(&in, head, sizeof(head) - 1) || !take_index(&in, ret_key) ||
        !take_word(&in, middle, sizeof(middle) - 1))
        return false;
    while (i < 3 && !take_word(&in, kinds[i].word, strlen(kinds[i].word)))
        i++;
    if (i == 3 || !take_text(&in, out, ret_text))
        return false;
    *ret_type = kinds[i].type;
    bool is_closed = json_in_take(&in, '}');
    is_closed = is_closed && json_in_take(&in, '}');
    return is_closed && !json_in_peek(&in) && in.p == in.end;
}

/* -- replies -- */

static int
take_event(struct turn_reply *r, struct view data)
{
    static const struct {
        const char *type;
        int (*take)(struct turn_reply *r, const struct event *e);
    } kinds[] = {
        { "content_block_delta", take_delta },
        { "content_block_start", start_block },
        { "content_block_stop", stop_block },
        { "message_start", take_start },
        { "message_delta", take_end },
        { "message_stop", take_stop },
        { "error", take_error },
    };
    struct event e = { 0 };
    const struct turn_field wanted[] = {
        { "type", &e.type },           { "index", &e.index },     { "delta", &e.delta },
        { "content_block", &e.block }, { "message", &e.message }, { "usage", &e.usage },
        { "error", &e.error },
    };
    enum turn_type type;
    struct view text;
    uint64_t key;
    if (is_plain_delta(data, &r->text[0], &key, &type, &text))
        return turn_block_say(r, key, type, text);
    if (!turn_fields(data, wanted, sizeof(wanted) / sizeof(wanted[0])))
        return turn_reply_malformed(r, data);
    for (size_t i = 0; i < sizeof(kinds) / sizeof(kinds[0]); i++)
        if (turn_is(e.type, kinds[i].type))
            return kinds[i].take(r, &e);
    return turn_is_there(e.error) ? take_error(r, &e) : 0; /* as gateways tell it */
}

static int
take_body(struct turn_reply *r, struct view json)
{
    struct view type = { 0 }, error = { 0 }, content = { 0 }, stop = { 0 }, usage = { 0 };
    const struct turn_field wanted[] = {
        { "type", &type },        { "error", &error }, { "content", &content },
        { "stop_reason", &stop }, { "usage", &usage },
    };
    (void)turn_known_fields(json, wanted, sizeof(wanted) / sizeof(wanted[0]));
    if (turn_is(type, "error") || (!type.n && turn_is_there(error)))
        return turn_reply_error(r, error);
    int result = take_head(r, json);
    while (result >= 0) {
        struct block b = { 0 };
        const struct turn_field fields[BLOCK_FIELD_COUNT] = BLOCK_FIELDS(&b);
        if (!turn_known_next(&content, fields, BLOCK_FIELD_COUNT))
            break;
        result = begin_block(r, 0, &b);
        if (result >= 0)
            result = end_blocks(r);
    }
    if (result >= 0)
        result = take_foot(r, stop, usage);
    return result < 0 || !turn_is(type, "message") ? result : turn_reply_whole(r);
}

const struct turn_reply_api turn_reply_anthropic = {
    TURN_API_ANTHROPIC, is_mine, take_event, take_body, is_next, NULL,
};
