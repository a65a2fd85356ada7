/* SPDX-License-Identifier: MIT */
/*
 * print.c -- characters into cells.
 *
 * Runs of ASCII are the common case and go in blocks. t->byte_off stands behind the whole
 * run while rows are stamped with the offset behind their own last character: what is
 * still to be printed is taken off.
 */
#include "base/utf8.h"
#include "term/term_priv.h"
#ifdef __SSE2__
#include <emmintrin.h>
#endif

enum { REPEAT_MAX = 65535 }; /* of one REP */

/* -- cells -- */

#ifdef __SSE2__
static inline void
store4(uint32_t *p, __m128i v)
{
    _mm_storeu_si128((__m128i *)(void *)p, v);
}
#endif

/* n bytes at p as cells, sixteen at a time. */
static inline void
put_bytes(struct term_row *row, uint32_t col, const uint8_t *p, uint32_t n,
          uint32_t style)
{
    uint32_t *text = row->text + col, *styles = row->style + col;
    uint32_t i = 0;
#ifdef __SSE2__
    __m128i zero = _mm_setzero_si128(), s = _mm_set1_epi32((int)style);
    for (; i + 16 <= n; i += 16) {
        __m128i v = _mm_loadu_si128((const __m128i *)(const void *)(p + i));
        __m128i low = _mm_unpacklo_epi8(v, zero), high = _mm_unpackhi_epi8(v, zero);
        store4(text + i, _mm_unpacklo_epi16(low, zero));
        store4(text + i + 4, _mm_unpackhi_epi16(low, zero));
        store4(text + i + 8, _mm_unpacklo_epi16(high, zero));
        store4(text + i + 12, _mm_unpackhi_epi16(high, zero));
        for (uint32_t k = 0; k < 16; k += 4)
            store4(styles + i + k, s);
    }
    for (; i + 4 <= n; i += 4) {
        int32_t four;
        memcpy(&four, p + i, 4);
        __m128i v = _mm_unpacklo_epi8(_mm_cvtsi32_si128(four), zero);
        store4(text + i, _mm_unpacklo_epi16(v, zero));
        store4(styles + i, s);
    }
#endif
    for (; i < n; i++) {
        text[i] = p[i];
        styles[i] = style;
    }
}

/* Makes cells col..col + n ready to be overwritten. */
static inline bool
open_cells(struct term *t, struct term_row *row, uint32_t col, uint32_t n)
{
    uint32_t end = col + n;
    if (!term_row_reserve(row, end) || (col > row->used && !term_row_extend(row, col))) {
        term_no_memory(t);
        return false;
    }
    if (row->has_wide) {
        term_row_split(row, col);
        term_row_split(row, end);
    }
    if (row->used < end)
        row->used = end;
    return true;
}

static void
make_room(struct term *t, struct term_row *row, uint32_t col, uint32_t n, uint32_t right)
{
    if (n > right - col)
        n = right - col;
    if (!term_row_insert(row, col, right, n, 0))
        term_no_memory(t);
}

/* The column where a line ends for the cursor. */
static inline uint32_t
line_end(const struct term *t)
{
    return t->at.col < t->right ? t->right : t->cols;
}

/* To the start of the next line, which goes on with this one's text. */
static void
wrap(struct term *t)
{
    uint32_t left = t->at.col >= t->left ? t->left : 0;
    struct term_row *row = term_cursor_row(t);
    if (term_is_full_width(t) && term_row_length(row) == t->cols)
        row->is_wrapped = true;
    term_line_feed(t);
    t->at.col = left;
    t->at.is_pending = false;
}

/* The cursor stands behind what was printed up to `col`. */
static inline void
advance(struct term *t, uint32_t col, uint32_t end)
{
    if (col < end) {
        t->at.col = col;
        return;
    }
    t->at.col = end - 1;
    t->at.is_pending = term_has(t, TERM_MODE_AUTOWRAP);
}

/* -- ASCII -- */

