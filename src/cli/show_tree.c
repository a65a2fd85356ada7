/* SPDX-License-Identifier: MIT */
#include "cli/show_tree.h"

#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/file.h"
#include "base/json.h"
#include "cli/report.h"
#include "cli/session.h"
#include "cli/when.h"
#include "library/list.h"
#include "play/clean.h"

#define NONE UINT32_MAX

enum {
    DEPTH_MAX = 64, /* that is shown; what is deeper stands below each other */
    TEXTS_MAX = 1 << 30,
};

/* How a session comes from the one above it. */
enum relation { ROOT, CHILD, BRANCH, FORK, RESUME };

static const char *const relations[] = {
    [ROOT] = "root", [CHILD] = "child",   [BRANCH] = "branch",
    [FORK] = "fork", [RESUME] = "resume",
};

struct node {
    size_t id, name, status, from; /* in texts */
    uint64_t started_at_ns, fork_turn, branch_snapshot;
    enum relation relation;
    uint32_t above, child, next;
    bool is_seen;
};

struct tree {
    struct buf nodes, texts, out;
    const char *asked;
    struct json json;
    bool is_json;
};

static struct node *
at(const struct tree *t, size_t i)
{
    return (struct node *)(void *)t->nodes.p + i;
}

static size_t
count_of(const struct tree *t)
{
    return t->nodes.n / sizeof(struct node);
}

static const char *
text(const struct tree *t, size_t place)
{
    return (const char *)t->texts.p + place;
}

static size_t
keep(struct tree *t, const char *s)
{
    size_t place = t->texts.n;
    buf_append(&t->texts, s ? s : "", (s ? strlen(s) : 0) + 1);
    return place;
}

static void
clean(const char *s, struct buf *ret)
{
    struct view v = { (const uint8_t *)s, s ? strlen(s) : 0 };
    (void)play_clean(v, true, ret);
}

/* A library_list_fn. */
static int
take(void *ctx, const struct library_session *s)
{
    struct tree *t = ctx;
    const struct store_session *f = &s->facts;
    AUTO(buf) name = { 0 };
    AUTO(buf) status = { 0 };
    clean(f->name, &name);
    clean(s->is_held ? "active" : f->status, &status);
    struct node n = {
        .id = keep(t, f->id),
        .name = keep(t, buf_str(&name)),
        .status = keep(t, buf_str(&status)),
        .from = keep(t, f->resumed_from ? f->resumed_from : f->parent),
        .started_at_ns = f->started_at_ns,
        .fork_turn = f->fork_turn,
        .branch_snapshot = f->branch_snapshot,
        .relation = f->resumed_from                    ? RESUME
                    : f->fork_turn != UINT64_MAX       ? FORK
                    : f->branch_snapshot != UINT64_MAX ? BRANCH
                    : f->parent                        ? CHILD
                                                       : ROOT,
        .above = NONE,
        .child = NONE,
        .next = NONE,
    };
    buf_append(&t->nodes, &n, sizeof(n));
    return t->nodes.failed ? t->nodes.failed : t->texts.failed ? t->texts.failed : 1;
}

/* -- who comes from whom -- */

struct by_id {
    const char *id;
    uint32_t node;
};

static int
compare(const void *a, const void *b)
{
    return strcmp(((const struct by_id *)a)->id, ((const struct by_id *)b)->id);
}

static uint32_t
find(const struct by_id *ids, size_t n, const char *id)
{
    struct by_id key = { id, 0 };
    const struct by_id *f = *id ? bsearch(&key, ids, n, sizeof(key), compare) : NULL;
    return f ? f->node : NONE;
}

/* Sessions come the newest first: each goes before those that are there. */
static int
join(struct tree *t)
{
    size_t n = count_of(t);
    struct by_id *ids = calloc(n + 1, sizeof(*ids));
    if (!ids)
        return -ENOMEM;
    for (size_t i = 0; i < n; i++)
        ids[i] = (struct by_id){ text(t, at(t, i)->id), (uint32_t)i };
    qsort(ids, n, sizeof(*ids), compare);
    for (size_t i = 0; i < n; i++) {
        struct node *node = at(t, i);
        uint32_t above = find(ids, n, text(t, node->from));
        if (above == NONE || above == i)
            continue;
        node->above = above;
        node->next = at(t, above)->child;
        at(t, above)->child = (uint32_t)i;
    }
    free(ids);
    return 0;
}

/* The first of the family; where it is its own ancestor, the session itself. */
static uint32_t
find_root(const struct tree *t, uint32_t from)
{
    uint32_t root = from;
    for (size_t steps = 0; at(t, root)->above != NONE; steps++) {
        if (steps > count_of(t))
            return from;
        root = at(t, root)->above;
    }
    return root;
}

