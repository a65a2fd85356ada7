/* SPDX-License-Identifier: MIT */
/*
 * table.h -- rows of cells in columns, on standard output or error.
 *
 * Texts are cleaned, and measured as a terminal shows them. On a terminal a row that is
 * too long is cut: the widest column of those that may be, down to a fair width, then
 * the last of them, then the others; where that is not enough, columns are left out. Rows
 * are written some thousand at a time, each lot fitted by itself and those before.
 */
#ifndef CLI_TABLE_H
#define CLI_TABLE_H

#include <stdbool.h>

#include "term/text.h"

enum { CLI_COLUMNS_MAX = 9 };

struct cli_column {
    const char *title;
    bool is_right; /* numbers */
    unsigned min;  /* how far it may be cut; 0: it may not */
    unsigned go;   /* where there is no room at all: the how-manieth to go; 0: it stays */
};

/* With the first three set, and else zeroed, it is ready for cli_table_look(). */
struct cli_table {
    const struct cli_column *columns; /* borrowed */
    size_t count;
    unsigned spare; /* columns, a bit each, that are not there when no row has any text in
                       them; may be 0 */
    unsigned last;  /* columns of the last one, before others may stay; may be 0 */
    int fd;         /* borrowed */
    unsigned cols;  /* of the terminal; 0: there is none, and nothing is cut */
    bool is_coloured;
    unsigned width[CLI_COLUMNS_MAX];
    struct term_widths widths;
    struct buf text, cells, out;
    bool has_head;
};

void cli_table_release(struct cli_table *t);
/* Where it goes, and how that is: its columns, and whether colours are wanted, which only
 * standard output has. */
void cli_table_look(struct cli_table *t, int fd);
/* The next cell of the row; NULL: nothing. style: of SGR, 0: none. */
void cli_table_put(struct cli_table *t, const char *text, unsigned style);
/* Writes what there is; unless it is the end only when that is much. */
int cli_table_flush(struct cli_table *t, bool is_end, struct err *err);

#endif
