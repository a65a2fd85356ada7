/* SPDX-License-Identifier: MIT */
#include "play/walk_priv.h"

#include <assert.h>
#include <errno.h>

#include "play/keyframes_priv.h"

enum {
    COLS = 80,
    ROWS = 24,
    ROW_COST = 64, /* of a row in a new size, in bytes of data */
};

/* -- the recording -- */

static bool
next_piece(struct play_walk *w)
{
    if (!tape_reader_next_piece(w->tape, &w->piece))
        return false;
    w->rest = w->piece.records;
    w->spot = (struct play_spot){ .ordinal = w->piece.head.ordinal };
    w->chain = w->chain_behind;
    if (w->piece.packed.n < TAPE_BLOCK_HEAD)
        return true;
    w->chain_behind = play_chain(w->chain, w->piece.file_off, w->piece.packed.p);
    w->has_sealed = !w->piece.segment;
    w->sealed = (struct tape_place){ w->piece.file_off, w->piece.head.ordinal,
                                     w->piece.head.crc };
    return true;
}

bool
play_walk_is_sizing(const struct play_walk *w)
{
    return w->cols != w->term_cols || w->rows != w->term_rows;
}

/* All rows are laid out anew, those above the screen too. */
static uint64_t
cost_of_size(const struct play_walk *w)
{
    return (term_scrollback_count(w->term) + w->term_rows) * (uint64_t)ROW_COST;
}

/* The model takes the size that the recording wants by now. */
static int
take_size(struct play_walk *w)
{
    if (!play_walk_is_sizing(w))
        return 0;
    w->size_cost += cost_of_size(w);
    if (!w->is_whole) {
        int e = w->watch->blind ? w->watch->blind(w->ctx, w) : 0;
        return e > 0 ? 0 : e < 0 ? e : PLAY_BLIND;
    }
    term_resize(w->term, w->cols, w->rows);
    w->term_cols = w->cols;
    w->term_rows = w->rows;
    w->size_cost += cost_of_size(w);
    int e = term_error(w->term);
    return e < 0 || !w->watch->sized ? e : w->watch->sized(w->ctx, w);
}

static void
tell_gap(struct play_walk *w, uint64_t bytes, bool is_recorded, uint64_t ts_ns)
{
    struct play_gap gap = { w->byte_off, bytes, ts_ns, is_recorded };
    if (bytes && w->watch->gap)
        w->watch->gap(w->ctx, &gap);
    w->byte_off += bytes;
}

/* The stream goes on at byte_off, or ends there. */
static void
close_gap(struct play_walk *w, uint64_t byte_off, uint64_t ts_ns)
{
    uint64_t missing = byte_off > w->byte_off ? byte_off - w->byte_off : 0;
    uint64_t owned = play_gap_owned(missing, w->unrecorded);
    w->unrecorded = 0;
    tell_gap(w, owned, true, ts_ns);
    tell_gap(w, missing - owned, false, ts_ns);
}

static int
end(struct play_walk *w)
{
    if (w->is_end)
        return 0;
    int e = take_size(w);
    if (e < 0)
        return e;
    w->is_end = true;
    uint64_t room = UINT64_MAX - w->byte_off;
    close_gap(w, w->byte_off + (w->unrecorded < room ? w->unrecorded : room),
              w->last_ts_ns);
    return 0;
}

int
play_walk_peek(struct play_walk *w)
{
    const char *reason;
    if (w->has_next)
        return 1;
    while (!w->rest.n)
        if (w->is_end || !next_piece(w))
            return end(w);
    size_t n = tape_record_get(w->rest, &w->next, &reason);
    assert(n); /* pieces are checked */
    w->rest.p += n;
    w->rest.n -= n;
    /* Other writers' clocks may go back. */
    w->last_ts_ns = w->next.ts_ns > w->last_ts_ns ? w->next.ts_ns : w->last_ts_ns;
    w->next.ts_ns = w->last_ts_ns;
    w->has_next = true;
    w->next_fed = 0;
    return 1;
}

/* -- a recording that grows -- */

/* What has its end, and what other writers made, does not. */
static bool
is_finished(const struct play_walk *w)
{
    const struct tape_piece *p = &w->piece;
    return p->record_count && (!p->head.is_checked || p->head.flags & TAPE_BLOCK_LAST);
}

static void
skip_to(struct play_walk *w, uint32_t record)
{
    struct tape_record skipped;
    const char *reason;
    for (; w->spot.record < record && w->rest.n; w->spot.record++) {
        size_t n = tape_record_get(w->rest, &skipped, &reason);
        w->rest = (struct view){ w->rest.p + n, w->rest.n - n };
    }
}

int
play_walk_resume(struct play_walk *w)
{
    struct play_spot at = w->spot;
    struct tape_reader *tape;
    struct err ignored;
    if (!w->is_end || is_finished(w))
        return 0;
    int e = tape_reader_open(&tape, w->io, w->path, &w->tell, &ignored);
    if (e < 0)
        return e;
    tape_reader_close(w->tape); /* a tail that has grown is read by new ones alone */
    w->tape = tape;
    if (w->has_sealed)
        (void)tape_reader_begin_at(tape, &w->sealed);
    w->rest.n = 0;
    while ((w->is_end = !next_piece(w)) == false && w->spot.ordinal < at.ordinal)
        w->rest.n = 0;
    if (w->is_end)
        w->spot = at;
    else if (w->spot.ordinal == at.ordinal)
        skip_to(w, at.record);
    return 0;
}

