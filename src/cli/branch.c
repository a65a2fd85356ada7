/* SPDX-License-Identifier: MIT */
/*
 * ahr branch: another session that goes on from a moment of one.
 *
 * The files of that moment come into a folder of their own; then all is as `ahr record`
 * has it. Until a session has begun, whatever fails leaves nothing behind.
 */
#include <errno.h>
#include <inttypes.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "base/file.h"
#include "cli/branch_folder.h"
#include "cli/branch_point.h"
#include "cli/branch_tell.h"
#include "cli/option.h"
#include "cli/path.h"
#include "cli/recall.h"
#include "cli/record.h"
#include "cli/recorder.h"
#include "cli/session.h"
#include "pty/child.h"
#include "session/home.h"

enum { REST_MAX_S = 86400, VIEW_NOT_SAID = -1, OPTIONS_MAX = 16 };

/* What --auto-snapshot may say in place of a number. */
#define AUTO_QUIET    CLI_WORD(0)
#define AUTO_OFF      CLI_WORD(1)
#define AUTO_NOT_SAID CLI_WORD(2)

/* Stands for the instruction in a command. */
#define HOLE "{}"

struct args {
    const char *at, *into, *instruct, *name;
    bool is_worktree, is_background, is_redacting, is_quiet;
    int view;
    uint64_t auto_snapshot;
};

struct branch {
    const struct cli_command *self;
    const struct args *args;
    struct buf home;
    struct library_found parent;
    struct session_told told; /* of it */
    struct cli_branch_folder folder;
    struct snap_facts at;
    struct session_branch point;
    char **command; /* NULL at the end; its words are borrowed */
    bool is_given;  /* it has the instruction */
    bool has_begun;
};

static void
branch_release(struct branch *b)
{
    buf_release(&b->home);
    library_found_release(&b->parent);
    session_told_release(&b->told);
    cli_branch_folder_release(&b->folder);
    snap_facts_release(&b->at);
    free(b->command);
}

/* -- whose branch -- */

static int
find_parent(struct branch *b, const char *what, struct err *err)
{
    struct err ignored;
    int r = session_home(&b->home, err);
    if (!r)
        r = cli_find(b->self, &b->parent, what, err);
    if (r < 0)
        return r;
    if (!*b->parent.id)
        return err_set(err, ERR_MISSING,
                       "'%s' is a file; only sessions of the library have branches ('ahr "
                       "list' lists them)",
                       what);
    /* Without it there is no command, which is asked for then. */
    (void)session_meta_tell(buf_str(&b->parent.meta_path), &b->told, &ignored);
    return 0;
}

/* -- which command -- */

static int
find_command(struct branch *b, int count, char **words, struct err *err)
{
    int r = count > 0 ? cli_recall_given((size_t)count, words, "branch", &b->command, err)
                      : cli_recall(&b->told, b->parent.id, "branch", &b->command, err);
    if (r < 0 || !b->command || !b->args->instruct)
        return r;
    for (size_t i = 1; b->command[i]; i++)
        if (!strcmp(b->command[i], HOLE)) {
            memcpy(&b->command[i], &b->args->instruct, sizeof(b->command[i]));
            b->is_given = true;
        }
    return 0;
}

/* -- its folder -- */

/* Is the path the folder, or below it? */
static bool
is_in(const char *path, const char *dir)
{
    size_t n = strlen(dir);
    return !strncmp(path, dir, n) && (!path[n] || path[n] == '/');
}

/* The folder that corresponds to the one in which the parent was started. A link of the
 * snapshot is not followed out of it. */
static int
enter(struct branch *b, struct err *err)
{
    AUTO(buf) sub = { .ceiling = PATH_MAX };
    const char *dir = buf_str(&b->folder.path), *cwd = b->told.cwd;
    char now[PATH_MAX];
    if (chdir(dir) < 0)
        return err_sys(err, "cannot enter '%.300s'", dir);
    if (cwd && is_in(cwd, b->at.root) && strlen(cwd) > strlen(b->at.root)) {
        buf_printf(&sub, "%s%s", dir, cwd + strlen(b->at.root));
        bool is_there = !sub.failed && file_make_dirs(buf_str(&sub)) == 0 &&
                        chdir(buf_str(&sub)) == 0;
        if (!is_there || !getcwd(now, sizeof(now)) || !is_in(now, dir)) {
            cli_say(b->self,
                    "there is no '%.300s' in the snapshot; it starts in the "
                    "folder above",
                    cwd + strlen(b->at.root) + 1);
            if (chdir(dir) < 0)
                return err_sys(err, "cannot enter '%.300s'", dir);
        }
    }
    if (getcwd(now, sizeof(now)))
        setenv("PWD", now, 1);
    return 0;
}

