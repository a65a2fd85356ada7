/* SPDX-License-Identifier: MIT */
/*
 * document.c -- a session as a document: found, loaded, masked, formatted, written.
 *
 * What stands beside a recording is read before the recording itself: one that ends
 * meanwhile moves, and is then looked for once more, whole.
 */
#include "cli/document.h"

#include <errno.h>
#include <inttypes.h>
#include <strings.h>

#include "cli/document_priv.h"
#include "cli/events.h"
#include "cli/losses.h"
#include "cli/output.h"
#include "cli/progress.h"
#include "cli/session.h"
#include "play/cast.h"
#include "play/title.h"
#include "play/turns.h"
#include "redact/own.h"
#include "session/folder.h"
#include "session/lines.h"
#include "session/meta.h"

/* In the order of CLI_DOCUMENT_FORMATS and CLI_EXPORT_FORMATS. */
static const char *const formats[] = { "md",   "json",   "csv",  "txt",   "ansi",
                                       "html", "events", "cast", "cast3", "jsonl" };

const char *
cli_document_format(int word)
{
    return formats[word];
}

const char *
cli_document_format_of(const char *file_name)
{
    const char *dot = strrchr(file_name, '.');
    for (size_t i = 0; dot && i < sizeof(formats) / sizeof(formats[0]); i++)
        if (!strcasecmp(dot + 1, formats[i]))
            return formats[i];
    return NULL;
}

static void
release(struct document *d)
{
    cli_output_release(&d->out);
    library_found_release(&d->found);
    play_events_release(&d->events);
    buf_release(&d->title);
    buf_release(&d->command);
    buf_release(&d->cwd);
    buf_release(&d->branch);
    session_told_release(&d->told);
    play_turns_mask_release(&d->masked);
    buf_release(&d->lines);
    redact_close(d->redact);
}

/* -- what is known of it -- */

/* Beside the recording, so that its path and its id lead to the same facts. One that is
 * missing or damaged says nothing. */
static void
read_facts(struct document *d)
{
    AUTO(buf) path = { 0 };
    struct session_facts facts = { .exit_code = -1 };
    d->facts = facts;
    if (session_sibling_path(buf_str(&d->found.tape_path), SESSION_META, &path) >= 0 &&
        session_meta_read(buf_str(&path), &facts, NULL) == 0)
        d->facts = facts;
}

static int
make_titles(struct document *d, struct err *err)
{
    const char *command = d->facts.command;
    const char *title = *d->facts.name ? d->facts.name : command;
    buf_clear(&d->title);
    buf_clear(&d->command);
    int r = play_title(d->redact, title, &d->title);
    if (r >= 0)
        r = play_title(d->redact, command, &d->command);
    return r < 0 ? err_code(err, r, "cannot mask the title of '%s'", d->name) : 0;
}

static const char *
text_or_none(struct buf *b)
{
    return b->n ? buf_str(b) : NULL;
}

const char *
document_session(const struct document *d)
{
    return *d->facts.id ? d->facts.id : d->found.id;
}

static int
read_told(struct document *d, struct err *err)
{
    AUTO(buf) path = { 0 };
    session_told_release(&d->told);
    d->told = (struct session_told){ .exit_code = -1 };
    buf_clear(&d->cwd);
    buf_clear(&d->branch);
    if (session_sibling_path(buf_str(&d->found.tape_path), SESSION_META, &path) < 0 ||
        session_meta_tell(buf_str(&path), &d->told, NULL) < 0)
        d->told = (struct session_told){ .exit_code = -1 };
    if (d->told.cwd && play_title(d->redact, d->told.cwd, &d->cwd) < 0)
        return err_code(err, -ENOMEM, "cannot mask the folder of '%s'", d->name);
    if (d->told.git_branch && play_title(d->redact, d->told.git_branch, &d->branch) < 0)
        return err_code(err, -ENOMEM, "cannot mask the branch of '%s'", d->name);
    return 0;
}

