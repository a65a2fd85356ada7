/* SPDX-License-Identifier: MIT */
/*
 * pipes_priv.h -- two pipes read as one, in the order in which they were written to, as
 * far as that can be known.
 *
 * What one call takes was all there at one moment, before which nothing else had come; an
 * epoll of their own, edge-triggered, lists the two in the order in which they became
 * readable. Where pieces of both came together, they are taken line by line in turn if
 * there are so many of each as whoever alternates would have written, else one pipe after
 * the other.
 */
#ifndef RUN_PIPES_PRIV_H
#define RUN_PIPES_PRIV_H

#include <stdbool.h>

#include "base/buf.h"

enum run_stream { RUN_OUT, RUN_ERR };

struct run_pipes {
    int epoll_fd; /* readable when one of them is: for the loop */
    int fd[2];    /* by enum run_stream; borrowed; -1: at its end */
    struct buf in[2];
    bool is_hung_up[2]; /* nobody has it open for writing: the end follows the rest */
};

/* Both are non-blocking. Fails for what cannot be waited for, as a regular file. */
int run_pipes_init(struct run_pipes *p, int out_fd, int err_fd, struct err *err);
void run_pipes_release(struct run_pipes *p);
/* < 0 ends the reading and is returned; what was read and not told yet is lost. Pieces
 * are cut anywhere. */
typedef int (*run_piece_fn)(void *ctx, enum run_stream stream, struct view piece);
/* What is there now, at most 1 MiB of each, and no longer than some 20 ms where fn is
 * slow. *ret_more: there is more already, and epoll_fd may not tell of it: call again
 * before it is waited for. */
int run_pipes_read(struct run_pipes *p, run_piece_fn fn, void *ctx, bool *ret_more);
/* Both at their end? (A grandchild may hold them open after the child is gone.) */
bool run_pipes_are_over(const struct run_pipes *p);

#endif
