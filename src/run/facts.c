/* SPDX-License-Identifier: MIT */
/*
 * facts.c -- what is known of a run: metadata.json in its project, session.meta.json in
 * the library.
 *
 * Others may add artifacts to metadata.json meanwhile (`ahr artifact add`): what is
 * listed there stays listed (journal_metadata_write).
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "journal/git_branch.h"
#include "journal/metadata.h"
#include "run/keep_priv.h"
#include "run/mask_priv.h"

enum {
    CMD_BYTES_MAX = 64 << 10, /* what is kept of a command line */
    FACT_BYTES_MAX = 1 << 10, /* … of the name of a model or a session */
};

static int
mask_command(struct run_keep *k)
{
    struct run_facts *f = &k->facts;
    size_t n = 0;
    while (k->opt->argv[n])
        n++;
    f->cmd_list = calloc(n + 1, sizeof(*f->cmd_list));
    if (!f->cmd_list)
        return -ENOMEM;
    int r = redact_argv(k->redact, n, (const char *const *)k->opt->argv, &f->cmd);
    if (r < 0)
        return r;
    const char *start = (const char *)f->cmd.p, *at = start;
    for (; f->cmd_count < n && at - start < CMD_BYTES_MAX; at += strlen(at) + 1)
        f->cmd_list[f->cmd_count++] = at;
    if (f->cmd_count < n)
        f->cmd_list[f->cmd_count++] = "…";
    return 0;
}

static void
mask_word(struct run_keep *k, const char *word, struct buf *out)
{
    if (word)
        run_mask_text(k->redact, (struct view){ (const uint8_t *)word, strlen(word) },
                      out);
}

static int
mask_context(struct run_keep *k)
{
    struct run_facts *f = &k->facts;
    size_t n = k->opt->context_count;
    f->context_list = calloc(n + 1, sizeof(*f->context_list));
    if (!f->context_list)
        return -ENOMEM;
    for (size_t i = 0; i < n; i++) {
        mask_word(k, k->opt->context_files[i], &f->context);
        buf_append(&f->context, "", 1);
    }
    if (f->context.failed)
        return -ENOMEM;
    const char *at = (const char *)f->context.p;
    for (; f->context_count < n; at += strlen(at) + 1)
        f->context_list[f->context_count++] = at;
    return 0;
}

int
run_facts_init(struct run_keep *k, struct err *err)
{
    struct run_facts *f = &k->facts;
    AUTO(buf) branch = { 0 };
    f->exit_code = -1;
    buf_puts(&f->cwd, k->opt->root);
    if (k->opt->agent != TURN_AUTO)
        f->agent = turn_agent_name(k->opt->agent);
    journal_git_branch(k->opt->root, &branch);
    mask_word(k, buf_str(&branch), &f->branch);
    mask_word(k, k->opt->task, &f->task);
    mask_word(k, k->opt->role, &f->role);
    mask_word(k, k->opt->parent_name, &f->parent_name);
    int r = mask_command(k);
    if (!r)
        r = mask_context(k);
    return r < 0 ? err_code(err, r, "cannot record") : 0;
}

void
run_facts_release(struct run_facts *f)
{
    buf_release(&f->agent_session_id);
    buf_release(&f->model);
    buf_release(&f->cmd);
    buf_release(&f->task);
    buf_release(&f->role);
    buf_release(&f->parent_name);
    buf_release(&f->context);
    buf_release(&f->cwd);
    buf_release(&f->branch);
    turn_totals_release(&f->totals);
    free(f->cmd_list);
    free(f->context_list);
}

/* Masked, and no longer than such a thing is. */
static void
set(struct run_keep *k, struct buf *b, struct view v)
{
    AUTO(buf) masked = { 0 };
    if (!v.n)
        return;
    run_mask_text(k->redact, v, &masked);
    size_t n = masked.n < FACT_BYTES_MAX ? masked.n : FACT_BYTES_MAX;
    if (b->n == n && !memcmp(b->p, masked.p, n))
        return;
    buf_clear(b);
    buf_append(b, masked.p, n);
    k->facts.is_changed = true;
}

void
run_facts_see(struct run_keep *k, const struct turn_event *e)
{
    struct run_facts *f = &k->facts;
    if (e->type == TURN_SESSION) {
        set(k, &f->agent_session_id, e->id);
        set(k, &f->model, e->model);
    } else if (e->type == TURN_USAGE || e->type == TURN_DONE || e->type == TURN_EXIT) {
        (void)turn_totals_add(&f->totals, e);
        f->is_changed = true;
    }
}

void
run_facts_learn(struct run_keep *k, const struct session_usage *used, struct view model)
{
    struct run_facts *f = &k->facts;
    f->wire = *used;
    f->has_wire = used->calls != UINT64_MAX;
    if (!f->model.n)
        set(k, &f->model, model);
    f->is_changed = true;
}

