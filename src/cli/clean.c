/* SPDX-License-Identifier: MIT */
/*
 * ahr clean: sessions that have had their time go, as configured or as said.
 *
 * What would go is told first. Between that and the answer a session may begin that
 * descends from one of them: what is protected is found out anew after the answer, and
 * only what was told goes.
 */
#include "library/clean.h"

#include <limits.h>
#include <unistd.h>

#include "cli/agree.h"
#include "cli/clean_tell.h"
#include "cli/option.h"
#include "cli/report.h"
#include "cli/upkeep.h"
#include "cli/when.h"
#include "library/entire.h"
#include "session/home.h"

struct args {
    uint64_t older_than; /* UINT64_MAX: not given */
    const char *status;
    uint64_t keep;
    bool is_dry_run, is_sure, is_json;
    int upkeep;
    uint64_t retention[LIBRARY_STATUSES];
};

struct clean {
    const struct cli_command *self;
    const struct args *args;
    const char *home;
    struct library_clean_wish wish;
    struct library_plan plan;
    struct cli_clean_tell tell;
    int worst;
};

/* -- what is wished -- */

/* "failed,aborted" */
static int
parse_statuses(const char *text, bool ret[LIBRARY_STATUSES], struct err *err)
{
    for (const char *word = text; word;) {
        size_t n = strcspn(word, ",");
        int found = -1;
        for (int i = SESSION_COMPLETED; i < LIBRARY_STATUSES; i++) {
            const char *name = session_status_name((enum session_status)i);
            if (strlen(name) == n && !strncmp(word, name, n))
                found = i;
        }
        if (found < 0)
            return err_set(err, ERR_USAGE,
                           "--status must be of completed, failed, crashed, aborted and "
                           "interrupted, with commas between, not '%s'",
                           text);
        ret[found] = true;
        word = word[n] ? word + n + 1 : NULL;
    }
    return 0;
}

/* Those that were interrupted may be wanted for going on: only who names them means them.
 */
static int
make_wish(struct clean *c, struct err *err)
{
    const struct args *a = c->args;
    bool is_meant[LIBRARY_STATUSES] = {
        [SESSION_COMPLETED] = true,
        [SESSION_FAILED] = true,
        [SESSION_CRASHED] = true,
        [SESSION_ABORTED] = true,
    };
    c->wish.keep = a->keep;
    c->tell.is_retention = !a->status && a->older_than == UINT64_MAX;
    if (a->status) {
        memset(is_meant, 0, sizeof(is_meant));
        int r = parse_statuses(a->status, is_meant, err);
        if (r < 0)
            return r;
    }
    for (int i = 0; i < LIBRARY_STATUSES; i++)
        c->wish.until_ns[i] = c->tell.is_retention ? a->retention[i]
                              : is_meant[i]        ? a->older_than
                                                   : 0;
    return 0;
}

static bool
is_anything_configured(const struct clean *c)
{
    for (int i = 0; i < LIBRARY_STATUSES; i++)
        if (c->wish.until_ns[i])
            return true;
    return !c->tell.is_retention;
}

/* -- asking -- */

/* Tells what would go, and asks where that is wanted. 1: they go; 0: they do not. */
static int
show(const struct clean *c, struct err *err)
{
    AUTO(cli_table) table = { .columns = cli_clean_columns, .count = CLI_CLEAN_COLUMNS };
    const struct args *a = c->args;
    bool asks = !a->is_sure && !a->is_dry_run;
    if (a->is_json && !asks)
        return !a->is_dry_run;
    cli_table_look(&table, asks ? STDERR_FILENO : STDOUT_FILENO);
    int r = cli_clean_rows(&c->tell, &table);
    if (r < 0)
        return err_code(err, r, "cannot list what would go");
    if (asks)
        return cli_is_agreed(&table, c->plan.going_count, "session");
    r = cli_table_flush(&table, true, err);
    return r < 0 ? r : !a->is_dry_run;
}

/* -- away -- */

static void
say_folder(const struct clean *c, struct library_member *m, enum library_folder folder,
           const struct err *why)
{
    if (folder == LIBRARY_FOLDER_SHARED)
        cli_say(c->self, "another session uses '%s': it stays",
                cli_clean((char *)m->project.p));
    else if (folder == LIBRARY_FOLDER_LEFT)
        cli_say(c->self, "what the run kept in its project stays: %s", why->text);
}

/* One that fails does not stop the others; one that somebody else has just deleted is no
 * failure. */
static void
take_away(struct clean *c, size_t at)
{
    struct library_member *m = &c->plan.census.list[at];
    uint64_t bytes = library_clean_bytes(&c->plan, c->home, at);
    enum library_folder folder = LIBRARY_NO_FOLDER;
    struct err err = { 0 };
    AUTO(buf) entire = { 0 };
    char id[SESSION_ID_LEN + 1];
    memcpy(id, m->id, sizeof(id));
    bool has_entire = library_entire_find(c->home, id, &entire);
    int r = library_clean(&c->plan, c->home, at, &folder, &err);
    if (r == ERR_MISSING)
        return;
    if (r >= 0) {
        c->tell.deleted++;
        c->tell.freed_bytes += bytes;
        say_folder(c, m, folder, &err);
        if (has_entire && access(buf_str(&entire), F_OK) == 0)
            cli_say(c->self, "what is not its own in '%s' stays",
                    cli_clean((char *)entire.p));
    } else if (!c->worst) {
        c->worst = (int)cli_exit_status(r);
    }
    const char *fate = r > 0 ? "is deleted, but the index may still hold text of it"
                       : folder == LIBRARY_FOLDER_GONE
                           ? "stays, but what the run kept in its project is gone"
                           : "stays";
    if (r)
        cli_say(c->self, "'%s' %s: %s", m->told.name ? m->told.name : id, fate, err.text);
    cli_clean_json_done(&c->tell, m, id, bytes, r, folder, &err);
}

