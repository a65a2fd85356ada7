/* SPDX-License-Identifier: MIT */
#include "tape/block.h"

#include <errno.h>

#include "base/le.h"
#include "tape/crc32c.h"
#include "tape/record.h"

const uint8_t tape_block_magic[4] = { 'A', 'H', 'R', 'C' };
const char tape_block_no_memory[] = "out of memory";
const char tape_block_bad_version[] = "format version is not supported";

/* Offsets in the header. */
enum { AT_CRC = 37, AT_ORDINAL = 41 };

const char *
tape_block_parse(const uint8_t *p, struct tape_block *ret)
{
    if (memcmp(p, tape_block_magic, 4) != 0)
        return "no block header";
    struct tape_block b = {
        .version = get_le16(p + 4),
        .header_len = get_le16(p + 6),
        .start_ts_ns = get_le64(p + 8),
        .start_byte_off = get_le64(p + 16),
        .raw_len = get_le32(p + 24),
        .packed_len = get_le32(p + 28),
        .record_count = get_le32(p + 32),
        .flags = p[36],
        .crc = get_le32(p + AT_CRC),
        .ordinal = get_le32(p + AT_ORDINAL - 1) >> 8,
    };
    /* Reserved bytes are zero without a checksum: set ones betray a flag that was lost.
     */
    b.is_checked = b.flags & TAPE_BLOCK_CHECKED || b.crc || b.ordinal;
    if (b.version != 1)
        return tape_block_bad_version;
    if (b.header_len != TAPE_BLOCK_HEAD && b.header_len != TAPE_BLOCK_HEAD_OLD)
        return "header length is neither 44 nor 48";
    if (b.raw_len > TAPE_BLOCK_RAW_MAX)
        return "claims more than 16 MiB of records";
    if (b.packed_len > TAPE_BLOCK_PACKED_MAX)
        return "claims more than 17 MiB of payload";
    *ret = b;
    return NULL;
}

static bool
crc_holds(const struct tape_block *b, const uint8_t *head, size_t head_len)
{
    static const uint8_t zero[4];
    uint32_t crc = tape_crc32c(0, head, AT_CRC);
    crc = tape_crc32c(crc, zero, 4);
    return tape_crc32c(crc, head + AT_ORDINAL, head_len - AT_ORDINAL + b->packed_len) ==
           b->crc;
}

const char *
tape_block_measure(const struct tape_block *b, struct view records,
                   struct tape_extent *ret)
{
    const char *reason;
    struct tape_record r;
    struct tape_extent e = { .end_byte_off = b->start_byte_off,
                             .last_ts_ns = b->start_ts_ns };
    for (size_t at = 0; at < records.n; e.record_count++) {
        size_t n = tape_record_get((struct view){ records.p + at, records.n - at }, &r,
                                   &reason);
        if (!n)
            return reason;
        at += n;
        if (r.tag == TAPE_DATA && b->is_checked && r.byte_off < e.end_byte_off)
            return "byte offset goes back inside the block";
        if (r.tag == TAPE_DATA && r.byte_off + r.bytes.n > e.end_byte_off)
            e.end_byte_off = r.byte_off + r.bytes.n;
        if (r.ts_ns > e.last_ts_ns)
            e.last_ts_ns = r.ts_ns;
    }
    *ret = e;
    return NULL;
}

static const char *
unpack_at(const struct tape_block *b, struct view from, size_t head_len,
          struct buf *records)
{
    if (from.n < head_len + b->packed_len)
        return "payload is cut short";
    if (b->is_checked &&
        (!(b->flags & TAPE_BLOCK_CHECKED) || !crc_holds(b, from.p, head_len)))
        return "checksum does not match";
    buf_clear(records);
    if (!buf_grow(records, b->raw_len))
        return tape_block_no_memory;
    struct view payload = { from.p + head_len, b->packed_len };
    int r = tape_inflate(payload, records->p, b->raw_len);
    if (r == -ENOMEM)
        return tape_block_no_memory;
    return r < 0 ? "payload does not unpack to the claimed length" : NULL;
}

const char *
tape_block_unpack(const struct tape_block *b, struct view from, struct buf *records,
                  size_t *ret_size, struct tape_extent *ret_extent)
{
    size_t head_len = TAPE_BLOCK_HEAD;
    const char *bad = unpack_at(b, from, head_len, records);
    if (bad && b->header_len == TAPE_BLOCK_HEAD_OLD) {
        head_len = TAPE_BLOCK_HEAD_OLD;
        bad = unpack_at(b, from, head_len, records);
    }
    if (!bad)
        bad = tape_block_measure(b, (struct view){ records->p, records->n }, ret_extent);
    if (!bad)
        *ret_size = head_len + b->packed_len;
    return bad;
}

int
tape_block_seal(const struct tape_block *b, struct view records,
                struct tape_packer *packer, int quality, struct buf *out)
{
    size_t start = out->n;
    uint8_t *p = buf_grow(out, TAPE_BLOCK_HEAD);
    if (!p)
        return out->failed;
    int r = tape_deflate(packer, records, quality, out);
    if (r < 0) {
        out->n = start;
        return r;
    }
    p = out->p + start;
    size_t packed_len = out->n - start - TAPE_BLOCK_HEAD;
    memcpy(p, tape_block_magic, 4);
    put_le16(p + 4, 1);
    put_le16(p + 6, TAPE_BLOCK_HEAD);
    put_le64(p + 8, b->start_ts_ns);
    put_le64(p + 16, b->start_byte_off);
    put_le32(p + 24, (uint32_t)records.n);
    put_le32(p + 28, (uint32_t)packed_len);
    put_le32(p + 32, b->record_count);
    put_le32(p + AT_ORDINAL - 1, (uint32_t)b->ordinal << 8);
    p[36] = b->flags | TAPE_BLOCK_CHECKED;
    put_le32(p + AT_CRC, 0);
    put_le32(p + AT_CRC, tape_crc32c(0, p, out->n - start));
    return 0;
}
