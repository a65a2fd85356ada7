/* SPDX-License-Identifier: MIT */
/* session.h -- SESSION, as subcommands take it. */
#ifndef CLI_SESSION_H
#define CLI_SESSION_H

#include "cli/command.h"
#include "library/find.h"
#include "library/session.h"

/* library_find(); and for a link where the recording itself lies: its tails and segments
 * are beside it, not beside the link. Tells why the index was not used; self NULL: it
 * does not, for who goes on to use the index and fails for the same reason. */
int cli_find(const struct cli_command *self, struct library_found *ret, const char *what,
             struct err *err);
/* The same for those who do not read what is in it: cli_find() refuses one that is
 * encrypted. */
int cli_find_any(const struct cli_command *self, struct library_found *ret,
                 const char *what, struct err *err);
/* So much of an id will do for a person: the day, and the first part of the UUID. */
enum { CLI_SHORT_ID = sizeof("2026-11-16-1a2b3c4d") - 1 };
/* SESSION, given as an operand or by --session; NULL: neither. $AHR_SESSION, which is
 * that option's variable, says in which session we are, not which one is meant. */
int cli_session_choice(const struct cli_command *c, const char *option, int count,
                       char **operands, const char **ret, struct err *err);
/* What a session is called in what we say of it: as the user did, unless that is nothing
 * or may mean another one in a moment. */
const char *cli_called(const char *what, const char *id);
/* Is it a run (ahr run), which has no terminal? */
bool cli_is_run(const struct library_found *f);
/* One made of an agent's history, or by the proxy, has no terminal either, and nothing to
 * show for one: says where its conversation is. True: it is one. */
bool cli_say_history(const struct cli_command *c, const struct library_found *f);
/* ERR_BUSY while it is being recorded. */
int cli_check_ended(const char *home, const struct library_found *f, const char *what,
                    struct err *err);
/* Is the session with this id being recorded? */
bool cli_is_live(const char *id);

/* Tells that its recorder lives, but cannot be reached. */
void cli_say_lost(const struct cli_command *self, const struct library_session *s);

/* Tells why the index was not used; nothing when there is none yet. */
void cli_say_index(const struct cli_command *self, const struct err *why);

/* May a session be called so? NULL: it need not be called anything. */
int cli_check_name(const char *name, struct err *err);

/* What one who begins a session says of it; each may be NULL. */
int cli_check_story(const char *name, const char *role, const char *task,
                    struct err *err);

#endif
