/* SPDX-License-Identifier: MIT */
#include "tape/brotli.h"

#include <brotli/decode.h>
#include <brotli/encode.h>
#include <errno.h>

int
tape_deflate(struct view in, int quality, struct buf *out)
{
    size_t n = BrotliEncoderMaxCompressedSize(in.n);
    int r = buf_reserve(out, n);
    if (r < 0)
        return r;
    n = out->cap - out->n;
    if (!BrotliEncoderCompress(quality, BROTLI_DEFAULT_WINDOW, BROTLI_MODE_GENERIC, in.n,
                               in.p, &n, out->p + out->n))
        return -ENOMEM;
    out->n += n;
    return 0;
}

bool
tape_inflate(struct view in, uint8_t *dst, size_t n)
{
    BrotliDecoderState *s = BrotliDecoderCreateInstance(NULL, NULL, NULL);
    if (!s)
        return false;
    /* One more byte of room than claimed would need a larger buffer: a stream that is
     * longer asks for output space instead, and is not taken for a success. */
    BrotliDecoderResult r = BrotliDecoderDecompressStream(s, &in.n, &in.p, &n, &dst,
                                                          NULL);
    BrotliDecoderDestroyInstance(s);
    return r == BROTLI_DECODER_RESULT_SUCCESS && !in.n && !n;
}
