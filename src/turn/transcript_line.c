/* SPDX-License-Identifier: MIT */
/* transcript_line.c -- a line of a transcript as JSON. */
#include "base/iso.h"
#include "turn/tell_priv.h"
#include "turn/transcript_priv.h"

/* What each line has, up to its message. */
static void
begin_line(struct turn_transcript *t, struct json *j, bool is_user)
{
    AUTO(buf) time = { 0 };
    buf_clear(&t->line);
    t->line.ceiling = SIZE_MAX; /* the content is bounded */
    iso_time(t->ts_ns, &time);
    json_open(j, '{');
    json_key(j, "type"), json_str(j, is_user ? "user" : "assistant");
    json_key(j, "sessionId"), json_str(j, t->opt.session);
    json_key(j, "uuid"), json_str(j, t->uuid);
    json_key(j, "parentUuid"), json_str_or_none(j, *t->parent ? t->parent : NULL);
    json_key(j, "timestamp"), json_bytes(j, turn_view_of(&time));
    json_key(j, "cwd"), json_bytes(j, turn_view_of(&t->cwd));
    json_key(j, "version"), json_str(j, t->opt.version);
    json_key(j, "isSidechain"), json_bool(j, t->side.n > 0);
    json_key(j, "userType"), json_str(j, "external");
    json_key(j, "gitBranch"), json_str(j, t->opt.git_branch ? t->opt.git_branch : "");
    json_key(j, "message");
    json_open(j, '{');
    memcpy(t->before, t->parent, sizeof(t->before));
    memcpy(t->parent, t->uuid, sizeof(t->parent));
}

static int
end_line(struct turn_transcript *t, struct json *j)
{
    json_close(j, '}');
    json_close(j, '}');
    buf_puts(&t->line, "\n");
    int r = t->line.failed;
    if (!r && !t->is_known)
        r = t->opt.line(t->opt.ctx, turn_view_of(&t->line));
    if (r > 0 || (t->is_known && t->opt.parent))
        memcpy(t->parent, t->before, sizeof(t->parent));
    return r < 0 ? r : 0;
}

static void
put_content(struct turn_transcript *t, struct json *j)
{
    json_key(j, "content");
    json_open(j, '[');
    if (t->content.n)
        json_raw(j, turn_view_of(&t->content));
    json_close(j, ']');
}

static void
put_tokens(struct json *j, const char *key, uint64_t tokens)
{
    json_key(j, key), json_u64(j, tokens == TURN_UNKNOWN ? 0 : tokens);
}

static void
put_usage(struct json *j, const struct turn_usage *u)
{
    if (!turn_usage_is_told(*u))
        return;
    json_key(j, "usage");
    json_open(j, '{');
    put_tokens(j, "input_tokens", u->input_tokens);
    put_tokens(j, "output_tokens", u->output_tokens);
    put_tokens(j, "cache_creation_input_tokens", u->cache_creation_tokens);
    put_tokens(j, "cache_read_input_tokens", u->cache_read_tokens);
    json_close(j, '}');
}

/* NULL: not known, or not yet. */
static const char *
stop_reason(const struct turn_transcript *t)
{
    bool is_open = t->m->was_cut_off || (t->is_early && !t->m->is_final);
    return t->m->has_call ? "tool_use" : is_open ? NULL : "end_turn";
}

static int
put_assistant(struct turn_transcript *t)
{
    struct json j = { .out = &t->line };
    int r = transcript_message_name(t);
    if (r < 0)
        return r;
    struct transcript_message *m = t->m;
    struct turn_usage usage = t->is_known ? t->known.usage : transcript_message_usage(m);
    begin_line(t, &j, false);
    json_key(&j, "id"), json_bytes(&j, turn_view_of(&m->id));
    json_key(&j, "type"), json_str(&j, "message");
    json_key(&j, "role"), json_str(&j, "assistant");
    json_key(&j, "model"),
        json_bytes(&j, turn_view_of(m->model.n ? &m->model : &t->model));
    put_content(t, &j);
    json_key(&j, "stop_reason");
    json_str_or_none(&j, stop_reason(t));
    put_usage(&j, &usage);
    transcript_told(&t->told, &m->told, usage);
    turn_usage_raise(&m->usage, usage);
    m->is_written = true;
    return end_line(t, &j);
}

static int
put_results(struct turn_transcript *t)
{
    struct json j = { .out = &t->line };
    begin_line(t, &j, true);
    json_key(&j, "role"), json_str(&j, "user");
    put_content(t, &j);
    return end_line(t, &j);
}

int
transcript_put_text(struct turn_transcript *t, struct view text)
{
    struct json j = { .out = &t->line };
    begin_line(t, &j, true);
    json_key(&j, "role"), json_str(&j, "user");
    json_key(&j, "content"), json_bytes(&j, text);
    return end_line(t, &j);
}

/* It may have been told behind what is in the line. */
static int
take_known_id(struct turn_transcript *t)
{
    struct transcript_message *m = t->m;
    return m->id.n ? 0
                   : transcript_message_of(t, t->known.id, turn_view_of(&t->side), &m);
}

int
transcript_put(struct turn_transcript *t)
{
    enum transcript_open open = t->open;
    int r = 0;
    if (open == TRANSCRIPT_NONE)
        return 0;
    if (t->content.failed)
        return t->content.failed;
    if (open == TRANSCRIPT_ASSISTANT && t->is_known && t->known.id.n)
        r = take_known_id(t);
    if (r < 0)
        return r;
    t->open = TRANSCRIPT_NONE;
    return open == TRANSCRIPT_ASSISTANT ? put_assistant(t) : put_results(t);
}
