/* SPDX-License-Identifier: MIT */
/*
 * tail.h -- the records of a block that is not yet safely sealed (doc/ahr-format.md,
 * section 4).
 *
 * Each record is in the block's own tail file before anyone else sees it; the file is
 * called after the recording and the block's ordinal and is never reused. Checksums are
 * chained, so that reading stops at the first record that is not whole. Pure: bytes only.
 */
#ifndef TAPE_TAIL_H
#define TAPE_TAIL_H

#include <stdbool.h>

#include "base/buf.h"
#include "tape/record.h"

enum {
    TAPE_TAIL_HEAD = 44,
    TAPE_TAIL_FRAME = 8, /* length and checksum before each record */
};

struct tape_tail {
    uint8_t session_id[16];
    uint64_t ordinal;
    uint64_t start_byte_off;
};

/* What is left behind the last good record. */
enum tape_tail_end {
    TAPE_TAIL_WHOLE,   /* nothing */
    TAPE_TAIL_TORN,    /* a piece of one record, or zeros: it was never acknowledged */
    TAPE_TAIL_DAMAGED, /* more than that */
};

/* Writes TAPE_TAIL_HEAD bytes; returns the checksum that the first frame continues. */
uint32_t tape_tail_put_head(uint8_t *p, const struct tape_tail *t);
/* Appends a frame and its record to out, continuing *crc. */
int tape_tail_put_record(struct buf *out, const struct tape_record *r, uint32_t *crc);
/* False when this is no tail's header; fewer than TAPE_TAIL_HEAD bytes never are. */
bool tape_tail_get_head(struct view in, struct tape_tail *ret, uint32_t *ret_crc);
/* Appends the good records of the whole file `in` to records; they end at *ret_good. */
enum tape_tail_end tape_tail_get_records(struct view in, struct buf *records,
                                         size_t *ret_good);

#endif
