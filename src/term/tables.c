/* SPDX-License-Identifier: MIT */
#include "term/tables_priv.h"

#include <errno.h>

enum { LEAST_LIMIT = 4096 };

/* -- styles -- */

/* A style as two words. */
struct words {
    uint64_t a, b;
};

static inline struct words
words_of(const struct term_style *s)
{
    return (struct words){
        .a = s->fg | (uint64_t)s->bg << 32,
        .b = s->underline_colour | (uint64_t)s->attrs << 32 | (uint64_t)s->link << 48,
    };
}

static inline uint32_t
hash_words(struct words w, uint64_t seed)
{
    uint64_t h = (w.a ^ seed) * 0x9e3779b97f4a7c15U ^ (w.b + 1) * 0xc2b2ae3d27d4eb4fU;
    h = (h ^ h >> 32) * 0xd6e8feb86659fd93U;
    return (uint32_t)(h >> 32);
}

static void
put_slot(struct term_styles *t, uint32_t hash, uint32_t id)
{
    uint32_t at = hash;
    while (t->slots[at & t->mask].id)
        at++;
    t->slots[at & t->mask] = (struct term_slot){ hash, id };
}

static void
rehash_styles(struct term_styles *t, uint64_t seed)
{
    memset(t->slots, 0, ((size_t)t->mask + 1) * sizeof(t->slots[0]));
    t->free = 0;
    for (uint32_t i = t->n; i-- > 1;) {
        struct term_style_entry *e = &t->entries[i];
        if (e->is_marked) {
            put_slot(t, hash_words(words_of(&e->style), seed), i);
        } else {
            e->next_free = t->free;
            t->free = i;
        }
    }
}

static int
grow_styles(struct term_styles *t, uint64_t seed)
{
    uint32_t cap = t->cap ? t->cap * 2 : 64;
    struct term_style_entry *entries = realloc(t->entries, cap * sizeof(entries[0]));
    if (!entries)
        return -ENOMEM;
    t->entries = entries;
    struct term_slot *slots = realloc(t->slots, (size_t)cap * 2 * sizeof(slots[0]));
    if (!slots)
        return -ENOMEM;
    t->slots = slots;
    t->cap = cap;
    t->mask = cap * 2 - 1;
    for (uint32_t i = 1; i < t->n; i++)
        t->entries[i].is_marked = true; /* none is free when it must grow */
    rehash_styles(t, seed);
    return 0;
}

static uint32_t
add_style(struct term_tables *tables, const struct term_style *style, uint32_t hash)
{
    struct term_styles *t = &tables->styles;
    uint32_t id = t->free;
    if (id) {
        t->free = t->entries[id].next_free;
    } else {
        if (t->n == t->cap && grow_styles(t, tables->seed) < 0)
            return 0;
        id = t->n++;
    }
    t->entries[id] = (struct term_style_entry){ .style = *style };
    put_slot(t, hash, id);
    tables->live++;
    return id;
}

uint32_t
term_style_id(struct term_tables *tables, const struct term_style *style)
{
    const struct term_styles *t = &tables->styles;
    struct words words = words_of(style);
    if (!(words.a | words.b))
        return 0;
    uint32_t hash = hash_words(words, tables->seed);
    for (uint32_t at = hash;; at++) {
        struct term_slot slot = t->slots[at & t->mask];
        if (!slot.id)
            return add_style(tables, style, hash);
        if (slot.hash != hash)
            continue;
        struct words other = words_of(&t->entries[slot.id].style);
        if (other.a == words.a && other.b == words.b)
            return slot.id;
    }
}

/* -- strings -- */

static uint32_t
hash_bytes(struct view v, uint64_t seed)
{
    uint32_t h = 2166136261U ^ (uint32_t)seed;
    for (size_t i = 0; i < v.n; i++)
        h = (h ^ v.p[i]) * 16777619U;
    return h;
}

static void
rehash_strings(struct term_strings *t)
{
    memset(t->buckets, 0, ((size_t)t->mask + 1) * sizeof(t->buckets[0]));
    t->free = 0;
    for (uint32_t i = t->n; i-- > 1;) {
        struct term_string_entry *e = &t->entries[i];
        uint32_t *head = e->p ? &t->buckets[e->hash & t->mask] : &t->free;
        e->next = *head;
        *head = i;
    }
}

static int
grow_strings(struct term_strings *t)
{
    uint32_t cap = t->cap ? t->cap * 2 : 64;
    if (t->n >= t->max)
        return ERR_LIMIT;
    struct term_string_entry *entries = realloc(t->entries, cap * sizeof(entries[0]));
    if (!entries)
        return -ENOMEM;
    t->entries = entries;
    uint32_t *buckets = realloc(t->buckets, cap * sizeof(buckets[0]));
    if (!buckets)
        return -ENOMEM;
    t->buckets = buckets;
    t->cap = cap;
    t->mask = cap - 1;
    rehash_strings(t);
    return 0;
}

