/* SPDX-License-Identifier: MIT */
/*
 * texts_priv.h -- literal texts, all of them looked for at once.
 *
 * Blanks are not compared but counted: where a line was wrapped, those of a text may be
 * gone, and others may have come. Everything else is bytes.
 */
#ifndef REDACT_TEXTS_PRIV_H
#define REDACT_TEXTS_PRIV_H

#include <stdbool.h>

#include "base/buf.h"

struct lane;
struct texts;

/* 0 or -ENOMEM. Each is at most REDACT_TEXT_MAX bytes, of which the first and the last
 * are no blanks. The bytes are copied. */
int texts_new(struct texts **ret, const struct view *v, size_t n);
void texts_free(struct texts *t);
size_t texts_size_bytes(const struct texts *t);

/* Where a scan stands. Zeroed it is at the beginning. */
struct texts_at {
    uint32_t node;    /* what of the texts the last bytes may be the beginning of */
    uint64_t start;   /* and where that begins */
    uint64_t gap_end; /* behind the last blank since */
    uint64_t end;     /* behind the last byte that was none */
    uint32_t blanks;  /* that came last */
};

/* The bytes from `base` on; wraps: in this lane, or NULL. */
struct texts_input {
    struct view bytes;
    uint64_t base;
    const struct lane *wraps;
};

typedef void (*texts_found_fn)(void *ctx, uint64_t start, uint64_t end);

/* Goes on from offset `from` to the end of the input. What lies before at->start is not
 * needed any more. */
void texts_scan(const struct texts *t, struct texts_at *at, const struct texts_input *in,
                uint64_t from, texts_found_fn fn, void *ctx);
/* Gives up what begins first; what begins later may still be found. */
void texts_give_up(const struct texts *t, struct texts_at *at,
                   const struct texts_input *in);
/* How many bytes of a text, without its blanks, have come; 0: none. */
size_t texts_begun(const struct texts *t, const struct texts_at *at);

/* -- texts_lane.c: in the lanes of a stream -- */

/* A find, in raw offsets. Those that overlap are one: a byte may end a thousand. */
void texts_lane_add(struct lane *l, uint64_t start, uint64_t end);
int texts_lane_settle(struct lane *l, uint64_t raw_end, bool is_end);
uint64_t texts_lane_hold(const struct lane *l);

#endif
