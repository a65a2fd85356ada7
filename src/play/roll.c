/* SPDX-License-Identifier: MIT */
#include "play/roll.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "play/walk_priv.h"

enum { RECORD_COST = 16 }; /* of a record, in bytes of data */

struct play_roll {
    char *path;
    struct play_walk walk;
    uint64_t byte_off; /* all before it is in the model, or lost */
    bool is_fresh;     /* the recording's end was looked for in this call */
    struct play_stamps stamps;
    struct play_events snapshots;
};

/* -- open, close -- */

static int
note_snapshot(void *ctx, struct play_walk *w)
{
    struct play_roll *r = ctx;
    const struct tape_record *rec = &w->next;
    if (rec->tag != TAPE_SNAPSHOT)
        return 0;
    struct play_event event = play_event_of(rec);
    int e = play_events_add(&r->snapshots, &event);
    return e == ERR_LIMIT ? 0 : e;
}

static const struct play_watch watch = { .record = note_snapshot };

int
play_roll_open(struct play_roll **ret, struct tape_io *io, const char *path,
               const struct play_roll_options *opt, struct err *err)
{
    struct term_options usual = term_options_default();
    struct play_roll *r = calloc(1, sizeof(*r));
    if (!r || !(r->path = strdup(path))) {
        free(r);
        return err_code(err, -ENOMEM, "cannot open '%s'", path);
    }
    r->walk = (struct play_walk){
        .io = io,
        .path = r->path,
        .tell = { opt->notice, opt->ctx, NULL },
        .first_cols = opt->cols < TERM_COLS_MAX ? opt->cols : TERM_COLS_MAX,
        .first_rows = opt->rows < TERM_ROWS_MAX ? opt->rows : TERM_ROWS_MAX,
        .scrollback_rows = usual.scrollback_rows,
        .alternate_rows = usual.alternate_rows,
        .watch = &watch,
        .ctx = r,
    };
    int e = play_walk_begin(&r->walk, err);
    if (e < 0) {
        play_roll_close(r);
        return e;
    }
    *ret = r;
    return 0;
}

void
play_roll_close(struct play_roll *r)
{
    play_walk_release(&r->walk);
    play_stamps_release(&r->stamps);
    play_events_release(&r->snapshots);
    free(r->path);
    free(r);
}

/* -- on -- */

/* At the end it looks once whether there is more by now. */
static int
peek(struct play_roll *r)
{
    struct play_walk *w = &r->walk;
    int e = play_walk_peek(w);
    if (e)
        return e;
    if (!r->is_fresh) {
        r->is_fresh = true;
        e = play_walk_resume(w);
        if (e >= 0)
            e = play_walk_peek(w);
    }
    return !e && tape_reader_error(w->tape) == -ENOMEM ? -ENOMEM : e;
}

/* Takes the next record, as far as it is wanted, and counts what that cost. */
static int
take(struct play_roll *r, uint64_t until_byte, size_t *left)
{
    struct play_walk *w = &r->walk;
    uint64_t off = play_walk_next_off(w), size_cost = w->size_cost;
    size_t max = *left;
    bool is_data = w->next.tag == TAPE_DATA;
    if (is_data && off >= until_byte) {
        r->byte_off = until_byte; /* what lies between is lost */
        return 0;
    }
    if (is_data && until_byte - off < max)
        max = (size_t)(until_byte - off);
    ssize_t n = play_walk_take(w, max);
    if (n < 0)
        return (int)n;
    uint64_t cost = RECORD_COST + (uint64_t)n + (w->size_cost - size_cost);
    *left -= cost < *left ? (size_t)cost : *left;
    if (is_data) {
        play_stamps_add(&r->stamps, w->byte_off, w->taken_ts_ns);
        r->byte_off = w->byte_off;
    }
    return 0;
}

int
play_roll_read(struct play_roll *r, uint64_t until_byte, size_t max_bytes)
{
    struct play_walk *w = &r->walk;
    int e = 0;
    r->is_fresh = false;
    while (w->term && r->byte_off < until_byte) {
        if (!max_bytes)
            return 1;
        e = peek(r);
        if (e > 0)
            e = take(r, until_byte, &max_bytes);
        else if (!e)
            r->byte_off = w->byte_off < until_byte ? w->byte_off : until_byte;
        if (e < 0 || w->is_end)
            break;
    }
    return e;
}

/* -- what has come -- */

uint64_t
play_roll_byte(const struct play_roll *r)
{
    return r->byte_off;
}

const struct term *
play_roll_term(const struct play_roll *r)
{
    return r->walk.term;
}

struct term *
play_roll_take(struct play_roll *r)
{
    struct term *t = r->walk.term;
    r->walk.term = NULL;
    return t;
}

const struct play_stamps *
play_roll_stamps(const struct play_roll *r)
{
    return &r->stamps;
}

struct play_stamps
play_roll_take_stamps(struct play_roll *r)
{
    struct play_stamps stamps = r->stamps;
    r->stamps = (struct play_stamps){ 0 };
    return stamps;
}

const struct play_events *
play_roll_snapshots(const struct play_roll *r)
{
    return &r->snapshots;
}
