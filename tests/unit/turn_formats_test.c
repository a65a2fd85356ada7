/* SPDX-License-Identifier: MIT */
/* turn_formats_test.c -- lines of codex, gemini and opencode, and the events in them. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "support/text_view.h"
#include "turn/tell_priv.h"
#include "turn/totals.h"

struct seen {
    struct buf text; /* of all events: each a line */
    struct turn_totals totals;
};

static void
put(struct buf *out, const char *key, struct view value)
{
    if (value.n)
        (void)buf_printf(out, " %s=%.*s", key, (int)value.n, (const char *)value.p);
}

static void
put_number(struct buf *out, const char *key, uint64_t value)
{
    if (value != TURN_UNKNOWN)
        (void)buf_printf(out, " %s=%llu", key, (unsigned long long)value);
}

static int
see(void *ctx, const struct turn_event *e)
{
    struct seen *s = ctx;
    struct buf *out = &s->text;
    (void)buf_puts(out, turn_type_name(e->type));
    (void)buf_puts(out, e->is_partial ? " partial" : "");
    (void)buf_puts(out, e->is_user ? " user" : "");
    (void)buf_puts(out, e->is_error ? " failed" : "");
    put(out, "id", e->id);
    put(out, "message", e->message);
    put(out, "name", e->name);
    put(out, "text", e->text);
    put(out, "json", e->json);
    put(out, "model", e->model);
    put_number(out, "in", e->usage.input_tokens);
    put_number(out, "out", e->usage.output_tokens);
    put_number(out, "wrote", e->usage.cache_creation_tokens);
    put_number(out, "read", e->usage.cache_read_tokens);
    put_number(out, "ms", e->duration_ms);
    put_number(out, "turns", e->turns);
    put_number(out, "cost", e->cost_microusd);
    if (e->exit_code >= 0)
        (void)buf_printf(out, " exit=%d", e->exit_code);
    (void)buf_puts(out, "\n");
    return turn_totals_add(&s->totals, e);
}

static void
release(struct turn_state *state, struct seen *s)
{
    turn_state_release(state);
    buf_release(&s->text);
    turn_totals_release(&s->totals);
}

static void
feed(const struct turn_format *format, struct turn_state *state, struct seen *s,
     const char *lines)
{
    struct turn_sink to = { see, s };
    while (*lines) {
        size_t n = strcspn(lines, "\n");
        struct view other = { 0 };
        struct view line = { (const uint8_t *)lines, n };
        assert_int_equal(format->decode(state, line, &to, &other), 0);
        if (other.n)
            (void)buf_printf(&s->text, "other %.*s\n", (int)other.n,
                             (const char *)other.p);
        lines += n + (lines[n] == '\n');
    }
}

static void
check(const struct turn_format *format, const char *lines, const char *want)
{
    struct turn_state state = { 0 };
    struct seen s = { 0 };
    feed(format, &state, &s, lines);
    assert_string_equal(buf_str(&s.text), want);
    release(&state, &s);
}

/* -- codex -- */

static void
the_fixture_of_codex_is_read_whole(void **unused)
{
    (void)unused;
    const char *folder = getenv("AHR_FIXTURES");
    if (!folder)
        skip();
    char path[4096];
    (void)snprintf(path, sizeof(path), "%s/agents/codex-stream.ndjson", folder);
    FILE *f = fopen(path, "r");
    assert_non_null(f);
    static char text[1 << 16];
    text[fread(text, 1, sizeof(text) - 1, f)] = 0;
    (void)fclose(f);
    struct turn_state state = { 0 };
    struct seen s = { 0 };
    feed(&turn_format_codex, &state, &s, text);
    struct turn_usage u = turn_totals_usage(&s.totals);
    assert_int_equal(u.input_tokens, 3000);
    assert_int_equal(u.cache_read_tokens, 300);
    assert_int_equal(u.output_tokens, 66);
    const char *got = buf_str(&s.text);
    assert_non_null(strstr(got, "session id=01a1de26-2285-74e1-833b-68633f363660\n"));
    assert_non_null(strstr(got, "error text=Model metadata for"));
    assert_non_null(strstr(got, "text id=item_1 text=I'll look at the sources first.\n"));
    assert_non_null(
        strstr(got, "tool_call id=item_2 name=command_execution json={\"comm"));
    assert_non_null(
        strstr(got, "tool_result failed id=item_4 name=command_execution te"));
    assert_non_null(strstr(got, "name=success in=3000 out=66 wrote=0 read=300 turns=1"));
    assert_null(strstr(got, "other"));
    release(&state, &s);
}

