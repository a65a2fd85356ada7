/* SPDX-License-Identifier: MIT */
/* times_priv.h -- when each of a session's lines was last written. */
#ifndef PLAY_TIMES_PRIV_H
#define PLAY_TIMES_PRIV_H

#include "play/report.h"

/* Zeroed it knows of no line. */
struct play_times {
    struct buf stamps;             /* uint64_t: last_write_byte, sorted, each once */
    struct buf times;              /* uint64_t: the stamp of the record with that byte */
    const struct play_time *taken; /* instead of both: of each record; borrowed */
    size_t n_taken;
};

void play_times_release(struct play_times *t);
/* By what was noted when it was loaded; else the recording is read once more, by its
 * records alone. */
int play_times_read(struct play_times *t, const struct play_loaded *l, struct tape_io *io,
                    const char *path, struct err *err);
/* 0: not known, or never written. */
uint64_t play_times_at(const struct play_times *t, uint64_t last_write_byte);

#endif
