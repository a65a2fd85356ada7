/* SPDX-License-Identifier: MIT */
#include "cli/list_tree.h"

#include <errno.h>
#include <stdlib.h>

#define NONE UINT32_MAX

enum {
    DEPTH_MAX = 16, /* that is shown; what is deeper stands below each other */
    TEXTS_MAX = 1 << 30,
};

/* Texts are places in `texts`; NONE: none. */
struct row {
    uint32_t id, name, status, command, task, parent, kind, agent;
    uint64_t started_at_ns, ended_at_ns, size_bytes;
    uint64_t input_tokens, output_tokens, cache_creation_tokens, cache_read_tokens;
    enum library_place place;
    bool is_held, is_damaged;
    /* The tree: numbers of rows. */
    uint32_t above, child, next;
    bool is_shown;
};

void
cli_list_tree_release(struct cli_list_tree *t)
{
    buf_release(&t->rows);
    buf_release(&t->texts);
}

static struct row *
row_at(const struct cli_list_tree *t, size_t i)
{
    return (struct row *)(void *)t->rows.p + i;
}

static size_t
count_of(const struct cli_list_tree *t)
{
    return t->rows.n / sizeof(struct row);
}

static uint32_t
keep_text(struct cli_list_tree *t, const char *text)
{
    size_t at = t->texts.n;
    if (!text)
        return NONE;
    buf_append(&t->texts, text, strlen(text) + 1);
    return (uint32_t)at;
}

static const char *
text_at(const struct cli_list_tree *t, uint32_t at)
{
    return at == NONE ? NULL : (const char *)t->texts.p + at;
}

int
cli_list_tree_add(struct cli_list_tree *t, const struct library_session *s)
{
    const struct store_session *f = &s->facts;
    t->texts.ceiling = t->rows.ceiling = TEXTS_MAX;
    struct row row = {
        .id = keep_text(t, f->id),
        .name = keep_text(t, f->name),
        .status = keep_text(t, f->status),
        .command = keep_text(t, f->command),
        .task = keep_text(t, f->task),
        .parent = keep_text(t, f->parent),
        .kind = keep_text(t, f->kind),
        .agent = keep_text(t, f->agent),
        .started_at_ns = f->started_at_ns,
        .ended_at_ns = f->ended_at_ns,
        .size_bytes = f->size_bytes,
        .input_tokens = f->input_tokens,
        .output_tokens = f->output_tokens,
        .cache_creation_tokens = f->cache_creation_tokens,
        .cache_read_tokens = f->cache_read_tokens,
        .place = s->place,
        .is_held = s->is_held,
        .is_damaged = f->is_damaged,
        .above = NONE,
        .child = NONE,
        .next = NONE,
    };
    buf_append(&t->rows, &row, sizeof(row));
    return t->texts.failed ? t->texts.failed : t->rows.failed;
}

/* -- who belongs to whom -- */

/* Numbers of rows by their ids; `size`, a power of two, is more than twice as many. */
struct table {
    uint32_t *slots;
    size_t size;
};

static size_t
hash(const char *text)
{
    uint64_t h = UINT64_C(0xcbf29ce484222325);
    for (; *text; text++)
        h = (h ^ (uint8_t)*text) * UINT64_C(0x100000001b3);
    return (size_t)(h ^ h >> 32);
}

/* Where that id is, or would be. */
static uint32_t *
slot_of(const struct cli_list_tree *t, const struct table *ids, const char *id)
{
    size_t at = hash(id) & (ids->size - 1);
    while (ids->slots[at] != NONE &&
           strcmp(text_at(t, row_at(t, ids->slots[at])->id), id) != 0)
        at = (at + 1) & (ids->size - 1);
    return &ids->slots[at];
}

static int
make_table(const struct cli_list_tree *t, struct table *ret)
{
    size_t n = count_of(t);
    ret->size = 16;
    while (ret->size <= 2 * n)
        ret->size *= 2;
    ret->slots = malloc(ret->size * sizeof(*ret->slots));
    if (!ret->slots)
        return -ENOMEM;
    memset(ret->slots, 0xff, ret->size * sizeof(*ret->slots)); /* NONE each */
    for (size_t i = 0; i < n; i++)
        *slot_of(t, ret, text_at(t, row_at(t, i)->id)) = (uint32_t)i;
    return 0;
}

