/* SPDX-License-Identifier: MIT */
/* region.h -- the bottom of the mock agent's picture: spinner, to-do list, input box. */
#ifndef REGION_H
#define REGION_H

#include "mock/page.h"

/* What it shows. */
struct region {
    unsigned tick, tokens, todos;
};

/* Over what was drawn before; rows that are no longer needed go away. */
void region_draw(struct page *p, const struct region *s);
/* The text of its first row, from the cursor on. */
void region_draw_spinner(struct page *p, const struct region *s);

#endif
