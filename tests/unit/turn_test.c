/* SPDX-License-Identifier: MIT */
/* turn_test.c -- an agent's output, however it is cut and whatever stands in it. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

#include <cmocka.h>

#include "base/file.h"
#include "support/measure.h"
#include "support/text_view.h"
#include "support/turn_kit.h"

#define INIT                                                                   \
    "{\"type\":\"system\",\"subtype\":\"init\",\"session_id\":\"S\",\"model\"" \
    ":\"M\",\"cwd\":\"/p\"}"
#define INIT_SHOWN "session id=S model=M cwd=/p\n"
#define SAY(id, text)                                                       \
    "{\"type\":\"assistant\",\"message\":{\"id\":\"" id "\",\"content\":[{" \
    "\"type\":\"text\",\"text\":\"" text "\"}]},\"parent_tool_use_id\":null}"
#define EVENT(parent, event)                                                            \
    "{\"type\":\"stream_event\",\"parent_tool_use_id\":" parent ",\"event\":" event "}" \
    "\n"
#define START(parent, id) \
    EVENT(parent, "{\"type\":\"message_start\",\"message\":{\"id\":\"" id "\"}}")
#define PIECE(parent, text)                                                       \
    EVENT(parent, "{\"type\":\"content_block_delta\",\"delta\":{\"type\":\"text_" \
                  "delta\",\"text\":\"" text "\"}}")
#define STOP(parent) EVENT(parent, "{\"type\":\"content_block_stop\",\"index\":0}")

/* Every chunking of it gives these events. */
static void
assert_bytes(enum turn_agent agent, struct view bytes, const char *want)
{
    for (size_t step = 1; step <= bytes.n + 1; step += step < 64 ? 1 : bytes.n / 8 + 1) {
        AUTO(buf) out = { 0 };
        turn_kit_decode(agent, bytes, step, &out);
        assert_string_equal(buf_str(&out), want);
    }
}

static void
assert_events(const char *bytes, const char *want)
{
    assert_bytes(TURN_CLAUDE, text_view(bytes), want);
}

static bool
read_fixture(const char *name, struct buf *out)
{
    char path[4096];
    const char *dir = getenv("AHR_FIXTURES");
    snprintf(path, sizeof(path), "%s/agents/%s", dir ? dir : "", name);
    return dir && file_slurp(path, out) >= 0;
}

/* -- lines and objects -- */

static void
each_object_of_a_line_counts(void **state)
{
    (void)state;
    assert_events(INIT SAY("a", "1") " " SAY("b", "2") "\r\n",
                  INIT_SHOWN "text id=a \"1\"\ntext id=b \"2\"\n");
    assert_events("[" SAY("a", "1") "," SAY("b", "2") "]",
                  "text id=a \"1\"\ntext id=b \"2\"\n");
}

static void
marks_blanks_and_line_ends_of_others_are_no_lines(void **state)
{
    (void)state;
    assert_events("\xef\xbb\xbf" SAY("a", "1") "\r\n\r\n \t\n\n" SAY("b", "2"),
                  "text id=a \"1\"\ntext id=b \"2\"\n");
    static const char nuls[] = "\0\0\0" SAY("a", "1") "\0\n\0\0\n" SAY("b", "2") "\n";
    assert_bytes(TURN_CLAUDE, (struct view){ (const uint8_t *)nuls, sizeof(nuls) - 1 },
                 "text id=a \"1\"\ntext id=b \"2\"\n");
}

static void
separators_of_unicode_and_odd_bytes_stay_in_the_text(void **state)
{
    (void)state;
    assert_events(SAY("a", "x\xe2\x80\xa8y\xff\x01\xf0\x9f\x98\x80\\u00e9") "\n",
                  "text id=a \"x\xe2\x80\xa8y\xff\x01\xf0\x9f\x98\x80\xc3\xa9\"\n");
}

static void
garbage_is_told_and_costs_no_neighbour(void **state)
{
    (void)state;
    assert_events("npm WARN old\n" SAY("a", "1") "\n{\"type\":\n" SAY("b", "2") "\n",
                  "warning \"malformed JSON: npm WARN old\"\ntext id=a \"1\"\n"
                  "warning \"malformed JSON: {\"type\":\"\ntext id=b \"2\"\n");
    assert_events("oops " SAY("a", "1") " and {more}\n",
                  "warning \"malformed JSON: oops \"\ntext id=a \"1\"\n"
                  "warning \"malformed JSON:  and {more}\"\n");
    assert_events("[1,2]\n", "warning \"malformed JSON: [1,2]\"\n");
}

