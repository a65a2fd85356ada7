/* SPDX-License-Identifier: MIT */
/* ask_test.c -- questions to recorders that answer well, late, badly or not at all; and
 * typing. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/file.h"
#include "base/le.h"
#include "client/ask.h"
#include "client/typing.h"
#include "ipc/socket.h"
#include "term/term.h"

/* A recorder is a process with one end of a connection; true: all was as it should be. */
typedef bool (*recorder_fn)(int fd);

struct rig {
    struct client_ask ask;
    pid_t pid;
};

static pid_t
fork_recorder(recorder_fn fn, int fd, int other)
{
    pid_t pid = fork();
    assert_true(pid >= 0);
    if (pid)
        return pid;
    close(other);
    _exit(fn(fd) ? 0 : 1);
}

static struct rig
set_up(recorder_fn fn)
{
    int ends[2];
    assert_int_equal(socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends), 0);
    pid_t pid = fork_recorder(fn, ends[1], ends[0]);
    close(ends[1]);
    return (struct rig){ .ask = { .fd = ends[0] }, .pid = pid };
}

static void
tear_down(struct rig *rig)
{
    int status;
    client_ask_close(&rig->ask);
    assert_int_equal(waitpid(rig->pid, &status, 0), rig->pid);
    assert_true(WIFEXITED(status) && WEXITSTATUS(status) == 0);
}

/* -- what recorders are made of -- */

static bool
read_exactly(int fd, uint8_t *p, size_t n)
{
    while (n) {
        ssize_t got = file_read(fd, p, n);
        if (got <= 0)
            return false;
        p += got;
        n -= (size_t)got;
    }
    return true;
}

/* The next request; its bytes lie in `in`. */
static bool
hear(int fd, struct buf *in, struct ipc_message *ret)
{
    uint8_t head[IPC_FRAME_HEAD];
    struct ipc_frame frame;
    buf_clear(in);
    if (!read_exactly(fd, head, sizeof(head)) || get_le32(head) > IPC_FRAME_MAX)
        return false;
    uint8_t *p = buf_grow(in, sizeof(head) + get_le32(head));
    memcpy(p, head, sizeof(head));
    return read_exactly(fd, p + sizeof(head), get_le32(head)) &&
           ipc_frame_get((struct view){ in->p, in->n }, &frame) > 0 &&
           ipc_message_get(ret, &frame, IPC_TO_HOST) == 0;
}

static bool
hear_selector(int fd, uint8_t selector)
{
    AUTO(buf) in = { 0 };
    struct ipc_message m;
    return hear(fd, &in, &m) && m.selector == selector;
}

static bool
answer(int fd, struct ipc_message m)
{
    AUTO(buf) out = { 0 };
    return ipc_message_put(&out, &m, IPC_TO_CLIENT) == 0 &&
           file_write_all(fd, out.p, out.n) == 0;
}

static bool
answer_text(int fd, uint8_t selector, const char *text)
{
    return answer(
        fd, (struct ipc_message){ .selector = selector,
                                  .bytes = { (const uint8_t *)text, strlen(text) } });
}

static bool
peer_hangs_up(int fd)
{
    uint8_t byte;
    return file_read(fd, &byte, 1) == 0;
}

/* -- answers -- */

static const struct ipc_message anchor = { .selector = IPC_ANCHOR };
static const struct ipc_message done = { .selector = IPC_DONE,
                                         .field = { 7, 1ULL << 40, UINT64_MAX } };

static int
ask_anchor(struct rig *rig, int timeout_ms, struct ipc_message *ret, struct err *err)
{
    return client_ask(&rig->ask, &anchor, timeout_ms, ret, err);
}

static bool
answers_byte_by_byte(int fd)
{
    AUTO(buf) out = { 0 };
    ipc_message_put(&out, &done, IPC_TO_CLIENT);
    ipc_message_put(&out, &done, IPC_TO_CLIENT);
    bool is_ok = hear_selector(fd, IPC_ANCHOR);
    for (size_t i = 0; i < out.n; i++)
        is_ok = is_ok && file_write_all(fd, out.p + i, 1) == 0;
    return is_ok && peer_hangs_up(fd);
}

