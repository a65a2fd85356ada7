/* SPDX-License-Identifier: MIT */
/*
 * seek.c -- to a byte or a time without unpacking what lies before.
 *
 * The index comes from block headers alone and is only a hint where to begin: blocks are
 * checked when they are read. It ends where the headers stop making sense; what lies
 * behind is reached by reading on. Its size is bounded: when full, every second entry
 * goes and the stride doubles.
 */
#include "tape/reader_priv.h"

#include <errno.h>

enum { INDEX_MAX = 1 << 16 };

static void
thin_out(struct tape_reader *r)
{
    r->index_count /= 2;
    r->index_stride *= 2;
    for (size_t i = 0; i < r->index_count; i++)
        r->index[i] = r->index[2 * i];
}

static bool
read_header(struct tape_reader *r, struct segment *s, uint64_t off,
            uint8_t p[TAPE_BLOCK_HEAD], struct tape_block *ret)
{
    return tape_io_read_full(r->io, s->fd, p, TAPE_BLOCK_HEAD, off) == TAPE_BLOCK_HEAD &&
           !tape_block_parse(p, ret) &&
           TAPE_BLOCK_HEAD + ret->packed_len <= s->size - off;
}

/* A block by its header alone, and whether more of them are wanted. */
typedef bool (*head_fn)(void *ctx, const struct tape_block *b, uint64_t off,
                        const uint8_t p[TAPE_BLOCK_HEAD]);

/* Headers get their whole ordinal, and the latest stamp so far. */
static void
each_header(struct tape_reader *r, head_fn fn, void *ctx)
{
    const uint64_t mask = (1U << TAPE_ORDINAL_BITS) - 1;
    struct segment *s = &r->segments[0].seg;
    struct tape_block b;
    uint8_t p[TAPE_BLOCK_HEAD];
    uint64_t off = 0, last_byte = 0, last_ts = 0;
    bool has_checks = false;
    for (uint64_t n = 0; off < s->size && read_header(r, s, off, p, &b); n++) {
        has_checks = n ? has_checks : b.is_checked;
        if (b.is_checked != has_checks)
            break;
        if ((b.is_checked && b.ordinal != (n & mask)) || b.start_byte_off < last_byte)
            break;
        b.ordinal = n;
        b.start_ts_ns = last_ts = b.start_ts_ns > last_ts ? b.start_ts_ns : last_ts;
        if (!fn(ctx, &b, off, p))
            break;
        last_byte = b.start_byte_off;
        off += TAPE_BLOCK_HEAD + b.packed_len;
    }
}

static bool
add_to_index(void *ctx, const struct tape_block *b, uint64_t off,
             const uint8_t p[TAPE_BLOCK_HEAD])
{
    (void)p;
    struct tape_reader *r = ctx;
    if (r->index_count == INDEX_MAX)
        thin_out(r);
    if (b->ordinal % r->index_stride == 0)
        r->index[r->index_count++] = (struct index_entry){
            .off = off,
            .byte_off = b->start_byte_off,
            .ts_ns = b->start_ts_ns,
            .ordinal = b->ordinal,
        };
    return true;
}

static int
build_index(struct tape_reader *r)
{
    r->index = calloc(INDEX_MAX, sizeof(r->index[0]));
    if (!r->index)
        return -ENOMEM;
    r->index_stride = 1;
    each_header(r, add_to_index, r);
    return 0;
}

static void
rewind_to(struct tape_reader *r, const struct index_entry *e)
{
    for (unsigned i = 0; i < r->segment_count; i++) {
        struct segment_source *src = &r->segments[i];
        segment_jump(&src->seg, e->off, e->ordinal);
        src->has_ended = src->is_foreign;
        src->is_bad = false;
    }
    for (size_t i = 0; i < r->tail_count; i++)
        r->tails[i].is_used = false;
    r->next_ordinal = e->ordinal;
    r->byte_off = r->last_end_off = 0;
    r->missing_blocks = r->max_ts_ns = r->last_ts_ns = 0;
    r->last_source = NULL;
    r->is_last_seen = r->has_pushed_back = false;
    r->rest.n = 0;
    r->looks = 0;
}

/* Begins at the entry if there really is such a block; its header was not checked so far.
 */
