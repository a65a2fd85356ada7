/* SPDX-License-Identifier: MIT */
/*
 * recover_entire.c -- the transcript that a run which was cut off has in its project's
 * .entire/, completed by its events.
 *
 * The events say when each line was told, so that whoever completes it, and however
 * often, writes the same. One that was never begun, since the disk did not take it, is
 * made; one that was made and is gone is not made anew.
 */
#include <stdlib.h>

#include "journal/entire.h"
#include "journal/git_branch.h"
#include "library/entire.h"
#include "library/recover_run.h"
#include "play/turns.h"
#include "session/meta.h"
#include "turn/prompt.h"

struct completing {
    struct journal_entire *entire;
    uint64_t last_ns;
};

/* A play_turn_fn. */
static int
take_turn(void *ctx, const struct turn_event *e, const struct turn_stamp *at)
{
    struct completing *c = ctx;
    c->last_ns = at->ts_ns;
    int r = journal_entire_add(c->entire, e, at->ts_ns);
    return r < 0 ? r : journal_entire_write(c->entire);
}

static int
complete(struct journal_entire *entire, const char *turns_path, bool *ret_is_changed,
         struct err *err)
{
    struct completing c = { .entire = entire };
    const struct play_turns_options opt = { .fn = take_turn, .ctx = &c };
    struct err why = { 0 };
    int r = play_turns_read(turns_path, &opt, &why);
    if (!r || r == ERR_MISSING)
        r = journal_entire_end(entire, c.last_ns, true);
    *ret_is_changed = journal_entire_count(entire) > 0;
    if (r < 0 && !journal_entire_trouble(entire, err))
        err_code(err, r, "cannot complete '%.300s'", journal_entire_path(entire));
    return r;
}

/* As the run itself had it (run/entire.c). */
static bool
is_plain(struct view words)
{
    size_t n = 0;
    for (size_t at = 0; at < words.n; at++)
        n += !words.p[at];
    const char **argv = calloc(n + 1, sizeof(*argv));
    if (!argv)
        return false;
    for (size_t i = 0, at = 0; i < n; at += strlen(argv[i++]) + 1)
        argv[i] = (const char *)words.p + at;
    bool has_none = turn_prompt(n, argv).from == TURN_PROMPT_NONE;
    free(argv);
    return has_none;
}

int
recover_entire(const struct session_folder *f, const char *turns_path,
               struct library_project *p, struct err *err)
{
    AUTO(session_told) told = { 0 };
    AUTO(buf) root = { 0 };
    AUTO(buf) branch = { 0 };
    struct journal_entire *entire = NULL;
    bool is_changed = false;
    (void)session_meta_tell(f->meta_path, &told, NULL);
    int r = library_entire_root(f->dir, &root);
    if (r < 0 || !root.n)
        return r < 0 ? err_code(err, r, "cannot complete its transcript") : 0;
    if (told.git_branch)
        buf_puts(&branch, told.git_branch);
    else
        journal_git_branch(buf_str(&root), &branch);
    const struct journal_entire_options opt = { .root = buf_str(&root),
                                                .session = f->id,
                                                .version = AHR_VERSION,
                                                .cwd = buf_str(&root),
                                                .git_branch = buf_str(&branch),
                                                .start_ns = told.started_at_ns,
                                                .is_plain = is_plain(told.words) };
    r = journal_entire_open_again(&entire, &opt, err);
    if (r == ERR_MISSING && told.entire != SESSION_ENTIRE_WANTED)
        return 0;
    if (r == ERR_MISSING && (r = journal_entire_open(&entire, &opt)) < 0)
        err_code(err, r, "cannot make the transcript in '%.300s/.entire'", opt.root);
    if (!r)
        r = complete(entire, turns_path, &is_changed, err);
    p->is_changed |= is_changed && p->dir.n;
    journal_entire_free(entire);
    return r;
}
