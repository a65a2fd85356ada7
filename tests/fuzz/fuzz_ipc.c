/* SPDX-License-Identifier: MIT */
/* A message that is understood is written back as the same bytes; a cut frame waits. */
#include "fuzz/fuzz.h"
#include "ipc/message.h"

int
LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct view in = { data, size };
    struct ipc_frame frame;
    struct ipc_message m;
    ssize_t n;
    while ((n = ipc_frame_get(in, &frame)) > 0) {
        CHECK((size_t)n <= in.n);
        CHECK(frame.body.p + frame.body.n == in.p + n);
        CHECK(!ipc_frame_get((struct view){ in.p, (size_t)n - 1 }, &frame));
        CHECK(ipc_frame_get(in, &frame) == n);
        for (enum ipc_way way = IPC_TO_HOST; way <= IPC_TO_CLIENT; way++) {
            AUTO(buf) out = { 0 };
            if (ipc_message_get(&m, &frame, way))
                continue;
            CHECK(!ipc_message_put(&out, &m, way));
            CHECK(out.n == (size_t)n);
            CHECK(!memcmp(out.p, in.p, out.n));
        }
        in.p += n;
        in.n -= (size_t)n;
    }
    return 0;
}
