/* SPDX-License-Identifier: MIT */
/* replay_meta.c -- what is known of a session, and what is in its recording, in figures.
 */
#include <inttypes.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "base/file.h"
#include "base/json.h"
#include "base/num.h"
#include "cli/events.h"
#include "cli/notes.h"
#include "cli/progress.h"
#include "cli/replay.h"
#include "cli/report.h"
#include "play/title.h"
#include "session/folder.h"
#include "session/meta.h"
#include "tape/verify.h"

struct about {
    struct cli_replay *r;
    const char *path;    /* of the recording */
    struct buf facts;    /* of its meta: keys and texts, a NUL behind each */
    struct buf json;     /* … as JSON; empty: there is none */
    unsigned cols, rows; /* 0: not known */
    uint64_t file_size, instructions;
    bool is_lost; /* something beside the recording cannot be read */
    struct tape_verify_report v;
};

/* -- what is there -- */

/* A session_fact_fn. */
static void
keep_fact(void *ctx, const char *key, const char *text)
{
    struct buf *facts = ctx;
    buf_append(facts, key, strlen(key) + 1);
    buf_append(facts, text, strlen(text) + 1);
}

static void
read_meta(struct about *a)
{
    AUTO(buf) path = { 0 };
    struct err err;
    a->facts.ceiling = 16 << 20;
    if (session_sibling_path(a->path, SESSION_META, &path) < 0)
        return;
    int e = a->r->is_json ? session_meta_json(buf_str(&path), &a->json, &err)
                          : session_meta_each(buf_str(&path), keep_fact, &a->facts, &err);
    if (e < 0 && e != ERR_MISSING) {
        cli_say(a->r->self, "%s", err.text);
        a->is_lost = true;
    }
}

static int
read_events(struct about *a, struct err *err)
{
    AUTO(play_events) events = { 0 };
    int e = cli_events(a->r->self, &a->r->found, &events, err);
    a->is_lost |= e > 0;
    for (size_t i = 0; i < events.count; i++)
        a->instructions += play_events_at(&events, i).kind == PLAY_INSTRUCTION;
    return e < 0 ? e : 0;
}

/* The last size before the first byte. */
static void
read_size(struct about *a)
{
    struct tape_reader_options quiet = { 0 };
    struct tape_reader *tape;
    struct tape_record rec;
    a->cols = a->r->cols;
    a->rows = a->r->rows;
    if (tape_reader_open(&tape, tape_io_files(), a->path, &quiet, NULL) < 0)
        return;
    while (tape_reader_next(tape, &rec) && rec.tag != TAPE_DATA)
        if (rec.tag == TAPE_RESIZE && rec.cols && rec.rows) {
            a->cols = rec.cols;
            a->rows = rec.rows;
        }
    tape_reader_close(tape);
}

static int
read_tape(struct about *a, struct err *err)
{
    struct cli_progress progress;
    struct tape_progress step = { cli_progress_step, &progress };
    struct stat st;
    cli_progress_begin(&progress, a->r->self, a->r->name);
    int e = tape_verify(tape_io_files(), a->path, &step, &a->v, err);
    cli_progress_end(&progress);
    if (e < 0)
        return e;
    a->file_size = stat(a->path, &st) == 0 ? (uint64_t)st.st_size : 0;
    read_size(a);
    return 0;
}

/* -- for people -- */

enum { LABEL_WIDTH = 14 };

static void
put_label(struct buf *out, const char *label)
{
    buf_printf(out, "%-*s", LABEL_WIDTH, label);
}

/* A text that anybody may have written. */
static void
put_row(struct buf *out, const char *label, const char *text)
{
    AUTO(buf) clean = { 0 };
    AUTO(buf) name = { 0 };
    play_title(NULL, label, &name);
    play_title(NULL, text, &clean);
    put_label(out, buf_str(&name));
    if (name.n >= LABEL_WIDTH)
        buf_puts(out, " ");
    buf_printf(out, "%s\n", buf_str(&clean));
}

