/* SPDX-License-Identifier: MIT */
/* unpack_kit.c -- replies packed, and undone. */
#define ZLIB_CONST
#include "support/unpack_kit.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>

#include <cmocka.h>

#include "support/text_view.h"

const enum pack pack_ways[PACK_WAYS][PACK_CODECS + 1] = {
    { PACK_GZIP },
    { PACK_ZLIB },
    { PACK_BARE },
    { PACK_BR },
    { PACK_ZSTD },
    { PACK_BR, PACK_GZIP },
    { PACK_GZIP, PACK_BR },
    { PACK_ZSTD, PACK_GZIP },
    { PACK_BR, PACK_ZSTD },
    { PACK_BARE, PACK_ZSTD },
    { PACK_ZSTD, PACK_ZSTD },
    { PACK_GZIP, PACK_GZIP },
    { PACK_GZIP, PACK_BR, PACK_ZLIB, PACK_ZSTD },
};

const char *const pack_event[PACK_EVENTS] = {
    "event: message_start\ndata: {\"type\":\"message_start\"}\n\n",
    "event: content_block_delta\ndata: {\"delta\":{\"text\":\"Hello\"}}\n\n",
    "event: content_block_delta\ndata: {\"delta\":{\"text\":\", world\"}}\n\n",
    ": ping\n\n",
    "event: message_stop\ndata: {\"type\":\"message_stop\"}\n\n",
};

const char *
pack_name(enum pack how)
{
    static const char *const names[] = {
        [PACK_END] = "",         [PACK_GZIP] = "gzip", [PACK_ZLIB] = "deflate",
        [PACK_BARE] = "deflate", [PACK_BR] = "br",     [PACK_ZSTD] = "zstd",
    };
    return names[how];
}

const char *
pack_names(const enum pack *way, struct buf *out)
{
    for (size_t i = 0; way[i]; i++)
        buf_printf(out, "%s%s", i ? ", " : "", pack_name(way[i]));
    return buf_str(out);
}

/* -- one -- */

void
packer_init(struct packer *p, enum pack how)
{
    *p = (struct packer){ .how = how };
    int window = how == PACK_GZIP ? 15 + 16 : how == PACK_BARE ? -15 : 15;
    if (how == PACK_BR) {
        p->br = BrotliEncoderCreateInstance(NULL, NULL, NULL);
        BrotliEncoderSetParameter(p->br, BROTLI_PARAM_QUALITY, 5);
        BrotliEncoderSetParameter(p->br, BROTLI_PARAM_LGWIN, 18);
    } else if (how == PACK_ZSTD) {
        p->zstd = ZSTD_createCCtx();
        ZSTD_CCtx_setParameter(p->zstd, ZSTD_c_checksumFlag, 1);
    } else {
        assert_int_equal(deflateInit2(&p->z, 6, Z_DEFLATED, window, 8, 0), Z_OK);
    }
}

void
packer_release(struct packer *p)
{
    if (p->how == PACK_BR)
        BrotliEncoderDestroyInstance(p->br);
    else if (p->how == PACK_ZSTD)
        ZSTD_freeCCtx(p->zstd);
    else
        deflateEnd(&p->z);
}

static size_t
put_zlib(struct packer *p, struct view in, bool is_last, uint8_t *to, size_t room)
{
    p->z.next_in = in.p;
    p->z.avail_in = (uInt)in.n;
    p->z.next_out = to;
    p->z.avail_out = (uInt)room;
    int r = deflate(&p->z, is_last ? Z_FINISH : Z_SYNC_FLUSH);
    assert_int_equal(r, is_last ? Z_STREAM_END : Z_OK);
    return room - p->z.avail_out;
}

static size_t
put_br(struct packer *p, struct view in, bool is_last, uint8_t *to, size_t room)
{
    size_t left = room;
    BrotliEncoderOperation op = is_last ? BROTLI_OPERATION_FINISH
                                        : BROTLI_OPERATION_FLUSH;
    assert_true(BrotliEncoderCompressStream(p->br, op, &in.n, &in.p, &left, &to, NULL));
    assert_false(BrotliEncoderHasMoreOutput(p->br));
    return room - left;
}

static size_t
put_zstd(struct packer *p, struct view in, bool is_last, uint8_t *to, size_t room)
{
    ZSTD_inBuffer from = { in.p, in.n, 0 };
    ZSTD_outBuffer out = { to, room, 0 };
    ZSTD_EndDirective op = is_last ? ZSTD_e_end : ZSTD_e_flush;
    assert_int_equal(ZSTD_compressStream2(p->zstd, &out, &from, op), 0);
    return out.pos;
}

void
packer_put(struct packer *p, struct view in, bool is_last, struct buf *out)
{
    size_t room = in.n + in.n / 8 + 4096;
    assert_int_equal(buf_reserve(out, room), 0);
    uint8_t *to = out->p + out->n;
    out->n += p->how == PACK_BR     ? put_br(p, in, is_last, to, room)
              : p->how == PACK_ZSTD ? put_zstd(p, in, is_last, to, room)
                                    : put_zlib(p, in, is_last, to, room);
}