/* -- printed -- */

static void
put_relation(struct tree *t, const struct node *n)
{
    switch (n->relation) {
    case ROOT:
    case CHILD:
        break;
    case BRANCH:
        buf_printf(&t->out, "  branched at snapshot %" PRIu64, n->branch_snapshot);
        break;
    case FORK:
        buf_puts(&t->out, "  forked after ");
        cli_count(&t->out, n->fork_turn, "turn");
        break;
    case RESUME:
        buf_puts(&t->out, "  resumed");
        break;
    }
}

static void
put_line(struct tree *t, const struct node *n, const char *before)
{
    char when[CLI_WHEN_LOCAL_SIZE];
    const char *name = text(t, n->name), *id = text(t, n->id);
    buf_printf(&t->out, "%s%.*s  %s  %s", before, *name ? 64 : CLI_SHORT_ID,
               *name ? name : id, text(t, n->status),
               cli_when_local(n->started_at_ns, when));
    put_relation(t, n);
    buf_puts(&t->out, !strcmp(id, t->asked) ? "  ◀\n" : "\n");
}

static void
put_object(struct tree *t, const struct node *n)
{
    struct json *j = &t->json;
    char when[CLI_WHEN_ISO_SIZE];
    const char *name = text(t, n->name);
    json_open(j, '{');
    json_key(j, "id"), json_str(j, text(t, n->id));
    json_key(j, "name"), json_str_or_none(j, *name ? name : NULL);
    json_key(j, "status"), json_str(j, text(t, n->status));
    json_key(j, "started_at"), json_str(j, cli_when_iso(n->started_at_ns, when));
    json_key(j, "relation"), json_str(j, relations[n->relation]);
    json_key(j, "turn");
    if (n->fork_turn == UINT64_MAX)
        json_none(j);
    else
        json_u64(j, n->fork_turn);
    json_key(j, "children"), json_open(j, '[');
}

/* Without a call of its own: a chain of resumes may be longer than a stack is deep. */
static void
walk(struct tree *t, uint32_t root)
{
    AUTO(buf) before = { 0 };
    uint32_t now = root;
    size_t depth = 0;
    while (now != NONE) {
        struct node *n = at(t, now);
        bool is_last = n->next == NONE;
        n->is_seen = true;
        if (t->is_json) {
            put_object(t, n);
        } else {
            AUTO(buf) line = { 0 };
            buf_append(&line, before.p, before.n);
            if (depth)
                buf_puts(&line, is_last ? "└ " : "├ ");
            put_line(t, n, buf_str(&line));
        }
        if (n->child != NONE && !at(t, n->child)->is_seen) {
            if (depth && depth < DEPTH_MAX)
                buf_puts(&before, is_last ? "  " : "│ ");
            depth++;
            now = n->child;
            continue;
        }
        /* Up to the first that has another one beside it. */
        for (;; now = at(t, now)->above) {
            if (t->is_json)
                json_close(&t->json, ']'), json_close(&t->json, '}');
            if (now == root || at(t, now)->next != NONE)
                break;
            depth--;
            if (depth && depth < DEPTH_MAX) {
                bool was_last = at(t, at(t, now)->above)->next == NONE;
                before.n -= was_last ? 2 : strlen("│ ");
            }
        }
        now = now == root ? NONE : at(t, now)->next;
    }
}

static int
print(struct tree *t, const char *id)
{
    uint32_t from = NONE;
    int r = join(t);
    for (size_t i = 0; !r && i < count_of(t); i++)
        if (!strcmp(text(t, at(t, i)->id), id))
            from = (uint32_t)i;
    if (r < 0 || from == NONE)
        return r < 0 ? r : ERR_MISSING;
    t->json.out = &t->out;
    t->asked = id;
    uint32_t root = find_root(t, from);
    at(t, root)->relation = ROOT;
    walk(t, root);
    if (t->is_json)
        buf_puts(&t->out, "\n");
    return t->out.failed ? t->out.failed
                         : file_write_all(STDOUT_FILENO, t->out.p, t->out.n);
}

int
cli_show_tree(const char *home, const char *id, bool is_json, struct err *err)
{
    struct tree t = { .is_json = is_json };
    struct library_listed listed;
    const struct library_list all = { 0 };
    t.texts.ceiling = t.nodes.ceiling = t.out.ceiling = TEXTS_MAX;
    int r = library_list(home, &all, take, &t, &listed, err);
    if (!r)
        r = print(&t, id);
    buf_release(&t.nodes);
    buf_release(&t.texts);
    buf_release(&t.out);
    if (r == ERR_MISSING)
        return err_set(err, r, "no session '%s'", id);
    return r < 0 && !err->code ? err_code(err, r, "cannot show the tree") : r;
}
