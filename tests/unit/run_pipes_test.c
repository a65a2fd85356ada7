/* SPDX-License-Identifier: MIT */
/* run_pipes_test.c -- two pipes as one: in which order what a command prints is read. */
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/prctl.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/file.h"
#include "run/pipes_priv.h"
#include "support/run_kit.h"

enum { MIB = 1 << 20 };

struct rig {
    struct run_pipes pipes;
    int out[2], err[2];
    struct buf told; /* "o:" or "e:" and the piece, as it came */
    size_t bytes, largest;
    bool is_counted; /* no more */
};

static int
note_piece(void *ctx, enum run_stream stream, struct view piece)
{
    struct rig *r = ctx;
    r->bytes += piece.n;
    r->largest = piece.n > r->largest ? piece.n : r->largest;
    if (r->is_counted)
        return 0;
    for (size_t at = 0; at < piece.n;) {
        const uint8_t *end = memchr(piece.p + at, '\n', piece.n - at);
        size_t n = end ? (size_t)(end - piece.p) + 1 - at : piece.n - at;
        buf_puts(&r->told, stream == RUN_OUT ? "o:" : "e:");
        buf_append(&r->told, piece.p + at, n);
        at += n;
    }
    return 0;
}

static void
set_up(struct rig *r)
{
    *r = (struct rig){ 0 };
    assert_int_equal(pipe2(r->out, O_NONBLOCK | O_CLOEXEC), 0);
    assert_int_equal(pipe2(r->err, O_NONBLOCK | O_CLOEXEC), 0);
    assert_int_equal(run_pipes_init(&r->pipes, r->out[0], r->err[0], NULL), 0);
}

static void
tear_down(struct rig *r)
{
    run_pipes_release(&r->pipes);
    buf_release(&r->told);
    for (int i = 0; i < 2; i++) {
        if (r->out[i] >= 0)
            close(r->out[i]);
        if (r->err[i] >= 0)
            close(r->err[i]);
    }
}

static bool
read_once(struct rig *r)
{
    bool more = true;
    assert_int_equal(run_pipes_read(&r->pipes, note_piece, r, &more), 0);
    return more;
}

static void
assert_told(struct rig *r, const char *text)
{
    while (read_once(r))
        ;
    assert_string_equal(buf_str(&r->told), text);
    buf_clear(&r->told);
}

/* As the loop has it: waits for epoll_fd, reads while there is more, to the end. */
static void
read_to_end(struct rig *r)
{
    while (!run_pipes_are_over(&r->pipes)) {
        assert_true(run_kit_is_ready(r->pipes.epoll_fd, POLLIN, RUN_KIT_PATIENCE_MS));
        while (read_once(r))
            ;
    }
}

static void
what_came_first_is_read_first(void **state)
{
    (void)state;
    struct rig r;
    set_up(&r);
    run_kit_put(r.out[1], "1\n");
    run_kit_put(r.err[1], "2\n");
    assert_told(&r, "o:1\ne:2\n");
    run_kit_put(r.err[1], "3\n");
    run_kit_put(r.out[1], "4\n");
    assert_told(&r, "e:3\no:4\n");
    tear_down(&r);
}

static void
a_burst_that_alternates_keeps_its_order(void **state)
{
    (void)state;
    struct rig r;
    set_up(&r);
    run_kit_put(r.out[1], "1\n"), run_kit_put(r.err[1], "2\n"),
        run_kit_put(r.out[1], "3\n");
    run_kit_put(r.err[1], "4\n"), run_kit_put(r.out[1], "5\n");
    assert_told(&r, "o:1\ne:2\no:3\ne:4\no:5\n");
    run_kit_put(r.err[1], "1\n"), run_kit_put(r.out[1], "2\n"),
        run_kit_put(r.err[1], "3\n");
    run_kit_put(r.out[1], "4\n");
    assert_told(&r, "e:1\no:2\ne:3\no:4\n");
    tear_down(&r);
}

static void
many_lines_and_one_of_the_other_keep_their_order(void **state)
{
    (void)state;
    struct rig r;
    AUTO(buf) lines = { 0 };
    AUTO(buf) want = { 0 };
    set_up(&r);
    for (int i = 0; i < 100; i++) {
        buf_printf(&lines, "%d\n", i);
        buf_printf(&want, "o:%d\n", i);
    }
    buf_puts(&want, "e:bad\n");
    run_kit_put(r.out[1], buf_str(&lines));
    run_kit_put(r.err[1], "bad\n");
    assert_told(&r, buf_str(&want));
    run_kit_put(r.err[1], "bad\n"); /* and the other way round */
    run_kit_put(r.out[1], "1\n2\n3\n");
    assert_told(&r, "e:bad\no:1\no:2\no:3\n");
    run_kit_put(r.out[1], "1\n");
    run_kit_put(r.err[1],
                "a\nb\n"); /* which nobody who alternates would have begun with `out` */
    assert_told(&r, "o:1\ne:a\ne:b\n");
    tear_down(&r);
}

