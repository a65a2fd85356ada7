/* SPDX-License-Identifier: MIT */
/* metadata.c -- metadata.json, written from what the run knows. */
#include "journal/metadata.h"

#include "base/json.h"
#include "journal/io.h"
#include "journal/metadata_priv.h"

/* One member a line, as in the seed. */
static void
key(struct json *j, const char *name)
{
    buf_puts(j->out, j->comma ? ",\n  " : "\n  ");
    j->comma = false;
    json_str(j, name);
    buf_puts(j->out, ": ");
    j->comma = false;
}

static void
put_text(struct json *j, const char *name, const char *text)
{
    key(j, name);
    json_str_or_none(j, text);
}

static void
put_time(struct json *j, const char *name, uint64_t ts_ns)
{
    AUTO(buf) text = { 0 };
    if (ts_ns)
        journal_time(ts_ns, &text);
    put_text(j, name, ts_ns ? buf_str(&text) : NULL);
}

static void
put_number(struct json *j, const char *name, uint64_t v, bool is_known)
{
    key(j, name);
    if (is_known)
        json_u64(j, v);
    else
        json_none(j);
}

static void
put_list(struct json *j, const char *name, const char *const *items, size_t count)
{
    key(j, name), json_open(j, '[');
    for (size_t i = 0; i < count; i++)
        json_str(j, items[i]);
    json_close(j, ']');
}

static void
put_artifacts(struct json *j, struct view old, struct view ours)
{
    AUTO(buf) all = { 0 };
    journal_metadata_artifacts(old, &all);
    for (size_t at = 0; at < ours.n; at += strlen((const char *)ours.p + at) + 1)
        journal_names_add(&all, (const char *)ours.p + at);
    key(j, "artifacts_produced"), json_open(j, '[');
    for (size_t at = 0; at < all.n; at += strlen((char *)all.p + at) + 1)
        json_str(j, (char *)all.p + at);
    json_close(j, ']');
}

static void
put_usage(struct json *j, const struct journal_metadata *m)
{
    const struct {
        const char *name;
        uint64_t v;
    } counts[] = {
        { "input_tokens", m->usage.input_tokens },
        { "output_tokens", m->usage.output_tokens },
        { "cache_creation_input_tokens", m->usage.cache_creation_tokens },
        { "cache_read_input_tokens", m->usage.cache_read_tokens },
        { "calls", m->calls },
    };
    key(j, "usage"), json_open(j, '{');
    for (size_t i = 0; i < sizeof(counts) / sizeof(counts[0]); i++) {
        json_key(j, counts[i].name);
        if (counts[i].v == TURN_UNKNOWN)
            json_none(j);
        else
            json_u64(j, counts[i].v);
    }
    json_close(j, '}');
}

/* What is in the seed, in its order. */
static void
put_seed(struct json *j, const struct journal_metadata *m, struct view old)
{
    put_text(j, "session_id", m->name);
    put_text(j, "role", m->role);
    put_text(j, "status", m->status);
    put_time(j, "created_at", m->created_at_ns);
    put_time(j, "completed_at", m->completed_at_ns);
    put_text(j, "parent_session", m->parent);
    put_text(j, "task", m->task);
    put_list(j, "context_files", m->context_files, m->context_count);
    put_artifacts(j, old, m->artifacts);
    put_number(j, "pid", (uint64_t)m->pid, m->pid > 0);
    put_number(j, "exit_code", (uint64_t)m->exit_code, m->exit_code >= 0);
}

void
journal_metadata_format(const struct journal_metadata *m, struct view old,
                        struct buf *out)
{
    struct json json = { .out = out }, *j = &json;
    json_open(j, '{');
    put_seed(j, m, old);
    put_text(j, "id", m->id);
    put_number(j, "pid_start", m->pid_start, m->pid_start);
    put_number(j, "command_pid", (uint64_t)m->command_pid, m->command_pid > 0);
    put_number(j, "command_start", m->command_start, m->command_start);
    put_text(j, "signal", m->signal);
    put_list(j, "cmd", m->cmd, m->cmd_count);
    put_text(j, "cwd", m->cwd);
    put_text(j, "agent", m->agent);
    put_text(j, "agent_session_id", m->agent_session_id);
    put_text(j, "model", m->model);
    put_number(j, "iterations", m->iterations, true);
    put_text(j, "resumed_from", m->resumed_from);
    put_usage(j, m);
    journal_metadata_foreign(old, out);
    buf_puts(out, "\n}\n");
}