static void
an_answer_may_come_in_pieces(void **state)
{
    (void)state;
    struct rig rig = set_up(answers_byte_by_byte);
    struct ipc_message m;
    struct err err;
    assert_int_equal(ask_anchor(&rig, -1, &m, &err), 0);
    assert_memory_equal(m.field, done.field, sizeof(m.field));
    assert_int_equal(client_ask(&rig.ask, NULL, -1, &m, &err), 0);
    assert_memory_equal(m.field, done.field, sizeof(m.field));
    tear_down(&rig);
}

static bool
answers_all_at_once(int fd)
{
    AUTO(buf) out = { 0 };
    for (uint64_t i = 0; i < 10000; i++)
        ipc_message_put(&out,
                        &(struct ipc_message){ .selector = IPC_DONE, .field = { i } },
                        IPC_TO_CLIENT);
    return file_write_all(fd, out.p, out.n) == 0 && peer_hangs_up(fd);
}

static void
answers_that_come_together_are_told_one_by_one(void **state)
{
    (void)state;
    struct rig rig = set_up(answers_all_at_once);
    struct ipc_message m;
    struct err err;
    for (uint64_t i = 0; i < 10000; i++) {
        assert_int_equal(client_ask(&rig.ask, NULL, -1, &m, &err), 0);
        assert_int_equal(m.field[0], i);
    }
    tear_down(&rig);
}

static bool
refuses(int fd)
{
    return hear_selector(fd, IPC_ANCHOR) && answer_text(fd, IPC_REFUSED, "not you") &&
           shutdown(fd, SHUT_RDWR) == 0;
}

static void
a_refusal_is_an_error_with_the_reason(void **state)
{
    (void)state;
    struct rig rig = set_up(refuses);
    struct ipc_message m;
    struct err err;
    assert_int_equal(ask_anchor(&rig, -1, &m, &err), -EPERM);
    assert_string_equal(err.text, "not you");
    tear_down(&rig);
}

static bool
refuses_unasked(int fd)
{
    return answer_text(fd, IPC_REFUSED, "too many");
}

static void
one_that_has_hung_up_has_said_why(void **state)
{
    (void)state;
    struct rig rig = set_up(refuses_unasked);
    struct ipc_message m;
    struct err err;
    int status;
    assert_int_equal(waitpid(rig.pid, &status, 0), rig.pid);
    assert_int_equal(ask_anchor(&rig, -1, &m, &err), -EPERM);
    assert_string_equal(err.text, "too many");
    client_ask_close(&rig.ask);
    assert_int_equal(status, 0);
}

static void
silence_ends_in_time(void **state)
{
    (void)state;
    struct rig rig = set_up(peer_hangs_up);
    struct ipc_message m;
    struct err err;
    uint64_t before = clock_mono_ns();
    assert_int_equal(client_ask(&rig.ask, NULL, 30, &m, &err), -ETIMEDOUT);
    assert_true(clock_mono_ns() - before >= 30000000);
    assert_int_equal(client_ask(&rig.ask, NULL, 0, &m, &err), -ETIMEDOUT);
    assert_non_null(strstr(err.text, "does not answer"));
    tear_down(&rig);
}

static bool
says_half(int fd)
{
    return hear_selector(fd, IPC_ANCHOR) && file_write_all(fd, "\x19\0\0\0\0", 5) == 0;
}

static void
half_an_answer_is_none(void **state)
{
    (void)state;
    struct rig rig = set_up(says_half);
    struct ipc_message m;
    struct err err;
    assert_int_equal(ask_anchor(&rig, -1, &m, &err), -ECONNRESET);
    assert_non_null(strstr(err.text, "closed the connection"));
    tear_down(&rig);
}

static bool
takes_nothing(int fd)
{
    (void)!poll(&(struct pollfd){ .fd = fd, .events = POLLRDHUP }, 1, -1);
    return true;
}

