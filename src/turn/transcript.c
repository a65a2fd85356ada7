/* SPDX-License-Identifier: MIT */
/*
 * transcript.c -- which events make which line of a transcript.
 *
 * One line is at hand. What does not belong to it (another message, another speaker, a
 * sub-agent) completes it.
 */
#include "turn/transcript.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>

#include "turn/compact.h"
#include "turn/transcript_priv.h"

enum {
    CONTENT_MAX = 4 << 20, /* bytes, about: then the line is complete */
    CALL_ID_MAX = 1 << 10, /* of a call that is remembered … */
    CALLS_MAX = 256 << 10, /* … and of all of them: the oldest go */
};

static struct view
view_of(const struct buf *b)
{
    return (struct view){ b->p, b->n };
}

static bool
is_same(struct view a, const struct buf *b)
{
    return a.n == b->n && (!a.n || !memcmp(a.p, b->p, a.n));
}

static int
keep(struct buf *kept, struct view told)
{
    buf_clear(kept);
    return buf_append(kept, told.p, told.n);
}

/* -- calls that wait for their results -- */

static int
remember_call(struct turn_transcript *t, struct view id)
{
    if (id.n > CALL_ID_MAX || memchr(id.p, 0, id.n))
        return 0;
    while (t->calls.n + id.n + 1 > CALLS_MAX) {
        size_t oldest = strlen((const char *)t->calls.p) + 1;
        memmove(t->calls.p, t->calls.p + oldest, t->calls.n - oldest);
        t->calls.n -= oldest;
    }
    int r = buf_append(&t->calls, id.p, id.n);
    return r < 0 ? r : buf_append(&t->calls, "", 1);
}

/* Where it stands; at the end: nowhere. */
static size_t
find_call(const struct turn_transcript *t, struct view id)
{
    for (size_t at = 0, n; at < t->calls.n; at += n + 1) {
        n = strlen((const char *)t->calls.p + at);
        if (n == id.n && !memcmp(t->calls.p + at, id.p, n))
            return at;
    }
    return t->calls.n;
}

static void
forget_call(struct turn_transcript *t, struct view id)
{
    size_t at = find_call(t, id), next = at + id.n + 1;
    if (at == t->calls.n)
        return;
    memmove(t->calls.p + at, t->calls.p + next, t->calls.n - next);
    t->calls.n -= id.n + 1;
}

/* -- the line at hand -- */

static int
begin(struct turn_transcript *t, enum transcript_open open, struct view side)
{
    bool goes_on = t->goes_on && open == TRANSCRIPT_ASSISTANT && is_same(side, &t->side);
    t->open = open;
    t->ts_ns = t->now_ns;
    t->opt.uuid(t->opt.ctx, t->last, t->uuid);
    t->is_known = t->opt.known && t->opt.known(t->opt.ctx, t->uuid, &t->known);
    buf_clear(&t->content);
    t->content.ceiling = SIZE_MAX; /* one event's, and CONTENT_MAX */
    t->json = (struct json){ .out = &t->content };
    t->blocks = 0;
    t->has_call = t->was_cut_off = t->is_early = t->goes_on = false;
    if (goes_on)
        return 0;
    buf_clear(&t->id);
    t->usage = TURN_NO_USAGE;
    t->is_final = false;
    return keep(&t->side, side);
}

/* One more thing in its content. */
static void
open_block(struct turn_transcript *t, const char *type)
{
    t->blocks++;
    json_open(&t->json, '{');
    json_key(&t->json, "type"), json_str(&t->json, type);
}

/* A line of that kind, to which the event belongs. */
static int
turn_to(struct turn_transcript *t, enum transcript_open open, const struct turn_event *e)
{
    bool fits = t->open == open && is_same(e->parent, &t->side) &&
                t->content.n < CONTENT_MAX;
    int r = fits ? 0 : transcript_put(t);
    t->ts_ns = t->now_ns;
    return r < 0 || fits ? r : begin(t, open, e->parent);
}

/* … of the message, where its id is told. */
static int
turn_to_message(struct turn_transcript *t, const struct turn_event *e)
{
    int r = 0;
    if (t->id.n && e->id.n && !is_same(e->id, &t->id)) {
        t->goes_on = false;
        r = t->open == TRANSCRIPT_ASSISTANT ? transcript_put(t) : 0;
    }
    if (!r)
        r = turn_to(t, TRANSCRIPT_ASSISTANT, e);
    if (r < 0 || t->id.n || !e->id.n)
        return r;
    if (is_same(e->id, &t->early))
        t->usage = t->early_usage;
    return keep(&t->id, e->id);
}

