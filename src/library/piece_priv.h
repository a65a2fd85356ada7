/* SPDX-License-Identifier: MIT */
/*
 * piece_priv.h -- some lines of a session's text as they lie in the library, packed.
 *
 * The text is that of the final lines (doc/reports.md) and of a run's turns, masked. Rows
 * that wrap are joined with the next: what is searched is what was written, whatever the
 * terminal's width. A piece ends where such a line ends, or behind PIECE_LINE_MAX bytes
 * of one. Each row has its number, the byte at which it was last written, the time of
 * that, and a label: what it is a row of.
 */
#ifndef LIBRARY_PIECE_PRIV_H
#define LIBRARY_PIECE_PRIV_H

#include <stdbool.h>

#include "library/label_priv.h"
#include "tape/brotli.h"

enum {
    PIECE_BYTES = 16 << 10,            /* of text, about … */
    PIECE_SHOWN_MAX = 3 * PIECE_BYTES, /* … with rows that say what a turn does */
    PIECE_LINE_MAX = 1 << 20,          /* a longer line is cut */
    PIECE_RAW_MAX = 16 << 20,          /* unpacked, whatever is claimed */
};

struct grams;

struct piece_row {
    uint64_t index;      /* as in reports: from 0; a turn's number; an instruction's id */
    uint64_t write_byte; /* last_write_byte; an instruction's anchor; a turn's: 0 */
    uint64_t ts_ns;      /* 0: never written */
    uint32_t start;      /* in the text */
    uint32_t label;      /* enum label_kind, or what piece_label() said */
};

/* Zeroed it is empty and ready for use. */
struct piece {
    struct buf text; /* lines, each with a newline behind it */
    struct buf rows; /* struct piece_row, in their order; private: piece_row_at() */
    /* private: */
    struct labels labels;
    struct buf raw;
    struct tape_packer packer;
    size_t line_start;  /* of the last line */
    size_t shown_bytes; /* in rows that are LABEL_SHOWN */
    bool is_line_open;  /* it has no newline yet */
};

void piece_release(struct piece *p);
void piece_clear(struct piece *p);
/* The number of a turn's label in this piece, for its rows. ERR_LIMIT: it has got as many
 * as it can have, and is to end. */
int piece_label(struct piece *p, const struct label *label);
/* One row behind the others, of at most PIECE_LINE_MAX bytes; is_wrapped: the next one
 * goes on with its line. */
int piece_add(struct piece *p, const struct piece_row *row, struct view text,
              bool is_wrapped);
/* The line ends here, whatever was said of its last row. */
int piece_break(struct piece *p);
/* Has it got all that it should have? Asked behind each row. */
bool piece_is_full(const struct piece *p);
/* Appends it, packed; a line that is open is ended. */
int piece_pack(struct piece *p, struct buf *ret);
/* In the place of what *ret had; ERR_DAMAGED for what is none. The text ends with a
 * newline; whether it is UTF-8 was not looked at. */
int piece_unpack(struct view packed, struct piece *ret);
/* The row in which the byte `at` of the text stands. */
struct piece_row piece_row_at(const struct piece *p, size_t at);
/* What such a row is of; borrowed from the piece. */
struct label piece_label_of(const struct piece *p, const struct piece_row *row);
/* Appends the words under which it is found: those of its text and those of its labels.
 * They are the same when it has been packed and unpacked. */
int piece_words(const struct piece *p, struct grams *g, struct buf *ret);

#endif