static struct session_usage
usage_of(const struct run_facts *f)
{
    struct turn_usage u = turn_totals_usage(&f->totals);
    if (!f->totals.is_known && f->has_wire)
        return f->wire;
    return (struct session_usage){ u.input_tokens, u.output_tokens,
                                   u.cache_creation_tokens, u.cache_read_tokens,
                                   f->totals.calls };
}

static const char *
or_none(struct buf *b)
{
    return b->n ? buf_str(b) : NULL;
}

static int
write_project(struct run_keep *k, bool is_last, struct err *err)
{
    struct run_facts *f = &k->facts;
    const struct run_options *o = k->opt;
    AUTO(buf) path = { 0 };
    struct view artifacts = { 0 };
    struct session_usage u = usage_of(f);
    journal_project_path(&k->project, "metadata.json", &path);
    if (k->artifacts)
        artifacts = journal_artifacts_list(k->artifacts);
    struct journal_metadata m = {
        .id = k->id,
        .name = k->project.name,
        .role = or_none(&f->role),
        .status = session_status_name(f->status),
        .signal = f->signal,
        .parent = f->parent_name.n ? buf_str(&f->parent_name) : o->parent,
        .resumed_from = o->lineage ? o->lineage->resumed_from : NULL,
        .task = or_none(&f->task),
        .cwd = or_none(&f->cwd),
        .agent = f->agent,
        .agent_session_id = or_none(&f->agent_session_id),
        .model = or_none(&f->model),
        .cmd = f->cmd_list,
        .cmd_count = f->cmd_count,
        .context_files = f->context_list,
        .context_count = f->context_count,
        .artifacts = artifacts,
        .created_at_ns = k->clock.real_ns,
        .completed_at_ns = f->ended_at_ns,
        .pid = getpid(), /* also of one that has ended, as the seed has it */
        .pid_start = journal_process_start(getpid()),
        .command_pid = f->command_pid,
        .command_start = journal_process_start(f->command_pid),
        .exit_code = f->exit_code,
        .iterations = f->iterations,
        .usage = { u.input_tokens, u.output_tokens, u.cache_creation_tokens,
                   u.cache_read_tokens },
        .calls = u.calls,
    };
    return journal_metadata_write(buf_str(&path), &m, is_last, err);
}

static int
write_library(struct run_keep *k, bool is_last, struct err *err)
{
    struct run_facts *f = &k->facts;
    const struct run_options *o = k->opt;
    struct session_usage usage = usage_of(f);
    struct session_meta m = {
        .id = k->id,
        .status = f->status,
        .started_at_ns = k->clock.real_ns,
        .ended_at_ns = f->ended_at_ns,
        .cmd = f->cmd_list,
        .cmd_count = f->cmd_count,
        .host_pid = f->ended_at_ns ? 0 : getpid(),
        .cols = o->cols,
        .rows = o->rows,
        .quality = tape_writer_defaults.quality,
        .name = k->has_project ? k->project.name : o->name,
        .role = or_none(&f->role),
        .task = or_none(&f->task),
        .parent = o->parent,
        .lineage = o->lineage,
        .cwd = or_none(&f->cwd),
        .git_branch = or_none(&f->branch),
        .signal = f->signal,
        .exit_code = f->exit_code,
        .total_bytes = k->tape_off,
        .is_redacted = true,
        .kind = "stream",
        .agent = f->agent,
        .agent_session_id = or_none(&f->agent_session_id),
        .model = or_none(&f->model),
        .project = k->has_project ? k->project.dir : NULL,
        .usage = f->totals.is_known || f->has_wire ? &usage : NULL,
        .iterations = f->iterations,
        .entire = run_entire_fact(k),
    };
    return session_meta_write(k->folder.meta_path, &m, is_last, err);
}

/* The last ones are not given up for one refusal, nor because the disk does not sync.
 * False: somebody else is at it, and it is to be tried again. */
static bool
write_one(struct run_keep *k, enum run_place place, bool is_last,
          int (*write)(struct run_keep *k, bool is_last, struct err *err))
{
    struct err err, first;
    int r = write(k, is_last, &first);
    if (!r || r == ERR_BUSY)
        return !r;
    for (int tries = 1; r < 0 && is_last && tries < SESSION_LAST_TRIES; tries++)
        r = write(k, tries < SESSION_LAST_TRIES - 1, &err);
    run_keep_trouble(k, place, &first);
    return true;
}

void
run_facts_write(struct run_keep *k, bool is_last)
{
    bool is_done = !k->has_project || write_one(k, RUN_PROJECT, is_last, write_project);
    if (k->has_folder)
        is_done &= write_one(k, RUN_LIBRARY, is_last, write_library);
    k->facts.is_changed = !is_done;
    k->facts.at_mono_ns = clock_mono_ns();
}
