/* SPDX-License-Identifier: MIT */
/*
 * history_codex.c -- the rollouts of Codex:
 * $CODEX_HOME/sessions/YYYY/MM/DD/rollout-*.jsonl.
 *
 * As version 0.166 writes them (the fixtures), and older ones. A line tells what the
 * model was sent and said (response_item), or what the user saw of it (event_msg); much
 * is told by both, in either order, and counts once.
 */
#include <string.h>

#include "turn/history_codex_priv.h"
#include "turn/tell_priv.h"

static bool
take_line(struct view object, struct codex_line *l)
{
    *l = (struct codex_line){ .object = object };
    const struct turn_field wanted[] = { { "type", &l->type },
                                         { "timestamp", &l->timestamp },
                                         { "payload", &l->payload } };
    const struct turn_field of_payload[] = { { "type", &l->kind },
                                             { "turn_id", &l->turn_id },
                                             { "call_id", &l->call_id } };
    (void)turn_known_fields(object, wanted, 3);
    if (l->payload.n && l->payload.p[0] == '{') {
        (void)turn_known_fields(l->payload, of_payload, 3);
        return true;
    }
    return false;
}

bool
codex_is_word(struct view raw, const char *const *words)
{
    for (size_t i = 0; words[i]; i++)
        if (turn_is(raw, words[i]))
            return true;
    return false;
}

/* Of 2025: the payloads alone. */
static bool
is_bare(const struct codex_line *l)
{
    static const char *const types[] = { "message",          "reasoning",
                                         "function_call",    "function_call_output",
                                         "local_shell_call", NULL };
    struct view role = { 0 }, call = { 0 }, summary = { 0 }, uuid = { 0 };
    const struct turn_field wanted[] = { { "role", &role },
                                         { "call_id", &call },
                                         { "summary", &summary },
                                         { "uuid", &uuid } };
    (void)turn_known_fields(l->object, wanted, 4);
    return codex_is_word(l->type, types) && !uuid.n && (role.n || call.n || summary.n);
}

static bool
is_mine(struct view object)
{
    static const char *const types[] = { "session_meta",       "turn_context",
                                         "response_item",      "event_msg",
                                         "compacted",          "world_state",
                                         "token_usage_record", NULL };
    struct codex_line l;
    struct view record = { 0 };
    const struct turn_field wanted[] = { { "record_type", &record } };
    if (take_line(object, &l))
        return codex_is_word(l.type, types) || (l.timestamp.n && l.type.n);
    (void)turn_known_fields(object, wanted, 1);
    return record.n || is_bare(&l);
}

/* -- texts -- */

static bool
begins(struct view text, const char *with)
{
    size_t n = strlen(with);
    return text.n >= n && !memcmp(text.p, with, n);
}

/* Does a tag's name, which may have more behind it, end there? */
static bool
ends_name(struct view text, size_t at)
{
    return text.n > at && (text.p[at] == ' ' || text.p[at] == '>');
}

/* "<image name=[Image #1]>" and "</image>" stand around an image, which is left out. */
static bool
is_frame(struct view raw)
{
    if (!begins(raw, "\"<image") && !begins(raw, "\"</image"))
        return false;
    struct view text = { raw.p + 1, raw.n - 2 };
    size_t name = text.p[1] == '/' ? 7 : 6;
    return ends_name(text, name) && memchr(text.p, '>', text.n) == text.p + text.n - 1;
}

int
codex_join_texts(struct view content, bool is_sent, struct buf *out)
{
    buf_clear(out);
    if (content.n && content.p[0] == '"')
        return turn_str(content, out) ? 0 : out->failed;
    for (struct view part; turn_next(&content, &part);) {
        struct view text = { 0 };
        const struct turn_field wanted[] = { { "text", &text } };
        (void)turn_known_fields(part, wanted, 1);
        if (is_sent && is_frame(text))
            continue;
        if (text.n && out->n)
            (void)buf_puts(out, "\n");
        (void)turn_str(text, out);
    }
    return out->failed;
}

/* A tag of what a program puts there; with: "<" or "</". */
static bool
is_tag(struct view text, const char *with)
{
    static const char *const names[] = {
        "environment_context",
        "user_instructions",
        "permissions",
        "skill",
        "skills",
        "skills_instructions",
        "turn_aborted",
        "user_shell_command",
        "app-context",
        "collaboration_mode",
        "subagent_notification",
    };
    if (!begins(text, with))
        return false;
    text = (struct view){ text.p + strlen(with), text.n - strlen(with) };
    for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++)
        if (begins(text, names[i]) && ends_name(text, strlen(names[i])))
            return true;
    return false;
}

/* What a program has put before the user's own words; these may begin with the same. */
static bool
is_wrapping(struct view text)
{
    if (begins(text, "# AGENTS.md instructions for "))
        return true;
    while (text.n && strchr(" \t\r\n", text.p[text.n - 1]))
        text.n--;
    if (!is_tag(text, "<") || text.p[text.n - 1] != '>')
        return false;
    size_t last = text.n - 1;
    while (text.p[last] != '<')
        last--;
    return is_tag((struct view){ text.p + last, text.n - last }, "</");
}

