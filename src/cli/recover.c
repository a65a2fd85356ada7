/* SPDX-License-Identifier: MIT */
/* ahr recover: makes cut-off recordings proper ones, and ends interrupted sessions. */
#include "library/recover.h"

#include <errno.h>
#include <inttypes.h>
#include <limits.h>
#include <stdio.h>
#include <unistd.h>

#include "base/file.h"
#include "cli/option.h"
#include "cli/report.h"
#include "journal/iteration.h"
#include "journal/log.h"
#include "library/catch_up.h"
#include "library/damaged.h"
#include "library/runs.h"
#include "session/home.h"

struct recover {
    struct cli_report out; /* the first: it is what a report on one is given */
    struct buf ids;        /* of those that are to be indexed */
    const struct cli_command *self;
};

/* What has become of one. */
struct outcome {
    const char *id, *path; /* path "": nothing was recorded, and the session is removed */
    bool is_ruin;          /* nothing of it can be read */
    bool is_talk;          /* … but what was said */
    bool is_dry_run;
    struct tape_repair_report done;
    const struct library_project *project; /* of a run */
};

static void
json_report(struct json *j, const struct outcome *o)
{
    const struct tape_repair_report *r = &o->done;
    json_open(j, '{');
    if (*o->id)
        json_key(j, "session"), json_str(j, o->id);
    json_key(j, "file"), *o->path && !o->is_talk ? json_str(j, o->path) : json_none(j);
    json_key(j, "changed"), json_bool(j, r->is_changed || o->is_ruin);
    json_key(j, "dry_run"), json_bool(j, o->is_dry_run);
    json_key(j, "set_aside"), json_bool(j, o->is_ruin);
    json_key(j, "conversation_kept"), json_bool(j, o->is_talk);
    json_key(j, "blocks"), json_u64(j, r->blocks);
    json_key(j, "sealed_blocks"), json_u64(j, r->sealed_blocks);
    json_key(j, "sealed_records"), json_u64(j, r->sealed_records);
    json_key(j, "sealed_bytes"), json_u64(j, r->sealed_bytes);
    json_key(j, "joined_segments"), json_u64(j, r->joined_segments);
    json_key(j, "torn_bytes"), json_u64(j, r->torn_bytes);
    json_key(j, "bad_tails"), json_u64(j, r->bad_tails);
    json_key(j, "damaged"), json_u64(j, r->damages);
    if (o->project->dir.n) {
        struct buf dir = o->project->dir;
        json_key(j, "project"), json_str(j, buf_str(&dir));
        json_key(j, "project_changed"), json_bool(j, o->project->is_changed);
    }
    json_close(j, '}');
}

static void
text_report(struct buf *out, const char *path, const struct tape_repair_report *r,
            bool is_dry_run)
{
    const char *what = !r->is_changed ? "nothing to do"
                       : !r->blocks   ? "nothing could be saved"
                       : is_dry_run   ? "would be recovered"
                                      : "recovered";
    buf_printf(out, "%s: %s, ", path, what);
    cli_count(out, r->blocks, "block");
    if (r->sealed_blocks) {
        buf_printf(out, "\n  %" PRIu64 " of them from tails: ", r->sealed_blocks);
        cli_count(out, r->sealed_records, "record");
        buf_puts(out, ", ");
        cli_count(out, r->sealed_bytes, "byte");
    }
    if (r->joined_segments)
        buf_printf(out, "\n  %u files %s one", r->joined_segments,
                   is_dry_run ? "would be joined into" : "joined into");
    if (r->torn_bytes) {
        buf_puts(out, "\n  ");
        cli_count(out, r->torn_bytes, "byte");
        buf_printf(out, " of no whole block %s '%s.torn'",
                   is_dry_run ? "would be kept in" : "kept in", path);
    }
    if (r->bad_tails) {
        buf_puts(out, "\n  ");
        cli_count(out, r->bad_tails, "tail");
        buf_printf(out, " with something unusable %s '%s.tail-….torn'",
                   is_dry_run ? "would be kept as" : "kept as", path);
    }
    if (r->damages) {
        buf_puts(out, "\n  ");
        cli_count(out, r->damages, "damaged place");
        buf_printf(out, "; see 'ahr verify %s'", path);
    }
}