static void
one_that_does_not_read_is_not_waited_for(void **state)
{
    (void)state;
    struct rig rig = set_up(takes_nothing);
    static uint8_t bytes[IPC_MESSAGE_BYTES_MAX];
    struct ipc_message m,
        input = { .selector = IPC_INPUT, .bytes = { bytes, sizeof(bytes) } };
    struct err err;
    int r = 0;
    for (int i = 0; i < 1000 && !r; i++)
        r = client_ask_send(&rig.ask, &input, 10, &err);
    assert_int_equal(r, -ETIMEDOUT);
    assert_int_equal(ask_anchor(&rig, 10, &m, &err), -ETIMEDOUT);
    tear_down(&rig);
}

/* -- what is no answer -- */

static bool
says_garbage(int fd)
{
    static const uint8_t frames[][8] = {
        { 0xff, 0xff, 0xff, 0xff, 0, 0, 0, 0 }, /* 4 GiB */
        { 0, 0, 0, 0, 0, 0, 0, 0 },             /* nothing */
        { 4, 0, 0, 0, 250, 0, 0, 0 },           /* no such selector */
        { 4, 0, 0, 0, IPC_DONE, 0, 0, 0 },      /* too short for what it is */
        { 4, 0, 0, 0, IPC_TROUBLE, 0, 0, 0 },   /* no offset */
    };
    uint8_t number;
    return read_exactly(fd, &number, 1) &&
           file_write_all(fd, frames[number], sizeof(frames[number])) == 0 &&
           peer_hangs_up(fd);
}

static void
garbage_is_called_so(void **state)
{
    (void)state;
    for (uint8_t i = 0; i < 5; i++) {
        struct rig rig = set_up(says_garbage);
        struct ipc_message m;
        struct err err;
        assert_int_equal(file_write_all(rig.ask.fd, &i, 1), 0);
        assert_int_equal(client_ask(&rig.ask, NULL, -1, &m, &err), -EPROTO);
        assert_non_null(strstr(err.text, "makes no sense"));
        tear_down(&rig);
    }
}

/* -- addresses -- */

static int
accept_one(int listen_fd)
{
    int fd = -EAGAIN;
    while (fd == -EAGAIN) {
        (void)!poll(&(struct pollfd){ .fd = listen_fd, .events = POLLIN }, 1, -1);
        fd = ipc_accept(listen_fd);
    }
    return fd;
}

static bool
wants_a_token(int listen_fd)
{
    AUTO(buf) in = { 0 };
    struct ipc_message m;
    int fd = accept_one(listen_fd);
    if (fd < 0 || fcntl(fd, F_SETFL, 0) < 0) /* it need not wait for others here */
        return false;
    return hear(fd, &in, &m) && m.selector == IPC_AUTH && m.bytes.n == 6 &&
           !memcmp(m.bytes.p, "c0ffee", 6) && hear_selector(fd, IPC_ANCHOR) &&
           answer(fd, done);
}

static void
over_tcp_the_token_comes_first(void **state)
{
    (void)state;
    struct ipc_address at;
    struct client_ask ask;
    struct ipc_message m;
    struct err err;
    uint16_t port;
    char text[64];
    int status;
    assert_int_equal(ipc_address_parse(&at, "tcp:127.0.0.1:0", &err), 0);
    int fd = ipc_listen_tcp(&at, &port, &err);
    assert_true(fd >= 0);
    pid_t pid = fork_recorder(wants_a_token, fd, -1);
    snprintf(text, sizeof(text), "tcp:127.0.0.1:%u", port);
    assert_int_equal(client_ask_open(&ask, text, "c0ffee", &err), 0);
    assert_int_equal(client_ask(&ask, &anchor, -1, &m, &err), 0);
    assert_int_equal(m.field[0], 7);
    client_ask_close(&ask);
    assert_int_equal(waitpid(pid, &status, 0), pid);
    assert_int_equal(status, 0);
    close(fd);
}

