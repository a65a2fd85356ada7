/* SPDX-License-Identifier: MIT */
/*
 * review_rows_priv.h -- the lines that a review shows, each at its row in one long scroll
 * with all that stands between them; the page is a window on it.
 *
 * Visible lines are counted from 0: all of the book, or those that pass the filter. In
 * the scroll, the draft's box and badges stand before the line that follows them; those
 * behind the last line come at the end.
 */
#ifndef TUI_REVIEW_ROWS_PRIV_H
#define TUI_REVIEW_ROWS_PRIV_H

#include "tui/review_priv.h"

/* Lines from .. to - 1; to may be less: there are none. */
struct tui_span {
    uint64_t from, to;
};

uint64_t tui_rows_count(const struct tui_review *r);
/* The line at an index; the book's end behind the last one. */
uint64_t tui_rows_line(const struct tui_review *r, uint64_t index);
/* The first visible line from this one on: its index; the count: there is none. */
uint64_t tui_rows_rank(const struct tui_review *r, uint64_t line);
/* … or the last visible one, if there is none. For a count that is not 0. */
uint64_t tui_rows_near(const struct tui_review *r, uint64_t line);

/* Events have changed, or lines, but for these: where each event stands now. */
void tui_rows_find_events(struct tui_review *r, struct tui_span same);
size_t tui_rows_events(const struct tui_review *r);
/* The line before which an event stands; the book's end, or more: behind the last one. */
uint64_t tui_rows_event(const struct tui_review *r, size_t event);

/* Where in the scroll a line stands; behind the last one: the scroll's length. */
uint64_t tui_rows_row(const struct tui_review *r, uint64_t index);
/* The first line at this row or below it. */
uint64_t tui_rows_index(const struct tui_review *r, uint64_t row);
/* The row that is the page's first, and the furthest that it may be. */
uint64_t tui_rows_top(const struct tui_review *r);
uint64_t tui_rows_bottom(const struct tui_review *r);
/* Puts the page there, as near as it may be: the current line stays on it. */
void tui_rows_settle(struct tui_review *r, uint64_t top);
/* Makes it the current line first. Nothing where there are no lines. */
void tui_rows_put(struct tui_review *r, uint64_t index, uint64_t top);

struct tui_place tui_rows_place(const struct tui_review *r, uint64_t line);
/* The same line under its new number, which should be near this one. */
uint64_t tui_rows_again(const struct tui_review *r, const struct tui_place *place,
                        uint64_t near);

/* -- review_go.c: how keys move -- */

/* The current line by so many lines, and the page with it. */
void tui_review_by_lines(struct tui_review *r, bool is_back, uint64_t n);
/* The page by so many rows, and the current line with it. */
void tui_review_by_rows(struct tui_review *r, bool is_back, uint64_t n);
/* A line at the page's top; the end. */
void tui_review_go_top(struct tui_review *r, uint64_t index);
void tui_review_go_end(struct tui_review *r);
/* A line that was at this row of the page, where it was. */
void tui_review_go_again(struct tui_review *r, uint64_t line, unsigned row);
/* A jump is made from here: '' comes back. */
void tui_review_depart(struct tui_review *r);
void tui_review_mark(struct tui_review *r, uint32_t letter);
void tui_review_go_mark(struct tui_review *r, uint32_t letter);
void tui_review_tell_place(struct tui_review *r);

/* -- review_keys.c -- */

/* By the tables of keys; counts, and keys that go together. */
enum tui_review_wish tui_review_command(struct tui_review *r,
                                        const struct tui_key *typed);

/* -- review_find.c -- */

void tui_review_ask_find(struct tui_review *r, bool is_back);
/* What became of the prompt, after a key of it. */
void tui_review_find_typed(struct tui_review *r, enum tui_prompt_end end);
/* Lines have changed, but for these: those that pass the filter are found anew. */
void tui_review_refilter(struct tui_review *r, struct tui_span same);

#endif
