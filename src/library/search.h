/* SPDX-License-Identifier: MIT */
/*
 * search.h -- a text in all sessions that are indexed.
 *
 * What is looked for stands in one line (rows that wrap are one line). ASCII letters
 * match in either case unless the question has a capital, as in the player. Newest first:
 * by the session's start, and in a session from its last line up; a line is one hit,
 * however often the text stands in it.
 *
 * The text of a run is its conversation, each turn as it is shown, but whole. Rows of its
 * recording that say the same are found where rows alone are looked for.
 */
#ifndef LIBRARY_SEARCH_H
#define LIBRARY_SEARCH_H

#include "store/store.h"
#include "tape/reader.h"
#include "turn/event.h"

enum library_in {
    LIBRARY_IN_ALL,      /* everything, and what a turn and a row say once: the turn */
    LIBRARY_IN_TURNS,    /* the conversations of runs */
    LIBRARY_IN_TERMINAL, /* rows of recordings, also of runs */
};

struct library_search {
    const char *home; /* sessions that are not there any more are passed over; NULL: none
                       * is */
    struct view query;
    bool is_regex;  /* Perl's, over UTF-8; at most 64 KiB; else the bytes as they are */
    const char *id; /* of one session; NULL: any */
    uint64_t since_ns;                    /* sessions started not before; 0: any */
    const char *agent, *session_role;     /* of the session, in any case; NULL: any */
    enum library_in in;                   /* the next two need LIBRARY_IN_TURNS */
    enum turn_role role;                  /* of turns */
    struct view tool;                     /* calls and results of it; empty: all */
    uint64_t limit;                       /* hits; 0: all */
    const struct tape_progress *progress; /* by bytes of text; may be NULL */
};

enum library_hit_kind { LIBRARY_HIT_LINE, LIBRARY_HIT_TURN, LIBRARY_HIT_INSTRUCTION };

struct library_hit {
    const char *id;
    enum library_hit_kind kind;
    /* A row in which it begins, as in reports, from 0; a turn's number, from 1; an
     * instruction's id. */
    uint64_t index;
    uint64_t write_byte; /* last_write_byte of the row; an instruction's anchor */
    uint64_t ts_ns;
    /* A turn's; NULL and empty: none. */
    const char *type, *role;
    struct view tool;
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
/* Of PCRE2, which looks for regexes: appended. */
void library_pcre2_version(struct buf *out);

#endif
