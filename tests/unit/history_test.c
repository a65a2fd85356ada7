/* SPDX-License-Identifier: MIT */
/* history_test.c -- histories of all agents: damaged, interrupted, and saved. */
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

#include <cmocka.h>

#include "support/history_kit.h"
#include "support/rng.h"
#include "support/text_view.h"

#define SAY(id, text)                             \
    "{\"type\":\"assistant\",\"uuid\":\"" id      \
    "\",\"parentUuid\":null,\"message\":{\"id\":" \
    "\"" id "\",\"content\":[{\"type\":\"text\",\"text\":\"" text "\"}]}}"
#define NOTE(at) "{\"type\":\"x\",\"sessionId\":\"S\",\"timestamp\":\"" at "\"}\n"

/* -- damage -- */

/* Without the roots, of which each line is one. */
static void
assert_bytes(const char *bytes, size_t n, const char *want, uint64_t malformed)
{
    struct history_kit k;
    history_kit_begin(&k, TURN_CLAUDE);
    assert_int_equal(history_kit_lines(&k, (struct view){ (const uint8_t *)bytes, n }),
                     0);
    AUTO(buf) shown = { 0 };
    struct view rest = { k.shown.p, k.shown.n }, line;
    while (history_kit_next(&rest, &line))
        if (line.n && line.p[0] != '!') {
            buf_append(&shown, line.p, line.n);
            buf_puts(&shown, "\n");
        }
    assert_string_equal(buf_str(&shown), want);
    assert_int_equal(k.troubles[TURN_HISTORY_MALFORMED], malformed);
    history_kit_end(&k);
}

static void
assert_shown(const char *lines, const char *want, uint64_t malformed)
{
    assert_bytes(lines, strlen(lines), want, malformed);
}

static void
what_is_torn_costs_no_neighbour(void **state)
{
    (void)state;
    assert_shown(SAY("a", "1") "\n{\"type\":\"assis\n" SAY("b", "2") "\n{\"ty",
                 "text id=a \"1\"\nwarning \"malformed JSON: {\"type\":\"assis\"\n"
                 "text id=b \"2\"\nwarning \"malformed JSON: {\"ty\"\n",
                 2);
    assert_shown(SAY("a", "1") SAY("b", "2") "," SAY("c", "3"),
                 "text id=a \"1\"\ntext id=b \"2\"\ntext id=c \"3\"\n", 0);
    assert_shown(
        "{\"type\":\"assistant\",\"uuid\":\"x\",\"mess" SAY("b", "2") " tail",
        "warning \"malformed JSON: {\"type\":\"assistant\",\"uuid\":\"x\",\"mess\"\n"
        "text id=b \"2\"\nwarning \"malformed JSON:  tail\"\n",
        2);
}

static void
a_good_line_behind_one_that_is_torn_anywhere_is_kept(void **state)
{
    (void)state;
    static const char torn[] = SAY("a", "x {\\\"b\\\": {}} \\\\");
    for (size_t n = 1; n < sizeof(torn) - 1; n++) {
        AUTO(buf) in = { 0 };
        struct history_kit k;
        buf_append(&in, torn, n);
        buf_puts(&in, SAY("b", "2"));
        history_kit_begin(&k, TURN_CLAUDE);
        assert_int_equal(history_kit_lines(&k, (struct view){ in.p, in.n }), 0);
        assert_non_null(strstr(buf_str(&k.shown), "text id=b \"2\"\n"));
        assert_int_equal(k.troubles[TURN_HISTORY_MALFORMED], 1);
        history_kit_end(&k);
    }
}

static void
marks_blanks_and_ends_of_other_systems_are_nothing(void **state)
{
    (void)state;
    assert_shown("\xef\xbb\xbf" SAY("a", "1") "\r\n\r\n  \t\n\n" SAY("b", "2") "\r",
                 "text id=a \"1\"\ntext id=b \"2\"\n", 0);
    static const char nuls[] = "\0\0\0\0\n" SAY("a", "1") "\0\0\n\0\0" SAY("b", "2");
    assert_bytes(nuls, sizeof(nuls) - 1, "text id=a \"1\"\ntext id=b \"2\"\n", 0);
}

