/* SPDX-License-Identifier: MIT */
/* record.c -- the files of a record: what is written to them, and when that fails. */
#include "wire/record.h"

#include <errno.h>
#include <inttypes.h>
#include <limits.h>
#include <stdlib.h>

#include "base/file.h"
#include "calls/complete.h"
#include "gz/lines.h"
#include "session/folder.h"
#include "turn/line.h"
#include "wire/record_priv.h"

enum {
    RETRY_MS = 500,
    BASES_BYTES = 64 << 20,
    BATCH_MAX = 192 << 20,
    BATCH_KEPT = 1 << 20,
    WAITING_MAX = 8 << 20, /* what a disk that is full costs in memory */
};

uint64_t
record_now_ns(const struct wire_record *r)
{
    return clock_now_ns(&r->opt.clock);
}

uint64_t
record_anchor(struct wire_record *r)
{
    bool has_one = r->opt.control && r->opt.control->has_anchors;
    return has_one ? wire_control_anchor(r->opt.control) : CALLS_NONE;
}

uint64_t
record_late_anchor(struct wire_record *r)
{
    return r->opt.control ? wire_control_late_anchor(r->opt.control) : CALLS_NONE;
}

void
record_say(struct wire_record *r, const char *text)
{
    r->opt.say(r->opt.ctx, text);
}

/* -- trouble -- */

static void
tell_trouble(struct wire_record *r, const struct session_lines *l, int code)
{
    AUTO(buf) text = { 0 };
    struct err why;
    if (r->has_told)
        return;
    r->has_told = true;
    err_code(&why, code == ERR_LIMIT ? -ENOSPC : code, "cannot write '%.300s'", l->path);
    buf_printf(&text, "%s; calls go on, and what has no room is missing in the record",
               why.text);
    record_say(r, buf_str(&text));
}

/* While some are lost no more are taken, until there is room again. */
static void
write_lines(struct wire_record *r, struct session_lines *l, struct buf *batch,
            uint64_t *lost)
{
    struct view lines = { batch->p, batch->n };
    int e = lines.n && !batch->failed ? session_lines_add(l, lines) : batch->failed;
    if (e < 0)
        tell_trouble(r, l, e);
    if (e == ERR_LIMIT || batch->failed) {
        uint64_t count = session_lines_count(lines);
        *lost += count ? count : 1;
        calls_bases_forget(r->bases); /* what comes is not told by what is not there */
    }
    buf_clear(batch);
    if (batch->cap > BATCH_KEPT)
        buf_release(batch);
}

void
record_write(struct wire_record *r)
{
    write_lines(r, &r->wire, &r->wire_batch, &r->wire_lost);
    write_lines(r, &r->turns, &r->turns_batch, &r->turns_lost);
    if (r->opt.entire)
        (void)journal_entire_write(r->opt.entire);
}

void
record_put(struct wire_record *r, const struct calls_line *l)
{
    calls_line_put(l, r->opt.clock.real_ns, &r->wire_batch);
}

/* -- the conversation -- */

static void
keep(struct buf *kept, struct view v)
{
    buf_clear(kept);
    buf_append(kept, v.p, v.n);
}

static void
pace(void *ctx)
{
    const struct wire_record *r = ctx;
    if (r->opt.pace)
        r->opt.pace(r->opt.ctx);
}

/* A turn_event_fn: what is known of the session by it. */
static int
learn(void *ctx, const struct turn_event *e)
{
    struct wire_record *r = ctx;
    if (e->type == TURN_USAGE)
        (void)turn_totals_add(&r->totals, e);
    if (e->type == TURN_SESSION && e->model.n)
        keep(&r->model, e->model);
    return 0;
}

void
record_learn_agent(struct wire_record *r, const char *agent)
{
    if (agent && !r->agent.n)
        buf_puts(&r->agent, agent);
}

void
record_tell(struct wire_note *n, const struct turn_event *e, uint64_t ts_ns,
            uint64_t anchor_byte)
{
    struct wire_record *r = n->record;
    (void)learn(r, e);
    if (!n->has_turns)
        return;
    r->turns_ns = ts_ns > r->turns_ns ? ts_ns : r->turns_ns; /* it never goes back */
    const struct turn_stamp at = {
        .ts_ns = r->turns_ns,
        .start_ns = r->opt.clock.real_ns,
        .session = r->opt.session,
        .call = n->number,
        .has_anchor = anchor_byte != CALLS_NONE,
        .anchor_byte = anchor_byte,
    };
    turn_line(e, &at, &r->turns_batch);
    if (r->opt.entire)
        (void)journal_entire_add(r->opt.entire, e, r->turns_ns);
}

/* -- open -- */

static int
open_lines(struct session_lines *l, const char *tape_path, const char *what,
           struct buf *path)
{
    int r = session_sibling_path(tape_path, what, path);
    if (!r)
        r = session_lines_init(l, buf_str(path));
    if (!r)
        l->waiting.ceiling = WAITING_MAX;
    return r;
}

struct feeding {
    struct wire_record *record;
    struct buf texts;
};

/* A jsonl_fn. */
static int
feed_turn(void *ctx, struct view object)
{
    struct feeding *f = ctx;
    struct turn_event e;
    struct turn_stamp at;
    int r = turn_line_read(object, &f->texts, &e, &at);
    if (!r)
        r = journal_entire_add(f->record->opt.entire, &e, at.ts_ns);
    pace(f->record);
    return r == ERR_DAMAGED ? 0 : r < 0 ? r : 1;
}

static void
pass_over(void *ctx, uint64_t line)
{
    (void)ctx, (void)line;
}

