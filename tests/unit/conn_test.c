/* SPDX-License-Identifier: MIT */
/*
 * conn_test.c -- the reel, and the host's ends of connections to clients that read
 * slowly, at different places of it, or not at all.
 *
 * The program is linked with its own send(), which takes as many bytes as a test allows:
 * so a frame can be cut behind any byte of it.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include <errno.h>
#include <sys/socket.h>
#include <unistd.h>

#include "base/le.h"
#include "host/conn_priv.h"
#include "support/rng.h"

static size_t send_allowance = SIZE_MAX;

ssize_t __real_send(int fd, const void *p, size_t n, int flags);
ssize_t __wrap_send(int fd, const void *p, size_t n, int flags);

ssize_t
__wrap_send(int fd, const void *p, size_t n, int flags)
{
    if (!send_allowance) {
        errno = EAGAIN;
        return -1;
    }
    ssize_t r = __real_send(fd, p, n < send_allowance ? n : send_allowance, flags);
    if (r > 0 && send_allowance != SIZE_MAX)
        send_allowance -= (size_t)r;
    return r;
}

/* -- what is shown -- */

/* The byte of output at an offset; not periodic in any size used here. */
static uint8_t
byte_at(uint64_t off)
{
    return (uint8_t)(off * 2654435761U >> 13);
}

static struct ipc_message
output_at(uint64_t off, size_t n)
{
    static uint8_t bytes[IPC_MESSAGE_BYTES_MAX];
    for (size_t i = 0; i < n; i++)
        bytes[i] = byte_at(off + i);
    return (struct ipc_message){ .selector = IPC_OUTPUT,
                                 .field = { off },
                                 .bytes = { bytes, n } };
}

static struct ipc_message
trouble(const char *text)
{
    return (struct ipc_message){ .selector = IPC_TROUBLE,
                                 .bytes = { (const uint8_t *)text, strlen(text) } };
}

static struct ipc_message
taken(uint64_t n)
{
    return (struct ipc_message){ .selector = IPC_TAKEN, .field = { n } };
}

static struct ipc_message
skipped(uint64_t off)
{
    return (struct ipc_message){ .selector = IPC_SKIPPED, .field = { off, 80, 24 } };
}

static void
put(struct reel *reel, struct ipc_message m)
{
    assert_int_equal(reel_put(reel, &m), 0);
}

/* Output behind what has been shown. */
static void
show(struct reel *reel, uint64_t *off, size_t n)
{
    put(reel, output_at(*off, n));
    *off += n;
}

/* A few small frames of several kinds, and where each begins; *off is what they show. */
enum { FEW = 4 };

static void
show_few(struct reel *reel, uint64_t *off, uint64_t starts[FEW + 1])
{
    static const size_t sizes[FEW] = { 5, 0, 1, 9 };
    for (size_t i = 0; i < FEW; i++) {
        starts[i] = reel_end(reel);
        if (sizes[i])
            show(reel, off, sizes[i]);
        else
            put(reel, trouble("!"));
    }
    starts[FEW] = reel_end(reel);
}

/* -- a client -- */

struct rig {
    struct conn conn;
    int peer;
    struct buf got;    /* what it has read … */
    size_t parsed;     /* … and looked at up to here */
    uint64_t next_off; /* output that it has to be shown next */
    uint64_t next_taken;
    unsigned outputs, skips, troubles;
};

static void
set_up(struct rig *rig, enum conn_kind kind)
{
    int ends[2];
    assert_int_equal(socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends), 0);
    *rig = (struct rig){ .peer = ends[1] };
    conn_init(&rig->conn, ends[0], kind);
}

/* One that is shown the reel. */
static void
set_up_subscriber(struct rig *rig, const struct reel *reel)
{
    set_up(rig, CONN_CTL);
    rig->conn.is_subscribed = true;
    rig->conn.at = rig->conn.frame_at = reel->start;
}

static void
tear_down(struct rig *rig)
{
    conn_close(&rig->conn);
    if (rig->peer >= 0)
        close(rig->peer);
    buf_release(&rig->got);
    send_allowance = SIZE_MAX;
}