/* The writer was killed anywhere in its line; the next one goes on behind it. */
static void
a_line_behind_a_torn_one_is_found_wherever_that_is_torn(void **state)
{
    (void)state;
    static const char torn[] = SAY("a", "a {\\\"b\\\": {}} \\\\");
    for (size_t n = 1; n < sizeof(torn) - 1; n++) {
        AUTO(buf) in = { 0 };
        AUTO(buf) out = { 0 };
        buf_append(&in, torn, n);
        buf_puts(&in, SAY("b", "2") "\n");
        turn_kit_decode(TURN_CLAUDE, (struct view){ in.p, in.n }, in.n, &out);
        const char *shown = buf_str(&out);
        assert_non_null(strstr(shown, "text id=b \"2\"\n"));
        assert_int_equal(strncmp(shown, "warning \"malformed JSON: {", 25), 0);
        assert_null(strstr(shown, "other"));
    }
}

static void
a_torn_last_line_gives_no_parts_of_it(void **state)
{
    (void)state;
    static const char torn[] = SAY("a", "1");
    for (size_t n = 1; n < sizeof(torn) - 1; n++) {
        AUTO(buf) out = { 0 };
        turn_kit_decode(TURN_CLAUDE, (struct view){ (const uint8_t *)torn, n }, n, &out);
        assert_int_equal(strncmp(buf_str(&out), "warning \"malformed JSON: {", 25), 0);
        assert_ptr_equal(strchr((char *)out.p, '\n'), out.p + out.n - 1);
    }
}

static void
a_malformed_line_is_cut_with_a_count(void **state)
{
    (void)state;
    AUTO(buf) in = { 0 };
    AUTO(buf) want = { 0 };
    buf_puts(&want, "warning \"malformed JSON: ");
    for (int i = 0; i < 199; i++) {
        buf_puts(&in, "x");
        buf_puts(&want, "x");
    }
    buf_puts(&in, "\xc3\xa9yz\n"); /* the character is not cut */
    buf_puts(&want, "… 4 more bytes\"\n");
    assert_events(buf_str(&in), buf_str(&want));
}

static void
fill(struct buf *b, char byte, size_t n)
{
    b->ceiling = (size_t)256 << 20;
    uint8_t *p = buf_grow(b, n);
    assert_non_null(p);
    memset(p, byte, n);
}

static void
a_line_of_many_megabytes_may_come_byte_by_byte(void **state)
{
    (void)state;
    AUTO(buf) in = { 0 };
    AUTO(buf) out = { 0 };
    buf_puts(&in, "{\"type\":\"assistant\",\"message\":{\"id\":\"a\",\"content\":\"");
    fill(&in, 'x', 10 << 20);
    buf_puts(&in, "\"}}\n");
    struct turn_decoder *d;
    assert_int_equal(turn_decoder_new(&d, TURN_AUTO), 0);
    for (size_t i = 0; i < in.n; i++)
        turn_decoder_feed(d, (struct view){ in.p + i, 1 }, turn_kit_write, &out);
    assert_int_equal(out.n, (10 << 20) + strlen("text id=a \"\"\n"));
    assert_true(measure_heap_bytes() < (size_t)100 << 20); /* three of 10 MB each */
    turn_decoder_free(d);
}

static void
a_line_above_the_ceiling_is_one_warning(void **state)
{
    (void)state;
    AUTO(buf) in = { 0 };
    buf_puts(&in, SAY("a", "1") "\n{\"x\":\"");
    fill(&in, 'y', TURN_LINE_MAX + 10);
    buf_puts(&in, "\"}\n" SAY("b", "2") "\n");
    static const size_t steps[] = { 1 << 16, 1000003, 90 << 20 };
    for (size_t i = 0; i < sizeof(steps) / sizeof(steps[0]); i++) {
        AUTO(buf) out = { 0 };
        turn_kit_decode(TURN_CLAUDE, (struct view){ in.p, in.n }, steps[i], &out);
        const char *shown = buf_str(&out);
        assert_int_equal(strncmp(shown, "text id=a \"1\"\nwarning \"malf", 26), 0);
        assert_non_null(strstr(shown, "yyy… 67108682 more bytes\"\ntext id=b \"2\"\n"));
    }
}