static void
where_nobody_listens_nothing_is_found(void **state)
{
    (void)state;
    struct client_ask ask;
    struct err err;
    assert_int_equal(client_ask_open(&ask, "/nowhere/ctl.sock", NULL, &err), ERR_MISSING);
    assert_int_equal(client_ask_open(&ask, "tcp:192.0.2.1:80", NULL, &err), ERR_USAGE);
}

/* -- the screen -- */

static bool
shows_in_pieces(int fd)
{
    AUTO(buf) in = { 0 };
    AUTO(buf) picture = { 0 };
    struct ipc_message m;
    struct term_options opt = term_options_default();
    struct term *t = term_new(&opt);
    term_feed(t, "\033[?1h\033[2;3Hhi", 13, 0);
    bool is_ok = hear(fd, &in, &m) && m.selector == IPC_SUBSCRIBE && m.field[0] == 0 &&
                 m.field[2] == (IPC_SUB_WATCH | IPC_SUB_PICTURE) &&
                 term_snapshot(t, true, &picture) == 0;
    term_free(t);
    is_ok = is_ok && answer(fd, (struct ipc_message){ .selector = IPC_JOINED }) &&
            answer(fd, (struct ipc_message){ .selector = IPC_STAGE });
    for (size_t i = 0; is_ok && i < picture.n; i += 7) {
        size_t n = picture.n - i < 7 ? picture.n - i : 7;
        is_ok = answer(fd, (struct ipc_message){ .selector = IPC_PICTURE,
                                                 .field = { 13, i + n == picture.n },
                                                 .bytes = { picture.p + i, n } });
    }
    return is_ok && peer_hangs_up(fd);
}

static void
the_screen_comes_in_pieces(void **state)
{
    (void)state;
    struct rig rig = set_up(shows_in_pieces);
    struct term *t;
    struct err err;
    assert_int_equal(client_ask_screen(&rig.ask, &t, &err), 0);
    assert_true(term_modes(t).app_cursor_keys);
    struct term_cell cell;
    term_cell_at(t, 1, 2, &cell);
    assert_memory_equal(cell.text.p, "h", 1);
    term_free(t);
    tear_down(&rig);
}

static bool
has_no_picture(int fd)
{
    return hear_selector(fd, IPC_SUBSCRIBE) &&
           answer(fd, (struct ipc_message){ .selector = IPC_JOINED }) &&
           answer(fd, (struct ipc_message){ .selector = IPC_PICTURE,
                                            .bytes = { (const uint8_t *)"half", 4 } }) &&
           answer(fd, (struct ipc_message){ .selector = IPC_SKIPPED }) &&
           peer_hangs_up(fd);
}

static void
half_a_picture_is_none(void **state)
{
    (void)state;
    struct rig rig = set_up(has_no_picture);
    struct term *t;
    struct err err;
    assert_int_equal(client_ask_screen(&rig.ask, &t, &err), -ENODATA);
    tear_down(&rig);
}

/* -- typing -- */

enum { LONG = 300000 };

/* Never lets more than the window wait, and sees every byte in order. */
static bool
takes_a_long_text(int fd)
{
    AUTO(buf) in = { 0 };
    struct ipc_message m;
    size_t seen = 0, waiting = 0;
    while (seen < LONG) {
        if (!hear(fd, &in, &m) || m.selector != IPC_INPUT)
            return false;
        for (size_t i = 0; i < m.bytes.n; i++)
            if (m.bytes.p[i] != (uint8_t)((seen + i) % 251))
                return false;
        seen += m.bytes.n;
        waiting += m.bytes.n;
        if (waiting > 64 << 10)
            return false;
        if (waiting > 40000 || seen == LONG) {
            answer(fd,
                   (struct ipc_message){ .selector = IPC_TAKEN, .field = { waiting } });
            waiting = 0;
        }
    }
    return peer_hangs_up(fd);
}

static void
a_long_text_goes_as_fast_as_it_is_taken(void **state)
{
    (void)state;
    struct rig rig = set_up(takes_a_long_text);
    struct client_typing typing = { .ask = &rig.ask };
    struct err err;
    uint8_t *text = malloc(LONG);
    for (size_t i = 0; i < LONG; i++)
        text[i] = (uint8_t)(i % 251);
    assert_int_equal(client_type(&typing, (struct view){ text, LONG }, &err), 0);
    assert_int_equal(typing.waiting, 0);
    assert_false(typing.is_stuck);
    free(text);
    tear_down(&rig);
}