/* Sends what the connection has, but no more than n bytes of it. */
static void
flush_bytes(struct rig *rig, const struct reel *reel, size_t n)
{
    send_allowance = n;
    conn_flush(&rig->conn, reel);
    send_allowance = SIZE_MAX;
}

/* Reads at most `max` bytes of what is there. */
static size_t
peer_reads(struct rig *rig, size_t max)
{
    uint8_t *p = buf_grow(&rig->got, max);
    assert_non_null(p);
    ssize_t n = recv(rig->peer, p, max, MSG_DONTWAIT);
    rig->got.n -= max - (n > 0 ? (size_t)n : 0);
    return n > 0 ? (size_t)n : 0;
}

static void
drain_all(struct rig *rig, const struct reel *reel)
{
    do
        conn_flush(&rig->conn, reel);
    while (peer_reads(rig, 1 << 20) || conn_has_waiting(&rig->conn, reel));
}

static void
check_output(struct rig *rig, const struct ipc_message *m)
{
    assert_int_equal(m->field[0], rig->next_off);
    for (size_t i = 0; i < m->bytes.n; i++)
        if (m->bytes.p[i] != byte_at(rig->next_off + i))
            fail_msg("wrong byte at %zu", (size_t)(rig->next_off + i));
    rig->next_off += m->bytes.n;
    rig->outputs++;
}

static void
check_message(struct rig *rig, const struct ipc_message *m)
{
    if (m->selector == IPC_OUTPUT) {
        check_output(rig, m);
    } else if (m->selector == IPC_SKIPPED) {
        assert_true(m->field[0] >= rig->next_off);
        rig->next_off = m->field[0];
        rig->skips++;
    } else if (m->selector == IPC_TAKEN) {
        assert_int_equal(m->field[0], rig->next_taken++);
    } else {
        assert_int_equal(m->selector, IPC_TROUBLE);
        rig->troubles++;
    }
}

/* Looks at every frame that has come whole: output follows on what was shown before,
 * unless it was told of a skip, and own frames come all, in order. */
static void
check_frames(struct rig *rig)
{
    struct ipc_frame frame;
    struct ipc_message m;
    ssize_t n;
    while ((n = ipc_frame_get(
                (struct view){ rig->got.p + rig->parsed, rig->got.n - rig->parsed },
                &frame)) > 0) {
        assert_int_equal(ipc_message_get(&m, &frame, IPC_TO_CLIENT), 0);
        check_message(rig, &m);
        rig->parsed += (size_t)n;
    }
    assert_int_equal(n, 0);
    if (rig->parsed == rig->got.n) {
        buf_clear(&rig->got);
        rig->parsed = 0;
    }
}

static void
assert_got(const struct rig *rig, const struct buf *want)
{
    assert_int_equal(rig->got.n, want->n);
    assert_memory_equal(rig->got.p, want->p, want->n);
}

static void
want_frame(struct buf *want, struct ipc_message m)
{
    assert_int_equal(ipc_message_put(want, &m, IPC_TO_CLIENT), 0);
}

static void
want_reel(struct buf *want, const struct reel *reel, uint64_t from, uint64_t to)
{
    buf_append(want, reel_from(reel, from).p, (size_t)(to - from));
}

/* -- the reel -- */

static void
positions_stay_when_the_reel_forgets(void **state)
{
    (void)state;
    struct reel reel = { 0 };
    AUTO(buf) all = { 0 };
    uint64_t off = 0, starts[FEW + 1];
    show_few(&reel, &off, starts);
    buf_append(&all, reel.b.p, reel.b.n);
    for (size_t gone = 0; gone <= FEW; gone++) {
        reel_forget(&reel, starts[gone]);
        assert_int_equal(reel_end(&reel), starts[FEW]);
        for (size_t i = gone; i < FEW; i++) {
            struct view v = reel_from(&reel, starts[i]);
            assert_int_equal(v.n, all.n - starts[i]);
            assert_memory_equal(v.p, all.p + starts[i], v.n);
            assert_int_equal(reel_frame_end(&reel, starts[i]), starts[i + 1]);
        }
        assert_int_equal(reel_from(&reel, starts[FEW]).n, 0);
    }
    show(&reel, &off, 3);
    assert_int_equal(reel_output_from(&reel, starts[FEW], IPC_NONE), off - 3);
    reel_release(&reel);
}

