/* SPDX-License-Identifier: MIT */
/*
 * line.c -- an event as a line of JSON, and back; doc/events.md is what it follows.
 *
 * Every field that is set is written whatever the type, so that nothing is lost; what a
 * field is called may depend on the type (`keys`).
 */
#include "turn/line.h"

#include <limits.h>
#include <stdio.h>

#include "base/base64.h"
#include "base/json.h"
#include "base/utf8.h"
#include "turn/compact.h"
#include "turn/fields.h"

struct keys {
    const char *id, *name, *text, *json;
};

static struct keys
keys_of(enum turn_type type)
{
    struct keys k = { "id", "name", "text", "input" };
    if (type == TURN_SESSION)
        k.id = "agent_session_id", k.name = "command";
    if (type == TURN_DONE)
        k.id = "thread", k.name = "subtype", k.json = "models";
    if (type == TURN_EXIT)
        k.name = "status";
    if (type == TURN_ARTIFACT)
        k.name = "change", k.text = "path";
    if (type == TURN_OTHER)
        k.json = "data";
    return k;
}

/* Is it written even where it is empty? */
static bool
is_all_text(enum turn_type type)
{
    return type == TURN_TEXT || type == TURN_THINKING || type == TURN_TOOL_RESULT ||
           type == TURN_ERROR || type == TURN_WARNING || type == TURN_STDERR ||
           type == TURN_ARTIFACT;
}

/* -- out -- */

static void
put_base64(struct json *j, struct view bytes)
{
    AUTO(buf) letters = { .ceiling = bytes.n / 3 * 4 + 8 };
    base64_put(bytes, &letters);
    if (letters.failed && !j->out->failed)
        j->out->failed = letters.failed;
    json_bytes(j, (struct view){ letters.p, letters.n });
}

static void
put_suffixed(struct json *j, const char *key, const char *suffix, struct view value)
{
    char full[64];
    if (*suffix)
        snprintf(full, sizeof(full), "%s%s", key, suffix);
    json_key(j, *suffix ? full : key);
    if (utf8_is_text(value.p, value.n))
        json_bytes(j, value);
    else
        put_base64(j, value);
}

/* As "key", or where it is no UTF-8 "key_base64". */
static void
put_name(struct json *j, const char *key, struct view value)
{
    if (value.n)
        put_suffixed(j, key, utf8_is_text(value.p, value.n) ? "" : "_base64", value);
}

static void
put_text(struct json *j, const char *key, const struct turn_event *e)
{
    if (!e->text.n && !is_all_text(e->type))
        return;
    put_suffixed(j, key, "", e->text);
    if (utf8_is_text(e->text.p, e->text.n))
        return;
    json_key(j, "encoding");
    json_str(j, "base64");
}

static void
put_json(struct json *j, const char *key, struct view value)
{
    AUTO(buf) compact = { .ceiling = value.n + 1 };
    if (!value.n)
        return;
    if (turn_compact(value, &compact)) {
        json_key(j, key);
        json_raw(j, (struct view){ compact.p, compact.n });
    } else {
        bool is_text = utf8_is_text(value.p, value.n);
        put_suffixed(j, key, is_text ? "_text" : "_base64", value);
    }
    if (compact.failed && !j->out->failed)
        j->out->failed = compact.failed;
}

static void
put_number(struct json *j, const char *key, uint64_t value)
{
    if (value == TURN_UNKNOWN)
        return;
    json_key(j, key);
    json_u64(j, value);
}

static void
put_true(struct json *j, const char *key, bool value)
{
    if (!value)
        return;
    json_key(j, key);
    json_bool(j, true);
}

static void
put_usage(struct json *j, const char *key, const struct turn_usage *u)
{
    if (u->input_tokens == TURN_UNKNOWN && u->output_tokens == TURN_UNKNOWN &&
        u->cache_creation_tokens == TURN_UNKNOWN && u->cache_read_tokens == TURN_UNKNOWN)
        return;
    json_key(j, key);
    json_open(j, '{');
    put_number(j, "input_tokens", u->input_tokens);
    put_number(j, "output_tokens", u->output_tokens);
    put_number(j, "cache_creation_input_tokens", u->cache_creation_tokens);
    put_number(j, "cache_read_input_tokens", u->cache_read_tokens);
    json_close(j, '}');
}

static void
put_stamp(struct json *j, const struct turn_stamp *at, enum turn_type type)
{
    json_key(j, "ts_ns");
    json_u64_str(j, at->ts_ns);
    json_key(j, "t_ms");
    json_u64(j, at->ts_ns > at->start_ns ? (at->ts_ns - at->start_ns) / 1000000 : 0);
    json_key(j, "session");
    json_str(j, at->session);
    if (at->iteration)
        put_number(j, "iteration", at->iteration);
    if (at->call)
        put_number(j, "call", at->call);
    if (at->has_anchor)
        put_number(j, "anchor_byte", at->anchor_byte);
    json_key(j, "type");
    json_str(j, turn_type_name(type));
}

