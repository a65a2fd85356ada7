/* SPDX-License-Identifier: MIT */
/*
 * history_codex_calls.c -- Codex's rollouts: calls of tools, their results, and the items
 * of events.
 *
 * A command's result is the event's, where it comes first: it has the exit code.
 */
#include <limits.h>
#include <string.h>

#include "base/json.h"
#include "base/json_in.h"
#include "base/num.h"
#include "turn/history_codex_priv.h"
#include "turn/tell_priv.h"

/* Of results, by the call's id: told by the event, or by the other; the event has told no
 * more than that it failed. */
enum { RESULT_OF_EVENT = 0, RESULT_OF_MODEL = 1, RESULT_FAILED = 4 };

static int
tell_call(struct turn_history *h, struct view id, struct view name, struct view json)
{
    struct turn_event e = turn_event(TURN_TOOL_CALL);
    e.id = id;
    e.name = name;
    e.json = json;
    int r = turn_call_open(&h->s, id, name);
    return r < 0 ? r : history_tell(h, &e);
}

/* Of a string that holds JSON that; any other (a patch) is JSON as it is. */
static struct view
json_of(struct view raw, struct buf *out)
{
    struct view text = turn_text(raw, out);
    return text.n && json_in_is_one(text) ? text : raw;
}

int
codex_call(struct turn_history *h, struct view payload)
{
    struct view id = { 0 }, name = { 0 }, arguments = { 0 }, input = { 0 },
                action = { 0 };
    const struct turn_field wanted[] = {
        { "call_id", &id },  { "name", &name },     { "arguments", &arguments },
        { "input", &input }, { "action", &action },
    };
    (void)turn_known_fields(payload, wanted, 5);
    struct view json = arguments.n ? arguments : input;
    json = action.n ? action : json_of(json, &h->s.text[2]);
    struct view named = turn_text(name, &h->s.text[1]);
    if (!named.n)
        named = (struct view){ (const uint8_t *)"local_shell", 11 };
    return tell_call(h, turn_text(id, &h->s.text[0]), named, json);
}

/* "Process exited with code 2", or "Exit code: 2", in the lines above "Output:". */
static int
exit_code_in(struct view text)
{
    static const char *const says[] = { "Process exited with code ", "Exit code: " };
    enum { LINES = 8 };
    for (int line = 0; line < LINES && text.n; line++) {
        const uint8_t *end = memchr(text.p, '\n', text.n);
        size_t n = end ? (size_t)(end - text.p) : text.n;
        for (size_t i = 0; i < sizeof(says) / sizeof(says[0]); i++) {
            size_t from = strlen(says[i]);
            uint64_t code;
            if (n > from && !memcmp(text.p, says[i], from) &&
                !num_parse((struct view){ text.p + from, n - from }, INT_MAX, &code))
                return (int)code;
        }
        if (turn_says((struct view){ text.p, n }, "Output:"))
            break;
        n += end != NULL;
        text = (struct view){ text.p + n, text.n - n };
    }
    return -1;
}

/* {"output":"…","metadata":{"exit_code":2}}, as a text; out becomes the output alone. */
static int
exit_code_beside(struct turn_history *h, struct buf *out)
{
    struct view output = { 0 }, metadata = { 0 }, code = { 0 };
    struct view text = { out->p, out->n };
    const struct turn_field wanted[] = { { "output", &output },
                                         { "metadata", &metadata } };
    const struct turn_field of_metadata[] = { { "exit_code", &code } };
    if (!text.n || text.p[0] != '{' || !turn_fields(text, wanted, 2) ||
        !turn_known_fields(metadata, of_metadata, 1) || !output.n)
        return -1;
    uint64_t v = turn_u64(code, TURN_UNKNOWN);
    struct view inner = turn_text(output, &h->scratch);
    if (output.p[0] != '"')
        return -1;
    memmove(out->p, inner.p, inner.n); /* it is shorter */
    out->n = inner.n;
    return v <= INT_MAX ? (int)v : -1;
}

/* An output is a text, parts of one, or {"content":…,"success":…}. */
static int
output_text(struct view output, struct buf *out, bool *ret_failed)
{
    struct view content = { 0 }, success = { 0 };
    const struct turn_field wanted[] = { { "content", &content },
                                         { "success", &success } };
    *ret_failed = false;
    if (output.n && output.p[0] == '{') {
        (void)turn_known_fields(output, wanted, 2);
        *ret_failed = success.n == 5 && !memcmp(success.p, "false", 5);
        output = content;
    }
    return codex_join_texts(output, false, out);
}

int
codex_result(struct turn_history *h, struct view payload)
{
    struct view id = { 0 }, output = { 0 };
    const struct turn_field wanted[] = { { "call_id", &id }, { "output", &output } };
    struct turn_event e = turn_event(TURN_TOOL_RESULT);
    struct buf *out = &h->s.text[2];
    (void)turn_known_fields(payload, wanted, 2);
    e.id = turn_text(id, &h->s.text[0]);
    buf_clear(&h->s.text[1]);
    bool is_open = turn_call_close(&h->s, e.id, &h->s.text[1]);
    if (!is_open && history_take_back(h, history_hash(RESULT_OF_EVENT, e.id)))
        return 0;
    int r = history_remember(h, history_hash(RESULT_OF_MODEL, e.id));
    if (!r)
        r = output_text(output, out, &e.is_error);
    if (r < 0)
        return r;
    e.exit_code = exit_code_beside(h, out);
    e.name = (struct view){ h->s.text[1].p, h->s.text[1].n };
    e.text = (struct view){ out->p, out->n };
    if (e.exit_code < 0)
        e.exit_code = exit_code_in(e.text);
    e.is_error |= e.exit_code > 0;
    e.is_error |= history_take_back(h, history_hash(RESULT_FAILED, e.id));
    return history_tell(h, &e);
}