static void
the_first_output_from_a_frame_on_is_found(void **state)
{
    (void)state;
    struct reel reel = { 0 };
    uint64_t off = 1000, starts[FEW + 1];
    static const uint64_t want[FEW + 1] = { 1000, 1005, 1005, 1006, 77 };
    show_few(&reel, &off, starts);
    for (size_t i = 0; i <= FEW; i++)
        assert_int_equal(reel_output_from(&reel, starts[i], 77), want[i]);
    reel_forget(&reel, starts[1]);
    for (size_t i = 1; i <= FEW; i++)
        assert_int_equal(reel_output_from(&reel, starts[i], 77), want[i]);
    reel_forget(&reel, starts[FEW]);
    put(&reel, trouble("no output"));
    assert_int_equal(reel_output_from(&reel, starts[FEW], 88), 88);
    reel_release(&reel);
}

/* It wants to begin at a frame, keeps what it must, and not a frame more; before it is
 * twice as long it wants nothing. */
static void
a_long_reel_wants_to_forget_whole_frames(void **state)
{
    (void)state;
    struct reel reel = { 0 };
    uint64_t off = 0, cuts = 0, all = 0;
    uint32_t seed = rng_seed(5);
    while (cuts < 6) {
        uint64_t start = reel_wanted_start(&reel), first = reel.start;
        size_t n = rng_between(&seed, 1, IPC_MESSAGE_BYTES_MAX);
        if (start == first) {
            assert_true(reel.b.n < 2 * (size_t)REEL_KEEP);
            show(&reel, &off, n);
            all = reel_end(&reel);
            continue;
        }
        assert_true(reel.b.n >= 2 * (size_t)REEL_KEEP);
        uint64_t before = first;
        while (first < start)
            first = reel_frame_end(&reel, before = first);
        assert_int_equal(first, start);
        assert_true(reel_end(&reel) - start <= REEL_KEEP);
        assert_true(reel_end(&reel) - before > REEL_KEEP);
        uint64_t output = reel_output_from(&reel, start, IPC_NONE);
        reel_forget(&reel, start);
        assert_int_equal(reel_end(&reel), all);
        assert_int_equal(reel_output_from(&reel, start, IPC_NONE), output);
        assert_int_equal(reel_wanted_start(&reel), start);
        cuts++;
    }
    reel_release(&reel);
}

/* -- sending -- */

static void
a_slow_reader_gets_every_byte(void **state)
{
    (void)state;
    struct rig rig;
    struct reel reel = { 0 };
    uint64_t off = 0;
    uint32_t seed = rng_seed(3);
    set_up_subscriber(&rig, &reel);
    for (int i = 0; i < 3000; i++) {
        if (conn_behind(&rig.conn, &reel) < 256 << 10)
            show(&reel, &off, rng_between(&seed, 1, 5000));
        peer_reads(&rig, rng_between(&seed, 1, 4000));
        check_frames(&rig);
        conn_flush(&rig.conn, &reel);
        reel_forget(&reel, rig.conn.frame_at);
    }
    assert_true(conn_behind(&rig.conn, &reel) > 0);
    drain_all(&rig, &reel);
    check_frames(&rig);
    assert_int_equal(rig.next_off, off);
    assert_int_equal(rig.skips, 0);
    assert_int_equal(conn_behind(&rig.conn, &reel), 0);
    tear_down(&rig);
    reel_release(&reel);
}

static void
connections_go_on_each_from_its_place(void **state)
{
    (void)state;
    struct rig rigs[40];
    struct reel reel = { 0 };
    AUTO(buf) want = { 0 };
    uint64_t off = 0, starts[FEW + 1];
    enum { RIGS = sizeof(rigs) / sizeof(rigs[0]) };
    show_few(&reel, &off, starts);
    for (size_t i = 0; i < RIGS; i++) {
        set_up_subscriber(&rigs[i], &reel);
        flush_bytes(&rigs[i], &reel, i * reel.b.n / RIGS);
        assert_int_equal(conn_behind(&rigs[i].conn, &reel),
                         reel.b.n - i * reel.b.n / RIGS);
        size_t frame = 0;
        while (frame < FEW && starts[frame + 1] <= rigs[i].conn.at)
            frame++;
        assert_int_equal(rigs[i].conn.frame_at, starts[frame]);
    }
    show_few(&reel, &off, starts);
    want_reel(&want, &reel, 0, starts[FEW]);
    for (size_t i = RIGS; i--;) {
        drain_all(&rigs[i], &reel);
        assert_got(&rigs[i], &want);
        tear_down(&rigs[i]);
    }
    reel_release(&reel);
}

