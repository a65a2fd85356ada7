/* SPDX-License-Identifier: MIT */
/* history_codex_usage_test.c -- what Codex's rollouts tell of usage: each answer once. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

#include <cmocka.h>

#include "support/history_kit.h"
#include "support/text_view.h"

/*
 * Threads are written down as words: a letter and what comes with it.
 *
 *     T1        a session_meta, and that of a fork: F1
 *     t1        a turn_context with the turn's id; q1: with an id that is too short
 *     c1        a call
 *     r1=30     a record: the answer's id and input
 *     n70/40    a count: total and last; n70: without the last one
 */
enum form { FIRST, COPIED };

static void
put_usage(struct buf *out, enum form form, unsigned input)
{
    if (form == FIRST)
        buf_printf(out,
                   "{\"input_tokens\":%u,\"cached_input_tokens\":0,\"output_tokens\""
                   ":%u}",
                   input, input / 10);
    else
        buf_printf(out,
                   "{ \"output_tokens\" : %u, \"cache_write_input_tokens\": 0, "
                   "\"cached_input_tokens\": 0, \"input_tokens\": %u }",
                   input / 10, input);
}

static void
put_payload(struct buf *out, enum form form, char word, unsigned id, int more)
{
    static const char thread[] = "01a1f157-18cf-71a1-bf30-";
    if (word == 'T' || word == 'F')
        buf_printf(out, "session_meta\",\"payload\":{\"id\":\"%s%012u\"%s}", thread, id,
                   word == 'F' ? ",\"forked_from_id\":\"x\"" : "");
    else if (word == 't' || word == 'q')
        buf_printf(out, "turn_context\",\"payload\":{\"turn_id\":\"%s%012u\"}",
                   word == 't' ? thread : "", id);
    else if (word == 'c')
        buf_printf(out,
                   "response_item\",\"payload\":{\"type\":\"function_call\",\"name\":"
                   "\"x\",\"call_id\":\"call_%020u\"}",
                   id);
    else if (word == 'r')
        buf_printf(out,
                   "token_usage_record\",\"payload\":{\"response_id\":\"resp_%020u\","
                   "\"thread_token_usage\":{\"input_tokens\":1},\"usage\":",
                   id);
    else
        buf_puts(out, "event_msg\",\"payload\":{\"type\":\"token_count\",\"info\":{"
                      "\"total_token_usage\":");
    if (word != 'r' && word != 'n')
        return;
    put_usage(out, form, word == 'r' ? (unsigned)more : id);
    if (word == 'n' && more >= 0) {
        buf_puts(out, ",\"last_token_usage\":");
        put_usage(out, form, (unsigned)more);
    }
    buf_puts(out, word == 'n' ? "}}" : "}");
}

static void
put_thread(struct buf *out, enum form form, const char *words)
{
    while (*words) {
        char word = *words, *end;
        unsigned id = (unsigned)strtoul(words + 1, &end, 10);
        int more = -1;
        if (*end == '=' || *end == '/')
            more = (int)strtoul(end + 1, &end, 10);
        buf_printf(out, "{\"timestamp\":\"2026-11-19T01:0%d:19.123Z\",\"type\":\"", form);
        put_payload(out, form, word, id, more);
        buf_puts(out, "}\n");
        words = *end ? end + 1 : end;
    }
}

/* The usage it tells: ids of answers as they are, those of counts in full. */
static void
read_thread(const char *words, enum form form, bool is_interrupted, struct buf *ret)
{
    AUTO(buf) lines = { 0 };
    struct history_kit k;
    put_thread(&lines, form, words);
    history_kit_begin(&k, TURN_CODEX);
    struct view rest = { lines.p, lines.n }, line;
    while (history_kit_next(&rest, &line)) {
        assert_int_equal(history_kit_lines(&k, line), 0);
        if (is_interrupted)
            history_kit_reload(&k);
    }
    for (rest = (struct view){ k.shown.p, k.shown.n }; history_kit_next(&rest, &line);)
        if (line.n > 6 && !memcmp(line.p, "usage ", 6))
            buf_printf(ret, "%.*s\n", (int)line.n, (const char *)line.p);
    history_kit_end(&k);
}