/* -- events: what the user saw -- */

struct item {
    struct view type, id, content, text, command, output, exit_code, status, changes;
    struct view tool, arguments, result, error, summary, raw, out, err;
};

static struct view
command_json(struct turn_history *h, struct view command)
{
    struct buf *b = &h->s.text[2];
    struct json j = { .out = b };
    buf_clear(b);
    json_open(&j, '{');
    json_key(&j, "command"), json_raw(&j, command);
    json_close(&j, '}');
    return (struct view){ b->p, b->n };
}

/* A call that only the event tells of. */
static int
tell_item_call(struct turn_history *h, const struct item *i, struct view id)
{
    struct view name = turn_text(i->tool.n ? i->tool : i->type, &h->s.text[1]);
    struct view json = i->arguments.n ? i->arguments : i->changes;
    if (turn_is(i->type, "CommandExecution") && i->command.n)
        json = command_json(h, i->command);
    return tell_call(h, id, name, json);
}

static int
open_item(struct turn_history *h, const struct item *i, struct view id)
{
    int r = tell_item_call(h, i, id);
    buf_clear(&h->s.text[3]);
    if (!r)
        (void)turn_call_close(&h->s, id, &h->s.text[3]);
    return r;
}

static bool
has_failed(const struct item *i)
{
    return turn_is(i->status, "failed") || turn_is(i->status, "declined");
}

/* What came out of it; false: the event does not say. */
static bool
item_text(struct turn_history *h, const struct item *i, struct view *ret)
{
    bool failed = has_failed(i);
    const struct view *said[] = { &i->error, &i->output, failed ? &i->err : &i->out,
                                  failed ? &i->out : &i->err };
    for (size_t at = 0; at < sizeof(said) / sizeof(said[0]); at++) {
        *ret = turn_text(*said[at], &h->s.text[2]);
        if (ret->n)
            return true;
    }
    if (turn_is_there(i->result))
        *ret = i->result;
    return ret->n || (i->output.n && i->output.p[0] == '"');
}

/* The call goes on being open, and what the model is told will be its result. */
static int
await_output(struct turn_history *h, const struct item *i, struct view id,
             struct view name)
{
    int r = turn_call_open(&h->s, id, name);
    if (!r && has_failed(i))
        r = history_remember(h, history_hash(RESULT_FAILED, id));
    return r;
}

static int
tool_item(struct turn_history *h, const struct item *i)
{
    struct turn_event e = turn_event(TURN_TOOL_RESULT);
    struct view id = turn_text(i->id, &h->s.text[0]), text;
    buf_clear(&h->s.text[3]);
    bool is_open = turn_call_close(&h->s, id, &h->s.text[3]);
    if (!is_open && history_take_back(h, history_hash(RESULT_OF_MODEL, id)))
        return 0;
    int r = is_open ? 0 : open_item(h, i, id);
    uint64_t code = turn_u64(i->exit_code, TURN_UNKNOWN);
    struct view name = { h->s.text[3].p, h->s.text[3].n };
    bool has_text = item_text(h, i, &text);
    if (is_open && !has_text && code == TURN_UNKNOWN)
        return await_output(h, i, id, name);
    if (!r)
        r = history_remember(h, history_hash(RESULT_OF_EVENT, id));
    if (r < 0)
        return r;
    e.id = id;
    e.name = name;
    e.exit_code = code <= INT_MAX ? (int)code : -1;
    e.is_error = has_failed(i) || e.exit_code > 0;
    e.text = has_text ? text : turn_text(i->status, &h->s.text[2]);
    return history_tell(h, &e);
}

int
codex_item(struct turn_history *h, const struct codex_line *l, struct view object)
{
    struct item i = { 0 };
    const struct turn_field wanted[] = {
        { "type", &i.type },           { "id", &i.id },
        { "content", &i.content },     { "text", &i.text },
        { "command", &i.command },     { "aggregated_output", &i.output },
        { "exit_code", &i.exit_code }, { "status", &i.status },
        { "changes", &i.changes },     { "tool", &i.tool },
        { "arguments", &i.arguments }, { "result", &i.result },
        { "error", &i.error },         { "summary_text", &i.summary },
        { "stdout", &i.out },          { "stderr", &i.err },
        { "raw_content", &i.raw },
    };
    static const char *const tools[] = { "CommandExecution", "FileChange", "McpToolCall",
                                         NULL };
    (void)turn_known_fields(object, wanted, sizeof(wanted) / sizeof(wanted[0]));
    bool is_user = turn_is(i.type, "UserMessage");
    if (codex_is_word(i.type, tools))
        return tool_item(h, &i);
    if (turn_is(i.type, "Reasoning")) {
        int thought = codex_think(h, i.summary, i.id, FROM_EVENTS);
        return thought < 0 ? thought : codex_think(h, i.raw, i.id, FROM_EVENTS);
    }
    struct buf *out = &h->s.text[0];
    int r = codex_join_texts(i.content.n ? i.content : i.text, false, out);
    struct view text = { out->p, out->n };
    if (r < 0)
        return r;
    if (is_user || turn_is(i.type, "AgentMessage"))
        return codex_tell_text(h, TURN_TEXT, is_user, text, i.id, FROM_EVENTS);
    return history_other(h, l->kind, i.type, l->object);
}
