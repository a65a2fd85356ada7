/* SPDX-License-Identifier: MIT */
#include "run/flow_priv.h"

#include <string.h>

enum { KEPT_MAX = 4 << 20 }; /* memory that stays in each buffer */

/* -- plain text, stderr and input: lines that are masked already -- */

static void
on_text_line(void *ctx, struct view line, size_t told)
{
    struct run_flow *f = ctx;
    struct turn_event e = turn_event(TURN_TEXT);
    e.text = line;
    run_tell_line(f, &e, told);
}

static void
on_err_line(void *ctx, struct view line, size_t told)
{
    struct turn_event e = turn_event(TURN_STDERR);
    (void)told; /* pieces of it are lines of their own */
    e.text = line;
    run_tell(ctx, &e);
}

static void
on_in_line(void *ctx, struct view line, size_t told)
{
    (void)told;
    run_tell_input(ctx, line);
}

static bool
is_plain(const struct run_flow *f)
{
    enum turn_agent agent = turn_decoder_agent(f->decoder);
    return agent == TURN_AUTO || agent == TURN_PLAIN;
}

/* -- lines of text that came in one go are masked in one go -- */

enum { GATHERED_MAX = 64 << 10 };

static void
pass_gathered(struct run_flow *f)
{
    if (f->gathered.n)
        run_lines_feed(&f->plain, (struct view){ f->gathered.p, f->gathered.n },
                       on_text_line, f);
    buf_clear(&f->gathered);
}

static void
gather(struct run_flow *f, struct view bytes)
{
    if (f->gathered.n + bytes.n > GATHERED_MAX)
        pass_gathered(f);
    if (bytes.n <= GATHERED_MAX && !buf_append(&f->gathered, bytes.p, bytes.n))
        return;
    pass_gathered(f);
    run_lines_feed(&f->plain, bytes, on_text_line, f);
}

static void
take_text(struct run_flow *f, const struct turn_event *e)
{
    static const struct view newline = { (const uint8_t *)"\n", 1 };
    size_t fed = f->plain_fed < e->text.n ? f->plain_fed : e->text.n;
    struct view rest = { e->text.p + fed, e->text.n - fed };
    if (e->is_partial) {
        pass_gathered(f);
        run_lines_feed(&f->plain, e->text, on_text_line, f);
        f->plain_fed += e->text.n;
        struct view piece = run_lines_piece(&f->plain);
        if (piece.n)
            run_tell_piece(f, TURN_TEXT, piece, piece.n == f->plain.line.n);
        return;
    }
    gather(f, rest);
    if (!f->is_ending && !e->was_cut_off) /* else it may end in a secret */
        gather(f, newline);
    f->plain_fed = 0;
}

/* -- events -- */

/* Is the text in it that ends all? */
static bool
is_last_word(const struct run_flow *f, const struct turn_event *e)
{
    const char *until = f->opt->until;
    return until && e->type == TURN_TEXT && !e->is_user && !e->is_partial && e->text.n &&
           memmem(e->text.p, e->text.n, until, strlen(until));
}

static void
learn(struct run_flow *f, const struct turn_event *e)
{
    struct run_facts *facts = &f->keep->facts;
    enum turn_agent agent = turn_decoder_agent(f->decoder);
    run_facts_see(f->keep, e);
    if (agent != TURN_AUTO && facts->agent != turn_agent_name(agent)) {
        facts->agent = turn_agent_name(agent);
        run_facts_write(f->keep, false); /* no event tells it, should we be killed */
    }
    f->is_until |= is_last_word(f, e);
}

void
run_flow_event(struct run_flow *f, const struct turn_event *e)
{
    struct turn_event masked = run_mask_event(&f->mask, e);
    run_tell(f, &masked);
}

static int
on_event(void *ctx, const struct turn_event *e)
{
    struct run_flow *f = ctx;
    learn(f, e);
    if (e->type == TURN_TEXT && !e->is_user && is_plain(f)) {
        take_text(f, e);
        return 0;
    }
    pass_gathered(f);
    if (e->is_partial)
        run_message_piece(f, e);
    else if (!run_message_whole(f, e))
        run_flow_event(f, e);
    if (f->keep->artifacts)
        (void)journal_artifacts_see(f->keep->artifacts, e, run_keep_now_ns(f->keep));
    return 0;
}

static void
on_artifact(void *ctx, struct view path, const char *action)
{
    struct run_flow *f = ctx;
    struct turn_event e = turn_event(TURN_ARTIFACT);
    e.text = path;
    e.name = (struct view){ (const uint8_t *)action, strlen(action) };
    run_flow_event(f, &e);
    f->keep->facts.is_changed = true;
}

/* -- what comes -- */

static void
stir(struct run_flow *f, struct view bytes)
{
    if (f->replay && bytes.n)
        run_replay_stir(f->replay, clock_mono_ns());
}

void
run_flow_out(struct run_flow *f, struct view bytes)
{
    stir(f, bytes);
    if (!bytes.n)
        return;
    (void)turn_decoder_feed(f->decoder, bytes, on_event, f);
    pass_gathered(f);
    f->heard_ns = bytes.p[bytes.n - 1] == '\n' ? 0 : clock_mono_ns();
}

void
run_flow_err(struct run_flow *f, struct view bytes)
{
    stir(f, bytes);
    run_lines_feed(&f->err, bytes, on_err_line, f);
}

static int
on_asked(void *ctx, const struct turn_event *e)
{
    struct run_flow *f = ctx;
    if (e->type != TURN_TEXT || e->is_partial)
        return 0;
    struct turn_event masked = run_mask_event(&f->mask, e);
    run_tell_input(f, masked.text);
    return 1;
}

