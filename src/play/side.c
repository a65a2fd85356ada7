/* SPDX-License-Identifier: MIT */
/*
 * side.c -- what is compared of a session's events.
 *
 * A turn's key: its type, whether it is the user's, whether it is a sub-agent's, the
 * tool's name and a NUL: so much is its kind. Then whether it failed, its exit status,
 * and its text or arguments.
 */
#include "play/side.h"

#include <errno.h>

#include "base/json_in.h"
#include "base/le.h"
#include "play/sorted_json_priv.h"
#include "redact/json.h"
#include "turn/clean.h"
#include "turn/show.h"

enum {
    HEAD = 3,         /* bytes before the name */
    NECK = 1 + 1 + 4, /* … and between it and the text */
    CALLS_MAX = 256,  /* that may wait for their results */
    ID_MAX = 128,     /* bytes of a call's id that count */
};

struct call {
    size_t turn;
    size_t id_size;
    uint8_t id[ID_MAX];
};

struct reading {
    struct play_side *side;
    const struct play_side_options *opt;
    struct buf clean, sorted, name, text; /* of one event */
};

void
play_side_release(struct play_side *s)
{
    buf_release(&s->turns);
    buf_release(&s->files);
    buf_release(&s->texts);
    buf_release(&s->calls);
    turn_totals_release(&s->totals);
    *s = (struct play_side){ 0 };
}

static void
reading_release(struct reading *r)
{
    buf_release(&r->clean);
    buf_release(&r->sorted);
    buf_release(&r->name);
    buf_release(&r->text);
}

static struct view
view_of(const struct buf *b)
{
    return (struct view){ b->p, b->n };
}

/* -- a turn -- */

struct view
play_side_key(const struct play_side *s, const struct play_side_turn *t)
{
    return (struct view){ s->texts.p + t->at, t->size };
}

struct view
play_side_kind(const struct play_side *s, const struct play_side_turn *t)
{
    return (struct view){ s->texts.p + t->at, HEAD + t->name_size + 1 };
}

struct view
play_side_name(const struct play_side *s, const struct play_side_turn *t)
{
    return (struct view){ s->texts.p + t->at + HEAD, t->name_size };
}

struct view
play_side_text(const struct play_side *s, const struct play_side_turn *t)
{
    size_t before = HEAD + t->name_size + NECK;
    return (struct view){ s->texts.p + t->at + before, t->size - before };
}

static int
add_turn(struct play_side *s, struct play_side_turn t, struct view name, struct view text)
{
    uint8_t neck[NECK] = { 0, t.type == TURN_TOOL_RESULT && t.has_failed };
    const uint8_t head[HEAD] = { (uint8_t)t.type, t.is_user, t.is_sub };
    if (neck[1] && t.exit_code > 0) /* as it is shown */
        put_le32(neck + 2, (uint32_t)t.exit_code);
    s->texts.ceiling = PLAY_SIDE_TEXT_MAX;
    s->turns.ceiling = SIZE_MAX;
    t.at = s->texts.n;
    t.name_size = (uint32_t)name.n;
    buf_append(&s->texts, head, sizeof(head));
    buf_append(&s->texts, name.p, name.n);
    buf_append(&s->texts, neck, sizeof(neck));
    buf_append(&s->texts, text.p, text.n);
    t.size = s->texts.n - t.at;
    if (!s->texts.failed)
        buf_append(&s->turns, &t, sizeof(t));
    return s->texts.failed ? s->texts.failed : s->turns.failed;
}

int
play_side_add_line(struct play_side *s, struct view text)
{
    const struct play_side_turn t = { .type = TURN_TEXT,
                                      .is_line = true,
                                      .exit_code = -1 };
    return add_turn(s, t, (struct view){ 0 }, text);
}

/* -- as people read it -- */

static void
fold_lines(struct buf *b, size_t from)
{
    while (b->n > from && b->p[b->n - 1] == '\n')
        b->n--;
    for (size_t i = from; i < b->n; i++)
        if (b->p[i] == '\n' || b->p[i] == '\t')
            b->p[i] = ' ';
}