void
turn_line(const struct turn_event *e, const struct turn_stamp *at, struct buf *out)
{
    struct json json = { .out = out }, *j = &json;
    const struct keys k = keys_of(e->type);
    json_open(j, '{');
    put_stamp(j, at, e->type);
    if (e->type == TURN_TEXT || e->is_user) {
        json_key(j, "role");
        json_str(j, e->is_user ? "user" : "assistant");
    }
    put_name(j, k.id, e->id);
    put_name(j, "message", e->message);
    put_name(j, "parent", e->parent);
    put_name(j, k.name, e->name);
    put_name(j, "model", e->model);
    put_name(j, "cwd", e->cwd);
    put_true(j, "is_error", e->is_error);
    put_json(j, k.json, e->json);
    put_text(j, k.text, e);
    put_true(j, "interrupted", e->was_cut_off);
    put_number(j, "exit_code", e->exit_code < 0 ? TURN_UNKNOWN : (uint64_t)e->exit_code);
    put_name(j, "signal", e->signal);
    put_number(j, "duration_ms", e->duration_ms);
    put_number(j, "turns", e->turns);
    put_number(j, "cost_microusd", e->cost_microusd);
    put_usage(j, "usage", &e->usage);
    put_usage(j, "total", &e->total);
    put_true(j, "final", e->is_final);
    put_number(j, "from", e->from);
    json_close(j, '}');
    buf_puts(out, "\n");
}

/* -- in -- */

/* What a line has, as raw JSON. */
struct raw {
    struct view ts_ns, t_ms, iteration, call, anchor_byte, type;
    struct view role, is_error, interrupted, encoding;
    struct view id, message, parent, name, model, cwd, signal, text;
    struct view id_64, message_64, parent_64, name_64, model_64, cwd_64, signal_64;
    struct view json, json_text, json_64;
    struct view exit_code, duration_ms, turns, cost_microusd, usage, total, is_final;
    struct view from;
};

/* A number, or a string of its digits. */
static uint64_t
number(struct view value, uint64_t otherwise)
{
    if (value.n > 2 && value.p[0] == '"')
        value = (struct view){ value.p + 1, value.n - 2 };
    return turn_u64(value, otherwise);
}

static struct view
since(const struct buf *texts, size_t start)
{
    return (struct view){ texts->n > start ? texts->p + start : NULL, texts->n - start };
}

static struct view
take_str(struct view value, struct buf *texts)
{
    size_t start = texts->n;
    if (!turn_str(value, texts))
        texts->n = start;
    return since(texts, start);
}

static struct view
take_base64(struct view value, struct buf *texts)
{
    AUTO(buf) letters = { .ceiling = value.n + 1 };
    size_t start = texts->n;
    if (turn_str(value, &letters))
        base64_take((struct view){ letters.p, letters.n }, texts);
    return since(texts, start);
}

static struct view
take_name(struct view plain, struct view base64, struct buf *texts)
{
    struct view got = take_str(plain, texts);
    return got.n ? got : take_base64(base64, texts);
}

/* What was told as a text and is JSON all the same: as that is written. */
static struct view
as_json(struct view text, struct buf *texts)
{
    AUTO(buf) compact = { .ceiling = text.n + 1 };
    size_t start = texts->n - text.n;
    if (!text.n || !turn_compact(text, &compact))
        return text;
    texts->n = start;
    buf_append(texts, compact.p, compact.n); /* it is no longer */
    return since(texts, start);
}

static struct view
take_json(const struct raw *r, struct buf *texts)
{
    size_t start = texts->n;
    if (!r->json.n)
        return as_json(take_name(r->json_text, r->json_64, texts), texts);
    if (!turn_compact(r->json, texts))
        buf_append(texts, r->json.p, r->json.n);
    return since(texts, start);
}

static struct turn_usage
take_usage(struct view value)
{
    struct view in = { 0 }, out = { 0 }, creation = { 0 }, cached = { 0 };
    const struct turn_field wanted[] = {
        { "input_tokens", &in },
        { "output_tokens", &out },
        { "cache_creation_input_tokens", &creation },
        { "cache_read_input_tokens", &cached },
    };
    if (!value.n || !turn_fields(value, wanted, sizeof(wanted) / sizeof(wanted[0])))
        return TURN_NO_USAGE;
    return (struct turn_usage){
        turn_tokens(in, TURN_UNKNOWN),
        turn_tokens(out, TURN_UNKNOWN),
        turn_tokens(creation, TURN_UNKNOWN),
        turn_tokens(cached, TURN_UNKNOWN),
    };
}

