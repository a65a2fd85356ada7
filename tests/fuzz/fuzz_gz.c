/* SPDX-License-Identifier: MIT */
/* Whatever a compressed file holds: whole or byte by byte the same comes out of it, and
 * no more for its size than the format can give. What goes into one comes out again. */
#include <sys/types.h>

#include "fuzz/fuzz.h"
#include "gz/stream_priv.h"

enum {
    ROOM = 64 << 10,
    MOST = 1 << 20, /* that is looked at */
    RATIO = 1032,   /* of deflate at its best */
};

/* What comes out, and how it ends: 0, 1: it may go on, ERR_DAMAGED. */
static int
inflate(struct view in, size_t step, size_t room, struct buf *out)
{
    struct gz_inflater *g;
    ssize_t n = 0;
    CHECK(gz_inflater_new(&g) == 0);
    while (in.n && n >= 0 && out->n < MOST) {
        struct view piece = { in.p, step < in.n ? step : in.n };
        do {
            CHECK(buf_reserve(out, room) == 0);
            n = gz_inflate(g, &piece, out->p + out->n, room);
            CHECK(n <= (ssize_t)room);
            out->n += n > 0 ? (size_t)n : 0;
        } while (n > 0 && out->n < MOST);
        in.n -= (size_t)(piece.p - in.p);
        in.p = piece.p;
    }
    bool is_done = gz_inflater_is_done(g);
    gz_inflater_free(g);
    return n < 0 ? (int)n : is_done ? 0 : 1;
}

static void
check_round_trip(struct view in)
{
    AUTO(buf) packed = { 0 };
    AUTO(buf) out = { 0 };
    struct gz_deflater *g;
    CHECK(gz_deflater_new(&g, "name", 1) == 0);
    CHECK(gz_deflate(g, (struct view){ in.p, in.n / 2 }, false, &packed) == 0);
    struct view rest = { in.p + in.n / 2, in.n - in.n / 2 };
    CHECK(gz_deflate(g, rest, false, &packed) == 0);
    CHECK(gz_deflate(g, (struct view){ in.p, 0 }, true, &packed) == 0);
    gz_deflater_free(g);
    CHECK(inflate((struct view){ packed.p, packed.n }, packed.n, ROOM, &out) == 0);
    CHECK(out.n == in.n && (!in.n || !memcmp(out.p, in.p, in.n)));
}

int
LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    AUTO(buf) whole = { 0 };
    AUTO(buf) pieces = { 0 };
    struct view in = { data ? data : (const uint8_t *)"", size };
    int r = inflate(in, size, ROOM, &whole);
    CHECK(whole.n <= RATIO * size + ROOM);
    int s = inflate(in, 1, 33, &pieces);
    size_t n = whole.n < pieces.n ? whole.n : pieces.n;
    CHECK(!n || !memcmp(whole.p, pieces.p, n));
    if (whole.n < MOST && pieces.n < MOST)
        CHECK(r == s && (r < 0 || whole.n == pieces.n));
    check_round_trip(in);
    return 0;
}
