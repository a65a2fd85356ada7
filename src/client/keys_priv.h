/* SPDX-License-Identifier: MIT */
/*
 * keys_priv.h -- what is typed for us and not for the session: Ctrl-] and a key.
 *
 * d leaves; Ctrl-] again is sent once; any other key is dropped with its prefix. However
 * a terminal writes Ctrl-]: as the byte 0x1d, or in the sequences of xterm's and kitty's
 * keyboard protocols. What is pasted is for the session, if the terminal marks it.
 * Nothing that was typed is ever held back.
 */
#ifndef CLIENT_KEYS_PRIV_H
#define CLIENT_KEYS_PRIV_H

#include <stdbool.h>

#include "base/buf.h"

struct keys {
    bool is_watching; /* nothing is for the session; q and Ctrl-C leave as well */
    bool has_prefix;
    bool is_pasting;
    unsigned matched; /* so many bytes of a paste's end have come */
};

/* Appends what is for the session. True when the user wants to leave: what was typed
 * behind that is dropped. */
bool keys_take(struct keys *k, struct view in, struct buf *out);

#endif
