/* SPDX-License-Identifier: MIT */
/*
 * telling_priv.h -- instructions that are typed into the agent, too, without waiting: the
 * text, and a moment after that has reached the PTY Enter, as client/typing.h has it.
 *
 * What became of it is noted with it. They are typed one after the other.
 */
#ifndef CLIENT_TELLING_PRIV_H
#define CLIENT_TELLING_PRIV_H

#include "tui/viewer.h"

struct client;

enum telling_state { TELLING_WAITS, TELLING_TEXT, TELLING_PAUSE, TELLING_ENTER };

struct telling {
    struct telling *next;
    struct tui_wish wish; /* with its text in: */
    struct buf text;
    enum telling_state state;
    uint64_t taken;    /* the piece is taken when so much is */
    uint64_t since_ns; /* the state's; monotonic */
};

/* Begins when those before are done. */
void telling_add(struct client *c, const struct tui_wish *wish);
/* Does what is due. */
void telling_step(struct client *c, uint64_t now_ns);
/* How long until that has something to do by itself; < 0: it has not. */
int telling_wait_ms(const struct client *c, uint64_t now_ns);
/* The session has ended, or is left: notes what was not, as far as there is a place for
 * it. */
void telling_finish(struct client *c);
void telling_release(struct client *c);

#endif