static void
a_command_of_codex_is_a_call_and_a_result(void **unused)
{
    (void)unused;
    static const char start[] =
        "{\"type\":\"item.started\",\"item\":{\"id\":\"i\",\"type\":\"command_"
        "execution\","
        "\"command\":\"ls \\\"a\\\"\",\"aggregated_output\":\"\",\"exit_code\":null,"
        "\"status\":\"in_progress\"}}\n";
    static const char end[] =
        "{\"type\":\"item.completed\",\"item\":{\"id\":\"i\",\"type\":\"command_"
        "execution\","
        "\"command\":\"ls \\\"a\\\"\",\"aggregated_output\":\"no\\n\",\"exit_code\":2,"
        "\"status\":\"failed\"}}\n";
    static const char want[] =
        "tool_call id=i name=command_execution json={\"command\":\"ls \\\"a\\\"\"}\n"
        "tool_result failed id=i name=command_execution text=no\n exit=2\n";
    char both[1024];
    (void)snprintf(both, sizeof(both), "%s%s", start, end);
    check(&turn_format_codex, both, want);
    check(&turn_format_codex, end, want); /* its start was never seen */
}

static void
items_of_codex(void **unused)
{
    (void)unused;
    static const struct {
        const char *line, *want;
    } cases[] = {
        { "{\"type\":\"item.completed\",\"item\":{\"id\":\"i\",\"type\":\"file_change\","
          "\"changes\":[{\"path\":\"/a\",\"kind\":\"add\"}],\"status\":\"completed\"}}",
          "tool_call id=i name=apply_patch "
          "json={\"changes\":[{\"path\":\"/a\",\"kind\":\"add\"}]}\n"
          "tool_result id=i name=apply_patch text=completed\n" },
        { "{\"type\":\"item.completed\",\"item\":{\"id\":\"i\",\"type\":\"mcp_tool_"
          "call\","
          "\"server\":\"s\",\"tool\":\"t\",\"arguments\":{\"a\":1},\"result\":{"
          "\"content\":"
          "[{\"type\":\"text\",\"text\":\"x\"},{\"type\":\"image\"}]},\"error\":null,"
          "\"status\":\"completed\"}}",
          "tool_call id=i name=s.t json={\"a\":1}\n"
          "tool_result id=i name=s.t text=x\n{\"type\":\"image\"}\n" },
        { "{\"type\":\"item.completed\",\"item\":{\"id\":\"i\",\"type\":\"mcp_tool_"
          "call\","
          "\"server\":\"s\",\"tool\":\"t\",\"result\":null,\"error\":{\"message\":"
          "\"gone\"},"
          "\"status\":\"failed\"}}",
          "tool_call id=i name=s.t\ntool_result failed id=i name=s.t text=gone\n" },
        { "{\"type\":\"item.completed\",\"item\":{\"id\":\"i\",\"type\":\"web_search\","
          "\"query\":\"q\"}}",
          "tool_call id=i name=web_search json={\"query\":\"q\"}\n"
          "tool_result id=i name=web_search\n" },
        { "{\"type\":\"item.updated\",\"item\":{\"id\":\"i\",\"type\":\"todo_list\","
          "\"items\":"
          "[{\"text\":\"a\",\"completed\":true}]}}",
          "tool_call id=i name=todo_list "
          "json={\"items\":[{\"text\":\"a\",\"completed\":true}]}\n" },
        { "{\"type\":\"item.completed\",\"item\":{\"id\":\"i\",\"type\":\"todo_list\","
          "\"items\":[{\"text\":\"a\",\"completed\":true},{\"text\":\"b\",\"completed\":"
          "false}]}}",
          "tool_call id=i name=todo_list "
          "json={\"items\":[{\"text\":\"a\",\"completed\":true},"
          "{\"text\":\"b\",\"completed\":false}]}\n"
          "tool_result id=i name=todo_list text=[x] a\n[ ] b\n" },
        { "{\"type\":\"item.completed\",\"item\":{\"id\":\"i\",\"type\":\"reasoning\","
          "\"text\":"
          "\"hm\"}}",
          "thinking id=i text=hm\n" },
        { "{\"type\":\"item.completed\",\"item\":{\"id\":\"i\",\"type\":\"dance\"}}",
          "other item.completed/dance\n" },
        { "{\"type\":\"item.started\",\"item\":{\"id\":\"i\",\"type\":\"agent_message\"}"
          "}",
          "other item.started/agent_message\n" },
        { "{\"type\":\"thread.paused\"}", "other thread.paused\n" },
        { "{\"id\":\"0\",\"msg\":{\"type\":\"agent_message\"}}", "other untyped\n" },
        { "{\"type\":\"item.completed\"}", "other item.completed\n" },
        { "{\"type\":\"item.completed\",\"item\":7}", "other item.completed\n" },
    };
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++)
        check(&turn_format_codex, cases[i].line, cases[i].want);
}