/* -- what is said -- */

static int
say(struct turn_transcript *t, const struct turn_event *e)
{
    struct json *j = &t->json;
    bool is_thought = e->type == TURN_THINKING;
    int r = turn_to_message(t, e);
    if (r < 0)
        return r;
    open_block(t, is_thought ? "thinking" : "text");
    json_key(j, is_thought ? "thinking" : "text"), json_bytes(j, e->text);
    if (is_thought)
        json_key(j, "signature"), json_str(j, "");
    json_close(j, '}');
    t->was_cut_off = e->was_cut_off;
    return t->content.failed;
}

/* The user's. Results that wait go with it. */
static int
ask(struct turn_transcript *t, const struct turn_event *e)
{
    struct json *j = &t->json;
    if (t->open == TRANSCRIPT_USER && is_same(e->parent, &t->side)) {
        open_block(t, "text");
        json_key(j, "text"), json_bytes(j, e->text);
        json_close(j, '}');
        t->ts_ns = t->now_ns;
        return transcript_put(t);
    }
    int r = transcript_put(t);
    if (!r)
        r = begin(t, TRANSCRIPT_NONE, e->parent);
    return r < 0 ? r : transcript_put_text(t, e->text);
}

/* A tool's arguments are an object, whatever came. */
static void
put_input(struct turn_transcript *t, struct view json)
{
    struct json *j = &t->json;
    AUTO(buf) compact = { .ceiling = SIZE_MAX };
    bool is_json = json.n && turn_compact(json, &compact);
    json_key(j, "input");
    if (is_json && compact.p[0] == '{') {
        json_raw(j, view_of(&compact));
        return;
    }
    json_open(j, '{');
    if (is_json)
        json_key(j, "value"), json_raw(j, view_of(&compact));
    else if (json.n)
        json_key(j, "text"), json_bytes(j, json);
    json_close(j, '}');
    if (compact.failed && !t->content.failed)
        t->content.failed = compact.failed;
}

/* One that is not told is made of the event's number. */
static struct view
id_of(const struct turn_transcript *t, struct view id, struct buf *room)
{
    if (id.n)
        return id;
    buf_puts(room, "call_");
    buf_put_u64(room, t->last);
    return view_of(room);
}

/* One that is told again before its result (a plan, each time a part of it is done) is
 * one call, and has one result. */
static int
call(struct turn_transcript *t, const struct turn_event *e)
{
    struct json *j = &t->json;
    AUTO(buf) room = { 0 };
    struct view id = id_of(t, e->id, &room);
    if (find_call(t, id) < t->calls.n)
        return 0;
    int r = turn_to(t, TRANSCRIPT_ASSISTANT, e);
    if (r < 0)
        return r;
    open_block(t, "tool_use");
    json_key(j, "id"), json_bytes(j, id);
    json_key(j, "name"), json_bytes(j, e->name);
    put_input(t, e->json);
    json_close(j, '}');
    t->has_call = true;
    return t->content.failed ? t->content.failed : remember_call(t, id);
}

static void
put_result(struct turn_transcript *t, struct view id, struct view text, bool is_error)
{
    struct json *j = &t->json;
    open_block(t, "tool_result");
    json_key(j, "tool_use_id"), json_bytes(j, id);
    json_key(j, "content"), json_bytes(j, text);
    if (is_error)
        json_key(j, "is_error"), json_bool(j, true);
    json_close(j, '}');
}

/* One that does not tell of which call it is, is the oldest one's. */
static int
answer(struct turn_transcript *t, const struct turn_event *e)
{
    AUTO(buf) room = { 0 };
    struct view id = e->id;
    int r = turn_to(t, TRANSCRIPT_USER, e);
    if (!r && !id.n && t->calls.n)
        r = buf_puts(&room, (const char *)t->calls.p);
    if (r < 0)
        return r;
    id = room.n ? view_of(&room) : id_of(t, id, &room);
    put_result(t, id, e->text, e->is_error);
    forget_call(t, id);
    return t->content.failed;
}

/* -- what it took -- */

