/* SPDX-License-Identifier: MIT */
/* align_test.c -- what two sequences have in common, and how one becomes the other. */
#include "play/align.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>

#include <cmocka.h>

#include "base/clock.h"
#include "play/classes.h"
#include "play/edits.h"
#include "support/rng.h"

enum { ITEMS_MAX = 24, LONG = 10000 };

struct pair {
    uint32_t *a, *b;
    size_t na, nb, numbers;
};

static struct play_align
input_of(const struct pair *p)
{
    return (struct play_align){ p->a, p->b, p->na, p->nb, p->numbers };
}

/* The length of the longest common subsequence, by the book. */
static size_t
longest(const struct pair *p)
{
    static size_t table[ITEMS_MAX + 1][ITEMS_MAX + 1];
    for (size_t i = 0; i <= p->na; i++)
        for (size_t j = 0; j <= p->nb; j++) {
            size_t best = 0;
            if (i && j && p->a[i - 1] == p->b[j - 1])
                best = table[i - 1][j - 1] + 1;
            if (i && table[i - 1][j] > best)
                best = table[i - 1][j];
            if (j && table[i][j - 1] > best)
                best = table[i][j - 1];
            table[i][j] = best;
        }
    return table[p->na][p->nb];
}

/* How many are kept; they are the same items, in the same order. */
static size_t
kept_of(const struct pair *p, const struct play_kept_items *k)
{
    size_t j = 0, count = 0;
    assert_int_equal(k->a.n, p->na);
    assert_int_equal(k->b.n, p->nb);
    for (size_t i = 0; i < p->na; i++) {
        if (!k->a.p[i])
            continue;
        while (j < p->nb && !k->b.p[j])
            j++;
        assert_true(j < p->nb);
        assert_int_equal(p->a[i], p->b[j]);
        j++;
        count++;
    }
    while (j < p->nb)
        assert_false(k->b.p[j++]);
    for (size_t i = 0; i < k->marks.n; i++)
        assert_false(k->marks.p[i]);
    return count;
}

/* The list says of each item once what has become of it, in order; applied to a it gives
 * b. */
static void
check_edits(const struct pair *p, const struct play_kinds *kinds,
            const struct play_edits *e)
{
    size_t a = 0, b = 0;
    uint32_t *made = calloc(p->nb + 1, sizeof(*made));
    assert_non_null(made);
    for (size_t i = 0; i < play_edits_count(e); i++) {
        const struct play_edit *x = play_edit_at(e, i);
        bool is_of_a = x->kind != PLAY_INSERTED && x->kind != PLAY_MOVED_HERE;
        bool is_of_b = x->kind != PLAY_DELETED && x->kind != PLAY_MOVED_AWAY;
        if (is_of_a)
            assert_int_equal(x->a, a++);
        if (is_of_b)
            assert_int_equal(x->b, b++);
        if (x->kind == PLAY_SAME || x->kind == PLAY_MOVED_HERE)
            made[x->b] = p->a[x->a];
        else if (is_of_b)
            made[x->b] = p->b[x->b];
        if (x->kind == PLAY_MOVED_AWAY || x->kind == PLAY_MOVED_HERE)
            assert_int_equal(p->a[x->a], p->b[x->b]);
        if (x->kind == PLAY_CHANGED) {
            assert_int_not_equal(p->a[x->a], p->b[x->b]);
            assert_int_equal(kinds->a[x->a], kinds->b[x->b]);
        }
    }
    assert_int_equal(a, p->na);
    assert_int_equal(b, p->nb);
    assert_int_equal(e->counts[PLAY_MOVED_AWAY], e->counts[PLAY_MOVED_HERE]);
    assert_int_equal(memcmp(made, p->b, p->nb * sizeof(*made)), 0);
    free(made);
}

/* No item is told as gone here and as new there. */
static void
check_moves(const struct pair *p, const struct play_edits *e)
{
    uint8_t *gone = calloc(p->numbers + 1, 1);
    assert_non_null(gone);
    for (size_t i = 0; i < play_edits_count(e); i++)
        if (play_edit_at(e, i)->kind == PLAY_DELETED)
            gone[p->a[play_edit_at(e, i)->a]] = 1;
    for (size_t i = 0; i < play_edits_count(e); i++)
        if (play_edit_at(e, i)->kind == PLAY_INSERTED)
            assert_false(gone[p->b[play_edit_at(e, i)->b]]);
    free(gone);
}

