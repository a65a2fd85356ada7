/* SPDX-License-Identifier: MIT */
/*
 * feed_test.c -- bytes through a real PTY: what a reader gets, with buffers of any size,
 * is what was fed, and the end comes at the end.
 */
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <sched.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include <cmocka.h>

#include "pty/feed.h"
#include "support/rng.h"

enum { PATIENCE_MS = 20000 };

static const size_t reader_sizes[] = { 1, 512, 1024, 4096, 65536 };

struct terminal {
    int master_fd, slave_fd;
    struct pty_feed feed;
    struct buf waiting; /* for the master */
    size_t written;
    struct buf got; /* by the reader */
    bool has_end;
};

static void
edit_settings(struct terminal *t, void (*edit)(struct termios *))
{
    struct termios s;
    assert_int_equal(tcgetattr(t->slave_fd, &s), 0);
    edit(&s);
    assert_int_equal(tcsetattr(t->slave_fd, TCSANOW, &s), 0);
}

static void
no_echo(struct termios *s)
{
    s->c_lflag &= ~(tcflag_t)ECHO;
}

static void
terminal_open(struct terminal *t, void (*edit)(struct termios *))
{
    *t = (struct terminal){ 0 };
    char name[64];
    t->master_fd = posix_openpt(O_RDWR | O_NOCTTY | O_NONBLOCK | O_CLOEXEC);
    assert_true(t->master_fd >= 0);
    assert_int_equal(unlockpt(t->master_fd), 0);
    assert_int_equal(ptsname_r(t->master_fd, name, sizeof(name)), 0);
    t->slave_fd = open(name, O_RDWR | O_NOCTTY | O_NONBLOCK | O_CLOEXEC);
    assert_true(t->slave_fd >= 0);
    edit_settings(t, no_echo);
    edit_settings(t, edit);
}

static void
terminal_close(struct terminal *t)
{
    close(t->master_fd);
    close(t->slave_fd);
    buf_release(&t->waiting);
    buf_release(&t->got);
}

/* What the terminal says to its master, to nobody: an echo must not fill it. */
static void
drop_output(struct terminal *t)
{
    uint8_t bytes[4096];
    while (read(t->master_fd, bytes, sizeof(bytes)) > 0)
        ;
}

static void
write_some(struct terminal *t)
{
    ssize_t n = write(t->master_fd, t->waiting.p + t->written, t->waiting.n - t->written);
    assert_true(n >= 0 || errno == EAGAIN);
    if (n > 0)
        t->written += (size_t)n;
}

/* All that is there, in reads of `size`. */
static void
read_some(struct terminal *t, size_t size)
{
    ssize_t n;
    do {
        assert_int_equal(buf_reserve(&t->got, size), 0);
        n = read(t->slave_fd, t->got.p + t->got.n, size);
        if (n > 0)
            t->got.n += (size_t)n;
    } while (n > 0);
    assert_true(!n || errno == EAGAIN);
    t->has_end = !n;
}

/* Brings what waits to a reader with a buffer of `size`, until it has `until` bytes or,
 * with SIZE_MAX, sees the end. */
static void
carry(struct terminal *t, size_t size, size_t until)
{
    while (!t->has_end && t->got.n < until) {
        bool has_more = t->written < t->waiting.n;
        struct pollfd fds[] = { { .fd = t->master_fd, .events = has_more ? POLLOUT : 0 },
                                { .fd = t->slave_fd, .events = POLLIN } };
        assert_true(poll(fds, 2, PATIENCE_MS) > 0);
        if (fds[0].revents & POLLOUT)
            write_some(t);
        if (fds[1].revents & POLLIN)
            read_some(t, size);
        drop_output(t);
    }
}

static void
put(struct terminal *t, struct view in)
{
    struct termios s;
    assert_int_equal(tcgetattr(t->slave_fd, &s), 0);
    assert_int_equal(pty_feed_put(&t->feed, &s, in, &t->waiting), 0);
}

static void
put_end(struct terminal *t)
{
    struct termios s;
    assert_int_equal(tcgetattr(t->slave_fd, &s), 0);
    assert_int_equal(pty_feed_end(&t->feed, &s, &t->waiting), 0);
}

