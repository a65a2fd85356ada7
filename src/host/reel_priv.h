/* SPDX-License-Identifier: MIT */
/*
 * reel_priv.h -- what every client is shown, once: the latest frames of output and of all
 * that must stand in order with it.
 *
 * A position counts the bytes of all frames ever put. Who is behind the oldest one that
 * is kept has to be skipped forward. Frames stay whole.
 */
#ifndef HOST_REEL_PRIV_H
#define HOST_REEL_PRIV_H

#include "ipc/message.h"

enum { REEL_KEEP = 2 << 20 }; /* bytes that a client may lag behind */

struct reel {
    struct buf b;
    uint64_t start; /* position of b's first byte: the beginning of a frame */
};

int reel_put(struct reel *r, const struct ipc_message *m);
uint64_t reel_end(const struct reel *r);
/* What stands from pos on; pos is one that is kept. */
struct view reel_from(const struct reel *r, uint64_t pos);
/* The end of the frame that begins at pos. */
uint64_t reel_frame_end(const struct reel *r, uint64_t pos);
/* The offset of the first output from the frame at pos on; `off` where there is none. */
uint64_t reel_output_from(const struct reel *r, uint64_t pos, uint64_t off);
/* When it has become too long: where it should begin, else its start. */
uint64_t reel_wanted_start(const struct reel *r);
/* Nobody needs what is before pos, the beginning of a frame or the end. */
void reel_forget(struct reel *r, uint64_t pos);
void reel_release(struct reel *r);

#endif