static void
add_report(struct cli_report *out, const struct outcome *o)
{
    const char *would = o->is_dry_run ? "would be " : "";
    if (out->is_json)
        json_report(&out->json, o);
    else if (o->is_ruin)
        buf_printf(&out->text, "%s: nothing of it can be read; %smoved to 'damaged'",
                   o->id, would);
    else if (o->is_talk)
        buf_printf(&out->text, "%s: %s; its conversation is kept", o->id,
                   o->done.damages ? "its recording cannot be read"
                                   : "nothing of it was shown yet");
    else if (*o->path)
        text_report(&out->text, o->path, &o->done, o->is_dry_run);
    else
        buf_printf(&out->text, "%s: nothing was recorded, %sremoved", o->id, would);
    struct buf dir = o->project->dir;
    if (!out->is_json && o->project->is_changed)
        buf_printf(&out->text, "\n  the run's files in '%s' are in order", buf_str(&dir));
}

/* It may be gone with its project, or be on a disk that is not there. */
static void
say_project(const struct recover *rec, const struct library_project *p)
{
    if (p->why.code < 0)
        cli_say(rec->self, "the run's files in its project stay as they are: %s",
                p->why.text);
}

/* -- logs and runs of projects -- */

static bool
is_log(const struct library_found *f)
{
    struct buf path = f->tape_path;
    const char *text = buf_str(&path);
    size_t n = strlen(text);
    return !*f->id && n > 4 && !strcmp(text + n - 4, ".log");
}

/* Of a log, or of a run's folder. */
static void
add_plain(struct cli_report *out, const char *key, const char *path, bool is_changed,
          const char *what)
{
    struct json *j = &out->json;
    if (!out->is_json) {
        buf_printf(&out->text, "%s: %s", path, what);
        return;
    }
    json_open(j, '{');
    json_key(j, key), json_str(j, path);
    json_key(j, "changed"), json_bool(j, is_changed);
    json_key(j, "dry_run"), json_bool(j, out->is_dry_run);
    json_close(j, '}');
}

/* 1: its head says that it goes on. */
static int
is_log_open(const char *path, struct err *err)
{
    struct journal_log log = { 0 };
    int r = journal_log_open(&log, path, err);
    if (r < 0)
        return r;
    r = journal_log_look(&log);
    bool is_open = log.head.status == JOURNAL_IN_PROGRESS;
    journal_log_release(&log);
    return r == ERR_DAMAGED ? err_set(err, r, "'%s' is no iteration log", path)
           : r < 0          ? err_code(err, r, "cannot read '%s'", path)
                            : is_open;
}

static int
report_log(struct cli_report *out, const char *path, struct err *err)
{
    int r = out->is_dry_run ? is_log_open(path, err)
                            : journal_iteration_recover(path, err);
    if (r < 0)
        return r;
    add_plain(out, "file", path, r > 0,
              !r                ? "nothing to do"
              : out->is_dry_run ? "would be marked as crashed, unless somebody writes it"
                                : "recovered: its writer is gone, it says crashed now");
    return CLI_DONE;
}

struct runs {
    struct recover *rec;
    uint64_t count;
    int worst;
};

/* A library_runs_fn. */
static int
take_run(void *ctx, const char *dir, int r, const struct err *why)
{
    struct runs *runs = ctx;
    struct cli_report *out = &runs->rec->out;
    runs->count++;
    if (r < 0) {
        cli_say(runs->rec->self, "%s", why->text);
        runs->worst = CLI_FAILED;
        return 1;
    }
    add_plain(out, "project", dir, true,
              out->is_dry_run ? "the run would be marked as interrupted"
                              : "the run is over, and its files are in order");
    if (!out->is_json)
        buf_puts(&out->text, "\n");
    return 1;
}

static bool
has_talk(const char *id, const char *path)
{
    AUTO(buf) dir = { .ceiling = PATH_MAX };
    return *id && *path && !buf_append(&dir, path, file_dir_len(path)) &&
           library_has_talk(buf_str(&dir));
}

