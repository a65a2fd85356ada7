/* SPDX-License-Identifier: MIT */
/*
 * iteration.c -- one command: started, read to its end, judged.
 *
 * It is over when it has exited and its output has ended. Where somebody else holds its
 * output open, that is when nothing more has come for a moment.
 */
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/signame.h"
#include "run/run_priv.h"

enum {
    DRAIN_QUIET_MS = 500,
    DRAIN_MAX_MS = 2000,
    LATE_MS = 20, /* so long is read at once: signals and clients wait meanwhile */
};

/* -- reading -- */

static int
on_piece(void *ctx, enum run_stream stream, struct view piece)
{
    struct run *r = ctx;
    if (stream == RUN_ERR)
        run_flow_err(&r->flow, piece);
    else
        run_flow_out(&r->flow, piece);
    r->heard_at_ns = clock_mono_ns();
    r->drained += r->has_exited ? piece.n : 0;
    return 0;
}

void
run_iteration_read(struct run *r, unsigned turns)
{
    uint64_t late_ns = clock_mono_ns() + (uint64_t)LATE_MS * 1000000;
    r->has_more = r->is_running;
    for (; turns && r->has_more && clock_mono_ns() < late_ns; turns--) {
        if (run_pipes_read(&r->pipes, on_piece, r, &r->has_more) < 0)
            r->has_more = false;
        run_flow_settle(&r->flow);
    }
}

/* What comes beyond that after its exit is another's. */
static uint64_t
room_of_pipes(const struct run *r)
{
    int out = fcntl(r->child.out_fd, F_GETPIPE_SZ);
    int err = fcntl(r->child.err_fd, F_GETPIPE_SZ);
    return (uint64_t)(out > 0 ? out : 0) + (uint64_t)(err > 0 ? err : 0);
}

void
run_iteration_reap(struct run *r)
{
    int status;
    pid_t pid;
    if (!r->is_running || r->has_exited)
        return;
    do
        pid = waitpid(r->child.pid, &status, WNOHANG);
    while (pid < 0 && errno == EINTR);
    if (!pid)
        return;
    r->wait_status = pid < 0 ? 0 : status; /* else somebody else has reaped it */
    r->has_exited = true;
    r->exit_at_ns = r->heard_at_ns = clock_mono_ns();
}

uint64_t
run_iteration_due_ms(const struct run *r)
{
    if (!r->is_running || !r->has_exited)
        return UINT64_MAX;
    uint64_t quiet_ns = r->heard_at_ns + DRAIN_QUIET_MS * 1000000ULL;
    uint64_t late_ns = r->exit_at_ns + DRAIN_MAX_MS * 1000000ULL;
    return clock_left_ms(quiet_ns < late_ns ? quiet_ns : late_ns, clock_mono_ns());
}

/* The command is gone: has somebody else its output? What it has left in its pipes is
 * read first, also while nobody looks at what is shown. */
static bool
is_held(struct run *r)
{
    uint64_t before = r->drained;
    bool is_its_own = before <= room_of_pipes(r);
    if ((r->has_more && is_its_own) || run_iteration_due_ms(r))
        return false;
    if (is_its_own)
        run_iteration_read(r, 1);
    if (r->drained > before || run_pipes_are_over(&r->pipes))
        return false;
    r->opt->say(r->opt->ctx, "the command has ended, but a process that it has started "
                             "still holds its output; that is not waited for");
    return true;
}

void
run_iteration_check(struct run *r)
{
    if (!r->is_running) { /* all that is left is to show the rest */
        bool is_shown = !r->has_out || r->out.is_gone || !pty_output_waiting(&r->out);
        if (is_shown || r->stop_signo)
            run_loop_leave(r);
        return;
    }
    if (!r->has_exited || r->is_over)
        return;
    if (run_pipes_are_over(&r->pipes) || is_held(r))
        run_loop_leave(r);
}

/* -- the start -- */

/* "{n}" in a word is the number. */
static void
put_word(struct buf *out, const char *word, uint64_t number)
{
    const char *mark;
    while ((mark = strstr(word, "{n}"))) {
        buf_append(out, word, (size_t)(mark - word));
        buf_put_u64(out, number);
        word = mark + 3;
    }
    buf_append(out, word, strlen(word) + 1);
}

static char **
make_argv(const struct run *r, uint64_t number, struct buf *text)
{
    size_t n = 0;
    while (r->opt->argv[n])
        put_word(text, r->opt->argv[n++], number);
    char **argv = calloc(n + 1, sizeof(*argv));
    if (!argv || text->failed) {
        free(argv);
        return NULL;
    }
    char *at = (char *)text->p;
    for (size_t i = 0; i < n; i++, at += strlen(at) + 1)
        argv[i] = at;
    return argv;
}

static int
start(struct run *r, char *const *argv, struct err *err)
{
    bool has_input = r->input.from_fd >= 0 || r->input.kept.n || r->input.is_held;
    int status;
    int e = run_child_start(&r->child, argv, r->envp, r->opt->root, has_input, &status,
                            err);
    if (e < 0) {
        r->exit_status = status;
        return e;
    }
    e = run_pipes_init(&r->pipes, r->child.out_fd, r->child.err_fd, err);
    if (e < 0) {
        run_child_signal(&r->child, SIGKILL);
        waitpid(r->child.pid, NULL, 0);
        run_child_close(&r->child);
        r->exit_status = 1;
        return e;
    }
    run_input_begin(&r->input, r->child.in_fd);
    r->child.in_fd = -1; /* the input's from now on */
    r->is_running = true;
    r->keep.facts.command_pid = r->child.pid;
    run_facts_write(&r->keep, false); /* should we be killed, it is known what runs on */
    r->has_exited = r->has_more = false;
    r->drained = 0;
    return 0;
}

