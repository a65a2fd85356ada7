/* SPDX-License-Identifier: MIT */
/*
 * feeder_priv.h -- input on its way to the PTY.
 *
 * It is written as fast as the PTY takes it. What was not typed goes through the line
 * discipline so that exactly it arrives (pty/feed.h).
 */
#ifndef HOST_FEEDER_PRIV_H
#define HOST_FEEDER_PRIV_H

#include "host/recorder_priv.h"
#include "pty/feed.h"

struct feeder {
    int master_fd;             /* borrowed */
    struct recorder *recorder; /* borrowed; NULL: input is not recorded */
    bool is_piped;             /* was not typed */
    bool is_end, is_end_sent;  /* the input has ended; so was the child told */
    struct pty_feed feed;
    struct buf waiting; /* as it came */
    size_t waiting_at;
    struct buf ready; /* as the PTY needs it */
    size_t ready_at;
    size_t ready_input; /* bytes of input that `ready` was made of */
};

int feeder_add(struct feeder *f, struct view bytes);
void feeder_end(struct feeder *f);
bool feeder_has_waiting(const struct feeder *f);
/* Bytes of input that nothing has been done about yet. */
size_t feeder_waiting(const struct feeder *f);
/* Part of what belongs together has been written. */
bool feeder_is_begun(const struct feeder *f);
/* Writes what the PTY takes; returns how many bytes of input are now behind us. */
size_t feeder_pump(struct feeder *f);

#endif
