/* SPDX-License-Identifier: MIT */
/*
 * run_priv.h -- the state of a run, and what its files do for each other.
 *
 *   run.c          the session: opened, its iterations one by one, its end
 *   iteration.c    one command: started, waited for, judged
 *   loop.c         what happens when: pipes, input, time, signals
 *   watch_priv.h   descriptors that are not ours to change, waited for
 *   stop.c         how a command is ended
 *   visit.c        what those who come to ctl.sock ask for
 *   replay_priv.h  what the command is sent before our own input
 *   environment.c  what the command's environment says of the run
 *   wire.c         the proxy before model APIs
 *   flow_priv.h    what becomes of what the command says
 *   keep_priv.h    where it is kept
 */
#ifndef RUN_RUN_PRIV_H
#define RUN_RUN_PRIV_H

#include <uv.h>

#include "door/door.h"
#include "run/child_priv.h"
#include "run/flow_priv.h"
#include "run/input_priv.h"
#include "run/pipes_priv.h"
#include "run/replay_priv.h"
#include "run/watch_priv.h"
#include "tap/tap.h"
#include "turn/prompt.h"

enum { RUN_SIGNALS = 6 };

struct run_wire {
    struct tap_options opt;
    struct tap tap;
    bool is_open, is_watched, is_closing, is_waited_for;
    bool is_told;  /* the command's own stream tells the conversation */
    bool has_told; /* trouble: it is said once */
    bool has_told_work;
    uv_poll_t poll;
    uv_timer_t timer;
};

struct run {
    const struct run_options *opt;
    struct run_keep keep;
    struct run_flow flow;
    struct pty_output out;
    bool has_out, is_out_lost; /* nobody reads it: told */

    /* loop.c */
    uv_loop_t loop;
    struct run_watch watch;
    uv_poll_t watch_poll;
    uv_async_t news;
    uv_timer_t tick_timer, grace_timer;
    uv_idle_t more_idle; /* there is more to read already */
    uv_signal_t signals[RUN_SIGNALS];
    void (*on_news)(void *ctx); /* of the tape; in its thread */
    bool is_over;               /* of an iteration, or of the end: the loop may be left */

    /* iteration.c */
    struct turn_prompt prompt;
    struct run_child child;
    struct run_pipes pipes;
    struct run_input input;
    struct run_replay replay;
    uint64_t input_at_ns; /* when input last came */
    char **envp;
    struct buf env_text;
    bool is_running, has_exited;
    bool has_more; /* the pipes have, and do not tell */
    int wait_status;
    uint64_t exit_at_ns, heard_at_ns; /* monotonic */
    uint64_t drained;                 /* bytes that have come since its exit */
    int exit_status;

    /* stop.c */
    int stop_signo; /* why we end it; 0: we do not */
    unsigned stop_step;
    uint64_t stop_at_ns; /* monotonic: of the latest signal */
    uint64_t stop_taken; /* bytes that were shown until then */

    struct run_wire wire;

    /* visit.c */
    struct door *door;
    struct session_lines instructions;
    uint64_t instruction_count;
};

/* -- loop.c -- */

int run_loop_init(struct run *r, struct err *err);
/* Until run_loop_leave() is called. */
void run_loop_run(struct run *r);
void run_loop_leave(struct run *r);
/* Signals that have come are noted. */
void run_loop_look(struct run *r);
/* From then on the signals that end a run are blocked. */
void run_loop_close(struct run *r);
void run_loop_update(struct run *r);

/* -- iteration.c -- */

/* One; then r->exit_status and the facts say how it was. False: it was the last. */
bool run_iteration(struct run *r);
/* What the pipes have, at most so many turns. */
void run_iteration_read(struct run *r, unsigned turns);
/* SIGCHLD */
void run_iteration_reap(struct run *r);
/* Leaves the loop when the command and its output have ended. */
void run_iteration_check(struct run *r);
/* In how many ms that is due; UINT64_MAX: not. */
uint64_t run_iteration_due_ms(const struct run *r);

/* -- stop.c -- */

/* A signal, or somebody who asks for the end. */
void run_stop(struct run *r, int signo);
/* Ctrl-Z: the command stops, and we; when we go on, so does it. */
void run_suspend(struct run *r);

/* -- visit.c -- */

void run_visit_open(struct run *r);
void run_visit_close(struct run *r);

/* -- wire.c -- */

/* Before the environment is made, and behind the prompt. */
void run_wire_open(struct run *r);
void run_wire_begin(struct run *r);
/* Something has come: does the command's own stream tell the conversation? */
void run_wire_look(struct run *r);
/* All has ended: it writes what it has to, and is gone. */
void run_wire_finish(struct run *r);

/* -- environment.c -- */

int run_environment_make(struct run *r, struct err *err);

#endif
