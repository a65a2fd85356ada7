/* SPDX-License-Identifier: MIT */
/*
 * requests.c -- what clients ask for.
 *
 * A snapshot is in the recording, then in its file of lines, and its reply is sent when
 * the disk has both; one sync serves all that wait. Whoever asks for what it may not is
 * told so and let go.
 */
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <unistd.h>

#include "base/utf8.h"
#include "host/host_priv.h"
#include "pty/tty.h"

enum {
    ANCHOR_TURNS = 2,    /* more than a PTY holds */
    ANCHORS_MAX = 65536, /* snapshots that instructions may name */
    SUBSCRIBERS_MAX = 256,
    OWED_MAX = 4096,
};

struct anchor {
    uint64_t id, byte_off;
};

static struct conn *
reply(struct host *h, struct conn *c, struct ipc_message m)
{
    conn_send(c, &m);
    conn_flush(c, &h->reel);
    return c;
}

/* An error that is no reason to part. */
static void
deny(struct host *h, struct conn *c, const char *why)
{
    conn_send_text(c, IPC_REFUSED, why);
    conn_flush(c, &h->reel);
}

void
host_refuse(struct host *h, struct conn *c, const char *why)
{
    if (c == h->link) {
        host_lose_link(h);
        return;
    }
    c->is_leaving = true;
    c->leave_ns = clock_mono_ns();
    deny(h, c, why);
}

/* -- replies that wait for the disk -- */

static void
owe(struct host *h, struct conn *c, int lines_fd, struct ipc_message m)
{
    struct owed owed = { c->number, 0, m };
    owed.ticket = tape_writer_want_sync(h->recorder.tape, lines_fd);
    if (h->owed.n >= OWED_MAX * sizeof(owed) ||
        buf_append(&h->owed, &owed, sizeof(owed)) < 0) {
        reply(h, c, m);
        return;
    }
    c->waiting_replies++;
    host_pay(h, false);
}

void
host_pay(struct host *h, bool is_all)
{
    uint64_t done = is_all      ? UINT64_MAX
                    : h->owed.n ? tape_writer_synced(h->recorder.tape)
                                : 0;
    size_t at = 0;
    for (struct owed owed; at < h->owed.n; at += sizeof(owed)) {
        memcpy(&owed, h->owed.p + at, sizeof(owed));
        if (owed.ticket > done)
            break;
        struct conn *c = host_find_conn(h, owed.number);
        if (c)
            reply(h, c, owed.m)->waiting_replies--;
    }
    if (at && at < h->owed.n)
        memmove(h->owed.p, h->owed.p + at, h->owed.n - at);
    h->owed.n -= at;
}

/* -- snapshots -- */

/* Every byte that the caller wrote before it asked is read now: a PTY that says that it
 * is empty has handed over all. */
static uint64_t
anchor(struct host *h)
{
    host_drain(h, ANCHOR_TURNS);
    return recorder_seen_off(&h->recorder);
}

/* What is wrong with a text; NULL: nothing. */
static const char *
text_fault(struct view text, bool is_line)
{
    uint32_t cp;
    for (size_t at = 0; at < text.n;) {
        int n = utf8_next(text.p + at, text.n - at, &cp);
        if (!n)
            return "is not UTF-8";
        if (is_line && (cp < 0x20 || (cp >= 0x7f && cp < 0xa0)))
            return "has control characters in it";
        at += (size_t)n;
    }
    return NULL;
}

/* Without its secrets, and no longer than a record may have it; where they cannot be
 * looked for it is left out. */
static void
mask(struct host *h, struct view text, struct buf *ret)
{
    uint32_t cp;
    if (!text.n || !h->redact || redact_text(h->redact, text.p, text.n, ret) < 0)
        buf_clear(ret);
    if (ret->n > IPC_LABEL_MAX)
        ret->n = IPC_LABEL_MAX;
    size_t at = 0;
    for (int n; at < ret->n && (n = utf8_next(ret->p + at, ret->n - at, &cp));)
        at += (size_t)n;
    ret->n = at;
}

static void
remember(struct host *h, uint64_t id, uint64_t byte_off)
{
    struct anchor a = { id, byte_off };
    if (h->anchors.n >= ANCHORS_MAX * sizeof(a)) {
        size_t half = ANCHORS_MAX / 2 * sizeof(a);
        memmove(h->anchors.p, h->anchors.p + half, h->anchors.n - half);
        h->anchors.n -= half;
    }
    buf_append(&h->anchors, &a, sizeof(a));
}

/* A line that the disk does not take waits in memory; the recording has it in any case.
 */
