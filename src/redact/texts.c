/* SPDX-License-Identifier: MIT */
/*
 * texts.c -- literal texts, all of them looked for at once.
 *
 * An automaton of Aho and Corasick over the bytes that are no blanks: each byte of the
 * input is looked at once, however the texts begin alike. What it finds is then held
 * against the blanks.
 */
#include "redact/texts_priv.h"

#include <errno.h>
#include <stdlib.h>

#include "redact/lane_priv.h"

enum { BLANKS_MAX = 2048 }; /* in a row, inside of a text */

struct node {
    uint32_t child, next; /* the first one's, and its sibling's number; 0: none */
    uint32_t fail;        /* the longest other beginning that these bytes end with */
    uint32_t out;         /* nearest node on that way that ends a text; 0: none */
    uint32_t text;        /* its number + 1 that ends here; 0: none */
    uint16_t depth;
    uint8_t byte;
};

struct text {
    struct view bytes;
    bool has_blanks;
    uint32_t same; /* number + 1 of one that differs in its blanks only */
};

struct texts {
    struct buf bytes;
    struct text *texts;
    struct node *nodes; /* the first is the beginning of all */
    size_t n_texts, n_nodes, cap;
    uint32_t root[256]; /* its children */
};

static bool
is_blank(uint8_t c)
{
    return c == ' ' || c == '\t';
}

/* -- the automaton -- */

static uint32_t
child_of(const struct texts *t, uint32_t node, uint8_t c)
{
    if (!node)
        return t->root[c];
    uint32_t k = t->nodes[node].child;
    while (k && t->nodes[k].byte != c)
        k = t->nodes[k].next;
    return k;
}

static uint32_t
add_child(struct texts *t, uint32_t node, uint8_t c)
{
    uint32_t k = (uint32_t)t->n_nodes++;
    t->nodes[k] = (struct node){ .next = t->nodes[node].child,
                                 .depth = (uint16_t)(t->nodes[node].depth + 1),
                                 .byte = c };
    t->nodes[node].child = k;
    if (!node)
        t->root[c] = k;
    return k;
}

static void
add_text(struct texts *t, struct view v)
{
    struct text *text = &t->texts[t->n_texts++];
    uint32_t node = 0;
    text->bytes = (struct view){ t->bytes.p + t->bytes.n, v.n };
    buf_append(&t->bytes, v.p, v.n); /* there is room */
    for (size_t i = 0; i < v.n; i++) {
        if (is_blank(v.p[i])) {
            text->has_blanks = true;
            continue;
        }
        uint32_t next = child_of(t, node, v.p[i]);
        node = next ? next : add_child(t, node, v.p[i]);
    }
    text->same = t->nodes[node].text;
    t->nodes[node].text = (uint32_t)t->n_texts;
}

/* By depth, so that the shorter ones are linked first. */
static int
link_nodes(struct texts *t)
{
    uint32_t *queue = calloc(t->n_nodes, sizeof(*queue));
    if (!queue)
        return -ENOMEM;
    size_t n = 1;
    for (size_t i = 0; i < n; i++) {
        uint32_t node = queue[i];
        for (uint32_t k = t->nodes[node].child; k; k = t->nodes[k].next) {
            uint32_t f = t->nodes[node].fail, to = 0;
            while (node && !(to = child_of(t, f, t->nodes[k].byte)) && f)
                f = t->nodes[f].fail;
            t->nodes[k].fail = to;
            t->nodes[k].out = t->nodes[to].text ? to : t->nodes[to].out;
            queue[n++] = k;
        }
    }
    explicit_bzero(queue, t->n_nodes * sizeof(*queue));
    free(queue);
    return 0;
}

int
texts_new(struct texts **ret, const struct view *v, size_t n)
{
    struct texts *t = calloc(1, sizeof(*t));
    size_t bytes = 0;
    for (size_t i = 0; i < n; i++)
        bytes += v[i].n;
    if (!t)
        return -ENOMEM;
    t->cap = bytes + 1;
    t->n_nodes = 1;
    t->texts = calloc(n + 1, sizeof(*t->texts));
    t->nodes = calloc(t->cap, sizeof(*t->nodes));
    int e = t->texts && t->nodes ? buf_reserve(&t->bytes, bytes + 1) : -ENOMEM;
    for (size_t i = 0; !e && i < n; i++)
        add_text(t, v[i]);
    if (!e)
        e = link_nodes(t);
    if (e) {
        texts_free(t);
        return e;
    }
    *ret = t;
    return 0;
}

