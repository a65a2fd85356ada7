/* SPDX-License-Identifier: MIT */
/*
 * ahr list: the sessions that there are, the newest first, and below each those that
 * belong to it.
 *
 * Who has a parent is newer than that: rows are printed as they come until one has, and
 * from there on when all are known.
 */
#include "library/list.h"

#include <inttypes.h>
#include <limits.h>
#include <unistd.h>

#include "base/file.h"
#include "cli/list_tree.h"
#include "cli/option.h"
#include "cli/report.h"
#include "cli/session.h"
#include "cli/session_json.h"
#include "cli/table.h"
#include "cli/upkeep.h"
#include "cli/when.h"
#include "library/left.h"
#include "session/home.h"

enum {
    JSON_LOT = 1 << 20, /* bytes that are written together */
};

struct args {
    bool is_json, is_flat;
    int status; /* -1: any */
    const char *since, *until, *name;
    uint64_t limit;
    int upkeep;
};

struct listing {
    const struct cli_command *self;
    const char *home;
    bool is_json, is_flat;
    uint64_t now_ns, count;
    bool is_tree; /* a session with a parent has come */
    struct cli_list_tree tree;
    struct cli_table table;
    struct buf text, cell;
    struct json json;
    struct err *err;
};

static const struct cli_column columns[] = {
    { "WHEN", false, 0, 6 },    { "NAME OR ID", false, 12, 0 }, { "STATUS", false, 0, 0 },
    { "DURATION", true, 0, 2 }, { "SIZE", true, 0, 1 },         { "AGENT", false, 0, 4 },
    { "TOKENS", true, 0, 3 },   { "COMMAND", false, 8, 5 },
};

enum {
    COLUMNS = sizeof(columns) / sizeof(columns[0]),
    RUNS_ALONE = 1 << 5 | 1 << 6, /* AGENT and TOKENS */
    COMMAND_FAIR = 16,            /* columns, before what else is told of it stays */
};

/* -- a row -- */

static void
put_name(struct listing *l, const struct store_session *f, const char *branch)
{
    char id[CLI_SHORT_ID + 1] = "";
    if (strlen(f->id) > CLI_SHORT_ID)
        memcpy(id, f->id, CLI_SHORT_ID);
    buf_clear(&l->cell);
    buf_puts(&l->cell, branch);
    buf_puts(&l->cell, f->name ? f->name : id);
    cli_table_put(&l->table, buf_str(&l->cell), 0);
}

static void
put_status(struct listing *l, const struct library_session *s)
{
    const char *status = s->facts.status ? s->facts.status : "";
    unsigned style = !strcmp(status, "failed") || !strcmp(status, "crashed") ? 31
                     : !strcmp(status, "interrupted")                        ? 33
                                                                             : 0;
    if (s->is_held) {
        cli_table_put(&l->table, "● active", 32);
        return;
    }
    if (!s->facts.is_damaged) {
        cli_table_put(&l->table, status, style);
        return;
    }
    buf_clear(&l->cell);
    buf_printf(&l->cell, "%s, damaged", status);
    cli_table_put(&l->table, buf_str(&l->cell), 33);
}

static void
put_duration(struct listing *l, const struct library_session *s)
{
    uint64_t start = s->facts.started_at_ns;
    uint64_t end = s->is_held ? l->now_ns : s->facts.ended_at_ns;
    buf_clear(&l->cell);
    if (start && end >= start)
        cli_duration(&l->cell, end - start);
    cli_table_put(&l->table, buf_str(&l->cell), 0);
}

