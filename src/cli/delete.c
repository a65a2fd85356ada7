/* SPDX-License-Identifier: MIT */
/* ahr delete: removes sessions, their files and all that the index has of them. */
#include "library/change.h"

#include <errno.h>
#include <limits.h>
#include <unistd.h>

#include "cli/agree.h"
#include "cli/option.h"
#include "cli/report.h"
#include "cli/session.h"
#include "cli/table.h"
#include "cli/upkeep.h"
#include "cli/when.h"
#include "library/list.h"
#include "library/runs.h"
#include "session/folder.h"
#include "session/home.h"

enum { SHORT_ID = sizeof("2026-11-16-1a2b3c4d") - 1 };

struct args {
    bool is_sure;
    int upkeep;
};

/* -- which -- */

static bool
is_among(const struct buf *ids, const char *id)
{
    for (size_t at = 0; at < ids->n; at += SESSION_ID_LEN + 1)
        if (!strcmp((const char *)ids->p + at, id))
            return true;
    return false;
}

/* Appends its id; one that is named twice is deleted once. */
static int
resolve(const char *home, const char *what, struct buf *ids, struct err *err)
{
    AUTO(library_found) found = { 0 };
    int r = cli_find(NULL, &found, what, err);
    if (r < 0)
        return r;
    if (!*found.id)
        return err_set(err, ERR_MISSING,
                       "'%s' is a file, not a session of the library: remove it as any "
                       "other",
                       what);
    r = cli_check_ended(home, &found, what, err);
    if (r < 0)
        return r;
    if (is_among(ids, found.id))
        return 0;
    r = buf_append(ids, found.id, sizeof(found.id));
    return r < 0 ? err_code(err, r, "cannot delete '%s'", what) : 0;
}

/* -- asking -- */

static const struct cli_column columns[] = {
    { "WHEN", false, 0, 2 }, { "ID", false, 0, 0 },      { "NAME", false, 8, 3 },
    { "SIZE", true, 0, 1 },  { "COMMAND", false, 8, 4 },
};

static void
put_session(struct cli_table *t, const char *home, const char *id)
{
    AUTO(library_session) s = { 0 };
    AUTO(buf) size = { 0 };
    char when[CLI_WHEN_LOCAL_SIZE] = "", begin[SHORT_ID + 1] = "";
    struct err why, ignored;
    memcpy(begin, id, SHORT_ID);
    if (library_look(&s, home, id, &why, &ignored) == 0) {
        cli_when_local(s.facts.started_at_ns, when);
        cli_size(&size, s.facts.size_bytes);
    }
    cli_table_put(t, when, 0);
    cli_table_put(t, begin, 0);
    cli_table_put(t, s.facts.name, 0);
    cli_table_put(t, buf_str(&size), 0);
    cli_table_put(t, s.facts.command, 0);
}

static bool
is_agreed(const char *home, const struct buf *ids)
{
    AUTO(cli_table)
    table = { .columns = columns, .count = sizeof(columns) / sizeof(columns[0]) };
    size_t count = ids->n / (SESSION_ID_LEN + 1);
    cli_table_look(&table, STDERR_FILENO);
    for (size_t i = 0; i < count; i++)
        put_session(&table, home, (const char *)ids->p + i * (SESSION_ID_LEN + 1));
    return cli_is_agreed(&table, count, "session");
}

/* -- all -- */

/* One that fails does not stop the others. */
static int
delete_all(const struct cli_command *self, const char *home, const struct buf *ids)
{
    int worst = CLI_DONE;
    library_sweep(home); /* what a killed one has left has the name that we need */
    for (size_t at = 0; at < ids->n; at += SESSION_ID_LEN + 1) {
        const char *id = (const char *)ids->p + at;
        AUTO(buf) project = { 0 };
        struct err err = { 0 };
        bool has_project = library_project_find(home, id, &project);
        int r = library_delete(home, id, &err);
        if (r >= 0)
            cli_say(self, "session %s is deleted", id);
        if (r >= 0 && has_project)
            cli_say(self, "what the run kept in its project stays: '%s'",
                    cli_clean((char *)project.p));
        if (r)
            cli_say(self, "%s", err.text);
        if (r > 0)
            cli_say(self, "the index may still hold text of it until it is made anew");
        if (r < 0 && !worst)
            worst = (int)cli_exit_status(r);
    }
    return worst;
}

static int
run(const struct cli_command *self, int argc, char **argv, struct err *err)
{
    AUTO(buf) home = { .ceiling = PATH_MAX };
    AUTO(buf) ids = { 0 };
    struct args a = { 0 };
    int count, r = cli_parse(self, argc, argv, &a, &count, err);
    if (r)
        return r;
    if (!count)
        return err_set(err, ERR_USAGE, "which session? see 'ahr delete -h'");
    r = session_home(&home, err);
    for (int i = 0; !r && i < count; i++)
        r = resolve(buf_str(&home), argv[i], &ids, err);
    if (!r && !a.is_sure)
        r = cli_may_ask(err);
    if (r < 0)
        return r;
    if (!a.is_sure && !is_agreed(buf_str(&home), &ids)) {
        cli_say(self, "nothing is deleted");
        return CLI_FAILED;
    }
    int worst = delete_all(self, buf_str(&home), &ids);
    cli_tidy_later(a.upkeep, buf_str(&home), UINT64_MAX); /* the budget is not its job */
    return worst;
}

static const struct cli_option options[] = {
    { "yes", 'y', CLI_FLAG, offsetof(struct args, is_sure), NULL, "do not ask", 0, 0 },
    CLI_UPKEEP_OPTION(struct args, upkeep,
                      "free what its snapshots took, in the background"),
    { 0 },
};

const struct cli_command cli_delete = {
    "delete",
    "SESSION… [--yes] [--upkeep auto|off]",
    "delete sessions for good",
    options,
    run,
    false,
};