/* The larger value wins. */
static void
raise(struct turn_usage *usage, struct turn_usage told)
{
    for (size_t i = 0; i < TURN_USAGE_FIELDS; i++) {
        uint64_t now = *turn_usage_field(&told, i), *before = turn_usage_field(usage, i);
        if (now != TURN_UNKNOWN && (*before == TURN_UNKNOWN || now > *before))
            *before = now;
    }
}

/* Of the line at hand, or of one that came before its time: then what is new is told by
 * another one. */
static int
count_here(struct turn_transcript *t, const struct turn_event *e)
{
    struct turn_usage all = t->usage;
    raise(&all, e->usage);
    bool is_new = memcmp(&all, &t->usage, sizeof(all)) != 0;
    int r = is_new && t->goes_on ? begin(t, TRANSCRIPT_ASSISTANT, e->parent) : 0;
    t->usage = all;
    t->is_final |= e->is_final;
    return r < 0 || t->id.n || !e->id.n ? r : keep(&t->id, e->id);
}

static int
count(struct turn_transcript *t, const struct turn_event *e)
{
    bool is_here = (t->open == TRANSCRIPT_ASSISTANT || t->goes_on) &&
                   is_same(e->parent, &t->side) &&
                   (!e->id.n || !t->id.n || is_same(e->id, &t->id));
    if (is_here)
        return count_here(t, e);
    if (!is_same(e->id, &t->early))
        t->early_usage = TURN_NO_USAGE;
    raise(&t->early_usage, e->usage);
    return keep(&t->early, e->id);
}

/* Adds what the lines have not told yet, to what the message of this line has: readers
 * take the largest of its lines. True: there was something. */
static bool
add_rest(struct turn_transcript *t, struct view id, struct turn_usage *usage)
{
    struct turn_usage truth = turn_totals_usage(&t->truth);
    struct turn_usage told = turn_totals_usage(&t->told);
    struct turn_usage before = turn_totals_of(&t->told, id);
    bool has_some = false;
    for (size_t i = 0; t->truth.is_known && i < TURN_USAGE_FIELDS; i++) {
        uint64_t all = *turn_usage_field(&truth, i), so_far = *turn_usage_field(&told, i);
        so_far = so_far == TURN_UNKNOWN ? 0 : so_far;
        if (all == TURN_UNKNOWN || all <= so_far)
            continue;
        uint64_t *own = turn_usage_field(usage, i), least = *turn_usage_field(&before, i);
        *own = (*own == TURN_UNKNOWN || *own < least ? least : *own) + (all - so_far);
        has_some = true;
    }
    return has_some;
}

/* The total is known: the line at hand has what was not told of any other. */
static int
settle(struct turn_transcript *t)
{
    bool is_open = t->open == TRANSCRIPT_ASSISTANT;
    bool has_message = is_open || (t->goes_on && !t->side.n);
    struct turn_event own = turn_event(TURN_USAGE);
    struct turn_usage usage = has_message ? t->usage : TURN_NO_USAGE;
    int r = has_message ? transcript_name(t) : 0;
    if (!r && has_message) {
        own.id = view_of(&t->id);
        own.usage = usage;
        r = turn_totals_add(&t->told, &own);
    }
    if (r < 0 || !add_rest(t, own.id, &usage))
        return r;
    if (!is_open)
        r = transcript_put(t);
    if (!r && !is_open)
        r = begin(t, TRANSCRIPT_ASSISTANT, (struct view){ 0 });
    t->usage = usage;
    return r;
}

/* -- events -- */

static int
learn(struct turn_transcript *t, const struct turn_event *e)
{
    int r = e->cwd.n && !e->parent.n ? keep(&t->cwd, e->cwd) : 0;
    return r < 0 || !e->model.n || e->parent.n ? r : keep(&t->model, e->model);
}

static int
finish(struct turn_transcript *t, const struct turn_event *e)
{
    (void)e;
    int r = settle(t);
    t->goes_on = false;
    return r < 0 ? r : transcript_put(t);
}

static int
speak(struct turn_transcript *t, const struct turn_event *e)
{
    return e->is_user ? ask(t, e) : say(t, e);
}

