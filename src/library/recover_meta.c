/* SPDX-License-Identifier: MIT */
#include "library/recover_meta.h"

#include <errno.h>
#include <limits.h>
#include <stdlib.h>

#include "journal/metadata.h"
#include "library/recover_run.h"
#include "library/runs.h"
#include "session/meta.h"
#include "tape/verify.h"
#include "tape/writer.h"

enum { TOLD_MAX = 256 << 10 }; /* more than that is none of what ahr run writes */

bool
recover_is_meta_lost(const char *meta_path)
{
    struct session_facts facts;
    int r = session_meta_read(meta_path, &facts, NULL);
    return r == ERR_MISSING || r == ERR_DAMAGED || (!r && !*facts.status);
}

/* What its project has of it, whose path is appended to *ret_dir. */
static bool
ask_project(const char *dir, const char *id, const char *meta_path,
            struct journal_told *ret, struct buf *ret_dir)
{
    AUTO(buf) path = { .ceiling = PATH_MAX };
    return library_project_of(dir, meta_path, ret_dir) == 0 && ret_dir->n &&
           buf_printf(&path, "%s/metadata.json", buf_str(ret_dir)) == 0 &&
           journal_metadata_read(buf_str(&path), ret, NULL) == 0 && ret->id &&
           !strcmp(ret->id, id) && ret->texts.n <= TOLD_MAX;
}

/* Of one that says that it goes on, nobody has told the end. */
static enum session_status
status_of(const struct journal_told *t)
{
    for (int i = SESSION_COMPLETED; t->status && i < SESSION_INTERRUPTED; i++)
        if (!strcmp(t->status, session_status_name((enum session_status)i)))
            return (enum session_status)i;
    return SESSION_INTERRUPTED;
}

/* In the project an elder may be called by its name. */
static const char *
id_or_none(const char *text)
{
    return text && session_id_is(text) ? text : NULL;
}

/* Pointers to the words, to free(). */
static const char **
list_words(struct view words, size_t *ret_count)
{
    size_t n = 0;
    const char **list = calloc(words.n + 1, sizeof(*list));
    for (size_t at = 0; list && at < words.n;) {
        list[n++] = (const char *)words.p + at;
        at += strlen((const char *)words.p + at) + 1;
    }
    *ret_count = n;
    return list;
}

static int
write_told(const char *meta_path, const struct journal_told *t, const char *project,
           const struct tape_verify_report *v, struct err *err)
{
    static const char *const no_env[] = { NULL };
    const struct session_lineage lineage = { id_or_none(t->resumed_from), UINT64_MAX };
    size_t count;
    const char **cmd = list_words(t->cmd, &count);
    if (!cmd)
        return err_code(err, -ENOMEM, "cannot write '%s'", meta_path);
    const struct session_meta m = {
        .id = t->id,
        .status = status_of(t),
        .started_at_ns = t->created_at_ns,
        .ended_at_ns = t->completed_at_ns ? t->completed_at_ns : v->last_ts_ns,
        .cmd = cmd,
        .cmd_count = count,
        .quality = tape_writer_defaults.quality, /* no run has another */
        .name = t->name,
        .role = t->role,
        .task = t->task,
        .parent = id_or_none(t->parent),
        .lineage = &lineage,
        .cwd = t->cwd,
        .signal = t->signal,
        .exit_code = t->exit_code,
        .total_bytes = v->bytes,
        .is_redacted = true,
        .kind = "stream",
        .agent = t->agent,
        .agent_session_id = t->agent_session_id,
        .model = t->model,
        .project = project,
        .iterations = t->iterations,
        .entire = SESSION_ENTIRE_MADE, /* if ever: a folder of its name is its own */
        .env = no_env,
    };
    int r = session_meta_set_aside(meta_path, err);
    if (!r)
        r = session_meta_write(meta_path, &m, true, err);
    free(cmd);
    return r;
}

static int
write_end(const char *dir, const char *id, const char *meta_path,
          const struct tape_verify_report *v, struct err *err)
{
    AUTO(journal_told) told = { 0 };
    AUTO(buf) project = { .ceiling = PATH_MAX };
    if (!recover_is_meta_lost(meta_path) ||
        !ask_project(dir, id, meta_path, &told, &project))
        return session_meta_interrupt(meta_path, id, v->bytes, v->last_ts_ns, err);
    int r = write_told(meta_path, &told, buf_str(&project), v, err);
    return r < 0 ? r : recover_learn(dir, meta_path, err);
}

int
recover_meta(const char *dir, const char *id, const char *tape_path,
             const char *meta_path, uint64_t at_least_ns, struct err *err)
{
    struct tape_verify_report v = { 0 };
    int r = tape_verify(tape_io_files(), tape_path, NULL, &v, err);
    if (r < 0 && r != ERR_MISSING)
        return r;
    if (v.last_ts_ns < at_least_ns)
        v.last_ts_ns = at_least_ns;
    r = write_end(dir, id, meta_path, &v, err);
    tape_verify_report_release(&v);
    return r;
}
