/* SPDX-License-Identifier: MIT */
/*
 * host_priv.h -- the state of a host, and what its files do for each other.
 *
 *   host.c         the process: fork, descriptors, start
 *   environment.c  what the command's environment says of the session
 *   facts.c        what is known of the session: meta.json
 *   force.c        what an out-file replaces
 *   loop.c         what happens when: PTY, timers, signals
 *   input.c        input of all clients on its way to the PTY
 *   door.c         the sockets: who comes in
 *   crowd.c        all connections: who is sent what, and who is too slow
 *   stage.c        the size, and whose terminal passes bytes
 *   keeper.c       the mirror: started, asked, started again
 *   requests.c     what clients ask for
 *   notes.c        snapshots and instructions
 *   auto.c         automatic snapshots: whoever takes them is started
 *   wire.c         the proxy before model APIs: started, asked, waited for
 *   ending.c       how a session ends, and what is said of it
 *   points.c       its branch points, made at the end
 *   program.c      this program once more, as another command
 */
#ifndef HOST_HOST_PRIV_H
#define HOST_HOST_PRIV_H

#include <sys/stat.h>
#include <uv.h>

#include "host/conn_priv.h"
#include "host/feeder_priv.h"
#include "host/host.h"
#include "host/recorder_priv.h"
#include "ipc/socket.h"
#include "pty/child.h"
#include "session/folder.h"
#include "session/lines.h"
#include "session/meta.h"
#include "tap/tap.h"

enum {
    HOST_SIGNALS = 5,
    HOST_INPUT_MAX = 64 << 10, /* of one client, on its way to the PTY */
    HOST_TYPED_MAX = 8 << 20,  /* of all, those who are gone included */
    HOST_TOKEN_LEN = 32,
};

#define HOST_NS_A_MS 1000000ULL

/* A socket that others come to. */
struct door {
    int fd; /* -1: there is none */
    enum conn_kind kind;
    bool is_tcp;
    uint16_t port; /* … of TCP */
    uv_poll_t poll;
};

/* Whose input it was, in the order in which it came. */
struct debt {
    uint32_t number;
    size_t n;
};

/* A reply that waits for the disk. */
struct owed {
    uint32_t number;
    uint64_t ticket;      /* 0: waits for those before it alone */
    struct ipc_message m; /* of a refusal, with its text in: */
    char why[128];
};

struct host {
    const struct host_options *opt;
    struct session_folder folder;
    struct session_meta meta;
    struct recorder recorder;
    struct pty_child child;
    int slave_fd; /* ours: as long as it is open, reading never meets an end */
    int tty_fd;   /* the client's terminal, to be put back; -1: none */
    int log_fd;
    mode_t user_umask;

    struct redact *redact;
    struct buf cmd; /* the command line, masked, each with its NUL */
    const char **cmd_list;
    struct buf task; /* masked */

    /* environment.c */
    struct buf env_text;
    char **envp;

    /* loop.c */
    uv_loop_t loop;
    uv_poll_t pty_poll;
    int pty_events; /* what is polled for now */
    bool is_pty_closed;
    uv_async_t news; /* of the tape: it takes more, has synced, or has trouble */
    uv_timer_t tape_timer, rest_timer, input_timer;
    uv_signal_t signals[HOST_SIGNALS];
    uint64_t turn_at_ns; /* when the PTY was last read; monotonic */
    size_t turn_bytes;   /* … and how much came */

    /* input.c */
    struct feeder piped, typed;
    struct buf debts; /* struct debt, of `typed` */
    size_t debts_at;
    uint64_t input_wait_ms; /* until input is tried again */

    /* door.c */
    struct door doors[2];
    struct buf sockets_dir;
    char token[HOST_TOKEN_LEN + 1];
    struct err door_trouble;
    uv_timer_t door_timer;

    /* crowd.c */
    struct conn *conns;
    struct conn *link, *mirror, *taker; /* of them; NULL: gone */
    uint32_t last_number;
    struct reel reel;
    uint64_t shown_off;     /* output before it is, or was, in the reel */
    uint64_t overtaken_off; /* what the link was not shown when it was overtaken */
    uv_timer_t talk_timer, watch_timer, skip_timer, care_timer;

    /* stage.c */
    uint16_t cols, rows;
    uint32_t passing;     /* the client that passes bytes to its terminal; 0: none */
    uint64_t answer_from; /* IPC_NONE: that terminal answers queries */

    /* keeper.c */
    pid_t mirror_pid;                      /* 0: none */
    uint64_t mirror_at_ns, mirror_late_ns; /* since when it runs, owes a picture */
    unsigned mirror_deaths;                /* soon after its start, in a row */
    uint32_t last_picture;                 /* number of the latest that was asked for */
    uint64_t replied_off;                  /* queries before it are answered */
    uv_timer_t mirror_timer;

