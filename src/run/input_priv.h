/* SPDX-License-Identifier: MIT */
/*
 * input_priv.h -- what the command is sent: our standard input, and lines of `ahr send`.
 *
 * Each line is told before it is written to the command (so that it can be recorded
 * first); with is_one_prompt all of it is one message, told at its end. Where our input
 * is no terminal it is kept (up to 16 MiB) and given again to each further iteration.
 */
#ifndef RUN_INPUT_PRIV_H
#define RUN_INPUT_PRIV_H

#include <stdbool.h>

#include "base/buf.h"
#include "base/queue.h"

/* A message that goes to the command: without its newline. */
typedef void (*run_message_fn)(void *ctx, struct view message);

struct run_input {
    int from_fd; /* ours; -1: none, or at its end */
    int to_fd;   /* the command's; borrowed; -1: closed */
    bool is_one_prompt;
    bool is_kept;         /* for further iterations */
    bool is_kept_whole;   /* … and none of it is missing */
    struct queue waiting; /* told, not written yet */
    struct buf line;      /* begun */
    struct buf kept;
    run_message_fn fn;
    void *ctx;
};

/* from_fd: our standard input, or -1 when the command is not to have it. A terminal in
 * whose background we are, and /dev/null, count as at their end. */
void run_input_init(struct run_input *in, int from_fd, bool is_one_prompt,
                    bool is_repeated, run_message_fn fn, void *ctx);
void run_input_release(struct run_input *in);
/* A (further) iteration's command takes input at to_fd (-1: none). */
void run_input_begin(struct run_input *in, int to_fd);
/* What poll() is asked for; false: nothing now. */
bool run_input_wants_read(const struct run_input *in);
bool run_input_wants_write(const struct run_input *in);
/* from_fd is readable; to_fd is writable. Closes to_fd (and sets it to -1) when the
 * input has ended and all of it is written, or nobody reads it any more. */
void run_input_on_read(struct run_input *in);
void run_input_on_write(struct run_input *in);
/* A line of `ahr send`; -EPIPE: the command takes no input (any more); ERR_LIMIT: too
 * much waits. */
int run_input_send(struct run_input *in, struct view bytes);

#endif
