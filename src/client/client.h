/* SPDX-License-Identifier: MIT */
/*
 * client.h -- what stands between the user's terminal (or pipes) and a session.
 *
 * On terminals it runs the viewer (tui/viewer.h): `ahr record` and `ahr attach` with what
 * is typed, `ahr watch` without. `ahr record` may also pass bytes, transparently both
 * ways, as long as the session has its terminal's size. Where the output is no terminal
 * every byte is written. The terminal is put back as it was on every way out.
 */
#ifndef CLIENT_CLIENT_H
#define CLIENT_CLIENT_H

#include <signal.h>
#include <stdbool.h>

#include "base/buf.h"
#include "pty/tty.h"
#include "tui/viewer.h"

enum client_kind { CLIENT_RECORD, CLIENT_ATTACH, CLIENT_WATCH };

struct client_options {
    enum client_kind kind;
    int link_fd; /* to the host */
    int in_fd;   /* -1: nothing is ever sent */
    int out_fd;
    struct pty_tty *tty;                 /* made raw while we are here; fd -1: none */
    bool is_out_terminal;                /* it may be skipped forward and repainted */
    bool is_detachable;                  /* a hang-up leaves the session alone */
    uint16_t cols, rows;                 /* as the host was told */
    bool has_fixed_cols, has_fixed_rows; /* … and they stay, whatever the terminal has */
    bool is_viewed;           /* `record`: pictures from the start, nothing is passed */
    uint8_t prefix;           /* a control byte; 0: all keys are the session's */
    enum tui_deliver deliver; /* type instructions into the agent? */
    bool begins_back;         /* in review mode */
    bool greets;              /* at first it is said what the prefix is */
    const char *name;         /* of the session, for people */
    struct clock clock;       /* the session's, where it is known before it is joined */
    const char *tape_path, *done_tape_path;   /* the recording now and after its end */
    void (*say)(void *ctx, const char *text); /* something the user must know now */
    /* Asked when the host has hung up: is somebody there still? NULL: no. */
    bool (*is_session_live)(void *ctx);
    /* The session has ended while somebody looks back: notes the instruction there. */
    int (*instruct)(void *ctx, const struct tui_wish *wish, struct play_event *ret,
                    struct err *err);
    /* The user's answer is the one for all sessions. */
    void (*remember)(void *ctx, bool is_typed);
    void *ctx;
};

enum client_end {
    CLIENT_ENDED,     /* the session has */
    CLIENT_HOST_GONE, /* the host has vanished */
    CLIENT_DETACHED,  /* the session goes on without us */
    CLIENT_DROPPED,   /* the same; we did not read, or were not wanted: text may say */
    CLIENT_LEFT,      /* told to go again while the host was still busy with the end */
};

struct client_result {
    enum client_end end;
    int signo;       /* what ended it, or had us leave; 0: nothing did */
    unsigned status; /* enum session_status */
    int exit_code;
    uint64_t bytes, missing_bytes, ns, flags;
    struct buf text;  /* what is wrong */
    bool is_mid_line; /* what was shown did not end with a line's end */
    bool has_failed;  /* the output found no room, which was said */
    uint64_t
        lost_bytes; /* not shown: the host left them out, and no recording had them */
};

/* Before the host is started: signals wait until the client listens. */
void client_hold_signals(void);
/* Waits for the host's first word: 0 when the command runs; else the exit status it asks
 * for, with the reason. */
int client_wait_start(int link_fd, struct err *err);
/* A client that is no recorder's own asks to be let in first. */
void client_run(const struct client_options *opt, struct client_result *ret);

#endif
