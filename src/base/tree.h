/* SPDX-License-Identifier: MIT */
/* tree.h -- the names in a folder; and a folder removed with all that is in it, and
 * nothing else. */
#ifndef BASE_TREE_H
#define BASE_TREE_H

#include "base/buf.h"

/* Zeroed it is ready for use. */
struct tree_names {
    char **name; /* in their order, by bytes */
    size_t count;
    struct buf text;
};

void tree_names_release(struct tree_names *t);
/* What the folder holds, "." and ".." aside; 64 MB of names at most. 0 or an error. */
int tree_names(int dir_fd, struct tree_names *ret);

/*
 * Removes the folder `name` in the folder at_fd. Links are removed, never followed; a
 * folder of another file system is left (-EXDEV), and one too deep in it (-ELOOP). What
 * somebody else removes meanwhile is gone as well. 0, also when there is none, or the
 * first error: then as much as could be is removed.
 */
int tree_remove(int at_fd, const char *name);

#endif