static void
a_line_without_its_end_is_told_at_once(void **state)
{
    (void)state;
    struct rig r;
    set_up(&r);
    run_kit_put(r.out[1], "ab");
    assert_told(&r, "o:ab");
    run_kit_put(r.err[1], "x\n"), run_kit_put(r.out[1], "c\nd");
    assert_told(&r, "e:x\no:c\no:d");
    tear_down(&r);
}

static void
each_end_is_seen_behind_the_rest(void **state)
{
    (void)state;
    struct rig r;
    set_up(&r);
    run_kit_put(r.err[1], "bad");
    run_kit_close(&r.err[1]);
    assert_told(&r, "e:bad");
    assert_int_equal(r.pipes.fd[RUN_ERR], -1);
    assert_false(run_pipes_are_over(&r.pipes));
    assert_false(
        run_kit_is_ready(r.pipes.epoll_fd, POLLIN, 0)); /* nobody is woken for nothing */
    run_kit_put(r.out[1], "x\n");
    run_kit_close(&r.out[1]);
    read_to_end(&r);
    assert_string_equal(buf_str(&r.told), "o:x\n");
    tear_down(&r);
}

static int
stop_reading(void *ctx, enum run_stream stream, struct view piece)
{
    (void)ctx;
    (void)stream;
    (void)piece;
    return -ECANCELED;
}

static void
who_is_told_can_end_the_reading(void **state)
{
    (void)state;
    struct rig r;
    bool more;
    set_up(&r);
    run_kit_put(r.out[1], "x\n");
    run_kit_put(r.err[1], "y\n");
    assert_int_equal(run_pipes_read(&r.pipes, stop_reading, &r, &more), -ECANCELED);
    tear_down(&r);
}

static void
what_cannot_be_waited_for_is_refused(void **state)
{
    (void)state;
    struct run_pipes p;
    struct err err = { 0 };
    int fd = open("/etc/passwd", O_RDONLY | O_CLOEXEC), fds[2];
    assert_true(fd >= 0);
    assert_int_equal(pipe2(fds, O_NONBLOCK | O_CLOEXEC), 0);
    assert_true(run_pipes_init(&p, fds[0], fd, &err) < 0);
    assert_non_null(strstr(err.text, "cannot wait for what the command prints"));
    assert_int_equal(p.epoll_fd, -1);
    close(fd);
    close(fds[0]);
    close(fds[1]);
}

/* Both pipes are as large as a run's may be, and full all the time. */
static void
a_flood_of_both_comes_whole_within_bounds(void **state)
{
    (void)state;
    struct rig r;
    struct run_child c = run_kit_start("head -c 50000000 /dev/zero & "
                                       "head -c 20000000 /dev/zero >&2; wait",
                                       false);
    r = (struct rig){ .is_counted = true, .out = { -1, -1 }, .err = { -1, -1 } };
    assert_int_equal(run_pipes_init(&r.pipes, c.out_fd, c.err_fd, NULL), 0);
    read_to_end(&r);
    assert_int_equal(r.bytes, 70000000);
    assert_true(r.largest <= MIB / 4);
    assert_true(r.pipes.in[RUN_OUT].cap <= MIB && r.pipes.in[RUN_ERR].cap <= MIB);
    tear_down(&r);
    run_kit_reap(c.pid);
    run_child_close(&c);
}

static void
a_line_of_stderr_gets_through_a_flood(void **state)
{
    (void)state;
    struct rig r = { .out = { -1, -1 }, .err = { -1, -1 } };
    struct run_child c = run_kit_start("yes out & read x; echo bad >&2; read y; kill $!",
                                       true);
    assert_int_equal(run_pipes_init(&r.pipes, c.out_fd, c.err_fd, NULL), 0);
    assert_true(run_kit_is_ready(r.pipes.epoll_fd, POLLIN, RUN_KIT_PATIENCE_MS));
    run_kit_put(c.in_fd, "go\n");
    uint64_t deadline_ns = clock_mono_ns() + RUN_KIT_PATIENCE_MS * UINT64_C(1000000);
    while (!strstr(buf_str(&r.told), "e:bad")) {
        assert_true(clock_mono_ns() < deadline_ns);
        buf_clear(&r.told);
        read_once(&r);
    }
    run_kit_put(c.in_fd, "go\n");
    r.is_counted = true;
    read_to_end(&r);
    tear_down(&r);
    run_kit_reap(c.pid);
    run_child_close(&c);
}

/* As one who is told of short lines by the hundred thousand, each of which goes to disk.
 */
static int
take_long(void *ctx, enum run_stream stream, struct view piece)
{
    uint64_t until_ns = clock_mono_ns() + UINT64_C(25000000);
    while (clock_mono_ns() < until_ns)
        ;
    return note_piece(ctx, stream, piece);
}

