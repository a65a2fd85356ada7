/* SPDX-License-Identifier: MIT */
/* store_usage_test.c -- what sessions have used; what several repeat counts once. */
#include "support/store_kit.h"

#define DAY 20000

enum { SESSIONS = 4 };

/* -- sessions and their messages -- */

/* Message m of session i: what it has of each, and how far that can be trusted. All have
 * message 1, which session 2 knows best; 2 and 3 are told alike by all who have them. A
 * DONE of session 0 has told 50 more than its messages: of these 20 are in what session 2
 * knows of message 1. Session 1 has told the same, which counts once. */
static const struct told {
    int session;
    uint64_t message;
    unsigned trust;
    const char *model;
    uint64_t day, tokens, span;
    bool is_extra;
} told[] = {
    { 0, 1, 1, "big", DAY, 100, 1, false }, { 0, 2, 1, "big", DAY, 10, 2, false },
    { 0, 77, 1, "big", DAY, 50, 1, true },  { 1, 1, 1, "big", DAY, 100, 4, false },
    { 1, 2, 1, "big", DAY, 10, 4, false },  { 1, 77, 1, "big", DAY, 50, 4, true },
    { 1, 3, 1, "big", DAY, 1, 1, false },   { 1, 0, 1, "big", DAY, 1000, 1, false },
    { 2, 1, 2, "big", DAY, 1, 1, false },   { 2, 1, 2, "big", DAY + 1, 119, 1, false },
    { 3, 1, 0, "small", DAY, 5, 1, false }, { 3, 3, 1, "big", DAY, 1, 1, false },
    { 3, 4, 1, "small", DAY, 7, 1, false }, { 3, 0, 0, "", 0, 3000, 1, false },
};

/* What a thread had used in all: a history has the messages of thread 5 up to 260, and
 * nobody those of thread 6. */
static const struct in_all {
    int session;
    uint64_t thread, tokens;
    bool is_history;
} in_all[] = {
    { 0, 5, 100, false }, { 1, 5, 250, false }, { 1, 5, 300, false }, { 3, 5, 260, true },
    { 2, 6, 70, false },  { 0, 6, 90, false },  { 1, 6, 90, false },
};

static void
put(struct store *s, int i)
{
    store_kit_must(store_begin(s, NULL));
    int64_t key = store_kit_fill(s, i, STORE_KIT_START + (uint64_t)i * 1000000000, 0);
    for (size_t n = 0; n < sizeof(told) / sizeof(told[0]); n++) {
        const struct store_message m = {
            .message = told[n].message,
            .trust = told[n].trust,
            .model = told[n].model,
            .day = told[n].day,
            .input_tokens = told[n].tokens,
            .output_tokens = 1,
            .cache_creation_tokens = UINT64_MAX,
            .cache_read_tokens = UINT64_MAX,
            .calls = 1,
            .open_calls = told[n].trust == 0,
            .span = told[n].span,
            .is_extra = told[n].is_extra,
        };
        if (told[n].session == i)
            store_kit_must(store_message_put(s, key, &m, NULL));
    }
    for (size_t n = 0; n < sizeof(in_all) / sizeof(in_all[0]); n++) {
        const struct store_total t = {
            .thread = in_all[n].thread,
            .is_history = in_all[n].is_history,
            .model = "big",
            .day = DAY,
            .input_tokens = in_all[n].tokens,
            .output_tokens = UINT64_MAX,
            .cache_creation_tokens = UINT64_MAX,
            .cache_read_tokens = UINT64_MAX,
            .calls = 1,
        };
        if (in_all[n].session == i)
            store_kit_must(store_total_put(s, key, &t, NULL));
    }
    store_kit_must(store_messages_settle(s, key, NULL));
    store_kit_must(store_commit(s, NULL));
}

static void
drop(struct store *s, int i)
{
    store_kit_must(store_begin(s, NULL));
    store_kit_must(store_session_delete(s, store_kit_id(i), NULL));
    store_kit_must(store_commit(s, NULL));
}

static int
add_row(void *ctx, const struct store_usage *row)
{
    char *to = ctx;
    size_t at = strlen(to);
    assert_int_equal(row->cache_read_tokens, UINT64_MAX);
    (void)snprintf(to + at, 1024 - at, "%.2s%s%s/%d %d%s ",
                   row->group ? row->group + strlen(row->group) - 2 : "",
                   row->group ? " " : "", row->model ? row->model : "-",
                   row->day ? (int)(row->day - DAY) : -1, (int)row->input_tokens,
                   row->open_calls ? "+" : "");
    return 1;
}

static const char *
used(struct store *s, enum store_usage_by by, const char *id, uint64_t since_day)
{
    static char text[1024];
    const struct store_usage_filter filter = { id, since_day };
    text[0] = 0;
    store_kit_must(store_usage(s, by, &filter, add_row, text, NULL));
    return text;
}

static uint64_t
repeats(struct store *s, int i)
{
    uint64_t n = 99;
    store_kit_must(store_repeats(s, store_kit_id(i), &n, NULL));
    return n;
}

/* -- tests -- */

