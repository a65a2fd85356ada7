/* SPDX-License-Identifier: MIT */
/*
 * recorder_priv.h -- what becomes of bytes: stamped, masked if asked, and on disk before
 * anyone is shown them.
 */
#ifndef HOST_RECORDER_PRIV_H
#define HOST_RECORDER_PRIV_H

#include "host/host.h"
#include "redact/redact.h"

struct recorder {
    struct tape_writer *tape;
    struct clock clock;
    int64_t clock_base_ns; /* how far the wall clock is known to have stepped */
    uint64_t byte_off;     /* of the next byte of output */
    struct redact_stream *out_mask, *in_mask; /* NULL: bytes as they are */
    struct buf masked;
    struct buf stars;
};

/* redact: NULL unless bytes are masked; borrowed. on_news: as tape_writer_options has
 * it. */
int recorder_open(struct recorder *r, const char *tape_path,
                  const struct host_options *opt, struct redact *redact,
                  void (*on_news)(void *ctx), void *ctx, struct err *err);
/* Each returns what may be shown, from r->byte_off as it was before; borrowed until the
 * next call. */
struct view recorder_output(struct recorder *r, struct view bytes);
/* The child has paused: what only may become a secret's first letters. */
struct view recorder_rest(struct recorder *r);
/* The end: what is still held. */
struct view recorder_flush(struct recorder *r);
bool recorder_holds(const struct recorder *r);
/* is_secret: recorded as stars. */
void recorder_input(struct recorder *r, struct view bytes, bool is_secret);
/* Of all bytes that were given to it, also those that are held. */
uint64_t recorder_seen_off(const struct recorder *r);
/* One of a while ago is stamped no earlier than the record before it. */
enum tape_append recorder_snapshot(struct recorder *r, uint64_t id, uint64_t anchor,
                                   struct view label, uint64_t ts_ns);
void recorder_resize(struct recorder *r, uint16_t cols, uint16_t rows);
uint64_t recorder_now_ns(const struct recorder *r);
/* Ends the recording and frees all. */
int recorder_finish(struct recorder *r, struct tape_writer_status *ret, struct err *err);

#endif
