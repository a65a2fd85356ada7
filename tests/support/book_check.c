/* SPDX-License-Identifier: MIT */
#include "support/book_check.h"

#include "support/rng.h"

enum { NEEDLES = 12, FINDS = 6, NEEDLE_MAX = 24 };

/* A line as the checks need it; its text is in `texts`. */
struct item {
    size_t at, n, n_padded; /* padded: with what was written at its end */
    uint64_t stamp;
    unsigned row_cols;
    bool is_wrapped, is_alternate;
    int kind; /* 0 a row, 1 a marked line, 2 on the alternate screen */
};

struct items {
    struct buf items, texts;
};

static struct item *
item(const struct items *s, size_t i)
{
    return (struct item *)(void *)s->items.p + i;
}

static size_t
count(const struct items *s)
{
    return s->items.n / sizeof(struct item);
}

static void
items_release(struct items *s)
{
    buf_release(&s->items);
    buf_release(&s->texts);
}

static int
add(void *ctx, const struct term_line *line)
{
    struct items *s = ctx;
    struct item it = {
        .at = s->texts.n,
        .n = line->text.n,
        .stamp = line->last_write_byte,
        .row_cols = line->row_cols,
        .is_wrapped = line->is_wrapped,
        .is_alternate = line->is_alternate,
    };
    buf_append(&s->texts, line->text.p, line->text.n);
    for (unsigned i = line->cols; i + line->has_pad < line->row_cols; i++)
        buf_puts(&s->texts, " ");
    it.n_padded = s->texts.n - it.at;
    return buf_append(&s->items, &it, sizeof(it));
}

static bool
says(struct buf *why, const char *what, uint64_t number)
{
    buf_printf(why, "%s: %llu", what, (unsigned long long)number);
    return false;
}

/* -- lines -- */

static bool
is_same(const struct items *a, size_t i, const struct items *b, size_t j)
{
    const struct item *x = item(a, i), *y = item(b, j);
    return x->n == y->n && x->n_padded == y->n_padded && x->stamp == y->stamp &&
           x->row_cols == y->row_cols && x->is_wrapped == y->is_wrapped &&
           x->is_alternate == y->is_alternate &&
           (!x->n || !memcmp(a->texts.p + x->at, b->texts.p + y->at, x->n));
}

/* How many rows of the screen in use are not blank, or above the cursor. */
static unsigned
rows_in_use(const struct term *t)
{
    struct term_line line = { 0 };
    unsigned n = term_rows(t);
    for (; n > term_cursor(t).row; n--) {
        term_line_at(t, term_scrollback_count(t) + n - 1, &line);
        if (line.row_cols)
            break;
    }
    term_line_release(&line);
    return n;
}

/* The rows of the alternate screen, which are last. */
static bool
check_alternate(const struct term_book *b, struct items *s, struct buf *why)
{
    struct items rows = { 0 };
    struct term_line line = { 0 };
    unsigned n = rows_in_use(b->term);
    size_t all = count(s);
    bool is_ok = all >= n && term_book_screen(b) + n == term_book_end(b);
    for (unsigned y = 0; is_ok && y < n; y++) {
        term_line_at(b->term, term_scrollback_count(b->term) + y, &line);
        line.is_alternate = true;
        add(&rows, &line);
        is_ok = is_same(&rows, y, s, all - n + y);
        item(s, all - n + y)->kind = 2;
    }
    term_line_release(&line);
    items_release(&rows);
    return is_ok || says(why, "alternate screen", n);
}

/* Blank rows of the primary screen at the end go, of both. */
static size_t
next_kept(const struct items *s, size_t i, size_t n, size_t rows)
{
    while (i < n && !item(s, i)->is_alternate && i >= rows)
        i++;
    return i;
}

/* Behind the last row with text. */
static size_t
text_end(const struct items *s, size_t n)
{
    while (n && (item(s, n - 1)->is_alternate || !item(s, n - 1)->row_cols))
        n--;
    return n;
}

static bool
check_order(const struct term_book *b, const struct items *s, size_t n, struct buf *why)
{
    struct items want = { 0 };
    struct term_line_numbers all = { 0 };
    if (term_modes(b->term).is_alternate)
        term_lines_from(b->term, all, false, add, &want);
    else
        term_final_lines(b->term, add, &want);
    size_t m = count(&want), i = 0, j = 0;
    size_t i_rows = text_end(s, n), j_rows = text_end(&want, m);
    bool is_ok = true;
    while (is_ok) {
        i = next_kept(s, i, n, i_rows);
        j = next_kept(&want, j, m, j_rows);
        if (i == n && j == m)
            break;
        is_ok = i < n && j < m && is_same(s, i, &want, j);
        i++;
        j++;
    }
    items_release(&want);
    return is_ok || says(why, "order", i);
}