static void
a_turn_of_codex_that_fails_says_why_once(void **unused)
{
    (void)unused;
    check(&turn_format_codex,
          "{\"type\":\"turn.started\"}\n"
          "{\"type\":\"error\",\"message\":\"no\"}\n"
          "{\"type\":\"turn.failed\",\"error\":{\"message\":\"no\"}}\n"
          "{\"type\":\"turn.started\"}\n"
          "{\"type\":\"turn.failed\",\"error\":{\"message\":\"no\"}}\n",
          "error text=no\ndone failed name=error turns=1\n"
          "error text=no\ndone failed name=error turns=2\n");
}

/* -- gemini -- */

#define AT "\"timestamp\":\"2026-11-16T10:00:00.000Z\""

static void
pieces_of_gemini_become_one_text(void **unused)
{
    (void)unused;
    check(&turn_format_gemini,
          "{\"type\":\"init\"," AT ",\"session_id\":\"s\",\"model\":\"m\"}\n"
          "{\"type\":\"message\"," AT ",\"role\":\"user\",\"content\":\"hi\"}\n"
          "{\"type\":\"message\"," AT
          ",\"role\":\"assistant\",\"content\":\"Hel\",\"delta\":true}\n"
          "{\"type\":\"message\"," AT
          ",\"role\":\"assistant\",\"content\":\"lo\",\"delta\":true}\n"
          "{\"type\":\"tool_use\"," AT ",\"tool_name\":\"read_file\",\"tool_id\":\"t\","
          "\"parameters\":{\"path\":\"a\"}}\n"
          "{\"type\":\"tool_result\"," AT
          ",\"tool_id\":\"t\",\"status\":\"success\",\"output\":\"x\"}\n"
          "{\"type\":\"message\"," AT
          ",\"role\":\"assistant\",\"content\":\"Bye\",\"delta\":true}\n"
          "{\"type\":\"result\"," AT
          ",\"status\":\"success\",\"stats\":{\"total_tokens\":30,"
          "\"input_tokens\":20,\"output_tokens\":8,\"cached\":5,\"input\":15,"
          "\"duration_ms\":1234,\"tool_calls\":1,\"models\":{}}}\n",
          "session id=s model=m\n"
          "text user text=hi\n"
          "text partial text=Hel\n"
          "text partial text=lo\n"
          "text text=Hello\n"
          "tool_call id=t name=read_file json={\"path\":\"a\"}\n"
          "tool_result id=t name=read_file text=x\n"
          "text partial text=Bye\n"
          "text text=Bye\n"
          "usage in=15 out=8 read=5\n"
          "done name=success in=15 out=8 read=5 ms=1234\n");
}

