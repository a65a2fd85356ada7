/* SPDX-License-Identifier: MIT */
/*
 * mirror.c -- the screen of a session, fed from the host's log.
 *
 * What the model would reply to programs is put together by OUTPUT frame, or by record
 * where it comes from the recording, and goes out when no user's terminal was shown that
 * frame. What is not sent waits a little: it may turn out later that nobody was shown it.
 */
#include "client/mirror.h"

#include <errno.h>
#include <poll.h>
#include <stdlib.h>

#include "client/link_priv.h"
#include "client/model_priv.h"

enum {
    SCROLLBACK = 10000,
    PIECE_MAX = 64000,
    PICTURE_MAX = 16 << 20,
    QUEUE_FULL = 16 << 20, /* while so much waits for the host we read no more of it */
    PATIENCE_MS = 30000,   /* a host that takes nothing for so long will not */
    KEPT = 32,
};

struct reply {
    uint64_t end_off; /* of the frame with the queries */
    struct buf bytes;
};

struct mirror {
    struct link link;
    struct buf path; /* of the recording */
    struct model model;
    uint64_t answer_from; /* IPC_NONE: not at all */
    struct buf reply;     /* to the frame being fed */
    struct reply kept[KEPT];
    size_t kept_next; /* the oldest of them */
};

/* -- replies -- */

static void
note_reply(void *ctx, const void *p, size_t n)
{
    struct mirror *m = ctx;
    if (n <= IPC_MESSAGE_BYTES_MAX - m->reply.n) /* a real terminal's is full before */
        buf_append(&m->reply, p, n);
}

static void
send_reply(struct mirror *m, uint64_t end_off, const struct buf *bytes)
{
    link_say(&m->link, &(struct ipc_message){ .selector = IPC_REPLY,
                                              .field = { end_off },
                                              .bytes = { bytes->p, bytes->n } });
}

static bool
is_ours(const struct mirror *m, uint64_t end_off)
{
    return m->answer_from != IPC_NONE && end_off > m->answer_from;
}

static void
settle_replies(void *ctx)
{
    struct mirror *m = ctx;
    uint64_t end_off = m->model.off;
    if (!m->reply.n)
        return;
    if (is_ours(m, end_off)) {
        send_reply(m, end_off, &m->reply);
    } else {
        struct reply *r = &m->kept[m->kept_next];
        m->kept_next = (m->kept_next + 1) % KEPT;
        r->end_off = end_off;
        buf_clear(&r->bytes);
        buf_append(&r->bytes, m->reply.p, m->reply.n);
    }
    buf_clear(&m->reply);
}

static void
answer_from(struct mirror *m, uint64_t off)
{
    m->answer_from = off;
    if (off == IPC_NONE)
        return;
    for (size_t i = 0; i < KEPT; i++) {
        struct reply *r = &m->kept[(m->kept_next + i) % KEPT];
        if (r->bytes.n && is_ours(m, r->end_off))
            send_reply(m, r->end_off, &r->bytes);
        buf_clear(&r->bytes);
    }
}

/* -- the model -- */

static int
begin(struct mirror *m, const struct ipc_message *msg)
{
    unsigned cols = (unsigned)msg->field[0], rows = (unsigned)msg->field[1];
    struct term_options how = model_options(cols, rows, false);
    if (m->model.term)
        return -EPROTO;
    how.scrollback_rows = SCROLLBACK;
    how.reply = note_reply;
    how.ctx = m;
    buf_append(&m->path, msg->bytes.p, msg->bytes.n);
    m->model = (struct model){ .tape.path = buf_str(&m->path),
                               .fed = settle_replies,
                               .ctx = m };
    m->answer_from = msg->field[3];
    if (m->path.failed || model_make(&m->model, &how) < 0)
        return -ENOMEM;
    model_skip(&m->model, msg->field[2], cols, rows);
    return 0;
}

/* -- pictures -- */

static void
make_picture(struct mirror *m, struct buf *ret)
{
    ret->ceiling = PICTURE_MAX;
    if (term_snapshot(m->model.term, true, ret) < 0 || ret->failed) {
        buf_clear(ret);
        if (term_snapshot(m->model.term, false, ret) < 0 || ret->failed)
            buf_clear(ret);
    }
}

static int
show(struct mirror *m, uint64_t client)
{
    AUTO(buf) picture = { 0 };
    make_picture(m, &picture);
    size_t at = 0, n;
    int r = 0;
    do {
        n = picture.n - at < PIECE_MAX ? picture.n - at : (size_t)PIECE_MAX;
        r = link_say(&m->link, &(struct ipc_message){
                                   .selector = IPC_SCREEN,
                                   .field = { client, at + n == picture.n },
                                   .bytes = { picture.p ? picture.p + at : NULL, n } });
        at += n;
    } while (at < picture.n && !r);
    return r;
}

/* -- the loop -- */

static int
handle(struct mirror *m, const struct ipc_message *msg)
{
    if (msg->selector == IPC_BEGIN)
        return begin(m, msg);
    if (!m->model.term)
        return -EPROTO;
    switch (msg->selector) {
    case IPC_OUTPUT:
        model_feed(&m->model, msg->field[0], msg->bytes);
        return 0;
    case IPC_SKIPPED:
        model_skip(&m->model, msg->field[0], (unsigned)msg->field[1],
                   (unsigned)msg->field[2]);
        return 0;
    case IPC_STAGE:
        term_resize(m->model.term, (unsigned)msg->field[0], (unsigned)msg->field[1]);
        answer_from(m, msg->field[3]);
        return 0;
    case IPC_SHOW:
        return show(m, msg->field[0]);
    default: /* for other clients */
        return 0;
    }
}

/* 0 to go on, else the end. */
static int
step(struct mirror *m)
{
    size_t waiting = queue_size(&m->link.out);
    struct pollfd fd = { .fd = m->link.fd,
                         .events = (short)((waiting ? POLLOUT : 0) |
                                           (waiting < QUEUE_FULL ? POLLIN : 0)) };
    int n = poll(&fd, 1, waiting ? PATIENCE_MS : -1);
    if (n < 0 && errno == EINTR)
        return 0;
    if (n <= 0)
        return n < 0 ? -errno : -ETIMEDOUT;
    if (waiting)
        link_flush(&m->link);
    if (!(fd.revents & ~POLLOUT))
        return 0;
    struct ipc_message msg;
    int r = link_read(&m->link);
    while (r >= 0 && (r = link_next(&m->link, &msg)) > 0)
        r = handle(m, &msg);
    return r;
}

static int
explain(int code, struct err *err)
{
    switch (code) {
    case -ECONNRESET: /* the host has hung up: all is done */
        return 0;
    case -EPROTO:
        return err_set(err, code, "what came is not a recorder's");
    case -ETIMEDOUT:
        return err_set(err, code, "the recorder takes nothing any more");
    default:
        return err_code(err, code, "cannot mirror the screen");
    }
}

int
client_mirror(int link_fd, struct err *err)
{
    struct mirror m = { .link.fd = link_fd, .answer_from = IPC_NONE };
    int r;
    while (!(r = step(&m)))
        continue;
    link_release(&m.link);
    buf_release(&m.path);
    buf_release(&m.reply);
    for (size_t i = 0; i < KEPT; i++)
        buf_release(&m.kept[i].bytes);
    model_release(&m.model);
    return explain(r, err);
}
