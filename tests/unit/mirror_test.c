/* SPDX-License-Identifier: MIT */
/* mirror_test.c -- the mirror at one end of a socket, the test as its host at the other.
 */
#include "support/kit.h"

#include <errno.h>
#include <pthread.h>
#include <sys/socket.h>
#include <unistd.h>

#include "client/mirror.h"
#include "ipc/message.h"
#include "term/term.h"

enum { CLIENT = 7, WAIT_S = 60 };

struct host {
    int fd, mirror_fd;
    pthread_t thread;
    int result;
    struct err err;
    struct tape_writer *tape;
    uint64_t off;
    struct buf in;
    size_t taken;  /* of it, by the last message */
    size_t pieces; /* of the last picture */
};

static void *
run_mirror(void *ctx)
{
    struct host *h = ctx;
    h->result = client_mirror(h->mirror_fd, &h->err);
    close(h->mirror_fd);
    return NULL;
}

static void
start(struct host *h)
{
    int fds[2];
    struct timeval wait = { .tv_sec = WAIT_S };
    struct tape_writer_options opt = kit_options(TAPE_SYNC_NONE);
    *h = (struct host){ 0 };
    assert_int_equal(socketpair(AF_UNIX, SOCK_STREAM, 0, fds), 0);
    h->fd = fds[0];
    h->mirror_fd = fds[1];
    setsockopt(h->fd, SOL_SOCKET, SO_RCVTIMEO, &wait, sizeof(wait));
    assert_int_equal(tape_writer_open(&h->tape, tape_io_files(), KIT_PATH, &opt, &h->err),
                     0);
    assert_int_equal(pthread_create(&h->thread, NULL, run_mirror, h), 0);
}

static void
stop(struct host *h, int result)
{
    struct tape_writer_status status;
    shutdown(h->fd, SHUT_WR);
    pthread_join(h->thread, NULL);
    assert_int_equal(h->result, result);
    close(h->fd);
    assert_int_equal(tape_writer_finish(h->tape, KIT_START, &status, &h->err), 0);
    buf_release(&h->in);
}

/* -- what is said -- */

static void
say(struct host *h, struct ipc_message m)
{
    AUTO(buf) out = { 0 };
    assert_int_equal(ipc_message_put(&out, &m, IPC_TO_CLIENT), 0);
    assert_int_equal(send(h->fd, out.p, out.n, MSG_NOSIGNAL), out.n);
}

static void
begin(struct host *h, uint64_t off, uint64_t answer_from)
{
    say(h,
        (struct ipc_message){ .selector = IPC_BEGIN,
                              .field = { 80, 24, off, answer_from },
                              .bytes = { (const uint8_t *)KIT_PATH, strlen(KIT_PATH) } });
}

static void
stage(struct host *h, uint64_t cols, uint64_t rows, uint64_t answer_from)
{
    say(h, (struct ipc_message){ .selector = IPC_STAGE,
                                 .field = { cols, rows, 1, answer_from } });
}

/* On disk, and not sent. */
static struct view
record(struct host *h, const char *text)
{
    struct view v = { (const uint8_t *)text, strlen(text) };
    struct tape_record rec = { .tag = TAPE_DATA, .ts_ns = KIT_START, .bytes = v };
    assert_int_equal(tape_writer_append(h->tape, rec), TAPE_SAVED);
    h->off += v.n;
    return v;
}

static void
output(struct host *h, const char *text)
{
    uint64_t off = h->off;
    say(h, (struct ipc_message){
               .selector = IPC_OUTPUT, .field = { off }, .bytes = record(h, text) });
}

static void
skip_ahead(struct host *h, uint64_t cols, uint64_t rows)
{
    say(h,
        (struct ipc_message){ .selector = IPC_SKIPPED, .field = { h->off, cols, rows } });
}

/* -- what is heard -- */

/* The frame before is gone then. */
static struct ipc_message
hear(struct host *h)
{
    struct ipc_frame frame;
    struct ipc_message m;
    uint8_t bytes[4096];
    ssize_t size;
    if (h->taken)
        memmove(h->in.p, h->in.p + h->taken, h->in.n - h->taken);
    h->in.n -= h->taken;
    while (!(size = ipc_frame_get((struct view){ h->in.p, h->in.n }, &frame))) {
        ssize_t n = recv(h->fd, bytes, sizeof(bytes), 0);
        if (n <= 0)
            fail_msg("the mirror says nothing");
        buf_append(&h->in, bytes, (size_t)n);
    }
    assert_true(size > 0);
    h->taken = (size_t)size;
    assert_int_equal(ipc_message_get(&m, &frame, IPC_TO_HOST), 0);
    return m;
}