static void
odd_bytes_stay_in_the_text(void **state)
{
    (void)state;
    assert_shown(SAY("a", "x\xe2\x80\xa8y\xff\xc0\x80\x01z"),
                 "text id=a \"x\xe2\x80\xa8y\xff\xc0\x80\x01z\"\n", 0);
}

static void
a_line_of_many_megabytes_is_one_line(void **state)
{
    (void)state;
    enum { MANY = 10 << 20 };
    AUTO(buf) in = { 0 };
    AUTO(buf) saved = { 0 };
    struct history_kit k;
    static const char start[] =
        "{\"type\":\"user\",\"uuid\":\"a\",\"message\":{\"content\":\"";
    buf_puts(&in, start);
    while (in.n < MANY)
        buf_puts(&in, "many words \\n \\u00fc ");
    buf_puts(&in, "\"}}\n" SAY("b", "2"));
    history_kit_begin(&k, TURN_CLAUDE);
    k.is_quiet = true;
    assert_int_equal(history_kit_lines(&k, (struct view){ in.p, in.n }), 0);
    assert_int_equal(k.events, 2);
    assert_int_equal(turn_history_save(k.h, &saved), 0);
    assert_true(saved.n < 10000);
    history_kit_end(&k);
}

static void
brackets_without_end_are_one_malformed_line(void **state)
{
    (void)state;
    AUTO(buf) in = { 0 };
    struct history_kit k;
    buf_puts(&in, "{\"type\":\"user\",\"uuid\":\"a\",\"message\":");
    for (int i = 0; i < 100000; i++)
        buf_puts(&in, i % 2 ? "[" : "{\"a\":");
    buf_puts(&in, "\n" SAY("b", "2"));
    history_kit_begin(&k, TURN_CLAUDE);
    assert_int_equal(history_kit_lines(&k, (struct view){ in.p, in.n }), 0);
    assert_int_equal(k.troubles[TURN_HISTORY_MALFORMED], 1);
    assert_non_null(strstr(buf_str(&k.shown), "text id=b \"2\"\n"));
    history_kit_end(&k);
}

/* -- what is told of it -- */

static void
stamps_do_not_go_back_and_not_behind_the_last_that_is_believed(void **state)
{
    (void)state;
    struct history_kit k;
    history_kit_begin(&k, TURN_CLAUDE);
    assert_int_equal(history_kit_lines(&k, text_view(NOTE("2026-01-01T00:00:05Z") NOTE(
                                               "2026-01-01T00:00:01Z") NOTE("never"))),
                     0);
    const struct turn_history_facts *f = turn_history_facts(k.h);
    assert_int_equal(f->start_ns, 1767225605000000000);
    assert_int_equal(f->last_ns, 1767225605000000000);
    history_kit_end(&k);
}

static int
ignore(void *ctx, const struct turn_event *e, uint64_t ts_ns)
{
    (void)ctx;
    (void)e;
    (void)ts_ns;
    return 2; /* of its own */
}

static void
a_stamp_of_the_future_is_not_believed(void **state)
{
    (void)state;
    struct turn_history *h;
    const struct turn_history_options opt = { .agent = TURN_CLAUDE,
                                              .latest_ns = 1767225606000000000,
                                              .event = ignore };
    const char *const lines[] = { NOTE("2026-01-01T00:00:05Z"),
                                  NOTE("2553-01-01T00:00:00Z"), SAY("a", "1") };
    assert_int_equal(turn_history_new(&h, &opt), 0);
    for (size_t i = 0; i < 3; i++)
        assert_int_equal(turn_history_line(h, (struct view){ 0 }, text_view(lines[i])),
                         0);
    assert_int_equal(turn_history_facts(h)->last_ns, 1767225605000000000);
    /* The session is told, two lines that are not known, and a text; each with two. */
    assert_int_equal(turn_history_facts(h)->events, 12);
    turn_history_free(h);
}

