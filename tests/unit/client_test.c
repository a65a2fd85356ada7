/* SPDX-License-Identifier: MIT */
/*
 * client_test.c -- clients of all kinds; the test is their host at one side, and their
 * terminal or their pipe's reader at the other.
 */
#include "support/kit.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <pty.h>
#include <signal.h>
#include <sys/ioctl.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/file.h"
#include "client/client.h"
#include "client/show_priv.h"
#include "ipc/message.h"
#include "term/term.h"

enum { WAIT_S = 60, COLS = 80, ROWS = 24, NUMBER = 5, PREFIX = 0x1d };

struct scene {
    pid_t pid;
    int link, out; /* the host's end; the terminal's, or of a pipe */
    struct tape_writer *tape;
    uint64_t off;
    struct buf in, seen; /* from the client; all that it wrote */
    size_t taken;        /* of `in`, by the last message */
    bool is_deaf;        /* the terminal takes nothing */
    struct term *outer;  /* what the terminal shows */
    uint64_t deadline_ns;
};

/* -- the client -- */

/* What it said, and what it noted by itself: a line each. */
static void
add_line(const char *path, const char *line, size_t n)
{
    int fd = open(path, O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0600);
    assert_true(fd >= 0);
    assert_int_equal(file_write_all(fd, line, n), 0);
    assert_int_equal(file_write_all(fd, "\n", 1), 0);
    close(fd);
}

static void
note_said(void *ctx, const char *text)
{
    (void)ctx;
    add_line("said", text, strlen(text));
}

static int
note_instruction(void *ctx, const struct tui_wish *wish, struct play_event *ret,
                 struct err *err)
{
    (void)ctx;
    (void)ret;
    (void)err;
    AUTO(buf) line = { 0 };
    buf_printf(&line, "%.*s %s", (int)wish->text.n, (const char *)wish->text.p,
               wish->is_typed ? "typed" : "not typed");
    add_line("noted", buf_str(&line), line.n);
    return 0;
}

static bool
is_live(void *ctx)
{
    return *(bool *)ctx;
}

static void
be_client(enum client_kind kind, bool is_viewed, int link_fd, int fd, bool is_terminal,
          bool is_alive)
{
    struct pty_tty tty = { .fd = -1 };
    client_hold_signals();
    if (is_terminal) {
        setsid();
        ioctl(fd, TIOCSCTTY, 0);
        pty_tty_init(&tty, fd);
    }
    struct client_options opt = {
        .kind = kind,
        .link_fd = link_fd,
        .in_fd = is_terminal ? fd : -1,
        .out_fd = fd,
        .tty = &tty,
        .is_out_terminal = is_terminal,
        .cols = COLS,
        .rows = ROWS,
        .is_viewed = is_viewed,
        .prefix = PREFIX,
        .deliver = TUI_DELIVER_YES,
        .name = "a session",
        .tape_path = KIT_PATH,
        .done_tape_path = "elsewhere.ahr",
        .say = note_said,
        .is_session_live = is_live,
        .instruct = note_instruction,
        .ctx = &is_alive,
    };
    struct client_result done = { 0 };
    client_run(&opt, &done);
    _exit((int)done.end);
}

static void
start_client(struct scene *s, enum client_kind kind, bool is_viewed, bool is_terminal,
             bool is_alive)
{
    int link[2], out[2];
    struct err err;
    struct timeval wait = { .tv_sec = WAIT_S };
    struct winsize size = { .ws_col = COLS, .ws_row = ROWS };
    struct tape_writer_options opt = kit_options(TAPE_SYNC_NONE);
    struct term_options how = term_options_default();
    *s = (struct scene){ .deadline_ns = clock_mono_ns() + WAIT_S * 1000000000ULL };
    opt.block_bytes = 256 << 10;
    assert_int_equal(socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, link), 0);
    if (is_terminal)
        assert_int_equal(openpty(&out[0], &out[1], NULL, NULL, &size), 0);
    else
        assert_int_equal(pipe(out), 0);
    setsockopt(link[0], SOL_SOCKET, SO_SNDTIMEO, &wait, sizeof(wait));
    s->pid = fork();
    if (!s->pid) {
        close(link[0]);
        close(out[0]);
        be_client(kind, is_viewed, link[1], out[1], is_terminal, is_alive);
    }
    close(link[1]);
    if (!is_terminal) /* a terminal stays when nobody has it open */
        close(out[1]);
    s->link = link[0];
    s->out = out[0];
    /* After fork(): a child of a thread in the allocator waits for its lock for ever. */
    assert_int_equal(tape_writer_open(&s->tape, tape_io_files(), KIT_PATH, &opt, &err),
                     0);
    fcntl(s->out, F_SETFL, O_NONBLOCK);
    s->outer = term_new(&how);
    assert_non_null(s->outer);
}

static void
start(struct scene *s, enum client_kind kind, bool is_terminal, bool is_alive)
{
    start_client(s, kind, false, is_terminal, is_alive);
}

/* -- looking on -- */

