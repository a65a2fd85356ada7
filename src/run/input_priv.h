/* SPDX-License-Identifier: MIT */
/*
 * input_priv.h -- what the command is sent: our standard input, and lines of `ahr send`.
 *
 * Each line is told before it is written to the command (so that it can be recorded
 * first); with is_one_prompt all of it is one message, told at its end. Where our input
 * is no terminal it is kept (up to 16 MiB) and given again to each further iteration.
 * Nothing here waits.
 */
#ifndef RUN_INPUT_PRIV_H
#define RUN_INPUT_PRIV_H

#include <stdbool.h>

#include "base/buf.h"
#include "base/queue.h"

/* A message that goes to the command: without its newline. A line of over 1 MiB, or a
 * prompt of over 16 MiB, comes in pieces, and so does one that waits for its end:
 * is_open, there is more of it. */
typedef void (*run_message_fn)(void *ctx, struct view message, bool is_open);

struct run_input {
    int from_fd; /* ours; -1: none, or at its end */
    int to_fd;   /* the command's; -1: closed */
    bool is_one_prompt;
    bool is_own;          /* from_fd is a descriptor of our own */
    bool is_terminal;     /* … is one: others may be in its foreground */
    bool is_pulled;       /* … cannot be waited for: a regular file, say */
    bool is_held;         /* … is not to be read yet */
    bool is_kept;         /* for further iterations */
    bool is_kept_whole;   /* … and none of it is missing */
    size_t again_at;      /* so much of what is kept this iteration has had */
    bool is_ending;       /* what has no newline ends all the same */
    struct queue waiting; /* told, not written yet */
    struct buf line;      /* begun */
    struct buf typed;     /* begun, of `ahr send` */
    struct buf kept;
    run_message_fn fn;
    /* Before what was told is written to the command; may be NULL. For one who gathers
     * messages: many come at once. */
    void (*on_write)(void *ctx);
    bool is_told; /* … since then */
    void *ctx;
};

/* from_fd: our standard input, or -1 when the command is not to have it. A terminal in
 * whose background we are, /dev/null, and what cannot be read count as at their end.
 * SIGPIPE is ignored from now on. */
void run_input_init(struct run_input *in, int from_fd, bool is_one_prompt,
                    bool is_repeated, run_message_fn fn, void *ctx);
void run_input_release(struct run_input *in);
/* A (further) iteration's command takes input at to_fd, non-blocking, which is the
 * input's from now on; -1: it takes none, or is gone. One before is closed. */
void run_input_begin(struct run_input *in, int to_fd);
/* What poll() is asked for; false: nothing now. To be asked after each of the calls here,
 * and after SIGCONT: in the background of its terminal nothing is read. When it is
 * wanted, from_fd can be waited for; by epoll, as libuv makes what it polls non-blocking,
 * for all who share it. */
bool run_input_wants_read(const struct run_input *in);
bool run_input_wants_write(const struct run_input *in);
/* from_fd is readable; to_fd is writable. Closes to_fd (and sets it to -1) when the
 * input has ended and all of it is written, or nobody reads it any more: no longer to be
 * polled then, before another descriptor is opened. */
void run_input_on_read(struct run_input *in);
void run_input_on_write(struct run_input *in);
/* A line has begun and does not end: to be asked a moment after on_read(), and passed on
 * as it is. Protocols without newlines would wait for ever. Never of a prompt. */
bool run_input_has_begun(const struct run_input *in);
void run_input_pass_begun(struct run_input *in);
/* A message of ours, with a newline behind it; of one that is all that the command is
 * sent, nothing more follows. */
void run_input_say(struct run_input *in, struct view message);
/* What `ahr send` types; -EPIPE: the command takes no input (any more); ERR_LIMIT: too
 * much waits. As on a terminal, a line is sent when Enter (CR, at the end) or a newline
 * comes. */
int run_input_send(struct run_input *in, struct view bytes);

#endif