/* The end was the last that came: what is typed now is the next that is read. */
static void
assert_nothing_follows(struct terminal *t)
{
    assert_true(t->has_end);
    assert_int_equal(t->written, t->waiting.n);
    t->has_end = false;
    buf_clear(&t->got);
    put(t, (struct view){ (const uint8_t *)"next\n", 5 });
    carry(t, 4096, 5);
    assert_int_equal(t->got.n, 5);
    assert_memory_equal(t->got.p, "next\n", 5);
    assert_int_equal(write(t->slave_fd, "x", 1), 1); /* output was not stopped */
}

/* Feeds `in` in pieces, with its end; the reader must get `expected`. */
static void
assert_arrives_as(void (*edit)(struct termios *), struct view in, struct view expected)
{
    uint32_t rng = rng_seed((uint32_t)in.n);
    for (size_t i = 0; i < sizeof(reader_sizes) / sizeof(reader_sizes[0]); i++) {
        struct terminal t;
        terminal_open(&t, edit);
        for (size_t at = 0, n; at < in.n; at += n) {
            n = rng_between(&rng, 1, 3000);
            if (n > in.n - at)
                n = in.n - at;
            put(&t, (struct view){ in.p + at, n });
        }
        put_end(&t);
        carry(&t, reader_sizes[i], SIZE_MAX);
        assert_int_equal(t.got.n, expected.n);
        if (expected.n)
            assert_memory_equal(t.got.p, expected.p, expected.n);
        assert_nothing_follows(&t);
        terminal_close(&t);
    }
}

static void
assert_arrives(void (*edit)(struct termios *), const struct buf *in)
{
    struct view bytes = { in->p, in->n };
    assert_arrives_as(edit, bytes, bytes);
}

static void
put_fill(struct buf *b, uint8_t byte, size_t n)
{
    uint8_t *p = buf_grow(b, n);
    assert_non_null(p);
    memset(p, byte, n);
}

static void
put_random(struct buf *b, uint32_t seed, size_t n)
{
    uint32_t rng = rng_seed(seed);
    uint8_t *p = buf_grow(b, n);
    assert_non_null(p);
    for (size_t i = 0; i < n; i++)
        p[i] = (uint8_t)rng_below(&rng, 256);
}

/* Every byte alone in a line, next to every kind of neighbour, and at the ends. */
static void
put_all_bytes(struct buf *b)
{
    for (int i = 0; i < 256; i++) {
        uint8_t bytes[] = { (uint8_t)i, '\n', (uint8_t)i, (uint8_t)i, 'a', (uint8_t)i };
        buf_append(b, bytes, sizeof(bytes));
    }
    for (int i = 255; i >= 0; i--)
        buf_append(b, &(uint8_t){ (uint8_t)i }, 1);
}

static void
as_it_is(struct termios *s)
{
    (void)s;
}

static void
with_flow_control(struct termios *s)
{
    s->c_iflag |= IXON;
}

static void
with_ixany(struct termios *s)
{
    s->c_iflag |= IXON | IXANY;
}

static void
without_flow_control(struct termios *s)
{
    s->c_iflag &= ~(tcflag_t)IXON;
}

static void
without_icrnl(struct termios *s)
{
    s->c_iflag &= ~(tcflag_t)ICRNL;
}

static void
with_inlcr(struct termios *s)
{
    s->c_iflag |= INLCR;
}

static void
with_igncr(struct termios *s)
{
    s->c_iflag |= IGNCR;
}

static void
without_isig(struct termios *s)
{
    s->c_lflag &= ~(tcflag_t)ISIG;
}

static void
with_echo(struct termios *s)
{
    s->c_lflag |= ECHO;
}

static void
with_other_bytes(struct termios *s)
{
    s->c_cc[VEOF] = 'e';
    s->c_cc[VLNEXT] = 0xff;
    s->c_cc[VEOL] = '|';
    s->c_cc[VEOL2] = 0x80;
    s->c_cc[VINTR] = _POSIX_VDISABLE;
    s->c_cc[VKILL] = '\n';
}

static void (*const settings[])(struct termios *) = {
    as_it_is,      with_ixany,       with_flow_control, without_flow_control,
    without_icrnl, with_inlcr,       with_igncr,        without_isig,
    with_echo,     with_other_bytes,
};
enum { SETTINGS = sizeof(settings) / sizeof(settings[0]) };

static void
every_byte_arrives_as_it_is(void **state)
{
    (void)state;
    AUTO(buf) in = { 0 };
    put_all_bytes(&in);
    for (size_t i = 0; i < SETTINGS; i++)
        assert_arrives(settings[i], &in);
}

