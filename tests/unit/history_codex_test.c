/* SPDX-License-Identifier: MIT */
/* history_codex_test.c -- Codex's rollouts, of all times. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

#include <cmocka.h>

#include "support/codex_lines.h"
#include "support/history_kit.h"
#include "support/text_view.h"

#define CALL(id)                                                               \
    RESPONSE("{\"type\":\"function_call\",\"name\":\"shell\",\"arguments\":\"" \
             "{\\\"c\\\":1}\",\"call_id\":\"" id "\"}")
#define OUTPUT(id, output)                                          \
    RESPONSE("{\"type\":\"function_call_output\",\"call_id\":\"" id \
             "\",\"output\":" output "}")
#define RAN(id, output, code, status)                                                    \
    EVENT("{\"type\":\"item_completed\",\"item\":{\"type\":\"CommandExecution\",\"id\":" \
          "\"" id "\",\"command\":[\"ls\"],\"aggregated_output\":\"" output              \
          "\",\"exit_code\":" code ",\"status\":\"" status "\"}}")
#define CALL_SHOWN(id) "tool_call id=" id " name=shell json={\"c\":1}\n"

static void
assert_shown(const char *lines, const char *want)
{
    struct history_kit k;
    history_kit_begin(&k, TURN_CODEX);
    assert_int_equal(history_kit_lines(&k, text_view(lines)), 0);
    assert_string_equal(buf_str(&k.shown), want);
    history_kit_end(&k);
}

/* -- the fixtures -- */

/* Texts; results; whether call and result belong together. */
struct talk {
    struct buf text, open;
    unsigned calls;
};

static int
note_talk(void *ctx, const struct turn_event *e)
{
    struct talk *t = ctx;
    if (e->type == TURN_TEXT && !e->is_user) {
        buf_printf(&t->text, "%.*s\n", (int)e->text.n, (const char *)e->text.p);
    } else if (e->type == TURN_TOOL_CALL) {
        assert_true(e->id.n > 0);
        buf_clear(&t->open);
        buf_append(&t->open, e->id.p, e->id.n);
        t->calls++;
    } else if (e->type == TURN_TOOL_RESULT) {
        assert_int_equal(e->id.n, t->open.n);
        assert_memory_equal(e->id.p, t->open.p, t->open.n);
        buf_printf(&t->text, "%s: %.*s\n", e->is_error ? "failed" : "fine",
                   (int)e->text.n, (const char *)e->text.p);
    }
    return t->text.failed;
}

static int
note_kept(void *ctx, const struct turn_event *e, uint64_t ts_ns)
{
    static const int codes[] = { 0, 2 };
    struct talk *t = ctx;
    assert_true(ts_ns > 0);
    if (e->type == TURN_TOOL_RESULT)
        assert_int_equal(e->exit_code, codes[t->calls - 1]);
    return note_talk(ctx, e);
}

static void
a_rollout_tells_what_its_stream_told(void **state)
{
    (void)state;
    AUTO(buf) stream = { 0 };
    AUTO(buf) rollout = { 0 };
    struct talk streamed = { 0 }, kept = { 0 };
    struct turn_decoder *d;
    struct turn_history *h;
    struct view line;
    if (!history_kit_fixture("codex-stream.ndjson", &stream) ||
        !history_kit_fixture("codex-rollout.jsonl", &rollout))
        skip();
    assert_int_equal(turn_decoder_new(&d, TURN_CODEX), 0);
    assert_int_equal(
        turn_decoder_feed(d, (struct view){ stream.p, stream.n }, note_talk, &streamed),
        0);
    turn_decoder_free(d);
    const struct turn_history_options opt = { .agent = TURN_CODEX,
                                              .event = note_kept,
                                              .ctx = &kept };
    assert_int_equal(turn_history_new(&h, &opt), 0);
    for (struct view rest = { rollout.p, rollout.n }; history_kit_next(&rest, &line);)
        assert_int_equal(turn_history_line(h, (struct view){ 0 }, line), 0);
    turn_history_free(h);
    assert_string_equal(buf_str(&kept.text), buf_str(&streamed.text));
    assert_int_equal(kept.calls, 2);
    assert_int_equal(streamed.calls, 2);
    buf_release(&streamed.text);
    buf_release(&streamed.open);
    buf_release(&kept.text);
    buf_release(&kept.open);
}

