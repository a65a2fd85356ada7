/* SPDX-License-Identifier: MIT */
#include "play/text.h"

#include <errno.h>
#include <stdlib.h>

#include "play/walk_priv.h"

enum {
    /* Lines are looked at before they can be dropped: a byte scrolls a line at most, or
     * all of a screen's. */
    STEP = 4096,
    ROWS_KEPT = 50000,
};

struct play_text {
    struct play_text_options opt;
    struct play_walk walk;
    struct play_plain plain;
    char *path;
    int error; /* why nothing more comes, but for the end */
    bool has_records;
    bool is_playing; /* not any more on the way to the beginning */
};

static void
note_gap(void *ctx, const struct play_gap *gap)
{
    struct play_text *t = ctx;
    if (t->is_playing && t->opt.gap)
        t->opt.gap(t->opt.ctx, gap);
}

static int
note_record(void *ctx, struct play_walk *w)
{
    struct play_text *t = ctx;
    (void)w;
    t->has_records = true;
    return 0;
}

static const struct play_watch watch = { .gap = note_gap, .record = note_record };

static uint64_t
next_ns(const struct play_text *t)
{
    return t->walk.next.ts_ns - t->walk.first_ts_ns;
}

/* -- to the beginning -- */

/* How many bytes of the next record lie before it; 0: it is there. */
static size_t
before_begin(const struct play_text *t)
{
    const struct play_walk *w = &t->walk;
    if (next_ns(t) < t->opt.from_ns)
        return SIZE_MAX;
    if (w->byte_off >= t->opt.from_byte)
        return 0;
    if (w->next.tag != TAPE_DATA)
        return SIZE_MAX;
    uint64_t off = play_walk_next_off(w);
    return off < t->opt.from_byte ? (size_t)(t->opt.from_byte - off) : 0;
}

static int
skip(struct play_text *t)
{
    struct play_walk *w = &t->walk;
    size_t n;
    int e;
    while ((e = play_walk_peek(w)) > 0 && (n = before_begin(t)) > 0) {
        ssize_t taken = play_walk_take(w, n);
        if (taken < 0)
            return (int)taken;
    }
    if (e < 0)
        return e;
    t->is_playing = true;
    return w->byte_off ? play_plain_skip(&t->plain, w->term, w->byte_off) : 0;
}

int
play_text_open(struct play_text **ret, struct tape_io *io, const char *path,
               const struct play_text_options *opt, struct err *err)
{
    struct play_text *t = calloc(1, sizeof(*t));
    if (!t || !(t->path = strdup(path))) {
        free(t);
        return err_code(err, -ENOMEM, "cannot open '%s'", path);
    }
    t->opt = *opt;
    t->plain = (struct play_plain){ .print = opt->print, .ctx = opt->ctx };
    t->walk = (struct play_walk){
        .io = io,
        .path = t->path,
        .tell = { opt->notice, opt->ctx, NULL },
        .first_cols = opt->cols,
        .first_rows = opt->rows,
        .scrollback_rows = ROWS_KEPT,
        .alternate_rows = TERM_ALTERNATE_ROWS,
        .watch = &watch,
        .ctx = t,
    };
    int e = play_walk_begin(&t->walk, err);
    if (!e && (e = skip(t)) < 0)
        err_code(err, e, "cannot show '%s'", path);
    if (e < 0) {
        play_text_close(t);
        return e;
    }
    *ret = t;
    return 0;
}

void
play_text_close(struct play_text *t)
{
    play_walk_release(&t->walk);
    play_plain_release(&t->plain);
    free(t->path);
    free(t);
}

/* -- on -- */

bool
play_text_is_empty(const struct play_text *t)
{
    return t->walk.is_end && !t->has_records;
}

/* How many bytes of the next record are wanted; 0: nothing more is. */
static size_t
wanted(const struct play_text *t)
{
    const struct play_walk *w = &t->walk;
    if (next_ns(t) > t->opt.to_ns)
        return 0;
    if (w->next.tag != TAPE_DATA)
        return w->byte_off < t->opt.to_byte ? STEP : 0;
    uint64_t off = play_walk_next_off(w);
    uint64_t left = off < t->opt.to_byte ? t->opt.to_byte - off : 0;
    return left < STEP ? (size_t)left : STEP;
}

uint64_t
play_text_next_ns(struct play_text *t)
{
    int e = play_walk_peek(&t->walk);
    t->error = e < 0 ? e : 0;
    return e > 0 && wanted(t) ? next_ns(t) : UINT64_MAX;
}

int
play_text_step(struct play_text *t)
{
    struct play_walk *w = &t->walk;
    int e = play_walk_peek(w);
    size_t n = e > 0 ? wanted(t) : 0;
    ssize_t taken = n ? play_walk_take(w, n) : 0;
    if (e < 0 || taken < 0)
        return e < 0 ? e : (int)taken;
    return play_plain_look(&t->plain, w->term, w->byte_off);
}

int
play_text_end(struct play_text *t)
{
    return t->error ? t->error
                    : play_plain_end(&t->plain, t->walk.term, t->walk.byte_off);
}
