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
    TUI_DRAFT_GIVEN_UP,  /* Escape, ^C; when there is text, the second one in a row */
    TUI_DRAFT_EDITOR,    /* Ctrl-E … see tui_draft_key() */
};

struct tui_draft {
    struct buf text; /* UTF-8; of control characters newline and tab alone */
    size_t cursor;   /* byte of it */
    unsigned cols;   /* of the text's own lines on the screen; set by the caller */
    size_t top;      /* the first of them that is shown; the caller's */
    bool was_escape; /* … which would give it up, if it comes again */
    bool is_full;    /* the last key had no room */
    /* private: */
    struct buf begins; /* size_t: where lines of the screen begin, the first ones … */
    unsigned begins_cols; /* … at so many columns */
    unsigned want_col;    /* 1 + where ↑ and ↓ want to be; 0: where the cursor is */
    struct buf undo;      /* steps, the last one at the end */
    unsigned n_undo;
    enum tui_draft_run { TUI_DRAFT_ALONE, TUI_DRAFT_TYPING, TUI_DRAFT_ERASING } run;
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
size_t tui_draft_lines(struct tui_draft *d, struct term_widths *widths);
void tui_draft_cursor(struct tui_draft *d, struct term_widths *widths, size_t *ret_line,
                      unsigned *ret_col);
/* Appends the i-th of them: text without control characters. */
void tui_draft_put(struct tui_draft *d, size_t line, struct term_widths *widths,
                   struct buf *out);

/* -- draft_wrap.c -- */

/* The byte of the text at such a place of the screen, or the nearest in that line. */
size_t tui_draft_place(struct tui_draft *d, struct term_widths *widths, size_t line,
                       unsigned col);

/* The text has changed from this place on. */
void tui_draft_rewrap(struct tui_draft *d, size_t at);

/* -- draft_undo.c -- */

/* n bytes out, others in, and the cursor behind them; it can be undone, together with the
 * changes of the same run just before. False: nothing has changed; is_full: no room. */
bool tui_draft_change(struct tui_draft *d, size_t at, size_t n, struct view by,
                      enum tui_draft_run run);
/* False: there is nothing to undo. */
bool tui_draft_undo(struct tui_draft *d);

#endif
