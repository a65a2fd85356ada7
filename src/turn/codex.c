/* SPDX-License-Identifier: MIT */
/*
 * codex.c -- the stream of `codex exec --json`.
 *
 * As codex-rs/exec/src/exec_events.rs has it (08a1f30, 2026; and a stream of it in the
 * fixtures): a thread has turns, a turn has items, and an item is started, updated and
 * completed. Lines of the older form, {"id","msg":{"type":…}}, are kept as they are.
 */
#include "turn/codex_priv.h"

#include <limits.h>
#include <string.h>

#include "base/json.h"
#include "turn/tell_priv.h"

/* What of an item counts, raw. */
struct item {
    struct view id, type, text, message, command, output, exit_code, status, changes;
    struct view server, tool, arguments, result, error, query, items;
};

enum phase { STARTED, UPDATED, COMPLETED };

enum { THREAD_MAX = 256 }; /* bytes of the name of one */

static bool
starts(struct view text, const char *with)
{
    size_t n = strlen(with);
    return text.n > n && !memcmp(text.p, with, n);
}

static bool
is_mine(struct view type, struct view object)
{
    (void)object;
    return starts(type, "thread.") || starts(type, "turn.") || starts(type, "item.");
}

/* -- calls of tools -- */

static struct view
one_argument(struct turn_state *s, const char *key, struct view value)
{
    struct buf *b = &s->text[2];
    struct json j = { .out = b };
    buf_clear(b);
    json_open(&j, '{');
    json_key(&j, key);
    if (value.n)
        json_raw(&j, value);
    else
        json_none(&j);
    json_close(&j, '}');
    return (struct view){ b->p, b->n };
}

/* Its name in s->text[1], its arguments in s->text[2]. */
static void
describe_call(struct turn_state *s, const struct item *i, struct turn_event *e)
{
    struct buf *name = &s->text[1];
    buf_clear(name);
    if (turn_is(i->type, "mcp_tool_call")) {
        (void)turn_str(i->server, name);
        (void)buf_puts(name, ".");
        (void)turn_str(i->tool, name);
        e->json = i->arguments;
    } else if (turn_is(i->type, "file_change")) {
        (void)buf_puts(name, "apply_patch");
        e->json = one_argument(s, "changes", i->changes);
    } else {
        (void)turn_str(i->type, name);
        e->json = turn_is(i->type, "web_search") ? one_argument(s, "query", i->query)
                  : turn_is(i->type, "todo_list")
                      ? one_argument(s, "items", i->items)
                      : one_argument(s, "command", i->command);
    }
    e->name = (struct view){ name->p, name->n };
}

/* The texts of what an MCP server replied, or why it did not. */
static void
mcp_reply(const struct item *i, struct buf *out)
{
    struct view message = { 0 }, content = { 0 }, block;
    const struct turn_field error[] = { { "message", &message } };
    const struct turn_field result[] = { { "content", &content } };
    if (turn_known_fields(i->error, error, 1))
        (void)turn_str(message, out);
    (void)turn_known_fields(i->result, result, 1);
    while (turn_next(&content, &block)) {
        struct view text = { 0 };
        const struct turn_field wanted[] = { { "text", &text } };
        if (out->n)
            (void)buf_puts(out, "\n");
        if (!turn_known_fields(block, wanted, 1) || !turn_str(text, out))
            (void)buf_append(out, block.p, block.n);
    }
}

static void
list_of_todos(struct view items, struct buf *out)
{
    struct view one;
    while (turn_next(&items, &one)) {
        struct view text = { 0 }, completed = { 0 };
        const struct turn_field wanted[] = { { "text", &text },
                                             { "completed", &completed } };
        (void)turn_known_fields(one, wanted, 2);
        (void)buf_puts(out, out->n ? "\n" : "");
        (void)buf_puts(out, turn_is_true(completed) ? "[x] " : "[ ] ");
        (void)turn_str(text, out);
    }
}

static void
describe_result(struct turn_state *s, const struct item *i, struct turn_event *e)
{
    struct buf *out = &s->text[2];
    buf_clear(out);
    uint64_t code = turn_u64(i->exit_code, TURN_UNKNOWN);
    if (code <= INT_MAX)
        e->exit_code = (int)code;
    e->is_error = turn_is(i->status, "failed") || turn_is(i->status, "declined") ||
                  e->exit_code > 0;
    if (turn_is(i->type, "mcp_tool_call"))
        mcp_reply(i, out);
    else if (turn_is(i->type, "todo_list"))
        list_of_todos(i->items, out);
    else if (turn_is(i->type, "command_execution"))
        (void)turn_str(i->output, out);
    else
        (void)turn_str(i->status, out);
    e->text = (struct view){ out->p, out->n };
}

static int
tell_call(struct turn_state *s, const struct item *i, struct view id,
          const struct turn_sink *to)
{
    struct turn_event e = turn_event(TURN_TOOL_CALL);
    e.id = id;
    describe_call(s, i, &e);
    return turn_tell(s, to, &e);
}

