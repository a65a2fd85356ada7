/* SPDX-License-Identifier: MIT */
/* client_priv.h -- the state of a client, and what its files do for each other. */
#ifndef CLIENT_CLIENT_PRIV_H
#define CLIENT_CLIENT_PRIV_H

#include "client/client.h"
#include "client/keys_priv.h"
#include "client/link_priv.h"
#include "client/show_priv.h"

struct client {
    const struct client_options *opt;
    struct client_result *result;
    struct link link;
    struct show show;
    uint32_t number; /* by which the host knows us */

    /* typed.c */
    int in_fd; /* our own, non-blocking where that can be had */
    bool is_input_open;
    size_t window; /* input that may still be sent */
    struct keys keys;
    struct buf early; /* typed before there is a picture */
    struct keys early_keys;

    /* terminal.c */
    bool has_hung_up;
    uint16_t cols, rows; /* the host knows */
    uint64_t stop_at_ns; /* the first signal that asked for the end */

    bool has_ended;       /* the host has said all */
    uint64_t ended_at_ns; /* … since */
    bool is_done;         /* … and so have we */
    struct buf trouble;   /* for when the terminal is free */
};

void client_say(struct client *c, struct ipc_message m);

/* -- typed.c -- */

void client_open_input(struct client *c);
void client_close_input(struct client *c);
void client_read_input(struct client *c);
/* What was typed before there was a picture, when there is one. */
void client_take_early(struct client *c);

/* -- terminal.c -- */

/* Nobody is at the terminal any more. */
void client_hang_up(struct client *c);
/* The session goes on without us. signo: why; 0: the user wants it. */
void client_detach(struct client *c, int signo);
void client_tell_size(struct client *c);
void client_suspend(struct client *c);
void client_handle_signals(struct client *c);

#endif