/* Who ran, and what it took in and gave out, cached or not. */
static void
put_run(struct listing *l, const struct store_session *f)
{
    const uint64_t all[] = { f->input_tokens, f->output_tokens, f->cache_creation_tokens,
                             f->cache_read_tokens };
    bool is_run = f->kind && !strcmp(f->kind, "stream");
    bool is_wire = f->kind && !strcmp(f->kind, "wire");
    uint64_t sum = 0;
    bool is_known = false;
    for (size_t i = 0; i < sizeof(all) / sizeof(all[0]); i++)
        if (all[i] != UINT64_MAX)
            sum += all[i], is_known = true;
    const char *who = is_run ? "run" : is_wire ? "proxy" : NULL;
    cli_table_put(&l->table, f->agent ? f->agent : who, 0);
    buf_clear(&l->cell);
    if (is_known)
        cli_count(&l->cell, sum, NULL);
    cli_table_put(&l->table, buf_str(&l->cell), 0);
}

/* The command; of what an agent has kept, where that is always the same, its task. */
static const char *
what(const struct store_session *f)
{
    bool is_history = f->kind && f->agent && !strcmp(f->kind, "import");
    return is_history && f->task ? f->task : f->command;
}

/* A cli_list_tree_fn. */
static int
put_row(void *ctx, const struct library_session *s, const char *branch)
{
    struct listing *l = ctx;
    char when[CLI_WHEN_LOCAL_SIZE];
    cli_table_put(&l->table, cli_when_local(s->facts.started_at_ns, when), 0);
    put_name(l, &s->facts, branch);
    put_status(l, s);
    put_duration(l, s);
    buf_clear(&l->cell);
    cli_size(&l->cell, s->facts.size_bytes);
    cli_table_put(&l->table, buf_str(&l->cell), 0);
    put_run(l, &s->facts);
    cli_table_put(&l->table, what(&s->facts), 0);
    return cli_table_flush(&l->table, false, l->err);
}

static int
write_text(struct listing *l)
{
    int r = l->text.failed ? l->text.failed
                           : file_write_all(STDOUT_FILENO, l->text.p, l->text.n);
    buf_clear(&l->text);
    return r < 0 ? err_code(l->err, r, "cannot write to standard output") : 0;
}

/* A library_list_fn. */
static int
put(void *ctx, const struct library_session *s)
{
    struct listing *l = ctx;
    int r = 0;
    l->count++;
    if (s->lost_pid)
        cli_say_lost(l->self, s);
    l->is_tree |= !l->is_flat && s->facts.parent;
    if (!l->is_json && l->is_tree) {
        r = cli_list_tree_add(&l->tree, s);
        if (r < 0)
            err_code(l->err, r, "cannot list the sessions");
    } else if (!l->is_json) {
        r = put_row(l, s, "");
    } else {
        cli_session_json(&l->json, l->home, s);
        if (l->text.n >= JSON_LOT)
            r = write_text(l);
    }
    return r < 0 ? r : 1;
}

/* -- all -- */

static int
list(struct listing *l, const struct library_list *what, struct library_listed *ret)
{
    l->json.out = &l->text;
    if (l->is_json)
        json_open(&l->json, '[');
    int r = library_list(l->home, what, put, l, ret, l->err);
    if (r < 0)
        return r;
    if (!l->is_json) {
        r = cli_list_tree_walk(&l->tree, put_row, l);
        if (r < 0 && !l->err->code)
            err_code(l->err, r, "cannot list the sessions");
        return r < 0 ? r : cli_table_flush(&l->table, true, l->err);
    }
    json_close(&l->json, ']');
    buf_puts(&l->text, "\n");
    return write_text(l);
}

static void
say_none(const struct cli_command *self, const struct library_list *what,
         const char *home)
{
    if (what->status || what->name_glob || what->since_ns || what->until_ns)
        cli_say(self, "no session is like that; 'ahr list' lists all");
    else
        cli_say(self,
                "there is no session in '%s' yet; 'ahr record -- COMMAND' or "
                "'ahr run -- COMMAND' makes one",
                home);
}

static void
say_notes(const struct cli_command *self, const char *home,
          const struct library_listed *listed)
{
    cli_say_index(self, &listed->why);
    if (listed->damaged && isatty(STDERR_FILENO)) {
        AUTO(buf) count = { 0 };
        cli_count(&count, listed->damaged, "session");
        cli_say(self, "%s of which nothing can be read: see '%s/damaged'",
                buf_str(&count), home);
    }
}

