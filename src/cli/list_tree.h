/* SPDX-License-Identifier: MIT */
/*
 * list_tree.h -- sessions of a list, those that have a parent in it below that one.
 *
 * Roots and the children of each stand in the order in which they came. Metas that
 * anybody may have written are no trouble: one that is its own ancestor is shown as a
 * root.
 */
#ifndef CLI_LIST_TREE_H
#define CLI_LIST_TREE_H

#include "library/session.h"

/* Zeroed it is ready for use. */
struct cli_list_tree {
    struct buf rows, texts;
};

void cli_list_tree_release(struct cli_list_tree *t);
/* Copies what a short list has of it. */
int cli_list_tree_add(struct cli_list_tree *t, const struct library_session *s);

/* branch: what stands before its name, "" for a root: "│ └ ". An error ends the walk. */
typedef int (*cli_list_tree_fn)(void *ctx, const struct library_session *s,
                                const char *branch);
int cli_list_tree_walk(struct cli_list_tree *t, cli_list_tree_fn fn, void *ctx);

#endif