/* The fields that have the same name in every type, and with `k` the others. */
static bool
find(struct view line, const struct keys *k, struct raw *r)
{
    char name_64[32], id_64[32], json_text[32], json_64[32];
    snprintf(name_64, sizeof(name_64), "%s_base64", k->name);
    snprintf(id_64, sizeof(id_64), "%s_base64", k->id);
    snprintf(json_text, sizeof(json_text), "%s_text", k->json);
    snprintf(json_64, sizeof(json_64), "%s_base64", k->json);
    const struct turn_field wanted[] = {
        { "ts_ns", &r->ts_ns },
        { "t_ms", &r->t_ms },
        { "iteration", &r->iteration },
        { "call", &r->call },
        { "anchor_byte", &r->anchor_byte },
        { "role", &r->role },
        { "is_error", &r->is_error },
        { "interrupted", &r->interrupted },
        { "encoding", &r->encoding },
        { k->id, &r->id },
        { id_64, &r->id_64 },
        { "message", &r->message },
        { "message_base64", &r->message_64 },
        { "parent", &r->parent },
        { "parent_base64", &r->parent_64 },
        { k->name, &r->name },
        { name_64, &r->name_64 },
        { "model", &r->model },
        { "model_base64", &r->model_64 },
        { "cwd", &r->cwd },
        { "cwd_base64", &r->cwd_64 },
        { "signal", &r->signal },
        { "signal_base64", &r->signal_64 },
        { k->text, &r->text },
        { k->json, &r->json },
        { json_text, &r->json_text },
        { json_64, &r->json_64 },
        { "exit_code", &r->exit_code },
        { "duration_ms", &r->duration_ms },
        { "turns", &r->turns },
        { "cost_microusd", &r->cost_microusd },
        { "usage", &r->usage },
        { "total", &r->total },
        { "final", &r->is_final },
        { "from", &r->from },
    };
    return turn_fields(line, wanted, sizeof(wanted) / sizeof(wanted[0]));
}

static struct turn_event
event_of(enum turn_type type, const struct raw *r, struct buf *texts)
{
    struct turn_event e = turn_event(type);
    uint64_t exit_code = turn_u64(r->exit_code, TURN_UNKNOWN);
    e.is_user = turn_is(r->role, "user");
    e.is_error = turn_is_true(r->is_error);
    e.was_cut_off = turn_is_true(r->interrupted);
    e.is_final = turn_is_true(r->is_final);
    e.from = turn_u64(r->from, TURN_UNKNOWN);
    e.id = take_name(r->id, r->id_64, texts);
    e.message = take_name(r->message, r->message_64, texts);
    e.parent = take_name(r->parent, r->parent_64, texts);
    e.name = take_name(r->name, r->name_64, texts);
    e.model = take_name(r->model, r->model_64, texts);
    e.cwd = take_name(r->cwd, r->cwd_64, texts);
    e.signal = take_name(r->signal, r->signal_64, texts);
    e.text = turn_is(r->encoding, "base64") ? take_base64(r->text, texts)
                                            : take_str(r->text, texts);
    e.json = take_json(r, texts);
    e.usage = take_usage(r->usage);
    e.total = take_usage(r->total);
    e.duration_ms = turn_u64(r->duration_ms, TURN_UNKNOWN);
    e.turns = turn_u64(r->turns, TURN_UNKNOWN);
    e.cost_microusd = turn_u64(r->cost_microusd, TURN_UNKNOWN);
    e.exit_code = exit_code <= INT_MAX ? (int)exit_code : -1;
    return e;
}

static struct turn_stamp
stamp_of(const struct raw *r)
{
    uint64_t ts_ns = number(r->ts_ns, 0), t_ms = turn_u64(r->t_ms, 0);
    uint64_t anchor = turn_u64(r->anchor_byte, TURN_UNKNOWN);
    return (struct turn_stamp){
        .ts_ns = ts_ns,
        .start_ns = t_ms <= ts_ns / 1000000 ? ts_ns - t_ms * 1000000 : ts_ns,
        .session = "",
        .iteration = turn_u64(r->iteration, 0),
        .call = turn_u64(r->call, 0),
        .has_anchor = anchor != TURN_UNKNOWN,
        .anchor_byte = anchor != TURN_UNKNOWN ? anchor : 0,
    };
}

/* A type of a later ahr's: all of it is kept. */
static struct turn_event
unknown(struct view type, struct view line, struct buf *texts)
{
    struct turn_event e = turn_event(TURN_OTHER);
    e.name = type;
    e.json = take_json(&(struct raw){ .json = line }, texts);
    return e;
}

int
turn_line_read(struct view line, struct buf *texts, struct turn_event *ret,
               struct turn_stamp *ret_at)
{
    struct raw raw = { 0 };
    const struct turn_field wanted[] = { { "type", &raw.type } };
    buf_clear(texts);
    if (!line.n || !turn_fields(line, wanted, 1))
        return ERR_DAMAGED;
    /* Views of the texts are handed out while more are appended: they must not move. No
     * text is longer than its JSON; of an unknown type all is taken, and its name. */
    int r = buf_reserve(texts, line.n + raw.type.n);
    if (r < 0)
        return r;
    struct view name = take_str(raw.type, texts);
    if (!name.n)
        return ERR_DAMAGED;
    int type = turn_type_of(name);
    const struct keys k = keys_of(type < 0 ? TURN_OTHER : (enum turn_type)type);
    find(line, &k, &raw);
    *ret = type < 0 ? unknown(name, line, texts)
                    : event_of((enum turn_type)type, &raw, texts);
    *ret_at = stamp_of(&raw);
    return 0;
}