static void
small_pairs_keep_as_much_as_can_be(void **state)
{
    (void)state;
    uint32_t seed = rng_seed(1);
    struct play_kept_items k = { 0 };
    struct play_edits e = { 0 };
    uint32_t a[ITEMS_MAX], b[ITEMS_MAX];
    for (int round = 0; round < 30000; round++) {
        struct pair p = { a, b, rng_next(&seed) % (ITEMS_MAX + 1),
                          rng_next(&seed) % (ITEMS_MAX + 1), 1 + rng_next(&seed) % 12 };
        uint32_t kinds_a[ITEMS_MAX], kinds_b[ITEMS_MAX];
        for (size_t i = 0; i < p.na; i++)
            a[i] = rng_next(&seed) % (uint32_t)p.numbers, kinds_a[i] = a[i] % 3;
        for (size_t i = 0; i < p.nb; i++)
            b[i] = rng_next(&seed) % (uint32_t)p.numbers, kinds_b[i] = b[i] % 3;
        const struct play_kinds kinds = { kinds_a, kinds_b, 3 };
        struct play_align in = input_of(&p);
        assert_int_equal(play_align(&in, &k), 0);
        assert_false(k.is_bounded);
        assert_int_equal(kept_of(&p, &k), longest(&p));
        assert_int_equal(play_edits_make(&in, &kinds, &e), 0);
        assert_int_equal(e.counts[PLAY_SAME], longest(&p));
        check_edits(&p, &kinds, &e);
        check_moves(&p, &e);
    }
    play_kept_items_release(&k);
    play_edits_release(&e);
}

static void
what_is_the_same_has_no_edits(void **state)
{
    (void)state;
    uint32_t items[] = { 0, 1, 1, 2, 0, 3 };
    struct play_kinds kinds = { items, items, 4 };
    struct play_edits e = { 0 };
    for (size_t n = 0; n <= 6; n++) {
        const struct play_align in = { items, items, n, n, 4 };
        assert_int_equal(play_edits_make(&in, &kinds, &e), 0);
        assert_true(play_edits_are_none(&e));
        assert_int_equal(e.same, n);
    }
    play_edits_release(&e);
}

static void
check_script(const char *a, const char *b, const char *want)
{
    uint32_t x[64], y[64], kinds_x[64], kinds_y[64];
    char got[512] = "";
    size_t na = strlen(a), nb = strlen(b), n = 0;
    for (size_t i = 0; i < na; i++) /* small and big letters are two kinds */
        x[i] = (uint8_t)a[i], kinds_x[i] = x[i] < 'a';
    for (size_t i = 0; i < nb; i++)
        y[i] = (uint8_t)b[i], kinds_y[i] = y[i] < 'a';
    const struct play_align in = { x, y, na, nb, 256 };
    const struct play_kinds kinds = { kinds_x, kinds_y, 2 };
    struct play_edits e = { 0 };
    assert_int_equal(play_edits_make(&in, &kinds, &e), 0);
    for (size_t i = 0; i < play_edits_count(&e); i++) {
        const struct play_edit *t = play_edit_at(&e, i);
        if (t->kind == PLAY_SAME)
            got[n++] = a[t->a];
        else if (t->kind == PLAY_CHANGED)
            n += (size_t)snprintf(got + n, 8, "(%c%c)", a[t->a], b[t->b]);
        else
            n += (size_t)snprintf(got + n, 8, "%c%c", "=-+!<>"[t->kind],
                                  t -> a == PLAY_NO_ITEM ? b[t->b] : a[t->a]);
    }
    assert_string_equal(got, want);
    play_edits_release(&e);
}

static void
known_pairs_have_known_edits(void **state)
{
    (void)state;
    check_script("", "", "");
    check_script("abc", "", "-a-b-c");
    check_script("", "abc", "+a+b+c");
    check_script("abcd", "abXcd", "ab+Xcd");
    check_script("abcd", "abd", "ab-cd");
    check_script("abcd", "abxd", "ab(cx)d");
    check_script("abcd", "abXd", "ab-c+Xd");
    check_script("abcdef", "acdebf", "a<bcde>bf");
    check_script("abcdef", "aebcdf", "a>ebcd<ef");
    check_script("abcd", "xyzw", "(ax)(by)(cz)(dw)");
    check_script("aBc", "xYZz", "(ax)(BY)+Z(cz)");
    check_script("abcdefgh", "axcdefbh", "a<b+xcdef-g>bh");
}

/* -- long ones -- */

struct long_pair {
    struct pair p;
    uint32_t a[LONG], b[LONG + LONG / 8], kinds[LONG + LONG / 8];
};

static void
align_long(struct long_pair *l, const char *what, uint64_t steps_max, size_t kept_min)
{
    struct play_edits e = { 0 };
    const struct play_kinds kinds = { l->kinds, l->kinds, 1 };
    struct play_align in = { l->a, l->b, l->p.na, l->p.nb, l->p.numbers };
    l->p.a = l->a, l->p.b = l->b;
    uint64_t start = clock_mono_ns();
    assert_int_equal(play_edits_make(&in, &kinds, &e), 0);
    print_message("# %s: %llu steps, %.1f ms, %zu kept%s\n", what,
                  (unsigned long long)e.steps, (double)(clock_mono_ns() - start) / 1e6,
                  e.counts[PLAY_SAME], e.is_bounded ? ", bounded" : "");
    check_edits(&l->p, &kinds, &e);
    check_moves(&l->p, &e);
    assert_true(e.steps <= steps_max);
    assert_true(e.counts[PLAY_SAME] >= kept_min);
    play_edits_release(&e);
}

