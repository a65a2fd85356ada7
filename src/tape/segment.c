/* SPDX-License-Identifier: MIT */
#include "tape/segment_priv.h"

#include <errno.h>

#include "base/le.h"

enum {
    WINDOW_BYTES = 256 << 10,
    PAGE_BYTES = 4096,
    SCAN_BYTES = 64 << 10,
    UNPACK_BYTES = 64 << 20, /* that may be unpacked in vain, and 16 times the file */
    BLOCK_BYTES_MAX = TAPE_BLOCK_HEAD_OLD + TAPE_BLOCK_PACKED_MAX,
};

void
window_release(struct window *w)
{
    buf_release(&w->bytes);
}

/* Page by page, with zeros for what cannot be read: its neighbours still can. */
static size_t
read_pages(struct window *w, uint8_t *p, size_t n, uint64_t off)
{
    for (size_t done = 0, take; done < n; done += take) {
        take = n - done < PAGE_BYTES ? n - done : (size_t)PAGE_BYTES;
        ssize_t r = tape_io_read_full(w->io, w->fd, p + done, take, off + done);
        if (r < 0) {
            w->failed = (int)r;
            memset(p + done, 0, take);
        } else if ((size_t)r < take) {
            return done + (size_t)r;
        }
    }
    return n;
}

static void
window_fill(struct window *w, int fd, uint64_t off, size_t n)
{
    size_t keep = 0;
    if (w->fd == fd && off >= w->off && off - w->off < w->bytes.n) {
        keep = w->bytes.n - (size_t)(off - w->off);
        memmove(w->bytes.p, w->bytes.p + (off - w->off), keep);
    }
    w->fd = fd;
    w->off = off;
    w->bytes.n = keep;
    w->bytes.ceiling = BLOCK_BYTES_MAX + WINDOW_BYTES;
    n = n > WINDOW_BYTES ? n : (size_t)WINDOW_BYTES;
    uint8_t *p = buf_grow(&w->bytes, n - keep);
    if (!p) {
        w->failed = -ENOMEM;
        return;
    }
    ssize_t got = tape_io_read_full(w->io, fd, p, n - keep, off + keep);
    if (got < 0)
        got = (ssize_t)read_pages(w, p, n - keep, off + keep);
    w->bytes.n = keep + (size_t)got;
}

struct view
window_get(struct window *w, int fd, uint64_t off, size_t n)
{
    bool has_all = w->fd == fd && off >= w->off && off - w->off <= w->bytes.n &&
                   w->bytes.n - (off - w->off) >= n;
    if (!has_all)
        window_fill(w, fd, off, n);
    size_t left = w->bytes.n - (size_t)(off - w->off);
    return (struct view){ w->bytes.p + (off - w->off), left < n ? left : n };
}

static void
set_budgets(struct segment *s)
{
    s->check_budget = SCAN_BYTES + 4 * s->size;
    s->unpack_budget = UNPACK_BYTES + 16 * s->size;
}

void
segment_begin(struct segment *s, int fd, uint64_t size)
{
    *s = (struct segment){ .fd = fd };
    segment_grow(s, size);
}

void
segment_grow(struct segment *s, uint64_t size)
{
    s->size = size;
    set_budgets(s);
}

void
segment_jump(struct segment *s, uint64_t off, uint64_t ordinal)
{
    s->has_head = s->has_given_up = false;
    s->pos = off;
    s->next_ordinal = ordinal;
    s->next_byte_off = s->next_ts_ns = 0;
    set_budgets(s);
}

/* Gives the block its whole ordinal (format, I6); false when it is not above the last
 * one's. */
static bool
complete_ordinal(const struct segment *s, struct tape_block *b, uint64_t skipped)
{
    const uint64_t range = 1U << TAPE_ORDINAL_BITS;
    bool has_one = s->is_begun ? s->has_checks : b->is_checked;
    uint64_t ahead = has_one ? (b->ordinal - s->next_ordinal) & (range - 1) : 0;
    b->ordinal = s->next_ordinal + ahead;
    /* No more blocks than there was room for can lie in what was skipped. */
    return ahead < range / 2 && (!skipped || ahead <= skipped / TAPE_BLOCK_HEAD);
}

