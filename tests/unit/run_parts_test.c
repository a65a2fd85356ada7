/* SPDX-License-Identifier: MIT */
/* run_parts_test.c -- commands on pipes: how they start or do not, in which order what
 * they print is read, and what they are sent. */
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cmocka.h>

#include "base/clock.h"
#include "base/file.h"
#include "run/child_priv.h"
#include "run/input_priv.h"
#include "run/pipes_priv.h"

enum { PATIENCE_MS = 20000, MIB = 1 << 20 };

static bool
is_ready(int fd, short events, int ms)
{
    struct pollfd p = { .fd = fd, .events = events };
    return poll(&p, 1, ms) > 0;
}

static int
reap(pid_t pid)
{
    int status = 0;
    assert_int_equal(waitpid(pid, &status, 0), pid);
    return status;
}

static struct run_child
start(const char *script, bool has_input)
{
    struct run_child c = { .pid = -1 };
    struct err err = { 0 };
    int status = 0;
    char words[3][8] = { "sh", "-c", "" };
    char *argv[] = { words[0], words[1], strdup(script), NULL };
    int r = run_child_start(&c, argv, environ, NULL, has_input, &status, &err);
    free(argv[2]);
    if (r)
        fail_msg("%s", err.text);
    return c;
}

/* All that comes until the end, in the time that it takes. */
static void
read_all(int fd, struct buf *ret)
{
    uint8_t bytes[4096];
    for (;;) {
        assert_true(is_ready(fd, POLLIN, PATIENCE_MS));
        ssize_t n = file_read(fd, bytes, sizeof(bytes));
        if (n == -EAGAIN)
            continue;
        assert_true(n >= 0);
        if (!n)
            return;
        assert_int_equal(buf_append(ret, bytes, (size_t)n), 0);
    }
}

static void
assert_prints(const char *script, const char *out)
{
    AUTO(buf) got = { 0 };
    struct run_child c = start(script, false);
    read_all(c.out_fd, &got);
    assert_string_equal(buf_str(&got), out);
    reap(c.pid);
    run_child_close(&c);
}

/* -- the child -- */

static void
a_command_has_pipes_and_a_group_of_its_own(void **state)
{
    (void)state;
    AUTO(buf) out = { 0 };
    AUTO(buf) err = { 0 };
    struct run_child c = start("read a; echo \"got $a\"; echo bad >&2; exit 7", true);
    assert_int_equal(getpgid(c.pid), c.pid);
    assert_int_equal(file_write_all(c.in_fd, "x\n", 2), 0);
    read_all(c.out_fd, &out);
    read_all(c.err_fd, &err);
    assert_string_equal(buf_str(&out), "got x\n");
    assert_string_equal(buf_str(&err), "bad\n");
    assert_int_equal(WEXITSTATUS(reap(c.pid)), 7);
    run_child_close(&c);
}

static void
without_input_it_reads_nothing(void **state)
{
    (void)state;
    struct run_child c = start("cat; echo end", false);
    assert_int_equal(c.in_fd, -1);
    run_child_signal(&c, SIGKILL);
    reap(c.pid);
    run_child_close(&c);
    assert_prints("cat; echo end", "end\n");
}

static void
our_ends_do_not_block_and_theirs_do(void **state)
{
    (void)state;
    uint8_t byte;
    struct run_child c = start("cat <&0 >/dev/null; sleep 30", true);
    assert_int_equal(file_read(c.out_fd, &byte, 1), -EAGAIN);
    assert_int_equal(fcntl(c.in_fd, F_GETFD), FD_CLOEXEC);
    assert_int_equal(fcntl(c.out_fd, F_GETFD), FD_CLOEXEC);
    assert_int_equal(fcntl(c.err_fd, F_GETFD), FD_CLOEXEC);
    run_child_signal(&c, SIGKILL);
    assert_int_equal(WTERMSIG(reap(c.pid)), SIGKILL);
    run_child_close(&c);
}