/* -- records -- */

uint64_t
play_walk_next_off(const struct play_walk *w)
{
    if (w->next_fed || w->next.byte_off < w->byte_off)
        return w->byte_off;
    return w->next.byte_off;
}

static void
pass(struct play_walk *w)
{
    w->has_next = false;
    w->spot.record++;
}

/* Other writers' offsets may be anything: what would lie behind the last one there is is
 * not shown. */
static void
begin_data(struct play_walk *w)
{
    close_gap(w, play_walk_next_off(w), w->next.ts_ns);
    if (w->next.bytes.n > UINT64_MAX - w->byte_off)
        w->next.bytes.n = (size_t)(UINT64_MAX - w->byte_off);
}

static ssize_t
take_data(struct play_walk *w, size_t max)
{
    int e = take_size(w);
    if (e < 0)
        return e;
    if (!w->next_fed)
        begin_data(w);
    size_t left = w->next.bytes.n - w->next_fed, n = left < max ? left : max;
    w->taken_ts_ns = w->next.ts_ns;
    w->sized_ts_ns = w->sized_byte = 0;
    if (n) {
        term_feed(w->term, w->next.bytes.p + w->next_fed, n, w->byte_off);
        w->shown_ts_ns = w->next.ts_ns;
    }
    w->byte_off += n;
    w->next_fed += n;
    if (w->next_fed == w->next.bytes.n)
        pass(w);
    e = term_error(w->term);
    return e < 0 ? e : (ssize_t)n;
}

static void
want_size(struct play_walk *w, const struct tape_record *rec)
{
    w->cols = rec->cols ? rec->cols : w->cols;
    w->rows = rec->rows ? rec->rows : w->rows;
}

ssize_t
play_walk_take(struct play_walk *w, size_t max_bytes)
{
    assert(w->has_next);
    if (w->watch->record && !w->next_fed) {
        int e = w->watch->record(w->ctx, w);
        if (e < 0)
            return e;
    }
    if (w->next.tag == TAPE_DATA)
        return take_data(w, max_bytes);
    w->taken_ts_ns = w->next.ts_ns;
    if (w->next.tag == TAPE_RESIZE)
        want_size(w, &w->next);
    else if (w->next.tag == TAPE_MARK && w->next.code == TAPE_MARK_GAP)
        w->unrecorded += w->next.val;
    pass(w);
    return 0;
}

/* -- the beginning -- */

void
play_walk_release(struct play_walk *w)
{
    if (w->tape)
        tape_reader_close(w->tape);
    if (w->term)
        term_free(w->term);
    w->tape = NULL;
    w->term = NULL;
}

/* The last of the sizes before the first DATA. */
static void
first_size(struct play_walk *w)
{
    struct view rest = w->piece.records;
    struct tape_record rec;
    const char *reason;
    w->cols = w->first_cols ? w->first_cols : COLS;
    w->rows = w->first_rows ? w->first_rows : ROWS;
    while (!w->is_end && rest.n) {
        size_t n = tape_record_get(rest, &rec, &reason);
        if (rec.tag == TAPE_DATA)
            break;
        if (rec.tag == TAPE_RESIZE)
            want_size(w, &rec);
        rest = (struct view){ rest.p + n, rest.n - n };
    }
}

struct term_options
play_walk_term_options(void)
{
    struct term_options opt = term_options_default();
    opt.alternate_rows = 0;
    return opt;
}

/* As before the first record. */
static void
clear(struct play_walk *w)
{
    if (w->term)
        term_free(w->term);
    w->term = NULL;
    w->is_end = w->has_next = w->has_sealed = false;
    w->rest.n = 0;
    w->next_fed = 0;
    w->chain = w->chain_behind = 0;
    w->first_ts_ns = w->last_ts_ns = 0;
    w->byte_off = w->unrecorded = 0;
    w->sized_ts_ns = w->sized_byte = 0;
}

int
play_walk_begin(struct play_walk *w, struct err *err)
{
    clear(w);
    int e = 0;
    if (w->tape)
        tape_reader_rewind(w->tape);
    else
        e = tape_reader_open(&w->tape, w->io, w->path, &w->tell, err);
    if (e < 0)
        return e;
    if (!next_piece(w))
        w->piece.records.n = 0;
    first_size(w);
    struct term_options opt = play_walk_term_options();
    opt.cols = w->term_cols = w->cols;
    opt.rows = w->term_rows = w->rows;
    opt.alternate_rows = w->alternate_rows;
    if (w->scrollback_rows)
        opt.scrollback_rows = w->scrollback_rows;
    w->term = term_new(&opt);
    w->is_whole = true;
    e = w->term ? play_walk_peek(w) : -ENOMEM;
    if (e < 0)
        return err_code(err, e, "cannot show '%s'", w->path);
    w->first_ts_ns = w->shown_ts_ns = w->taken_ts_ns = w->last_ts_ns;
    return 0;
}

bool
play_walk_jump(struct play_walk *w, const struct tape_place *place, uint32_t record,
               struct term *term)
{
    if (w->term)
        term_free(w->term);
    w->term = term;
    /* Without rows above it lacks nothing. */
    w->is_whole = !term_scrollback_dropped(term);
    w->is_end = w->has_next = false;
    w->next_fed = 0;
    if (!tape_reader_begin_at(w->tape, place) || !next_piece(w) ||
        w->piece.file_off != place->file_off)
        return false;
    skip_to(w, record);
    return w->spot.record == record;
}