static bool
check_lines(const struct term_book *b, struct items *s, struct buf *why)
{
    uint64_t first = term_book_first(b), end = term_book_end(b);
    const struct term *t = b->term;
    bool is_alternate = term_modes(t).is_alternate;
    size_t n = count(s), rows = 0;
    if (is_alternate && !check_alternate(b, s, why))
        return false;
    if (is_alternate)
        n -= rows_in_use(t);
    for (size_t i = 0; i < n; i++) {
        item(s, i)->kind = item(s, i)->is_alternate;
        rows += !item(s, i)->is_alternate;
    }
    if (!is_alternate && rows != term_scrollback_count(t) + rows_in_use(t))
        return says(why, "rows", rows);
    uint64_t top = term_book_screen(b);
    if (!is_alternate && top < end &&
        (item(s, (size_t)(top - first))->kind || rows == term_scrollback_count(t)))
        return says(why, "top of the screen", top);
    return check_order(b, s, n, why);
}

/* -- stamps -- */

static bool
check_past(const struct term_book *b, const struct items *s, uint64_t byte_off,
           struct buf *why)
{
    size_t i = 0;
    while (i < count(s) && item(s, i)->stamp <= byte_off)
        i++;
    return term_book_past(b, byte_off) == term_book_first(b) + i ||
           says(why, "past", byte_off);
}

static bool
check_stamps(const struct term_book *b, const struct items *s, struct buf *why)
{
    for (size_t i = 0; i < count(s); i++) {
        uint64_t stamp = item(s, i)->stamp;
        if (term_book_stamp(b, term_book_first(b) + i) != stamp)
            return says(why, "stamp", i);
        if (!check_past(b, s, stamp, why) || (stamp && !check_past(b, s, stamp - 1, why)))
            return false;
    }
    return check_past(b, s, 0, why) && check_past(b, s, UINT64_MAX, why);
}

/* -- searching -- */

static uint8_t
folded(const struct term_needle *needle, uint8_t c)
{
    return needle->ignores_case && c >= 'A' && c <= 'Z' ? c + 0x20 : c;
}

static bool
is_at(const struct term_needle *needle, const struct buf *text, size_t at)
{
    if (needle->text.n > text->n - at)
        return false;
    for (size_t i = 0; i < needle->text.n; i++)
        if (folded(needle, text->p[at + i]) != folded(needle, needle->text.p[i]))
            return false;
    return true;
}

/* Line i and what it goes on in; the line's own part is *ret_own bytes. */
static void
join(const struct items *s, size_t i, size_t most, struct buf *out, size_t *ret_own)
{
    buf_clear(out);
    for (bool goes_on = true, is_first = true; goes_on; i++, is_first = false) {
        const struct item *it = item(s, i);
        goes_on = it->is_wrapped && i + 1 < count(s) && item(s, i + 1)->kind == it->kind;
        buf_append(out, s->texts.p + it->at, goes_on ? it->n_padded : it->n);
        if (is_first)
            *ret_own = out->n;
        if (out->n > *ret_own + most)
            break;
    }
}

static bool
has(const struct items *s, size_t i, const struct term_needle *needle)
{
    AUTO(buf) text = { 0 };
    size_t own, start, end;
    join(s, i, needle->text.n, &text, &own);
    bool is_there = false;
    size_t at = 0;
    for (; at < own && !is_there; at++)
        is_there = is_at(needle, &text, at);
    bool is_next = text.n && term_needle_next(needle, (struct view){ text.p, text.n }, 0,
                                              &start, &end);
    if (is_there && (!is_next || start != at - 1 || end != start + needle->text.n))
        abort();
    return is_there;
}

static bool
check_find(const struct term_book *b, const struct items *s,
           const struct term_needle *needle, uint32_t *rng, struct buf *why)
{
    size_t n = count(s), from = rng_below(rng, (uint32_t)n), i = from;
    bool is_back = rng_below(rng, 2);
    size_t most = rng_below(rng, 3) ? SIZE_MAX : rng_below(rng, 9), left = most;
    bool is_there = false;
    while (left && i < n) { /* backwards: past the first is below 0 */
        is_there = has(s, i, needle);
        if (is_there)
            break;
        left--;
        i += is_back ? SIZE_MAX : 1;
    }
    uint64_t got, first = term_book_first(b);
    int r = term_book_find(b, needle, first + from, is_back, most, &got);
    if (r == is_there && got == first + i)
        return true;
    buf_printf(why, "find '%.*s' back %d case %d from %zu most %zu: %d %lld, not ",
               (int)needle->text.n, (const char *)needle->text.p, is_back,
               needle->ignores_case, from, most, r, (long long)(got - first));
    return says(why, is_there ? "hit" : "end", i);
}