    /* notes.c */
    struct session_lines snapshot_lines, instruction_lines;
    struct buf anchors; /* u64 id and anchor of each snapshot, the latest ones */
    uint64_t snapshots, instructions, last_instruction_id;
    struct buf owed; /* struct owed */

    /* auto.c */
    pid_t taker_pid; /* 0: none */

    /* wire.c */
    struct tap_options tap_opt;
    struct tap tap;
    bool has_tap, is_tap_watched, is_tap_closing, is_tap_dismissed, is_tap_last,
        is_tap_over;
    bool has_told_wire;
    bool is_tap_owing; /* none has put in order what one of them had left */
    char tap_trouble[sizeof(((struct err *)0)->text)];
    uv_poll_t tap_poll;
    uv_timer_t tap_timer;
    struct session_usage used;
    struct buf used_names;

    /* ending.c */
    uv_timer_t grace_timer, drain_timer, leave_timer;
    int stop_signo;      /* why we end it; 0: we do not */
    uint64_t stop_at_ns; /* monotonic */
    bool has_exited;
    int wait_status;
    uint64_t exit_at_ns; /* monotonic */
    bool is_over;        /* all is on disk */
    uint64_t end_flags;  /* IPC_ENDED_… */
    struct err end_err;  /* what these tell */
    bool has_told_trouble;
    char trouble[sizeof(((struct err *)0)->text)]; /* the latest; "": none */

    /* points.c */
    pid_t points_pid;   /* 0: none runs */
    pid_t index_pid;    /* the same */
    int points_said_fd; /* its standard error; -1: none */
    bool is_points_late;
    struct stat points_old; /* what lay under the name before; zeroed: nothing */
    uv_timer_t points_timer;
};

/* -- loop.c -- */

/* Before the command runs: descriptors may run out. */
int host_loop_init(struct host *h, struct err *err);
void host_loop_run(struct host *h);
/* The tape has news; from any thread. */
void host_on_news(void *ctx);
/* Polls for what can be done now; after anything has changed. */
void host_loop_update(struct host *h);
/* Reads what the PTY has, at most so many times 64 KiB, records and shows it; how much it
 * was. */
size_t host_drain(struct host *h, unsigned turns);
void host_set_timer(uv_timer_t *timer, uv_timer_cb fn, bool is_wanted, uint64_t ms);

/* -- input.c -- */

/* Input of a client (NULL: of the mirror); its bytes are copied. */
void host_input(struct host *h, struct conn *c, struct view bytes);
void host_input_end(struct host *h);
bool host_input_waits(const struct host *h);
void host_pump_input(struct host *h);
void host_input_update(struct host *h);

/* -- environment.c -- */

/* The caller's, with the session's id and where its recorder listens. */
int host_make_environment(struct host *h, struct err *err);

/* -- door.c -- */

/* Listens, before the command is forked. What cannot be had by itself (`auto`) is told
 * later. */
int host_doors_open(struct host *h, struct err *err);
int host_doors_init(struct host *h);
void host_doors_close(struct host *h);
/* How many connections there may be. */
size_t host_conns_max(void);

/* -- crowd.c -- */

/* The loop is there: listens to the link. */
int host_crowd_init(struct host *h);
/* A connection of its own memory; NULL when there is none, fd is closed then. */
struct conn *host_add_conn(struct host *h, int fd, enum conn_kind kind);
/* Gone, for whatever reason: what depends on it follows. */
void host_drop_conn(struct host *h, struct conn *c);
struct conn *host_find_conn(struct host *h, uint32_t number);
/* To all that are subscribed, in order with the output. */
void host_broadcast(struct host *h, const struct ipc_message *m);
/* Shows what has just been recorded and begins at off. */
void host_show(struct host *h, struct view bytes, uint64_t off);
/* Somebody holds the command up. */
bool host_is_full(const struct host *h);
/* It was skipped or paused, and goes on from here. */
void host_rejoin(struct host *h, struct conn *c);
void host_crowd_update(struct host *h);
/* Those who come in without having anything to say give way to newer ones. False: there
 * is no room for another. */
bool host_make_room(struct host *h);
/* How many look on, and how many of them only look. */
void host_count_clients(struct host *h, uint64_t *ret_clients, uint64_t *ret_watchers);
/* There is no more to come: everyone is told how it ended, and let go. */
void host_dismiss(struct host *h, const struct ipc_message *ended);

/* -- stage.c -- */

/* The size as the clients that are there want it; the terminal that passes bytes, and who
 * answers. unshown_off: output from there on was shown to no terminal that answers. */