static void
random_bytes_arrive_as_they_are(void **state)
{
    (void)state;
    for (uint32_t i = 0; i < SETTINGS; i++) {
        AUTO(buf) in = { 0 };
        put_random(&in, i, 50000 + i);
        assert_arrives(settings[i], &in);
    }
}

static void
a_line_may_be_of_any_length(void **state)
{
    (void)state;
    AUTO(buf) all = { 0 };
    for (size_t times = 0; times <= 9; times++) {
        for (size_t n = times * 1024 - (times ? 3 : 0); n <= times * 1024 + 3; n++) {
            AUTO(buf) in = { 0 };
            put_fill(&in, 'x', n);
            assert_arrives(as_it_is, &in); /* mid-line */
            buf_append(&in, "\n", 1);
            assert_arrives(as_it_is, &in);
            buf_append(&all, in.p, in.n);
        }
    }
    assert_arrives(as_it_is, &all);
}

static void
a_line_of_special_bytes_may_be_of_any_length(void **state)
{
    (void)state;
    for (size_t n = 1020; n <= 1028; n++) {
        AUTO(buf) in = { 0 };
        put_fill(&in, 0x04, n);
        assert_arrives(as_it_is, &in);
        put_fill(&in, 0x03, 5 * n);
        assert_arrives(as_it_is, &in);
    }
}

static void
a_line_may_be_of_a_megabyte(void **state)
{
    (void)state;
    AUTO(buf) in = { 0 };
    put_fill(&in, 'x', 1 << 20);
    buf_append(&in, "\nand one more\n", 14);
    assert_arrives(as_it_is, &in);
}

/* Bytes that wait for the reader. */
static int
waiting_bytes(struct terminal *t)
{
    int n = 0;
    assert_int_equal(ioctl(t->slave_fd, FIONREAD, &n), 0);
    return n;
}

/* Linux looks ahead for ^S in what does not fit into the terminal's queue. */
static void
a_stop_behind_a_full_queue_does_not_stop_the_output(void **state)
{
    (void)state;
    struct terminal t;
    terminal_open(&t, with_flow_control);
    AUTO(buf) in = { 0 };
    for (int i = 0; i < 6; i++) {
        put_fill(&in, 'x', 1000);
        buf_append(&in, "\n", 1);
    }
    buf_append(&in, "\023\n", 2);
    put(&t, (struct view){ in.p, in.n });
    put_end(&t);
    write_some(&t);
    assert_int_equal(t.written, t.waiting.n);
    while (waiting_bytes(&t) < 4 * 1001)
        sched_yield();
    carry(&t, 4096, SIZE_MAX);
    assert_int_equal(t.got.n, in.n);
    assert_int_equal(write(t.slave_fd, "x", 1), 1);
    terminal_close(&t);
}

static void
without_iexten(struct termios *s)
{
    s->c_lflag &= ~(tcflag_t)IEXTEN;
}

static void
without_iexten_inlcr(struct termios *s)
{
    without_iexten(s);
    s->c_iflag |= INLCR;
}

static void
where_nothing_can_be_quoted_text_arrives(void **state)
{
    (void)state;
    AUTO(buf) in = { 0 };
    for (size_t n = 0; n < 5000; n += 501) {
        put_fill(&in, 'x', n);
        buf_append(&in, "\n", 1);
    }
    assert_arrives(without_iexten, &in);
    put_fill(&in, 0xe4, 3000);
    assert_arrives(without_iexten, &in);
}

static void
where_nothing_can_be_quoted_special_bytes_act(void **state)
{
    (void)state;
    static const struct {
        void (*edit)(struct termios *);
        const char *in, *expected;
    } cases[] = {
        { without_iexten, "abc\025x", "x" },     /* kill */
        { without_iexten, "abc\025", "" },       /* the line may be empty at the end */
        { without_iexten, "ab\177c\n", "ac\n" }, /* erase */
        { without_iexten, "a\rb\r", "a\nb\n" },
        { without_iexten, "a\004b", "ab" }, /* a push of its own */
        { without_iexten_inlcr, "a\nb\n", "a\rb\r" },
    };
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        struct terminal t;
        terminal_open(&t, cases[i].edit);
        put(&t, (struct view){ (const uint8_t *)cases[i].in, strlen(cases[i].in) });
        put_end(&t);
        carry(&t, 4096, SIZE_MAX);
        assert_string_equal(buf_str(&t.got), cases[i].expected);
        terminal_close(&t);
    }
}

static void
with_istrip(struct termios *s)
{
    s->c_iflag |= ISTRIP;
}

