/* SPDX-License-Identifier: MIT */
/*
 * edits.h -- how one sequence becomes another: what stays, goes, comes, changes, moves.
 *
 * Pure. What play_align() does not keep is gone or new. Of that, an item that is the same
 * as one elsewhere has moved; and between two that stay, one that is gone and one that is
 * new of the same kind are one that has changed.
 */
#ifndef PLAY_EDITS_H
#define PLAY_EDITS_H

#include "play/align.h"

enum play_edit_kind {
    PLAY_SAME,
    PLAY_DELETED,
    PLAY_INSERTED,
    PLAY_CHANGED,
    PLAY_MOVED_AWAY, /* stands where it was in a … */
    PLAY_MOVED_HERE, /* … and where it is in b: two edits for a move, with the same pair
                      */
};

enum { PLAY_EDIT_KINDS = PLAY_MOVED_HERE + 1 };
#define PLAY_NO_ITEM UINT32_MAX

struct play_edit {
    enum play_edit_kind kind;
    uint32_t a, b; /* from 0; PLAY_NO_ITEM: none */
};

/* Of each item its kind: only what is of the same can have changed into each other. */
struct play_kinds {
    const uint32_t *a, *b; /* borrowed */
    size_t numbers;        /* each is below it */
};

/* Zeroed it is ready for use. */
struct play_edits {
    struct buf list; /* struct play_edit, in the order of a, and of b */
    size_t same;     /* items before the first difference */
    bool is_bounded; /* as in struct play_kept_items */
    uint64_t steps;
    size_t counts[PLAY_EDIT_KINDS];
};

void play_edits_release(struct play_edits *e);
int play_edits_make(const struct play_align *in, const struct play_kinds *kinds,
                    struct play_edits *ret);

static inline size_t
play_edits_count(const struct play_edits *e)
{
    return e->list.n / sizeof(struct play_edit);
}

static inline const struct play_edit *
play_edit_at(const struct play_edits *e, size_t i)
{
    return (const struct play_edit *)(const void *)e->list.p + i;
}

/* The next edits that differ, from `from` on, with those that stay around them: at most
 * `context` before and behind, and twice as many between. False: there are none. */
bool play_edits_hunk(const struct play_edits *e, size_t context, size_t from,
                     size_t *ret_start, size_t *ret_end);

/* Are the two sequences the same? */
static inline bool
play_edits_are_none(const struct play_edits *e)
{
    return play_edits_count(e) == e->counts[PLAY_SAME];
}

#endif