static void
tell_prompt(struct run *r, char *const *argv)
{
    AUTO(buf) text = { 0 };
    size_t n = 0;
    while (argv[n])
        n++;
    struct turn_prompt p = turn_prompt(n, (const char *const *)argv);
    if (p.from == TURN_PROMPT_ARG && !turn_prompt_text(&p, &text) && text.n)
        run_flow_input(&r->flow, (struct view){ text.p, text.n }, true);
    run_flow_settle(&r->flow);
}

/* -- the end -- */

static void
judge(struct run *r)
{
    struct run_facts *f = &r->keep.facts;
    int status = r->wait_status;
    f->signal = NULL;
    if (WIFEXITED(status)) {
        r->exit_status = WEXITSTATUS(status);
        f->status = r->exit_status ? SESSION_FAILED : SESSION_COMPLETED;
    } else {
        r->exit_status = 128 + WTERMSIG(status);
        f->status = SESSION_CRASHED;
        f->signal = signame(WTERMSIG(status));
    }
    if (r->stop_signo) {
        f->status = SESSION_ABORTED;
        f->signal = signame(r->stop_signo);
    }
    f->exit_code = r->exit_status;
}

static void
tell_exit(struct run *r, uint64_t duration_ms)
{
    const struct run_facts *f = &r->keep.facts;
    const char *name = session_status_name(f->status);
    struct turn_event e = turn_event(TURN_EXIT);
    e.name = (struct view){ (const uint8_t *)name, strlen(name) };
    if (f->signal)
        e.signal = (struct view){ (const uint8_t *)f->signal, strlen(f->signal) };
    e.exit_code = r->exit_status;
    e.duration_ms = duration_ms;
    run_facts_see(&r->keep, &e);
    run_flow_event(&r->flow, &e);
    run_flow_settle(&r->flow);
}

static void
finish(struct run *r, uint64_t duration_ms)
{
    AUTO(buf) reason = { 0 };
    struct run_facts *f = &r->keep.facts;
    run_flow_end(&r->flow);
    judge(r);
    tell_exit(r, duration_ms);
    if (f->status == SESSION_CRASHED)
        buf_printf(&reason, "SIG%s", f->signal);
    run_keep_end(&r->keep, r->exit_status, duration_ms,
                 f->status == SESSION_ABORTED ? f->signal : NULL,
                 reason.n ? buf_str(&reason) : NULL);
    run_watch_set(&r->watch, RUN_WATCH_PIPES, -1, 0);
    run_watch_set(&r->watch, RUN_WATCH_TO, -1, 0);
    run_input_begin(&r->input, -1);
    run_pipes_release(&r->pipes);
    run_child_close(&r->child);
    r->is_running = false;
    f->command_pid = 0;
}

/* It could not be started. */
static void
give_up(struct run *r, const struct err *err)
{
    struct run_facts *f = &r->keep.facts;
    struct turn_event e = turn_event(TURN_ERROR);
    e.text = (struct view){ (const uint8_t *)err->text, strlen(err->text) };
    r->opt->say(r->opt->ctx, err->text);
    r->flow.is_mute = true; /* it is said */
    run_flow_event(&r->flow, &e);
    r->flow.is_mute = false;
    f->status = SESSION_FAILED;
    f->exit_code = r->exit_status;
    tell_exit(r, 0);
    run_keep_end(&r->keep, r->exit_status, 0, NULL, err->text);
}

/* There is another one. */
static void
go_on(struct run *r)
{
    struct run_input *in = &r->input;
    if (in->is_kept && !in->is_kept_whole) {
        in->is_kept = false; /* it is said once */
        r->opt->say(r->opt->ctx, "the input is longer than 16 MiB and is not kept: only "
                                 "the first iteration is given it");
    }
    r->keep.facts.status = SESSION_ACTIVE;
    r->keep.facts.exit_code = -1;
    run_facts_write(&r->keep, false);
}

bool
run_iteration(struct run *r)
{
    AUTO(buf) text = { 0 };
    struct err err = { 0 };
    uint64_t start_ns = clock_mono_ns();
    r->flow.iteration = run_keep_begin(&r->keep);
    char **argv = make_argv(r, r->flow.iteration, &text);
    int e = argv ? 0 : err_code(&err, -ENOMEM, "cannot run");
    if (argv) {
        tell_prompt(r, argv);
        e = start(r, argv, &err);
    }
    if (e < 0) {
        r->exit_status = r->exit_status ? r->exit_status : 1;
        give_up(r, &err);
    } else {
        run_loop_run(r);
        finish(r, (clock_mono_ns() - start_ns) / 1000000);
    }
    free(argv);
    run_loop_look(r); /* a signal may have come after its end */
    bool is_last = e < 0 || r->exit_status || r->stop_signo || r->flow.is_until ||
                   r->keep.facts.iterations >= r->opt->iterations;
    if (!is_last)
        go_on(r);
    return !is_last;
}
