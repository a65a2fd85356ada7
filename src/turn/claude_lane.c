/* SPDX-License-Identifier: MIT */
/*
 * claude_lane.c -- who is saying what: the agent and its sub-agents, each for itself.
 *
 * Claude Code tells a block in pieces, then whole in an "assistant" line, then that the
 * block has ended. Where the end comes first, what was said is told whole then, and the
 * line that repeats it is dropped.
 */
#include "turn/claude_priv.h"
#include "turn/tell_priv.h"
#include "turn/totals.h"

enum { SAID_MAX = 16 << 20, TOLD_MAX = 1 << 10, NAME_MAX_BYTES = 1 << 10 };

/* Of a name that is longer than any that is meant, its beginning. */
static struct view
name_of(struct view text)
{
    return (struct view){ text.p, text.n < NAME_MAX_BYTES ? text.n : NAME_MAX_BYTES };
}

static bool
is_same(const struct buf *b, struct view text)
{
    text = name_of(text);
    return b->n == text.n && (!text.n || !memcmp(b->p, text.p, text.n));
}

static int
set(struct buf *b, struct view text)
{
    text = name_of(text);
    buf_clear(b);
    return buf_append(b, text.p, text.n);
}

/* What was said so far, as whole as it will ever be. */
static int
tell_said(const struct claude_line *l, struct turn_lane *lane, bool was_cut_off)
{
    if (!lane->said.n)
        return 0;
    struct turn_event e = turn_event(lane->said_type);
    e.was_cut_off = was_cut_off;
    e.id = turn_view_of(&lane->message);
    e.parent = turn_view_of(&lane->parent);
    e.text = turn_view_of(&lane->said);
    int r = l->to->fn(l->to->ctx, &e);
    buf_clear(&lane->said);
    return r;
}

static int
begin(const struct claude_line *l, struct turn_lane *lane, struct view id)
{
    int r = tell_said(l, lane, true);
    buf_clear(&lane->told);
    lane->usage = TURN_NO_USAGE;
    lane->is_final = false;
    buf_clear(&lane->model);
    return r < 0 ? r : set(&lane->message, id);
}

int
claude_lane_find(struct claude_line *l)
{
    struct turn_lane *lanes = l->s->lanes, *lane = NULL;
    l->lane = &lanes[0];
    if (!l->parent.n)
        return 0;
    for (size_t i = 1; i < TURN_LANES; i++) {
        if (is_same(&lanes[i].parent, l->parent)) {
            l->lane = &lanes[i];
            l->parent = turn_view_of(&lanes[i].parent);
            return 0;
        }
        if (!lane || (lane->parent.n && !lanes[i].parent.n) ||
            (lane->said.n && !lanes[i].said.n))
            lane = &lanes[i];
    }
    l->lane = lane;
    int r = begin(l, lane, (struct view){ 0 });
    if (r >= 0)
        r = set(&lane->parent, l->parent);
    l->parent = turn_view_of(&lane->parent);
    return r;
}

int
claude_lane_message(struct claude_line *l, struct view id, struct view model)
{
    id = turn_text(id, &l->s->text[1]);
    int r = is_same(&l->lane->message, id) ? 0 : begin(l, l->lane, id);
    model = turn_text(model, &l->s->text[1]);
    return r < 0 || !model.n ? r : set(&l->lane->model, model);
}

/* -- what was told before its line came -- */

static void
remember(struct turn_lane *lane)
{
    uint64_t h = turn_hash(turn_view_of(&lane->said)) + lane->said_type;
    lane->told.ceiling = TOLD_MAX;
    if (buf_append(&lane->told, &h, sizeof(h)) < 0)
        lane->told.failed = 0; /* then it is shown twice */
}

/* Was it told? Once only. */
static bool
was_told(struct turn_lane *lane, enum turn_type type, struct view text)
{
    if (!lane->told.n)
        return false;
    uint64_t h = turn_hash(text) + type;
    for (size_t at = 0; at < lane->told.n; at += sizeof(h)) {
        if (memcmp(lane->told.p + at, &h, sizeof(h)) != 0)
            continue;
        lane->told.n -= sizeof(h);
        memmove(lane->told.p + at, lane->told.p + lane->told.n, sizeof(h));
        return true;
    }
    return false;
}

/* -- saying -- */

static struct turn_event
speech(struct claude_line *l, enum turn_type type, struct view text)
{
    struct turn_event e = turn_event(type);
    e.id = turn_view_of(&l->lane->message);
    e.text = text;
    l->s->has_spoken |= type == TURN_TEXT && !l->parent.n;
    return e;
}

int
claude_lane_piece(struct claude_line *l, enum turn_type type, struct view text)
{
    struct turn_lane *lane = l->lane;
    int r = 0;
    if (!text.n)
        return 0;
    if (lane->said.n && (lane->said_type != type || lane->said.n + text.n > SAID_MAX))
        r = tell_said(l, lane, true);
    if (r < 0)
        return r;
    lane->said_type = type;
    lane->said.ceiling = TURN_LINE_MAX;
    r = buf_append(&lane->said, text.p, text.n);
    if (r < 0)
        return r;
    struct turn_event e = speech(l, type, text);
    e.is_partial = true;
    return claude_tell(l, &e);
}

int
claude_lane_whole(struct claude_line *l, enum turn_type type, struct view text)
{
    if (!text.n || was_told(l->lane, type, text))
        return 0;
    if (l->lane->said_type == type)
        buf_clear(&l->lane->said);
    struct turn_event e = speech(l, type, text);
    return claude_tell(l, &e);
}

int
claude_lane_stop(struct claude_line *l)
{
    if (l->lane->said.n)
        remember(l->lane);
    return tell_said(l, l->lane, false);
}

/* -- usage -- */

struct turn_usage
claude_usage(struct view usage)
{
    struct view in = { 0 }, out = { 0 }, made = { 0 }, read = { 0 };
    const struct turn_field wanted[] = {
        { "input_tokens", &in },
        { "output_tokens", &out },
        { "cache_creation_input_tokens", &made },
        { "cache_read_input_tokens", &read },
    };
    turn_known_fields(usage, wanted, sizeof(wanted) / sizeof(wanted[0]));
    return (struct turn_usage){
        .input_tokens = turn_tokens(in, TURN_UNKNOWN),
        .output_tokens = turn_tokens(out, TURN_UNKNOWN),
        .cache_creation_tokens = turn_tokens(made, TURN_UNKNOWN),
        .cache_read_tokens = turn_tokens(read, TURN_UNKNOWN),
    };
}

int
claude_lane_usage(struct claude_line *l, struct view usage, struct view stop)
{
    bool is_news = turn_usage_raise(&l->lane->usage, claude_usage(usage));
    bool is_final = stop.n > 2 && stop.p[0] == '"';
    if (!is_news && (!is_final || l->lane->is_final))
        return 0;
    l->lane->is_final |= is_final;
    struct turn_event e = turn_event(TURN_USAGE);
    e.id = turn_view_of(&l->lane->message);
    e.model = turn_view_of(&l->lane->model);
    e.is_final = l->lane->is_final;
    e.usage = l->lane->usage;
    return claude_tell(l, &e);
}