static void
the_rollout_of_the_fixtures_is_read_whole(void **state)
{
    (void)state;
    AUTO(buf) lines = { 0 };
    struct history_kit k;
    if (!history_kit_fixture("codex-rollout.jsonl", &lines))
        skip();
    history_kit_begin(&k, TURN_CODEX);
    assert_int_equal(history_kit_lines(&k, (struct view){ lines.p, lines.n }), 0);
    struct turn_usage u = turn_totals_usage(&k.totals);
    assert_int_equal(u.input_tokens, 3000);
    assert_int_equal(u.output_tokens, 66);
    assert_int_equal(u.cache_creation_tokens, 0);
    assert_int_equal(u.cache_read_tokens, 300);
    assert_int_equal(k.totals.calls, 3);
    for (size_t i = 0; i < TURN_HISTORY_TROUBLES; i++)
        assert_int_equal(k.troubles[i], 0);
    const char *shown = buf_str(&k.shown);
    const char *user = strstr(shown, "text user ");
    assert_non_null(user);
    assert_null(strstr(user + 1, "text user ")); /* told by two lines, and once */
    assert_non_null(strstr(shown, "tool_result failed id=call_2 name=exec_command exit=2 "
                                  "\"hello, world\nls: "));
    assert_non_null(strstr(shown, "session id=01a1de26-2285-74e1-833b-68633f363660 "
                                  "model=test-model cwd=/home/dev/project\n"));
    assert_non_null(strstr(shown, "name=success ms=748\n"));
    assert_int_equal(turn_history_guess((struct view){ lines.p, lines.n }), TURN_CODEX);
    history_kit_end(&k);
}

/* -- calls -- */

static void
a_call_and_its_result_are_one_each_in_either_order(void **state)
{
    (void)state;
    const char *event = CALL_SHOWN("c1") "tool_result failed id=c1 name=shell exit=2 "
                                         "\"out\"\n";
    assert_shown(CALL("c1") RAN("c1", "out", "2", "failed")
                     OUTPUT("c1", "\"Process exited with code 2\\nOutput:\\nout\""),
                 event);
    assert_shown(
        CALL("c1") OUTPUT("c1", "\"Exit code: 2\\nOutput:\\nout\"")
            RAN("c1", "out", "2", "failed"),
        CALL_SHOWN("c1") "tool_result failed id=c1 name=shell exit=2 \"Exit code: "
                         "2\nOutput:\nout\"\n");
    assert_shown(RAN("c1", "out", "0", "completed"),
                 "tool_call id=c1 name=CommandExecution json={\"command\":[\"ls\"]}\n"
                 "tool_result id=c1 name=CommandExecution exit=0 \"out\"\n");
}

static void
an_exit_code_is_one_where_one_stands(void **state)
{
    (void)state;
    static const struct {
        const char *output, *want;
    } cases[] = {
        { "\"Exit code: 3\\nWall time: 1\\nOutput:\\nx\"",
          "tool_result failed id=c exit=3 \"Exit code: 3\nWall time: 1\nOutput:\nx\"\n" },
        { "\"Chunk ID: 1\\nProcess exited with code 0\\nOutput:\\nProcess exited with "
          "code 9\"",
          "tool_result id=c exit=0 \"Chunk ID: 1\nProcess exited with code 0\nOutput:\n"
          "Process exited with code 9\"\n" },
        { "\"Output:\\nExit code: 9\"", "tool_result id=c \"Output:\nExit code: 9\"\n" },
        { "\"see: Exit code: 9\"", "tool_result id=c \"see: Exit code: 9\"\n" },
        { "\"Exit code: 99999999999\"", "tool_result id=c \"Exit code: 99999999999\"\n" },
        { "\"Exit code: 9x\"", "tool_result id=c \"Exit code: 9x\"\n" },
        { "\"{\\\"output\\\":\\\"a\\\\nb\\\",\\\"metadata\\\":{\\\"exit_code\\\":1}}\"",
          "tool_result failed id=c exit=1 \"a\nb\"\n" },
        { "\"{\\\"output\\\":7,\\\"metadata\\\":{\\\"exit_code\\\":1}}\"",
          "tool_result id=c \"{\"output\":7,\"metadata\":{\"exit_code\":1}}\"\n" },
        { "\"{\\\"output\\\":\\\"torn\"", "tool_result id=c \"{\"output\":\"torn\"\n" },
        { "{\"content\":\"no\",\"success\":false}", "tool_result failed id=c \"no\"\n" },
        { "[{\"type\":\"t\",\"text\":\"a\"},{\"type\":\"t\",\"text\":\"b\"}]",
          "tool_result id=c \"a\nb\"\n" },
    };
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        AUTO(buf) line = { 0 };
        buf_printf(
            &line,
            "{\"type\":\"response_item\",\"payload\":{\"type\":\"function_call_output"
            "\",\"call_id\":\"c\",\"output\":%s}}",
            cases[i].output);
        assert_shown(buf_str(&line), cases[i].want);
    }
}

