/* SPDX-License-Identifier: MIT */
#include "cli/session_json.h"

#include "base/json_in.h"
#include "cli/when.h"

static void
put_text(struct json *j, const char *key, const char *text)
{
    json_key(j, key);
    json_str_or_none(j, text);
}

/* none: what stands for a number that is not known. */
static void
put_number(struct json *j, const char *key, uint64_t n, uint64_t none)
{
    json_key(j, key);
    if (n != none)
        json_u64(j, n);
    else
        json_none(j);
}

static void
put_time(struct json *j, const char *key, uint64_t ns)
{
    char text[CLI_WHEN_ISO_SIZE];
    put_text(j, key, ns ? cli_when_iso(ns, text) : NULL);
}

/* An array of texts, and nothing else? */
static bool
is_words(struct view json)
{
    struct json_in in = { .p = json.p, .end = json.p + json.n };
    bool is_first = true;
    if (!json_in_take(&in, '['))
        return false;
    while (json_in_each(&in, ']', &is_first))
        if (!json_in_str(&in, NULL))
            return false;
    return !in.failed && !in.is_odd && !json_in_peek(&in);
}

/* The words are JSON already, unless somebody else has written to the index. */
static void
put_words(struct json *j, const char *key, const char *words)
{
    struct view json = { (const uint8_t *)words, words ? strlen(words) : 0 };
    json_key(j, key);
    if (words && is_words(json))
        json_raw(j, json);
    else
        json_none(j);
}

void
cli_usage_json(struct json *j, const struct session_usage *u)
{
    json_key(j, "usage");
    if (u->input_tokens == UINT64_MAX && u->output_tokens == UINT64_MAX &&
        u->cache_creation_tokens == UINT64_MAX && u->cache_read_tokens == UINT64_MAX &&
        u->calls == UINT64_MAX) {
        json_none(j);
        return;
    }
    json_open(j, '{');
    put_number(j, "input_tokens", u->input_tokens, UINT64_MAX);
    put_number(j, "output_tokens", u->output_tokens, UINT64_MAX);
    put_number(j, "cache_creation_input_tokens", u->cache_creation_tokens, UINT64_MAX);
    put_number(j, "cache_read_input_tokens", u->cache_read_tokens, UINT64_MAX);
    put_number(j, "calls", u->calls, UINT64_MAX);
    json_close(j, '}');
}

static void
put_usage(struct json *j, const struct store_session *f)
{
    const struct session_usage usage = { f->input_tokens, f->output_tokens,
                                         f->cache_creation_tokens, f->cache_read_tokens,
                                         f->calls };
    cli_usage_json(j, &usage);
}

static void
put_branch(struct json *j, const struct store_session *f)
{
    json_key(j, "branch");
    if (f->branch_snapshot == UINT64_MAX) {
        json_none(j);
        return;
    }
    json_open(j, '{');
    put_text(j, "from", f->parent);
    put_number(j, "snapshot_id", f->branch_snapshot, UINT64_MAX);
    put_number(j, "anchor_byte", f->branch_byte, UINT64_MAX);
    json_close(j, '}');
}

static void
put_fork(struct json *j, const struct store_session *f)
{
    json_key(j, "fork");
    if (f->fork_turn == UINT64_MAX) {
        json_none(j);
        return;
    }
    json_open(j, '{');
    put_text(j, "from", f->parent);
    put_number(j, "turn", f->fork_turn, UINT64_MAX);
    json_close(j, '}');
}

static void
put_path(struct json *j, const char *home, const struct library_session *s)
{
    AUTO(buf) path = { 0 };
    buf_printf(&path, "%s/%s/%s", home, library_place_name(s->place), s->facts.id);
    put_text(j, "path", buf_str(&path));
}

void
cli_session_json(struct json *j, const char *home, const struct library_session *s)
{
    const struct store_session *f = &s->facts;
    bool has_end = f->started_at_ns && f->ended_at_ns >= f->started_at_ns;
    json_open(j, '{');
    put_text(j, "id", f->id);
    put_text(j, "name", f->name);
    put_text(j, "role", f->role);
    put_text(j, "kind", f->kind);
    put_text(j, "status", f->status);
    put_text(j, "signal", f->signal);
    put_number(j, "exit_code", f->exit_code < 0 ? UINT64_MAX : (uint64_t)f->exit_code,
               UINT64_MAX);
    put_words(j, "cmd", f->cmd);
    put_text(j, "cwd", f->cwd);
    put_text(j, "task", f->task);
    put_time(j, "started_at", f->started_at_ns);
    put_time(j, "ended_at", f->ended_at_ns);
    put_number(j, "duration_ms",
               has_end ? (f->ended_at_ns - f->started_at_ns) / 1000000 : UINT64_MAX,
               UINT64_MAX);
    put_number(j, "bytes", f->bytes, UINT64_MAX);
    put_number(j, "cols", f->cols, 0);
    put_number(j, "rows", f->rows, 0);
    put_number(j, "snapshots", f->snapshots, UINT64_MAX);
    put_number(j, "instructions", f->instructions, UINT64_MAX);
    put_text(j, "parent", f->parent);
    put_branch(j, f);
    put_fork(j, f);
    put_text(j, "resumed_from", f->resumed_from);
    put_text(j, "agent", f->agent);
    put_text(j, "agent_session_id", f->agent_session_id);
    put_text(j, "model", f->model);
    put_usage(j, f);
    put_text(j, "project", f->project);
    put_number(j, "iterations", f->iterations, 0);
    put_number(j, "turns", s->is_indexed ? f->turns : UINT64_MAX, UINT64_MAX);
    put_number(j, "size_bytes", f->size_bytes, UINT64_MAX);
    json_key(j, "damaged"), json_bool(j, f->is_damaged);
    put_number(j, "lines", s->is_indexed ? f->lines : UINT64_MAX, UINT64_MAX);
    put_text(j, "place", library_place_name(s->place));
    json_key(j, "indexed"), json_bool(j, s->is_indexed);
    put_path(j, home, s);
    json_close(j, '}');
}