static void
put_moment(struct buf *out, const char *label, const char *text)
{
    char shown[64] = "";
    uint64_t ns;
    struct tm tm;
    struct view digits = { (const uint8_t *)text, strlen(text) };
    if (num_parse(digits, INT64_MAX, &ns) < 0)
        return;
    time_t seconds = (time_t)(ns / 1000000000);
    if (localtime_r(&seconds, &tm))
        strftime(shown, sizeof(shown), "%Y-%m-%d %H:%M:%S %z", &tm);
    put_row(out, label, shown);
}

static void
put_version(struct buf *out, const char *label, const char *text)
{
    AUTO(buf) named = { 0 };
    buf_printf(&named, "ahr %s", text);
    put_row(out, label, buf_str(&named));
}

/* In the order in which they are shown; other facts follow under their own names. */
static const struct fact {
    const char *key, *label; /* label NULL: not shown, or by other means */
    void (*put)(struct buf *out, const char *label, const char *text);
} known[] = {
    { "name", "name", put_row },
    { "status", "status", put_row },
    { "exitCode", "exit code", put_row },
    { "signal", "signal", put_row },
    { "cmd", "command", put_row },
    { "cwd", "folder", put_row },
    { "gitBranch", "git branch", put_row },
    { "startedAtNs", "started", put_moment },
    { "endedAtNs", "ended", put_moment },
    { "role", "role", put_row },
    { "task", "task", put_row },
    { "parent", "parent", put_row },
    { "missingBytes", "missing bytes", put_row },
    { "suspect", "suspect", put_row },
    { "redacted", "masked", put_row },
    { "input", "with input", put_row },
    { "ahrVersion", "recorded by", put_version },
    { "version", NULL, NULL },
    { "sessionId", NULL, NULL },
    { "cols", NULL, NULL },
    { "rows", NULL, NULL },
    { "totalBytes", NULL, NULL },
    { "brotliQ", NULL, NULL },
    { "gaps", NULL, NULL },
    { "hostPid", NULL, NULL },
};

enum { KNOWN = sizeof(known) / sizeof(known[0]) };

static const struct fact *
find_known(const char *key)
{
    for (size_t i = 0; i < KNOWN; i++)
        if (!strcmp(known[i].key, key))
            return &known[i];
    return NULL;
}

/* The facts with that key; NULL: those that are not known. */
static void
put_facts(struct buf *out, const struct about *a, const struct fact *wanted)
{
    const char *p = (const char *)a->facts.p, *end = p + a->facts.n;
    while (p && p < end) {
        const char *key = p, *text = key + strlen(key) + 1;
        if (find_known(key) == wanted) {
            if (wanted)
                wanted->put(out, wanted->label, text);
            else
                put_row(out, key, text);
        }
        p = text + strlen(text) + 1;
    }
}

static void
put_count(struct buf *out, const char *label, uint64_t n)
{
    put_label(out, label);
    cli_count(out, n, NULL);
    buf_puts(out, "\n");
}

static void
put_duration(struct buf *out, uint64_t ns)
{
    uint64_t ms = ns / 1000000;
    put_label(out, "duration");
    buf_printf(out, "%" PRIu64 ":%02u:%02u.%03u\n", ms / 3600000,
               (unsigned)(ms / 60000 % 60), (unsigned)(ms / 1000 % 60),
               (unsigned)(ms % 1000));
}

static void
put_figures(struct buf *out, const struct about *a)
{
    const struct tape_verify_report *v = &a->v;
    if (a->cols && a->rows) {
        put_label(out, "size");
        buf_printf(out, "%ux%u\n", a->cols, a->rows);
    }
    put_duration(out, v->last_ts_ns - v->first_ts_ns);
    put_count(out, "file bytes", a->file_size);
    put_count(out, "blocks", v->blocks);
    put_count(out, "records", v->records);
    put_count(out, "bytes", v->bytes);
    if (a->file_size) {
        put_label(out, "ratio");
        buf_printf(out, "%.1f\n", (double)v->bytes / (double)a->file_size);
    }
    put_count(out, "resizes", v->resizes);
    put_count(out, "snapshots", v->snapshots);
    put_count(out, "instructions", a->instructions);
    put_label(out, "damage");
    buf_puts(out, v->notes.damages ? "yes" : "none");
    cli_notes_text(out, a->path, &v->notes);
}

