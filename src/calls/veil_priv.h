/* SPDX-License-Identifier: MIT */
/* veil_priv.h -- where in an event a model's words are, a text that comes in pieces, and
 * an event that waits for it. */
#ifndef CALLS_VEIL_PRIV_H
#define CALLS_VEIL_PRIV_H

#include <stdbool.h>

#include "calls/mask.h"

/* -- veil_text.c -- */

struct veil_piece {
    struct view json; /* a string with its quotes; or a value that says the same again */
    uint64_t lane;    /* … of which text; 0: it is such a value */
};

/*
 * The pieces in an event, as they stand in it, into `pieces` (an array of them, cleared
 * first). *ret_json is the event's data, if that is one line with an object of JSON, else
 * empty. All views lie in the event.
 */
int veil_text_find(struct view event, struct buf *pieces, struct view *ret_json);

/* -- veil_lane.c -- */

/* Zeroed it is at the beginning of its text. */
struct veil_lane {
    uint64_t id; /* 0: it is nobody's */
    uint64_t used;
    const struct calls_mask *mask; /* borrowed */
    struct calls_said said;        /* … what it has learnt, before the scanner */
    struct redact_stream *stream;  /* NULL: another lane has it now */
    struct buf tail; /* the end of the text as it came; its last bytes … */
    size_t held;     /* … are held, */
    size_t again;    /* … behind some that the scanner holds once more */
    bool is_behind;  /* the scanner has not seen what is held */
};

/* The scanner goes on where it, or another one, has left this text. */
int veil_lane_resume(struct veil_lane *l, struct redact_stream *stream);
/* The next piece, and what comes out: let (out has its bytes). is_clean: that is the
 * beginning of what was held with the piece behind it, and what remains is held now. */
int veil_lane_feed(struct veil_lane *l, struct view piece, struct buf *out,
                   struct view *ret_let, bool *ret_is_clean);
/* What is held is decided as it stands; after that the lane has no scanner. */
int veil_lane_flush(struct veil_lane *l, struct buf *out, struct view *ret_let,
                    bool *ret_is_clean);
void veil_lane_release(struct veil_lane *l);

/* -- veil_event.c -- */

struct veil_part {
    struct veil_lane *lane; /* that decides; NULL: it is decided */
    size_t at, n;           /* its JSON in the event */
    size_t left;            /* letters of it that are not let out yet */
    bool is_echo;           /* stands as it came if all others do */
    bool is_changed;        /* will not be as it came any more */
    struct buf text;        /* what was let out */
};

struct veil_event {
    uint64_t number, ts_ns;
    struct buf bytes; /* as it came */
    struct buf parts; /* struct veil_part, as they stand in it */
    struct buf shown; /* as it was written */
    size_t open;      /* parts that are not decided */
    size_t cost;      /* bytes, as the veil counts them */
};

struct veil_part *veil_event_parts(const struct veil_event *e, size_t *ret_n);
bool veil_part_is_own(const struct veil_part *p);
void veil_event_release_parts(struct veil_event *e);
void veil_event_release(struct veil_event *e);

/* Scratch, and what comes of it: masked. */
struct veil_sheet {
    struct buf put, pieces, masked;
};

/* As it may be written, in s->masked. What says again what the event says itself goes
 * where anything of that does not stand as it came. */
int veil_event_show(const struct veil_event *e, struct redact *redact,
                    struct veil_sheet *s);
void veil_sheet_release(struct veil_sheet *s);

#endif
