/* SPDX-License-Identifier: MIT */
/* door_test.c -- ctl.sock of a run, as `ahr send`, `ahr stop` and strangers find it.
 */
#include <errno.h>
#include <poll.h>
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cmocka.h>

#include "base/file.h"
#include "client/ask.h"
#include "client/typing.h"
#include "door/door.h"
#include "ipc/socket.h"

enum { PATIENCE_MS = 20000 };

static const char id[] = "20260102-030405-abcd";

/* A run is a process of its own, as whoever comes to it is none of its children. */
struct run {
    uv_loop_t loop;
    struct door *door;
    uv_timer_t timer;
    struct buf typed;
};

static char dir[64]; /* of the session */

/* -- the run -- */

static int
on_input(void *ctx, struct view bytes, struct err *err)
{
    struct run *run = ctx;
    if (bytes.n == 4 && !memcmp(bytes.p, "deaf", 4))
        return err_set(err, -EPIPE, "the command takes no input");
    return buf_append(&run->typed, bytes.p, bytes.n);
}

static void
hang_up(uv_timer_t *timer)
{
    struct run *run = timer->data;
    door_close(run->door);
    run->door = NULL;
    uv_close((uv_handle_t *)timer, NULL);
}

/* The command has ended a moment later. */
static void
on_stop(void *ctx, int signo)
{
    struct run *run = ctx;
    uv_timer_start(&run->timer, hang_up, signo == SIGTERM ? 20 : 0, 0);
}

static int
on_instruct(void *ctx, const struct ipc_message *m, struct ipc_message *ret,
            struct err *err)
{
    (void)ctx;
    if (!m->bytes.n)
        return err_set(err, ERR_USAGE, "there is no text");
    ret->field[0] = 5;
    ret->field[1] = m->field[0];
    return 0;
}

static void
on_status(void *ctx, struct ipc_message *ret)
{
    struct run *run = ctx;
    ret->field[0] = run->typed.n;
    ret->bytes = (struct view){ run->typed.p, run->typed.n };
}

static void
on_anchor(void *ctx, struct ipc_message *ret)
{
    struct run *run = ctx;
    ret->field[1] = run->typed.n;
}

/* True when all of it is freed, and nothing is left in the folder. */
static bool
serve(bool allows_self, int ready_fd, int (*visit)(void))
{
    struct run run = { 0 };
    struct door_calls calls = { on_input,  on_stop, on_instruct, on_status,
                                on_anchor, &run,    allows_self };
    pid_t visitor = 0;
    int status = 0;
    uv_loop_init(&run.loop);
    uv_timer_init(&run.loop, &run.timer);
    run.timer.data = &run;
    if (door_open(&run.door, &run.loop, dir, id, &calls, NULL))
        return false;
    if (visit && !(visitor = fork())) {
        int r = visit();
        file_write_all(ready_fd, "", 1); /* not before: the next one stops the run */
        _exit(r);
    }
    if (!visit)
        file_write_all(ready_fd, "", 1);
    close(ready_fd);
    uv_run(&run.loop, UV_RUN_DEFAULT);
    buf_release(&run.typed);
    if (visitor)
        waitpid(visitor, &status, 0);
    return !status && uv_loop_close(&run.loop) == 0 && rmdir(dir) == 0;
}

static pid_t
start(bool allows_self, int (*visit)(void))
{
    int fds[2];
    uint8_t byte;
    snprintf(dir, sizeof(dir), "/tmp/ahr-door-XXXXXX");
    assert_non_null(mkdtemp(dir));
    assert_int_equal(pipe(fds), 0);
    pid_t pid = fork();
    assert_true(pid >= 0);
    if (!pid) {
        prctl(PR_SET_PDEATHSIG, SIGKILL);
        close(fds[0]);
        exit(serve(allows_self, fds[1], visit) ? 0 : 1);
    }
    close(fds[1]);
    assert_int_equal(file_read(fds[0], &byte, 1), 1);
    close(fds[0]);
    return pid;
}

static void
assert_ends(pid_t pid)
{
    int status = 0;
    assert_int_equal(waitpid(pid, &status, 0), pid);
    assert_true(WIFEXITED(status));
    assert_int_equal(WEXITSTATUS(status), 0);
}

/* -- those who come -- */

static int
reach(struct client_ask *ret)
{
    char path[96];
    snprintf(path, sizeof(path), "%s/ctl.sock", dir);
    return client_ask_open(ret, path, NULL, NULL);
}

static struct client_ask
come(void)
{
    struct client_ask a;
    assert_int_equal(reach(&a), 0);
    return a;
}

static struct ipc_message
ask(struct client_ask *a, struct ipc_message m)
{
    struct ipc_message got = { 0 };
    struct err err = { 0 };
    if (client_ask(a, &m, PATIENCE_MS, &got, &err))
        fail_msg("%s", err.text);
    return got;
}