/* Why a block with this header cannot follow what came before (format, I15). */
static const char *
order_fault(const struct segment *s, struct tape_block *b, uint64_t skipped)
{
    bool must_check = s->is_begun ? s->has_checks : s->must_check;
    if (must_check && !b->is_checked)
        return "block without checksum among checksummed ones";
    if (!complete_ordinal(s, b, skipped))
        return "block stands out of order";
    if (b->start_byte_off < s->next_byte_off)
        return "byte offset goes back";
    if (skipped && b->is_checked && b->start_ts_ns < s->next_ts_ns)
        return "time goes back";
    return NULL;
}

/* Takes the work of looking at this block out of the budgets; false when they do not
 * suffice. */
static bool
spend(struct segment *s, const struct tape_block *b)
{
    uint64_t check = TAPE_BLOCK_HEAD + (uint64_t)b->packed_len;
    uint64_t unpack = b->is_checked ? 0 : b->raw_len; /* else the checksum comes first */
    if (s->check_budget < check || s->unpack_budget < unpack)
        return false;
    s->check_budget -= check;
    s->unpack_budget -= unpack;
    return true;
}

static const char out_of_budget[] =
    "too many false block headers; not all were looked at";

/* NULL when a valid block stands at off: it is the head then. *ret_size: its claimed
 * size. */
static const char *
try_at(struct segment *s, struct window *w, uint64_t off, bool is_after_damage,
       struct buf *records, uint64_t *ret_size)
{
    struct tape_block b;
    struct view v = window_get(w, s->fd, off, TAPE_BLOCK_HEAD);
    *ret_size = 0;
    if (v.n < TAPE_BLOCK_HEAD)
        return "block header is cut short";
    const char *bad = tape_block_parse(v.p, &b);
    if (bad == tape_block_bad_version && !is_after_damage)
        s->bad_version = get_le16(v.p + 4);
    if (bad)
        return bad;
    *ret_size = TAPE_BLOCK_HEAD + (uint64_t)b.packed_len;
    if (*ret_size > s->size - off)
        return "payload is cut short";
    bad = order_fault(s, &b, is_after_damage ? off - s->pos : 0);
    if (bad)
        return bad;
    if (!s->unpack_budget || (is_after_damage && !spend(s, &b))) {
        s->has_given_up = true;
        return out_of_budget;
    }
    v = window_get(w, s->fd, off, TAPE_BLOCK_HEAD_OLD + (size_t)b.packed_len);
    bad = tape_block_unpack(&b, v, records, &s->head_size, &s->head_extent);
    if (bad == tape_block_no_memory)
        w->failed = -ENOMEM;
    if (bad) /* unpacked in vain, perhaps */
        s->unpack_budget -= b.raw_len < s->unpack_budget ? b.raw_len : s->unpack_budget;
    if (bad)
        return bad;
    s->has_head = true;
    s->head = b;
    s->head_off = off;
    return NULL;
}

/* The first place at or behind off where a valid block stands, or the end. */
static uint64_t
scan(struct segment *s, struct window *w, uint64_t off, struct buf *records)
{
    uint64_t size;
    while (off + TAPE_BLOCK_HEAD <= s->size) {
        struct view v = window_get(w, s->fd, off, SCAN_BYTES);
        const uint8_t *hit = v.n < 4 ? NULL : memmem(v.p, v.n, tape_block_magic, 4);
        if (!hit) {
            if (v.n < SCAN_BYTES)
                break;
            off += v.n - 3;
            continue;
        }
        off += (uint64_t)(hit - v.p);
        if (!try_at(s, w, off, true, records, &size))
            return off;
        off += 4;
    }
    return s->size;
}

static bool
is_zero_to_end(struct segment *s, struct window *w, uint64_t off)
{
    while (off < s->size) {
        struct view v = window_get(w, s->fd, off, SCAN_BYTES);
        for (size_t i = 0; i < v.n; i++)
            if (v.p[i])
                return false;
        if (!v.n)
            return false;
        off += v.n;
    }
    return true;
}

