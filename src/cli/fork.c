/* SPDX-License-Identifier: MIT */
/* ahr fork: a new session that has the first turns of another one, and goes its own way.
 */
#include <errno.h>
#include <inttypes.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "base/num.h"
#include "cli/again.h"
#include "cli/branch_folder.h"
#include "cli/option.h"
#include "cli/path.h"
#include "cli/report.h"
#include "cli/session.h"
#include "cli/when.h"
#include "play/moment.h"
#include "snap/list.h"

struct args {
    struct cli_again_args again;
    const char *at, *into;
    bool is_context;
};

struct fork {
    struct cli_again again;
    const struct args *args;
    uint64_t moment_ns; /* UINT64_MAX: its end */
    struct cli_branch_folder folder;
    struct buf dir; /* in it, the folder that corresponds to the other session's */
};

static void
fork_release(struct fork *f)
{
    cli_again_release(&f->again);
    cli_branch_folder_release(&f->folder);
    buf_release(&f->dir);
}

/* -- which turn -- */

/* The moment at which the turn behind these began; io.log knows its millisecond alone, in
 * which a fast program may have begun to keep its files again. */
static uint64_t
end_of_turn(const struct library_messages *t, uint64_t turns)
{
    uint64_t sent = 0;
    for (size_t i = 0; i < library_messages_count(t); i++) {
        const struct library_message *m = library_messages_at(t, i);
        sent += m->is_in;
        if (sent > turns)
            return m->ts_ns;
    }
    return UINT64_MAX;
}

static uint64_t
turns_until(const struct library_messages *t, uint64_t ns)
{
    uint64_t sent = 0;
    for (size_t i = 0; i < library_messages_count(t); i++) {
        const struct library_message *m = library_messages_at(t, i);
        if (m->is_in && m->ts_ns > ns)
            break;
        sent += m->is_in;
    }
    return sent;
}

/* "90.5", "1:30" since its start, or a date. */
static int
parse_time(struct fork *f, struct err *err)
{
    const char *at = f->args->at;
    struct err ignored;
    uint64_t ns, start = f->again.told.started_at_ns;
    if (play_time_parse(at, &ns, &ignored) == 0)
        f->moment_ns = start + ns;
    else if (cli_when_parse(at, cli_when_now_ns(), &f->moment_ns, &ignored) < 0)
        return err_set(err, ERR_USAGE,
                       "--at '%s' is neither the number of a turn nor a time (1:30, or "
                       "2026-11-16T02:13) nor 'last'",
                       at);
    f->again.turns = turns_until(&f->again.messages, f->moment_ns);
    if (f->again.turns)
        return 0;
    return err_set(err, ERR_USAGE, "--at '%s': no turn of session %s had begun by then",
                   at, buf_str(&f->again.called));
}

static int
find_turn(struct fork *f, struct err *err)
{
    const char *at = f->args->at ? f->args->at : "last";
    uint64_t all = f->again.messages.sent;
    f->moment_ns = UINT64_MAX;
    f->again.turns = UINT64_MAX;
    if (!strcmp(at, "last"))
        return 0;
    if (!f->again.is_run)
        return err_set(
            err, ERR_USAGE,
            "session %s is a terminal's, which knows no turns: --at last forks "
            "it at its end, 'ahr branch' from a snapshot of its files",
            buf_str(&f->again.called));
    struct view digits = { (const uint8_t *)at, strlen(at) };
    if (num_parse(digits, UINT64_MAX, &f->again.turns) < 0)
        return parse_time(f, err);
    if (!f->again.turns || f->again.turns > all)
        return err_set(err, ERR_USAGE,
                       "--at %s: session %s has %" PRIu64 " turn%s, which here are the "
                       "messages that it was sent",
                       at, buf_str(&f->again.called), all, all == 1 ? "" : "s");
    f->moment_ns = end_of_turn(&f->again.messages, f->again.turns);
    return 0;
}

/* -- its files -- */

struct latest {
    uint64_t until_ns, id;
    bool is_found;
};

/* A snap_list_fn: they come by their time. */
static int
look(void *ctx, const struct snap_facts *f, const char *repo_path)
{
    struct latest *l = ctx;
    (void)repo_path;
    if (f->ts_ns <= l->until_ns) {
        l->id = f->id;
        l->is_found = true;
    }
    return 0;
}

static int
find_files(struct fork *f, struct snap_found *ret, struct err *err)
{
    struct cli_again *a = &f->again;
    struct latest l = { .until_ns = f->moment_ns };
    struct snap_filter own = { .session = a->found.id };
    struct err ignored;
    char id[24];
    if (*a->found.id)
        (void)snap_list(buf_str(&a->home), &own, look, &l, &ignored);
    if (!l.is_found)
        return ERR_MISSING;
    snprintf(id, sizeof(id), "%" PRIu64, l.id);
    return snap_find_of(ret, buf_str(&a->home), a->found.id, id, err);
}