/* off: where the first byte begins; `step`: 1, or 0 when all come from one sequence. */
static void
print_bytes(struct term *t, const uint8_t *p, size_t n, uint64_t off, unsigned step)
{
    uint64_t byte_off = t->byte_off;
    term_know_pen(t);
    while (n) {
        if (t->at.is_pending) {
            t->byte_off = off + step; /* it is this byte that scrolls */
            wrap(t);
            t->byte_off = byte_off;
        }
        struct term_row *row = term_cursor_row(t);
        uint32_t end = line_end(t), room = end - t->at.col;
        /* Without autowrap the rest goes to the last column, one over the other. */
        uint32_t k = n < room ? (uint32_t)n : room;
        if (term_has(t, TERM_MODE_INSERT))
            make_room(t, row, t->at.col, k, end);
        if (open_cells(t, row, t->at.col, k))
            put_bytes(row, t->at.col, p, k, t->pen_id);
        off += (uint64_t)k * step;
        row->stamp = off;
        row->is_damaged = true;
        p += k;
        n -= k;
        t->join_col = t->at.col + k - 1;
        advance(t, t->at.col + k, end);
    }
}

/* -- charsets -- */

static const uint16_t line_drawing[] = {
    /* 0x5f.. */
    0x0020, 0x25c6, 0x2592, 0x2409, 0x240c, 0x240d, 0x240a, 0x00b0,
    0x00b1, 0x2424, 0x240b, 0x2518, 0x2510, 0x250c, 0x2514, 0x253c,
    0x23ba, 0x23bb, 0x2500, 0x23bc, 0x23bd, 0x251c, 0x2524, 0x2534,
    0x252c, 0x2502, 0x2264, 0x2265, 0x03c0, 0x2260, 0x00a3, 0x00b7,
};

static uint32_t
translate(enum term_charset set, uint8_t b)
{
    if (set == TERM_CHARSET_LINES && b >= 0x5f)
        return line_drawing[b - 0x5f];
    return set == TERM_CHARSET_UK && b == '#' ? 0xa3 : b;
}

/* -- one character -- */

static uint32_t
first_rune(const struct term *t, uint32_t cell)
{
    uint32_t rune = cell & TERM_CELL_VALUE;
    if (cell & TERM_CELL_CLUSTER) {
        struct view v = term_cluster_text(&t->tables, rune);
        if (!utf8_next(v.p, v.n, &rune))
            rune = ' ';
    }
    return rune;
}

/* Finds the cell that a mark belongs to: of the last character, or else the one before
 * the cursor. False when there is none. */
static bool
cell_before(const struct term *t, const struct term_row *row, bool joins,
            uint32_t *ret_col)
{
    uint32_t col = joins ? t->join_col : t->at.col;
    if (!joins && !t->at.is_pending && !col--)
        return false;
    if (col < row->used && row->text[col] == TERM_CELL_TAIL && col)
        col--;
    *ret_col = col;
    return true;
}

/* The character joins that of the cell. Beyond the ceiling it is dropped. */
static void
add_to_cell(struct term *t, struct term_row *row, uint32_t col, uint32_t rune)
{
    uint8_t bytes[TERM_CLUSTER_MAX + 4];
    size_t n;
    uint32_t cell = row->text[col];
    if (cell & TERM_CELL_CLUSTER) {
        struct view v = term_cluster_text(&t->tables, cell & TERM_CELL_VALUE);
        memcpy(bytes, v.p, n = v.n);
    } else {
        n = utf8_put(bytes, cell & TERM_CELL_VALUE ? cell & TERM_CELL_VALUE : ' ');
    }
    n += utf8_put(bytes + n, rune);
    if (n > TERM_CLUSTER_MAX)
        return;
    uint32_t id = term_cluster_id(&t->tables, (struct view){ bytes, n });
    if (id)
        row->text[col] = id | TERM_CELL_CLUSTER | (cell & TERM_CELL_WIDE);
    else
        term_no_memory(t);
}

/* The last column stays empty, since a wide character does not fit there. */
static void
pad(struct term *t, uint32_t end)
{
    struct term_row *row = term_cursor_row(t);
    if (open_cells(t, row, end - 1, 1)) {
        row->text[end - 1] = TERM_CELL_PAD;
        row->style[end - 1] = t->blank_id;
        row->has_wide = true;
    }
    term_touch(t, row);
}

/* A wide character, or as much of it as fits. */
static void
put_wide(struct term *t, uint32_t text, uint32_t style, uint32_t end)
{
    struct term_row *row = term_cursor_row(t);
    uint32_t col = t->at.col, n = col + 2 <= end ? 2 : 1;
    if (term_has(t, TERM_MODE_INSERT))
        make_room(t, row, col, n, end);
    if (open_cells(t, row, col, n)) {
        row->text[col] = text | TERM_CELL_WIDE;
        row->style[col] = style;
        if (n == 2) {
            row->text[col + 1] = TERM_CELL_TAIL;
            row->style[col + 1] = style;
        }
        row->has_wide = true;
    }
    term_touch(t, row);
    t->join_col = col;
    advance(t, col + n, end);
}

