/* SPDX-License-Identifier: MIT */
/* transcript_test.c -- which events make which line of a transcript. */
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "support/text_view.h"
#include "turn/transcript.h"

#define SECOND UINT64_C(1000000000)

/* What came out, and how it goes on. */
struct book {
    struct turn_transcript *t;
    struct buf lines;
    uint64_t count, number, asked;
    int fails_at; /* the line; 0: none */
};

static void
make_uuid(void *ctx, uint64_t number, char ret[TURN_UUID_SIZE])
{
    struct book *b = ctx;
    b->asked++;
    snprintf(ret, TURN_UUID_SIZE, "00000000-0000-8000-8%03u-%012u",
             number & TURN_CLOSING ? 1 : 0, (unsigned)number);
}

static int
take_line(void *ctx, struct view line)
{
    struct book *b = ctx;
    b->count++;
    return b->fails_at == (int)b->count ? -ENOSPC : buf_append(&b->lines, line.p, line.n);
}

static void
open_book(struct book *b)
{
    *b = (struct book){ 0 };
    const struct turn_transcript_options opt = {
        .session = "S",
        .version = "1.0",
        .git_branch = "main",
        .cwd = "/x",
        .uuid = make_uuid,
        .line = take_line,
        .ctx = b,
    };
    assert_int_equal(turn_transcript_new(&b->t, &opt), 0);
}

static void
close_book(struct book *b)
{
    turn_transcript_free(b->t);
    buf_release(&b->lines);
}

static int
add(struct book *b, const struct turn_event *e)
{
    b->number++;
    return turn_transcript_add(b->t, e, b->number, b->number * SECOND);
}

static void
say(struct book *b, enum turn_type type, const char *id, const char *text)
{
    struct turn_event e = turn_event(type);
    e.id = text_view(id);
    e.text = text_view(text);
    assert_int_equal(add(b, &e), 0);
}

static void
ask(struct book *b, const char *text)
{
    struct turn_event e = turn_event(TURN_TEXT);
    e.is_user = true;
    e.text = text_view(text);
    assert_int_equal(add(b, &e), 0);
}

static void
call_in(struct book *b, const char *message, const char *id, const char *name,
        const char *json)
{
    struct turn_event e = turn_event(TURN_TOOL_CALL);
    e.message = text_view(message);
    e.id = text_view(id);
    e.name = text_view(name);
    e.json = text_view(json);
    assert_int_equal(add(b, &e), 0);
}

static void
call(struct book *b, const char *id, const char *name, const char *json)
{
    call_in(b, "", id, name, json);
}

static void
used(struct book *b, enum turn_type type, const char *id, uint64_t in, uint64_t out)
{
    struct turn_event e = turn_event(type);
    e.id = text_view(id);
    e.usage.input_tokens = in;
    e.usage.output_tokens = out;
    assert_int_equal(add(b, &e), 0);
}

/* … and read from the cache, by a model. */
static void
used_by_model(struct book *b, const char *id, const char *parent, const char *model,
              struct turn_usage usage, bool is_final)
{
    struct turn_event e = turn_event(TURN_USAGE);
    e.id = text_view(id);
    e.parent = text_view(parent);
    e.model = text_view(model);
    e.usage = usage;
    e.is_final = is_final;
    assert_int_equal(add(b, &e), 0);
}

static void
end(struct book *b, bool has_ended)
{
    assert_int_equal(turn_transcript_end(b->t, 99 * SECOND, has_ended), 0);
}

/* The n-th line, from 1. */
static const char *
line(struct book *b, unsigned n)
{
    static char text[16384];
    const char *p = buf_str(&b->lines);
    assert_true(n <= b->count);
    for (; n > 1; n--)
        p = strchr(p, '\n') + 1;
    snprintf(text, sizeof(text), "%.*s", (int)strcspn(p, "\n"), p);
    return text;
}

static void
assert_has(struct book *b, unsigned n, const char *what)
{
    if (!strstr(line(b, n), what))
        fail_msg("line %u has no %s: %s", n, what, line(b, n));
}

#define HEAD(type, number, parent, time)                                               \
    "{\"type\":\"" type "\",\"sessionId\":\"S\",\"uuid\":\"00000000-0000-8000-8000-"   \
    "00000000000" number "\",\"parentUuid\":" parent ",\"timestamp\":\"1970-01-01T"    \
    "00:00:0" time ".000Z\",\"cwd\":\"/x\",\"version\":\"1.0\",\"isSidechain\":false," \
    "\"userType\":\"external\",\"gitBranch\":\"main\",\"message\":"

static void
a_turn_is_a_line_as_the_seed_has_it(void **state)
{
    (void)state;
    struct book b;
    open_book(&b);
    ask(&b, "explain \"main.rs\"");
    assert_int_equal(b.count, 1); /* at once: it is complete */
    say(&b, TURN_TEXT, "m1", "Let me read.");
    call(&b, "t1", "read_file", "{\"path\": \"src/main.rs\"}");
    used(&b, TURN_USAGE, "m1", 1200, 350);
    assert_int_equal(b.count, 1);
    say(&b, TURN_TOOL_RESULT, "t1", "1: use std::io;");
    assert_int_equal(b.count, 2);
    say(&b, TURN_TEXT, "m2", "Done.");
    assert_int_equal(b.count, 3);
    end(&b, true);
    assert_int_equal(b.count, 4);
    assert_string_equal(
        line(&b, 1),
        HEAD("user", "1", "null",
             "1") "{\"role\":\"user\",\"content\":\"explain \\\"main.rs\\\"\"}}");
    assert_string_equal(
        line(&b, 2),
        HEAD("assistant", "2", "\"00000000-0000-8000-8000-000000000001\"",
             "3") "{\"id\":\"m1\",\"type\":\"message\",\"role\":\"assistant\",\"model\":"
                  "\"\","
                  "\"content\":[{\"type\":\"text\",\"text\":\"Let me read.\"},{\"type\":"
                  "\"tool_use\",\"id\":\"t1\",\"name\":\"read_file\",\"input\":{\"path\":"
                  "\"src/"
                  "main.rs\"}}],\"stop_reason\":\"tool_use\",\"usage\":{\"input_tokens\":"
                  "1200,"
                  "\"output_tokens\":350,\"cache_creation_input_tokens\":0,"
                  "\"cache_read_input_tokens\":0}}}");
    assert_string_equal(line(&b, 3),
                        HEAD("user", "5", "\"00000000-0000-8000-8000-000000000002\"",
                             "5") "{\"role\":\"user\",\"content\":[{\"type\":\"tool_"
                                  "result\",\"tool_use_id\":"
                                  "\"t1\",\"content\":\"1: use std::io;\"}]}}");
    assert_has(&b, 4, "\"stop_reason\":\"end_turn\"");
    close_book(&b);
}