/* An item that ends without a start (a patch always does) tells both. */
static int
tool(struct turn_state *s, const struct item *i, enum phase phase,
     const struct turn_sink *to)
{
    struct view id = turn_text(i->id, &s->text[0]);
    bool was_open = turn_call_close(s, id, NULL);
    int r = 0;
    if (phase != COMPLETED) {
        r = turn_call_open(s, id, (struct view){ 0 });
        return r < 0 ? r : tell_call(s, i, id, to);
    }
    if (!was_open)
        r = tell_call(s, i, id, to);
    if (r < 0)
        return r;
    struct turn_event call = turn_event(TURN_TOOL_CALL);
    struct turn_event e = turn_event(TURN_TOOL_RESULT);
    describe_call(s, i, &call);
    e.id = id;
    e.name = call.name;
    describe_result(s, i, &e);
    return turn_tell(s, to, &e);
}

/* -- items -- */

enum kind { OTHER, SAYS, THINKS, FAILS, CALLS, PLANS };

static enum kind
kind_of(const struct item *i)
{
    static const struct {
        const char *type;
        enum kind kind;
    } kinds[] = {
        { "agent_message", SAYS },      { "plan", SAYS },
        { "reasoning", THINKS },        { "error", FAILS },
        { "command_execution", CALLS }, { "file_change", CALLS },
        { "mcp_tool_call", CALLS },     { "web_search", CALLS },
        { "todo_list", PLANS },
    };
    for (size_t n = 0; n < sizeof(kinds) / sizeof(kinds[0]); n++)
        if (turn_is(i->type, kinds[n].type))
            return kinds[n].kind;
    return OTHER;
}

static int
say(struct turn_state *s, enum turn_type type, const struct item *i,
    const struct turn_sink *to)
{
    struct turn_event e = turn_event(type);
    if (type != TURN_ERROR)
        e.id = turn_text(i->id, &s->text[0]);
    e.text = turn_text(type == TURN_ERROR ? i->message : i->text, &s->text[1]);
    return turn_tell(s, to, &e);
}

static int
item(struct turn_state *s, struct view object, enum phase phase, struct view type,
     const struct turn_sink *to, struct view *ret_other)
{
    struct item i = { 0 };
    const struct turn_field fields[] = {
        { "id", &i.id },
        { "type", &i.type },
        { "text", &i.text },
        { "message", &i.message },
        { "command", &i.command },
        { "aggregated_output", &i.output },
        { "exit_code", &i.exit_code },
        { "status", &i.status },
        { "changes", &i.changes },
        { "server", &i.server },
        { "tool", &i.tool },
        { "arguments", &i.arguments },
        { "result", &i.result },
        { "error", &i.error },
        { "query", &i.query },
        { "items", &i.items },
    };
    (void)turn_known_fields(object, fields, sizeof(fields) / sizeof(fields[0]));
    /* A search may learn what it searches for only when it is done. */
    bool is_late = turn_is(i.type, "web_search") && phase != COMPLETED;
    enum kind kind = is_late ? OTHER : kind_of(&i);
    if (kind == PLANS || (kind == CALLS && phase != UPDATED))
        return tool(s, &i, phase, to);
    if (phase == COMPLETED && kind == SAYS)
        return say(s, TURN_TEXT, &i, to);
    if (phase == COMPLETED && kind == THINKS)
        return say(s, TURN_THINKING, &i, to);
    if (phase == COMPLETED && kind == FAILS)
        return say(s, TURN_ERROR, &i, to);
    return turn_other(s, type, i.type, ret_other);
}

/* -- turns --
 *
 * A turn ends with what its thread has used since it was begun, in whatever process: what
 * is news is what that has grown by. The first one may be that of a thread that goes on;
 * who knows what it had used before takes that off (turn/ledger.h). What a turn that
 * failed has used comes with the next.
 */

struct turn_usage
codex_usage(struct view object)
{
    struct view input = { 0 }, cached = { 0 }, written = { 0 }, output = { 0 };
    const struct turn_field fields[] = {
        { "input_tokens", &input },
        { "cached_input_tokens", &cached },
        { "cache_write_input_tokens", &written },
        { "output_tokens", &output },
    };
    struct turn_usage u = TURN_NO_USAGE;
    if (!turn_known_fields(object, fields, 4))
        return u;
    u.input_tokens = turn_tokens(input, TURN_UNKNOWN);
    u.cache_read_tokens = turn_tokens(cached, TURN_UNKNOWN);
    u.cache_creation_tokens = turn_tokens(written, TURN_UNKNOWN);
    u.output_tokens = turn_tokens(output, TURN_UNKNOWN);
    turn_take_off(&u.input_tokens, u.cache_read_tokens);
    turn_take_off(&u.input_tokens, u.cache_creation_tokens);
    return u;
}

