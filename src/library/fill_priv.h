/* SPDX-License-Identifier: MIT */
/*
 * fill_priv.h -- a session's text into the library, piece by piece, and out of it again.
 *
 * All in a change that the caller has begun.
 */
#ifndef LIBRARY_FILL_PRIV_H
#define LIBRARY_FILL_PRIV_H

#include "library/index.h"
#include "play/report.h"

/* The final lines of a recording, masked, and how many they were. path: where it lies,
 * for the times. */
int fill_lines(struct store *s, int64_t key, const struct play_loaded *loaded,
               const char *path, struct redact *redact, struct library_indexed *ret,
               struct err *err);
/* The moments between them, masked. */
int fill_moments(struct store *s, int64_t key, const struct play_events *events,
                 struct redact *redact, struct err *err);
/* The session with its pieces, and all else; nothing when it is not there. */
int fill_remove(struct store *s, const char *id, struct err *err);

#endif
