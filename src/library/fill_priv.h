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
#include "library/said_priv.h"
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
    /* Of a run: */
    struct said *said; /* lines that its turns have shown */
    struct buf held;   /* lines of its recording that wait for their turns … */
    size_t held_at;    /* … from here on */
    bool is_history;   /* of an agent's own: what it keeps beside is not searched */
};

int fill_begin(struct fill *f, struct store *s, int64_t key, struct redact *redact,
               struct err *err);
void fill_release(struct fill *f);
/* What is told of a failure to keep text. */
int fill_failed(struct fill *f, int r);
/* A line, or as much of one as wraps into the next; clean and masked. label: of a turn's
 * row; NULL: row->label is it. */
int fill_text(struct fill *f, const struct piece_row *row, const struct label *label,
              struct view text, bool is_wrapped);
/* Each line of a text that is not empty, all under the same row; a turn's are counted. */
int fill_each_line(struct fill *f, const struct piece_row *row, const struct label *label,
                   struct view text);

/* The final lines of a recording, masked. path: where it lies, for the times. Where there
 * is `said` they are held. */
int fill_lines(struct fill *f, const struct play_loaded *loaded, const char *path);
/* Those that are held and were written before that time; UINT64_MAX: all. */
int fill_held(struct fill *f, uint64_t before_ns);
/* What the turns of a run at path have shown, into f->said. */
int fill_said(struct fill *f, const char *path);
/* The events of a run at path, masked: their rows, usage, artifacts and text, and the
 * lines that are held between them. *ret_unread: lines that are none. */
int fill_turns(struct fill *f, const char *path, uint64_t *ret_unread);
/* The moments, masked, and the texts of instructions: the last of a session. */
int fill_moments(struct fill *f, const struct play_events *events);
/* The session with its pieces, and all else; nothing when it is not there. */
int fill_remove(struct store *s, const char *id, struct err *err);

#endif