static void
results_and_what_the_user_says_then_are_one_line(void **state)
{
    (void)state;
    struct book b;
    open_book(&b);
    call(&b, "t1", "A", "{}");
    call(&b, "t2", "B", "[1]");
    call(&b, "", "C", "{\"x\":");
    assert_int_equal(b.count, 0);
    say(&b, TURN_TOOL_RESULT, "t2", "two");
    say(&b, TURN_TOOL_RESULT, "t1", "one");
    say(&b, TURN_TOOL_RESULT, "", "of the oldest");
    ask(&b, "and now?");
    assert_int_equal(b.count, 2);
    assert_has(&b, 1, "\"id\":\"msg_00000000-0000-8000-8000-000000000001\"");
    assert_has(&b, 1, "\"name\":\"A\",\"input\":{}}");
    assert_has(&b, 1, "\"name\":\"B\",\"input\":{\"value\":[1]}}");
    assert_has(&b, 1,
               "\"id\":\"call_3\",\"name\":\"C\",\"input\":{\"text\":\"{\\\"x\\\":\"}}");
    assert_has(&b, 2, "\"tool_use_id\":\"t2\",\"content\":\"two\"},{");
    assert_has(&b, 2,
               "\"tool_use_id\":\"call_3\",\"content\":\"of the oldest\"},"
               "{\"type\":\"text\",\"text\":\"and now?\"}]");
    end(&b, true);
    assert_int_equal(b.count, 2);
    close_book(&b);
}

static void
a_call_without_a_result_is_closed_when_all_has_ended(void **state)
{
    (void)state;
    struct book b;
    for (int has_ended = 0; has_ended < 2; has_ended++) {
        open_book(&b);
        call(&b, "t1", "A", "");
        call(&b, "t2", "B", "");
        say(&b, TURN_TOOL_RESULT, "t1", "one");
        end(&b, has_ended);
        assert_int_equal(b.count, 2 + has_ended);
        if (has_ended)
            assert_has(&b, 3,
                       "[{\"type\":\"tool_result\",\"tool_use_id\":\"t2\",\"content\":"
                       "\"[Tool execution was interrupted]\",\"is_error\":true}]");
        close_book(&b);
    }
}

static void
a_call_that_is_told_again_is_one_and_has_one_result(void **state)
{
    (void)state;
    struct book b;
    for (int is_early = 0; is_early < 2; is_early++) {
        open_book(&b);
        call(&b, "item_3", "todo_list", "{\"items\":[1]}");
        if (is_early)
            assert_int_equal(turn_transcript_flush(b.t), 0);
        call(&b, "item_3", "todo_list", "{\"items\":[2]}");
        say(&b, TURN_TOOL_RESULT, "item_3", "[x] one");
        call(&b, "item_3", "todo_list", "{}"); /* another one */
        say(&b, TURN_TOOL_RESULT, "item_3", "[x] two");
        end(&b, true);
        assert_int_equal(b.count, 4);
        assert_has(&b, 1,
                   "\"content\":[{\"type\":\"tool_use\",\"id\":\"item_3\",\"name\":"
                   "\"todo_list\",\"input\":{\"items\":[1]}}],");
        assert_has(&b, 2, "\"content\":\"[x] one\"}]");
        assert_has(&b, 4, "\"content\":\"[x] two\"}]");
        close_book(&b);
    }
}

/* Each call looks through those that are open: there may not be too many. */
static void
of_many_open_calls_the_oldest_are_forgotten(void **state)
{
    (void)state;
    struct book b;
    char id[16];
    open_book(&b);
    for (int i = 0; i < 10000; i++) {
        snprintf(id, sizeof(id), "%x", i);
        call(&b, id, "T", "{}");
    }
    size_t told = b.lines.n;
    end(&b, true);
    const char *rest = buf_str(&b.lines) + told;
    uint64_t count = 0;
    for (const char *p = rest; (p = strstr(p, "{\"type\":\"tool_result\"")); p++)
        count++;
    assert_in_range(count, 1000, 8000);
    assert_non_null(strstr(rest, "\"tool_use_id\":\"270f\""));
    assert_null(strstr(rest, "\"tool_use_id\":\"1\""));
    close_book(&b);
}

/* Sums what stands behind a key in all lines. */
static uint64_t
sum(struct book *b, const char *key)
{
    uint64_t all = 0;
    for (const char *p = buf_str(&b->lines); (p = strstr(p, key)); p++)
        all += strtoull(p + strlen(key), NULL, 10);
    return all;
}