/* Else whoever would end the command waited until all of it is told. */
static void
a_flood_that_takes_long_is_left_for_the_next_time(void **state)
{
    (void)state;
    struct rig r;
    bool more = false;
    AUTO(buf) bytes = { 0 };
    set_up(&r);
    r.is_counted = true;
    if (fcntl(r.out[1], F_SETPIPE_SZ, MIB) != MIB) {
        tear_down(&r);
        skip();
    }
    assert_int_equal(buf_reserve(&bytes, MIB), 0);
    memset(bytes.p, '\n', MIB);
    assert_int_equal(file_write_all(r.out[1], bytes.p, MIB), 0);
    assert_int_equal(run_pipes_read(&r.pipes, take_long, &r, &more), 0);
    assert_true(r.bytes > 0);
    assert_true(r.bytes < MIB / 4);
    assert_true(more);
    run_kit_close(&r.out[1]);
    run_kit_close(&r.err[1]);
    read_to_end(&r);
    assert_int_equal(r.bytes, MIB);
    tear_down(&r);
}

/* Keeps a processor busy for as long as the test lives. */
static pid_t
burn(void)
{
    pid_t pid = fork();
    assert_true(pid >= 0);
    if (pid)
        return pid;
    prctl(PR_SET_PDEATHSIG, SIGKILL);
    for (volatile unsigned i = 0;; i++)
        ;
}

static pid_t
alternate(struct rig *r, int lines, useconds_t pause_us)
{
    pid_t pid = fork();
    assert_true(pid >= 0);
    if (pid) {
        run_kit_close(&r->out[1]);
        run_kit_close(&r->err[1]);
        return pid;
    }
    fcntl(r->out[1], F_SETFL, 0);
    fcntl(r->err[1], F_SETFL, 0);
    for (int i = 0; i < lines; i++) {
        char text[16];
        int n = snprintf(text, sizeof(text), "%d\n", i);
        if (write(i % 2 ? r->err[1] : r->out[1], text, (size_t)n) != n)
            _exit(1);
        if (pause_us)
            usleep(pause_us);
    }
    _exit(0);
}

static void
lines_a_millisecond_apart_keep_their_order_under_load(void **state)
{
    (void)state;
    enum { LINES = 500, BURNERS = 6 };
    struct rig r;
    AUTO(buf) want = { 0 };
    pid_t burner[BURNERS];
    for (int i = 0; i < BURNERS; i++)
        burner[i] = burn();
    set_up(&r);
    pid_t pid = alternate(&r, LINES, 1000);
    read_to_end(&r);
    for (int i = 0; i < LINES; i++)
        buf_printf(&want, "%c:%d\n", i % 2 ? 'e' : 'o', i);
    assert_string_equal(buf_str(&r.told), buf_str(&want));
    assert_int_equal(run_kit_reap(pid), 0);
    for (int i = 0; i < BURNERS; i++) {
        kill(burner[i], SIGKILL);
        run_kit_reap(burner[i]);
    }
    tear_down(&r);
}

/* Who never pauses may be looked at in the wrong moment; each stream is in order even so.
 */
static void
lines_without_a_pause_are_all_there(void **state)
{
    (void)state;
    enum { LINES = 20000 };
    struct rig r;
    set_up(&r);
    pid_t pid = alternate(&r, LINES, 0);
    read_to_end(&r);
    long next[] = { 0, 1 };
    for (const char *at = buf_str(&r.told); *at; at = strchr(at, '\n') + 1) {
        long number = strtol(at + 2, NULL, 10);
        assert_int_equal(*at, number % 2 ? 'e' : 'o');
        assert_int_equal(number, next[number % 2]);
        next[number % 2] += 2;
    }
    assert_int_equal(next[0], LINES);
    assert_int_equal(next[1], LINES + 1);
    assert_int_equal(run_kit_reap(pid), 0);
    tear_down(&r);
}

int
main(void)
{
    static const struct CMUnitTest tests[] = {
        cmocka_unit_test(what_came_first_is_read_first),
        cmocka_unit_test(a_burst_that_alternates_keeps_its_order),
        cmocka_unit_test(many_lines_and_one_of_the_other_keep_their_order),
        cmocka_unit_test(a_line_without_its_end_is_told_at_once),
        cmocka_unit_test(each_end_is_seen_behind_the_rest),
        cmocka_unit_test(who_is_told_can_end_the_reading),
        cmocka_unit_test(what_cannot_be_waited_for_is_refused),
        cmocka_unit_test(a_flood_of_both_comes_whole_within_bounds),
        cmocka_unit_test(a_line_of_stderr_gets_through_a_flood),
        cmocka_unit_test(a_flood_that_takes_long_is_left_for_the_next_time),
        cmocka_unit_test(lines_a_millisecond_apart_keep_their_order_under_load),
        cmocka_unit_test(lines_without_a_pause_are_all_there),
    };
    return cmocka_run_group_tests_name("run_pipes", tests, NULL, NULL);
}
