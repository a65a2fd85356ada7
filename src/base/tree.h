/* SPDX-License-Identifier: MIT */
/* tree.h -- a folder removed with all that is in it, and nothing else. */
#ifndef BASE_TREE_H
#define BASE_TREE_H

/*
 * Removes the folder `name` in the folder at_fd. Links are removed, never followed; a
 * folder of another file system is left (-EXDEV), and one too deep in it (-ELOOP). What
 * somebody else removes meanwhile is gone as well. 0, also when there is none, or the
 * first error: then as much as could be is removed.
 */
int tree_remove(int at_fd, const char *name);

#endif
