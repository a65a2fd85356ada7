/* SPDX-License-Identifier: MIT */
/* pack.c -- a row of cells to the bytes of a history page. */
#include "base/utf8.h"
#include "base/varint.h"
#include "term/history_priv.h"
#include "term/pack_priv.h"
#ifdef __SSE2__
#include <emmintrin.h>
#endif

enum { HEAD_MAX = 1 + 4 * VARINT_MAX }; /* of a packed row, before its text */

/* All bits of n words, or'ed. */
static uint32_t
all_bits(const uint32_t *p, uint32_t n, uint32_t flip)
{
    uint32_t bits = 0, i = 0;
#ifdef __SSE2__
    __m128i sum = _mm_setzero_si128(), mask = _mm_set1_epi32((int)flip);
    for (; i + 4 <= n; i += 4) {
        __m128i v = _mm_loadu_si128((const __m128i *)(const void *)(p + i));
        sum = _mm_or_si128(sum, _mm_xor_si128(v, mask));
    }
    sum = _mm_or_si128(sum, _mm_shuffle_epi32(sum, 0x4e));
    sum = _mm_or_si128(sum, _mm_shuffle_epi32(sum, 0xb1));
    bits = (uint32_t)_mm_cvtsi128_si32(sum);
#endif
    for (; i < n; i++)
        bits |= p[i] ^ flip;
    return bits;
}

/* The low bytes of n words. */
static void
narrow(uint8_t *dst, const uint32_t *src, uint32_t n)
{
    uint32_t i = 0;
#ifdef __SSE2__
    for (; i + 16 <= n; i += 16) {
        const __m128i *v = (const __m128i *)(const void *)(src + i);
        __m128i low = _mm_packs_epi32(_mm_loadu_si128(v), _mm_loadu_si128(v + 1));
        __m128i high = _mm_packs_epi32(_mm_loadu_si128(v + 2), _mm_loadu_si128(v + 3));
        _mm_storeu_si128((__m128i *)(void *)(dst + i), _mm_packus_epi16(low, high));
    }
#endif
    for (; i < n; i++)
        dst[i] = (uint8_t)src[i];
}

/* -- styles of a page -- */

static uint16_t
add_page_extra(struct term_page *page, struct term_tables *tables,
               const struct term_style *style)
{
    struct term_page_extra extra = { .underline_colour = style->underline_colour };
    size_t n = page->extras.n / sizeof(extra);
    if ((!style->link && !style->underline_colour) || n + 1 > UINT16_MAX)
        return 0;
    if (style->link) {
        struct term_string_entry *link = &tables->links.entries[style->link];
        if (link->page != page->serial) {
            link->page_at = (uint32_t)page->uris.n + 1;
            if (buf_append(&page->uris, link->p, link->n + 1) < 0)
                return 0;
            link->page = page->serial;
        }
        extra.uri = link->page_at;
    }
    return buf_append(&page->extras, &extra, sizeof(extra)) < 0 ? 0 : (uint16_t)(n + 1);
}

static uint32_t
add_page_style(struct term_page *page, struct term_tables *tables,
               struct term_style_entry *e)
{
    const struct term_style *style = &e->style;
    struct term_page_style s = {
        .fg = style->fg,
        .bg = style->bg,
        .attrs = style->attrs,
        .extra = add_page_extra(page, tables, style),
    };
    if (buf_append(&page->styles, &s, sizeof(s)) < 0)
        return 0;
    e->page = page->serial;
    e->page_id = (uint32_t)(page->styles.n / sizeof(s));
    return e->page_id;
}

static inline uint32_t
page_style_id(struct term_page *page, struct term_tables *tables, uint32_t id)
{
    if (!id)
        return 0;
    struct term_style_entry *e = &tables->styles.entries[id];
    return e->page == page->serial ? e->page_id : add_page_style(page, tables, e);
}

/* -- text -- */

