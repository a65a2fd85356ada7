/* SPDX-License-Identifier: MIT */
/* history_claude_test.c -- Claude Code's transcripts: what is said, used and written. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

#include <cmocka.h>

#include "support/history_kit.h"
#include "support/text_view.h"
#include "support/turn_kit.h"

#define LINE(type, uuid, parent, message)                                 \
    "{\"type\":\"" type "\",\"uuid\":\"" uuid "\",\"parentUuid\":" parent \
    ",\"timestamp\":\"2026-11-15T06:48:25.000Z\",\"message\":" message "}\n"
#define ASK(uuid, parent, text) \
    LINE("user", uuid, parent, "{\"role\":\"user\",\"content\":\"" text "\"}")
#define SAY(uuid, parent, id, text, more)                                    \
    LINE("assistant", uuid, parent,                                          \
         "{\"id\":\"" id "\",\"role\":\"assistant\",\"content\":[{\"type\":" \
         "\"text\",\"text\":\"" text "\"}]" more "}")
#define USED(in, out) ",\"usage\":{\"input_tokens\":" in ",\"output_tokens\":" out "}"
#define MODEL(name)   ",\"model\":\"" name "\""
#define STOP          ",\"stop_reason\":\"end_turn\""

static void
assert_shown(const char *lines, const char *want)
{
    struct history_kit k;
    history_kit_begin(&k, TURN_CLAUDE);
    assert_int_equal(history_kit_lines(&k, text_view(lines)), 0);
    assert_string_equal(buf_str(&k.shown), want);
    history_kit_end(&k);
}

static void
assert_fact(const struct buf *fact, const char *want)
{
    assert_int_equal(fact->n, strlen(want));
    assert_memory_equal(fact->p, want, fact->n);
}

/* -- the fixtures -- */

/* What is said and done, without the user's words and pieces. */
struct talk {
    struct buf text;
    bool with_ids;
};

static int
note_talk(void *ctx, const struct turn_event *e)
{
    struct talk *t = ctx;
    struct turn_event one = *e;
    if (e->is_partial || e->was_cut_off || turn_role_of(e) == TURN_NOBODY || e->is_user)
        return 0;
    if (!t->with_ids)
        one.id = one.message = (struct view){ 0 };
    return turn_kit_write(&t->text, &one);
}

static int
note_talk_at(void *ctx, const struct turn_event *e, uint64_t ts_ns)
{
    assert_true(ts_ns > 0);
    return note_talk(ctx, e);
}

static void
decode(struct view stream, struct talk *t)
{
    struct turn_decoder *d;
    assert_int_equal(turn_decoder_new(&d, TURN_CLAUDE), 0);
    assert_int_equal(turn_decoder_feed(d, stream, note_talk, t), 0);
    assert_int_equal(turn_decoder_end(d, note_talk, t), 0);
    turn_decoder_free(d);
}

static void
read_transcript(struct view lines, struct talk *t)
{
    struct turn_history *h;
    struct view line;
    const struct turn_history_options opt = { .agent = TURN_CLAUDE,
                                              .event = note_talk_at,
                                              .ctx = t };
    assert_int_equal(turn_history_new(&h, &opt), 0);
    while (history_kit_next(&lines, &line))
        assert_int_equal(turn_history_line(h, (struct view){ 0 }, line), 0);
    turn_history_free(h);
}

static void
assert_same_talk(const char *stream_name, bool with_ids)
{
    AUTO(buf) stream = { 0 };
    AUTO(buf) transcript = { 0 };
    struct talk streamed = { .with_ids = with_ids }, kept = { .with_ids = with_ids };
    if (!history_kit_fixture("claude-transcript.jsonl", &transcript) ||
        !history_kit_fixture(stream_name, &stream))
        skip();
    decode((struct view){ stream.p, stream.n }, &streamed);
    read_transcript((struct view){ transcript.p, transcript.n }, &kept);
    assert_non_null(strstr(buf_str(&kept.text), " name=Bash exit=2 \"Exit code 2\n"));
    assert_string_equal(buf_str(&kept.text), buf_str(&streamed.text));
    buf_release(&streamed.text);
    buf_release(&kept.text);
}

static void
a_transcript_tells_what_its_stream_told(void **state)
{
    (void)state;
    assert_same_talk("claude-stream.ndjson", true);
}

