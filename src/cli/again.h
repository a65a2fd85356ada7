/* SPDX-License-Identifier: MIT */
/*
 * again.h -- a session that goes on with another's conversation: what `ahr resume` and
 * `ahr fork` have in common.
 *
 *   again.c         which session it is, and whether it may go on
 *   again_tape.c    what the recording of a terminal tells
 *   again_how.c     which way: the agent's own, its messages once more, a short account
 *   again_context.c that account
 *   again_script.c  the messages of a run, and its answers held against the recording
 *   again_type.c    what was typed on a terminal, typed once more
 *   again_start.c   the new session
 */
#ifndef CLI_AGAIN_H
#define CLI_AGAIN_H

#include "cli/command.h"
#include "library/find.h"
#include "library/messages.h"
#include "run/run.h"
#include "session/meta.h"
#include "turn/context.h"
#include "turn/prompt.h"

/* In the order in which they are tried. */
enum cli_how {
    CLI_HOW_BEST,    /* whichever is possible */
    CLI_HOW_NATIVE,  /* the agent goes on with its own session */
    CLI_HOW_REPLAY,  /* the command is sent the messages of the recording */
    CLI_HOW_TYPED,   /* the same on a terminal */
    CLI_HOW_CONTEXT, /* it starts afresh, and is told what has happened */
};

/* What the user asks for. */
struct cli_again_args {
    enum cli_how how;
    uint64_t from; /* the first message that is sent, from 1 */
    uint64_t quiet_ms, context_bytes;
    const char *prompt; /* what the agent is told; NULL: to go on */
    const char *name, *dir;
    bool is_verified, is_dry_run, is_json, is_quiet;
};

/* What was typed behind the name of another command (run, record), in whose place this is
 * done: its options hold for the new session, too. */
struct cli_again_given {
    const struct cli_command *command;
    const char *name;   /* that it was to have; NULL: none */
    char *const *words; /* borrowed */
    size_t count;       /* of words before its command; "--" may be the last */
};

#define CLI_AGAIN_DEFAULTS                                               \
    {                                                                    \
        .from = 1, .quiet_ms = 1000, .context_bytes = TURN_CONTEXT_BYTES \
    }

/* The options that both have; the type has them as `again`. */
#define CLI_AGAIN_OPTIONS(type)                                                            \
    { "prompt", 0,                                                                         \
      CLI_TEXT, offsetof(type, again.prompt),                                              \
      "TEXT",   "what the agent is told (to go on)",                                       \
      0,        0 },                                                                       \
        { "dry-run", 0,                                                                    \
          CLI_FLAG,  offsetof(type, again.is_dry_run),                                     \
          NULL,      "only tell what would be done",                                       \
          0,         0 },                                                                  \
        { "json", 0, CLI_FLAG, offsetof(type, again.is_json), NULL, "… as JSON", 0, 0 },   \
        { "name",   0,                                                                     \
          CLI_TEXT, offsetof(type, again.name),                                            \
          "NAME",   "what to call the new session",                                        \
          0,        0 },                                                                   \
        { "dir",    0,                                                                     \
          CLI_TEXT, offsetof(type, again.dir),                                             \
          "DIR",    "the folder in which it runs (as before)",                             \
          0,        0 },                                                                   \
        { "quiet-ms", 0,                                                                   \
          CLI_NUMBER, offsetof(type, again.quiet_ms),                                      \
          "N",        "a program that has answered and rests so long has said all (1000)", \
          1,          600000 },                                                            \
        { "context-bytes",                                                                 \
          0,                                                                               \
          CLI_SIZE,                                                                        \
          offsetof(type, again.context_bytes),                                             \
          "N",                                                                             \
          "how long that account may be (24K)",                                            \
          TURN_CONTEXT_MIN,                                                                \
          TURN_CONTEXT_MAX },                                                              \
    {                                                                                      \
        "quiet", 'q', CLI_FLAG, offsetof(type, again.is_quiet), NULL,                      \
            "say nothing but what went wrong", 0, 0                                        \
    }

/* Zeroed but for the first ones it is ready for use. */
struct cli_again {
    const struct cli_command *self;
    const struct cli_again_args *args;
    const struct cli_again_given *given; /* NULL: nothing */
    bool is_fork;
    uint64_t turns; /* of a fork: so many of the other one's; UINT64_MAX: all */
    struct buf home;
    struct library_found found; /* the other session; id "": a run of another tool */
    struct session_told told;   /* … its facts … */
    struct buf called, project; /* … its name or id; its folder in its project … */
    struct library_messages messages; /* … and what was said, if it was a run */
    bool is_run;
    char **command;        /* as it was, or as the user says */
    struct buf agent_id;   /* the agent's own id of it; empty: not known */
    struct buf screen;     /* of a terminal: the last lines … */
    struct buf typed;      /* … and what was typed, if that was recorded */
    bool is_typed_masked;  /* … not all as it was */
    enum cli_how how;      /* which way it is */
    struct buf words;      /* the command of the new one, and where each word begins */
    char **argv;           /* NULL at the end */
    struct buf context;    /* what it is told, where that is no word of the command */
    uint64_t heard;        /* answers of the recording to what it is sent */
    size_t prompted;       /* messages that the command has by its words */
    struct buf said;       /* struct run_said: those that it is sent */
    struct buf said_texts; /* … where they are not as in the recording */
    struct session_lineage lineage;
};

void cli_again_release(struct cli_again *a);

/* `ahr resume` of operands[0], with the command in the others, if any. */
int cli_resume_with(const struct cli_again_given *given, bool is_quiet, int count,
                    char **operands, struct err *err);

/* -- again.c -- */

/* The session, as the user calls it; what was cut off is recovered first. ERR_BUSY: it
 * goes on, or its command does. */
int cli_again_find(struct cli_again *a, const char *what, struct err *err);
/* What was said in it (of a run), and its command; words: given by the user, or none. */
int cli_again_read(struct cli_again *a, size_t count, char **words, struct err *err);

/* -- again_tape.c -- */

/* Fills agent_id, screen and typed. */
int cli_again_tape(struct cli_again *a, struct err *err);

/* -- again_how.c -- */

/* Which way it goes on, with the words of the new command. */
int cli_again_choose(struct cli_again *a, struct err *err);
/* Appends "by its own session 5d24b3fe…". */
void cli_again_tell_how(const struct cli_again *a, struct buf *ret);

/* -- again_context.c -- */

/* Appends the account: 1; 0: there is nothing to tell. */
int cli_again_context(struct cli_again *a, struct buf *ret, struct err *err);

/* -- again_script.c -- */

/* The messages that the new run is sent. */
int cli_again_script(struct cli_again *a, struct err *err);

struct cli_verify;
/* NULL: no memory. */
struct cli_verify *cli_verify_new(struct cli_again *a);
void cli_verify_free(struct cli_verify *v);
/* Of struct run_script: ctx is the verify. */
bool cli_verify_hear(void *ctx, enum turn_type type, struct view content);
/* Says how many differences there are, and the first one; returns their number. */
uint64_t cli_verify_tell(struct cli_verify *v);

/* -- again_start.c -- */

/* May it be called so, is its folder there, can its command be found? Else nothing would
 * be started. An exit status (> 0) is told already. */
int cli_again_check(struct cli_again *a, struct err *err);
/* Starts it, in the folder of the other one or where the user says. */
int cli_again_start(struct cli_again *a, struct err *err);
/* In place of that: what would be done. */
int cli_again_print(struct cli_again *a, struct err *err);

#endif
