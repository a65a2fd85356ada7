/* SPDX-License-Identifier: MIT */
/*
 * reply_openai_responses.c -- replies of the Responses API.
 *
 * A response has items of output, each with an index, and these have parts. Each is told
 * in pieces and then whole, or by some servers only with the end of its item; the end of
 * the stream repeats all of it, of which only the usage is news. What went into a call
 * comes with its item.
 */
#include "turn/reply_priv.h"

enum kind { CALL, SAYS, REFUSES, THINKS, SUMS_UP };

/* An event's fields, raw; and of which kind is what it tells. */
struct event {
    struct view type, index, part, summary, delta, text, arguments, input, item, response;
    enum kind kind;
};

struct item {
    struct view type, id, call, name, server, arguments, input, content, summary;
    struct view status, output, error;
};

static bool
is_mine(const struct turn_reply_mark *m)
{
    return turn_starts(m->type, "response.") || turn_is(m->object, "response") ||
           (turn_is(m->type, "error") && !m->error.n);
}

static uint32_t
item_of(struct view index)
{
    return (uint32_t)turn_u64(index, 0);
}

/* Item, kind and part in one number. */
static uint64_t
key_of(struct view index, enum kind kind, struct view part)
{
    return (uint64_t)item_of(index) << 32 | (uint64_t)kind << 24 |
           (turn_u64(part, 0) & 0xffffff);
}

static uint64_t
key_of_event(const struct event *e)
{
    const struct view none = { 0 };
    return key_of(e->index, e->kind,
                  e->kind == CALL      ? none
                  : e->kind == SUMS_UP ? e->summary
                                       : e->part);
}

static enum turn_type
type_of(enum kind kind)
{
    return kind == CALL                        ? TURN_TOOL_CALL
           : kind == THINKS || kind == SUMS_UP ? TURN_THINKING
                                               : TURN_TEXT;
}

/* -- which items have told texts: their ends repeat them -- */

static bool
forget(struct turn_reply *r, struct view index)
{
    uint32_t item = item_of(index);
    size_t i = 0;
    while (i < r->item_count && r->items[i] != item)
        i++;
    if (i == r->item_count)
        return false;
    r->item_count--;
    memmove(r->items + i, r->items + i + 1, (r->item_count - i) * sizeof(r->items[0]));
    return true;
}

static void
remember(struct turn_reply *r, struct view index)
{
    uint32_t item = item_of(index);
    for (size_t i = r->item_count; i-- > 0;)
        if (r->items[i] == item)
            return;
    if (r->item_count == TURN_REPLY_ITEMS) {
        r->item_count--;
        memmove(r->items, r->items + 1, r->item_count * sizeof(r->items[0]));
    }
    r->items[r->item_count++] = item;
}

/* -- texts, and arguments as they come -- */

static int
take_piece(struct turn_reply *r, const struct event *e)
{
    if (e->kind != CALL && e->delta.n > 2)
        remember(r, e->index);
    return turn_block_say(r, key_of_event(e), type_of(e->kind),
                          turn_text(e->delta, &r->text[0]));
}

/* A text without pieces comes with its end. */
static int
end_text(struct turn_reply *r, const struct event *e)
{
    uint64_t key = key_of_event(e);
    struct turn_block *b = turn_block_find(r, key);
    int result = 0;
    if (!b) {
        result = turn_block_say(r, key, type_of(e->kind),
                                turn_text(e->text, &r->text[0]));
        b = turn_block_find(r, key);
    }
    return result < 0 || !b ? result : turn_block_end(r, b, false);
}

static int
text_done(struct turn_reply *r, const struct event *e)
{
    if (e->text.n > 2)
        remember(r, e->index);
    return end_text(r, e);
}

/* -- calls -- */

static void
take_item(struct view object, struct item *i)
{
    *i = (struct item){ 0 };
    const struct turn_field wanted[] = {
        { "type", &i->type },       { "id", &i->id },
        { "call_id", &i->call },    { "name", &i->name },
        { "content", &i->content }, { "arguments", &i->arguments },
        { "input", &i->input },     { "summary", &i->summary },
        { "status", &i->status },   { "output", &i->output },
        { "error", &i->error },     { "server_label", &i->server },
    };
    (void)turn_known_fields(object, wanted, sizeof(wanted) / sizeof(wanted[0]));
}

/* Its arguments may come in pieces? All other calls come whole with their item. */
static bool
has_pieces(const struct item *i)
{
    return turn_is(i->type, "function_call") || turn_is(i->type, "custom_tool_call") ||
           turn_is(i->type, "mcp_call");
}

/* "function_call" has a name, a server's tool is called "server.tool"; and
 * "web_search_call" is a name. */
static int
begin_call(struct turn_reply *r, uint64_t key, const struct item *i,
           struct turn_block **ret)
{
    struct view id = turn_text(i->call.n > 2 ? i->call : i->id, &r->text[1]);
    struct buf *name = &r->text[2];
    buf_clear(name);
    if (turn_str(i->server, name))
        buf_puts(name, ".");
    (void)turn_str(i->name.n > 2 ? i->name : i->type, name);
    return turn_block_begin_call(r, key, id, turn_view_of(name), ret);
}