void host_set_stage(struct host *h, uint64_t unshown_off);
bool host_may_mirror_answer(const struct host *h, uint32_t passing);
struct ipc_message host_stage_message(const struct host *h);

/* -- keeper.c -- */

/* Starts the mirror when it is wanted and not there. */
void host_keep_mirror(struct host *h);
void host_reap_mirror(struct host *h);
/* Its connection is gone. */
void host_lose_mirror(struct host *h);
/* The screen for a client, as soon as may be. */
void host_want_picture(struct host *h, struct conn *c);
void host_take_screen(struct host *h, const struct ipc_message *m);
void host_take_reply(struct host *h, const struct ipc_message *m);
/* One that does not answer is started again. */
void host_watch_mirror(struct host *h);

/* -- requests.c -- */

void host_handle(struct host *h, struct conn *c, const struct ipc_message *m);
/* An answer; behind those that this one is still to get: they come in the order in which
 * they were asked for. Text in it is the host's. */
void host_reply(struct host *h, struct conn *c, struct ipc_message m);
/* The same: an error that is no reason to part. */
void host_deny(struct host *h, struct conn *c, const char *why);
/* It has asked for something that it may not have, or cannot be understood. */
void host_refuse(struct host *h, struct conn *c, const char *why);
/* It is gone without a word. */
void host_lose_link(struct host *h);

/* -- notes.c -- */

/* Opens nothing yet: files appear with their first line. */
int host_notes_init(struct host *h, struct err *err);
void host_notes_finish(struct host *h);
void host_take_snapshot(struct host *h, struct conn *c, const struct ipc_message *m);
/* So much has come from the PTY, with all that its writers have written by now. */
uint64_t host_anchor(struct host *h);
void host_tell_anchor(struct host *h, struct conn *c, const struct ipc_message *m);
void host_take_instruction(struct host *h, struct conn *c, const struct ipc_message *m);
/* The disk has synced: sends the replies that waited for it. */
void host_pay(struct host *h, bool is_all);
/* The disk may not have it, and there will be no more syncs: sends all of them, so. */
void host_pay_in_doubt(struct host *h);
/* One that goes behind those that this client is owed; false: no memory. */
bool host_queue_reply(struct host *h, struct conn *c, struct ipc_message m);

/* -- auto.c -- */

/* Starts it, if automatic snapshots are wanted. */
void host_start_taker(struct host *h);
/* Its connection is gone. */
void host_lose_taker(struct host *h);
void host_reap_taker(struct host *h);
/* What it has to say goes to the log. */
void host_note_said(struct host *h, struct conn *c, const struct ipc_message *m);
/* The recording is closed: it is told where that was, and left alone. */
void host_dismiss_taker(struct host *h);

/* -- wire.c -- */

/* Before the command is forked: what its environment says of it is in h->tap. */
void host_wire_open(struct host *h);
/* There will be no session. */
void host_wire_cancel(struct host *h);
/* The loop is there. */
void host_wire_begin(struct host *h);
/* The session ends: it is told. True: it has to write yet; host_try_finish() is called
 * when it has. */
bool host_wire_holds(struct host *h);
/* SIGCHLD */
void host_wire_reap(struct host *h);

/* -- ending.c -- */

/* A signal or a hang-up asks for the end. */
void host_stop(struct host *h, int signo);
/* SIGCHLD */
void host_reap(struct host *h);
/* The child has exited: ends the session when the PTY is empty. */
void host_try_finish(struct host *h);
/* Tells of new trouble with the disk. */
void host_tell_trouble(struct host *h);
void host_say_trouble(struct host *h, const char *text);
/* To everybody, and into the log. */
void host_say(struct host *h, const char *text);
/* Nothing is left to do: everyone is told of the end. */
void host_conclude(struct host *h);
/* All is over: leaves the loop when nobody has anything to read any more. */
void host_try_leave(struct host *h);

/* -- points.c -- */

/* True: they are being made, and host_conclude() is called when they are. */
bool host_make_points(struct host *h);
/* SIGCHLD */
void host_reap_points(struct host *h);

/* -- index.c -- */

/* All is in its place: it is to be indexed, by somebody else. */
void host_start_index(struct host *h);
/* SIGCHLD */
void host_reap_index(struct host *h);

/* -- program.c -- */

/* Starts `ahr` with these arguments; from_fd, if there is one, is its to_fd. */
int host_spawn(char *const *argv, int from_fd, int to_fd, pid_t *ret_pid);

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
/* Files that belong to a recording of this name are somebody's, too. */
int host_force_check(struct host *h, struct err *err);
/* … comes back. */
void host_force_undo(struct host *h);
/* … goes. */
void host_force_done(struct host *h);

/* -- host.c -- */

void host_log(struct host *h, const char *fmt, ...) __attribute__((format(printf, 2, 3)));

#endif