static void
is_reply(struct host *h, uint64_t off, const char *text)
{
    struct ipc_message m = hear(h);
    assert_int_equal(m.selector, IPC_REPLY);
    assert_int_equal(m.field[0], off);
    assert_int_equal(m.bytes.n, strlen(text));
    assert_memory_equal(m.bytes.p, text, m.bytes.n);
}

/* The screen, which must be the next that it says. */
static struct term *
screen(struct host *h)
{
    AUTO(buf) picture = { 0 };
    struct ipc_message m;
    struct term_options how = term_options_default();
    struct term *t;
    h->pieces = 0;
    say(h, (struct ipc_message){ .selector = IPC_SHOW, .field = { CLIENT } });
    do {
        m = hear(h);
        assert_int_equal(m.selector, IPC_SCREEN);
        assert_int_equal(m.field[0], CLIENT);
        assert_true(m.bytes.n <= 64000);
        buf_append(&picture, m.bytes.p, m.bytes.n);
        h->pieces++;
    } while (!m.field[1]);
    assert_int_equal(
        term_restore((struct view){ picture.p, picture.n }, &how, &t, &h->err), 0);
    return t;
}

static void
shows(struct host *h, size_t row, const char *text)
{
    struct term_line line = { 0 };
    struct term *t = screen(h);
    assert_int_equal(term_line_at(t, term_scrollback_count(t) + row, &line), 0);
    assert_string_equal(buf_str(&line.text), text);
    term_line_release(&line);
    term_free(t);
}

static void
has_size(struct host *h, unsigned cols, unsigned rows)
{
    struct term *t = screen(h);
    assert_int_equal(term_cols(t), cols);
    assert_int_equal(term_rows(t), rows);
    term_free(t);
}

/* -- tests -- */

static void
the_screen_is_that_of_the_recording_and_the_log(void **state)
{
    (void)state;
    struct host h;
    start(&h);
    record(&h, "recorded ");
    begin(&h, h.off, IPC_NONE);
    shows(&h, 0, "recorded");
    output(&h, "and sent\r\n\033[3");
    output(&h, "1mred");
    shows(&h, 0, "recorded and sent");
    shows(&h, 1, "red");
    stop(&h, 0);
}

static void
what_was_skipped_comes_from_the_recording(void **state)
{
    (void)state;
    struct host h;
    start(&h);
    begin(&h, 0, IPC_NONE);
    output(&h, "one ");
    record(&h, "two ");
    record(&h, "three ");
    skip_ahead(&h, 100, 30);
    output(&h, "four");
    shows(&h, 0, "one two three four");
    has_size(&h, 100, 30);
    stop(&h, 0);
}

static void
what_it_has_already_is_not_shown_twice(void **state)
{
    (void)state;
    struct host h;
    start(&h);
    record(&h, "abcdef");
    begin(&h, 3, IPC_NONE);
    say(&h, (struct ipc_message){ .selector = IPC_OUTPUT,
                                  .bytes = { (const uint8_t *)"abcdef", 6 } });
    say(&h, (struct ipc_message){ .selector = IPC_OUTPUT,
                                  .bytes = { (const uint8_t *)"abcdef", 6 } });
    shows(&h, 0, "abcdef");
    stop(&h, 0);
}

static void
a_hole_that_nobody_told_of_is_filled(void **state)
{
    (void)state;
    struct host h;
    start(&h);
    begin(&h, 0, IPC_NONE);
    output(&h, "one ");
    record(&h, "two ");
    output(&h, "three");
    shows(&h, 0, "one two three");
    stop(&h, 0);
}

static void
a_stage_sets_the_size(void **state)
{
    (void)state;
    struct host h;
    start(&h);
    begin(&h, 0, IPC_NONE);
    has_size(&h, 80, 24);
    stage(&h, 132, 50, IPC_NONE);
    has_size(&h, 132, 50);
    stop(&h, 0);
}

static void
replies_of_a_frame_are_one_and_say_where(void **state)
{
    (void)state;
    struct host h;
    start(&h);
    begin(&h, 0, 0);
    output(&h, "x\033[5n\033[6n");
    is_reply(&h, h.off, "\033[0n\033[1;2R");
    output(&h, "no question");
    shows(&h, 0, "xno question");
    stop(&h, 0);
}

