/* SPDX-License-Identifier: MIT */
/*
 * html_priv.h -- the parts of a session as HTML.
 *
 * Whatever bytes a text has, none of them becomes markup: what is no text in a document
 * is left out or U+FFFD. Failures are remembered in the buf.
 */
#ifndef PLAY_HTML_PRIV_H
#define PLAY_HTML_PRIV_H

#include <stdbool.h>

#include "base/buf.h"
#include "term/term.h"

/* html.css and talk.css, and how the policy names each: "sha256-…". */
extern const char play_html_style[], play_html_style_hash[];
extern const char play_talk_style[], play_talk_style_hash[];

/* -- html_head.c -- */

/* From the beginning to behind the title in the header; hash: of the style sheet. title
 * may be NULL. */
void play_html_head(struct buf *out, const char *title, const char *style,
                    const char *hash);

/* -- html_text.c -- */

/* Text for an element or a quoted attribute. */
void play_html_text(struct buf *out, struct view text);
/* The text of cells: what a font may draw too wide or too narrow is held to its columns.
 */
void play_html_cells(struct buf *out, struct view text);
/* n columns of nothing, for a ground to be seen. */
void play_html_blanks(struct buf *out, unsigned n);

/* -- html_look.c -- */

/* Does it have a ground of its own? */
bool play_html_has_ground(const struct term_style *style);
/* Begins an element that looks like this, to be ended by "</i>". False: there is nothing
 * to be seen of it, and no element. */
bool play_html_look(struct buf *out, const struct term_style *style);

/* -- html_line.c -- */

/* A line with its looks and links, as far as these lead to the web. */
void play_html_line(struct buf *out, struct view text, const struct term_line *line);

#endif
