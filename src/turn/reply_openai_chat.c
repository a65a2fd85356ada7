/* SPDX-License-Identifier: MIT */
/*
 * reply_openai_chat.c -- replies of the Chat Completions API, and of the many servers
 * that speak it more or less (llama.cpp, vLLM, Ollama, gateways).
 *
 * Nothing tells where a text ends: another kind of text, a call or the end of the reply
 * does. Calls are whole at the end. Of several choices the first counts.
 */
#include "turn/reply_priv.h"

/* Keys of blocks: a call that tells its index has that. */
enum { INDEX_MAX = 1 << 20 };
#define KEY_TEXT     UINT64_MAX
#define KEY_THINKING (UINT64_MAX - 1)
#define KEY_FUNCTION (UINT64_MAX - 2)    /* the one call of the old way */
#define KEY_CALLS    ((uint64_t)1 << 32) /* and its number: a call that does not */

/* What of a chunk counts, raw. */
struct chunk {
    struct view id, model, choices, usage, error;
};

static bool
is_mine(const struct turn_reply_mark *m)
{
    return turn_starts(m->object, "chat.completion") || m->choices.n > 0;
}

/* -- usage -- */

/* What is cached is taken off the input once nothing more is told: before, more of it may
 * turn out to be cached, and would be counted twice. */
static int
tell_all(struct turn_reply *r, bool is_final)
{
    struct turn_usage u = r->raw;
    turn_take_off(&u.input_tokens, u.cache_read_tokens);
    return turn_reply_usage(r, u, is_final);
}

/* Broken off, it is what there was of it. */
static int
end(struct turn_reply *r)
{
    return tell_all(r, false);
}

/* Some servers count in each chunk, or with the reason to stop, and in one more without
 * choices, which may be the first to tell what is cached. */
static int
take_usage(struct turn_reply *r, const struct chunk *c)
{
    struct view choices = c->choices, one;
    bool has_stopped = r->stop.n > 0;
    if (!turn_is_there(c->usage))
        return 0;
    struct turn_usage told = turn_reply_openai_usage(
        c->usage, "prompt_tokens", "completion_tokens", "prompt_tokens_details");
    (void)turn_usage_raise(&r->raw, told);
    int result = turn_reply_keep_usage(r, c->usage);
    if (result < 0 || r->is_silent || (has_stopped && turn_next(&choices, &one)))
        return result;
    if (has_stopped)
        return tell_all(r, true);
    struct turn_usage so_far = r->raw;
    so_far.input_tokens = TURN_UNKNOWN;
    return turn_reply_usage(r, so_far, false);
}

/* -- what is said -- */

static int
end_text(struct turn_reply *r, uint64_t key)
{
    struct turn_block *b = turn_block_find(r, key);
    return b ? turn_block_end(r, b, false) : 0;
}

static int
say(struct turn_reply *r, enum turn_type type, struct view value)
{
    bool is_thought = type == TURN_THINKING;
    struct view text = turn_text(value, &r->text[0]);
    if (!text.n)
        return 0;
    int result = end_text(r, is_thought ? KEY_TEXT : KEY_THINKING);
    return result < 0
               ? result
               : turn_block_say(r, is_thought ? KEY_THINKING : KEY_TEXT, type, text);
}

/* A content of parts instead of a text; Mistral's thinking is one of them, and has parts
 * again. */
static int
say_parts(struct turn_reply *r, enum turn_type type, struct view parts)
{
    for (;;) {
        struct view text = { 0 }, refusal = { 0 }, thinking = { 0 };
        const struct turn_field wanted[] = { { "text", &text },
                                             { "refusal", &refusal },
                                             { "thinking", &thinking } };
        if (!turn_known_next(&parts, wanted, 3))
            return 0;
        int result = say(r, type, refusal.n ? refusal : text);
        if (result >= 0 && type == TURN_TEXT)
            result = say_parts(r, TURN_THINKING, thinking);
        if (result < 0)
            return result;
    }
}

/* -- calls -- */