static void
lines_of_gemini(void **unused)
{
    (void)unused;
    static const struct {
        const char *line, *want;
    } cases[] = {
        { "{\"type\":\"tool_result\"," AT
          ",\"tool_id\":\"t\",\"status\":\"error\",\"error\":"
          "{\"type\":\"x\",\"message\":\"gone\"}}",
          "tool_result failed id=t text=gone\n" },
        { "{\"type\":\"error\"," AT ",\"severity\":\"warning\",\"message\":\"loop\"}",
          "warning text=loop\n" },
        { "{\"type\":\"error\"," AT ",\"severity\":\"error\",\"message\":\"quota\"}",
          "error text=quota\n" },
        { "{\"type\":\"result\"," AT ",\"status\":\"error\",\"error\":{\"type\":\"E\","
          "\"message\":\"quota\"},\"stats\":{\"input_tokens\":20,\"cached\":5}}",
          "error text=quota\nusage in=15 read=5\ndone failed name=error in=15 read=5\n" },
        { "{\"type\":\"result\"," AT ",\"status\":\"success\",\"stats\":{\"input\":"
          "9223372036854775808,\"cached\":9007199254740992,\"output_tokens\":3}}",
          "usage out=3\ndone name=success out=3\n" },
        { "{\"type\":\"message\"," AT ",\"role\":\"assistant\",\"content\":\"a\"}",
          "text text=a\n" },
        { "{\"type\":\"dance\"," AT "}", "other dance\n" },
    };
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++)
        check(&turn_format_gemini, cases[i].line, cases[i].want);
}

static void
what_gemini_never_ends_is_kept_for_the_end(void **unused)
{
    (void)unused;
    struct turn_state state = { 0 };
    struct seen s = { 0 };
    feed(&turn_format_gemini, &state, &s,
         "{\"type\":\"message\"," AT
         ",\"role\":\"assistant\",\"content\":\"Hel\",\"delta\":true}\n");
    assert_int_equal(state.said.n, 3);
    assert_memory_equal(state.said.p, "Hel", 3);
    assert_int_equal(state.said_type, TURN_TEXT);
    release(&state, &s);
}

/* -- opencode -- */

#define OF "\"timestamp\":1767036059338,\"sessionID\":\"ses_1\""

static void
steps_of_opencode(void **unused)
{
    (void)unused;
    check(
        &turn_format_opencode,
        "{\"type\":\"step_start\"," OF ",\"part\":{\"id\":\"p1\",\"messageID\":\"m1\","
        "\"type\":\"step-start\"}}\n"
        "{\"type\":\"reasoning\"," OF ",\"part\":{\"id\":\"p2\",\"messageID\":\"m1\","
        "\"type\":\"reasoning\",\"text\":\"hm\"}}\n"
        "{\"type\":\"tool_use\"," OF ",\"part\":{\"id\":\"p3\",\"messageID\":\"m1\","
        "\"type\":\"tool\",\"callID\":\"c1\",\"tool\":\"bash\",\"state\":{\"status\":"
        "\"completed\",\"input\":{\"command\":\"ls\"},\"output\":\"a\\n\",\"title\":\"\","
        "\"metadata\":{\"exit\":1}}}}\n"
        "{\"type\":\"step_finish\"," OF ",\"part\":{\"id\":\"p4\",\"messageID\":\"m1\","
        "\"reason\":\"tool-calls\",\"cost\":0.0012345,\"tokens\":{\"input\":10,"
        "\"output\":"
        "2,\"reasoning\":1,\"cache\":{\"read\":3,\"write\":4}}}}\n"
        "{\"type\":\"text\"," OF ",\"part\":{\"id\":\"p5\",\"messageID\":\"m2\","
        "\"type\":\"text\",\"text\":\"done\"}}\n"
        "{\"type\":\"step_finish\"," OF ",\"part\":{\"id\":\"p6\",\"messageID\":\"m2\","
        "\"reason\":\"stop\",\"cost\":1,\"tokens\":{\"input\":20,\"output\":5,"
        "\"reasoning\":0,\"cache\":{\"read\":0,\"write\":0}}}}\n",
        "session id=ses_1\n"
        "thinking id=m1 text=hm\n"
        "tool_call id=c1 message=m1 name=bash json={\"command\":\"ls\"}\n"
        "tool_result failed id=c1 name=bash text=a\n exit=1\n"
        "usage id=m1 in=10 out=3 wrote=4 read=3\n"
        "text id=m2 text=done\n"
        "usage id=m2 in=20 out=5 wrote=0 read=0\n"
        "done name=success turns=2 cost=1001234\n");
}

