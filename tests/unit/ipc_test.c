/* SPDX-License-Identifier: MIT */
/* ipc_test.c -- frames and messages, and the host's end of a link to a client that reads
 * slowly or not at all. */
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

/* -- codec -- */

static void
an_input_has_these_bytes(void **state)
{
    (void)state;
    static const uint8_t want[] = { 7, 0, 0, 0, IPC_INPUT, 4, 0, 0, 0, 'h', 'i' };
    AUTO(buf) out = { 0 };
    struct ipc_message m = { .selector = IPC_INPUT,
                             .bytes = { (const uint8_t *)"hi", 2 } };
    assert_int_equal(ipc_message_put(&out, &m, IPC_TO_HOST), 0);
    assert_int_equal(out.n, sizeof(want));
    assert_memory_equal(out.p, want, sizeof(want));
}

static void
numbers_come_back_whole(void **state)
{
    (void)state;
    AUTO(buf) out = { 0 };
    struct ipc_message back, m = { .selector = IPC_ENDED,
                                   .field = { 1, 255, 9, UINT64_MAX, 1ULL << 40, 77, 3 },
                                   .bytes = { (const uint8_t *)"why", 3 } };
    struct ipc_frame frame;
    ipc_message_put(&out, &m, IPC_TO_CLIENT);
    assert_int_equal(ipc_frame_get((struct view){ out.p, out.n }, &frame), out.n);
    assert_int_equal(ipc_message_get(&back, &frame, IPC_TO_CLIENT), 0);
    assert_memory_equal(back.field, m.field, sizeof(m.field));
    assert_int_equal(back.bytes.n, 3);
    assert_memory_equal(back.bytes.p, "why", 3);
}

static void
a_frame_that_is_not_all_there_waits(void **state)
{
    (void)state;
    AUTO(buf) out = { 0 };
    struct ipc_frame frame;
    ipc_message_put(&out,
                    &(struct ipc_message){ .selector = IPC_RESIZE, .field = { 80, 24 } },
                    IPC_TO_HOST);
    for (size_t n = 0; n < out.n; n++)
        assert_int_equal(ipc_frame_get((struct view){ out.p, n }, &frame), 0);
}

static void
absurd_lengths_are_refused(void **state)
{
    (void)state;
    static const uint32_t lengths[] = { 0, IPC_FRAME_MAX + 1, UINT32_MAX };
    for (size_t i = 0; i < sizeof(lengths) / sizeof(lengths[0]); i++) {
        uint8_t bytes[8] = { 0 };
        struct ipc_frame frame;
        put_le32(bytes, lengths[i]);
        assert_int_equal(ipc_frame_get((struct view){ bytes, 8 }, &frame), -EPROTO);
    }
}

static void
bodies_of_another_shape_are_refused(void **state)
{
    (void)state;
    static const struct {
        uint8_t selector;
        uint8_t body[8];
        size_t n;
    } bad[] = {
        { 1, { 0 }, 0 },          { 255, { 0 }, 8 },        { IPC_RESIZE, { 0 }, 3 },
        { IPC_RESIZE, { 0 }, 5 }, { IPC_HANGUP, { 0 }, 1 }, { IPC_INPUT, { 4, 0, 0 }, 3 },
        { IPC_INPUT, { 5 }, 5 },  { IPC_STOP, { 0 }, 0 },
    };
    for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++) {
        struct ipc_frame frame = { bad[i].selector, { bad[i].body, bad[i].n } };
        struct ipc_message m;
        assert_int_equal(ipc_message_get(&m, &frame, IPC_TO_HOST), -EPROTO);
    }
}

/* -- a link -- */

struct rig {
    struct conn conn;
    int peer;
    struct buf got; /* frames that the peer has read */
};

static int
set_up(struct rig *rig, bool is_lossy)
{
    int ends[2];
    assert_int_equal(socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends), 0);
    *rig = (struct rig){ .peer = ends[1] };
    conn_init(&rig->conn, ends[0], is_lossy);
    return 0;
}

static void
tear_down(struct rig *rig)
{
    conn_close(&rig->conn);
    if (rig->peer >= 0)
        close(rig->peer);
    buf_release(&rig->got);
}

/* Reads at most `max` bytes of what is there. */
static size_t
peer_reads(struct rig *rig, size_t max)
{
    uint8_t *p = buf_grow(&rig->got, max);
    ssize_t n = recv(rig->peer, p, max, MSG_DONTWAIT);
    rig->got.n -= max - (n > 0 ? (size_t)n : 0);
    return n > 0 ? (size_t)n : 0;
}

static void
drain_all(struct rig *rig, uint64_t off)
{
    do
        conn_flush(&rig->conn, off);
    while (peer_reads(rig, 1 << 20) || conn_has_waiting(&rig->conn));
}

/* The byte of output at an offset; not periodic in any size used here. */
static uint8_t
byte_at(uint64_t off)
{
    return (uint8_t)(off * 2654435761U >> 13);
}

static void
send_output(struct rig *rig, uint64_t off, size_t n)
{
    static uint8_t bytes[256 << 10];
    for (size_t i = 0; i < n; i++)
        bytes[i] = byte_at(off + i);
    conn_send_output(&rig->conn, (struct view){ bytes, n }, off);
}

