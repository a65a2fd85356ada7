/* SPDX-License-Identifier: MIT */
/*
 * history_codex.c -- the rollouts of Codex:
 * $CODEX_HOME/sessions/YYYY/MM/DD/rollout-*.jsonl.
 *
 * As version 0.166 writes them (the fixtures), and older ones. A line tells what the
 * model was sent and said (response_item), or what the user saw of it (event_msg); much
 * is told by both, in either order, and counts once. A command's result is the event's,
 * where it comes first: it has the exit code.
 */
#include <limits.h>
#include <string.h>

#include "base/json.h"
#include "base/json_in.h"
#include "base/num.h"
#include "turn/history_priv.h"
#include "turn/tell_priv.h"

struct line {
    struct view type, timestamp, payload, object;
    struct view kind; /* of the payload */
};

/* Who tells a text: what one has told, the other tells once more. */
enum source { FROM_MODEL = 2, FROM_EVENTS = 3 };

/* Of results, by the call's id: told by the event, or by the other. */
enum { RESULT_OF_EVENT = 0, RESULT_OF_MODEL = 1 };

static bool
take_line(struct view object, struct line *l)
{
    *l = (struct line){ .object = object };
    const struct turn_field wanted[] = { { "type", &l->type },
                                         { "timestamp", &l->timestamp },
                                         { "payload", &l->payload } };
    const struct turn_field of_payload[] = { { "type", &l->kind } };
    (void)turn_known_fields(object, wanted, 3);
    if (l->payload.n && l->payload.p[0] == '{') {
        (void)turn_known_fields(l->payload, of_payload, 1);
        return true;
    }
    return false;
}

static bool
is_word(struct view raw, const char *const *words)
{
    for (size_t i = 0; words[i]; i++)
        if (turn_is(raw, words[i]))
            return true;
    return false;
}

/* Of 2025: the payloads alone. */
static bool
is_bare(const struct line *l)
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
    return is_word(l->type, types) && !uuid.n && (role.n || call.n || summary.n);
}

static bool
is_mine(struct view object)
{
    static const char *const types[] = { "session_meta",       "turn_context",
                                         "response_item",      "event_msg",
                                         "compacted",          "world_state",
                                         "token_usage_record", NULL };
    struct line l;
    struct view record = { 0 };
    const struct turn_field wanted[] = { { "record_type", &record } };
    if (take_line(object, &l))
        return is_word(l.type, types) || (l.timestamp.n && l.type.n);
    (void)turn_known_fields(object, wanted, 1);
    return record.n || is_bare(&l);
}

/* -- texts -- */

/* The texts of a message's parts, each on lines of its own. */
static int
join_texts(struct view content, struct buf *out)
{
    buf_clear(out);
    if (content.n && content.p[0] == '"')
        return turn_str(content, out) ? 0 : out->failed;
    for (struct view part; turn_next(&content, &part);) {
        struct view text = { 0 };
        const struct turn_field wanted[] = { { "text", &text } };
        (void)turn_known_fields(part, wanted, 1);
        if (text.n && out->n)
            (void)buf_puts(out, "\n");
        (void)turn_str(text, out);
    }
    return out->failed;
}

/* What a program has put before the user's own words. */
static bool
is_wrapping(struct view text)
{
    static const char *const begins[] = {
        "<environment_context>", "<user_instructions>",
        "<permissions",          "<skills",
        "# AGENTS.md",           "<turn_aborted>",
        "<user_shell_command>",  "<app-context>",
        "<collaboration_mode>",
    };
    for (size_t i = 0; i < sizeof(begins) / sizeof(begins[0]); i++) {
        size_t n = strlen(begins[i]);
        if (text.n >= n && !memcmp(text.p, begins[i], n))
            return true;
    }
    return false;
}