struct call {
    struct view index, id, name, arguments;
};

static bool
is_other_call(const struct turn_block *b, struct view id)
{
    return id.n && b->id.n && (id.n != b->id.n || memcmp(id.p, b->id.p, id.n) != 0);
}

static struct turn_block *
last_call(struct turn_reply *r)
{
    for (size_t i = r->open; i-- > 0;)
        if (r->blocks[i].type == TURN_TOOL_CALL)
            return &r->blocks[i];
    return NULL;
}

/* The open call of which it is a piece. Without an index that is the last, if it brings
 * no name; with another id it is another call whatever the index. */
static struct turn_block *
find_call(struct turn_reply *r, const struct call *c, uint64_t key, struct view id)
{
    bool has_index = key < KEY_CALLS;
    struct turn_block *b = has_index ? turn_block_find(r, key) : last_call(r);
    if (!b || (!has_index && c->name.n > 2) || b->type != TURN_TOOL_CALL)
        return NULL;
    if (!is_other_call(b, id))
        return b;
    if (has_index)
        b->key = KEY_CALLS + r->calls++;
    return NULL;
}

static int
begin_call(struct turn_reply *r, uint64_t key, struct view id, struct view name,
           struct turn_block **ret)
{
    int result = end_text(r, KEY_THINKING);
    if (result >= 0)
        result = end_text(r, KEY_TEXT);
    r->calls++;
    return result < 0 ? result : turn_block_begin_call(r, key, id, name, ret);
}

/* What comes later than its beginning. */
static int
complete(struct buf *b, struct view text)
{
    return b->n || text.n > TURN_REPLY_WORD ? 0 : buf_append(b, text.p, text.n);
}

/* More of the call b; NULL: it begins. */
static int
go_on(struct turn_reply *r, struct turn_block *b, uint64_t key, const struct call *c)
{
    struct view id = turn_text(c->id, &r->text[1]);
    struct view name = turn_text(c->name, &r->text[2]);
    struct view arguments = turn_text(c->arguments, &r->text[0]);
    if (c->arguments.n && c->arguments.p[0] == '{') /* it should be a string */
        arguments = c->arguments;
    int result = b ? 0 : begin_call(r, key, id, name, &b);
    if (result < 0 || !b)
        return result;
    if ((result = complete(&b->id, id)) < 0 || (result = complete(&b->name, name)) < 0)
        return result;
    return turn_block_piece(r, b, arguments);
}

static int
take_call(struct turn_reply *r, const struct call *c)
{
    uint64_t key = turn_u64(c->index, TURN_UNKNOWN);
    if (key > INDEX_MAX)
        key = KEY_CALLS + r->calls;
    return go_on(r, find_call(r, c, key, turn_text(c->id, &r->text[1])), key, c);
}

static int
take_calls(struct turn_reply *r, struct view calls)
{
    for (;;) {
        struct call c = { 0 };
        struct view function = { 0 }, custom = { 0 };
        const struct turn_field wanted[] = { { "index", &c.index },
                                             { "id", &c.id },
                                             { "function", &function },
                                             { "custom", &custom } };
        const struct turn_field of_either[] = { { "name", &c.name },
                                                { "arguments", &c.arguments },
                                                { "input", &c.arguments } };
        if (!turn_known_next(&calls, wanted, 4))
            return 0;
        bool is_one = turn_known_fields(turn_is_there(custom) ? custom : function,
                                        of_either, 3);
        int result = is_one ? take_call(r, &c) : 0;
        if (result < 0)
            return result;
    }
}

/* As it was before there were several; some tell a call in both ways. */
static int
take_function(struct turn_reply *r, struct view function)
{
    struct call c = { 0 };
    const struct turn_field wanted[] = { { "name", &c.name },
                                         { "arguments", &c.arguments } };
    struct turn_block *b = turn_block_find(r, KEY_FUNCTION);
    bool is_other = r->calls > 0 && !b;
    if (!turn_known_fields(function, wanted, 2) || is_other)
        return 0;
    return go_on(r, b, KEY_FUNCTION, &c);
}

