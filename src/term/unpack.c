/* SPDX-License-Identifier: MIT */
/* unpack.c -- the bytes of a history page to text, runs and cells. Nothing in them is
 * trusted: a page may have come from a file. */
#include "base/le.h"
#include "base/utf8.h"
#include "base/varint.h"
#include "term/history_priv.h"
#include "term/pack_priv.h"
#include "term/term.h"

static bool
take(struct view *in, size_t n, struct view *ret)
{
    if (n > in->n)
        return false;
    *ret = (struct view){ in->p, n };
    *in = (struct view){ in->p + n, in->n - n };
    return true;
}

bool
term_page_open(const struct term_page *page, uint32_t i, struct term_packed *ret)
{
    uint32_t at, end = (uint32_t)page->data.n;
    memcpy(&at, page->offsets.p + (size_t)i * 4, 4);
    if (i + 1 < page->n)
        memcpy(&end, page->offsets.p + ((size_t)i + 1) * 4, 4);
    if (at >= end || end > page->data.n)
        return false;
    uint8_t flags = page->data.p[at];
    struct view in = { page->data.p + at + 1, end - at - 1 };
    uint64_t stamp;
    *ret = (struct term_packed){
        .page = page,
        .is_wrapped = flags & TERM_PACKED_IS_WRAPPED,
        .is_ascii = flags & TERM_PACKED_IS_ASCII,
    };
    if (!get_varint32(&in, &ret->cells) || !get_varint(&in, &stamp) ||
        ret->cells > TERM_COLS_MAX)
        return false;
    ret->stamp = page->stamp + unzigzag(stamp);
    uint32_t text_bytes = ret->cells;
    if (!ret->is_ascii && !get_varint32(&in, &text_bytes))
        return false;
    if (flags & TERM_PACKED_HAS_STYLE && !get_varint32(&in, &ret->style))
        return false;
    if (!take(&in, text_bytes, &ret->text))
        return false;
    ret->runs = in;
    return true;
}

bool
term_packed_next_run(const struct term_packed *packed, struct term_run *run)
{
    if (run->end >= packed->cells)
        return false;
    run->start = run->end;
    run->style = packed->style;
    if (!packed->runs.n) {
        run->end = packed->cells;
        return true;
    }
    struct view in = { packed->runs.p + run->pos, packed->runs.n - run->pos };
    uint32_t n;
    if (!get_varint32(&in, &n) || !get_varint32(&in, &run->style) || !n ||
        n > packed->cells - run->start)
        return false;
    run->end = run->start + n;
    run->pos = packed->runs.n - in.n;
    return true;
}

struct term_style
term_page_style(const struct term_page *page, uint32_t id, const char **ret_uri)
{
    struct term_page_style s = { 0 };
    struct term_page_extra extra = { 0 };
    if (id && id <= page->styles.n / sizeof(s))
        memcpy(&s, page->styles.p + (size_t)(id - 1) * sizeof(s), sizeof(s));
    if (s.extra)
        memcpy(&extra, page->extras.p + (size_t)(s.extra - 1) * sizeof(extra),
               sizeof(extra));
    *ret_uri = extra.uri ? (const char *)page->uris.p + extra.uri - 1 : NULL;
    return (struct term_style){
        .fg = s.fg,
        .bg = s.bg,
        .underline_colour = extra.underline_colour,
        .attrs = s.attrs,
        .link = extra.uri != 0,
    };
}

