/* SPDX-License-Identifier: MIT */
/*
 * chunks.h -- a body in chunks (RFC 9112, 7.1) out of its framing, strictly. Extensions
 * and trailers are passed over, within limits. Pure.
 */
#ifndef WIRE_CHUNKS_H
#define WIRE_CHUNKS_H

#include "base/buf.h"

/* Bytes of a size with its extensions, and of all trailers with their line ends. */
enum { WIRE_CHUNK_LINE_MAX = 4 << 10, WIRE_TRAILERS_MAX = 16 << 10 };

/* Zeroed it is at the beginning. */
struct wire_chunks {
    unsigned state; /* internal */
    unsigned count; /* bytes of the line, or of the trailers, so far */
    uint64_t left;  /* of the chunk */
};

/*
 * Takes from *rest. 1: *ret_data is data (borrowed, not empty; call again at once). 0:
 * all was taken and more is needed. 2: that was the end, and what is left in *rest
 * belongs to whatever follows; it stays so. ERR_DAMAGED: it is no body in chunks, *rest
 * begins with the byte that shows it; it stays so.
 */
int wire_chunks_next(struct wire_chunks *c, struct view *rest, struct view *ret_data);

#endif
