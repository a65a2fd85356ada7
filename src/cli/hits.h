/* SPDX-License-Identifier: MIT */
/*
 * hits.h -- what a search has found, printed: for people on a terminal, as one line a hit
 * on a pipe, or as JSON.
 *
 * Whatever the texts are, no control character reaches a terminal.
 */
#ifndef CLI_HITS_H
#define CLI_HITS_H

#include "base/json.h"
#include "library/search.h"
#include "term/width.h"

struct cli_hits {
    bool is_json, is_terminal, has_colours;
    unsigned cols; /* of the terminal */
    uint64_t count;
    struct buf out;
    struct json json; /* into out */
    struct term_widths widths;
};

/* By what standard output is. */
void cli_hits_begin(struct cli_hits *h, bool is_json);
/* name: of its session, NULL: none; start_ns: when that began, 0: not known. 0 or -errno.
 */
int cli_hits_put(struct cli_hits *h, const struct library_hit *hit, const char *name,
                 uint64_t start_ns);
int cli_hits_end(struct cli_hits *h);
void cli_hits_release(struct cli_hits *h);

#endif