/* The plan is made anew; what was not told stays. */
static int
carry_out(struct clean *c, struct err *err)
{
    AUTO(library_plan) told = c->plan;
    AUTO(buf) count = { 0 };
    AUTO(buf) size = { 0 };
    c->plan = (struct library_plan){ 0 };
    int r = library_plan_make(&c->plan, c->home, &c->wish, err);
    if (r < 0)
        return r;
    for (size_t i = 0; i < c->plan.going_count; i++) {
        size_t at = c->plan.going[i];
        const struct library_member *was = library_census_find(
            &told.census, c->plan.census.list[at].id);
        if (was && told.fates[was - told.census.list] == LIBRARY_GOES)
            take_away(c, at);
    }
    cli_count(&count, c->tell.deleted, "session");
    cli_size(&size, c->tell.freed_bytes);
    cli_say(c->self, "%s deleted, %s", buf_str(&count), buf_str(&size));
    cli_tidy_later(c->args->upkeep, c->home, UINT64_MAX); /* the budget is not its job */
    return c->worst;
}

static int
leave(struct clean *c)
{
    for (size_t i = 0; i < c->plan.going_count; i++)
        cli_clean_json_would(&c->tell, c->plan.going[i]);
    if (c->args->is_dry_run)
        return CLI_DONE;
    cli_say(c->self, "nothing is deleted");
    return CLI_FAILED;
}

static int
clean(struct clean *c, struct err *err)
{
    int r = library_plan_make(&c->plan, c->home, &c->wish, err);
    if (r < 0)
        return r;
    if (c->plan.going_count && !c->args->is_sure && !c->args->is_dry_run)
        r = cli_may_ask(err);
    if (r < 0)
        return r;
    cli_clean_say_staying(&c->tell);
    cli_clean_json_begin(&c->tell);
    if (!c->plan.going_count)
        cli_say(c->self, "there is nothing to delete");
    else if ((r = show(c, err)) > 0)
        r = carry_out(c, err);
    else if (!r)
        r = leave(c);
    if (r < 0)
        return r;
    int e = cli_clean_json_end(&c->tell, err);
    return e < 0 ? e : r;
}

static int
prepare(struct clean *c, struct buf *home, struct err *err)
{
    const struct args *a = c->args;
    int r = make_wish(c, err);
    if (!r)
        r = session_home(home, err);
    c->home = buf_str(home);
    c->tell.self = c->self;
    c->tell.plan = &c->plan;
    c->tell.home = c->home;
    c->tell.is_json = a->is_json;
    c->tell.is_dry_run = a->is_dry_run;
    c->tell.now_ns = cli_when_now_ns();
    return r;
}

static int
run(const struct cli_command *self, int argc, char **argv, struct err *err)
{
    AUTO(buf) home = { .ceiling = PATH_MAX };
    struct args a = { .older_than = UINT64_MAX };
    struct clean c = { .self = self, .args = &a };
    int count, r = cli_parse(self, argc, argv, &a, &count, err);
    if (r)
        return r;
    if (count)
        return err_set(err, ERR_USAGE,
                       "clean takes no session; did you mean 'ahr delete %s'?", argv[0]);
    r = prepare(&c, &home, err);
    if (r < 0)
        return r;
    if (!is_anything_configured(&c))
        cli_say(self, "no retention is configured, so sessions are kept for ever; a line "
                      "such as 'retention.failed = 30d' in the config file changes that, "
                      "or say what is to go with --older-than or --status");
    if (is_anything_configured(&c) || a.is_json)
        r = clean(&c, err);
    library_plan_release(&c.plan);
    cli_clean_tell_release(&c.tell);
    return r;
}

#define RETENTION(status, name)                                                         \
    {                                                                                   \
        "retention." name, 0, CLI_TIME, offsetof(struct args, retention[status]), "T",  \
            "without the first two: those " name " before this time; never by default", \
            0, 0                                                                        \
    }

static const struct cli_option options[] = {
    { "older-than", 0, CLI_TIME, offsetof(struct args, older_than), "T",
      "those that ended before this time: a date, or 30d for so long ago", 0, 0 },
    { "status", 0, CLI_TEXT, offsetof(struct args, status), "LIST",
      "those of these statuses alone, as in failed,aborted", 0, 0 },
    { "keep", 0, CLI_NUMBER, offsetof(struct args, keep), "N",
      "the newest N of what would go stay", 0, UINT64_MAX },
    { "dry-run", 0, CLI_FLAG, offsetof(struct args, is_dry_run), NULL,
      "list what would go, and change nothing", 0, 0 },
    { "yes", 'y', CLI_FLAG, offsetof(struct args, is_sure), NULL, "do not ask", 0, 0 },
    { "json", 0, CLI_FLAG, offsetof(struct args, is_json), NULL, "print JSON", 0, 0 },
    RETENTION(SESSION_COMPLETED, "completed"),
    RETENTION(SESSION_FAILED, "failed"),
    RETENTION(SESSION_ABORTED, "aborted"),
    RETENTION(SESSION_CRASHED, "crashed"),
    RETENTION(SESSION_INTERRUPTED, "interrupted"),
    CLI_UPKEEP_OPTION(struct args, upkeep,
                      "free what their snapshots took, in the background"),
    { 0 },
};

const struct cli_command cli_clean_up = {
    "clean",
    "[--older-than T] [--status LIST] [--keep N] [--dry-run] [--yes] [--json]",
    "delete sessions that have had their time",
    options,
    run,
    false,
};