static void
add_line(struct host *h, struct session_lines *lines, const struct buf *line)
{
    int r = session_lines_add(lines, (struct view){ line->p, line->n });
    if (r < 0)
        host_log(h, "cannot write '%s' now", lines->path);
}

static void
take_snapshot(struct host *h, struct conn *c, const struct ipc_message *m)
{
    AUTO(buf) label = { 0 };
    AUTO(buf) line = { 0 };
    AUTO(buf) why = { 0 };
    const char *fault = text_fault(m->bytes, true);
    if (fault) {
        buf_printf(&why, "the label %s", fault);
        deny(h, c, buf_str(&why));
        return;
    }
    uint64_t id = m->field[0], ts_ns, off = anchor(h);
    mask(h, m->bytes, &label);
    if (recorder_snapshot(&h->recorder, id, off, (struct view){ label.p, label.n },
                          &ts_ns) == TAPE_DROPPED) {
        deny(h, c, "the disk takes nothing now: the snapshot was not recorded");
        return;
    }
    session_snapshot_line(&line, id, ts_ns, (struct view){ label.p, label.n },
                          m->selector == IPC_SNAPSHOT_MANUAL, off);
    add_line(h, &h->snapshot_lines, &line);
    remember(h, id, off);
    h->snapshots++;
    owe(h, c, session_lines_fd(&h->snapshot_lines),
        (struct ipc_message){ .selector = IPC_DONE, .field = { id, off, ts_ns } });
}

static void
tell_anchor(struct host *h, struct conn *c, const struct ipc_message *m)
{
    (void)m;
    uint64_t off = anchor(h);
    reply(h, c,
          (struct ipc_message){ .selector = IPC_DONE,
                                .field = { 0, off, recorder_now_ns(&h->recorder) } });
}

static void
tell_state(struct host *h, struct conn *c, const struct ipc_message *m)
{
    (void)m;
    uint64_t clients, watchers;
    host_count_clients(h, &clients, &watchers);
    reply(h, c,
          (struct ipc_message){
              .selector = IPC_STATE,
              .field = { h->recorder.byte_off,
                         recorder_now_ns(&h->recorder) - h->opt->clock.real_ns, h->cols,
                         h->rows, clients, watchers, h->snapshots, h->instructions },
              .bytes = { (const uint8_t *)h->trouble, strlen(h->trouble) } });
}

/* -- instructions -- */

static bool
find_anchor(const struct host *h, uint64_t id, uint64_t *ret)
{
    for (size_t at = h->anchors.n; at; at -= sizeof(struct anchor)) {
        struct anchor a;
        memcpy(&a, h->anchors.p + at - sizeof(a), sizeof(a));
        if (a.id != id)
            continue;
        *ret = a.byte_off;
        return true;
    }
    return false;
}

/* Where it belongs; false when there is no such place, which is told. */
static bool
place(struct host *h, struct conn *c, const struct ipc_message *m, uint64_t *ret)
{
    AUTO(buf) why = { 0 };
    uint64_t now_off = anchor(h), snapshot_off;
    *ret = m->field[0] == IPC_NONE ? now_off : m->field[0];
    if (m->field[1] != IPC_NONE && !find_anchor(h, m->field[1], &snapshot_off))
        buf_printf(&why, "no snapshot %llu", (unsigned long long)m->field[1]);
    else if (m->field[1] != IPC_NONE && m->field[0] == IPC_NONE)
        *ret = snapshot_off;
    else if (*ret > now_off)
        buf_printf(&why, "byte %llu has not been written yet", (unsigned long long)*ret);
    if (why.n)
        deny(h, c, buf_str(&why));
    return !why.n;
}

/* Microseconds since the epoch, and never one twice. */
static uint64_t
next_instruction_id(struct host *h, uint64_t ts_ns)
{
    uint64_t id = ts_ns / 1000;
    if (id <= h->last_instruction_id)
        id = h->last_instruction_id + 1;
    return h->last_instruction_id = id;
}

static void
take_instruction(struct host *h, struct conn *c, const struct ipc_message *m)
{
    AUTO(buf) text = { 0 };
    AUTO(buf) line = { 0 };
    uint64_t off, ts_ns = recorder_now_ns(&h->recorder);
    if (!m->bytes.n || text_fault(m->bytes, false)) {
        deny(h, c, "the instruction is refused: it is empty, or no UTF-8");
        return;
    }
    if (!place(h, c, m, &off))
        return;
    mask(h, m->bytes, &text);
    struct session_instruction i = { .id = next_instruction_id(h, ts_ns),
                                     .ts_ns = ts_ns,
                                     .anchor_byte = off,
                                     .snapshot_id = m->field[1],
                                     .row = (uint32_t)m->field[2],
                                     .text = { text.p, text.n },
                                     .is_delivered = m->field[3] };
    session_instruction_line(&line, &i);
    add_line(h, &h->instruction_lines, &line);
    h->instructions++;
    owe(h, c, session_lines_fd(&h->instruction_lines),
        (struct ipc_message){ .selector = IPC_DONE, .field = { i.id, off, ts_ns } });
}

