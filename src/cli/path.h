/* SPDX-License-Identifier: MIT */
/* path.h -- names of files, which may hold any byte, as people and programs read them. */
#ifndef CLI_PATH_H
#define CLI_PATH_H

#include "base/json.h"

/* Appends it as it is; or, where it holds what cannot be shown as it is (control
 * characters and others that nobody sees, quotes, backslashes, bytes that are no UTF-8)
 * or has blanks at its ends, in quotes as C writes it: "a\nb\377". */
void cli_path_put(struct buf *out, const char *path);
/* "KEY": the path with U+FFFD for what is no UTF-8; then also "KEY_bytes": its bytes in
 * hex. */
void cli_path_json(struct json *j, const char *key, const char *path);

#endif
