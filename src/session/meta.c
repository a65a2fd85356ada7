/* SPDX-License-Identifier: MIT */
#include "session/meta.h"

#include <sys/utsname.h>

#include "base/file.h"
#include "base/json.h"

const char *
session_status_name(enum session_status status)
{
    static const char *const names[] = {
        [SESSION_ACTIVE] = "active",       [SESSION_COMPLETED] = "completed",
        [SESSION_FAILED] = "failed",       [SESSION_CRASHED] = "crashed",
        [SESSION_ABORTED] = "aborted",     [SESSION_INTERRUPTED] = "interrupted",
        [SESSION_ENCRYPTED] = "encrypted",
    };
    return names[status];
}

static void
put_text(struct json *j, const char *key, const char *text)
{
    if (text)
        json_key(j, key), json_str(j, text);
}

/* Readers of JSON have 63 bits for it. */
static void
put_number(struct json *j, const char *key, uint64_t v)
{
    json_key(j, key), json_u64(j, v > INT64_MAX ? INT64_MAX : v);
}

static void
put_cmd(struct json *j, const struct session_meta *m)
{
    json_key(j, "cmd"), json_open(j, '[');
    for (size_t i = 0; i < m->cmd_count; i++)
        json_str(j, m->cmd[i]);
    json_close(j, ']');
}

static void
put_host(struct json *j)
{
    struct utsname host;
    json_key(j, "host"), json_open(j, '{');
    json_key(j, "os"), json_str(j, "linux");
    if (uname(&host) == 0)
        json_key(j, "arch"), json_str(j, host.machine);
    json_close(j, '}');
}

static void
put_env(struct json *j, const char *const *env)
{
    static const char *const names[] = { "TERM", "COLORTERM", "LANG", "SHELL" };
    json_key(j, "env"), json_open(j, '{');
    for (; env && *env; env += 2)
        put_text(j, env[0], env[1]);
    for (size_t i = 0; !env && i < sizeof(names) / sizeof(names[0]); i++)
        put_text(j, names[i], getenv(names[i]));
    json_close(j, '}');
}

static void
put_branch(struct json *j, const struct session_branch *b)
{
    json_key(j, "branch"), json_open(j, '{');
    put_text(j, "from", b->from);
    put_number(j, "snapshot_id", b->snapshot_id);
    if (b->anchor_byte != UINT64_MAX)
        put_number(j, "anchor_byte", b->anchor_byte);
    json_close(j, '}');
}

static void
put_lineage(struct json *j, const struct session_meta *m)
{
    put_text(j, "resumedFrom", m->lineage->resumed_from);
    if (m->lineage->fork_turn == UINT64_MAX)
        return;
    json_key(j, "fork"), json_open(j, '{');
    put_text(j, "from", m->parent);
    put_number(j, "turn", m->lineage->fork_turn);
    json_close(j, '}');
}

static void
put_count(struct json *j, const char *key, uint64_t v)
{
    if (v != UINT64_MAX)
        put_number(j, key, v);
}

/* What is not known of it is left out, and all of it when nothing is. */
static void
put_usage(struct json *j, const struct session_usage *u)
{
    if (!u || memcmp(u, &SESSION_NO_USAGE, sizeof(*u)) == 0)
        return;
    json_key(j, "usage"), json_open(j, '{');
    put_count(j, "input_tokens", u->input_tokens);
    put_count(j, "output_tokens", u->output_tokens);
    put_count(j, "cache_creation_input_tokens", u->cache_creation_tokens);
    put_count(j, "cache_read_input_tokens", u->cache_read_tokens);
    put_count(j, "calls", u->calls);
    json_close(j, '}');
}

static void
put_run(struct json *j, const struct session_meta *m)
{
    put_text(j, "agent", m->agent);
    put_text(j, "agentSessionId", m->agent_session_id);
    put_text(j, "model", m->model);
    put_text(j, "project", m->project);
    if (m->iterations)
        put_number(j, "iterations", m->iterations);
    if (m->entire)
        json_key(j, "entire"), json_bool(j, m->entire == SESSION_ENTIRE_MADE);
    put_usage(j, m->usage);
}

static bool
is_imported(const struct session_meta *m)
{
    return m->kind && strcmp(m->kind, "import") == 0;
}

void
session_meta_format(const struct session_meta *m, struct buf *out)
{
    struct json json = { .out = out }, *j = &json;
    json_open(j, '{');
    put_number(j, "version", 1);
    put_text(j, "sessionId", m->id);
    put_number(j, "startedAtNs", m->started_at_ns);
    if (m->ended_at_ns)
        put_number(j, "endedAtNs", m->ended_at_ns);
    put_cmd(j, m);
    if (m->cols)
        put_number(j, "cols", m->cols);
    if (m->rows)
        put_number(j, "rows", m->rows);
    put_number(j, "brotliQ", (uint64_t)m->quality);
    if (!is_imported(m))
        put_host(j);
    put_text(j, "kind", m->kind);
    put_text(j, "source", m->source);
    put_text(j, "name", m->name);
    put_text(j, "role", m->role);
    put_text(j, "task", m->task);
    put_text(j, "parent", m->parent);
    if (m->branch)
        put_branch(j, m->branch);
    if (m->lineage)
        put_lineage(j, m);
    put_text(j, "cwd", m->cwd);
    put_text(j, "gitBranch", m->git_branch);
    put_run(j, m);
    put_text(j, "status", session_status_name(m->status));
    if (m->host_pid)
        put_number(j, "hostPid", (uint64_t)m->host_pid);
    if (m->exit_code >= 0)
        put_number(j, "exitCode", (uint64_t)m->exit_code);
    put_text(j, "signal", m->signal);
    put_number(j, "totalBytes", m->total_bytes);
    put_number(j, "gaps", m->gaps);
    put_number(j, "missingBytes", m->missing_bytes);
    json_key(j, "suspect"), json_bool(j, m->is_suspect);
    json_key(j, "input"), json_bool(j, m->has_input);
    json_key(j, "redacted"), json_bool(j, m->is_redacted);
    put_text(j, "ahrVersion", AHR_VERSION);
    put_env(j, m->env);
    json_close(j, '}');
    buf_puts(out, "\n");
}

int
session_meta_write(const char *path, const struct session_meta *m, bool is_synced,
                   struct err *err)
{
    AUTO(buf) text = { 0 };
    session_meta_format(m, &text);
    if (text.failed)
        return err_code(err, text.failed, "cannot write '%s'", path);
    return file_replace(path, (struct view){ text.p, text.n }, is_synced, err);
}
