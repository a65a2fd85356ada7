/* SPDX-License-Identifier: MIT */
#include "tape/brotli.h"

#include <brotli/decode.h>
#include <brotli/encode.h>
#include <errno.h>
#include <stdbool.h>

/* Each piece of memory has its size before it. */
enum { HEAD = 16 };

static void *
take(void *opaque, size_t n)
{
    struct tape_packer *packer = opaque;
    for (size_t i = 0; i < TAPE_PACKER_SPARES; i++) {
        void *p = packer->spare[i].p;
        if (p && packer->spare[i].n >= n && packer->spare[i].n / 2 <= n) {
            packer->spare[i].p = NULL;
            return p;
        }
    }
    uint8_t *p = n > SIZE_MAX - HEAD ? NULL : malloc(HEAD + n);
    if (!p)
        return NULL;
    memcpy(p, &n, sizeof(n));
    return p + HEAD;
}

static void
give_back(void *opaque, void *address)
{
    struct tape_packer *packer = opaque;
    size_t n;
    if (!address)
        return;
    memcpy(&n, (uint8_t *)address - HEAD, sizeof(n));
    for (size_t i = 0; i < TAPE_PACKER_SPARES; i++)
        if (!packer->spare[i].p) {
            packer->spare[i].p = address;
            packer->spare[i].n = n;
            return;
        }
    free((uint8_t *)address - HEAD);
}

void
tape_packer_release(struct tape_packer *packer)
{
    for (size_t i = 0; i < TAPE_PACKER_SPARES; i++)
        if (packer->spare[i].p)
            free((uint8_t *)packer->spare[i].p - HEAD);
    *packer = (struct tape_packer){ 0 };
}

int
tape_deflate(struct tape_packer *packer, struct view in, int quality, struct buf *out)
{
    int r = buf_reserve(out, BrotliEncoderMaxCompressedSize(in.n));
    if (r < 0)
        return r;
    BrotliEncoderState *s = BrotliEncoderCreateInstance(take, give_back, packer);
    if (!s)
        return -ENOMEM;
    size_t room = out->cap - out->n;
    uint8_t *to = out->p + out->n;
    BrotliEncoderSetParameter(s, BROTLI_PARAM_QUALITY, (uint32_t)quality);
    BrotliEncoderSetParameter(s, BROTLI_PARAM_SIZE_HINT, (uint32_t)in.n);
    bool is_done = BrotliEncoderCompressStream(s, BROTLI_OPERATION_FINISH, &in.n, &in.p,
                                               &room, &to, NULL) &&
                   BrotliEncoderIsFinished(s);
    BrotliEncoderDestroyInstance(s);
    if (!is_done)
        return -ENOMEM;
    out->n = (size_t)(to - out->p);
    return 0;
}

int
tape_inflate(struct view in, uint8_t *dst, size_t n)
{
    BrotliDecoderState *s = BrotliDecoderCreateInstance(NULL, NULL, NULL);
    if (!s)
        return -ENOMEM;
    /* A stream that is longer than claimed asks for more room, and is no success. */
    BrotliDecoderResult r = BrotliDecoderDecompressStream(s, &in.n, &in.p, &n, &dst,
                                                          NULL);
    BrotliDecoderErrorCode code = BrotliDecoderGetErrorCode(s);
    BrotliDecoderDestroyInstance(s);
    if (code <= BROTLI_DECODER_ERROR_ALLOC_CONTEXT_MODES &&
        code >= BROTLI_DECODER_ERROR_ALLOC_BLOCK_TYPE_TREES)
        return -ENOMEM;
    return r == BROTLI_DECODER_RESULT_SUCCESS && !in.n && !n ? 0 : -EINVAL;
}

void
tape_brotli_version(struct buf *out)
{
    uint32_t v = BrotliDecoderVersion();
    buf_printf(out, "%u.%u.%u", v >> 24, v >> 12 & 0xfff, v & 0xfff);
}
