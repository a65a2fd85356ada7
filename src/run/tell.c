/* SPDX-License-Identifier: MIT */
/* tell.c -- one masked event into each of the places where it is told. */
#include <string.h>

#include "journal/io.h"
#include "run/flow_priv.h"
#include "turn/line.h"
#include "turn/show.h"

enum {
    BATCH_MAX = 256 << 10, /* so much is written before more is decoded */
    BIG_MIN = 1 << 20,     /* such an event is written place by place */
};

static struct view
as_view(const struct buf *b)
{
    return (struct view){ b->p, b->n };
}

/* Each place has a copy of its own: of a big event only one is held at a time. */
static void
write_if_big(struct run_flow *f, size_t n)
{
    if (n < BIG_MIN)
        return;
    run_keep_write(f->keep, &f->batch);
    run_flow_trim(f);
}

static void
put_turn(struct run_flow *f, const struct turn_event *e)
{
    struct buf *turns = &f->batch.turns;
    size_t before = turns->n;
    const struct turn_stamp at = { .ts_ns = run_keep_now_ns(f->keep),
                                   .start_ns = f->keep->clock.real_ns,
                                   .session = f->keep->id,
                                   .iteration = f->iteration };
    turn_line(e, &at, turns);
    f->events++;
    run_entire_add(f->keep, e, at.ts_ns);
    if (f->opt->is_json && turns->n > before)
        buf_append(&f->screen, turns->p + before, turns->n - before);
}

/* What is shown: in the log without colours, on the tape as a terminal needs it. */
static void
put_shown(struct run_flow *f, struct view plain, struct view coloured)
{
    const uint8_t *end;
    struct view seen = f->opt->is_coloured ? coloured : plain;
    buf_append(&f->batch.log, plain.p, plain.n);
    write_if_big(f, plain.n);
    while (coloured.n && (end = memchr(coloured.p, '\n', coloured.n))) {
        size_t n = (size_t)(end - coloured.p);
        buf_append(&f->batch.tape, coloured.p, n);
        buf_append(&f->batch.tape, "\r\n", 2);
        coloured = (struct view){ end + 1, coloured.n - n - 1 };
    }
    buf_append(&f->batch.tape, coloured.p, coloured.n);
    write_if_big(f, plain.n);
    if (!f->opt->is_json && !f->is_mute)
        buf_append(&f->screen, seen.p, seen.n);
    f->is_line_open = plain.n && plain.p[plain.n - 1] != '\n';
}

void
run_tell_line_end(struct run_flow *f)
{
    static const struct view newline = { (const uint8_t *)"\n", 1 };
    if (f->is_line_open)
        put_shown(f, newline, newline);
}

/* Only tags have one, and what the assistant says has none. */
static bool
has_colour(const struct turn_event *e)
{
    return e->type != TURN_TEXT || e->is_user || e->parent.n;
}

/* False: there is nothing to see. */
static bool
show(struct run_flow *f, const struct turn_event *e)
{
    struct turn_show opt = { .is_verbose = f->opt->is_verbose };
    buf_clear(&f->plainly);
    buf_clear(&f->coloured);
    turn_show(e, &opt, &f->plainly);
    opt.is_coloured = true;
    if (has_colour(e))
        turn_show(e, &opt, &f->coloured);
    return f->plainly.n;
}

static void
put_whole(struct run_flow *f, const struct turn_event *e)
{
    if (!show(f, e))
        return;
    run_tell_line_end(f);
    put_shown(f, as_view(&f->plainly),
              as_view(has_colour(e) ? &f->coloured : &f->plainly));
}

/* More of a message of which a part is shown. */
static void
put_part(struct run_flow *f, struct view piece, bool is_last)
{
    buf_clear(&f->plainly);
    turn_clean_feed(&f->clean, piece, &f->plainly);
    if (is_last)
        turn_clean_end(&f->clean, &f->plainly);
    if (f->plainly.n)
        put_shown(f, as_view(&f->plainly), as_view(&f->plainly));
}