static void
a_line_tells_its_stamp_and_whether_it_is_whole(void **state)
{
    (void)state;
    assert_int_equal(turn_history_stamp(text_view(NOTE("2026-01-01T00:00:05Z"))),
                     1767225605000000000);
    assert_int_equal(turn_history_stamp(text_view("{\"timestamp\":7}")), 0);
    assert_int_equal(turn_history_stamp(text_view("{\"timestamp\":\"2026")), 0);
    assert_int_equal(turn_history_stamp((struct view){ 0 }), 0);
    /* … whatever it is, and within its bytes */
    static const char line[] = "{\"a\\\"\":{\"x\":[1,{}]},\"timestamp\":\"2026-01\"}";
    for (size_t n = 0; n < sizeof(line); n++) {
        uint8_t *own = malloc(n + 1);
        assert_non_null(own);
        memcpy(own + 1, line, n);
        assert_int_equal(turn_history_stamp((struct view){ own + 1, n }), 0);
        free(own);
    }
    assert_true(turn_history_is_whole(text_view(" {\"a\":[1]} ")));
    assert_false(turn_history_is_whole(text_view("{\"a\":[1]")));
    assert_false(turn_history_is_whole(text_view("[1]")));
    assert_false(turn_history_is_whole(text_view("{} {}")));
    assert_false(turn_history_is_whole((struct view){ 0 }));
}

static void
a_file_is_known_by_its_first_lines(void **state)
{
    (void)state;
    static const struct {
        const char *bytes;
        enum turn_agent agent;
    } cases[] = {
        { "", TURN_AUTO },
        { "\n\nhello\n{}\n[1]\n", TURN_AUTO },
        { "{\"type\":\"message\"", TURN_AUTO },
        { "garbage\n\xef\xbb\xbf" SAY("a", "1") "\n{\"torn", TURN_CLAUDE },
        { "{\"type\":\"summary\",\"summary\":\"s\",\"leafUuid\":\"u\"}", TURN_CLAUDE },
        { "{\"timestamp\":\"t\",\"type\":\"session_meta\",\"payload\":{}}\n",
          TURN_CODEX },
        { "{\"sessionId\":\"S\",\"projectHash\":\"h\"}\n", TURN_GEMINI },
        { "{\n\"sessionId\": \"S\",\n\"messages\": []\n}\n", TURN_GEMINI },
    };
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++)
        assert_int_equal(turn_history_guess(text_view(cases[i].bytes)), cases[i].agent);
}

static void
only_agents_that_keep_histories_have_readers(void **state)
{
    (void)state;
    struct turn_history *h;
    const struct turn_history_options opt = { .agent = TURN_PLAIN, .event = ignore };
    assert_int_equal(turn_history_new(&h, &opt), -EINVAL);
    turn_history_free(NULL);
}

/* -- errors -- */

static const char all_kinds[] =
    "{\"type\":\"user\",\"uuid\":\"a\",\"sessionId\":\"S\",\"cwd\":\"/p\",\"message\":{"
    "\"content\":[{\"type\":\"text\",\"text\":\"1\"},{\"type\":\"text\",\"text\":\"2\"},{"
    "\"type\":\"odd\"}]}}\n"
    "{\"type\":\"assistant\",\"uuid\":\"b\",\"parentUuid\":\"a\",\"message\":{\"id\":"
    "\"m\","
    "\"model\":\"M\",\"content\":[{\"type\":\"thinking\",\"thinking\":\"3\"},{\"type\":"
    "\"tool_use\",\"id\":\"t\",\"name\":\"Bash\",\"input\":{}},{\"type\":\"odd\"}],"
    "\"usage\":{\"input_tokens\":1}}}\n"
    "{\"type\":\"user\",\"uuid\":\"c\",\"parentUuid\":\"b\",\"message\":{\"content\":[{"
    "\"type\":\"tool_result\",\"tool_use_id\":\"t\",\"content\":\"4\"}]}} oops\n"
    "{\"type\":\"user\",\"uuid\":\"d\",\"parentUuid\":\"a\",\"message\":{\"content\":"
    "\"5\"}}\n"
    "{\"type\":\"user\",\"uuid\":\"e\",\"parentUuid\":\"a\",\"message\":{\"content\":"
    "\"6\"}}\n";
