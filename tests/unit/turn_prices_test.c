/* SPDX-License-Identifier: MIT */
/* turn_prices_test.c -- what tokens cost, by a list; and how vendors count them. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include "turn/prices.h"
#include "turn/vendor.h"

#define NONE TURN_UNKNOWN

static struct view
view_of(const char *text)
{
    return (struct view){ (const uint8_t *)text, strlen(text) };
}

static void
add(struct turn_prices *p, const char *text)
{
    struct err err = { 0 };
    if (turn_prices_add(p, view_of(text), "list", &err) < 0)
        fail_msg("%s", err.text);
}

/* Of a million tokens of input, in dollars; -1: not known. */
static int
price_of(const struct turn_prices *p, const char *model)
{
    uint64_t cost = turn_prices_cost(p, view_of(model),
                                     (struct turn_usage){ 1000000, 0, NONE, NONE });
    return cost == NONE ? -1 : (int)(cost / TURN_DOLLAR);
}

static void
the_longest_name_that_ends_where_one_may_end_is_taken(void **state)
{
    (void)state;
    struct turn_prices p = { 0 };
    add(&p, "gpt-5 1 1 1 1\ngpt-5-codex 2 1 1 1\r\n# remark\n\n"
            "  claude-opus-4-5\t3 1 1 1 # more\ngemini-2.5-pro 4 1 1 1\ngpt-5.1 5 1 1 1");
    assert_int_equal(price_of(&p, "gpt-5"), 1);
    assert_int_equal(price_of(&p, "gpt-5-2025-08-07"), 1);
    assert_int_equal(price_of(&p, "GPT-5-Codex"), 2);
    assert_int_equal(price_of(&p, "gpt-5-codex:high"), 2);
    assert_int_equal(price_of(&p, "gpt-5-codexx"), 1);
    assert_int_equal(price_of(&p, "gpt-50"), -1);
    assert_int_equal(price_of(&p, "gpt-5.1-codex"), 5);
    assert_int_equal(price_of(&p, "gpt-5.2"), -1);
    assert_int_equal(price_of(&p, "claude-opus-4-5-20251101"), 3);
    assert_int_equal(price_of(&p, "claude-opus-4-5@20251101"), 3);
    assert_int_equal(price_of(&p, "claude-opus-4.5[1m]"), 3);
    assert_int_equal(price_of(&p, "claude-opus-4-51"), -1);
    assert_int_equal(price_of(&p, "claude-opus-4"), -1);
    assert_int_equal(price_of(&p, "gemini-2.5-pro"), 4);
    assert_int_equal(price_of(&p, ""), -1);
    turn_prices_release(&p);
}

static void
a_version_is_not_cut(void **state)
{
    (void)state;
    struct turn_prices p = { 0 };
    add(&p, "claude-opus-4 3 1 1 1\ngpt-5 1 1 1 1\nmy 2 1 1 1\ngemini-2.0-flash 4 1 1 1");
    assert_int_equal(price_of(&p, "claude-opus-4"), 3);
    assert_int_equal(price_of(&p, "claude-opus-4-20250514"), 3);
    assert_int_equal(price_of(&p, "claude-opus-4@20250514"), 3);
    assert_int_equal(price_of(&p, "claude-opus-4:thinking"), 3);
    assert_int_equal(price_of(&p, "claude-opus-4-latest"), 3);
    assert_int_equal(price_of(&p, "claude-opus-4-5"), -1);
    assert_int_equal(price_of(&p, "claude-opus-4.5"), -1);
    assert_int_equal(price_of(&p, "claude-opus-4-5-20251101"), -1);
    assert_int_equal(price_of(&p, "claude-opus-4-10@20251101"), -1);
    assert_int_equal(price_of(&p, "gpt-5-2025-08-07"), 1);
    assert_int_equal(price_of(&p, "gpt-5-2"), -1);
    assert_int_equal(price_of(&p, "gpt-5-4b"), 1);
    assert_int_equal(price_of(&p, "my-2-model"), 2);
    assert_int_equal(price_of(&p, "gemini-2.0-flash-001"), 4);
    turn_prices_release(&p);
}

