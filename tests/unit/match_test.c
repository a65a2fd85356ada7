/* SPDX-License-Identifier: MIT */
/* match_test.c -- requests that ask the same though their bytes differ, and requests that
 * do not. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>

#include <cmocka.h>

#include "support/match_kit.h"
#include "support/rng.h"
#include "support/text_view.h"

#define UUID_1 "550e8400-e29b-41d4-a716-446655440000"
#define UUID_2 "6ba7b810-9dad-11d1-80b4-00c04fd430c8"
#define HASH_1 "9fceb02d0ae598e95dc970b74767f19372d61af8"
#define HASH_2 "1b6453892473a467d07372d45eb05abc2031647a"
#define TOOL_1 "toolu_01A09q90qw90lq917835lq9x"
#define TOOL_2 "toolu_01Gd7YtRmV3xPq5cKw2LnB8f"
#define TOOL_3 "toolu_01Zs4HkUjX6bTe9vNy1MfC3p"

struct pair {
    const char *a, *b;
};

static void
assert_all(const struct pair *pairs, size_t count, bool same)
{
    for (size_t i = 0; i < count; i++)
        if (match_is_same(match_message(pairs[i].a), match_message(pairs[i].b)) != same)
            fail_msg("%s:\n%s\n%s", same ? "not the same" : "the same", pairs[i].a,
                     pairs[i].b);
}

#define ASSERT_SAME(pairs)  assert_all(pairs, sizeof(pairs) / sizeof((pairs)[0]), true)
#define ASSERT_OTHER(pairs) assert_all(pairs, sizeof(pairs) / sizeof((pairs)[0]), false)

/* Each text alone, and in the midst of a string of JSON. */
static void
assert_texts(const struct pair *pairs, size_t count, bool same)
{
    for (size_t i = 0; i < count; i++) {
        AUTO(buf) a = { 0 };
        AUTO(buf) b = { 0 };
        buf_printf(&a, "{\"content\":\"see (%s) here\"}", pairs[i].a);
        buf_printf(&b, "{\"content\":\"see (%s) here\"}", pairs[i].b);
        const struct pair both[] = { pairs[i], { buf_str(&a), buf_str(&b) } };
        assert_all(both, 2, same);
    }
}

#define ASSERT_SAME_TEXTS(pairs) \
    assert_texts(pairs, sizeof(pairs) / sizeof((pairs)[0]), true)
#define ASSERT_OTHER_TEXTS(pairs) \
    assert_texts(pairs, sizeof(pairs) / sizeof((pairs)[0]), false)

static void
assert_normal(const char *body, const char *want)
{
    AUTO(buf) out = { 0 };
    match_normal_body(match_message(body), &out);
    assert_string_equal(buf_str(&out), want);
}

/* -- JSON -- */

static void
members_are_sorted_and_blanks_go(void **state)
{
    (void)state;
    assert_normal(" { \"b\" : [ 1 , 2 ] ,\n\t\"a\" : { \"d\":null,\"c\":true } } ",
                  "{\"a\":{\"c\":true,\"d\":null},\"b\":[1,2]}");
    assert_normal("{}", "{}");
    assert_normal("[[],{}]", "[[],{}]");
    assert_normal("{\"aa\":1,\"a\":2,\"\":3,\"a-\":4}",
                  "{\"\":3,\"a\":2,\"a-\":4,\"aa\":1}");
}

static void
of_a_key_that_comes_twice_the_last_counts(void **state)
{
    (void)state;
    assert_normal("{\"a\":1,\"b\":2,\"a\":{\"c\":3},\"\\u0061\":4}", "{\"a\":4,\"b\":2}");
    assert_normal("{\"id\":\"x1y2z3a4b5\",\"id\":\"x\",\"t\":\"x1y2z3a4b5\"}",
                  "{\"id\":\"x\",\"t\":\"x1y2z3a4b5\"}");
}

static void
one_string_is_written_in_one_way(void **state)
{
    (void)state;
    assert_normal("\"\\u00e9\\/\\u0041\\u000a\\\"\"", "\"\xc3\xa9/A\\n\\\"\"");
    assert_normal("{\"k\\u00e9y\":\"\xf0\x9f\x98\x80\\ud83d\\ude00\"}",
                  "{\"k\xc3\xa9y\":\"\xf0\x9f\x98\x80\xf0\x9f\x98\x80\"}");
}

static void
cache_markers_go_wherever_they_stand(void **state)
{
    (void)state;
    static const struct pair same[] = {
        { "{\"system\":[{\"text\":\"a\",\"cache_control\":{\"type\":\"ephemeral\"}}]}",
          "{\"system\":[{\"text\":\"a\"}]}" },
        { "{\"tools\":[{\"cache_control\":null,\"name\":\"a\"}],\"cache_control\":{}}",
          "{\"tools\":[{\"name\":\"a\"}]}" },
    };
    ASSERT_SAME(same);
}

static void
who_asks_does_not_matter(void **state)
{
    (void)state;
    assert_normal("{\"model\":\"m\",\"metadata\":{\"user_id\":\"u\"},\"user\":\"u\","
                  "\"prompt_cache_key\":\"k\",\"safety_identifier\":\"s\","
                  "\"prompt_cache_retention\":\"24h\",\"service_tier\":\"flex\","
                  "\"store\":true,\"client_metadata\":{\"x\":1}}",
                  "{\"model\":\"m\"}");
    assert_normal("{\"input\":{\"user\":\"u\",\"metadata\":1,\"store\":2}}",
                  "{\"input\":{\"metadata\":1,\"store\":2,\"user\":\"u\"}}");
}