/* It was another run with the same answers, whose messages have other ids. */
static void
a_stream_in_pieces_tells_what_the_transcript_tells(void **state)
{
    (void)state;
    assert_same_talk("claude-stream-partial.ndjson", false);
}

static void
the_transcript_of_the_fixtures_is_read_whole(void **state)
{
    (void)state;
    AUTO(buf) lines = { 0 };
    struct history_kit k;
    if (!history_kit_fixture("claude-transcript.jsonl", &lines))
        skip();
    history_kit_begin(&k, TURN_CLAUDE);
    assert_int_equal(history_kit_lines(&k, (struct view){ lines.p, lines.n }), 0);
    struct turn_usage u = turn_totals_usage(&k.totals);
    assert_int_equal(u.input_tokens, 7000);
    assert_int_equal(u.output_tokens, 370);
    assert_int_equal(u.cache_creation_tokens, 300);
    assert_int_equal(u.cache_read_tokens, 8000);
    assert_int_equal(k.totals.calls, 5);
    assert_false(turn_totals_is_least(&k.totals));
    for (size_t i = 0; i < TURN_HISTORY_TROUBLES; i++)
        assert_int_equal(k.troubles[i], 0);
    assert_null(strstr(buf_str(&k.shown), "branch"));
    assert_non_null(strstr(buf_str(&k.shown),
                           "text user \"make the program greet in two languages\"\n"));
    const struct turn_history_facts *f = turn_history_facts(k.h);
    assert_fact(&f->id, "5302b783-768e-471d-b6ed-91c06dd74f9c");
    assert_fact(&f->cwd, "/home/dev/project");
    assert_fact(&f->model, "claude-opus-4-8");
    assert_fact(&f->version, "2.1.197");
    assert_fact(&f->git_branch, "master");
    assert_int_equal(f->start_ns, 1794725304947000000);
    assert_int_equal(f->last_ns, 1794725307176000000);
    assert_int_equal(f->events, k.events);
    assert_int_equal(turn_history_guess((struct view){ lines.p, lines.n }), TURN_CLAUDE);
    history_kit_end(&k);
}

/* -- usage -- */

static void
assert_usage(const char *lines, uint64_t in, uint64_t out, uint64_t calls, bool is_least)
{
    struct history_kit k;
    history_kit_begin(&k, TURN_CLAUDE);
    assert_int_equal(history_kit_lines(&k, text_view(lines)), 0);
    struct turn_usage u = turn_totals_usage(&k.totals);
    assert_int_equal(u.input_tokens, in);
    assert_int_equal(u.output_tokens, out);
    assert_int_equal(k.totals.calls, calls);
    assert_int_equal(turn_totals_is_least(&k.totals), is_least);
    history_kit_end(&k);
}

static void
a_message_on_several_lines_is_used_once(void **state)
{
    (void)state;
    assert_usage(SAY("a", "null", "m1", "1", USED("10", "5") STOP)
                     SAY("b", "\"a\"", "m1", "2", USED("10", "5") STOP)
                         SAY("c", "\"b\"", "m2", "3", USED("20", "7") STOP),
                 30, 12, 2, false);
}

static void
usage_that_grows_is_told_as_it_grows(void **state)
{
    (void)state;
    const char *lines = SAY("a", "null", "m1", "1", USED("10", "1"))
        SAY("b", "\"a\"", "m1", "2", USED("10", "1"))
            SAY("c", "\"b\"", "m1", "3", USED("10", "9") STOP);
    assert_usage(lines, 10, 9, 1, false);
    assert_shown(lines, "text id=m1 \"1\"\nusage id=m1 in=10 out=1\ntext id=m1 \"2\"\n"
                        "text id=m1 \"3\"\nusage id=m1 in=10 out=9 final\n");
}

static void
a_message_that_never_stops_is_a_lower_bound(void **state)
{
    (void)state;
    assert_usage(SAY("a", "null", "m1", "1", USED("10", "5") STOP)
                     SAY("b", "\"a\"", "m2", "2", USED("10", "1")),
                 20, 6, 2, true);
}

static void
what_the_program_itself_says_is_no_call(void **state)
{
    (void)state;
    assert_shown(SAY("a", "null", "m0", "API Error: 529",
                     MODEL("<synthetic>") USED("0", "0") STOP),
                 "text id=m0 \"API Error: 529\"\n");
}