/* What was told is remembered by its text, or where it has an id by both: one of the two
 * sides may leave a part of the text out. */
enum { WITH_ID = 64, BY_ID = 128 };

static int
remember_text(struct turn_history *h, uint64_t seed, struct view text, struct view id)
{
    if (!id.n)
        return history_remember(h, history_hash(seed, text));
    int r = history_remember(h, history_hash(seed + WITH_ID, text));
    return r < 0 ? r : history_remember(h, history_hash(seed + BY_ID, id));
}

static bool
take_text_back(struct turn_history *h, uint64_t seed, struct view text, struct view id)
{
    uint64_t with_id = history_hash(seed + WITH_ID, text);
    if (id.n && history_take_back(h, history_hash(seed + BY_ID, id))) {
        (void)history_take_back(h, with_id);
        return true;
    }
    return history_take_back(h, history_hash(seed, text)) ||
           (!id.n && history_take_back(h, with_id));
}

int
codex_tell_text(struct turn_history *h, enum turn_type type, bool is_user,
                struct view text, struct view raw_id, enum codex_source source)
{
    enum codex_source other = source == FROM_MODEL ? FROM_EVENTS : FROM_MODEL;
    uint64_t seed = (uint64_t)type * 8 + (is_user ? 4 : 0);
    struct view id = turn_text(raw_id, &h->s.text[1]);
    /* A user's has two, and a thought's is that of all its parts. */
    struct view shared = type == TURN_TEXT && !is_user ? id : (struct view){ 0 };
    if (!text.n || take_text_back(h, seed + other, text, shared))
        return 0;
    int r = remember_text(h, seed + source, text, shared);
    if (!r && is_user)
        r = history_mark(h);
    struct turn_event e = turn_event(type);
    e.is_user = is_user;
    e.id = id;
    e.text = text;
    return r < 0 ? r : history_tell(h, &e);
}

static int
message(struct turn_history *h, const struct codex_line *l, struct view payload)
{
    struct view role = { 0 }, content = { 0 }, id = { 0 };
    const struct turn_field wanted[] = { { "role", &role },
                                         { "content", &content },
                                         { "id", &id } };
    (void)turn_known_fields(payload, wanted, 3);
    struct buf *out = &h->s.text[0];
    bool is_user = turn_is(role, "user");
    int r = codex_join_texts(content, is_user, out);
    if (is_user && !r && !out->n)
        r = codex_join_texts(content, false, out); /* an image alone is a turn, too */
    struct view text = { out->p, out->n };
    if (r < 0)
        return r;
    if (!text.n || (!is_user && !turn_is(role, "assistant")) ||
        (is_user && is_wrapping(text)))
        return history_other(h, l->type, role, l->object);
    return codex_tell_text(h, TURN_TEXT, is_user, text, id, FROM_MODEL);
}

int
codex_think(struct turn_history *h, struct view parts, struct view id,
            enum codex_source source)
{
    int r = 0;
    for (struct view part; !r && turn_next(&parts, &part);) {
        struct view text = { 0 };
        const struct turn_field wanted[] = { { "text", &text } };
        (void)turn_known_fields(part, wanted, 1);
        text = turn_text(text.n ? text : part, &h->s.text[0]);
        r = codex_tell_text(h, TURN_THINKING, false, text, id, source);
    }
    return r;
}

static int
reasoning(struct turn_history *h, struct view payload)
{
    struct view summary = { 0 }, content = { 0 }, id = { 0 };
    const struct turn_field wanted[] = { { "summary", &summary },
                                         { "content", &content },
                                         { "id", &id } };
    (void)turn_known_fields(payload, wanted, 3);
    int r = codex_think(h, summary, id, FROM_MODEL);
    return r < 0 ? r : codex_think(h, content, id, FROM_MODEL);
}

/* -- lines -- */

/* What the thread has used so far: its stream told that at the same place. */
static void
put_total(struct turn_history *h, struct turn_event *e)
{
    struct turn_usage total = { 0 };
    bool has_any = false;
    for (size_t i = 0; i < TURN_USAGE_FIELDS; i++) {
        *turn_usage_field(&total, i) = h->totals[i];
        has_any |= h->totals[i] != 0;
    }
    if (!has_any || !h->facts.id.n)
        return;
    e->id = (struct view){ h->facts.id.p, h->facts.id.n };
    e->total = total;
}

static int
done(struct turn_history *h, struct view payload, const char *how)
{
    struct view duration = { 0 };
    const struct turn_field wanted[] = { { "duration_ms", &duration } };
    struct turn_event e = turn_event(TURN_DONE);
    (void)turn_known_fields(payload, wanted, 1);
    e.name = (struct view){ (const uint8_t *)how, strlen(how) };
    e.is_error = strcmp(how, "success") != 0;
    e.duration_ms = turn_u64(duration, TURN_UNKNOWN);
    put_total(h, &e);
    return history_tell(h, &e);
}

