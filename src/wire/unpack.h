/* SPDX-License-Identifier: MIT */
/*
 * unpack.h -- a reply's Content-Encoding undone, as its bytes come: gzip, deflate (zlib's
 * and bare), br, zstd, and several of them in a row. For the record only: the client gets
 * the bytes as they are.
 */
#ifndef WIRE_UNPACK_H
#define WIRE_UNPACK_H

#include <stdbool.h>

#include "base/buf.h"

struct wire_unpack;

/* `encoding` is the header's value ("gzip", "br, gzip"; empty or "identity": as it is).
 * ERR_USAGE: one is not known, or there are more than four. */
int wire_unpack_new(struct wire_unpack **ret, struct view encoding);
void wire_unpack_free(struct wire_unpack *u);

/* An error (< 0) ends the call and is returned. */
typedef int (*wire_unpack_fn)(void *ctx, struct view bytes);
/* Hands out, in pieces of at most 64 KiB, all that can be decoded by now (a stream that
 * was flushed after each event gives each event at once). ERR_DAMAGED: it is no such
 * stream, or goes on behind its end; ERR_LIMIT: more than 1000 times as much came out as
 * went in (of that each begun KiB counts; the first MiB that comes out is free), or over
 * 4 GiB. After an error, nothing more. */
int wire_unpack_feed(struct wire_unpack *u, struct view bytes, wire_unpack_fn fn,
                     void *ctx);
/* Has the stream been whole? What is as it is always has; else not before its end. */
bool wire_unpack_is_whole(const struct wire_unpack *u);

#endif
