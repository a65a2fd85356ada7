/* SPDX-License-Identifier: MIT */
/*
 * viewing.h -- what the commands that show a session have in common: the viewer's
 * options, the answer that is remembered, and instructions after the end.
 */
#ifndef CLI_VIEWING_H
#define CLI_VIEWING_H

#include "cli/option.h"
#include "library/find.h"
#include "tui/viewer.h"

enum { CLI_DELIVER_UNSAID = -1, CLI_VIEWING_NAME = 65 };

/* As the command line, the environment or the config file has it. */
struct cli_viewing {
    const char *prefix; /* NULL: the usual one */
    int deliver;        /* enum tui_deliver; CLI_DELIVER_UNSAID */
    bool begins_back;   /* in review mode */
};

/* Of a command whose options have them as `viewing`. */
#define CLI_PREFIX_OPTION(type)                                                  \
    {                                                                            \
        "prefix", 0, CLI_TEXT, offsetof(type, viewing.prefix), "KEY",            \
            "the key before d (detach), v (look back), ? (help)… (Ctrl-])", 0, 0 \
    }
#define CLI_DELIVER_OPTION(type)                                                       \
    {                                                                                  \
        "deliver", 0, CLI_CHOICE, offsetof(type, viewing.deliver), "ask|yes|no",       \
            "type an instruction about now into the agent? (ask, or as was answered)", \
            0, 0                                                                       \
    }

/* The key; ERR_USAGE for what is none. */
int cli_viewing_prefix(const struct cli_viewing *v, uint8_t *ret, struct err *err);
/* What was said; else what somebody has answered once for all ($AHR_HOME/.deliver). */
enum tui_deliver cli_viewing_deliver(const struct cli_viewing *v);
/* The answer is one for all. */
void cli_viewing_remember(bool is_typed);
/* What a session is called: its name, else so much of its id as will do. */
const char *cli_viewing_name(const char *name, const char *id,
                             char room[CLI_VIEWING_NAME]);
/* Notes the instruction in a session that has ended; what: an id or a file. */
int cli_viewing_instruct(const char *what, const struct tui_wish *wish,
                         struct play_event *ret, struct err *err);

#endif