static void
hostile_lines_take_no_longer_than_others(void **state)
{
    (void)state;
    static const char *const bits[] = { "{\"a\":", "{\"a\":[{},", "{\"",
                                        "{",       "\"{\"a\":\"", "[{\"a\":[" };
    for (size_t i = 0; i < sizeof(bits) / sizeof(bits[0]); i++) {
        AUTO(buf) in = { 0 };
        AUTO(buf) out = { 0 };
        while (in.n < 1 << 20)
            buf_puts(&in, bits[i]);
        buf_puts(&in, "\n" SAY("b", "2"));
        double before = measure_cpu_s();
        turn_kit_decode(TURN_CLAUDE, (struct view){ in.p, in.n }, in.n, &out);
        assert_true(measure_cpu_s() - before < 5);
        assert_non_null(strstr(buf_str(&out), "text id=b \"2\"\n"));
    }
}

/* -- which format -- */

static void
lines_are_text_until_the_format_is_known(void **state)
{
    (void)state;
    const char *in = "starting\r\n{\"a\":1}\n\nmind: " INIT "\noops\n" SAY("a", "1");
    assert_bytes(
        TURN_AUTO, text_view(in),
        "text \"starting\"\ntext \"{\"a\":1}\"\ntext \"\"\ntext \"mind: \"\n" INIT_SHOWN
        "warning \"malformed JSON: oops\"\ntext id=a \"1\"\n");
    assert_bytes(TURN_PLAIN, text_view(SAY("a", "1") "\nx"),
                 "text \"" SAY("a", "1") "\"\ntext \"x\"\n");
}

static void
the_agent_is_told_and_forgotten_at_the_end(void **state)
{
    (void)state;
    AUTO(buf) out = { 0 };
    struct turn_decoder *d;
    assert_int_equal(turn_decoder_new(&d, TURN_AUTO), 0);
    assert_int_equal(turn_decoder_agent(d), TURN_AUTO);
    for (int i = 0; i < 2; i++) {
        turn_decoder_feed(d, text_view(INIT "\n"), turn_kit_write, &out);
        assert_int_equal(turn_decoder_agent(d), TURN_CLAUDE);
        turn_decoder_end(d, turn_kit_write, &out);
        assert_int_equal(turn_decoder_agent(d), TURN_AUTO);
    }
    assert_string_equal(buf_str(&out), INIT_SHOWN INIT_SHOWN);
    turn_decoder_free(d);
}

static void
a_line_of_text_that_rests_is_handed_out_as_it_is(void **state)
{
    (void)state;
    AUTO(buf) out = { 0 };
    struct turn_decoder *d;
    assert_int_equal(turn_decoder_new(&d, TURN_AUTO), 0);
    static const char *const parts[] = { "Name", "? \xc3", "", "\xa9 {\"", "type" };
    for (size_t i = 0; i < sizeof(parts) / sizeof(parts[0]); i++) {
        turn_decoder_feed(d, text_view(parts[i]), turn_kit_write, &out);
        turn_decoder_rest(d, turn_kit_write, &out);
    }
    turn_decoder_feed(d, text_view("\n{\"ty"), turn_kit_write, &out);
    turn_decoder_rest(d, turn_kit_write, &out);
    assert_string_equal(buf_str(&out),
                        "text partial \"Name\"\ntext partial \"? \"\n"
                        "text partial \"\xc3\xa9 \"\ntext \"Name? \xc3\xa9 {\"type\"\n");
    turn_decoder_free(d);
}

static void
a_long_line_of_text_comes_in_pieces_of_whole_characters(void **state)
{
    (void)state;
    AUTO(buf) in = { 0 };
    fill(&in, 'x', TURN_PLAIN_MAX - 1);
    buf_puts(&in, "\xc3\xa9y\n");
    static const size_t steps[] = { 4096, 9999, 2 << 20 };
    for (size_t i = 0; i < 6; i++) {
        AUTO(buf) out = { 0 };
        turn_kit_decode(i % 2 ? TURN_AUTO : TURN_PLAIN, (struct view){ in.p, in.n },
                        steps[i / 2], &out);
        const char *shown = buf_str(&out);
        const char *begin = "text cut off \"";
        assert_memory_equal(shown, begin, strlen(begin));
        assert_string_equal(shown + TURN_PLAIN_MAX - 1 + strlen(begin),
                            "\"\ntext \"\xc3\xa9y\"\n");
    }
}

