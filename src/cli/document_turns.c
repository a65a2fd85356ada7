/* SPDX-License-Identifier: MIT */
/* document_turns.c -- the conversation of a run as a document. */
#include <inttypes.h>
#include <time.h>

#include "cli/document_priv.h"
#include "cli/report.h"
#include "play/talk.h"
#include "play/title.h"
#include "session/folder.h"
#include "session/lines.h"

enum {
    FLUSH_AT = 64 << 10,
    TURNS_LINE_MAX = 512 << 20,
};

/* -- which it is -- */

static bool
is_transcript(const struct document *d)
{
    return !strcmp(d->doc->format, "jsonl");
}

static bool
is_events(const struct document *d)
{
    return !strcmp(d->doc->format, "events");
}

/* Of a terminal whose model's API was recorded, too, documents are what it showed. */
static bool
has_terminal(const struct document *d)
{
    const char *kind = d->told.kind;
    return !kind || !strcmp(kind, "terminal");
}

/* Is it to be made of turns, may it, and must it? */
static bool
wants_turns(const struct document *d)
{
    const struct cli_document *doc = d->doc;
    bool has_own = is_events(d) || is_transcript(d);
    if (doc->to_byte || doc->what == CLI_WHAT_TERMINAL ||
        !(has_own || play_talk_find(doc->format)))
        return false;
    if (doc->what == CLI_WHAT_ANY && has_terminal(d) && !doc->first_turn)
        return has_own;
    return doc->what != CLI_WHAT_LINES || is_events(d);
}

static int
refuse(const struct document *d, bool has_turns, struct err *err)
{
    const char *format = d->doc->format;
    if (d->doc->what == CLI_WHAT_TURNS && !wants_turns(d))
        return err_set(err, ERR_USAGE,
                       "a conversation has no format '%s'; md, json, csv, txt, html, "
                       "jsonl and events are those that it has",
                       format);
    if (is_transcript(d) && !wants_turns(d))
        return err_set(err, ERR_USAGE,
                       "jsonl is a conversation, not what a terminal shows; for that "
                       "there are md, json, csv, txt, ansi, html, events and cast");
    if (has_turns)
        return 0;
    if (is_transcript(d))
        return err_set(err, ERR_USAGE,
                       "'%s' has no conversation, which jsonl is: it is a recording of a "
                       "terminal; md, json, csv, txt, ansi, html, events and cast work",
                       d->name);
    if (d->doc->what == CLI_WHAT_TURNS || d->doc->first_turn)
        return err_set(err, ERR_USAGE,
                       "'%s' has no conversation: it is a recording of a terminal; leave "
                       "out --what and --turn",
                       d->name);
    return 0;
}

int
document_find_turns(const struct document *d, struct buf *path, struct err *err)
{
    struct buf tape_path = d->found.tape_path;
    int r = session_sibling_path(buf_str(&tape_path), SESSION_TURNS, path);
    if (r < 0)
        return err_code(err, r, "cannot read '%s'", d->name);
    bool has_turns = play_turns_exist(buf_str(path));
    r = refuse(d, has_turns, err);
    if (!has_turns || !wants_turns(d))
        buf_clear(path);
    return r;
}

/* -- events, as they are -- */

static int
write_lines(struct document *d, size_t at)
{
    if (d->lines.failed || d->lines.n <= at)
        return d->lines.failed;
    int r = cli_output_write(&d->out, (struct view){ d->lines.p, d->lines.n });
    buf_clear(&d->lines);
    return r;
}

/* A play_turn_fn. */
static int
on_turn(void *ctx, const struct turn_event *given, const struct turn_stamp *given_at)
{
    struct document *d = ctx;
    struct turn_event e = *given;
    struct turn_stamp at = *given_at;
    if (d->doc->to_ns && at.ts_ns > d->doc->to_ns)
        return 0;
    int r = d->redact ? play_turns_mask(d->redact, &e, &d->masked) : 0;
    if (r < 0)
        return r;
    at.session = document_session(d);
    d->records++;
    d->exits += e.type == TURN_EXIT;
    turn_line(&e, &at, &d->lines);
    return write_lines(d, FLUSH_AT);
}

/* A play_turns_bad_fn. */
static void
on_bad_turn(void *ctx, uint64_t line)
{
    struct document *d = ctx;
    if (d->bad_lines++ < CLI_LOSSES_MAX)
        cli_say(d->self, "'%s': line %" PRIu64 " of its events cannot be read", d->name,
                line);
    d->is_lost = true;
}

/* -- what is missing -- */

/* Each iteration of a run that has ended tells of its end, but on a disk that took no
 * more: nothing else tells of what is missing then. */
static bool
lacks_end(const struct document *d)
{
    static const char *const ends[] = { "completed", "failed", "aborted", "crashed" };
    const struct session_told *told = &d->told;
    bool has_ended = false;
    if (d->found.is_live || d->doc->to_ns || !told->kind || !told->status)
        return false;
    for (size_t i = 0; i < sizeof(ends) / sizeof(ends[0]); i++)
        has_ended |= !strcmp(told->status, ends[i]);
    return !strcmp(told->kind, "stream") && has_ended && d->exits < told->iterations;
}

