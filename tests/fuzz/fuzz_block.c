/* SPDX-License-Identifier: MIT */
/*
 * Any bytes as a block: what is accepted keeps to its limits. And the input as records:
 * sealed and unpacked they are the same; one flipped bit anywhere and they are refused.
 */
#include "base/le.h"
#include "fuzz/fuzz.h"
#include "tape/block.h"
#include "tape/record.h"

static struct tape_packer packer;

static void
any_bytes(struct view in)
{
    struct tape_block b;
    struct tape_extent extent;
    size_t n;
    AUTO(buf) records = { 0 };
    if (in.n < TAPE_BLOCK_HEAD || tape_block_parse(in.p, &b))
        return;
    CHECK(b.raw_len <= TAPE_BLOCK_RAW_MAX && b.packed_len <= TAPE_BLOCK_PACKED_MAX);
    if (tape_block_unpack(&b, in, &records, &n, &extent))
        return;
    CHECK(n <= in.n);
    CHECK(records.n == b.raw_len);
    CHECK(extent.end_byte_off >= b.start_byte_off && extent.last_ts_ns >= b.start_ts_ns);
}

static void
flipped(struct buf *sealed, uint32_t bit)
{
    struct tape_block b;
    struct tape_extent extent;
    size_t n;
    AUTO(buf) records = { 0 };
    bit %= (uint32_t)sealed->n * 8;
    sealed->p[bit / 8] ^= (uint8_t)(1U << bit % 8);
    const char *bad = tape_block_parse(sealed->p, &b);
    if (!bad)
        bad = tape_block_unpack(&b, (struct view){ sealed->p, sealed->n }, &records, &n,
                                &extent);
    CHECK(bad);
}

int
LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct view in = { data, size };
    any_bytes(in);
    if (size < 5)
        return 0;
    struct tape_record rec = { .ts_ns = get_le32(data), .bytes = { data + 4, size - 4 } };
    struct tape_block head = { .ordinal = data[0], .record_count = 1 }, b;
    struct tape_extent extent;
    size_t n;
    AUTO(buf) raw = { 0 };
    AUTO(buf) sealed = { 0 };
    AUTO(buf) records = { 0 };
    tape_record_put(buf_grow(&raw, tape_record_size(&rec)), &rec);
    CHECK(!tape_block_seal(&head, (struct view){ raw.p, raw.n }, &packer, data[1] % 5,
                           &sealed));
    CHECK(!tape_block_parse(sealed.p, &b));
    CHECK(!tape_block_unpack(&b, (struct view){ sealed.p, sealed.n }, &records, &n,
                             &extent));
    CHECK(n == sealed.n && records.n == raw.n && !memcmp(records.p, raw.p, raw.n));
    CHECK(b.ordinal == head.ordinal && extent.record_count == 1);
    flipped(&sealed, get_le32(data));
    return 0;
}
