/* SPDX-License-Identifier: MIT */
/* torn_priv.h -- keeps bytes that repair is about to cut off, as NAME.torn (.torn.1, …).
 */
#ifndef TAPE_TORN_PRIV_H
#define TAPE_TORN_PRIV_H

#include "tape/io.h"

struct torn_span {
    const char *file; /* borrowed */
    uint64_t off, len;
};

/* One file with the spans behind each other, synced. The same bytes are not kept twice.
 */
int torn_keep(struct tape_io *io, const char *path, const struct torn_span *spans,
              size_t n);

#endif
