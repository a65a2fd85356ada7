/* SPDX-License-Identifier: MIT */
/*
 * wild_priv.h -- a pattern with wildcards against a path or a name, as git means them.
 * Pure.
 *
 *     ?  one byte, no slash          [a-z] [!a] [[:alpha:]]  one of these, no slash
 *     *  any bytes, no slash         \x  x itself
 *     **  between slashes or at an end: any folders; elsewhere as *
 *
 * A pattern is made into code once. The time that a match takes grows with the product of
 * both lengths at most, whatever the pattern.
 */
#ifndef SNAP_WILD_PRIV_H
#define SNAP_WILD_PRIV_H

#include <stdbool.h>

#include "base/buf.h"

enum snap_wild_kind {
    SNAP_WILD_LITERAL, /* its code is the text itself */
    SNAP_WILD_SUFFIX,  /* a star, then its code */
    SNAP_WILD_CODE,
};

struct snap_wild {
    enum snap_wild_kind kind;
    uint8_t first, last; /* bytes that a text begins and ends with; 0: any */
    uint32_t at, n;      /* its code */
};

/* Appends the code. 0: nothing can ever fit, and there is no code; 1; or an error. */
int snap_wild_put(struct buf *code, struct view pattern, struct snap_wild *ret);
/* The caller has looked at first and last. */
bool snap_wild_fits(const struct snap_wild *w, const uint8_t *code, struct view text);

#endif
