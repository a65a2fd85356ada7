/* SPDX-License-Identifier: MIT */
/*
 * host.h -- the recorder: a process of its own that has the agent's terminal and writes
 * the recording, whatever becomes of those who watch.
 */
#ifndef HOST_HOST_H
#define HOST_HOST_H

#include <stdbool.h>
#include <sys/types.h>
#include <termios.h>

#include "base/clock.h"
#include "ipc/socket.h"
#include "session/meta.h"
#include "tape/writer.h"

enum host_ipc { HOST_IPC_AUTO, HOST_IPC_UDS, HOST_IPC_OFF, HOST_IPC_TCP };

/* All borrowed. */
struct host_options {
    const char *home; /* absolute */
    const char *id;
    uint8_t uuid[16];
    struct clock clock;
    const char *out_file;    /* absolute; NULL: into the library */
    bool is_forced;          /* … in place of what is there */
    const char *points_path; /* absolute: where branch points go at the end; NULL: no */
    bool is_indexed;         /* `ahr index` is started at the end */

    char *const *argv, *const *envp; /* of the command */
    const char *cwd, *name, *role, *task, *parent;
    const struct session_branch *branch;   /* NULL: it is none */
    const struct session_lineage *lineage; /* NULL: of no other */
    uint16_t cols, rows;
    bool has_fixed_cols, has_fixed_rows; /* they stay, whatever terminals are there */
    const struct termios *termios; /* the PTY's; NULL: as for input that is not typed */

    int quality;
    uint64_t block_ns;
    enum tape_sync sync;
    bool keeps_input, is_redacting;
    enum host_ipc ipc_kind;
    struct ipc_address ipc; /* HOST_IPC_TCP's */
    bool allows_self;       /* programs inside may use ctl.sock */
    bool is_wired;          /* what it asks of model APIs is recorded, by a proxy */
    bool is_entire;         /* … and told in .entire/ of cwd */
    const char *upstream, *ca_file; /* … of the proxy (tap/tap.h); NULL: as it is */
    uint64_t rest_s; /* automatic snapshots, when files have not changed for so
                        many seconds; 0: none */

    bool has_client;     /* false: nobody is attached */
    bool is_detachable;  /* goes on when its client hangs up */
    bool has_terminal;   /* the client's stdin or stdout is one: it may vanish */
    bool is_lossy;       /* its stdout is one: it is skipped forward when it lags */
    bool is_viewed;      /* it draws pictures: nothing is passed to its terminal */
    bool can_answer;     /* its stdin, too: that terminal answers queries */
    bool is_input_piped; /* what it sends was not typed */
    bool has_input;      /* … and it sends something: answers would stand amid it */
    int tty_fd;          /* the terminal that the client makes raw; -1: none */
    struct termios tty_saved, tty_raw;
};

/*
 * Forks the host. It says IPC_STARTED or IPC_FAILED over *ret_link_fd before anything
 * else (also without a client), and IPC_ENDED when all is on disk. Signals that the
 * caller blocks stay blocked until the host listens to them.
 */
int host_start(const struct host_options *opt, int *ret_link_fd, struct err *err);
/* Of libuv. */
const char *host_uv_version(void);

#endif