static void
put_tag(struct run_flow *f, const struct turn_event *e)
{
    struct turn_show opt = { 0 };
    buf_clear(&f->plainly);
    buf_clear(&f->coloured);
    turn_show_tag(e, &opt, &f->plainly);
    opt.is_coloured = true;
    turn_show_tag(e, &opt, &f->coloured);
    if (f->plainly.n)
        put_shown(f, as_view(&f->plainly), as_view(&f->coloured));
}

static void
put_io(struct run_flow *f, const struct turn_event *e)
{
    static const char interrupted[] = ",\"interrupted\":true",
                      user[] = ",\"role\":\"user\"";
    AUTO(buf) more = { 0 };
    struct journal_io_entry entry = {
        .ts_ns = run_keep_now_ns(f->keep),
        .direction = JOURNAL_OUT,
        .type = e->type == TURN_STDERR ? NULL : turn_type_name(e->type),
        .is_stderr = e->type == TURN_STDERR,
        .is_partial = e->is_partial,
        .iteration = f->iteration,
    };
    if (e->type == TURN_ARTIFACT) {
        entry.direction = JOURNAL_ARTIFACT;
        entry.type = NULL;
        entry.path = e->text;
        entry.action = e->name;
    } else {
        entry.content = turn_show_content(e, &f->plainly);
    }
    if (e->was_cut_off)
        buf_puts(&more, interrupted);
    if (e->is_user)
        buf_puts(&more, user);
    entry.more = as_view(&more);
    if (entry.content.n || e->type == TURN_TEXT || e->type == TURN_STDERR ||
        e->type == TURN_ARTIFACT)
        journal_io_line(&entry, &f->batch.io);
    if (f->replay && !e->is_partial && !e->is_user)
        run_replay_hear(f->replay, e->type, entry.content, clock_mono_ns());
}

static void
settle_if_much(struct run_flow *f)
{
    if (f->batch.turns.n > BATCH_MAX || f->batch.io.n > BATCH_MAX ||
        f->batch.tape.n > BATCH_MAX)
        run_flow_settle(f);
}

void
run_tell(struct run_flow *f, const struct turn_event *e)
{
    run_message_commit(f);
    put_turn(f, e);
    write_if_big(f, e->text.n + e->json.n);
    put_io(f, e);
    write_if_big(f, e->text.n + e->json.n);
    put_whole(f, e);
    settle_if_much(f);
}

void
run_tell_rest(struct run_flow *f, const struct turn_event *e, struct view rest)
{
    put_turn(f, e);
    write_if_big(f, e->text.n + e->json.n);
    put_io(f, e);
    write_if_big(f, e->text.n + e->json.n);
    put_part(f, rest, true);
    run_tell_line_end(f);
    settle_if_much(f);
}

void
run_tell_line(struct run_flow *f, const struct turn_event *e, size_t told)
{
    static const struct view newline = { (const uint8_t *)"\n", 1 };
    struct view rest = { e->text.p + told, e->text.n - told };
    put_turn(f, e);
    put_io(f, e);
    if (!told) {
        run_tell_line_end(f);
        f->clean = (struct turn_clean){ 0 };
    }
    size_t before = f->batch.log.n;
    put_part(f, rest, true);
    if (f->is_line_open || (!told && f->batch.log.n == before))
        put_shown(f, newline, newline);
    settle_if_much(f);
}

void
run_tell_piece(struct run_flow *f, enum turn_type type, struct view piece, bool is_first)
{
    struct turn_event e = turn_event(type);
    e.is_partial = true;
    e.text = piece;
    put_io(f, &e);
    if (is_first) {
        run_tell_line_end(f);
        f->clean = (struct turn_clean){ 0 };
        put_tag(f, &e);
    }
    put_part(f, piece, false);
}

void
run_tell_input(struct run_flow *f, struct view text)
{
    static const char open[] = ",\"open\":true";
    struct turn_event e = turn_event(TURN_TEXT);
    e.is_user = true;
    e.text = text;
    run_message_commit(f);
    put_turn(f, &e);
    struct journal_io_entry entry = { .ts_ns = run_keep_now_ns(f->keep),
                                      .direction = JOURNAL_IN,
                                      .content = text,
                                      .iteration = f->iteration };
    if (f->is_input_open)
        entry.more = (struct view){ (const uint8_t *)open, sizeof(open) - 1 };
    journal_io_line(&entry, &f->batch.io);
    settle_if_much(f);
}