static void
it_has_signals_as_they_are_at_first(void **state)
{
    (void)state;
    sigset_t usr1, before;
    sigemptyset(&usr1);
    sigaddset(&usr1, SIGUSR1);
    signal(SIGPIPE, SIG_IGN);
    sigprocmask(SIG_BLOCK, &usr1, &before);
    assert_prints("grep -E 'Sig(Blk|Ign)' /proc/self/status | cut -f2",
                  "0000000000000000\n0000000000000000\n");
    sigprocmask(SIG_SETMASK, &before, NULL);
}

static void
a_signal_reaches_its_group_also_when_it_is_stopped(void **state)
{
    (void)state;
    AUTO(buf) out = { 0 };
    struct run_child c = start("sleep 60 & echo $!; wait", false);
    assert_true(is_ready(c.out_fd, POLLIN, PATIENCE_MS));
    run_child_signal(&c, SIGSTOP);
    int status;
    assert_int_equal(waitpid(c.pid, &status, WUNTRACED), c.pid);
    assert_true(WIFSTOPPED(status));
    run_child_signal(&c, SIGTERM);
    assert_int_equal(WTERMSIG(reap(c.pid)), SIGTERM);
    read_all(c.out_fd, &out); /* ends when the grandchild is gone, too */
    run_child_close(&c);
}

static void
assert_fails(const char *command, const char *dir, int exit_status, const char *text)
{
    struct run_child c;
    struct err err = { 0 };
    int status = 0;
    char *argv[] = { strdup(command), NULL };
    assert_true(run_child_start(&c, argv, environ, dir, true, &status, &err) < 0);
    free(argv[0]);
    assert_int_equal(status, exit_status);
    if (!strstr(err.text, text))
        fail_msg("'%s' is not in '%s'", text, err.text);
    errno = 0;
    assert_int_equal(waitpid(-1, &status, WNOHANG), -1); /* nobody is left */
}

static void
what_cannot_run_is_told_as_shells_tell_it(void **state)
{
    (void)state;
    assert_fails("no-such-command-here", NULL, 127, "command not found");
    assert_fails("/etc/passwd", NULL, 126, "Permission denied");
    assert_fails("/", NULL, 126, "Is a directory");
    assert_fails("true", "/no/such/folder", 126, "/no/such/folder");
}

static void
it_runs_in_the_folder_it_is_told(void **state)
{
    (void)state;
    AUTO(buf) out = { 0 };
    struct run_child c;
    int status;
    char word[] = "pwd", *argv[] = { word, NULL };
    assert_int_equal(run_child_start(&c, argv, environ, "/usr", false, &status, NULL), 0);
    read_all(c.out_fd, &out);
    assert_string_equal(buf_str(&out), "/usr\n");
    reap(c.pid);
    run_child_close(&c);
}

/* In a process of its own, which must exit with 0. */
static void
assert_holds(bool (*fn)(void))
{
    pid_t pid = fork();
    assert_true(pid >= 0);
    if (!pid)
        _exit(fn() ? 0 : 1);
    assert_int_equal(reap(pid), 0);
}

static bool
has_nothing_of_ours(void)
{
    closefrom(3); /* what the test's own parent has left open goes on to the command */
    struct run_child c = start("ls /proc/$$/fd", true);
    AUTO(buf) out = { 0 };
    read_all(c.out_fd, &out);
    waitpid(c.pid, NULL, 0);
    return !strcmp(buf_str(&out), "0\n1\n2\n");
}

static void
it_has_no_descriptor_but_0_1_and_2(void **state)
{
    (void)state;
    assert_holds(has_nothing_of_ours);
}

static bool
runs_without_012(void)
{
    AUTO(buf) out = { 0 };
    struct run_child c;
    int status;
    char words[3][32] = { "sh", "-c", "cat; echo out; echo err >&2" };
    char *argv[] = { words[0], words[1], words[2], NULL };
    closefrom(0);
    if (run_child_start(&c, argv, environ, NULL, true, &status, NULL) || c.in_fd <= 2 ||
        c.out_fd <= 2 || c.err_fd <= 2)
        return false;
    if (file_write_all(c.in_fd, "in\n", 3))
        return false;
    close(c.in_fd);
    waitpid(c.pid, &status, 0);
    ssize_t n = file_read(c.out_fd, buf_grow(&out, 64), 64);
    if (n != 7 || memcmp(out.p, "in\nout\n", 7) != 0)
        return false;
    n = file_read(c.err_fd, out.p, 64);
    return n == 4 && !memcmp(out.p, "err\n", 4);
}

