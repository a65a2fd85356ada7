/* SPDX-License-Identifier: MIT */
/* ids_priv.h -- which sessions there are. */
#ifndef LIBRARY_IDS_PRIV_H
#define LIBRARY_IDS_PRIV_H

#include "base/buf.h"
#include "session/id.h"

/* One after the other in a buf. */
enum { IDS_STEP = SESSION_ID_LEN + 1 };

/* Appends the ids in <home>/<kind> that begin with prefix; a folder that is missing or
 * cannot be read has none. */
int ids_collect(struct buf *ids, const char *home, const char *kind, const char *prefix);
/* The oldest day first, each once. */
void ids_sort(struct buf *ids);
const char *ids_at(const struct buf *ids, size_t i);
size_t ids_count(const struct buf *ids);

#endif
