/* SPDX-License-Identifier: MIT */
/* num.h -- decimal numbers from text, whole and in range, or not at all. */
#ifndef BASE_NUM_H
#define BASE_NUM_H

#include <stdint.h>

#include "base/buf.h"

/* Digits only (no sign, no space), at most `max`; 0, -EINVAL or -ERANGE. */
int num_parse(struct view text, uint64_t max, uint64_t *ret);

#endif
