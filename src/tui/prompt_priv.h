/* SPDX-License-Identifier: MIT */
/*
 * prompt_priv.h -- one line that is typed: a text to search, a label, a file's name.
 *
 * With the keys of a shell's line: arrows, Home, End, ^A ^E ^B ^F ^U ^K ^W ^H, Delete,
 * and ↑ ↓ through what was typed here before. Pure.
 */
#ifndef TUI_PROMPT_PRIV_H
#define TUI_PROMPT_PRIV_H

#include "term/width.h"
#include "tui/keys_priv.h"

enum { TUI_PROMPT_BYTES = 1024, TUI_PROMPT_OLD = 16 };

enum tui_prompt_end {
    TUI_PROMPT_GOES_ON,
    TUI_PROMPT_CHANGED,
    TUI_PROMPT_DONE,
    TUI_PROMPT_GIVEN_UP
};

struct tui_prompt {
    bool is_open;
    char head[48];                  /* what stands before it: "/", "label: " */
    struct buf text;                /* UTF-8 without control characters */
    size_t cursor;                  /* byte of the text */
    struct buf old[TUI_PROMPT_OLD]; /* newest first */
    struct buf typed;               /* what stood here before one of those was gone to */
    unsigned n_old, at_old;
};

void tui_prompt_release(struct tui_prompt *p);
/* text: what stands in it at first. */
void tui_prompt_open(struct tui_prompt *p, const char *head, struct view text);
/* Escape, ^C, and Backspace in an empty one give up; DONE keeps the text until the next
 * open, and in the past ones. */
enum tui_prompt_end tui_prompt_key(struct tui_prompt *p, struct tui_key key);
/* Appends what of it has room in so many columns; *ret_col: where the cursor stands. */
void tui_prompt_put(const struct tui_prompt *p, unsigned cols, struct term_widths *widths,
                    struct buf *out, unsigned *ret_col);

#endif
