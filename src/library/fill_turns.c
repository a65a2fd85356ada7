/* SPDX-License-Identifier: MIT */
/*
 * fill_turns.c -- what a run's agent did, into the library.
 *
 * The text of an event is what is shown of it, whole. The file is read twice: before the
 * recording's lines are looked at, for what of it was on the screen, and behind that for
 * all the rest.
 */
#include <errno.h>

#include "library/fill_priv.h"
#include "library/turns.h"
#include "turn/ledger.h"
#include "turn/show.h"

enum {
    ROWS_MAX = 1 << 20,        /* events that have a row */
    TEXT_MAX = 1 << 30,        /* bytes of text, in a session … */
    EVENT_TEXT_MAX = 64 << 20, /* … and of one event, as it is shown */
    CALLS_MAX = 1024,          /* tool calls whose results may still come */
    CALL_ID_MAX = 128,
};

/* A call, for results that do not name their tool. */
struct call {
    char id[CALL_ID_MAX];
    size_t id_size, tool_size;
    char tool[LABEL_TOOL_MAX];
};

struct turns {
    struct fill *f;
    struct turn_ledger ledger;
    size_t text_bytes; /* so far */
    bool has_failed;   /* the library, not the file */
    struct buf shown, masked;
    struct buf name, call;
    struct buf calls; /* struct call, the last CALLS_MAX, in a ring … */
    size_t call_at;   /* … of which this is the oldest */
};

static void
turns_release(struct turns *t)
{
    turn_ledger_release(&t->ledger);
    buf_release(&t->shown);
    buf_release(&t->masked);
    buf_release(&t->name);
    buf_release(&t->call);
    buf_release(&t->calls);
}

static int
cannot_keep(struct turns *t, int r)
{
    return err_code(t->f->err, r, "cannot keep what the agent did");
}

/* -- usage -- */

static int
count_usage(struct turns *t, const struct turn_event *e, const struct turn_stamp *at)
{
    struct turn_event own = *e;
    buf_clear(&t->name);
    int r = redact_text(t->f->redact, e->model.p, e->model.n, &t->name);
    if (r < 0)
        return r;
    own.model = (struct view){ t->name.p, t->name.n };
    return turn_ledger_add(&t->ledger, &own, at->ts_ns);
}

/* A turn_ledger_fn. */
static int
put_message(void *ctx, const struct turn_ledger_row *row)
{
    struct turns *t = ctx;
    buf_clear(&t->name);
    int r = buf_append(&t->name, row->model.p, row->model.n);
    if (r < 0)
        return cannot_keep(t, r);
    const struct store_message m = {
        .message = row->message,
        .caller = row->caller,
        .trust = row->trust,
        .model = buf_str(&t->name),
        .day = row->day,
        .input_tokens = row->usage.input_tokens,
        .output_tokens = row->usage.output_tokens,
        .cache_creation_tokens = row->usage.cache_creation_tokens,
        .cache_read_tokens = row->usage.cache_read_tokens,
        .calls = row->calls,
        .open_calls = row->open,
        .span = row->span,
        .is_extra = row->is_extra,
    };
    return store_message_put(t->f->s, t->f->key, &m, t->f->err);
}

/* A turn_ledger_total_fn. */
static int
put_total(void *ctx, const struct turn_ledger_total *total)
{
    struct turns *t = ctx;
    buf_clear(&t->name);
    int r = buf_append(&t->name, total->model.p, total->model.n);
    if (r < 0)
        return cannot_keep(t, r);
    const struct store_total of = {
        .thread = total->thread,
        .is_history = total->is_history,
        .model = buf_str(&t->name),
        .day = total->day,
        .input_tokens = total->all.input_tokens,
        .output_tokens = total->all.output_tokens,
        .cache_creation_tokens = total->all.cache_creation_tokens,
        .cache_read_tokens = total->all.cache_read_tokens,
        .calls = total->calls,
    };
    return store_total_put(t->f->s, t->f->key, &of, t->f->err);
}

static int
put_usage(struct turns *t)
{
    int r = turn_ledger_each(&t->ledger, put_message, t);
    if (!r)
        r = turn_ledger_each_total(&t->ledger, put_total, t);
    return r < 0 ? r : store_messages_settle(t->f->s, t->f->key, t->f->err);
}

/* -- rows -- */