/* Lets the client do something, for so long. */
static void
look_for(struct scene *s, int ms)
{
    static uint8_t bytes[65536];
    struct pollfd fds[] = { { .fd = s->link, .events = POLLIN },
                            { .fd = s->is_deaf ? -1 : s->out, .events = POLLIN } };
    if (clock_mono_ns() > s->deadline_ns)
        fail_msg("waited in vain");
    poll(fds, 2, ms);
    ssize_t n = fds[0].revents ? recv(s->link, bytes, sizeof(bytes), MSG_DONTWAIT) : 0;
    if (n > 0)
        buf_append(&s->in, bytes, (size_t)n);
    n = fds[1].revents ? read(s->out, bytes, sizeof(bytes)) : 0;
    if (n <= 0)
        return;
    buf_append(&s->seen, bytes, (size_t)n);
    term_feed(s->outer, bytes, (size_t)n, 0);
}

static void
look(struct scene *s)
{
    look_for(s, 100);
}

/* The next message of the client; the one before is gone then. */
static struct ipc_message
hear(struct scene *s, uint8_t selector)
{
    struct ipc_frame frame;
    struct ipc_message m;
    ssize_t size;
    if (s->taken)
        memmove(s->in.p, s->in.p + s->taken, s->in.n - s->taken);
    s->in.n -= s->taken;
    s->taken = 0;
    while (!(size = ipc_frame_get((struct view){ s->in.p, s->in.n }, &frame)))
        look(s);
    assert_true(size > 0);
    s->taken = (size_t)size;
    assert_int_equal(ipc_message_get(&m, &frame, IPC_TO_HOST), 0);
    assert_int_equal(m.selector, selector);
    return m;
}

static bool
is_row(struct scene *s, unsigned row, const char *text)
{
    struct term_line line = { 0 };
    term_line_at(s->outer, term_scrollback_count(s->outer) + row, &line);
    bool is_it = !strcmp(buf_str(&line.text), text);
    term_line_release(&line);
    return is_it;
}

static void
shows(struct scene *s, unsigned row, const char *text)
{
    while (!is_row(s, row, text))
        look(s);
}

/* Somewhere: in a frame, in the status line. */
static bool
is_told(struct scene *s, const char *text)
{
    struct term_line line = { 0 };
    bool is_there = false;
    for (unsigned row = 0; row < term_rows(s->outer) && !is_there; row++) {
        term_line_at(s->outer, term_scrollback_count(s->outer) + row, &line);
        is_there = strstr(buf_str(&line.text), text);
    }
    term_line_release(&line);
    return is_there;
}

static void
tells(struct scene *s, const char *text)
{
    while (!is_told(s, text))
        look(s);
}

static void
is_on_alternate(struct scene *s, bool is_alternate)
{
    while (term_modes(s->outer).is_alternate != is_alternate)
        look(s);
}

static void
ends(struct scene *s, enum client_end end)
{
    int status;
    struct err err;
    struct tape_writer_status ignored;
    while (!waitpid(s->pid, &status, WNOHANG))
        look(s);
    assert_true(WIFEXITED(status));
    assert_int_equal(WEXITSTATUS(status), end);
    for (size_t n = SIZE_MAX; n != s->seen.n; look(s))
        n = s->seen.n;
    close(s->link);
    close(s->out);
    assert_int_equal(tape_writer_finish(s->tape, KIT_START, &ignored, &err), 0);
    buf_release(&s->in);
    buf_release(&s->seen);
    term_free(s->outer);
}

/* -- being the host -- */

static void
say(struct scene *s, struct ipc_message m)
{
    AUTO(buf) out = { 0 };
    assert_int_equal(ipc_message_put(&out, &m, IPC_TO_CLIENT), 0);
    assert_int_equal(send(s->link, out.p, out.n, MSG_NOSIGNAL), out.n);
}

static void
stage(struct scene *s, unsigned cols, unsigned rows, unsigned passing)
{
    say(s, (struct ipc_message){ .selector = IPC_STAGE,
                                 .field = { cols, rows, passing, IPC_NONE } });
}

static struct view
record(struct scene *s, const char *text)
{
    struct view v = { (const uint8_t *)text, strlen(text) };
    struct tape_record rec = { .tag = TAPE_DATA, .ts_ns = KIT_START, .bytes = v };
    tape_writer_append(s->tape, rec);
    s->off += v.n;
    return v;
}

static void
output(struct scene *s, const char *text)
{
    uint64_t off = s->off;
    say(s, (struct ipc_message){
               .selector = IPC_OUTPUT, .field = { off }, .bytes = record(s, text) });
}

static void
skip_ahead(struct scene *s)
{
    say(s,
        (struct ipc_message){ .selector = IPC_SKIPPED, .field = { s->off, COLS, ROWS } });
}

static void
join(struct scene *s)
{
    say(s, (struct ipc_message){ .selector = IPC_JOINED,
                                 .field = { NUMBER, s->off, COLS, ROWS, 0, 0 } });
    stage(s, COLS, ROWS, 1);
    hear(s, IPC_STATUS);
}

static void
end_session(struct scene *s)
{
    say(s, (struct ipc_message){ .selector = IPC_ENDED,
                                 .field = { 1, 0, 0, s->off, 0, 0, 0 } });
}

