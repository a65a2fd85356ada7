/* SPDX-License-Identifier: MIT */
/*
 * tap.h -- the proxy beside a session: started before its command, and again when it
 * dies.
 *
 * The socket that it serves is the recorder's, and the recorder keeps it: whatever
 * becomes of the proxy, the command's requests wait for the next one at the same place.
 * One that dies again and again is started without a record, so that the command works;
 * and in the end the socket is closed.
 */
#ifndef TAP_TAP_H
#define TAP_TAP_H

#include <stdbool.h>
#include <sys/types.h>

#include "base/clock.h"
#include "ipc/inbox.h"

/* All borrowed. */
struct tap_options {
    const char *home, *id;
    struct clock clock;
    const char *tape_path;
    const char *cwd;      /* the command's; NULL: not known */
    const char *upstream; /* as `ahr proxy --upstream` has it; NULL: nothing */
    const char *ca_file;  /* NULL: the system's certificates */
    bool has_anchors;     /* who starts it answers IPC_ANCHOR */
    bool has_turns;       /* the conversation is told */
    bool is_entire;       /* … also in .entire/ of cwd */
};

enum { TAP_KEY = 33 };
/* In which the proxy is told the secret part of its base URLs. */
#define TAP_KEY_VARIABLE "AHR_WIRE_KEY"

struct tap {
    const struct tap_options *opt;
    int listen_fd; /* -1: there is no more proxy */
    int fd;        /* to it, non-blocking; -1: there is none now */
    pid_t pid;     /* 0: it is reaped, or was not started */
    char key[TAP_KEY];
    uint64_t started_ns; /* monotonic */
    unsigned deaths;     /* soon after its start, in a row */
    bool has_told;       /* what was used: it had written all before */
    struct ipc_inbox in;
    struct buf variables; /* NAME=VALUE for the command, each with its NUL */
};

/* Starts it, and waits until it serves. ERR_MISSING and others: there is none, and why.
 */
int tap_open(struct tap *t, const struct tap_options *opt, struct err *err);
/* What it says: 1, or 0: nothing. < 0: it is gone, and *ret_wait_ms is when to call
 * tap_again(). The message's bytes are borrowed until the next call. */
int tap_next(struct tap *t, struct ipc_message *ret, uint64_t *ret_wait_ms);
/* 0: it was started again. ERR_LIMIT: it will not be any more. Else: wait as before. */
int tap_again(struct tap *t, uint64_t *ret_wait_ms);
/* Is it to do without a record? */
bool tap_is_bare(const struct tap *t);
/* To it: a frame; what it does not take is lost. */
void tap_tell(struct tap *t, const struct ipc_message *m);
/* The session ends: it is to finish, and is gone soon (tap_next() tells). */
void tap_dismiss(struct tap *t);
/* It is gone, and has not finished: another one has to, for what it has left. */
bool tap_owes(const struct tap *t);
/* At once. */
void tap_kill(struct tap *t);
/* SIGCHLD. */
void tap_reap(struct tap *t);
/* A child of a fork is not to have it. */
void tap_release(struct tap *t);

#endif