/* Checks every frame that came: output is right where it says it is. */
static void
check_frames(struct rig *rig, uint64_t *ret_shown, unsigned *ret_skips,
             unsigned *ret_troubles, uint64_t *ret_end)
{
    struct ipc_frame frame;
    struct ipc_message m;
    uint64_t next = 0, shown = 0;
    for (size_t at = 0; at < rig->got.n;) {
        ssize_t n = ipc_frame_get((struct view){ rig->got.p + at, rig->got.n - at },
                                  &frame);
        assert_true(n > 0);
        assert_int_equal(ipc_message_get(&m, &frame, IPC_TO_CLIENT), 0);
        at += (size_t)n;
        if (m.selector == IPC_OUTPUT) {
            assert_int_equal(m.field[0], next);
            for (size_t i = 0; i < m.bytes.n; i++)
                if (m.bytes.p[i] != byte_at(next + i))
                    fail_msg("wrong byte at %zu", (size_t)(next + i));
            next += m.bytes.n;
            shown += m.bytes.n;
        } else if (m.selector == IPC_SKIPPED) {
            assert_true(m.field[0] >= next);
            next = m.field[0];
            ++*ret_skips;
        } else if (m.selector == IPC_TROUBLE) {
            ++*ret_troubles;
        }
    }
    *ret_shown = shown;
    *ret_end = next;
}

static void
a_client_that_shows_no_terminal_gets_every_byte(void **state)
{
    (void)state;
    struct rig rig;
    uint64_t off = 0, shown, end;
    uint32_t seed = 3;
    unsigned skips = 0, troubles = 0;
    set_up(&rig, false);
    for (int i = 0; i < 3000; i++) {
        size_t n = rng_below(&seed, 5000);
        if (!conn_is_full(&rig.conn)) {
            send_output(&rig, off, n);
            off += n;
        }
        peer_reads(&rig, rng_below(&seed, 6000) + 1);
        conn_flush(&rig.conn, off);
    }
    drain_all(&rig, off);
    check_frames(&rig, &shown, &skips, &troubles, &end);
    assert_int_equal(shown, off);
    assert_int_equal(skips, 0);
    tear_down(&rig);
}

static void
its_queue_is_full_when_it_does_not_read(void **state)
{
    (void)state;
    struct rig rig;
    uint64_t off = 0;
    set_up(&rig, false);
    while (!conn_is_full(&rig.conn) && off < 64 << 20) {
        send_output(&rig, off, 65536);
        off += 65536;
    }
    assert_true(off < 8 << 20);
    drain_all(&rig, off);
    assert_false(conn_is_full(&rig.conn));
    tear_down(&rig);
}

static void
a_lossy_client_is_skipped_and_told_where_it_goes_on(void **state)
{
    (void)state;
    struct rig rig;
    uint64_t off = 0, shown, end;
    unsigned skips = 0, troubles = 0;
    set_up(&rig, true);
    while (!conn_is_full(&rig.conn)) {
        send_output(&rig, off, 10007);
        off += 10007;
    }
    conn_send_text(&rig.conn, IPC_TROUBLE, "the disk is full");
    conn_skip(&rig.conn);
    assert_false(conn_is_full(&rig.conn));
    for (int i = 0; i < 100; i++, off += 10007)
        send_output(&rig, off, 10007); /* nobody sees these */
    drain_all(&rig, off);
    send_output(&rig, off, 5000); /* … but these */
    off += 5000;
    drain_all(&rig, off);
    check_frames(&rig, &shown, &skips, &troubles, &end);
    assert_int_equal(skips, 1);
    assert_int_equal(troubles, 1); /* what is no output is never dropped */
    assert_int_equal(end, off);
    assert_true(shown < off);
    tear_down(&rig);
}

static void
skipping_at_any_moment_keeps_frames_whole(void **state)
{
    (void)state;
    uint32_t seed = 11;
    for (int round = 0; round < 60; round++) {
        struct rig rig;
        uint64_t off = 0, shown, end;
        unsigned skips = 0, troubles = 0;
        set_up(&rig, true);
        for (int i = 0; i < 200; i++) {
            size_t n = rng_below(&seed, 40000);
            send_output(&rig, off, n);
            off += n;
            peer_reads(&rig, rng_below(&seed, 30000) + 1);
            conn_flush(&rig.conn, off);
            if (rng_below(&seed, 20) == 0)
                conn_skip(&rig.conn);
        }
        drain_all(&rig, off);
        check_frames(&rig, &shown, &skips, &troubles, &end);
        assert_int_equal(end, off);
        tear_down(&rig);
    }
}

static void
messages_are_read_however_they_are_cut(void **state)
{
    (void)state;
    struct rig rig;
    struct ipc_message m;
    AUTO(buf) bytes = { 0 };
    set_up(&rig, false);
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

static void
a_client_that_is_gone_costs_nothing(void **state)
{
    (void)state;
    struct rig rig;
    set_up(&rig, false);
    close(rig.peer);
    rig.peer = -1;
    send_output(&rig, 0, 65536); /* no SIGPIPE */
    conn_close(&rig.conn);
    send_output(&rig, 0, 65536);
    assert_false(conn_has_waiting(&rig.conn));
    tear_down(&rig);
}

int
main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(an_input_has_these_bytes),
        cmocka_unit_test(numbers_come_back_whole),
        cmocka_unit_test(a_frame_that_is_not_all_there_waits),
        cmocka_unit_test(absurd_lengths_are_refused),
        cmocka_unit_test(bodies_of_another_shape_are_refused),
        cmocka_unit_test(a_client_that_shows_no_terminal_gets_every_byte),
        cmocka_unit_test(its_queue_is_full_when_it_does_not_read),
        cmocka_unit_test(a_lossy_client_is_skipped_and_told_where_it_goes_on),
        cmocka_unit_test(skipping_at_any_moment_keeps_frames_whole),
        cmocka_unit_test(messages_are_read_however_they_are_cut),
        cmocka_unit_test(a_client_that_is_gone_costs_nothing),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
