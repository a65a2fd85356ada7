/* SPDX-License-Identifier: MIT */
/*
 * history_state.c -- all that the next line of a history needs, as bytes (base/parts.h).
 *
 * Who finds another version's reads the history from its beginning. So does who has a
 * stream that was kept: its running sums are not here.
 */
#include <string.h>

#include "base/parts.h"
#include "turn/history_priv.h"
#include "turn/tell_priv.h"

static const struct view magic = { (const uint8_t *)"ahr history 5", 13 };

enum { OWN_TEXTS = 15, OWN_NUMBERS = 13, TEXTS = OWN_TEXTS + 3 * TURN_LANES };

/* Every text that lasts from line to line. */
static void
list_texts(struct turn_history *h, struct buf *ret[TEXTS])
{
    struct turn_history_facts *f = &h->facts;
    struct turn_state *s = &h->s;
    struct buf *const own[OWN_TEXTS] = {
        &f->id,    &f->cwd,   &f->version, &f->git_branch, &f->model,
        &f->title, &s->calls, &s->message, &s->session,    &s->model,
        &h->told,  &h->marks, &h->awaited, &h->summaries,  &h->tasks,
    };
    memcpy(ret, own, sizeof(own));
    ret += OWN_TEXTS;
    for (size_t i = 0; i < TURN_LANES; i++) {
        *ret++ = &s->lanes[i].parent;
        *ret++ = &s->lanes[i].message;
        *ret++ = &s->lanes[i].model;
    }
}

static void
list_numbers(struct turn_history *h, uint64_t *ret[OWN_NUMBERS])
{
    uint64_t *const own[OWN_NUMBERS] = {
        &h->facts.start_ns,  &h->facts.last_ns, &h->facts.events, &h->s.turns,
        &h->s.cost_microusd, &h->totals[0],     &h->totals[1],    &h->totals[2],
        &h->totals[3],       &h->place[0],      &h->place[1],     &h->place[2],
        &h->tasks_gone,
    };
    memcpy(ret, own, sizeof(own));
}

int
turn_history_save(struct turn_history *h, struct buf *out)
{
    struct buf *texts[TEXTS];
    uint64_t *numbers[OWN_NUMBERS];
    list_texts(h, texts);
    list_numbers(h, numbers);
    parts_put(out, magic);
    parts_put_u64(out, h->opt.agent);
    for (size_t i = 0; i < OWN_NUMBERS; i++)
        parts_put_u64(out, *numbers[i]);
    for (size_t i = 0; i < TURN_LANES; i++) {
        for (size_t k = 0; k < TURN_USAGE_FIELDS; k++)
            parts_put_u64(out, *turn_usage_field(&h->s.lanes[i].usage, k));
        parts_put_u64(out, h->s.lanes[i].is_final);
    }
    for (size_t i = 0; i < TEXTS; i++)
        parts_put(out, (struct view){ texts[i]->p, texts[i]->n });
    parts_put_u64(out, h->s.has_spoken);
    parts_put_u64(out, h->is_stream);
    parts_put_u64(out, h->is_fork);
    return turn_tree_save(&h->tree, out);
}

static bool
load_numbers(struct turn_history *h, struct view *rest)
{
    uint64_t *numbers[OWN_NUMBERS], is_final = 0;
    bool is_fine = true;
    list_numbers(h, numbers);
    for (size_t i = 0; is_fine && i < OWN_NUMBERS; i++)
        is_fine = parts_take_u64(rest, numbers[i]);
    for (size_t i = 0; is_fine && i < TURN_LANES; i++) {
        for (size_t k = 0; is_fine && k < TURN_USAGE_FIELDS; k++)
            is_fine = parts_take_u64(rest, turn_usage_field(&h->s.lanes[i].usage, k));
        is_fine = is_fine && parts_take_u64(rest, &is_final);
        h->s.lanes[i].is_final = is_final;
    }
    return is_fine;
}

static int
load_texts(struct turn_history *h, struct view *rest)
{
    struct buf *texts[TEXTS];
    struct view part;
    int r = 0;
    list_texts(h, texts);
    for (size_t i = 0; !r && i < TEXTS; i++) {
        buf_clear(texts[i]);
        r = parts_take(rest, &part) ? buf_append(texts[i], part.p, part.n) : ERR_DAMAGED;
    }
    return r;
}

/* Of a number and a text each. UINT64_MAX: they are none. */
static uint64_t
count_pairs(const struct buf *pairs)
{
    struct view rest = { pairs->p, pairs->n }, text;
    uint64_t number, count = 0;
    for (; rest.n; count++)
        if (!parts_take_u64(&rest, &number) || !parts_take(&rest, &text))
            return UINT64_MAX;
    return count;
}

/* Each was told by an event. */
static bool
tasks_are_sound(const struct turn_history *h)
{
    uint64_t count = count_pairs(&h->tasks), events = h->facts.events;
    return count <= HISTORY_TASKS_MAX && h->tasks_gone <= events &&
           count <= events - h->tasks_gone;
}

/* What is read without a further look. */
static bool
is_sound(const struct turn_history *h)
{
    size_t size = sizeof(uint64_t);
    uint64_t from;
    for (size_t at = 0; at + size <= h->marks.n; at += size) {
        memcpy(&from, h->marks.p + at, size);
        if (from > h->facts.events)
            return false;
    }
    return h->told.n % size == 0 && h->told.n / size <= HISTORY_TOLD_MAX &&
           h->marks.n % size == 0 && h->marks.n / size <= HISTORY_MARKS_MAX &&
           h->awaited.n % size == 0 && h->awaited.n / size <= HISTORY_AWAITED_MAX &&
           h->facts.start_ns <= h->facts.last_ns && h->facts.events <= UINT64_MAX / 2 &&
           count_pairs(&h->summaries) <= HISTORY_SUMMARIES_MAX &&
           turn_calls_are_sound(&h->s) && tasks_are_sound(h);
}

int
turn_history_load(struct turn_history *h, struct view saved)
{
    struct view part, rest = saved;
    uint64_t agent, has_spoken, is_stream, is_fork;
    if (!parts_take(&rest, &part) || part.n != magic.n ||
        memcmp(part.p, magic.p, magic.n) != 0 || !parts_take_u64(&rest, &agent) ||
        agent != (uint64_t)h->opt.agent || !load_numbers(h, &rest))
        return ERR_DAMAGED;
    int r = load_texts(h, &rest);
    if (r < 0)
        return r;
    if (!parts_take_u64(&rest, &has_spoken) || !parts_take_u64(&rest, &is_stream) ||
        !parts_take_u64(&rest, &is_fork) || !is_sound(h))
        return ERR_DAMAGED;
    h->s.has_spoken = has_spoken;
    h->is_stream = is_stream;
    h->is_fork = is_fork;
    r = turn_tree_load(&h->tree, &rest, h->facts.events);
    return r < 0 || !rest.n ? r : ERR_DAMAGED;
}
