/* SPDX-License-Identifier: MIT */
/* metadata_read.c -- what others need of a metadata.json. */
#include <errno.h>
#include <fcntl.h>
#include <limits.h>

#include "base/file.h"
#include "base/num.h"
#include "journal/file_priv.h"
#include "journal/io.h"
#include "journal/metadata.h"
#include "journal/metadata_priv.h"

enum {
    ID,
    NAME,
    ROLE,
    STATUS,
    PARENT,
    TASK,
    SIGNAL,
    RESUMED_FROM,
    CWD,
    AGENT,
    AGENT_SESSION_ID,
    MODEL,
    CREATED_AT,
    COMPLETED_AT,
    TEXTS
};

static const char *const keys[TEXTS] = {
    [ID] = "id",
    [NAME] = "session_id",
    [ROLE] = "role",
    [STATUS] = "status",
    [PARENT] = "parent_session",
    [TASK] = "task",
    [SIGNAL] = "signal",
    [RESUMED_FROM] = "resumed_from",
    [CWD] = "cwd",
    [AGENT] = "agent",
    [AGENT_SESSION_ID] = "agent_session_id",
    [MODEL] = "model",
    [CREATED_AT] = "created_at",
    [COMPLETED_AT] = "completed_at",
};

struct reading {
    struct view text[TEXTS], artifacts, context, cmd; /* raw, and so are the numbers */
    struct view pid, pid_start, command_pid, command_start, exit_code, iterations;
};

void
journal_told_release(struct journal_told *t)
{
    buf_release(&t->texts);
    *t = (struct journal_told){ 0 };
}

static void
note(struct reading *r, const struct journal_members *m, const char *key)
{
    const struct {
        const char *key;
        struct view *value;
    } others[] = {
        { "artifacts_produced", &r->artifacts },
        { "context_files", &r->context },
        { "pid", &r->pid },
        { "pid_start", &r->pid_start },
        { "command_pid", &r->command_pid },
        { "command_start", &r->command_start },
        { "cmd", &r->cmd },
        { "exit_code", &r->exit_code },
        { "iterations", &r->iterations },
    };
    for (size_t i = 0; i < TEXTS; i++)
        if (!strcmp(keys[i], key))
            r->text[i] = m->value;
    for (size_t i = 0; i < sizeof(others) / sizeof(others[0]); i++)
        if (!strcmp(others[i].key, key))
            *others[i].value = m->value;
}

/* Where it begins in texts; SIZE_MAX: it is no text. */
static size_t
put_text(struct view raw, struct buf *texts)
{
    struct json_in in = { .p = raw.p, .end = raw.p + raw.n };
    size_t start = texts->n;
    if (json_in_peek(&in) != '"' || !json_in_str(&in, texts) ||
        (texts->n > start && memchr(texts->p + start, 0, texts->n - start))) {
        texts->n = start;
        return SIZE_MAX;
    }
    buf_append(texts, "", 1);
    return start;
}

static struct view
put_names(struct view raw, struct buf *texts)
{
    AUTO(buf) names = { 0 };
    journal_names_read(raw, &names);
    buf_append(texts, names.p, names.n);
    return (struct view){ NULL, names.n };
}

/* Of a command, which may say a word twice. */
static struct view
put_words(struct view raw, struct buf *texts)
{
    struct json_in in = { .p = raw.p, .end = raw.p + raw.n };
    size_t start = texts->n;
    bool is_first = true;
    bool is_good = json_in_take(&in, '[');
    while (is_good && json_in_each(&in, ']', &is_first))
        is_good = json_in_peek(&in) == '"' && json_in_str(&in, texts) &&
                  buf_append(texts, "", 1) == 0;
    if (!is_good || in.failed)
        texts->n = start; /* half a command is another one */
    return (struct view){ NULL, texts->n - start };
}

static uint64_t
stamp(const char *text)
{
    return text ? journal_time_read((struct view){ (const uint8_t *)text, strlen(text) })
                : 0;
}