/* -- Claude Code -- */

static void
pieces_are_followed_by_the_whole_once(void **state)
{
    (void)state;
    const char *pieces = "text partial id=m \"Hel\"\ntext partial id=m \"lo\"\n"
                         "text id=m \"Hello\"\n";
    assert_events(START("null", "m") PIECE("null", "Hel") PIECE("null", "lo")
                      SAY("m", "Hello") "\n" STOP("null"),
                  pieces);
    assert_events(START("null", "m") PIECE("null", "Hel") PIECE("null", "lo") STOP("null")
                      SAY("m", "Hello") "\n",
                  pieces);
}

static void
what_was_never_said_whole_is_told_at_the_end(void **state)
{
    (void)state;
    assert_events(START("null", "m") PIECE("null", "Hel") PIECE("null", "lo"),
                  "text partial id=m \"Hel\"\ntext partial id=m \"lo\"\n"
                  "text cut off id=m \"Hello\"\n");
    assert_events(START("null", "m") PIECE("null", "x") START("null", "n"),
                  "text partial id=m \"x\"\ntext cut off id=m \"x\"\n");
}

static void
sub_agents_that_speak_at_once_keep_their_pieces(void **state)
{
    (void)state;
    assert_events(START("\"A\"", "a") START("\"B\"", "b") START("null", "m")
                      PIECE("\"A\"", "1") PIECE("\"B\"", "x") PIECE("null", "!")
                          PIECE("\"A\"", "2") PIECE("\"B\"", "y") STOP("\"A\"")
                              STOP("\"B\"") STOP("null"),
                  "text partial id=a parent=A \"1\"\ntext partial id=b parent=B \"x\"\n"
                  "text partial id=m \"!\"\ntext partial id=a parent=A \"2\"\n"
                  "text partial id=b parent=B \"y\"\ntext id=a parent=A \"12\"\n"
                  "text id=b parent=B \"xy\"\ntext id=m \"!\"\n");
}

static void
thinking_calls_and_results_are_told(void **state)
{
    (void)state;
    assert_events(
        "{\"type\":\"assistant\",\"parent_tool_use_id\":\"P\",\"message\":{\"id\":\"m\","
        "\"content\":[{\"type\":\"thinking\",\"thinking\":\"hm\"},{\"type\":"
        "\"redacted_thinking\",\"data\":\"x\"},{\"type\":\"tool_use\",\"id\":\"t\","
        "\"name\":\"Bash\",\"input\":{\"a\": [1]}},{\"type\":\"server_tool_use\",\"id\":"
        "\"u\",\"name\":\"web_search\",\"input\":{}},{\"type\":\"hologram\"}]}}\n"
        "{\"type\":\"user\",\"message\":{\"content\":[{\"type\":\"tool_result\","
        "\"tool_use_id\":\"u\",\"content\":[{\"type\":\"text\",\"text\":\"a\\nb\"},"
        "{\"type\":\"image\"}]},{\"type\":\"tool_result\",\"tool_use_id\":\"t\","
        "\"is_error\":true,\"content\":\"Exit code 7\\nno\"},{\"type\":\"text\","
        "\"text\":\"stop\"}]}}\n",
        "thinking id=m parent=P \"hm\"\nthinking id=m parent=P \"(redacted)\"\n"
        "tool_call id=t message=m parent=P name=Bash json={\"a\": [1]}\n"
        "tool_call id=u message=m parent=P name=web_search json={}\n"
        "other name=assistant/hologram json={\"type\":\"assistant\","
        "\"parent_tool_use_id\":\"P\",\"message\":{\"id\":\"m\","
        "\"content\":[{\"type\":\"thinking\",\"thinking\":\"hm\"},{\"type\":"
        "\"redacted_thinking\",\"data\":\"x\"},{\"type\":\"tool_use\",\"id\":\"t\","
        "\"name\":\"Bash\",\"input\":{\"a\": [1]}},{\"type\":\"server_tool_use\",\"id\":"
        "\"u\",\"name\":\"web_search\",\"input\":{}},{\"type\":\"hologram\"}]}}\n"
        "tool_result id=u name=web_search \"a\nb\n[image]\"\n"
        "tool_result failed id=t name=Bash exit=7 \"Exit code 7\nno\"\n"
        "text user \"stop\"\n");
}

