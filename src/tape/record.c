/* SPDX-License-Identifier: MIT */
#include "tape/record.h"

#include <assert.h>

#include "base/le.h"

/* Size of each record up to its variable part. */
static const uint8_t head_size[] = {
    [TAPE_DATA] = TAPE_DATA_HEAD, [TAPE_RESIZE] = 16, [TAPE_INPUT] = 16, [TAPE_MARK] = 20,
    [TAPE_SNAPSHOT] = 30,
};

size_t
tape_record_size(const struct tape_record *r)
{
    assert(r->tag <= TAPE_SNAPSHOT);
    size_t extra = r->tag == TAPE_RESIZE || r->tag == TAPE_MARK ? 0 : r->bytes.n;
    return head_size[r->tag] + extra;
}

void
tape_record_put(uint8_t *p, const struct tape_record *r)
{
    uint8_t *body = p + TAPE_RECORD_HEAD;
    put_le32(p, r->tag);
    put_le64(p + 4, r->ts_ns);
    switch ((enum tape_tag)r->tag) {
    case TAPE_DATA:
        put_le64(body, r->byte_off);
        put_le32(body + 8, (uint32_t)r->bytes.n);
        break;
    case TAPE_RESIZE:
        put_le16(body, r->cols);
        put_le16(body + 2, r->rows);
        return;
    case TAPE_INPUT:
        put_le32(body, (uint32_t)r->bytes.n);
        break;
    case TAPE_MARK:
        put_le32(body, r->code);
        put_le32(body + 4, r->val);
        return;
    case TAPE_SNAPSHOT:
        put_le64(body, r->snapshot_id);
        put_le64(body + 8, r->byte_off);
        put_le16(body + 16, (uint16_t)r->bytes.n);
        break;
    }
    if (r->bytes.n)
        memcpy(p + head_size[r->tag], r->bytes.p, r->bytes.n);
}

size_t
tape_record_get(struct view in, struct tape_record *ret, const char **ret_reason)
{
    *ret_reason = "record is cut short";
    if (in.p[0] > TAPE_SNAPSHOT) {
        *ret_reason = "unknown record tag";
        return 0;
    }
    struct tape_record r = { .tag = in.p[0] };
    size_t head = head_size[r.tag];
    if (in.n < head)
        return 0;
    const uint8_t *body = in.p + TAPE_RECORD_HEAD;
    r.ts_ns = get_le64(in.p + 4);
    switch ((enum tape_tag)r.tag) {
    case TAPE_DATA:
        r.byte_off = get_le64(body);
        r.bytes.n = get_le32(body + 8);
        break;
    case TAPE_RESIZE:
        r.cols = get_le16(body);
        r.rows = get_le16(body + 2);
        break;
    case TAPE_INPUT:
        r.bytes.n = get_le32(body);
        break;
    case TAPE_MARK:
        r.code = get_le32(body);
        r.val = get_le32(body + 4);
        break;
    case TAPE_SNAPSHOT:
        r.snapshot_id = get_le64(body);
        r.byte_off = get_le64(body + 8);
        r.bytes.n = get_le16(body + 16);
        break;
    }
    if (r.bytes.n > in.n - head)
        return 0;
    if (r.tag == TAPE_DATA && r.byte_off > UINT64_MAX - r.bytes.n) {
        *ret_reason = "byte offset overflows";
        return 0;
    }
    r.bytes.p = in.p + head;
    *ret = r;
    return head + r.bytes.n;
}