static void
it_has_0_1_and_2_where_we_have_none(void **state)
{
    (void)state;
    assert_holds(runs_without_012);
}

/* With n descriptors free there is an error that says so, or there is a child. */
static bool
fails_clearly(void)
{
    char word[] = "true", *argv[] = { word, NULL };
    int status, failed = 0;
    closefrom(3);
    for (rlim_t n = 3; n < 16; n++) {
        struct rlimit files = { n, 16 };
        struct run_child c;
        struct err err = { 0 };
        setrlimit(RLIMIT_NOFILE, &files);
        if (run_child_start(&c, argv, environ, "/", true, &status, &err)) {
            failed++;
            if (status != 126 || !strstr(err.text, "Too many open files"))
                return false;
        } else {
            waitpid(c.pid, &status, 0);
            run_child_close(&c);
        }
        if (fcntl(3, F_GETFD) >= 0)
            return false; /* something is left open */
    }
    return failed > 3 && failed < 13;
}

static void
without_room_for_its_pipes_it_fails_clearly(void **state)
{
    (void)state;
    assert_holds(fails_clearly);
}

/* -- two pipes as one -- */

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

static void
put(int fd, const char *text)
{
    assert_int_equal(file_write_all(fd, text, strlen(text)), 0);
}

static void
close_end(int *fd)
{
    close(*fd);
    *fd = -1;
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
        assert_true(is_ready(r->pipes.epoll_fd, POLLIN, PATIENCE_MS));
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
    put(r.out[1], "1\n");
    put(r.err[1], "2\n");
    assert_told(&r, "o:1\ne:2\n");
    put(r.err[1], "3\n");
    put(r.out[1], "4\n");
    assert_told(&r, "e:3\no:4\n");
    tear_down(&r);
}

static void
a_burst_that_alternates_keeps_its_order(void **state)
{
    (void)state;
    struct rig r;
    set_up(&r);
    put(r.out[1], "1\n"), put(r.err[1], "2\n"), put(r.out[1], "3\n");
    put(r.err[1], "4\n"), put(r.out[1], "5\n");
    assert_told(&r, "o:1\ne:2\no:3\ne:4\no:5\n");
    put(r.err[1], "1\n"), put(r.out[1], "2\n"), put(r.err[1], "3\n");
    put(r.out[1], "4\n");
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
    put(r.out[1], buf_str(&lines));
    put(r.err[1], "bad\n");
    assert_told(&r, buf_str(&want));
    put(r.err[1], "bad\n"); /* and the other way round */
    put(r.out[1], "1\n2\n3\n");
    assert_told(&r, "e:bad\no:1\no:2\no:3\n");
    put(r.out[1], "1\n");
    put(r.err[1], "a\nb\n"); /* which nobody who alternates would have begun with `out` */
    assert_told(&r, "o:1\ne:a\ne:b\n");
    tear_down(&r);
}

static void
a_line_without_its_end_is_told_at_once(void **state)
{
    (void)state;
    struct rig r;
    set_up(&r);
    put(r.out[1], "ab");
    assert_told(&r, "o:ab");
    put(r.err[1], "x\n"), put(r.out[1], "c\nd");
    assert_told(&r, "e:x\no:c\no:d");
    tear_down(&r);
}