/* Where it has shrunk, another sum has begun. */
static struct turn_usage
grown_by(struct turn_state *s, struct turn_usage all)
{
    struct turn_usage grown = all;
    bool has_shrunk = false;
    for (size_t i = 0; i < TURN_USAGE_FIELDS; i++)
        has_shrunk |= *turn_usage_field(&all, i) < *turn_usage_field(&s->all, i);
    for (size_t i = 0; !has_shrunk && i < TURN_USAGE_FIELDS; i++)
        if (*turn_usage_field(&all, i) != TURN_UNKNOWN)
            *turn_usage_field(&grown, i) -= *turn_usage_field(&s->all, i);
    for (size_t i = 0; i < TURN_USAGE_FIELDS; i++)
        if (*turn_usage_field(&all, i) != TURN_UNKNOWN)
            *turn_usage_field(&s->all, i) = *turn_usage_field(&all, i);
    return grown;
}

static int
completed(struct turn_state *s, struct view usage, const struct turn_sink *to)
{
    struct turn_event e = turn_event(TURN_USAGE);
    struct turn_usage all = codex_usage(usage);
    e.is_final = true;
    e.usage = grown_by(s, all);
    int r = turn_tell(s, to, &e);
    if (r < 0)
        return r;
    e.type = TURN_DONE;
    e.is_final = false;
    e.id = (struct view){ s->sums.p, s->sums.n };
    e.total = e.id.n ? all : TURN_NO_USAGE;
    e.name = (struct view){ (const uint8_t *)"success", 7 };
    e.turns = s->turns ? s->turns : 1;
    return turn_tell(s, to, &e);
}

/* Why a turn failed is told as an error of its own before: once is enough. */
static int
fail(struct turn_state *s, struct view message, const struct turn_sink *to)
{
    struct turn_event e = turn_event(TURN_ERROR);
    e.text = turn_text(message, &s->text[1]);
    struct buf *last = &s->message;
    if (last->n && last->n == e.text.n && !memcmp(last->p, e.text.p, last->n))
        return 0;
    buf_clear(last);
    int r = buf_append(last, e.text.p, e.text.n);
    return r < 0 ? r : turn_tell(s, to, &e);
}

static int
failed(struct turn_state *s, struct view error, const struct turn_sink *to)
{
    struct view message = { 0 };
    const struct turn_field fields[] = { { "message", &message } };
    (void)turn_known_fields(error, fields, 1);
    int r = fail(s, message, to);
    if (r < 0)
        return r;
    struct turn_event e = turn_event(TURN_DONE);
    e.name = (struct view){ (const uint8_t *)"error", 5 };
    e.is_error = true;
    e.turns = s->turns ? s->turns : 1;
    return turn_tell(s, to, &e);
}

static int
session(struct turn_state *s, struct view id, const struct turn_sink *to)
{
    struct turn_event e = turn_event(TURN_SESSION);
    struct buf *thread = &s->sums;
    e.id = turn_text(id, &s->text[0]);
    struct view name = { e.id.p, e.id.n <= THREAD_MAX ? e.id.n : 0 };
    if (name.n != thread->n || (name.n && memcmp(name.p, thread->p, name.n) != 0)) {
        s->all = (struct turn_usage){ 0 };
        buf_clear(thread);
        int r = buf_append(thread, name.p, name.n);
        if (r < 0)
            return r;
    }
    return turn_tell(s, to, &e);
}

static int
decode(struct turn_state *s, struct view object, const struct turn_sink *to,
       struct view *ret_other)
{
    struct view type = { 0 }, thread = { 0 }, its_item = { 0 }, usage = { 0 };
    struct view error = { 0 }, message = { 0 };
    const struct turn_field fields[] = {
        { "type", &type },   { "thread_id", &thread }, { "item", &its_item },
        { "usage", &usage }, { "error", &error },      { "message", &message },
    };
    (void)turn_known_fields(object, fields, sizeof(fields) / sizeof(fields[0]));
    if (turn_is(type, "item.completed"))
        return item(s, its_item, COMPLETED, type, to, ret_other);
    if (turn_is(type, "item.started"))
        return item(s, its_item, STARTED, type, to, ret_other);
    if (turn_is(type, "item.updated"))
        return item(s, its_item, UPDATED, type, to, ret_other);
    if (turn_is(type, "thread.started"))
        return session(s, thread, to);
    if (turn_is(type, "turn.completed"))
        return completed(s, usage, to);
    if (turn_is(type, "turn.failed"))
        return failed(s, error, to);
    if (turn_is(type, "error"))
        return fail(s, message, to);
    if (!turn_is(type, "turn.started"))
        return turn_other(s, type, (struct view){ 0 }, ret_other);
    s->turns++;
    buf_clear(&s->message);
    return 0;
}

const struct turn_format turn_format_codex = { TURN_CODEX, is_mine, decode, true };