static void
what_is_asked_for_matters(void **state)
{
    (void)state;
    static const struct pair other[] = {
        { "{\"model\":\"a\"}", "{\"model\":\"b\"}" },
        { "{\"model\":\"gpt-4o-2024-08-06\"}", "{\"model\":\"gpt-4o-2024-11-20\"}" },
        { "{\"temperature\":0}", "{\"temperature\":1}" },
        { "{\"temperature\":0.7}", "{\"temperature\":0.8}" },
        { "{\"max_tokens\":1000}", "{\"max_tokens\":1001}" },
        { "{\"stream\":true}", "{\"stream\":false}" },
        { "{\"stream\":true}", "{}" },
        { "{\"content\":\"fix the bug\"}", "{\"content\":\"fix a bug\"}" },
        { "{\"content\":\"a\"}", "{\"content\":\"A\"}" },
        { "{\"content\":\"a b\"}", "{\"content\":\"a  b\"}" },
        { "{\"content\":\"1\"}", "{\"content\":1}" },
        { "{\"content\":null}", "{\"content\":\"\"}" },
        { "{\"content\":[]}", "{\"content\":{}}" },
        { "{\"tools\":[{\"name\":\"a\"}]}",
          "{\"tools\":[{\"name\":\"a\"},{\"name\":\"b\"}]}" },
        { "{\"messages\":[{\"content\":\"a\"},{\"content\":\"b\"}]}",
          "{\"messages\":[{\"content\":\"b\"},{\"content\":\"a\"}]}" },
        { "{\"input\":{\"anthropic_version\":\"v-2023-06-01\"}}",
          "{\"input\":{\"anthropic_version\":\"v-2024-06-01\"}}" },
        { "{\"type\":\"web_search_20250305\"}", "{\"type\":\"web_search_20260209\"}" },
        { "{\"a\":1}", "[1]" },
        { "{\"a\":1}", "" },
    };
    ASSERT_OTHER(other);
}

/* -- ids -- */

#define CALLS(a, b, ra, rb)                                                            \
    "{\"messages\":[{\"content\":[{\"id\":\"" a "\",\"input\":{}},{\"id\":\"" b        \
    "\",\"input\":{}}]},{\"content\":[{\"tool_use_id\":\"" ra "\",\"content\":\"x\"}," \
    "{\"tool_use_id\":\"" rb "\",\"content\":\"y\"}]}]}"

static void
ids_may_be_others_as_long_as_they_pair(void **state)
{
    (void)state;
    static const struct pair same[] = {
        { CALLS(TOOL_1, TOOL_2, TOOL_1, TOOL_2), CALLS(TOOL_3, TOOL_1, TOOL_3, TOOL_1) },
        { CALLS("call-1a2b3c4d", "f47ac10b", "call-1a2b3c4d", "f47ac10b"),
          CALLS("call-9x8y7z6w", "0b1c2d3e", "call-9x8y7z6w", "0b1c2d3e") },
    };
    static const struct pair other[] = {
        { CALLS(TOOL_1, TOOL_2, TOOL_1, TOOL_2), CALLS(TOOL_1, TOOL_2, TOOL_2, TOOL_1) },
        { CALLS(TOOL_1, TOOL_2, TOOL_1, TOOL_2), CALLS(TOOL_1, TOOL_2, TOOL_1, TOOL_1) },
        { CALLS(TOOL_1, TOOL_2, TOOL_1, TOOL_2), CALLS(TOOL_1, TOOL_2, TOOL_1, TOOL_3) },
        { CALLS("a", "b", "a", "b"), CALLS("b", "a", "b", "a") },
    };
    ASSERT_SAME(same);
    ASSERT_OTHER(other);
}

static void
ids_have_numbers_in_the_order_of_the_normal_form(void **state)
{
    (void)state;
    assert_normal("{\"b\":{\"id\":\"" TOOL_1 "\"},\"a\":{\"call_id\":\"" TOOL_2
                  "\",\"b\":\"" TOOL_1 "\"}}",
                  "{\"a\":{\"b\":\"<id1>\",\"call_id\":\"<id2>\"},"
                  "\"b\":{\"id\":\"<id1>\"}}");
}

static size_t
ids_of(const char *body, uint32_t ret[8])
{
    AUTO(buf) out = { 0 };
    AUTO(buf) ids = { 0 };
    struct calls_asked q = match_message(body);
    assert_int_equal(calls_match_normal_ids(&q, &out, &ids), 0);
    size_t n = ids.n / sizeof(*ret);
    assert_true(n <= 8);
    for (size_t i = 0; i < n; i++)
        memcpy(&ret[i], ids.p + i * sizeof(*ret), sizeof(*ret));
    return n;
}

static void
ids_are_told_in_their_order(void **state)
{
    (void)state;
    uint32_t a[8], b[8];
    assert_int_equal(ids_of("{\"a\":1}", a), 0);
    assert_int_equal(ids_of(CALLS(TOOL_1, TOOL_2, TOOL_1, TOOL_2), a), 2);
    assert_int_equal(ids_of(CALLS(TOOL_1, TOOL_3, TOOL_1, TOOL_3), b), 2);
    assert_true(a[0] == b[0] && a[1] != b[1] && a[0] != a[1]);
    assert_int_equal(ids_of(CALLS(TOOL_2, TOOL_1, TOOL_2, TOOL_1), b), 2);
    assert_true(a[0] == b[1] && a[1] == b[0]);
}

static void
members_that_are_ids_are_known_by_their_keys(void **state)
{
    (void)state;
    static const char *const keys[] = {
        "id",         "call_id",    "tool_call_id", "previous_response_id", "sessionId",
        "session_id", "request_id", "threadID",     "conversation",         "container",
        "x-trace-id", "thread",     "cachedContent"
    };
    for (size_t i = 0; i < sizeof(keys) / sizeof(keys[0]); i++) {
        AUTO(buf) body = { 0 };
        AUTO(buf) want = { 0 };
        buf_printf(&body, "{\"%s\":\"a8f3k2l9\"}", keys[i]);
        buf_printf(&want, "{\"%s\":\"<id1>\"}", keys[i]);
        assert_normal(buf_str(&body), buf_str(&want));
    }
    assert_normal("{\"grid\":\"a8f3k2l9\",\"name\":\"a8f3k2l9\"}",
                  "{\"grid\":\"a8f3k2l9\",\"name\":\"a8f3k2l9\"}");
}

