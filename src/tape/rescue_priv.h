/* SPDX-License-Identifier: MIT */
/*
 * rescue_priv.h -- a file that lost its name, made again from its open descriptor.
 *
 * The new file is made at once, so that nobody else takes the name, and filled in small
 * steps: whoever has other work does it between them. What is written to the old one
 * meanwhile is copied, too.
 */
#ifndef TAPE_RESCUE_PRIV_H
#define TAPE_RESCUE_PRIV_H

#include "tape/io.h"
#include "tape/names.h"

struct rescue {
    int fd;                   /* of the new file, locked; -1: none is being made */
    uint64_t off;             /* bytes before it are copied */
    char path[TAPE_PATH_MAX]; /* what it is called */
};

/* At path; when that is taken (or known to be), at the first free NAME.kept. */
int rescue_begin(struct rescue *r, struct tape_io *io, const char *path, const char *name,
                 bool is_taken);
/* Copies some of the bytes of `from` that lie before end. 1: all are there now. */
int rescue_step(struct rescue *r, struct tape_io *io, int from, uint64_t end);
/* Gives the attempt up; what there is of the file goes, or stays as the best there is. */
void rescue_abandon(struct rescue *r, struct tape_io *io, bool is_kept);

#endif