static int
parse_filters(const struct args *a, uint64_t now_ns, struct library_list *ret,
              struct err *err)
{
    static const char *const names[] = { "active",  "completed",   "failed",   "crashed",
                                         "aborted", "interrupted", "encrypted" };
    int r = 0;
    ret->status = a->status < 0 ? NULL : names[a->status];
    ret->name_glob = a->name;
    ret->limit = a->limit;
    ret->is_short = !a->is_json;
    if (a->since)
        r = cli_when_parse(a->since, now_ns, &ret->since_ns, err);
    if (!r && a->until)
        r = cli_when_parse(a->until, now_ns, &ret->until_ns, err);
    return r;
}

static int
run(const struct cli_command *self, int argc, char **argv, struct err *err)
{
    AUTO(buf) home = { .ceiling = PATH_MAX };
    struct args a = { .status = -1 };
    struct library_list what = { 0 };
    struct library_listed listed;
    struct listing l = { .self = self, .now_ns = cli_when_now_ns(), .err = err };
    int count, r = cli_parse(self, argc, argv, &a, &count, err);
    if (r)
        return r;
    if (count)
        return err_set(err, ERR_USAGE,
                       "list takes no session; did you mean 'ahr show %s'?", argv[0]);
    r = parse_filters(&a, l.now_ns, &what, err);
    if (!r)
        r = session_home(&home, err);
    if (r < 0)
        return r;
    l.home = buf_str(&home);
    l.is_json = a.is_json;
    l.is_flat = a.is_flat;
    l.table.columns = columns;
    l.table.count = COLUMNS;
    l.table.last = COMMAND_FAIR;
    l.table.spare = RUNS_ALONE;
    cli_table_look(&l.table, STDOUT_FILENO);
    r = list(&l, &what, &listed);
    if (!r) {
        if (!l.count && isatty(STDERR_FILENO))
            say_none(self, &what, l.home);
        say_notes(self, l.home, &listed);
        if (a.upkeep != CLI_UPKEEP_OFF)
            library_left_mark(".");
        cli_tend(a.upkeep, l.home, &listed);
    }
    cli_list_tree_release(&l.tree);
    cli_table_release(&l.table);
    buf_release(&l.text);
    buf_release(&l.cell);
    return r;
}

static const struct cli_option options[] = {
    { "json", 0, CLI_FLAG, offsetof(struct args, is_json), NULL, "print JSON", 0, 0 },
    { "status", 0, CLI_CHOICE, offsetof(struct args, status),
      "active|completed|failed|crashed|aborted|interrupted|encrypted",
      "those of this status alone", 0, 0 },
    { "since", 0, CLI_TEXT, offsetof(struct args, since), "T",
      "those that began at this time or later: a date, or 7d for so long ago", 0, 0 },
    { "until", 0, CLI_TEXT, offsetof(struct args, until), "T",
      "those that began before this time", 0, 0 },
    { "name", 0, CLI_TEXT, offsetof(struct args, name), "GLOB",
      "those whose name fits: * stands for anything, ? for one character", 0, 0 },
    { "limit", 'n', CLI_NUMBER, offsetof(struct args, limit), "N",
      "the newest N of them; 0 for all", 0, UINT64_MAX },
    { "flat", 0, CLI_FLAG, offsetof(struct args, is_flat), NULL,
      "by time alone, not below the sessions that they belong to", 0, 0 },
    CLI_UPKEEP_OPTION(struct args, upkeep,
                      "recover and index in the background what is not yet"),
    { 0 },
};

const struct cli_command cli_list = {
    "list",
    "[--json] [--status S] [--since T] [--until T] [--name GLOB] [--limit N] "
    "[--flat]",
    "list the sessions, the newest first",
    options,
    run,
    false,
};
