/* SPDX-License-Identifier: MIT */
/*
 * host_priv.h -- the state of a host, and what its files do for each other.
 *
 *   host.c     the process: fork, descriptors, start
 *   facts.c    what is known of the session: meta.json
 *   force.c    what an out-file replaces
 *   loop.c     what happens when: PTY, client, timers, signals
 *   ending.c   how a session ends, and what is said of it
 */
#ifndef HOST_HOST_PRIV_H
#define HOST_HOST_PRIV_H

#include <uv.h>

#include "host/conn_priv.h"
#include "host/feeder_priv.h"
#include "host/recorder_priv.h"
#include "pty/child.h"
#include "session/folder.h"
#include "session/meta.h"

enum { HOST_SIGNALS = 5 };

struct host {
    const struct host_options *opt;
    struct session_folder folder;
    struct session_meta meta;
    struct recorder recorder;
    struct pty_child child;
    int slave_fd; /* ours: as long as it is open, reading never meets an end */
    struct feeder feeder;
    struct conn conn;
    int tty_fd; /* the client's terminal, to be put back; -1: none */
    int log_fd;

    struct redact *redact;
    struct buf cmd; /* the command line, masked, each with its NUL */
    const char **cmd_list;
    struct buf task; /* masked */

    /* loop.c */
    uv_loop_t loop;
    uv_poll_t pty_poll, conn_poll;
    int pty_events, conn_events; /* what is polled for now */
    bool is_pty_closed;
    uv_async_t news; /* of the tape: it takes more, or has trouble */
    uv_timer_t tape_timer, rest_timer, lag_timer, input_timer;
    uv_signal_t signals[HOST_SIGNALS];
    uint64_t turn_at_ns;    /* when the PTY was last read; monotonic */
    size_t turn_bytes;      /* … and how much came */
    uint64_t input_wait_ms; /* until input is tried again */

    /* ending.c */
    uv_timer_t grace_timer, drain_timer;
    int stop_signo;      /* why we end it; 0: we do not */
    uint64_t stop_at_ns; /* monotonic */
    bool has_exited;
    int wait_status;
    uint64_t exit_at_ns; /* monotonic */
    bool is_over;        /* all is on disk, IPC_ENDED is sent */
    bool has_told_trouble;
};

/* -- loop.c -- */

/* Before the command runs: descriptors may run out. */
int host_loop_init(struct host *h, struct err *err);
void host_loop_run(struct host *h);
/* The tape has room again, or trouble to tell; from any thread. */
void host_on_news(void *ctx);
/* Polls for what can be done now; after anything has changed. */
void host_loop_update(struct host *h);
/* Reads what the PTY has, at most so many times 64 KiB, records and shows it; how much it
 * was. */
size_t host_drain(struct host *h, unsigned turns);
/* Shows what has just been recorded and begins at off. */
void host_show(struct host *h, struct view bytes, uint64_t off);
/* Lets nothing keep the loop alive but the client. */
void host_loop_close(struct host *h);

/* -- ending.c -- */

/* A signal or a hang-up asks for the end. */
void host_stop(struct host *h, int signo);
/* SIGCHLD */
void host_reap(struct host *h);
/* The child has exited: ends the session when the PTY is empty. */
void host_try_finish(struct host *h);
/* Tells of new trouble with the disk. */
void host_tell_trouble(struct host *h);

/* -- facts.c -- */

/* The first meta, before the command runs. */
int host_facts_begin(struct host *h, struct err *err);
/* With what must be masked; the command runs. */
void host_facts_complete(struct host *h);
/* The last one. */
int host_facts_end(struct host *h, struct err *err);

/* -- force.c -- */

/* With --force: what is there stands aside. */
int host_force_begin(struct host *h, struct err *err);
/* … comes back. */
void host_force_undo(struct host *h);
/* … goes. */
void host_force_done(struct host *h);

/* -- host.c -- */

void host_log(struct host *h, const char *fmt, ...) __attribute__((format(printf, 2, 3)));

#endif
