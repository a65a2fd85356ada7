/* SPDX-License-Identifier: MIT */
/* keys.h -- keys by name, and the bytes that a terminal sends for them. Pure. */
#ifndef CLI_KEYS_H
#define CLI_KEYS_H

#include <stdbool.h>

#include "base/buf.h"

/*
 * Appends what an xterm sends for this key: Enter, Up, F5, …, or one character; with C-,
 * M- and S- before it (Ctrl-, Alt-, Shift-; also ^X). Cursor keys depend on a mode of the
 * program's. ERR_USAGE for no key, with what may have been meant.
 */
int cli_keys_find(const char *name, bool is_app_cursor, struct buf *out, struct err *err);
/* Of a key that there is: does it depend on that mode? */
bool cli_keys_has_modes(const char *name);

#endif
