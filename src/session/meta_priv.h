/* SPDX-License-Identifier: MIT */
/* meta_priv.h -- the reading side of meta.h over bytes, for it and for its tests. */
#ifndef SESSION_META_PRIV_H
#define SESSION_META_PRIV_H

#include "session/meta.h"

/* ERR_DAMAGED for what is no object. */
int meta_parse(struct view text, struct session_facts *ret);
int meta_tell(struct view text, struct session_told *ret);
int meta_each(struct view text, session_fact_fn fn, void *ctx);
int meta_json(struct view text, struct buf *ret);
/* Appends the text of an interrupted session's meta, made of `text`; p NULL: there was
 * none. ERR_DAMAGED for what is no object. */
int meta_interrupt(struct view text, const char *id, uint64_t total_bytes,
                   uint64_t ended_at_ns, struct buf *ret);
int meta_learn(struct view text, const struct session_learnt *learnt, struct buf *ret);
/* Appends `text` with another name, or NULL: none. ERR_DAMAGED for what is no object. */
int meta_rename(struct view text, const char *name, struct buf *ret);

#endif
