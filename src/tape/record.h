/* SPDX-License-Identifier: MIT */
/*
 * record.h -- one record of a recording, to and from bytes (doc/ahr-format.md, section
 * 3).
 *
 * Pure. A parsed record borrows its bytes from the input.
 */
#ifndef TAPE_RECORD_H
#define TAPE_RECORD_H

#include "base/buf.h"

enum tape_tag {
    TAPE_DATA = 0,     /* PTY output: byte_off, bytes */
    TAPE_RESIZE = 1,   /* cols, rows */
    TAPE_INPUT = 2,    /* keystrokes: bytes */
    TAPE_MARK = 3,     /* code, val */
    TAPE_SNAPSHOT = 4, /* snapshot_id, byte_off (the anchor), bytes (the label) */
};

enum tape_mark {
    TAPE_MARK_GAP = 1,      /* val: bytes missing before the next DATA, saturating */
    TAPE_MARK_END = 2,      /* end of session */
    TAPE_MARK_CLOCK = 3,    /* wall clock stepped; val: milliseconds, two's complement */
    TAPE_MARK_REDACTED = 4, /* the input record before it was masked */
};

enum {
    TAPE_RECORD_HEAD = 12,           /* tag, padding, time stamp */
    TAPE_DATA_HEAD = 24,             /* a DATA record without its bytes */
    TAPE_RECORD_BYTES_MAX = 1 << 20, /* what the writer puts into one record at most */
    TAPE_RECORD_MAX = TAPE_RECORD_BYTES_MAX + 30, /* with the longest head */
};

struct tape_record {
    uint8_t tag; /* enum tape_tag */
    uint64_t ts_ns;
    uint64_t byte_off;
    uint64_t snapshot_id;
    uint32_t code, val;
    uint16_t cols, rows;
    struct view bytes;
};

/* The encoded size; the record's tag must be a known one. */
size_t tape_record_size(const struct tape_record *r);
/* Writes tape_record_size() bytes to p. */
void tape_record_put(uint8_t *p, const struct tape_record *r);
/* Parses the record at the start of `in` (not empty). Returns its size, or 0 with the
 * reason. */
size_t tape_record_get(struct view in, struct tape_record *ret, const char **ret_reason);

#endif