/* At most; a mark and four bytes a cell, unless there are clusters. */
static size_t
text_size(const struct term_row *row, uint32_t cells, const struct term_tables *tables,
          uint32_t bits)
{
    size_t size = (size_t)cells * 5;
    for (uint32_t i = 0; bits & TERM_CELL_CLUSTER && i < cells; i++)
        if (row->text[i] & TERM_CELL_CLUSTER)
            size += term_cluster_text(tables, row->text[i] & TERM_CELL_VALUE).n;
    return size;
}

/* A cell that is no simple character. */
static uint8_t *
put_special(uint8_t *p, uint32_t cell, const struct term_tables *tables)
{
    if (cell & TERM_CELL_PAD) {
        *p++ = TERM_PACKED_PAD;
    } else if (cell & TERM_CELL_CLUSTER) {
        struct view v = term_cluster_text(tables, cell & TERM_CELL_VALUE);
        *p++ = TERM_PACKED_CLUSTER;
        *p++ = (uint8_t)v.n;
        memcpy(p, v.p, v.n);
        p += v.n;
    }
    return p;
}

static uint8_t *
put_text(uint8_t *p, const struct term_row *row, uint32_t cells,
         const struct term_tables *tables)
{
    for (uint32_t i = 0; i < cells; i++) {
        uint32_t c = row->text[i];
        if (c & TERM_CELL_WIDE) {
            *p++ = TERM_PACKED_WIDE;
            i++; /* its right half */
        }
        if (c & (TERM_CELL_CLUSTER | TERM_CELL_PAD))
            p = put_special(p, c, tables);
        else
            p += utf8_put(p, c & TERM_CELL_VALUE);
    }
    return p;
}

static int
put_runs(struct term_page *page, struct term_tables *tables, const struct term_row *row,
         uint32_t cells)
{
    if (buf_reserve(&page->data, (size_t)cells * 10) < 0)
        return page->data.failed;
    uint8_t *p = page->data.p + page->data.n;
    for (uint32_t i = 0, end; i < cells; i = end) {
        uint32_t style = row->style[i];
        for (end = i + 1; end < cells && row->style[end] == style;)
            end++;
        p = put_varint(p, end - i);
        p = put_varint(p, page_style_id(page, tables, style));
    }
    page->data.n = (size_t)(p - page->data.p);
    return 0;
}

int
term_page_pack(struct term_page *page, struct term_tables *tables,
               const struct term_row *row)
{
    uint32_t cells = term_row_length(row);
    uint32_t bits = all_bits(row->text, cells, 0);
    bool is_ascii = bits < 0x80;
    uint32_t style = cells ? row->style[0] : 0;
    bool has_runs = all_bits(row->style, cells, style) != 0;
    size_t text_max = is_ascii ? cells : text_size(row, cells, tables, bits);
    if (buf_reserve(&page->data, text_max + HEAD_MAX) < 0)
        return page->data.failed;

    uint8_t *p = page->data.p + page->data.n;
    *p++ = (uint8_t)((row->is_wrapped ? TERM_PACKED_IS_WRAPPED : 0) |
                     (is_ascii ? TERM_PACKED_IS_ASCII : 0) |
                     (has_runs ? TERM_PACKED_HAS_RUNS : 0) |
                     (!has_runs && style ? TERM_PACKED_HAS_STYLE : 0));
    p = put_varint(p, cells);
    p = put_varint(p, zigzag(row->stamp - page->stamp));
    uint8_t *size_at = p;
    if (!is_ascii)
        p += 4;
    if (!has_runs && style)
        p = put_varint(p, page_style_id(page, tables, style));
    if (is_ascii) {
        narrow(p, row->text, cells);
        p += cells;
    } else {
        uint8_t *text = p;
        p = put_text(p, row, cells, tables);
        uint32_t size = (uint32_t)(p - text);
        for (int i = 0; i < 4; i++) /* a varint of fixed size */
            size_at[i] = (uint8_t)((size >> (7 * i) & 0x7f) | (i < 3 ? 0x80 : 0));
    }
    page->data.n = (size_t)(p - page->data.p);
    return has_runs ? put_runs(page, tables, row, cells) : 0;
}
