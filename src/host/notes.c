/* SPDX-License-Identifier: MIT */
/*
 * notes.c -- what is noted of a session: snapshots and instructions.
 *
 * A snapshot is in the recording, then in its file of lines, and its reply is sent when
 * the disk has both; one sync serves all that wait.
 */
#include <errno.h>
#include <unistd.h>

#include "base/utf8.h"
#include "host/host_priv.h"

enum {
    ANCHOR_TURNS = 2,    /* more than a PTY holds */
    ANCHORS_MAX = 65536, /* snapshots that instructions may name */
};

struct anchor {
    uint64_t id, byte_off;
};

/* -- replies that wait for the disk -- */

static bool
add_owed(struct host *h, struct conn *c, const struct owed *owed)
{
    if (buf_append(&h->owed, owed, sizeof(*owed)) < 0) {
        h->owed.failed = 0;
        return false;
    }
    c->waiting_replies++;
    return true;
}

static void
owe(struct host *h, struct conn *c, int lines_fd, struct ipc_message m)
{
    struct owed owed = { .number = c->number, .m = m };
    owed.ticket = tape_writer_want_sync(h->recorder.tape, lines_fd);
    if (add_owed(h, c, &owed))
        host_pay(h, false);
    else
        host_deny(h, c, "no memory: it was noted, and may not be on the disk yet");
}

bool
host_queue_reply(struct host *h, struct conn *c, struct ipc_message m)
{
    struct owed owed = { .number = c->number, .m = m };
    if (m.selector == IPC_REFUSED)
        snprintf(owed.why, sizeof(owed.why), "%.*s", (int)m.bytes.n,
                 (const char *)m.bytes.p);
    return add_owed(h, c, &owed);
}

static void
pay(struct host *h, struct conn *c, struct owed *owed)
{
    if (owed->m.selector == IPC_REFUSED)
        owed->m.bytes = (struct view){ (const uint8_t *)owed->why, strlen(owed->why) };
    c->waiting_replies--;
    conn_send(c, &owed->m);
    conn_flush(c, &h->reel);
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
            pay(h, c, &owed);
    }
    if (at && at < h->owed.n)
        memmove(h->owed.p, h->owed.p + at, h->owed.n - at);
    h->owed.n -= at;
}

void
host_pay_in_doubt(struct host *h)
{
    static const char why[] = "it was noted, and may not be on the disk";
    struct owed owed;
    for (size_t at = 0; at < h->owed.n; at += sizeof(owed)) {
        memcpy(&owed, h->owed.p + at, sizeof(owed));
        if (!owed.ticket)
            continue;
        owed.m.selector = IPC_REFUSED;
        memcpy(owed.why, why, sizeof(why));
        memcpy(h->owed.p + at, &owed, sizeof(owed));
    }
    host_pay(h, true);
}

/* -- snapshots -- */

/* Every byte that the caller wrote before it asked is read now: a PTY that says that it
 * is empty has handed over all. */