static int
fill(struct branch *b, struct snap_found *from, struct err *err)
{
    int r = cli_branch_folder_make(&b->folder, b->args->into, from->facts.root, err);
    if (r < 0)
        return r;
    /* Should we be killed, it is known what is left. */
    if (!b->args->is_quiet) {
        AUTO(buf) shown = { 0 };
        cli_path_put(&shown, buf_str(&b->folder.path));
        cli_say(b->self, "restoring snapshot %" PRIu64 " into %s", from->facts.id,
                buf_str(&shown));
    }
    if (b->args->is_worktree)
        r = cli_branch_folder_join(&b->folder, from->facts.ts_ns, err);
    if (!r)
        r = cli_branch_folder_fill(&b->folder, b->self, from, b->args->is_quiet, err);
    if (r < 0)
        cli_branch_folder_undo(&b->folder, b->self);
    return r;
}

static int
restore(struct branch *b, struct err *err)
{
    struct snap_found from;
    int r = cli_branch_point(&from, buf_str(&b->home), &b->parent, b->args->at, err);
    if (r < 0)
        return r;
    r = fill(b, &from, err);
    if (!r) {
        b->at = from.facts;
        from.facts = (struct snap_facts){ 0 };
        b->folder.root = b->at.root;
    }
    snap_found_release(&from);
    return r;
}

/* 0, an error, or the exit status that shells have for a command that cannot be started:
 * then nothing is left. */
static int
prepare(struct branch *b, struct err *err)
{
    int r = restore(b, err);
    if (r < 0)
        return r;
    if (getenv("AHR_HOME")) /* it may be a relative one */
        setenv("AHR_HOME", buf_str(&b->home), 1);
    r = enter(b, err);
    if (!r)
        r = pty_command_check(b->command[0], err);
    if (r > 0)
        cli_say(b->self, "%s", err->text);
    if (r)
        cli_branch_folder_undo(&b->folder, b->self);
    return r;
}

/* -- the session -- */

/* Of cli_record_more. */
static void
started(void *ctx, const char *id)
{
    struct branch *b = ctx;
    b->has_begun = true;
    if (b->args->instruct)
        (void)cli_branch_tell_start(buf_str(&b->home), id, b->args->instruct,
                                    !b->is_given);
}

/* What `ahr record` is told, as words; how many. seconds: room for a number. */
static size_t
put_options(const struct branch *b, char seconds[24], const char *ret[OPTIONS_MAX])
{
    static const char *const views[] = { "auto", "on", "off" };
    const struct args *a = b->args;
    size_t n = 0;
    snprintf(seconds, 24, "%" PRIu64, a->auto_snapshot);
    ret[n++] = "--parent", ret[n++] = b->parent.id;
    if (a->name)
        ret[n++] = "--name", ret[n++] = a->name;
    if (a->view != VIEW_NOT_SAID)
        ret[n++] = "--view", ret[n++] = views[a->view];
    if (a->auto_snapshot != AUTO_NOT_SAID) {
        ret[n++] = "--auto-snapshot";
        ret[n++] = a->auto_snapshot == AUTO_QUIET ? "quiet"
                   : a->auto_snapshot == AUTO_OFF ? "off"
                                                  : seconds;
    }
    if (a->is_background)
        ret[n++] = "--background";
    if (a->is_redacting)
        ret[n++] = "--redact";
    if (a->is_quiet)
        ret[n++] = "--quiet";
    ret[n++] = "--";
    return n;
}

static int
record(struct branch *b, struct err *err)
{
    struct cli_record_more more = { .branch = &b->point, .started = started, .ctx = b };
    const char *options[OPTIONS_MAX];
    char seconds[24];
    size_t before = put_options(b, seconds, options), n = cli_recall_count(b->command);
    char **argv = calloc(before + n + 1, sizeof(*argv));
    if (!argv)
        return err_code(err, -ENOMEM, "cannot branch");
    memcpy(argv, options, before * sizeof(*argv)); /* no word is changed */
    memcpy(argv + before, b->command, n * sizeof(*argv));
    int r = cli_record_with(&more, (int)(before + n), argv, err);
    free(argv);
    return r;
}

