/* SPDX-License-Identifier: MIT */
/* editor.h -- $VISUAL, else $EDITOR, else vi, on a file, while the terminal is its. */
#ifndef TUI_EDITOR_H
#define TUI_EDITOR_H

#include "base/err.h"

/* Waits for it; it has the terminal of in_fd and out_fd, as a job of its own would have,
 * and no signal of it is blocked or ignored. One that stops goes on after a moment:
 * nobody else would see to it. A signal that ends us (HUP, TERM, INT, QUIT) ends it, and
 * then comes to us as it would have. line 0: none. 0, or why not: it is missing, or says
 * that it failed. */
int tui_editor(const char *path, unsigned line, int in_fd, int out_fd, struct err *err);

#endif
