/* SPDX-License-Identifier: MIT */
/*
 * protect_test.c -- which sessions are not to be deleted: on small trees whose answer is
 * plain, and on thousands of random ones against another way of finding out, with
 * circles, sessions that are their own parent, and parents that are not there.
 */
#include "library/protect.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "support/kit.h"
#include "support/rng.h"

enum { KIN_MAX = 24 };

static void
judge(const struct library_kin *list, size_t n, const enum library_guard *want)
{
    struct library_verdict got[KIN_MAX];
    assert_int_equal(library_protect(list, n, got), 0);
    for (size_t i = 0; i < n; i++)
        assert_int_equal(got[i].guard, want[i]);
}

static void
nothing_is_protected_where_nothing_is_active(void **state)
{
    const struct library_kin list[] = { { .id = "a" }, { .id = "b", .parent = "a" } };
    (void)state;
    judge(list, 2, (enum library_guard[]){ LIBRARY_GUARD_NONE, LIBRARY_GUARD_NONE });
    judge(list, 0, NULL);
}

static void
what_an_active_one_descends_from_is(void **state)
{
    const struct library_kin list[] = {
        { .id = "root" },
        { .id = "resumed", .parent = "root" },
        { .id = "child", .parent = "gone", .resumed_from = "resumed" },
        { .id = "sibling", .parent = "root" },
        { .id = "active", .parent = "child", .is_active = true },
        { .id = "below", .parent = "active" },
    };
    struct library_verdict got[6];
    (void)state;
    judge(list, 6,
          (enum library_guard[]){ LIBRARY_GUARD_ANCESTOR, LIBRARY_GUARD_ANCESTOR,
                                  LIBRARY_GUARD_ANCESTOR, LIBRARY_GUARD_NONE,
                                  LIBRARY_GUARD_ACTIVE, LIBRARY_GUARD_NONE });
    assert_int_equal(library_protect(list, 6, got), 0);
    assert_int_equal(got[0].heir, 4);
}

static void
a_manager_is_in_any_case(void **state)
{
    const struct library_kin list[] = {
        { .id = "a", .role = "MANAGER" },  { .id = "b", .role = "Manager" },
        { .id = "c", .role = "manager" },  { .id = "d", .role = "MANAGERS" },
        { .id = "e", .role = " MANAGER" }, { .id = "f", .role = "" },
    };
    (void)state;
    judge(list, 6,
          (enum library_guard[]){ LIBRARY_GUARD_MANAGER, LIBRARY_GUARD_MANAGER,
                                  LIBRARY_GUARD_MANAGER, LIBRARY_GUARD_NONE,
                                  LIBRARY_GUARD_NONE, LIBRARY_GUARD_NONE });
}

static void
a_circle_of_parents_ends(void **state)
{
    const struct library_kin list[] = {
        { .id = "a", .parent = "c" },
        { .id = "b", .parent = "a", .is_active = true },
        { .id = "c", .parent = "b" },
        { .id = "d", .parent = "d", .resumed_from = "d" },
        { .id = "e", .parent = "e", .is_active = true },
    };
    (void)state;
    judge(list, 5,
          (enum library_guard[]){ LIBRARY_GUARD_ANCESTOR, LIBRARY_GUARD_ACTIVE,
                                  LIBRARY_GUARD_ANCESTOR, LIBRARY_GUARD_NONE,
                                  LIBRARY_GUARD_ACTIVE });
}

static void
a_chain_of_a_hundred_thousand_is_walked(void **state)
{
    enum { COUNT = 100000 };
    struct library_kin *list = calloc(COUNT, sizeof(*list));
    struct library_verdict *got = calloc(COUNT, sizeof(*got));
    char(*ids)[8] = calloc(COUNT, sizeof(*ids));
    (void)state;
    assert_non_null(list);
    assert_non_null(got);
    assert_non_null(ids);
    for (unsigned i = 0; i < COUNT; i++) {
        snprintf(ids[i], sizeof(ids[i]), "%u", i);
        list[i] = (struct library_kin){ .id = ids[i],
                                        .parent = i ? ids[i - 1] : NULL,
                                        .is_active = i == COUNT - 2 };
    }
    assert_int_equal(library_protect(list, COUNT, got), 0);
    assert_int_equal(got[0].guard, LIBRARY_GUARD_ANCESTOR);
    assert_int_equal(got[0].heir, COUNT - 2);
    assert_int_equal(got[COUNT - 1].guard, LIBRARY_GUARD_NONE);
    free(list);
    free(got);
    free(ids);
}

