/* SPDX-License-Identifier: MIT */
/* recall.h -- the command of a session, to be run once more. */
#ifndef CLI_RECALL_H
#define CLI_RECALL_H

#include "session/meta.h"

/* The words, NULL at the end, to be freed; they are borrowed of `told`. ERR_USAGE: they
 * are not known, or not all of them as they were typed; verb: the command that asks, for
 * what to do then. */
int cli_recall(struct session_told *told, const char *id, const char *verb, char ***ret,
               struct err *err);
/* The same of words that were given. */
int cli_recall_given(size_t count, char **words, const char *verb, char ***ret,
                     struct err *err);
/* How many there are. */
size_t cli_recall_count(char *const *words);

#endif