static void
put_text(struct buf *out, const struct about *a)
{
    if (*a->r->found.id)
        put_row(out, "session", a->r->found.id);
    put_row(out, "file", a->path);
    if (a->r->found.is_live)
        put_row(out, "live", "yes");
    for (size_t i = 0; i < KNOWN; i++)
        if (known[i].label)
            put_facts(out, a, &known[i]);
    put_facts(out, a, NULL);
    size_t from = out->n;
    put_figures(out, a);
    for (size_t i = from; i < out->n; i++) /* files' names may hold anything */
        if (out->p[i] != '\n' && (out->p[i] < 0x20 || out->p[i] == 0x7f))
            out->p[i] = '?';
}

/* -- for programs -- */

static void
put_size(struct json *j, const char *key, unsigned n)
{
    json_key(j, key);
    if (n)
        json_u64(j, n);
    else
        json_none(j);
}

static void
put_json(struct buf *out, struct about *a)
{
    struct json json = { .out = out }, *j = &json;
    const struct tape_verify_report *v = &a->v;
    AUTO(buf) ratio = { 0 };
    if (a->file_size)
        buf_printf(&ratio, "%.3f", (double)v->bytes / (double)a->file_size);
    json_open(j, '{');
    json_key(j, "session");
    if (*a->r->found.id)
        json_str(j, a->r->found.id);
    else
        json_none(j);
    json_key(j, "file"), json_str(j, a->path);
    json_key(j, "live"), json_bool(j, a->r->found.is_live);
    json_key(j, "meta");
    if (a->json.n)
        json_raw(j, (struct view){ a->json.p, a->json.n });
    else
        json_none(j);
    put_size(j, "cols", a->cols);
    put_size(j, "rows", a->rows);
    json_key(j, "first_ts_ns"), json_u64_str(j, v->first_ts_ns);
    json_key(j, "last_ts_ns"), json_u64_str(j, v->last_ts_ns);
    json_key(j, "duration_ms"), json_u64(j, (v->last_ts_ns - v->first_ts_ns) / 1000000);
    json_key(j, "file_bytes"), json_u64(j, a->file_size);
    json_key(j, "blocks"), json_u64(j, v->blocks);
    json_key(j, "records"), json_u64(j, v->records);
    json_key(j, "bytes"), json_u64(j, v->bytes);
    json_key(j, "ratio");
    if (ratio.n)
        json_raw(j, (struct view){ ratio.p, ratio.n });
    else
        json_none(j);
    json_key(j, "resizes"), json_u64(j, v->resizes);
    json_key(j, "snapshots"), json_u64(j, v->snapshots);
    json_key(j, "instructions"), json_u64(j, a->instructions);
    cli_notes_json(j, a->path, &v->notes);
    json_close(j, '}');
}

/* -- all -- */

static int
print(struct about *a, struct err *err)
{
    AUTO(buf) out = { 0 };
    if (a->r->is_json)
        put_json(&out, a);
    else
        put_text(&out, a);
    buf_puts(&out, "\n");
    int e = out.failed ? out.failed : file_write_all(STDOUT_FILENO, out.p, out.n);
    if (e < 0)
        return err_code(err, e, "cannot write to standard output");
    if (!a->v.records)
        return cli_replay_nothing(a->r);
    return a->v.notes.damages || a->is_lost ? CLI_DAMAGED : CLI_DONE;
}

int
cli_replay_meta(struct cli_replay *r, struct err *err)
{
    struct about a = { .r = r, .path = buf_str(&r->found.tape_path) };
    int e = read_tape(&a, err);
    if (e < 0)
        return e;
    read_meta(&a);
    e = read_events(&a, err);
    if (!e)
        e = print(&a, err);
    tape_verify_report_release(&a.v);
    buf_release(&a.facts);
    buf_release(&a.json);
    return e;
}
