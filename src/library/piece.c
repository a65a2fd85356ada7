/* SPDX-License-Identifier: MIT */
/*
 * piece.c -- some lines of text, packed.
 *
 * The size of the rest as a varint, then that rest by Brotli: how many rows there are,
 * for each what it differs from the one before in number, write_byte, time, start and
 * label, the size of the labels and they themselves, and the text. Whoever changed the
 * library's file may have made it: nothing in it is believed.
 */
#include "library/piece_priv.h"

#include <errno.h>

#include "base/varint.h"
#include "library/grams_priv.h"

enum {
    QUALITY = 1,
    ROW_NUMBERS = 5, /* of a row in its packed form */
    ROW_MAX = ROW_NUMBERS * VARINT_MAX,
    ROWS_MAX = PIECE_BYTES / 4,                  /* about, as PIECE_BYTES is */
    LINE_ROWS_MAX = PIECE_RAW_MAX / 2 / ROW_MAX, /* rows may be empty */
};

void
piece_release(struct piece *p)
{
    buf_release(&p->text);
    buf_release(&p->rows);
    buf_release(&p->raw);
    labels_release(&p->labels);
    tape_packer_release(&p->packer);
    *p = (struct piece){ 0 };
}

void
piece_clear(struct piece *p)
{
    buf_clear(&p->text);
    buf_clear(&p->rows);
    labels_clear(&p->labels);
    p->line_start = p->shown_bytes = 0;
    p->is_line_open = false;
}

static size_t
count_rows(const struct piece *p)
{
    return p->rows.n / sizeof(struct piece_row);
}

static const struct piece_row *
rows_of(const struct piece *p)
{
    return (const void *)p->rows.p;
}

/* -- making one -- */

int
piece_label(struct piece *p, const struct label *label)
{
    return labels_add(&p->labels, label);
}

int
piece_break(struct piece *p)
{
    if (p->line_start == p->text.n && !p->is_line_open)
        return 0;
    int r = buf_append(&p->text, "\n", 1);
    p->line_start = p->text.n;
    p->is_line_open = false;
    return r;
}

int
piece_add(struct piece *p, const struct piece_row *row, struct view text, bool is_wrapped)
{
    struct piece_row own = *row;
    own.start = (uint32_t)p->text.n;
    p->text.ceiling = PIECE_RAW_MAX / 2;
    int r = buf_reserve(&p->text, text.n + 1);
    if (!r)
        r = buf_append(&p->rows, &own, sizeof(own));
    if (r < 0)
        return r;
    buf_append(&p->text, text.p, text.n);
    p->shown_bytes += row->label == LABEL_SHOWN ? text.n + 1 : 0;
    p->is_line_open = true;
    bool is_cut = p->text.n - p->line_start >= PIECE_LINE_MAX ||
                  count_rows(p) >= LINE_ROWS_MAX;
    return is_wrapped && !is_cut ? 0 : piece_break(p);
}

/* What a turn says, too, takes no room to speak of when it is packed. */
bool
piece_is_full(const struct piece *p)
{
    size_t own = p->text.n > p->shown_bytes ? p->text.n - p->shown_bytes : 0;
    return !p->is_line_open && (own >= PIECE_BYTES || p->text.n >= PIECE_SHOWN_MAX ||
                                count_rows(p) >= ROWS_MAX);
}

/* -- to bytes -- */

static int
put_rows(struct piece *p)
{
    size_t count = count_rows(p);
    struct piece_row last = { 0 };
    size_t labels = p->labels.packed.n;
    int r = buf_reserve(&p->raw,
                        (size_t)2 * VARINT_MAX + count * ROW_MAX + labels + p->text.n);
    if (r < 0)
        return r;
    uint8_t *to = put_varint(p->raw.p, count);
    for (size_t i = 0; i < count; i++) {
        struct piece_row row = rows_of(p)[i];
        to = put_varint(to, zigzag(row.index - last.index));
        to = put_varint(to, zigzag(row.write_byte - last.write_byte));
        to = put_varint(to, zigzag(row.ts_ns - last.ts_ns));
        to = put_varint(to, row.start - last.start);
        to = put_varint(to, zigzag((uint64_t)row.label - last.label));
        last = row;
    }
    to = put_varint(to, labels);
    p->raw.n = (size_t)(to - p->raw.p);
    return buf_append(&p->raw, p->labels.packed.p, labels);
}

