/* SPDX-License-Identifier: MIT */
/*
 * unpack_zstd.c -- zstd (RFC 8878): any number of frames one behind the other, each with
 * a window of at most 8 MiB, as RFC 9659 asks of who sends them over HTTP.
 */
#include <errno.h>
#include <zstd.h>
#include <zstd_errors.h>

#include "wire/unpack_priv.h"

enum {
    WINDOW_LOG = 23,
    MAGIC = 4,
    HEADER = 3, /* of a block */
};

struct zstd {
    ZSTD_DStream *stream;
    size_t seen;  /* of a frame's magic number */
    bool is_skip; /* … which is that of one to be skipped */
    size_t hint;  /* the library's: what it needs next; 0: a frame has just ended */
    bool is_full; /* there was no room: more may come without more input */
};

static void
close_zstd(void *state)
{
    struct zstd *z = state;
    if (z)
        ZSTD_freeDStream(z->stream);
    free(z);
}

static int
open_zstd(void **ret)
{
    struct zstd *z = calloc(1, sizeof(*z));
    if (!z)
        return -ENOMEM;
    z->stream = ZSTD_createDStream();
    if (!z->stream || ZSTD_isError(ZSTD_DCtx_setParameter(z->stream, ZSTD_d_windowLogMax,
                                                          WINDOW_LOG))) {
        close_zstd(z);
        return -ENOMEM;
    }
    z->hint = MAGIC;
    *ret = z;
    return 0;
}

static bool
is_whole(const void *state)
{
    const struct zstd *z = state;
    return !z->hint;
}

/* The library knows formats that were before the standard; here they are none. */
static bool
is_magic(struct zstd *z, uint8_t byte)
{
    static const uint8_t frame[MAGIC] = { 0x28, 0xb5, 0x2f, 0xfd };
    static const uint8_t skip[MAGIC] = { 0x50, 0x2a, 0x4d, 0x18 };
    if (!z->seen)
        z->is_skip = (byte & 0xf0) == skip[0];
    else if (z->is_skip)
        return byte == skip[z->seen];
    return z->is_skip || byte == frame[z->seen];
}

/*
 * How much of n bytes to hand over: a block, then the header of the next, as at an error
 * the library does not tell what it has put out in the same call. It hints at a block and
 * the header behind it, both in one.
 */
static size_t
portion(const struct zstd *z, size_t n)
{
    size_t need = z->seen < MAGIC ? 1 : z->hint > HEADER ? z->hint - HEADER : z->hint;
    return need < n ? need : n;
}

static int
step(void *state, struct view *in, struct wire_room *out)
{
    struct zstd *z = state;
    ZSTD_inBuffer from = { in->p, z->is_full ? 0 : portion(z, in->n), 0 };
    ZSTD_outBuffer to = { out->p, out->n, 0 };
    if (from.size && z->seen < MAGIC) {
        if (!is_magic(z, *in->p))
            return ERR_DAMAGED;
        z->seen++;
    }
    size_t r = ZSTD_decompressStream(z->stream, &to, &from);
    *in = (struct view){ in->p + from.pos, in->n - from.pos };
    *out = (struct wire_room){ out->p + to.pos, out->n - to.pos };
    if (ZSTD_isError(r))
        return ZSTD_getErrorCode(r) == ZSTD_error_memory_allocation ? -ENOMEM
                                                                    : ERR_DAMAGED;
    z->is_full = !out->n;
    z->hint = r;
    if (!r)
        z->seen = 0;
    return z->is_full;
}

const struct wire_codec wire_zstd = {
    .open = open_zstd, .close = close_zstd, .step = step, .is_whole = is_whole
};
