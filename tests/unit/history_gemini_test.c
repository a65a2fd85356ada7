/* SPDX-License-Identifier: MIT */
/* history_gemini_test.c -- Gemini's chats: a document, or lines. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

#include <cmocka.h>

#include "support/history_kit.h"
#include "support/measure.h"
#include "support/text_view.h"

#define HEAD \
    "\"sessionId\":\"S\",\"projectHash\":\"h\",\"startTime\":\"2026-01-01T00:00:00Z\""
#define USER(id, text) "{\"id\":\"" id "\",\"type\":\"user\",\"content\":\"" text "\"}"
#define SAYS(id, text, more) \
    "{\"id\":\"" id "\",\"type\":\"gemini\",\"content\":\"" text "\"" more "}"
#define MODEL   ",\"model\":\"pro\""
#define THOUGHT ",\"thoughts\":[{\"subject\":\"Look\",\"description\":\"around\"}]"
#define TOKENS                                                                         \
    ",\"tokens\":{\"input\":100,\"output\":7,\"cached\":40,\"thoughts\":3,\"tool\":5," \
    "\"total\":115}"
#define CALL(id, more) \
    ",\"toolCalls\":[{\"id\":\"" id "\",\"name\":\"ls\",\"args\":{\"d\":1}" more "}]"
#define RESULT                                                                          \
    ",\"status\":\"success\",\"result\":[{\"functionResponse\":{\"id\":\"t\",\"name\":" \
    "\"ls\",\"response\":{\"output\":\"a\\nb\"}}}]"
#define CALL_SHOWN "tool_call id=t message=2 name=ls json={\"d\":1}\n"

static void
assert_lines(const char *lines, const char *want)
{
    struct history_kit k;
    history_kit_begin(&k, TURN_GEMINI);
    assert_int_equal(history_kit_lines(&k, text_view(lines)), 0);
    assert_string_equal(buf_str(&k.shown), want);
    history_kit_end(&k);
}

/* All of it is one "line". */
static void
assert_document(const char *document, const char *want)
{
    struct history_kit k;
    history_kit_begin(&k, TURN_GEMINI);
    assert_int_equal(turn_history_line(k.h, (struct view){ 0 }, text_view(document)), 0);
    assert_string_equal(buf_str(&k.shown), want);
    history_kit_end(&k);
    assert_int_equal(turn_history_guess(text_view(document)), TURN_GEMINI);
}

static void
a_document_is_read_whole(void **state)
{
    (void)state;
    assert_document("{\n  " HEAD
                    ",\n  \"messages\": [\n    " USER("1", "go") ",\n    " SAYS(
                        "2", "yes", MODEL THOUGHT TOKENS CALL("t", RESULT)) "\n  ]\n}\n",
                    "session id=S\ntext user id=1 \"go\"\nsession id=S model=pro\n"
                    "thinking id=2 \"Look: around\"\ntext id=2 \"yes\"\n" CALL_SHOWN
                    "tool_result id=t name=ls \"a\nb\"\n"
                    "usage id=2 model=pro in=65 out=10 made=0 read=40 final\n");
}

static void
a_count_that_no_model_can_reach_is_not_told(void **state)
{
    (void)state;
    assert_lines("{" HEAD "}\n" SAYS(
                     "2", "yes",
                     ",\"tokens\":{\"input\":9223372036854775808,\"output\":"
                     "9007199254740991,\"thoughts\":9007199254740991,\"cached\":2}"),
                 "session id=S\nother name=session\ntext id=2 \"yes\"\n"
                 "usage id=2 in=0 out=9007199254740991 made=0 read=2 final\n");
}

static void
a_document_that_is_torn_keeps_its_whole_messages(void **state)
{
    (void)state;
    struct history_kit k;
    history_kit_begin(&k, TURN_GEMINI);
    const char torn[] = "{" HEAD
                        ",\"messages\":[" USER("1", "go") "," SAYS("2", "yes", "");
    assert_int_equal(turn_history_line(k.h, (struct view){ 0 }, text_view(torn)), 0);
    assert_int_equal(k.troubles[TURN_HISTORY_MALFORMED], 1);
    assert_non_null(
        strstr(buf_str(&k.shown), "text user id=1 \"go\"\ntext id=2 \"yes\"\n"));
    history_kit_end(&k);
}

static void
a_message_that_has_grown_is_told_by_what_is_new(void **state)
{
    (void)state;
    assert_lines(
        "{" HEAD "}\n" USER("1", "go") "\n" SAYS("2", "", THOUGHT) "\n" SAYS(
            "2", "yes",
            THOUGHT CALL(
                "t",
                ",\"status\":\"executing\"")) "\n" SAYS("2", "yes",
                                                        THOUGHT CALL(
                                                            "t",
                                                            RESULT)) "\n" SAYS("2", "yes",
                                                                               THOUGHT CALL(
                                                                                   "t",
                                                                                   RESULT)
                                                                                   TOKENS) "\n" USER("1",
                                                                                                     "go"),
        "session id=S\nother name=session\ntext user id=1 \"go\"\n"
        "thinking id=2 \"Look: around\"\ntext id=2 \"yes\"\n" CALL_SHOWN
        "tool_result id=t name=ls \"a\nb\"\n"
        "usage id=2 in=65 out=10 made=0 read=40 final\n");
}