static void
who_provides_a_model_does_not_matter(void **state)
{
    (void)state;
    struct turn_prices p = { 0 };
    add(&p, "claude-opus-4-5 3 1 1 1\ngpt-4.1 2 2 2 2\n");
    assert_int_equal(price_of(&p, "anthropic/claude-opus-4-5"), 3);
    assert_int_equal(price_of(&p, "openrouter/anthropic/claude-opus-4.5"), 3);
    assert_int_equal(price_of(&p, "us.anthropic.claude-opus-4-5-20251101-v1:0"), 3);
    assert_int_equal(price_of(&p, "us-gov.anthropic.claude-opus-4-5"), 3);
    assert_int_equal(price_of(&p, "openai/gpt-4.1"), 2);
    assert_int_equal(price_of(&p, "my-claude-opus-4-5"), -1);
    assert_int_equal(price_of(&p, "anthropic/"), -1);
    assert_int_equal(price_of(&p, "a."), -1);
    turn_prices_release(&p);
}

static void
names_in_a_list_may_have_it_too(void **state)
{
    (void)state;
    static const char *const all[] = {
        "claude-opus-4-5",
        "anthropic/claude-opus-4.5",
        "us.anthropic.claude-opus-4-5-20251101-v1:0",
        "arn:aws:bedrock:eu-central-1:1:x/eu.anthropic.claude-opus-4-5-20251101-v1:0",
    };
    for (size_t i = 0; i < sizeof(all) / sizeof(all[0]); i++) {
        struct turn_prices p = { 0 };
        AUTO(buf) text = { 0 };
        add(&p, "claude-opus-4-5 3 1 1 1\n");
        buf_printf(&text, "\xef\xbb\xbf%s 7 1 1 1\r\n", all[i]);
        add(&p, buf_str(&text));
        assert_int_equal(price_of(&p, all[i]), 7);
        assert_int_equal(price_of(&p, "claude-opus-4-5-20251101-v1:0"), 7);
        turn_prices_release(&p);
    }
}

static void
what_comes_later_stands_over_what_came_before(void **state)
{
    (void)state;
    struct turn_prices p = { 0 };
    add(&p, "a 1 1 1 1\na-b 2 2 2 2\n");
    add(&p, "a 3 3 3 3\n");
    assert_int_equal(price_of(&p, "a"), 3);
    assert_int_equal(price_of(&p, "a-b"), 2);
    turn_prices_release(&p);
}

static void
costs_are_exact(void **state)
{
    (void)state;
    struct turn_prices p = { 0 };
    const struct turn_usage one = { 1, 1, 1, 1 }, many = { 123, 45, 6, 7 };
    add(&p, "a 0.1 0.2 0.000001 1000\n");
    assert_int_equal(turn_prices_cost(&p, view_of("a"), one),
                     100000 + 200000 + 1 + 1000000000);
    assert_int_equal(turn_prices_cost(&p, view_of("a"), many),
                     12300000 + 9000000 + 6 + UINT64_C(7000000000));
    turn_prices_release(&p);
}

static void
a_price_that_there_is_not_matters_where_there_are_tokens(void **state)
{
    (void)state;
    struct turn_prices p = { 0 };
    add(&p, "a 1 - 1 -\n");
    struct turn_usage u = { 1000000, 0, NONE, NONE };
    assert_int_equal(turn_prices_cost(&p, view_of("a"), u), TURN_DOLLAR);
    u.cache_read_tokens = 1;
    assert_int_equal(turn_prices_cost(&p, view_of("a"), u), NONE);
    assert_int_equal(turn_prices_cost(&p, view_of("b"), (struct turn_usage){ 0 }), 0);
    assert_int_equal(turn_prices_cost(&p, view_of("b"), u), NONE);
    turn_prices_release(&p);
}

