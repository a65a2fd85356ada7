/* SPDX-License-Identifier: MIT */
#include "redact/star_priv.h"

#include <errno.h>
#include <stdlib.h>

#include "base/utf8.h"

static const uint8_t wide_star[] = { 0xef, 0xbc, 0x8a }; /* U+FF0A */
static const uint8_t stars[] = { '*', '*' };

void
star_release(struct star *s)
{
    if (s->widths)
        term_widths_release(s->widths);
    free(s->widths);
    *s = (struct star){ 0 };
}

/* n bytes that take so many columns. */
static void
put(struct buf *out, size_t n, unsigned columns)
{
    size_t used = columns < n ? columns : n;
    if (columns == 2 && n >= sizeof(wide_star))
        used = sizeof(wide_star);
    buf_append(out, used == sizeof(wide_star) ? wide_star : stars, used);
    for (; used < n; used++)
        buf_append(out, "", 1);
}

/* The columns that a character adds to what is there. */
static unsigned
columns_of(struct star *s, uint32_t rune, struct buf *out)
{
    if (!s->widths)
        s->widths = calloc(1, sizeof(*s->widths));
    if (!s->widths) {
        out->failed = -ENOMEM;
        return 1;
    }
    uint8_t class = term_class(s->widths, rune);
    if (term_join_slow(&s->join, rune, class)) {
        bool widens = !s->is_wide && term_class_widens(s->widths, s->first, rune, class);
        s->is_wide |= widens;
        return widens;
    }
    s->first = rune;
    s->is_wide = (class & TERM_CLASS_WIDTH) == 2;
    return class & TERM_CLASS_WIDTH;
}

/* How many bytes a character has that begins like this. */
static size_t
length_of(uint8_t lead)
{
    return lead >= 0xf0 ? 4 : lead >= 0xe0 ? 3 : lead >= 0xc0 ? 2 : 1;
}

static void
put_ascii(struct star *s, uint8_t byte, struct buf *out)
{
    s->join = (struct term_join){ .rune = byte, .rune_class = TERM_CLASS_PLAIN };
    s->first = byte;
    s->is_wide = false;
    if (byte < 0x20 || byte == 0x7f)
        buf_append(out, &byte, 1);
    else
        buf_append(out, "*", 1);
}

/* What has come is no character: a terminal shows something for its first byte. */
static void
put_broken(struct star *s, struct buf *out)
{
    put(out, s->n, 1);
    s->n = 0;
    s->join = (struct term_join){ 0 };
}

void
star_put(struct star *s, uint8_t byte, struct buf *out)
{
    if (s->n && (byte & 0xc0) != 0x80)
        put_broken(s, out);
    if (!s->n && byte < 0x80) {
        put_ascii(s, byte, out);
        return;
    }
    s->bytes[s->n++] = byte;
    if (s->n < length_of(s->bytes[0]))
        return;
    uint32_t rune;
    if (!utf8_next(s->bytes, s->n, &rune)) {
        put_broken(s, out);
        return;
    }
    put(out, s->n, columns_of(s, rune, out));
    s->n = 0;
}

void
star_end(struct star *s, struct buf *out)
{
    if (s->n)
        put_broken(s, out);
}
