/* SPDX-License-Identifier: MIT */
/* metadata_priv.h -- what a metadata.json says, whoever wrote it; pure. */
#ifndef JOURNAL_METADATA_PRIV_H
#define JOURNAL_METADATA_PRIV_H

#include <stdbool.h>

#include "base/buf.h"
#include "base/json_in.h"

/* Goes over the members of an object. */
struct journal_members {
    struct json_in in;
    struct buf key;     /* of the member that was found, without escapes */
    struct view member; /* all of it, as it is written */
    struct view value;  /* … and its value */
    bool is_begun, is_first;
};

/* One more member? False at the end, or where it is no object or is malformed: then
 * in.failed. Zeroed but for `in` it is ready for use. */
bool journal_members_next(struct journal_members *m);
void journal_members_release(struct journal_members *m);
/* A value that is a string, without escapes; what is none is an empty one. */
void journal_member_text(struct view value, struct buf *ret);

enum { JOURNAL_NAMES_MAX = 4096 }; /* each is compared with all */

/* Adds the name, with its NUL, unless it is there, or there are too many. */
void journal_names_add(struct buf *names, const char *name);
/* The strings of an array, each once, each with its NUL; one that holds a NUL is left
 * out. */
void journal_names_read(struct view array, struct buf *ret);
/* artifacts_produced of the object; nothing for what is none. */
void journal_metadata_artifacts(struct view object, struct buf *ret);
/* Appends the members that are none of ours, each with a comma before it. */
void journal_metadata_foreign(struct view object, struct buf *out);

#endif
