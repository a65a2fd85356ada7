/* SPDX-License-Identifier: MIT */
/*
 * history_state.c -- all that the next line of a history needs, as bytes (base/parts.h).
 *
 * Who finds another version's reads the history from its beginning.
 */
#include "base/parts.h"
#include "turn/history_priv.h"

static const struct view magic = { (const uint8_t *)"ahr history 1", 13 };

enum { OWN_TEXTS = 12, OWN_NUMBERS = 9, TEXTS = OWN_TEXTS + 3 * TURN_LANES };

/* Every text that lasts from line to line. */
static void
list_texts(struct turn_history *h, struct buf *ret[TEXTS])
{
    struct turn_history_facts *f = &h->facts;
    struct turn_state *s = &h->s;
    struct buf *const own[OWN_TEXTS] = {
        &f->id,    &f->cwd,     &f->version, &f->git_branch, &f->model, &f->title,
        &s->calls, &s->message, &s->session, &s->model,      &h->told,  &h->marks,
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
        &h->facts.start_ns, &h->facts.last_ns,   &h->facts.events,
        &h->s.turns,        &h->s.cost_microusd, &h->totals[0],
        &h->totals[1],      &h->totals[2],       &h->totals[3],
    };
    memcpy(ret, own, sizeof(own));
}

int
turn_history_save(const struct turn_history *h, struct buf *out)
{
    struct turn_history *own = (struct turn_history *)(uintptr_t)h; /* stays as it is */
    struct buf *texts[TEXTS];
    uint64_t *numbers[OWN_NUMBERS];
    list_texts(own, texts);
    list_numbers(own, numbers);
    parts_put(out, magic);
    for (size_t i = 0; i < OWN_NUMBERS; i++)
        parts_put_u64(out, *numbers[i]);
    for (size_t i = 0; i < TURN_LANES; i++) {
        for (size_t k = 0; k < TURN_USAGE_FIELDS; k++)
            parts_put_u64(out, *turn_usage_field(&own->s.lanes[i].usage, k));
        parts_put_u64(out, own->s.lanes[i].is_final);
    }
    for (size_t i = 0; i < TEXTS; i++)
        parts_put(out, (struct view){ texts[i]->p, texts[i]->n });
    parts_put_u64(out, h->s.has_spoken);
    parts_put_u64(out, h->is_stream);
    parts_put_u64(out, h->tree.tip);
    return parts_put(out, (struct view){ h->tree.nodes.p, h->tree.nodes.n });
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

int
turn_history_load(struct turn_history *h, struct view saved)
{
    struct buf *texts[TEXTS];
    struct view part, rest = saved;
    uint64_t has_spoken, is_stream, tip;
    if (!parts_take(&rest, &part) || part.n != magic.n ||
        memcmp(part.p, magic.p, magic.n) != 0 || !load_numbers(h, &rest))
        return ERR_DAMAGED;
    list_texts(h, texts);
    for (size_t i = 0; i < TEXTS; i++) {
        buf_clear(texts[i]);
        if (!parts_take(&rest, &part))
            return ERR_DAMAGED;
        if (buf_append(texts[i], part.p, part.n) < 0)
            return texts[i]->failed;
    }
    if (!parts_take_u64(&rest, &has_spoken) || !parts_take_u64(&rest, &is_stream) ||
        !parts_take_u64(&rest, &tip) || !parts_take(&rest, &part) || rest.n ||
        tip > UINT32_MAX)
        return ERR_DAMAGED;
    h->s.has_spoken = has_spoken;
    h->is_stream = is_stream;
    return turn_tree_load(&h->tree, part, (uint32_t)tip);
}