static void
who_goes_back_goes_on_before_that_message(void **state)
{
    (void)state;
    assert_lines(
        USER("1", "a") "\n" SAYS("2", "b", "") "\n" USER("3", "c") "\n" SAYS(
            "4", "d",
            "") "\n{\"$rewindTo\":\"3\"}\n" USER("5", "e") "\n"
                                                           "{\"$rewindTo\":\"1\"}\n{\"$"
                                                           "rewindTo\":\"9\"}\n" USER(
                                                               "6", "f"),
        "text user id=1 \"a\"\ntext id=2 \"b\"\ntext user id=3 \"c\"\n"
        "text id=4 \"d\"\nbranch from=2\ntext user id=5 \"e\"\nbranch from=0\n"
        "! goes on behind a line that is not there\ntext user id=6 \"f\"\n");
}

static void
what_is_set_anew_is_learned(void **state)
{
    (void)state;
    struct history_kit k;
    history_kit_begin(&k, TURN_GEMINI);
    assert_int_equal(
        history_kit_lines(&k, text_view("{" HEAD "}\n" USER(
                                  "1", "a") "\n{\"$set\":{\"summary\":\"on a\"}}"
                                            "\n{\"$set\":{\"messages\":[" USER(
                                                "1", "a") "," USER("2", "b") "]}}\n")),
        0);
    assert_string_equal(buf_str(&k.shown),
                        "session id=S\nother name=session\ntext user id=1 \"a\"\n"
                        "other name=session\ntext user id=2 \"b\"\n");
    const struct buf *title = &turn_history_facts(k.h)->title;
    assert_int_equal(title->n, 4);
    assert_memory_equal(title->p, "on a", 4);
    history_kit_end(&k);
}

static void
content_may_be_parts_and_results_of_any_kind(void **state)
{
    (void)state;
    assert_lines(
        "{\"id\":\"1\",\"type\":\"user\",\"content\":[{\"text\":\"a\"},\"b\",{"
        "\"inlineData\":{}}]}\n"
        "{\"id\":\"2\",\"type\":\"user\",\"content\":{\"text\":\"c\"},"
        "\"displayContent\":\"d\"}\n"
        "{\"id\":\"3\",\"type\":\"info\",\"content\":\"e\"}\n"
        "{\"id\":\"4\",\"type\":\"error\",\"content\":\"f\"}\n"
        "{\"id\":\"5\",\"type\":\"odd\",\"content\":\"g\"}\n"
        "{\"id\":\"6\",\"type\":\"gemini\",\"toolCalls\":["
        "{\"name\":\"x\",\"args\":{},\"status\":\"error\",\"resultDisplay\":\"h\"},"
        "{\"name\":\"x\",\"args\":{\"a\":1},\"status\":\"cancelled\",\"result\":[]},"
        "{\"name\":\"y\"}]}\n",
        "text user id=1 \"ab\"\ntext user id=2 \"d\"\nwarning \"e\"\nerror \"f\"\n"
        "other name=session\ntool_call message=6 name=x json={}\n"
        "tool_result failed name=x \"h\"\ntool_call message=6 name=x json={\"a\":1}\n"
        "tool_result failed name=x \"[]\"\ntool_call message=6 name=y\n");
}

/* Each looked up among all before it. */
static void
a_million_messages_take_no_square_of_that(void **state)
{
    (void)state;
    struct history_kit k;
    double before = measure_cpu_s();
    history_kit_begin(&k, TURN_GEMINI);
    k.is_quiet = true;
    for (int i = 0; i < 1000000; i++) {
        char line[80];
        int n = snprintf(line, sizeof(line),
                         "{\"id\":\"%d\",\"type\":\"user\",\"content\":\"x\"}\n", i);
        assert_int_equal(
            history_kit_lines(&k, (struct view){ (const uint8_t *)line, (size_t)n }), 0);
    }
    assert_int_equal(k.events, 1000000);
    assert_true(measure_cpu_s() - before < 30);
    history_kit_end(&k);
}

int
main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_document_is_read_whole),
        cmocka_unit_test(a_count_that_no_model_can_reach_is_not_told),
        cmocka_unit_test(a_document_that_is_torn_keeps_its_whole_messages),
        cmocka_unit_test(a_message_that_has_grown_is_told_by_what_is_new),
        cmocka_unit_test(who_goes_back_goes_on_before_that_message),
        cmocka_unit_test(what_is_set_anew_is_learned),
        cmocka_unit_test(content_may_be_parts_and_results_of_any_kind),
        cmocka_unit_test(a_million_messages_take_no_square_of_that),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
