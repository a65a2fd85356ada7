/* SPDX-License-Identifier: MIT */
/*
 * unpack_priv.h -- one content coding undone: what unpack.c knows of a codec.
 *
 * A new codec is one file, its declaration here and a line in unpack.c's table.
 */
#ifndef WIRE_UNPACK_PRIV_H
#define WIRE_UNPACK_PRIV_H

#include "wire/unpack.h"

/* Room for bytes, which becomes less as they are put there. */
struct wire_room {
    uint8_t *p;
    size_t n;
};

struct wire_codec {
    int (*open)(void **ret);
    void (*close)(void *state); /* NULL is fine */
    /*
     * Takes bytes off *in, of which there are at most 64 KiB, and puts bytes to *out. It
     * is called until all were taken and 0 is returned: then it needs more. 1: there may
     * be more to put, without another byte. ERR_DAMAGED, -ENOMEM: it cannot go on; what
     * was put before holds, and it is not called again.
     */
    int (*step)(void *state, struct view *in, struct wire_room *out);
    /* May the stream end here? */
    bool (*is_whole)(const void *state);
};

extern const struct wire_codec wire_gzip, wire_deflate, wire_brotli, wire_zstd;

#endif
