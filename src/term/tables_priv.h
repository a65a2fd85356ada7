/* SPDX-License-Identifier: MIT */
/*
 * tables_priv.h -- styles, clusters and links that the screens' cells name by number.
 *
 * Each distinct value is stored once; equal values have equal numbers. Number 0 is the
 * default style, no cluster, no link. What no cell names any more is taken back by a
 * collection: begin, mark all that is in use, end. Rows in the scrollback do not count:
 * they carry their own values.
 */
#ifndef TERM_TABLES_PRIV_H
#define TERM_TABLES_PRIV_H

#include "base/buf.h"
#include "term/style.h"

struct term_style_entry {
    struct term_style style;
    uint32_t next_free;
    uint32_t page; /* the history page that knows this style as page_id */
    uint32_t page_id;
    bool is_marked;
};

struct term_string_entry {
    uint8_t *p;    /* owned, with a NUL behind it; NULL: free */
    uint32_t page; /* the history page that has it, as a link, at page_at */
    uint32_t page_at;
    uint32_t n;
    uint32_t hash;
    uint32_t next;
    bool is_marked;
};

/* Two for each entry at least; id 0: empty. */
struct term_slot {
    uint32_t hash, id;
};

struct term_styles {
    struct term_style_entry *entries;
    struct term_slot *slots;
    uint32_t n, cap, free, mask;
};

struct term_strings {
    struct term_string_entry *entries;
    uint32_t *buckets;
    uint32_t n, cap, free, mask;
    uint32_t max; /* entries at most */
};

/* Styles of one history page as numbers of these tables, plus 1; 0: not known yet. */
struct term_page_cache {
    uint32_t page; /* 0: none */
    uint32_t *ids;
    size_t n;
};

struct term_tables {
    struct term_styles styles;
    struct term_strings clusters, links;
    uint32_t live;  /* entries of all kinds */
    uint32_t limit; /* more of them than this: time to collect */
    uint32_t pages; /* serial number of the last history page made */
    uint64_t seed;  /* so that nobody can know which values meet in a slot */
    struct term_page_cache cache;
};

int term_tables_init(struct term_tables *t);
void term_tables_release(struct term_tables *t);

/* The number of a style, cluster or link; 0 when there is no memory (or no room). */
uint32_t term_style_id(struct term_tables *t, const struct term_style *style);
uint32_t term_cluster_id(struct term_tables *t, struct view text);
uint16_t term_link_id(struct term_tables *t, struct view uri);

static inline const struct term_style *
term_style_of(const struct term_tables *t, uint32_t id)
{
    return &t->styles.entries[id].style;
}

static inline struct view
term_cluster_text(const struct term_tables *t, uint32_t id)
{
    const struct term_string_entry *e = &t->clusters.entries[id];
    return (struct view){ e->p, e->n };
}

static inline const char *
term_link_text(const struct term_tables *t, uint16_t id)
{
    return id ? (const char *)t->links.entries[id].p : "";
}

static inline bool
term_tables_is_full(const struct term_tables *t)
{
    return t->live > t->limit;
}

void term_tables_begin(struct term_tables *t);
void term_tables_mark_style(struct term_tables *t, uint32_t id);
void term_tables_mark_link(struct term_tables *t, uint16_t id);
void term_tables_mark_cluster(struct term_tables *t, uint32_t id);
/* `cells`: how many were looked at, so that the next collection pays for itself. */
void term_tables_end(struct term_tables *t, size_t cells);

#endif