static void
without_a_subscription_only_own_frames_come(void **state)
{
    (void)state;
    struct rig rig;
    struct reel reel = { 0 };
    AUTO(buf) want = { 0 };
    uint64_t off = 0, starts[FEW + 1];
    set_up(&rig, CONN_IPC);
    show_few(&reel, &off, starts);
    reel_forget(&reel, starts[FEW]);
    show_few(&reel, &off, starts);
    assert_false(conn_has_waiting(&rig.conn, &reel));
    assert_int_equal(conn_send_text(&rig.conn, IPC_REFUSED, "no"), 0);
    assert_true(conn_has_waiting(&rig.conn, &reel));
    assert_int_equal(conn_behind(&rig.conn, &reel), 0);
    drain_all(&rig, &reel);
    want_frame(&want, (struct ipc_message){ .selector = IPC_REFUSED,
                                            .bytes = { (const uint8_t *)"no", 2 } });
    assert_got(&rig, &want);
    assert_false(conn_has_waiting(&rig.conn, &reel));
    tear_down(&rig);
    reel_release(&reel);
}

static void
nothing_of_the_reel_comes_to_one_that_must_wait(void **state)
{
    (void)state;
    for (int i = 0; i < 3; i++) {
        struct rig rig;
        struct reel reel = { 0 };
        uint64_t off = 0;
        set_up_subscriber(&rig, &reel);
        if (i == 0)
            conn_skip(&rig.conn, &reel);
        rig.conn.is_paused = i == 1;
        rig.conn.awaits_picture = i == 2;
        show(&reel, &off, 100);
        assert_false(conn_has_waiting(&rig.conn, &reel));
        assert_int_equal(conn_behind(&rig.conn, &reel), 0);
        conn_send(&rig.conn, &(struct ipc_message){ .selector = IPC_TAKEN });
        drain_all(&rig, &reel);
        check_frames(&rig);
        assert_int_equal(rig.next_taken, 1);
        assert_int_equal(rig.outputs, 0);
        tear_down(&rig);
        reel_release(&reel);
    }
}

/* Where the reel's frame that holds the byte before pos ends; starts[0] is 0. */
static uint64_t
whole_frames(const uint64_t starts[FEW + 1], uint64_t pos)
{
    size_t i = 0;
    while (i < FEW && starts[i] < pos)
        i++;
    return starts[i];
}

static void
own_frames_go_out_at_the_next_end_of_a_frame(void **state)
{
    (void)state;
    struct reel reel = { 0 };
    uint64_t off = 0, starts[FEW + 1];
    show_few(&reel, &off, starts);
    for (size_t cut = 0; cut <= starts[FEW]; cut++)
        for (size_t step = 1; step < 60; step += 7) {
            struct rig rig;
            AUTO(buf) want = { 0 };
            uint64_t whole = whole_frames(starts, cut);
            set_up_subscriber(&rig, &reel);
            flush_bytes(&rig, &reel, cut);
            struct ipc_message first = taken(1), second = taken(2);
            conn_send(&rig.conn, &first);
            conn_send(&rig.conn, &second);
            while (conn_has_waiting(&rig.conn, &reel))
                flush_bytes(&rig, &reel, step);
            drain_all(&rig, &reel);
            want_reel(&want, &reel, 0, whole);
            want_frame(&want, first);
            want_frame(&want, second);
            want_reel(&want, &reel, whole, starts[FEW]);
            assert_got(&rig, &want);
            tear_down(&rig);
        }
    reel_release(&reel);
}

/* -- skipping -- */

/* Is cut behind `cut` bytes of an own frame and the reel, then skipped; the reel forgets
 * all, goes on, and so does the connection. Frames stay whole, and only what was not
 * begun is missing. */
