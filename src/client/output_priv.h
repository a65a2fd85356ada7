/* SPDX-License-Identifier: MIT */
/* output_priv.h -- bytes to a terminal, a pipe or a file that is never waited for. */
#ifndef CLIENT_OUTPUT_PRIV_H
#define CLIENT_OUTPUT_PRIV_H

#include <stdbool.h>

#include "client/queue_priv.h"

struct output {
    int fd;       /* our own, non-blocking where that can be had */
    int given_fd; /* borrowed */
    enum { OUTPUT_FREE, OUTPUT_SOCKET, OUTPUT_WAITS } kind; /* how not to wait for it */
    bool is_gone;
    int error; /* errno of what made it go */
    struct queue waiting;
    uint64_t taken; /* bytes, in all */
};

void output_open(struct output *o, int fd);
void output_close(struct output *o);
/* Written as far as it goes now, else queued. Nothing when it is gone. */
void output_put(struct output *o, struct view v);
/* Writes more of the queue: call it when poll() says that there is room. */
void output_flush(struct output *o);
/* Written now or not at all: for the last word. */
void output_try(struct output *o, struct view v);
/* Nobody reads it any more: poll() says so before anything is written. */
void output_lose(struct output *o);
size_t output_waiting(const struct output *o);

#endif
