/* SPDX-License-Identifier: MIT */
/* ahr artifact add: a file that a run has made, by whatever means. */
#include <errno.h>
#include <stdlib.h>

#include "cli/log_find.h"
#include "cli/option.h"
#include "cli/when.h"
#include "journal/artifact.h"
#include "journal/io.h"
#include "journal/metadata.h"
#include "redact/own.h"

struct args {
    const char *session;
    int action;
};

static const struct cli_option options[] = {
    { "action", 0, CLI_CHOICE, offsetof(struct args, action), "created|modified|deleted",
      "what happened to it (default: found out)", 0, 0 },
    { "session", 0, CLI_TEXT, offsetof(struct args, session), "SESSION",
      "the run (default: the one around)", 0, 0 },
    { 0 },
};

/* What is told of each file goes to the run's io.log and metadata.json. */
struct adding {
    const struct cli_command *self;
    const char *dir;
    uint64_t ts_ns;
    struct err *err;
    int failed; /* first error */
};

/* Whether the last entry for a path has a copy, and why not. */
struct looking {
    const char *path;
    struct buf why; /* "": it has one */
};

/* A journal_artifact_told_fn. */
static int
look(void *ctx, const struct journal_artifact_told *t)
{
    struct looking *l = ctx;
    if (strcmp(t->path, l->path) != 0)
        return 0;
    buf_clear(&l->why);
    bool has_copy = *t->copy || !strcmp(t->action, "deleted");
    return has_copy ? 0 : buf_puts(&l->why, t->why);
}

/* Who adds a file counts on its copy. */
static void
tell_missing(const struct adding *a, const char *path)
{
    struct looking l = { .path = path };
    if (journal_artifacts_read(a->dir, look, &l, NULL) == 0 && l.why.n)
        cli_say(a->self, "'%s' was noted without a copy: %s", path, buf_str(&l.why));
    buf_release(&l.why);
}

static void
note(void *ctx, struct view path, const char *action)
{
    struct adding *a = ctx;
    AUTO(buf) line = { 0 };
    AUTO(buf) file = { 0 };
    AUTO(buf) name = { 0 };
    struct journal_io_entry e = { .ts_ns = a->ts_ns,
                                  .direction = JOURNAL_ARTIFACT,
                                  .path = path,
                                  .action = { (const uint8_t *)action, strlen(action) } };
    journal_io_line(&e, &line);
    buf_printf(&file, "%s/io.log", a->dir);
    int r = line.failed ? line.failed
                        : journal_io_append(buf_str(&file),
                                            (struct view){ line.p, line.n }, a->err);
    if (!r) {
        buf_clear(&file);
        buf_printf(&file, "%s/metadata.json", a->dir);
        buf_append(&name, path.p, path.n);
        r = journal_metadata_change(buf_str(&file), NULL, 0, buf_str(&name), a->err);
    }
    if (!r)
        tell_missing(a, buf_str(&name));
    a->failed = a->failed ? a->failed : r;
}

/* The project is three folders above the run's. */
static char *
root_of(const char *dir)
{
    char *root = strdup(dir);
    for (int i = 0; root && i < 3; i++) {
        char *slash = strrchr(root, '/');
        if (slash)
            slash[slash == root] = 0;
    }
    return root;
}

static int
add_all(const struct cli_command *self, const char *dir, struct redact *redact,
        char **paths, int count, const char *action, struct err *err)
{
    struct adding adding = {
        .self = self, .dir = dir, .ts_ns = cli_when_now_ns(), .err = err
    };
    struct journal_artifacts *a = NULL;
    char *root = root_of(dir);
    int r = root ? journal_artifacts_new(&a, root, dir, redact, note, &adding) : -ENOMEM;
    free(root);
    if (r < 0)
        return err_set(err, r, "out of memory");
    for (int i = 0; i < count && r >= 0; i++) {
        r = journal_artifacts_add(a, paths[i], action, adding.ts_ns, err);
        r = r < 0 ? r : adding.failed;
    }
    journal_artifacts_free(a);
    return r;
}

static int
run(const struct cli_command *self, int argc, char **argv, struct err *err)
{
    static const char *const actions[] = { "created", "modified", "deleted" };
    struct args args = { .action = -1 };
    struct redact *redact = NULL;
    AUTO(buf) dir = { 0 };
    int count;
    int r = cli_parse(self, argc, argv, &args, &count, err);
    if (r)
        return r;
    if (!count)
        return err_set(err, ERR_USAGE, "no file given");
    r = cli_run_find(self, args.session, false, &dir, err);
    if (!r)
        r = redact_own_open(&redact, NULL, err);
    if (r < 0)
        return r;
    r = add_all(self, buf_str(&dir), redact, argv, count,
                args.action < 0 ? NULL : actions[args.action], err);
    redact_close(redact);
    return r < 0 ? r : CLI_DONE;
}

const struct cli_command cli_artifact_add = {
    "artifact add",
    "[--action created|modified|deleted] [--session SESSION] PATH…",
    "note files that a run has made",
    options,
    run,
    false,
};
