/* SPDX-License-Identifier: MIT */
/*
 * fill_priv.h -- a session's text into the library, piece by piece, and out of it again.
 *
 * All in a change that the caller has begun.
 */
#ifndef LIBRARY_FILL_PRIV_H
#define LIBRARY_FILL_PRIV_H

#include "library/index.h"
#include "library/piece_priv.h"
#include "play/report.h"

struct grams;

/* A session's pieces while they are made. */
struct fill {
    struct store *s;
    struct redact *redact; /* borrowed */
    struct err *err;
    struct grams *grams;
    struct piece piece;
    struct buf packed, words, row;
    int64_t key;
    uint32_t number;
    struct library_indexed done; /* so far */
    bool is_alternate;           /* the last line was */
};

int fill_begin(struct fill *f, struct store *s, int64_t key, struct redact *redact,
               struct err *err);
void fill_release(struct fill *f);
/* A line, or as much of one as wraps into the next; clean and masked. */
int fill_text(struct fill *f, const struct piece_row *row, struct view text,
              bool is_wrapped);
/* The piece at hand ends here. */
int fill_end_piece(struct fill *f);

/* The final lines of a recording, masked. path: where it lies, for the times. */
int fill_lines(struct fill *f, const struct play_loaded *loaded, const char *path);
/* The events of a run at path, masked: their rows, usage and artifacts, and of their text
 * what the terminal has not shown. *ret_unread: lines that are none. */
int fill_turns(struct fill *f, const char *path, uint64_t *ret_unread);
/* The moments between them, masked. */
int fill_moments(struct store *s, int64_t key, const struct play_events *events,
                 struct redact *redact, struct err *err);
/* The session with its pieces, and all else; nothing when it is not there. */
int fill_remove(struct store *s, const char *id, struct err *err);

#endif