/* -- clients -- */

static void
subscribe(struct host *h, struct conn *c, const struct ipc_message *m)
{
    uint64_t clients, watchers, flags = m->field[2];
    host_count_clients(h, &clients, &watchers);
    if (c->awaits_picture) {
        deny(h, c, "a picture is on its way already");
        return;
    }
    if (!c->is_subscribed && clients + watchers >= SUBSCRIBERS_MAX) {
        host_refuse(h, c, "too many clients look on already");
        return;
    }
    c->is_subscribed = c->is_lossy = true;
    c->is_watcher = flags & IPC_SUB_WATCH;
    c->cols = (uint16_t)m->field[0];
    c->rows = (uint16_t)m->field[1];
    conn_rejoin(c, &h->reel);
    host_set_stage(h, IPC_NONE);
    conn_rejoin(c, &h->reel);
    struct ipc_message stage = host_stage_message(h);
    conn_send(c, &(struct ipc_message){
                     .selector = IPC_JOINED,
                     .field = { c->number, h->recorder.byte_off, h->cols, h->rows,
                                h->opt->clock.real_ns, h->opt->clock.boot_ns } });
    conn_send(c, &stage);
    if (flags & IPC_SUB_PICTURE)
        host_want_picture(h, c);
    conn_flush(c, &h->reel);
}

static void
take_input(struct host *h, struct conn *c, const struct ipc_message *m)
{
    if (c != h->link && c->input_bytes + m->bytes.n > HOST_INPUT_MAX)
        host_refuse(h, c, "too much input is on its way already");
    else
        host_input(h, c, m->bytes);
}

static void
end_input(struct host *h, struct conn *c, const struct ipc_message *m)
{
    (void)c;
    (void)m;
    host_input_end(h);
}

static void
take_size(struct host *h, struct conn *c, const struct ipc_message *m)
{
    c->cols = (uint16_t)m->field[0];
    c->rows = (uint16_t)m->field[1];
    host_set_stage(h, IPC_NONE);
}

static void
set_pause(struct host *h, struct conn *c, const struct ipc_message *m)
{
    if (!c->is_subscribed)
        return;
    if (!m->field[0]) {
        host_rejoin(h, c);
        return;
    }
    conn_rejoin(c, &h->reel);
    c->is_paused = true;
    c->awaits_picture = false;
    if (c == h->link)
        host_set_stage(h, m->field[1]);
}

static void
stop(struct host *h, struct conn *c, const struct ipc_message *m)
{
    host_stop(h, (int)m->field[0]);
    if (c->kind == CONN_CTL)
        reply(h, c, (struct ipc_message){ .selector = IPC_DONE });
}

static void
close_tty(struct host *h)
{
    if (h->tty_fd >= 0)
        close(h->tty_fd); /* somebody may wait for its end */
    h->tty_fd = -1;
}

static void
detach(struct host *h, struct conn *c, const struct ipc_message *m)
{
    (void)m;
    host_log(h, "client %u has detached", c->number);
    if (c == h->link)
        close_tty(h);
    host_drop_conn(h, c);
}

static void
hang_up(struct host *h, struct conn *c, const struct ipc_message *m)
{
    (void)c;
    (void)m;
    if (!h->opt->is_detachable)
        host_stop(h, SIGHUP);
}

/* Its programs' modes ended, and the first screen shown, whatever was on it. */
static void
calm_terminal(int tty_fd)
{
    static const char bytes[] = PTY_TTY_CALM "\033[?1047l";
    int fd = pty_reopen_nonblock(tty_fd, O_WRONLY);
    if (fd < 0)
        return;
    (void)!write(fd, bytes, sizeof(bytes) - 1);
    close(fd);
}

void
host_lose_link(struct host *h)
{
    const struct host_options *o = h->opt;
    if (h->tty_fd >= 0)
        pty_tty_restore_left(h->tty_fd, &o->tty_saved, &o->tty_raw);
    if (h->tty_fd >= 0 && o->is_lossy)
        calm_terminal(h->tty_fd);
    close_tty(h);
    host_drop_conn(h, h->link);
    host_log(h, "the client has vanished");
    if (!o->has_terminal && !h->is_over)
        hang_up(h, NULL, NULL);
}