static void
an_id_that_somebody_chose_stays(void **state)
{
    (void)state;
    static const char *const chosen[] = { "web_search",  "1",
                                          "call_1",      "user-12",
                                          "getWeather",  "item_0001",
                                          "file.search", "claude-3-5-sonnet-20241022" };
    for (size_t i = 0; i < sizeof(chosen) / sizeof(chosen[0]); i++) {
        AUTO(buf) body = { 0 };
        buf_printf(&body, "{\"id\":\"%s\"}", chosen[i]);
        assert_normal(buf_str(&body), buf_str(&body));
    }
    assert_normal("{\"id\":1234567,\"ids\":[]}", "{\"id\":1234567,\"ids\":[]}");
}

static void
an_id_is_replaced_in_texts_before_and_behind_it(void **state)
{
    (void)state;
    assert_normal("{\"a\":\"as call-1a2b3c4d says, not call-1a2b3c4d-2\","
                  "\"id\":\"call-1a2b3c4d\",\"z\":\"(call-1a2b3c4d)\"}",
                  "{\"a\":\"as <id1> says, not call-1a2b3c4d-2\",\"id\":\"<id1>\","
                  "\"z\":\"(<id1>)\"}");
    /* one of other characters, as a whole */
    assert_normal("{\"a\":\"fn:1a2b3c4d\",\"id\":\"fn:1a2b3c4d\"}",
                  "{\"a\":\"<id1>\",\"id\":\"<id1>\"}");
}

static void
ids_of_vendors_go_from_texts(void **state)
{
    (void)state;
    static const struct pair same[] = {
        { "id " UUID_1, "id " UUID_2 },
        { "user_a_session_" UUID_1, "user_a_session_" UUID_2 },
        { "see " TOOL_1 ".txt", "see " TOOL_2 ".txt" },
        { "msg_01XFDUDYJgAACzvnptvVoYEL", "msg_01Aq9w938a90dw8qsVoYELxy" },
        { "call_a1B2c3D4e5F6g7H8i9J0", "call_k1L2m3N4o5P6q7R8s9T0" },
        { "resp_68a1b2c3d4e5f60718293a4b", "resp_0f1e2d3c4b5a69788796a5b4" },
        { "fc_68a1b2c3d4e5f607", "fc_0f1e2d3c4b5a6978" },
        { "rs_68a1b2c3d4e5f607", "rs_0f1e2d3c4b5a6978" },
        { "req_011CSHoEeqs5C35K2UUqR7Fy", "req_011CTzAyQEHWmCkEM8uZwX4n" },
        { "chatcmpl-B9MBs8CjcvOU2jLn4n570S5q", "chatcmpl-A1b2C3d4E5f6G7h8I9j0K1l2" },
        { "chatcmpl-tool-1a2b3c4d5e6f7a8b", "chatcmpl-tool-9a8b7c6d5e4f3a2b" },
        { "toolu_bdrk_01A09q90qw90lq917835lq9x", "toolu_bdrk_01Zs4HkUjX6bTe9vNy1MfC3p" },
        { "call_abCDeFGhIJkLMnoPQrsTuVWx", "call_zyXWvUTsRQpOnMLkJIhGfeDC" },
        { "commit " HASH_1, "commit " HASH_2 },
        { "a " UUID_1 " b " UUID_1, "a " UUID_2 " b " UUID_2 },
    };
    static const struct pair other[] = {
        { "a " UUID_1 " b " UUID_1, "a " UUID_2 " b " UUID_1 },
        { "call_getCurrentWeather", "call_getCurrentTraffic" },
        { "call_back_function_one", "call_back_function_two" },
        { "toolu_1", "toolu_2" },
        { "9fceb02", "9fceb03" }, /* short ones may be anything */
        { "x" HASH_1, "x" HASH_2 },
        { "550e8400-e29b-41d4-a716-44665544000", "550e8400-e29b-41d4-a716-44665544001" },
        { "00000000000000000000000000000000", "11111111111111111111111111111111" },
    };
    ASSERT_SAME_TEXTS(same);
    ASSERT_OTHER_TEXTS(other);
}

/* -- moments -- */

static void
moments_are_the_same(void **state)
{
    (void)state;
    static const struct pair same[] = {
        { "Today's date: 2026-11-19", "Today's date: 2027-01-02" },
        { "2026-11-19T12:00:00.123Z", "2026-11-20T01:02:03Z" },
        { "2026-11-19T12:00:00+01:00", "2026-11-20T01:02:03.5-08:00" },
        { "2026-11-19 12:00:00 +0100", "2026-11-20 01:02:03 UTC" },
        { "2026/11/19 12:00:00 msg", "2026/11/20 09:08:07 msg" },
        { "Thu Nov 19 2026", "Fri Nov 20 2026" },
        { "Thu Nov 19 12:00:00 UTC 2026", "Fri Nov 20 01:02:03 CET 2026" },
        { "Date:   Thu Nov 19 12:00:00 2026 +0000",
          "Date:   Fri Nov 20 01:02:03 2026 +0100" },
        { "Thu, 19 Nov 2026 12:00:00 GMT", "Sat, 2 Jan 2027 01:02:03 GMT" },
        { "Thursday, November 19, 2026 (UTC)", "Saturday, January 2, 2027 (UTC)" },
        { "Monday, January 5th, 2026 at 3:26 PM", "Friday, May 1st, 2026 at 11:05 AM" },
        { "Thursday, 2026-11-19", "Friday, 2026-11-20" },
        { "1 root 12 Nov  9 12:00 a", "1 root 12 Nov 19 08:15 a" },
        { "11/19/2026, 1:00:00 PM", "1/2/2027, 12:34:56 AM" },
        { "[19/Nov/2026:12:00:00 +0000]", "[02/Jan/2027:01:02:03 +0000]" },
        { "log-2026-11-19.txt", "log-2027-01-02.txt" },
        { "rollout-2026-11-19T12-00-00-" UUID_1, "rollout-2027-01-02T03-04-05-" UUID_2 },
        { "run-20261119T120000Z", "run-20270102T030405Z" },
        { "run_20261119_120000", "run_20270102_030405" },
        { "at 1763520000", "at 1800000000" },
        { "at 1763520000123", "at 1800000000456" },
        { "at 1763520000.25", "at 1800000000.5" },
        { HASH_1 ".1763520000", HASH_2 ".1800000000" },
        { "{\\\"a\\\":\\\"x\\\\n2026-11-19\\\"}",
          "{\\\"a\\\":\\\"x\\\\n2026-11-20\\\"}" },
    };
    ASSERT_SAME_TEXTS(same);
}

