/* SPDX-License-Identifier: MIT */
/*
 * branch_tell.h -- the instruction of a branch, noted in both sessions, and typed into
 * the new one.
 *
 * The client of the new session has its terminal and waits for nothing: so a process of
 * its own, `ahr branch-tell`, does it.
 */
#ifndef CLI_BRANCH_TELL_H
#define CLI_BRANCH_TELL_H

#include "library/find.h"
#include "snap/facts.h"

/* Notes in the session, live or not, that this was asked for at that snapshot of it. */
int cli_branch_note(struct library_found *session, const struct snap_facts *at,
                    const char *text, struct err *err);
/* The session with that id has just begun. is_typed: its program is to be typed the text
 * once it is ready; else it has it by its command line. 0 or -errno. */
int cli_branch_tell_start(const char *home, const char *id, const char *text,
                          bool is_typed);

#endif