static bool
begin_at(struct tape_reader *r, const struct index_entry *e)
{
    struct segment *s = &r->segments[0].seg;
    rewind_to(r, e);
    if (!segment_find(s, &r->window, &r->records) || s->bad_len ||
        s->head.ordinal != e->ordinal)
        return false;
    r->decoded = s;
    r->byte_off = s->head.start_byte_off;
    return true;
}

static bool
is_one_file(const struct tape_reader *r)
{
    return r->segment_count == 1 && r->segments[0].is_open;
}

/* Begins at the last block that starts before the place; `is_before` knows. */
static int
go_near(struct tape_reader *r, bool (*is_before)(const struct index_entry *, uint64_t),
        uint64_t target)
{
    static const struct index_entry start;
    /* Several segments overlap; then everything is read from the start. */
    bool is_one = is_one_file(r);
    if (is_one && !r->index) {
        int e = build_index(r);
        if (e < 0)
            return e;
    }
    size_t low = 0, high = is_one ? r->index_count : 0;
    while (low < high) {
        size_t mid = (low + high) / 2;
        if (is_before(&r->index[mid], target))
            low = mid + 1;
        else
            high = mid;
    }
    /* A damaged place to begin at would hide what comes after it: take an earlier one. */
    while (low && !begin_at(r, &r->index[low - 1]))
        low /= 2;
    if (!low)
        rewind_to(r, &start);
    return 0;
}

static bool
starts_before_byte(const struct index_entry *e, uint64_t byte_off)
{
    return e->byte_off < byte_off;
}

static bool
starts_before_time(const struct index_entry *e, uint64_t ts_ns)
{
    return e->ts_ns < ts_ns;
}

static int
push_back(struct tape_reader *r, const struct tape_record *rec)
{
    r->pushed_back = *rec;
    r->has_pushed_back = true;
    return 0;
}

int
tape_reader_seek_byte(struct tape_reader *r, uint64_t byte_off)
{
    struct tape_record rec;
    int e = go_near(r, starts_before_byte, byte_off);
    while (!e && tape_reader_next(r, &rec))
        if (r->byte_off > byte_off || (r->byte_off == byte_off && rec.tag != TAPE_DATA))
            return push_back(r, &rec);
    return e;
}

int
tape_reader_seek_time(struct tape_reader *r, uint64_t ts_ns)
{
    struct tape_record rec;
    int e = go_near(r, starts_before_time, ts_ns);
    while (!e && tape_reader_next(r, &rec))
        if (rec.ts_ns >= ts_ns)
            return push_back(r, &rec);
    return e;
}

/* -- for those who have been here before -- */

void
tape_reader_rewind(struct tape_reader *r)
{
    static const struct index_entry start;
    rewind_to(r, &start);
}

bool
tape_reader_begin_at(struct tape_reader *r, const struct tape_place *place)
{
    struct index_entry e = { .off = place->file_off, .ordinal = place->ordinal };
    if (is_one_file(r) && begin_at(r, &e) && r->segments[0].seg.head.crc == place->crc)
        return true;
    tape_reader_rewind(r);
    return false;
}

bool
tape_reader_is_single(const struct tape_reader *r)
{
    const struct segment *s = &r->segments[0].seg;
    return is_one_file(r) && !r->tail_count && s->is_begun && s->has_checks &&
           !r->read_error;
}

int
tape_reader_identity(const struct tape_reader *r, struct tape_identity *ret)
{
    if (!is_one_file(r) || !r->io->ops->identity)
        return -ENOTSUP;
    return r->io->ops->identity(r->io, r->segments[0].seg.fd, ret);
}

struct head_call {
    tape_head_fn fn;
    void *ctx;
};

static bool
call_head(void *ctx, const struct tape_block *b, uint64_t off,
          const uint8_t p[TAPE_BLOCK_HEAD])
{
    struct head_call *call = ctx;
    struct tape_place place = { off, b->ordinal, b->crc };
    return call->fn(call->ctx, &place, p);
}

void
tape_reader_heads(struct tape_reader *r, tape_head_fn fn, void *ctx)
{
    struct head_call call = { fn, ctx };
    if (is_one_file(r))
        each_header(r, call_head, &call);
}