static void
a_replayed_prompt_and_unknown_types_are_other(void **state)
{
    (void)state;
    assert_events(
        "{\"type\":\"user\",\"isReplay\":true,\"message\":{\"content\":\"p\"}}\n",
        "other name=user/replay json={\"type\":\"user\",\"isReplay\":true,"
        "\"message\":{\"content\":\"p\"}}\n");
    assert_events(
        "{\"type\":\"dance\"}{}",
        "other name=dance json={\"type\":\"dance\"}\nother name=untyped json={}\n");
}

static void
a_session_is_told_once_and_again_with_another_model(void **state)
{
    (void)state;
    assert_events(INIT "\n" INIT "\n{\"type\":\"system\",\"subtype\":\"init\","
                       "\"session_id\":\"S\",\"model\":\"N\"}\n",
                  INIT_SHOWN "session id=S model=N\n");
}

#define RESULT(more) "{\"type\":\"result\",\"subtype\":\"success\"" more "}\n"

static void
a_result_speaks_only_if_nothing_was_said(void **state)
{
    (void)state;
    assert_events(SAY("a", "1") "\n" RESULT(",\"result\":\"1\""),
                  "text id=a \"1\"\ndone name=success\n");
    assert_events(RESULT(",\"result\":\"1\",\"total_cost_usd\":0.050124999999999996"),
                  "text \"1\"\ndone name=success microusd=50125\n");
    assert_events(RESULT(",\"is_error\":true,\"result\":\"no key\""),
                  "error \"no key\"\ndone failed name=success\n");
    assert_events(
        SAY("a", "1") "\n" RESULT(",\"is_error\":true,\"errors\":[\"a\",\"b\"]"),
        "text id=a \"1\"\nerror \"a\nb\"\ndone failed name=success\n");
}

#define USED(n, models, cost)                                                            \
    RESULT(",\"result\":\"\",\"usage\":{\"input_tokens\":" n "},\"modelUsage\":{" models \
           "},\"total_cost_usd\":" cost)
#define BIG(in, out)   "\"big\":{\"inputTokens\":" in ",\"outputTokens\":" out "}"
#define SMALL(in, out) "\"small\":{\"inputTokens\":" in ",\"outputTokens\":" out "}"

/* They are sums since the program began; "usage" lacks the sub-agents. */
static void
a_result_has_what_all_models_have_used_since_the_last(void **state)
{
    (void)state;
    assert_events(
        SAY("a", "1") "\n" USED("200", BIG("200", "20") "," SMALL("50", "5"), "0.5")
            SAY("b", "2") "\n" USED("10", BIG("210", "21") "," SMALL("50", "5"), "0.75")
                SAY("c", "3") "\n" USED("7", BIG("7", "1"), "0.25"),
        "text id=a \"1\"\ndone name=success in=250 out=25 made=0 read=0 microusd=500000\n"
        "text id=b \"2\"\ndone name=success in=10 out=1 made=0 read=0 microusd=250000\n"
        "text id=c \"3\"\ndone name=success in=7 out=1 made=0 read=0 microusd=250000\n");
    assert_events(SAY("a", "1") "\n" USED("3", "\"big\":7", "1"),
                  "text id=a \"1\"\ndone name=success in=3 microusd=1000000\n");
}

/* A turn_event_fn. */
static int
put_models(void *ctx, const struct turn_event *e)
{
    return e->type == TURN_DONE
               ? buf_printf(ctx, "%.*s\n", (int)e->json.n, (const char *)e->json.p)
               : 0;
}

static void
a_result_tells_what_each_model_has_used(void **state)
{
    (void)state;
    static const char stream[] = USED("200", BIG("200", "20") "," SMALL("50", "5"), "0.5")
        USED("10", BIG("210", "21") "," SMALL("50", "5"), "0.75")
            USED("7", BIG("7", "1"), "0.25") USED("3", "\"big\":7", "1");
    static const char rest[] = ",\"cache_creation_input_tokens\":0,"
                               "\"cache_read_input_tokens\":0}";
    AUTO(buf) got = { 0 };
    AUTO(buf) want = { 0 };
    struct turn_decoder *d;
    assert_int_equal(turn_decoder_new(&d, TURN_CLAUDE), 0);
    assert_int_equal(turn_decoder_feed(d, text_view(stream), put_models, &got), 0);
    turn_decoder_free(d);
    buf_printf(&want, "{\"big\":{\"input_tokens\":200,\"output_tokens\":20%s,", rest);
    buf_printf(&want, "\"small\":{\"input_tokens\":50,\"output_tokens\":5%s}\n", rest);
    buf_printf(&want, "{\"big\":{\"input_tokens\":10,\"output_tokens\":1%s}\n", rest);
    buf_printf(&want, "{\"big\":{\"input_tokens\":7,\"output_tokens\":1%s}\n\n", rest);
    assert_string_equal(buf_str(&got), buf_str(&want));
}