static void
type(struct scene *s, const char *keys)
{
    assert_int_equal(write(s->out, keys, strlen(keys)), strlen(keys));
}

static void
types(struct scene *s, const char *text)
{
    struct ipc_message m = hear(s, IPC_INPUT);
    assert_int_equal(m.bytes.n, strlen(text));
    assert_memory_equal(m.bytes.p, text, m.bytes.n);
}

/* An attached client that shows "hello". */
static void
attach(struct scene *s)
{
    start(s, CLIENT_ATTACH, true, true);
    struct ipc_message m = hear(s, IPC_SUBSCRIBE);
    assert_int_equal(m.field[0], COLS);
    assert_int_equal(m.field[1], ROWS);
    assert_int_equal(m.field[2], IPC_SUB_PICTURE);
    record(s, "hello");
    join(s);
    skip_ahead(s);
    shows(s, 0, "hello");
    is_on_alternate(s, true);
}

/* -- record -- */

static void
bytes_are_passed_as_they_are(void **state)
{
    (void)state;
    struct scene s;
    start(&s, CLIENT_RECORD, true, true);
    stage(&s, COLS, ROWS, 1);
    output(&s, "one\033[31m\007two\r\n\033[?2004h");
    end_session(&s);
    while (s.seen.n < s.off)
        look(&s);
    assert_int_equal(s.seen.n, s.off);
    assert_memory_equal(s.seen.p, "one\033[31m\007two\r\n\033[?2004h", s.off);
    ends(&s, CLIENT_ENDED);
}

static void
it_draws_while_another_size_rules(void **state)
{
    (void)state;
    struct scene s;
    start(&s, CLIENT_RECORD, true, true);
    stage(&s, COLS, ROWS, 1);
    output(&s, "first\r\n");
    shows(&s, 0, "first");
    is_on_alternate(&s, false);
    stage(&s, 40, 10, 0);
    is_on_alternate(&s, true);
    output(&s, "second \033[5n"); /* a query is nothing to be drawn */
    tells(&s, "first");
    tells(&s, "second");
    stage(&s, COLS, ROWS, 1);
    is_on_alternate(&s, false);
    output(&s, "third");
    shows(&s, 1, "second third");
    shows(&s, 0, "first");
    assert_null(memmem(s.seen.p, s.seen.n, "\033[5n", 4));
    end_session(&s);
    ends(&s, CLIENT_ENDED);
}

static void
what_was_drawn_last_stays_to_be_seen(void **state)
{
    (void)state;
    struct scene s;
    start(&s, CLIENT_RECORD, true, true);
    stage(&s, COLS, ROWS, 1);
    output(&s, "first\r\n");
    stage(&s, 40, 10, 0);
    is_on_alternate(&s, true);
    output(&s, "second\033[?25l");
    tells(&s, "second");
    end_session(&s);
    is_on_alternate(&s, false);
    shows(&s, 0, "first");
    shows(&s, 1, "second");
    assert_true(term_cursor(s.outer).is_visible);
    assert_int_equal(term_cursor(s.outer).row, 1);
    ends(&s, CLIENT_ENDED);
}

static void
a_terminal_that_lags_is_left_out_and_repainted(void **state)
{
    (void)state;
    static char flood[60001];
    struct scene s;
    for (size_t i = 0; i < 60000; i++)
        flood[i] = i % 60 == 59 ? '\n' : (char)('a' + i / 60 % 26);
    start(&s, CLIENT_RECORD, true, true);
    stage(&s, COLS, ROWS, 1);
    s.is_deaf = true;
    for (int i = 0; i < 12; i++)
        output(&s, flood);
    struct ipc_message m = hear(&s, IPC_PAUSE);
    assert_int_equal(m.field[0], 1);
    uint64_t shown = m.field[1];
    assert_true(shown < s.off);
    record(&s, "\033[2J\033[Hthe end");
    s.is_deaf = false;
    m = hear(&s, IPC_PAUSE);
    assert_int_equal(m.field[0], 0);
    assert_int_equal(s.seen.n, shown);
    for (size_t i = 0; i < shown; i++)
        assert_int_equal(s.seen.p[i], flood[i % 60000]);
    skip_ahead(&s);
    shows(&s, 0, "the end");
    output(&s, " of it");
    shows(&s, 0, "the end of it");
    end_session(&s);
    ends(&s, CLIENT_ENDED);
}

static void
what_ends_while_the_terminal_lags_is_shown(void **state)
{
    (void)state;
    static char flood[60001];
    struct scene s;
    memset(flood, 'x', 60000);
    start(&s, CLIENT_RECORD, true, true);
    stage(&s, COLS, ROWS, 1);
    s.is_deaf = true;
    for (int i = 0; i < 12; i++)
        output(&s, flood);
    hear(&s, IPC_PAUSE);
    record(&s, "\033[2J\033[Hthe end");
    end_session(&s);
    s.is_deaf = false;
    shows(&s, 0, "the end");
    ends(&s, CLIENT_ENDED);
}

