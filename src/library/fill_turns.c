/* SPDX-License-Identifier: MIT */
/*
 * fill_turns.c -- what a run's agent did, into the library.
 *
 * What was shown is in the recording, and is found there. What was cut off on the screen,
 * or not shown at all, comes as lines of its own behind those of the terminal, under the
 * event's number (PIECE_TURN).
 */
#include <errno.h>

#include "library/fill_priv.h"
#include "library/turns.h"
#include "turn/show.h"
#include "turn/totals.h"

enum {
    MODELS_MAX = 16,           /* a session's others count as its last one */
    ROWS_MAX = 1 << 20,        /* events that have a row */
    UNSEEN_MAX = 256 << 20,    /* bytes of text that was not shown, in a session */
    EVENT_TEXT_MAX = 64 << 20, /* … of one event, as it is shown */
};

struct model {
    struct buf name;
    struct turn_totals totals;
};

struct turns {
    struct fill *f;
    struct model models[MODELS_MAX];
    size_t count, current; /* of the models */
    size_t unseen;         /* bytes so far */
    bool has_failed;       /* the library, not the file */
    struct buf shown, whole, masked;
    struct buf name, call;
};

static void
turns_release(struct turns *t)
{
    for (size_t i = 0; i < MODELS_MAX; i++) {
        buf_release(&t->models[i].name);
        turn_totals_release(&t->models[i].totals);
    }
    buf_release(&t->shown);
    buf_release(&t->whole);
    buf_release(&t->masked);
    buf_release(&t->name);
    buf_release(&t->call);
}

static int
cannot_keep(struct turns *t, int r)
{
    return err_code(t->f->err, r, "cannot keep what the agent did");
}

/* -- by model -- */

static bool
is_same(struct view a, const struct buf *b)
{
    return a.n == b->n && !memcmp(a.p, b->p, a.n);
}

static int
choose_model(struct turns *t, struct view name)
{
    size_t i = 0;
    while (i < t->count && !is_same(name, &t->models[i].name))
        i++;
    if (i == MODELS_MAX)
        return 0;
    t->current = i;
    if (i < t->count)
        return 0;
    t->count++;
    return redact_text(t->f->redact, name.p, name.n, &t->models[i].name);
}

static int
count_usage(struct turns *t, const struct turn_event *e)
{
    int r = 0;
    if (e->type == TURN_SESSION && e->model.n)
        r = choose_model(t, e->model);
    else if (!t->count)
        r = choose_model(t, (struct view){ (const uint8_t *)"", 0 });
    return r < 0 ? r : turn_totals_add(&t->models[t->current].totals, e);
}

static int
put_usage(struct turns *t)
{
    int r = 0;
    for (size_t i = 0; !r && i < t->count; i++) {
        struct turn_totals *totals = &t->models[i].totals;
        struct turn_usage u = turn_totals_usage(totals);
        const struct store_usage row = {
            .model = buf_str(&t->models[i].name),
            .input_tokens = u.input_tokens,
            .output_tokens = u.output_tokens,
            .cache_creation_tokens = u.cache_creation_tokens,
            .cache_read_tokens = u.cache_read_tokens,
            .calls = totals->calls,
        };
        r = totals->is_known ? store_usage_put(t->f->s, t->f->key, &row, t->f->err) : 0;
    }
    return r;
}

/* -- rows -- */

static const char *
role_of(const struct turn_event *e)
{
    if (e->type == TURN_TEXT)
        return e->is_user ? "user" : "assistant";
    if (e->type == TURN_THINKING || e->type == TURN_TOOL_CALL)
        return "assistant";
    return e->type == TURN_TOOL_RESULT ? "tool" : NULL;
}

/* NULL for nothing. */
static int
mask(struct turns *t, struct view text, struct buf *to, const char **ret)
{
    buf_clear(to);
    int r = text.n ? redact_text(t->f->redact, text.p, text.n, to) : 0;
    *ret = to->n ? buf_str(to) : NULL;
    return r < 0 ? r : to->failed;
}

static int
put_artifact(struct turns *t, const struct store_turn *turn, struct view path)
{
    const char *masked;
    int r = mask(t, path, &t->masked, &masked);
    if (r < 0)
        return cannot_keep(t, r);
    const struct store_artifact a = {
        .turn = turn->number, .path = masked, .action = turn->name, .ts_ns = turn->ts_ns
    };
    return masked ? store_artifact_put(t->f->s, t->f->key, &a, t->f->err) : 0;
}

