/* SPDX-License-Identifier: MIT */
/*
 * star_priv.h -- masks that keep the length and the layout.
 *
 * Byte for byte, and column for column as term/ counts them: a narrow character becomes a
 * star, a wide one a wide star, and NULs, which terminals ignore, fill up what is left of
 * its bytes.
 */
#ifndef REDACT_STAR_PRIV_H
#define REDACT_STAR_PRIV_H

#include "base/buf.h"
#include "term/width.h"

/* Zeroed it is ready for use. */
struct star {
    struct term_widths *widths; /* made when something is no ASCII */
    struct term_join join;
    uint32_t first; /* character of the cluster */
    bool is_wide;   /* the cluster is */
    uint8_t bytes[4];
    size_t n; /* of a character that is not whole yet */
};

void star_release(struct star *s);
/* One byte of a secret. */
void star_put(struct star *s, uint8_t byte, struct buf *out);
/* Something else follows, or nothing. */
void star_end(struct star *s, struct buf *out);

#endif
