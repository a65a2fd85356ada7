/* SPDX-License-Identifier: MIT */
/*
 * model_priv.h -- terminal models and bytes from the recording, for those who were not
 * sent them.
 */
#ifndef CLIENT_MODEL_PRIV_H
#define CLIENT_MODEL_PRIV_H

#include "base/buf.h"

struct term;

enum { MODEL_REPLAY_MAX = 16 << 20 }; /* what came before is on no screen */

struct model_tape {
    const char *path, *done_path; /* now and after the end; done_path may be NULL */
    /* After each record that was fed: where it ended. NULL: nobody asks. */
    void (*fed)(void *ctx, uint64_t end_off);
    void *ctx;
};

/*
 * A model that has the recording's bytes up to `from` gets those up to `to`, and the
 * sizes on the way; the size at the end is the caller's to set. When that is more than
 * MODEL_REPLAY_MAX bytes, only the last ones of them. 0, or an error when the recording
 * cannot be read: the model is as it was.
 */
int model_catch_up(struct term *t, const struct model_tape *tape, uint64_t from,
                   uint64_t to);

/* Hands the recorded bytes from..to to fn, in pieces, until that returns less than 0.
 * Returns how far it came, which is less than `to` where the recording has no more. */
uint64_t model_copy(const struct model_tape *tape, uint64_t from, uint64_t to,
                    int (*fn)(void *ctx, struct view bytes), void *ctx);

#endif