static int
join(struct cli_list_tree *t)
{
    struct table ids;
    int r = make_table(t, &ids);
    if (r < 0)
        return r;
    for (size_t i = count_of(t); i-- > 0;) { /* each goes before those that came after */
        struct row *row = row_at(t, i);
        const char *parent = text_at(t, row->parent);
        uint32_t above = parent ? *slot_of(t, &ids, parent) : NONE;
        if (above == NONE || above == i)
            continue;
        row->above = above;
        row->next = row_at(t, above)->child;
        row_at(t, above)->child = (uint32_t)i;
    }
    free(ids.slots);
    return 0;
}

/* -- the walk -- */

static void
put_branch(const struct cli_list_tree *t, const struct row *row, struct buf *ret)
{
    const char *parts[DEPTH_MAX];
    size_t n = 0;
    for (; row->above != NONE && n < DEPTH_MAX; row = row_at(t, row->above)) {
        bool is_last = row->next == NONE;
        parts[n] = n ? (is_last ? "  " : "│ ") : is_last ? "└ " : "├ ";
        n++;
    }
    buf_clear(ret);
    while (n)
        buf_puts(ret, parts[--n]);
}

static int
show(struct cli_list_tree *t, struct row *row, struct buf *branch, cli_list_tree_fn fn,
     void *ctx)
{
    struct library_session s = {
        .facts = store_session_unknown,
        .place = row->place,
        .is_held = row->is_held,
    };
    s.facts.id = text_at(t, row->id);
    s.facts.name = text_at(t, row->name);
    s.facts.status = text_at(t, row->status);
    s.facts.command = text_at(t, row->command);
    s.facts.task = text_at(t, row->task);
    s.facts.parent = text_at(t, row->parent);
    s.facts.kind = text_at(t, row->kind);
    s.facts.agent = text_at(t, row->agent);
    s.facts.started_at_ns = row->started_at_ns;
    s.facts.ended_at_ns = row->ended_at_ns;
    s.facts.size_bytes = row->size_bytes;
    s.facts.input_tokens = row->input_tokens;
    s.facts.output_tokens = row->output_tokens;
    s.facts.cache_creation_tokens = row->cache_creation_tokens;
    s.facts.cache_read_tokens = row->cache_read_tokens;
    s.facts.is_damaged = row->is_damaged;
    row->is_shown = true;
    put_branch(t, row, branch);
    return branch->failed ? branch->failed : fn(ctx, &s, buf_str(branch));
}

/* The first of them that was not shown yet. */
static uint32_t
unshown(const struct cli_list_tree *t, uint32_t at)
{
    while (at != NONE && row_at(t, at)->is_shown)
        at = row_at(t, at)->next;
    return at;
}

static int
show_below(struct cli_list_tree *t, uint32_t root, struct buf *branch,
           cli_list_tree_fn fn, void *ctx)
{
    uint32_t at = root;
    for (;;) {
        int r = show(t, row_at(t, at), branch, fn, ctx);
        if (r < 0)
            return r;
        uint32_t next = unshown(t, row_at(t, at)->child);
        while (next == NONE && at != root) {
            next = unshown(t, row_at(t, at)->next);
            at = row_at(t, at)->above;
        }
        if (next == NONE)
            return 0;
        at = next;
    }
}

int
cli_list_tree_walk(struct cli_list_tree *t, cli_list_tree_fn fn, void *ctx)
{
    AUTO(buf) branch = { 0 };
    int r = join(t);
    for (size_t i = 0; r >= 0 && i < count_of(t); i++)
        if (row_at(t, i)->above == NONE)
            r = show_below(t, (uint32_t)i, &branch, fn, ctx);
    for (size_t i = 0; r >= 0 && i < count_of(t); i++) {
        struct row *row = row_at(t, i);
        if (row->is_shown)
            continue;
        row->above = NONE; /* it is its own ancestor */
        r = show_below(t, (uint32_t)i, &branch, fn, ctx);
    }
    return r < 0 ? r : 0;
}
