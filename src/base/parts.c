/* SPDX-License-Identifier: MIT */
#include "base/parts.h"

#include "base/le.h"

int
parts_put_u64(struct buf *out, uint64_t v)
{
    uint8_t bytes[8];
    put_le64(bytes, v);
    return buf_append(out, bytes, sizeof(bytes));
}

int
parts_put(struct buf *out, struct view bytes)
{
    int r = parts_put_u64(out, bytes.n);
    return r < 0 ? r : buf_append(out, bytes.p, bytes.n);
}

bool
parts_take_u64(struct view *rest, uint64_t *ret)
{
    if (rest->n < 8)
        return false;
    *ret = get_le64(rest->p);
    *rest = (struct view){ rest->p + 8, rest->n - 8 };
    return true;
}

bool
parts_take(struct view *rest, struct view *ret)
{
    struct view at = *rest;
    uint64_t n;
    if (!parts_take_u64(&at, &n) || n > at.n)
        return false;
    *ret = (struct view){ at.p, (size_t)n };
    *rest = (struct view){ at.p + n, at.n - (size_t)n };
    return true;
}