static void
skip_behind(size_t cut, size_t step, bool is_at_once)
{
    struct rig rig;
    struct reel reel = { 0 };
    AUTO(buf) want = { 0 };
    uint64_t off = 0, starts[FEW + 1];
    show_few(&reel, &off, starts);
    set_up_subscriber(&rig, &reel);
    struct ipc_message first = taken(1), second = taken(2), third = taken(3);
    conn_send(&rig.conn, &first);
    want_frame(&want, first);
    if (cut > want.n)
        want_reel(&want, &reel, 0, whole_frames(starts, cut - want.n));
    flush_bytes(&rig, &reel, cut);
    conn_send(&rig.conn, &second);
    want_frame(&want, second);
    if (is_at_once)
        conn_rejoin(&rig.conn, &reel);
    else
        conn_skip(&rig.conn, &reel);
    assert_int_equal(rig.conn.is_skipping, !is_at_once);
    reel_forget(&reel, reel_end(&reel));
    if (!is_at_once) {
        show(&reel, &off, 11); /* nobody sees these */
        conn_send(&rig.conn, &third);
        want_frame(&want, third);
        flush_bytes(&rig, &reel, step);
        conn_rejoin(&rig.conn, &reel);
        reel_forget(&reel, reel_end(&reel));
    }
    struct ipc_message from = skipped(off);
    conn_send(&rig.conn, &from);
    want_frame(&want, from);
    uint64_t again = reel_end(&reel);
    show_few(&reel, &off, starts);
    want_reel(&want, &reel, again, reel_end(&reel));
    while (conn_has_waiting(&rig.conn, &reel))
        flush_bytes(&rig, &reel, step);
    drain_all(&rig, &reel);
    assert_got(&rig, &want);
    tear_down(&rig);
    reel_release(&reel);
}

static void
skipping_behind_any_byte_keeps_frames_whole(void **state)
{
    (void)state;
    for (size_t cut = 0; cut <= 110; cut++)
        for (size_t step = 1; step < 60; step += 7) {
            skip_behind(cut, step, false);
            skip_behind(cut, step, true);
        }
}

/* Two times in one frame: its rest stays before all else. */
static void
skipping_again_keeps_the_rest_of_a_frame(void **state)
{
    (void)state;
    struct reel reel = { 0 };
    uint64_t off = 0;
    show(&reel, &off, 30);
    for (size_t cut = 1; cut < reel.b.n; cut++)
        for (size_t more = 0; cut + more < reel.b.n; more++) {
            struct rig rig;
            AUTO(buf) want = { 0 };
            struct ipc_message from = skipped(off), own = taken(1);
            set_up_subscriber(&rig, &reel);
            flush_bytes(&rig, &reel, cut);
            conn_skip(&rig.conn, &reel);
            flush_bytes(&rig, &reel, more);
            conn_send(&rig.conn, &own);
            conn_rejoin(&rig.conn, &reel);
            conn_skip(&rig.conn, &reel);
            conn_rejoin(&rig.conn, &reel);
            conn_send(&rig.conn, &from);
            drain_all(&rig, &reel);
            want_reel(&want, &reel, 0, reel_end(&reel));
            want_frame(&want, own);
            want_frame(&want, from);
            assert_got(&rig, &want);
            tear_down(&rig);
        }
    reel_release(&reel);
}

/* 64 MiB to one that reads nothing: what is kept stays small, and what it reads at last
 * is whole. */
static void
a_flood_costs_no_more_than_the_reel(void **state)
{
    (void)state;
    struct rig rig;
    struct reel reel = { 0 };
    uint64_t off = 0, start;
    set_up_subscriber(&rig, &reel);
    while (off < 64 << 20) {
        show(&reel, &off, 60000);
        conn_flush(&rig.conn, &reel);
        start = reel_wanted_start(&reel);
        if (start == reel.start)
            continue;
        if (!rig.conn.is_skipping)
            conn_skip(&rig.conn, &reel);
        reel_forget(&reel, start);
    }
    assert_true(rig.conn.is_skipping);
    assert_true(rig.conn.own.n < 1 << 16);
    assert_true(reel.b.cap < 8 << 20);
    conn_rejoin(&rig.conn, &reel);
    struct ipc_message from = skipped(off);
    conn_send(&rig.conn, &from);
    show(&reel, &off, 5000);
    drain_all(&rig, &reel);
    check_frames(&rig);
    assert_int_equal(rig.got.n, 0);
    assert_int_equal(rig.skips, 1);
    assert_true(rig.outputs > 1);
    assert_int_equal(rig.next_off, off);
    tear_down(&rig);
    reel_release(&reel);
}

