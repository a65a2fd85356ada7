/* SPDX-License-Identifier: MIT */
/*
 * message.h -- what host and clients say to each other, as frames.
 *
 * A message is numbers of fixed width and, for some, bytes behind them; on the wire an
 * SSZ container: the numbers little-endian in order, then a u32 with the offset of the
 * bytes, then the bytes. What a selector means depends on the way that it goes.
 * doc/ipc.md lists them. Pure.
 */
#ifndef IPC_MESSAGE_H
#define IPC_MESSAGE_H

#include <stdbool.h>

#include "ipc/frame.h"

enum ipc_way { IPC_TO_HOST, IPC_TO_CLIENT };

/* To the host. */
enum ipc_request {
    IPC_SNAPSHOT = 0,   /* u64 id; label: of a tool's own accord */
    IPC_INSTRUCT = 16,  /* u64 anchor (IPC_NONE: now), u64 snapshot id (IPC_NONE), u32 row
                           (IPC_NO_ROW), u8 was it typed to the agent; text */
    IPC_INPUT = 17,     /* bytes: typed, or read from the client's stdin */
    IPC_RESIZE = 18,    /* u16 columns, u16 rows of the client's terminal */
    IPC_SUBSCRIBE = 19, /* u16 columns, u16 rows (0, 0: no terminal), u8 flags */
    IPC_STATUS = 20,
    IPC_STOP = 21,            /* u8 signal: end the session by it */
    IPC_DETACH = 22,          /* the client leaves, the session goes on */
    IPC_AUTH = 23,            /* token: the first word over TCP */
    IPC_HANGUP = 24,          /* the client's terminal is gone */
    IPC_ANCHOR = 25,          /* where are we? */
    IPC_INPUT_END = 26,       /* the client's stdin has ended */
    IPC_SNAPSHOT_MANUAL = 27, /* as IPC_SNAPSHOT, by a person */
    IPC_PAUSE = 28, /* u8 is paused, u64 offset: output from there was not shown */
    /* of the mirror */
    IPC_SCREEN = 96, /* u32 number, u8 is the last piece; bytes of a term_snapshot() */
    IPC_REPLY = 97,  /* u64 offset behind the query; bytes: what a terminal answers */
    /* of whoever takes automatic snapshots, and of the proxy, while it is waited for */
    IPC_SAID = 98, /* text, for the log */
    /* of the proxy */
    IPC_READY = 99, /* bytes: NAME=VALUE of what a command's environment is to say, each
                       with its NUL */
    IPC_WARN = 100, /* text for the user */
    IPC_USED = 101, /* u64 each of enum turn_usage's fields and of the calls, IPC_NONE:
                       not known; the model, NUL, the agent */
};

/* To a client. */
enum ipc_answer {
    IPC_DONE = 0,     /* u64 id, u64 anchor, u64 ts_ns */
    IPC_REFUSED = 1,  /* text, bare */
    IPC_OUTPUT = 64,  /* u64 offset; bytes of the PTY */
    IPC_STARTED = 65, /* the command runs */
    IPC_FAILED = 66,  /* u8 exit status; why it does not */
    IPC_ENDED = 67,   /* u8 enum session_status, u8 exit code, u8 signal (0: none), u64
                         bytes, u64 missing bytes, u64 ns, u8 flags; what is wrong */
    IPC_TAKEN = 68,   /* u32: so many bytes of input have reached the PTY */
    IPC_TROUBLE = 69, /* text for the user */
    IPC_SKIPPED = 70, /* u64 offset: what was before it and not sent never will be; u16
                         columns, u16 rows there */
    IPC_JOINED = 71,  /* u32 client's number, u64 offset, u16 columns, u16 rows, u64 real,
                         u64 boot time of the session's clock */
    IPC_STAGE = 72,   /* u16 columns, u16 rows, u32 number of the client that passes bytes
                         to its terminal (0: none), u64 offset from which on the mirror
                         answers queries (IPC_NONE: that terminal does) */
    IPC_SHOW = 73,    /* u32 number: the mirror is to send the screen under it */
    IPC_PICTURE = 74, /* u64 offset that it shows, u8 is the last piece; bytes of a
                         term_snapshot() */
    IPC_STATE = 75,   /* u64 bytes, u64 ns since the start, u16 columns, u16 rows, u32
                         clients, u32 watchers, u64 snapshots, u64 instructions; trouble */
    IPC_TURNS = 77,   /* to the proxy: u8 is the conversation to be told */
    IPC_BEGIN = 76,   /* to the mirror: u16 columns, u16 rows, u64 offset, u64 offset from
                         which on it answers (IPC_NONE: not); the recording's path */
};

#define IPC_NONE   UINT64_MAX
#define IPC_NO_ROW UINT32_MAX

/* IPC_SUBSCRIBE's flags. */
enum {
    IPC_SUB_WATCH = 1, /* only looks: may say nothing else, and its size does not count */
    IPC_SUB_PICTURE = 2, /* the screen first */
};

/* IPC_ENDED's flags. */
enum {
    IPC_ENDED_SUSPECT = 1, /* a sync has failed */
    IPC_ENDED_LEFT = 2,    /* something is left to `recover`: the text says why */
    IPC_ENDED_ASTRAY = 4,  /* the recording lies elsewhere: the text says where */
};

enum { IPC_FIELDS_MAX = 8, IPC_MESSAGE_BYTES_MAX = IPC_FRAME_MAX - 64 };

struct ipc_message {
    uint8_t selector;
    uint64_t field[IPC_FIELDS_MAX];
    struct view bytes; /* borrowed */
};

/* -EPROTO for an unknown selector or a body of another shape. */
int ipc_message_get(struct ipc_message *ret, const struct ipc_frame *frame,
                    enum ipc_way way);
/* Appends the whole frame, or nothing. At most IPC_MESSAGE_BYTES_MAX bytes; a label may
 * be longer, up to IPC_LABEL_MAX. */
int ipc_message_put(struct buf *out, const struct ipc_message *m, enum ipc_way way);

#endif
