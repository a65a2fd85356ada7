/* SPDX-License-Identifier: MIT */
/*
 * find.h -- from what a person calls a session to its recording.
 *
 * SESSION is a path of a file that exists or has a slash or ends in .ahr, `last` (the one
 * that began last), an id, a unique prefix of one or of its UUID (at least 4 characters),
 * or a name (the newest of that name). Looks into sessions/ and live/ directly; what
 * cannot be read there is passed over.
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
};

void library_found_release(struct library_found *f);
/* ERR_MISSING when there is none, ERR_USAGE for a prefix that several share (they are
 * named). */
int library_find(struct library_found *ret, const char *what, struct err *err);

#endif
