/* SPDX-License-Identifier: MIT */
/*
 * transcript_messages.c -- the messages of a transcript: which event is of which, and
 * what its lines have told of its usage.
 *
 * Readers count a message once. Some take of its lines the largest of each value, Entire
 * takes the line with the most output, whole, and the first of several. Both come to the
 * same here: a line tells more than the ones before it only where its output is more.
 */
#include "base/num.h"
#include "turn/tell_priv.h"
#include "turn/transcript_priv.h"

struct view
transcript_cut(struct view text, size_t most)
{
    if (text.n <= most)
        return text;
    while (most > 0 && (text.p[most] & 0xc0) == 0x80)
        most--;
    return (struct view){ text.p, most };
}

bool
transcript_is_same(struct view a, const struct buf *b)
{
    return a.n == b->n && (!a.n || !memcmp(a.p, b->p, a.n));
}

int
transcript_keep(struct buf *kept, struct view told)
{
    buf_clear(kept);
    return buf_append(kept, told.p, told.n);
}

/* -- ids: other commands may count their messages from 1, too -- */

enum { IDS_MAX = 256 << 10, MARK_MAX = 24 };

/* Is it among the first `n` bytes of the ids? Of too many nobody knows. */
static bool
is_among(const struct turn_transcript *t, struct view id, size_t n)
{
    uint64_t wanted = turn_hash(id);
    if (n && t->ids.n >= IDS_MAX)
        return true;
    for (size_t at = 0; at < n; at += sizeof(wanted))
        if (!memcmp(t->ids.p + at, &wanted, sizeof(wanted)))
            return true;
    return false;
}

static int
name(struct turn_transcript *t, struct transcript_message *m, struct view id)
{
    uint64_t h = turn_hash(id);
    bool is_again = id.n && is_among(t, id, t->ids.n);
    int r = id.n && !is_again ? buf_append(&t->ids, &h, sizeof(h)) : 0;
    m->is_again |= is_again;
    return r < 0 ? r : transcript_keep(&m->id, id);
}

struct view
transcript_message_id(struct turn_transcript *t, struct view id)
{
    id = transcript_cut(id, TRANSCRIPT_WORD_MAX - MARK_MAX);
    if (!id.n || turn_id_hash(id) || !is_among(t, id, t->ids_before))
        return id;
    buf_clear(&t->id);
    buf_append(&t->id, id.p, id.n);
    buf_puts(&t->id, ".");
    buf_put_u64(&t->id, t->commands + 1);
    return turn_view_of(&t->id);
}

void
transcript_command_ended(struct turn_transcript *t)
{
    t->ids_before = t->ids.n;
    t->commands++;
}

/* -- which -- */

static struct transcript_message *
find(struct turn_transcript *t, struct view id)
{
    for (size_t i = 0; i < TRANSCRIPT_MESSAGES; i++)
        if (t->messages[i].id.n && transcript_is_same(id, &t->messages[i].id))
            return &t->messages[i];
    return NULL;
}

static void
forget(struct transcript_message *m)
{
    buf_clear(&m->id);
    buf_clear(&m->model);
    m->used = 0;
    m->usage = m->told = TURN_NO_USAGE;
    m->is_written = m->is_final = m->has_call = m->was_cut_off = m->is_again = false;
}

/* In the place of the one that was used the longest ago. */
static int
make(struct turn_transcript *t, struct view id, struct transcript_message **ret)
{
    struct transcript_message *m = NULL;
    for (size_t i = 0; i < TRANSCRIPT_MESSAGES; i++) {
        struct transcript_message *one = &t->messages[i];
        if (one != t->m && (!m || one->used < m->used))
            m = one;
    }
    forget(m);
    *ret = m;
    return name(t, m, id);
}

/* The one at hand, which had no id, is that one. */
static int
join(struct turn_transcript *t, struct transcript_message *m)
{
    struct transcript_message *at = t->m;
    turn_usage_raise(&m->usage, at->usage);
    m->is_final |= at->is_final;
    m->has_call |= at->has_call;
    m->was_cut_off |= at->was_cut_off;
    int r = m->model.n ? 0 : transcript_keep(&m->model, turn_view_of(&at->model));
    forget(at);
    t->m = m;
    return r;
}

void
transcript_messages_settled(struct turn_transcript *t)
{
    for (size_t i = 0; i < TRANSCRIPT_MESSAGES; i++) {
        struct transcript_message *m = &t->messages[i];
        m->usage = m->told;
        if (m->used && !m->is_written)
            forget(m);
    }
    t->m = NULL;
}

int
transcript_message_of(struct turn_transcript *t, struct view id, struct view side,
                      struct transcript_message **ret)
{
    struct transcript_message *at = t->m, *m = id.n ? find(t, id) : NULL;
    bool is_here = at && transcript_is_same(side, &t->side);
    int r = 0;
    if (is_here && !id.n)
        m = at;
    else if (is_here && !at->id.n && m)
        r = join(t, m);
    else if (is_here && !at->id.n)
        r = name(t, m = at, id);
    else if (!m)
        r = make(t, id, &m);
    m->used = ++t->uses;
    *ret = m;
    return r;
}

int
transcript_message_name(struct turn_transcript *t)
{
    return t->m->id.n ? 0 : buf_printf(&t->m->id, "msg_%s", t->uuid);
}

/* -- what it has used -- */

void
transcript_message_raise(struct transcript_message *m, struct turn_usage used,
                         struct turn_usage news)
{
    for (size_t i = 0; i < TURN_USAGE_FIELDS; i++) {
        uint64_t now = *turn_usage_field(&used, i), *had = turn_usage_field(&m->usage, i);
        uint64_t before = *had == TURN_UNKNOWN ? 0 : *had;
        uint64_t more = now > before ? now - before : 0,
                 most = *turn_usage_field(&news, i);
        if (now != TURN_UNKNOWN)
            *had = before + (more < most ? more : most);
    }
}

static uint64_t
output_of(const struct turn_usage *u)
{
    return u->output_tokens == TURN_UNKNOWN ? 0 : u->output_tokens;
}

bool
transcript_message_can_tell(const struct transcript_message *m,
                            const struct turn_usage *usage)
{
    return !m->is_again && (!m->is_written || output_of(usage) > output_of(&m->told));
}

struct turn_usage
transcript_message_usage(const struct transcript_message *m)
{
    return transcript_message_can_tell(m, &m->usage) ? m->usage : m->told;
}

void
transcript_told(struct turn_usage *sum, struct turn_usage *had, struct turn_usage now)
{
    for (size_t i = 0; i < TURN_USAGE_FIELDS; i++) {
        uint64_t before = *turn_usage_field(had, i), after = *turn_usage_field(&now, i);
        before = before == TURN_UNKNOWN ? 0 : before;
        if (after != TURN_UNKNOWN && after > before)
            transcript_plus(turn_usage_field(sum, i), after - before);
    }
    turn_usage_raise(had, now);
}

void
transcript_plus(uint64_t *tokens, uint64_t more)
{
    *tokens = num_plus_u64(*tokens == TURN_UNKNOWN ? 0 : *tokens, more, NUM_EXACT_MAX);
}

void
transcript_messages_release(struct turn_transcript *t)
{
    buf_release(&t->ids);
    buf_release(&t->id);
    for (size_t i = 0; i < TRANSCRIPT_MESSAGES; i++) {
        buf_release(&t->messages[i].id);
        buf_release(&t->messages[i].model);
    }
}
