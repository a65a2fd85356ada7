/* SPDX-License-Identifier: MIT */
/*
 * block.h -- one block: a 44-byte header and one Brotli stream of records
 * (doc/ahr-format.md, section 2).
 *
 * Pure. Nothing a header claims is believed beyond these limits, nor before the payload
 * has been checked against it.
 */
#ifndef TAPE_BLOCK_H
#define TAPE_BLOCK_H

#include <stdbool.h>

#include "base/buf.h"
#include "tape/brotli.h"

enum {
    TAPE_BLOCK_HEAD = 44,
    TAPE_BLOCK_HEAD_OLD = 48, /* what other writers store in header_len; see format, I3 */
    TAPE_BLOCK_RAW_MAX = 16 << 20,
    TAPE_BLOCK_PACKED_MAX = 17 << 20,
    TAPE_BLOCK_LAST = 1 << 0,    /* flags */
    TAPE_BLOCK_CHECKED = 1 << 1, /* flags: CRC and ordinal stand in the reserved bytes */
    TAPE_ORDINAL_BITS = 24,
};

struct tape_block {
    uint64_t start_ts_ns;
    uint64_t start_byte_off;
    uint64_t ordinal; /* only its low 24 bits are in the file */
    uint32_t raw_len, packed_len;
    uint32_t record_count;
    uint16_t version, header_len;
    uint8_t flags;
    uint32_t crc;
    bool is_checked; /* has (or, by its reserved bytes, should have) a checksum */
};

extern const uint8_t tape_block_magic[4];
/* Reasons that are told apart: another version, and one that is not the block's fault. */
extern const char tape_block_bad_version[], tape_block_no_memory[];

/* Reads the 44 bytes at p. Returns NULL, or why this is no header of a block we can read.
 */
const char *tape_block_parse(const uint8_t *p, struct tape_block *ret);
/* How far the records of a block lead. */
struct tape_extent {
    uint32_t record_count;
    uint64_t end_byte_off; /* behind the last DATA; at least the block's start */
    uint64_t last_ts_ns;   /* the latest stamp; at least the block's */
};

/*
 * Checks and unpacks the payload into `records` (replaced), and parses it to the last
 * byte: from[0..44) is the header that gave b, and from.n ≥ 44 what may be read. Returns
 * NULL, or the reason; *ret_size is the whole block's size in the file.
 */
const char *tape_block_unpack(const struct tape_block *b, struct view from,
                              struct buf *records, size_t *ret_size,
                              struct tape_extent *ret_extent);
/* NULL when the records parse to the last byte. */
const char *tape_block_measure(const struct tape_block *b, struct view records,
                               struct tape_extent *ret);
/* Appends header and payload to out. raw_len, packed_len, crc, version are computed. */
int tape_block_seal(const struct tape_block *b, struct view records,
                    struct tape_packer *packer, int quality, struct buf *out);

#endif
