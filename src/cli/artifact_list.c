/* SPDX-License-Identifier: MIT */
/* ahr artifact list: what a run has made, changed and removed. */
#include <unistd.h>

#include "base/file.h"
#include "base/json.h"
#include "cli/log_find.h"
#include "cli/option.h"
#include "cli/table.h"
#include "journal/artifact.h"

struct args {
    const char *session;
    bool is_json;
};

static const struct cli_option options[] = {
    { "json", 0, CLI_FLAG, offsetof(struct args, is_json), NULL, "as a JSON array", 0,
      0 },
    { "session", 0, CLI_TEXT, offsetof(struct args, session), "SESSION",
      "the run (default: the one around, else the last one)", 0, 0 },
    { 0 },
};

static const struct cli_column columns[] = {
    { "WHEN", false, 0, 2 },
    { "ACTION", false, 0, 0 },
    { "PATH", false, 20, 0 },
    { "COPY", false, 12, 1 },
};

struct listing {
    struct cli_table table;
    struct buf text;
    struct json json;
    bool is_json;
    struct err *err;
};

static void
put_text(struct json *j, const char *key, const char *text)
{
    json_key(j, key);
    json_str_or_none(j, *text ? text : NULL);
}

/* A journal_artifact_told_fn. */
static int
put(void *ctx, const struct journal_artifact_told *t)
{
    struct listing *l = ctx;
    struct json *j = &l->json;
    if (!l->is_json) {
        cli_table_put(&l->table, t->timestamp, 0);
        cli_table_put(&l->table, t->action, 0);
        cli_table_put(&l->table, t->path, 0);
        cli_table_put(&l->table, *t->copy ? t->copy : t->why, 0);
        return cli_table_flush(&l->table, false, l->err);
    }
    json_open(j, '{');
    put_text(j, "path", t->path);
    put_text(j, "action", t->action);
    put_text(j, "timestamp", t->timestamp);
    put_text(j, "copy", t->copy);
    json_key(j, "bytes");
    if (*t->copy)
        json_u64(j, t->bytes);
    else
        json_none(j);
    json_key(j, "redacted"), json_bool(j, t->is_redacted);
    put_text(j, "why", t->why);
    json_close(j, '}');
    return l->text.failed;
}

static int
finish(struct listing *l)
{
    if (!l->is_json)
        return cli_table_flush(&l->table, true, l->err);
    json_close(&l->json, ']');
    buf_puts(&l->text, "\n");
    int r = l->text.failed ? l->text.failed
                           : file_write_all(STDOUT_FILENO, l->text.p, l->text.n);
    return r < 0 ? err_code(l->err, r, "cannot write to standard output") : 0;
}

static int
run(const struct cli_command *self, int argc, char **argv, struct err *err)
{
    struct args args = { 0 };
    AUTO(buf) dir = { 0 };
    int count;
    int r = cli_parse(self, argc, argv, &args, &count, err);
    if (r)
        return r == CLI_HELP_SHOWN ? CLI_DONE : r;
    if (count)
        return err_set(err, ERR_USAGE, "unexpected '%s'", argv[0]);
    r = cli_run_find(self, args.session, true, &dir, err);
    if (r < 0)
        return r;
    struct listing l = { .table = { .columns = columns, .count = 4 },
                         .is_json = args.is_json,
                         .err = err };
    l.json.out = &l.text;
    cli_table_look(&l.table, STDOUT_FILENO);
    if (l.is_json)
        json_open(&l.json, '[');
    r = journal_artifacts_read(buf_str(&dir), put, &l, err);
    int finished = r == 0 || r == ERR_DAMAGED ? finish(&l) : 0;
    cli_table_release(&l.table);
    buf_release(&l.text);
    return r < 0 ? r : finished < 0 ? finished : CLI_DONE;
}

const struct cli_command cli_artifact_list = {
    "artifact list",
    "[--json] [--session SESSION]",
    "list the files that a run has made",
    options,
    run,
    false,
};
