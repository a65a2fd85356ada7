/* SPDX-License-Identifier: MIT */
/*
 * learnt.c -- an automaton of Aho and Corasick, which grows.
 *
 * Nodes are in a table by the node before them and their byte, with a factor by chance:
 * nobody can choose texts that are slow to look up. The links between nodes are made anew
 * when it has grown and is asked again.
 */
#include "calls/learnt.h"

#include <errno.h>
#include <stdbool.h>
#include <stdlib.h>
#include <sys/random.h>

enum { ROOM_MIN = 256 };

struct node {
    uint32_t before;  /* without its last byte */
    uint32_t next;    /* in the same slot; 0: none */
    uint32_t fail;    /* the longest other beginning that it ends with */
    uint16_t depth;   /* how many bytes it has */
    uint16_t longest; /* text that it ends with; 0: none */
    uint16_t least;   /* the shortest text that goes on with it; UINT16_MAX: none */
    uint8_t byte;
    bool is_text;
};

struct calls_learnt {
    struct node *nodes; /* the first one has no bytes */
    uint32_t *slots;    /* as many as there is room for nodes */
    uint32_t n, room;
    uint64_t factor;
    uint32_t first[256]; /* nodes of one byte */
    bool is_linked;
};

/* -- nodes -- */

static uint32_t *
slot(const struct calls_learnt *l, uint32_t before, uint8_t byte)
{
    uint64_t key = (uint64_t)before << 8 | byte;
    return &l->slots[(key * l->factor >> 32) & (l->room - 1)];
}

/* The node with one byte more; 0: there is none. */
static uint32_t
child(const struct calls_learnt *l, uint32_t node, uint8_t byte)
{
    if (!node)
        return l->first[byte];
    uint32_t k = *slot(l, node, byte);
    while (k && (l->nodes[k].before != node || l->nodes[k].byte != byte))
        k = l->nodes[k].next;
    return k;
}

static void
enter(struct calls_learnt *l, uint32_t k)
{
    struct node *node = &l->nodes[k];
    uint32_t *s = slot(l, node->before, node->byte);
    node->next = *s;
    *s = k;
}

static bool
make_room(struct calls_learnt *l, size_t more)
{
    uint32_t room = l->room ? l->room : ROOM_MIN;
    while (room < l->n + more)
        room *= 2;
    if (room == l->room)
        return true;
    struct node *nodes = realloc(l->nodes, room * sizeof(*nodes));
    if (!nodes)
        return false;
    l->nodes = nodes;
    uint32_t *slots = calloc(room, sizeof(*slots));
    if (!slots)
        return false;
    free(l->slots);
    l->slots = slots;
    l->room = room;
    for (uint32_t k = 1; k < l->n; k++)
        enter(l, k);
    return true;
}

static uint32_t
add_child(struct calls_learnt *l, uint32_t before, uint8_t byte)
{
    uint32_t k = l->n++;
    l->nodes[k] = (struct node){ .before = before,
                                 .depth = (uint16_t)(l->nodes[before].depth + 1),
                                 .least = UINT16_MAX,
                                 .byte = byte };
    enter(l, k);
    if (!before)
        l->first[byte] = k;
    return k;
}

static struct calls_learnt *
new_learnt(void)
{
    struct calls_learnt *l = calloc(1, sizeof(*l));
    if (!l || !make_room(l, 1)) {
        calls_learnt_free(l);
        return NULL;
    }
    if (getrandom(&l->factor, sizeof(l->factor), GRND_NONBLOCK) < 0)
        l->factor = UINT64_C(0x9e3779b97f4a7c15);
    l->factor |= 1;
    l->nodes[l->n++] = (struct node){ .least = UINT16_MAX };
    return l;
}

/* How many of its first bytes there are nodes for. */
static size_t
known(const struct calls_learnt *l, struct view v)
{
    uint32_t node = 0;
    size_t i = 0;
    while (i < v.n && (node = child(l, node, v.p[i])))
        i++;
    return i;
}