static void
costs_beyond_all_do_not_wrap(void **state)
{
    (void)state;
    struct turn_prices p = { 0 };
    add(&p, "a 1000000 1000000 1 1\n");
    const struct turn_usage u = { NONE - 1, NONE - 1, NONE - 1, 5 };
    assert_int_equal(turn_prices_cost(&p, view_of("a"), u), NONE - 1);
    turn_prices_release(&p);
}

static void
a_bad_line_is_told_with_its_number_and_nothing_is_added(void **state)
{
    (void)state;
    static const char *const bad[] = {
        "b",           "b 1 2 3",      "b 1 2 3 4 5",
        "b -1 2 3 4",  "b 1 2 3 x",    "b 1 2 3 $4",
        "b 1 2 3 1e9", "b 1 2 3 nan",  "b 1 2 3 0.0000001",
        "b 1 2 3 0x1", "b 1 2 3 1e-9", "b 1 2 3 1E2",
        "b/ 1 2 3 4",  "b. 1 2 3 4",
    };
    struct turn_prices p = { 0 };
    add(&p, "a 1 1 1 1\n");
    for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++) {
        struct err err = { 0 };
        AUTO(buf) text = { 0 };
        buf_printf(&text, "# one\na 9 9 9 9\n%s\nc 1 1 1 1\n", bad[i]);
        assert_int_equal(
            turn_prices_add(&p, (struct view){ text.p, text.n }, "list", &err),
            ERR_USAGE);
        assert_int_equal(strncmp(err.text, "list:3: ", 8), 0);
        assert_int_equal(price_of(&p, "a"), 1);
    }
    turn_prices_release(&p);
}

static void
the_list_that_comes_with_ahr_is_good(void **state)
{
    (void)state;
    /* What goes on with another word is another model. */
    static const struct {
        const char *model;
        int dollars; /* for input; -1: not sure */
    } all[] = {
        { "claude-opus-4-8", 5 },
        { "claude-opus-4-8[1m]", 5 },
        { "claude-opus-4-6-fast", -1 },
        { "claude-opus-4-5-20251101", 5 },
        { "claude-opus-4-1-20250805", 15 },
        { "claude-opus-4-20250514", 15 },
        { "claude-opus-4@20250514", 15 },
        { "claude-opus-4-0", 15 },
        { "claude-opus-4-99", -1 },
        { "us.anthropic.claude-sonnet-4-20250514-v1:0", 3 },
        { "claude-sonnet-4@20250514", 3 },
        { "anthropic/claude-sonnet-4", 3 },
        { "anthropic/claude-sonnet-4.9", -1 },
        { "anthropic/claude-3.7-sonnet:thinking", 3 },
        { "gpt-5-2025-08-07", 1 },
        { "gpt-5-chat-latest", 1 },
        { "gpt-5.1-codex-max", 1 },
        { "gpt-5-codex-mini", -1 },
        { "gpt-5-image-mini", -1 },
        { "gpt-5-search-api-2025-10-14", -1 },
        { "gpt-5.2-pro", 21 },
        { "gpt-6", -1 },
        { "gpt-4o-2024-11-20", 2 },
        { "gpt-4o-2024-05-13", 5 },
        { "gpt-4o-audio-preview", -1 },
        { "gpt-4o-realtime-preview-2024-12-17", -1 },
        { "gpt-4o-search-preview", -1 },
        { "gpt-4o-transcribe-diarize", -1 },
        { "openai/gpt-4o:extended", -1 },
        { "gpt-4o-mini-realtime-preview", -1 },
        { "gpt-4o-mini-tts", -1 },
        { "o3-2025-04-16", 2 },
        { "o3-deep-research-2025-06-26", 10 },
        { "o4-mini-deep-research", 2 },
        { "gemini-3-pro-preview", 2 },
        { "gemini-3-pro-image-preview", -1 },
        { "gemini-2.5-pro-preview-05-06", 1 },
        { "gemini-2.5-pro-preview-tts", -1 },
        { "gemini-2.0-flash-exp:free", -1 },
        { "gemini-2.0-flash-live-001", -1 },
        { "gemini-2.5-flash-image", -1 },
        { "gemini-2.5-flash-preview-09-2025", 0 },
        { "gemini-2.5-flash-preview-05-20", -1 },
        { "gemini-2.5-flash-preview-native-audio-dialog", -1 },
        { "gemini-2.5-flash-native-audio-preview-09-2025", -1 },
        { "gemini-2.0-flash-001", 0 },
    };
    struct turn_prices p = { 0 };
    struct err err = { 0 };
    const struct view text = { (const uint8_t *)turn_prices_builtin,
                               turn_prices_builtin_size };
    if (turn_prices_add(&p, text, "prices.txt", &err) < 0)
        fail_msg("%s", err.text);
    for (size_t i = 0; i < sizeof(all) / sizeof(all[0]); i++)
        if (price_of(&p, all[i].model) != all[i].dollars)
            fail_msg("%s: %d", all[i].model, price_of(&p, all[i].model));
    turn_prices_release(&p);
}