/* The other one's folder, if that is the snapshot's root or below it. */
static int
find_dir(struct fork *f, const char *root, struct err *err)
{
    const char *cwd = f->again.told.cwd, *dir = buf_str(&f->folder.path);
    size_t n = strlen(root);
    struct stat st;
    bool is_below = cwd && !strncmp(cwd, root, n) && cwd[n] == '/';
    buf_printf(&f->dir, "%s%s", dir, is_below ? cwd + n : "");
    if (is_below && (lstat(buf_str(&f->dir), &st) < 0 || !S_ISDIR(st.st_mode))) {
        buf_clear(&f->dir);
        buf_puts(&f->dir, dir);
    }
    return f->dir.failed ? err_code(err, f->dir.failed, "cannot fork") : 0;
}

static int
restore(struct fork *f, struct err *err)
{
    struct cli_again *a = &f->again;
    struct snap_found from = { 0 };
    bool is_quiet = a->args->is_quiet;
    int r = find_files(f, &from, err);
    if (r == ERR_MISSING && !f->args->into)
        return 0;
    if (r == ERR_MISSING)
        return err_set(err, r,
                       "session %s has no snapshot of files of that moment; without "
                       "--into it is forked in its folder as that is now",
                       buf_str(&a->called));
    if (!r && !f->args->into) {
        if (!is_quiet)
            cli_say(
                a->self,
                "the files stay as they are now; --into DIR starts with those of that "
                "moment (snapshot %" PRIu64 ")",
                from.facts.id);
    } else if (!r && !a->args->is_dry_run) {
        r = cli_branch_folder_make(&f->folder, f->args->into, from.facts.root, err);
        if (!r)
            r = cli_branch_folder_fill(&f->folder, a->self, &from, is_quiet, err);
        if (r < 0)
            cli_branch_folder_undo(&f->folder, a->self);
        else
            r = find_dir(f, from.facts.root, err);
    }
    snap_found_release(&from);
    return r;
}

/* -- all -- */

static int
check_args(struct args *a, int count, struct err *err)
{
    if (!count)
        return err_set(err, ERR_USAGE, "which session? 'ahr list' lists them");
    if (a->into && !*a->into)
        return err_set(err, ERR_USAGE, "--into needs the name of a folder");
    if (a->into && a->again.dir)
        return err_set(err, ERR_USAGE, "--into and --dir do not go together");
    if (a->again.is_json && !a->again.is_dry_run)
        return err_set(err, ERR_USAGE, "--json is for --dry-run");
    a->again.how = a->is_context ? CLI_HOW_CONTEXT : CLI_HOW_BEST;
    return cli_check_name(a->again.name, err);
}

static int
run(const struct cli_command *self, int argc, char **argv, struct err *err)
{
    struct args args = { .again = CLI_AGAIN_DEFAULTS };
    int count, r = cli_parse(self, argc, argv, &args, &count, err);
    if (!r)
        r = check_args(&args, count, err);
    if (r)
        return r;
    AUTO(fork)
    f = { .again = { .self = self, .args = &args.again, .is_fork = true },
          .args = &args,
          .folder.lock_fd = -1 };
    struct cli_again *a = &f.again;
    r = cli_again_find(a, argv[0], err);
    if (!r)
        r = cli_again_read(a, (size_t)count - 1, argv + 1, err);
    if (!r)
        r = find_turn(&f, err);
    if (!r)
        r = cli_again_choose(a, err);
    if (!r && !args.again.is_dry_run)
        r = cli_again_check(a, err); /* before files are restored */
    if (!r)
        r = restore(&f, err);
    if (r)
        return r;
    if (f.dir.n)
        args.again.dir = buf_str(&f.dir);
    cli_branch_folder_release(&f.folder);
    f.folder = (struct cli_branch_folder){ .lock_fd = -1 };
    return args.again.is_dry_run ? cli_again_print(a, err) : cli_again_start(a, err);
}

static const struct cli_option options[] = {
    { "at", 0, CLI_TEXT, offsetof(struct args, at), "TURN|TIME|last",
      "keep the turns up to this one, or until then (last: all)", 0, 0 },
    { "into", 0, CLI_TEXT, offsetof(struct args, into), "DIR",
      "restore the files of that moment into this new folder, and run there", 0, 0 },
    { "context", 0, CLI_FLAG, offsetof(struct args, is_context), NULL,
      "start afresh, with a short account of those turns", 0, 0 },
    CLI_AGAIN_OPTIONS(struct args),
    { 0 },
};

const struct cli_command cli_fork = {
    "fork",
    "SESSION [--at TURN|TIME|last] [--into DIR] [--context] [--prompt TEXT] [--dry-run] "
    "[--json] [--name NAME] [--dir DIR] [--quiet-ms N] [--context-bytes N] [-q] "
    "[-- CMD [ARG…]]",
    "go another way from a turn of a session, in a new one",
    options,
    run,
    false,
};
