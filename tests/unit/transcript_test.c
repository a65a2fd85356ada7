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
    snprintf(ret, TURN_UUID_SIZE, "00000000-0000-8000-8000-%012u", (unsigned)number);
}

static int
take_line(void *ctx, struct view line)
{
    struct book *b = ctx;
    b->count++;
    return b->fails_at == (int)b->count ? -ENOSPC : buf_append(&b->lines, line.p, line.n);
}

static void
open_book(struct book *b, const char *parent)
{
    *b = (struct book){ 0 };
    const struct turn_transcript_options opt = {
        .session = "S",
        .version = "1.0",
        .git_branch = "main",
        .cwd = "/x",
        .parent = parent,
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
call(struct book *b, const char *id, const char *name, const char *json)
{
    struct turn_event e = turn_event(TURN_TOOL_CALL);
    e.id = text_view(id);
    e.name = text_view(name);
    e.json = text_view(json);
    assert_int_equal(add(b, &e), 0);
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

static void
end(struct book *b, bool has_ended)
{
    assert_int_equal(turn_transcript_end(b->t, 99 * SECOND, has_ended), 0);
}

/* The n-th line, from 1. */
static const char *
line(struct book *b, unsigned n)
{
    static char text[4096];
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
    open_book(&b, NULL);
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
    open_book(&b, "11111111-1111-4111-8111-111111111111");
    call(&b, "t1", "A", "{}");
    call(&b, "t2", "B", "[1]");
    call(&b, "", "C", "{\"x\":");
    assert_int_equal(b.count, 0);
    say(&b, TURN_TOOL_RESULT, "t2", "two");
    say(&b, TURN_TOOL_RESULT, "t1", "one");
    say(&b, TURN_TOOL_RESULT, "", "of the oldest");
    ask(&b, "and now?");
    assert_int_equal(b.count, 2);
    assert_has(&b, 1, "\"parentUuid\":\"11111111-1111-4111-8111-111111111111\"");
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
        open_book(&b, NULL);
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

/* Sums what stands behind a key in all lines. */
static uint64_t
sum(struct book *b, const char *key)
{
    uint64_t all = 0;
    for (const char *p = buf_str(&b->lines); (p = strstr(p, key)); p++)
        all += strtoull(p + strlen(key), NULL, 10);
    return all;
}

static void
the_streams_own_total_is_the_truth(void **state)
{
    (void)state;
    struct book b;
    open_book(&b, NULL);
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
    open_book(&b, NULL);
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
    open_book(&b, NULL);
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
    open_book(&b, NULL);
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
whoever_takes_the_lines_may_stop_it(void **state)
{
    (void)state;
    struct book b;
    open_book(&b, NULL);
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

int
main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_turn_is_a_line_as_the_seed_has_it),
        cmocka_unit_test(results_and_what_the_user_says_then_are_one_line),
        cmocka_unit_test(a_call_without_a_result_is_closed_when_all_has_ended),
        cmocka_unit_test(the_streams_own_total_is_the_truth),
        cmocka_unit_test(what_is_not_told_is_not_made_up),
        cmocka_unit_test(a_sub_agents_lines_are_beside_the_chain_of_talk),
        cmocka_unit_test(much_of_one_turn_is_several_lines),
        cmocka_unit_test(whoever_takes_the_lines_may_stop_it),
        cmocka_unit_test(uuids_of_a_session_are_always_the_same_and_no_two),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