/* The transcript has what another process told, up to where that was killed. */
static int
feed_entire(struct wire_record *r, const char *turns_path)
{
    struct feeding f = { .record = r };
    struct jsonl lines = { .fn = feed_turn,
                           .bad = pass_over,
                           .ctx = &f,
                           .begin = "{\"ts_ns\":",
                           .line.ceiling = CALLS_LINE_MAX };
    int e = gz_lines_read(turns_path, &lines, false, NULL);
    jsonl_release(&lines);
    buf_release(&f.texts);
    return e == ERR_MISSING ? 0 : e;
}

/* What another process has left. */
static int
go_on(struct wire_record *r, struct buf *wire, struct buf *turns, struct err *err)
{
    struct calls_completed done;
    const struct calls_complete_options opt = {
        .wire_path = buf_str(wire),
        .turns_path = buf_str(turns),
        .session = r->opt.session,
        .start_ns = r->opt.clock.real_ns,
        .talk = r->talk,
        .heard = learn,
        .pace = pace,
        .ctx = r,
    };
    int e = calls_complete(&opt, &done, err);
    if (e < 0)
        return e;
    r->calls = done.last_call;
    record_learn_agent(r, done.agent);
    e = r->opt.entire && done.last_call ? feed_entire(r, buf_str(turns)) : 0;
    return e < 0 ? err_code(err, e, "cannot read '%s'", buf_str(turns)) : 0;
}

static int
open_all(struct wire_record *r, struct err *err)
{
    AUTO(buf) wire = { .ceiling = PATH_MAX };
    AUTO(buf) turns = { .ceiling = PATH_MAX };
    r->wire_batch.ceiling = r->turns_batch.ceiling = BATCH_MAX;
    r->masked.ceiling = r->ops.ceiling = BATCH_MAX;
    int e = open_lines(&r->wire, r->opt.tape_path, SESSION_WIRE, &wire);
    if (!e)
        e = open_lines(&r->turns, r->opt.tape_path, SESSION_TURNS, &turns);
    if (!e)
        e = calls_bases_new(&r->bases, BASES_BYTES);
    if (!e)
        e = calls_talk_new(&r->talk);
    return e < 0 ? err_code(err, e, "cannot record") : go_on(r, &wire, &turns, err);
}

int
wire_record_open(struct wire_record **ret, const struct wire_record_options *opt,
                 struct err *err)
{
    struct wire_record *r = calloc(1, sizeof(*r));
    if (!r)
        return err_code(err, -ENOMEM, "cannot record");
    r->opt = *opt;
    r->wire.fd = r->turns.fd = -1;
    int e = open_all(r, err);
    if (e < 0) {
        wire_record_free(r);
        return e;
    }
    *ret = r;
    return 0;
}

void
wire_record_free(struct wire_record *r)
{
    if (!r)
        return;
    if (r->wire.path)
        session_lines_release(&r->wire);
    if (r->turns.path)
        session_lines_release(&r->turns);
    calls_bases_free(r->bases);
    calls_talk_free(r->talk);
    turn_totals_release(&r->totals);
    struct buf *bufs[] = { &r->model,       &r->agent,  &r->wire_batch,
                           &r->turns_batch, &r->masked, &r->ops };
    for (size_t i = 0; i < sizeof(bufs) / sizeof(bufs[0]); i++)
        buf_release(bufs[i]);
    free(r);
}

void
wire_record_set_turns(struct wire_record *r, bool has_turns)
{
    r->opt.has_turns = has_turns;
}

struct wire_record_facts
wire_record_facts(struct wire_record *r)
{
    return (struct wire_record_facts){
        .model = r->model.n ? buf_str(&r->model) : NULL,
        .agent = r->agent.n ? buf_str(&r->agent) : NULL,
        .totals = &r->totals,
        .calls = r->calls,
    };
}

/* -- time -- */

void
wire_record_tick(struct wire_record *r)
{
    (void)session_lines_flush(&r->wire);
    (void)session_lines_flush(&r->turns);
    if (r->opt.entire)
        journal_entire_tick(r->opt.entire, clock_mono_ns());
}

uint64_t
wire_record_due_ms(const struct wire_record *r)
{
    uint64_t due = r->wire.waiting.n || r->turns.waiting.n ? RETRY_MS : UINT64_MAX;
    uint64_t entire = r->opt.entire ? clock_left_ms(journal_entire_due_ns(r->opt.entire),
                                                    clock_mono_ns())
                                    : UINT64_MAX;
    return due < entire ? due : entire;
}

/* -- the end -- */

static void
finish_lines(struct wire_record *r, struct session_lines *l, uint64_t *lost)
{
    int e = session_lines_finish(l, NULL, NULL, lost);
    if (e < 0)
        tell_trouble(r, l, e);
}

static void
finish_entire(struct wire_record *r, bool has_ended)
{
    struct err err;
    (void)journal_entire_end(r->opt.entire, record_now_ns(r), has_ended);
    if (journal_entire_trouble(r->opt.entire, &err))
        record_say(r, err.text);
}

void
wire_record_finish(struct wire_record *r, bool has_ended)
{
    AUTO(buf) text = { 0 };
    record_write(r);
    finish_lines(r, &r->wire, &r->wire_lost);
    finish_lines(r, &r->turns, &r->turns_lost);
    if (r->opt.entire)
        finish_entire(r, has_ended);
    uint64_t lost = r->wire_lost + r->turns_lost;
    if (!lost)
        return;
    buf_printf(&text,
               "the disk did not take %" PRIu64 " lines of what went over the wire",
               lost);
    record_say(r, buf_str(&text));
}
