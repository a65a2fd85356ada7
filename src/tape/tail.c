/* SPDX-License-Identifier: MIT */
#include "tape/tail.h"

#include "base/le.h"
#include "tape/block.h"
#include "tape/crc32c.h"

static const uint8_t magic[4] = { 'A', 'H', 'R', 'T' };

uint32_t
tape_tail_put_head(uint8_t *p, const struct tape_tail *t)
{
    memcpy(p, magic, 4);
    put_le16(p + 4, 1);
    put_le16(p + 6, TAPE_TAIL_HEAD);
    memcpy(p + 8, t->session_id, 16);
    put_le64(p + 24, t->ordinal);
    put_le64(p + 32, t->start_byte_off);
    uint32_t crc = tape_crc32c(0, p, 40);
    put_le32(p + 40, crc);
    return crc;
}

bool
tape_tail_get_head(struct view in, struct tape_tail *ret, uint32_t *ret_crc)
{
    if (in.n < TAPE_TAIL_HEAD || memcmp(in.p, magic, 4) != 0 || get_le16(in.p + 4) != 1 ||
        get_le16(in.p + 6) != TAPE_TAIL_HEAD ||
        get_le32(in.p + 40) != tape_crc32c(0, in.p, 40))
        return false;
    memcpy(ret->session_id, in.p + 8, 16);
    ret->ordinal = get_le64(in.p + 24);
    ret->start_byte_off = get_le64(in.p + 32);
    *ret_crc = get_le32(in.p + 40);
    return true;
}

/* A frame's checksum goes on from the one before it, over its length and its record. */
static uint32_t
frame_crc(uint32_t before, const uint8_t *frame, size_t len)
{
    uint32_t crc = tape_crc32c(before, frame, 4);
    return tape_crc32c(crc, frame + TAPE_TAIL_FRAME, len);
}

int
tape_tail_put_record(struct buf *out, const struct tape_record *r, uint32_t *crc)
{
    size_t len = tape_record_size(r);
    uint8_t *p = buf_grow(out, TAPE_TAIL_FRAME + len);
    if (!p)
        return out->failed;
    put_le32(p, (uint32_t)len);
    tape_record_put(p + TAPE_TAIL_FRAME, r);
    *crc = frame_crc(*crc, p, len);
    put_le32(p + 4, *crc);
    return 0;
}

static bool
is_zero(struct view v)
{
    for (size_t i = 0; i < v.n; i++)
        if (v.p[i])
            return false;
    return true;
}

static enum tape_tail_end
judge_rest(struct view rest)
{
    if (!rest.n)
        return TAPE_TAIL_WHOLE;
    if (rest.n < TAPE_TAIL_FRAME || is_zero(rest))
        return TAPE_TAIL_TORN;
    size_t len = get_le32(rest.p);
    bool is_cut = rest.n - TAPE_TAIL_FRAME < len && len <= TAPE_RECORD_MAX;
    return is_cut ? TAPE_TAIL_TORN : TAPE_TAIL_DAMAGED;
}

/* Format, I14. */
enum tape_tail_end
tape_tail_get_records(struct view in, struct buf *records, size_t *ret_good)
{
    struct tape_tail head;
    struct tape_record rec;
    const char *reason;
    uint32_t crc;
    *ret_good = 0;
    if (!tape_tail_get_head(in, &head, &crc)) {
        size_t n = in.n < sizeof(magic) ? in.n : sizeof(magic);
        bool is_begun = in.n < TAPE_TAIL_HEAD && (!n || !memcmp(in.p, magic, n));
        return is_begun || is_zero(in) ? TAPE_TAIL_TORN : TAPE_TAIL_DAMAGED;
    }

    size_t at = TAPE_TAIL_HEAD;
    while (in.n - at > TAPE_TAIL_FRAME) {
        const uint8_t *frame = in.p + at;
        size_t len = get_le32(frame);
        struct view body = { frame + TAPE_TAIL_FRAME, in.n - at - TAPE_TAIL_FRAME };
        if (!len || len > body.n || records->n + len > TAPE_BLOCK_RAW_MAX)
            break;
        body.n = len;
        uint32_t next = frame_crc(crc, frame, len);
        if (next != get_le32(frame + 4) || tape_record_get(body, &rec, &reason) != len)
            break;
        if (buf_append(records, body.p, len) < 0)
            break;
        crc = next;
        at += TAPE_TAIL_FRAME + len;
    }
    *ret_good = at;
    return judge_rest((struct view){ in.p + at, in.n - at });
}
