/* SPDX-License-Identifier: MIT */
/* redact_session.h -- `ahr redact SESSION`: secrets out of a session of the library. */
#ifndef CLI_REDACT_SESSION_H
#define CLI_REDACT_SESSION_H

#include "cli/command.h"

struct cli_redact_session {
    const char *session;
    const char *rule, *text_file; /* one of them; text_file "-": standard input */
    const char *own;              /* the user's rules; NULL: at their place */
    bool is_json;
};

/* Returns an exit status, or an error with *err filled. */
int cli_redact_session(const struct cli_command *self,
                       const struct cli_redact_session *args, struct err *err);

#endif
