/* SPDX-License-Identifier: MIT */
#include "turn/history_tree_priv.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/parts.h"

enum {
    NODES_MAX = 1 << 19,
    SLOTS_MIN = 1 << 10,
    STEPS_MAX = 1 << 25, /* in all: files that are made for it would take for ever */
};

/* Numbers of nodes are from 1; 0: none. */
struct node {
    uint64_t key, line, said;
    uint32_t parent; /* as the file has it */
    uint32_t before; /* said before, on its branch; of a note: what it hangs on */
    uint32_t event;  /* the last one told of it */
    uint8_t kind;
    uint8_t is_there; /* else it was only named */
    uint8_t unused[2];
};

_Static_assert(sizeof(struct node) == 40, "nodes are saved as they are");

static struct node *
node_at(const struct turn_history_tree *t, uint32_t number)
{
    return (struct node *)(void *)t->nodes.p + (number - 1);
}

static uint32_t
count_of(const struct turn_history_tree *t)
{
    return (uint32_t)(t->nodes.n / sizeof(struct node));
}

void
turn_tree_release(struct turn_history_tree *t)
{
    buf_release(&t->nodes);
    free(t->slots);
    *t = (struct turn_history_tree){ 0 };
}

/* A line may make two nodes. */
static bool
is_full(const struct turn_history_tree *t)
{
    return count_of(t) + 2 > NODES_MAX || t->steps >= STEPS_MAX;
}

/* -- by key: of several with one the last -- */

/* Keys may be made so that they meet: each look counts. */
static size_t
slot_of(struct turn_history_tree *t, uint64_t key)
{
    size_t i = (size_t)(key * UINT64_C(0x9e3779b97f4a7c15) >> 20) & (t->slot_count - 1);
    for (; t->slots[i] && node_at(t, t->slots[i])->key != key; t->steps++)
        i = (i + 1) & (t->slot_count - 1);
    return i;
}

static uint32_t
find(struct turn_history_tree *t, uint64_t key)
{
    return t->slot_count && key ? t->slots[slot_of(t, key)] : 0;
}

/* Too many steps for that, and the tree grows no more. */
static int
make_slots(struct turn_history_tree *t, size_t count, uint64_t steps_max)
{
    uint32_t *slots = calloc(count, sizeof(*slots));
    if (!slots)
        return -ENOMEM;
    free(t->slots);
    t->slots = slots;
    t->slot_count = count;
    uint64_t before = t->steps;
    t->steps = 0;
    for (uint32_t n = 1; n <= count_of(t) && t->steps < steps_max; n++)
        t->slots[slot_of(t, node_at(t, n)->key)] = n;
    t->steps = t->steps < steps_max ? before : STEPS_MAX;
    return 0;
}

static int
make_node(struct turn_history_tree *t, uint64_t key, uint32_t *ret)
{
    uint32_t number = count_of(t) + 1;
    int r = 0;
    if ((size_t)number * 2 > t->slot_count)
        r = make_slots(t, t->slot_count ? t->slot_count * 2 : SLOTS_MIN, STEPS_MAX);
    if (r < 0)
        return r;
    t->nodes.ceiling = (size_t)NODES_MAX * sizeof(struct node);
    struct node *n = (struct node *)(void *)buf_grow(&t->nodes, sizeof(*n));
    if (!n)
        return t->nodes.failed;
    *n = (struct node){ .key = key };
    t->slots[slot_of(t, key)] = number;
    *ret = number;
    return 0;
}

/* -- up the tree -- */

/* Is it above itself? Only one that was named before it came can be. */
static bool
is_cycle(struct turn_history_tree *t, uint32_t number)
{
    uint32_t at = node_at(t, number)->parent;
    while (at && at != number && t->steps++ < STEPS_MAX)
        at = node_at(t, at)->parent;
    return at == number;
}

/*
 * What is said now goes on behind `behind`. Is that a branch? From the tip back to there
 * lies what was said since: results, and other parts of the messages at both ends, are no
 * reason for one.
 */
static bool
is_branch(struct turn_history_tree *t, const struct turn_tree_line *l, uint32_t behind)
{
    uint64_t said = node_at(t, behind)->said;
    bool leaves_any = false;
    uint32_t at = t->tip;
    for (; at && at != behind; at = node_at(t, at)->before) {
        const struct node *n = node_at(t, at);
        if (t->steps++ >= STEPS_MAX)
            return false;
        leaves_any |= n->kind == TURN_TREE_PROMPT ||
                      (n->kind == TURN_TREE_SAYS && n->said != l->said &&
                       n->said != said);
    }
    return !at || (leaves_any && l->kind != TURN_TREE_RESULT);
}

/* -- lines -- */

/* The node of the line: one that was named before it came, or a new one. */
static int
name_line(struct turn_history_tree *t, uint64_t key, uint32_t *ret, bool *ret_was_named)
{
    *ret = find(t, key);
    *ret_was_named = *ret && !node_at(t, *ret)->is_there;
    return *ret_was_named ? 0 : make_node(t, key, ret);
}

