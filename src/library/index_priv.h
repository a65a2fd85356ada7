/* SPDX-License-Identifier: MIT */
/* index_priv.h -- what index, pending and reindex do for each other. */
#ifndef LIBRARY_INDEX_PRIV_H
#define LIBRARY_INDEX_PRIV_H

#include "library/index.h"

/* library_index(); *ret_is_store: when it fails, was it the library, and not the session?
 */
int index_session(struct store *s, const char *home, const char *id, unsigned wait_ms,
                  struct redact *redact, const struct tape_progress *progress,
                  struct library_indexed *ret, bool *ret_is_store, struct err *err);
/* Each of them; stops only when the library fails. */
int index_list(struct store *s, const char *home, const struct buf *ids, unsigned wait_ms,
               struct redact *redact, library_each_fn each, void *ctx, struct err *err);
/* Its rows out of s, in a change of its own. */
int index_drop(struct store *s, const char *id, struct err *err);

#endif