static void
it_keeps_still_while_a_terminal_answers(void **state)
{
    (void)state;
    struct host h;
    start(&h);
    begin(&h, 0, IPC_NONE);
    output(&h, "\033[5n");
    shows(&h, 0, ""); /* is the next word, not a reply */
    uint64_t shown = h.off;
    output(&h, "\033[6n");
    uint64_t unseen = h.off;
    stage(&h, 80, 24, shown);
    is_reply(&h, unseen, "\033[1;1R");
    output(&h, "\033[5n");
    is_reply(&h, h.off, "\033[0n");
    stage(&h, 80, 24, IPC_NONE);
    stage(&h, 80, 24, 0);
    shows(&h, 0, ""); /* nothing is answered twice */
    stop(&h, 0);
}

static void
the_latest_questions_are_kept(void **state)
{
    (void)state;
    struct host h;
    uint64_t ends[40];
    start(&h);
    begin(&h, 0, IPC_NONE);
    for (size_t i = 0; i < 40; i++) {
        output(&h, "\033[5n");
        ends[i] = h.off;
    }
    stage(&h, 80, 24, 0);
    for (size_t i = 8; i < 40; i++)
        is_reply(&h, ends[i], "\033[0n");
    shows(&h, 0, "");
    stop(&h, 0);
}

static void
questions_in_the_recording_are_answered_from_an_offset_on(void **state)
{
    (void)state;
    struct host h;
    start(&h);
    record(&h, "\033[5n");
    uint64_t answered = h.off;
    record(&h, "\033[6n");
    begin(&h, h.off, answered);
    is_reply(&h, h.off, "\033[1;1R");
    record(&h, "\033[5n");
    skip_ahead(&h, 80, 24);
    is_reply(&h, h.off, "\033[0n");
    shows(&h, 0, "");
    stop(&h, 0);
}

static void
a_long_scrollback_comes_in_pieces(void **state)
{
    (void)state;
    struct host h;
    char line[82];
    uint32_t x = 1;
    start(&h);
    begin(&h, 0, IPC_NONE);
    for (size_t i = 0; i < 12000; i++) {
        for (size_t at = 0; at < 79; at++) {
            x = x * 1664525 + 1013904223;
            line[at] = (char)('!' + (x >> 24) % 90);
        }
        line[79] = '\r';
        line[80] = '\n';
        line[81] = 0;
        output(&h, line);
    }
    struct term *t = screen(&h);
    assert_true(h.pieces > 10);
    assert_true(term_scrollback_count(t) > 5000);
    assert_true(term_scrollback_count(t) <= 10000);
    term_free(t);
    stop(&h, 0);
}

static void
what_is_no_host_is_left(void **state)
{
    (void)state;
    struct host h;
    start(&h);
    stage(&h, 80, 24, 0); /* before BEGIN */
    stop(&h, -EPROTO);
    unlink(KIT_PATH);
    start(&h);
    assert_int_equal(send(h.fd, "\377\377\377\377", 4, MSG_NOSIGNAL), 4);
    stop(&h, -EPROTO);
}

static void
without_a_recording_there_is_a_screen_still(void **state)
{
    (void)state;
    struct host h;
    start(&h);
    say(&h, (struct ipc_message){ .selector = IPC_BEGIN,
                                  .field = { 80, 24, 5, IPC_NONE },
                                  .bytes = { (const uint8_t *)"none.ahr", 8 } });
    h.off = 5;
    output(&h, "behind");
    shows(&h, 0, "behind");
    stop(&h, 0);
}

int
main(void)
{
    const struct CMUnitTest tests[] = {
        KIT_IN_DIR(the_screen_is_that_of_the_recording_and_the_log),
        KIT_IN_DIR(what_was_skipped_comes_from_the_recording),
        KIT_IN_DIR(what_it_has_already_is_not_shown_twice),
        KIT_IN_DIR(a_hole_that_nobody_told_of_is_filled),
        KIT_IN_DIR(a_stage_sets_the_size),
        KIT_IN_DIR(replies_of_a_frame_are_one_and_say_where),
        KIT_IN_DIR(it_keeps_still_while_a_terminal_answers),
        KIT_IN_DIR(the_latest_questions_are_kept),
        KIT_IN_DIR(questions_in_the_recording_are_answered_from_an_offset_on),
        KIT_IN_DIR(a_long_scrollback_comes_in_pieces),
        KIT_IN_DIR(what_is_no_host_is_left),
        KIT_IN_DIR(without_a_recording_there_is_a_screen_still),
    };
    return cmocka_run_group_tests_name("mirror", tests, NULL, NULL);
}
