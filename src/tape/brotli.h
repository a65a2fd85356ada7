/* SPDX-License-Identifier: MIT */
/* brotli.h -- the one place that knows the compressor. */
#ifndef TAPE_BROTLI_H
#define TAPE_BROTLI_H

#include "base/buf.h"

enum { TAPE_PACKER_SPARES = 8 };

/* Memory that the compressor has given back, for its next use: it asks for the same
 * megabytes with each block. Zero-initialised; may be used from one thread at a time. */
struct tape_packer {
    struct {
        void *p;
        size_t n;
    } spare[TAPE_PACKER_SPARES];
};

void tape_packer_release(struct tape_packer *packer);
/* Appends one Brotli stream of `in` to out; 0, -ENOMEM or ERR_LIMIT. */
int tape_deflate(struct tape_packer *packer, struct view in, int quality,
                 struct buf *out);
/*
 * 0 when `in` is exactly one Brotli stream of exactly n bytes, now at dst; -EINVAL when
 * it is not, or -ENOMEM. Never writes more than n bytes; stops as soon as the stream
 * turns out longer.
 */
int tape_inflate(struct view in, uint8_t *dst, size_t n);
/* Of Brotli: appended. */
void tape_brotli_version(struct buf *out);

#endif