static int
tell_text(struct turn_history *h, enum turn_type type, bool is_user, struct view text,
          struct view id, enum source source)
{
    uint64_t seed = (uint64_t)type * 8 + is_user * 4;
    uint64_t mine = history_hash(seed + source, text);
    uint64_t others = history_hash(
        seed + (source == FROM_MODEL ? FROM_EVENTS : FROM_MODEL), text);
    if (!text.n || history_take_back(h, others))
        return 0;
    int r = history_remember(h, mine);
    if (!r && is_user)
        r = history_mark(h);
    struct turn_event e = turn_event(type);
    e.is_user = is_user;
    e.id = turn_text(id, &h->s.text[1]);
    e.text = text;
    return r < 0 ? r : history_tell(h, &e);
}

static int
message(struct turn_history *h, const struct line *l, struct view payload)
{
    struct view role = { 0 }, content = { 0 }, id = { 0 };
    const struct turn_field wanted[] = { { "role", &role },
                                         { "content", &content },
                                         { "id", &id } };
    (void)turn_known_fields(payload, wanted, 3);
    struct buf *out = &h->s.text[0];
    int r = join_texts(content, out);
    struct view text = { out->p, out->n };
    bool is_user = turn_is(role, "user");
    if (r < 0)
        return r;
    if (!text.n || (!is_user && !turn_is(role, "assistant")) ||
        (is_user && is_wrapping(text)))
        return history_other(h, l->type, role, l->object);
    return tell_text(h, TURN_TEXT, is_user, text, id, FROM_MODEL);
}

/* Each part for itself: the events tell them so. */
static int
think(struct turn_history *h, struct view parts, struct view id, enum source source)
{
    int r = 0;
    for (struct view part; !r && turn_next(&parts, &part);) {
        struct view text = { 0 };
        const struct turn_field wanted[] = { { "text", &text } };
        (void)turn_known_fields(part, wanted, 1);
        text = turn_text(text.n ? text : part, &h->s.text[0]);
        r = tell_text(h, TURN_THINKING, false, text, id, source);
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
    int r = think(h, summary, id, FROM_MODEL);
    return r < 0 ? r : think(h, content, id, FROM_MODEL);
}

/* -- calls -- */

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

static int
call(struct turn_history *h, struct view payload)
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
    return join_texts(output, out);
}

static int
result(struct turn_history *h, struct view payload)
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
    return history_tell(h, &e);
}

/* -- events: what the user saw -- */

struct item {
    struct view type, id, content, text, command, output, exit_code, status, changes;
    struct view tool, arguments, result, error, summary, raw;
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

static int
tool_item(struct turn_history *h, const struct item *i)
{
    struct turn_event e = turn_event(TURN_TOOL_RESULT);
    struct view id = turn_text(i->id, &h->s.text[0]);
    buf_clear(&h->s.text[3]);
    bool is_open = turn_call_close(&h->s, id, &h->s.text[3]);
    if (!is_open && history_take_back(h, history_hash(RESULT_OF_MODEL, id)))
        return 0;
    int r = is_open ? 0 : open_item(h, i, id);
    if (!r)
        r = history_remember(h, history_hash(RESULT_OF_EVENT, id));
    if (r < 0)
        return r;
    uint64_t code = turn_u64(i->exit_code, TURN_UNKNOWN);
    e.id = id;
    e.name = (struct view){ h->s.text[3].p, h->s.text[3].n };
    e.exit_code = code <= INT_MAX ? (int)code : -1;
    e.is_error = turn_is(i->status, "failed") || turn_is(i->status, "declined") ||
                 e.exit_code > 0;
    struct view said = i->error.n > 2 && i->error.p[0] == '"' ? i->error : i->output;
    if (said.n)
        e.text = turn_text(said, &h->s.text[2]);
    else
        e.text = i->result.n ? i->result : turn_text(i->status, &h->s.text[2]);
    return history_tell(h, &e);
}

static int
item(struct turn_history *h, const struct line *l, struct view object)
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
        { "raw_content", &i.raw },
    };
    static const char *const tools[] = { "CommandExecution", "FileChange", "McpToolCall",
                                         NULL };
    (void)turn_known_fields(object, wanted, sizeof(wanted) / sizeof(wanted[0]));
    bool is_user = turn_is(i.type, "UserMessage");
    if (is_word(i.type, tools))
        return tool_item(h, &i);
    if (turn_is(i.type, "Reasoning")) {
        int thought = think(h, i.summary, i.id, FROM_EVENTS);
        return thought < 0 ? thought : think(h, i.raw, i.id, FROM_EVENTS);
    }
    struct buf *out = &h->s.text[0];
    int r = join_texts(i.content.n ? i.content : i.text, out);
    struct view text = { out->p, out->n };
    if (r < 0)
        return r;
    if ((is_user && !is_wrapping(text)) || turn_is(i.type, "AgentMessage"))
        return tell_text(h, TURN_TEXT, is_user, text, i.id, FROM_EVENTS);
    return history_other(h, l->kind, i.type, l->object);
}

