/* SPDX-License-Identifier: MIT */
/*
 * field_priv.h -- a text in which a cursor stands: what the prompt and the draft share.
 *
 * Places are bytes of the text, between characters as people see them: letters with their
 * accents, emoji that are made of several.
 */
#ifndef TUI_FIELD_PRIV_H
#define TUI_FIELD_PRIV_H

#include "term/width.h"
#include "tui/keys_priv.h"

/* The character at the front of a text that is not empty: its bytes; *ret_width: its
 * columns. A newline or a tab is one by itself, of no width. widths: for long texts; may
 * be NULL. */
size_t tui_field_next(struct term_widths *widths, struct view text, unsigned *ret_width);

/* The line around a place: where it begins, and where it ends (its newline, or the text).
 */
size_t tui_field_begin(struct view text, size_t at);
size_t tui_field_end(struct view text, size_t at);

/* The place one character, or one word, before and behind this one. */
size_t tui_field_before(struct term_widths *widths, struct view text, size_t at);
size_t tui_field_behind(struct term_widths *widths, struct view text, size_t at);
size_t tui_field_word_before(struct view text, size_t at);
size_t tui_field_word_behind(struct view text, size_t at);

/* n bytes out of a text, and others in. False: it would have more than `most`, or there
 * is no memory; nothing is changed then. */
bool tui_field_replace(struct buf *text, size_t most, size_t at, size_t n,
                       struct view by);
/* May it stand in a line of text? */
bool tui_field_is_text(uint32_t rune);
/* What a key types: its character as UTF-8, in room; its size. 0: it types nothing. */
size_t tui_field_typed(struct tui_key key, uint8_t room[4]);

#endif
