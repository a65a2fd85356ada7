/* SPDX-License-Identifier: MIT */
/* run_input_test.c -- what a command is sent: lines, prompts, files, what is typed. */
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/file.h"
#include "run/input_priv.h"
#include "support/run_kit.h"

enum { MIB = 1 << 20 };

struct talk {
    struct run_input in;
    int from[2]; /* ours: read, and the other end */
    int to[2];   /* the command's: its end, and ours */
    struct buf told;
    struct buf got;
};

static void
note_message(void *ctx, struct view message, bool is_open)
{
    struct talk *t = ctx;
    buf_append(&t->told, "<", 1);
    buf_append(&t->told, message.p, message.n < 20 ? message.n : 20);
    buf_puts(&t->told, is_open ? "…>" : ">");
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
        if (run_input_wants_read(&t->in) && run_kit_is_ready(t->in.from_fd, POLLIN, 0)) {
            run_input_on_read(&t->in);
            goes_on = true;
        }
        if (run_input_wants_write(&t->in) && run_kit_is_ready(t->in.to_fd, POLLOUT, 0)) {
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
    run_kit_put(t.from[1], "one\ntwo\n\nthr");
    assert_talk(&t, "<one><two><>", "one\ntwo\n\n");
    run_kit_put(t.from[1], "ee\nfour");
    assert_talk(&t, "<three>", "three\n");
    run_kit_close(&t.from[1]);
    assert_talk(&t, "<four>", "four");
    assert_int_equal(t.in.to_fd, -1); /* its end, too */
    end_talk(&t);
}

static void
check_told_first(void *ctx, struct view message, bool is_open)
{
    struct talk *t = ctx;
    uint8_t byte;
    assert_int_equal(file_read(t->to[0], &byte, 1), -EAGAIN);
    note_message(ctx, message, is_open);
}

static void
a_line_is_told_before_it_is_sent(void **state)
{
    (void)state;
    struct talk t;
    begin_piped(&t, false, false);
    t.in.fn = check_told_first;
    run_kit_put(t.from[1], "one\ntwo\n");
    assert_talk(&t, "<one><two>", "one\ntwo\n");
    end_talk(&t);
}

static void
a_line_that_does_not_end_can_be_passed_on(void **state)
{
    (void)state;
    struct talk t;
    begin_piped(&t, false, false);
    run_kit_put(t.from[1], "Content-Length: 2\r\n\r\n{}");
    assert_talk(&t, "<Content-Length: 2\r><\r>", "Content-Length: 2\r\n\r\n");
    assert_true(run_input_has_begun(&t.in));
    run_input_pass_begun(&t.in);
    assert_talk(&t, "<{}…>", "{}");
    assert_false(run_input_has_begun(&t.in));
    end_talk(&t);
}

static void
a_prompt_is_one_message(void **state)
{
    (void)state;
    struct talk t;
    begin_piped(&t, true, false);
    run_kit_put(t.from[1], "one\ntwo\n");
    assert_talk(&t, "", "");
    assert_false(run_input_has_begun(&t.in));
    run_kit_put(t.from[1], "three\n");
    run_kit_close(&t.from[1]);
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
        run_kit_put(t.from[1], "one\ntwo");
        turn(&t);
        run_input_begin(&t.in, -1); /* that one is gone, before all of it came */
        run_kit_close(&t.to[0]);
        buf_clear(&t.told);
        buf_clear(&t.got);
        run_kit_put(t.from[1], "!\n");
        run_kit_close(&t.from[1]);
        for (int i = 0; i < 2; i++) {
            begin(&t);
            assert_talk(&t, is_prompt ? "<one\ntwo!>" : "<one><two!>", "one\ntwo!\n");
            assert_int_equal(t.in.to_fd, -1);
            run_kit_close(&t.to[0]);
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
        run_kit_close(&t.to[0]);
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
    run_kit_close(&t.to[0]);
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
    run_kit_close(&t.to[0]);
    run_kit_put(t.from[1], "one\n");
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
    run_kit_put(t.from[1], "\n");
    turn(&t);
    assert_int_equal(t.got.n, 40 * (MIB / 16) + 1);
    assert_string_equal(buf_str(&t.told), "<xxxxxxxxxxxxxxxxxxxx…><xxxxxxxxxxxxxxxxxxxx…>"
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
    run_kit_put(t.from[1], "half");
    assert_int_equal(type(&t, "hello"), 0);
    assert_talk(&t, "", "");
    assert_int_equal(type(&t, "\r"), 0);
    assert_talk(&t, "<hello>", "hello\n");
    assert_int_equal(type(&t, "a\nb\r"), 0);
    assert_talk(&t, "<a><b>", "a\nb\n");
    run_kit_put(t.from[1], " a line\n"); /* which it was not mixed with */
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
    run_kit_put(master, "one\n");
    bool is_good = run_kit_is_ready(fd, POLLIN, RUN_KIT_PATIENCE_MS) &&
                   is_told(&t, "<one>") && !(fcntl(fd, F_GETFL) & O_NONBLOCK) &&
                   !t.in.is_kept;
    run_kit_put(master, "\004"); /* ^D */
    is_good = is_good && run_kit_is_ready(fd, POLLIN, RUN_KIT_PATIENCE_MS) &&
              is_told(&t, "") && t.in.to_fd == -1;
    end_talk(&t);
    return is_good;
}

static void
a_terminal_is_read_and_stays_as_it_is(void **state)
{
    (void)state;
    run_kit_assert_holds(terminal_is_read);
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
    run_kit_put(master, "for the shell\n");
    if (!run_kit_is_ready(fd, POLLIN, RUN_KIT_PATIENCE_MS) || run_input_wants_read(&t.in))
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
    run_kit_assert_holds(background_is_left_alone);
}

int
main(void)
{
    static const struct CMUnitTest tests[] = {
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
    return cmocka_run_group_tests_name("run_input", tests, NULL, NULL);
}