static void
assert_refused(struct client_ask *a, struct ipc_message m, const char *why)
{
    struct ipc_message got;
    struct err err = { 0 };
    assert_int_equal(client_ask(a, &m, PATIENCE_MS, &got, &err), -EPERM);
    if (!strstr(err.text, why))
        fail_msg("'%s' is not in '%s'", why, err.text);
}

static struct ipc_message
with_text(uint8_t selector, const char *text)
{
    return (struct ipc_message){ .selector = selector,
                                 .bytes = { (const uint8_t *)text, strlen(text) } };
}

static void
assert_hung_up(struct client_ask *a)
{
    struct ipc_message got;
    assert_int_equal(client_ask(a, NULL, PATIENCE_MS, &got, NULL), -ECONNRESET);
    client_ask_close(a);
}

static void
stop(pid_t pid)
{
    struct client_ask a = come();
    struct ipc_message m = { .selector = IPC_STOP, .field = { SIGTERM } };
    assert_int_equal(ask(&a, m).selector, IPC_DONE);
    assert_hung_up(&a);
    assert_ends(pid);
}

static void
a_line_is_typed_as_ahr_send_types_it(void **state)
{
    (void)state;
    pid_t pid = start(false, NULL);
    struct client_ask a = come();
    struct client_typing t = { .ask = &a };
    struct ipc_message text = with_text(IPC_INPUT, "hello"),
                       enter = with_text(IPC_INPUT, "\r");
    assert_int_equal(client_type(&t, text.bytes, NULL), 0);
    assert_int_equal(client_type(&t, enter.bytes, NULL), 0);
    assert_false(t.is_stuck);
    struct ipc_message got = ask(&a, (struct ipc_message){ .selector = IPC_STATUS });
    assert_int_equal(got.selector, IPC_STATE);
    assert_int_equal(got.bytes.n, 6);
    assert_memory_equal(got.bytes.p, "hello\r", 6);
    client_ask_close(&a);
    stop(pid);
}

static void
more_than_fits_at_once_is_typed_whole(void **state)
{
    (void)state;
    pid_t pid = start(false, NULL);
    struct client_ask a = come();
    struct client_typing t = { .ask = &a };
    AUTO(buf) text = { 0 };
    memset(buf_grow(&text, 1000000), 'x', 1000000);
    assert_int_equal(client_type(&t, (struct view){ text.p, text.n }, NULL), 0);
    struct ipc_message got = ask(&a, (struct ipc_message){ .selector = IPC_ANCHOR });
    assert_int_equal(got.selector, IPC_DONE);
    assert_int_equal(got.field[1], 1000000);
    client_ask_close(&a);
    stop(pid);
}

static void
what_cannot_be_done_is_told(void **state)
{
    (void)state;
    pid_t pid = start(false, NULL);
    struct client_ask a = come();
    assert_refused(&a, with_text(IPC_INPUT, "deaf"), "the command takes no input");
    assert_refused(&a, with_text(IPC_INSTRUCT, ""), "there is no text");
    assert_refused(&a, (struct ipc_message){ .selector = IPC_STOP, .field = { 255 } },
                   "no such signal");
    struct ipc_message m = with_text(IPC_INSTRUCT, "look here"), got;
    m.field[0] = 42;
    got = ask(&a, m); /* the connection has stayed */
    assert_int_equal(got.selector, IPC_DONE);
    assert_int_equal(got.field[0], 5);
    assert_int_equal(got.field[1], 42);
    client_ask_close(&a);
    stop(pid);
}

static void
a_run_has_no_screen(void **state)
{
    (void)state;
    pid_t pid = start(false, NULL);
    struct client_ask a = come();
    assert_refused(&a, (struct ipc_message){ .selector = IPC_SUBSCRIBE },
                   "it has no screen; 'ahr watch' and 'ahr log -f' follow it");
    assert_hung_up(&a);
    a = come();
    assert_refused(&a, with_text(IPC_SNAPSHOT, ""), "takes no snapshots");
    assert_hung_up(&a);
    a = come();
    assert_refused(&a, with_text(IPC_SAID, "x"), "not to be asked for");
    assert_hung_up(&a);
    stop(pid);
}

static void
who_waits_for_the_end_is_hung_up_on(void **state)
{
    (void)state;
    pid_t pid = start(false, NULL);
    struct client_ask waiting = come();
    ask(&waiting, (struct ipc_message){ .selector = IPC_STATUS });
    stop(pid);
    assert_hung_up(&waiting);
    struct client_ask late;
    assert_int_equal(reach(&late), ERR_MISSING);
}