#define BEGIN(id) "{\"type\":\"system\",\"subtype\":\"init\",\"session_id\":\"" id "\"}\n"

/* As `claude -p` in a loop. */
static void
the_sums_of_another_process_begin_at_zero(void **state)
{
    (void)state;
    assert_events(
        BEGIN("S") SAY("a", "1") "\n" USED("5", BIG("5", "1") "," SMALL("5", "1"), "0.5")
            BEGIN("S") SAY("b", "2") "\n" USED("6", BIG("11", "2") "," SMALL("5", "1"),
                                               "0.75") BEGIN("T")
                SAY("c", "3") "\n" USED("6", BIG("6", "2") "," SMALL("12", "3"), "0.8"),
        "session id=S\ntext id=a \"1\"\n"
        "done name=success in=10 out=2 made=0 read=0 microusd=500000\n"
        "text id=b \"2\"\n"
        "done name=success in=6 out=1 made=0 read=0 microusd=250000\n"
        "session id=T\ntext id=c \"3\"\n"
        "done name=success in=18 out=5 made=0 read=0 microusd=800000\n");
}

/* As after /clear. */
static void
the_sums_of_a_process_go_on_in_its_next_session(void **state)
{
    (void)state;
    assert_events(BEGIN("S") SAY("a", "1") "\n" USED("1000", BIG("1000", "10"), "1.0")
                      BEGIN("T") SAY("b", "2") "\n" USED("600", BIG("1600", "15"), "1.6"),
                  "session id=S\ntext id=a \"1\"\n"
                  "done name=success in=1000 out=10 made=0 read=0 microusd=1000000\n"
                  "session id=T\ntext id=b \"2\"\n"
                  "done name=success in=600 out=5 made=0 read=0 microusd=600000\n");
}

static void
sums_that_grow_by_less_than_was_used_are_anothers(void **state)
{
    (void)state;
    assert_events(
        SAY("a", "1") "\n" USED("5", BIG("5", "1") "," SMALL("5", "1"), "0.5")
            SAY("b", "2") "\n" USED("6", BIG("6", "2") "," SMALL("9", "1"), "0.75"),
        "text id=a \"1\"\ndone name=success in=10 out=2 made=0 read=0 microusd=500000\n"
        "text id=b \"2\"\ndone name=success in=15 out=3 made=0 read=0 "
        "microusd=750000\n");
    /* Sums that never have all of it say nothing about it. */
    assert_events(
        SAY("a", "1") "\n" USED("50", BIG("5", "1"), "0.5")
            SAY("b", "2") "\n" USED("60", BIG("11", "2"), "0.75"),
        "text id=a \"1\"\ndone name=success in=50 out=1 made=0 read=0 microusd=500000\n"
        "text id=b \"2\"\ndone name=success in=60 out=1 made=0 read=0 "
        "microusd=250000\n");
}

/* Such numbers would not outlive a reader that has 53 bits, or 63. */
static void
a_count_that_no_model_can_reach_is_not_told(void **state)
{
    (void)state;
    assert_events(RESULT(",\"result\":\"\",\"usage\":{\"input_tokens\":9007199254740992,"
                         "\"output_tokens\":9007199254740991,\"cache_read_input_tokens\":"
                         "18446744073709551614}"),
                  "done name=success out=9007199254740991\n");
    assert_events(USED("1", BIG("9007199254740992", "5"), "0"),
                  "done name=success in=1 out=5 made=0 read=0 microusd=0\n");
    assert_events(
        USED("1", BIG("9007199254740991", "5") "," SMALL("9007199254740991", "5"), "0"),
        "done name=success in=9007199254740991 out=10 made=0 read=0 "
        "microusd=0\n");
}

/* -- real streams -- */

