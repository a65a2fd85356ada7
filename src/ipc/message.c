/* SPDX-License-Identifier: MIT */
#include "ipc/message.h"

#include <assert.h>
#include <errno.h>

#include "base/le.h"

/* What follows the numbers: nothing, bytes behind their offset, or bytes alone. */
enum tail { NOTHING, BYTES, BARE };

struct shape {
    uint8_t selector;
    char widths[IPC_FIELDS_MAX + 1]; /* bytes of each number, as digits */
    enum tail tail;
};

static const struct shape to_host[] = {
    { IPC_SNAPSHOT, "8", BYTES },
    { IPC_INSTRUCT, "8841", BYTES },
    { IPC_INPUT, "", BYTES },
    { IPC_RESIZE, "22", NOTHING },
    { IPC_SUBSCRIBE, "221", NOTHING },
    { IPC_STATUS, "", NOTHING },
    { IPC_STOP, "1", NOTHING },
    { IPC_DETACH, "", NOTHING },
    { IPC_AUTH, "", BYTES },
    { IPC_HANGUP, "", NOTHING },
    { IPC_ANCHOR, "", NOTHING },
    { IPC_INPUT_END, "", NOTHING },
    { IPC_SNAPSHOT_MANUAL, "8", BYTES },
    { IPC_PAUSE, "18", NOTHING },
    { IPC_SCREEN, "41", BYTES },
    { IPC_REPLY, "8", BYTES },
    { IPC_SAID, "", BYTES },
    { IPC_READY, "", BYTES },
    { IPC_WARN, "", BYTES },
    { IPC_USED, "88888", BYTES },
};

static const struct shape to_client[] = {
    { IPC_DONE, "888", NOTHING },    { IPC_REFUSED, "", BARE },
    { IPC_OUTPUT, "8", BYTES },      { IPC_STARTED, "", NOTHING },
    { IPC_FAILED, "1", BYTES },      { IPC_ENDED, "1118881", BYTES },
    { IPC_TAKEN, "4", NOTHING },     { IPC_TROUBLE, "", BYTES },
    { IPC_SKIPPED, "822", NOTHING }, { IPC_JOINED, "482288", NOTHING },
    { IPC_STAGE, "2248", NOTHING },  { IPC_SHOW, "4", NOTHING },
    { IPC_PICTURE, "81", BYTES },    { IPC_STATE, "88224488", BYTES },
    { IPC_BEGIN, "2288", BYTES },    { IPC_TURNS, "1", NOTHING },
};

static const struct {
    const struct shape *shapes;
    size_t count;
} ways[] = {
    [IPC_TO_HOST] = { to_host, sizeof(to_host) / sizeof(to_host[0]) },
    [IPC_TO_CLIENT] = { to_client, sizeof(to_client) / sizeof(to_client[0]) },
};

static const struct shape *
find_shape(uint8_t selector, enum ipc_way way)
{
    for (size_t i = 0; i < ways[way].count; i++)
        if (ways[way].shapes[i].selector == selector)
            return &ways[way].shapes[i];
    return NULL;
}

static size_t
fixed_size(const struct shape *s)
{
    size_t n = s->tail == BYTES ? 4 : 0;
    for (const char *w = s->widths; *w; w++)
        n += (size_t)(*w - '0');
    return n;
}

int
ipc_message_get(struct ipc_message *ret, const struct ipc_frame *frame, enum ipc_way way)
{
    const struct shape *s = find_shape(frame->selector, way);
    size_t fixed = s ? fixed_size(s) : 0;
    if (!s || frame->body.n < fixed || (s->tail == NOTHING && frame->body.n != fixed))
        return -EPROTO;
    struct ipc_message m = { .selector = frame->selector };
    const uint8_t *p = frame->body.p;
    for (size_t i = 0; s->widths[i]; i++)
        for (int at = 0, width = s->widths[i] - '0'; at < width; at++)
            m.field[i] |= (uint64_t)*p++ << (8 * at);
    if (s->tail == BYTES && get_le32(p) != fixed)
        return -EPROTO;
    m.bytes = (struct view){ frame->body.p + fixed, frame->body.n - fixed };
    *ret = m;
    return 0;
}

int
ipc_message_put(struct buf *out, const struct ipc_message *m, enum ipc_way way)
{
    const struct shape *s = find_shape(m->selector, way);
    assert(s && (s->tail != NOTHING || !m->bytes.n));
    size_t fixed = fixed_size(s);
    assert(1 + fixed + m->bytes.n <= IPC_FRAME_MAX);
    uint8_t *p = buf_grow(out, IPC_FRAME_HEAD + 1 + fixed + m->bytes.n);
    if (!p)
        return out->failed;
    put_le32(p, (uint32_t)(1 + fixed + m->bytes.n));
    p[IPC_FRAME_HEAD] = m->selector;
    p += IPC_FRAME_HEAD + 1;
    for (size_t i = 0; s->widths[i]; i++)
        for (int at = 0, width = s->widths[i] - '0'; at < width; at++)
            *p++ = (uint8_t)(m->field[i] >> (8 * at));
    if (s->tail == BYTES) {
        put_le32(p, (uint32_t)fixed);
        p += 4;
    }
    if (m->bytes.n)
        memcpy(p, m->bytes.p, m->bytes.n);
    return 0;
}