static void
what_only_looks_like_a_moment_stays(void **state)
{
    (void)state;
    static const struct pair other[] = {
        { "v2026.11", "v2026.12" },
        { "1.2.3", "1.2.4" },
        { "v2026-11-19", "v2026-11-20" },
        { "born 1984-03-02", "born 1985-03-02" },
        { "2026-13-19", "2026-14-19" },
        { "it took 12.5 s", "it took 12.6 s" },
        { "after 00:12:34", "after 00:12:35" },
        { "by November 2026", "by December 2026" },
        { "May 5", "May 6" },
        { "1000000000", "1000000001" },
        { "9876543210", "9876543211" },
        { "17635200001", "17635200002" },
        { "0.1763520000", "0.1763520001" },
        { "x1763520000", "x1763520001" },
        { "claude-sonnet-4-5-20250929", "claude-sonnet-4-5-20250930" },
        { "2026-11-19 12:00:00 INFO", "2026-11-19 12:00:00 WARN" },
        { "2026-11-19", "2026-11-19 12:00:00" },
    };
    ASSERT_OTHER_TEXTS(other);
}

static void
a_number_may_be_a_moment(void **state)
{
    (void)state;
    assert_normal("[1763520000,1763520000123,1763520000.25]",
                  "[\"<time>\",\"<time>\",\"<time>\"]");
    assert_normal("[1763520,17635200001,-1763520000,1.5e3,1763520000e1,0]",
                  "[1763520,17635200001,-1763520000,1.5e3,1763520000e1,0]");
}

static void
the_month_in_which_we_are_goes(void **state)
{
    (void)state;
    static const struct pair same[] = {
        { "The current month is November 2026.", "The current month is January 2027." },
        { "Today's date is Nov 2026", "Today's date is Jan 2027" },
        { "current date (November, 2026)", "current date (March, 2027)" },
    };
    static const struct pair other[] = {
        { "by November 2026", "by December 2026" },
        { "the current month is November 2026 5",
          "the current month is November 2026 6" },
        { "What was current then? The report of November 2026",
          "What was current then? The report of December 2026" },
    };
    ASSERT_SAME_TEXTS(same);
    ASSERT_OTHER_TEXTS(other);
}

static void
how_long_something_took_goes(void **state)
{
    (void)state;
    static const struct pair same[] = {
        { "3 passed in 0.12s", "3 passed in 11.05s" },
        { "real\t0m0.003s", "real\t1m12.345s" },
        { "ok pkg 0.003s (cached 1.20 ms)", "ok pkg 0.517s (cached 0.04 ms)" },
        { "it adds (5 ms)", "it adds (17 ms)" },
        { "it adds (5ms)", "it adds (17ms)" },
        { "Ran 3 tests in 0.002 seconds", "Ran 3 tests in 0.0127 seconds" },
        { "12.50\xc2\xb5s", "9.75\xc2\xb5s" },
    };
    static const struct pair other[] = {
        { "it took 12.5 s", "it took 12.6 s" },
        { "a timeout of 500 ms", "a timeout of 200 ms" },
        { "sleep 30s", "sleep 60s" },
        { "(5 msg)", "(6 msg)" },
        { "(5 ms and more)", "(6 ms and more)" },
        { "costs 1.25", "costs 1.35" },
        { "1.25 sheep", "1.35 sheep" },
        { "v1.2.30 s", "v1.2.31 s" },
        { "3 passed in 0.12s", "4 passed in 0.12s" },
    };
    ASSERT_SAME_TEXTS(same);
    ASSERT_OTHER_TEXTS(other);
}

static void
commits_that_git_names_in_short_may_be_others(void **state)
{
    (void)state;
    static const struct pair same[] = {
        { "Recent commits:\n1a2b3c4 begin\n9fceb02 go on",
          "Recent commits:\n5d6e7f8 begin\n0123456 go on" },
        { "1a2b3c4 begin", "5d6e7f8a9 begin" },
        { "x\\n1a2b3c4 begin", "x\\n5d6e7f8 begin" },
        { "x\n* 1a2b3c4 a\n| * 2b3c4d5 b", "x\n* 5d6e7f8 a\n| * 6e7f8a9 b" },
        { "x\n[main 1a2b3c4] begin", "x\n[main 5d6e7f8] begin" },
        { "x\n[a/b (root-commit) 1a2b3c4] begin",
          "x\n[a/b (root-commit) 5d6e7f8] begin" },
        { "HEAD is now at 1a2b3c4 begin", "HEAD is now at 5d6e7f8 begin" },
        { "Updating 1a2b3c4..2b3c4d5", "Updating 5d6e7f8..6e7f8a9" },
        { "   1a2b3c4..2b3c4d5  main -> main", "   5d6e7f8..6e7f8a9  main -> main" },
    };
    static const struct pair other[] = {
        { "x\n1a2b3c4 begin\n1a2b3c4 end", "x\n1a2b3c4 begin\n5d6e7f8 end" },
        { "x\n1a2b3c4 begin", "x\n1a2b3c4 end" },
        { "colour 1a2b3c4", "colour 5d6e7f8" },
        { "x\n1a2b3 begin", "x\n5d6e7 begin" },
        { "x\nindex 1a2b3c4..2b3c4d5 100644", "x\nindex 5d6e7f8..6e7f8a9 100644" },
        { "a[1a2b3c4]", "a[5d6e7f8]" },
        { "see [it 1a2b3c4]", "see [it 5d6e7f8]" },
        { "x\n1A2B3C4 begin", "x\n5D6E7F8 begin" },
    };
    ASSERT_SAME(same);
    ASSERT_OTHER(other);
}