/* Else not even an empty line has room for a wide character. */
static bool
has_two_columns(const struct term *t, uint32_t end)
{
    return end - (t->at.col >= t->left ? t->left : 0) >= 2;
}

/*
 * Its cell must become two columns wide for this character. When there is no room at the
 * end of the line the whole of it goes to the next one. False: it cannot be done.
 */
static bool
widen(struct term *t, struct term_row *row, uint32_t col)
{
    uint32_t end = line_end(t), text = row->text[col], style = row->style[col];
    if (text & TERM_CELL_WIDE)
        return true;
    if (col + 1 == end && has_two_columns(t, end)) {
        if (!t->at.is_pending)
            return false;
        pad(t, end);
        wrap(t);
        put_wide(t, text, style, line_end(t));
        return true;
    }
    /* In insert mode one more column opens; the first one is there already. */
    bool is_insert = term_has(t, TERM_MODE_INSERT);
    if (is_insert && col + 1 < end)
        make_room(t, row, col + 1, 1, end);
    t->at.col = col;
    t->at.is_pending = false;
    term_set(t, TERM_MODE_INSERT, false);
    put_wide(t, text, style, end);
    term_set(t, TERM_MODE_INSERT, is_insert);
    return true;
}

/* A character that takes no cell of its own, or none at all. */
static void
print_joined(struct term *t, uint32_t rune, uint8_t class, bool joins)
{
    if (class == TERM_CLASS_CONTROL) {
        t->join.rune = 0; /* what it stood between stays apart */
        return;
    }
    struct term_row *row = term_cursor_row(t);
    uint32_t col;
    if (!cell_before(t, row, joins, &col))
        return;
    t->join_col = col;
    if (col >= row->used && !term_row_extend(row, col + 1)) {
        term_no_memory(t);
        return;
    }
    if (term_class_widens(t->widths, first_rune(t, row->text[col]), rune, class)) {
        if (!widen(t, row, col))
            return;
        row = term_cursor_row(t);
        col = t->join_col;
    }
    add_to_cell(t, row, col, rune);
    term_touch(t, row);
}

static void
print_cell(struct term *t, uint32_t rune, uint32_t width)
{
    if (t->at.is_pending)
        wrap(t);
    uint32_t end = line_end(t);
    if (width == 2) {
        if (t->at.col + 2 > end && has_two_columns(t, end)) {
            if (term_has(t, TERM_MODE_AUTOWRAP)) {
                pad(t, end);
                wrap(t);
                end = line_end(t);
            } else {
                t->at.col = end - 2;
            }
        }
        put_wide(t, rune, t->pen_id, end);
        return;
    }
    struct term_row *row = term_cursor_row(t);
    uint32_t col = t->at.col;
    if (term_has(t, TERM_MODE_INSERT))
        make_room(t, row, col, 1, end);
    if (open_cells(t, row, col, 1)) {
        row->text[col] = rune;
        row->style[col] = t->pen_id;
    }
    term_touch(t, row);
    t->join_col = col;
    advance(t, col + 1, end);
}

static void
print_rune(struct term *t, uint32_t rune)
{
    if (rune >= 0x80 && rune < 0xa0)
        return; /* C1 controls are none here */
    uint8_t class = term_class(t->widths, rune);
    bool joins = term_join_slow(&t->join, rune, class);
    if (joins || !(class & TERM_CLASS_WIDTH)) {
        print_joined(t, rune, class, joins);
        return;
    }
    t->last_rune = rune;
    print_cell(t, rune, class & TERM_CLASS_WIDTH);
}

/*
 * Characters of which each has a cell, or two, of its own, as far as they fit into this
 * line; returns how many.
 */