static bool
is_of_tool(const struct turn_event *e)
{
    return e->type == TURN_TOOL_CALL || e->type == TURN_TOOL_RESULT;
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
    bool has_call = is_of_tool(e);
    struct store_turn row = {
        .number = number,
        .ts_ns = at->ts_ns,
        .iteration = at->iteration,
        .type = turn_type_name(e->type),
        .role = turn_role_name(turn_role_of(e)),
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

/* -- whose tool -- */

static int
remember_call(struct turns *t, struct view id, struct view tool)
{
    if (!id.n || id.n > CALL_ID_MAX || !tool.n)
        return 0;
    struct call c = { .id_size = id.n, .tool_size = label_tool(tool).n };
    memcpy(c.id, id.p, c.id_size);
    memcpy(c.tool, tool.p, c.tool_size);
    if (t->calls.n < CALLS_MAX * sizeof(c))
        return buf_append(&t->calls, &c, sizeof(c));
    memcpy(t->calls.p + t->call_at * sizeof(c), &c, sizeof(c));
    t->call_at = (t->call_at + 1) % CALLS_MAX;
    return 0;
}

static struct view
tool_of_call(const struct turns *t, struct view id)
{
    const struct call *calls = (const void *)t->calls.p;
    for (size_t i = t->calls.n / sizeof(*calls); id.n && i-- > 0;)
        if (calls[i].id_size == id.n && !memcmp(calls[i].id, id.p, id.n))
            return (struct view){ (const uint8_t *)calls[i].tool, calls[i].tool_size };
    return (struct view){ 0 };
}

/* The tool of a call or a result; empty: none, or not known. */
static int
find_tool(struct turns *t, const struct turn_event *e, struct view *ret)
{
    const char *name;
    *ret = (struct view){ 0 };
    if (!is_of_tool(e))
        return 0;
    int r = mask(t, e->name, &t->name, &name);
    if (r < 0)
        return r;
    *ret = (struct view){ t->name.p, t->name.n };
    if (e->type == TURN_TOOL_CALL)
        return remember_call(t, e->id, *ret);
    if (!ret->n)
        *ret = tool_of_call(t, e->id);
    return 0;
}

/* -- texts -- */

static int
show(struct turns *t, const struct turn_event *e, const struct turn_show *opt)
{
    buf_clear(&t->shown);
    buf_clear(&t->masked);
    t->masked.ceiling = t->shown.ceiling = EVENT_TEXT_MAX;
    int r = turn_show(e, opt, &t->masked);
    return r < 0 ? r : redact_text(t->f->redact, t->masked.p, t->masked.n, &t->shown);
}

static bool
has_text(const struct turns *t, const struct turn_event *e)
{
    if (e->type == TURN_OTHER && t->f->is_history)
        return false;
    return e->type != TURN_USAGE && e->type != TURN_EXIT; /* they have columns */
}

static int
put_text(struct turns *t, const struct turn_event *e, const struct turn_stamp *at,
         uint64_t number)
{
    static const struct turn_show whole = { .is_verbose = true, .is_whole = true };
    struct label label = { .type = e->type, .role = turn_role_of(e) };
    int r = find_tool(t, e, &label.tool);
    if (!r && has_text(t, e))
        r = show(t, e, &whole);
    if (r < 0 && r != ERR_LIMIT)
        return cannot_keep(t, r);
    if (r == ERR_LIMIT || !has_text(t, e) || t->shown.n > TEXT_MAX - t->text_bytes)
        return 0;
    t->text_bytes += t->shown.n;
    for (uint8_t *p = t->shown.p;
         (p = memchr(p, '\t', (size_t)(t->shown.p + t->shown.n - p)));)
        *p = ' '; /* no line of a terminal has one */
    const struct piece_row row = { .index = number, .ts_ns = at->ts_ns };
    return fill_each_line(t->f, &row, &label, (struct view){ t->shown.p, t->shown.n });
}

/* A library_turn_fn. */
static int
take_turn(void *ctx, const struct turn_event *e, const struct turn_stamp *at,
          uint64_t number)
{
    struct turns *t = ctx;
    int r = count_usage(t, e, at);
    if (r < 0)
        r = cannot_keep(t, r);
    t->f->done.turns = number;
    if (!r && number <= ROWS_MAX)
        r = put_row(t, e, at, number);
    if (!r)
        r = fill_held(t->f, at->ts_ns);
    if (!r)
        r = put_text(t, e, at, number);
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
    return r < 0 ? r : fill_held(f, UINT64_MAX);
}

/* -- what was on the screen -- */

static int
add_shown(struct turns *t, const struct turn_event *e, bool is_verbose)
{
    const struct turn_show opt = { .is_verbose = is_verbose };
    int r = show(t, e, &opt);
    if (r == ERR_LIMIT)
        return 0;
    return r < 0 ? r : said_add(t->f->said, (struct view){ t->shown.p, t->shown.n });
}

/* A library_turn_fn. What is only shown to the verbose is among it: whether it was, the
 * recording alone tells. */
static int
take_shown(void *ctx, const struct turn_event *e, const struct turn_stamp *at,
           uint64_t number)
{
    struct turns *t = ctx;
    (void)at, (void)number;
    int r = has_text(t, e) ? add_shown(t, e, true) : 0;
    return r || e->type != TURN_SESSION ? r : add_shown(t, e, false);
}

/* What the disk does not give is told when it is read for the second time. */
int
fill_said(struct fill *f, const char *path)
{
    AUTO(turns) t = { .f = f };
    int r = said_new(&f->said);
    if (!r)
        r = library_turns_read(path, take_shown, &t, NULL);
    return r == -ENOMEM ? cannot_keep(&t, r) : 0;
}