static void
what_serves_on_this_machine_may_be_elsewhere(void **state)
{
    (void)state;
    static const struct pair same[] = {
        { "at http://127.0.0.1:43211/x", "at http://127.0.0.1:35017/x" },
        { "at localhost:43211", "at localhost:35017" },
        { "URL=http://127.0.0.1:43211/abcdefghijklmnopqrstuvwxyz234567a/v1",
          "URL=http://127.0.0.1:35017/zyxwvutsrqponmlkjihgfedcba765432b/v1" },
    };
    static const struct pair other[] = {
        { "at http://127.0.0.1:8080/x", "at http://127.0.0.1:8081/x" },
        { "at http://127.0.0.1:31999/x", "at http://127.0.0.1:32001/x" },
        { "at http://10.0.0.1:43211/x", "at http://10.0.0.1:35017/x" },
        { "at x:43211", "at x:35017" },
        { "/abcdefghijklmnopqrstuvwxyz234567a", "/zyxwvutsrqponmlkjihgfedcba765432b" },
    };
    ASSERT_SAME_TEXTS(same);
    ASSERT_OTHER_TEXTS(other);
}

/* -- folders, masks, the bill -- */

static void
random_names_of_temporary_folders_are_the_same(void **state)
{
    (void)state;
    static const struct pair same[] = {
        { "/tmp/tmpab12cd_x/a.txt", "/tmp/tmpq9w8e7r6/a.txt" },
        { "/tmp/tmpqzxkvbnm", "/tmp/tmpwrtplkjh" },
        { "/tmp/ahr-test-x1y2z3/", "/tmp/ahr-test-q9w8e7/" },
        { "/tmp/ahr-test-kJdPqW/f", "/tmp/ahr-test-ZaBmXe/f" },
        { "/tmp/tmp.AbCdEfGhIj", "/tmp/tmp.K1l2M3n4O5" },
        { "/private/tmp/x-a1b2c3", "/private/tmp/x-d4e5f6" },
        { "/var/folders/6b/0g3lkz5n2kv8tqp9xw4m1n7r0000gn/T/x",
          "/var/folders/zz/zyxvpxvq6csfxvn_n0000000000000/T/x" },
        { "/var/folders/6b/0g3lkz5n2kv8tqp9xw4m1n7r0000gn/T/t-a1b2c3/x",
          "/var/folders/zz/zyxvpxvq6csfxvn_n0000000000000/T/t-z9y8x7/x" },
        { "/tmp/foo.48213/x", "/tmp/foo.51977/x" },
        { "cd /tmp/t-a1b2c3 && ls ~/.x/-tmp-t-a1b2c3/y",
          "cd /tmp/t-z9y8x7 && ls ~/.x/-tmp-t-z9y8x7/y" },
        /* as Python, Node, Go, Rust, Java, Ruby and pytest make them */
        { "/tmp/x-kqzvbnxw/a x-kqzvbnxw", "/tmp/x-pfgtlrdm/a x-pfgtlrdm" },
        { "/tmp/x-ab_cdefg/a", "/tmp/x-_wq1d4kx/a" },
        { "/tmp/agent-YzqPsk/a", "/tmp/agent-gfdswq/a" },
        { "/tmp/go-build3046283941/a", "/tmp/go-build917364/a" },
        { "/tmp/x-38991381", "/tmp/x-1076715195" },
        { "/tmp/.tmpXbqTzk/a", "/tmp/.tmpfk3Lw9/a" },
        { "/tmp/junit6274319021983746251", "/tmp/junit918273645546372819" },
        { "/tmp/d20261119-12345-3cp68", "/tmp/d20270102-621-wxq1zt" },
        { "/tmp/pytest-of-me/pytest-9/test_x0", "/tmp/pytest-of-me/pytest-10/test_x0" },
        { "/var/folders/_b/0g3lkz5n2kv8tqp9xw4m1n7r0000gn/T/x",
          "/var/folders/zz/zyxvpxvq6csfxvn_n0000000000000/T/x" },
    };
    static const struct pair other[] = {
        { "/tmp/out.txt", "/tmp/in.txt" },
        { "/tmp/build/x", "/tmp/stage/x" },
        { "/tmp/test12/x", "/tmp/test13/x" },
        { "/tmp/tmpfiles/x", "/tmp/tmpfolds/x" },
        { "/tmp/tmpresponse", "/tmp/tmpquestion" },
        { "/tmp/x-document", "/tmp/x-question" },
        { "/tmp/myProject/x", "/tmp/myPicture/x" },
        { "/tmp/x-kqzvbnxw kqzvbnxwa", "/tmp/x-pfgtlrdm pfgtlrdma" },
        { "/tmp/test-1", "/tmp/test-2" },
        { "a/pytest-9/test_x0", "a/pytest-10/test_x0" },
        { "/tmp/t-a1b2c3/x", "/tmp/t-a1b2c3/y" },
        { "/tmp/t-a1b2c3 /tmp/t-a1b2c3", "/tmp/t-a1b2c3 /tmp/t-z9y8x7" },
        { "/work/x1y2z3/a", "/work/q9w8e7/a" },
        { "port 48213", "port 51977" },
        { "aGVsbG8/T/x1y2z3/+", "aGVsbG8/T/q9w8e7/+" },
    };
    ASSERT_SAME_TEXTS(same);
    ASSERT_OTHER_TEXTS(other);
}

static void
masks_of_secrets_are_the_same(void **state)
{
    (void)state;
    assert_normal("\"a [REDACTED:github-pat] b [REDACTED:query]\"",
                  "\"a [REDACTED] b [REDACTED]\"");
    assert_normal("\"[REDACTED: x] [REDACTED:]\"", "\"[REDACTED: x] [REDACTED]\"");
}