static struct long_pair *
long_pair_new(void)
{
    struct long_pair *l = calloc(1, sizeof(*l));
    assert_non_null(l);
    l->p.na = l->p.nb = LONG;
    return l;
}

static void
long_pairs_take_bounded_work(void **state)
{
    (void)state;
    enum { BOUND = 300 * 1000 * 1000 };
    struct long_pair *l = long_pair_new();
    uint32_t seed = rng_seed(7);
    /* a shuffle of the other */
    l->p.numbers = LONG;
    for (uint32_t i = 0; i < LONG; i++)
        l->a[i] = l->b[i] = i;
    for (size_t i = LONG - 1; i; i--) {
        size_t j = rng_next(&seed) % (i + 1);
        uint32_t t = l->b[i];
        l->b[i] = l->b[j];
        l->b[j] = t;
    }
    align_long(l, "a shuffle", BOUND, 50);
    /* few kinds of items, at random: two such share about 65 % for two kinds */
    static const struct {
        uint32_t numbers;
        size_t kept;
    } all[] = { { 2, 7500 }, { 10, 4000 }, { 300, 700 }, { 3000, 150 } };
    for (size_t i = 0; i < sizeof(all) / sizeof(all[0]); i++) {
        char what[64];
        (void)snprintf(what, sizeof(what), "%u numbers at random", all[i].numbers);
        l->p.numbers = all[i].numbers;
        for (size_t k = 0; k < LONG; k++) {
            l->a[k] = rng_below(&seed, all[i].numbers);
            l->b[k] = rng_below(&seed, all[i].numbers);
        }
        align_long(l, what, BOUND, all[i].kept);
    }
    /* backwards, and a period that does not quite fit */
    l->p.numbers = LONG;
    for (uint32_t i = 0; i < LONG; i++)
        l->a[i] = i, l->b[i] = LONG - 1 - i;
    align_long(l, "backwards", BOUND, 1);
    l->p.numbers = 100;
    for (uint32_t i = 0; i < LONG; i++)
        l->a[i] = i % 100, l->b[i] = (i + i / 331) % 100;
    align_long(l, "a period that slips", BOUND, 9000);
    free(l);
}

static void
nothing_in_common_takes_next_to_no_work(void **state)
{
    (void)state;
    struct long_pair *l = long_pair_new();
    l->p.numbers = (size_t)2 * LONG;
    for (uint32_t i = 0; i < LONG; i++)
        l->a[i] = i, l->b[i] = LONG + i;
    align_long(l, "nothing in common", 100 * (uint64_t)LONG, 0);
    free(l);
}

static void
few_edits_take_little_work(void **state)
{
    (void)state;
    struct long_pair *l = long_pair_new();
    uint32_t seed = rng_seed(3);
    uint32_t n = 0;
    l->p.numbers = (size_t)2 * LONG;
    for (uint32_t i = 0; i < LONG; i++)
        l->a[i] = i % 700;
    for (uint32_t i = 0; i < LONG; i++) { /* 1 in 100 is gone, new or another */
        uint64_t what = rng_next(&seed) % 300;
        if (what > 0)
            l->b[n++] = what == 1 ? LONG + i : l->a[i];
        if (what == 2)
            l->b[n++] = i % 500;
    }
    l->p.nb = n;
    align_long(l, "few edits", 200 * (uint64_t)LONG, LONG - LONG / 50);
    free(l);
}

static void
texts_have_the_same_number_when_they_are_the_same(void **state)
{
    (void)state;
    uint32_t seed = rng_seed(5);
    for (int round = 0; round < 2000; round++) {
        uint8_t bytes[64];
        struct view keys[40];
        uint32_t numbers[40] = { 0 };
        size_t count = rng_next(&seed) % 40;
        uint32_t top = 0;
        for (size_t i = 0; i < sizeof(bytes); i++)
            bytes[i] = (uint8_t)(rng_next(&seed) & 1);
        for (size_t i = 0; i < count; i++)
            keys[i] = (struct view){ bytes + rng_next(&seed) % 32, rng_next(&seed) % 12 };
        int64_t got = play_classes(keys, count, numbers);
        for (size_t i = 0; i < count; i++) {
            top = numbers[i] >= top ? numbers[i] + 1 : top;
            for (size_t j = 0; j < count; j++)
                assert_int_equal(numbers[i] == numbers[j],
                                 keys[i].n == keys[j].n &&
                                     !memcmp(keys[i].p, keys[j].p, keys[i].n));
        }
        assert_int_equal(got, top);
    }
}

int
main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(small_pairs_keep_as_much_as_can_be),
        cmocka_unit_test(what_is_the_same_has_no_edits),
        cmocka_unit_test(known_pairs_have_known_edits),
        cmocka_unit_test(long_pairs_take_bounded_work),
        cmocka_unit_test(nothing_in_common_takes_next_to_no_work),
        cmocka_unit_test(few_edits_take_little_work),
        cmocka_unit_test(texts_have_the_same_number_when_they_are_the_same),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