/* The value behind a key in the line that begins there, from `at` on; 0: none. */
static uint64_t
number_in_line(const char *at, const char *key)
{
    const char *end = at + strcspn(at, "\n"), *found = strstr(at, key);
    return found && found < end ? strtoull(found + strlen(key), NULL, 10) : 0;
}

/* As Entire counts: of each message the line with the most output, whole, and of several
 * the first; and as others do, the largest of each value. Both must come to the same. */
static uint64_t
used_by(const char *lines, const char *key)
{
    struct {
        char id[80];
        uint64_t output, value, most;
    } m[128] = { 0 };
    uint64_t sum = 0, sum_of_most = 0;
    for (const char *at = lines; (at = strstr(at, "\"message\":{\"id\":\"")); at++) {
        char id[80];
        snprintf(id, sizeof(id), "%.*s", (int)strcspn(at + 17, "\""), at + 17);
        uint64_t output = number_in_line(at, "\"output_tokens\":");
        uint64_t value = number_in_line(at, key);
        size_t i = 0;
        while (*m[i].id && strcmp(m[i].id, id) != 0)
            i++;
        if (!*m[i].id || output > m[i].output)
            m[i].output = output, m[i].value = value;
        m[i].most = value > m[i].most ? value : m[i].most;
        snprintf(m[i].id, sizeof(m[i].id), "%s", id);
    }
    for (size_t i = 0; *m[i].id; i++)
        sum += m[i].value, sum_of_most += m[i].most;
    assert_int_equal(sum, sum_of_most);
    return sum;
}

static void
the_streams_own_total_is_the_truth(void **state)
{
    (void)state;
    struct book b;
    open_book(&b);
    used(&b, TURN_USAGE, "m1", 10, 1); /* before it says anything */
    say(&b, TURN_TEXT, "m1", "one");
    say(&b, TURN_TEXT, "m2", "two");
    used(&b, TURN_USAGE, "m2", 20, 1);
    used(&b, TURN_USAGE, "m2", 20, 3); /* the larger one */
    used(&b, TURN_DONE, "", 30, 370);
    assert_int_equal(b.count, 2);
    assert_has(&b, 1, "\"input_tokens\":10,\"output_tokens\":1,");
    assert_has(&b, 2, "\"input_tokens\":20,\"output_tokens\":369,");
    ask(&b, "go on");
    used(&b, TURN_DONE, "", 5, 5); /* and nothing was said */
    assert_int_equal(b.count, 4);
    assert_has(&b, 4, "\"content\":[],");
    say(&b, TURN_THINKING, "m3", "hm");
    used(&b, TURN_USAGE, "m3", 7, 7);
    end(&b, true);
    assert_has(&b, 5, "{\"type\":\"thinking\",\"thinking\":\"hm\",\"signature\":\"\"}");
    assert_int_equal(sum(&b, "\"input_tokens\":"), 42);
    assert_int_equal(sum(&b, "\"output_tokens\":"), 382);
    close_book(&b);
}

static void
what_is_not_told_is_not_made_up(void **state)
{
    (void)state;
    struct book b;
    struct turn_event session = turn_event(TURN_SESSION);
    open_book(&b);
    session.model = text_view("m-1");
    session.cwd = text_view("/y");
    assert_int_equal(add(&b, &session), 0);
    say(&b, TURN_STDERR, "", "noise");
    say(&b, TURN_WARNING, "", "noise");
    say(&b, TURN_OTHER, "", "noise");
    say(&b, TURN_TEXT, "m", "a");
    say(&b, TURN_ERROR, "", "noise");
    say(&b, TURN_TEXT, "m", "b");
    end(&b, true);
    assert_int_equal(b.count, 1);
    assert_has(&b, 1, "\"cwd\":\"/y\"");
    assert_has(&b, 1,
               "\"model\":\"m-1\",\"content\":[{\"type\":\"text\",\"text\":\"a\"},"
               "{\"type\":\"text\",\"text\":\"b\"}]");
    assert_null(strstr(line(&b, 1), "usage"));
    close_book(&b);
}

static void
a_sub_agents_lines_are_beside_the_chain_of_talk(void **state)
{
    (void)state;
    struct book b;
    struct turn_event e = turn_event(TURN_TEXT);
    open_book(&b);
    call(&b, "task", "Task", "{}");
    e.parent = text_view("task");
    e.id = text_view("s1");
    e.text = text_view("sub");
    e.was_cut_off = true;
    assert_int_equal(add(&b, &e), 0);
    say(&b, TURN_TOOL_RESULT, "task", "done");
    end(&b, true);
    assert_int_equal(b.count, 3);
    assert_has(&b, 1, "\"isSidechain\":false");
    assert_has(&b, 2, "\"isSidechain\":true");
    assert_has(&b, 2, "\"stop_reason\":null");
    assert_has(&b, 3, "\"isSidechain\":false");
    assert_has(&b, 3, "\"parentUuid\":\"00000000-0000-8000-8000-000000000002\"");
    close_book(&b);
}

static void
much_of_one_turn_is_several_lines(void **state)
{
    (void)state;
    struct book b;
    AUTO(buf) text = { 0 };
    open_book(&b);
    memset(buf_grow(&text, 3 << 20), 'x', 3 << 20);
    struct turn_event e = turn_event(TURN_TEXT);
    e.id = text_view("m");
    e.text = (struct view){ text.p, text.n };
    for (int i = 0; i < 5; i++)
        assert_int_equal(add(&b, &e), 0);
    end(&b, true);
    assert_int_equal(b.count, 3);
    close_book(&b);
}

static void
assert_input(const char *given, const char *want)
{
    struct book b;
    open_book(&b);
    call(&b, "t", "A", given);
    end(&b, false);
    const char *at = strstr(line(&b, 1), "\"input\":");
    assert_non_null(at);
    assert_memory_equal(at + 8, want, strlen(want));
    assert_memory_equal(at + 8 + strlen(want), "}],\"stop_reason\"", 16);
    close_book(&b);
}

