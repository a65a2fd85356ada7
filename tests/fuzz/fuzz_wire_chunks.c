/* SPDX-License-Identifier: MIT */
/* Whatever comes, and however it is cut, a body in chunks has the same data and the same
 * end; and a body that was put into chunks comes back whole. */
#include <string.h>

#include "fuzz/fuzz.h"
#include "wire/chunks.h"

struct read {
    struct buf data;
    size_t used;
    int end;
};

/* In memory of its own. */
static void
feed(struct wire_chunks *c, struct view piece, struct read *ret)
{
    uint8_t *own = malloc(piece.n ? piece.n : 1);
    CHECK(own);
    if (piece.n)
        memcpy(own, piece.p, piece.n);
    struct view rest = { own, piece.n }, data;
    while ((ret->end = wire_chunks_next(c, &rest, &data)) == 1) {
        CHECK(data.n && data.p >= own && data.p + data.n == rest.p);
        CHECK(rest.p + rest.n == own + piece.n);
        buf_append(&ret->data, data.p, data.n);
    }
    CHECK(ret->end == 0 || ret->end == 2 || ret->end == ERR_DAMAGED);
    CHECK(ret->end || !rest.n);
    CHECK(rest.p + rest.n == own + piece.n);
    ret->used += piece.n - rest.n;
    free(own);
}

/* What is over or damaged stays so, and takes no more. */
static void
parse(struct view in, struct view cuts, struct read *ret)
{
    struct wire_chunks c = { 0 };
    for (size_t at = 0, i = 0; at < in.n; i++) {
        size_t n = cuts.n ? (size_t)cuts.p[i % cuts.n] + 1 : in.n;
        int before = ret->end;
        size_t used = ret->used, held = ret->data.n;
        n = n < in.n - at ? n : in.n - at;
        feed(&c, (struct view){ in.p + at, n }, ret);
        CHECK(!before ||
              (ret->end == before && ret->used == used && ret->data.n == held));
        at += n;
    }
}

static void
check_cuts(struct view in, struct view cuts)
{
    static const uint8_t one[] = { 0 };
    const struct view ways[] = { { 0 }, { one, 1 }, cuts };
    struct read all[3] = { 0 };
    for (size_t i = 0; i < 3; i++) {
        parse(in, ways[i], &all[i]);
        CHECK(all[i].end == all[0].end && all[i].used == all[0].used);
        CHECK(all[i].data.n == all[0].data.n &&
              (!all[0].data.n || !memcmp(all[i].data.p, all[0].data.p, all[0].data.n)));
    }
    for (size_t i = 0; i < 3; i++)
        buf_release(&all[i].data);
}

/* The end of a line of which `way` says how it is written. */
static void
put_size(struct buf *out, size_t n, uint8_t way)
{
    static const char *const behind[] = { "", ";a", ";a=\"b;\tc\"", ";" };
    buf_printf(out, way & 4 ? "%zX" : way & 8 ? "%04zx" : "%zx", n);
    buf_puts(out, behind[way & 3]);
    buf_puts(out, "\r\n");
}

static void
put_in_chunks(struct view body, struct view cuts, struct buf *out)
{
    for (size_t at = 0, i = 0; at < body.n; i++) {
        uint8_t cut = cuts.n ? cuts.p[i % cuts.n] : 0;
        size_t n = (size_t)cut + 1 < body.n - at ? (size_t)cut + 1 : body.n - at;
        put_size(out, n, cut >> 4);
        buf_append(out, body.p + at, n);
        buf_puts(out, "\r\n");
        at += n;
    }
    uint8_t way = cuts.n ? cuts.p[0] : 0;
    put_size(out, 0, way);
    buf_puts(out, way & 16 ? "A: b\r\nC:\r\n\r\n" : "\r\n");
}

static void
check_body(struct view body, struct view cuts)
{
    AUTO(buf) out = { 0 };
    struct read all = { 0 };
    put_in_chunks(body, cuts, &out);
    size_t n = out.n;
    buf_puts(&out, "GET ");
    parse((struct view){ out.p, out.n }, (struct view){ 0 }, &all);
    CHECK(all.end == 2 && all.used == n);
    CHECK(all.data.n == body.n && (!body.n || !memcmp(all.data.p, body.p, body.n)));
    buf_release(&all.data);
    check_cuts((struct view){ out.p, out.n }, cuts);
}

int
LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct view in = { data ? data : (const uint8_t *)"", size };
    size_t n = fuzz_byte(&in) % 8;
    struct view cuts = { in.p, n < in.n ? n : in.n };
    in = (struct view){ in.p + cuts.n, in.n - cuts.n };
    check_cuts(in, cuts);
    check_body(in, cuts);
    return 0;
}
