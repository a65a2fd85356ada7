/* SPDX-License-Identifier: MIT */
/* unpack_brotli.c -- br (RFC 7932): one stream, a window of at most 16 MiB. */
#include <brotli/decode.h>
#include <errno.h>

#include "wire/unpack_priv.h"

struct brotli {
    BrotliDecoderState *decoder;
    bool is_over;
};

static void
close_brotli(void *state)
{
    struct brotli *b = state;
    if (b)
        BrotliDecoderDestroyInstance(b->decoder);
    free(b);
}

static int
open_brotli(void **ret)
{
    struct brotli *b = calloc(1, sizeof(*b));
    if (!b)
        return -ENOMEM;
    b->decoder = BrotliDecoderCreateInstance(NULL, NULL, NULL);
    if (!b->decoder) {
        free(b);
        return -ENOMEM;
    }
    *ret = b;
    return 0;
}

static bool
is_whole(const void *state)
{
    const struct brotli *b = state;
    return b->is_over;
}

static int
why(const struct brotli *b)
{
    BrotliDecoderErrorCode code = BrotliDecoderGetErrorCode(b->decoder);
    bool is_memory = code <= BROTLI_DECODER_ERROR_ALLOC_CONTEXT_MODES &&
                     code >= BROTLI_DECODER_ERROR_ALLOC_BLOCK_TYPE_TREES;
    return is_memory ? -ENOMEM : ERR_DAMAGED;
}

/* At an error the decoder keeps to itself what it made of these bytes before. When it
 * says that it needs more of them, it may still have something that there was no room
 * for. */
static int
step(void *state, struct view *in, struct wire_room *out)
{
    struct brotli *b = state;
    if (b->is_over)
        return in->n ? ERR_DAMAGED : 0;
    BrotliDecoderResult r = BrotliDecoderDecompressStream(b->decoder, &in->n, &in->p,
                                                          &out->n, &out->p, NULL);
    b->is_over = r == BROTLI_DECODER_RESULT_SUCCESS;
    if (r == BROTLI_DECODER_RESULT_ERROR)
        return why(b);
    return !out->n;
}

const struct wire_codec wire_brotli = {
    .open = open_brotli, .close = close_brotli, .step = step, .is_whole = is_whole
};
