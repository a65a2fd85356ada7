/* SPDX-License-Identifier: MIT */
/*
 * session.h -- the facts of one session, from its files.
 *
 * What `list` and `show` print, and what the index keeps: the same, whether it comes from
 * the index or from here. Whatever lies in the folder, it is read as far as it goes.
 */
#ifndef LIBRARY_SESSION_H
#define LIBRARY_SESSION_H

#include "store/store.h"

/* Where a session's folder is. */
enum library_place { LIBRARY_SESSIONS, LIBRARY_LIVE, LIBRARY_DAMAGED };

/* Zeroed it is ready for use. */
struct library_session {
    struct store_session facts; /* texts point into `texts`, or are NULL */
    enum library_place place;
    bool is_held; /* live: it is being recorded now; else its recorder has vanished */
    int lost_pid; /* live: its recorder lives, but cannot be reached any more; it counts
                     as vanished (is_held is false); 0: that is not so */
    bool is_indexed;  /* these are the facts of the index, masked */
    struct buf texts; /* of the facts */
};

void library_session_release(struct library_session *s);
/* Sets the facts, with texts of its own: a row may be one that is borrowed. */
int library_session_keep(struct library_session *s, const struct store_session *row);
/*
 * ERR_MISSING when it is in neither place. A session of live/ whose recorder has vanished
 * is told as `interrupted`, whatever its meta says; one without a meta has its id's day
 * as its start. Texts are as they stand in its files: not masked. size_bytes is without
 * keyframes, which come and go; `bytes` of a live one are not known.
 */
int library_session_read(struct library_session *ret, const char *home, const char *id,
                         struct err *err);
/* The folder's name in the home: "sessions". */
const char *library_place_name(enum library_place place);
/* Words, each with its NUL, as facts.cmd and facts.command have them. */
int library_command(struct view words, struct buf *ret_json, struct buf *ret_line);

#endif