bool
term_packed_next_cell(const struct term_packed *packed, struct term_packed_cell *cell)
{
    struct view in = { packed->text.p + cell->pos, packed->text.n - cell->pos };
    cell->flags = 0;
    cell->text = (struct view){ 0 };
    if (in.n && in.p[0] == TERM_PACKED_WIDE) {
        cell->flags = TERM_CELL_WIDE;
        in = (struct view){ in.p + 1, in.n - 1 };
    }
    if (!in.n)
        return false;
    uint32_t rune = 0;
    struct view skipped;
    size_t n = 1;
    if (in.p[0] == TERM_PACKED_PAD) {
        cell->flags |= TERM_CELL_PAD;
        take(&in, 1, &skipped);
    } else if (in.p[0] == TERM_PACKED_CLUSTER) {
        if (in.n < 2 || in.p[1] > TERM_CLUSTER_MAX || !in.p[1])
            return false;
        n = in.p[1];
        take(&in, 2, &skipped);
        if (!take(&in, n, &cell->text))
            return false;
    } else if (in.p[0]) {
        n = (size_t)utf8_next(in.p, in.n, &rune);
        bool is_control = rune < 0x20 || (rune >= 0x7f && rune < 0xa0);
        if (!n || is_control || !take(&in, n, &cell->text))
            return false;
    } else {
        take(&in, 1, &skipped);
    }
    cell->pos = packed->text.n - in.n;
    return cell->text.n || !(cell->flags & TERM_CELL_WIDE);
}

/* -- to cells -- */

/* The text of one cell as the screens know it. */
static uint32_t
cell_text(const struct term_packed_cell *cell, struct term_tables *tables)
{
    if (!cell->text.n)
        return cell->flags & TERM_CELL_PAD;
    uint32_t rune;
    if ((size_t)utf8_next(cell->text.p, cell->text.n, &rune) == cell->text.n)
        return rune | cell->flags;
    uint32_t id = term_cluster_id(tables, cell->text);
    return id ? id | TERM_CELL_CLUSTER | cell->flags : 0;
}

static bool
text_to_row(const struct term_packed *packed, struct term_tables *tables,
            struct term_row *row)
{
    if (packed->is_ascii) {
        for (uint32_t i = 0; i < packed->cells; i++)
            row->text[i] = packed->text.p[i] < 0x80 ? packed->text.p[i] : '?';
        return true;
    }
    struct term_packed_cell cell = { 0 };
    uint32_t i = 0;
    while (i < packed->cells && term_packed_next_cell(packed, &cell)) {
        row->text[i++] = cell_text(&cell, tables);
        row->has_wide |= cell.flags != 0;
        if (cell.flags & TERM_CELL_WIDE && i < packed->cells)
            row->text[i++] = TERM_CELL_TAIL;
    }
    return i == packed->cells;
}

static uint32_t
style_to_table(const struct term_page *page, uint32_t id, struct term_tables *tables)
{
    const char *uri;
    struct term_style style = term_page_style(page, id, &uri);
    if (uri)
        style.link = term_link_id(tables,
                                  (struct view){ (const uint8_t *)uri, strlen(uri) });
    return term_style_id(tables, &style);
}

/* The cache's place for a style of the page; NULL: it has none. */
static uint32_t *
cached(struct term_page_cache *cache, const struct term_page *page, uint32_t id)
{
    size_t n = page->styles.n / sizeof(struct term_page_style);
    if (id > n)
        return NULL;
    if (cache->page != page->serial || cache->n < n) {
        uint32_t *ids = realloc(cache->ids, n * sizeof(ids[0]));
        if (!ids)
            return NULL;
        memset(ids, 0, n * sizeof(ids[0]));
        *cache = (struct term_page_cache){ page->serial, ids, n };
    }
    return &cache->ids[id - 1];
}

static uint32_t
table_style(const struct term_page *page, uint32_t id, struct term_tables *tables)
{
    if (!id)
        return 0;
    uint32_t *known = cached(&tables->cache, page, id);
    if (!known)
        return style_to_table(page, id, tables);
    if (!*known)
        *known = style_to_table(page, id, tables) + 1;
    return *known - 1;
}

bool
term_packed_to_row(const struct term_packed *packed, struct term_tables *tables,
                   struct term_row *row)
{
    if (!term_row_reserve(row, packed->cells) || !text_to_row(packed, tables, row))
        return false;
    struct term_run run = { 0 };
    while (term_packed_next_run(packed, &run)) {
        uint32_t id = table_style(packed->page, run.style, tables);
        for (uint32_t i = run.start; i < run.end; i++)
            row->style[i] = id;
    }
    if (run.end != packed->cells)
        return false;
    row->used = packed->cells;
    row->stamp = packed->stamp;
    row->is_wrapped = packed->is_wrapped;
    return true;
}
