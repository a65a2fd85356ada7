/* SPDX-License-Identifier: MIT */
/* run.c -- a session: opened, its iterations one by one, its end. */
#include "run/run.h"

#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "run/run_priv.h"

static void
on_message(void *ctx, struct view message, bool is_open)
{
    struct run *r = ctx;
    r->flow.is_input_open = is_open;
    run_flow_input(&r->flow, message, r->input.is_one_prompt);
    r->flow.is_input_open = false;
}

static void
on_write(void *ctx)
{
    struct run *r = ctx;
    run_flow_settle(&r->flow); /* what the command gets is on disk */
}

/* Agents that have their prompt would wait for more from a terminal. */
static void
open_input(struct run *r)
{
    size_t n = 0;
    while (r->opt->argv[n])
        n++;
    r->prompt = turn_prompt(n, (const char *const *)r->opt->argv);
    if (r->opt->agent == TURN_AUTO && r->prompt.agent != TURN_AUTO)
        r->keep.facts.agent = turn_agent_name(r->prompt.agent);
    bool is_unwanted = r->prompt.from == TURN_PROMPT_ARG && isatty(STDIN_FILENO);
    run_input_init(&r->input, is_unwanted ? -1 : STDIN_FILENO,
                   r->prompt.from == TURN_PROMPT_STDIN, r->opt->iterations > 1,
                   on_message, r);
    r->input.on_write = on_write;
    run_replay_init(&r->replay, r->opt->script, clock_mono_ns());
    r->replay.is_agent = r->prompt.agent != TURN_AUTO;
    r->input.is_held = run_replay_holds(&r->replay);
    r->flow.replay = r->opt->script ? &r->replay : NULL;
}

static int
open_all(struct run *r, struct err *err)
{
    int e = run_loop_init(r, err);
    if (!e)
        e = run_keep_open(&r->keep, r->opt, r->on_news, r, err);
    if (e < 0)
        return e;
    if (r->opt->is_echoed)
        pty_output_open(&r->out, STDOUT_FILENO);
    r->has_out = r->opt->is_echoed;
    e = run_flow_init(&r->flow, &r->keep, r->has_out ? &r->out : NULL, err);
    if (e < 0)
        return e;
    open_input(r);
    run_wire_open(r);
    e = run_environment_make(r, err);
    if (!e)
        run_wire_begin(r);
    return e;
}

static void
close_all(struct run *r)
{
    run_wire_finish(r);
    run_input_release(&r->input);
    run_loop_close(r);
    if (r->has_out)
        pty_output_close(&r->out);
    run_flow_release(&r->flow);
    run_keep_release(&r->keep);
    free(r->envp);
    buf_release(&r->env_text);
}

/* What is shown ends with a whole line: behind one the terminal is at the beginning of
 * the next. */
static bool
is_key_last(const struct run *r)
{
    bool has_line = r->has_out && isatty(STDOUT_FILENO) && r->out.taken > r->stop_taken &&
                    !pty_output_waiting(&r->out);
    return (r->stop_signo == SIGINT || r->stop_signo == SIGQUIT) && !has_line;
}

static void
report(struct run *r, struct run_result *ret)
{
    const struct run_facts *f = &r->keep.facts;
    const char *name = r->keep.has_project ? r->keep.project.name : r->opt->name;
    *ret = (struct run_result){
        .status = f->status,
        .exit_status = r->exit_status,
        .duration_ms = (f->ended_at_ns - r->keep.clock.real_ns) / 1000000,
        .iterations = f->iterations,
        .events = r->flow.events,
        .sent = r->replay.sent,
        .has_log = r->keep.has_project,
        .has_recording = r->keep.has_folder,
        .is_key_last = is_key_last(r),
    };
    snprintf(ret->id, sizeof(ret->id), "%s", r->keep.id);
    snprintf(ret->name, sizeof(ret->name), "%s", name ? name : "");
}

/* Whether something keeps the logs out of git may only be known at the end. */
static bool
greet(const struct run *r, bool is_over)
{
    const struct journal_project *p = &r->keep.project;
    if (!r->keep.has_project || !p->is_first)
        return true;
    if (!p->has_ignore && !is_over)
        return false;
    r->opt->greet(r->opt->ctx, p->has_ignore);
    return true;
}

int
run_session(const struct run_options *opt, struct run_result *ret, struct err *err)
{
    struct run *r = calloc(1, sizeof(*r));
    if (!r)
        return err_code(err, -ENOMEM, "cannot run");
    r->opt = opt;
    r->input.from_fd = r->input.to_fd = -1;
    r->watch.fd = -1;
    int e = open_all(r, err);
    if (e < 0) {
        run_keep_discard(&r->keep);
        close_all(r);
        free(r);
        return e;
    }
    if (opt->opened)
        opt->opened(opt->ctx, r->keep.id);
    bool is_greeted = greet(r, false);
    run_visit_open(r);
    while (run_iteration(r))
        continue;
    run_loop_run(r); /* what is not shown yet */
    run_wire_finish(r);
    r->keep.facts.ended_at_ns = run_keep_now_ns(&r->keep);
    run_visit_close(r);
    run_keep_finish(&r->keep);
    if (!is_greeted)
        greet(r, true);
    report(r, ret);
    close_all(r);
    free(r);
    return 0;
}