static void
authenticate(struct host *h, struct conn *c, const struct ipc_message *m)
{
    unsigned differs = m->bytes.n != HOST_TOKEN_LEN;
    for (size_t i = 0; i < m->bytes.n && i < HOST_TOKEN_LEN; i++)
        differs |= (unsigned)(m->bytes.p[i] ^ (uint8_t)h->token[i]);
    if (differs || !c->must_auth)
        host_refuse(h, c, "this is not the token");
    c->must_auth = false;
}

static void
take_screen(struct host *h, struct conn *c, const struct ipc_message *m)
{
    (void)c;
    host_take_screen(h, m);
}

static void
take_reply(struct host *h, struct conn *c, const struct ipc_message *m)
{
    (void)c;
    host_take_reply(h, m);
}

/* -- who may ask for what -- */

static const struct request {
    uint8_t selector;
    unsigned kinds; /* enum conn_kind */
    bool for_watchers;
    void (*run)(struct host *h, struct conn *c, const struct ipc_message *m);
} requests[] = {
    { IPC_SNAPSHOT, CONN_CTL | CONN_IPC, false, take_snapshot },
    { IPC_SNAPSHOT_MANUAL, CONN_LINK | CONN_CTL | CONN_IPC, false, take_snapshot },
    { IPC_STATUS, CONN_LINK | CONN_CTL | CONN_IPC, true, tell_state },
    { IPC_ANCHOR, CONN_LINK | CONN_CTL | CONN_IPC, false, tell_anchor },
    { IPC_AUTH, CONN_IPC, false, authenticate },
    { IPC_INSTRUCT, CONN_LINK | CONN_CTL, false, take_instruction },
    { IPC_INPUT, CONN_LINK | CONN_CTL, false, take_input },
    { IPC_INPUT_END, CONN_LINK, false, end_input },
    { IPC_RESIZE, CONN_LINK | CONN_CTL, false, take_size },
    { IPC_SUBSCRIBE, CONN_CTL, true, subscribe },
    { IPC_PAUSE, CONN_LINK | CONN_CTL, true, set_pause },
    { IPC_STOP, CONN_LINK | CONN_CTL, false, stop },
    { IPC_DETACH, CONN_LINK | CONN_CTL, true, detach },
    { IPC_HANGUP, CONN_LINK | CONN_CTL, false, hang_up },
    { IPC_SCREEN, CONN_MIRROR, false, take_screen },
    { IPC_REPLY, CONN_MIRROR, false, take_reply },
};

void
host_handle(struct host *h, struct conn *c, const struct ipc_message *m)
{
    const struct request *r = requests, *end = r + sizeof(requests) / sizeof(*requests);
    while (r < end && r->selector != m->selector)
        r++;
    if (c->must_auth && m->selector != IPC_AUTH)
        host_refuse(h, c, "the token comes first ($AHR_IPC_TOKEN)");
    else if (r == end || !(r->kinds & c->kind))
        host_refuse(h, c, "this is not to be asked for here");
    else if (c->is_watcher && !r->for_watchers)
        host_refuse(h, c, "a watcher only looks");
    else if (h->is_over)
        host_refuse(h, c, "the session has ended");
    else
        r->run(h, c, m);
}

/* -- the files of lines -- */

static int
init_lines(struct host *h, struct session_lines *l, const char *what)
{
    AUTO(buf) path = { 0 };
    int r = session_sibling_path(h->folder.tape_path, what, &path);
    return r < 0 ? r : session_lines_init(l, buf_str(&path));
}

int
host_requests_init(struct host *h, struct err *err)
{
    int r = init_lines(h, &h->snapshot_lines, SESSION_SNAPSHOTS);
    if (!r)
        r = init_lines(h, &h->instruction_lines, SESSION_INSTRUCTIONS);
    return r < 0 ? err_code(err, r, "cannot record") : 0;
}

void
host_requests_finish(struct host *h)
{
    struct session_lines *all[] = { &h->snapshot_lines, &h->instruction_lines };
    for (size_t i = 0; i < sizeof(all) / sizeof(all[0]); i++) {
        int fd = session_lines_fd(all[i]);
        if (session_lines_flush(all[i]) < 0)
            host_log(h, "not all of '%s' could be written", all[i]->path);
        if (fd >= 0 && h->opt->sync != TAPE_SYNC_NONE)
            (void)fdatasync(fd);
        session_lines_release(all[i]);
    }
}