/* -- usage -- */

static struct turn_usage
usage_of(struct view object)
{
    struct view input = { 0 }, cached = { 0 }, written = { 0 }, output = { 0 };
    const struct turn_field wanted[] = {
        { "input_tokens", &input },
        { "cached_input_tokens", &cached },
        { "cache_write_input_tokens", &written },
        { "output_tokens", &output },
    };
    (void)turn_known_fields(object, wanted, 4);
    struct turn_usage u = { turn_u64(input, 0), turn_u64(output, 0), turn_u64(written, 0),
                            turn_u64(cached, 0) };
    uint64_t of_cache = u.cache_read_tokens + u.cache_creation_tokens;
    if (of_cache >= u.cache_read_tokens && of_cache <= u.input_tokens)
        u.input_tokens -= of_cache;
    return u;
}

static int
tell_usage(struct turn_history *h, struct turn_usage u, struct view id)
{
    struct turn_event e = turn_event(TURN_USAGE);
    e.id = id;
    e.model = (struct view){ h->facts.model.p, h->facts.model.n };
    e.usage = u;
    e.is_final = true;
    return history_tell(h, &e);
}

/* A running total, often told more than once: what it has grown by. 0: it is the same.
 * One that has shrunk is another one's, of which only the last step is known. */
static bool
take_total(struct turn_history *h, struct turn_usage all, struct turn_usage last,
           struct turn_usage *ret)
{
    bool has_shrunk = false, has_grown = false;
    struct turn_usage grown = { 0 };
    for (size_t i = 0; i < TURN_USAGE_FIELDS; i++) {
        uint64_t now = *turn_usage_field(&all, i), before = h->totals[i];
        has_shrunk |= now < before;
        has_grown |= now > before;
        *turn_usage_field(&grown, i) = now > before ? now - before : 0;
        h->totals[i] = now;
    }
    *ret = has_shrunk ? last : grown;
    return has_shrunk || has_grown;
}

/* One answer of the model's, by its id. */
static int
record(struct turn_history *h, struct view payload)
{
    struct view id = { 0 }, usage = { 0 }, thread = { 0 };
    const struct turn_field wanted[] = { { "response_id", &id },
                                         { "usage", &usage },
                                         { "thread_token_usage", &thread } };
    (void)turn_known_fields(payload, wanted, 3);
    struct turn_usage used = usage_of(usage), all = usage_of(thread), grown;
    for (size_t i = 0; !thread.n && i < TURN_USAGE_FIELDS; i++) {
        uint64_t more = *turn_usage_field(&used, i);
        uint64_t room = TURN_UNKNOWN - 1 - h->totals[i];
        *turn_usage_field(&all, i) = h->totals[i] + (more < room ? more : room);
    }
    if (!take_total(h, all, used, &grown))
        return 0; /* the count has told it */
    return tell_usage(h, used, turn_text(id, &h->s.text[0]));
}