/* "r1=30 n40": that answer, and one of a count's. */
static void
assert_told(const char *words, const char *want)
{
    AUTO(buf) got = { 0 };
    AUTO(buf) again = { 0 };
    AUTO(buf) shown = { 0 };
    struct view line;
    read_thread(words, FIRST, false, &got);
    for (struct view rest = { got.p, got.n }; history_kit_next(&rest, &line);) {
        unsigned long long id = 0;
        unsigned in = 0;
        AUTO(buf) text = { 0 };
        buf_append(&text, line.p, line.n);
        bool is_record = sscanf(buf_str(&text), "usage id=resp_%llu in=%u", &id, &in) ==
                         2;
        if (!is_record)
            assert_int_equal(
                sscanf(buf_str(&text), "usage id=codex-total-%llx in=%u", &id, &in), 2);
        buf_puts(&shown, shown.n ? " " : "");
        buf_printf(&shown, is_record ? "r%llu=%u" : "n%.0llu%u", is_record ? id : 0, in);
    }
    assert_string_equal(shown.n ? buf_str(&shown) : "", want);
    read_thread(words, FIRST, true, &again);
    assert_string_equal(got.n ? buf_str(&got) : "", again.n ? buf_str(&again) : "");
}

/* All that the one tells the other tells as well, word for word. */
static void
assert_copied(const char *words, const char *in_copy)
{
    AUTO(buf) first = { 0 };
    AUTO(buf) copy = { 0 };
    struct view line;
    read_thread(words, FIRST, false, &first);
    read_thread(in_copy, COPIED, false, &copy);
    assert_true(first.n > 0);
    for (struct view rest = { first.p, first.n }; history_kit_next(&rest, &line);) {
        AUTO(buf) text = { 0 };
        buf_append(&text, line.p, line.n);
        assert_non_null(strstr(buf_str(&copy), buf_str(&text)));
    }
}

/* -- cases -- */

static void
a_count_tells_by_what_it_has_grown(void **state)
{
    (void)state;
    assert_told("T1 t1 n100/100 n100/100 n150/50 n150/50", "n100 n50");
    assert_told("T1 t1 n100 n100 n150", "n100 n50");
    assert_told("T1 n0/0 n9/9", "n9");
}

/* Another thread's: of what came before it only the last step is its own. */
static void
a_total_that_shrinks_counts_by_its_last_step(void **state)
{
    (void)state;
    assert_told("T1 t1 n100/100 n50/7 n60/10", "n100 n7 n10");
    assert_told("T1 t1 n100 n50 n60", "n100 n10");
}

static void
a_record_and_the_count_of_it_are_one(void **state)
{
    (void)state;
    assert_told("T1 t1 r1=30 n30/30 r2=40 n70/40", "r1=30 r2=40");
    assert_told("T1 t1 r1=30 r2=40 n70/40 n80/10", "r1=30 r2=40 n10");
    assert_told("T1 t1 r1=30", "r1=30");
}

/* Before an answer's own count comes, that of the answer before may come once more. */
static void
a_count_that_is_told_again_takes_nothing_away(void **state)
{
    (void)state;
    assert_told("T1 t1 r1=30 n30/30 r2=40 n30/30 n70/40", "r1=30 r2=40");
    assert_told("T1 t1 r1=30 n30/30 r2=30 n30/30 n60/30", "r1=30 r2=30");
    assert_told("T1 t1 r1=30 n30/30 n30/0 r2=40 n70/40", "r1=30 r2=40");
}

static void
a_count_that_no_record_has_told_counts(void **state)
{
    (void)state;
    assert_told("T1 t1 r1=30 n75/45 n105/30", "r1=30 n45 n30");
    assert_told("T1 t1 n30/30 n70/40 t2 r1=50 n120/50 n125/5", "n30 n40 r1=50 n5");
}