/* -- anything, in any order -- */

enum { CROWD = 5 };

struct crowd {
    struct reel reel;
    uint64_t off;
    uint32_t seed;
    struct rig rigs[CROWD];
    uint64_t sent[CROWD]; /* own frames */
};

static void
tell_skipped(struct crowd *w, struct rig *rig)
{
    struct ipc_message from = skipped(w->off);
    conn_rejoin(&rig->conn, &w->reel);
    rig->conn.is_paused = false;
    assert_int_equal(conn_send(&rig->conn, &from), 0);
}

/* As the host does: whoever is behind what is forgotten is skipped. */
static void
forget_to(struct crowd *w, uint64_t pos)
{
    for (size_t i = 0; i < CROWD; i++) {
        struct conn *c = &w->rigs[i].conn;
        if (c->frame_at < pos && !c->is_paused && !c->is_skipping)
            conn_skip(c, &w->reel);
    }
    reel_forget(&w->reel, pos);
}

static void
forget_some(struct crowd *w)
{
    uint64_t pos = w->reel.start;
    for (uint32_t n = rng_below(&w->seed, 12); n && pos < reel_end(&w->reel); n--)
        pos = reel_frame_end(&w->reel, pos);
    forget_to(w, pos);
}

static void
show_some(struct crowd *w)
{
    static const uint32_t sizes[] = { 1, 40, 3000, IPC_MESSAGE_BYTES_MAX };
    if (rng_below(&w->seed, 8) == 0)
        put(&w->reel, trouble("the disk is full"));
    else
        show(&w->reel, &w->off, rng_between(&w->seed, 1, sizes[rng_below(&w->seed, 4)]));
}

static void
do_something(struct crowd *w, size_t i)
{
    struct rig *rig = &w->rigs[i];
    struct conn *c = &rig->conn;
    struct ipc_message own = taken(w->sent[i]);
    switch (rng_below(&w->seed, 24)) {
    case 0:
        if (!c->is_paused)
            conn_skip(c, &w->reel);
        break;
    case 1:
        conn_rejoin(c, &w->reel);
        c->is_paused = true;
        break;
    case 2:
    case 3:
        if (c->is_skipping || c->is_paused)
            tell_skipped(w, rig);
        break;
    case 4:
    case 5:
        assert_int_equal(conn_send(c, &own), 0);
        w->sent[i]++;
        break;
    default:
        peer_reads(rig, rng_between(&w->seed, 1, rng_below(&w->seed, 2) ? 100 : 20000));
        check_frames(rig);
    }
    if (rng_below(&w->seed, 3) == 0)
        send_allowance = rng_below(&w->seed, 300);
    conn_flush(c, &w->reel);
    send_allowance = SIZE_MAX;
}

static void
crowd_begins(struct crowd *w, uint32_t seed)
{
    *w = (struct crowd){ .seed = rng_seed(seed) };
    for (size_t i = 0; i < CROWD; i++) {
        int size = (int)rng_between(&w->seed, 1, 30000);
        set_up_subscriber(&w->rigs[i], &w->reel);
        setsockopt(w->rigs[i].conn.fd, SOL_SOCKET, SO_SNDBUF, &size, sizeof(size));
    }
}

/* Everyone has read all that it was to have, and nothing half. */
static void
crowd_ends(struct crowd *w)
{
    for (size_t i = 0; i < CROWD; i++) {
        struct rig *rig = &w->rigs[i];
        if (rig->conn.is_skipping || rig->conn.is_paused)
            tell_skipped(w, rig);
        drain_all(rig, &w->reel);
        check_frames(rig);
        assert_int_equal(rig->got.n, 0);
        assert_int_equal(rig->next_off, w->off);
        assert_int_equal(rig->next_taken, w->sent[i]);
        tear_down(rig);
    }
    reel_release(&w->reel);
}

