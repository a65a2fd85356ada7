/* SPDX-License-Identifier: MIT */
/* brotli.h -- the one place that knows the compressor. */
#ifndef TAPE_BROTLI_H
#define TAPE_BROTLI_H

#include <stdbool.h>

#include "base/buf.h"

/* Appends one Brotli stream of `in` to out; 0, -ENOMEM or ERR_LIMIT. */
int tape_deflate(struct view in, int quality, struct buf *out);
/*
 * True when `in` is exactly one Brotli stream of exactly n bytes, now at dst. Never
 * writes more than n bytes; stops as soon as the stream turns out longer.
 */
bool tape_inflate(struct view in, uint8_t *dst, size_t n);

#endif
