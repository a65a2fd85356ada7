/* SPDX-License-Identifier: MIT */
/*
 * gemini.c -- the stream of `gemini -p … --output-format stream-json`.
 *
 * As gemini-cli has it (packages/core/src/output/types.ts at 04fbf50 and
 * nonInteractiveCli.ts at 024891a, 2026): init, message, tool_use, tool_result, error,
 * result. What the assistant says comes in pieces only (delta), and is whole when
 * something else comes.
 */
#include "turn/tell_priv.h"

enum { SAID_MAX = 16 << 20 }; /* bytes; what is longer is told in several messages */

struct line {
    struct view type, timestamp, session, model, role, content, delta, tool_name, tool_id;
    struct view parameters, status, output, error, severity, message, stats;
};

static void
read_line(struct view object, struct line *l)
{
    const struct turn_field fields[] = {
        { "type", &l->type },          { "timestamp", &l->timestamp },
        { "session_id", &l->session }, { "model", &l->model },
        { "role", &l->role },          { "content", &l->content },
        { "delta", &l->delta },        { "tool_name", &l->tool_name },
        { "tool_id", &l->tool_id },    { "parameters", &l->parameters },
        { "status", &l->status },      { "output", &l->output },
        { "error", &l->error },        { "severity", &l->severity },
        { "message", &l->message },    { "stats", &l->stats },
    };
    (void)turn_known_fields(object, fields, sizeof(fields) / sizeof(fields[0]));
}

/* Other agents use some of these words too, but not with these fields. */
static bool
is_mine(struct view type, struct view object)
{
    struct line l = { 0 };
    read_line(object, &l);
    if (!l.timestamp.n || l.timestamp.p[0] != '"')
        return false;
    return (turn_says(type, "init") && l.session.n) ||
           (turn_says(type, "message") && l.role.n && l.content.n) ||
           (turn_says(type, "tool_use") && l.tool_id.n) ||
           (turn_says(type, "tool_result") && l.tool_id.n) ||
           (turn_says(type, "error") && l.severity.n) ||
           (turn_says(type, "result") && l.status.n);
}

/* What was said in pieces, as one. */
static int
whole(struct turn_state *s, const struct turn_sink *to)
{
    struct turn_event e = turn_event(TURN_TEXT);
    e.text = (struct view){ s->said.p, s->said.n };
    int r = s->said.n ? turn_tell(s, to, &e) : 0;
    buf_clear(&s->said);
    return r;
}

static int
piece(struct turn_state *s, const struct line *l, const struct turn_sink *to)
{
    struct turn_event e = turn_event(TURN_TEXT);
    e.is_partial = true;
    e.text = turn_text(l->content, &s->text[0]);
    int r = s->said.n + e.text.n > SAID_MAX ? whole(s, to) : 0;
    if (r < 0 || !e.text.n)
        return r;
    s->said_type = TURN_TEXT;
    r = buf_append(&s->said, e.text.p, e.text.n);
    return r < 0 ? r : turn_tell(s, to, &e);
}

static int
message(struct turn_state *s, const struct line *l, const struct turn_sink *to)
{
    struct turn_event e = turn_event(TURN_TEXT);
    e.is_user = turn_is(l->role, "user");
    e.text = turn_text(l->content, &s->text[0]);
    return turn_tell(s, to, &e);
}

static int
session(struct turn_state *s, const struct line *l, const struct turn_sink *to)
{
    struct turn_event e = turn_event(TURN_SESSION);
    e.id = turn_text(l->session, &s->text[0]);
    e.model = turn_text(l->model, &s->text[1]);
    return turn_tell(s, to, &e);
}

static int
call(struct turn_state *s, const struct line *l, const struct turn_sink *to)
{
    struct turn_event e = turn_event(TURN_TOOL_CALL);
    e.id = turn_text(l->tool_id, &s->text[0]);
    e.name = turn_text(l->tool_name, &s->text[1]);
    e.json = l->parameters;
    int r = turn_call_open(s, e.id, e.name);
    return r < 0 ? r : turn_tell(s, to, &e);
}

