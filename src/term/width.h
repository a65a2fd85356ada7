/* SPDX-License-Identifier: MIT */
/*
 * width.h -- how wide a character is and whether it joins the one before.
 *
 * Unicode's facts come from utf8proc and are kept here by pages of 256 characters, as
 * they are met.
 */
#ifndef TERM_WIDTH_H
#define TERM_WIDTH_H

#include <stdbool.h>

#include "base/buf.h"

/* One byte a character: width, then its class of grapheme breaks. */
enum {
    TERM_CLASS_WIDTH = 3,
    TERM_CLASS_BREAK_SHIFT = 2,
    /* Of ASCII, and most that is like it. */
    TERM_CLASS_PLAIN = 1 << TERM_CLASS_BREAK_SHIFT | 1,
    /* Of what is no part of a text: it gets no cell and joins none. C0 and C1, and the
     * format characters that are not seen themselves but change how others are: marks of
     * direction, separators of lines, annotations, the byte order mark. */
    TERM_CLASS_CONTROL = 4 << TERM_CLASS_BREAK_SHIFT,
};

/* Zeroed it is ready for use. */
struct term_widths {
    uint8_t *pages[0x110000 >> 8];
};

/* Between one character and the next: where in a cluster are we? */
struct term_join {
    uint32_t rune;      /* the last one printed; 0: none that something could join */
    uint8_t rune_class; /* of it */
    int32_t state;      /* utf8proc's */
};

void term_widths_release(struct term_widths *w);
uint8_t term_class_slow(struct term_widths *w, uint32_t rune);

static inline uint8_t
term_class(struct term_widths *w, uint32_t rune)
{
    const uint8_t *page = w->pages[rune >> 8];
    return page ? page[rune & 0xff] : term_class_slow(w, rune);
}

/* Is it of TERM_CLASS_CONTROL? For those who have no widths at hand. */
bool term_is_control(uint32_t rune);

/* Does it belong to the cluster of the last one? Takes note of it as the last one. */
bool term_join_slow(struct term_join *j, uint32_t rune, uint8_t rune_class);
/* By class of breaks, the classes of characters behind it that it may join. */
extern const uint32_t term_may_join_mask[32];

/* Could a character of this class join one of that class? Else they are apart for sure.
 */
static inline bool
term_may_join(const struct term_join *j, uint8_t rune_class)
{
    return j->rune && term_may_join_mask[j->rune_class >> TERM_CLASS_BREAK_SHIFT] >>
                              (rune_class >> TERM_CLASS_BREAK_SHIFT) &
                          1;
}

/* Does this character make its cluster two columns wide? `first` is the cluster's. */
bool term_class_widens(struct term_widths *w, uint32_t first, uint32_t rune,
                       uint8_t rune_class);

/* The cluster at the beginning of a text (UTF-8, not empty) as a cell would hold it: how
 * many bytes it has; *ret_width: its columns. */
size_t term_cluster_next(struct view text, unsigned *ret_width);

/* Of utf8proc. */
const char *term_utf8proc_version(void);

#endif
