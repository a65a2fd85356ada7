/* SPDX-License-Identifier: MIT */
/* notes.h -- what is wrong or odd with a recording, for programs and for people. */
#ifndef CLI_NOTES_H
#define CLI_NOTES_H

#include "base/json.h"
#include "tape/notes.h"

/* The keys "warnings", "damaged" and "truncated_tail" of an object. path: of the
 * recording; other files are named. */
void cli_notes_json(struct json *j, const char *path, const struct tape_notes *notes);
/* "\n  damaged: …", a line each. */
void cli_notes_text(struct buf *out, const char *path, const struct tape_notes *notes);

#endif
