/* SPDX-License-Identifier: MIT */
/* metadata_read.c -- what others need of a metadata.json. */
#include <fcntl.h>
#include <limits.h>

#include "base/num.h"
#include "journal/file_priv.h"
#include "journal/metadata.h"
#include "journal/metadata_priv.h"

enum { ID, NAME, ROLE, STATUS, PARENT, TASK, TEXTS };

static const char *const keys[TEXTS] = {
    [ID] = "id",         [NAME] = "session_id",       [ROLE] = "role",
    [STATUS] = "status", [PARENT] = "parent_session", [TASK] = "task",
};

struct reading {
    struct view text[TEXTS], artifacts, context, pid, pid_start; /* raw */
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

/* texts has its last place only when all are in it. */
static int
tell(const struct reading *r, struct journal_told *t)
{
    size_t at[TEXTS];
    uint64_t pid = 0;
    for (size_t i = 0; i < TEXTS; i++)
        at[i] = put_text(r->text[i], &t->texts);
    size_t lists = t->texts.n;
    t->artifacts = put_names(r->artifacts, &t->texts);
    t->context_files = put_names(r->context, &t->texts);
    if (t->texts.failed)
        return t->texts.failed;
    const char **into[TEXTS] = { &t->id,     &t->name,   &t->role,
                                 &t->status, &t->parent, &t->task };
    for (size_t i = 0; i < TEXTS; i++)
        *into[i] = at[i] == SIZE_MAX ? NULL : (char *)t->texts.p + at[i];
    if (t->texts.p) {
        t->artifacts.p = t->texts.p + lists;
        t->context_files.p = t->artifacts.p + t->artifacts.n;
    }
    if (num_parse(r->pid, INT_MAX, &pid) == 0)
        t->pid = (int)pid;
    if (num_parse(r->pid_start, UINT64_MAX, &t->pid_start) < 0)
        t->pid_start = 0;
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