int
play_side_show(const struct play_side *s, const struct play_side_turn *t,
               bool is_one_line, struct buf *out)
{
    static const struct turn_show whole = { .is_whole = true };
    struct view text = play_side_text(s, t);
    struct turn_event e = turn_event(t->type);
    size_t before = out->n;
    e.is_user = t->is_user;
    e.is_error = t->type == TURN_TOOL_RESULT && t->has_failed;
    e.exit_code = t->exit_code;
    e.name = t->type == TURN_TOOL_CALL ? play_side_name(s, t) : e.name;
    e.parent = t->is_sub ? play_side_kind(s, t) : e.parent; /* which is no empty one */
    *(t->type == TURN_TOOL_CALL ? &e.json : &e.text) = text;
    if (t->is_line) {
        buf_append(out, text.p, text.n);
        buf_puts(out, "\n");
    } else {
        if (t->type == TURN_TEXT && !t->is_user && !t->is_sub)
            buf_puts(out, "[assistant] "); /* which turn_show() leaves out */
        (void)turn_show(&e, &whole, out);
    }
    if (is_one_line && !out->failed)
        fold_lines(out, before);
    return out->failed;
}

/* -- calls and their results -- */

static struct call *
find_call(struct play_side *s, struct view id)
{
    struct call *all = (struct call *)(void *)s->calls.p;
    for (size_t i = s->calls.n / sizeof(*all); id.n && id.n <= ID_MAX && i-- > 0;)
        if (all[i].id_size == id.n && !memcmp(all[i].id, id.p, id.n))
            return &all[i];
    return NULL;
}

static int
note_call(struct play_side *s, struct view id)
{
    struct call c = { .turn = play_side_count(s), .id_size = id.n };
    if (!id.n || id.n > ID_MAX)
        return 0;
    memcpy(c.id, id.p, id.n);
    if (s->calls.n >= CALLS_MAX * sizeof(c)) {
        s->calls.n -= sizeof(c);
        memmove(s->calls.p, s->calls.p + sizeof(c), s->calls.n);
    }
    return buf_append(&s->calls, &c, sizeof(c));
}

/* The tool whose result it is; where that failed its call has, too. */
static void
take_call(struct reading *r, const struct turn_event *e)
{
    struct play_side *s = r->side;
    const struct call *c = find_call(s, e->id);
    if (!c)
        return;
    struct play_side_turn *t = (struct play_side_turn *)(void *)s->turns.p + c->turn;
    struct view name = play_side_name(s, t);
    buf_clear(&r->name);
    buf_append(&r->name, name.p, name.n);
    if (e->is_error && !t->has_failed) {
        t->has_failed = true;
        s->failed_calls++;
    }
}

/* -- events -- */

static int
mask(const struct reading *r, struct view text, struct buf *ret)
{
    buf_clear(ret);
    ret->ceiling = PLAY_SIDE_TEXT_MAX;
    if (!r->opt->redact)
        return buf_append(ret, text.p, text.n);
    return text.n ? redact_text(r->opt->redact, text.p, text.n, ret) : 0;
}

/* What is not seen must not keep the halves of a secret apart. */
static int
clean_and_mask(struct reading *r, struct view text, struct buf *ret)
{
    buf_clear(&r->clean);
    r->clean.ceiling = PLAY_SIDE_TEXT_MAX;
    turn_clean(text, &r->clean);
    return r->clean.failed ? r->clean.failed : mask(r, view_of(&r->clean), ret);
}

static int
take_name(struct reading *r, struct view name)
{
    enum { NAME_MAX_BYTES = 1 << 16 };
    int e = clean_and_mask(r, name, &r->name);
    fold_lines(&r->name, 0);
    if (r->name.n > NAME_MAX_BYTES)
        r->name.n = NAME_MAX_BYTES;
    for (size_t i = 0; i < r->name.n; i++)
        if (!r->name.p[i])
            r->name.p[i] = ' ';
    return e;
}

static int
take_arguments(struct reading *r, struct view json, bool *ret_has_json)
{
    buf_clear(&r->sorted);
    r->sorted.ceiling = PLAY_SIDE_TEXT_MAX;
    *ret_has_json = false;
    if (!play_sorted_json(json, &r->sorted))
        return clean_and_mask(r, json, &r->text);
    buf_clear(&r->text);
    r->text.ceiling = PLAY_SIDE_TEXT_MAX;
    int e = r->opt->redact ? redact_json(r->opt->redact, view_of(&r->sorted), &r->text)
                           : buf_append(&r->text, r->sorted.p, r->sorted.n);
    *ret_has_json = e >= 0 && json_in_is_one(view_of(&r->text));
    return e < 0 ? e : 0;
}

