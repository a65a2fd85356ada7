/* SPDX-License-Identifier: MIT */
/*
 * Whatever the bytes: a head is read as it would be written, within its limits; and what
 * is found in a pack is the same however it is cut, leads below its root, and packed
 * again is the same bytes. The first byte of the input: 0 for a head, else a pack.
 */
#include "fuzz/fuzz.h"
#include "vault/head.h"
#include "vault/pack.h"

/* What was found, packed again. */
struct again {
    struct buf out;
    uint64_t entries, bytes;
};

static int
on_begin(void *ctx, const char *id, const char *project)
{
    struct again *a = ctx;
    return vault_pack_begin(&a->out, id, project);
}

static int
on_entry(void *ctx, const struct vault_entry *e)
{
    struct again *a = ctx;
    CHECK(e->path[0] != '/' && !strstr(e->path, "//") && strncmp(e->path, "../", 3) != 0);
    CHECK(!strstr(e->path, "/../") && e->root < VAULT_ROOTS && e->mode <= 07777);
    a->entries++;
    a->bytes += e->bytes;
    return vault_pack_entry(&a->out, e);
}

static int
on_bytes(void *ctx, struct view bytes)
{
    struct again *a = ctx;
    CHECK(bytes.n);
    return buf_append(&a->out, bytes.p, bytes.n);
}

static int
on_done(void *ctx)
{
    (void)ctx;
    return 0;
}

static const struct vault_pack_fns fns = { on_begin, on_entry, on_bytes, on_done };

static int
unpack(struct view in, size_t step, struct again *ret)
{
    AUTO(vault_unpack) u = { .fns = &fns, .ctx = ret };
    struct err err;
    int r = 0;
    for (size_t at = 0; !r && at < in.n; at += step)
        r = vault_unpack_feed(
            &u, (struct view){ in.p + at, in.n - at < step ? in.n - at : step }, &err);
    if (!r)
        r = vault_unpack_end(&u, &err);
    CHECK(r == 0 || r == ERR_DAMAGED || r == ERR_LIMIT);
    if (!r)
        CHECK(vault_pack_end(&ret->out, ret->entries, ret->bytes) == 0);
    return r;
}

static void
check_pack(struct view in)
{
    struct again whole = { 0 }, bytes = { 0 };
    int r = unpack(in, in.n + 1, &whole);
    CHECK(unpack(in, 1, &bytes) == r);
    CHECK(whole.out.n == bytes.out.n &&
          (!whole.out.n || !memcmp(whole.out.p, bytes.out.p, whole.out.n)));
    if (!r)
        CHECK(whole.out.n == in.n && !memcmp(whole.out.p, in.p, in.n));
    buf_release(&whole.out);
    buf_release(&bytes.out);
}

/* The sum is made to fit, or nothing would be read but itself. */
static void
check_head(struct view in)
{
    uint8_t bytes[VAULT_HEAD_BYTES] = { 0 }, again[VAULT_HEAD_FACTS];
    struct vault_head h;
    struct err err;
    size_t n = in.n < sizeof(bytes) ? in.n : sizeof(bytes);
    if (n)
        memcpy(bytes, in.p, n);
    if (n == sizeof(bytes))
        vault_head_seal(bytes);
    int r = vault_head_parse(bytes, n, &h, &err);
    CHECK(r == 0 || r == ERR_DAMAGED || r == ERR_NEWER || r == ERR_LIMIT);
    if (r < 0)
        return;
    CHECK(h.ops <= VAULT_OPS_MAX && h.mem_bytes <= VAULT_MEM_MAX);
    vault_head_format(&h, again);
    CHECK(!memcmp(bytes, again, sizeof(again)));
    bytes[VAULT_HEAD_FACTS]++; /* and one that does not fit is told */
    CHECK(vault_head_parse(bytes, n, &h, &err) == ERR_DAMAGED);
}

int
LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct view in = { data ? data : (const uint8_t *)"", size };
    if (fuzz_byte(&in))
        check_pack(in);
    else
        check_head(in);
    return 0;
}