/* As many of the user's turns are undone, or all. */
static int
roll_back(struct turn_history *h, const struct codex_line *l)
{
    struct view turns = { 0 };
    const struct turn_field wanted[] = { { "num_turns", &turns } };
    uint64_t from;
    (void)turn_known_fields(l->payload, wanted, 1);
    if (!history_unmark(h, turn_u64(turns, 0), &from))
        return history_other(h, l->type, l->kind, l->object);
    return history_branch(h, from);
}

static int
event(struct turn_history *h, const struct codex_line *l)
{
    struct view text = { 0 }, its_item = { 0 };
    const struct turn_field wanted[] = { { "message", &text },
                                         { "text", &text },
                                         { "item", &its_item } };
    (void)turn_known_fields(l->payload, wanted, 3);
    if (turn_is(l->kind, "item_completed"))
        return codex_item(h, l, its_item);
    if (turn_is(l->kind, "token_count"))
        return codex_count(h, l);
    if (turn_is(l->kind, "task_complete"))
        return done(h, l->payload, "success");
    if (turn_is(l->kind, "turn_aborted"))
        return done(h, l->payload, "aborted");
    if (turn_is(l->kind, "thread_rolled_back"))
        return roll_back(h, l);
    struct view said = turn_text(text, &h->s.text[0]);
    if (turn_is(l->kind, "user_message") || turn_is(l->kind, "agent_message"))
        return codex_tell_text(h, TURN_TEXT, turn_is(l->kind, "user_message"), said,
                               (struct view){ 0 }, FROM_EVENTS);
    if (turn_is(l->kind, "agent_reasoning") ||
        turn_is(l->kind, "agent_reasoning_raw_content"))
        return codex_tell_text(h, TURN_THINKING, false, said, (struct view){ 0 },
                               FROM_EVENTS);
    if (!turn_is(l->kind, "error") && !turn_is(l->kind, "stream_error"))
        return history_other(h, l->type, l->kind, l->object);
    struct turn_event e = turn_event(TURN_ERROR);
    e.text = said;
    return history_tell(h, &e);
}

static int
response(struct turn_history *h, const struct codex_line *l, struct view kind,
         struct view payload)
{
    static const char *const calls[] = { "function_call", "custom_tool_call",
                                         "local_shell_call", NULL };
    static const char *const results[] = { "function_call_output",
                                           "custom_tool_call_output", NULL };
    if (turn_is(kind, "message"))
        return message(h, l, payload);
    if (turn_is(kind, "reasoning"))
        return reasoning(h, payload);
    if (codex_is_word(kind, calls))
        return codex_call(h, payload);
    if (codex_is_word(kind, results))
        return codex_result(h, payload);
    return history_other(h, l->type, kind, l->object);
}

/* session_meta and turn_context. The first id is the session's: a fork has its parent's
 * behind its own. */
static int
learn(struct turn_history *h, const struct codex_line *l)
{
    struct turn_history_facts *f = &h->facts;
    struct view id = { 0 }, cwd = { 0 }, version = { 0 }, git = { 0 }, branch = { 0 },
                model = { 0 }, parent = { 0 }, fork = { 0 };
    const struct turn_field wanted[] = { { "id", &id },
                                         { "cwd", &cwd },
                                         { "cli_version", &version },
                                         { "git", &git },
                                         { "model", &model },
                                         { "forked_from_id", &fork },
                                         { "parent_thread_id", &parent } };
    const struct turn_field of_git[] = { { "branch", &branch } };
    (void)turn_known_fields(l->payload.n ? l->payload : l->object, wanted, 7);
    (void)turn_known_fields(git, of_git, 1);
    codex_note_thread(h, id, turn_is_there(parent) || turn_is_there(fork));
    bool is_news = !f->id.n && history_learn(h, &f->id, id);
    is_news |= history_learn(h, &f->cwd, cwd);
    is_news |= history_learn(h, &f->model, model);
    (void)history_learn(h, &f->version, version);
    (void)history_learn(h, &f->git_branch, branch);
    return is_news ? history_session(h) : 0;
}

static int
decode(struct turn_history *h, struct view object)
{
    struct codex_line l;
    bool has_payload = take_line(object, &l);
    history_set_time(h, l.timestamp);
    codex_note_place(h, &l);
    if (turn_is(l.type, "response_item"))
        return response(h, &l, l.kind, l.payload);
    if (turn_is(l.type, "event_msg"))
        return event(h, &l);
    if (turn_is(l.type, "token_usage_record"))
        return codex_record(h, l.payload);
    bool is_fact = turn_is(l.type, "session_meta") || turn_is(l.type, "turn_context");
    if (is_fact || (!has_payload && !l.type.n)) {
        int r = learn(h, &l);
        if (r < 0 || is_fact)
            return r < 0 ? r : history_other(h, l.type, (struct view){ 0 }, object);
    }
    if (!has_payload && is_bare(&l))
        return response(h, &l, l.type, object);
    return history_other(h, l.type, l.kind, object);
}

const struct turn_history_format turn_history_codex = { TURN_CODEX, is_mine, decode };
