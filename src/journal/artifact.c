/* SPDX-License-Identifier: MIT */
/* artifact.c -- calls that write files, remembered until their results are in. */
#include "journal/artifact.h"

#include <errno.h>
#include <stdlib.h>
#include <unistd.h>

#include "journal/artifact_path_priv.h"
#include "journal/artifact_priv.h"
#include "journal/metadata_priv.h"

enum {
    CALLS = 64,       /* that are open at once; the oldest gives way */
    CALL_FILES = 256, /* of one call */
    ID_BYTES = 200,
};

struct file {
    char *whole;        /* its path, absolute */
    const char *action; /* NULL: not told */
    bool was_there;
};

struct call {
    struct buf id;
    struct file *files;
    size_t count;
};

struct journal_artifacts {
    char *root, *dir, *cwd; /* cwd: the agent's, for relative paths */
    struct redact *redact;  /* borrowed */
    journal_artifact_fn fn;
    void *ctx;
    struct call calls[CALLS];
    size_t next; /* call to use */
    struct buf list;
};

int
journal_artifacts_new(struct journal_artifacts **ret, const char *root, const char *dir,
                      struct redact *redact, journal_artifact_fn fn, void *ctx)
{
    struct journal_artifacts *a = calloc(1, sizeof(*a));
    if (!a)
        return -ENOMEM;
    a->root = realpath(root, NULL);
    a->root = a->root ? a->root : strdup(root);
    a->dir = strdup(dir);
    a->cwd = a->root ? strdup(a->root) : NULL;
    a->redact = redact;
    a->fn = fn;
    a->ctx = ctx;
    if (a->root && a->dir && a->cwd) {
        *ret = a;
        return 0;
    }
    journal_artifacts_free(a);
    return -ENOMEM;
}

static void
call_clear(struct call *c)
{
    for (size_t i = 0; i < c->count; i++)
        free(c->files[i].whole);
    free(c->files);
    buf_release(&c->id);
    *c = (struct call){ 0 };
}

void
journal_artifacts_free(struct journal_artifacts *a)
{
    if (!a)
        return;
    for (size_t i = 0; i < CALLS; i++)
        call_clear(&a->calls[i]);
    free(a->root);
    free(a->dir);
    free(a->cwd);
    buf_release(&a->list);
    free(a);
}

struct view
journal_artifacts_list(const struct journal_artifacts *a)
{
    return (struct view){ a->list.p, a->list.n };
}

/* -- a file -- */

/* As it is listed and told to all: masked, in one line. */
static int
put_listed(struct journal_artifacts *a, const char *whole, struct buf *ret)
{
    AUTO(buf) listed = { 0 };
    journal_path_listed(whole, a->root, &listed);
    int r = a->redact ? redact_text(a->redact, listed.p, listed.n, ret)
                      : buf_append(ret, listed.p, listed.n);
    return r < 0 ? r : listed.failed;
}

static bool
is_in_journal(const struct journal_artifacts *a, const char *whole)
{
    size_t n = strlen(a->dir);
    return !strncmp(whole, a->dir, n) && (whole[n] == '/' || !whole[n]);
}

/* What cannot be copied is told of all the same; only must_exist is a reason not to. */
static int
record(struct journal_artifacts *a, struct journal_copy *c, struct err *err)
{
    AUTO(buf) listed = { 0 };
    int r = put_listed(a, c->file, &listed);
    if (r < 0)
        return err_code(err, r, "cannot note '%s'", c->file);
    c->dir = a->dir;
    c->path = (struct view){ listed.p, listed.n };
    r = journal_copy_make(c, a->redact, err);
    if (r == ERR_MISSING && c->must_exist)
        return r;
    size_t before = a->list.n;
    journal_names_add(&a->list, buf_str(&listed));
    bool is_new = a->list.n > before;
    const char *action = c->action ? c->action : is_new ? "created" : "modified";
    if (a->fn)
        a->fn(a->ctx, (struct view){ listed.p, listed.n }, action);
    return r;
}

