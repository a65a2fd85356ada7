/* SPDX-License-Identifier: MIT */
/* ids_priv.h -- which sessions there are. */
#ifndef LIBRARY_IDS_PRIV_H
#define LIBRARY_IDS_PRIV_H

#include <stdbool.h>

#include "base/buf.h"
#include "session/id.h"

/* One after the other in a buf. */
enum { IDS_STEP = SESSION_ID_LEN + 1 };

/* Appends the ids in <home>/<kind> that begin with prefix; a folder that is missing has
 * none. One that cannot be read is an error: its sessions are not gone. */
int ids_collect(struct buf *ids, const char *home, const char *kind, const char *prefix);
/* All of <home>/sessions. What a killed change has left there is ended first
 * (library_sweep()): what it had put away counts, too. */
int ids_collect_stored(struct buf *ids, const char *home);
/* The oldest day first, each once. */
void ids_sort(struct buf *ids);
const char *ids_at(const struct buf *ids, size_t i);
size_t ids_count(const struct buf *ids);

/* The beginning of its day, here and now, in ns: the start of a session whose files do
 * not tell it. 0: there is no such day. */
uint64_t ids_day_ns(const char *id);

/* -- ids looked up, and marked -- */

struct ids_set {
    const struct buf *ids; /* borrowed; each is in it once */
    uint32_t *slots;
    size_t mask;
    bool *is_marked; /* by place in ids */
};

int ids_set_init(struct ids_set *s, const struct buf *ids);
void ids_set_release(struct ids_set *s);
/* Its place in ids, or SIZE_MAX. It has an id's length. */
size_t ids_set_find(const struct ids_set *s, const char *id);
/* Marks those of other; returns how many it does not have. */
size_t ids_set_mark(struct ids_set *s, const struct buf *other);

#endif