static void
whatever_happens_frames_are_whole_and_in_order(void **state)
{
    (void)state;
    for (uint32_t seed = 1; seed <= 60; seed++) {
        struct crowd w;
        crowd_begins(&w, seed);
        for (int i = 0; i < 1500; i++) {
            if (rng_below(&w.seed, 3) == 0)
                show_some(&w);
            if (rng_below(&w.seed, 30) == 0)
                forget_some(&w);
            do_something(&w, rng_below(&w.seed, CROWD));
        }
        crowd_ends(&w);
    }
}

/* -- who takes nothing, and who is gone -- */

static void
one_that_takes_nothing_is_known_until_it_does(void **state)
{
    (void)state;
    struct rig rig;
    struct reel reel = { 0 };
    uint64_t off = 0;
    set_up_subscriber(&rig, &reel);
    flush_bytes(&rig, &reel, 0);
    assert_int_equal(rig.conn.stuck_ns, 0); /* there was nothing to take */
    show(&reel, &off, 100);
    flush_bytes(&rig, &reel, 0);
    uint64_t since_ns = rig.conn.stuck_ns;
    assert_true(since_ns > 0);
    flush_bytes(&rig, &reel, 0);
    assert_int_equal(rig.conn.stuck_ns, since_ns);
    flush_bytes(&rig, &reel, 1);
    assert_int_equal(rig.conn.stuck_ns, 0);
    tear_down(&rig);
    reel_release(&reel);
}

static void
one_that_is_gone_has_nothing_waiting(void **state)
{
    (void)state;
    struct rig rig;
    struct reel reel = { 0 };
    struct ipc_message own = taken(1);
    uint64_t off = 0;
    set_up_subscriber(&rig, &reel);
    close(rig.peer);
    rig.peer = -1;
    show(&reel, &off, 65000);
    conn_send(&rig.conn, &own);
    assert_true(conn_has_own(&rig.conn));
    conn_flush(&rig.conn, &reel); /* no SIGPIPE */
    assert_true(rig.conn.is_broken);
    assert_false(conn_has_own(&rig.conn));
    assert_false(conn_has_waiting(&rig.conn, &reel));
    /* … but what it was not shown is known. */
    assert_true(conn_behind(&rig.conn, &reel) > 0);
    assert_int_equal(reel_output_from(&reel, rig.conn.frame_at, off), 0);
    tear_down(&rig);
    reel_release(&reel);
}

/* Own frames have a ceiling. What was sent before it is whole, and its end is read. */
static void
one_that_lets_too_much_wait_is_given_up(void **state)
{
    (void)state;
    static const struct {
        enum conn_kind kind;
        size_t max;
    } cases[] = { { CONN_CTL, 64 << 20 }, { CONN_IPC, 1 << 20 } }; /* no pictures there */
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        struct rig rig;
        struct reel reel = { 0 };
        struct ipc_message m = output_at(0, 60000), request;
        size_t n = 0;
        set_up(&rig, cases[i].kind);
        m.selector = IPC_PICTURE;
        while (!conn_send(&rig.conn, &m)) {
            n += 60000;
            assert_true(n <= cases[i].max);
        }
        assert_true(n > cases[i].max - 120000);
        assert_true(rig.conn.is_broken);
        assert_false(conn_has_waiting(&rig.conn, &reel));
        assert_int_equal(conn_next(&rig.conn, &request), -ECONNRESET);
        tear_down(&rig);
    }
}

/* -- receiving -- */

static void
messages_are_read_however_they_are_cut(void **state)
{
    (void)state;
    struct rig rig;
    struct ipc_message m;
    AUTO(buf) bytes = { 0 };
    set_up(&rig, CONN_LINK);
    for (uint64_t i = 0; i < 50; i++)
        ipc_message_put(
            &bytes,
            &(struct ipc_message){ .selector = IPC_RESIZE, .field = { i + 1, 24 } },
            IPC_TO_HOST);
    uint64_t next = 1;
    for (size_t at = 0; at < bytes.n; at++) {
        assert_int_equal(send(rig.peer, bytes.p + at, 1, 0), 1);
        int r = conn_next(&rig.conn, &m);
        assert_true(r >= 0);
        if (r)
            assert_int_equal(m.field[0], next++);
    }
    assert_int_equal(next, 51);
    close(rig.peer);
    rig.peer = -1;
    assert_int_equal(conn_next(&rig.conn, &m), -ECONNRESET);
    tear_down(&rig);
}

