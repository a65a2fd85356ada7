/* SPDX-License-Identifier: MIT */
/*
 * load.c -- a recording taken through the terminal model, and what lies beside its bytes:
 * snapshots, gaps, the time it took.
 */
#include <errno.h>
#include <stdlib.h>

#include "play/report.h"

enum { COLS = 80, ROWS = 24 };

struct load {
    struct play_loaded *ret;
    const struct play_load_options *opt;
    unsigned cols, rows;
    bool has_times;      /* and they are still kept */
    uint64_t unrecorded; /* bytes that the recorder owned up to since the last DATA */
};

/* -- gaps -- */

static int
add_gap(struct load *l, const struct play_gap *gap)
{
    if (!gap->bytes)
        return 0;
    if (l->ret->gaps.n >= PLAY_GAPS_MAX * sizeof(*gap)) {
        l->ret->gaps_left_out++;
        return 0;
    }
    return buf_append(&l->ret->gaps, gap, sizeof(*gap));
}

/* The stream goes on at byte_off, or ends there. */
static int
close_gap(struct load *l, uint64_t byte_off, uint64_t ts_ns)
{
    uint64_t from = l->ret->total_bytes;
    uint64_t missing = byte_off > from ? byte_off - from : 0;
    uint64_t owned = play_gap_owned(missing, l->unrecorded);
    l->unrecorded = 0;
    struct play_gap gap = { from, owned, ts_ns, true };
    int e = add_gap(l, &gap);
    gap = (struct play_gap){ from + owned, missing - owned, ts_ns, false };
    return e < 0 ? e : add_gap(l, &gap);
}

/* -- records -- */

/* Of several sizes in a row only the last one counts, and those before the first byte are
 * no resizes. */
static int
take_size(struct load *l)
{
    if (l->ret->term) {
        term_resize(l->ret->term, l->cols, l->rows);
        return 0;
    }
    struct term_options opt = term_options_default();
    opt.cols = l->cols;
    opt.rows = l->rows;
    if (l->opt->scrollback_rows)
        opt.scrollback_rows = l->opt->scrollback_rows;
    l->ret->term = term_new(&opt);
    return l->ret->term ? 0 : -ENOMEM;
}

/* Of more than there is room for none are kept: whoever needs them reads again. */
static int
note_time(struct load *l, uint64_t ts_ns)
{
    struct play_time time = { l->ret->total_bytes, ts_ns };
    if (!l->has_times)
        return 0;
    if (l->ret->times.n < PLAY_TIMES_MAX * sizeof(time))
        return buf_append(&l->ret->times, &time, sizeof(time));
    buf_release(&l->ret->times);
    l->has_times = false;
    return 0;
}

static int
take_data(struct load *l, const struct tape_record *rec)
{
    struct view bytes = rec->bytes;
    uint64_t end = l->opt->to_byte ? l->opt->to_byte : UINT64_MAX;
    /* Other writers' offsets may go back; the model's do not. */
    uint64_t from = l->ret->total_bytes, at = rec->byte_off > from ? rec->byte_off : from;
    int e = close_gap(l, at < end ? at : end, rec->ts_ns);
    if (e < 0)
        return e;
    if (at >= end)
        bytes.n = 0;
    else if (bytes.n > end - at)
        bytes.n = (size_t)(end - at);
    e = take_size(l);
    if (e < 0)
        return e;
    if (bytes.n)
        term_feed(l->ret->term, bytes.p, bytes.n, at);
    l->ret->total_bytes = at < end ? at + bytes.n : end;
    return note_time(l, rec->ts_ns);
}

static int
take_snapshot(struct load *l, const struct tape_record *rec)
{
    struct play_event event = play_event_of(rec);
    int e = play_events_add(&l->ret->events, &event);
    l->ret->events_left_out += e == ERR_LIMIT;
    return e == ERR_LIMIT ? 0 : e;
}

static int
take(struct load *l, const struct tape_record *rec)
{
    if (!l->ret->records++)
        l->ret->first_ts_ns = rec->ts_ns;
    l->ret->last_ts_ns = rec->ts_ns;
    switch ((enum tape_tag)rec->tag) {
    case TAPE_DATA:
        return take_data(l, rec);
    case TAPE_RESIZE:
        l->cols = rec->cols ? rec->cols : l->cols;
        l->rows = rec->rows ? rec->rows : l->rows;
        return 0;
    case TAPE_MARK:
        if (rec->code == TAPE_MARK_GAP)
            l->unrecorded += rec->val;
        return 0;
    case TAPE_SNAPSHOT:
        return take_snapshot(l, rec);
    case TAPE_INPUT:
        break;
    }
    return 0;
}

/* Whether nothing more is wanted, from this record on. */
static bool
is_past(const struct load *l, const struct tape_record *rec)
{
    return (l->opt->to_ns && rec->ts_ns > l->opt->to_ns) ||
           (l->opt->to_byte && l->ret->total_bytes >= l->opt->to_byte);
}

/* What was not recorded at the end has no byte behind it. */
static int
take_end(struct load *l)
{
    uint64_t most = l->opt->to_byte ? l->opt->to_byte : UINT64_MAX;
    uint64_t from = l->ret->total_bytes, room = most > from ? most - from : 0;
    uint64_t end = from + (l->unrecorded < room ? l->unrecorded : room);
    int e = close_gap(l, end, l->ret->last_ts_ns);
    l->ret->total_bytes = end;
    return e;
}

static int
read_all(struct load *l, struct tape_reader *tape)
{
    struct tape_record rec;
    int e = 0;
    while (!e && tape_reader_next(tape, &rec) && !is_past(l, &rec)) {
        if (l->opt->record)
            l->opt->record(l->opt->ctx, &rec);
        e = take(l, &rec);
    }
    if (e < 0)
        return e;
    e = tape_reader_error(tape) == -ENOMEM ? -ENOMEM : take_end(l);
    if (!e)
        e = take_size(l); /* when there was not one byte, or a last size */
    return e < 0 ? e : term_error(l->ret->term);
}

int
play_load(struct play_loaded *ret, struct tape_io *io, const char *path,
          const struct play_load_options *opt, struct err *err)
{
    struct play_loaded loaded = { 0 };
    struct load l = {
        .ret = &loaded,
        .opt = opt,
        .cols = opt->cols ? opt->cols : COLS,
        .rows = opt->rows ? opt->rows : ROWS,
        .has_times = opt->has_times,
    };
    struct tape_reader_options reader = { opt->notice, opt->ctx, opt->progress };
    struct tape_reader *tape;
    int e = tape_reader_open(&tape, io, path, &reader, err);
    if (e < 0)
        return e;
    e = read_all(&l, tape);
    tape_reader_close(tape);
    if (e < 0) {
        play_loaded_release(&loaded);
        return err_code(err, e, "'%s': not all could be kept", path);
    }
    *ret = loaded;
    return 0;
}

void
play_loaded_release(struct play_loaded *l)
{
    if (l->term)
        term_free(l->term);
    play_events_release(&l->events);
    buf_release(&l->gaps);
    buf_release(&l->times);
    *l = (struct play_loaded){ 0 };
}