int
turn_transcript_add(struct turn_transcript *t, const struct turn_event *e,
                    uint64_t number, uint64_t ts_ns)
{
    static int (*const takes[TURN_TYPES])(struct turn_transcript *,
                                          const struct turn_event *) = {
        [TURN_SESSION] = learn,  [TURN_TEXT] = speak,         [TURN_THINKING] = say,
        [TURN_TOOL_CALL] = call, [TURN_TOOL_RESULT] = answer, [TURN_USAGE] = count,
        [TURN_DONE] = finish,
    };
    t->last = number;
    t->now_ns = ts_ns;
    if (e->is_partial || (!takes[e->type] && e->type != TURN_EXIT))
        return 0;
    int r = turn_totals_add(&t->truth, e);
    if (e->type == TURN_EXIT)
        return r;
    if (!r)
        r = takes[e->type](t, e);
    bool is_full = t->open && t->is_known && t->blocks >= t->known.blocks;
    return r < 0 || !is_full ? r : turn_transcript_flush(t);
}

bool
turn_transcript_is_open(const struct turn_transcript *t)
{
    return t->open != TRANSCRIPT_NONE;
}

int
turn_transcript_flush(struct turn_transcript *t)
{
    bool is_message = t->open == TRANSCRIPT_ASSISTANT;
    t->is_early = true;
    int r = transcript_put(t);
    t->goes_on |= is_message;
    return r;
}

/* Calls that never got their result. */
static int
interrupt(struct turn_transcript *t)
{
    static const struct view text = { (const uint8_t *)TURN_INTERRUPTED,
                                      sizeof(TURN_INTERRUPTED) - 1 };
    int r = begin(t, TRANSCRIPT_USER, (struct view){ 0 });
    for (size_t at = 0, n; !r && at < t->calls.n; at += n + 1) {
        n = strlen((const char *)t->calls.p + at);
        put_result(t, (struct view){ t->calls.p + at, n }, text, true);
    }
    buf_clear(&t->calls);
    return r < 0 ? r : transcript_put(t);
}

int
turn_transcript_end(struct turn_transcript *t, uint64_t ts_ns, bool has_ended)
{
    t->now_ns = ts_ns;
    t->last++; /* for lines that no event begins */
    int r = finish(t, NULL);
    t->last++;
    return r < 0 || !has_ended || !t->calls.n ? r : interrupt(t);
}

/* -- all -- */

int
turn_transcript_new(struct turn_transcript **ret,
                    const struct turn_transcript_options *opt)
{
    struct turn_transcript *t = calloc(1, sizeof(*t));
    if (!t)
        return -ENOMEM;
    t->opt = *opt;
    t->usage = t->early_usage = TURN_NO_USAGE;
    if (opt->parent)
        snprintf(t->parent, sizeof(t->parent), "%s", opt->parent);
    int r = opt->cwd ? buf_puts(&t->cwd, opt->cwd) : 0;
    if (!r && opt->model)
        r = buf_puts(&t->model, opt->model);
    if (r < 0)
        turn_transcript_free(t);
    else
        *ret = t;
    return r;
}

void
turn_transcript_free(struct turn_transcript *t)
{
    if (!t)
        return;
    struct buf *const bufs[] = { &t->cwd,     &t->model, &t->side,  &t->id,
                                 &t->content, &t->early, &t->calls, &t->line };
    for (size_t i = 0; i < sizeof(bufs) / sizeof(bufs[0]); i++)
        buf_release(bufs[i]);
    turn_totals_release(&t->truth);
    turn_totals_release(&t->told);
    free(t);
}

/* -- uuids that are always the same -- */

/* splitmix64: one to one. */
static uint64_t
mix(uint64_t v)
{
    v += UINT64_C(0x9e3779b97f4a7c15);
    v = (v ^ v >> 30) * UINT64_C(0xbf58476d1ce4e5b9);
    v = (v ^ v >> 27) * UINT64_C(0x94d049bb133111eb);
    return v ^ v >> 31;
}

void
turn_transcript_uuid(const char *session, uint64_t number, char ret[TURN_UUID_SIZE])
{
    uint64_t high = UINT64_C(14695981039346656037); /* FNV-1a */
    for (const char *c = session; *c; c++)
        high = (high ^ (uint8_t)*c) * UINT64_C(1099511628211);
    uint64_t low = mix(mix(high) ^ number);
    high = mix(high ^ low);
    snprintf(ret, TURN_UUID_SIZE, "%08x-%04x-8%03x-%04x-%012llx", (unsigned)(high >> 32),
             (unsigned)(high >> 16 & 0xffff), (unsigned)(high & 0xfff),
             (unsigned)(low >> 48 & 0x3fff) | 0x8000,
             (unsigned long long)(low & 0xffffffffffff));
}
