/* SPDX-License-Identifier: MIT */
/* ahr delete: removes sessions, their files and all that the index has of them. */
#include "library/change.h"

#include <errno.h>
#include <limits.h>
#include <stdlib.h>
#include <unistd.h>

#include "cli/agree.h"
#include "cli/option.h"
#include "cli/report.h"
#include "cli/session.h"
#include "cli/table.h"
#include "cli/upkeep.h"
#include "cli/when.h"
#include "library/census.h"
#include "library/encrypt.h"
#include "library/entire.h"
#include "library/list.h"
#include "library/runs.h"
#include "session/folder.h"
#include "session/home.h"

struct args {
    bool is_sure, is_forced;
    int upkeep;
};

/* -- which -- */

struct target {
    char id[SESSION_ID_LEN + 1];
    bool is_forced; /* also where it is protected */
};

struct which {
    const char *home;
    bool is_forced;
    struct library_census census;
    struct library_verdict *verdicts;
    struct buf targets; /* struct target */
};

static size_t
count_of(const struct which *w)
{
    return w->targets.n / sizeof(struct target);
}

static const struct target *
target_at(const struct which *w, size_t i)
{
    return (const struct target *)(const void *)w->targets.p + i;
}

static void
forget_census(struct which *w)
{
    library_census_release(&w->census);
    free(w->verdicts);
    w->verdicts = NULL;
}

static void
which_release(struct which *w)
{
    forget_census(w);
    buf_release(&w->targets);
}

static int
take_census(struct which *w, struct err *err)
{
    int r = library_census_take(&w->census, w->home, err);
    if (r < 0)
        return r;
    w->verdicts = calloc(w->census.count + 1, sizeof(*w->verdicts));
    r = w->verdicts ? library_census_protect(&w->census, w->verdicts) : -ENOMEM;
    return r < 0 ? err_code(err, r, "cannot tell what is protected") : 0;
}

static const char *
name_of(const struct library_member *m)
{
    return m->told.name ? m->told.name : m->id;
}

/* What is protected goes only by its whole name or id, with --force: by no word that
 * means another one tomorrow. One that is active does not. */
static int
check_protected(const struct which *w, const struct target *t, struct err *err)
{
    AUTO(buf) why = { 0 };
    const struct library_member *m = library_census_find(&w->census, t->id);
    const struct library_verdict *v = m ? &w->verdicts[m - w->census.list] : NULL;
    if (v && v->guard != LIBRARY_GUARD_NONE)
        library_census_reason(&w->census, v, &why);
    if (v && v->guard == LIBRARY_GUARD_ACTIVE)
        return err_set(err, ERR_BUSY, "session '%s' cannot be deleted: %s", name_of(m),
                       buf_str(&why));
    if (t->is_forced)
        return 0;
    if (v && v->guard != LIBRARY_GUARD_NONE)
        return err_set(err, -EPERM,
                       "session '%s' is protected: %s; 'ahr delete --force %s', with its "
                       "whole name or id, deletes it all the same",
                       name_of(m), buf_str(&why), name_of(m));
    return library_census_check(&w->census, err);
}

static bool
is_typed_out(const struct which *w, const char *id, const char *what)
{
    const struct library_member *m = library_census_find(&w->census, id);
    return !strcmp(what, id) || (m && !strcmp(what, name_of(m)));
}

/* One that is named twice is deleted once. */
static int
add(struct which *w, const struct target *t, struct err *err)
{
    for (size_t i = 0; i < count_of(w); i++)
        if (!strcmp(target_at(w, i)->id, t->id))
            return 0;
    int r = buf_append(&w->targets, t, sizeof(*t));
    return r < 0 ? err_code(err, r, "cannot delete '%s'", t->id) : 0;
}

static int
resolve(struct which *w, const char *what, struct err *err)
{
    AUTO(library_found) found = { 0 };
    struct target t;
    int r = cli_find_any(NULL, &found, what, err);
    if (r < 0)
        return r;
    if (!*found.id)
        return err_set(err, ERR_MISSING,
                       "'%s' is a file, not a session of the library: remove it as any "
                       "other",
                       what);
    r = cli_check_ended(w->home, &found, what, err);
    if (r < 0)
        return r;
    memcpy(t.id, found.id, sizeof(t.id));
    t.is_forced = w->is_forced && is_typed_out(w, t.id, what);
    r = check_protected(w, &t, err);
    return r < 0 ? r : add(w, &t, err);
}

static int
find_all(struct which *w, char **what, int count, struct err *err)
{
    int r = take_census(w, err);
    for (int i = 0; !r && i < count; i++)
        r = resolve(w, what[i], err);
    return r;
}

