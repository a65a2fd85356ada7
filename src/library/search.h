/* SPDX-License-Identifier: MIT */
/*
 * search.h -- a text in all sessions that are indexed.
 *
 * What is looked for stands in one line (rows that wrap are one line). ASCII letters
 * match in either case unless the question has a capital, as in the player. Newest first:
 * by the session's start, and in a session from its last line up; a line is one hit,
 * however often the text stands in it.
 */
#ifndef LIBRARY_SEARCH_H
#define LIBRARY_SEARCH_H

#include "store/store.h"
#include "tape/reader.h"

struct library_search {
    const char *home; /* sessions that are not there any more are passed over; NULL: none
                       * is */
    struct view query;
    bool is_regex;  /* Perl's, over UTF-8; at most 64 KiB; else the bytes as they are */
    const char *id; /* of one session; NULL: any */
    uint64_t since_ns;                    /* sessions started not before; 0: any */
    uint64_t limit;                       /* hits; 0: all */
    const struct tape_progress *progress; /* by bytes of text; may be NULL */
};

struct library_hit {
    const char *id;
    uint64_t turn;       /* text of that event, from 1, which was not shown; 0: a line */
    uint64_t index;      /* of the row in which it begins; as in reports, from 0 */
    uint64_t write_byte; /* … that row's */
    uint64_t ts_ns;
    struct view line;  /* all of it, clean UTF-8 */
    size_t start, end; /* of the first match in it */
};

struct library_searched {
    uint64_t hits;       /* that were handed over */
    uint64_t text_bytes; /* that were looked through */
    uint64_t hard_lines; /* in which the regex would have taken too long: passed over */
    bool is_given_up;    /* those were too many, and the search ended */
    bool has_more;       /* than `limit` */
};

/* 0 ends the search, 1 goes on, else an error that is returned. */
typedef int (*library_hit_fn)(void *ctx, const struct library_hit *hit);
/* s NULL: there is no library, and nothing is found. A query that is no regex: ERR_USAGE,
 * with where and why. An empty one: ERR_USAGE. */
int library_search(struct store *s, const struct library_search *search,
                   library_hit_fn fn, void *ctx, struct library_searched *ret,
                   struct err *err);

#endif