static void
a_pipe_gets_what_was_left_out(void **state)
{
    (void)state;
    struct scene s;
    start(&s, CLIENT_RECORD, false, true);
    stage(&s, COLS, ROWS, 0);
    output(&s, "one ");
    record(&s, "two ");
    record(&s, "three ");
    skip_ahead(&s);
    output(&s, "four");
    end_session(&s);
    while (s.seen.n < s.off)
        look(&s);
    assert_memory_equal(s.seen.p, "one two three four", s.off);
    ends(&s, CLIENT_ENDED);
}

static void
a_suspended_client_asks_for_nothing(void **state)
{
    (void)state;
    struct scene s;
    int status;
    start(&s, CLIENT_RECORD, true, true);
    stage(&s, COLS, ROWS, 1);
    output(&s, "before\033[?1049h\033[Hin vi");
    shows(&s, 0, "in vi");
    kill(s.pid, SIGTSTP);
    struct ipc_message m = hear(&s, IPC_PAUSE);
    assert_int_equal(m.field[0], 1);
    assert_int_equal(m.field[1], s.off);
    assert_int_equal(waitpid(s.pid, &status, WUNTRACED), s.pid);
    assert_true(WIFSTOPPED(status));
    is_on_alternate(&s, false);
    record(&s, "\033[Hmeanwhile");
    kill(s.pid, SIGCONT);
    assert_int_equal(hear(&s, IPC_PAUSE).field[0], 0);
    skip_ahead(&s);
    shows(&s, 0, "meanwhile");
    is_on_alternate(&s, true);
    end_session(&s);
    ends(&s, CLIENT_ENDED);
}

static void
a_host_that_hangs_up_has_vanished_or_dropped_us(void **state)
{
    (void)state;
    for (int is_alive = 0; is_alive < 2; is_alive++) {
        struct scene s;
        start(&s, CLIENT_RECORD, true, is_alive);
        stage(&s, COLS, ROWS, 1);
        shutdown(s.link, SHUT_RDWR);
        ends(&s, is_alive ? CLIENT_DROPPED : CLIENT_HOST_GONE);
        unlink(KIT_PATH);
    }
}

/* -- the viewer of `record` -- */

/* One that shows "hello". */
static void
view(struct scene *s)
{
    start_client(s, CLIENT_RECORD, true, true, true);
    stage(s, COLS, ROWS, 0);
    output(s, "hello\033[5n");
    shows(s, 0, "hello");
    is_on_alternate(s, true);
}

static void
done(struct scene *s, uint64_t id)
{
    say(s, (struct ipc_message){ .selector = IPC_DONE, .field = { id, s->off, 0 } });
}

static void
taken(struct scene *s, size_t n)
{
    say(s, (struct ipc_message){ .selector = IPC_TAKEN, .field = { n } });
}

static void
viewed_it_draws_from_the_start(void **state)
{
    (void)state;
    struct scene s;
    view(&s);
    assert_null(memmem(s.seen.p, s.seen.n, "\033[5n", 4));
    type(&s, "ls\r\003");
    types(&s, "ls\r\003");
    type(&s, "\035\035");
    types(&s, "\035");
    end_session(&s);
    is_on_alternate(&s, false);
    shows(&s, 0, "hello");
    ends(&s, CLIENT_ENDED);
}

static void
what_it_is_asked_for_is_asked_of_the_host(void **state)
{
    (void)state;
    struct scene s;
    view(&s);
    type(&s, "\035sa label\r");
    struct ipc_message m = hear(&s, IPC_SNAPSHOT_MANUAL);
    assert_int_equal(m.bytes.n, 7);
    assert_memory_equal(m.bytes.p, "a label", 7);
    done(&s, m.field[0]);
    tells(&s, "snapshot taken");
    type(&s, "\035sanother\r");
    hear(&s, IPC_SNAPSHOT_MANUAL);
    say(&s, (struct ipc_message){ .selector = IPC_REFUSED,
                                  .bytes = { (const uint8_t *)"no room", 7 } });
    tells(&s, "no room");
    type(&s, "\035d");
    hear(&s, IPC_DETACH);
    ends(&s, CLIENT_DETACHED);
}

static void
is_in(const char *path, const char *want)
{
    AUTO(buf) got = { 0 };
    int r = file_slurp(path, &got);
    assert_true(r == 0 || r == -ENOENT);
    assert_string_equal(buf_str(&got), want);
}

/* By an instruction, up to Enter, which is not taken yet. */
static void
tell_agent(struct scene *s, const char *text)
{
    type(s, "\035i");
    tells(s, "instruction for now");
    type(s, text);
    type(s, "\023");
    types(s, text);
    taken(s, strlen(text));
    types(s, "\r");
}

static void
an_instruction_is_typed_before_it_is_noted(void **state)
{
    (void)state;
    struct scene s;
    view(&s);
    uint64_t from_ns = clock_mono_ns();
    tell_agent(&s, "go on");
    assert_true(clock_mono_ns() - from_ns >= 90000000);
    taken(&s, 1);
    struct ipc_message m = hear(&s, IPC_INSTRUCT);
    assert_int_equal(m.field[0], s.off);
    assert_int_equal(m.field[3], true);
    assert_memory_equal(m.bytes.p, "go on", 5);
    done(&s, 1);
    tells(&s, "instruction typed and noted");
    end_session(&s);
    ends(&s, CLIENT_ENDED);
    is_in("noted", "");
}