static uint32_t
string_id(struct term_strings *t, struct view v, struct term_tables *tables)
{
    uint32_t hash = hash_bytes(v, tables->seed);
    for (uint32_t i = t->buckets[hash & t->mask]; i; i = t->entries[i].next) {
        const struct term_string_entry *e = &t->entries[i];
        if (e->hash == hash && e->n == v.n && !memcmp(e->p, v.p, v.n))
            return i;
    }
    if (!t->free && t->n == t->cap && grow_strings(t) < 0)
        return 0;
    uint8_t *copy = malloc(v.n + 1);
    if (!copy)
        return 0;
    memcpy(copy, v.p, v.n);
    copy[v.n] = 0;
    uint32_t id = t->free;
    if (id)
        t->free = t->entries[id].next;
    else
        id = t->n++;
    uint32_t *head = &t->buckets[hash & t->mask];
    t->entries[id] = (struct term_string_entry){
        .p = copy, .n = (uint32_t)v.n, .hash = hash, .next = *head
    };
    *head = id;
    tables->live++;
    return id;
}

uint32_t
term_cluster_id(struct term_tables *t, struct view text)
{
    return string_id(&t->clusters, text, t);
}

uint16_t
term_link_id(struct term_tables *t, struct view uri)
{
    return uri.n ? (uint16_t)string_id(&t->links, uri, t) : 0;
}

/* -- all of them -- */

int
term_tables_init(struct term_tables *t)
{
    *t = (struct term_tables){ .limit = LEAST_LIMIT };
    /* Where memory lies is nobody's to choose. What is seen does not depend on it. */
    t->seed = (uint64_t)(uintptr_t)t * 0x9e3779b97f4a7c15U;
    t->clusters.max = 1U << 26;
    t->links.max = 1U << 15; /* a doubling fits a style's 16 bits */
    if (grow_styles(&t->styles, t->seed) < 0 || grow_strings(&t->clusters) < 0 ||
        grow_strings(&t->links) < 0)
        return -ENOMEM;
    t->styles.entries[0] = (struct term_style_entry){ 0 };
    t->clusters.entries[0] = t->links.entries[0] = (struct term_string_entry){ 0 };
    t->styles.n = t->clusters.n = t->links.n = 1;
    return 0;
}

static void
release_strings(struct term_strings *t)
{
    for (uint32_t i = 1; i < t->n; i++)
        free(t->entries[i].p);
    free(t->entries);
    free(t->buckets);
}

void
term_tables_release(struct term_tables *t)
{
    free(t->styles.entries);
    free(t->styles.slots);
    release_strings(&t->clusters);
    release_strings(&t->links);
    free(t->cache.ids);
    *t = (struct term_tables){ 0 };
}

/* -- collection -- */

void
term_tables_begin(struct term_tables *t)
{
    for (uint32_t i = 0; i < t->styles.n; i++)
        t->styles.entries[i].is_marked = false;
    for (uint32_t i = 0; i < t->clusters.n; i++)
        t->clusters.entries[i].is_marked = false;
    for (uint32_t i = 0; i < t->links.n; i++)
        t->links.entries[i].is_marked = false;
}

void
term_tables_mark_style(struct term_tables *t, uint32_t id)
{
    t->styles.entries[id].is_marked = true;
    t->links.entries[t->styles.entries[id].style.link].is_marked = true;
}

void
term_tables_mark_link(struct term_tables *t, uint16_t id)
{
    t->links.entries[id].is_marked = true;
}

void
term_tables_mark_cluster(struct term_tables *t, uint32_t id)
{
    t->clusters.entries[id].is_marked = true;
}

static uint32_t
sweep_strings(struct term_strings *t)
{
    uint32_t live = 0;
    for (uint32_t i = 1; i < t->n; i++) {
        struct term_string_entry *e = &t->entries[i];
        if (e->is_marked) {
            live++;
            continue;
        }
        free(e->p);
        e->p = NULL;
    }
    rehash_strings(t);
    return live;
}

void
term_tables_end(struct term_tables *t, size_t cells)
{
    t->cache.page = 0; /* its numbers may be others' now */
    t->live = sweep_strings(&t->clusters) + sweep_strings(&t->links);
    for (uint32_t i = 1; i < t->styles.n; i++)
        t->live += t->styles.entries[i].is_marked;
    rehash_styles(&t->styles, t->seed);
    size_t limit = 2 * (size_t)t->live + cells / 8 + LEAST_LIMIT;
    t->limit = limit < UINT32_MAX ? (uint32_t)limit : UINT32_MAX;
}