static const char all_kinds_codex[] =
    "{\"type\":\"session_meta\",\"payload\":{\"id\":\"S\"}}\n"
    "{\"type\":\"response_item\",\"payload\":{\"type\":\"message\",\"role\":\"user\","
    "\"content\":\"1\"}}\n"
    "{\"type\":\"response_item\",\"payload\":{\"type\":\"function_call\",\"call_id\":"
    "\"c\","
    "\"name\":\"n\",\"arguments\":\"{}\"}}\n"
    "{\"type\":\"event_msg\",\"payload\":{\"type\":\"item_completed\",\"item\":{\"type\":"
    "\"CommandExecution\",\"id\":\"c\",\"exit_code\":1,\"aggregated_output\":\"x\"}}}\n"
    "{\"type\":\"event_msg\",\"payload\":{\"type\":\"item_completed\",\"item\":{\"type\":"
    "\"CommandExecution\",\"id\":\"d\",\"exit_code\":1,\"aggregated_output\":\"x\"}}}\n"
    "{\"type\":\"response_item\",\"payload\":{\"type\":\"function_call_output\",\"call_"
    "id\":"
    "\"c\",\"output\":\"x\"}}\n"
    "{\"type\":\"event_msg\",\"payload\":{\"type\":\"user_message\",\"message\":\"1\"}}\n"
    "{\"type\":\"event_msg\",\"payload\":{\"type\":\"token_count\",\"info\":{"
    "\"total_token_usage\":{\"input_tokens\":5,\"output_tokens\":1}}}}\n"
    "{\"type\":\"event_msg\",\"payload\":{\"type\":\"thread_rolled_back\",\"num_turns\":"
    "1}}\n"
    "{\"type\":\"event_msg\",\"payload\":{\"type\":\"task_complete\"}}\n"
    "{\"type\":\"event_msg\",\"payload\":{\"type\":\"token_count\",\"info\":{"
    "\"total_token_usage\":{\"input_tokens\":6,\"output_tokens\":1}}}}\n";
static const char all_kinds_gemini[] =
    "{\"sessionId\":\"S\",\"projectHash\":\"h\"}\n"
    "{\"id\":\"1\",\"type\":\"user\",\"content\":\"a\"}\n"
    "{\"id\":\"2\",\"type\":\"gemini\",\"content\":\"b\",\"model\":\"M\",\"thoughts\":[{"
    "\"subject\":\"s\"}],\"toolCalls\":[{\"id\":\"t\",\"name\":\"n\",\"args\":{},"
    "\"status\":"
    "\"success\",\"resultDisplay\":\"r\"}],\"tokens\":{\"input\":1,\"output\":2}}\n"
    "{\"id\":\"2\",\"type\":\"gemini\",\"content\":\"b\",\"thoughts\":[{\"subject\":"
    "\"s\"}]}\n"
    "{\"$rewindTo\":\"2\"}\n{\"id\":\"3\",\"type\":\"info\",\"content\":\"c\"}\n";

static const struct {
    enum turn_agent agent;
    const char *lines;
} samples[] = {
    { TURN_CLAUDE, all_kinds },
    { TURN_CODEX, all_kinds_codex },
    { TURN_GEMINI, all_kinds_gemini },
};
enum { SAMPLES = sizeof(samples) / sizeof(samples[0]) };