static size_t
print_plain_run(struct term *t, const uint32_t *runes, size_t n, uint64_t *off)
{
    uint32_t end = line_end(t), col = t->at.col;
    struct term_row *row = term_cursor_row(t);
    if (t->at.is_pending || term_has(t, TERM_MODE_INSERT))
        return 0;
    if (!term_row_reserve(row, end) || (col > row->used && !term_row_extend(row, col)))
        return 0;
    uint32_t *text = row->text, *style = row->style, pen = t->pen_id;
    struct term_join join = t->join;
    size_t i = 0;
    for (; i < n; i++) {
        uint8_t class = term_class(t->widths, runes[i]);
        uint32_t width = class & TERM_CLASS_WIDTH;
        if (!width || col + width > end || term_may_join(&join, class))
            break;
        if (!i)
            term_row_split(row, col);
        join = (struct term_join){ runes[i], class, 0 };
        text[col] = runes[i];
        style[col] = pen;
        if (width == 2) {
            text[col] |= TERM_CELL_WIDE;
            text[col + 1] = TERM_CELL_TAIL;
            style[col + 1] = pen;
            row->has_wide = true;
        }
        col += width;
        *off += utf8_size(runes[i]);
    }
    if (!i)
        return 0;
    if (col < row->used && text[col] == TERM_CELL_TAIL) {
        text[col] = 0; /* its left half was overwritten */
        row->is_wrapped &= col + 1 < t->cols;
    }
    if (row->used < col)
        row->used = col;
    row->stamp = *off;
    row->is_damaged = true;
    t->last_rune = runes[i - 1];
    t->join = join;
    t->join_col = col - (join.rune_class & TERM_CLASS_WIDTH);
    advance(t, col, end);
    return i;
}

static uint64_t
size_of(const uint32_t *runes, size_t n)
{
    uint64_t size = 0;
    for (size_t i = 0; i < n; i++)
        size += utf8_size(runes[i]);
    return size;
}

void
term_print_runes(struct term *t, const uint32_t *runes, size_t n)
{
    uint64_t end = t->byte_off;
    /* For a lone U+FFFD, which may stand for fewer bytes, this comes out right, too. */
    uint64_t off = end - size_of(runes, n);
    t->at.charsets.single = 0;
    term_know_pen(t);
    for (size_t i = 0; i < n;) {
        size_t count = print_plain_run(t, runes + i, n - i, &off);
        i += count;
        if (count)
            continue;
        off += utf8_size(runes[i]);
        t->byte_off = off;
        print_rune(t, runes[i++]);
    }
    t->byte_off = end;
}

/* The most common case: it fits, and there is nothing in the way. */
static inline bool
print_simply(struct term *t, const uint8_t *p, size_t n)
{
    struct term_row *row = term_cursor_row(t);
    uint32_t col = t->at.col, end = line_end(t);
    if (n >= end - col || t->at.is_pending || !t->is_pen_known || row->has_wide ||
        term_has(t, TERM_MODE_INSERT) || end > row->cap)
        return false;
    if (col > row->used)
        term_row_extend(row, col); /* there is room */
    end = col + (uint32_t)n;
    put_bytes(row, col, p, (uint32_t)n, t->pen_id);
    if (row->used < end)
        row->used = end;
    term_touch(t, row);
    t->join_col = end - 1;
    t->at.col = end;
    return true;
}

void
term_print_ascii(struct term *t, const uint8_t *p, size_t n)
{
    struct term_charsets *sets = &t->at.charsets;
    if (sets->single || sets->g[sets->gl] != TERM_CHARSET_ASCII ||
        term_may_join(&t->join, TERM_CLASS_PLAIN)) {
        uint64_t end = t->byte_off;
        term_know_pen(t);
        for (size_t i = 0; i < n; i++) {
            unsigned set = sets->single ? sets->single : sets->gl;
            sets->single = 0;
            t->byte_off = end - n + i + 1;
            print_rune(t, translate((enum term_charset)sets->g[set], p[i]));
        }
        return;
    }
    if (!print_simply(t, p, n))
        print_bytes(t, p, n, t->byte_off - n, 1);
    t->last_rune = p[n - 1];
    t->join = (struct term_join){ p[n - 1], TERM_CLASS_PLAIN, 0 };
}

void
term_repeat(struct term *t, unsigned n)
{
    unsigned most = t->cols * t->rows < REPEAT_MAX ? t->cols * t->rows : REPEAT_MAX;
    uint32_t rune = t->last_rune;
    uint32_t width = term_class(t->widths, rune) & TERM_CLASS_WIDTH;
    if (n > most)
        n = most;
    term_know_pen(t);
    if (rune >= 0x80) {
        for (; n && width; n--)
            print_cell(t, rune, width);
        return;
    }
    uint8_t bytes[256];
    memset(bytes, (int)rune, sizeof(bytes));
    for (unsigned k; rune && n; n -= k) {
        k = n < sizeof(bytes) ? n : sizeof(bytes);
        print_bytes(t, bytes, k, t->byte_off, 0);
    }
}