static void
what_is_told_for_the_bill_goes(void **state)
{
    (void)state;
    assert_normal("{\"system\":[{\"text\":\"x-anthropic-billing-header: "
                  "cc_version=2.1.37.0d9; cc_entrypoint=cli; cch=fa690;\\ncch=1;\"}]}",
                  "{\"system\":[{\"text\":\"x-anthropic-billing-header: "
                  "cc_version=<cc>; cc_entrypoint=cli; cch=<cc>;\\ncch=1;\"}]}");
    assert_normal("{\"text\":\"a x-anthropic-billing-header: cch=fa690;\"}",
                  "{\"text\":\"a x-anthropic-billing-header: cch=fa690;\"}");
}

static void
a_payload_stays_as_it_is(void **state)
{
    (void)state;
    enum { BYTES = 200000 };
    static const char text[] = "/" UUID_1 "+";
    AUTO(buf) body = { 0 };
    AUTO(buf) out = { 0 };
    buf_puts(&body, "{\"data\":\"");
    while (body.n < BYTES)
        buf_puts(&body, text);
    buf_puts(&body, "\"}");
    match_normal_body(match_post("/", (struct view){ body.p, body.n }), &out);
    assert_int_equal(out.n, body.n);
    assert_memory_equal(out.p, body.p, out.n);
}

/* -- addresses -- */

static void
assert_address(const char *url, const char *want)
{
    AUTO(buf) out = { 0 };
    AUTO(buf) line = { 0 };
    match_normal(match_post(url, text_view("")), &out);
    buf_printf(&line, "POST %s\n", want);
    assert_string_equal(buf_str(&out), buf_str(&line));
}

static void
parameters_are_sorted_and_credentials_go(void **state)
{
    (void)state;
    assert_address("/v1/x?b=2&a=1&b=1", "/v1/x?a=1&b=2&b=1");
    assert_address("/v1/x?key=k&alt=sse&api_key=k&access_token=t", "/v1/x?alt=sse");
    assert_address("/v1/x?api-key=k&X-Amz-Signature=s&key", "/v1/x");
    assert_address("/v1/x?pageToken=3&keys=1", "/v1/x?keys=1&pageToken=3");
    assert_address("/v1/x?&&a#b?c", "/v1/x?a");
    assert_address("/?", "/");
    assert_address("", "");
}

static void
the_host_does_not_matter(void **state)
{
    (void)state;
    assert_address("https://api.example.com/v1/x?a=1", "/v1/x?a=1");
    assert_address("https://api.example.com?a=1", "?a=1");
    assert_address("/x://y/z", "/x://y/z");
}

static void
dates_in_addresses_say_what_is_asked(void **state)
{
    (void)state;
    assert_address("/openai/deployments/gpt-4o-2024-08-06/x?api-version=2024-10-21",
                   "/openai/deployments/gpt-4o-2024-08-06/x?api-version=2024-10-21");
    assert_address("/v1/responses/resp_68a1b2c3d4e5f60718293a4b/cancel",
                   "/v1/responses/<id1>/cancel");
}

static void
an_address_is_one_word(void **state)
{
    (void)state;
    AUTO(buf) out = { 0 };
    struct calls_asked q = { text_view("A B\n"), text_view("/a b\nc\x7f"),
                             text_view("") };
    match_normal(q, &out);
    assert_string_equal(buf_str(&out), "A%20B%0A /a%20b%0Ac%7F\n");
}

/* -- bodies that are no JSON -- */

static void
a_text_is_compared_as_such(void **state)
{
    (void)state;
    static const struct pair same[] = {
        { "at 2026-11-19 " UUID_1, "at 2026-11-20 " UUID_2 },
        { "{\"a\":\"" UUID_1 "\"", "{\"a\":\"" UUID_2 "\"" },
        { "", "" },
    };
    static const struct pair other[] = {
        { "a", "b" },
        { "a", "" },
        { "{\"a\":1} {\"b\":2}", "{\"a\":1}  {\"b\":2}" },
        { "{\"a\":1,}", "{\"a\":1}" },
    };
    ASSERT_SAME(same);
    ASSERT_OTHER(other);
}

#define PARTS(b, text)                                                              \
    "--" b "\r\nContent-Disposition: form-data; name=\"a\"\r\n\r\n" text "\r\n--" b \
    "\r\ncontent-disposition: form-data; name=\"b\"\r\n\r\n--" b "x\r\n--" b "--\r\n"

static void
the_boundary_of_parts_does_not_matter(void **state)
{
    (void)state;
    assert_normal(PARTS("abc", "1"),
                  "--<boundary>\r\nContent-Disposition: form-data; name=\"a\"\r\n\r\n1"
                  "\r\n--<boundary>\r\ncontent-disposition: form-data; name=\"b\"\r\n\r\n"
                  "--abcx\r\n--<boundary>--\r\n");
    assert_normal("--abc\r\nother\r\n--abc--\r\n", "--abc\r\nother\r\n--abc--\r\n");
    assert_normal("--\r\nContent-Disposition: x", "--\r\nContent-Disposition: x");
}

static void
bytes_that_are_no_utf_8_are_taken(void **state)
{
    (void)state;
    static const struct pair other[] = {
        { "\xff\xfe\x01", "\xff\xfe\x02" },
        { "\"\xff\"", "\"\xff\xff\"" },
        { "\xc3", "\xc3\xa9" },
    };
    ASSERT_OTHER(other);
    assert_normal("{\"\xff\":\"\xfe\"}", "{\"\xef\xbf\xbd\":\"\xef\xbf\xbd\"}");
    assert_normal("\xff\xfe", "\xff\xfe");
}

static void
nothing_is_a_request(void **state)
{
    (void)state;
    struct calls_asked nothing = { 0 };
    AUTO(buf) out = { 0 };
    match_normal(nothing, &out);
    assert_string_equal(buf_str(&out), " \n");
    assert_true(match_is_same(nothing, nothing));
    assert_false(match_is_same(nothing, match_message("{}")));
}

/* -- what a normal form comes to -- */

