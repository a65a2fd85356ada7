/* SPDX-License-Identifier: MIT */
/* ahr run: a command on pipes, recorded message by message. */
#include "cli/run.h"

#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "cli/entire.h"
#include "cli/interrupted.h"
#include "cli/option.h"
#include "cli/output.h"
#include "cli/report.h"
#include "cli/session.h"
#include "cli/upkeep.h"
#include "cli/wired.h"
#include "journal/iteration.h"
#include "library/find.h"
#include "pty/tty.h"
#include "session/home.h"

struct args {
    const char *name, *role, *task, *parent, *until, *dir;
    uint64_t iterations; /* 0: not given */
    uint64_t flush_ms;
    uint64_t entire; /* CLI_ENTIRE_… */
    struct cli_wired wired;
    struct cli_list context_files;
    int agent, upkeep, on_interrupted;
    bool is_silent, is_json, is_verbose, is_quiet;
};

enum {
    FLUSH_MS_MAX = 60000,
    ITERATIONS_MAX = 1000000,
};

/* In the order of the option's words. */
static const enum turn_agent agents[] = { TURN_AUTO,   TURN_CLAUDE,   TURN_CODEX,
                                          TURN_GEMINI, TURN_OPENCODE, TURN_PLAIN };

struct told {
    const struct cli_command *self;
    const struct args *args;
    const struct cli_run_more *more;
};

static int
check_args(const struct args *a, int count, char **argv, struct err *err)
{
    if (!count || !argv[0][0])
        return err_set(err, ERR_USAGE, "no command to run; see 'ahr run -h'");
    if (a->until && !*a->until)
        return err_set(err, ERR_USAGE, "--until needs a text");
    if (a->until && !a->iterations)
        return err_set(err, ERR_USAGE, "--until needs --iterations: how often at most");
    if (a->is_silent && a->is_json)
        return err_set(err, ERR_USAGE, "--no-echo and --json do not go together");
    int r = cli_wired_check(&a->wired, err);
    return r < 0 ? r : cli_check_story(a->name, a->role, a->task, err);
}

static int
find_root(const char *dir, char ret[PATH_MAX], struct err *err)
{
    struct stat st;
    if (!realpath(dir ? dir : ".", ret))
        return dir ? err_sys(err, "--dir: cannot use '%s'", dir)
                   : err_sys(err, "cannot tell the current folder");
    if (stat(ret, &st) < 0 || !S_ISDIR(st.st_mode))
        return err_set(err, ERR_USAGE, "--dir: '%s' is no folder", dir ? dir : ret);
    return 0;
}

/* It is only listed, but a wrong name in the list helps nobody. */
static int
check_context(const struct cli_list *files, struct err *err)
{
    for (size_t i = 0; i < files->n; i++) {
        if (access(files->item[i], F_OK) < 0)
            return err_sys(err, "--context-file: cannot use '%s'", files->item[i]);
    }
    return 0;
}

struct parent {
    struct library_found found;
    struct session_facts facts;
};

static int
find_parent(const char *given, struct parent *p, struct run_options *opt, struct err *err)
{
    const char *around = getenv("AHR_SESSION");
    struct err why;
    if (!given && !(around && session_id_is(around)))
        return 0;
    int r = library_find_by_files(&p->found, given ? given : around, &why);
    if (r < 0 && given)
        return err_set(err, r, "--parent: %.400s", why.text);
    if (given && !p->found.id[0])
        return err_set(err, ERR_USAGE, "--parent '%s' is a file, not a session", given);
    opt->parent = given ? p->found.id : around;
    if (!r && !session_meta_read(buf_str(&p->found.meta_path), &p->facts, NULL) &&
        p->facts.name[0])
        opt->parent_name = p->facts.name;
    return 0;
}

static void
say(void *ctx, const char *text)
{
    const struct told *t = ctx;
    cli_say(t->self, "%s", text);
}

static void
greet(void *ctx, bool has_ignore)
{
    const struct told *t = ctx;
    if (has_ignore && t->args->is_quiet)
        return;
    cli_say(t->self,
            "logs hold all that the agent says, and that may be secrets in spite of "
            "masks: %s (this is said once)",
            has_ignore
                ? "a .gitignore keeps them out of git"
                : "a .gitignore could not be written, so that git would take them");
}

static void
tell_opened(void *ctx, const char *id)
{
    const struct told *t = ctx;
    if (t->more->opened)
        t->more->opened(t->more->ctx, id);
}