static int
put_row(struct turns *t, const struct turn_event *e, const struct turn_stamp *at,
        uint64_t number)
{
    bool has_call = e->type == TURN_TOOL_CALL || e->type == TURN_TOOL_RESULT;
    struct store_turn row = {
        .number = number,
        .ts_ns = at->ts_ns,
        .iteration = at->iteration,
        .type = turn_type_name(e->type),
        .role = role_of(e),
        .text_bytes = e->text.n + e->json.n,
        .has_failed = e->is_error || e->type == TURN_ERROR,
    };
    int r = mask(t, e->name, &t->name, &row.name);
    if (!r)
        r = mask(t, has_call ? e->id : (struct view){ 0 }, &t->call, &row.call);
    if (r < 0)
        return cannot_keep(t, r);
    r = store_turn_put(t->f->s, t->f->key, &row, t->f->err);
    return r || e->type != TURN_ARTIFACT ? r : put_artifact(t, &row, e->text);
}

/* -- text that was not shown -- */

static int
show(struct turns *t, const struct turn_event *e, bool is_whole, struct buf *ret)
{
    const struct turn_show opt = { .is_verbose = is_whole, .is_whole = is_whole };
    buf_clear(ret);
    buf_clear(&t->masked);
    t->masked.ceiling = ret->ceiling = EVENT_TEXT_MAX;
    int r = turn_show(e, &opt, &t->masked);
    return r < 0 ? r : redact_text(t->f->redact, t->masked.p, t->masked.n, ret);
}

/* Behind the lines that both begin with. */
static struct view
unseen(const struct turns *t)
{
    size_t same = 0, line = 0;
    while (same < t->shown.n && same < t->whole.n && t->shown.p[same] == t->whole.p[same])
        if (t->shown.p[same++] == '\n')
            line = same;
    return (struct view){ t->whole.p + line, t->whole.n - line };
}

static int
put_lines(struct turns *t, struct view text, const struct piece_row *row)
{
    int r = 0;
    while (!r && text.n) {
        const uint8_t *end = memchr(text.p, '\n', text.n);
        size_t n = end ? (size_t)(end - text.p) : text.n;
        if (n)
            r = fill_text(t->f, row, (struct view){ text.p, n }, false);
        t->f->done.lines += n > 0;
        t->f->done.text_bytes += n;
        text = (struct view){ text.p + n + (end != NULL), text.n - n - (end != NULL) };
    }
    return r;
}

static int
put_unseen(struct turns *t, const struct turn_event *e, const struct turn_stamp *at,
           uint64_t number)
{
    if (e->type == TURN_USAGE || e->type == TURN_EXIT)
        return 0; /* numbers, which have columns of their own */
    int r = show(t, e, false, &t->shown);
    if (!r)
        r = show(t, e, true, &t->whole);
    if (r == ERR_LIMIT)
        return 0;
    if (r < 0)
        return cannot_keep(t, r);
    struct view rest = unseen(t);
    if (!rest.n || rest.n > UNSEEN_MAX - t->unseen)
        return 0;
    t->unseen += rest.n;
    for (uint8_t *p = t->whole.p;
         (p = memchr(p, '\t', (size_t)(t->whole.p + t->whole.n - p)));)
        *p = ' '; /* no line of a terminal has one */
    const struct piece_row row = { .index = PIECE_TURN | number, .ts_ns = at->ts_ns };
    return put_lines(t, rest, &row);
}

/* A library_turn_fn. */
static int
take_turn(void *ctx, const struct turn_event *e, const struct turn_stamp *at,
          uint64_t number)
{
    struct turns *t = ctx;
    int r = count_usage(t, e);
    if (r < 0)
        r = cannot_keep(t, r);
    t->f->done.turns = number;
    if (!r && number <= ROWS_MAX)
        r = put_row(t, e, at, number);
    if (!r)
        r = put_unseen(t, e, at, number);
    t->has_failed = r < 0;
    return r;
}

/* What the disk does not give counts as damage; what the library does not take ends it.
 */
int
fill_turns(struct fill *f, const char *path, uint64_t *ret_unread)
{
    AUTO(turns) t = { .f = f };
    struct session_unread unread = { 0 };
    int r = library_turns_read(path, take_turn, &t, &unread);
    *ret_unread = unread.lines;
    if (t.has_failed || r == -ENOMEM)
        return t.has_failed ? r : cannot_keep(&t, r);
    *ret_unread += r < 0;
    r = put_usage(&t);
    return r < 0 ? r : fill_end_piece(f);
}