static int
branch(struct branch *b, struct err *err)
{
    struct err why;
    int r = prepare(b, err);
    if (r)
        return r;
    AUTO(buf) dir = { 0 };
    cli_path_put(&dir, buf_str(&b->folder.path));
    cli_branch_folder_release(&b->folder);
    b->point = (struct session_branch){ .from = b->parent.id,
                                        .snapshot_id = b->at.id,
                                        .anchor_byte = b->at.anchor_byte };
    if (b->args->instruct &&
        cli_branch_note(&b->parent, &b->at, b->args->instruct, &why) < 0)
        cli_say(b->self, "the instruction is not noted in session %s: %.300s",
                b->parent.id, why.text);
    r = record(b, err);
    if (!b->has_begun)
        cli_say(b->self, "no session has begun; the files are in %s", buf_str(&dir));
    return r;
}

static int
check_args(const struct args *a, int count, struct err *err)
{
    if (!count)
        return err_set(err, ERR_USAGE, "which session? 'ahr list' lists them");
    if (a->into && !*a->into)
        return err_set(err, ERR_USAGE, "--into needs the name of a folder");
    int r = cli_check_name(a->name, err);
    return !r && a->instruct ? cli_check_instruction(a->instruct, err) : r;
}

static int
run(const struct cli_command *self, int argc, char **argv, struct err *err)
{
    struct args a = { .view = VIEW_NOT_SAID, .auto_snapshot = AUTO_NOT_SAID };
    int count, r = cli_parse(self, argc, argv, &a, &count, err);
    if (!r)
        r = check_args(&a, count, err);
    if (r)
        return r;
    AUTO(branch) b = { .self = self, .args = &a, .folder.lock_fd = -1 };
    r = find_parent(&b, argv[0], err);
    if (!r)
        r = find_command(&b, count - 1, argv + 1, err);
    return r < 0 ? r : branch(&b, err);
}

static const struct cli_option options[] = {
    { "at", 0, CLI_TEXT, offsetof(struct args, at), "SNAPSHOT",
      "the snapshot of files to go on from (the session's last one)", 0, 0 },
    { "into", 0, CLI_TEXT, offsetof(struct args, into), "DIR",
      "the new folder (beside the session's, as NAME.branch-1)", 0, 0 },
    { "worktree", 0, CLI_FLAG, offsetof(struct args, is_worktree), NULL,
      "make that folder a git worktree of the session's repository", 0, 0 },
    { "instruct", 0, CLI_TEXT, offsetof(struct args, instruct), "TEXT",
      "tell the agent this: in place of {} in CMD, else it is typed", 0, 0 },
    { "name", 0, CLI_TEXT, offsetof(struct args, name), "NAME",
      "what to call the new session", 0, 0 },
    { "view", 0, CLI_CHOICE, offsetof(struct args, view), "auto|on|off",
      "how it is shown, as of 'ahr record'", 0, 0 },
    { "auto-snapshot", 0, CLI_MAYBE, offsetof(struct args, auto_snapshot),
      "[SECONDS|quiet|off]", "keep the files of the new session, too", 1, REST_MAX_S },
    { "background", 0, CLI_FLAG, offsetof(struct args, is_background), NULL,
      "do not show it; print the session's id and return", 0, 0 },
    { "redact", 0, CLI_FLAG, offsetof(struct args, is_redacting), NULL,
      "mask what looks like a secret", 0, 0 },
    { "quiet", 'q', CLI_FLAG, offsetof(struct args, is_quiet), NULL,
      "say nothing but what went wrong", 0, 0 },
    { 0 },
};

const struct cli_command cli_branch = {
    "branch",
    "SESSION [--at SNAPSHOT] [--into DIR] [--worktree] [--instruct TEXT] [--name NAME] "
    "[--view auto|on|off] [--auto-snapshot [SECONDS|quiet|off]] [--background] "
    "[--redact] [-q] [-- CMD [ARG…]]",
    "go on from a moment of a session, in a new one",
    options,
    run,
    false,
};