static void
a_model_is_told_once_and_with_each_usage(void **state)
{
    (void)state;
    assert_shown(SAY("a", "null", "m1", "1", MODEL("big") USED("1", "2") STOP)
                     SAY("b", "\"a\"", "m2", "2", MODEL("big") USED("3", "4") STOP)
                         SAY("c", "\"b\"", "m3", "3", MODEL("small") USED("5", "6") STOP),
                 "session model=big\ntext id=m1 \"1\"\n"
                 "usage id=m1 model=big in=1 out=2 final\ntext id=m2 \"2\"\n"
                 "usage id=m2 model=big in=3 out=4 final\nsession model=small\n"
                 "text id=m3 \"3\"\nusage id=m3 model=small in=5 out=6 final\n");
}

/* -- sub-agents -- */

#define SIDE_SAY(agent, uuid, id, text, more)                                       \
    "{\"type\":\"assistant\",\"isSidechain\":true" agent ",\"uuid\":\"" uuid        \
    "\",\"parentUuid\":null,\"message\":{\"id\":\"" id "\",\"content\":[{\"type\":" \
    "\"text\",\"text\":\"" text "\"}]" more "}}\n"

static void
lines_of_sub_agents_have_a_parent_and_no_place(void **state)
{
    (void)state;
    assert_shown(ASK("a", "null", "go") SAY("b", "\"a\"", "m1", "1", "")
                     SIDE_SAY(",\"agentId\":\"x1\"", "s1", "n1", "deep",
                              MODEL("small") USED("1", "2") STOP)
                         SIDE_SAY("", "s2", "n2", "old", "")
                             SAY("c", "\"b\"", "m2", "2", ""),
                 "text user \"go\"\ntext id=m1 \"1\"\n"
                 "text id=n1 parent=agent-x1 \"deep\"\n"
                 "usage id=n1 parent=agent-x1 model=small in=1 out=2 final\n"
                 "text id=n2 parent=sidechain \"old\"\ntext id=m2 \"2\"\n");
}

static void
a_file_of_a_sub_agent_tells_nothing_of_the_session(void **state)
{
    (void)state;
    struct history_kit k;
    history_kit_begin(&k, TURN_CLAUDE);
    buf_puts(&k.side, "toolu_7");
    assert_int_equal(
        history_kit_lines(
            &k, text_view(SIDE_SAY(",\"sessionId\":\"S\",\"cwd\":\"/side\"", "s1", "n1",
                                   "deep", MODEL("small") USED("1", "2") STOP))),
        0);
    assert_string_equal(buf_str(&k.shown),
                        "text id=n1 parent=toolu_7 \"deep\"\n"
                        "usage id=n1 parent=toolu_7 model=small in=1 out=2 final\n");
    assert_int_equal(turn_history_facts(k.h)->cwd.n, 0);
    history_kit_end(&k);
}

/* More of them than are kept apart: who comes again is told with what it used again, and
 * counts once. */
static void
sub_agents_that_take_turns_are_counted_once_each(void **state)
{
    (void)state;
    struct history_kit k;
    history_kit_begin(&k, TURN_CLAUDE);
    for (int round = 0; round < 3; round++)
        for (int i = 0; i < 40; i++) {
            AUTO(buf) line = { 0 };
            buf_printf(&line,
                       "{\"type\":\"assistant\",\"isSidechain\":true,\"agentId\":\"%d\","
                       "\"uuid\":\"%d-%d\",\"message\":{\"id\":\"m%d\",\"content\":[],"
                       "\"stop_reason\":\"end_turn\"" USED("10", "1") "}}\n",
                       i, i, round, i);
            assert_int_equal(history_kit_lines(&k, (struct view){ line.p, line.n }), 0);
        }
    assert_int_equal(turn_totals_usage(&k.totals).input_tokens, 400);
    assert_int_equal(k.totals.calls, 40);
    history_kit_end(&k);
}

/* -- other lines -- */

static void
what_is_not_said_is_kept_as_it_is(void **state)
{
    (void)state;
    assert_shown(
        "{\"type\":\"system\",\"subtype\":\"compact_boundary\",\"uuid\":\"x\"}\n"
        "{\"type\":\"file-history-snapshot\",\"messageId\":\"y\",\"snapshot\":{}}\n"
        "{\"type\":\"attachment\",\"uuid\":\"z\",\"attachment\":{\"type\":\"todo\"}}\n"
        "{\"type\":\"user\",\"uuid\":\"v\",\"isMeta\":true,\"message\":{\"content\":"
        "\"Caveat\"}}\n"
        "{\"type\":\"user\",\"uuid\":\"w\",\"isCompactSummary\":true,\"message\":{"
        "\"content\":\"So far\"}}\n"
        "{\"no\":\"type\"}\n",
        "other name=system/compact_boundary\nother name=file-history-snapshot\n"
        "other name=attachment/todo\nother name=user/meta\nother name=user/meta\n"
        "other name=untyped\n");
}