uint64_t
host_anchor(struct host *h)
{
    host_drain(h, ANCHOR_TURNS);
    return recorder_seen_off(&h->recorder);
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

/* A line that the disk does not take waits in memory. */
static int
add_line(struct host *h, struct session_lines *lines, const struct buf *line)
{
    int r = session_lines_add(lines, (struct view){ line->p, line->n });
    if (r < 0)
        host_log(h, "cannot write '%s' now", lines->path);
    return r;
}

static bool
is_failing(struct host *h)
{
    struct tape_writer_status status;
    tape_writer_status(h->recorder.tape, &status);
    return status.is_failing;
}

/* Whoever asked for the anchor has looked at its files since: what it saw belongs there.
 */
static void
place_snapshot(struct host *h, const struct conn *c, uint64_t *ret_off,
               uint64_t *ret_ts_ns)
{
    *ret_off = c->has_anchor ? c->anchor_off : host_anchor(h);
    *ret_ts_ns = c->has_anchor ? c->anchor_ts_ns : recorder_now_ns(&h->recorder);
}

void
host_take_snapshot(struct host *h, struct conn *c, const struct ipc_message *m)
{
    AUTO(buf) label = { 0 };
    AUTO(buf) line = { 0 };
    if (!utf8_is_line(m->bytes.p, m->bytes.n)) {
        host_deny(h, c, "the label is not UTF-8, or has control characters in it");
        return;
    }
    uint64_t id = m->field[0], off, ts_ns;
    place_snapshot(h, c, &off, &ts_ns);
    mask(h, m->bytes, &label);
    enum tape_append kept = recorder_snapshot(&h->recorder, id, off,
                                              (struct view){ label.p, label.n }, ts_ns);
    if (kept == TAPE_DROPPED) {
        host_deny(h, c, "the disk takes nothing now: the snapshot was not recorded");
        return;
    }
    c->has_anchor = false;
    session_snapshot_line(&line, id, ts_ns, (struct view){ label.p, label.n },
                          m->selector == IPC_SNAPSHOT_MANUAL, off);
    (void)add_line(h, &h->snapshot_lines, &line); /* the recording has it */
    remember(h, id, off);
    h->snapshots++;
    if (kept == TAPE_HELD && is_failing(h)) {
        host_deny(h, c,
                  "the disk takes nothing now: it will be recorded when there is room");
        return;
    }
    owe(h, c, session_lines_fd(&h->snapshot_lines),
        (struct ipc_message){ .selector = IPC_DONE, .field = { id, off, ts_ns } });
}

void
host_tell_anchor(struct host *h, struct conn *c, const struct ipc_message *m)
{
    (void)m;
    c->anchor_off = host_anchor(h);
    c->anchor_ts_ns = recorder_now_ns(&h->recorder);
    c->has_anchor = true;
    host_reply(h, c,
               (struct ipc_message){ .selector = IPC_DONE,
                                     .field = { 0, c->anchor_off, c->anchor_ts_ns } });
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
    uint64_t now_off = host_anchor(h), snapshot_off;
    *ret = m->field[0] == IPC_NONE ? now_off : m->field[0];
    if (m->field[1] != IPC_NONE && !find_anchor(h, m->field[1], &snapshot_off))
        buf_printf(&why, "no snapshot %llu", (unsigned long long)m->field[1]);
    else if (m->field[1] != IPC_NONE && m->field[0] == IPC_NONE)
        *ret = snapshot_off;
    else if (*ret > now_off)
        buf_printf(&why, "byte %llu has not been written yet", (unsigned long long)*ret);
    if (why.n)
        host_deny(h, c, buf_str(&why));
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

void
host_take_instruction(struct host *h, struct conn *c, const struct ipc_message *m)
{
    AUTO(buf) text = { 0 };
    AUTO(buf) line = { 0 };
    uint64_t off, ts_ns = recorder_now_ns(&h->recorder);
    if (!m->bytes.n || !utf8_is_text(m->bytes.p, m->bytes.n)) {
        host_deny(h, c, "the instruction is refused: it is empty, or no UTF-8");
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
    int r = add_line(h, &h->instruction_lines, &line);
    h->instructions += r != ERR_LIMIT;
    if (r < 0) {
        host_deny(h, c,
                  r == ERR_LIMIT ? "the disk takes nothing now: it was not noted"
                                 : "the disk takes nothing now: it will be noted when "
                                   "there is room");
        return;
    }
    owe(h, c, session_lines_fd(&h->instruction_lines),
        (struct ipc_message){ .selector = IPC_DONE, .field = { i.id, off, ts_ns } });
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
host_notes_init(struct host *h, struct err *err)
{
    int r = init_lines(h, &h->snapshot_lines, SESSION_SNAPSHOTS);
    if (!r)
        r = init_lines(h, &h->instruction_lines, SESSION_INSTRUCTIONS);
    return r < 0 ? err_code(err, r, "cannot record") : 0;
}

void
host_notes_finish(struct host *h)
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
