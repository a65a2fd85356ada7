/* SPDX-License-Identifier: MIT */
/* nearest.h -- what a mistyped word was probably meant to be. */
#ifndef CLI_NEAREST_H
#define CLI_NEAREST_H

#include <stddef.h>

/* The one of n words that begins so (two letters and more), if there is but one; else the
 * nearest by edit distance, or NULL when none is near. */
const char *cli_nearest(const char *word, const char *const *words, size_t n);

#endif