/* Its arguments, where no pieces of them came. */
static int
complete_call(struct turn_reply *r, struct turn_block *b, struct view arguments,
              struct view input)
{
    if (b->said.n)
        return 0;
    return turn_block_piece(r, b,
                            turn_text(arguments.n > 2 ? arguments : input, &r->text[0]));
}

static int
call_done(struct turn_reply *r, const struct event *e)
{
    struct turn_block *b = turn_block_find(r, key_of(e->index, CALL, (struct view){ 0 }));
    return b ? complete_call(r, b, e->arguments, e->input) : 0;
}

static int
item_added(struct turn_reply *r, const struct event *e)
{
    struct item i;
    uint64_t key = key_of(e->index, CALL, (struct view){ 0 });
    struct turn_block *b = turn_block_find(r, key);
    take_item(e->item, &i);
    return b || !has_pieces(&i) ? 0 : begin_call(r, key, &i, &b);
}

/* What the API has called itself has no id of a call, and what it has led to with it. */
static int
tell_result(struct turn_reply *r, const struct item *i)
{
    struct turn_event e = turn_event(TURN_TOOL_RESULT);
    e.id = turn_text(i->id, &r->text[1]);
    e.text = turn_text(i->output.n > 2 ? i->output : i->status, &r->text[0]);
    e.is_error = turn_is_there(i->error) || turn_is(i->status, "failed");
    return turn_reply_tell(r, &e);
}

/* A call is whole now, whether anything of it was told before or not. */
static int
end_call(struct turn_reply *r, struct view index, struct view object,
         const struct item *i)
{
    uint64_t key = key_of(index, CALL, (struct view){ 0 });
    struct turn_block *b = turn_block_find(r, key);
    int result = b ? 0 : begin_call(r, key, i, &b);
    if (result < 0 || !b)
        return result;
    result = has_pieces(i) ? complete_call(r, b, i->arguments, i->input)
                           : turn_block_piece(r, b, object);
    if (result >= 0)
        result = turn_block_end(r, b, false);
    return result < 0 || i->call.n || turn_is(i->type, "function_call")
               ? result
               : tell_result(r, i);
}

/* The texts of an item whose ends were not told. */
static int
end_texts(struct turn_reply *r, struct view index)
{
    uint32_t item = item_of(index);
    for (size_t i = 0; i < r->open;) {
        if (r->blocks[i].key >> 32 != item) {
            i++;
            continue;
        }
        int result = turn_block_end(r, &r->blocks[i], false);
        if (result < 0)
            return result;
    }
    return 0;
}

/* Each part as if it were told with its end. */
static int
take_parts(struct turn_reply *r, struct view index, struct view parts, enum kind kind)
{
    for (;;) {
        struct event e = { .index = index, .kind = kind };
        struct view refusal = { 0 };
        const struct turn_field wanted[] = { { "text", &e.text },
                                             { "refusal", &refusal } };
        if (!turn_known_next(&parts, wanted, 2))
            return 0;
        if (refusal.n)
            e.text = refusal;
        int result = end_text(r, &e);
        if (result < 0)
            return result;
    }
}

static int
take_texts(struct turn_reply *r, struct view index, const struct item *i)
{
    bool is_thought = turn_is(i->type, "reasoning");
    int result = is_thought ? take_parts(r, index, i->summary, SUMS_UP) : 0;
    if (result < 0)
        return result;
    return take_parts(r, index, i->content, is_thought ? THINKS : SAYS);
}

static int
item_done(struct turn_reply *r, const struct event *e)
{
    struct item i;
    take_item(e->item, &i);
    if (turn_ends_in(i.type, "_call"))
        return end_call(r, e->index, e->item, &i);
    bool was_told = forget(r, e->index);
    int result = end_texts(r, e->index);
    return result < 0 || was_told ? result : take_texts(r, e->index, &i);
}

/* -- responses -- */

struct response {
    struct view id, model, status, usage, details, error, output;
};

static int
take_response(struct turn_reply *r, struct view object, struct response *ret)
{
    struct response p = { 0 };
    const struct turn_field wanted[] = {
        { "id", &p.id },
        { "model", &p.model },
        { "status", &p.status },
        { "usage", &p.usage },
        { "incomplete_details", &p.details },
        { "error", &p.error },
        { "output", &p.output },
    };
    (void)turn_known_fields(object, wanted, sizeof(wanted) / sizeof(wanted[0]));
    int result = turn_reply_set(r, &r->id, p.id);
    if (result >= 0)
        result = turn_reply_set(r, &r->model, p.model);
    *ret = p;
    return result;
}

