/* SPDX-License-Identifier: MIT */
/* start.c -- how a recorder's first word is waited for. */
#include <errno.h>

#include "base/file.h"
#include "client/client.h"
#include "ipc/message.h"
#include "pty/signals.h"

void
client_hold_signals(void)
{
    pty_signals_hold();
}

static int
read_exactly(int fd, uint8_t *p, size_t n)
{
    while (n) {
        ssize_t r = file_read(fd, p, n);
        if (r <= 0)
            return -ECONNRESET;
        p += r;
        n -= (size_t)r;
    }
    return 0;
}

int
client_wait_start(int link_fd, struct err *err)
{
    uint8_t bytes[IPC_FRAME_HEAD + sizeof(err->text) + 64];
    struct ipc_frame frame;
    struct ipc_message m;
    size_t have = IPC_FRAME_HEAD + 1;
    int r = read_exactly(link_fd, bytes, have);
    while (!r && !(r = (int)ipc_frame_get((struct view){ bytes, have }, &frame)) &&
           have < sizeof(bytes))
        r = read_exactly(link_fd, bytes + have++, 1);
    if (r > 0)
        r = ipc_message_get(&m, &frame, IPC_TO_CLIENT);
    if (r < 0 || (m.selector != IPC_STARTED && m.selector != IPC_FAILED)) {
        err_set(err, -ECONNRESET, "the recorder has ended before the command ran");
        return 1;
    }
    if (m.selector == IPC_STARTED)
        return 0;
    err_set(err, -ECANCELED, "%.*s", (int)m.bytes.n, (const char *)m.bytes.p);
    return (int)m.field[0];
}