/* While we asked, a session may have begun that descends from one of them. */
static int
look_again(struct which *w, struct err *err)
{
    forget_census(w);
    int r = take_census(w, err);
    for (size_t i = 0; !r && i < count_of(w); i++)
        r = check_protected(w, target_at(w, i), err);
    return r;
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
    char when[CLI_WHEN_LOCAL_SIZE] = "", begin[CLI_SHORT_ID + 1] = "";
    struct err why, ignored;
    memcpy(begin, id, CLI_SHORT_ID);
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
is_agreed(const struct which *w)
{
    AUTO(cli_table)
    table = { .columns = columns, .count = sizeof(columns) / sizeof(columns[0]) };
    cli_table_look(&table, STDERR_FILENO);
    for (size_t i = 0; i < count_of(w); i++)
        put_session(&table, w->home, target_at(w, i)->id);
    return cli_is_agreed(&table, count_of(w), "session");
}

/* -- all -- */

/* Of an encrypted run. Before the session goes, which alone leads there. */
static bool
free_name(const struct cli_command *self, const char *home, const char *id)
{
    AUTO(buf) dir = { 0 };
    struct err err = { 0 };
    int r = library_encrypt_unname(home, id, ".", &dir, &err);
    if (r < 0)
        cli_say(self, "the folder that kept its name stays: %s", err.text);
    else if (r > 0 && buf_str(&dir)[0])
        cli_say(self, "'%s', which kept its name in the project, is removed",
                cli_clean((char *)dir.p));
    return r > 0;
}

/* entire: its folder in .entire/, as it was found before. */
static void
say_transcript(const struct cli_command *self, struct buf *entire)
{
    if (access(buf_str(entire), F_OK) < 0)
        cli_say(self, "its transcript is removed, too: '%s'",
                cli_clean((char *)entire->p));
    else
        cli_say(self, "its transcript is removed; what else is in '%s' stays",
                cli_clean((char *)entire->p));
}

/* One that fails does not stop the others. */
static int
delete_all(const struct cli_command *self, const struct which *w)
{
    int worst = CLI_DONE;
    const char *home = w->home;
    library_sweep(home); /* what a killed one has left has the name that we need */
    for (size_t i = 0; i < count_of(w); i++) {
        const struct target *t = target_at(w, i);
        const char *id = t->id;
        AUTO(buf) project = { 0 };
        AUTO(buf) entire = { 0 };
        struct err err = { 0 };
        bool is_unnamed = free_name(self, home, id);
        bool has_project = !is_unnamed && library_project_find(home, id, &project);
        bool has_entire = library_entire_find(home, id, &entire);
        int r = library_delete(home, id, t->is_forced, &err);
        if (r >= 0)
            cli_say(self, "session %s is deleted", id);
        if (r >= 0 && has_project)
            cli_say(self, "what the run kept in its project stays: '%s'",
                    cli_clean((char *)project.p));
        if (r >= 0 && has_entire)
            say_transcript(self, &entire);
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
    AUTO(which) w = { 0 };
    struct args a = { 0 };
    int count, r = cli_parse(self, argc, argv, &a, &count, err);
    if (r)
        return r;
    if (!count)
        return err_set(err, ERR_USAGE, "which session? see 'ahr delete -h'");
    r = session_home(&home, err);
    w.home = buf_str(&home);
    w.is_forced = a.is_forced;
    if (!r)
        r = find_all(&w, argv, count, err);
    if (!r && !a.is_sure)
        r = cli_may_ask(err);
    if (r < 0)
        return r;
    if (!a.is_sure && !is_agreed(&w)) {
        cli_say(self, "nothing is deleted");
        return CLI_FAILED;
    }
    r = a.is_sure ? 0 : look_again(&w, err);
    if (r < 0)
        return r;
    int worst = delete_all(self, &w);
    cli_tidy_later(a.upkeep, w.home, UINT64_MAX); /* the budget is not its job */
    return worst;
}

static const struct cli_option options[] = {
    { "yes", 'y', CLI_FLAG, offsetof(struct args, is_sure), NULL, "do not ask", 0, 0 },
    { "force", 0, CLI_FLAG, offsetof(struct args, is_forced), NULL,
      "also one that is protected, if its whole name or id is given", 0, 0 },
    CLI_UPKEEP_OPTION(struct args, upkeep,
                      "free what its snapshots took, in the background"),
    { 0 },
};

const struct cli_command cli_delete = {
    "delete",
    "SESSION… [--force] [--yes] [--upkeep auto|off]",
    "delete sessions for good",
    options,
    run,
    false,
};