static void
tell_missing(struct document *d)
{
    AUTO(buf) text = { 0 };
    if (!lacks_end(d))
        return;
    d->is_lost = true;
    if (buf_puts(&text, d->told.project ? d->told.project : d->name) < 0 ||
        buf_append(&text, "", 1) < 0)
        return;
    cli_say(d->self, "'%s': events are missing at the end; 'ahr log %s' may have more",
            d->name, cli_clean((char *)text.p));
}

/* As play_talk_options has it. */
static const char *
ending(void *ctx)
{
    const struct document *d = ctx;
    return lacks_end(d) ? "events are missing here" : NULL;
}

/* … each event. */
static void
on_event(void *ctx, const struct turn_event *e)
{
    struct document *d = ctx;
    d->exits += e->type == TURN_EXIT;
    d->turns++;
}

/* A play_write_fn. */
static int
write_bytes(void *ctx, struct view bytes)
{
    struct document *d = ctx;
    d->records++;
    return cli_output_write(&d->out, bytes);
}

/* -- the ways to tell it -- */

static int
put_events(struct document *d, const char *path, struct err *err)
{
    const struct play_turns_options opt = {
        .is_growing = d->found.is_live,
        .fn = on_turn,
        .bad = on_bad_turn,
        .ctx = d,
    };
    d->lines.ceiling = TURNS_LINE_MAX;
    int r = play_turns_read(path, &opt, err);
    bool is_cut = r == ERR_DAMAGED;
    r = r < 0 && !is_cut ? r : write_lines(d, 0);
    return !r && is_cut ? ERR_DAMAGED : r;
}

/* " · " before each but the first. */
static struct buf *
begin_fact(struct buf *out)
{
    if (out->n)
        buf_puts(out, " · ");
    return out;
}

/* As a session of another one may hold anything: masked, and on one line. */
static void
put_fact(const struct document *d, const char *text, struct buf *out)
{
    AUTO(buf) clean = { 0 };
    if (text && play_title(d->redact, text, &clean) >= 0 && clean.n)
        buf_append(begin_fact(out), clean.p, clean.n);
}

/* "2026-11-18 09:30:00 UTC · 2m10s · completed · claude · opus-5 · claude -p …" */
static void
put_facts(struct document *d, struct buf *out)
{
    const struct session_told *told = &d->told;
    time_t start = (time_t)(told->started_at_ns / 1000000000);
    struct tm tm;
    char when[64];
    if (told->started_at_ns && gmtime_r(&start, &tm) &&
        strftime(when, sizeof(when), "%Y-%m-%d %H:%M:%S UTC", &tm))
        buf_puts(out, when);
    if (told->started_at_ns && told->ended_at_ns > told->started_at_ns)
        cli_duration(begin_fact(out), told->ended_at_ns - told->started_at_ns);
    put_fact(d, told->status, out);
    put_fact(d, told->agent, out);
    put_fact(d, told->model, out);
    if (*d->facts.name && d->command.n) /* else it is the title */
        buf_append(begin_fact(out), d->command.p, d->command.n);
}

static int
put_talk(struct document *d, const char *path, struct err *err)
{
    AUTO(buf) facts = { 0 };
    put_facts(d, &facts);
    const struct play_about about = {
        .facts = facts.n && !facts.failed ? buf_str(&facts) : NULL,
        .title = d->title.n ? buf_str(&d->title) : NULL,
        .start_ns = d->facts.started_at_ns,
        .is_masked = d->redact != NULL,
        .has_times = d->doc->has_times,
    };
    const struct play_talk_options opt = {
        .about = &about,
        .redact = d->redact,
        .first = d->doc->first_turn,
        .last = d->doc->last_turn,
        .events = &d->events,
        .is_growing = d->found.is_live,
        .is_import = d->told.kind && !strcmp(d->told.kind, "import"),
        .bad = on_bad_turn,
        .turn = on_event,
        .ending = ending,
        .ctx = d,
    };
    play_events_sort_by_time(&d->events);
    if (!is_transcript(d))
        return play_talk(path, play_talk_find(d->doc->format), &opt, write_bytes, d, err);
    const struct play_transcript transcript = {
        .session = document_session(d),
        .cwd = d->cwd.n ? buf_str(&d->cwd) : NULL,
        .git_branch = d->branch.n ? buf_str(&d->branch) : NULL,
        .has_ended = !d->found.is_live,
    };
    return play_transcript(path, &transcript, &opt, write_bytes, d, err);
}

int
document_turns(struct document *d, const char *path, struct err *err)
{
    bool has_notices = !is_events(d) && !is_transcript(d);
    d->exits = d->turns = 0;
    int r = is_events(d) ? put_events(d, path, err) : put_talk(d, path, err);
    if (r == ERR_DAMAGED) { /* an archive that breaks off: what there was is delivered */
        cli_say(d->self, "%s", err->text);
        d->is_lost = true;
        r = 0;
    }
    if (r < 0)
        return r;
    if (d->doc->first_turn > d->turns)
        return err_set(err, ERR_MISSING, "'%s' has no turn %" PRIu64 ", only %" PRIu64,
                       d->name, d->doc->first_turn, d->turns);
    tell_missing(d);
    if (!d->redact && !has_notices)
        cli_say(d->self, "secrets are not masked in this document");
    return 0;
}
