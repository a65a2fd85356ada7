/* SPDX-License-Identifier: MIT */
/*
 * message.h -- what host and client say to each other, as frames.
 *
 * A message is numbers of fixed width and, for some, bytes behind them; on the wire an
 * SSZ container: the numbers little-endian in order, then a u32 with the offset of the
 * bytes, then the bytes. doc/ipc.md lists them. Pure.
 */
#ifndef IPC_MESSAGE_H
#define IPC_MESSAGE_H

#include <stdbool.h>

#include "ipc/frame.h"

enum ipc_selector {
    /* to the host */
    IPC_INPUT = 17,     /* bytes: typed, or read from the client's stdin */
    IPC_RESIZE = 18,    /* u16 columns, u16 rows */
    IPC_STOP = 21,      /* u8 signal: end the session by it */
    IPC_DETACH = 22,    /* the client leaves, the session goes on */
    IPC_HANGUP = 24,    /* the client's terminal is gone */
    IPC_INPUT_END = 26, /* the client's stdin has ended */
    /* to the client */
    IPC_OUTPUT = 64,  /* u64 offset; bytes of the PTY */
    IPC_STARTED = 65, /* the command runs */
    IPC_FAILED = 66,  /* u8 exit status; why it does not */
    IPC_ENDED = 67,   /* u8 enum session_status, u8 exit code, u8 signal (0: none), u64
                         bytes, u64 missing bytes, u64 ns, u8 flags; what is wrong */
    IPC_TAKEN = 68,   /* u32: so many bytes of input have reached the PTY */
    IPC_TROUBLE = 69, /* text for the user */
    IPC_SKIPPED = 70, /* u64 offset: what was before it and not sent never will be */
};

/* IPC_ENDED's flags. */
enum {
    IPC_ENDED_SUSPECT = 1, /* a sync has failed */
    IPC_ENDED_LEFT = 2,    /* something is left to `recover`: the text says why */
    IPC_ENDED_ASTRAY = 4,  /* the recording lies elsewhere: the text says where */
};

enum { IPC_FIELDS_MAX = 7, IPC_MESSAGE_BYTES_MAX = IPC_FRAME_MAX - 64 };

struct ipc_message {
    uint8_t selector;
    uint64_t field[IPC_FIELDS_MAX];
    struct view bytes; /* borrowed */
};

/* -EPROTO for an unknown selector or a body of another shape. */
int ipc_message_get(struct ipc_message *ret, const struct ipc_frame *frame);
/* Appends the whole frame, or nothing. At most IPC_MESSAGE_BYTES_MAX bytes. */
int ipc_message_put(struct buf *out, const struct ipc_message *m);

#endif
