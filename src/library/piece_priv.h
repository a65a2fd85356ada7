/* SPDX-License-Identifier: MIT */
/*
 * piece_priv.h -- some lines of a session's text as they lie in the library, packed.
 *
 * The text is that of the final lines (doc/reports.md), masked. Rows that wrap are joined
 * with the next: what is searched is what was written, whatever the terminal's width. A
 * piece ends where such a line ends, or behind PIECE_LINE_MAX bytes of one. Each row has
 * its number, the byte at which it was last written, and the time of that.
 */
#ifndef LIBRARY_PIECE_PRIV_H
#define LIBRARY_PIECE_PRIV_H

#include <stdbool.h>

#include "base/buf.h"
#include "tape/brotli.h"

enum {
    PIECE_BYTES = 16 << 10,   /* of text, about */
    PIECE_LINE_MAX = 1 << 20, /* a longer line is cut */
    PIECE_RAW_MAX = 16 << 20, /* unpacked, whatever is claimed */
};

/* In the index of a row: it is none of the terminal's, but text of the event of that
 * number which was not shown. */
#define PIECE_TURN (UINT64_C(1) << 63)

struct piece_row {
    uint64_t index;      /* as in reports: from 0 */
    uint64_t write_byte; /* last_write_byte */
    uint64_t ts_ns;      /* 0: never written */
    uint32_t start;      /* in the text */
};

/* Zeroed it is empty and ready for use. */
struct piece {
    struct buf text; /* lines, each with a newline behind it */
    struct buf rows; /* struct piece_row, in their order; private: piece_row_at() */
    /* private: */
    struct buf raw;
    struct tape_packer packer;
    size_t line_start; /* of the last line */
    bool is_line_open; /* it has no newline yet */
};

void piece_release(struct piece *p);
void piece_clear(struct piece *p);
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

#endif