static void
each_end_is_seen_behind_the_rest(void **state)
{
    (void)state;
    struct rig r;
    set_up(&r);
    put(r.err[1], "bad");
    close_end(&r.err[1]);
    assert_told(&r, "e:bad");
    assert_int_equal(r.pipes.fd[RUN_ERR], -1);
    assert_false(run_pipes_are_over(&r.pipes));
    assert_false(is_ready(r.pipes.epoll_fd, POLLIN, 0)); /* nobody is woken for nothing */
    put(r.out[1], "x\n");
    close_end(&r.out[1]);
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
    put(r.out[1], "x\n");
    put(r.err[1], "y\n");
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
    struct run_child c = start("head -c 50000000 /dev/zero & "
                               "head -c 20000000 /dev/zero >&2; wait",
                               false);
    r = (struct rig){ .is_counted = true, .out = { -1, -1 }, .err = { -1, -1 } };
    assert_int_equal(run_pipes_init(&r.pipes, c.out_fd, c.err_fd, NULL), 0);
    read_to_end(&r);
    assert_int_equal(r.bytes, 70000000);
    assert_true(r.largest <= MIB / 4);
    assert_true(r.pipes.in[RUN_OUT].cap <= MIB && r.pipes.in[RUN_ERR].cap <= MIB);
    tear_down(&r);
    reap(c.pid);
    run_child_close(&c);
}

