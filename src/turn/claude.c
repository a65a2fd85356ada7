/* SPDX-License-Identifier: MIT */
/*
 * claude.c -- Claude Code's `--output-format stream-json`: its kinds of lines.
 *
 * "result" repeats the last message: its text is told only if nothing was said.
 */
#include "turn/claude_priv.h"

#include "base/json_in.h"
#include "base/num.h"

/* A line's fields, raw. */
struct fields {
    struct view type, subtype, message, event, parent, session, model, cwd, is_replay;
    struct view is_error, duration, turns, cost, usage, result, errors;
    struct view attempt, retries, delay, status, error, models;
};

static void
take_fields(struct view object, struct fields *f)
{
    *f = (struct fields){ 0 };
    const struct turn_field wanted[] = {
        { "type", &f->type },
        { "subtype", &f->subtype },
        { "message", &f->message },
        { "event", &f->event },
        { "parent_tool_use_id", &f->parent },
        { "session_id", &f->session },
        { "model", &f->model },
        { "cwd", &f->cwd },
        { "isReplay", &f->is_replay },
        { "is_error", &f->is_error },
        { "duration_ms", &f->duration },
        { "num_turns", &f->turns },
        { "total_cost_usd", &f->cost },
        { "usage", &f->usage },
        { "result", &f->result },
        { "errors", &f->errors },
        { "attempt", &f->attempt },
        { "max_retries", &f->retries },
        { "retry_delay_ms", &f->delay },
        { "error_status", &f->status },
        { "error", &f->error },
        { "modelUsage", &f->models },
    };
    turn_known_fields(object, wanted, sizeof(wanted) / sizeof(wanted[0]));
}

int
claude_tell(const struct claude_line *l, struct turn_event *e)
{
    e->parent = l->parent;
    return l->to->fn(l->to->ctx, e);
}

int
claude_other(struct claude_line *l, const char *what, struct view kind)
{
    struct buf *name = &l->s->text[3];
    if (l->other->n)
        return 0; /* one for each line */
    buf_clear(name);
    buf_puts(name, what);
    if (kind.n)
        buf_puts(name, "/");
    if (kind.n && !turn_str(kind, name))
        buf_append(name, kind.p, kind.n);
    *l->other = (struct view){ name->p, name->n };
    return name->failed;
}

static bool
is_text(const struct buf *b, struct view text)
{
    return b->n == text.n && (!text.n || !memcmp(b->p, text.p, text.n));
}

static int
tell_session(struct claude_line *l, const struct fields *f)
{
    struct turn_state *s = l->s;
    struct turn_event e = turn_event(TURN_SESSION);
    e.id = turn_text(f->session, &s->text[0]);
    e.model = turn_text(f->model, &s->text[1]);
    e.cwd = turn_text(f->cwd, &s->text[2]);
    if (is_text(&s->session, e.id) && is_text(&s->model, e.model) && e.id.n)
        return 0;
    buf_clear(&s->session);
    buf_clear(&s->model);
    buf_append(&s->session, e.id.p, e.id.n);
    buf_append(&s->model, e.model.p, e.model.n);
    if (s->session.failed || s->model.failed)
        return s->session.failed ? s->session.failed : s->model.failed;
    return claude_tell(l, &e);
}

static struct view
text_or(struct view raw, const char *otherwise, struct buf *out)
{
    struct view text = turn_text(raw, out);
    return text.n ? text : (struct view){ (const uint8_t *)otherwise, strlen(otherwise) };
}

/* "API error 429 (rate_limit), attempt 1 of 10, again in 1000 ms" */
static int
tell_retry(struct claude_line *l, const struct fields *f)
{
    struct turn_state *s = l->s;
    struct view why = text_or(f->error, "unknown", &s->text[1]);
    buf_clear(&s->text[0]);
    buf_puts(&s->text[0], "API error ");
    if (turn_u64(f->status, 0))
        buf_printf(&s->text[0], "%.*s ", (int)f->status.n, (const char *)f->status.p);
    buf_puts(&s->text[0], "(");
    buf_append(&s->text[0], why.p, why.n);
    buf_puts(&s->text[0], ")");
    if (f->attempt.n && f->retries.n)
        buf_printf(&s->text[0], ", attempt %.*s of %.*s", (int)f->attempt.n,
                   (const char *)f->attempt.p, (int)f->retries.n,
                   (const char *)f->retries.p);
    if (f->delay.n)
        buf_printf(&s->text[0], ", again in %.*s ms", (int)f->delay.n,
                   (const char *)f->delay.p);
    if (s->text[0].failed)
        return s->text[0].failed;
    struct turn_event e = turn_event(TURN_ERROR);
    e.text = (struct view){ s->text[0].p, s->text[0].n };
    return claude_tell(l, &e);
}

