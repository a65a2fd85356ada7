/* SPDX-License-Identifier: MIT */
/* zstd.c -- the zstd format, bytes out of it; all of gz that knows the library. */
#include "gz/zstd.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <zstd.h>

#include "base/file.h"

enum { CHUNK = 64 << 10, WINDOW_LOG_MAX = 27 };

struct gz_zstd {
    int fd;
    ZSTD_DStream *stream;
    ZSTD_inBuffer in;
    size_t hint; /* 0: a frame has just ended */
    bool is_over, is_damaged;
    uint8_t chunk[CHUNK];
};

bool
gz_zstd_fits(struct view beginning)
{
    return beginning.n >= 4 && !memcmp(beginning.p, "\x28\xb5\x2f\xfd", 4);
}

int
gz_zstd_new(struct gz_zstd **ret, int fd)
{
    struct gz_zstd *z = calloc(1, sizeof(*z));
    if (!z)
        return -ENOMEM;
    z->fd = fd;
    z->stream = ZSTD_createDStream();
    if (!z->stream || ZSTD_isError(ZSTD_DCtx_setParameter(z->stream, ZSTD_d_windowLogMax,
                                                          WINDOW_LOG_MAX))) {
        gz_zstd_free(z);
        return -ENOMEM;
    }
    z->in.src = z->chunk;
    *ret = z;
    return 0;
}

void
gz_zstd_free(struct gz_zstd *z)
{
    if (!z)
        return;
    ZSTD_freeDStream(z->stream);
    free(z);
}

static ssize_t
fill(struct gz_zstd *z)
{
    ssize_t n = file_read(z->fd, z->chunk, sizeof(z->chunk));
    if (n < 0)
        return n;
    z->in.pos = 0;
    z->in.size = (size_t)n;
    z->is_over = n == 0;
    return n;
}

ssize_t
gz_zstd_read(struct gz_zstd *z, void *p, size_t n)
{
    ZSTD_outBuffer out = { p, n, 0 };
    while (n && !out.pos && !z->is_damaged) {
        ssize_t r = z->in.pos == z->in.size && !z->is_over ? fill(z) : 0;
        if (r < 0)
            return r;
        if (z->is_over && !z->hint)
            return 0;
        size_t before = z->in.pos;
        z->hint = ZSTD_decompressStream(z->stream, &out, &z->in);
        bool is_stuck = z->is_over && !out.pos && z->in.pos == before;
        z->is_damaged = ZSTD_isError(z->hint) || is_stuck;
    }
    return z->is_damaged ? ERR_DAMAGED : (ssize_t)out.pos;
}
