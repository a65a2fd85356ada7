/* SPDX-License-Identifier: MIT */
#include "client/glance_priv.h"

enum { ESC = 0x1b };

static void
take_number(struct glance *g)
{
    g->is_screen |= g->number == 47 || g->number == 1047 || g->number == 1049;
    g->number = 0;
}

/* One byte of a sequence; what ends it is not kept apart further than needed here. */
static void
take_sequence(struct glance *g, uint8_t c)
{
    if (g->state == GLANCE_ESC) {
        g->state = c == '[' ? GLANCE_CSI : c == ESC ? GLANCE_ESC : GLANCE_TEXT;
        g->number = 0;
        g->is_screen = false;
    } else if (g->state == GLANCE_CSI && c == '?') {
        g->state = GLANCE_PRIVATE;
    } else if (c >= '0' && c <= '9') {
        g->number = g->number < 10000 ? g->number * 10 + (c - '0') : g->number;
    } else if (c == ';') {
        take_number(g);
    } else if (c >= 0x40 || c < 0x20) {
        take_number(g);
        if (g->state == GLANCE_PRIVATE && g->is_screen && (c == 'h' || c == 'l'))
            g->is_alternate = c == 'h';
        g->state = c == ESC ? GLANCE_ESC : GLANCE_TEXT;
    }
}

void
glance(struct glance *g, struct view bytes)
{
    const uint8_t *p = bytes.p, *end = p + bytes.n;
    while (p < end) {
        if (g->state != GLANCE_TEXT) {
            take_sequence(g, *p++);
            continue;
        }
        const uint8_t *esc = memchr(p, ESC, (size_t)(end - p));
        const uint8_t *stop = esc ? esc : end;
        if (stop > p)
            g->is_mid_line = stop[-1] != '\n' && stop[-1] != '\r';
        if (esc)
            g->state = GLANCE_ESC;
        p = esc ? esc + 1 : end;
    }
}