static void
lines_of_opencode(void **unused)
{
    (void)unused;
    static const struct {
        const char *line, *want;
    } cases[] = {
        { "{\"type\":\"error\"," OF
          ",\"error\":{\"name\":\"APIError\",\"data\":{\"message\":"
          "\"quota\"}}}",
          "session id=ses_1\nerror text=quota\n" },
        { "{\"type\":\"error\"," OF ",\"error\":{\"name\":\"UnknownError\"}}",
          "session id=ses_1\nerror text=UnknownError\n" },
        { "{\"type\":\"tool_use\"," OF ",\"part\":{\"callID\":\"c\",\"tool\":\"edit\","
          "\"state\":{\"status\":\"error\",\"input\":{},\"error\":\"gone\"}}}",
          "session id=ses_1\ntool_call id=c name=edit json={}\n"
          "tool_result failed id=c name=edit text=gone\n" },
        { "{\"type\":\"tool_use\"," OF ",\"part\":{\"callID\":\"c\",\"tool\":\"edit\","
          "\"state\":{\"status\":\"running\",\"input\":{}}}}\n"
          "{\"type\":\"tool_use\"," OF ",\"part\":{\"callID\":\"c\",\"tool\":\"edit\","
          "\"state\":{\"status\":\"completed\",\"input\":{},\"output\":\"x\"}}}",
          "session id=ses_1\ntool_call id=c name=edit json={}\n"
          "tool_result id=c name=edit text=x\n" },
        { "{\"type\":\"step_finish\"," OF
          ",\"part\":{\"reason\":\"length\",\"cost\":1e-7,"
          "\"tokens\":{}}}",
          "session id=ses_1\nusage\ndone failed name=length turns=1 cost=0\n" },
        { "{\"type\":\"step_finish\"," OF
          ",\"part\":{\"reason\":\"stop\",\"cost\":0,\"tokens\":{\"input\":"
          "9007199254740992,\"output\":9007199254740991,\"cache\":{\"read\":"
          "18446744073709551614,\"write\":4}}}}",
          "session id=ses_1\nusage out=9007199254740991 wrote=4\n"
          "done name=success turns=1 cost=0\n" },
        { "{\"type\":\"dance\"," OF "}", "session id=ses_1\nother dance\n" },
    };
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++)
        check(&turn_format_opencode, cases[i].line, cases[i].want);
}

/* -- which is which -- */