int
journal_artifacts_add(struct journal_artifacts *a, const char *path, const char *action,
                      uint64_t ts_ns, struct err *err)
{
    AUTO(buf) whole = { 0 };
    struct view given = { (const uint8_t *)path, strlen(path) };
    char *cwd = getcwd(NULL, 0);
    bool is_path = journal_path_whole(given, cwd ? cwd : a->root, &whole);
    free(cwd);
    if (!is_path)
        return err_set(err, ERR_USAGE, "'%s' cannot be a file's path", path);
    if (is_in_journal(a, buf_str(&whole)))
        return err_set(err, ERR_USAGE, "'%s' is a part of the run's own folder", path);
    struct journal_copy c = {
        .file = buf_str(&whole), .action = action, .ts_ns = ts_ns, .must_exist = true
    };
    return record(a, &c, err);
}

/* -- calls and results -- */

struct noting {
    struct journal_artifacts *a;
    struct call *call;
};

static void
note_file(void *ctx, struct view path, const char *action)
{
    struct noting *n = ctx;
    struct call *c = n->call;
    AUTO(buf) whole = { 0 };
    if (c->count == CALL_FILES || !journal_path_whole(path, n->a->cwd, &whole) ||
        is_in_journal(n->a, buf_str(&whole)))
        return;
    struct file *more = reallocarray(c->files, c->count + 1, sizeof(*more));
    if (!more)
        return;
    c->files = more;
    struct file *f = &c->files[c->count];
    *f = (struct file){ .whole = strdup(buf_str(&whole)),
                        .action = action,
                        .was_there = access(buf_str(&whole), F_OK) == 0 };
    c->count += f->whole != NULL;
}

static struct call *
find_call(struct journal_artifacts *a, struct view id)
{
    for (size_t i = 0; i < CALLS; i++) {
        struct call *c = &a->calls[i];
        if (c->count && c->id.n == id.n && !memcmp(c->id.p, id.p, id.n))
            return c;
    }
    return NULL;
}

static int
see_call(struct journal_artifacts *a, const struct turn_event *e)
{
    struct call made = { 0 };
    if (!e->id.n || e->id.n > ID_BYTES)
        return 0;
    int r = buf_append(&made.id, e->id.p, e->id.n);
    if (!r)
        journal_tool_paths(e->name, e->json, note_file, &(struct noting){ a, &made });
    if (!made.count) {
        call_clear(&made);
        return r;
    }
    struct call *c = find_call(a, e->id); /* told again: with all of its arguments */
    if (!c) {
        c = &a->calls[a->next];
        a->next = (a->next + 1) % CALLS;
    }
    call_clear(c);
    *c = made;
    return 0;
}

static int
see_result(struct journal_artifacts *a, const struct turn_event *e, uint64_t ts_ns)
{
    struct call *c = find_call(a, e->id);
    int result = 0;
    if (!c)
        return 0;
    const char *said = journal_result_action(e->text);
    for (size_t i = 0; i < c->count && !e->is_error && e->exit_code <= 0; i++) {
        struct file *f = &c->files[i];
        struct journal_copy copy = { .file = f->whole, .ts_ns = ts_ns };
        copy.action = f->action      ? f->action
                      : said         ? said
                      : f->was_there ? "modified"
                                     : "created";
        int r = record(a, &copy, NULL);
        result = result ? result : r;
    }
    call_clear(c);
    return result;
}

int
journal_artifacts_see(struct journal_artifacts *a, const struct turn_event *e,
                      uint64_t ts_ns)
{
    if (e->type == TURN_SESSION && e->cwd.n && e->cwd.p[0] == '/') {
        char *cwd = strndup((const char *)e->cwd.p, e->cwd.n);
        if (cwd) {
            free(a->cwd);
            a->cwd = cwd;
        }
    }
    if (e->type == TURN_TOOL_CALL)
        return see_call(a, e);
    return e->type == TURN_TOOL_RESULT ? see_result(a, e, ts_ns) : 0;
}
