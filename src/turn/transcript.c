/* SPDX-License-Identifier: MIT */
/*
 * transcript.c -- which events make which line of a transcript.
 *
 * One line is at hand. What does not belong to it (another message, another speaker, a
 * sub-agent) completes it.
 */
#include "turn/transcript.h"

#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>

#include "turn/tell_priv.h"
#include "turn/transcript_priv.h"

enum { CONTENT_MAX = 4 << 20 }; /* bytes, about: then the line is complete */

/* -- the line at hand -- */

/* m: an assistant's message. */
static int
begin(struct turn_transcript *t, enum transcript_open open, struct transcript_message *m,
      struct view side)
{
    t->open = open;
    t->m = m;
    t->ts_ns = t->now_ns;
    t->opt.uuid(t->opt.ctx, t->last, t->uuid);
    t->is_known = t->opt.known && t->opt.known(t->opt.ctx, t->uuid, &t->known);
    buf_clear(&t->content);
    t->content.ceiling = SIZE_MAX; /* one event's, and CONTENT_MAX */
    t->json = (struct json){ .out = &t->content };
    t->blocks = 0;
    t->is_early = false;
    return transcript_keep(&t->side, side);
}

/* One more thing in its content. */
static void
open_block(struct turn_transcript *t, const char *type)
{
    t->blocks++;
    json_open(&t->json, '{');
    json_key(&t->json, "type"), json_str(&t->json, type);
}

/* A line of that kind, to which the event belongs; m: the assistant's message. */
static int
turn_to(struct turn_transcript *t, enum transcript_open open,
        struct transcript_message *m, const struct turn_event *e)
{
    bool fits = t->open == open && t->m == m && transcript_is_same(e->parent, &t->side) &&
                t->content.n < CONTENT_MAX;
    int r = fits ? 0 : transcript_put(t);
    t->ts_ns = t->now_ns;
    return r < 0 || fits ? r : begin(t, open, m, e->parent);
}

static int
turn_to_message(struct turn_transcript *t, struct view id, const struct turn_event *e)
{
    struct transcript_message *m;
    int r = transcript_message_of(t, transcript_message_id(t, id), e->parent, &m);
    return r < 0 ? r : turn_to(t, TRANSCRIPT_ASSISTANT, m, e);
}

/* -- what is said -- */

static int
say(struct turn_transcript *t, const struct turn_event *e)
{
    struct json *j = &t->json;
    bool is_thought = e->type == TURN_THINKING;
    int r = turn_to_message(t, e->id, e);
    if (r < 0)
        return r;
    open_block(t, is_thought ? "thinking" : "text");
    json_key(j, is_thought ? "thinking" : "text"), json_bytes(j, e->text);
    if (is_thought)
        json_key(j, "signature"), json_str(j, "");
    json_close(j, '}');
    t->m->was_cut_off = e->was_cut_off;
    return t->content.failed;
}

/* The user's. Results that wait go with it. */
static int
ask(struct turn_transcript *t, const struct turn_event *e)
{
    struct json *j = &t->json;
    if (t->open == TRANSCRIPT_USER && transcript_is_same(e->parent, &t->side)) {
        open_block(t, "text");
        json_key(j, "text"), json_bytes(j, e->text);
        json_close(j, '}');
        t->ts_ns = t->now_ns;
        return transcript_put(t);
    }
    int r = transcript_put(t);
    if (!r)
        r = begin(t, TRANSCRIPT_NONE, NULL, e->parent);
    return r < 0 ? r : transcript_put_text(t, e->text);
}

/* One that is not told is made of the event's number. */
static struct view
id_of(const struct turn_transcript *t, struct view id, struct buf *room)
{
    if (id.n)
        return id;
    buf_puts(room, "call_");
    buf_put_u64(room, t->last);
    return turn_view_of(room);
}

/* One that is told again before its result (a plan, each time a part of it is done) is
 * one call, and has one result. */
static int
call(struct turn_transcript *t, const struct turn_event *e)
{
    struct json *j = &t->json;
    AUTO(buf) room = { 0 };
    struct view id = id_of(t, e->id, &room);
    if (transcript_call_is_open(t, id))
        return 0;
    int r = turn_to_message(t, e->message, e);
    if (r < 0)
        return r;
    open_block(t, "tool_use");
    json_key(j, "id"), json_bytes(j, id);
    json_key(j, "name"), json_bytes(j, e->name);
    transcript_put_input(t, e->json);
    json_close(j, '}');
    t->m->has_call = true;
    return t->content.failed ? t->content.failed : transcript_call_open(t, id);
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
    int r = turn_to(t, TRANSCRIPT_USER, NULL, e);
    if (!r && !id.n && t->calls.n)
        r = buf_puts(&room, (const char *)t->calls.p);
    if (r < 0)
        return r;
    id = room.n ? turn_view_of(&room) : id_of(t, id, &room);
    put_result(t, id, e->text, e->is_error);
    transcript_call_close(t, id);
    return t->content.failed;
}

