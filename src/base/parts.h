/* SPDX-License-Identifier: MIT */
/*
 * parts.h -- what a program keeps for itself: numbers and bytes, one behind the other.
 *
 * For the same program on the same machine; readers believe no length.
 */
#ifndef BASE_PARTS_H
#define BASE_PARTS_H

#include <stdbool.h>

#include "base/buf.h"

int parts_put(struct buf *out, struct view bytes);
int parts_put_u64(struct buf *out, uint64_t v);
/* Takes what stands first in *rest; borrowed. False: it is not whole. */
bool parts_take(struct view *rest, struct view *ret);
bool parts_take_u64(struct view *rest, uint64_t *ret);

#endif
