/* SPDX-License-Identifier: MIT */
#define ZLIB_CONST
#include "gz/stream_priv.h"

#include <errno.h>
#include <limits.h>
#include <sys/types.h>
#include <zlib.h>

#include "gz/read.h"

enum {
    /* Of journals (bench_archive.py): 1 is a fifth larger and half as slow, 9 a fifteenth
     * smaller and more than twice as slow. */
    LEVEL = 6,
    WINDOW_GZIP = 15 + 16, /* the largest window, in the gzip format */
    MEMORY = 9,            /* 8 is zlib's, 9 the most: a little smaller and faster */
    ROOM = 64 << 10,       /* of out, for one step */
    OS_UNIX = 3,
};

/* zlib's counts are narrower than ours. */
static uInt
narrow(size_t n)
{
    return n < UINT_MAX ? (uInt)n : UINT_MAX;
}

const char *
gz_version(void)
{
    return zlibVersion();
}

/* -- out of it -- */

struct gz_inflater {
    z_stream z;
    bool is_begun; /* in a member; else before one, or behind the last */
    bool has_one;  /* that is whole */
    bool is_full;  /* there was no room for all: more may come without more input */
    int failed;    /* it is of no use any more */
};

int
gz_inflater_new(struct gz_inflater **ret)
{
    struct gz_inflater *g = calloc(1, sizeof(*g));
    if (!g)
        return -ENOMEM;
    if (inflateInit2(&g->z, WINDOW_GZIP) != Z_OK) {
        free(g);
        return -ENOMEM;
    }
    *ret = g;
    return 0;
}

void
gz_inflater_free(struct gz_inflater *g)
{
    if (g)
        inflateEnd(&g->z);
    free(g);
}

bool
gz_inflater_is_done(const struct gz_inflater *g)
{
    return g->has_one && !g->is_begun;
}

/* One step: Z_OK, or why not. */
static int
step(struct gz_inflater *g, struct view *in, uint8_t *p, size_t n)
{
    g->z.next_in = in->p;
    g->z.avail_in = narrow(in->n);
    g->z.next_out = p;
    g->z.avail_out = narrow(n);
    g->is_begun = true;
    int r = inflate(&g->z, Z_NO_FLUSH);
    in->n -= (size_t)(g->z.next_in - in->p);
    in->p = g->z.next_in;
    return r;
}

/* What a step has met, which stands behind what it gave. */
static int
judge(struct gz_inflater *g, int r, const struct view *in)
{
    bool is_hungry = r == Z_BUF_ERROR && !in->n;
    g->is_full = r == Z_OK && !g->z.avail_out;
    if (r == Z_STREAM_END) {
        g->is_begun = false;
        g->has_one = true;
        r = inflateReset(&g->z);
    }
    return r == Z_OK || is_hungry ? 0 : r == Z_MEM_ERROR ? -ENOMEM : ERR_DAMAGED;
}

ssize_t
gz_inflate(struct gz_inflater *g, struct view *in, uint8_t *p, size_t n)
{
    while (!g->failed && (in->n || g->is_full)) {
        int r = step(g, in, p, n);
        ssize_t got = g->z.next_out - p;
        g->failed = judge(g, r, in);
        if (got > 0)
            return got;
    }
    return g->failed;
}

/* -- into it -- */

struct gz_deflater {
    z_stream z;
    gz_header head;
};

int
gz_deflater_new(struct gz_deflater **ret, const char *name, uint64_t mtime)
{
    struct gz_deflater *g = calloc(1, sizeof(*g));
    if (!g)
        return -ENOMEM;
    if (deflateInit2(&g->z, LEVEL, Z_DEFLATED, WINDOW_GZIP, MEMORY, Z_DEFAULT_STRATEGY) !=
        Z_OK) {
        free(g);
        return -ENOMEM;
    }
    memcpy(&g->head.name, &name, sizeof(name)); /* it is not written to */
    g->head.time = mtime <= UINT32_MAX ? (uLong)mtime : 0;
    g->head.os = OS_UNIX;
    (void)deflateSetHeader(&g->z, &g->head);
    *ret = g;
    return 0;
}

void
gz_deflater_free(struct gz_deflater *g)
{
    if (g)
        deflateEnd(&g->z);
    free(g);
}

int
gz_deflate(struct gz_deflater *g, struct view in, bool is_last, struct buf *out)
{
    int r;
    do {
        if (buf_reserve(out, ROOM) < 0)
            return out->failed;
        g->z.next_in = in.p;
        g->z.avail_in = narrow(in.n);
        g->z.next_out = out->p + out->n;
        g->z.avail_out = ROOM;
        r = deflate(&g->z, is_last && in.n <= UINT_MAX ? Z_FINISH : Z_NO_FLUSH);
        in.n -= (size_t)(g->z.next_in - in.p);
        in.p = g->z.next_in;
        out->n += ROOM - g->z.avail_out;
        if (r == Z_STREAM_ERROR)
            return -EINVAL;
    } while (in.n || !g->z.avail_out || (is_last && r != Z_STREAM_END));
    return 0;
}
