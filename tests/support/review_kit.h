/* SPDX-License-Identifier: MIT */
/* review_kit.h -- a session that is looked back on, for tests: typed at, fed, checked. */
#ifndef SUPPORT_REVIEW_KIT_H
#define SUPPORT_REVIEW_KIT_H

#include "tui/review_priv.h"

enum { KIT_ROWS_MAX = 64 };

#define KIT_START_NS  1700000000000000000ULL
#define KIT_SECOND_NS 1000000000ULL

struct review_kit {
    struct term *term;
    struct play_stamps stamps;
    struct play_events events;
    struct tui_source source;
    struct tui_review r;
    uint64_t now_ns;
    struct tui_line page[KIT_ROWS_MAX];
    unsigned at; /* the row of the current line */
};

/* A session of `lines` lines, "line 0" to …, one a second. */
void review_kit_begin(struct review_kit *k, unsigned cols, unsigned rows, unsigned lines);
void review_kit_end(struct review_kit *k);
/* From an empty session on: it keeps so many rows, and lines of the alternate screen. */
void review_kit_keep(struct review_kit *k, uint32_t rows, uint32_t alternate_rows);
/* What the session writes; without telling the review. */
void review_kit_feed(struct review_kit *k, const char *text);
void review_kit_lines(struct review_kit *k, unsigned from, unsigned to);
/* Bytes from the keyboard; what the last key asked for. The page is laid out, and checked
 * to hold what it must. */
enum tui_review_wish review_kit_type(struct review_kit *k, const char *keys);
enum tui_review_wish review_kit_mouse(struct review_kit *k, enum tui_mouse what,
                                      unsigned row);
/* The session has changed. */
void review_kit_update(struct review_kit *k);
void review_kit_check(struct review_kit *k);
/* At the byte after the line with this number. */
void review_kit_event(struct review_kit *k, enum play_event_kind kind, uint64_t id,
                      uint64_t line);
/* The page in short: numbers of lines, "e0" an event, "d0" a line of the draft, "."
 * blank, "o" older ones are to come, "~" before what is dim, "*" before the current line.
 */
const char *review_kit_page(struct review_kit *k, struct buf *room);

#endif