/* The kit aborts when an event comes behind one that has failed. */
static void
an_error_at_any_event_ends_the_line(void **state)
{
    (void)state;
    for (size_t i = 0; i < SAMPLES; i++)
        for (uint64_t at = 1;; at++) {
            struct history_kit k;
            history_kit_begin(&k, samples[i].agent);
            k.fails_at = at;
            int r = history_kit_lines(&k, text_view(samples[i].lines));
            uint64_t events = k.events;
            history_kit_end(&k);
            if (events < at) {
                assert_int_equal(r, 0);
                assert_true(at > 8);
                break;
            }
            assert_int_equal(r, -77);
            assert_int_equal(events, at);
        }
}

/* -- saved -- */

static void
assert_interrupted(enum turn_agent agent, struct view lines)
{
    struct history_kit whole, cut;
    struct view line;
    size_t count = 0;
    history_kit_begin(&whole, agent);
    assert_int_equal(history_kit_lines(&whole, lines), 0);
    for (struct view rest = lines; history_kit_next(&rest, &line);)
        count++;
    for (size_t at = 0; at <= count + 1; at++) { /* count + 1: behind each line */
        history_kit_begin(&cut, agent);
        struct view rest = lines;
        for (size_t i = 0; i <= count; i++) {
            if (i == at || at > count)
                history_kit_reload(&cut);
            if (history_kit_next(&rest, &line))
                assert_int_equal(history_kit_lines(&cut, line), 0);
        }
        assert_string_equal(buf_str(&cut.shown), buf_str(&whole.shown));
        assert_memory_equal(cut.troubles, whole.troubles, sizeof(cut.troubles));
        history_kit_end(&cut);
    }
    assert_true(count > 3 && whole.events > 3);
    history_kit_end(&whole);
}

static void
where_it_was_interrupted_makes_no_difference(void **state)
{
    (void)state;
    for (size_t i = 0; i < SAMPLES; i++)
        assert_interrupted(samples[i].agent, text_view(samples[i].lines));
}

static void
where_the_fixtures_are_interrupted_makes_no_difference(void **state)
{
    (void)state;
    AUTO(buf) claude = { 0 };
    AUTO(buf) codex = { 0 };
    if (!history_kit_fixture("claude-transcript.jsonl", &claude) ||
        !history_kit_fixture("codex-rollout.jsonl", &codex))
        skip();
    assert_interrupted(TURN_CLAUDE, (struct view){ claude.p, claude.n });
    assert_interrupted(TURN_CODEX, (struct view){ codex.p, codex.n });
}

/* Loads it and reads on, in memory of its own; what loading said. */
static int
load(enum turn_agent agent, struct view saved, const char *lines)
{
    struct turn_history *h;
    const struct turn_history_options opt = { .agent = agent, .event = ignore };
    uint8_t *own = malloc(saved.n ? saved.n : 1);
    assert_non_null(own);
    if (saved.n)
        memcpy(own, saved.p, saved.n);
    assert_int_equal(turn_history_new(&h, &opt), 0);
    int r = turn_history_load(h, (struct view){ own, saved.n });
    struct view line, rest = text_view(lines);
    while (!r && history_kit_next(&rest, &line))
        assert_int_equal(turn_history_line(h, (struct view){ 0 }, line), 0);
    turn_history_free(h);
    free(own);
    return r;
}

static void
save_sample(size_t i, struct buf *out)
{
    struct history_kit k;
    history_kit_begin(&k, samples[i].agent);
    assert_int_equal(history_kit_lines(&k, text_view(samples[i].lines)), 0);
    assert_int_equal(turn_history_save(k.h, out), 0);
    history_kit_end(&k);
}

static void
a_state_that_is_cut_is_damaged(void **state)
{
    (void)state;
    for (size_t i = 0; i < SAMPLES; i++) {
        AUTO(buf) saved = { 0 };
        save_sample(i, &saved);
        for (size_t n = 0; n < saved.n; n++)
            assert_int_equal(
                load(samples[i].agent, (struct view){ saved.p, n }, samples[i].lines),
                ERR_DAMAGED);
        enum turn_agent other = samples[(i + 1) % SAMPLES].agent;
        assert_int_equal(load(other, (struct view){ saved.p, saved.n }, ""), ERR_DAMAGED);
        buf_puts(&saved, "x");
        assert_int_equal(load(samples[i].agent, (struct view){ saved.p, saved.n }, ""),
                         ERR_DAMAGED);
    }
}