static void
conclude(const struct told *t, const struct run_result *done)
{
    AUTO(buf) line = { 0 };
    const char *what = done->name[0] ? done->name : done->id;
    if (t->args->is_quiet)
        return;
    if (done->is_key_last && isatty(STDERR_FILENO))
        fputc('\n', stderr); /* behind its "^C" */
    buf_printf(&line, "session %s", what);
    if (done->name[0])
        buf_printf(&line, " (%s)", done->id);
    buf_printf(&line, ": %s", session_status_name(done->status));
    if (done->exit_status)
        buf_printf(&line, " (exit %d)", done->exit_status);
    buf_puts(&line, ", ");
    cli_count(&line, done->events, "event");
    if (done->iterations > 1) {
        buf_puts(&line, " of ");
        cli_count(&line, done->iterations, "iteration");
    }
    buf_printf(&line, " in %.3f s", (double)done->duration_ms / 1000);
    if (done->has_log)
        buf_printf(&line, "; 'ahr log %s'", what);
    else if (done->has_recording)
        buf_printf(&line, "; 'ahr cat %s'", done->id);
    else
        buf_puts(&line, "; nothing of it is kept");
    cli_say(t->self, "%s", buf_str(&line));
}

static int
run_with(struct told *t, const char *home, char **argv, struct err *err)
{
    const struct args *a = t->args;
    struct parent parent = { 0 };
    struct run_result done = { 0 };
    char root[PATH_MAX];
    struct run_options opt = {
        .home = home,
        .root = root,
        .name = a->name,
        .role = a->role,
        .task = a->task,
        .context_files = a->context_files.item,
        .context_count = a->context_files.n,
        .argv = argv,
        .iterations = a->iterations ? a->iterations : 1,
        .until = a->until,
        .agent = agents[a->agent],
        .flush_ms = (unsigned)a->flush_ms,
        .cols = 80,
        .rows = 24,
        .is_echoed = !a->is_silent,
        .is_json = a->is_json,
        .is_verbose = a->is_verbose,
        .is_coloured = cli_output_has_colours(),
        .is_indexed = a->upkeep != CLI_UPKEEP_OFF,
        .is_wired = a->wired.is_on,
        .upstream = a->wired.upstream,
        .ca_file = a->wired.ca_file,
        .lineage = t->more->lineage,
        .script = t->more->script,
        .say = say,
        .greet = greet,
        .opened = tell_opened,
        .ctx = t,
    };
    (void)pty_size(STDOUT_FILENO, &opt.cols, &opt.rows);
    int r = find_root(a->dir, root, err);
    if (!r)
        r = check_context(&a->context_files, err);
    if (!r)
        r = find_parent(a->parent, &parent, &opt, err);
    opt.is_entire = !r && cli_entire(t->self, a->entire, root);
    if (!r)
        r = run_session(&opt, &done, err);
    if (!r)
        conclude(t, &done);
    library_found_release(&parent.found);
    if (!r && t->more->ended)
        done.exit_status = t->more->ended(t->more->ctx, &done);
    return r < 0 ? r : done.exit_status;
}

static bool
look_for_left(const struct told *t, const char *home, char ret_id[SESSION_ID_LEN + 1])
{
    const struct args *a = t->args;
    char root[PATH_MAX];
    struct err ignored; /* it is told when it is used */
    if (find_root(a->dir, root, &ignored) < 0)
        return false;
    const struct cli_interrupted_about about = { .self = t->self,
                                                 .home = home,
                                                 .folder = root,
                                                 .name = a->name,
                                                 .task = a->task,
                                                 .is_quiet = a->is_quiet };
    return cli_interrupted(&about, a->on_interrupted, ret_id);
}

/* typed: argv, as it was before it was parsed. */
static int
run_typed(const struct cli_run_more *more, int argc, char **argv, char **typed,
          struct err *err)
{
    static const struct cli_run_more nothing = { 0 };
    const struct cli_command *self = &cli_run;
    struct args args = { .flush_ms = JOURNAL_FLUSH_MS,
                         .entire = CLI_ENTIRE_AUTO,
                         .on_interrupted = CLI_INTERRUPTED_UNSAID };
    struct told t = { self, &args, more ? more : &nothing };
    AUTO(buf) home = { 0 };
    int count, r = cli_parse(self, argc, argv, &args, &count, err);
    if (!r)
        r = check_args(&args, count, argv, err);
    if (!r)
        r = session_home(&home, err);
    if (r)
        return r;
    argv[count] = NULL;
    if (args.name && t.more->other_name && !strcmp(args.name, t.more->other_name))
        args.name = NULL;
    char left[SESSION_ID_LEN + 1];
    size_t before = (size_t)(argc - count);
    const struct cli_again_given given = { self, args.name, typed, before };
    if (!more && look_for_left(&t, buf_str(&home), left))
        return cli_interrupted_resume(&given, left, args.is_quiet, count, typed + before,
                                      err);
    return run_with(&t, buf_str(&home), argv, err);
}