static int
count(struct turn_history *h, const struct line *l)
{
    struct view info = { 0 }, total = { 0 }, last = { 0 };
    const struct turn_field wanted[] = { { "info", &info } };
    const struct turn_field of_info[] = { { "total_token_usage", &total },
                                          { "last_token_usage", &last } };
    (void)turn_known_fields(l->payload, wanted, 1);
    (void)turn_known_fields(info, of_info, 2);
    struct turn_usage grown;
    if (!total.n || !take_total(h, usage_of(total), usage_of(last), &grown))
        return 0;
    AUTO(buf) id = { 0 };
    uint64_t name = history_hash(history_hash(4, l->timestamp), total);
    int r = buf_printf(&id, "codex-total-%016llx", (unsigned long long)name);
    return r < 0 ? r : tell_usage(h, grown, (struct view){ id.p, id.n });
}

/* -- lines -- */

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
    return history_tell(h, &e);
}

/* As many of the user's turns are undone, or all. */
static int
roll_back(struct turn_history *h, const struct line *l)
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
say(struct turn_history *h, const struct line *l, struct view text)
{
    bool is_user = turn_is(l->kind, "user_message");
    if (is_user && is_wrapping(text))
        return history_other(h, l->type, l->kind, l->object);
    return tell_text(h, TURN_TEXT, is_user, text, (struct view){ 0 }, FROM_EVENTS);
}

static int
event(struct turn_history *h, const struct line *l)
{
    struct view text = { 0 }, its_item = { 0 };
    const struct turn_field wanted[] = { { "message", &text },
                                         { "text", &text },
                                         { "item", &its_item } };
    (void)turn_known_fields(l->payload, wanted, 3);
    if (turn_is(l->kind, "item_completed"))
        return item(h, l, its_item);
    if (turn_is(l->kind, "token_count"))
        return count(h, l);
    if (turn_is(l->kind, "task_complete"))
        return done(h, l->payload, "success");
    if (turn_is(l->kind, "turn_aborted"))
        return done(h, l->payload, "aborted");
    if (turn_is(l->kind, "thread_rolled_back"))
        return roll_back(h, l);
    struct view said = turn_text(text, &h->s.text[0]);
    if (turn_is(l->kind, "user_message") || turn_is(l->kind, "agent_message"))
        return say(h, l, said);
    if (turn_is(l->kind, "agent_reasoning") ||
        turn_is(l->kind, "agent_reasoning_raw_content"))
        return tell_text(h, TURN_THINKING, false, said, (struct view){ 0 }, FROM_EVENTS);
    if (!turn_is(l->kind, "error") && !turn_is(l->kind, "stream_error"))
        return history_other(h, l->type, l->kind, l->object);
    struct turn_event e = turn_event(TURN_ERROR);
    e.text = said;
    return history_tell(h, &e);
}

static int
response(struct turn_history *h, const struct line *l, struct view kind,
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
    if (is_word(kind, calls))
        return call(h, payload);
    if (is_word(kind, results))
        return result(h, payload);
    return history_other(h, l->type, kind, l->object);
}

/* session_meta and turn_context. The first id is the session's: a fork has its parent's
 * behind its own. */
static int
learn(struct turn_history *h, const struct line *l)
{
    struct turn_history_facts *f = &h->facts;
    struct view id = { 0 }, cwd = { 0 }, version = { 0 }, git = { 0 }, branch = { 0 },
                model = { 0 };
    const struct turn_field wanted[] = { { "id", &id },
                                         { "cwd", &cwd },
                                         { "cli_version", &version },
                                         { "git", &git },
                                         { "model", &model } };
    const struct turn_field of_git[] = { { "branch", &branch } };
    (void)turn_known_fields(l->payload.n ? l->payload : l->object, wanted, 5);
    (void)turn_known_fields(git, of_git, 1);
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
    struct line l;
    bool has_payload = take_line(object, &l);
    history_set_time(h, l.timestamp);
    if (turn_is(l.type, "response_item"))
        return response(h, &l, l.kind, l.payload);
    if (turn_is(l.type, "event_msg"))
        return event(h, &l);
    if (turn_is(l.type, "token_usage_record"))
        return record(h, l.payload);
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