static void
a_normal_form_is_its_own(void **state)
{
    (void)state;
    static const char *const bodies[] = {
        CALLS(TOOL_1, TOOL_2, TOOL_2, TOOL_1),
        "{\"b\":[1763520000,\"2026-11-19 " UUID_1 " /tmp/t-a1b2c3 " HASH_1 "\"],\"a\":1}",
        "{\"system\":\"x-anthropic-billing-header: cc_version=1; cch=;\"}",
        "\"[REDACTED:x] /tmp/foo.48213/ Thu Nov 19 12:00 2026\"",
        "at 2026-11-19 " UUID_1 " in /tmp/tmpab12cd_x",
        /* what follows is replaced as well, and then another thing follows */
        "2026-11-19T12:00:0" HASH_1 ".123Z 20261119-120000-123Z1a Nov 19 2026" HASH_1,
        PARTS("abc", UUID_1),
        "{\"a\":007,\"\xff\":\"\x01\"}",
        "",
    };
    for (size_t i = 0; i < sizeof(bodies) / sizeof(bodies[0]); i++) {
        AUTO(buf) once = { 0 };
        AUTO(buf) twice = { 0 };
        match_normal_body(match_message(bodies[i]), &once);
        match_normal_body(match_message(buf_str(&once)), &twice);
        assert_string_equal(buf_str(&once), buf_str(&twice));
    }
}

/* All that is looked for, and what may stand between, so that parts of the one join with
 * parts of the other. */
static void
put_mixture(uint32_t *rng, struct buf *out)
{
    static const char *const pieces[] = { "2026-11-19",
                                          "2026",
                                          "T12:00:00",
                                          "12:00",
                                          ":00",
                                          ".123",
                                          "Z",
                                          "+01:00",
                                          " UTC",
                                          " CET",
                                          "PM",
                                          "Thu",
                                          "Nov",
                                          "November",
                                          "19",
                                          "19th",
                                          "11/19/",
                                          "20261119",
                                          "120000",
                                          "-12-00-00",
                                          "1763520000",
                                          "000",
                                          "/tmp/",
                                          "tmp",
                                          "/tmp/tmpab12cd3_",
                                          "/tmp/x-ab_cdefg",
                                          "_wq1d4kx",
                                          "\n1a2b3c4 ",
                                          "\n[",
                                          "..",
                                          "* ",
                                          "0.12s",
                                          "(5",
                                          "0m",
                                          " ms)",
                                          "current ",
                                          "localhost:",
                                          "abcdefghijklmnopqrstuvwxyz234567a",
                                          "kqzvbnxw",
                                          "/pytest-of-me/pytest-",
                                          "x1y2z3",
                                          "48213",
                                          "/var/folders/",
                                          "zz/",
                                          "zyxvpxvq6c",
                                          "/T/",
                                          TOOL_1,
                                          "toolu_",
                                          "bdrk_",
                                          "call-1a2b3c4d",
                                          "msg",
                                          UUID_1,
                                          "550e8400",
                                          HASH_1,
                                          "e",
                                          "[REDACTED:",
                                          "]",
                                          " ",
                                          " ",
                                          "-",
                                          "_",
                                          ".",
                                          "/",
                                          ",",
                                          ":",
                                          "<",
                                          ">",
                                          "\\\\n",
                                          "\xc3\xa9",
                                          "a",
                                          "cch=",
                                          ";",
                                          "x-anthropic-billing-header",
                                          "<id1>",
                                          "<time>",
                                          "id",
                                          "1" };
    for (uint32_t n = rng_between(rng, 1, 12); n; n--)
        buf_puts(out, pieces[rng_below(rng, sizeof(pieces) / sizeof(pieces[0]))]);
}

static void
a_mixture_of_all_is_its_own_when_it_is_normal(void **state)
{
    (void)state;
    uint32_t rounds = getenv("AHR_TEST_LONG") ? 2000000 : 8000;
    for (uint32_t seed = 1; seed <= rounds; seed++) {
        AUTO(buf) body = { 0 };
        AUTO(buf) once = { 0 };
        AUTO(buf) twice = { 0 };
        uint32_t rng = rng_seed(seed);
        buf_puts(&body, seed % 4 ? "{\"id\":\"" : "");
        put_mixture(&rng, &body);
        buf_puts(&body, seed % 4 ? "\",\"text\":\"" : " ");
        put_mixture(&rng, &body);
        buf_puts(&body, seed % 4 ? "\"}" : "");
        match_normal_body(match_message(buf_str(&body)), &once);
        match_normal_body(match_message(buf_str(&once)), &twice);
        if (strcmp(buf_str(&once), buf_str(&twice)) != 0)
            fail_msg("seed %u: %s\n%s\n%s", seed, buf_str(&body), buf_str(&once),
                     buf_str(&twice));
    }
}

/* -- hostile ones -- */

static void
nest(struct buf *out, const char *open, const char *close, size_t depth)
{
    for (size_t i = 0; i < depth; i++)
        buf_puts(out, open);
    buf_puts(out, "1");
    for (size_t i = 0; i < depth; i++)
        buf_puts(out, close);
}

static void
what_is_nested_too_deep_is_a_text(void **state)
{
    (void)state;
    static const size_t depths[] = { 255, 256, 257, 100000 };
    for (size_t i = 0; i < sizeof(depths) / sizeof(depths[0]); i++)
        for (int is_object = 0; is_object < 2; is_object++) {
            AUTO(buf) a = { 0 };
            AUTO(buf) b = { 0 };
            AUTO(buf) out = { 0 };
            nest(&a, is_object ? "{\"a\":" : "[", is_object ? "}" : "]", depths[i]);
            nest(&b, is_object ? "{\"a\": " : "[ ", is_object ? "}" : "]", depths[i]);
            assert_int_equal(
                match_is_same(match_message(buf_str(&a)), match_message(buf_str(&b))),
                depths[i] <= 256);
            match_normal_body(match_message(buf_str(&a)), &out);
            assert_int_equal(out.n, a.n);
        }
}