/* -- chunks and replies -- */

/* A delta, or the message of a reply in one piece. */
static int
take_message(struct turn_reply *r, struct view message)
{
    struct view content = { 0 }, refusal = { 0 }, thought = { 0 }, reasoning = { 0 },
                calls = { 0 }, function = { 0 };
    const struct turn_field wanted[] = {
        { "content", &content },           { "refusal", &refusal },
        { "reasoning_content", &thought }, { "reasoning", &reasoning },
        { "tool_calls", &calls },          { "function_call", &function },
    };
    (void)turn_known_fields(message, wanted, sizeof(wanted) / sizeof(wanted[0]));
    /* Some tell it under both names. */
    int result = say(r, TURN_THINKING,
                     thought.n > 2 && thought.p[0] == '"' ? thought : reasoning);
    if (result >= 0)
        result = say(r, TURN_TEXT, content);
    if (result >= 0)
        result = say_parts(r, TURN_TEXT, content);
    if (result >= 0)
        result = say(r, TURN_TEXT, refusal);
    if (result >= 0)
        result = take_calls(r, calls);
    return result < 0 ? result : take_function(r, function);
}

static int
take_choice(struct turn_reply *r, struct view message, struct view stop)
{
    int result = take_message(r, message);
    if (result < 0 || stop.n <= 2 || stop.p[0] != '"')
        return result;
    result = turn_reply_set(r, &r->stop, stop);
    return result < 0 ? result : turn_block_end_all(r, r->has_failed);
}

static int
take_choices(struct turn_reply *r, struct view choices)
{
    for (;;) {
        struct view index = { 0 }, delta = { 0 }, message = { 0 }, stop = { 0 };
        const struct turn_field wanted[] = { { "index", &index },
                                             { "delta", &delta },
                                             { "message", &message },
                                             { "finish_reason", &stop } };
        if (!turn_known_next(&choices, wanted, 4))
            return 0;
        if (turn_u64(index, 0) != 0)
            continue;
        int result = take_choice(r, r->is_silent ? message : delta, stop);
        if (result < 0)
            return result;
    }
}

static int
take_chunk(struct turn_reply *r, struct view object)
{
    struct chunk c = { 0 };
    int result = 0;
    const struct turn_field wanted[] = {
        { "id", &c.id },       { "model", &c.model }, { "choices", &c.choices },
        { "usage", &c.usage }, { "error", &c.error },
    };
    if (!turn_fields(object, wanted, sizeof(wanted) / sizeof(wanted[0])))
        return turn_reply_malformed(r, object);
    if (!r->id.n)
        result = turn_reply_set(r, &r->id, c.id);
    if (result >= 0 && !r->model.n)
        result = turn_reply_set(r, &r->model, c.model);
    if (result >= 0 && turn_is_there(c.error))
        result = turn_reply_error(r, c.error);
    if (result >= 0)
        result = take_choices(r, c.choices);
    return result < 0 ? result : take_usage(r, &c);
}

/* What was counted is all there is. */
static int
finish(struct turn_reply *r)
{
    int result = turn_block_end_all(r, r->has_failed);
    if (result >= 0)
        result = tell_all(r, !r->has_failed);
    return result < 0 ? result : turn_reply_whole(r);
}

static int
take_event(struct turn_reply *r, struct view data)
{
    return turn_says(data, "[DONE]") ? finish(r) : take_chunk(r, data);
}

static int
take_body(struct turn_reply *r, struct view json)
{
    struct view choices = { 0 };
    const struct turn_field wanted[] = { { "choices", &choices } };
    (void)turn_known_fields(json, wanted, 1);
    int result = take_chunk(r, json);
    return result < 0 || r->has_failed || !choices.n ? result : finish(r);
}

const struct turn_reply_api turn_reply_openai_chat = {
    TURN_API_OPENAI_CHAT, is_mine, take_event, take_body, NULL, end,
};
