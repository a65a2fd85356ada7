/* SPDX-License-Identifier: MIT */
/*
 * notify.h -- what a tool says to the recorder that it runs in: the public bytes, written
 * down here a second time, so that nothing of src/ipc can hide a mistake of its own.
 *
 *     request   u32 length | 00 | u64 id | u32 12 | label
 *     reply     u32 length | 00 | u64 id | u64 anchor | u64 ts_ns, or | 01 | text
 *
 * and one of the control socket's, with the same replies:
 *
 *     u32 length | 10 | u64 anchor | u64 snapshot | u32 row | u8 typed | u32 25 | text
 */
#ifndef NOTIFY_H
#define NOTIFY_H

#include <stdbool.h>
#include <stdint.h>

enum { NOTIFY_WAIT_MS = 60000 }; /* only what is broken takes so long */
#define NOTIFY_NONE UINT64_MAX   /* no snapshot; anchored where the program is now */

struct notify_reply {
    bool is_done;
    uint64_t id, anchor_byte, ts_ns; /* when it is done */
    char text[256];                  /* why it is not, cut where it has no room */
};

/* $AHR_IPC's socket, or the one of that name in the same folder; a descriptor, or -errno:
 * -ENOENT without the variable, -EINVAL when it holds no path. */
int notify_open(const char *name /* NULL: the socket itself */);
/* Asks and waits; 0, or -errno: -EPIPE when the recorder has hung up, -EPROTO for a reply
 * of another shape, -ETIMEDOUT. */
int notify_snapshot(int fd, uint64_t id, const char *label, struct notify_reply *ret);
int notify_instruct(int fd, uint64_t anchor_byte, uint64_t snapshot_id, const char *text,
                    struct notify_reply *ret);

#endif