static void
a_state_with_any_bit_flipped_is_read_or_damaged(void **state)
{
    (void)state;
    for (size_t i = 0; i < SAMPLES; i++) {
        AUTO(buf) saved = { 0 };
        save_sample(i, &saved);
        for (size_t bit = 0; bit < saved.n * 8; bit++) {
            saved.p[bit / 8] ^= (uint8_t)(1 << bit % 8);
            int r = load(samples[i].agent, (struct view){ saved.p, saved.n },
                         samples[i].lines);
            assert_true(r == 0 || r == ERR_DAMAGED);
            saved.p[bit / 8] ^= (uint8_t)(1 << bit % 8);
        }
    }
}

static void
a_state_with_random_bytes_is_read_or_damaged(void **state)
{
    (void)state;
    uint32_t rng = 3;
    for (int round = 0; round < 20000; round++) {
        AUTO(buf) saved = { 0 };
        size_t i = rng_below(&rng, SAMPLES);
        save_sample(i, &saved);
        for (uint32_t k = 1 + rng_below(&rng, 6); k; k--)
            saved.p[rng_below(&rng, (uint32_t)saved.n)] = rng_below(&rng, 2)
                                                              ? (uint8_t)rng_next(&rng)
                                                              : (uint8_t)rng_below(&rng,
                                                                                   3);
        int r = load(samples[i].agent, (struct view){ saved.p, saved.n },
                     samples[i].lines);
        assert_true(r == 0 || r == ERR_DAMAGED);
    }
}

static void
what_does_not_fit_is_told_by_who_saves(void **state)
{
    (void)state;
    struct history_kit k;
    AUTO(buf) whole = { 0 };
    history_kit_begin(&k, TURN_CLAUDE);
    assert_int_equal(history_kit_lines(&k, text_view(all_kinds)), 0);
    assert_int_equal(turn_history_save(k.h, &whole), 0);
    for (size_t ceiling = 1; ceiling < whole.n; ceiling++) {
        AUTO(buf) saved = { .ceiling = ceiling };
        assert_int_equal(turn_history_save(k.h, &saved), ERR_LIMIT);
    }
    history_kit_end(&k);
}

int
main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(what_is_torn_costs_no_neighbour),
        cmocka_unit_test(a_good_line_behind_one_that_is_torn_anywhere_is_kept),
        cmocka_unit_test(marks_blanks_and_ends_of_other_systems_are_nothing),
        cmocka_unit_test(odd_bytes_stay_in_the_text),
        cmocka_unit_test(a_line_of_many_megabytes_is_one_line),
        cmocka_unit_test(brackets_without_end_are_one_malformed_line),
        cmocka_unit_test(stamps_do_not_go_back_and_not_behind_the_last_that_is_believed),
        cmocka_unit_test(a_stamp_of_the_future_is_not_believed),
        cmocka_unit_test(a_line_tells_its_stamp_and_whether_it_is_whole),
        cmocka_unit_test(a_file_is_known_by_its_first_lines),
        cmocka_unit_test(only_agents_that_keep_histories_have_readers),
        cmocka_unit_test(an_error_at_any_event_ends_the_line),
        cmocka_unit_test(where_it_was_interrupted_makes_no_difference),
        cmocka_unit_test(where_the_fixtures_are_interrupted_makes_no_difference),
        cmocka_unit_test(a_state_that_is_cut_is_damaged),
        cmocka_unit_test(a_state_with_any_bit_flipped_is_read_or_damaged),
        cmocka_unit_test(a_state_with_random_bytes_is_read_or_damaged),
        cmocka_unit_test(what_does_not_fit_is_told_by_who_saves),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
