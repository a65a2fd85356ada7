/* SPDX-License-Identifier: MIT */
/*
 * history_stream.c -- what an agent has printed, kept in a file: its stream's objects,
 * read as they are when they come from a pipe (format_priv.h).
 */
#include "turn/history_priv.h"
#include "turn/tell_priv.h"

static const struct turn_format *const streams[] = {
    &turn_format_claude,
    &turn_format_codex,
    &turn_format_gemini,
    &turn_format_opencode,
};

enum { STREAMS = sizeof(streams) / sizeof(streams[0]) };

static bool
is_of(const struct turn_format *f, struct view object)
{
    struct view type = { 0 }, own = { 0 }, id = { 0 };
    const struct turn_field wanted[] = { { "type", &type },
                                         { "sessionId", &own },
                                         { "session_id", &id } };
    (void)turn_known_fields(object, wanted, 3);
    /* Claude Code's transcripts have much of its stream; but they name their session
     * otherwise. */
    if (f->agent == TURN_CLAUDE && (own.n || !id.n))
        return false;
    if (type.n < 3 || type.p[0] != '"')
        return false;
    return f->is_mine((struct view){ type.p + 1, type.n - 2 }, object);
}

enum turn_agent
history_stream_agent(struct view object)
{
    for (size_t i = 0; i < STREAMS; i++)
        if (is_of(streams[i], object))
            return streams[i]->agent;
    return TURN_AUTO;
}

/* A turn_event_fn: pieces come once more, whole. */
static int
take_event(void *ctx, const struct turn_event *e)
{
    struct turn_history *h = ctx;
    struct turn_history_facts *f = &h->facts;
    if (e->type == TURN_SESSION && !e->parent.n) {
        (void)history_learn_text(h, &f->id, e->id);
        (void)history_learn_text(h, &f->model, e->model);
        (void)history_learn_text(h, &f->cwd, e->cwd);
    }
    return e->is_partial ? 0 : history_tell(h, e);
}

static const struct turn_format *
format_of(const struct turn_history *h)
{
    for (size_t i = 0; i < STREAMS; i++)
        if (streams[i]->agent == h->opt.agent)
            return streams[i];
    return NULL;
}

int
history_stream_line(struct turn_history *h, struct view object)
{
    const struct turn_format *f = format_of(h);
    const struct turn_sink to = { take_event, h };
    struct view other = { 0 }, timestamp = { 0 };
    const struct turn_field wanted[] = { { "timestamp", &timestamp } };
    if (!h->is_stream && (!f || !is_of(f, object)))
        return 0;
    h->is_stream = true;
    (void)turn_known_fields(object, wanted, 1);
    history_set_time(h, timestamp);
    int r = f->decode(&h->s, object, &to, &other);
    if (r < 0 || !other.n)
        return r < 0 ? r : 1;
    struct turn_event e = turn_event(TURN_OTHER);
    e.name = other;
    e.json = object;
    r = history_tell(h, &e);
    return r < 0 ? r : 1;
}

int
turn_history_end(struct turn_history *h)
{
    const struct turn_sink to = { take_event, h };
    return h->is_stream ? turn_state_end(&h->s, &to) : 0;
}

bool
turn_history_is_stream(const struct turn_history *h)
{
    return h->is_stream;
}