static void
what_the_host_does_not_take_is_noted_at_the_end(void **state)
{
    (void)state;
    struct scene s;
    view(&s);
    tell_agent(&s, "one");
    taken(&s, 1);
    hear(&s, IPC_INSTRUCT);
    tell_agent(&s, "two");
    taken(&s, 1);
    hear(&s, IPC_INSTRUCT);
    done(&s, 1);
    end_session(&s);
    ends(&s, CLIENT_ENDED);
    is_in("noted", "two typed\n");
    is_in("said", "");
}

static void
what_is_being_typed_is_noted_at_the_end(void **state)
{
    (void)state;
    for (int is_taken = 0; is_taken < 2; is_taken++) {
        struct scene s;
        AUTO(buf) out = { 0 };
        struct ipc_message taken_it = { .selector = IPC_TAKEN, .field = { 1 } };
        struct ipc_message ended = { .selector = IPC_ENDED, .field = { 1 } };
        view(&s);
        tell_agent(&s, "go on");
        if (is_taken)
            ipc_message_put(&out, &taken_it, IPC_TO_CLIENT);
        ipc_message_put(&out, &ended, IPC_TO_CLIENT); /* in one piece */
        assert_int_equal(send(s.link, out.p, out.n, MSG_NOSIGNAL), out.n);
        ends(&s, CLIENT_ENDED);
        is_in("noted", is_taken ? "go on typed\n" : "go on not typed\n");
        unlink("noted");
        unlink(KIT_PATH);
    }
}

static void
what_is_being_typed_is_noted_when_it_is_left(void **state)
{
    (void)state;
    struct scene s;
    view(&s);
    tell_agent(&s, "go on");
    type(&s, "\035d");
    assert_int_equal(hear(&s, IPC_INSTRUCT).field[3], false);
    hear(&s, IPC_DETACH);
    ends(&s, CLIENT_DETACHED);
}

/* It may have noted it: that is not done twice. */
static void
what_a_host_has_not_answered_when_it_vanishes_is_said(void **state)
{
    (void)state;
    struct scene s;
    start_client(&s, CLIENT_RECORD, true, true, false);
    stage(&s, COLS, ROWS, 0);
    is_on_alternate(&s, true);
    tell_agent(&s, "go on");
    taken(&s, 1);
    hear(&s, IPC_INSTRUCT);
    shutdown(s.link, SHUT_RDWR);
    ends(&s, CLIENT_HOST_GONE);
    is_in("noted", "");
    is_in("said", "an instruction is not noted (or it is: the recorder has not said so): "
                  "go on\n");
}

static void
what_is_asked_while_too_much_is_not_answered_stays_in_the_draft(void **state)
{
    (void)state;
    struct scene s;
    view(&s);
    for (int i = 0; i < 16; i++) {
        type(&s, "\035sx\r");
        hear(&s, IPC_SNAPSHOT_MANUAL);
    }
    type(&s, "\035sx\r");
    tells(&s, "has not answered yet");
    type(&s, "\035i");
    tells(&s, "instruction for now");
    type(&s, "go on\023");
    tells(&s, "has not answered yet");
    for (uint64_t i = 1; i <= 16; i++)
        done(&s, i);
    tells(&s, "snapshot taken");
    type(&s, "\035i");
    tells(&s, "instruction for now");
    tells(&s, "go on");
    type(&s, "\023");
    types(&s, "go on");
    end_session(&s);
    ends(&s, CLIENT_ENDED);
}

/* A program that does not read. */
static void
keys_of_the_viewer_do_not_wait_for_the_session(void **state)
{
    (void)state;
    static const char many[1000] = "many keys";
    struct scene s;
    size_t heard = 0;
    view(&s);
    for (size_t at = 0; at < 70000;) { /* more than may be on its way */
        ssize_t n = write(s.out, many, sizeof(many));
        at += n > 0 ? (size_t)n : 0;
        look(&s);
    }
    while (heard < 65536)
        heard += hear(&s, IPC_INPUT).bytes.n;
    assert_int_equal(heard, 65536);
    type(&s, "\035v");
    tells(&s, "line 1 of 1");
    type(&s, "q");
    taken(&s, 65536);
    while (heard < 70000)
        heard += hear(&s, IPC_INPUT).bytes.n;
    assert_int_equal(heard, 70000);
    end_session(&s);
    ends(&s, CLIENT_ENDED);
}

static void
who_looks_back_stays_at_the_end(void **state)
{
    (void)state;
    struct scene s;
    view(&s);
    type(&s, "\035v");
    tells(&s, "line 1 of 1");
    end_session(&s);
    tells(&s, "exit 0");
    type(&s, "q");
    is_on_alternate(&s, false);
    ends(&s, CLIENT_ENDED);
}

/* -- attach -- */

