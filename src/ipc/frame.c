/* SPDX-License-Identifier: MIT */
#include "ipc/frame.h"

#include <errno.h>

#include "base/le.h"

ssize_t
ipc_frame_get(struct view in, struct ipc_frame *ret)
{
    if (in.n < IPC_FRAME_HEAD)
        return 0;
    uint32_t len = get_le32(in.p);
    if (!len || len > IPC_FRAME_MAX)
        return -EPROTO;
    if (in.n - IPC_FRAME_HEAD < len)
        return 0;
    const uint8_t *p = in.p + IPC_FRAME_HEAD;
    *ret = (struct ipc_frame){ .selector = p[0], .body = { p + 1, len - 1 } };
    return IPC_FRAME_HEAD + (ssize_t)len;
}