/* -- what it took -- */

/* Of the line at hand; of one that was put, then what is new is another line of it; or
 * of a message that says nothing, or not yet. */
static int
count(struct turn_transcript *t, const struct turn_event *e)
{
    struct transcript_message *m;
    int r = transcript_message_of(t, transcript_message_id(t, e->id), e->parent, &m);
    if (!r && e->model.n)
        r = transcript_keep(&m->model, e->model);
    if (r < 0)
        return r;
    transcript_message_raise(m, e->usage, t->news);
    m->is_final |= e->is_final;
    struct turn_usage told = m->told;
    bool is_due = (m->is_written || e->is_final) && turn_usage_raise(&told, m->usage) &&
                  transcript_message_can_tell(m, &m->usage);
    bool is_at_hand = t->open == TRANSCRIPT_ASSISTANT && t->m == m;
    if (is_at_hand || !is_due)
        return 0;
    r = transcript_put(t);
    return r < 0 ? r : begin(t, TRANSCRIPT_ASSISTANT, m, e->parent);
}

/* What the events have told and the lines have not. False: nothing. */
static bool
rest_of(const struct turn_transcript *t, struct turn_usage told, struct turn_usage *ret)
{
    struct turn_usage truth = turn_totals_usage(&t->truth);
    bool has_some = false;
    *ret = (struct turn_usage){ 0 };
    for (size_t i = 0; t->truth.is_known && i < TURN_USAGE_FIELDS; i++) {
        uint64_t all = *turn_usage_field(&truth, i), so_far = *turn_usage_field(&told, i);
        if (all == TURN_UNKNOWN || all <= so_far)
            continue;
        *turn_usage_field(ret, i) = all - so_far;
        has_some = true;
    }
    return has_some;
}

/* … is told by the message at hand, if another line of it would count. */
static bool
tell_rest_of(struct turn_transcript *t, struct turn_usage *rest)
{
    struct transcript_message *m = t->m;
    if (!m || t->side.n)
        return false;
    struct turn_usage all = t->open ? transcript_message_usage(m) : m->told;
    for (size_t i = 0; i < TURN_USAGE_FIELDS; i++)
        if (*turn_usage_field(rest, i))
            transcript_plus(turn_usage_field(&all, i), *turn_usage_field(rest, i));
    if (!transcript_message_can_tell(m, &all))
        return false;
    m->usage = all;
    return true;
}

/* The total is known. What no message has told, the one at hand tells, or a line that is
 * nothing else. */
static int
settle(struct turn_transcript *t)
{
    struct turn_usage told = t->told, rest;
    bool is_open = t->open == TRANSCRIPT_ASSISTANT;
    if (is_open) {
        struct turn_usage had = t->m->told;
        transcript_told(&told, &had, transcript_message_usage(t->m));
    }
    if (!rest_of(t, told, &rest))
        return 0;
    struct transcript_message *m = t->m;
    if (tell_rest_of(t, &rest))
        return is_open ? 0 : begin(t, TRANSCRIPT_ASSISTANT, m, (struct view){ 0 });
    int r = transcript_put(t);
    t->m = NULL;
    if (!r)
        r = transcript_message_of(t, (struct view){ 0 }, (struct view){ 0 }, &m);
    if (r < 0)
        return r;
    m->usage = rest;
    return begin(t, TRANSCRIPT_ASSISTANT, m, (struct view){ 0 });
}

/* -- events -- */

static int
learn(struct turn_transcript *t, const struct turn_event *e)
{
    int r = e->cwd.n && !e->parent.n ? transcript_keep(&t->cwd, e->cwd) : 0;
    return r < 0 || !e->model.n || e->parent.n ? r : transcript_keep(&t->model, e->model);
}

static int
finish(struct turn_transcript *t, const struct turn_event *e)
{
    (void)e;
    int r = settle(t);
    if (!r)
        r = transcript_put(t);
    transcript_messages_settled(t);
    return r;
}