static void
a_half_of_a_surrogate_pair_is_replaced(void **state)
{
    (void)state;
    assert_input("{\"a\": \"x\\ud800\", \"b\":\"\\uDC00y\"}",
                 "{\"a\":\"x\\ufffd\",\"b\":\"\\ufffdy\"}");
    assert_input("{\"a\":\"\\ud83e\\udd8a \\ud83e\\\\udd8a\\uD83E\\ud83e\\udd8a\"}",
                 "{\"a\":\"\\ud83e\\udd8a \\ufffd\\\\udd8a\\ufffd\\ud83e\\udd8a\"}");
    assert_input("[\"\\udfff\"]", "{\"value\":[\"\\ufffd\"]}");
    assert_input("{\"a\":\"\\ud800\"", "{\"text\":\"{\\\"a\\\":\\\"\\\\ud800\\\"\"}");
}

static void
arguments_that_are_too_deep_are_a_text(void **state)
{
    (void)state;
    char json[600], want[700];
    static const char brackets[] = "[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[";
    assert_input("{\"a\":\"[[{{\",\"b\":[\"\\\"[\"]}",
                 "{\"a\":\"[[{{\",\"b\":[\"\\\"[\"]}");
    for (int deep = 0; deep < 2; deep++) {
        size_t n = 199 + (size_t)deep;
        snprintf(json, sizeof(json), "{\"a\":%s%s%s%s", brackets, brackets, brackets,
                 brackets);
        memset(json + 5 + n, ']', 2 * n - n);
        snprintf(json + 5 + 2 * n, 2, "}");
        snprintf(want, sizeof(want), deep ? "{\"text\":\"{\\\"a\\\":%s\"}" : "%s",
                 deep ? json + 5 : json);
        assert_input(json, want);
    }
}

static void
what_stands_in_each_line_is_short(void **state)
{
    (void)state;
    enum { LONG = 2 << 20 };
    struct book b;
    AUTO(buf) text = { 0 };
    open_book(&b);
    for (int i = 0; i < LONG; i += 2)
        buf_puts(&text, "\303\274");
    struct view all = { text.p, text.n };
    struct turn_event e = turn_event(TURN_SESSION), used = turn_event(TURN_USAGE);
    e.model = e.cwd = all;
    assert_int_equal(add(&b, &e), 0);
    e = turn_event(TURN_TEXT);
    e.id = used.id = e.parent = used.parent = used.model = all;
    used.usage = (struct turn_usage){ 1, 1, 1, 1 };
    for (int i = 0; i < 40; i++) {
        assert_int_equal(add(&b, &e), 0);
        if (!i)
            assert_int_equal(add(&b, &used), 0);
        assert_int_equal(turn_transcript_flush(b.t), 0);
    }
    end(&b, true);
    assert_int_equal(b.count, 40);
    assert_true(b.lines.n < 40 * 8192);
    assert_null(strstr(buf_str(&b.lines), "\357\277\275")); /* nothing was cut in two */
    assert_int_equal(number_in_line(line(&b, 40), "\"output_tokens\":"), 1);
    close_book(&b);
}

static void
whoever_takes_the_lines_may_stop_it(void **state)
{
    (void)state;
    struct book b;
    open_book(&b);
    b.fails_at = 2;
    ask(&b, "one");
    struct turn_event e = turn_event(TURN_TEXT);
    e.is_user = true;
    assert_int_equal(add(&b, &e), -ENOSPC);
    close_book(&b);
}

static void
uuids_of_a_session_are_always_the_same_and_no_two(void **state)
{
    (void)state;
    enum { COUNT = 2000 };
    static char all[COUNT][TURN_UUID_SIZE];
    char other[TURN_UUID_SIZE];
    for (unsigned i = 0; i < COUNT; i++) {
        turn_transcript_uuid("2026-11-16-a", i, all[i]);
        assert_int_equal(strlen(all[i]), 36);
        assert_int_equal(all[i][14], '8');
        assert_non_null(strchr("89ab", all[i][19]));
        for (unsigned k = 0; k < i; k++)
            assert_string_not_equal(all[i], all[k]);
        turn_transcript_uuid("2026-11-16-b", i, other);
        assert_string_not_equal(other, all[i]);
        turn_transcript_uuid("2026-11-16-a", i, other);
        assert_string_equal(other, all[i]);
    }
}

/* -- lines that are complete before their turn is -- */

static void
more_of_a_message_that_was_quiet_is_another_line_of_it(void **state)
{
    (void)state;
    struct book b;
    open_book(&b);
    assert_false(turn_transcript_is_open(b.t));
    say(&b, TURN_TEXT, "m1", "Let me read.");
    assert_true(turn_transcript_is_open(b.t));
    assert_int_equal(turn_transcript_flush(b.t), 0);
    assert_int_equal(b.count, 1);
    assert_int_equal(turn_transcript_flush(b.t), 0);
    assert_int_equal(b.count, 1); /* there is nothing more */
    call(&b, "t1", "Read", "{\"path\":\"a\"}");
    used(&b, TURN_USAGE, "m1", 10, 5);
    say(&b, TURN_TOOL_RESULT, "t1", "1");
    end(&b, true);
    assert_int_equal(b.count, 3);
    assert_has(&b, 1, "\"id\":\"m1\"");
    assert_has(&b, 1, "\"stop_reason\":null}");
    assert_has(&b, 2, "\"id\":\"m1\"");
    assert_has(&b, 2, "\"content\":[{\"type\":\"tool_use\"");
    assert_has(&b, 2, "\"input_tokens\":10,\"output_tokens\":5");
    close_book(&b);
}

