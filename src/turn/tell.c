/* SPDX-License-Identifier: MIT */
/* tell.c -- what the decoders of formats do all the time. */
#include "turn/tell_priv.h"

#include <string.h>

#include "turn/lines_priv.h"

enum {
    CALLS_MAX = 32 << 10,  /* bytes of calls: each result looks through all of them */
    MALFORMED_BYTES = 200, /* of a line that are shown */
};

int
turn_tell(struct turn_state *s, const struct turn_sink *to, const struct turn_event *e)
{
    for (size_t i = 0; i < sizeof(s->text) / sizeof(s->text[0]); i++)
        if (s->text[i].failed)
            return s->text[i].failed;
    return to->fn(to->ctx, e);
}

int
turn_other(struct turn_state *s, struct view type, struct view kind,
           struct view *ret_other)
{
    struct buf *b = &s->text[3];
    buf_clear(b);
    if (!turn_str(type, b))
        (void)buf_puts(b, "untyped");
    if (kind.n) {
        (void)buf_puts(b, "/");
        (void)turn_str(kind, b);
    }
    *ret_other = (struct view){ b->p, b->n };
    return b->failed;
}

bool
turn_says(struct view text, const char *word)
{
    return strlen(word) == text.n && !memcmp(word, text.p, text.n);
}

int
turn_malformed(struct view text, size_t lost, struct buf *out)
{
    struct view shown = text;
    if (shown.n > MALFORMED_BYTES) {
        shown.n = MALFORMED_BYTES;
        shown.n = turn_lines_whole(shown);
    }
    buf_clear(out);
    buf_puts(out, "malformed JSON: ");
    buf_append(out, shown.p, shown.n);
    if (text.n - shown.n + lost)
        buf_printf(out, "… %zu more bytes", text.n - shown.n + lost);
    return out->failed;
}

/* -- usage -- */

static bool
raise_to(uint64_t *value, uint64_t to)
{
    if (to == TURN_UNKNOWN || (*value != TURN_UNKNOWN && *value >= to))
        return false;
    *value = to;
    return true;
}

bool
turn_usage_raise(struct turn_usage *u, struct turn_usage told)
{
    bool is_news = false;
    for (size_t i = 0; i < TURN_USAGE_FIELDS; i++)
        is_news |= raise_to(turn_usage_field(u, i), *turn_usage_field(&told, i));
    return is_news;
}

void
turn_take_off(uint64_t *tokens, uint64_t of_cache)
{
    if (*tokens != TURN_UNKNOWN && of_cache <= *tokens)
        *tokens -= of_cache;
}

/* -- what is remembered -- */

void
turn_state_init(struct turn_state *s)
{
    *s = (struct turn_state){ .said_type = TURN_TEXT };
    for (size_t i = 0; i < TURN_LANES; i++)
        s->lanes[i].usage = TURN_NO_USAGE;
}

void
turn_state_release(struct turn_state *s)
{
    for (size_t i = 0; i < TURN_LANES; i++) {
        buf_release(&s->lanes[i].parent);
        buf_release(&s->lanes[i].message);
        buf_release(&s->lanes[i].said);
        buf_release(&s->lanes[i].told);
        buf_release(&s->lanes[i].model);
    }
    buf_release(&s->session);
    buf_release(&s->model);
    buf_release(&s->message);
    buf_release(&s->sums);
    buf_release(&s->said);
    buf_release(&s->calls);
    for (size_t i = 0; i < sizeof(s->text) / sizeof(s->text[0]); i++)
        buf_release(&s->text[i]);
}

static int
tell_said(const struct turn_sink *to, enum turn_type type, const struct buf *parent,
          const struct buf *message, const struct buf *said)
{
    if (!said->n)
        return 0;
    struct turn_event e = turn_event(type);
    e.was_cut_off = true;
    e.id = (struct view){ message->p, message->n };
    if (parent)
        e.parent = (struct view){ parent->p, parent->n };
    e.text = (struct view){ said->p, said->n };
    return to->fn(to->ctx, &e);
}

int
turn_state_end(struct turn_state *s, const struct turn_sink *to)
{
    int r = tell_said(to, s->said_type, NULL, &s->message, &s->said);
    for (size_t i = 0; i < TURN_LANES && r >= 0; i++) {
        struct turn_lane *lane = &s->lanes[i];
        r = tell_said(to, lane->said_type, &lane->parent, &lane->message, &lane->said);
    }
    return r;
}

/* -- tool calls: the two lengths, then the id and the name -- */

struct call {
    size_t at, size; /* in s->calls */
    struct view id, name;
};

static bool
next_call(const struct buf *calls, struct call *c)
{
    uint32_t n[2];
    c->at += c->size;
    if (c->at == calls->n)
        return false;
    memcpy(n, calls->p + c->at, sizeof(n));
    c->id = (struct view){ calls->p + c->at + sizeof(n), n[0] };
    c->name = (struct view){ c->id.p + n[0], n[1] };
    c->size = sizeof(n) + n[0] + n[1];
    return true;
}

bool
turn_calls_are_sound(const struct turn_state *s)
{
    uint32_t n[2];
    size_t at = 0;
    while (s->calls.n - at >= sizeof(n)) {
        memcpy(n, s->calls.p + at, sizeof(n));
        uint64_t size = sizeof(n) + (uint64_t)n[0] + n[1];
        if (size > s->calls.n - at)
            return false;
        at += (size_t)size;
    }
    return at == s->calls.n && at <= CALLS_MAX;
}

/* The older half gives way. */
static void
forget_calls(struct buf *calls)
{
    struct call c = { 0 };
    while (next_call(calls, &c) && c.at < calls->n / 2)
        ;
    size_t n = c.at < calls->n ? c.at : calls->n;
    calls->n -= n;
    memmove(calls->p, calls->p + n, calls->n);
}

int
turn_call_open(struct turn_state *s, struct view id, struct view name)
{
    uint32_t n[2] = { (uint32_t)id.n, (uint32_t)name.n };
    if (id.n > CALLS_MAX / 8 || name.n > CALLS_MAX / 8)
        return 0;
    if (s->calls.n + sizeof(n) + id.n + name.n > CALLS_MAX)
        forget_calls(&s->calls);
    int r = buf_reserve(&s->calls, sizeof(n) + id.n + name.n);
    if (r < 0)
        return r;
    (void)buf_append(&s->calls, n, sizeof(n));
    (void)buf_append(&s->calls, id.p, id.n);
    return buf_append(&s->calls, name.p, name.n);
}

bool
turn_call_close(struct turn_state *s, struct view id, struct buf *name)
{
    struct call c = { 0 };
    while (next_call(&s->calls, &c)) {
        if (c.id.n != id.n || (id.n && memcmp(c.id.p, id.p, id.n) != 0))
            continue;
        if (name)
            (void)buf_append(name, c.name.p, c.name.n);
        uint8_t *at = s->calls.p + c.at;
        memmove(at, at + c.size, s->calls.n - c.at - c.size);
        s->calls.n -= c.size;
        return true;
    }
    return false;
}
