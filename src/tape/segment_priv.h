/* SPDX-License-Identifier: MIT */
/*
 * segment_priv.h -- finds the valid blocks of one file, in order, whatever lies between
 * them.
 *
 * The rules for what is accepted after damage are those of doc/ahr-format.md, section 6.
 * Work is bounded: bytes that are checksummed in vain add up to at most four times the
 * file.
 */
#ifndef TAPE_SEGMENT_PRIV_H
#define TAPE_SEGMENT_PRIV_H

#include "tape/block.h"
#include "tape/io.h"

/* A stretch of file held in memory; shared by the segments of a reader. */
struct window {
    struct tape_io *io; /* borrowed */
    int fd;             /* whose bytes these are; -1: none */
    uint64_t off;
    struct buf bytes;
    int failed; /* -errno of the last read that failed; the bytes are zeros there */
};

void window_release(struct window *w);
/* Up to n bytes at off; fewer at the end of the file. n ≤ 17 MiB and a header. */
struct view window_get(struct window *w, int fd, uint64_t off, size_t n);

struct segment {
    int fd;
    uint64_t size;
    uint64_t pos; /* behind the last valid block, or what was skipped after it */
    bool has_checks, is_begun; /* the first valid block decides, once is_begun */
    uint64_t next_ordinal, next_byte_off, next_ts_ns; /* the lowest acceptable */
    uint64_t check_budget, unpack_budget;             /* bytes, for looking in vain */
    bool has_tail;
    bool must_check;   /* a header with a checksum was seen: the file is our writer's */
    bool has_given_up; /* there were places that could not be looked at */

    /* the valid block that was found */
    bool has_head;
    struct tape_block head;
    uint64_t head_off;
    size_t head_size;
    struct tape_extent head_extent;

    /* what was skipped before it, or (has_head false) up to the end of the file */
    uint64_t bad_off, bad_len; /* bad_len 0: nothing */
    char bad_reason[80];
    int64_t bad_blocks;   /* up to the end, by their headers; -1: it is nothing of ours */
    unsigned bad_version; /* the one that was refused */
};

void segment_begin(struct segment *s, int fd, uint64_t size);
/* The file has grown, or turned out to be larger. */
void segment_grow(struct segment *s, uint64_t size);
/* Goes on at off, where the block with this ordinal should start. */
void segment_jump(struct segment *s, uint64_t off, uint64_t ordinal);
/* Looks for the next block; its records are then in `records`. False at the end. Set
 * has_tail when the block that should come next has a tail. */
bool segment_find(struct segment *s, struct window *w, struct buf *records);

#endif