static void
with_parmrk(struct termios *s)
{
    s->c_iflag |= PARMRK;
}

static void
with_iuclc(struct termios *s)
{
    s->c_iflag |= IUCLC;
    s->c_cc[VKILL] = 'k';
}

/* The reader asked for the change; it must not turn a byte into a command. */
static void
what_the_terminal_changes_is_changed_and_does_not_act(void **state)
{
    (void)state;
    AUTO(buf) in = { 0 };
    put_all_bytes(&in);
    AUTO(buf) stripped = { 0 };
    AUTO(buf) marked = { 0 };
    AUTO(buf) lower = { 0 };
    for (size_t i = 0; i < in.n; i++) {
        uint8_t c = in.p[i];
        bool is_upper = (c >= 'A' && c <= 'Z') || (c >= 0xc0 && c <= 0xde && c != 0xd7);
        buf_append(&stripped, &(uint8_t){ c & 0x7f }, 1);
        buf_append(&marked, &c, 1);
        if (c == 0xff)
            buf_append(&marked, &c, 1);
        buf_append(&lower, &(uint8_t){ is_upper ? c | 0x20 : c }, 1);
    }
    struct view bytes = { in.p, in.n };
    assert_arrives_as(with_istrip, bytes, (struct view){ stripped.p, stripped.n });
    assert_arrives_as(with_parmrk, bytes, (struct view){ marked.p, marked.n });
    assert_arrives_as(with_iuclc, bytes, (struct view){ lower.p, lower.n });
}

static void
sane(struct termios *s)
{
    s->c_iflag |= ICRNL;
    s->c_lflag |= ICANON | IEXTEN | ISIG;
    s->c_cc[VEOF] = 0x04;
}

static void
without_eof(struct termios *s)
{
    s->c_cc[VEOF] = _POSIX_VDISABLE;
}

static void
where_there_is_no_veof_nothing_is_pushed(void **state)
{
    (void)state;
    struct terminal t;
    terminal_open(&t, without_eof);
    AUTO(buf) in = { 0 };
    put_fill(&in, 'x', 3000);
    buf_append(&in, "\n", 1);
    put(&t, (struct view){ in.p, in.n });
    put_end(&t);
    carry(&t, 4096, in.n);
    assert_false(t.has_end);
    assert_memory_equal(t.got.p, in.p, in.n);
    terminal_close(&t);
}

static void
a_change_to_raw_and_back_keeps_every_byte(void **state)
{
    (void)state;
    struct terminal t;
    terminal_open(&t, as_it_is);
    put(&t, (struct view){ (const uint8_t *)"one\ntw", 6 });
    carry(&t, 4096, 4);
    assert_int_equal(t.got.n, 4);
    edit_settings(&t, cfmakeraw);
    put(&t, (struct view){ (const uint8_t *)"o\003\004\026three", 9 });
    put_end(&t); /* there is none */
    carry(&t, 4096, 15);
    assert_false(t.has_end);
    assert_memory_equal(t.got.p, "one\ntwo\003\004\026three", 15);
    terminal_close(&t);

    terminal_open(&t, cfmakeraw);
    put(&t, (struct view){ (const uint8_t *)"raw\004", 4 });
    carry(&t, 4096, 4);
    edit_settings(&t, sane);
    put(&t, (struct view){ (const uint8_t *)"f\004ur", 4 });
    put_end(&t);
    carry(&t, 4096, SIZE_MAX);
    assert_string_equal(buf_str(&t.got), "raw\004f\004ur");
    assert_nothing_follows(&t);
    terminal_close(&t);
}

int
main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_byte_arrives_as_it_is),
        cmocka_unit_test(random_bytes_arrive_as_they_are),
        cmocka_unit_test(a_line_may_be_of_any_length),
        cmocka_unit_test(a_line_of_special_bytes_may_be_of_any_length),
        cmocka_unit_test(a_line_may_be_of_a_megabyte),
        cmocka_unit_test(a_stop_behind_a_full_queue_does_not_stop_the_output),
        cmocka_unit_test(where_nothing_can_be_quoted_text_arrives),
        cmocka_unit_test(where_nothing_can_be_quoted_special_bytes_act),
        cmocka_unit_test(what_the_terminal_changes_is_changed_and_does_not_act),
        cmocka_unit_test(where_there_is_no_veof_nothing_is_pushed),
        cmocka_unit_test(a_change_to_raw_and_back_keeps_every_byte),
    };
    return cmocka_run_group_tests_name("feed", tests, NULL, NULL);
}
