/* SPDX-License-Identifier: MIT */
/* show_tree.h -- ahr show --tree: the sessions that a session comes from, and those that
 * come from it. */
#ifndef CLI_SHOW_TREE_H
#define CLI_SHOW_TREE_H

#include <stdbool.h>

#include "base/err.h"

/* Prints the whole family of the session; NULL home is none. */
int cli_show_tree(const char *home, const char *id, bool is_json, struct err *err);

#endif
