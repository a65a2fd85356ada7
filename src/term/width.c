/* SPDX-License-Identifier: MIT */
#include "term/width.h"

#include <stdlib.h>
#include <utf8proc.h>

#include "base/utf8.h"

_Static_assert(UTF8PROC_BOUNDCLASS_OTHER == 1, "as TERM_CLASS_PLAIN has it");
_Static_assert(UTF8PROC_BOUNDCLASS_CONTROL == 4, "as TERM_CLASS_CONTROL has it");

#define BIT(name) (1U << UTF8PROC_BOUNDCLASS_##name)
#define EXTENDS   (BIT(EXTEND) | BIT(ZWJ) | BIT(SPACINGMARK))
#define SEEN      (BIT(PREPEND) | BIT(L) | BIT(V) | BIT(T) | BIT(LV) | BIT(LVT))

/* The pairs of UAX 29 between which there may be no break; utf8proc decides. */
const uint32_t term_may_join_mask[32] = {
    [UTF8PROC_BOUNDCLASS_OTHER] = EXTENDS,
    [UTF8PROC_BOUNDCLASS_EXTEND] = EXTENDS,
    [UTF8PROC_BOUNDCLASS_L] = EXTENDS | BIT(L) | BIT(V) | BIT(LV) | BIT(LVT),
    [UTF8PROC_BOUNDCLASS_V] = EXTENDS | BIT(V) | BIT(T),
    [UTF8PROC_BOUNDCLASS_T] = EXTENDS | BIT(T),
    [UTF8PROC_BOUNDCLASS_LV] = EXTENDS | BIT(V) | BIT(T),
    [UTF8PROC_BOUNDCLASS_LVT] = EXTENDS | BIT(T),
    [UTF8PROC_BOUNDCLASS_REGIONAL_INDICATOR] = EXTENDS | BIT(REGIONAL_INDICATOR),
    [UTF8PROC_BOUNDCLASS_SPACINGMARK] = EXTENDS,
    [UTF8PROC_BOUNDCLASS_PREPEND] = ~BIT(CONTROL),
    [UTF8PROC_BOUNDCLASS_ZWJ] = EXTENDS | BIT(EXTENDED_PICTOGRAPHIC),
    [UTF8PROC_BOUNDCLASS_EXTENDED_PICTOGRAPHIC] = EXTENDS,
};

static unsigned
break_of(uint8_t rune_class)
{
    return rune_class >> TERM_CLASS_BREAK_SHIFT;
}

void
term_widths_release(struct term_widths *w)
{
    for (unsigned i = 0; i < sizeof(w->pages) / sizeof(w->pages[0]); i++)
        free(w->pages[i]);
}

static uint8_t
classify(uint32_t rune)
{
    const utf8proc_property_t *property = utf8proc_get_property((utf8proc_int32_t)rune);
    unsigned boundclass = property->boundclass;
    unsigned width = (unsigned)utf8proc_charwidth((utf8proc_int32_t)rune) & 3;
    /* Alone these are to be seen: what stands before a letter, what is part of a
     * syllable. */
    if (!width && SEEN >> boundclass & 1)
        width = 1;
    return (uint8_t)(boundclass << TERM_CLASS_BREAK_SHIFT | width);
}

bool
term_is_control(uint32_t rune)
{
    return (rune < 0x20 || rune >= 0x7f) && classify(rune) == TERM_CLASS_CONTROL;
}

uint8_t
term_class_slow(struct term_widths *w, uint32_t rune)
{
    uint8_t *page = malloc(256);
    if (!page)
        return classify(rune);
    for (uint32_t i = 0; i < 256; i++)
        page[i] = classify((rune & ~0xffU) + i);
    w->pages[rune >> 8] = page;
    return page[rune & 0xff];
}

bool
term_join_slow(struct term_join *j, uint32_t rune, uint8_t rune_class)
{
    bool joins = false;
    if (term_may_join(j, rune_class))
        joins = !utf8proc_grapheme_break_stateful((utf8proc_int32_t)j->rune,
                                                  (utf8proc_int32_t)rune, &j->state);
    if (!joins)
        j->state = 0;
    j->rune = rune;
    j->rune_class = rune_class;
    return joins;
}

static bool
widens(uint32_t first, uint8_t first_class, uint32_t rune, uint8_t rune_class)
{
    if (rune == 0xfe0f) {
        bool is_key = first == '#' || first == '*' || (first >= '0' && first <= '9');
        return is_key ||
               break_of(first_class) == UTF8PROC_BOUNDCLASS_EXTENDED_PICTOGRAPHIC;
    }
    return break_of(rune_class) == UTF8PROC_BOUNDCLASS_REGIONAL_INDICATOR ||
           (rune_class & TERM_CLASS_WIDTH) == 2;
}

bool
term_class_widens(struct term_widths *w, uint32_t first, uint32_t rune,
                  uint8_t rune_class)
{
    return widens(first, term_class(w, first), rune, rune_class);
}

size_t
term_cluster_next(struct view text, unsigned *ret_width)
{
    uint32_t first = 0, rune;
    uint8_t first_class = 0;
    struct term_join join = { 0 };
    size_t at = 0;
    *ret_width = 1;
    for (int n; at < text.n && (n = utf8_next(text.p + at, text.n - at, &rune)) > 0;) {
        uint8_t class = classify(rune);
        bool joins = term_join_slow(&join, rune, class);
        if (at && !joins && class & TERM_CLASS_WIDTH)
            break;
        if (!at) {
            first = rune;
            first_class = class;
            *ret_width = class & TERM_CLASS_WIDTH;
        } else if (widens(first, first_class, rune, class)) {
            *ret_width = 2;
        }
        at += (size_t)n;
    }
    return at ? at : 1;
}

const char *
term_utf8proc_version(void)
{
    return utf8proc_version();
}