static int
tell_system(struct claude_line *l, const struct fields *f)
{
    if (turn_is(f->subtype, "init"))
        return tell_session(l, f);
    if (turn_is(f->subtype, "api_retry"))
        return tell_retry(l, f);
    return claude_other(l, "system", f->subtype);
}

/* -- the end -- */

/* What went wrong, each on a line; what `result` says, if there is no list. */
static struct view
errors_text(const struct fields *f, struct turn_state *s)
{
    struct view rest = f->errors, error;
    buf_clear(&s->text[0]);
    while (turn_next(&rest, &error)) {
        if (s->text[0].n)
            buf_puts(&s->text[0], "\n");
        if (!turn_str(error, &s->text[0]))
            buf_append(&s->text[0], error.p, error.n);
    }
    return (struct view){ s->text[0].p, s->text[0].n };
}

/* The text of a result, unless it repeats what was said. */
static int
tell_result_text(struct claude_line *l, const struct fields *f, bool is_error)
{
    struct turn_state *s = l->s;
    struct view text = errors_text(f, s);
    if (!text.n && s->has_spoken)
        return 0;
    if (!text.n)
        text = turn_text(f->result, &s->text[0]);
    if (!text.n && is_error)
        text = text_or(f->subtype, "error", &s->text[0]);
    if (!text.n)
        return 0;
    struct turn_event e = turn_event(is_error ? TURN_ERROR : TURN_TEXT);
    e.text = text;
    return claude_tell(l, &e);
}

static int
tell_done(struct claude_line *l, const struct fields *f)
{
    bool is_error = turn_is_true(f->is_error);
    int r = tell_result_text(l, f, is_error);
    if (r < 0)
        return r;
    l->s->has_spoken = false;
    struct turn_event e = turn_event(TURN_DONE);
    e.name = turn_text(f->subtype, &l->s->text[2]);
    e.is_error = is_error;
    e.duration_ms = turn_u64(f->duration, TURN_UNKNOWN);
    e.turns = turn_u64(f->turns, TURN_UNKNOWN);
    const struct claude_sums sums = { f->usage, f->models, f->cost };
    r = claude_take_sums(l->s, &sums, &e);
    return r < 0 ? r : claude_tell(l, &e);
}

/* -- the format -- */

static bool
is_mine(struct view type, struct view object)
{
    static const struct {
        const char *type, *has;
    } kinds[] = {
        { "system", "subtype" }, { "assistant", "message" },  { "user", "message" },
        { "result", "subtype" }, { "stream_event", "event" },
    };
    for (size_t i = 0; i < sizeof(kinds) / sizeof(kinds[0]); i++) {
        struct view has = { 0 };
        const struct turn_field wanted[] = { { kinds[i].has, &has } };
        if (strlen(kinds[i].type) == type.n && !memcmp(kinds[i].type, type.p, type.n))
            return turn_known_fields(object, wanted, 1) && has.n;
    }
    return false;
}

static int
decode(struct turn_state *s, struct view object, const struct turn_sink *to,
       struct view *ret_other)
{
    struct fields f;
    take_fields(object, &f);
    struct claude_line l = { .s = s, .to = to, .other = ret_other };
    l.parent = turn_text(f.parent, &s->text[3]);
    int r = claude_lane_find(&l);
    if (r < 0)
        return r;
    if (turn_is(f.type, "stream_event"))
        return claude_stream_event(&l, f.event);
    if (turn_is(f.type, "assistant"))
        return claude_assistant(&l, f.message);
    if (turn_is(f.type, "user"))
        return turn_is_true(f.is_replay)
                   ? claude_other(&l, "user",
                                  (struct view){ (const uint8_t *)"\"replay\"", 8 })
                   : claude_user(&l, f.message);
    if (turn_is(f.type, "system"))
        return tell_system(&l, &f);
    if (turn_is(f.type, "result"))
        return tell_done(&l, &f);
    buf_clear(&s->text[0]);
    if (!turn_str(f.type, &s->text[0]))
        buf_puts(&s->text[0], "untyped");
    return claude_other(&l, buf_str(&s->text[0]), f.subtype);
}

const struct turn_format turn_format_claude = { TURN_CLAUDE, is_mine, decode, false };
