/* SPDX-License-Identifier: MIT */
/* ahr fs list: the snapshots of files that there are, in the order of their time. */
#include "snap/list.h"

#include <limits.h>
#include <unistd.h>

#include "base/file.h"
#include "cli/fs_table.h"
#include "cli/option.h"
#include "cli/path.h"
#include "cli/session.h"
#include "session/home.h"
#include "snap/root.h"

enum {
    JSON_LOT = 1 << 20, /* bytes that are written together */
};

struct args {
    const char *session;
    bool is_here, is_json;
};

struct listing {
    bool is_json;
    uint64_t count;
    struct cli_table table;
    struct cli_fs_names names;
    struct buf text;
    struct json json;
    struct err *err;
};

/* -- a snapshot -- */

static void
put_text(struct json *j, const char *key, const char *text)
{
    json_key(j, key);
    json_str_or_none(j, text && *text ? text : NULL);
}

static void
put_json(struct json *j, const struct snap_facts *f, const char *name,
         const char *repo_path)
{
    json_open(j, '{');
    json_key(j, "id"), json_u64(j, f->id);
    put_text(j, "session", f->session);
    put_text(j, "session_name", name);
    put_text(j, "label", f->label);
    json_key(j, "kind"), json_str(j, f->is_auto ? "auto" : "manual");
    json_key(j, "commit"), json_str(j, f->commit);
    json_key(j, "ts_ns"), json_u64(j, f->ts_ns);
    json_key(j, "anchor_byte");
    if (f->anchor_byte == SNAP_NONE)
        json_none(j);
    else
        json_u64(j, f->anchor_byte);
    json_key(j, "files"), json_u64(j, f->files);
    json_key(j, "bytes"), json_u64(j, f->bytes);
    json_key(j, "skipped"), json_u64(j, f->skipped);
    json_key(j, "all"), json_bool(j, f->has_all);
    cli_path_json(j, "root", f->root ? f->root : "");
    cli_path_json(j, "repository", repo_path);
    json_close(j, '}');
}

static int
write_text(struct listing *l)
{
    int r = l->text.failed ? l->text.failed
                           : file_write_all(STDOUT_FILENO, l->text.p, l->text.n);
    buf_clear(&l->text);
    return r < 0 ? err_code(l->err, r, "cannot write to standard output") : 0;
}

/* A snap_list_fn. */
static int
put(void *ctx, const struct snap_facts *f, const char *repo_path)
{
    struct listing *l = ctx;
    l->count++;
    if (!l->is_json) {
        cli_fs_table_put(&l->table, &l->names, f);
        return cli_table_flush(&l->table, false, l->err);
    }
    put_json(&l->json, f, cli_fs_name(&l->names, f->session), repo_path);
    return l->text.n >= JSON_LOT ? write_text(l) : 0;
}

/* -- the list -- */

/* What could be read is printed, whatever is damaged elsewhere. */
static int
list(struct listing *l, const char *home, const struct snap_filter *filter)
{
    struct err why;
    l->json.out = &l->text;
    if (l->is_json)
        json_open(&l->json, '[');
    int r, listed = snap_list(home, filter, put, l, &why);
    if (l->err->code)
        return l->err->code; /* it could not be printed */
    if (!l->is_json) {
        r = cli_table_flush(&l->table, true, l->err);
    } else {
        json_close(&l->json, ']');
        buf_puts(&l->text, "\n");
        r = write_text(l);
    }
    if (!r && listed < 0)
        r = err_set(l->err, listed, "%s", why.text);
    return r;
}

static void
say_none(const struct cli_command *self, const struct snap_filter *filter)
{
    if (filter->session)
        cli_say(self, "no snapshot is like that; 'ahr fs list' lists all");
    else if (filter->root)
        cli_say(self, "there is no snapshot of '%.400s' yet; 'ahr fs snapshot' takes one",
                filter->root);
    else
        cli_say(self, "there is no snapshot of files yet; 'ahr fs snapshot' takes one");
}

/* -- whose snapshots -- */

/* Sessions that have snapshots, whether or not the library has them. */
struct beginning {
    const char *text;            /* of their ids */
    char id[SESSION_ID_LEN + 1]; /* "": none yet */
    bool is_shared;              /* by several */
};