static void
attached_it_draws_and_types(void **state)
{
    (void)state;
    struct scene s;
    attach(&s);
    output(&s, " world\033[?2004h");
    shows(&s, 0, "hello world");
    while (!term_modes(s.outer).bracketed_paste)
        look(&s);
    type(&s, "ls\r\003");
    types(&s, "ls\r\003");
    type(&s, "\035\035");
    types(&s, "\035");
    type(&s, "x\035d");
    types(&s, "x");
    hear(&s, IPC_DETACH);
    is_on_alternate(&s, false);
    assert_false(term_modes(s.outer).bracketed_paste);
    ends(&s, CLIENT_DETACHED);
}

static void
a_picture_is_what_it_begins_with(void **state)
{
    (void)state;
    AUTO(buf) picture = { 0 };
    struct scene s;
    struct term_options how = term_options_default();
    struct term *t = term_new(&how);
    term_feed(t, "a picture\033[3", 12, 0);
    assert_int_equal(term_snapshot(t, true, &picture), 0);
    term_free(t);
    start(&s, CLIENT_ATTACH, true, true);
    hear(&s, IPC_SUBSCRIBE);
    record(&s, "a picture\033[3");
    join(&s);
    size_t half = picture.n / 2;
    say(&s, (struct ipc_message){ .selector = IPC_PICTURE,
                                  .field = { s.off, 0 },
                                  .bytes = { picture.p, half } });
    say(&s, (struct ipc_message){ .selector = IPC_PICTURE,
                                  .field = { s.off, 1 },
                                  .bytes = { picture.p + half, picture.n - half } });
    output(&s, "1m in red");
    shows(&s, 0, "a picture in red");
    end_session(&s);
    is_on_alternate(&s, false);
    ends(&s, CLIENT_ENDED);
}

static void
a_bad_picture_is_made_from_the_recording(void **state)
{
    (void)state;
    struct scene s;
    start(&s, CLIENT_ATTACH, true, true);
    hear(&s, IPC_SUBSCRIBE);
    record(&s, "recorded");
    join(&s);
    say(&s, (struct ipc_message){ .selector = IPC_PICTURE,
                                  .field = { s.off, 1 },
                                  .bytes = { (const uint8_t *)"rubbish", 7 } });
    shows(&s, 0, "recorded");
    end_session(&s);
    ends(&s, CLIENT_ENDED);
}

/* A client that came after so many lines, and is shown the last of them. */
static void
come_late(struct scene *s, int lines)
{
    AUTO(buf) text = { 0 };
    AUTO(buf) picture = { 0 };
    struct term_options how = term_options_default();
    struct term *t = term_new(&how);
    start(s, CLIENT_ATTACH, true, true);
    hear(s, IPC_SUBSCRIBE);
    for (int i = 0; i < lines; i++) {
        buf_printf(&text, "line %d\r\n", i);
        if (text.n < 10000 && i < lines - 50)
            continue;
        record(s, buf_str(&text));
        if (i >= lines - 50)
            term_feed(t, text.p, text.n, s->off - text.n);
        buf_clear(&text);
    }
    join(s);
    assert_int_equal(term_snapshot(t, true, &picture), 0);
    term_free(t);
    say(s, (struct ipc_message){ .selector = IPC_PICTURE,
                                 .field = { s->off, 1 },
                                 .bytes = { picture.p, picture.n } });
}

static void
older_lines_come_from_the_recording(void **state)
{
    (void)state;
    struct scene s;
    come_late(&s, 100);
    shows(&s, 22, "line 99");
    type(&s, "\035vg");
    shows(&s, 0, "line 0");
    type(&s, "q\035d");
    hear(&s, IPC_DETACH);
    ends(&s, CLIENT_DETACHED);
}

/* It has something else to do all the time: it is told of sizes faster than it can take
 * them. */
static void
older_lines_come_whatever_else_does(void **state)
{
    (void)state;
    struct scene s;
    AUTO(buf) many = { 0 };
    for (unsigned i = 0; i < 3000; i++) {
        struct ipc_message m = { .selector = IPC_STAGE,
                                 .field = { COLS, ROWS - i % 2, 1, IPC_NONE } };
        assert_int_equal(ipc_message_put(&many, &m, IPC_TO_CLIENT), 0);
    }
    come_late(&s, 200000);
    type(&s, "\035vg");
    while (!is_told(&s, "line 0")) {
        assert_int_equal(send(s.link, many.p, many.n, MSG_NOSIGNAL), many.n);
        look_for(&s, 0);
    }
    type(&s, "q\035d");
    hear(&s, IPC_DETACH);
    ends(&s, CLIENT_DETACHED);
}

static void
attached_it_tells_its_size(void **state)
{
    (void)state;
    struct scene s;
    struct winsize size = { .ws_col = 100, .ws_row = 30 };
    attach(&s);
    ioctl(s.out, TIOCSWINSZ, &size);
    struct ipc_message m = hear(&s, IPC_RESIZE);
    assert_int_equal(m.field[0], 100);
    assert_int_equal(m.field[1], 30);
    term_resize(s.outer, 100, 30);
    stage(&s, 100, 30, 0);
    output(&s, "\033[30;91Hcorner");
    shows(&s, 29,
          "                                                                       "
          "                   corner");
    kill(s.pid, SIGTERM);
    hear(&s, IPC_DETACH);
    ends(&s, CLIENT_DETACHED);
}