/* -- random ones -- */

struct forest {
    struct library_kin kin[KIN_MAX];
    char ids[KIN_MAX][32];
    size_t count;
    bool descends[KIN_MAX][KIN_MAX]; /* [a][b]: a descends from b */
};

/* Of any of them, itself and those that come later too; or of one that is not there. */
static const char *
any_id(struct forest *f, uint32_t *rng)
{
    static const char *const missing[] = { "gone", "", "../up" };
    uint32_t dice = rng_below(rng, 10);
    if (dice < 3)
        return NULL;
    if (dice == 3)
        return missing[rng_below(rng, 3)];
    return f->ids[rng_below(rng, (uint32_t)f->count)];
}

static void
grow(struct forest *f, uint32_t *rng)
{
    static const char *const roles[] = { NULL, NULL, NULL, "DEVELOPER", "manager" };
    f->count = rng_between(rng, 1, KIN_MAX);
    bool is_tree = rng_below(rng, 2); /* else there may be circles */
    for (size_t i = 0; i < f->count; i++)
        snprintf(f->ids[i], sizeof(f->ids[i]), "%02u-%zu", rng_below(rng, 100), i);
    for (size_t i = 0; i < f->count; i++)
        f->kin[i] = (struct library_kin){
            .id = f->ids[i],
            .parent = is_tree ? i ? f->ids[rng_below(rng, (uint32_t)i)] : NULL
                              : any_id(f, rng),
            .resumed_from = rng_below(rng, 4) ? NULL : any_id(f, rng),
            .role = roles[rng_below(rng, 5)],
            .is_active = rng_below(rng, 8) == 0,
        };
}

static bool
is_called(const char *said, const char *id)
{
    return said && !strcmp(said, id);
}

/* Whatever can be put together from two steps is a step, until there are no more. */
static void
close_over(struct forest *f)
{
    memset(f->descends, 0, sizeof(f->descends));
    for (size_t a = 0; a < f->count; a++)
        for (size_t b = 0; b < f->count; b++)
            f->descends[a][b] = is_called(f->kin[a].parent, f->ids[b]) ||
                                is_called(f->kin[a].resumed_from, f->ids[b]);
    for (size_t by = 0; by < f->count; by++)
        for (size_t a = 0; a < f->count; a++)
            for (size_t b = 0; b < f->count; b++)
                f->descends[a][b] |= f->descends[a][by] && f->descends[by][b];
}

static bool
has_active_heir(const struct forest *f, size_t at)
{
    for (size_t a = 0; a < f->count; a++)
        if (f->kin[a].is_active && f->descends[a][at])
            return true;
    return false;
}

static void
check(const struct forest *f, size_t at, struct library_verdict got)
{
    const struct library_kin *k = &f->kin[at];
    bool is_manager = k->role && !strcmp(k->role, "manager");
    enum library_guard want = k->is_active             ? LIBRARY_GUARD_ACTIVE
                              : is_manager             ? LIBRARY_GUARD_MANAGER
                              : has_active_heir(f, at) ? LIBRARY_GUARD_ANCESTOR
                                                       : LIBRARY_GUARD_NONE;
    assert_int_equal(got.guard, want);
    if (want != LIBRARY_GUARD_ANCESTOR)
        return;
    assert_true(got.heir < f->count && f->kin[got.heir].is_active);
    assert_true(f->descends[got.heir][at]);
}

static void
random_trees_are_judged_as_by_the_closure(void **state)
{
    static struct forest f;
    uint32_t rng = rng_seed(12);
    size_t seen[4] = { 0 };
    (void)state;
    for (int round = 0; round < 20000; round++) {
        struct library_verdict got[KIN_MAX];
        grow(&f, &rng);
        close_over(&f);
        assert_int_equal(library_protect(f.kin, f.count, got), 0);
        for (size_t i = 0; i < f.count; i++) {
            check(&f, i, got[i]);
            seen[got[i].guard]++;
        }
    }
    for (size_t i = 0; i < 4; i++) /* each kind has come, and often */
        assert_true(seen[i] > 1000);
}

int
main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(nothing_is_protected_where_nothing_is_active),
        cmocka_unit_test(what_an_active_one_descends_from_is),
        cmocka_unit_test(a_manager_is_in_any_case),
        cmocka_unit_test(a_circle_of_parents_ends),
        cmocka_unit_test(a_chain_of_a_hundred_thousand_is_walked),
        cmocka_unit_test(random_trees_are_judged_as_by_the_closure),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
