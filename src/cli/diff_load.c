/* SPDX-License-Identifier: MIT */
/* diff_load.c -- two sessions, found and read, to be compared. */
#include <errno.h>
#include <inttypes.h>
#include <unistd.h>

#include "cli/diff.h"
#include "cli/losses.h"
#include "cli/progress.h"
#include "cli/session.h"
#include "play/title.h"
#include "session/folder.h"
#include "session/lines.h"

static void
side_release(struct cli_diff_side *s)
{
    library_found_release(&s->found);
    session_told_release(&s->told);
    buf_release(&s->id);
    buf_release(&s->name);
    buf_release(&s->label);
    play_side_release(&s->turns);
    play_side_release(&s->lines);
    *s = (struct cli_diff_side){ .called = s->called };
}

void
cli_diff_release(struct cli_diff *d)
{
    side_release(&d->sides[0]);
    side_release(&d->sides[1]);
    play_edits_release(&d->edits);
    cli_output_release(&d->out);
    buf_release(&d->text);
    term_widths_release(&d->widths);
    redact_close(d->redact);
}

/* -- which -- */

/* Of a meta that is missing or damaged nothing is known. */
static int
take_facts(struct cli_diff *d, struct cli_diff_side *s)
{
    AUTO(buf) path = { 0 };
    struct session_facts facts = { .exit_code = -1 };
    s->told = (struct session_told){ .exit_code = -1, .usage = SESSION_NO_USAGE };
    if (session_sibling_path(buf_str(&s->found.tape_path), SESSION_META, &path) >= 0 &&
        session_meta_read(buf_str(&path), &facts, NULL) == 0)
        (void)session_meta_tell(buf_str(&path), &s->told, NULL);
    int r = buf_puts(&s->id, *facts.id ? facts.id : s->found.id);
    if (!r && s->told.name)
        r = play_title(d->redact, s->told.name, &s->name);
    if (r < 0)
        return r;
    if (s->name.n)
        return buf_append(&s->label, s->name.p, s->name.n);
    if (s->id.n)
        return buf_printf(&s->label, "%.*s", CLI_SHORT_ID, buf_str(&s->id));
    return play_title(d->redact, s->called, &s->label);
}

static int
look_up(struct cli_diff *d, struct cli_diff_side *s, struct err *err)
{
    side_release(s);
    int r = cli_find(d->self, &s->found, s->called, err);
    if (r < 0)
        return r;
    r = take_facts(d, s);
    return r < 0 ? err_code(err, r, "cannot read '%s'", s->called) : 0;
}

/* -- turns -- */

struct telling {
    const struct cli_diff *d;
    struct cli_diff_side *side;
};

/* A play_turns_bad_fn. */
static void
on_bad_turn(void *ctx, uint64_t line)
{
    struct telling *t = ctx;
    if (t->side->turns.bad_lines <= CLI_LOSSES_MAX)
        cli_say(t->d->self, "'%s': line %" PRIu64 " of its events cannot be read",
                t->side->called, line);
    t->side->is_damaged = true;
}

static int
read_turns(struct cli_diff *d, struct cli_diff_side *s, struct err *err)
{
    AUTO(buf) path = { 0 };
    struct telling telling = { d, s };
    const struct play_side_options opt = {
        .is_growing = s->found.is_live,
        .redact = d->redact,
        .bad = on_bad_turn,
        .ctx = &telling,
    };
    const char *tape = buf_str(&s->found.tape_path);
    int r = session_sibling_path(tape, SESSION_TURNS, &path);
    if (r < 0)
        return err_code(err, r, "cannot read '%s'", s->called);
    r = play_side_read(&s->turns, buf_str(&path), &opt, err);
    if (r == ERR_DAMAGED) { /* an archived one that is cut off */
        cli_say(d->self, "'%s': %s", s->called, err->text);
        s->is_damaged = true;
        r = 0;
    }
    s->has_turns = !r && (s->turns.events || s->is_damaged);
    bool is_gone = r == ERR_MISSING && s->found.is_live && access(tape, F_OK) != 0;
    return r == ERR_MISSING && !is_gone ? 0 : r;
}

/* -- lines -- */

struct loading {
    struct cli_losses losses;
    struct cli_progress progress;
};

static void
on_notice(void *ctx, const struct tape_notice *n)
{
    struct loading *l = ctx;
    cli_progress_end(&l->progress);
    cli_losses_notice(&l->losses, n);
}

static void
on_record(void *ctx, const struct tape_record *rec)
{
    struct loading *l = ctx;
    cli_losses_record(&l->losses, rec);
}

