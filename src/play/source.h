/* SPDX-License-Identifier: MIT */
/*
 * source.h -- bytes that come from somewhere, looked at before they are taken.
 *
 * However the reads behind it cut them, those who take from it see the same.
 */
#ifndef PLAY_SOURCE_H
#define PLAY_SOURCE_H

#include <stdbool.h>
#include <sys/types.h>

#include "base/buf.h"

/* A count, 0 at the end, or -errno. */
typedef ssize_t (*play_read_fn)(void *ctx, void *p, size_t n);

/* read and ctx are the caller's; all else zero. */
struct play_source {
    play_read_fn read;
    void *ctx;
    uint64_t offset; /* of the next byte to be taken */
    int error;       /* the first that a read gave; the source ends there */
    bool is_ended;   /* private, as are: */
    struct buf ahead;
    size_t at;
};

void play_source_release(struct play_source *s);
/* At least n bytes, less only at the end, and maybe more; borrowed until the next call.
 * n: at most some MiB. */
struct view play_source_peek(struct play_source *s, size_t n);
/* Takes n of those that were peeked at. */
void play_source_take(struct play_source *s, size_t n);
/* A line of at most max bytes, taken, without its newline; borrowed until the next call.
 * The last may lack the newline. 1; 0 at the end; ERR_LIMIT for a longer one, which is
 * taken in silence. */
int play_source_line(struct play_source *s, size_t max, struct view *ret);

#endif
