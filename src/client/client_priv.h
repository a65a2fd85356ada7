/* SPDX-License-Identifier: MIT */
/* client_priv.h -- the state of a client, and what its files do for each other. */
#ifndef CLIENT_CLIENT_PRIV_H
#define CLIENT_CLIENT_PRIV_H

#include "client/client.h"
#include "client/link_priv.h"
#include "client/show_priv.h"
#include "client/telling_priv.h"
#include "pty/guard.h"
#include "tui/prefix.h"

/* What the host is to answer. */
enum client_asked {
    CLIENT_ASKED_SNAPSHOT,
    CLIENT_ASKED_INSTRUCT,
    CLIENT_ASKED_TYPED, /* an instruction that was */
    CLIENT_ASKED_STOP,
};

enum { CLIENT_ASKED_MAX = 16 };

struct client_request {
    enum client_asked what;
    struct tui_wish wish; /* of an instruction, with its text in: */
    struct buf text;
};

struct client {
    const struct client_options *opt;
    struct client_result *result;
    struct link link;
    struct show show;
    struct pty_guard guard;
    uint32_t number; /* by which the host knows us */

    /* typed.c */
    int in_fd; /* our own, non-blocking where that can be had */
    bool is_input_open;
    size_t window;         /* input that may still be sent */
    struct queue unsent;   /* … and what is to be */
    uint64_t typed, taken; /* bytes for the session, in all; so many are in its PTY */
    struct buf early;      /* typed before there is a picture */
    struct tui_prefix early_prefix;

    /* wishes.c, telling.c */
    struct client_request asked[CLIENT_ASKED_MAX]; /* the oldest first */
    size_t asked_count;
    struct telling *telling; /* the first */

    /* terminal.c */
    bool has_hung_up;
    uint16_t cols, rows; /* the host knows */
    uint64_t stop_at_ns; /* the first signal that asked for the end */

    bool has_more;        /* of the host's, that was read already */
    bool has_ended;       /* the host has said all */
    bool lingers;         /* … and somebody looks back */
    uint64_t ended_at_ns; /* … since */
    bool is_done;         /* … and so have we */
    bool has_trouble;     /* the session, as far as we know */
    bool shows_trouble;   /* … and the viewer knows it */
    struct buf trouble;   /* for when the terminal is free */
    struct buf unnoted;   /* … likewise: what became of instructions at the end */
};

void client_say(struct client *c, struct ipc_message m);
/* Nobody looks back any more. */
void client_stop_lingering(struct client *c);

/* -- typed.c -- */

void client_open_input(struct client *c);
void client_close_input(struct client *c);
bool client_reads_input(const struct client *c);
void client_read_input(struct client *c);
/* For the session, as soon as it takes them. */
void client_type_bytes(struct client *c, struct view v);
void client_type_text(struct client *c, const char *text);
/* It has taken some: sends more. */
void client_send_typed(struct client *c);
/* What was typed before there was a picture, when there is one. */
void client_take_early(struct client *c);

/* -- wishes.c -- */

/* Does what the viewer was asked for. */
void client_take_wishes(struct client *c);
/* DONE or REFUSED; false: nothing was asked. */
bool client_take_answer(struct client *c, const struct ipc_message *m);
/* A line that goes by itself. */
void client_tell(struct client *c, const char *text);
/* Notes an instruction; is_typed: it has been. */
void client_note(struct client *c, const struct tui_wish *wish);
/* The session has ended, and nothing more is answered: what the host has not taken is
 * noted without it. is_known: it has answered all that it took. */
void client_note_unanswered(struct client *c, bool is_known);
void client_release_asked(struct client *c);

/* -- terminal.c -- */

/* Nobody is at the terminal any more. */
void client_hang_up(struct client *c);
/* The session goes on without us. signo: why; 0: the user wants it. */
void client_detach(struct client *c, int signo);
void client_tell_size(struct client *c);
void client_suspend(struct client *c);
/* … with all of its job, as Ctrl-Z does. */
void client_suspend_job(struct client *c);
/* $EDITOR has the terminal, until it is done. */
void client_edit(struct client *c, const char *path, unsigned line);
void client_handle_signals(struct client *c);

#endif
