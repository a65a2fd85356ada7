/* SPDX-License-Identifier: MIT */
/*
 * pipes_priv.h -- two pipes read as one, in the order in which they were written to, as
 * far as that can be known.
 *
 * An epoll of their own, edge-triggered, lists them in the order in which they became
 * readable. When both have something, whole lines of both that came together are taken in
 * turn where there are about as many of each (they alternate, most likely), else one pipe
 * after the other.
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
};

int run_pipes_init(struct run_pipes *p, int out_fd, int err_fd, struct err *err);
void run_pipes_release(struct run_pipes *p);
/* < 0 ends the reading and is returned. Pieces are cut anywhere. */
typedef int (*run_piece_fn)(void *ctx, enum run_stream stream, struct view piece);
/* What is there now, at most about 1 MiB. *ret_more: there is more already. */
int run_pipes_read(struct run_pipes *p, run_piece_fn fn, void *ctx, bool *ret_more);
/* Both at their end? (A grandchild may hold them open after the child is gone.) */
bool run_pipes_are_over(const struct run_pipes *p);

#endif