int
piece_pack(struct piece *p, struct buf *ret)
{
    uint8_t size[VARINT_MAX];
    int r = piece_break(p);
    if (r < 0)
        return r;
    buf_clear(&p->raw);
    p->raw.ceiling = PIECE_RAW_MAX;
    r = put_rows(p);
    if (!r)
        r = buf_append(&p->raw, p->text.p, p->text.n);
    if (!r)
        r = buf_append(ret, size, (size_t)(put_varint(size, p->raw.n) - size));
    if (!r)
        r = tape_deflate(&p->packer, (struct view){ p->raw.p, p->raw.n }, QUALITY, ret);
    return r;
}

/* -- and back -- */

static bool
get_row(struct view *in, struct piece_row *row)
{
    uint64_t index, write_byte, ts_ns, start, label;
    if (!get_varint(in, &index) || !get_varint(in, &write_byte) ||
        !get_varint(in, &ts_ns) || !get_varint(in, &start) || start > PIECE_RAW_MAX ||
        !get_varint(in, &label))
        return false;
    row->index += unzigzag(index);
    row->write_byte += unzigzag(write_byte);
    row->ts_ns += unzigzag(ts_ns);
    row->start += (uint32_t)start;
    row->label += (uint32_t)unzigzag(label);
    return row->start <= PIECE_RAW_MAX;
}

static int
get_labels(struct view *in, struct piece *p)
{
    uint64_t size;
    if (!get_varint(in, &size) || size > in->n)
        return ERR_DAMAGED;
    int r = labels_read(&p->labels, (struct view){ in->p, (size_t)size });
    *in = (struct view){ in->p + size, in->n - (size_t)size };
    for (size_t i = 0; !r && i < count_rows(p); i++)
        if (rows_of(p)[i].label >= labels_count(&p->labels))
            return ERR_DAMAGED;
    return r;
}

/* Each row begins in the text, not before the one before it; the first at its start. */
static int
get_rows(struct view *in, struct piece *p)
{
    struct piece_row row = { 0 };
    uint64_t count;
    if (!get_varint(in, &count) || count > in->n / ROW_NUMBERS)
        return ERR_DAMAGED;
    p->rows.ceiling = SIZE_MAX; /* in->n bounds it */
    int r = buf_reserve(&p->rows, (size_t)count * sizeof(row));
    for (uint64_t i = 0; !r && i < count; i++) {
        if (!get_row(in, &row) || (!i && row.start))
            return ERR_DAMAGED;
        r = buf_append(&p->rows, &row, sizeof(row));
    }
    if (!r)
        r = get_labels(in, p);
    if (!r && (count ? row.start >= in->n || in->p[in->n - 1] != '\n' : in->n > 0))
        return ERR_DAMAGED;
    return r;
}

int
piece_unpack(struct view packed, struct piece *ret)
{
    uint64_t size;
    piece_clear(ret);
    buf_clear(&ret->raw);
    ret->raw.ceiling = ret->text.ceiling = PIECE_RAW_MAX;
    if (!get_varint(&packed, &size) || !size || size > PIECE_RAW_MAX)
        return ERR_DAMAGED;
    uint8_t *raw = buf_grow(&ret->raw, (size_t)size);
    if (!raw)
        return ret->raw.failed;
    int r = tape_inflate(packed, raw, (size_t)size);
    struct view rest = { raw, (size_t)size };
    if (!r)
        r = get_rows(&rest, ret);
    if (!r)
        r = buf_append(&ret->text, rest.p, rest.n);
    if (r < 0)
        piece_clear(ret);
    ret->line_start = ret->text.n;
    return r == -EINVAL ? ERR_DAMAGED : r;
}

struct piece_row
piece_row_at(const struct piece *p, size_t at)
{
    size_t low = 0, high = count_rows(p);
    while (high - low > 1) {
        size_t middle = low + (high - low) / 2;
        if (rows_of(p)[middle].start <= at)
            low = middle;
        else
            high = middle;
    }
    return high ? rows_of(p)[low] : (struct piece_row){ 0 };
}

struct label
piece_label_of(const struct piece *p, const struct piece_row *row)
{
    return labels_at(&p->labels, row->label);
}

int
piece_words(const struct piece *p, struct grams *g, struct buf *ret)
{
    unsigned kinds = 0;
    for (size_t i = 0; i < count_rows(p); i++)
        if (rows_of(p)[i].label < LABEL_TURN)
            kinds |= 1U << rows_of(p)[i].label;
    int r = grams_words(g, (struct view){ p->text.p, p->text.n }, ret);
    return r < 0 ? r : labels_words(&p->labels, kinds, ret);
}