/* -- vendors -- */

static void
assert_vendor(const char *agent, struct turn_usage u, const char *want)
{
    struct turn_vendor_number n[TURN_VENDOR_NUMBERS];
    AUTO(buf) text = { 0 };
    size_t count = turn_vendor_usage(agent, u, n);
    for (size_t i = 0; i < count; i++)
        buf_printf(&text, "%s=%lld ", n[i].name,
                   n[i].n == NONE ? -1LL : (long long)n[i].n);
    assert_string_equal(buf_str(&text), want);
}

static void
vendors_get_the_numbers_that_they_told(void **state)
{
    (void)state;
    const struct turn_usage u = { 3000, 66, 0, 300 };
    assert_vendor("codex", u,
                  "input_tokens=3300 cached_input_tokens=300 output_tokens=66 ");
    assert_vendor("gemini", u, "input_tokens=3300 cached=300 output_tokens=66 ");
    assert_vendor("claude", u,
                  "input_tokens=3000 output_tokens=66 cache_creation_input_tokens=0 "
                  "cache_read_input_tokens=300 ");
    assert_vendor(NULL, (struct turn_usage){ NONE, 1, NONE, NONE },
                  "input_tokens=-1 output_tokens=1 cache_creation_input_tokens=-1 "
                  "cache_read_input_tokens=-1 ");
    assert_vendor("codex", (struct turn_usage){ 100, 1, NONE, 300 }, /* side by side */
                  "input_tokens=400 cached_input_tokens=300 output_tokens=1 ");
    assert_vendor("codex", (struct turn_usage){ 5, 1, NONE, NONE },
                  "input_tokens=5 cached_input_tokens=-1 output_tokens=1 ");
}

int
main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_longest_name_that_ends_where_one_may_end_is_taken),
        cmocka_unit_test(a_version_is_not_cut),
        cmocka_unit_test(who_provides_a_model_does_not_matter),
        cmocka_unit_test(names_in_a_list_may_have_it_too),
        cmocka_unit_test(what_comes_later_stands_over_what_came_before),
        cmocka_unit_test(costs_are_exact),
        cmocka_unit_test(a_price_that_there_is_not_matters_where_there_are_tokens),
        cmocka_unit_test(costs_beyond_all_do_not_wrap),
        cmocka_unit_test(a_bad_line_is_told_with_its_number_and_nothing_is_added),
        cmocka_unit_test(the_list_that_comes_with_ahr_is_good),
        cmocka_unit_test(vendors_get_the_numbers_that_they_told),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
