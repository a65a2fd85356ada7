/* SPDX-License-Identifier: MIT */
/*
 * still_priv.h -- a file as it was at one moment.
 *
 * It is read between two equal looks. That proves something only if no write is under way
 * when the first look is taken, since a write sets the times when it begins: so the last
 * change must be SNAP_REST_NS old, or nobody may have the file open for writing, which a
 * lease that is asked for and given back tells. And a later write must give other times,
 * so the clock must have moved on since the last change.
 *
 * Whoever writes through a mapping of the file is not seen.
 */
#ifndef SNAP_STILL_PRIV_H
#define SNAP_STILL_PRIV_H

#include "snap/import_priv.h"
#include "snap/walk_priv.h"

#define SNAP_REST_NS    UINT64_C(2000000000)
#define SNAP_GRANULE_NS UINT64_C(20000000) /* two ticks of the slowest clock */

enum snap_still {
    SNAP_READ,
    SNAP_LATER, /* it was changed a moment ago, or just now: worth another try */
    SNAP_LOST,  /* it is gone */
    SNAP_REFUSED,
};

struct snap_reader {
    int root_fd;
    uint64_t file_bytes_max;
    struct snap_import *import;
    struct buf bytes;
};

/* One file, over all tries. */
struct snap_try {
    const char *path;      /* from the root; borrowed */
    struct snap_look look; /* when it was read, else when it was last tried */
    uint64_t since_ns;     /* that look is known since then (clock_mono_ns()); 0: never */
    uint64_t blob;         /* if it was read */
    enum snap_reason why;  /* if it was refused */
};

enum snap_still snap_still_read(struct snap_reader *r, struct snap_try *t);
/* A link's target becomes a blob, once its look is settled. */
enum snap_still snap_still_link(struct snap_reader *r, struct snap_try *t);
void snap_reader_release(struct snap_reader *r);

/* Would a change from now on give another look? */
bool snap_look_is_settled(const struct snap_look *l);

#endif
