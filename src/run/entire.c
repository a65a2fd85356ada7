/* SPDX-License-Identifier: MIT */
/*
 * entire.c -- the run's conversation for Entire, in its project.
 *
 * It is written behind session.turns.jsonl: what a run that is killed has not written
 * there, recover makes of that.
 */
#include "run/keep_priv.h"
#include "turn/prompt.h"

static void
tell_trouble(struct run_keep *k)
{
    struct err err;
    if (journal_entire_trouble(k->entire, &err))
        run_keep_trouble(k, RUN_ENTIRE, &err);
}

/* Agents that are known have their prompt from their command line, or in one. */
static bool
is_plain(const struct run_keep *k)
{
    size_t n = 0;
    while (k->opt->argv[n])
        n++;
    return turn_prompt(n, (const char *const *)k->opt->argv).from == TURN_PROMPT_NONE;
}

void
run_entire_open(struct run_keep *k)
{
    struct err err;
    if (!k->opt->is_entire)
        return;
    const struct journal_entire_options opt = {
        .root = k->opt->root,
        .session = k->id,
        .version = AHR_VERSION,
        .cwd = k->opt->root,
        .git_branch = buf_str(&k->facts.branch),
        .start_ns = k->clock.real_ns,
        .is_plain = is_plain(k),
    };
    int r = journal_entire_open(&k->entire, &opt);
    if (r < 0) {
        err_code(&err, r, "cannot write to '%.300s/.entire'", k->opt->root);
        run_keep_trouble(k, RUN_ENTIRE, &err);
    }
}

void
run_entire_add(struct run_keep *k, const struct turn_event *e, uint64_t ts_ns)
{
    if (k->entire)
        (void)journal_entire_add(k->entire, e, ts_ns);
}

/* The facts are to know when its folder is made: one that is gone is not made anew. */
static void
look(struct run_keep *k, bool was_made)
{
    tell_trouble(k);
    if (!was_made && journal_entire_is_made(k->entire))
        run_facts_write(k, false);
}

void
run_entire_write(struct run_keep *k)
{
    if (!k->entire)
        return;
    bool was_made = journal_entire_is_made(k->entire);
    (void)journal_entire_write(k->entire);
    look(k, was_made);
}

enum session_entire
run_entire_fact(const struct run_keep *k)
{
    if (!k->entire)
        return SESSION_ENTIRE_NONE;
    return journal_entire_is_made(k->entire) ? SESSION_ENTIRE_MADE
                                             : SESSION_ENTIRE_WANTED;
}

void
run_entire_asked(struct run_keep *k)
{
    if (k->entire)
        journal_entire_asked(k->entire);
}

void
run_entire_tick(struct run_keep *k)
{
    if (!k->entire)
        return;
    bool was_made = journal_entire_is_made(k->entire);
    journal_entire_tick(k->entire, clock_mono_ns());
    look(k, was_made);
}

uint64_t
run_entire_due_ms(const struct run_keep *k)
{
    return k->entire ? clock_left_ms(journal_entire_due_ns(k->entire), clock_mono_ns())
                     : UINT64_MAX;
}

/* "missing in '…': 3 lines of full.jsonl, context.md; 'ahr export …' has them" */
static void
tell_missing(struct run_keep *k)
{
    AUTO(buf) text = { 0 };
    uint64_t lines = journal_entire_missing(k->entire);
    size_t begin;
    buf_printf(&text, "missing in '%s': ", journal_entire_path(k->entire));
    begin = text.n;
    for (size_t i = 0; i < JOURNAL_ENTIRE_FILES; i++) {
        const char *name = journal_entire_files[i];
        if (!journal_entire_lacks(k->entire, name))
            continue;
        buf_puts(&text, text.n > begin ? ", " : "");
        if (i == 0) {
            buf_put_u64(&text, lines);
            buf_puts(&text, " lines of ");
        }
        buf_puts(&text, name);
    }
    bool is_any = text.n > begin;
    if (is_any && k->has_folder && !k->turns_lost)
        buf_printf(&text, "; 'ahr export --format jsonl %s' has all that was said",
                   k->id);
    if (is_any)
        k->opt->say(k->opt->ctx, buf_str(&text));
}

void
run_entire_finish(struct run_keep *k)
{
    if (!k->entire)
        return;
    (void)journal_entire_end(k->entire, k->facts.ended_at_ns, true);
    tell_trouble(k);
    tell_missing(k);
}

void
run_entire_release(struct run_keep *k)
{
    journal_entire_free(k->entire);
}