static int
take_turn(struct reading *r, const struct turn_event *e)
{
    struct play_side_turn t = {
        .type = e->type,
        .is_user = e->type == TURN_TEXT && e->is_user,
        .is_sub = e->parent.n > 0,
        .has_failed = e->type == TURN_TOOL_RESULT && e->is_error,
        .exit_code = e->type == TURN_TOOL_RESULT ? e->exit_code : -1,
        .event = r->side->events,
    };
    bool is_call = e->type == TURN_TOOL_CALL;
    buf_clear(&r->name);
    int got = is_call || e->type == TURN_TOOL_RESULT ? take_name(r, e->name) : 0;
    if (got >= 0)
        got = is_call ? take_arguments(r, e->json, &t.has_json)
                      : clean_and_mask(r, e->text, &r->text);
    if (got < 0)
        return got;
    if (!r->text.n && (e->type == TURN_TEXT || e->type == TURN_THINKING))
        return 0; /* nothing was said */
    if (is_call) {
        r->side->tool_calls++;
        got = note_call(r->side, e->id);
    } else if (e->type == TURN_TOOL_RESULT) {
        take_call(r, e);
    }
    return got < 0 ? got : add_turn(r->side, t, view_of(&r->name), view_of(&r->text));
}

static int
take_file(struct reading *r, const struct turn_event *e)
{
    static const char *const words[] = { "", "created", "modified", "deleted" };
    struct play_side *s = r->side;
    struct play_file f = { .change = PLAY_FILE_MODIFIED, .at = s->texts.n };
    for (size_t i = 1; i < sizeof(words) / sizeof(words[0]); i++)
        if (e->name.n == strlen(words[i]) && !memcmp(e->name.p, words[i], e->name.n))
            f.change = (enum play_file_change)i;
    int got = mask(r, e->text, &r->text);
    if (got < 0 || !r->text.n)
        return got;
    s->texts.ceiling = PLAY_SIDE_TEXT_MAX;
    s->files.ceiling = SIZE_MAX;
    f.size = r->text.n;
    got = buf_append(&s->texts, r->text.p, r->text.n);
    return got < 0 ? got : buf_append(&s->files, &f, sizeof(f));
}

static void
take_cost(struct play_side *s, const struct turn_event *e)
{
    if (e->type != TURN_DONE || e->cost_microusd == TURN_UNKNOWN)
        return;
    bool is_over = e->cost_microusd > TURN_UNKNOWN - 1 - s->cost_microusd;
    s->cost_microusd = is_over ? TURN_UNKNOWN - 1 : s->cost_microusd + e->cost_microusd;
    s->has_cost = true;
}

/* A play_turn_fn. */
static int
on_event(void *ctx, const struct turn_event *e, const struct turn_stamp *at)
{
    struct reading *r = ctx;
    struct play_side *s = r->side;
    s->events++;
    if (!s->first_ns)
        s->first_ns = at->start_ns ? at->start_ns : at->ts_ns;
    s->last_ns = at->ts_ns > s->last_ns ? at->ts_ns : s->last_ns;
    take_cost(s, e);
    int got = turn_totals_add(&s->totals, e);
    if (got < 0 || e->is_partial || at->is_aside)
        return got;
    switch (e->type) {
    case TURN_TEXT:
    case TURN_THINKING:
    case TURN_TOOL_CALL:
    case TURN_TOOL_RESULT:
    case TURN_ERROR:
        return take_turn(r, e);
    case TURN_ARTIFACT:
        return take_file(r, e);
    case TURN_SESSION:
    case TURN_USAGE:
    case TURN_DONE:
    case TURN_WARNING:
    case TURN_STDERR:
    case TURN_EXIT:
    case TURN_BRANCH:
    case TURN_OTHER:
        break;
    }
    return 0;
}

/* A play_turns_bad_fn. */
static void
on_bad(void *ctx, uint64_t line)
{
    struct reading *r = ctx;
    r->side->bad_lines++;
    if (r->opt->bad)
        r->opt->bad(r->opt->ctx, line);
}

int
play_side_read(struct play_side *s, const char *path, const struct play_side_options *opt,
               struct err *err)
{
    struct reading r = { .side = s, .opt = opt };
    const struct play_turns_options turns = {
        .is_growing = opt->is_growing,
        .has_asides = true,
        .fn = on_event,
        .bad = on_bad,
        .ctx = &r,
    };
    int got = play_turns_read(path, &turns, err);
    reading_release(&r);
    if (got == ERR_LIMIT)
        return err_set(err, got, "'%s' has more than 1 GiB of text to compare", path);
    return got;
}