static void
real_streams_are_the_same_however_they_are_cut(void **state)
{
    (void)state;
    static const char *const names[] = { "claude-stream.ndjson",
                                         "claude-stream-partial.ndjson" };
    for (size_t i = 0; i < 2; i++) {
        AUTO(buf) in = { 0 };
        AUTO(buf) want = { 0 };
        if (!read_fixture(names[i], &in)) {
            print_message("# skipped: no fixture %s\n", names[i]);
            skip();
        }
        turn_kit_decode(TURN_AUTO, (struct view){ in.p, in.n }, in.n, &want);
        assert_non_null(strstr(buf_str(&want), "done name=success in=7000 out=370"));
        assert_null(strstr(buf_str(&want), "warning"));
        assert_null(strstr(buf_str(&want), "cut off"));
        for (size_t step = 1; step < in.n; step += 1 + step / 3) {
            AUTO(buf) out = { 0 };
            turn_kit_decode(TURN_AUTO, (struct view){ in.p, in.n }, step, &out);
            assert_int_equal(out.n, want.n);
            assert_memory_equal(out.p, want.p, want.n);
        }
    }
}

static int
join(void *ctx, const struct turn_event *e)
{
    struct buf *texts = ctx;
    if (e->type == TURN_TEXT)
        buf_append(&texts[e->is_partial], e->text.p, e->text.n);
    return 0;
}

static void
the_pieces_of_a_real_stream_are_its_messages(void **state)
{
    (void)state;
    AUTO(buf) in = { 0 };
    if (!read_fixture("claude-stream-partial.ndjson", &in)) {
        print_message("# skipped: no fixture claude-stream-partial.ndjson\n");
        skip();
    }
    struct buf texts[2] = { 0 };
    struct turn_decoder *d;
    assert_int_equal(turn_decoder_new(&d, TURN_AUTO), 0);
    turn_decoder_feed(d, (struct view){ in.p, in.n }, join, texts);
    turn_decoder_end(d, join, texts);
    assert_true(texts[0].n > 300);
    assert_string_equal(buf_str(&texts[0]), buf_str(&texts[1]));
    turn_decoder_free(d);
    buf_release(&texts[0]);
    buf_release(&texts[1]);
}

int
main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(each_object_of_a_line_counts),
        cmocka_unit_test(marks_blanks_and_line_ends_of_others_are_no_lines),
        cmocka_unit_test(separators_of_unicode_and_odd_bytes_stay_in_the_text),
        cmocka_unit_test(garbage_is_told_and_costs_no_neighbour),
        cmocka_unit_test(a_line_behind_a_torn_one_is_found_wherever_that_is_torn),
        cmocka_unit_test(a_torn_last_line_gives_no_parts_of_it),
        cmocka_unit_test(a_malformed_line_is_cut_with_a_count),
        cmocka_unit_test(a_line_of_many_megabytes_may_come_byte_by_byte),
        cmocka_unit_test(a_line_above_the_ceiling_is_one_warning),
        cmocka_unit_test(hostile_lines_take_no_longer_than_others),
        cmocka_unit_test(lines_are_text_until_the_format_is_known),
        cmocka_unit_test(the_agent_is_told_and_forgotten_at_the_end),
        cmocka_unit_test(a_line_of_text_that_rests_is_handed_out_as_it_is),
        cmocka_unit_test(a_long_line_of_text_comes_in_pieces_of_whole_characters),
        cmocka_unit_test(pieces_are_followed_by_the_whole_once),
        cmocka_unit_test(what_was_never_said_whole_is_told_at_the_end),
        cmocka_unit_test(sub_agents_that_speak_at_once_keep_their_pieces),
        cmocka_unit_test(thinking_calls_and_results_are_told),
        cmocka_unit_test(a_replayed_prompt_and_unknown_types_are_other),
        cmocka_unit_test(a_session_is_told_once_and_again_with_another_model),
        cmocka_unit_test(a_result_speaks_only_if_nothing_was_said),
        cmocka_unit_test(a_result_has_what_all_models_have_used_since_the_last),
        cmocka_unit_test(a_result_tells_what_each_model_has_used),
        cmocka_unit_test(the_sums_of_another_process_begin_at_zero),
        cmocka_unit_test(the_sums_of_a_process_go_on_in_its_next_session),
        cmocka_unit_test(sums_that_grow_by_less_than_was_used_are_anothers),
        cmocka_unit_test(a_count_that_no_model_can_reach_is_not_told),
        cmocka_unit_test(real_streams_are_the_same_however_they_are_cut),
        cmocka_unit_test(the_pieces_of_a_real_stream_are_its_messages),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