/* What a stream of events tells of the session, where it goes to its end. */
static int
read_session(struct document *d, uint64_t last_ns, struct play_session *ret,
             struct err *err)
{
    int r = read_told(d, err);
    if (r < 0)
        return r;
    bool is_all = !d->doc->to_byte && !d->doc->to_ns;
    *ret = (struct play_session){
        .id = document_session(d),
        .command = text_or_none(&d->command),
        .cwd = text_or_none(&d->cwd),
        .status = is_all ? d->told.status : NULL,
        .signal = d->told.signal,
        .exit_code = d->told.exit_code,
        .ended_ns = d->told.ended_at_ns ? d->told.ended_at_ns : last_ns,
    };
    return 0;
}

static int
look_up(struct document *d, struct err *err)
{
    library_found_release(&d->found);
    play_events_release(&d->events);
    d->found = (struct library_found){ 0 };
    int r = cli_find(d->self, &d->found, d->name, err);
    if (r < 0)
        return r;
    read_facts(d);
    r = make_titles(d, err);
    if (!r)
        r = cli_events(d->self, &d->found, &d->events, err);
    d->is_lost = r > 0;
    return r < 0 ? r : 0;
}

/* -- events -- */

/* Those on tape first; what lies behind the end that was asked for has not happened. Of
 * more than there is room for some stand on tape and beside it: they are counted once. */
static int
join_events(const struct document *d, struct play_loaded *l, struct play_events *ret,
            struct err *err)
{
    AUTO(play_events) all = { 0 };
    const struct cli_document *doc = d->doc;
    uint64_t left_out = 0;
    int r = play_events_join(&all, &l->events, &left_out);
    if (!r)
        r = play_events_join(&all, &d->events, &left_out);
    if (left_out > l->events_left_out)
        l->events_left_out = left_out;
    for (size_t i = 0; i < all.count && !r; i++) {
        struct play_event event = play_events_at(&all, i);
        if ((!doc->to_byte || event.anchor_byte <= doc->to_byte) &&
            (!doc->to_ns || event.ts_ns <= doc->to_ns))
            r = play_events_add(ret, &event);
    }
    play_events_sort(ret);
    return r < 0 ? err_code(err, r, "cannot keep the events of '%s'", d->name) : 0;
}

/* -- the ways through a recording -- */

static void
on_notice(void *ctx, const struct tape_notice *n)
{
    struct document *d = ctx;
    cli_progress_end(&d->progress);
    cli_losses_notice(&d->losses, n);
}

static void
on_record(void *ctx, const struct tape_record *rec)
{
    struct document *d = ctx;
    d->records++;
    cli_losses_record(&d->losses, rec);
}

/* A play_write_fn. What holds no record makes no document. */
static int
write_bytes(void *ctx, struct view bytes)
{
    struct document *d = ctx;
    return d->records ? cli_output_write(&d->out, bytes) : 0;
}

static int
write_report(struct document *d, struct play_loaded *l, const struct play_format *format,
             struct err *err)
{
    AUTO(play_events) events = { 0 };
    const struct cli_document *doc = d->doc;
    struct play_session session;
    bool has_times = doc->has_times || format->is_by_time;
    int r = read_session(d, l->last_ts_ns, &session, err);
    const struct play_about about = {
        .title = text_or_none(&d->title),
        .start_ns = l->first_ts_ns,
        .total_bytes = l->total_bytes,
        .cols = term_cols(l->term),
        .rows = term_rows(l->term),
        .is_masked = d->redact != NULL,
        .has_times = has_times,
        .session = &session,
    };
    const struct play_report_options opt = {
        .order = format->is_by_time ? PLAY_POSITION : doc->order,
        .has_snapshots = true,
        .has_instructions = doc->has_instructions,
        .has_notices = !doc->is_bare,
        .has_times = has_times,
        .redact = d->redact,
        .about = &about,
        .io = tape_io_files(),
        .path = buf_str(&d->found.tape_path),
    };
    if (!r)
        r = join_events(d, l, &events, err);
    return r < 0 ? r : play_report(l, &events, format, &opt, write_bytes, d, err);
}