/* A message in JSON is told as what it says. */
static bool
take_json(struct run_flow *f, struct view message)
{
    uint64_t before = f->events;
    if (!message.n || message.p[0] != '{')
        return false;
    (void)turn_decoder_feed(f->asked, message, on_asked, f);
    (void)turn_decoder_feed(f->asked, (struct view){ (const uint8_t *)"\n", 1 }, on_asked,
                            f);
    return f->events > before;
}

void
run_flow_input(struct run_flow *f, struct view message, bool is_whole)
{
    AUTO(buf) masked = { .ceiling = RUN_TEXT_MAX };
    if (is_whole) {
        while (message.n && message.p[message.n - 1] == '\n')
            message.n--;
        run_mask_text(f->keep->redact, message, &masked);
        run_tell_input(f, (struct view){ masked.p, masked.n });
    } else if (!take_json(f, message)) {
        run_lines_feed(&f->in, message, on_in_line, f);
        run_lines_feed(&f->in, (struct view){ (const uint8_t *)"\n", 1 }, on_in_line, f);
    }
}

void
run_flow_end(struct run_flow *f)
{
    f->is_ending = true;
    (void)turn_decoder_end(f->decoder, on_event, f);
    f->is_ending = false;
    pass_gathered(f);
    run_lines_end(&f->plain, on_text_line, f);
    run_lines_end(&f->err, on_err_line, f);
    run_lines_end(&f->in, on_in_line, f);
    run_message_commit(f);
    run_tell_line_end(f);
    f->message.is_open = false;
    f->plain_fed = 0;
    f->heard_ns = 0;
}

void
run_flow_settle(struct run_flow *f)
{
    run_keep_write(f->keep, &f->batch);
    if (f->out && f->screen.n)
        pty_output_put(f->out, (struct view){ f->screen.p, f->screen.n });
    buf_clear(&f->screen);
    run_flow_trim(f);
}

void
run_flow_trim(struct run_flow *f)
{
    struct buf *bufs[] = { &f->batch.turns, &f->batch.io, &f->batch.log, &f->batch.tape,
                           &f->screen,      &f->plainly,  &f->coloured };
    for (size_t i = 0; i < sizeof(bufs) / sizeof(bufs[0]); i++)
        if (bufs[i]->cap > KEPT_MAX && !bufs[i]->n)
            buf_release(bufs[i]);
}

/* -- time -- */

static uint64_t
left_ms(const struct run_flow *f, uint64_t since_ns)
{
    return clock_left_ms(since_ns + (uint64_t)f->opt->flush_ms * 1000000,
                         clock_mono_ns());
}

static uint64_t
message_ms(const struct run_flow *f)
{
    const struct run_message *m = &f->message;
    return m->is_open && m->shown.n > m->told ? left_ms(f, m->since_ns) : UINT64_MAX;
}

static uint64_t
err_ms(const struct run_flow *f)
{
    return f->err.held_ns ? left_ms(f, f->err.held_ns) : UINT64_MAX;
}

static uint64_t
rest_ms(const struct run_flow *f)
{
    return f->heard_ns ? left_ms(f, f->heard_ns) : UINT64_MAX;
}

void
run_flow_tick(struct run_flow *f)
{
    if (!message_ms(f))
        run_message_commit(f);
    if (!rest_ms(f)) {
        (void)turn_decoder_rest(f->decoder, on_event, f);
        pass_gathered(f);
        f->heard_ns = 0;
    }
    if (!err_ms(f))
        run_lines_cut(&f->err, on_err_line, f);
    run_flow_settle(f);
}

uint64_t
run_flow_due_ms(const struct run_flow *f)
{
    uint64_t due = message_ms(f), err = err_ms(f), rest = rest_ms(f);
    due = err < due ? err : due;
    return rest < due ? rest : due;
}

/* -- life -- */

int
run_flow_init(struct run_flow *f, struct run_keep *k, struct pty_output *out,
              struct err *err)
{
    *f = (struct run_flow){ .opt = k->opt, .keep = k, .out = out };
    struct buf *big[] = { &f->batch.turns, &f->batch.io, &f->batch.log, &f->batch.tape,
                          &f->screen,      &f->plainly,  &f->coloured };
    for (size_t i = 0; i < sizeof(big) / sizeof(big[0]); i++)
        big[i]->ceiling = (size_t)2 * RUN_TEXT_MAX;
    f->mask.redact = k->redact;
    int r = turn_decoder_new(&f->decoder, k->opt->agent);
    if (!r)
        r = turn_decoder_new(&f->asked, TURN_CLAUDE);
    if (!r)
        r = run_lines_init(&f->plain, k->redact);
    if (!r)
        r = run_lines_init(&f->err, k->redact);
    if (!r)
        r = run_lines_init(&f->in, k->redact);
    if (!r)
        r = redact_stream_new(&f->message.stream, k->redact,
                              &(struct redact_options){ .is_whole = true });
    if (!r && k->has_project)
        r = journal_artifacts_new(&k->artifacts, k->project.root, k->project.dir,
                                  k->redact, on_artifact, f);
    return r < 0 ? err_code(err, r, "cannot record") : 0;
}

void
run_flow_release(struct run_flow *f)
{
    struct buf *bufs[] = { &f->batch.turns, &f->batch.io, &f->batch.log, &f->batch.tape,
                           &f->screen,      &f->plainly,  &f->coloured };
    for (size_t i = 0; i < sizeof(bufs) / sizeof(bufs[0]); i++)
        buf_release(bufs[i]);
    buf_release(&f->gathered);
    run_mask_release(&f->mask);
    run_lines_release(&f->plain);
    run_lines_release(&f->err);
    run_lines_release(&f->in);
    run_message_release(&f->message);
    turn_decoder_free(f->decoder);
    turn_decoder_free(f->asked);
}