int
cli_run_with(const struct cli_run_more *more, int argc, char **argv, struct err *err)
{
    char **typed = cli_interrupted_words(argc, argv);
    int r = typed ? run_typed(more, argc, argv, typed, err)
                  : err_code(err, -ENOMEM, "cannot run");
    free(typed);
    return r;
}

static int
run(const struct cli_command *self, int argc, char **argv, struct err *err)
{
    (void)self;
    return cli_run_with(NULL, argc, argv, err);
}

static const struct cli_option options[] = {
    { "name", 0, CLI_TEXT, offsetof(struct args, name), "NAME",
      "what to call the run (by its role: RUN-001)", 0, 0 },
    { "role", 0, CLI_TEXT, offsetof(struct args, role), "ROLE", "what the agent is for",
      0, 0 },
    { "task", 0, CLI_TEXT, offsetof(struct args, task), "TEXT", "what it is to do", 0,
      0 },
    { "parent", 0, CLI_TEXT, offsetof(struct args, parent), "SESSION",
      "the session that it belongs to ($AHR_SESSION)", 0, 0 },
    { "iterations", 0, CLI_NUMBER, offsetof(struct args, iterations), "N",
      "run it so often, until it fails; {n} in an argument is the number (1)", 1,
      ITERATIONS_MAX },
    { "until", 0, CLI_TEXT, offsetof(struct args, until), "TEXT",
      "… or until the assistant says this (with --iterations)", 0, 0 },
    { "agent", 0, CLI_CHOICE, offsetof(struct args, agent),
      "auto|claude|codex|gemini|opencode|text", "what its output is (auto: by its lines)",
      0, 0 },
    { "context-file", 0, CLI_LIST, offsetof(struct args, context_files), "PATH",
      "a file that it was given, to be listed; may be given again", 0, 0 },
    { "dir", 0, CLI_TEXT, offsetof(struct args, dir), "DIR",
      "the project's folder, in which it runs (the current one)", 0, 0 },
    { "flush-ms", 0, CLI_NUMBER, offsetof(struct args, flush_ms), "N",
      "pieces of a message wait so long for more (100)", 1, FLUSH_MS_MAX },
    CLI_WIRED_OPTIONS(struct args),
    CLI_ENTIRE_OPTION(struct args, entire),
    { "no-echo", 0, CLI_FLAG, offsetof(struct args, is_silent), NULL,
      "show nothing of what it says", 0, 0 },
    { "json", 0, CLI_FLAG, offsetof(struct args, is_json), NULL,
      "show events as lines of JSON, the same for every agent", 0, 0 },
    CLI_INTERRUPTED_OPTION(struct args, on_interrupted),
    CLI_UPKEEP_OPTION(struct args, upkeep,
                      "index the session at its end, in the background"),
    { "verbose", 'v', CLI_FLAG, offsetof(struct args, is_verbose), NULL,
      "also show usage, artifacts, ends and events of unknown types", 0, 0 },
    { "quiet", 'q', CLI_FLAG, offsetof(struct args, is_quiet), NULL,
      "say nothing but what went wrong", 0, 0 },
    { 0 },
};

const struct cli_command cli_run = {
    "run",
    "[--name NAME] [--role ROLE] [--task TEXT] [--parent SESSION] [--iterations N] "
    "[--until TEXT] [--agent auto|claude|codex|gemini|opencode|text] "
    "[--context-file PATH]… [--dir DIR] [--flush-ms N] " CLI_WIRED_SYNOPSIS
    "[--entire [on|off|auto]] "
    "[--no-echo] "
    "[--json] [--on-interrupted ask|resume|fresh|note] [--upkeep auto|off] [-v] [-q] -- "
    "CMD "
    "[ARG…]",
    "run a command on pipes, and record it message by message",
    options,
    run,
    true,
};
