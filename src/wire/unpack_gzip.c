/* SPDX-License-Identifier: MIT */
/*
 * unpack_gzip.c -- gzip (RFC 1952), any number of members one behind the other; deflate,
 * which is zlib's format (RFC 1950) by the book and bare (RFC 1951) from many a server.
 */
#define ZLIB_CONST
#include <errno.h>
#include <zlib.h>

#include "wire/unpack_priv.h"

enum { WINDOW = 15, WINDOW_GZIP = WINDOW + 16, WINDOW_BARE = -WINDOW, MAGIC = 0x1f };

struct zip {
    z_stream z;
    bool is_gzip;
    bool is_begun; /* in a stream; else before one, or behind the last */
    bool has_one;  /* that is whole */
};

static int
open_zip(void **ret, bool is_gzip)
{
    struct zip *g = calloc(1, sizeof(*g));
    if (!g)
        return -ENOMEM;
    g->is_gzip = is_gzip;
    if (inflateInit2(&g->z, is_gzip ? WINDOW_GZIP : WINDOW) != Z_OK) {
        free(g);
        return -ENOMEM;
    }
    *ret = g;
    return 0;
}

static int
open_gzip(void **ret)
{
    return open_zip(ret, true);
}

static int
open_deflate(void **ret)
{
    return open_zip(ret, false);
}

static void
close_zip(void *state)
{
    struct zip *g = state;
    if (g)
        inflateEnd(&g->z);
    free(g);
}

static bool
is_whole(const void *state)
{
    const struct zip *g = state;
    return g->has_one && !g->is_begun;
}

/* Method 8, with a window that exists. Bare this would be a stored block with bits set
 * where all that write them leave zeros. */
static bool
is_zlib(uint8_t first)
{
    return (first & 0x0f) == Z_DEFLATED && first >> 4 <= WINDOW - 8;
}

static int
begin(struct zip *g, uint8_t first)
{
    /* zlib would wait for a second byte. */
    if (g->is_gzip ? first != MAGIC : g->has_one)
        return ERR_DAMAGED;
    g->is_begun = true;
    if (!g->is_gzip && !is_zlib(first))
        return inflateReset2(&g->z, WINDOW_BARE) == Z_OK ? 0 : -ENOMEM;
    return 0;
}

static int
end(struct zip *g)
{
    g->is_begun = false;
    g->has_one = true;
    return inflateReset(&g->z) == Z_OK ? 0 : -ENOMEM;
}

static int
step(void *state, struct view *in, struct wire_room *out)
{
    struct zip *g = state;
    int r = !g->is_begun && in->n ? begin(g, *in->p) : 0;
    if (r < 0)
        return r;
    g->z.next_in = in->p;
    g->z.avail_in = (uInt)in->n;
    g->z.next_out = out->p;
    g->z.avail_out = (uInt)out->n;
    r = inflate(&g->z, Z_NO_FLUSH);
    *in = (struct view){ g->z.next_in, g->z.avail_in };
    *out = (struct wire_room){ g->z.next_out, g->z.avail_out };
    if (r == Z_STREAM_END)
        return end(g);
    bool is_hungry = r == Z_BUF_ERROR && !in->n;
    if (r != Z_OK && !is_hungry)
        return r == Z_MEM_ERROR ? -ENOMEM : ERR_DAMAGED;
    return r == Z_OK && !out->n;
}

const struct wire_codec wire_gzip = {
    .open = open_gzip, .close = close_zip, .step = step, .is_whole = is_whole
};
const struct wire_codec wire_deflate = {
    .open = open_deflate, .close = close_zip, .step = step, .is_whole = is_whole
};
