/* SPDX-License-Identifier: MIT */
/*
 * history_codex_usage.c -- Codex's rollouts: what was used, each answer once.
 *
 * From 0.166 on a record tells what one answer has used, by the answer's id, and a count
 * what the thread has used so far, and its last step; before, there are counts alone, and
 * most come twice. A count whose last step a record has told says nothing new but where
 * the total is now; the record's own totals are another counter.
 *
 * A fork may hold all lines of its parent, written anew and with other times; or none of
 * them, and its total goes on from the parent's. What a count tells has an id that is the
 * same in all copies of the line, so that it counts once wherever it is read.
 */
#include "turn/codex_priv.h"
#include "turn/history_codex_priv.h"
#include "turn/tell_priv.h"

/* Turns have ids that every copy keeps, from 0.130 on; calls have, if there was one; else
 * the thread's it was copied from. Shorter ones may be those of others, too. */
enum { BY_TURN, BY_CALL, BY_THREAD, PLACE_ID_MIN = 16 };

/* What is not told is 0: a copy of the line may tell it so. */
static struct turn_usage
usage_of(struct view object)
{
    struct turn_usage u = codex_usage(object);
    for (size_t i = 0; i < TURN_USAGE_FIELDS; i++)
        if (*turn_usage_field(&u, i) == TURN_UNKNOWN)
            *turn_usage_field(&u, i) = 0;
    return u;
}

static int
tell_usage(struct turn_history *h, struct turn_usage u, struct view id)
{
    struct turn_event e = turn_event(TURN_USAGE);
    e.id = id;
    e.model = (struct view){ h->facts.model.p, h->facts.model.n };
    e.usage = u;
    e.is_final = true;
    return history_tell(h, &e);
}

static bool
is_nothing(struct turn_usage u)
{
    bool has_any = false;
    for (size_t i = 0; i < TURN_USAGE_FIELDS; i++)
        has_any |= *turn_usage_field(&u, i) != 0;
    return !has_any;
}

static uint64_t
hash_of(uint64_t seed, struct turn_usage u)
{
    uint64_t numbers[TURN_USAGE_FIELDS];
    for (size_t i = 0; i < TURN_USAGE_FIELDS; i++)
        numbers[i] = *turn_usage_field(&u, i);
    return history_hash(seed, (struct view){ (const uint8_t *)numbers, sizeof(numbers) });
}

/* -- which lines are copies of each other -- */

static void
note(struct turn_history *h, size_t by, struct view raw)
{
    if (raw.n >= PLACE_ID_MIN + 2 && raw.p[0] == '"')
        h->place[by] = history_hash(by, raw);
}

/* Of those above each other the last is the eldest's. */
void
codex_note_thread(struct turn_history *h, struct view id, bool is_fork)
{
    note(h, BY_THREAD, id);
    h->is_fork |= is_fork;
}

void
codex_note_place(struct turn_history *h, const struct codex_line *l)
{
    if (turn_is(l->type, "turn_context") || turn_is(l->kind, "task_started"))
        note(h, BY_TURN, l->turn_id);
    note(h, BY_CALL, l->call_id);
}

static uint64_t
place_of(const struct turn_history *h)
{
    size_t by = h->place[BY_TURN] ? BY_TURN : h->place[BY_CALL] ? BY_CALL : BY_THREAD;
    return h->place[by];
}

/* -- records -- */

static int
await_count(struct turn_history *h, struct turn_usage used)
{
    uint64_t hash = hash_of(0, used);
    if (h->awaited.n >= HISTORY_AWAITED_MAX * sizeof(hash)) {
        h->awaited.n -= sizeof(hash);
        memmove(h->awaited.p, h->awaited.p + sizeof(hash), h->awaited.n);
    }
    return buf_append(&h->awaited, &hash, sizeof(hash));
}

/* Those before it were told with it. */
static bool
was_awaited(struct turn_history *h, struct turn_usage step)
{
    uint64_t hash = hash_of(0, step);
    bool was = false;
    for (size_t at = 0; at < h->awaited.n; at += sizeof(hash))
        was |= !memcmp(h->awaited.p + at, &hash, sizeof(hash));
    buf_clear(&h->awaited);
    return was;
}

int
codex_record(struct turn_history *h, struct view payload)
{
    struct view id = { 0 }, usage = { 0 };
    const struct turn_field wanted[] = { { "response_id", &id }, { "usage", &usage } };
    (void)turn_known_fields(payload, wanted, 2);
    struct view name = turn_text(id, &h->s.text[0]);
    if (!name.n || !turn_is_there(usage))
        return 0; /* the count will tell it */
    int r = await_count(h, usage_of(usage));
    return r < 0 ? r : tell_usage(h, usage_of(usage), name);
}

/* -- counts -- */

/* A running total, often told more than once: what it has grown by. False: it is the
 * same. Only the last step is known of one that has shrunk, or that a fork begins with:
 * it is another one's; and of one that may have grown by what records have told, too. */
static bool
take_total(struct turn_history *h, struct turn_usage all, const struct turn_usage *last,
           struct turn_usage *ret)
{
    bool has_shrunk = false, has_grown = false, is_first = true;
    struct turn_usage grown = { 0 };
    for (size_t i = 0; i < TURN_USAGE_FIELDS; i++) {
        uint64_t now = *turn_usage_field(&all, i), before = h->totals[i];
        has_shrunk |= now < before;
        has_grown |= now > before;
        is_first &= !before;
        *turn_usage_field(&grown, i) = now > before ? now - before : 0;
        h->totals[i] = now;
    }
    *ret = grown;
    if (has_shrunk || (last && ((h->is_fork && is_first) || h->awaited.n)))
        *ret = last ? *last : (struct turn_usage){ 0 };
    return has_shrunk || has_grown;
}

int
codex_count(struct turn_history *h, const struct codex_line *l)
{
    struct view info = { 0 }, total = { 0 }, last = { 0 };
    const struct turn_field wanted[] = { { "info", &info } };
    const struct turn_field of_info[] = { { "total_token_usage", &total },
                                          { "last_token_usage", &last } };
    (void)turn_known_fields(l->payload, wanted, 1);
    (void)turn_known_fields(info, of_info, 2);
    bool has_last = turn_is_there(last);
    struct turn_usage all = usage_of(total), step = usage_of(last), grown;
    if (!turn_is_there(total) || !take_total(h, all, has_last ? &step : NULL, &grown))
        return 0;
    if (was_awaited(h, step) || is_nothing(grown))
        return 0;
    AUTO(buf) id = { 0 };
    int r = buf_printf(&id, "codex-total-%016llx",
                       (unsigned long long)hash_of(place_of(h), all));
    return r < 0 ? r : tell_usage(h, grown, (struct view){ id.p, id.n });
}