static int
report(struct cli_report *out, struct library_found *session,
       const struct tape_progress *step, struct err *err)
{
    AUTO(buf) moved = { 0 };
    AUTO(library_project) project = { 0 };
    if (is_log(session))
        return report_log(out, buf_str(&session->tape_path), err);
    struct recover *rec = (struct recover *)out;
    bool is_dry_run = out->is_dry_run;
    struct outcome o = { .id = session->id,
                         .path = buf_str(&session->tape_path),
                         .is_dry_run = is_dry_run,
                         .project = &project };
    /* --all means what is in live/, even if sessions/ has one of the same id. */
    bool is_live = session->is_live || out->is_all;
    int r = is_live
                ? library_recover(o.id, is_dry_run, step, &o.done, &moved, &project, err)
            : *o.id
                ? library_mend(o.id, is_dry_run, step, &o.done, err)
                : tape_repair(tape_io_files(), o.path, is_dry_run, step, &o.done, err);
    if (r < 0)
        return r;
    o.is_ruin = r > 0;
    if (is_live || o.is_ruin)
        o.path = buf_str(&moved);
    o.is_talk = !o.is_ruin && !o.done.blocks && has_talk(o.id, o.path);
    if (*o.id && *o.path && o.done.is_changed && !is_dry_run)
        buf_append(&rec->ids, o.id, sizeof(session->id));
    add_report(out, &o);
    say_project(rec, &project);
    return o.is_ruin || o.done.damages || o.done.bad_tails ? CLI_DAMAGED : CLI_DONE;
}

/* The library's first: what it knows of its runs it puts in order itself. */
static int
report_all(struct cli_report *out, struct runs *runs, int count, char **list,
           struct err *err)
{
    int r = cli_report_sessions(out, runs->rec->self, count, list, report, err);
    if (r < 0)
        return r;
    bool is_json = out->is_json;
    out->is_json = false;
    int e = library_runs_recover(".", out->is_dry_run, take_run, runs);
    if (!e && out->text.n)
        e = file_write_all(is_json ? STDERR_FILENO : STDOUT_FILENO, out->text.p,
                           out->text.n);
    buf_release(&out->text);
    out->is_json = is_json;
    if (e < 0)
        return err_code(err, e, "cannot tell of the project's runs");
    return r ? r : runs->worst;
}

static int
recover_all(struct cli_report *out, const struct cli_command *self, struct err *err)
{
    AUTO(buf) ids = { 0 };
    int r = library_interrupted(&ids, NULL, err);
    if (r < 0)
        return r;
    int count = (int)(ids.n / (SESSION_ID_LEN + 1));
    char **list = calloc((size_t)count + 1, sizeof(*list));
    if (!list)
        return err_code(err, -ENOMEM, "cannot list what is to recover");
    for (int i = 0; i < count; i++)
        list[i] = (char *)ids.p + (size_t)i * (SESSION_ID_LEN + 1);
    struct runs runs = { .rec = (struct recover *)out };
    r = report_all(out, &runs, count, list, err);
    if (!count && !runs.count)
        cli_say(self, "nothing to recover");
    free(list);
    return r;
}

/* The sessions that were recovered, and with --all whatever else waits for it. What
 * fails does not make the recovery a failure: the next who looks has it done. */
static void
index_them(struct recover *rec, const struct cli_command *self)
{
    AUTO(buf) home = { .ceiling = PATH_MAX };
    const struct buf *ids = rec->out.is_all ? NULL : &rec->ids;
    struct err err;
    if (rec->out.is_dry_run)
        return;
    int r = session_home(&home, &err);
    if (!r)
        r = library_catch_up(buf_str(&home), ids, LIBRARY_WAIT_MS, &err);
    if (r)
        cli_say(self, "not indexed yet: %s", err.text);
}

static int
run(const struct cli_command *self, int argc, char **argv, struct err *err)
{
    struct recover rec = { .self = self };
    struct cli_report *out = &rec.out;
    int count, r = cli_parse(self, argc, argv, out, &count, err);
    if (r)
        return r;
    if (out->is_all && count)
        return err_set(err, ERR_USAGE, "give sessions, or --all, not both");
    r = out->is_all ? recover_all(out, self, err)
                    : cli_report_sessions(out, self, count, argv, report, err);
    if (r >= 0)
        index_them(&rec, self);
    buf_release(&rec.ids);
    return r;
}

static const struct cli_option options[] = {
    { "all", 0, CLI_FLAG, offsetof(struct cli_report, is_all), NULL,
      "every session whose recorder has vanished", 0, 0 },
    { "dry-run", 0, CLI_FLAG, offsetof(struct cli_report, is_dry_run), NULL,
      "say what would be done, and change nothing", 0, 0 },
    { "json", 0, CLI_FLAG, offsetof(struct cli_report, is_json), NULL, "print JSON", 0,
      0 },
    { 0 },
};

const struct cli_command cli_recover = {
    "recover",
    "[SESSION…] [--all] [--dry-run] [--json]",
    "make cut-off sessions whole: seal tails, join segments, cut a torn end",
    options,
    run,
    false,
};