/* The second comes a moment after the first has been taken, not before. */
static bool
takes_pieces_apart(int fd)
{
    AUTO(buf) in = { 0 };
    struct ipc_message m, taken = { .selector = IPC_TAKEN, .field = { 1 } };
    if (!hear(fd, &in, &m) || m.bytes.n != 1 || m.bytes.p[0] != 'a')
        return false;
    uint64_t taken_ns = clock_mono_ns();
    if (!answer(fd, taken) || !hear(fd, &in, &m) || m.bytes.n != 1 ||
        m.bytes.p[0] != '\r' || clock_mono_ns() - taken_ns < 100000000)
        return false;
    return answer(fd, taken) && peer_hangs_up(fd);
}

static void
keys_come_one_by_one(void **state)
{
    (void)state;
    struct rig rig = set_up(takes_pieces_apart);
    struct client_typing typing = { .ask = &rig.ask };
    struct err err;
    for (int i = 0; i < 2; i++)
        assert_int_equal(
            client_type(&typing, (struct view){ (const uint8_t *)"a\r" + i, 1 }, &err),
            0);
    tear_down(&rig);
}

static bool
is_told_to_go(int fd)
{
    return hear_selector(fd, IPC_INPUT) &&
           answer_text(fd, IPC_REFUSED, "not from inside of the session");
}

static void
typing_may_be_refused(void **state)
{
    (void)state;
    struct rig rig = set_up(is_told_to_go);
    struct client_typing typing = { .ask = &rig.ask };
    struct err err;
    struct view y = { (const uint8_t *)"y", 1 };
    assert_int_equal(client_type(&typing, y, &err), -EPERM);
    assert_string_equal(err.text, "not from inside of the session");
    tear_down(&rig);
}

static bool
reads_and_says_nothing(int fd)
{
    uint8_t bytes[4096];
    while (file_read(fd, bytes, sizeof(bytes)) > 0)
        ;
    return true;
}

static void
what_is_not_taken_waits_in_the_recorder(void **state)
{
    (void)state;
    struct rig rig = set_up(reads_and_says_nothing);
    /* as after five seconds of waiting */
    struct client_typing typing = { .ask = &rig.ask, .is_stuck = true };
    struct err err;
    static uint8_t bytes[64 << 10];
    struct view all = { bytes, sizeof(bytes) }, one = { bytes, 1 };
    assert_int_equal(client_type(&typing, all, &err), 0);
    assert_true(typing.is_stuck);
    assert_int_equal(client_type(&typing, one, &err), -ETIMEDOUT);
    assert_non_null(strstr(err.text, "0 of 1 bytes"));
    tear_down(&rig);
}

int
main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(an_answer_may_come_in_pieces),
        cmocka_unit_test(answers_that_come_together_are_told_one_by_one),
        cmocka_unit_test(a_refusal_is_an_error_with_the_reason),
        cmocka_unit_test(one_that_has_hung_up_has_said_why),
        cmocka_unit_test(silence_ends_in_time),
        cmocka_unit_test(half_an_answer_is_none),
        cmocka_unit_test(one_that_does_not_read_is_not_waited_for),
        cmocka_unit_test(garbage_is_called_so),
        cmocka_unit_test(over_tcp_the_token_comes_first),
        cmocka_unit_test(where_nobody_listens_nothing_is_found),
        cmocka_unit_test(the_screen_comes_in_pieces),
        cmocka_unit_test(half_a_picture_is_none),
        cmocka_unit_test(a_long_text_goes_as_fast_as_it_is_taken),
        cmocka_unit_test(keys_come_one_by_one),
        cmocka_unit_test(typing_may_be_refused),
        cmocka_unit_test(what_is_not_taken_waits_in_the_recorder),
    };
    return cmocka_run_group_tests_name("ask", tests, NULL, NULL);
}
