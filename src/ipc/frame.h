/* SPDX-License-Identifier: MIT */
/*
 * frame.h -- what goes over a socket of ours: u32 LE length, then that many bytes, of
 * which the first, the selector, says what the rest is. Pure.
 */
#ifndef IPC_FRAME_H
#define IPC_FRAME_H

#include <sys/types.h>

#include "base/buf.h"

enum {
    IPC_FRAME_HEAD = 4,
    IPC_LABEL_MAX = 65535, /* bytes of a snapshot's label */
    IPC_FRAME_MAX = 13 +
                    IPC_LABEL_MAX, /* selector and body: a snapshot with the longest */
};

struct ipc_frame {
    uint8_t selector;
    struct view body; /* borrowed from the input */
};

/* The frame at the start of `in`: its size, 0 when more of it must come, or -EPROTO for a
 * length that no frame has. */
ssize_t ipc_frame_get(struct view in, struct ipc_frame *ret);

#endif