/* A snap_list_fn. */
static int
compare_session(void *ctx, const struct snap_facts *f, const char *repo_path)
{
    struct beginning *b = ctx;
    (void)repo_path;
    if (!session_id_is(f->session) || strncmp(f->session, b->text, strlen(b->text)) != 0)
        return 0;
    b->is_shared |= *b->id && strcmp(b->id, f->session) != 0;
    memcpy(b->id, f->session, sizeof(b->id));
    return 0;
}

/* The id of a session that may be no part of the library, or what a person calls one.
 * What the list shows of ids will do, if it is one session's. */
static int
resolve(const char *home, const char *what, char ret_id[SESSION_ID_LEN + 1],
        struct err *err)
{
    AUTO(library_found) found = { 0 };
    struct beginning b = { .text = what };
    struct err ignored;
    if (session_id_is(what) || !strcmp(what, SNAP_NO_SESSION)) {
        memcpy(ret_id, what, strlen(what) + 1);
        return 0;
    }
    if (session_id_may_begin(what))
        (void)snap_list(home, NULL, compare_session, &b, &ignored);
    if (b.is_shared)
        return err_set(
            err, ERR_USAGE,
            "several sessions that begin with '%s' have snapshots; say more of "
            "the id ('ahr fs list --json' shows it whole)",
            what);
    if (*b.id) {
        memcpy(ret_id, b.id, sizeof(b.id));
        return 0;
    }
    int r = cli_find_any(NULL, &found, what, err);
    if (r < 0)
        return r;
    if (!*found.id)
        return err_set(err, ERR_MISSING, "'%s' is a file, not a session of the library",
                       what);
    memcpy(ret_id, found.id, sizeof(found.id));
    return 0;
}

static int
find_filter(const struct cli_command *self, const struct args *a, const char *home,
            char *id, struct buf *root, struct snap_filter *ret, struct err *err)
{
    const char *session;
    int r = cli_session_choice(self, a->session, 0, NULL, &session, err);
    if (!r && session) {
        r = resolve(home, session, id, err);
        ret->session = id;
    }
    if (!r && a->is_here) {
        r = snap_root(root, ".", err);
        ret->root = buf_str(root);
    }
    return r;
}

/* -- all -- */

static int
run(const struct cli_command *self, int argc, char **argv, struct err *err)
{
    AUTO(buf) home = { .ceiling = PATH_MAX };
    AUTO(buf) root = { .ceiling = PATH_MAX };
    char id[SESSION_ID_LEN + 1];
    struct args a = { 0 };
    struct snap_filter filter = { 0 };
    int count, r = cli_parse(self, argc, argv, &a, &count, err);
    if (r)
        return r;
    if (count)
        return err_set(err, ERR_USAGE, "'%s' is one word too many; see 'ahr fs list -h'",
                       argv[0]);
    r = session_home(&home, err);
    if (!r)
        r = find_filter(self, &a, buf_str(&home), id, &root, &filter, err);
    if (r < 0)
        return r;
    struct listing l = { .is_json = a.is_json,
                         .table = cli_fs_table(a.is_here),
                         .names.home = buf_str(&home),
                         .err = err };
    cli_table_look(&l.table, STDOUT_FILENO);
    r = list(&l, buf_str(&home), &filter);
    if (!r && !l.count && isatty(STDERR_FILENO))
        say_none(self, &filter);
    cli_table_release(&l.table);
    cli_fs_names_release(&l.names);
    buf_release(&l.text);
    return r;
}

static const struct cli_option options[] = {
    { "session", 0, CLI_TEXT, offsetof(struct args, session), "SESSION",
      "those of that session; none: those of no session", 0, 0 },
    { "here", 0, CLI_FLAG, offsetof(struct args, is_here), NULL,
      "those of the work tree around the current folder", 0, 0 },
    { "json", 0, CLI_FLAG, offsetof(struct args, is_json), NULL, "print JSON", 0, 0 },
    { 0 },
};

const struct cli_command cli_fs_list = {
    "fs list",
    "[--session SESSION] [--here] [--json]",
    "list the snapshots, the oldest first",
    options,
    run,
    false,
};