static void
nonsense_is_refused(void **state)
{
    (void)state;
    static const char *const words[] = { "\377\377\377\377", "\0\0\0\0",
                                         "\2\0\0\0\24x" }; /* Status has no body */
    static const size_t sizes[] = { 4, 4, 6 };
    pid_t pid = start(false, NULL);
    for (size_t i = 0; i < 3; i++) {
        struct ipc_message got;
        struct err err = { 0 };
        struct client_ask a = come();
        assert_int_equal(file_write_all(a.fd, words[i], sizes[i]), 0);
        assert_int_equal(client_ask(&a, NULL, PATIENCE_MS, &got, &err), -EPERM);
        assert_non_null(strstr(err.text, "makes no sense"));
        assert_hung_up(&a);
    }
    stop(pid);
}

static void
requests_come_however_they_are_cut(void **state)
{
    (void)state;
    enum { TIMES = 500 };
    pid_t pid = start(false, NULL);
    struct client_ask a = come();
    struct ipc_message m = with_text(IPC_INPUT, "x"), got;
    AUTO(buf) out = { 0 };
    for (int i = 0; i < TIMES; i++)
        ipc_message_put(&out, &m, IPC_TO_HOST);
    assert_int_equal(file_write_all(a.fd, out.p, out.n), 0); /* all at once … */
    for (size_t i = 0; i < 10; i++)
        assert_int_equal(send(a.fd, out.p + i, 1, 0), 1); /* … and byte by byte */
    for (int i = 0; i <= TIMES; i++) {
        assert_int_equal(client_ask(&a, NULL, PATIENCE_MS, &got, NULL), 0);
        assert_int_equal(got.selector, IPC_TAKEN);
    }
    client_ask_close(&a);
    stop(pid);
}

static void
a_crowd_leaves_room_for_the_next(void **state)
{
    (void)state;
    enum { MANY = 40 };
    struct client_ask crowd[MANY];
    pid_t pid = start(false, NULL);
    for (int i = 0; i < MANY; i++)
        crowd[i] = come();
    for (int i = 0; i < MANY - 16; i++)
        assert_hung_up(&crowd[i]); /* the first that have said nothing */
    ask(&crowd[MANY - 1], (struct ipc_message){ .selector = IPC_STATUS });
    for (int i = MANY - 16; i < MANY; i++)
        client_ask_close(&crowd[i]);
    stop(pid);
}

/* It asks and never reads: what it is owed has a ceiling. */
static void
who_does_not_read_is_not_waited_for(void **state)
{
    (void)state;
    pid_t pid = start(false, NULL);
    struct client_ask deaf = come();
    struct ipc_message m = { .selector = IPC_STATUS };
    AUTO(buf) out = { 0 };
    for (int i = 0; i < 10000; i++)
        ipc_message_put(&out, &m, IPC_TO_HOST);
    (void)!send(deaf.fd, out.p, out.n, MSG_DONTWAIT | MSG_NOSIGNAL);
    struct client_ask a = come();
    ask(&a, m);
    client_ask_close(&a);
    stop(pid);
    client_ask_close(&deaf);
}

/* -- from inside -- */

static int
ask_from_inside(const char *why)
{
    struct client_ask a;
    struct ipc_message got, m = { .selector = IPC_STOP, .field = { SIGTERM } };
    struct err err = { 0 };
    if (reach(&a))
        return 2;
    int r = client_ask(&a, &m, PATIENCE_MS, &got, &err);
    client_ask_close(&a);
    if (!why)
        return r ? 3 : 0;
    return r == -EPERM && strstr(err.text, why) ? 0 : 4;
}

static int
be_refused(void)
{
    return ask_from_inside("inside of a session");
}

static int
be_let_in(void)
{
    return ask_from_inside(NULL);
}

static void
a_program_inside_of_the_run_may_not_control_it(void **state)
{
    (void)state;
    stop(start(false, be_refused));
}

static void
unless_it_is_allowed_to(void **state)
{
    (void)state;
    assert_ends(start(true, be_let_in)); /* it is the one that stops it */
}

int
main(void)
{
    static const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_line_is_typed_as_ahr_send_types_it),
        cmocka_unit_test(more_than_fits_at_once_is_typed_whole),
        cmocka_unit_test(what_cannot_be_done_is_told),
        cmocka_unit_test(a_run_has_no_screen),
        cmocka_unit_test(who_waits_for_the_end_is_hung_up_on),
        cmocka_unit_test(nonsense_is_refused),
        cmocka_unit_test(requests_come_however_they_are_cut),
        cmocka_unit_test(a_crowd_leaves_room_for_the_next),
        cmocka_unit_test(who_does_not_read_is_not_waited_for),
        cmocka_unit_test(a_program_inside_of_the_run_may_not_control_it),
        cmocka_unit_test(unless_it_is_allowed_to),
    };
    return cmocka_run_group_tests_name("door", tests, NULL, NULL);
}