static struct view
why(struct turn_state *s, size_t room, struct view error)
{
    struct view text = { 0 };
    const struct turn_field fields[] = { { "message", &text } };
    (void)turn_known_fields(error, fields, 1);
    return turn_text(text, &s->text[room]);
}

static int
result(struct turn_state *s, const struct line *l, const struct turn_sink *to)
{
    struct turn_event e = turn_event(TURN_TOOL_RESULT);
    e.id = turn_text(l->tool_id, &s->text[0]);
    buf_clear(&s->text[1]);
    if (turn_call_close(s, e.id, &s->text[1]))
        e.name = (struct view){ s->text[1].p, s->text[1].n };
    e.is_error = turn_is(l->status, "error");
    e.text = turn_text(l->output, &s->text[2]);
    if (!e.text.n)
        e.text = why(s, 2, l->error);
    return turn_tell(s, to, &e);
}

static int
error(struct turn_state *s, const struct line *l, const struct turn_sink *to)
{
    bool is_warning = turn_is(l->severity, "warning");
    struct turn_event e = turn_event(is_warning ? TURN_WARNING : TURN_ERROR);
    e.text = turn_text(l->message, &s->text[0]);
    return turn_tell(s, to, &e);
}

/* "input_tokens" are those of the whole prompt, "input" those that were not cached. */
static void
read_stats(struct view stats, struct turn_event *e)
{
    struct view all = { 0 }, input = { 0 }, cached = { 0 }, output = { 0 }, ms = { 0 };
    const struct turn_field fields[] = {
        { "input_tokens", &all },     { "input", &input },    { "cached", &cached },
        { "output_tokens", &output }, { "duration_ms", &ms },
    };
    if (!turn_known_fields(stats, fields, sizeof(fields) / sizeof(fields[0])))
        return;
    struct turn_usage *u = &e->usage;
    u->cache_read_tokens = turn_tokens(cached, TURN_UNKNOWN);
    u->output_tokens = turn_tokens(output, TURN_UNKNOWN);
    u->input_tokens = turn_tokens(input, TURN_UNKNOWN);
    uint64_t prompt = turn_tokens(all, TURN_UNKNOWN);
    if (u->input_tokens == TURN_UNKNOWN && prompt != TURN_UNKNOWN)
        u->input_tokens = u->cache_read_tokens <= prompt ? prompt - u->cache_read_tokens
                                                         : prompt;
    e->duration_ms = turn_u64(ms, TURN_UNKNOWN);
}

static int
done(struct turn_state *s, const struct line *l, const struct turn_sink *to)
{
    struct turn_event e = turn_event(TURN_ERROR);
    e.text = why(s, 0, l->error);
    int r = e.text.n ? turn_tell(s, to, &e) : 0;
    if (r < 0)
        return r;
    struct turn_event u = turn_event(TURN_USAGE);
    u.is_final = true;
    e = turn_event(TURN_DONE);
    e.name = turn_text(l->status, &s->text[1]);
    e.is_error = !turn_is(l->status, "success");
    read_stats(l->stats, &e);
    u.usage = e.usage;
    if (l->stats.n)
        r = turn_tell(s, to, &u);
    return r < 0 ? r : turn_tell(s, to, &e);
}

static int
decode(struct turn_state *s, struct view object, const struct turn_sink *to,
       struct view *ret_other)
{
    struct line l = { 0 };
    read_line(object, &l);
    if (turn_is(l.type, "message") && turn_is_true(l.delta) && !turn_is(l.role, "user"))
        return piece(s, &l, to);
    int r = whole(s, to);
    if (r < 0)
        return r;
    if (turn_is(l.type, "message"))
        return message(s, &l, to);
    if (turn_is(l.type, "init"))
        return session(s, &l, to);
    if (turn_is(l.type, "tool_use"))
        return call(s, &l, to);
    if (turn_is(l.type, "tool_result"))
        return result(s, &l, to);
    if (turn_is(l.type, "error"))
        return error(s, &l, to);
    if (turn_is(l.type, "result"))
        return done(s, &l, to);
    return turn_other(s, l.type, (struct view){ 0 }, ret_other);
}

const struct turn_format turn_format_gemini = { TURN_GEMINI, is_mine, decode, false };