/* The records' own totals begin at 0 in a thread that an older version has begun. */
static void
what_a_record_says_of_its_thread_is_no_total(void **state)
{
    (void)state;
    assert_told("T1 t1 n5000/5000 t2 r1=7 n5007/7 r2=8 n5015/8", "n5000 r1=7 r2=8");
}

static void
a_fork_without_its_parents_lines_tells_only_its_own(void **state)
{
    (void)state;
    assert_told("F2 t3 r3=40 n110/40 r4=5 n115/5", "r3=40 r4=5");
    assert_told("F2 t3 n110/40 n115/5", "n40 n5");
    assert_told("F2 t3 n110 n115", "n110 n5");
    assert_told("T2 t3 n110/40 n115/5", "n110 n5");
    assert_told("F2 t3 n110/0 n115/5", "n5");
}

static void
a_fork_that_has_its_parents_lines_tells_them_as_the_parent(void **state)
{
    (void)state;
    assert_copied("T1 t1 n30/30 n70/40", "F2 T1 t1 n30/30 n70/40 t3 n75/5");
    assert_copied("T1 t1 n30/30 t2 r1=40 n70/40",
                  "F2 T1 t1 n30/30 t2 r1=40 n70/40 t3 r2=5 n75/5");
    assert_copied("F2 T1 t1 n30/30 t2 n70/40", "F3 F2 T1 t1 n30/30 t2 n70/40 t3 n75/5");
    /* Those of 0.98 have no ids of turns. */
    assert_copied("T1 n10/10 c1 n30/20 c2 n70/40", "F2 T1 n10/10 c1 n30/20 c2 n70/40");
    assert_copied("F2 T1 n10/10 c1 n30/20", "F3 F2 T1 n10/10 c1 n30/20 n31/1");
    /* Made anew in place, with the parents' names gone. */
    assert_copied("F2 T1 t1 n30/30 n70/40", "F2 t1 n30/30 n70/40");
}

/* The same numbers elsewhere are something else. */
static void
what_is_not_copied_has_an_id_of_its_own(void **state)
{
    (void)state;
    static const char *const words[][2] = {
        { "T1 t1 n30/30", "T2 t2 n30/30" }, { "T1 c1 n30/30", "T2 c2 n30/30" },
        { "T1 n30/30", "T2 n30/30" },       { "T1 q1 n30/30", "T2 q1 n30/30" },
        { "T1 t1 n30/30", "T1 t1 n31/30" },
    };
    for (size_t i = 0; i < sizeof(words) / sizeof(words[0]); i++) {
        AUTO(buf) one = { 0 };
        AUTO(buf) other = { 0 };
        read_thread(words[i][0], FIRST, false, &one);
        read_thread(words[i][1], FIRST, false, &other);
        assert_true(one.n > 0 && other.n > 0);
        assert_string_not_equal(buf_str(&one), buf_str(&other));
    }
}

/* Records in any number, and never a count. */
static void
records_without_counts_cost_a_fixed_amount(void **state)
{
    (void)state;
    AUTO(buf) lines = { 0 };
    AUTO(buf) saved = { 0 };
    struct history_kit k;
    for (unsigned i = 0; i < 5000; i++) {
        AUTO(buf) word = { 0 };
        buf_printf(&word, "r%u=%u", i, i + 1);
        put_thread(&lines, FIRST, buf_str(&word));
    }
    put_thread(&lines, FIRST, "n5000/5000");
    history_kit_begin(&k, TURN_CODEX);
    k.is_quiet = true;
    assert_int_equal(history_kit_lines(&k, (struct view){ lines.p, lines.n }), 0);
    assert_int_equal(k.events, 5000);
    assert_int_equal(turn_history_save(k.h, &saved), 0);
    assert_true(saved.n < 10000);
    history_kit_end(&k);
}