static void
what_a_message_has_used_is_told_though_its_line_is_written(void **state)
{
    (void)state;
    struct book b;
    open_book(&b);
    say(&b, TURN_TEXT, "m1", "Hello.");
    used(&b, TURN_USAGE, "m1", 10, 1);
    assert_int_equal(turn_transcript_flush(b.t), 0);
    used(&b, TURN_USAGE, "m1", 10, 1); /* nothing new */
    assert_false(turn_transcript_is_open(b.t));
    used(&b, TURN_USAGE, "m1", 10, 70);
    used(&b, TURN_DONE, "", 10, 75);
    end(&b, true);
    assert_int_equal(b.count, 2);
    assert_has(&b, 1, "\"input_tokens\":10,\"output_tokens\":1,");
    assert_has(&b, 2, "\"id\":\"m1\"");
    assert_has(&b, 2, "\"content\":[]");
    assert_has(&b, 2, "\"input_tokens\":10,\"output_tokens\":75,");
    close_book(&b);
}

/* As OpenCode tells: what a step has used comes behind the results of its calls. */
static void
what_a_message_of_calls_has_used_is_told_at_once(void **state)
{
    (void)state;
    struct book b;
    open_book(&b);
    call_in(&b, "m1", "t1", "Read", "{}");
    say(&b, TURN_TOOL_RESULT, "t1", "1");
    used(&b, TURN_USAGE, "m1", 10, 5);
    say(&b, TURN_TEXT, "m2", "Done.");
    assert_int_equal(b.count, 3);
    used(&b, TURN_USAGE, "m2", 20, 7);
    used(&b, TURN_DONE, "", 0, 0);
    end(&b, true);
    assert_int_equal(b.count, 4);
    assert_has(&b, 1, "\"id\":\"m1\",");
    assert_has(&b, 3, "\"id\":\"m1\",");
    assert_has(&b, 3,
               "\"content\":[],\"stop_reason\":\"tool_use\",\"usage\":{\"input_tokens\":"
               "10,\"output_tokens\":5,");
    assert_has(&b, 4, "\"input_tokens\":20,\"output_tokens\":7,");
    close_book(&b);
}

/* As Claude Code tells in pieces: the message begins, its calls come one by one. */
static void
calls_far_from_each_other_are_of_their_message(void **state)
{
    (void)state;
    struct book b;
    char m[8], t[8];
    open_book(&b);
    for (int i = 1; i <= 3; i++) {
        snprintf(m, sizeof(m), "m%d", i);
        used(&b, TURN_USAGE, m, 10, 1);
        for (int n = 0; n < 2; n++) {
            snprintf(t, sizeof(t), "t%d%d", i, n);
            call_in(&b, m, t, "Read", "{}");
            assert_int_equal(turn_transcript_flush(b.t), 0);
        }
        used(&b, TURN_USAGE, m, 10, 20);
        for (int n = 0; n < 2; n++) {
            snprintf(t, sizeof(t), "t%d%d", i, n);
            say(&b, TURN_TOOL_RESULT, t, "1");
        }
        assert_int_equal(turn_transcript_flush(b.t), 0);
        assert_int_equal(used_by(buf_str(&b.lines), "\"output_tokens\":"), 20 * i);
        assert_int_equal(used_by(buf_str(&b.lines), "\"input_tokens\":"), 10 * i);
    }
    end(&b, true);
    assert_int_equal(b.count, 12);
    assert_int_equal(number_in_line(line(&b, 1), "\"output_tokens\":"), 1);
    for (unsigned n = 1; n <= 12; n++) {
        snprintf(m, sizeof(m), "\"m%u\"", (n - 1) / 4 + 1);
        if (n % 4)
            assert_has(&b, n, m), assert_has(&b, n, "\"stop_reason\":\"tool_use\"");
    }
    close_book(&b);
}

static void
a_line_of_a_message_is_of_the_model_that_said_it(void **state)
{
    (void)state;
    struct book b;
    struct turn_event session = turn_event(TURN_SESSION), sub = turn_event(TURN_TEXT);
    open_book(&b);
    session.model = text_view("large");
    assert_int_equal(add(&b, &session), 0);
    call_in(&b, "m1", "task", "Task", "{}");
    sub.parent = text_view("task");
    sub.text = text_view("sub");
    for (int n = 0; n < 2; n++) { /* two sub-agents take turns */
        sub.id = text_view("s1");
        assert_int_equal(add(&b, &sub), 0);
        if (!n)
            used_by_model(&b, "s1", "task", "small", (struct turn_usage){ 1, 2, 0, 0 },
                          false);
        sub.id = text_view("s2");
        assert_int_equal(add(&b, &sub), 0);
        if (!n)
            used_by_model(&b, "s2", "task", "tiny", (struct turn_usage){ 1, 2, 0, 0 },
                          false);
    }
    say(&b, TURN_TEXT, "m2", "and");
    used_by_model(&b, "m2", "", "other", (struct turn_usage){ 1, 2, 0, 0 }, true);
    say(&b, TURN_TEXT, "m3", "then");
    used_by_model(&b, "m4", "", "silent", (struct turn_usage){ 1, 2, 0, 0 }, true);
    end(&b, false);
    static const char *const models[] = { "large", "small", "tiny",  "small",
                                          "tiny",  "other", "large", "silent" };
    assert_int_equal(b.count, 8);
    for (unsigned n = 1; n <= 8; n++) {
        char want[32];
        snprintf(want, sizeof(want), "\"model\":\"%s\"", models[n - 1]);
        assert_has(&b, n, want);
    }
    close_book(&b);
}

