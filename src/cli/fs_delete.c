/* SPDX-License-Identifier: MIT */
/* ahr fs delete: removes snapshots of files. */
#include <errno.h>
#include <inttypes.h>
#include <limits.h>
#include <stdlib.h>
#include <unistd.h>

#include "cli/agree.h"
#include "cli/fs_table.h"
#include "cli/option.h"
#include "cli/upkeep.h"
#include "session/home.h"
#include "snap/root.h"
#include "snap/tidy.h"

struct args {
    bool is_sure;
    int upkeep;
};

/* One that was found; its repository is not held any more. */
struct doomed {
    struct snap_facts facts;
    char *repo_path;
};

struct doomed_list {
    struct doomed *item;
    size_t count;
};

static void
release_all(struct doomed_list *l)
{
    for (size_t i = 0; i < l->count; i++) {
        snap_facts_release(&l->item[i].facts);
        free(l->item[i].repo_path);
    }
    free(l->item);
}

static bool
is_among(const struct doomed_list *l, const struct snap_found *f)
{
    for (size_t i = 0; i < l->count; i++)
        if (l->item[i].facts.id == f->facts.id &&
            !strcmp(l->item[i].facts.session, f->facts.session) &&
            !strcmp(l->item[i].repo_path, f->repo.path))
            return true;
    return false;
}

/* One that is named twice is deleted once. */
static int
resolve(struct doomed_list *l, const char *home, const char *here, const char *what,
        struct err *err)
{
    struct snap_found found;
    int r = snap_find(&found, home, here, what, err);
    if (r < 0)
        return r;
    if (!is_among(l, &found)) {
        l->item[l->count++] = (struct doomed){ found.facts, found.repo.path };
        found.facts = (struct snap_facts){ 0 };
        found.repo.path = NULL;
    }
    snap_found_release(&found);
    return 0;
}

static bool
is_agreed(const struct doomed_list *l, const char *home)
{
    AUTO(cli_fs_names) names = { .home = home };
    AUTO(cli_table) table = cli_fs_table(false);
    cli_table_look(&table, STDERR_FILENO);
    for (size_t i = 0; i < l->count; i++)
        cli_fs_table_put(&table, &names, &l->item[i].facts);
    return cli_is_agreed(&table, l->count, "snapshot");
}

/* One that fails does not stop the others. */
static int
delete_all(const struct cli_command *self, const struct doomed_list *l)
{
    int worst = CLI_DONE;
    for (size_t i = 0; i < l->count; i++) {
        const struct doomed *d = &l->item[i];
        struct err err = { 0 };
        int r = snap_forget(d->repo_path, d->facts.session, d->facts.id, &err);
        if (r >= 0)
            cli_say(self, "snapshot %" PRIu64 " is deleted", d->facts.id);
        else
            cli_say(self, "%s", err.text);
        if (r < 0 && !worst)
            worst = (int)cli_exit_status(r);
    }
    return worst;
}

static int
delete_named(const struct cli_command *self, const char *home, const struct args *a,
             struct doomed_list *l, int count, char **what, struct err *err)
{
    AUTO(buf) here = { .ceiling = PATH_MAX };
    struct err ignored;
    bool is_somewhere = snap_root(&here, ".", &ignored) == 0;
    l->item = calloc((size_t)count, sizeof(*l->item));
    if (!l->item)
        return err_code(err, -ENOMEM, "cannot delete snapshots");
    int r = 0;
    for (int i = 0; !r && i < count; i++)
        r = resolve(l, home, is_somewhere ? buf_str(&here) : NULL, what[i], err);
    if (!r && !a->is_sure)
        r = cli_may_ask(err);
    if (r < 0)
        return r;
    if (!a->is_sure && !is_agreed(l, home)) {
        cli_say(self, "nothing is deleted");
        return CLI_FAILED;
    }
    return delete_all(self, l);
}

static int
run(const struct cli_command *self, int argc, char **argv, struct err *err)
{
    AUTO(buf) home = { .ceiling = PATH_MAX };
    struct doomed_list l = { 0 };
    struct args a = { 0 };
    int count, r = cli_parse(self, argc, argv, &a, &count, err);
    if (r)
        return r;
    if (!count)
        return err_set(err, ERR_USAGE, "which snapshot? 'ahr fs list' lists them");
    r = session_home(&home, err);
    if (!r)
        r = delete_named(self, buf_str(&home), &a, &l, count, argv, err);
    if (r >= 0)
        cli_tidy_later(a.upkeep, buf_str(&home), UINT64_MAX); /* no budget: not our job */
    release_all(&l);
    return r;
}

static const struct cli_option options[] = {
    { "yes", 'y', CLI_FLAG, offsetof(struct args, is_sure), NULL, "do not ask", 0, 0 },
    CLI_UPKEEP_OPTION(struct args, upkeep, "tidy afterwards, in the background"),
    { 0 },
};

const struct cli_command cli_fs_delete = {
    "fs delete",
    "SNAPSHOT… [--yes] [--upkeep auto|off]",
    "delete snapshots for good",
    options,
    run,
    false,
};
