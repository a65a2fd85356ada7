/* SPDX-License-Identifier: MIT */
/*
 * model_priv.h -- a session's screen as a client holds it: fed with what the host sends,
 * and from the recording with what it did not send.
 */
#ifndef CLIENT_MODEL_PRIV_H
#define CLIENT_MODEL_PRIV_H

#include <stdbool.h>

#include "base/buf.h"
#include "play/stamps.h"
#include "term/term.h"

enum {
    MODEL_REPLAY_MAX = 16 << 20, /* what came before so many bytes is on no screen */
    MODEL_SCROLLBACK = 1000,     /* where nobody looks back: what a resize may show */
};

struct model_tape {
    const char *path, *done_path; /* now and after the end; done_path may be NULL */
};

struct model {
    struct model_tape tape;     /* borrowed */
    struct term *term;          /* NULL: not made yet */
    uint64_t off;               /* it has the session's bytes up to here */
    struct play_stamps *stamps; /* gets the times of what is read; borrowed; NULL: none */
    /* After each piece that was fed: off stands at its end. NULL: nobody asks. */
    void (*fed)(void *ctx);
    void *ctx;
};

/* What a client with a terminal asks of a model. keeps_rows: all that scroll off. */
struct term_options model_options(unsigned cols, unsigned rows, bool keeps_rows);
/* An empty screen, at the session's start. */
int model_make(struct model *m, const struct term_options *how);
/* The screen that a term_snapshot() of another model at `off` shows. The one before goes.
 */
int model_restore(struct model *m, struct view snapshot, uint64_t off,
                  const struct term_options *how, struct err *err);
void model_release(struct model *m);
/* Takes of these bytes what it does not have yet; what it lacks before them comes from
 * the recording. As model_skip(). */
int model_feed(struct model *m, uint64_t off, struct view bytes);
/*
 * The bytes up to `off` are taken from the recording, with the sizes on the way; when
 * they are more than MODEL_REPLAY_MAX, only the last of them. Then it has the size cols x
 * rows (0: the one it has). 0; 1 when rows are missing for that; or an error when the
 * recording could not be read: the model then lacks them.
 */
int model_skip(struct model *m, uint64_t off, unsigned cols, unsigned rows);

/* Where the recording lies now. */
const char *model_tape_path(const struct model_tape *tape);
/* Hands the recorded bytes from..to to fn, in pieces, until that returns less than 0.
 * Returns how far it came, which is less than `to` where the recording has no more. */
uint64_t model_copy(const struct model_tape *tape, uint64_t from, uint64_t to,
                    int (*fn)(void *ctx, struct view bytes), void *ctx);

#endif
