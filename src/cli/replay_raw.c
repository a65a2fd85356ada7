/* SPDX-License-Identifier: MIT */
/*
 * replay_raw.c -- the recorded bytes, as time passes.
 *
 * Whatever they do to a terminal is done to ours, for those who ask for it; what can be
 * undone of that is, at the end.
 */
#include <errno.h>
#include <unistd.h>

#include "base/file.h"
#include "cli/losses.h"
#include "cli/replay.h"
#include "pty/signals.h"
#include "pty/tty.h"
#include "term/term.h"

struct raw {
    struct cli_replay *r;
    struct cli_losses losses;
    struct tape_reader *tape;
    struct term *term; /* what our terminal shows; NULL: it is none */
    uint64_t first_ts_ns;
    bool has_records;
    bool is_jumped; /* over bytes that nobody misses */
};

static bool
is_past(const struct raw *w, const struct tape_record *rec)
{
    const struct cli_replay *r = w->r;
    if (!r->has_to)
        return false;
    return r->to.is_byte ? rec->tag == TAPE_DATA && rec->byte_off >= r->to.value
                         : rec->ts_ns - w->first_ts_ns > r->to.value;
}

/* The bytes of a record that were asked for. */
static struct view
cut(const struct cli_replay *r, const struct tape_record *rec)
{
    uint64_t from = rec->byte_off, to = from + rec->bytes.n;
    if (r->has_from && r->from.is_byte && r->from.value > from)
        from = r->from.value < to ? r->from.value : to;
    if (r->has_to && r->to.is_byte && r->to.value < to)
        to = r->to.value > from ? r->to.value : from;
    return (struct view){ rec->bytes.p + (from - rec->byte_off), (size_t)(to - from) };
}

/* -- our terminal -- */

static int
begin_terminal(struct raw *w, struct err *err)
{
    struct term_options opt = term_options_default();
    opt.scrollback_rows = opt.alternate_rows = 0;
    if (!isatty(STDOUT_FILENO))
        return 0;
    w->term = term_new(&opt);
    if (!w->term)
        return err_code(err, -ENOMEM, "cannot play '%s'", w->r->name);
    pty_signals_hold();
    pty_signals_listen();
    return 0;
}

static void
end_terminal(struct raw *w)
{
    static const char calm[] = PTY_TTY_CALM, leave[] = "\033[?1049l";
    if (!w->term)
        return;
    if (term_modes(w->term).is_alternate)
        file_write_all(STDOUT_FILENO, leave, sizeof(leave) - 1);
    file_write_all(STDOUT_FILENO, calm, sizeof(calm) - 1);
    if (term_cursor(w->term).col)
        file_write_all(STDOUT_FILENO, "\r\n", 2);
    term_free(w->term);
}

/* -- records -- */

static int
write_data(struct raw *w, const struct tape_record *rec, struct err *err)
{
    struct view v = cut(w->r, rec);
    int e = file_write_all(STDOUT_FILENO, v.p, v.n);
    if (w->term && v.n)
        term_feed(w->term, v.p, v.n, rec->byte_off);
    return e < 0 ? err_code(err, e, "cannot write to standard output") : 0;
}

/* 0, the number of a signal, or an error. */
static int
play(struct raw *w, const struct tape_record *rec, struct err *err)
{
    int e = cli_pace_wait(&w->r->pace, rec->ts_ns - w->first_ts_ns);
    if (e)
        return e < 0 ? err_code(err, e, "cannot write to standard output") : e;
    if (w->is_jumped && rec->tag == TAPE_DATA) {
        w->is_jumped = false;
        w->losses.next_byte = rec->byte_off;
    }
    if (!w->is_jumped)
        cli_losses_record(&w->losses, rec);
    return rec->tag == TAPE_DATA ? write_data(w, rec, err) : 0;
}

/* To where it is to begin, and there the first record; false: there is none. */
static bool
begin(struct raw *w, struct tape_record *ret)
{
    const struct cli_replay *r = w->r;
    w->has_records = tape_reader_next(w->tape, ret);
    if (!w->has_records)
        return false;
    w->first_ts_ns = ret->ts_ns;
    uint64_t start_ns = 0;
    bool has_next = true;
    if (r->has_from && r->from.value) {
        uint64_t ts_ns = w->first_ts_ns + r->from.value;
        int e = r->from.is_byte ? tape_reader_seek_byte(w->tape, r->from.value)
                                : tape_reader_seek_time(w->tape, ts_ns);
        has_next = !e && tape_reader_next(w->tape, ret);
        w->is_jumped = true;
        start_ns = r->from.is_byte ? ret->ts_ns - w->first_ts_ns : r->from.value;
    }
    cli_pace_begin(&w->r->pace, start_ns);
    return has_next;
}

static int
play_all(struct raw *w, struct err *err)
{
    struct tape_record rec;
    int e = 0;
    bool has_next = begin(w, &rec);
    while (has_next && !is_past(w, &rec) && !(e = play(w, &rec, err)))
        has_next = tape_reader_next(w->tape, &rec);
    return e;
}

int
cli_replay_raw(struct cli_replay *r, struct err *err)
{
    struct raw w = { .r = r, .losses = { .command = r->self, .path = r->name } };
    struct tape_reader_options opt = { .notice = cli_losses_notice, .ctx = &w.losses };
    const char *path = buf_str(&r->found.tape_path);
    int e = tape_reader_open(&w.tape, tape_io_files(), path, &opt, err);
    if (e < 0)
        return e;
    e = begin_terminal(&w, err);
    if (!e)
        e = play_all(&w, err);
    end_terminal(&w);
    tape_reader_close(w.tape);
    if (e)
        return e < 0 ? e : cli_die_of(e);
    if (!w.has_records)
        return cli_replay_nothing(r);
    return w.losses.is_damaged ? CLI_DAMAGED : CLI_DONE;
}
