/* SPDX-License-Identifier: MIT */
/*
 * reach.c -- how far a recording leads, by its last block.
 *
 * A block that is good and ends with the file is looked for from the file's end. Only one
 * that an agent has printed into the last few bytes of the last block could be taken for
 * it: of several the outermost is.
 */
#include "tape/reader_priv.h"

#include <errno.h>

enum {
    NEAR_BYTES = 512 << 10, /* most last blocks are far shorter … */
    FAR_BYTES = TAPE_BLOCK_HEAD_OLD + TAPE_BLOCK_PACKED_MAX, /* … none is longer */
    LOOKS_MAX = 16, /* at blocks that claim to end with the file */
};

/* A block in the file's last bytes that ends with them. */
static bool
find_last(struct tape_reader *r, struct view end, struct tape_extent *ret)
{
    struct tape_block b;
    size_t size;
    int looks = 0;
    for (size_t at = 0; end.n - at >= TAPE_BLOCK_HEAD && looks < LOOKS_MAX; at++) {
        const uint8_t *hit = memmem(end.p + at, end.n - at, tape_block_magic,
                                    sizeof(tape_block_magic));
        if (!hit)
            return false;
        at = (size_t)(hit - end.p);
        if (end.n - at < TAPE_BLOCK_HEAD || tape_block_parse(hit, &b) || !b.is_checked ||
            end.n - at != TAPE_BLOCK_HEAD + (size_t)b.packed_len)
            continue;
        looks++;
        struct view block = { hit, end.n - at };
        if (!tape_block_unpack(&b, block, &r->records, &size, ret))
            return true;
    }
    return false;
}

static bool
by_last_block(struct tape_reader *r, struct tape_extent *ret)
{
    static const size_t sizes[] = { NEAR_BYTES, FAR_BYTES };
    const struct segment *s = &r->segments[0].seg;
    if (r->segment_count != 1 || !r->segments[0].is_open || r->tail_count)
        return false;
    r->decoded = NULL;
    for (size_t i = 0; i < sizeof(sizes) / sizeof(sizes[0]); i++) {
        size_t n = s->size < sizes[i] ? (size_t)s->size : sizes[i];
        struct view end = window_get(&r->window, s->fd, s->size - n, n);
        if (end.n == n && find_last(r, end, ret))
            return true;
    }
    return false;
}

int
tape_reader_reach(struct tape_reader *r, uint64_t *ret_byte_off, uint64_t *ret_ts_ns)
{
    struct tape_extent last;
    if (by_last_block(r, &last)) {
        *ret_byte_off = last.end_byte_off;
        *ret_ts_ns = last.last_ts_ns;
    } else {
        int e = tape_reader_seek_time(r, UINT64_MAX);
        if (e < 0)
            return e;
        *ret_byte_off = r->byte_off;
        *ret_ts_ns = r->max_ts_ns;
    }
    tape_reader_rewind(r);
    return 0;
}
