/* SPDX-License-Identifier: MIT */
/*
 * interrupted.h -- `--on-interrupted`: what happens to sessions of a folder that were cut
 * off, when another one is started there.
 */
#ifndef CLI_INTERRUPTED_H
#define CLI_INTERRUPTED_H

#include "cli/again.h"
#include "cli/command.h"
#include "cli/option.h"
#include "library/left.h"

/* In the order of the option's words. */
enum cli_interrupted {
    CLI_INTERRUPTED_UNSAID = -1, /* asked on a terminal, else noted */
    CLI_INTERRUPTED_ASK,
    CLI_INTERRUPTED_RESUME, /* the newest of the same name or task */
    CLI_INTERRUPTED_FRESH,
    CLI_INTERRUPTED_NOTE,
};

#define CLI_INTERRUPTED_OPTION(type, field)                                              \
    {                                                                                    \
        "on-interrupted", 0, CLI_CHOICE, offsetof(type, field), "ask|resume|fresh|note", \
            "a session of this folder was cut off: ask whether to go on with it, do, "   \
            "do "                                                                        \
            "not, or tell (ask on a terminal, else note)",                               \
            0, 0                                                                         \
    }

struct cli_interrupted_about {
    const struct cli_command *self;
    const char *home, *folder; /* absolute */
    const char *name, *task;   /* of the new session; NULL: none */
    bool is_quiet;
};

/* 1: the session *ret_id is to be gone on with in place of a new one; 0: it starts. */
int cli_interrupted(const struct cli_interrupted_about *about, int how,
                    char ret_id[SESSION_ID_LEN + 1]);

/* A copy of the words, to be freed: parsing changes their order. NULL: no memory. */
char **cli_interrupted_words(int argc, char *const *argv);

/*
 * Goes on with it, as `ahr resume` does: by its own command, or by the given one (count
 * words) where that is not known. What was given holds for the new session as well, if
 * that is one of its command's kind.
 */
int cli_interrupted_resume(const struct cli_again_given *given, const char *id,
                           bool is_quiet, int count, char **command, struct err *err);

#endif