/* Calls that never got their result. */
static int
interrupt(struct turn_transcript *t)
{
    static const struct view text = { (const uint8_t *)TURN_INTERRUPTED,
                                      sizeof(TURN_INTERRUPTED) - 1 };
    if (!t->calls.n)
        return 0;
    t->last |= TURN_CLOSING;
    int r = begin(t, TRANSCRIPT_USER, NULL, (struct view){ 0 });
    t->last &= ~TURN_CLOSING;
    for (size_t at = 0, n; !r && at < t->calls.n; at += n + 1) {
        n = strlen((const char *)t->calls.p + at);
        put_result(t, (struct view){ t->calls.p + at, n }, text, true);
    }
    buf_clear(&t->calls);
    return r < 0 ? r : transcript_put(t);
}

/* Of an iteration. */
static int
leave(struct turn_transcript *t, const struct turn_event *e)
{
    int r = finish(t, e);
    if (!r)
        r = interrupt(t);
    transcript_command_ended(t);
    return r;
}

static int
speak(struct turn_transcript *t, const struct turn_event *e)
{
    return e->is_user ? ask(t, e) : say(t, e);
}

static int
learn_truth(struct turn_transcript *t, const struct turn_event *e)
{
    struct turn_usage had = t->truth.since;
    int r = turn_totals_add(&t->truth, e);
    for (size_t i = 0; e->type == TURN_USAGE && i < TURN_USAGE_FIELDS; i++)
        *turn_usage_field(&t->news, i) = *turn_usage_field(&t->truth.since, i) -
                                         *turn_usage_field(&had, i);
    return r;
}

int
turn_transcript_add(struct turn_transcript *t, const struct turn_event *given,
                    uint64_t number, uint64_t ts_ns)
{
    static int (*const takes[TURN_TYPES])(struct turn_transcript *,
                                          const struct turn_event *) = {
        [TURN_SESSION] = learn,  [TURN_TEXT] = speak,         [TURN_THINKING] = say,
        [TURN_TOOL_CALL] = call, [TURN_TOOL_RESULT] = answer, [TURN_USAGE] = count,
        [TURN_DONE] = finish,    [TURN_EXIT] = leave,
    };
    struct turn_event cut = *given;
    const struct turn_event *e = &cut;
    cut.model = transcript_cut(cut.model, TRANSCRIPT_WORD_MAX);
    cut.parent = transcript_cut(cut.parent, TRANSCRIPT_WORD_MAX);
    cut.cwd = transcript_cut(cut.cwd, PATH_MAX);
    t->last = number;
    t->now_ns = ts_ns;
    if (e->is_partial || !takes[e->type])
        return 0;
    int r = learn_truth(t, e);
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
    t->is_early = true;
    return transcript_put(t);
}

int
turn_transcript_end(struct turn_transcript *t, uint64_t ts_ns, bool has_ended)
{
    t->now_ns = ts_ns;
    t->last++; /* for lines that no event begins */
    int r = finish(t, NULL);
    return r < 0 || !has_ended ? r : interrupt(t);
}

/* -- all -- */

static int
keep_str(struct buf *kept, const char *text, size_t most)
{
    struct view all = { (const uint8_t *)text, strlen(text) };
    return transcript_keep(kept, transcript_cut(all, most));
}

int
turn_transcript_new(struct turn_transcript **ret,
                    const struct turn_transcript_options *opt)
{
    struct turn_transcript *t = calloc(1, sizeof(*t));
    if (!t)
        return -ENOMEM;
    t->opt = *opt;
    if (opt->parent)
        snprintf(t->parent, sizeof(t->parent), "%s", opt->parent);
    int r = opt->cwd ? keep_str(&t->cwd, opt->cwd, PATH_MAX) : 0;
    if (!r && opt->model)
        r = keep_str(&t->model, opt->model, TRANSCRIPT_WORD_MAX);
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
    struct buf *const bufs[] = { &t->cwd,     &t->model, &t->side,
                                 &t->content, &t->calls, &t->line };
    for (size_t i = 0; i < sizeof(bufs) / sizeof(bufs[0]); i++)
        buf_release(bufs[i]);
    turn_totals_release(&t->truth);
    transcript_messages_release(t);
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

/* Times may be the same, or go back; there is none beyond INT64_MAX. */
uint64_t
turn_transcript_number(uint64_t last, uint64_t ts_ns)
{
    return ts_ns > last && ts_ns <= INT64_MAX ? ts_ns : last + 1;
}