/* The node that is named, made where it is not there. */
static int
name_parent(struct turn_history_tree *t, const struct turn_tree_line *l, uint32_t *ret,
            struct turn_tree_place *place)
{
    *ret = 0;
    place->is_cycle = l->parent && l->parent == l->key;
    if (!l->parent || place->is_cycle)
        return 0;
    *ret = find(t, l->parent);
    place->is_orphan = !*ret || !node_at(t, *ret)->is_there;
    return *ret ? 0 : make_node(t, l->parent, ret);
}

static void
say(struct turn_history_tree *t, const struct turn_tree_line *l, uint32_t number,
    struct turn_tree_place *place)
{
    struct node *n = node_at(t, number);
    uint32_t behind = n->before;
    place->is_root = t->tip && !l->parent;
    n->before = t->tip;
    if (t->tip && behind && behind != t->tip && is_branch(t, l, behind)) {
        n->before = behind;
        place->is_branch = true;
        place->from = node_at(t, behind)->event;
    }
    t->tip = number;
}

static int
place(struct turn_history_tree *t, const struct turn_tree_line *l,
      struct turn_tree_place *ret)
{
    uint32_t parent, number = 0;
    bool was_named = false;
    int r = name_parent(t, l, &parent, ret);
    if (!r)
        r = name_line(t, l->key, &number, &was_named);
    if (r < 0)
        return r;
    t->last = number;
    struct node *n = node_at(t, number);
    const struct node *above = parent ? node_at(t, parent) : NULL;
    n->line = l->line;
    n->said = l->said;
    n->kind = (uint8_t)l->kind;
    n->is_there = true;
    n->parent = parent;
    n->before = 0;
    if (above && above->is_there)
        n->before = above->kind == TURN_TREE_NOTE ? above->before : parent;
    if (was_named && is_cycle(t, number)) {
        ret->is_cycle = true;
        n->parent = n->before = 0;
    }
    if (l->kind != TURN_TREE_NOTE)
        say(t, l, number, ret);
    return 0;
}

int
turn_tree_add(struct turn_history_tree *t, const struct turn_tree_line *l,
              struct turn_tree_place *ret)
{
    *ret = (struct turn_tree_place){ 0 };
    t->last = 0;
    uint32_t number = is_full(t) ? 0 : find(t, l->key);
    if (number && node_at(t, number)->is_there) {
        ret->is_twice = true;
        ret->is_same = node_at(t, number)->line == l->line;
    }
    return !l->key || ret->is_same || is_full(t) ? 0 : place(t, l, ret);
}

bool
turn_tree_has(struct turn_history_tree *t, uint64_t key)
{
    uint32_t number = is_full(t) ? 0 : find(t, key);
    return number && node_at(t, number)->is_there;
}

void
turn_tree_done(struct turn_history_tree *t, uint64_t events)
{
    if (t->last)
        node_at(t, t->last)->event = events < UINT32_MAX ? (uint32_t)events : UINT32_MAX;
}

/* -- places -- */

int
turn_tree_mark(struct turn_history_tree *t, uint64_t key, uint64_t events)
{
    uint32_t number = 0;
    if (is_full(t) || find(t, key))
        return 0;
    int r = make_node(t, key, &number);
    t->last = r < 0 ? 0 : number;
    turn_tree_done(t, events);
    return r;
}

bool
turn_tree_marked(struct turn_history_tree *t, uint64_t key, uint64_t *ret_events)
{
    uint32_t number = is_full(t) ? 0 : find(t, key);
    if (number)
        *ret_events = node_at(t, number)->event;
    return number != 0;
}

/* -- kept -- */

static bool
is_fine(const struct node *n, size_t count, uint64_t events)
{
    return n->key && n->parent <= count && n->before <= count && n->event <= events &&
           n->kind <= TURN_TREE_SAYS && n->is_there <= 1;
}

int
turn_tree_save(const struct turn_history_tree *t, struct buf *out)
{
    parts_put_u64(out, t->tip);
    parts_put_u64(out, t->steps);
    parts_put(out, (struct view){ t->nodes.p, t->nodes.n });
    return out->failed;
}

int
turn_tree_load(struct turn_history_tree *t, struct view *saved, uint64_t events)
{
    uint64_t tip, steps;
    struct view nodes;
    if (!parts_take_u64(saved, &tip) || !parts_take_u64(saved, &steps) ||
        !parts_take(saved, &nodes))
        return ERR_DAMAGED;
    size_t count = nodes.n / sizeof(struct node), slots = SLOTS_MIN;
    if (nodes.n % sizeof(struct node) || count > NODES_MAX || tip > count)
        return ERR_DAMAGED;
    turn_tree_release(t);
    int r = buf_append(&t->nodes, nodes.p, nodes.n);
    for (uint32_t n = 1; !r && n <= count; n++)
        r = is_fine(node_at(t, n), count, events) ? 0 : ERR_DAMAGED;
    while (slots < count * 2)
        slots *= 2;
    t->tip = (uint32_t)tip;
    t->steps = steps;
    if (r < 0 || !count || is_full(t))
        return r;
    /* As many as were gone when they were added one by one, whatever the keys are. */
    return make_slots(t, slots, 2 * (uint64_t)STEPS_MAX);
}
