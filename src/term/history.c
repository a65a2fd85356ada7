/* SPDX-License-Identifier: MIT */
#include "term/history_priv.h"

#include <errno.h>

#include "term/pack_priv.h"

enum { PAGE_BYTES = 64 << 10, PAGE_ROWS = 4096, EXTRA_BYTES = 256 << 10 };
enum { ROW_BYTES = 1024, SPARE_BYTES = 64 << 20 }; /* all rows, at most */

void
term_page_free(struct term_page *page)
{
    if (!page)
        return;
    buf_release(&page->data);
    buf_release(&page->offsets);
    buf_release(&page->styles);
    buf_release(&page->extras);
    buf_release(&page->uris);
    free(page);
}

void
term_history_clear(struct term_history *h)
{
    for (size_t i = 0; i < h->n; i++)
        term_page_free(h->pages[h->first + i]);
    h->first = h->n = 0;
    h->bytes = 0;
    h->dropped = h->end;
}

void
term_history_release(struct term_history *h)
{
    term_history_clear(h);
    free(h->pages);
    *h = (struct term_history){ 0 };
}

static struct term_page *
last_page(const struct term_history *h)
{
    return h->n ? h->pages[h->first + h->n - 1] : NULL;
}

/* Room for one more pointer, at the end. */
static bool
reserve_page(struct term_history *h)
{
    if (h->first + h->n < h->cap)
        return true;
    if (h->first > h->n) {
        memmove(h->pages, h->pages + h->first, h->n * sizeof(h->pages[0]));
        h->first = 0;
        return true;
    }
    size_t cap = h->cap ? h->cap * 2 : 8;
    struct term_page **pages = realloc(h->pages, cap * sizeof(pages[0]));
    if (!pages)
        return false;
    h->pages = pages;
    h->cap = cap;
    return true;
}

static size_t
page_bytes(const struct term_page *page)
{
    return sizeof(*page) + page->data.n + page->offsets.n + page->styles.n +
           page->extras.n + page->uris.n;
}

static void
count_bytes(struct term_history *h, struct term_page *page)
{
    size_t bytes = page_bytes(page);
    h->bytes += bytes - page->counted;
    page->counted = bytes;
}

bool
term_history_push_page(struct term_history *h, struct term_page *page)
{
    if (!reserve_page(h)) {
        h->error = -ENOMEM;
        term_page_free(page);
        return false;
    }
    page->start = h->end;
    page->counted = 0;
    h->end += page->n;
    count_bytes(h, page);
    h->pages[h->first + h->n++] = page;
    return true;
}

struct term_page *
term_history_take_page(struct term_history *h)
{
    if (!h->n)
        return NULL;
    h->n--;
    struct term_page *page = h->pages[h->first++];
    h->dropped = page->start + page->n;
    h->bytes -= page->counted;
    return page;
}

/* Rows may be of any width: it is bytes that fill the memory. */
static void
drop_heavy_pages(struct term_history *h)
{
    size_t most = (size_t)h->ceiling * ROW_BYTES + SPARE_BYTES;
    while (!h->is_held && h->n > 1 && h->bytes > most)
        term_page_free(term_history_take_page(h));
}

static struct term_page *
new_page(struct term_history *h, struct term_tables *tables, uint64_t stamp)
{
    struct term_page *full = last_page(h);
    if (full) {
        buf_shrink(&full->data);
        buf_shrink(&full->offsets);
        buf_shrink(&full->styles);
        buf_shrink(&full->extras);
        buf_shrink(&full->uris);
        count_bytes(h, full);
        drop_heavy_pages(h);
    }
    struct term_page *page = calloc(1, sizeof(*page));
    if (!page)
        return NULL;
    page->serial = ++tables->pages;
    page->stamp = stamp;
    h->is_sealed = false;
    return term_history_push_page(h, page) ? page : NULL;
}

static bool
is_full(const struct term_page *page)
{
    return page->data.n >= PAGE_BYTES || page->n >= PAGE_ROWS ||
           page->styles.n + page->uris.n >= EXTRA_BYTES;
}

static void
drop_last_if_empty(struct term_history *h)
{
    struct term_page *page = last_page(h);
    if (page->n && page->start + page->n > h->dropped)
        return;
    h->n--;
    h->bytes -= page->counted;
    term_page_free(page);
}

void
term_history_push(struct term_history *h, struct term_tables *tables,
                  const struct term_row *row)
{
    if (!h->ceiling) {
        h->dropped = ++h->end;
        return;
    }
    struct term_page *page = last_page(h);
    if (!page || h->is_sealed || is_full(page))
        page = new_page(h, tables, row->stamp);
    if (!page) {
        h->error = -ENOMEM;
        return;
    }
    uint32_t at = (uint32_t)page->data.n;
    if (buf_append(&page->offsets, &at, sizeof(at)) < 0 ||
        term_page_pack(page, tables, row) < 0) {
        page->data.n = at;
        page->offsets.n = page->n * sizeof(at);
        drop_last_if_empty(h);
        h->error = -ENOMEM;
        return;
    }
    if (page->styles.failed || page->extras.failed || page->uris.failed)
        h->error = -ENOMEM; /* the row is there, not all of its looks */
    page->n++;
    page->has_wrapped |= row->is_wrapped;
    if (page->widest < row->used)
        page->widest = row->used;
    h->end++;
    if (h->end - h->dropped > h->ceiling)
        term_history_trim(h);
}

void
term_history_trim(struct term_history *h)
{
    uint64_t count = h->end - h->dropped;
    if (count <= h->ceiling)
        return;
    h->dropped = h->end - h->ceiling;
    while (h->n && h->pages[h->first]->start + h->pages[h->first]->n <= h->dropped) {
        h->bytes -= h->pages[h->first]->counted;
        term_page_free(h->pages[h->first]);
        h->first++;
        h->n--;
    }
}

const struct term_page *
term_history_page(const struct term_history *h, uint64_t number)
{
    size_t low = h->first, high = h->first + h->n;
    while (high - low > 1) {
        size_t middle = low + (high - low) / 2;
        if (h->pages[middle]->start <= number)
            low = middle;
        else
            high = middle;
    }
    return h->pages[low];
}

void
term_history_open(const struct term_history *h, size_t i, struct term_packed *ret)
{
    uint64_t number = h->dropped + i;
    const struct term_page *page = term_history_page(h, number);
    if (!term_page_open(page, (uint32_t)(number - page->start), ret))
        *ret = (struct term_packed){ .page = page, .is_ascii = true };
}

void
term_history_pop(struct term_history *h)
{
    struct term_page *page = last_page(h);
    uint32_t at;
    page->n--;
    memcpy(&at, page->offsets.p + (size_t)page->n * sizeof(at), sizeof(at));
    page->data.n = at;
    page->offsets.n = (size_t)page->n * sizeof(at);
    h->end--;
    h->popped++;
    drop_last_if_empty(h);
}