static int
take_lines(struct cli_diff *d, struct cli_diff_side *s, const struct play_loaded *loaded,
           struct err *err)
{
    if (loaded->records)
        return play_side_lines(&s->lines, loaded, d->redact, err);
    cli_say(d->self, "'%s' holds no record: is it an .ahr recording?", s->called);
    s->is_damaged = true;
    return 0;
}

static int
read_lines(struct cli_diff *d, struct cli_diff_side *s, struct err *err)
{
    struct loading l = { .losses = { .command = d->self, .path = s->called } };
    struct tape_progress progress = { cli_progress_step, &l.progress };
    const struct play_load_options opt = {
        .cols = s->told.cols,
        .rows = s->told.rows,
        .notice = on_notice,
        .record = on_record,
        .ctx = &l,
        .progress = &progress,
    };
    struct play_loaded loaded;
    cli_progress_begin(&l.progress, d->self, s->called);
    int r = play_load(&loaded, tape_io_files(), buf_str(&s->found.tape_path), &opt, err);
    cli_progress_end(&l.progress);
    if (r < 0)
        return r;
    r = take_lines(d, s, &loaded, err);
    play_loaded_release(&loaded);
    s->is_damaged |= l.losses.is_damaged;
    return r;
}

/* -- both -- */

typedef int (*read_fn)(struct cli_diff *d, struct cli_diff_side *s, struct err *err);

/* A session that ends meanwhile moves, and is then looked for once more. */
static int
read_side(struct cli_diff *d, struct cli_diff_side *s, read_fn read, struct err *err)
{
    int r = read(d, s, err);
    if (r != ERR_MISSING || !s->found.is_live)
        return r;
    r = look_up(d, s, err);
    if (!r && read != read_turns)
        r = read_turns(d, s, err);
    return r < 0 ? r : read(d, s, err);
}

/* What is compared, where that was not said; and whether it can be. */
static int
choose(struct cli_diff *d, struct err *err)
{
    const struct cli_diff_side *without = !d->sides[0].has_turns   ? &d->sides[0]
                                          : !d->sides[1].has_turns ? &d->sides[1]
                                                                   : NULL;
    if (d->what < 0)
        d->what = without ? CLI_DIFF_TERMINAL : CLI_DIFF_TURNS;
    if (!without || d->what == CLI_DIFF_TERMINAL)
        return 0;
    return err_set(err, ERR_USAGE,
                   "'%.200s' has no turns: it is a recording of a terminal; compare its "
                   "lines with --what terminal",
                   without->called);
}

int
cli_diff_load(struct cli_diff *d, const char *a, const char *b, struct err *err)
{
    int r = 0;
    d->sides[0].called = a;
    d->sides[1].called = b;
    for (size_t i = 0; i < 2 && !r; i++)
        r = look_up(d, &d->sides[i], err);
    for (size_t i = 0; i < 2 && !r; i++)
        r = read_side(d, &d->sides[i], read_turns, err);
    if (!r)
        r = choose(d, err);
    for (size_t i = 0; i < 2 && !r && d->what == CLI_DIFF_TERMINAL; i++)
        r = read_side(d, &d->sides[i], read_lines, err);
    if (r < 0)
        return r;
    r = play_compare(cli_diff_compared(d, 0), cli_diff_compared(d, 1), &d->edits);
    return r < 0 ? err_code(err, r, "cannot compare '%s' and '%s'", a, b) : 0;
}

/* -- what is known of one -- */

const struct play_side *
cli_diff_compared(const struct cli_diff *d, size_t which)
{
    const struct cli_diff_side *s = &d->sides[which];
    return d->what == CLI_DIFF_TERMINAL ? &s->lines : &s->turns;
}

const char *
cli_diff_thing(const struct cli_diff *d)
{
    return d->what == CLI_DIFF_TERMINAL ? "line" : "turn";
}

uint64_t
cli_diff_duration_ns(const struct cli_diff_side *s)
{
    const struct play_side *side = s->turns.last_ns ? &s->turns : &s->lines;
    uint64_t start = s->told.started_at_ns, end = s->told.ended_at_ns;
    if (!start || end < start) {
        start = start ? start : side->first_ns;
        end = side->last_ns;
    }
    return start && end >= start ? end - start : UINT64_MAX;
}

/* What its events tell is newer than its meta. */
struct session_usage
cli_diff_usage(const struct cli_diff_side *s)
{
    struct turn_usage u = turn_totals_usage(&s->turns.totals);
    if (!s->turns.totals.is_known)
        return s->told.usage;
    return (struct session_usage){ u.input_tokens, u.output_tokens,
                                   u.cache_creation_tokens, u.cache_read_tokens,
                                   s->turns.totals.calls };
}
