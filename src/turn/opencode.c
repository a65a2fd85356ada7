/* SPDX-License-Identifier: MIT */
/*
 * opencode.c -- the stream of `opencode run --format json`.
 *
 * As opencode 1.x has it (packages/opencode/src/cli/cmd/run.ts, 2026, in public copies of
 * its repository): {"type","timestamp","sessionID","part":{…}} for step_start, text,
 * reasoning, tool_use and step_finish, and "error" in place of "part" for error. Parts
 * come when they are complete; a call of a tool comes with its result.
 */
#include <limits.h>
#include <string.h>

#include "base/num.h"
#include "turn/tell_priv.h"

struct line {
    struct view type, session, part, error;
    /* of the part */
    struct view id, message, text, tool, call, state, reason, cost, tokens;
};

static void
read_line(struct view object, struct line *l)
{
    const struct turn_field fields[] = {
        { "type", &l->type },
        { "sessionID", &l->session },
        { "part", &l->part },
        { "error", &l->error },
    };
    const struct turn_field of_part[] = {
        { "id", &l->id },         { "messageID", &l->message }, { "text", &l->text },
        { "tool", &l->tool },     { "callID", &l->call },       { "state", &l->state },
        { "reason", &l->reason }, { "cost", &l->cost },         { "tokens", &l->tokens },
    };
    (void)turn_known_fields(object, fields, sizeof(fields) / sizeof(fields[0]));
    (void)turn_known_fields(l->part, of_part, sizeof(of_part) / sizeof(of_part[0]));
}

static bool
is_mine(struct view type, struct view object)
{
    struct line l = { 0 };
    read_line(object, &l);
    if (!l.session.n)
        return false;
    return turn_says(type, "error")
               ? l.error.n > 0
               : l.part.n > 0 &&
                     (turn_says(type, "step_start") || turn_says(type, "text") ||
                      turn_says(type, "reasoning") || turn_says(type, "tool_use") ||
                      turn_says(type, "step_finish"));
}

/* Each line tells the session; it counts when it is another. */
static int
session(struct turn_state *s, const struct line *l, const struct turn_sink *to)
{
    struct turn_event e = turn_event(TURN_SESSION);
    e.id = turn_text(l->session, &s->text[0]);
    struct buf *last = &s->session;
    if (!e.id.n || (last->n == e.id.n && !memcmp(last->p, e.id.p, last->n)))
        return 0;
    buf_clear(last);
    int r = buf_append(last, e.id.p, e.id.n);
    return r < 0 ? r : turn_tell(s, to, &e);
}

static int
say(struct turn_state *s, enum turn_type type, const struct line *l,
    const struct turn_sink *to)
{
    struct turn_event e = turn_event(type);
    e.id = turn_text(l->message.n ? l->message : l->id, &s->text[0]);
    e.text = turn_text(l->text, &s->text[1]);
    return turn_tell(s, to, &e);
}

static int
exit_code_of(struct view metadata)
{
    struct view code = { 0 };
    const struct turn_field fields[] = { { "exit", &code } };
    (void)turn_known_fields(metadata, fields, 1);
    uint64_t n = turn_u64(code, TURN_UNKNOWN);
    return n <= INT_MAX ? (int)n : -1;
}

static int
tool(struct turn_state *s, const struct line *l, const struct turn_sink *to)
{
    struct view status = { 0 }, input = { 0 }, output = { 0 }, error = { 0 };
    struct view metadata = { 0 };
    const struct turn_field fields[] = {
        { "status", &status }, { "input", &input },       { "output", &output },
        { "error", &error },   { "metadata", &metadata },
    };
    (void)turn_known_fields(l->state, fields, sizeof(fields) / sizeof(fields[0]));
    struct turn_event e = turn_event(TURN_TOOL_CALL);
    e.id = turn_text(l->call.n ? l->call : l->id, &s->text[0]);
    e.name = turn_text(l->tool, &s->text[1]);
    e.message = turn_text(l->message, &s->text[3]);
    e.json = input;
    int r = turn_call_close(s, e.id, NULL) ? 0 : turn_tell(s, to, &e);
    if (r < 0)
        return r;
    if (!turn_is(status, "completed") && !turn_is(status, "error"))
        return turn_call_open(s, e.id, e.name);
    e.type = TURN_TOOL_RESULT;
    e.message = e.json = (struct view){ 0 };
    e.exit_code = exit_code_of(metadata);
    e.is_error = turn_is(status, "error") || e.exit_code > 0;
    e.text = turn_text(turn_is(status, "error") ? error : output, &s->text[2]);
    return turn_tell(s, to, &e);
}

/* -- the end of a step -- */