void
pack_one(enum pack how, struct view in, struct buf *out)
{
    struct packer p;
    packer_init(&p, how);
    packer_put(&p, in, true, out);
    packer_release(&p);
}

/* -- one behind the other -- */

void
pack_chain_init(struct pack_chain *c, const enum pack *way)
{
    for (c->n = 0; way[c->n]; c->n++)
        packer_init(&c->p[c->n], way[c->n]);
}

void
pack_chain_release(struct pack_chain *c)
{
    for (size_t i = 0; i < c->n; i++)
        packer_release(&c->p[i]);
}

void
pack_chain_put(struct pack_chain *c, struct view in, bool is_last, struct buf *out)
{
    AUTO(buf) last = { 0 };
    buf_append(&last, in.p, in.n);
    for (size_t i = 0; i < c->n; i++) {
        AUTO(buf) next = { 0 };
        packer_put(&c->p[i], pack_view(&last), is_last, &next);
        buf_clear(&last);
        buf_append(&last, next.p, next.n);
    }
    buf_append(out, last.p, last.n);
}

void
pack_all(const enum pack *way, struct view in, struct buf *out)
{
    AUTO(pack_chain) c;
    pack_chain_init(&c, way);
    pack_chain_put(&c, in, true, out);
}

void
pack_zeros(const enum pack *way, size_t n, struct buf *out)
{
    uint8_t *zeros = calloc(1, n);
    assert_non_null(zeros);
    pack_all(way, (struct view){ zeros, n }, out);
    free(zeros);
}

void
pack_events(struct buf *out)
{
    for (size_t i = 0; i < PACK_EVENTS; i++)
        buf_puts(out, pack_event[i]);
}

/* -- undone -- */

void
undone_release(struct undone *u)
{
    buf_release(&u->text);
}

int
undo_take(void *ctx, struct view bytes)
{
    struct undone *u = ctx;
    return buf_append(&u->text, bytes.p, bytes.n) < 0 ? -1 : undo_count(ctx, bytes);
}

int
undo_count(void *ctx, struct view bytes)
{
    struct undone *u = ctx;
    assert_in_range(bytes.n, 1, UNDO_PIECE);
    u->count += bytes.n;
    return 0;
}

struct wire_unpack *
undo_open(const char *encoding)
{
    struct wire_unpack *u;
    assert_int_equal(wire_unpack_new(&u, text_view(encoding)), 0);
    return u;
}

void
undo_feed(struct wire_unpack *u, struct view bytes, wire_unpack_fn fn, struct undone *ret)
{
    uint8_t *own = malloc(bytes.n ? bytes.n : 1);
    assert_non_null(own);
    if (bytes.n)
        memcpy(own, bytes.p, bytes.n);
    ret->result = wire_unpack_feed(u, (struct view){ own, bytes.n }, fn, ret);
    ret->is_whole = wire_unpack_is_whole(u);
    free(own);
}

void
undo(const char *encoding, struct view bytes, size_t step, wire_unpack_fn fn,
     struct undone *ret)
{
    struct wire_unpack *u = undo_open(encoding);
    ret->is_whole = wire_unpack_is_whole(u);
    step = step ? step : bytes.n;
    for (size_t at = 0; at < bytes.n; at += step) {
        size_t n = step < bytes.n - at ? step : bytes.n - at;
        undo_feed(u, (struct view){ bytes.p + at, n }, fn, ret);
    }
    wire_unpack_free(u);
}

uint64_t
undo_limit(size_t n)
{
    uint64_t limit = (uint64_t)(n + UNDO_SLICE - 1) / UNDO_SLICE * UNDO_SLICE *
                     UNDO_RATIO;
    return limit < UNDO_FREE ? UNDO_FREE : limit;
}

void
undo_assert_text(const struct undone *u, struct view want)
{
    assert_int_equal(u->result, 0);
    assert_true(u->is_whole);
    assert_int_equal(u->count, want.n);
    undo_assert_prefix(u, want);
}

void
undo_assert_prefix(const struct undone *u, struct view of)
{
    assert_int_equal(u->count, u->text.n);
    assert_true(u->count <= of.n);
    if (u->count)
        assert_memory_equal(u->text.p, of.p, u->count);
}

void
undo_assert_cut(const char *encoding, struct view bytes, struct view want)
{
    for (size_t cut = 0; cut <= bytes.n; cut++) {
        AUTO(undone) two = { 0 };
        struct wire_unpack *u = undo_open(encoding);
        undo_feed(u, (struct view){ bytes.p, cut }, undo_take, &two);
        undo_feed(u, (struct view){ bytes.p + cut, bytes.n - cut }, undo_take, &two);
        wire_unpack_free(u);
        undo_assert_text(&two, want);
    }
    AUTO(undone) each = { 0 };
    undo(encoding, bytes, 1, undo_take, &each);
    undo_assert_text(&each, want);
}