static void
attached_it_catches_up_after_a_skip(void **state)
{
    (void)state;
    struct scene s;
    int status;
    attach(&s);
    record(&s, " and more");
    skip_ahead(&s);
    shows(&s, 0, "hello and more");
    kill(s.pid, SIGTSTP);
    hear(&s, IPC_PAUSE);
    assert_int_equal(waitpid(s.pid, &status, WUNTRACED), s.pid);
    is_on_alternate(&s, false);
    record(&s, " still");
    kill(s.pid, SIGCONT);
    hear(&s, IPC_PAUSE);
    skip_ahead(&s);
    shows(&s, 0, "hello and more still");
    is_on_alternate(&s, true);
    end_session(&s);
    ends(&s, CLIENT_ENDED);
}

static void
one_that_is_refused_leaves_the_screen_alone(void **state)
{
    (void)state;
    struct scene s;
    start(&s, CLIENT_ATTACH, true, true);
    hear(&s, IPC_SUBSCRIBE);
    say(&s, (struct ipc_message){ .selector = IPC_REFUSED,
                                  .bytes = { (const uint8_t *)"no", 2 } });
    while (waitid(P_PID, (id_t)s.pid, &(siginfo_t){ 0 }, WEXITED | WNOWAIT) < 0)
        look(&s);
    assert_int_equal(s.seen.n, 0);
    ends(&s, CLIENT_DROPPED);
}

static void
trouble_from_before_is_told(void **state)
{
    (void)state;
    static const char text[] = "cannot write '/a/b/session.ahr': No space", more[] = "x";
    struct ipc_message m = { .selector = IPC_STATE,
                             .bytes = { (const uint8_t *)text, strlen(text) } };
    struct scene s;
    start(&s, CLIENT_ATTACH, true, true);
    hear(&s, IPC_SUBSCRIBE);
    record(&s, "hello");
    join(&s);
    say(&s, m); /* before there is a picture */
    skip_ahead(&s);
    shows(&s, 0, "hello");
    tells(&s, "cannot write 'session.ahr': No space");
    type(&s, "\035r");
    while (is_told(&s, "No space"))
        look(&s);
    m.selector = IPC_TROUBLE;
    say(&s, m);
    type(&s, more);
    types(&s, more);
    type(&s, "\035d");
    hear(&s, IPC_DETACH);
    ends(&s, CLIENT_DETACHED);
    is_in("said", "cannot write '/a/b/session.ahr': No space\n");
}

/* -- watch -- */

static void
a_watcher_only_looks(void **state)
{
    (void)state;
    struct scene s;
    struct winsize size = { .ws_col = 60, .ws_row = 20 };
    start(&s, CLIENT_WATCH, true, true);
    struct ipc_message m = hear(&s, IPC_SUBSCRIBE);
    assert_int_equal(m.field[0], 0);
    assert_int_equal(m.field[2], IPC_SUB_WATCH | IPC_SUB_PICTURE);
    record(&s, "hello\033[?2004h");
    join(&s);
    skip_ahead(&s);
    shows(&s, 0, "hello");
    type(&s, "abc");
    ioctl(s.out, TIOCSWINSZ, &size);
    term_resize(s.outer, 60, 20);
    output(&s, "\033[24Hbelow");
    shows(&s, 19, "below");
    type(&s, "q");
    hear(&s, IPC_DETACH); /* is all that it says */
    ends(&s, CLIENT_DETACHED);
}

static void
a_watching_pipe_gets_every_byte_and_holds_nobody_up(void **state)
{
    (void)state;
    static char block[60001];
    struct scene s;
    start(&s, CLIENT_WATCH, false, true);
    assert_int_equal(hear(&s, IPC_SUBSCRIBE).field[2], IPC_SUB_WATCH);
    record(&s, "before");
    join(&s);
    uint64_t from = s.off;
    s.is_deaf = true;
    for (int i = 0; i < 150; i++) {
        memset(block, '!' + i % 90, 60000);
        if (i % 10 == 9) {
            record(&s, block);
            skip_ahead(&s);
        } else {
            output(&s, block); /* fails when nobody takes it */
        }
    }
    end_session(&s);
    s.is_deaf = false;
    while (s.seen.n < s.off - from)
        look(&s);
    for (size_t i = 0; i < s.seen.n; i++)
        if (s.seen.p[i] != '!' + i / 60000 % 90)
            fail_msg("byte %zu is wrong", i);
    assert_int_equal(s.seen.n, s.off - from);
    ends(&s, CLIENT_ENDED);
}

/* -- a pipe that is not read -- */

enum { BLOCK = 60000, BLOCKS = 150, KEPT_MAX = 1 << 20 };

static void
fill_block(uint8_t *p, unsigned number)
{
    for (size_t i = 0; i < BLOCK; i++)
        p[i] = (uint8_t)(number + i % 251);
}