static void
a_line_belongs_to_one_format_only(void **unused)
{
    (void)unused;
    static const struct turn_format *const formats[] = { &turn_format_codex,
                                                         &turn_format_gemini,
                                                         &turn_format_opencode };
    static const struct {
        const char *type, *line;
        int owner; /* -1: none of these */
    } cases[] = {
        { "thread.started", "{\"type\":\"thread.started\",\"thread_id\":\"x\"}", 0 },
        { "item.completed", "{\"type\":\"item.completed\",\"item\":{}}", 0 },
        { "error", "{\"type\":\"error\",\"message\":\"x\"}", -1 },
        { "init", "{\"type\":\"init\"," AT ",\"session_id\":\"s\",\"model\":\"m\"}", 1 },
        { "message", "{\"type\":\"message\"," AT ",\"role\":\"user\",\"content\":\"x\"}",
          1 },
        { "tool_use",
          "{\"type\":\"tool_use\"," AT ",\"tool_name\":\"n\",\"tool_id\":\"t\"}", 1 },
        { "error", "{\"type\":\"error\"," AT ",\"severity\":\"error\",\"message\":\"m\"}",
          1 },
        { "step_start", "{\"type\":\"step_start\"," OF ",\"part\":{}}", 2 },
        { "tool_use", "{\"type\":\"tool_use\"," OF ",\"part\":{}}", 2 },
        { "error", "{\"type\":\"error\"," OF ",\"error\":{\"name\":\"E\"}}", 2 },
        { "text", "{\"type\":\"text\",\"text\":\"x\"}", -1 },
        { "system", "{\"type\":\"system\",\"subtype\":\"init\",\"session_id\":\"s\"}",
          -1 },
        { "result", "{\"type\":\"result\",\"subtype\":\"success\",\"session_id\":\"s\"}",
          -1 },
        { "message", "{\"type\":\"message\"}", -1 },
        { "turn.", "{\"type\":\"turn.\"}", -1 },
    };
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++)
        for (int f = 0; f < 3; f++)
            if (formats[f]->is_mine(text_view(cases[i].type), text_view(cases[i].line)) !=
                (cases[i].owner == f))
                fail_msg("%s: format %d", cases[i].line, f);
}

static int
refuse(void *ctx, const struct turn_event *e)
{
    (void)ctx;
    (void)e;
    return ERR_LIMIT;
}

static void
a_refusal_ends_the_line(void **unused)
{
    (void)unused;
    static const struct {
        const struct turn_format *format;
        const char *line;
    } cases[] = {
        { &turn_format_codex, "{\"type\":\"turn.completed\",\"usage\":{}}" },
        { &turn_format_codex,
          "{\"type\":\"item.completed\",\"item\":{\"id\":\"i\",\"type\":"
          "\"file_change\"}}" },
        { &turn_format_gemini, "{\"type\":\"result\",\"status\":\"error\",\"error\":"
                               "{\"message\":\"x\"}}" },
        { &turn_format_opencode, "{\"type\":\"text\"," OF ",\"part\":{\"text\":\"x\"}}" },
    };
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        struct turn_state state = { 0 };
        struct seen s = { 0 };
        struct view other = { 0 };
        struct turn_sink to = { refuse, NULL };
        assert_int_equal(
            cases[i].format->decode(&state, text_view(cases[i].line), &to, &other),
            ERR_LIMIT);
        release(&state, &s);
    }
}

static void
many_open_calls_cost_little(void **unused)
{
    (void)unused;
    struct turn_state state = { 0 };
    struct seen s = { 0 };
    char line[256];
    for (int i = 0; i < 60000; i++) {
        (void)snprintf(
            line, sizeof(line),
            "{\"type\":\"tool_use\",\"tool_name\":\"n\",\"tool_id\":\"id-%d\"}", i);
        feed(&turn_format_gemini, &state, &s, line);
        buf_clear(&s.text);
    }
    assert_true(state.calls.cap <= 4 << 20);
    feed(&turn_format_gemini, &state, &s,
         "{\"type\":\"tool_result\",\"tool_id\":\"id-59999\",\"status\":\"success\"}");
    assert_string_equal(buf_str(&s.text), "tool_result id=id-59999 name=n\n");
    release(&state, &s);
}

int
main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_fixture_of_codex_is_read_whole),
        cmocka_unit_test(a_command_of_codex_is_a_call_and_a_result),
        cmocka_unit_test(items_of_codex),
        cmocka_unit_test(a_turn_of_codex_that_fails_says_why_once),
        cmocka_unit_test(pieces_of_gemini_become_one_text),
        cmocka_unit_test(lines_of_gemini),
        cmocka_unit_test(what_gemini_never_ends_is_kept_for_the_end),
        cmocka_unit_test(steps_of_opencode),
        cmocka_unit_test(lines_of_opencode),
        cmocka_unit_test(a_line_belongs_to_one_format_only),
        cmocka_unit_test(a_refusal_ends_the_line),
        cmocka_unit_test(many_open_calls_cost_little),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
