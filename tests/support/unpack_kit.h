/* SPDX-License-Identifier: MIT */
/*
 * unpack_kit.h -- replies packed by the libraries' own encoders, in all ways that a
 * server has; and undone by ours.
 */
#ifndef UNPACK_KIT_H
#define UNPACK_KIT_H

#include <brotli/encode.h>
#include <zlib.h>
#include <zstd.h>

#include "wire/unpack.h"

/* -- packed -- */

enum pack { PACK_END, PACK_GZIP, PACK_ZLIB, PACK_BARE, PACK_BR, PACK_ZSTD };
enum { PACK_CODECS = 4, PACK_WAYS = 13, PACK_EVENTS = 5 };

/* Ways to pack a reply: one behind the other, up to PACK_END. The first five are alone.
 */
extern const enum pack pack_ways[PACK_WAYS][PACK_CODECS + 1];
/* The texts of an event stream. */
extern const char *const pack_event[PACK_EVENTS];

/* A Content-Encoding. */
const char *pack_name(enum pack how);
/* "br, gzip"; it lies in out. */
const char *pack_names(const enum pack *way, struct buf *out);

struct packer {
    enum pack how;
    z_stream z;
    BrotliEncoderState *br;
    ZSTD_CCtx *zstd;
};

void packer_init(struct packer *p, enum pack how);
void packer_release(struct packer *p);
/* With a flush behind it, or the end. */
void packer_put(struct packer *p, struct view in, bool is_last, struct buf *out);

struct pack_chain {
    size_t n;
    struct packer p[PACK_CODECS];
};

void pack_chain_init(struct pack_chain *c, const enum pack *way);
void pack_chain_release(struct pack_chain *c);
/* What one gives at the flush is what the next one flushes. */
void pack_chain_put(struct pack_chain *c, struct view in, bool is_last, struct buf *out);

/* Whole streams. */
void pack_one(enum pack how, struct view in, struct buf *out);
void pack_all(const enum pack *way, struct view in, struct buf *out);
/* … of n zeros */
void pack_zeros(const enum pack *way, size_t n, struct buf *out);

/* All events, one behind the other. */
void pack_events(struct buf *out);

static inline struct view
pack_view(const struct buf *b)
{
    return (struct view){ b->p, b->n };
}

/* -- and undone -- */

enum {
    UNDO_PIECE = 64 << 10,
    UNDO_FREE = 1 << 20,
    UNDO_SLICE = 1 << 10,
    UNDO_RATIO = 1000,
};

struct undone {
    struct buf text;
    uint64_t count; /* bytes that came */
    int result;     /* of the last call */
    bool is_whole;
};

void undone_release(struct undone *u);

/* For wire_unpack_feed(), with a struct undone; the second leaves its text empty. */
int undo_take(void *ctx, struct view bytes);
int undo_count(void *ctx, struct view bytes);

struct wire_unpack *undo_open(const char *encoding);
/* From memory of its own, so that a sanitizer sees who reads behind it. */
void undo_feed(struct wire_unpack *u, struct view bytes, wire_unpack_fn fn,
               struct undone *ret);
/* In pieces of `step` bytes; 0: in one. */
void undo(const char *encoding, struct view bytes, size_t step, wire_unpack_fn fn,
          struct undone *ret);
/* The most that may come of n bytes. */
uint64_t undo_limit(size_t n);

/* Fail the test unless it is all of this, and whole; or its beginning. */
void undo_assert_text(const struct undone *u, struct view want);
void undo_assert_prefix(const struct undone *u, struct view of);
/* … unless these bytes give that text, cut into two anywhere, and byte by byte. */
void undo_assert_cut(const char *encoding, struct view bytes, struct view want);

#endif
