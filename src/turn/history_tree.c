/* SPDX-License-Identifier: MIT */
#include "turn/history_tree_priv.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

enum {
    NODES_MAX = 1 << 19,
    SLOTS_MIN = 1 << 10,
    STEPS_MAX = 1 << 26, /* in all: files that are made for it would take for ever */
};

/* Numbers of nodes are from 1; 0: none. */
struct node {
    uint64_t key, line, said;
    uint32_t parent; /* as the file has it */
    uint32_t
        before;     /* what was said before, on its branch; of a note: what it hangs on */
    uint32_t event; /* the last one told of it */
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

/* -- by key -- */

static size_t
slot_of(const struct turn_history_tree *t, uint64_t key)
{
    size_t i = (size_t)(key * UINT64_C(0x9e3779b97f4a7c15) >> 20) & (t->slot_count - 1);
    while (t->slots[i] && node_at(t, t->slots[i])->key != key)
        i = (i + 1) & (t->slot_count - 1);
    return i;
}

static uint32_t
find(const struct turn_history_tree *t, uint64_t key)
{
    return t->slot_count && key ? t->slots[slot_of(t, key)] : 0;
}

static int
make_slots(struct turn_history_tree *t, size_t count)
{
    uint32_t *slots = calloc(count, sizeof(*slots));
    if (!slots)
        return -ENOMEM;
    free(t->slots);
    t->slots = slots;
    t->slot_count = count;
    for (uint32_t n = 1; n <= count_of(t); n++) {
        size_t i = slot_of(t, node_at(t, n)->key);
        if (!t->slots[i])
            t->slots[i] = n;
    }
    return 0;
}

/* 0: there is no room for more. */
static int
make_node(struct turn_history_tree *t, uint64_t key, uint32_t *ret)
{
    uint32_t number = count_of(t) + 1;
    *ret = 0;
    if (number > NODES_MAX)
        return 0;
    int r = 0;
    if ((size_t)number * 2 > t->slot_count)
        r = make_slots(t, t->slot_count ? t->slot_count * 2 : SLOTS_MIN);
    if (r < 0)
        return r;
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

/* The node that is named, made where it is not there. */
static int
name_parent(struct turn_history_tree *t, const struct turn_tree_line *l, uint32_t *ret,
            struct turn_tree_place *place)
{
    *ret = find(t, l->parent);
    place->is_orphan = l->parent && (!*ret || !node_at(t, *ret)->is_there);
    return *ret || !l->parent ? 0 : make_node(t, l->parent, ret);
}

static void
say(struct turn_history_tree *t, const struct turn_tree_line *l, uint32_t number,
    struct turn_tree_place *place)
{
    struct node *n = node_at(t, number);
    uint32_t behind = n->before;
    place->is_root = t->tip && !l->parent;
    n->before = t->tip;
    if (t->tip && behind && behind != t->tip && behind != number &&
        is_branch(t, l, behind)) {
        n->before = behind;
        place->is_branch = true;
        place->from = node_at(t, behind)->event;
    }
    t->tip = number;
}

static int
place(struct turn_history_tree *t, const struct turn_tree_line *l, uint32_t number,
      struct turn_tree_place *ret)
{
    uint32_t parent = 0;
    bool was_named = number != 0;
    int r = number ? 0 : make_node(t, l->key, &number);
    if (!r && number)
        r = name_parent(t, l, &parent, ret);
    t->last = number;
    if (r < 0 || !number)
        return r;
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
    ret->is_cycle = (was_named || parent == number) && is_cycle(t, number);
    if (ret->is_cycle)
        n->parent = n->before = 0;
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
    uint32_t number = find(t, l->key);
    if (!l->key)
        return 0;
    if (!number || !node_at(t, number)->is_there)
        return place(t, l, number, ret);
    ret->is_twice = node_at(t, number)->line == l->line;
    return 0; /* another one of the same name goes on behind the one before */
}

void
turn_tree_done(struct turn_history_tree *t, uint64_t events)
{
    if (t->last)
        node_at(t, t->last)->event = events < UINT32_MAX ? (uint32_t)events : UINT32_MAX;
}

/* -- kept -- */

int
turn_tree_load(struct turn_history_tree *t, struct view saved, uint32_t tip)
{
    size_t count = saved.n / sizeof(struct node);
    if (saved.n % sizeof(struct node) || count > NODES_MAX || tip > count)
        return ERR_DAMAGED;
    t->nodes.ceiling = (size_t)NODES_MAX * sizeof(struct node);
    int r = buf_append(&t->nodes, saved.p, saved.n);
    for (uint32_t n = 1; !r && n <= count; n++) {
        const struct node *node = node_at(t, n);
        if (node->parent > count || node->before > count || node->kind > TURN_TREE_SAYS)
            r = ERR_DAMAGED;
    }
    size_t slots = SLOTS_MIN;
    while (slots < count * 2)
        slots *= 2;
    t->tip = tip;
    return r < 0 || !count ? r : make_slots(t, slots);
}