/* 0: it is none. */
static uint64_t
number(struct view raw, uint64_t max)
{
    uint64_t n = 0;
    return num_parse(raw, max, &n) < 0 ? 0 : n;
}

/* texts has its last place only when all are in it. */
static int
tell(const struct reading *r, struct journal_told *t)
{
    size_t at[TEXTS];
    for (size_t i = 0; i < TEXTS; i++)
        at[i] = put_text(r->text[i], &t->texts);
    size_t lists = t->texts.n;
    t->artifacts = put_names(r->artifacts, &t->texts);
    t->context_files = put_names(r->context, &t->texts);
    t->cmd = put_words(r->cmd, &t->texts);
    if (t->texts.failed)
        return t->texts.failed;
    const char *created = NULL, *completed = NULL;
    const char **into[TEXTS] = {
        [ID] = &t->id,
        [NAME] = &t->name,
        [ROLE] = &t->role,
        [STATUS] = &t->status,
        [PARENT] = &t->parent,
        [TASK] = &t->task,
        [SIGNAL] = &t->signal,
        [RESUMED_FROM] = &t->resumed_from,
        [CWD] = &t->cwd,
        [AGENT] = &t->agent,
        [AGENT_SESSION_ID] = &t->agent_session_id,
        [MODEL] = &t->model,
        [CREATED_AT] = &created,
        [COMPLETED_AT] = &completed,
    };
    for (size_t i = 0; i < TEXTS; i++)
        *into[i] = at[i] == SIZE_MAX ? NULL : (char *)t->texts.p + at[i];
    t->created_at_ns = stamp(created);
    t->completed_at_ns = stamp(completed);
    if (t->texts.p) {
        t->artifacts.p = t->texts.p + lists;
        t->context_files.p = t->artifacts.p + t->artifacts.n;
        t->cmd.p = t->context_files.p + t->context_files.n;
    }
    uint64_t code;
    t->exit_code = num_parse(r->exit_code, INT_MAX, &code) < 0 ? -1 : (int)code;
    t->iterations = number(r->iterations, UINT64_MAX);
    t->pid = (int)number(r->pid, INT_MAX);
    t->pid_start = number(r->pid_start, UINT64_MAX);
    t->command_pid = (int)number(r->command_pid, INT_MAX);
    t->command_start = number(r->command_start, UINT64_MAX);
    return 0;
}

int
journal_metadata_read(const char *path, struct journal_told *ret, struct err *err)
{
    AUTO(buf) file = { 0 };
    struct reading reading = { 0 };
    struct journal_told t = { 0 };
    int r = journal_file_read(AT_FDCWD, path, JOURNAL_METADATA_MAX, &file);
    if (r < 0)
        return err_code(err, r, "cannot read '%s'", path);
    AUTO(journal_members) m = { .in = { .p = file.p, .end = file.p + file.n } };
    while (journal_members_next(&m))
        note(&reading, &m, buf_str(&m.key));
    if (m.in.failed)
        return err_set(err, ERR_DAMAGED, "'%s' is no JSON object", path);
    r = tell(&reading, &t);
    if (r < 0) {
        journal_told_release(&t);
        return err_code(err, r, "cannot read '%s'", path);
    }
    *ret = t;
    return 0;
}

int
journal_refuse_encrypted(const char *dir, struct err *err)
{
    AUTO(journal_told) told = { 0 };
    AUTO(buf) path = { 0 };
    if (buf_printf(&path, "%s/metadata.json", dir) < 0 ||
        journal_metadata_read(buf_str(&path), &told, NULL) < 0 || !told.status ||
        strcmp(told.status, "encrypted") != 0)
        return 0;
    return err_set(err, -EACCES,
                   "the run in '%s' is encrypted; 'ahr decrypt %s' makes it readable",
                   dir, told.id ? told.id : file_name(dir));
}
