/* SPDX-License-Identifier: MIT */
/* blobs_priv.h -- many files' bytes out of a shadow repository, one after the other. */
#ifndef SNAP_BLOBS_PRIV_H
#define SNAP_BLOBS_PRIV_H

#include "snap/git_priv.h"

struct snap_blobs {
    struct snap_git git;
    struct view asked; /* not yet sent; borrowed */
    struct buf got;
    size_t at;     /* of it, that is used up */
    uint64_t left; /* of the current one */
    bool has_one;  /* … whose end is not passed yet */
};

/* ids: in hex, a line each; borrowed. */
int snap_blobs_open(struct snap_blobs *ret, const char *repo_path, struct view ids,
                    struct err *err);
/* The next of them, with its size. ERR_DAMAGED: the repository has not got it; the next
 * may be asked for. -EIO: git has ended over it; one opened anew may give those behind
 * it.
 */
int snap_blobs_next(struct snap_blobs *b, uint64_t *ret_size, struct err *err);
/* Its next bytes, good until the next call; none: its end. */
int snap_blobs_read(struct snap_blobs *b, struct view *ret, struct err *err);
/* Whether or not all were read. */
void snap_blobs_close(struct snap_blobs *b);

#endif
