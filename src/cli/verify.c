/* SPDX-License-Identifier: MIT */
/* ahr verify: what is in a recording, and what is wrong with it; the events of a run,
 * too. */
#include "tape/verify.h"

#include <inttypes.h>
#include <stdio.h>

#include "cli/notes.h"
#include "cli/option.h"
#include "cli/report.h"
#include "gz/read.h"
#include "play/turns.h"
#include "session/folder.h"
#include "session/lines.h"

enum { LINES_MAX = 100 }; /* that are told by their number */

/* What session.turns.jsonl holds, where there is one. */
struct turns {
    bool is_there;
    bool is_cut; /* archived, and not to be read to its end */
    uint64_t events, bad;
    uint64_t lines[LINES_MAX]; /* the numbers of the first bad ones */
};

/* A play_turn_fn. */
static int
on_turn(void *ctx, const struct turn_event *e, const struct turn_stamp *at)
{
    struct turns *t = ctx;
    (void)e, (void)at;
    t->events++;
    return 0;
}

/* A play_turns_bad_fn. */
static void
on_bad(void *ctx, uint64_t line)
{
    struct turns *t = ctx;
    if (t->bad < LINES_MAX)
        t->lines[t->bad] = line;
    t->bad++;
}

static int
read_turns(struct library_found *session, struct turns *ret, struct err *err)
{
    AUTO(buf) path = { 0 };
    const struct play_turns_options opt = {
        .is_growing = session->is_live, .fn = on_turn, .bad = on_bad, .ctx = ret
    };
    int r = session_sibling_path(buf_str(&session->tape_path), SESSION_TURNS, &path);
    if (r < 0)
        return err_code(err, r, "cannot look for events of '%s'",
                        buf_str(&session->tape_path));
    ret->is_there = play_turns_exist(buf_str(&path));
    r = ret->is_there ? play_turns_read(buf_str(&path), &opt, err) : 0;
    ret->is_cut = r == ERR_DAMAGED;
    return ret->is_cut ? 0 : r;
}

static void
json_turns(struct json *j, const struct turns *t)
{
    if (!t->is_there)
        return;
    json_key(j, "events"), json_u64(j, t->events);
    json_key(j, "bad_events"), json_u64(j, t->bad);
    json_key(j, "bad_event_lines"), json_open(j, '[');
    for (uint64_t i = 0; i < t->bad && i < LINES_MAX; i++)
        json_u64(j, t->lines[i]);
    json_close(j, ']');
    json_key(j, "events_cut"), json_bool(j, t->is_cut);
}

static void
text_turns(struct buf *out, const struct turns *t)
{
    if (!t->is_there)
        return;
    buf_puts(out, "\n  ");
    cli_count(out, t->events, "event");
    buf_puts(out, " in session." SESSION_TURNS);
    for (uint64_t i = 0; i < t->bad && i < LINES_MAX; i++)
        buf_printf(out, "\n  damaged: session." SESSION_TURNS ": line %" PRIu64,
                   t->lines[i]);
    if (t->bad > LINES_MAX)
        buf_printf(out, "\n  and %" PRIu64 " more", t->bad - LINES_MAX);
    if (t->is_cut)
        buf_puts(out, "\n  damaged: session." SESSION_TURNS GZ_SUFFIX
                      ": not all of it can be read");
}

static void
json_report(struct json *j, const char *path, const struct tape_verify_report *v,
            const struct turns *t)
{
    json_open(j, '{');
    json_key(j, "file"), json_str(j, path);
    json_key(j, "blocks"), json_u64(j, v->blocks);
    json_key(j, "records"), json_u64(j, v->records);
    json_key(j, "bytes"), json_u64(j, v->bytes);
    json_key(j, "resizes"), json_u64(j, v->resizes);
    json_key(j, "snapshots"), json_u64(j, v->snapshots);
    json_key(j, "first_ts_ns"), json_u64_str(j, v->first_ts_ns);
    json_key(j, "last_ts_ns"), json_u64_str(j, v->last_ts_ns);
    cli_notes_json(j, path, &v->notes);
    json_turns(j, t);
    json_close(j, '}');
}

static void
text_report(struct buf *out, const char *path, const struct tape_verify_report *v,
            const struct turns *t)
{
    const struct {
        uint64_t n;
        const char *thing;
    } counts[] = {
        { v->blocks, "block" },   { v->records, "record" },     { v->bytes, "byte" },
        { v->resizes, "resize" }, { v->snapshots, "snapshot" },
    };
    bool is_damaged = v->notes.damages || t->bad || t->is_cut;
    buf_printf(out, "%s: %s\n  ", path, is_damaged ? "damaged" : "ok");
    for (size_t i = 0; i < sizeof(counts) / sizeof(counts[0]); i++) {
        cli_count(out, counts[i].n, counts[i].thing);
        buf_puts(out, ", ");
    }
    buf_printf(out, "%.3f s", (double)(v->last_ts_ns - v->first_ts_ns) / 1e9);
    cli_notes_text(out, path, &v->notes);
    text_turns(out, t);
}

static int
report(struct cli_report *out, struct library_found *session,
       const struct tape_progress *step, struct err *err)
{
    struct tape_verify_report v;
    struct turns turns = { 0 };
    const char *path = buf_str(&session->tape_path);
    int r = tape_verify(tape_io_files(), path, step, &v, err);
    if (r < 0)
        return r;
    r = read_turns(session, &turns, err);
    if (r >= 0 && out->is_json)
        json_report(&out->json, path, &v, &turns);
    else if (r >= 0)
        text_report(&out->text, path, &v, &turns);
    bool is_damaged = v.notes.damages || turns.bad || turns.is_cut;
    tape_verify_report_release(&v);
    return r < 0 ? r : is_damaged ? CLI_DAMAGED : CLI_DONE;
}

static int
run(const struct cli_command *self, int argc, char **argv, struct err *err)
{
    struct cli_report out = { 0 };
    int count, r = cli_parse(self, argc, argv, &out, &count, err);
    return r ? r : cli_report_sessions(&out, self, count, argv, report, err);
}

static const struct cli_option options[] = {
    { "json", 0, CLI_FLAG, offsetof(struct cli_report, is_json), NULL, "print JSON", 0,
      0 },
    { 0 },
};

const struct cli_command cli_verify = {
    "verify",
    "SESSION… [--json]",
    "check sessions: what is in them, and what is damaged",
    options,
    run,
    false,
};
