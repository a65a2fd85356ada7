/* SPDX-License-Identifier: MIT */
/*
 * Whatever comes, and however it is cut, what comes out is the same, and so is how it
 * ends; it is not more than the limit, and neither is the memory.
 *
 * Where something is wrong with br or zstd, how much comes out before that is told
 * depends on the cuts; byte by byte it is the most.
 */
#include "fuzz/fuzz.h"
#include "support/measure.h"
#include "wire/unpack.h"

enum { PIECE = 64 << 10, FREE = 1 << 20, SLICE = 1 << 10, RATIO = 1000, CODECS = 4 };
enum { MEMORY = 24 << 20 }; /* of a codec: a window of 16 MiB, and tables */

static const char *const encodings[] = {
    "gzip",       "deflate",
    "br",         "zstd",
    "identity",   "br, gzip",
    "gzip, br",   "br, zstd",
    "zstd, gzip", "deflate, zstd",
    "gzip, gzip", "br, br",
    "zstd, br",   "gzip, br, deflate, zstd",
};
enum { ENCODINGS = sizeof(encodings) / sizeof(encodings[0]) };

struct run {
    struct buf text;           /* of the first */
    const struct run *against; /* NULL: this is the first */
    size_t count;
    int result;
    bool is_whole;
};

static int
take(void *ctx, struct view bytes)
{
    struct run *run = ctx;
    CHECK(bytes.n && bytes.n <= PIECE);
    if (run->against) {
        const struct buf *text = &run->against->text;
        CHECK(bytes.n <= text->n - run->count);
        CHECK(!memcmp(text->p + run->count, bytes.p, bytes.n));
    } else {
        CHECK(buf_append(&run->text, bytes.p, bytes.n) == 0);
    }
    run->count += bytes.n;
    return 0;
}

static void
feed(struct wire_unpack *u, struct view bytes, struct run *run)
{
    uint8_t *own = malloc(bytes.n ? bytes.n : 1);
    CHECK(own);
    if (bytes.n)
        memcpy(own, bytes.p, bytes.n);
    size_t count = run->count;
    int before = run->result;
    run->result = wire_unpack_feed(u, (struct view){ own, bytes.n }, take, run);
    CHECK(!before || (run->result == before && run->count == count));
    free(own);
}

static void
undo(const char *encoding, struct view in, struct view cuts, struct run *run)
{
    size_t heap = measure_heap_bytes();
    struct wire_unpack *u;
    CHECK(wire_unpack_new(
              &u, (struct view){ (const uint8_t *)encoding, strlen(encoding) }) == 0);
    for (size_t at = 0, i = 0; at < in.n; i++) {
        size_t n = cuts.n ? (size_t)cuts.p[i % cuts.n] + 1 : in.n;
        n = n < in.n - at ? n : in.n - at;
        feed(u, (struct view){ in.p + at, n }, run);
        at += n;
    }
    run->is_whole = wire_unpack_is_whole(u);
    CHECK(measure_heap_bytes() <= heap + run->text.cap + (size_t)CODECS * MEMORY);
    wire_unpack_free(u);
    CHECK(!run->is_whole || !run->result);
    CHECK(run->result == 0 || run->result == ERR_DAMAGED || run->result == ERR_LIMIT);
    size_t limit = (in.n + SLICE - 1) / SLICE * SLICE * RATIO;
    CHECK(run->count <= (limit < FREE ? FREE : limit));
}

int
LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static const uint8_t one[] = { 0 };
    struct view in = { data ? data : (const uint8_t *)"", size };
    const char *encoding = encodings[fuzz_byte(&in) % ENCODINGS];
    size_t n = fuzz_byte(&in) % 8;
    struct view cuts = { in.p, n < in.n ? n : in.n };
    in = (struct view){ in.p + cuts.n, in.n - cuts.n };
    struct run first = { 0 };
    undo(encoding, in, (struct view){ one, 1 }, &first);
    const struct view ways[] = { { 0 }, cuts };
    for (size_t i = 0; i < 2; i++) {
        struct run run = { .against = &first };
        undo(encoding, in, ways[i], &run);
        CHECK(run.is_whole == first.is_whole && !run.result == !first.result);
        if (first.result && (strstr(encoding, "br") || strstr(encoding, "zstd")))
            continue;
        CHECK(run.result == first.result && run.count == first.count);
    }
    buf_release(&first.text);
    return 0;
}
