/* SPDX-License-Identifier: MIT */
#include "ipc/message.h"

#include <assert.h>
#include <errno.h>

#include "base/le.h"

struct shape {
    uint8_t selector;
    char widths[IPC_FIELDS_MAX + 1]; /* bytes of each number, as digits */
    bool has_bytes;
};

static const struct shape shapes[] = {
    { IPC_INPUT, "", true },     { IPC_RESIZE, "22", false },
    { IPC_STOP, "1", false },    { IPC_DETACH, "", false },
    { IPC_HANGUP, "", false },   { IPC_INPUT_END, "", false },
    { IPC_OUTPUT, "8", true },   { IPC_STARTED, "", false },
    { IPC_FAILED, "1", true },   { IPC_ENDED, "1118881", true },
    { IPC_TAKEN, "4", false },   { IPC_TROUBLE, "", true },
    { IPC_SKIPPED, "8", false },
};

static const struct shape *
find_shape(uint8_t selector)
{
    for (size_t i = 0; i < sizeof(shapes) / sizeof(shapes[0]); i++)
        if (shapes[i].selector == selector)
            return &shapes[i];
    return NULL;
}

static size_t
fixed_size(const struct shape *s)
{
    size_t n = s->has_bytes ? 4 : 0;
    for (const char *w = s->widths; *w; w++)
        n += (size_t)(*w - '0');
    return n;
}

int
ipc_message_get(struct ipc_message *ret, const struct ipc_frame *frame)
{
    const struct shape *s = find_shape(frame->selector);
    size_t fixed = s ? fixed_size(s) : 0;
    if (!s || frame->body.n < fixed || (!s->has_bytes && frame->body.n != fixed))
        return -EPROTO;
    struct ipc_message m = { .selector = frame->selector };
    const uint8_t *p = frame->body.p;
    for (size_t i = 0; s->widths[i]; i++)
        for (int at = 0, width = s->widths[i] - '0'; at < width; at++)
            m.field[i] |= (uint64_t)*p++ << (8 * at);
    if (s->has_bytes && get_le32(p) != fixed)
        return -EPROTO;
    if (s->has_bytes)
        m.bytes = (struct view){ p + 4, frame->body.n - fixed };
    *ret = m;
    return 0;
}

int
ipc_message_put(struct buf *out, const struct ipc_message *m)
{
    const struct shape *s = find_shape(m->selector);
    assert(s && m->bytes.n <= IPC_MESSAGE_BYTES_MAX && (s->has_bytes || !m->bytes.n));
    size_t fixed = fixed_size(s);
    uint8_t *p = buf_grow(out, IPC_FRAME_HEAD + 1 + fixed + m->bytes.n);
    if (!p)
        return out->failed;
    put_le32(p, (uint32_t)(1 + fixed + m->bytes.n));
    p[IPC_FRAME_HEAD] = m->selector;
    p += IPC_FRAME_HEAD + 1;
    for (size_t i = 0; s->widths[i]; i++)
        for (int at = 0, width = s->widths[i] - '0'; at < width; at++)
            *p++ = (uint8_t)(m->field[i] >> (8 * at));
    if (!s->has_bytes)
        return 0;
    put_le32(p, (uint32_t)fixed);
    if (m->bytes.n)
        memcpy(p + 4, m->bytes.p, m->bytes.n);
    return 0;
}