static uint64_t
flood(struct show *s)
{
    static uint8_t block[BLOCK];
    struct err err;
    struct tape_writer_status ignored;
    struct tape_writer *tape;
    struct tape_writer_options opt = kit_options(TAPE_SYNC_NONE);
    uint64_t off = 0;
    opt.block_bytes = 256 << 10;
    assert_int_equal(tape_writer_open(&tape, tape_io_files(), KIT_PATH, &opt, &err), 0);
    for (unsigned i = 0; i < BLOCKS; i++, off += BLOCK) {
        struct view v = { block, BLOCK };
        fill_block(block, i);
        tape_writer_append(tape, (struct tape_record){
                                     .tag = TAPE_DATA, .ts_ns = KIT_START, .bytes = v });
        show_output(s, off, v);
        show_step(s, clock_mono_ns());
        assert_true(pty_output_waiting(&s->out) < KEPT_MAX + BLOCK);
        assert_true(show_takes_more(s));
    }
    assert_int_equal(tape_writer_finish(tape, KIT_START, &ignored, &err), 0);
    return off;
}

static void
read_flood(struct show *s, int fd, uint64_t size)
{
    static uint8_t block[BLOCK], want[BLOCK];
    for (uint64_t at = 0; at < size;) {
        size_t from = at % BLOCK;
        show_has_room(s, clock_mono_ns());
        show_step(s, clock_mono_ns());
        ssize_t n = read(fd, block, BLOCK - from);
        assert_true(n > 0);
        fill_block(want, (unsigned)(at / BLOCK));
        assert_memory_equal(block, want + from, (size_t)n);
        at += (uint64_t)n;
    }
    assert_true(show_is_done(s));
    assert_int_equal(s->lost, 0);
    assert_int_equal(read(fd, block, 1), -1);
}

/* Whoever holds nobody up: what the pipe does not take is left to the recording. */
static void
what_a_pipe_does_not_take_is_not_kept(void **state)
{
    (void)state;
    for (int is_stopping = 0; is_stopping < 2; is_stopping++) {
        int out[2];
        struct show s;
        assert_int_equal(pipe2(out, O_CLOEXEC), 0);
        fcntl(out[0], F_SETFL, O_NONBLOCK);
        struct client_options opt = { .kind = is_stopping ? CLIENT_RECORD : CLIENT_WATCH,
                                      .out_fd = out[1],
                                      .tape_path = KIT_PATH,
                                      .done_tape_path = "elsewhere.ahr" };
        show_init(&s, &opt, NULL, COLS, ROWS);
        s.is_stopping = is_stopping;
        read_flood(&s, out[0], flood(&s));
        show_release(&s);
        close(out[0]);
        close(out[1]);
        unlink(KIT_PATH);
    }
}

int
main(void)
{
    const struct CMUnitTest tests[] = {
        KIT_IN_DIR(bytes_are_passed_as_they_are),
        KIT_IN_DIR(it_draws_while_another_size_rules),
        KIT_IN_DIR(what_was_drawn_last_stays_to_be_seen),
        KIT_IN_DIR(a_terminal_that_lags_is_left_out_and_repainted),
        KIT_IN_DIR(what_ends_while_the_terminal_lags_is_shown),
        KIT_IN_DIR(a_pipe_gets_what_was_left_out),
        KIT_IN_DIR(a_suspended_client_asks_for_nothing),
        KIT_IN_DIR(a_host_that_hangs_up_has_vanished_or_dropped_us),
        KIT_IN_DIR(viewed_it_draws_from_the_start),
        KIT_IN_DIR(what_it_is_asked_for_is_asked_of_the_host),
        KIT_IN_DIR(an_instruction_is_typed_before_it_is_noted),
        KIT_IN_DIR(what_the_host_does_not_take_is_noted_at_the_end),
        KIT_IN_DIR(what_is_being_typed_is_noted_at_the_end),
        KIT_IN_DIR(what_is_being_typed_is_noted_when_it_is_left),
        KIT_IN_DIR(what_a_host_has_not_answered_when_it_vanishes_is_said),
        KIT_IN_DIR(what_is_asked_while_too_much_is_not_answered_stays_in_the_draft),
        KIT_IN_DIR(keys_of_the_viewer_do_not_wait_for_the_session),
        KIT_IN_DIR(who_looks_back_stays_at_the_end),
        KIT_IN_DIR(attached_it_draws_and_types),
        KIT_IN_DIR(a_picture_is_what_it_begins_with),
        KIT_IN_DIR(a_bad_picture_is_made_from_the_recording),
        KIT_IN_DIR(older_lines_come_from_the_recording),
        KIT_IN_DIR(older_lines_come_whatever_else_does),
        KIT_IN_DIR(attached_it_tells_its_size),
        KIT_IN_DIR(attached_it_catches_up_after_a_skip),
        KIT_IN_DIR(one_that_is_refused_leaves_the_screen_alone),
        KIT_IN_DIR(trouble_from_before_is_told),
        KIT_IN_DIR(a_watcher_only_looks),
        KIT_IN_DIR(a_watching_pipe_gets_every_byte_and_holds_nobody_up),
        KIT_IN_DIR(what_a_pipe_does_not_take_is_not_kept),
    };
    return cmocka_run_group_tests_name("client", tests, NULL, NULL);
}
