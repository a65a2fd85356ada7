/* SPDX-License-Identifier: MIT */
/*
 * iteration_priv.h -- the bytes of an iteration log on disk.
 *
 * The text ends at `end`. While its last line is open a newline stands there, which the
 * next text takes the place of.
 */
#ifndef JOURNAL_ITERATION_PRIV_H
#define JOURNAL_ITERATION_PRIV_H

#include <stdbool.h>

#include "base/buf.h"

struct journal_disk {
    int fd;
    uint64_t end;  /* where the next text goes */
    uint64_t size; /* what the file may hold: more than wanted when it could not be cut */
    bool is_open;  /* the last line is */
};

enum { JOURNAL_NOTE_MAX = 160 }; /* bytes of a line that tells what is missing */

/*
 * Writes the text, not empty, by one call. Where the disk takes only some of it, the
 * whole lines of that stay, but for as much room as a note needs; *ret_done says how many
 * bytes are in the file. 0 or -errno.
 */
int journal_disk_put(struct journal_disk *d, struct view text, size_t *ret_done);
/* The first bytes, in place. */
int journal_disk_head(struct journal_disk *d, struct view head);
/* Gives up whole lines at the end, as many as a note needs; returns how many bytes. */
uint64_t journal_disk_make_room(struct journal_disk *d, uint64_t first);

#endif