/* Dollars to millionths of them, without the digits behind; what JavaScript writes with
 * an exponent is less than one. */
static uint64_t
microusd(struct view cost)
{
    uint64_t v = 0;
    size_t decimals = 0, i = 0;
    bool has_point = false;
    for (; i < cost.n && decimals < 6; i++) {
        if (cost.p[i] == '.' && !has_point) {
            has_point = true;
            continue;
        }
        if (cost.p[i] < '0' || cost.p[i] > '9' || v > UINT64_MAX / 100)
            return 0;
        v = v * 10 + (uint64_t)(cost.p[i] - '0');
        decimals += has_point;
    }
    for (; i < cost.n; i++)
        if (cost.p[i] < '0' || cost.p[i] > '9')
            return 0;
    for (; decimals < 6; decimals++)
        v = v > UINT64_MAX / 100 ? 0 : v * 10;
    return v;
}

static struct turn_usage
usage_of(struct view tokens)
{
    struct view input = { 0 }, output = { 0 }, thoughts = { 0 }, cache = { 0 },
                read = { 0 }, write = { 0 };
    const struct turn_field fields[] = { { "input", &input },
                                         { "output", &output },
                                         { "reasoning", &thoughts },
                                         { "cache", &cache } };
    const struct turn_field of_cache[] = { { "read", &read }, { "write", &write } };
    (void)turn_known_fields(tokens, fields, 4);
    (void)turn_known_fields(cache, of_cache, 2);
    uint64_t said = turn_tokens(output, TURN_UNKNOWN);
    return (struct turn_usage){
        .input_tokens = turn_tokens(input, TURN_UNKNOWN),
        /* What it thought is beside what it said, and costs the same. */
        .output_tokens = said == TURN_UNKNOWN
                             ? said
                             : num_plus_u64(said, turn_tokens(thoughts, 0),
                                            NUM_EXACT_MAX),
        .cache_creation_tokens = turn_tokens(write, TURN_UNKNOWN),
        .cache_read_tokens = turn_tokens(read, TURN_UNKNOWN),
    };
}

/* After these the agent goes on. */
static bool
goes_on(struct view reason)
{
    return !reason.n || turn_is(reason, "tool-calls") || turn_is(reason, "unknown");
}

static int
step_finish(struct turn_state *s, const struct line *l, const struct turn_sink *to)
{
    struct turn_event e = turn_event(TURN_USAGE);
    e.is_final = true;
    e.id = turn_text(l->message, &s->text[0]);
    e.usage = usage_of(l->tokens);
    s->turns++;
    s->cost_microusd += microusd(l->cost);
    int r = turn_tell(s, to, &e);
    if (r < 0 || goes_on(l->reason))
        return r;
    e = turn_event(TURN_DONE);
    bool is_well = turn_is(l->reason, "stop");
    e.name = is_well ? (struct view){ (const uint8_t *)"success", 7 }
                     : turn_text(l->reason, &s->text[1]);
    e.is_error = !is_well;
    e.turns = s->turns;
    e.cost_microusd = s->cost_microusd;
    s->turns = s->cost_microusd = 0;
    return turn_tell(s, to, &e);
}

static int
error(struct turn_state *s, const struct line *l, const struct turn_sink *to)
{
    struct view name = { 0 }, data = { 0 }, message = { 0 };
    const struct turn_field fields[] = { { "name", &name }, { "data", &data } };
    const struct turn_field of_data[] = { { "message", &message } };
    (void)turn_known_fields(l->error, fields, 2);
    (void)turn_known_fields(data, of_data, 1);
    struct turn_event e = turn_event(TURN_ERROR);
    e.text = turn_text(message.n ? message : name, &s->text[0]);
    return turn_tell(s, to, &e);
}

static int
decode(struct turn_state *s, struct view object, const struct turn_sink *to,
       struct view *ret_other)
{
    struct line l = { 0 };
    read_line(object, &l);
    int r = session(s, &l, to);
    if (r < 0 || turn_is(l.type, "step_start"))
        return r;
    if (turn_is(l.type, "text"))
        return say(s, TURN_TEXT, &l, to);
    if (turn_is(l.type, "reasoning"))
        return say(s, TURN_THINKING, &l, to);
    if (turn_is(l.type, "tool_use"))
        return tool(s, &l, to);
    if (turn_is(l.type, "step_finish"))
        return step_finish(s, &l, to);
    if (turn_is(l.type, "error"))
        return error(s, &l, to);
    return turn_other(s, l.type, (struct view){ 0 }, ret_other);
}

const struct turn_format turn_format_opencode = { TURN_OPENCODE, is_mine, decode, false };
