/* SPDX-License-Identifier: MIT */
/* live.h -- the recorder of a live session, as subcommands reach and ask it. */
#ifndef CLI_LIVE_H
#define CLI_LIVE_H

#include "client/ask.h"
#include "client/typing.h"
#include "library/reach.h"

struct cli_live {
    struct library_live at;
    struct client_ask ask;
    const char *called; /* the session; borrowed of who opened it, or of `at` */
};

/* It stays where it is: `called` may point into it. */
int cli_live_open(struct cli_live *ret, const char *session, struct err *err);
void cli_live_release(struct cli_live *l);
/* Puts the session's name before what is wrong with it. */
int cli_live_error(const struct cli_live *l, int code, struct err *err);

/* Waits for IPC_DONE. Taken input that is told meanwhile is passed over. */
int cli_ask_done(struct client_ask *ask, const struct ipc_message *m,
                 struct ipc_message *ret, struct err *err);
/* {"id":N,"anchor_byte":N,"ts_ns":N} and a newline on stdout. */
int cli_print_done(const struct ipc_message *done, struct err *err);

/* Waits until its program is ready for what is typed, and tells where it is then: it has
 * shown something and then nothing for a moment. One that does not read yet may throw
 * away what is typed, when it sets up its terminal; one that shows nothing, or never
 * rests, is not waited for any longer. An error: it has ended. */
int cli_live_settle(struct cli_live *l, uint64_t *ret_byte, struct err *err);

/* Types a text and, if asked, Enter behind it. */
int cli_type_text(struct client_typing *t, const char *text, bool with_enter,
                  struct err *err);

#endif
