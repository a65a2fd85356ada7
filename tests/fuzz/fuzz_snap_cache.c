/* SPDX-License-Identifier: MIT */
/* Any bytes behind a right checksum give paths in their order, which are written as they
 * were read; and any bytes at all are read to an end. */
#include "base/le.h"
#include "fuzz/fuzz.h"
#include "snap/cache_priv.h"

enum { HEAD = 12 + 8 };

static void
check(struct view bytes)
{
    struct snap_cache c, d;
    struct snap_cache_out out = { 0 };
    struct snap_arena memory = { 0 };
    struct snap_look look, other;
    if (snap_cache_parse(&c, bytes) < 0)
        return;
    snap_cache_begin(&out, &c.head);
    char *before = NULL;
    while (snap_cache_next(&c, &look)) {
        CHECK(!c.rest.n || c.rest.p + c.rest.n == bytes.p + bytes.n);
        CHECK(!before || strcmp(before, c.path) < 0);
        size_t n = strlen(c.path) + 1;
        before = snap_arena_text(&memory, n);
        memcpy(before, c.path, n);
        snap_cache_put(&out, before, &look);
    }
    CHECK(snap_cache_end(&out) == 0);
    CHECK(snap_cache_parse(&c, bytes) == 0);
    CHECK(snap_cache_parse(&d, (struct view){ out.b.p, out.b.n }) == 0);
    CHECK(strcmp(c.head.ref, d.head.ref) == 0 && c.head.beside == d.head.beside);
    while (snap_cache_next(&d, &other)) {
        CHECK(snap_cache_next(&c, &look) && snap_look_is_same(&look, &other));
        CHECK(strcmp(c.path, d.path) == 0);
    }
    CHECK(!snap_cache_next(&c, &look));
    buf_release(&out.b);
    snap_arena_release(&memory);
}

int
LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    AUTO(buf) b = { 0 };
    check((struct view){ data, size });
    if (size < HEAD || buf_append(&b, data, size) < 0)
        return 0;
    struct view rest = { b.p + HEAD, b.n - HEAD };
    memcpy(b.p, "ahr-cache 1\n", 12);
    put_le64(b.p + 12, snap_checksum(0, rest));
    check((struct view){ b.p, b.n });
    return 0;
}
