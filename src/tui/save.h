/* SPDX-License-Identifier: MIT */
/*
 * save.h -- the lines that are looked at as text in a file: those of the filter, or all.
 *
 * One row is one line of it, without colours. Nobody but the user may read it.
 */
#ifndef TUI_SAVE_H
#define TUI_SAVE_H

#include "tui/review_priv.h"

/* TUI_REVIEW_SAVE: into the file that the prompt names; "~/" is the user's home. r->note
 * tells what became of it, or the prompt asks whether the file may be overwritten. */
void tui_save(struct tui_review *r);
/* Into a new file at path; is_over: whole or not at all in the place of a regular one. 0,
 * -EEXIST, or why not. */
int tui_save_to(struct tui_review *r, const char *path, bool is_over, uint64_t *ret_lines,
                struct err *err);
/* A new file in $TMPDIR for $EDITOR, which the caller removes; its path is appended. A
 * descriptor, or why there is none. */
int tui_save_open_temp(struct buf *ret_path, struct err *err);
/* Into such a file. *ret_line: the current line in it, from 1. */
int tui_save_temp(struct tui_review *r, struct buf *ret_path, unsigned *ret_line,
                  struct err *err);

#endif
