/* SPDX-License-Identifier: MIT */
/* Of any two sequences: what is kept is in both, in the same order, and as much as can
 * be; the edits tell of each item once what has become of it, in order, and make b of a;
 * an item is never gone here and new there. The same sequence twice has no edits. */
#include "fuzz/fuzz.h"
#include "play/classes.h"
#include "play/edits.h"

enum { SMALL = 100 }; /* for the table */

struct pair {
    struct play_align in;
    struct play_kinds kinds;
};

static size_t
longest(const struct play_align *in)
{
    static uint16_t table[SMALL + 1][SMALL + 1];
    for (size_t i = 1; i <= in->na; i++)
        for (size_t j = 1; j <= in->nb; j++) {
            uint16_t up = table[i - 1][j], left = table[i][j - 1];
            uint16_t both = (uint16_t)(table[i - 1][j - 1] + 1);
            table[i][j] = in->a[i - 1] == in->b[j - 1] ? both : up > left ? up : left;
        }
    return table[in->na][in->nb];
}

static void
check_one(const struct pair *p, const struct play_edit *e, size_t *a, size_t *b)
{
    const struct play_align *in = &p->in;
    bool is_of_a = e->kind != PLAY_INSERTED && e->kind != PLAY_MOVED_HERE;
    bool is_of_b = e->kind != PLAY_DELETED && e->kind != PLAY_MOVED_AWAY;
    CHECK(e->kind != PLAY_DELETED || e->b == PLAY_NO_ITEM);
    CHECK(e->kind != PLAY_INSERTED || e->a == PLAY_NO_ITEM);
    CHECK(!is_of_a || e->a == (*a)++);
    CHECK(!is_of_b || e->b == (*b)++);
    if (e->a == PLAY_NO_ITEM || e->b == PLAY_NO_ITEM)
        return;
    CHECK(e->a < in->na && e->b < in->nb);
    CHECK((in->a[e->a] == in->b[e->b]) == (e->kind != PLAY_CHANGED));
    CHECK(e->kind != PLAY_CHANGED || p->kinds.a[e->a] == p->kinds.b[e->b]);
}

static void
check(const struct pair *p)
{
    struct play_edits e = { 0 };
    size_t a = 0, b = 0;
    uint8_t gone[256] = { 0 };
    CHECK(play_edits_make(&p->in, &p->kinds, &e) == 0);
    for (size_t i = 0; i < play_edits_count(&e); i++) {
        const struct play_edit *x = play_edit_at(&e, i);
        check_one(p, x, &a, &b);
        CHECK((i < e.same) <= (x->kind == PLAY_SAME));
        if (x->kind == PLAY_DELETED)
            gone[p->in.a[x->a]] = 1;
    }
    for (size_t i = 0; i < play_edits_count(&e); i++)
        CHECK(play_edit_at(&e, i)->kind != PLAY_INSERTED ||
              !gone[p->in.b[play_edit_at(&e, i)->b]]);
    CHECK(a == p->in.na && b == p->in.nb);
    CHECK(e.counts[PLAY_MOVED_AWAY] == e.counts[PLAY_MOVED_HERE]);
    CHECK(e.is_bounded || a > SMALL || b > SMALL ||
          e.counts[PLAY_SAME] == longest(&p->in));
    play_edits_release(&e);
}

/* Each byte is an item, its low bits are its kind. */
int
LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct view in = { data, size };
    uint8_t share = fuzz_byte(&in), kinds = fuzz_byte(&in) & 7;
    size_t n = in.n, na = n * share / 255;
    uint32_t *numbers = calloc(2 * n + 1, sizeof(*numbers)), *kind = numbers + n;
    struct view *keys = calloc(n + 1, sizeof(*keys));
    CHECK(numbers && keys);
    for (size_t i = 0; i < n; i++) {
        keys[i] = (struct view){ in.p + i, 1 };
        kind[i] = in.p[i] & kinds;
    }
    int64_t count = play_classes(keys, n, numbers);
    CHECK(count >= 0 && count <= 256);
    struct pair p = { { numbers, numbers + na, na, n - na, (size_t)count },
                      { kind, kind + na, 8 } };
    check(&p);
    p.in.b = p.in.a, p.in.nb = na, p.kinds.b = kind;
    check(&p);
    free(numbers);
    free(keys);
    return 0;
}