static void
the_best_known_counts_and_of_several_the_first(void **state)
{
    (void)state;
    struct store *s = store_kit_open(STORE_WRITE);
    for (int i = 0; i < SESSIONS; i++)
        put(s, i);
    assert_string_equal(used(s, STORE_BY_SESSION, store_kit_id(0), 0), "00 big/-1 60 ");
    assert_string_equal(used(s, STORE_BY_SESSION, store_kit_id(1), 0), "01 big/-1 1041 ");
    assert_string_equal(used(s, STORE_BY_SESSION, store_kit_id(2), 0), "02 big/-1 190 ");
    assert_string_equal(used(s, STORE_BY_DAY, NULL, 0),
                        "-/-1 3000+ big/0 1172 small/0 7 big/1 119 ");
    assert_string_equal(used(s, STORE_BY_DAY, NULL, DAY + 1), "big/1 119 ");
    assert_int_equal(repeats(s, 0), 1);
    assert_int_equal(repeats(s, 1), 2);
    assert_int_equal(repeats(s, 2), 0);
    assert_int_equal(repeats(s, 3), 2);
    store_kit_must(store_check(s, NULL));
    store_close(s);
}

/* Whatever was there meanwhile: the same sessions, the same sums. */
static void
assert_like(struct store *s, const char *const want[1 << SESSIONS], unsigned there)
{
    assert_string_equal(used(s, STORE_BY_SESSION, NULL, 0), want[there]);
    store_kit_must(store_check(s, NULL));
}

static void
every_order_of_coming_and_going_gives_the_same(void **state)
{
    (void)state;
    char *want[1 << SESSIONS] = { 0 };
    struct store *s = store_kit_open(STORE_WRITE);
    for (int i = 0; i < SESSIONS; i++)
        drop(s, i);
    for (unsigned set = 0; set < 1 << SESSIONS; set++) {
        for (int i = 0; i < SESSIONS; i++)
            if (set >> i & 1)
                put(s, i);
        want[set] = strdup(used(s, STORE_BY_SESSION, NULL, 0));
        for (int i = 0; i < SESSIONS; i++)
            drop(s, i);
        assert_string_equal(used(s, STORE_BY_SESSION, NULL, 0), "");
    }
    unsigned there = 0;
    uint32_t random = 4711;
    for (int step = 0; step < 400; step++) {
        random = random * 1664525 + 1013904223;
        int i = (int)(random >> 16) % SESSIONS;
        if (there >> i & 1)
            drop(s, i);
        else
            put(s, i);
        there ^= 1U << i;
        assert_like(s, (const char *const *)want, there);
    }
    for (unsigned set = 0; set < 1 << SESSIONS; set++)
        free(want[set]);
    store_close(s);
}

static void
a_session_that_is_not_indexed_is_missing(void **state)
{
    (void)state;
    struct store *s = store_kit_open(STORE_WRITE);
    const struct store_usage_filter filter = { store_kit_id(77), 0 };
    struct err err = { 0 };
    uint64_t n;
    assert_int_equal(store_usage(s, STORE_BY_DAY, &filter, add_row, NULL, &err),
                     ERR_MISSING);
    assert_int_equal(store_repeats(s, store_kit_id(77), &n, &err), ERR_MISSING);
    store_close(s);
}

static int
keep_row(void *ctx, const struct store_usage *row)
{
    assert_string_equal(row->model, "m");
    *(struct store_usage *)ctx = *row;
    return 1;
}

static void
numbers_beyond_all_are_large_and_no_error(void **state)
{
    (void)state;
    struct store *s = store_kit_open(STORE_WRITE);
    struct store_usage row = { 0 };
    store_kit_must(store_begin(s, NULL));
    int64_t key = store_kit_fill(s, 9, STORE_KIT_START, 0);
    for (uint64_t i = 1; i < 4; i++) {
        const struct store_message m = { .message = UINT64_MAX - i,
                                         .model = "m",
                                         .input_tokens = UINT64_MAX - 1,
                                         .cache_read_tokens = UINT64_MAX,
                                         .calls = UINT64_MAX - 1 };
        store_kit_must(store_message_put(s, key, &m, NULL));
    }
    store_kit_must(store_messages_settle(s, key, NULL));
    store_kit_must(store_commit(s, NULL));
    const struct store_usage_filter filter = { store_kit_id(9), 0 };
    assert_int_equal(store_usage(s, STORE_BY_MODEL, &filter, keep_row, &row, NULL), 0);
    assert_true(row.input_tokens == INT64_MAX);
    assert_true(row.output_tokens == 0);
    assert_true(row.cache_read_tokens == UINT64_MAX); /* not known */
    assert_true(row.calls == INT64_MAX);
    drop(s, 9);
    store_close(s);
}

int
main(void)
{
    const struct CMUnitTest tests[] = {
        KIT_IN_DIR(the_best_known_counts_and_of_several_the_first),
        KIT_IN_DIR(every_order_of_coming_and_going_gives_the_same),
        KIT_IN_DIR(a_session_that_is_not_indexed_is_missing),
        KIT_IN_DIR(numbers_beyond_all_are_large_and_no_error),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