static void
what_tells_no_usage_is_nothing(void **state)
{
    (void)state;
    static const char no_total[] =
        "\"event_msg\",\"payload\":{\"type\":\"token_count\",\"info\":{"
        "\"total_token_usage\":null,\"last_token_usage\":{\"input_tokens\":5}}}";
    static const char *const payloads[] = {
        "\"token_usage_record\",\"payload\":{\"response_id\":\"r\",\"usage\":null}",
        "\"token_usage_record\",\"payload\":{\"usage\":{\"input_tokens\":5}}",
        "\"event_msg\",\"payload\":{\"type\":\"token_count\",\"info\":null}",
        no_total,
    };
    struct history_kit k;
    history_kit_begin(&k, TURN_CODEX);
    for (size_t i = 0; i < sizeof(payloads) / sizeof(payloads[0]); i++) {
        AUTO(buf) line = { 0 };
        buf_printf(&line, "{\"type\":%s}", payloads[i]);
        assert_int_equal(history_kit_lines(&k, (struct view){ line.p, line.n }), 0);
    }
    assert_int_equal(k.events, 0);
    history_kit_end(&k);
}

/* The sums of one line each, of a stream that was kept and of a rollout's two ways. */
static struct turn_usage
sum_of(const char *before, const char *usage, const char *behind)
{
    struct history_kit k;
    AUTO(buf) line = { 0 };
    buf_printf(&line, "%s{%s}%s", before, usage, behind);
    history_kit_begin(&k, TURN_CODEX);
    assert_int_equal(history_kit_lines(&k, (struct view){ line.p, line.n }), 0);
    struct turn_usage sum = turn_totals_usage(&k.totals);
    history_kit_end(&k);
    return sum;
}

static void
a_stream_and_a_rollout_count_alike(void **state)
{
    (void)state;
#define COUNTS(in, read, made)                              \
    "\"input_tokens\":" in ",\"cached_input_tokens\":" read \
    ",\"cache_write_input_tokens\":" made ",\"output_tokens\":7"
    static const struct {
        const char *counts;
        struct turn_usage want;
    } all[] = {
        { COUNTS("100", "60", "30"), { 10, 7, 30, 60 } },
        { COUNTS("100", "60", "60"), { 40, 7, 60, 60 } }, /* more than there can be */
        { COUNTS("100", "160", "60"), { 40, 7, 60, 160 } },
        { COUNTS("100", "null", "-1"), { 100, 7, 0, 0 } },
        { "\"output_tokens\":7,\"cached_input_tokens\":5", { 0, 7, 0, 5 } },
    };
    for (size_t i = 0; i < sizeof(all) / sizeof(all[0]); i++) {
        const struct turn_usage sums[] = {
            sum_of("{\"type\":\"turn.completed\",\"usage\":", all[i].counts, "}"),
            sum_of("{\"type\":\"token_usage_record\",\"payload\":{\"response_id\":"
                   "\"r\",\"usage\":",
                   all[i].counts, "}}"),
            sum_of("{\"type\":\"event_msg\",\"payload\":{\"type\":\"token_count\","
                   "\"info\":{\"total_token_usage\":",
                   all[i].counts, "}}}"),
        };
        for (size_t k = 0; k < 3; k++)
            assert_memory_equal(&sums[k], &all[i].want, sizeof(sums[k]));
    }
}

int
main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_count_tells_by_what_it_has_grown),
        cmocka_unit_test(a_total_that_shrinks_counts_by_its_last_step),
        cmocka_unit_test(a_record_and_the_count_of_it_are_one),
        cmocka_unit_test(a_count_that_is_told_again_takes_nothing_away),
        cmocka_unit_test(a_count_that_no_record_has_told_counts),
        cmocka_unit_test(what_a_record_says_of_its_thread_is_no_total),
        cmocka_unit_test(a_fork_without_its_parents_lines_tells_only_its_own),
        cmocka_unit_test(a_fork_that_has_its_parents_lines_tells_them_as_the_parent),
        cmocka_unit_test(what_is_not_copied_has_an_id_of_its_own),
        cmocka_unit_test(records_without_counts_cost_a_fixed_amount),
        cmocka_unit_test(what_tells_no_usage_is_nothing),
        cmocka_unit_test(a_stream_and_a_rollout_count_alike),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