/* A line of the message that has no more output than the one before would not count. */
static void
a_rest_without_output_is_a_message_of_its_own(void **state)
{
    (void)state;
    struct book b;
    for (int is_early = 0; is_early < 2; is_early++) {
        open_book(&b);
        say(&b, TURN_TEXT, "m1", "Hello.");
        used(&b, TURN_USAGE, "m1", 10, 5);
        if (is_early)
            assert_int_equal(turn_transcript_flush(b.t), 0);
        used_by_model(&b, "m1", "", "", (struct turn_usage){ 12, 5, 0, 0 }, true);
        struct turn_event done = turn_event(TURN_DONE);
        done.usage = (struct turn_usage){ 30, 5, TURN_UNKNOWN, 1000 };
        assert_int_equal(add(&b, &done), 0);
        end(&b, true);
        assert_int_equal(b.count, 1 + is_early);
        assert_int_equal(used_by(buf_str(&b.lines), "\"input_tokens\":"), 30);
        assert_int_equal(used_by(buf_str(&b.lines), "\"output_tokens\":"), 5);
        assert_int_equal(used_by(buf_str(&b.lines), "\"cache_read_input_tokens\":"),
                         1000);
        if (is_early)
            assert_has(&b, 2, "\"id\":\"msg_"), assert_has(&b, 2, "\"content\":[],");
        close_book(&b);
    }
}

static void
leave(struct book *b)
{
    struct turn_event e = turn_event(TURN_EXIT);
    assert_int_equal(add(b, &e), 0);
}

static void
each_iteration_has_messages_and_calls_of_its_own(void **state)
{
    (void)state;
    struct book b;
    open_book(&b);
    for (int n = 1; n <= 3; n++) {
        char id[8];
        say(&b, TURN_TEXT, "item_1", "one");
        used(&b, TURN_USAGE, "item_1", 1000, 10);
        call(&b, "t1", "Read", "{}");
        snprintf(id, sizeof(id), "own_%d", n);
        call_in(&b, id, "t2", "Read", "{}");
        say(&b, TURN_TOOL_RESULT, "t2", "x");
        leave(&b);
    }
    for (int n = 0; n < 2; n++) {
        say(&b, TURN_TEXT, "", "ok"); /* of a shell's */
        leave(&b);
    }
    end(&b, true);
    assert_int_equal(b.count, 14);
    for (unsigned n = 1; n <= 9; n += 4) {
        static const char *const ids[] = { "\"item_1\"", "\"item_1.2\"", "\"item_1.3\"" };
        assert_has(&b, n, ids[n / 4]);
        assert_has(&b, n, "\"input_tokens\":1000,");
        assert_has(&b, n + 1, "\"id\":\"own_");
        assert_null(strstr(line(&b, n + 1), ".2"));
        assert_has(
            &b, n + 3,
            "\"tool_use_id\":\"t1\",\"content\":\"[Tool execution was interrupted]\"");
    }
    for (unsigned n = 13; n <= 14; n++)
        assert_has(&b, n, "\"content\":[{\"type\":\"text\",\"text\":\"ok\"}]");
    assert_int_equal(used_by(buf_str(&b.lines), "\"input_tokens\":"), 3000);
    close_book(&b);
}

/* As of `cat` in each iteration. */
static void
a_message_with_a_unique_id_is_the_same_in_each_iteration(void **state)
{
    (void)state;
    struct book b;
    open_book(&b);
    for (int n = 0; n < 3; n++) {
        say(&b, TURN_TEXT, "msg_01UniqueAndLong", "one");
        used(&b, TURN_USAGE, "msg_01UniqueAndLong", 1000, 10);
        leave(&b);
        assert_has(&b, (unsigned)n + 1, "\"id\":\"msg_01UniqueAndLong\"");
    }
    end(&b, true);
    assert_int_equal(b.count, 3);
    assert_int_equal(used_by(buf_str(&b.lines), "\"input_tokens\":"), 1000);
    close_book(&b);
}

/* A rest and interrupted calls begin with the same event: their uuids differ. */
static void
what_an_iteration_left_open_is_told_at_its_end(void **state)
{
    (void)state;
    struct book b;
    open_book(&b);
    used(&b, TURN_USAGE, "silent", 7, 7);
    call(&b, "t1", "Read", "{}");
    call(&b, "t2", "Read", "{}");
    say(&b, TURN_TOOL_RESULT, "t2", "x");
    leave(&b);
    assert_int_equal(b.count, 4);
    assert_has(&b, 3, "\"uuid\":\"00000000-0000-8000-8000-000000000005\"");
    assert_has(&b, 3, "\"output_tokens\":7");
    assert_has(&b, 4, "\"uuid\":\"00000000-0000-8000-8001-000000000005\"");
    close_book(&b);
}

static void
what_a_silent_message_has_used_is_told_once(void **state)
{
    (void)state;
    struct book b;
    open_book(&b);
    used(&b, TURN_USAGE, "m1", 7, 5);
    used(&b, TURN_DONE, "", 0, 0); /* tells it */
    say(&b, TURN_TEXT, "m1", "Late.");
    end(&b, true);
    assert_int_equal(b.count, 2);
    assert_int_equal(used_by(buf_str(&b.lines), "\"output_tokens\":"), 5);
    close_book(&b);
}