void
texts_free(struct texts *t)
{
    if (!t)
        return;
    if (t->bytes.p)
        explicit_bzero(t->bytes.p, t->bytes.cap);
    if (t->nodes)
        explicit_bzero(t->nodes, t->cap * sizeof(*t->nodes));
    buf_release(&t->bytes);
    free(t->texts);
    free(t->nodes);
    free(t);
}

size_t
texts_size_bytes(const struct texts *t)
{
    return sizeof(*t) + t->bytes.cap + t->n_texts * sizeof(*t->texts) +
           t->cap * sizeof(*t->nodes);
}

/* -- blanks -- */

/* How many blanks end before an offset. */
static size_t
blanks_before(struct view v, size_t at)
{
    size_t n = 0;
    while (n < at && is_blank(v.p[at - n - 1]))
        n++;
    return n;
}

static bool
has_wrap(const struct lane *l, uint64_t from, uint64_t to)
{
    size_t n = l ? lane_wraps_until(l, to) : 0;
    return n && LANE_ITEMS(struct lane_wrap, &l->wraps)[n - 1].clean >= from;
}

static bool
has_tab(struct view v, size_t end, size_t n)
{
    return n && memchr(v.p + end - n, '\t', n);
}

/* The bytes of the text have been found, the last before `end`; are its blanks there?
 * Where a line was wrapped, or a tab stands, any number of them will do. */
static bool
fits(const struct text *text, const struct texts_input *in, const struct texts_at *at,
     uint64_t end, uint64_t *ret_start)
{
    if (!text->has_blanks && at->gap_end + text->bytes.n <= end) {
        *ret_start = end - text->bytes.n;
        return true;
    }
    size_t t = text->bytes.n, i = (size_t)(end - in->base);
    while (t) {
        size_t want = blanks_before(text->bytes, t), got = blanks_before(in->bytes, i);
        if (want != got && !has_wrap(in->wraps, in->base + i - got, in->base + i) &&
            !(want && has_tab(in->bytes, i, got)) &&
            !(got && has_tab(text->bytes, t, want)))
            return false;
        t -= want + 1;
        i -= got + 1;
    }
    *ret_start = in->base + i;
    return true;
}

/* -- the scan -- */

static uint8_t
byte_at(const struct texts_input *in, uint64_t at)
{
    return in->bytes.p[at - in->base];
}

void
texts_give_up(const struct texts *t, struct texts_at *at, const struct texts_input *in)
{
    uint32_t fail = t->nodes[at->node].fail;
    size_t less = (size_t)(t->nodes[at->node].depth - t->nodes[fail].depth);
    at->node = fail;
    for (; fail && (less || is_blank(byte_at(in, at->start))); at->start++)
        less -= less && !is_blank(byte_at(in, at->start));
}

/* The longest that ends here; shorter ones lie in it. */
static void
tell(const struct texts *t, const struct texts_at *at, const struct texts_input *in,
     texts_found_fn fn, void *ctx)
{
    uint64_t start;
    const struct node *node = &t->nodes[at->node];
    for (uint32_t k = node->text ? at->node : node->out; k; k = t->nodes[k].out)
        for (uint32_t i = t->nodes[k].text; i; i = t->texts[i - 1].same)
            if (fits(&t->texts[i - 1], in, at, at->end, &start)) {
                fn(ctx, start, at->end);
                return;
            }
}

static void
take_blank(struct texts_at *at, uint64_t offset)
{
    at->gap_end = offset + 1;
    if (at->node && ++at->blanks > BLANKS_MAX)
        at->node = 0;
}

void
texts_scan(const struct texts *t, struct texts_at *at, const struct texts_input *in,
           uint64_t from, texts_found_fn fn, void *ctx)
{
    uint64_t end = in->base + in->bytes.n;
    for (uint64_t i = from; i < end; i++) {
        uint8_t c = byte_at(in, i);
        uint32_t next;
        if (!at->node && !t->root[c])
            continue;
        if (is_blank(c)) {
            take_blank(at, i);
            continue;
        }
        while (!(next = child_of(t, at->node, c)) && at->node)
            texts_give_up(t, at, in);
        if (!at->node)
            at->start = i;
        at->node = next;
        at->blanks = 0;
        at->end = i + 1;
        if (t->nodes[next].text || t->nodes[next].out)
            tell(t, at, in, fn, ctx);
    }
}

size_t
texts_begun(const struct texts *t, const struct texts_at *at)
{
    return t->nodes[at->node].depth;
}
