/* SPDX-License-Identifier: MIT */
/* pack_priv.h -- the packed row's bytes, for those who write and read them. */
#ifndef TERM_PACK_PRIV_H
#define TERM_PACK_PRIV_H

#include "term/history_priv.h"

enum { /* flags */
       TERM_PACKED_IS_WRAPPED = 1,
       TERM_PACKED_IS_ASCII = 2,
       TERM_PACKED_HAS_RUNS = 4,
       TERM_PACKED_HAS_STYLE = 8,
};

enum { /* marks in the text; no cell holds a control character */
       TERM_PACKED_WIDE = 1,
       TERM_PACKED_CLUSTER = 2,
       TERM_PACKED_PAD = 3,
};

/* Appends the row to the page's data. */
int term_page_pack(struct term_page *page, struct term_tables *tables,
                   const struct term_row *row);

#endif
