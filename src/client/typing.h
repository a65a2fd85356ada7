/* SPDX-License-Identifier: MIT */
/*
 * typing.h -- bytes typed into a session, at the pace of its program.
 *
 * Programs take what arrives in one read for a paste, Enter in it included. So each piece
 * is typed by itself: it returns when the piece has reached the PTY, and a moment after
 * that, so that it is no part of what others type next either. A program that takes
 * nothing for five seconds is not waited for any more: the rest is handed to the recorder
 * as far as that takes it.
 */
#ifndef CLIENT_TYPING_H
#define CLIENT_TYPING_H

#include "client/ask.h"

enum {
    CLIENT_TYPING_PATIENCE_MS = 5000,
    CLIENT_TYPING_PAUSE_MS = 100, /* more than programs wait for the rest of a paste, or
                                     of an escape sequence */
};

struct client_typing {
    struct client_ask *ask; /* borrowed */
    size_t waiting;         /* bytes that the recorder has, and the program's PTY not */
    bool is_stuck;          /* the program does not take them */
};

/* One piece: a text, or a key. 0 also when it still waits in the recorder (`is_stuck`);
 * -ETIMEDOUT when not all of it could be handed over. */
int client_type(struct client_typing *t, struct view piece, struct err *err);

#endif