static bool
check_find_all(const struct term_book *b, const struct items *s,
               const struct term_needle *needle, uint32_t *rng, struct buf *why)
{
    AUTO(buf) all = { 0 };
    size_t n = count(s), from = rng_below(rng, (uint32_t)n);
    size_t to = from + rng_below(rng, (uint32_t)(n - from + 1)), at = 0;
    uint64_t first = term_book_first(b), got;
    bool is_ok = term_book_find_all(b, needle, first + from, first + to, &all) == 0;
    for (size_t i = from; is_ok && i < to; i++) {
        if (!has(s, i, needle))
            continue;
        is_ok = at + sizeof(got) <= all.n;
        if (is_ok)
            memcpy(&got, all.p + at, sizeof(got));
        is_ok = is_ok && got == first + i;
        at += sizeof(got);
    }
    return (is_ok && at == all.n) || says(why, "find all", from);
}

/* Something that is there, a little changed at times. */
static void
draw_needle(const struct items *s, uint32_t *rng, struct buf *out)
{
    AUTO(buf) text = { 0 };
    size_t own;
    buf_clear(out);
    join(s, rng_below(rng, (uint32_t)count(s)), (size_t)NEEDLE_MAX * 4, &text, &own);
    size_t n = rng_between(rng, 1, rng_below(rng, 2) ? 3 : NEEDLE_MAX);
    size_t at = text.n ? rng_below(rng, (uint32_t)text.n) : 0;
    while (at && (text.p[at] & 0xc0) == 0x80)
        at--;
    while (n < text.n - at && (text.p[at + n] & 0xc0) == 0x80)
        n++;
    buf_append(out, text.p + at, n < text.n - at ? n : text.n - at);
    if (!out->n || !rng_below(rng, 8))
        buf_puts(out, rng_below(rng, 2) ? " " : "a");
    for (size_t i = 0; !rng_below(rng, 3) && i < out->n; i++)
        if ((out->p[i] | 0x20) >= 'a' && (out->p[i] | 0x20) <= 'z')
            out->p[i] ^= 0x20;
}

static bool
check_finds(const struct term_book *b, const struct items *s, uint32_t *rng,
            struct buf *why)
{
    AUTO(buf) text = { 0 };
    for (unsigned i = 0; count(s) && i < NEEDLES; i++) {
        draw_needle(s, rng, &text);
        struct term_needle needle = { { text.p, text.n }, rng_below(rng, 2) };
        for (unsigned j = 0; j < FINDS; j++)
            if (!check_find(b, s, &needle, rng, why))
                return false;
        if (!check_find_all(b, s, &needle, rng, why))
            return false;
    }
    return true;
}

static bool
read_all(const struct term_book *b, struct items *s, struct buf *why)
{
    struct term_line line = { 0 };
    int e = 0;
    for (uint64_t n = term_book_first(b); !e && n < term_book_end(b); n++) {
        e = term_book_line(b, n, &line);
        add(s, &line);
    }
    term_line_release(&line);
    return !e || says(why, "error", 0);
}

bool
book_check(const struct term_book *b, uint32_t *rng, struct buf *why)
{
    struct items s = { 0 };
    bool is_ok = read_all(b, &s, why) && check_lines(b, &s, why) &&
                 check_stamps(b, &s, why) && check_finds(b, &s, rng, why);
    items_release(&s);
    return is_ok;
}

bool
book_check_same(const struct term_book *a, const struct term_book *b, struct buf *why)
{
    struct items x = { 0 }, y = { 0 };
    bool is_ok = term_book_first(a) == term_book_first(b) &&
                 term_book_end(a) == term_book_end(b) &&
                 term_book_screen(a) == term_book_screen(b) && read_all(a, &x, why) &&
                 read_all(b, &y, why);
    for (size_t i = 0; is_ok && i < count(&x); i++)
        is_ok = is_same(&x, i, &y, i);
    items_release(&x);
    items_release(&y);
    return is_ok || says(why, "two books", term_book_first(a));
}