static void
an_error_of_the_model_is_one(void **state)
{
    (void)state;
    assert_shown("{\"type\":\"system\",\"subtype\":\"api_error\",\"error\":{\"status\":"
                 "529,\"error\":{\"type\":\"overloaded\",\"message\":\"Too much\"}}}\n"
                 "{\"type\":\"system\",\"subtype\":\"api_error\",\"error\":\"no \\\"x\\\""
                 "\"}\n"
                 "{\"type\":\"system\",\"subtype\":\"api_error\",\"error\":7}\n",
                 "error \"Too much\"\nerror \"no \"x\"\"\nother name=system/api_error\n");
}

static void
a_title_is_the_last_that_was_given(void **state)
{
    (void)state;
    struct history_kit k;
    history_kit_begin(&k, TURN_CLAUDE);
    assert_int_equal(
        history_kit_lines(
            &k, text_view("{\"type\":\"summary\",\"summary\":\"one\",\"leafUuid\":\"x\"}"
                          "\n{\"type\":\"custom-title\",\"customTitle\":\"t\\u00fc\","
                          "\"sessionId\":\"S\"}\n{\"type\":\"ai-title\",\"aiTitle\":\"\","
                          "\"sessionId\":\"S\"}\n")),
        0);
    assert_fact(&turn_history_facts(k.h)->title, "t\xc3\xbc");
    history_kit_end(&k);
}

/* An id, and whatever else is kept, that is longer than any should be. */
static void
names_that_are_too_long_are_not_kept_whole(void **state)
{
    (void)state;
    struct history_kit k;
    AUTO(buf) line = { 0 };
    AUTO(buf) name = { 0 };
    AUTO(buf) saved = { 0 };
    for (int i = 0; i < 1 << 20; i++)
        buf_puts(&name, "n");
    const char *n = buf_str(&name);
    history_kit_begin(&k, TURN_CLAUDE);
    for (int i = 0; i < 20; i++) {
        buf_clear(&line);
        buf_printf(&line,
                   "{\"type\":\"assistant\",\"uuid\":\"%d\",\"sessionId\":\"%s\",\"cwd\":"
                   "\"%s\",\"isSidechain\":%s,\"agentId\":\"%d%s\",\"message\":{\"id\":"
                   "\"%s\",\"model\":\"%s\",\"content\":[{\"type\":\"tool_use\",\"id\":"
                   "\"%s\",\"name\":\"%s\"}]" USED("1", "1") "}}\n",
                   i, n, n, i % 2 ? "true" : "false", i, n, n, n, n, n);
        assert_int_equal(history_kit_lines(&k, (struct view){ line.p, line.n }), 0);
    }
    assert_int_equal(turn_history_save(k.h, &saved), 0);
    assert_true(saved.n < 100000);
    assert_int_equal(turn_totals_usage(&k.totals).input_tokens, 11); /* of each agent */
    history_kit_end(&k);
}

int
main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_transcript_tells_what_its_stream_told),
        cmocka_unit_test(a_stream_in_pieces_tells_what_the_transcript_tells),
        cmocka_unit_test(the_transcript_of_the_fixtures_is_read_whole),
        cmocka_unit_test(a_message_on_several_lines_is_used_once),
        cmocka_unit_test(usage_that_grows_is_told_as_it_grows),
        cmocka_unit_test(a_message_that_never_stops_is_a_lower_bound),
        cmocka_unit_test(what_the_program_itself_says_is_no_call),
        cmocka_unit_test(a_model_is_told_once_and_with_each_usage),
        cmocka_unit_test(lines_of_sub_agents_have_a_parent_and_no_place),
        cmocka_unit_test(a_file_of_a_sub_agent_tells_nothing_of_the_session),
        cmocka_unit_test(sub_agents_that_take_turns_are_counted_once_each),
        cmocka_unit_test(what_is_not_said_is_kept_as_it_is),
        cmocka_unit_test(an_error_of_the_model_is_one),
        cmocka_unit_test(a_title_is_the_last_that_was_given),
        cmocka_unit_test(names_that_are_too_long_are_not_kept_whole),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