/* Why it has ended, what it has used, and what went wrong. */
static int
take_foot(struct turn_reply *r, const struct response *p)
{
    struct view reason = { 0 };
    const struct turn_field wanted[] = { { "reason", &reason } };
    (void)turn_known_fields(p->details, wanted, 1);
    int result = turn_reply_set(r, &r->stop, reason.n > 2 ? reason : p->status);
    if (result >= 0 && turn_is_there(p->error))
        result = turn_reply_error(r, p->error);
    if (result < 0 || !turn_is_there(p->usage))
        return result;
    struct turn_usage told = turn_reply_openai_usage(
        p->usage, "input_tokens", "output_tokens", "input_tokens_details");
    turn_take_off(&told.input_tokens, told.cache_read_tokens);
    result = turn_reply_keep_usage(r, p->usage);
    return result < 0 ? result : turn_reply_usage(r, told, true);
}

static int
begun(struct turn_reply *r, const struct event *e)
{
    struct response p;
    return take_response(r, e->response, &p);
}

static int
ended(struct turn_reply *r, const struct event *e)
{
    struct response p;
    int result = take_response(r, e->response, &p);
    if (result >= 0)
        result = turn_block_end_all(r, r->has_failed);
    if (result >= 0)
        result = take_foot(r, &p);
    return result < 0 ? result : turn_reply_whole(r);
}

static int
failed(struct turn_reply *r, const struct event *e)
{
    struct response p;
    int result = take_response(r, e->response, &p);
    r->has_failed = true;
    return result < 0 ? result : take_foot(r, &p);
}

static const struct {
    const char *type;
    int (*take)(struct turn_reply *r, const struct event *e);
    enum kind kind;
} events[] = {
    { "response.output_text.delta", take_piece, SAYS },
    { "response.function_call_arguments.delta", take_piece, CALL },
    { "response.reasoning_summary_text.delta", take_piece, SUMS_UP },
    { "response.reasoning_text.delta", take_piece, THINKS },
    { "response.refusal.delta", take_piece, REFUSES },
    { "response.custom_tool_call_input.delta", take_piece, CALL },
    { "response.mcp_call_arguments.delta", take_piece, CALL },
    { "response.output_text.done", text_done, SAYS },
    { "response.function_call_arguments.done", call_done, CALL },
    { "response.reasoning_summary_text.done", text_done, SUMS_UP },
    { "response.reasoning_text.done", text_done, THINKS },
    { "response.refusal.done", text_done, REFUSES },
    { "response.custom_tool_call_input.done", call_done, CALL },
    { "response.mcp_call_arguments.done", call_done, CALL },
    { "response.output_item.added", item_added, CALL },
    { "response.output_item.done", item_done, CALL },
    { "response.created", begun, CALL },
    { "response.completed", ended, CALL },
    { "response.incomplete", ended, CALL },
    { "response.failed", failed, CALL },
};

static int
take_event(struct turn_reply *r, struct view data)
{
    struct event e = { 0 };
    struct view error = { 0 }, refusal = { 0 };
    const struct turn_field wanted[] = {
        { "type", &e.type },           { "output_index", &e.index },
        { "content_index", &e.part },  { "summary_index", &e.summary },
        { "delta", &e.delta },         { "text", &e.text },
        { "arguments", &e.arguments }, { "input", &e.input },
        { "item", &e.item },           { "response", &e.response },
        { "error", &error },           { "refusal", &refusal },
    };
    if (!turn_fields(data, wanted, sizeof(wanted) / sizeof(wanted[0])))
        return turn_reply_malformed(r, data);
    if (refusal.n)
        e.text = refusal;
    if (turn_is(e.type, "error"))
        return turn_reply_error(r, turn_is_there(error) ? error : data);
    for (size_t i = 0; i < sizeof(events) / sizeof(events[0]); i++) {
        e.kind = events[i].kind;
        if (turn_is(e.type, events[i].type))
            return events[i].take(r, &e);
    }
    return turn_is_there(error) ? turn_reply_error(r, error) : 0; /* of a gateway */
}

/* -- replies in one piece -- */

static int
take_output(struct turn_reply *r, struct view object)
{
    struct item i;
    take_item(object, &i);
    if (turn_ends_in(i.type, "_call"))
        return end_call(r, (struct view){ 0 }, object, &i);
    return take_texts(r, (struct view){ 0 }, &i);
}

static int
take_body(struct turn_reply *r, struct view json)
{
    struct response p;
    struct view one, type = { 0 }, object = { 0 };
    const struct turn_field wanted[] = { { "type", &type }, { "object", &object } };
    (void)turn_known_fields(json, wanted, 2);
    if (turn_is(type, "error"))
        return turn_reply_error(r, json);
    int result = take_response(r, json, &p);
    while (result >= 0 && turn_next(&p.output, &one))
        result = take_output(r, one);
    if (result >= 0)
        result = take_foot(r, &p);
    r->has_failed |= turn_is(p.status, "failed");
    bool is_response = turn_is(object, "response") && !r->has_failed;
    return result < 0 || !is_response ? result : turn_reply_whole(r);
}

const struct turn_reply_api turn_reply_openai_responses = {
    TURN_API_OPENAI_RESPONSES, is_mine, take_event, take_body, NULL, NULL,
};