static int
report(struct document *d, const struct play_format *format, struct err *err)
{
    struct tape_progress progress = { cli_progress_step, &d->progress };
    const struct play_load_options opt = {
        .cols = d->facts.cols,
        .rows = d->facts.rows,
        .to_byte = d->doc->to_byte,
        .to_ns = d->doc->to_ns,
        .has_times = d->doc->has_times || format->is_by_time,
        .notice = on_notice,
        .record = on_record,
        .ctx = d,
        .progress = &progress,
    };
    struct play_loaded loaded;
    const char *path = buf_str(&d->found.tape_path);
    int r = play_load(&loaded, tape_io_files(), path, &opt, err);
    cli_progress_end(&d->progress);
    if (r < 0)
        return r;
    if (d->records)
        r = write_report(d, &loaded, format, err);
    play_loaded_release(&loaded);
    return r;
}

static int
cast(struct document *d, int version, struct err *err)
{
    struct tape_progress progress = { cli_progress_step, &d->progress };
    uint64_t bad_bytes = 0;
    const struct play_cast_options opt = {
        .version = version,
        .redact = d->redact,
        .title = text_or_none(&d->title),
        .command = text_or_none(&d->command),
        .cols = d->facts.cols,
        .rows = d->facts.rows,
        .to_byte = d->doc->to_byte,
        .to_ns = d->doc->to_ns,
        .has_exit = d->facts.exit_code >= 0,
        .exit_code = d->facts.exit_code,
        .events = &d->events, /* as they were given: a cast goes by time, not by byte */
        .notice = on_notice,
        .record = on_record,
        .ctx = d,
        .progress = &progress,
        .ret_bad_bytes = &bad_bytes,
    };
    int r = play_cast_write(tape_io_files(), buf_str(&d->found.tape_path), &opt,
                            write_bytes, d, err);
    cli_progress_end(&d->progress);
    if (bad_bytes)
        cli_say(d->self, "'%s': %" PRIu64 " bytes are no UTF-8: U+FFFD in the cast",
                d->name, bad_bytes);
    return r;
}

/* -- all -- */

static int
make(struct document *d, struct err *err)
{
    const char *format = d->doc->format;
    int version = !strcmp(format, "cast") ? 2 : !strcmp(format, "cast3") ? 3 : 0;
    const struct play_format *report_format = play_format_find(format);
    AUTO(buf) path = { 0 };
    d->losses = (struct cli_losses){ .command = d->self, .path = d->name };
    int r = read_told(d, err);
    if (!r)
        r = document_find_turns(d, &path, err);
    if (r < 0 || path.n)
        return r < 0 ? r : document_turns(d, buf_str(&path), err);
    if (!version && !report_format)
        return err_set(err, ERR_USAGE, "there is no format '%s'", format);
    cli_progress_begin(&d->progress, d->self, d->name);
    return version ? cast(d, version, err) : report(d, report_format, err);
}

static int
finish(struct document *d, struct err *err)
{
    if (!d->records) {
        cli_say(d->self, "'%s' holds no record: is it an .ahr recording?", d->name);
        return CLI_DAMAGED;
    }
    int r = cli_output_commit(&d->out, err);
    if (r < 0)
        return r;
    if (d->doc->is_bare && !d->redact)
        cli_say(d->self, "secrets are not masked in this document");
    return d->losses.is_damaged || d->is_lost ? CLI_DAMAGED : CLI_DONE;
}

static int
run(struct document *d, struct err *err)
{
    int r = cli_output_init(&d->out, d->doc->output, err);
    if (!r && !d->doc->is_unmasked)
        r = redact_own_open(&d->redact, NULL, err);
    if (!r)
        r = look_up(d, err);
    if (r < 0)
        return r;
    r = make(d, err);
    if (r == ERR_MISSING && d->found.is_live) {
        r = look_up(d, err);
        r = r < 0 ? r : make(d, err);
    }
    if (d->out.error)
        return cli_output_fail(&d->out, err);
    return r < 0 ? r : finish(d, err);
}

int
cli_document(const struct cli_command *self, const struct cli_document *doc,
             struct err *err)
{
    struct document d = { .self = self,
                          .doc = doc,
                          .name = doc->session ? doc->session : "last",
                          .out.fd = -1 };
    int r = run(&d, err);
    release(&d);
    return r;
}