/* Of two kinds of ids; whatever of it comes behind 70 others adds nothing. */
static void
what_a_message_that_is_forgotten_tells_again_hides_no_rest(void **state)
{
    (void)state;
    for (int way = 0; way < 8; way++) {
        const char *name = way & 1 ? "msg_01UniqueAndLong" : "m";
        struct book b;
        char id[40];
        open_book(&b);
        for (int i = 0; i <= 70; i++) {
            snprintf(id, sizeof(id), "%s%02d", name, i % 70);
            say(&b, TURN_TEXT, id, "x");
            if (i < 70 || way & 2)
                used(&b, TURN_USAGE, id, 100, i < 70 || !(way & 4) ? 10 : 15);
        }
        used(&b, TURN_DONE, "", 7100, 720);
        end(&b, true);
        assert_int_equal(used_by(buf_str(&b.lines), "\"input_tokens\":"), 7100);
        assert_int_equal(used_by(buf_str(&b.lines), "\"output_tokens\":"), 720);
        close_book(&b);
    }
}

/* What has come with a rest is not told once more by the message's own lines. */
static void
what_a_rest_has_told_is_not_told_again(void **state)
{
    (void)state;
    for (int is_written = 0; is_written < 2; is_written++) {
        struct book b;
        open_book(&b);
        if (is_written)
            say(&b, TURN_TEXT, "msg_01UniqueAndLong", "x");
        used(&b, TURN_USAGE, "msg_01UniqueAndLong", 10, 5);
        say(&b, TURN_TEXT, "msg_02UniqueAndLong", "y");
        used(&b, TURN_USAGE, "msg_01UniqueAndLong", 30, 5);
        used(&b, TURN_DONE, "", 0, 0);
        used(&b, TURN_USAGE, "msg_01UniqueAndLong", 30, 5);
        say(&b, TURN_TEXT, "msg_01UniqueAndLong", "z");
        used(&b, TURN_USAGE, "msg_01UniqueAndLong", 30, 9);
        end(&b, true);
        assert_int_equal(used_by(buf_str(&b.lines), "\"input_tokens\":"), 30);
        assert_int_equal(used_by(buf_str(&b.lines), "\"output_tokens\":"), 9);
        close_book(&b);
    }
}

static int
lose_second(void *ctx, struct view v)
{
    struct book *b = ctx;
    return b->number == 2 ? 1 : take_line(ctx, v);
}

static void
no_line_follows_one_that_is_lost(void **state)
{
    (void)state;
    struct book b = { 0 };
    struct turn_transcript_options opt = {
        .session = "S", .version = "1", .uuid = make_uuid, .line = lose_second, .ctx = &b
    };
    assert_int_equal(turn_transcript_new(&b.t, &opt), 0);
    for (int i = 0; i < 3; i++)
        ask(&b, "x");
    assert_int_equal(b.count, 2);
    assert_has(&b, 2,
               "\"uuid\":\"00000000-0000-8000-8000-000000000003\",\"parentUuid\":\""
               "00000000-0000-8000-8000-000000000001\"");
    close_book(&b);
}

/* -- a transcript of which a part is there -- */

enum { SCENE = 14, LINES_MAX = 64 };

/* Event n (from 0) of a conversation. */
static void
play(struct book *b, int n)
{
    switch (n) {
    case 0:
        ask(b, "go");
        break;
    case 1:
        say(b, TURN_TEXT, "m1", "block-1");
        break;
    case 2:
        used(b, TURN_USAGE, "m1", 100, 1);
        break;
    case 3:
        call(b, "t1", "Read", "{\"a\":\"block-2\"}");
        break;
    case 4:
        call(b, "t2", "Read", "{\"a\":\"block-3\"}");
        break;
    case 5:
        used(b, TURN_USAGE, "m1", 100, 40);
        break;
    case 6:
        say(b, TURN_TOOL_RESULT, "t1", "block-4");
        break;
    case 7:
        ask(b, "block-5");
        break;
    case 8:
        say(b, TURN_THINKING, "m2", "block-6");
        break;
    case 9:
        say(b, TURN_TEXT, "m2", "block-7");
        break;
    case 10:
        used(b, TURN_USAGE, "m2", 7, 3);
        break;
    case 11:
        used(b, TURN_DONE, "", 120, 50);
        break;
    case 12:
        leave(b);
        break;
    default:
        say(b, TURN_TEXT, "m2", "block-8");
        break;
    }
}

/* The lines that are there: the first `kept` of a book's. */
struct shelf {
    struct book book;
    struct book *old;
    unsigned kept;
};

static unsigned
count_of(const char *text, const char *what)
{
    unsigned n = 0;
    for (; (text = strstr(text, what)); text++)
        n++;
    return n;
}

static uint64_t
number_behind(const char *text, const char *key)
{
    const char *at = strstr(text, key);
    return at ? strtoull(at + strlen(key), NULL, 10) : TURN_UNKNOWN;
}

static bool
is_there(void *ctx, const char *uuid, struct turn_transcript_known *ret)
{
    struct shelf *s = (struct shelf *)ctx;
    char wanted[64];
    snprintf(wanted, sizeof(wanted), "\"uuid\":\"%s\"", uuid);
    for (unsigned n = 1; n <= s->kept; n++) {
        const char *text = line(s->old, n);
        if (!strstr(text, wanted))
            continue;
        const char *inside = strstr(text, "\"message\":");
        ret->blocks = count_of(inside, "{\"type\":\"");
        ret->usage = TURN_NO_USAGE;
        ret->usage.input_tokens = number_behind(inside, "\"input_tokens\":");
        ret->usage.output_tokens = number_behind(inside, "\"output_tokens\":");
        if (ret->usage.input_tokens != TURN_UNKNOWN)
            ret->usage.cache_read_tokens = ret->usage.cache_creation_tokens = 0;
        static char id[80];
        const char *at = strstr(inside, "{\"id\":\"");
        at = at == inside + 10 ? at + 7 : NULL; /* else of a tool_use */
        snprintf(id, sizeof(id), "%.*s", at ? (int)strcspn(at, "\"") : 0, at ? at : "");
        ret->id = text_view(id);
        return true;
    }
    return false;
}