/*
 * How many blocks, whole or begun, the bytes from s->pos to the end are by their headers,
 * as a writer that was stopped leaves them (behind them there may be zeros, or a piece of
 * a header); -1: they are something else.
 */
static int64_t
count_torn(const struct segment *at, struct window *w)
{
    struct segment s = *at; /* walks on a copy */
    for (int64_t n = 0;; n++) {
        struct tape_block b;
        struct view v = window_get(w, s.fd, s.pos, TAPE_BLOCK_HEAD);
        size_t magic = v.n < sizeof(tape_block_magic) ? v.n : sizeof(tape_block_magic);
        if (v.n < TAPE_BLOCK_HEAD && (!magic || !memcmp(v.p, tape_block_magic, magic)))
            return n;
        bool is_ours = v.n == TAPE_BLOCK_HEAD && !tape_block_parse(v.p, &b) &&
                       b.is_checked && complete_ordinal(&s, &b, 0) &&
                       b.ordinal == s.next_ordinal;
        if (!is_ours)
            return is_zero_to_end(&s, w, s.pos) ? n : -1;
        uint64_t size = TAPE_BLOCK_HEAD + (uint64_t)b.packed_len;
        if (size >= s.size - s.pos)
            return n + 1;
        s.pos += size;
        s.next_ordinal++;
    }
}

/* From the bad place at s->pos to the next good one, or the end (format, I16). */
static void
skip_bad(struct segment *s, struct window *w, uint64_t claimed, struct buf *records)
{
    uint64_t size, end = s->size;
    struct tape_block b;
    struct view v = window_get(w, s->fd, s->pos, TAPE_BLOCK_HEAD);
    s->must_check |= v.n == TAPE_BLOCK_HEAD && !tape_block_parse(v.p, &b) && b.is_checked;
    s->bad_off = s->pos;
    s->bad_blocks = count_torn(s, w);
    /* What a stopped writer left of a block that has a tail is the agent's own output:
     * what looks like a block in it is none of ours. */
    bool is_torn = s->has_tail && s->bad_blocks >= 0;
    if (claimed && claimed < s->size - s->pos &&
        !try_at(s, w, s->pos + claimed, true, records, &size))
        end = s->pos + claimed;
    else if (!is_torn)
        end = scan(s, w, s->pos + 1, records);
    s->bad_len = end - s->bad_off;
    s->pos = end;
    if (s->has_given_up)
        snprintf(s->bad_reason, sizeof(s->bad_reason), "%s", out_of_budget);
}

static void
note_reason(struct segment *s, const struct window *w, const char *bad)
{
    if (w->failed)
        snprintf(s->bad_reason, sizeof(s->bad_reason), "cannot be read: %s",
                 strerror(-w->failed));
    else if (bad == tape_block_bad_version)
        snprintf(s->bad_reason, sizeof(s->bad_reason),
                 "format version %u is not supported", s->bad_version);
    else
        snprintf(s->bad_reason, sizeof(s->bad_reason), "%s", bad);
}

bool
segment_find(struct segment *s, struct window *w, struct buf *records)
{
    uint64_t claimed;
    s->bad_len = 0;
    s->has_head = false;
    if (s->pos >= s->size)
        return false;
    w->failed = 0;
    const char *bad = try_at(s, w, s->pos, false, records, &claimed);
    if (bad) {
        note_reason(s, w, bad);
        skip_bad(s, w, claimed, records);
    }
    if (!s->has_head)
        return false;
    if (!s->is_begun) {
        s->is_begun = true;
        s->has_checks = s->head.is_checked;
    }
    s->pos = s->head_off + s->head_size;
    s->next_ordinal = s->head.ordinal + 1;
    /* Files without checksums are other writers', who may count otherwise. */
    s->next_byte_off = s->has_checks ? s->head_extent.end_byte_off
                                     : s->head.start_byte_off;
    s->next_ts_ns = s->head_extent.last_ts_ns;
    return true;
}
