/* SPDX-License-Identifier: MIT */
/*
 * ignore_priv.h -- what .gitignore files say, as git understands them. Pure, but for
 * memory.
 *
 * A set holds the patterns of one file; sets are stacked from the root down, and each
 * folder's set points to the one above. They are never changed once made, so that several
 * threads may ask.
 */
#ifndef SNAP_IGNORE_PRIV_H
#define SNAP_IGNORE_PRIV_H

#include <stdbool.h>

#include "base/buf.h"

struct snap_ignore;

enum { SNAP_IGNORE_FILE_MAX = 1 << 20 }; /* bytes of one file that are read */

/* text: the file's bytes (not kept). dir: the folder that it is in, from the root without
 * slashes at its ends ("" for the root's), copied. above: borrowed; may be NULL. NULL
 * without memory. */
struct snap_ignore *snap_ignore_new(struct view text, const char *dir,
                                    const struct snap_ignore *above);
void snap_ignore_free(struct snap_ignore *s); /* not those above */

/* Is that path (from the root) ignored? What is above it was not. The last pattern that
 * fits decides, the deepest file first. */
bool snap_ignore_has(const struct snap_ignore *s, const char *path, bool is_dir);

#endif