/* The longest ones, between short ones, in pieces of any size. */
static void
long_messages_come_whole(void **state)
{
    (void)state;
    struct rig rig;
    struct ipc_message m;
    AUTO(buf) bytes = { 0 };
    uint32_t seed = rng_seed(9);
    set_up(&rig, CONN_CTL);
    for (uint64_t i = 0; i < 40; i++) {
        struct ipc_message put = output_at(i, i % 2 ? IPC_MESSAGE_BYTES_MAX : 3);
        put.selector = IPC_INPUT;
        ipc_message_put(&bytes, &put, IPC_TO_HOST);
    }
    uint64_t next = 0;
    for (size_t at = 0; at < bytes.n || next < 40;) {
        size_t n = rng_between(&seed, 0, 50000);
        n = n < bytes.n - at ? n : bytes.n - at;
        ssize_t sent = n ? send(rig.peer, bytes.p + at, n, MSG_DONTWAIT) : 0;
        at += sent > 0 ? (size_t)sent : 0;
        for (int r; (r = conn_next(&rig.conn, &m)) != 0; next++) {
            assert_int_equal(r, 1);
            assert_int_equal(m.bytes.n, next % 2 ? IPC_MESSAGE_BYTES_MAX : 3);
            for (size_t i = 0; i < m.bytes.n; i++)
                if (m.bytes.p[i] != byte_at(next + i))
                    fail_msg("wrong byte in message %zu", (size_t)next);
        }
    }
    tear_down(&rig);
}

static void
what_is_no_message_is_told_from_the_end(void **state)
{
    (void)state;
    static const struct {
        const char *bytes;
        size_t n;
        int want;
    } cases[] = {
        { "", 0, -ECONNRESET },
        { "\5\0\0\0\22\120", 6, -ECONNRESET }, /* a message's beginning */
        { "\0\0\0\0", 4, -EPROTO },
        { "GET / HTTP/1.1", 14, -EPROTO },
        { "\1\0\0\0\377", 5, -EPROTO }, /* no such selector */
        { "\1\0\0\0\100", 5, -EPROTO }, /* one that only clients are sent */
    };
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        struct rig rig;
        struct ipc_message m;
        set_up(&rig, CONN_IPC);
        assert_int_equal(conn_next(&rig.conn, &m), 0);
        send(rig.peer, cases[i].bytes, cases[i].n, 0);
        shutdown(rig.peer, SHUT_WR);
        assert_int_equal(conn_next(&rig.conn, &m), cases[i].want);
        tear_down(&rig);
    }
}

int
main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(positions_stay_when_the_reel_forgets),
        cmocka_unit_test(the_first_output_from_a_frame_on_is_found),
        cmocka_unit_test(a_long_reel_wants_to_forget_whole_frames),
        cmocka_unit_test(a_slow_reader_gets_every_byte),
        cmocka_unit_test(connections_go_on_each_from_its_place),
        cmocka_unit_test(without_a_subscription_only_own_frames_come),
        cmocka_unit_test(nothing_of_the_reel_comes_to_one_that_must_wait),
        cmocka_unit_test(own_frames_go_out_at_the_next_end_of_a_frame),
        cmocka_unit_test(skipping_behind_any_byte_keeps_frames_whole),
        cmocka_unit_test(skipping_again_keeps_the_rest_of_a_frame),
        cmocka_unit_test(a_flood_costs_no_more_than_the_reel),
        cmocka_unit_test(whatever_happens_frames_are_whole_and_in_order),
        cmocka_unit_test(one_that_takes_nothing_is_known_until_it_does),
        cmocka_unit_test(one_that_is_gone_has_nothing_waiting),
        cmocka_unit_test(one_that_lets_too_much_wait_is_given_up),
        cmocka_unit_test(messages_are_read_however_they_are_cut),
        cmocka_unit_test(long_messages_come_whole),
        cmocka_unit_test(what_is_no_message_is_told_from_the_end),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
