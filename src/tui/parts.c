/* SPDX-License-Identifier: MIT */
#include "tui/parts_priv.h"

#include "term/text.h"

enum { CUT_MIN = 8 }; /* columns of a part that was cut; with fewer it says nothing */

void
tui_parts_release(struct tui_parts *p)
{
    buf_release(&p->text);
}

void
tui_parts_end(struct tui_parts *p, unsigned rank, unsigned gap, bool is_long)
{
    struct tui_part *last = p->count ? &p->part[p->count - 1] : NULL;
    size_t at = last ? last->at + last->n : 0;
    struct view text = { p->text.p ? p->text.p + at : NULL, p->text.n - at };
    if (p->count == TUI_PARTS || p->text.failed || !text.n)
        return;
    p->part[p->count++] = (struct tui_part){ .at = at,
                                             .n = text.n,
                                             .cols = term_text_cols(p->widths, text),
                                             .gap = gap,
                                             .rank = rank,
                                             .is_long = is_long };
}

/* -- what has room -- */

unsigned
tui_parts_gap(const struct tui_parts *p, size_t i)
{
    return i ? p->part[i].gap : 0;
}

unsigned
tui_parts_cols(const struct tui_parts *p)
{
    unsigned sum = 0;
    for (size_t i = 0; i < p->count; i++)
        sum += p->part[i].cols + tui_parts_gap(p, i);
    return sum;
}

static size_t
least_important(const struct tui_parts *p)
{
    size_t least = 0;
    for (size_t i = 1; i < p->count; i++)
        if (p->part[i].rank > p->part[least].rank)
            least = i;
    return least;
}

void
tui_parts_fit(struct tui_parts *p, unsigned cols)
{
    while (p->count > 1 && tui_parts_cols(p) > cols) {
        unsigned excess = tui_parts_cols(p) - cols;
        size_t i = least_important(p);
        struct tui_part *part = &p->part[i];
        if (part->is_long && part->cols >= excess + CUT_MIN) {
            part->cols -= excess;
            return;
        }
        memmove(part, part + 1, (p->count - i - 1) * sizeof(*part));
        p->count--;
    }
}

void
tui_parts_put(const struct tui_parts *p, size_t i, unsigned cols, struct buf *out)
{
    const struct tui_part *part = &p->part[i];
    struct view text = { p->text.p + part->at, part->n };
    term_text_put(p->widths, text, part->cols < cols ? part->cols : cols, out);
}
