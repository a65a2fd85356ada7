/* SPDX-License-Identifier: MIT */
/*
 * draft_priv.h -- an instruction while it is written: several lines, and a cursor.
 *
 * The keys of any text field: arrows (with Ctrl or Alt by words), Home, End, Page keys,
 * Enter, Backspace, Delete, ^A ^E ^B ^F ^P ^N ^K ^U ^W ^D, undo by ^Z and ^_. What is
 * pasted is text, whatever it holds. Lines longer than the box are wrapped in it. Pure.
 */
#ifndef TUI_DRAFT_PRIV_H
#define TUI_DRAFT_PRIV_H

#include "term/width.h"
#include "tui/keys_priv.h"

enum { TUI_DRAFT_BYTES = 60000, TUI_DRAFT_UNDO = 64 };

enum tui_draft_end {
    TUI_DRAFT_GOES_ON,
    TUI_DRAFT_SUBMITTED, /* Ctrl-Enter, Ctrl-S */
    TUI_DRAFT_GIVEN_UP,  /* Escape; when there is text, the second one in a row */
    TUI_DRAFT_EDITOR,    /* Ctrl-E … see tui_draft_key() */
};

struct tui_draft {
    struct buf text; /* UTF-8; of control characters newline and tab alone */
    size_t cursor;   /* byte of it */
    unsigned cols;   /* of the text's own lines on the screen; set by the caller */
    size_t top;      /* the first of them that is shown */
    bool was_escape; /* … which would give it up, if it comes again */
    bool is_full;    /* the last key had no room */
    /* private: */
    unsigned want_col;
    struct buf undo;
};

void tui_draft_release(struct tui_draft *d);
void tui_draft_clear(struct tui_draft *d);
/* Replaces all of it, as $EDITOR left it: what is no text is left out, the newline at the
 * end, too. */
void tui_draft_set(struct tui_draft *d, struct view text);
/* Ctrl-E asks for $EDITOR (so the line's end is End alone). */
enum tui_draft_end tui_draft_key(struct tui_draft *d, struct tui_key key,
                                 struct term_widths *widths);
/* Is there nothing but blanks in it? */
bool tui_draft_is_empty(const struct tui_draft *d);
/* How many lines it takes on the screen, at least 1; and where the cursor is in them. */
size_t tui_draft_lines(const struct tui_draft *d, struct term_widths *widths);
void tui_draft_cursor(const struct tui_draft *d, struct term_widths *widths,
                      size_t *ret_line, unsigned *ret_col);
/* Appends the i-th of them: text without control characters. */
void tui_draft_put(const struct tui_draft *d, size_t line, struct term_widths *widths,
                   struct buf *out);

#endif