/* Each would take for ever if it took more than a few looks at each byte. */
static void
a_large_body_is_done_in_time(void **state)
{
    (void)state;
    enum { BYTES = 4 << 20 };
    static const char *const pieces[] = {
        "a word and another, ",
        "aaaaaaaaaaaaaaaa",
        "a-b_c-",
        "/tmp/a1b2c3-",
        "/tmp/tmp/T/",
        "[REDACTED:",
        "2026-11-19 12",
        "Nov 19 12:",
        "1763520000.",
        "cch=",
        "/var/folders/",
        "deadbeef-",
        "call_",
        "{\\\"id\\\":",
        "12345.",
        "\\\\n",
        "\\n1a2b3c4 ",
        "[1a2b3c4 ",
        "1a2b3c4..",
        "0m0.0",
        "November 2026 ",
    };
    for (size_t i = 0; i < sizeof(pieces) / sizeof(pieces[0]); i++) {
        AUTO(buf) body = { .ceiling = SIZE_MAX };
        AUTO(buf) out = { .ceiling = SIZE_MAX };
        size_t bytes = i ? BYTES / 16 : BYTES;
        buf_puts(&body, "{\"a\":\"x-anthropic-billing-header ");
        while (body.n < bytes)
            buf_puts(&body, pieces[i]);
        buf_puts(&body, "\"}");
        struct calls_asked q = match_post("/", (struct view){ body.p, body.n });
        match_normal(q, &out);
        assert_true(out.n < 2 * body.n);
        q.url = q.body;
        assert_true(match_is_same(q, q));
    }
}

static void
many_members_are_done_in_time(void **state)
{
    (void)state;
    static const char *const forms[] = {
        "\"k%zx\":1,",
        "\"same\":1,",
        "\"id\":\"%zx-a1b2c3d4\",",
        "\"a\":{\"b\":[]},",
        "\"%zx\":{\"id\":\"a1b2c3d4%zx\"},",
    };
    for (size_t i = 0; i < sizeof(forms) / sizeof(forms[0]); i++) {
        AUTO(buf) body = { .ceiling = SIZE_MAX };
        AUTO(buf) out = { .ceiling = SIZE_MAX };
        buf_puts(&body, "{");
        for (size_t k = 0; k < 100000; k++) {
            size_t v = k * 2654435761U % 1000003;
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wformat-nonliteral"
#pragma GCC diagnostic ignored "-Wformat-extra-args"
            buf_printf(&body, forms[i], v, v);
#pragma GCC diagnostic pop
        }
        buf_puts(&body, "\"z\":0}");
        struct calls_asked q = match_post("/", (struct view){ body.p, body.n });
        match_normal(q, &out);
        assert_true(out.n <= body.n * 2 && match_is_same(q, q));
    }
}

static void
what_is_there_stays_where_there_is_no_room(void **state)
{
    (void)state;
    struct calls_asked q = match_message("{\"a\":\"a text\"}"),
                       r = match_message("{\"a\":2}");
    struct buf out = { .ceiling = 12 };
    buf_puts(&out, "before");
    assert_int_equal(calls_match_normal(&q, &out), ERR_LIMIT);
    assert_int_equal(out.n, 6);
    out.failed = 0;
    assert_int_equal(calls_match_difference(&q, &r, &out), ERR_LIMIT);
    assert_int_equal(out.n, 6);
    assert_memory_equal(out.p, "before", 6);
    buf_release(&out);
}

int
main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(members_are_sorted_and_blanks_go),
        cmocka_unit_test(of_a_key_that_comes_twice_the_last_counts),
        cmocka_unit_test(one_string_is_written_in_one_way),
        cmocka_unit_test(cache_markers_go_wherever_they_stand),
        cmocka_unit_test(who_asks_does_not_matter),
        cmocka_unit_test(what_is_asked_for_matters),
        cmocka_unit_test(ids_may_be_others_as_long_as_they_pair),
        cmocka_unit_test(ids_have_numbers_in_the_order_of_the_normal_form),
        cmocka_unit_test(ids_are_told_in_their_order),
        cmocka_unit_test(members_that_are_ids_are_known_by_their_keys),
        cmocka_unit_test(an_id_that_somebody_chose_stays),
        cmocka_unit_test(an_id_is_replaced_in_texts_before_and_behind_it),
        cmocka_unit_test(ids_of_vendors_go_from_texts),
        cmocka_unit_test(moments_are_the_same),
        cmocka_unit_test(what_only_looks_like_a_moment_stays),
        cmocka_unit_test(a_number_may_be_a_moment),
        cmocka_unit_test(the_month_in_which_we_are_goes),
        cmocka_unit_test(how_long_something_took_goes),
        cmocka_unit_test(commits_that_git_names_in_short_may_be_others),
        cmocka_unit_test(what_serves_on_this_machine_may_be_elsewhere),
        cmocka_unit_test(random_names_of_temporary_folders_are_the_same),
        cmocka_unit_test(masks_of_secrets_are_the_same),
        cmocka_unit_test(what_is_told_for_the_bill_goes),
        cmocka_unit_test(a_payload_stays_as_it_is),
        cmocka_unit_test(parameters_are_sorted_and_credentials_go),
        cmocka_unit_test(the_host_does_not_matter),
        cmocka_unit_test(dates_in_addresses_say_what_is_asked),
        cmocka_unit_test(an_address_is_one_word),
        cmocka_unit_test(a_text_is_compared_as_such),
        cmocka_unit_test(the_boundary_of_parts_does_not_matter),
        cmocka_unit_test(bytes_that_are_no_utf_8_are_taken),
        cmocka_unit_test(nothing_is_a_request),
        cmocka_unit_test(a_normal_form_is_its_own),
        cmocka_unit_test(a_mixture_of_all_is_its_own_when_it_is_normal),
        cmocka_unit_test(what_is_nested_too_deep_is_a_text),
        cmocka_unit_test(a_large_body_is_done_in_time),
        cmocka_unit_test(many_members_are_done_in_time),
        cmocka_unit_test(what_is_there_stays_where_there_is_no_room),
    };
    return cmocka_run_group_tests_name("match", tests, NULL, NULL);
}