static void
open_shelf(struct shelf *s, struct book *old, unsigned kept)
{
    *s = (struct shelf){ .old = old, .kept = kept };
    const struct turn_transcript_options opt = {
        .session = "S",
        .version = "1.0",
        .git_branch = "main",
        .cwd = "/x",
        .uuid = make_uuid,
        .line = take_line,
        .known = is_there,
        .ctx = s,
    };
    assert_int_equal(turn_transcript_new(&s->book.t, &opt), 0);
}

/* Whichever lines were written early, and however many of them are there. */
static void
what_is_missing_is_made_once_more_and_no_more(void **state)
{
    (void)state;
    for (unsigned quiet = 0; quiet < 1U << SCENE; quiet++) {
        struct book b;
        open_book(&b);
        for (int n = 0; n < SCENE; n++) {
            play(&b, n);
            if (quiet & 1U << n)
                assert_int_equal(turn_transcript_flush(b.t), 0);
        }
        end(&b, true);
        assert_int_equal(used_by(buf_str(&b.lines), "\"output_tokens\":"), 50);
        for (unsigned kept = quiet % 4; kept <= b.count; kept += 1 + quiet % 3) {
            AUTO(buf) all = { 0 };
            struct shelf s;
            open_shelf(&s, &b, kept);
            for (unsigned n = 1; n <= kept; n++)
                buf_printf(&all, "%s\n", line(&b, n));
            for (int n = 0; n < SCENE; n++)
                play(&s.book, n);
            end(&s.book, true);
            buf_append(&all, s.book.lines.p, s.book.lines.n);
            for (int block = 1; block <= 8; block++) {
                char text[16];
                snprintf(text, sizeof(text), "block-%d", block);
                assert_int_equal(count_of(buf_str(&all), text), 1);
            }
            assert_int_equal(count_of(buf_str(&all), TURN_INTERRUPTED), 1);
            assert_int_equal(used_by(buf_str(&all), "\"output_tokens\":"), 50);
            assert_int_equal(count_of(buf_str(&all), "\"parentUuid\":null"), 1);
            if (kept == b.count)
                assert_int_equal(s.book.count, 0);
            close_book(&s.book);
        }
        close_book(&b);
    }
}

/* The id of the message comes behind the call that is its line. */
static void
usage_of_a_line_that_is_there_is_not_told_once_more(void **state)
{
    (void)state;
    struct book b;
    struct shelf s;
    for (unsigned kept = 0; kept <= 2; kept++) {
        open_book(&b);
        call(&b, "t1", "Read", "{}");
        used_by_model(&b, "m1", "", "", (struct turn_usage){ 10, 5, 0, 0 }, true);
        say(&b, TURN_TOOL_RESULT, "t1", "1");
        end(&b, true);
        assert_has(&b, 1, "\"message\":{\"id\":\"m1\"");
        open_shelf(&s, &b, kept);
        call(&s.book, "t1", "Read", "{}");
        used_by_model(&s.book, "m1", "", "", (struct turn_usage){ 10, 5, 0, 0 }, true);
        say(&s.book, TURN_TOOL_RESULT, "t1", "1");
        end(&s.book, true);
        assert_int_equal(s.book.count, 2 - kept);
        close_book(&s.book);
        close_book(&b);
    }
}

int
main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_turn_is_a_line_as_the_seed_has_it),
        cmocka_unit_test(results_and_what_the_user_says_then_are_one_line),
        cmocka_unit_test(a_call_without_a_result_is_closed_when_all_has_ended),
        cmocka_unit_test(a_call_that_is_told_again_is_one_and_has_one_result),
        cmocka_unit_test(of_many_open_calls_the_oldest_are_forgotten),
        cmocka_unit_test(the_streams_own_total_is_the_truth),
        cmocka_unit_test(what_is_not_told_is_not_made_up),
        cmocka_unit_test(a_sub_agents_lines_are_beside_the_chain_of_talk),
        cmocka_unit_test(much_of_one_turn_is_several_lines),
        cmocka_unit_test(a_half_of_a_surrogate_pair_is_replaced),
        cmocka_unit_test(arguments_that_are_too_deep_are_a_text),
        cmocka_unit_test(what_stands_in_each_line_is_short),
        cmocka_unit_test(whoever_takes_the_lines_may_stop_it),
        cmocka_unit_test(uuids_of_a_session_are_always_the_same_and_no_two),
        cmocka_unit_test(more_of_a_message_that_was_quiet_is_another_line_of_it),
        cmocka_unit_test(what_a_message_has_used_is_told_though_its_line_is_written),
        cmocka_unit_test(what_a_message_of_calls_has_used_is_told_at_once),
        cmocka_unit_test(calls_far_from_each_other_are_of_their_message),
        cmocka_unit_test(a_line_of_a_message_is_of_the_model_that_said_it),
        cmocka_unit_test(a_rest_without_output_is_a_message_of_its_own),
        cmocka_unit_test(each_iteration_has_messages_and_calls_of_its_own),
        cmocka_unit_test(a_message_with_a_unique_id_is_the_same_in_each_iteration),
        cmocka_unit_test(what_an_iteration_left_open_is_told_at_its_end),
        cmocka_unit_test(what_a_silent_message_has_used_is_told_once),
        cmocka_unit_test(what_a_message_that_is_forgotten_tells_again_hides_no_rest),
        cmocka_unit_test(what_a_rest_has_told_is_not_told_again),
        cmocka_unit_test(no_line_follows_one_that_is_lost),
        cmocka_unit_test(what_is_missing_is_made_once_more_and_no_more),
        cmocka_unit_test(usage_of_a_line_that_is_there_is_not_told_once_more),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
