/* SPDX-License-Identifier: MIT */
/*
 * find.h -- from what a person calls a session to its recording.
 *
 * SESSION is a path of a file that exists or has a slash or ends in .ahr, `last` (the one
 * that began last), an id, a unique prefix of one or of its UUID (at least 4 characters),
 * or a name (the newest of that name). What is newest is told by the day of the id, then
 * by the start. Names and starts are looked up in the index, where that can be used, and
 * for the rest in sessions/ and live/, with the same result; what cannot be read there is
 * passed over. An id, a prefix and a path need no index. A name that a run has in the
 * project around the current folder means that run, before all others of its name.
 */
#ifndef LIBRARY_FIND_H
#define LIBRARY_FIND_H

#include <stdbool.h>

#include "base/buf.h"
#include "session/id.h"

struct library_found {
    struct buf tape_path;        /* as C strings by buf_str() */
    struct buf meta_path;        /* empty: none known (a plain file) */
    char id[SESSION_ID_LEN + 1]; /* "": a plain file */
    bool is_live;                /* it lies in live/ */
    bool is_encrypted;           /* there is nothing to read but that */
    struct err why; /* code < 0: the index was to be used and could not be, and why;
                       ERR_MISSING too */
};

void library_found_release(struct library_found *f);
/* ERR_MISSING when there is none, ERR_USAGE for a prefix that several share (they are
 * named). */
int library_find(struct library_found *ret, const char *what, struct err *err);
/* The same by the files alone: for a recorder, which never touches the index. */
int library_find_by_files(struct library_found *ret, const char *what, struct err *err);

/* What whoever wants to read an encrypted one is told; an error, in any case. */
int library_refuse_encrypted(const char *what, struct err *err);

/* The session of the run that is called so in the project around the current folder:
 * true, with its id. */
bool library_find_run(const char *name, char ret_id[SESSION_ID_LEN + 1]);

#endif