#define PATCH                                                             \
    RESPONSE("{\"type\":\"custom_tool_call\",\"call_id\":\"c\",\"name\":" \
             "\"apply_patch\",\"input\":\"*** Begin\\n\"}")
#define PATCHED(status, more)                                               \
    EVENT("{\"type\":\"item_completed\",\"item\":{\"type\":\"FileChange\"," \
          "\"id\":\"c\",\"changes\":{},\"status\":\"" status "\"" more "}}")
#define PATCH_OUTPUT(text)                                                           \
    RESPONSE(                                                                        \
        "{\"type\":\"custom_tool_call_output\",\"call_id\":\"c\",\"output\":\"" text \
        "\"}")
#define PATCH_SHOWN "tool_call id=c name=apply_patch json=\"*** Begin\\n\"\n"

static void
a_patch_is_a_call_whose_arguments_are_a_string(void **state)
{
    (void)state;
    const char *want = PATCH_SHOWN
        "tool_result id=c name=apply_patch exit=0 \"Exit code: 0\"\n";
    assert_shown(PATCH PATCHED("completed", "") PATCH_OUTPUT("Exit code: 0"), want);
    assert_shown(PATCH PATCH_OUTPUT("Exit code: 0") PATCHED("completed", ""), want);
    assert_shown(RESPONSE("{\"type\":\"local_shell_call\",\"call_id\":\"c\",\"action\":{"
                          "\"command\":[\"ls\"]}}"),
                 "tool_call id=c name=local_shell json={\"command\":[\"ls\"]}\n");
}

/* Its event may say what came of it, or only that it failed. */
static void
a_patch_tells_what_came_of_it(void **state)
{
    (void)state;
#define BOTH ",\"stdout\":\"M a.c\",\"stderr\":\"no a.c\""
#define NONE ",\"stdout\":\"\",\"stderr\":null"
    assert_shown(PATCH PATCHED("completed", BOTH) PATCH_OUTPUT("more"),
                 PATCH_SHOWN "tool_result id=c name=apply_patch \"M a.c\"\n");
    assert_shown(PATCH PATCHED("failed", BOTH) PATCH_OUTPUT("more"),
                 PATCH_SHOWN "tool_result failed id=c name=apply_patch \"no a.c\"\n");
    assert_shown(PATCH PATCHED("failed", NONE) PATCH_OUTPUT("no a.c"),
                 PATCH_SHOWN "tool_result failed id=c name=apply_patch \"no a.c\"\n");
    assert_shown(
        PATCH PATCHED("declined", NONE) PATCH_OUTPUT("no") PATCH PATCH_OUTPUT("x"),
        PATCH_SHOWN "tool_result failed id=c name=apply_patch \"no\"\n" PATCH_SHOWN
                    "tool_result id=c name=apply_patch \"x\"\n");
    assert_shown(PATCHED("failed", NONE),
                 "tool_call id=c name=FileChange json={}\n"
                 "tool_result failed id=c name=FileChange \"failed\"\n");
    /* A command may say nothing. */
    assert_shown(CALL("c1") RAN("c1", "", "0", "completed") OUTPUT("c1", "\"Output:\""),
                 CALL_SHOWN("c1") "tool_result id=c1 name=shell exit=0\n");
}

static void
a_tool_of_a_server_tells_why_it_failed(void **state)
{
    (void)state;
    assert_shown(
        EVENT("{\"type\":\"item_completed\",\"item\":{\"type\":\"McpToolCall\","
              "\"id\":\"m\",\"server\":\"s\",\"tool\":\"find\",\"arguments\":{"
              "\"q\":1},\"result\":null,\"error\":\"gone\",\"status\":\"failed\"}}"),
        "tool_call id=m name=find json={\"q\":1}\n"
        "tool_result failed id=m name=find \"gone\"\n");
}

/* Without results, and results that fit to none, in any number. */
static void
calls_that_never_end_cost_a_fixed_amount(void **state)
{
    (void)state;
    struct history_kit k;
    AUTO(buf) saved = { 0 };
    history_kit_begin(&k, TURN_CODEX);
    k.is_quiet = true;
    for (int i = 0; i < 20000; i++) {
        assert_int_equal(
            history_kit_lines(&k, text_view(RESPONSE("{\"type\":\"function_call\"}"))),
            0);
        assert_int_equal(history_kit_lines(&k, text_view(OUTPUT("other", "\"\""))), 0);
    }
    assert_int_equal(k.events, 40000);
    assert_int_equal(turn_history_save(k.h, &saved), 0);
    assert_true(saved.n < 100000);
    history_kit_end(&k);
}