static void
a_line_of_stderr_gets_through_a_flood(void **state)
{
    (void)state;
    struct rig r = { .out = { -1, -1 }, .err = { -1, -1 } };
    struct run_child c = start("yes out & read x; echo bad >&2; read y; kill $!", true);
    assert_int_equal(run_pipes_init(&r.pipes, c.out_fd, c.err_fd, NULL), 0);
    assert_true(is_ready(r.pipes.epoll_fd, POLLIN, PATIENCE_MS));
    put(c.in_fd, "go\n");
    uint64_t deadline_ns = clock_mono_ns() + PATIENCE_MS * UINT64_C(1000000);
    while (!strstr(buf_str(&r.told), "e:bad")) {
        assert_true(clock_mono_ns() < deadline_ns);
        buf_clear(&r.told);
        read_once(&r);
    }
    put(c.in_fd, "go\n");
    r.is_counted = true;
    read_to_end(&r);
    tear_down(&r);
    reap(c.pid);
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
    close_end(&r.out[1]);
    close_end(&r.err[1]);
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
        close_end(&r->out[1]);
        close_end(&r->err[1]);
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
    assert_int_equal(reap(pid), 0);
    for (int i = 0; i < BURNERS; i++) {
        kill(burner[i], SIGKILL);
        reap(burner[i]);
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
    assert_int_equal(reap(pid), 0);
    tear_down(&r);
}

/* -- what the command is sent -- */

struct talk {
    struct run_input in;
    int from[2]; /* ours: read, and the other end */
    int to[2];   /* the command's: its end, and ours */
    struct buf told;
    struct buf got;
};

static void
note_message(void *ctx, struct view message)
{
    struct talk *t = ctx;
    buf_append(&t->told, "<", 1);
    buf_append(&t->told, message.p, message.n < 20 ? message.n : 20);
    buf_append(&t->told, ">", 1);
}

static void
begin(struct talk *t)
{
    assert_int_equal(pipe2(t->to, O_NONBLOCK | O_CLOEXEC), 0);
    run_input_begin(&t->in, t->to[1]);
}

static void
begin_with(struct talk *t, int from_fd, bool is_one_prompt, bool is_repeated)
{
    *t = (struct talk){ .from = { -1, -1 }, .to = { -1, -1 } };
    run_input_init(&t->in, from_fd, is_one_prompt, is_repeated, note_message, t);
    begin(t);
}

static void
begin_piped(struct talk *t, bool is_one_prompt, bool is_repeated)
{
    int fds[2];
    assert_int_equal(pipe2(fds, O_CLOEXEC), 0); /* it blocks, as those of shells do */
    begin_with(t, fds[0], is_one_prompt, is_repeated);
    memcpy(t->from, fds, sizeof(fds));
}

static void
end_talk(struct talk *t)
{
    run_input_release(&t->in);
    for (int i = 0; i < 2; i++)
        if (t->from[i] >= 0)
            close(t->from[i]);
    if (t->to[0] >= 0)
        close(t->to[0]);
    buf_release(&t->told);
    buf_release(&t->got);
}

/* As the loop has it, until nothing is to be done; the command reads all. */
static void
turn(struct talk *t)
{
    for (bool goes_on = true; goes_on;) {
        goes_on = false;
        if (run_input_wants_read(&t->in) && is_ready(t->in.from_fd, POLLIN, 0)) {
            run_input_on_read(&t->in);
            goes_on = true;
        }
        if (run_input_wants_write(&t->in) && is_ready(t->in.to_fd, POLLOUT, 0)) {
            run_input_on_write(&t->in);
            goes_on = true;
        }
        for (uint8_t bytes[4096]; t->to[0] >= 0;) {
            ssize_t n = file_read(t->to[0], bytes, sizeof(bytes));
            if (n <= 0)
                break;
            buf_append(&t->got, bytes, (size_t)n);
            goes_on = true;
        }
    }
}

static void
assert_talk(struct talk *t, const char *told, const char *got)
{
    turn(t);
    assert_string_equal(buf_str(&t->told), told);
    assert_string_equal(buf_str(&t->got), got);
    buf_clear(&t->told);
    buf_clear(&t->got);
}

static void
each_line_is_told_and_sent(void **state)
{
    (void)state;
    struct talk t;
    begin_piped(&t, false, false);
    put(t.from[1], "one\ntwo\n\nthr");
    assert_talk(&t, "<one><two><>", "one\ntwo\n\n");
    put(t.from[1], "ee\nfour");
    assert_talk(&t, "<three>", "three\n");
    close_end(&t.from[1]);
    assert_talk(&t, "<four>", "four");
    assert_int_equal(t.in.to_fd, -1); /* its end, too */
    end_talk(&t);
}

static void
check_told_first(void *ctx, struct view message)
{
    struct talk *t = ctx;
    uint8_t byte;
    assert_int_equal(file_read(t->to[0], &byte, 1), -EAGAIN);
    note_message(ctx, message);
}

static void
a_line_is_told_before_it_is_sent(void **state)
{
    (void)state;
    struct talk t;
    begin_piped(&t, false, false);
    t.in.fn = check_told_first;
    put(t.from[1], "one\ntwo\n");
    assert_talk(&t, "<one><two>", "one\ntwo\n");
    end_talk(&t);
}

static void
a_line_that_does_not_end_can_be_passed_on(void **state)
{
    (void)state;
    struct talk t;
    begin_piped(&t, false, false);
    put(t.from[1], "Content-Length: 2\r\n\r\n{}");
    assert_talk(&t, "<Content-Length: 2\r><\r>", "Content-Length: 2\r\n\r\n");
    assert_true(run_input_has_begun(&t.in));
    run_input_pass_begun(&t.in);
    assert_talk(&t, "<{}>", "{}");
    assert_false(run_input_has_begun(&t.in));
    end_talk(&t);
}

static void
a_prompt_is_one_message(void **state)
{
    (void)state;
    struct talk t;
    begin_piped(&t, true, false);
    put(t.from[1], "one\ntwo\n");
    assert_talk(&t, "", "");
    assert_false(run_input_has_begun(&t.in));
    put(t.from[1], "three\n");
    close_end(&t.from[1]);
    assert_talk(&t, "<one\ntwo\nthree>", "one\ntwo\nthree\n");
    assert_int_equal(t.in.to_fd, -1);
    end_talk(&t);
}

static void
further_iterations_get_it_again(void **state)
{
    (void)state;
    struct talk t;
    for (int is_prompt = 0; is_prompt < 2; is_prompt++) {
        begin_piped(&t, is_prompt, true);
        put(t.from[1], "one\ntwo");
        turn(&t);
        run_input_begin(&t.in, -1); /* that one is gone, before all of it came */
        close_end(&t.to[0]);
        buf_clear(&t.told);
        buf_clear(&t.got);
        put(t.from[1], "!\n");
        close_end(&t.from[1]);
        for (int i = 0; i < 2; i++) {
            begin(&t);
            assert_talk(&t, is_prompt ? "<one\ntwo!>" : "<one><two!>", "one\ntwo!\n");
            assert_int_equal(t.in.to_fd, -1);
            close_end(&t.to[0]);
        }
        assert_true(t.in.is_kept_whole);
        end_talk(&t);
    }
}

/* A file as our standard input: n bytes of lines. */
static int
make_file(size_t n)
{
    char name[] = "/tmp/ahr-input-XXXXXX";
    int fd = mkostemp(name, O_CLOEXEC);
    assert_true(fd >= 0);
    unlink(name);
    AUTO(buf) bytes = { 0 };
    for (size_t i = 0; i < n; i++)
        buf_append(&bytes, i % 100 == 99 || i == n - 1 ? "\n" : "x", 1);
    assert_int_equal(file_write_all(fd, bytes.p, bytes.n), 0);
    assert_int_equal(lseek(fd, 0, SEEK_SET), 0);
    return fd;
}

static void
a_file_is_sent_whole_however_slow_the_command_is(void **state)
{
    (void)state;
    struct talk t;
    int fd = make_file(3 * MIB);
    begin_with(&t, fd, false, true);
    for (int i = 0; i < 2; i++) {
        assert_false(run_input_wants_read(&t.in)); /* a loop could not wait for it */
        run_input_on_write(&t.in);                 /* its pipe is full */
        assert_true(queue_size(&t.in.waiting) <= MIB / 8);
        turn(&t);
        assert_int_equal(t.got.n, 3 * MIB);
        assert_int_equal(t.in.to_fd, -1);
        buf_clear(&t.got);
        close_end(&t.to[0]);
        begin(&t);
    }
    end_talk(&t);
    close(fd);
}

static void
what_is_too_much_to_keep_is_not_sent_in_part(void **state)
{
    (void)state;
    struct talk t;
    int fd = make_file(17 * MIB);
    begin_with(&t, fd, false, true);
    turn(&t);
    assert_int_equal(t.got.n, 17 * MIB);
    assert_false(t.in.is_kept_whole);
    close_end(&t.to[0]);
    buf_clear(&t.got);
    buf_clear(&t.told);
    begin(&t);
    assert_talk(&t, "", "");
    assert_int_equal(t.in.to_fd, -1);
    end_talk(&t);
    close(fd);
}

static void
nothing_is_sent_of_nothing(void **state)
{
    (void)state;
    int null_fd = open("/dev/null", O_RDWR | O_CLOEXEC), fds[2];
    int dir_fd = open("/", O_RDONLY | O_CLOEXEC);
    assert_int_equal(pipe2(fds, O_CLOEXEC), 0);
    close(fds[0]);
    int from[] = { -1, null_fd, dir_fd, fds[0], fds[1] }; /* fds[1] is for writing */
    for (size_t i = 0; i < sizeof(from) / sizeof(*from); i++) {
        struct talk t;
        begin_with(&t, from[i], false, true);
        assert_int_equal(t.in.from_fd, -1);
        assert_int_equal(t.in.to_fd, -1); /* the command's input has ended */
        assert_int_equal(run_input_send(&t.in, (struct view){ 0 }), -EPIPE);
        end_talk(&t);
    }
    close(null_fd);
    close(dir_fd);
    close(fds[1]);
}

static void
a_command_that_does_not_read_is_not_fed(void **state)
{
    (void)state;
    struct talk t;
    int fd = make_file(8 * MIB);
    size_t sent = 0;
    begin_piped(&t, false, false);
    fcntl(t.from[1], F_SETFL, O_NONBLOCK);
    for (char line[1000] = { 0 }; sent < 8 * MIB;) {
        memset(line, 'x', sizeof(line) - 1);
        line[sizeof(line) - 1] = '\n';
        ssize_t n = write(t.from[1], line, sizeof(line));
        sent += n > 0 ? (size_t)n : 0;
        if (run_input_wants_read(&t.in))
            run_input_on_read(&t.in);
        else if (n < 0)
            break;
    }
    assert_false(run_input_wants_read(&t.in));
    assert_true(sent < 2 * MIB);
    turn(&t); /* it reads after all */
    assert_int_equal(t.got.n + t.in.line.n, sent);
    end_talk(&t);
    close(fd);
}

static void
a_command_that_has_closed_its_input_is_left_alone(void **state)
{
    (void)state;
    struct talk t;
    begin_piped(&t, false, false);
    close_end(&t.to[0]);
    put(t.from[1], "one\n");
    assert_talk(&t, "<one>", "");
    assert_int_equal(t.in.to_fd, -1);
    assert_false(run_input_wants_read(&t.in));
    assert_false(run_input_wants_write(&t.in));
    end_talk(&t);
}

static void
a_line_of_many_mib_comes_in_pieces(void **state)
{
    (void)state;
    struct talk t;
    AUTO(buf) bytes = { 0 };
    begin_piped(&t, false, false);
    memset(buf_grow(&bytes, MIB / 16), 'x', MIB / 16);
    for (int i = 0; i < 40; i++) {
        assert_int_equal(file_write_all(t.from[1], bytes.p, bytes.n), 0);
        turn(&t);
    }
    assert_true(t.in.line.n <= MIB);
    put(t.from[1], "\n");
    turn(&t);
    assert_int_equal(t.got.n, 40 * (MIB / 16) + 1);
    assert_string_equal(buf_str(&t.told), "<xxxxxxxxxxxxxxxxxxxx><xxxxxxxxxxxxxxxxxxxx>"
                                          "<xxxxxxxxxxxxxxxxxxxx>");
    end_talk(&t);
}

static int
type(struct talk *t, const char *text)
{
    return run_input_send(&t->in, (struct view){ (const uint8_t *)text, strlen(text) });
}

/* Text and Enter are two messages of `ahr send`. */
static void
what_is_typed_goes_when_enter_is_pressed(void **state)
{
    (void)state;
    struct talk t;
    begin_piped(&t, false, false);
    put(t.from[1], "half");
    assert_int_equal(type(&t, "hello"), 0);
    assert_talk(&t, "", "");
    assert_int_equal(type(&t, "\r"), 0);
    assert_talk(&t, "<hello>", "hello\n");
    assert_int_equal(type(&t, "a\nb\r"), 0);
    assert_talk(&t, "<a><b>", "a\nb\n");
    put(t.from[1], " a line\n"); /* which it was not mixed with */
    assert_talk(&t, "<half a line>", "half a line\n");
    end_talk(&t);
}

static void
what_is_typed_waits_within_bounds(void **state)
{
    (void)state;
    struct talk t;
    char line[1001];
    int r = 0, lines = 0;
    memset(line, 'x', 1000);
    line[999] = '\n', line[1000] = 0;
    begin_piped(&t, false, false);
    while (!(r = type(&t, line)) && lines < 10000)
        lines++;
    assert_int_equal(r, ERR_LIMIT);
    assert_true(lines > 1000);
    turn(&t);
    assert_int_equal(t.got.n, (size_t)lines * 1000);
    end_talk(&t);
}

/* -- a terminal as our standard input -- */

/* In a process that leads a session with this terminal, and has itself in front. */
static int
take_terminal(int *ret_master)
{
    char name[64];
    int master = posix_openpt(O_RDWR | O_NOCTTY | O_CLOEXEC);
    if (master < 0 || grantpt(master) || unlockpt(master) ||
        ptsname_r(master, name, sizeof(name)) || setsid() < 0)
        _exit(2);
    int fd = open(name, O_RDWR | O_CLOEXEC);
    if (fd < 0 || tcgetpgrp(fd) != getpgrp())
        _exit(3);
    *ret_master = master;
    return fd;
}

static bool
is_told(struct talk *t, const char *told)
{
    turn(t);
    bool is_so = !strcmp(buf_str(&t->told), told);
    buf_clear(&t->told);
    return is_so;
}

static bool
terminal_is_read(void)
{
    struct talk t;
    int master, fd = take_terminal(&master);
    begin_with(&t, fd, false, true);
    put(master, "one\n");
    bool is_good = is_ready(fd, POLLIN, PATIENCE_MS) && is_told(&t, "<one>") &&
                   !(fcntl(fd, F_GETFL) & O_NONBLOCK) && !t.in.is_kept;
    put(master, "\004"); /* ^D */
    is_good = is_good && is_ready(fd, POLLIN, PATIENCE_MS) && is_told(&t, "") &&
              t.in.to_fd == -1;
    end_talk(&t);
    return is_good;
}

static void
a_terminal_is_read_and_stays_as_it_is(void **state)
{
    (void)state;
    assert_holds(terminal_is_read);
}

/* Who is in front of the terminal; without being stopped for it. */
static void
set_front(int fd, pid_t group)
{
    signal(SIGTTOU, SIG_IGN);
    if (tcsetpgrp(fd, group))
        _exit(4);
}

static _Noreturn void
be_job(int fd, int master)
{
    struct talk t;
    setpgid(0, 0);
    begin_with(&t, fd, false, false);
    if (t.in.from_fd != -1)
        _exit(5); /* it is somebody else's */
    end_talk(&t);
    set_front(fd, getpgrp());
    begin_with(&t, fd, false, false);
    set_front(fd, getppid());
    put(master, "for the shell\n");
    if (!is_ready(fd, POLLIN, PATIENCE_MS) || run_input_wants_read(&t.in))
        _exit(6);
    run_input_on_read(&t.in); /* whoever asks: it is neither read nor are we stopped */
    if (!is_told(&t, ""))
        _exit(7);
    set_front(fd, getpgrp());
    _exit(is_told(&t, "<for the shell>") ? 0 : 8);
}

static bool
background_is_left_alone(void)
{
    int status = 0, master, fd = take_terminal(&master);
    pid_t pid = fork();
    if (!pid)
        be_job(fd, master);
    return waitpid(pid, &status, WUNTRACED) == pid && WIFEXITED(status) &&
           WEXITSTATUS(status) == 0;
}

static void
in_the_background_a_terminal_is_not_read_and_does_not_stop_us(void **state)
{
    (void)state;
    assert_holds(background_is_left_alone);
}

int
main(void)
{
    static const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_command_has_pipes_and_a_group_of_its_own),
        cmocka_unit_test(without_input_it_reads_nothing),
        cmocka_unit_test(our_ends_do_not_block_and_theirs_do),
        cmocka_unit_test(it_has_no_descriptor_but_0_1_and_2),
        cmocka_unit_test(it_has_signals_as_they_are_at_first),
        cmocka_unit_test(a_signal_reaches_its_group_also_when_it_is_stopped),
        cmocka_unit_test(what_cannot_run_is_told_as_shells_tell_it),
        cmocka_unit_test(it_runs_in_the_folder_it_is_told),
        cmocka_unit_test(it_has_0_1_and_2_where_we_have_none),
        cmocka_unit_test(without_room_for_its_pipes_it_fails_clearly),
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
        cmocka_unit_test(each_line_is_told_and_sent),
        cmocka_unit_test(a_line_is_told_before_it_is_sent),
        cmocka_unit_test(a_line_that_does_not_end_can_be_passed_on),
        cmocka_unit_test(a_prompt_is_one_message),
        cmocka_unit_test(further_iterations_get_it_again),
        cmocka_unit_test(a_file_is_sent_whole_however_slow_the_command_is),
        cmocka_unit_test(what_is_too_much_to_keep_is_not_sent_in_part),
        cmocka_unit_test(nothing_is_sent_of_nothing),
        cmocka_unit_test(a_command_that_does_not_read_is_not_fed),
        cmocka_unit_test(a_command_that_has_closed_its_input_is_left_alone),
        cmocka_unit_test(a_line_of_many_mib_comes_in_pieces),
        cmocka_unit_test(what_is_typed_goes_when_enter_is_pressed),
        cmocka_unit_test(what_is_typed_waits_within_bounds),
        cmocka_unit_test(a_terminal_is_read_and_stays_as_it_is),
        cmocka_unit_test(in_the_background_a_terminal_is_not_read_and_does_not_stop_us),
    };
    return cmocka_run_group_tests_name("run_parts", tests, NULL, NULL);
}