void
calls_learnt_add(struct calls_learnt **learnt, struct view v)
{
    if (!v.n || v.n > CALLS_LEARNT_TEXT_MAX)
        return;
    if (!*learnt && !(*learnt = new_learnt()))
        return;
    struct calls_learnt *l = *learnt;
    size_t more = v.n - known(l, v);
    if (l->n + more > CALLS_LEARNT_MAX || !make_room(l, more))
        return;
    uint32_t node = 0;
    for (size_t i = 0; i < v.n; i++) {
        if (v.n < l->nodes[node].least)
            l->nodes[node].least = (uint16_t)v.n;
        uint32_t k = child(l, node, v.p[i]);
        node = k ? k : add_child(l, node, v.p[i]);
    }
    l->is_linked &= l->nodes[node].is_text;
    l->nodes[node].is_text = true;
}

void
calls_learnt_free(struct calls_learnt *l)
{
    if (!l)
        return;
    free(l->nodes);
    free(l->slots);
    free(l);
}

/* -- links -- */

static uint32_t
step(const struct calls_learnt *l, uint32_t node, uint8_t byte)
{
    uint32_t k;
    while (!(k = child(l, node, byte)) && node)
        node = l->nodes[node].fail;
    return k;
}

static void
link_node(struct calls_learnt *l, uint32_t k)
{
    struct node *node = &l->nodes[k];
    node->fail = node->before ? step(l, l->nodes[node->before].fail, node->byte) : 0;
    node->longest = node->is_text ? node->depth : l->nodes[node->fail].longest;
}

/* By their depths: each asks those that are shorter. */
static int
link_all(struct calls_learnt *l)
{
    enum { DEPTHS = CALLS_LEARNT_TEXT_MAX + 2 };
    if (l->is_linked)
        return 0;
    uint32_t *at = calloc(DEPTHS + (size_t)l->n, sizeof(*at)), *order = at + DEPTHS;
    if (!at)
        return -ENOMEM;
    for (uint32_t k = 0; k < l->n; k++)
        at[l->nodes[k].depth + 1]++;
    for (size_t i = 1; i < DEPTHS; i++)
        at[i] += at[i - 1];
    for (uint32_t k = 0; k < l->n; k++)
        order[at[l->nodes[k].depth]++] = k;
    for (uint32_t i = 1; i < l->n; i++)
        link_node(l, order[i]);
    free(at);
    l->is_linked = true;
    return 0;
}

/* -- the search -- */

struct find {
    size_t start, end;
};

/* Those that are not told yet, as one may still come that they lie in. */
struct finds {
    struct buf list;
    size_t told; /* of the list */
    calls_learnt_fn fn;
    void *ctx;
};

/* Those that begin before `start`: nothing will come any more that does so. */
static void
tell(struct finds *f, size_t start)
{
    const struct find *all = (const void *)f->list.p;
    size_t count = f->list.n / sizeof(*all);
    for (; f->told < count && all[f->told].start < start; f->told++)
        f->fn(f->ctx, all[f->told].start, all[f->told].end);
    if (f->told * 2 >= count) {
        buf_drop(&f->list, f->told * sizeof(*all));
        f->told = 0;
    }
}

static void
take(struct finds *f, size_t start, size_t end)
{
    const struct find *all = (const void *)f->list.p, one = { start, end };
    size_t count = f->list.n / sizeof(*all);
    while (count > f->told && all[count - 1].start >= start)
        count--;
    f->list.n = count * sizeof(*all);
    buf_append(&f->list, &one, sizeof(one));
}

int
calls_learnt_find(struct calls_learnt *l, struct view text, calls_learnt_fn fn, void *ctx)
{
    struct finds f = { .fn = fn, .ctx = ctx };
    uint32_t node = 0;
    int r = link_all(l);
    for (size_t i = 0; i < text.n && r >= 0; i++) {
        if (!node && !l->first[text.p[i]])
            continue;
        node = step(l, node, text.p[i]);
        const struct node *at = &l->nodes[node];
        if (at->longest)
            take(&f, i + 1 - at->longest, i + 1);
        if (f.list.n)
            tell(&f, i + 1 - at->depth);
        r = f.list.failed;
    }
    if (r >= 0)
        tell(&f, SIZE_MAX);
    buf_release(&f.list);
    return r;
}

size_t
calls_learnt_begun(struct calls_learnt *l, struct view text, size_t max)
{
    uint32_t node = 0;
    if (link_all(l) < 0) /* it may all be one */
        return text.n < max ? text.n : max;
    for (size_t i = text.n > max ? text.n - max : 0; i < text.n; i++)
        node = step(l, node, text.p[i]);
    while (node && l->nodes[node].least > max)
        node = l->nodes[node].fail;
    return l->nodes[node].depth;
}