/* -- turns -- */

static void
turns_that_are_rolled_back_are_left(void **state)
{
    (void)state;
#define BACK(n) EVENT("{\"type\":\"thread_rolled_back\",\"num_turns\":" n "}")
    assert_shown(SAID("0") ASKED("a") SAID("1") ASKED("b") SAID("2") ASKED("c") BACK("2")
                     ASKED("d") BACK("9") ASKED("e"),
                 "text \"0\"\ntext user \"a\"\ntext \"1\"\ntext user \"b\"\ntext \"2\"\n"
                 "text user \"c\"\nbranch from=3\ntext user \"d\"\nbranch from=1\n"
                 "text user \"e\"\n");
    assert_shown(BACK("1") ASKED("a") BACK("0") BACK("-1"),
                 "other name=event_msg/thread_rolled_back\ntext user \"a\"\n"
                 "other name=event_msg/thread_rolled_back\n"
                 "other name=event_msg/thread_rolled_back\n");
}

static void
ends_of_turns_and_what_is_not_known_are_told(void **state)
{
    (void)state;
    assert_shown(EVENT("{\"type\":\"task_complete\",\"duration_ms\":5}")
                     EVENT("{\"type\":\"turn_aborted\",\"reason\":\"interrupted\"}")
                         EVENT("{\"type\":\"error\",\"message\":\"no\"}")
                             LINE("compacted", "{\"message\":\"so far\"}")
                                 EVENT("{\"type\":\"odd\"}")
                                     RESPONSE("{\"type\":\"web_search\"}"),
                 "done name=success ms=5\ndone failed name=aborted\nerror \"no\"\n"
                 "other name=compacted\nother name=event_msg/odd\n"
                 "other name=response_item/web_search\n");
}

static void
a_fork_has_its_own_id(void **state)
{
    (void)state;
    assert_shown(
        LINE("session_meta", "{\"id\":\"child\",\"cwd\":\"/p\",\"git\":{\"branch\":"
                             "\"b\"}}")
            LINE("session_meta", "{\"id\":\"parent\",\"cwd\":\"/p\"}") ASKED("a"),
        "session id=child cwd=/p\nother name=session_meta\nother name=session_meta\n"
        "text user \"a\"\n");
}

static void
lines_of_the_first_versions_are_read(void **state)
{
    (void)state;
    const char *lines =
        "{\"id\":\"S\",\"timestamp\":\"2025-05-01T00:00:00Z\",\"instructions\":null,"
        "\"git\":"
        "{}}\n{\"record_type\":\"state\"}\n" MESSAGE(
            "user",
            "a") "\n"
                 "{\"type\":\"reasoning\",\"id\":\"r\",\"summary\":[{\"text\":\"hm\"}]}\n"
                 "{\"type\":\"function_call\",\"id\":\"f\",\"name\":\"shell\","
                 "\"arguments\":\"{}\","
                 "\"call_id\":\"c\"}\n"
                 "{\"type\":\"function_call_output\",\"call_id\":\"c\",\"output\":\"{"
                 "\\\"output\\\":"
                 "\\\"x\\\",\\\"metadata\\\":{\\\"exit_code\\\":0}}\"}\n" MESSAGE(
                     "assistant", "b") "\n";
    assert_shown(lines, "session id=S\nother name=untyped\nother name=untyped\n"
                        "text user \"a\"\nthinking id=r \"hm\"\n"
                        "tool_call id=c name=shell json={}\n"
                        "tool_result id=c name=shell exit=0 \"x\"\ntext \"b\"\n");
    assert_int_equal(turn_history_guess(text_view(lines)), TURN_CODEX);
}

int
main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_rollout_tells_what_its_stream_told),
        cmocka_unit_test(the_rollout_of_the_fixtures_is_read_whole),
        cmocka_unit_test(a_call_and_its_result_are_one_each_in_either_order),
        cmocka_unit_test(an_exit_code_is_one_where_one_stands),
        cmocka_unit_test(a_patch_is_a_call_whose_arguments_are_a_string),
        cmocka_unit_test(a_patch_tells_what_came_of_it),
        cmocka_unit_test(a_tool_of_a_server_tells_why_it_failed),
        cmocka_unit_test(calls_that_never_end_cost_a_fixed_amount),
        cmocka_unit_test(turns_that_are_rolled_back_are_left),
        cmocka_unit_test(ends_of_turns_and_what_is_not_known_are_told),
        cmocka_unit_test(a_fork_has_its_own_id),
        cmocka_unit_test(lines_of_the_first_versions_are_read),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
