/* SPDX-License-Identifier: MIT */
/* output.h -- bytes to a terminal, a pipe or a file that is never waited for. */
#ifndef PTY_OUTPUT_H
#define PTY_OUTPUT_H

#include <stdbool.h>

#include "base/queue.h"

struct pty_output {
    int fd;       /* our own, non-blocking where that can be had */
    int given_fd; /* borrowed */
    enum {
        PTY_OUTPUT_FREE,
        PTY_OUTPUT_SOCKET,
        PTY_OUTPUT_WAITS
    } kind; /* how not to wait for it */
    bool is_gone;
    int error; /* errno of what made it go */
    struct queue waiting;
    uint64_t taken; /* bytes, in all */
};

void pty_output_open(struct pty_output *o, int fd);
void pty_output_close(struct pty_output *o);
/* Written as far as it goes now, else queued. Nothing when it is gone. */
void pty_output_put(struct pty_output *o, struct view v);
/* Writes more of the queue: call it when poll() says that there is room. */
void pty_output_flush(struct pty_output *o);
/* Written past the queue, for the last word: a terminal that is slow has half a second to
 * take it, one that takes nothing does not get it. */
void pty_output_try(struct pty_output *o, struct view v);
/* Nobody reads it any more: poll() says so before anything is written. */
void pty_output_lose(struct pty_output *o);
size_t pty_output_waiting(const struct pty_output *o);

#endif
