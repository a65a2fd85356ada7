/* SPDX-License-Identifier: MIT */
/* classes.h -- which texts are the same, as numbers; pure. */
#ifndef PLAY_CLASSES_H
#define PLAY_CLASSES_H

#include "base/buf.h"

/* From 0 without holes: ret[i] == ret[j] if and only if keys[i] and keys[j] are the same
 * bytes. Returns how many there are, or -ENOMEM. */
int64_t play_classes(const struct view *keys, size_t count, uint32_t *ret);

#endif
