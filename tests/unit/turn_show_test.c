/* SPDX-License-Identifier: MIT */
/* turn_show_test.c -- what people see of an event, and what of its text they never do. */
#include "turn/show.h"

#include <setjmp.h>
#include <stdarg.h>

#include <cmocka.h>

#include "base/utf8.h"
#include "term/width.h"
#include "turn/clean.h"

#define V(s) ((struct view){ (const uint8_t *)(s), sizeof(s) - 1 })

static void
check(const struct buf *got, const char *want)
{
    assert_int_equal(got->failed, 0);
    assert_int_equal(got->n, strlen(want));
    assert_memory_equal(got->p ? got->p : (const uint8_t *)"", want, got->n);
}

static void
shows(const struct turn_event *e, struct turn_show opt, const char *want)
{
    AUTO(buf) out = { 0 };
    assert_int_equal(turn_show(e, &opt, &out), 0);
    check(&out, want);
}

static void
cleans(struct view text, const char *want)
{
    AUTO(buf) out = { 0 };
    turn_clean(text, &out);
    check(&out, want);
    for (size_t cut = 0; cut <= text.n; cut++) { /* … and in two pieces */
        AUTO(buf) two = { 0 };
        struct turn_clean c = { 0 };
        turn_clean_feed(&c, (struct view){ text.p, cut }, &two);
        turn_clean_feed(&c, (struct view){ text.p + cut, text.n - cut }, &two);
        turn_clean_end(&c, &two);
        check(&two, want);
    }
}

/* -- clean -- */

static void
sequences_are_dropped(void **state)
{
    (void)state;
    cleans(V("a\033[1;31mb\033[0mc"), "abc");
    cleans(V("a\033]0;title\007b\033]8;;http://x\033\\c"), "abc");
    cleans(V("a\033P1$qm\033\\b\033_apc\033\\c\033^pm\033\\d\033Xsos\033\\e"), "abcde");
    cleans(V("a\033(Bb\033cc\0337d"), "abcd");
    cleans(V("a\033\033[Kb"), "ab");
}

static void
sequences_of_one_c1_character_are_dropped(void **state)
{
    (void)state;
    cleans(V("a\302\23331mb\302\2350;t\302\234c\302\220dcs\007d"), "abcd");
    cleans(V("a\302\204b"), "ab");
}

static void
an_unfinished_sequence_hides_no_further_line(void **state)
{
    (void)state;
    cleans(V("a\033"), "a");
    cleans(V("a\033[12"), "a");
    cleans(V("a\033]0;rest of the line\nb"), "a\nb");
    cleans(V("a\033[\nb\033\nc"), "a\nb\nc");
    cleans(V("a\033[3\303\274b"), "a\303\274b");
}

static void
lines_end_in_newlines(void **state)
{
    (void)state;
    cleans(V("a\r\nb\rc\n\nd\r\r\ne"), "a\nb\nc\n\nd\n\ne");
    cleans(V("a\r\033[K\nb"), "a\nb");
    cleans(V("a\302\205b\342\200\250c\342\200\251d"), "a\nb\nc\nd");
}

static void
controls_are_dropped_but_tabs(void **state)
{
    (void)state;
    cleans(V("a\tb\0c\007d\be\177f"), "a\tbcdef");
}

static void
what_is_no_utf8_is_marked(void **state)
{
    (void)state;
    cleans(V("a\377b"), "a\357\277\275b");
    cleans(V("a\342\202"), "a\357\277\275");
    cleans(V("a\342\202b\342\202\254"), "a\357\277\275b\342\202\254");
    cleans(V("\233"
             "31m"),
           "\357\277\275"
           "31m");
    cleans(V("\355\240\200"), "\357\277\275\357\277\275\357\277\275");
}

static void
what_turns_text_around_is_dropped(void **state)
{
    (void)state;
    cleans(V("a\342\200\256b\342\200\254c\342\201\246d\342\201\251e"), "abcde");
    cleans(V("a\342\200\213b\357\273\277c"), "abc");
    /* The joiner of an emoji is no such character. */
    cleans(V("\360\237\221\251\342\200\215\360\237\221\247"),
           "\360\237\221\251\342\200\215\360\237\221\247");
}

/* -- events -- */

/* The model's list is of a library, ours by hand. */
static void
what_is_dropped_is_what_the_terminal_model_drops(void **state)
{
    (void)state;
    for (uint32_t cp = 0xa0; cp < 0x110000; cp++) {
        AUTO(buf) out = { 0 };
        uint8_t bytes[4];
        if ((cp >= 0xd800 && cp < 0xe000) || cp == 0x2028 || cp == 0x2029)
            continue;
        turn_clean((struct view){ bytes, utf8_put(bytes, cp) }, &out);
        if (!out.n != term_is_control(cp))
            fail_msg("U+%04X", cp);
    }
}

static void
a_session_has_its_id_and_model(void **state)
{
    (void)state;
    struct turn_event e = turn_event(TURN_SESSION);
    e.id = V("abc-1");
    e.model = V("m-2");
    e.cwd = V("/w");
    shows(&e, (struct turn_show){ 0 }, "[session] abc-1 model=m-2\n");
    shows(&e, (struct turn_show){ .is_verbose = true },
          "[session] abc-1 model=m-2 cwd=/w\n");
}

static void
a_text_is_shown_as_it_is(void **state)
{
    (void)state;
    struct turn_event e = turn_event(TURN_TEXT);
    e.text = V("one\n  two\n");
    shows(&e, (struct turn_show){ 0 }, "one\n  two\n");
    e.text = V("no end");
    shows(&e, (struct turn_show){ .is_coloured = true }, "no end\n");
    e.text = V("\033[0m");
    shows(&e, (struct turn_show){ 0 }, "");
    e.is_user = true;
    shows(&e, (struct turn_show){ .is_coloured = true }, "");
    e.text = V("fix it");
    shows(&e, (struct turn_show){ 0 }, "[user] fix it\n");
    e = turn_event(TURN_THINKING);
    e.text = V("hm\nyes");
    shows(&e, (struct turn_show){ 0 }, "[thinking] hm\nyes\n");
}

static void
pieces_make_the_beginning_of_the_whole(void **state)
{
    (void)state;
    struct turn_event e = turn_event(TURN_THINKING);
    const struct turn_show opt = { .is_coloured = true };
    AUTO(buf) whole = { 0 };
    AUTO(buf) pieces = { 0 };
    struct turn_clean c = { 0 };
    e.text = V("gr\303\274n \033[1mand\033[0m\r\nso on");
    assert_int_equal(turn_show(&e, &opt, &whole), 0);
    assert_int_equal(turn_show_tag(&e, &opt, &pieces), 0);
    for (size_t i = 0; i < e.text.n; i++) {
        turn_clean_feed(&c, (struct view){ e.text.p + i, 1 }, &pieces);
        assert_true(pieces.n <= whole.n);
        assert_memory_equal(pieces.p, whole.p, pieces.n);
    }
    e.is_partial = true;
    shows(&e, opt, "gr\303\274n and\nso on");
}

static void
a_call_has_its_arguments_in_lines(void **state)
{
    (void)state;
    struct turn_event e = turn_event(TURN_TOOL_CALL);
    e.name = V("Edit");
    e.json = V("{\"path\": \"a\\tb\", \"text\":\"one\\n\\ntwo\\u001b[1m\", \"n\": 12,"
               " \"list\": [ 1, {\"a b\": null} ], \"none\": \"\"}");
    shows(&e, (struct turn_show){ 0 },
          "[tool] Edit\n  path: a\tb\n  text: one\n\n  two\n  n: 12\n"
          "  list: [1,{\"a b\":null}]\n  none: (empty)\n");
    e.json = V("{}");
    shows(&e, (struct turn_show){ 0 }, "[tool] Edit\n");
    e.json = V("[1, 2]");
    shows(&e, (struct turn_show){ 0 }, "[tool] Edit\n  [1,2]\n");
    e.json = V("{\"a\": 1, torn");
    shows(&e, (struct turn_show){ 0 }, "[tool] Edit\n  {\"a\": 1, torn\n");
    e.json = V("{\"a\\nb\": 1}");
    e.name = V("A\nB");
    shows(&e, (struct turn_show){ 0 }, "[tool] A B\n  a b: 1\n");
}

static void
long_arguments_are_cut_with_a_count(void **state)
{
    (void)state;
    struct turn_event e = turn_event(TURN_TOOL_CALL);
    AUTO(buf) json = { 0 };
    AUTO(buf) want = { 0 };
    buf_puts(&json, "{\"x\":\"a");
    buf_puts(&want, "[tool] T\n  x: a");
    for (size_t i = 0; i < 1117; i++) /* é, of which one stands across the limit */
        buf_puts(&json, "\303\251");
    for (size_t i = 0; i < 499; i++)
        buf_puts(&want, "\303\251");
    buf_puts(&json, "\"}");
    buf_puts(&want, "\n  … 1,236 more bytes\n");
    e.name = V("T");
    e.json = (struct view){ json.p, json.n };
    shows(&e, (struct turn_show){ 0 }, buf_str(&want));
    AUTO(buf) whole = { 0 };
    assert_int_equal(turn_show(&e, &(struct turn_show){ .is_whole = true }, &whole), 0);
    assert_int_equal(whole.n, strlen("[tool] T\n  x: a\n") + 1117 * 2);
}

static void
many_arguments_are_cut_with_a_count(void **state)
{
    (void)state;
    struct turn_event e = turn_event(TURN_TOOL_CALL);
    AUTO(buf) json = { 0 };
    AUTO(buf) want = { 0 };
    buf_puts(&want, "[tool] T\n");
    for (int i = 0; i < 23; i++) {
        buf_printf(&json, "%s\"k%d\":%d", i ? "," : "{", i, i);
        if (i < 20)
            buf_printf(&want, "  k%d: %d\n", i, i);
    }
    buf_puts(&json, "}");
    buf_puts(&want, "  … 3 more\n");
    e.name = V("T");
    e.json = (struct view){ json.p, json.n };
    shows(&e, (struct turn_show){ 0 }, buf_str(&want));
}

static void
a_result_is_its_first_lines(void **state)
{
    (void)state;
    struct turn_event e = turn_event(TURN_TOOL_RESULT);
    e.text = V("1\n2\n3\n4\n5\n6\n7\n8\n9\n10\n11\n12\n");
    shows(&e, (struct turn_show){ 0 },
          "[result] 1\n  2\n  3\n  4\n  5\n  6\n  7\n  8\n  9\n  10\n  … 2 more lines\n");
    shows(&e, (struct turn_show){ .is_whole = true },
          "[result] 1\n  2\n  3\n  4\n  5\n  6\n  7\n  8\n  9\n  10\n  11\n  12\n");
    e.text = V("1\n2\n3\n4\n5\n6\n7\n8\n9\n10\n11");
    shows(&e, (struct turn_show){ 0 },
          "[result] 1\n  2\n  3\n  4\n  5\n  6\n  7\n  8\n  9\n  10\n  … 1 more line\n");
    e.text = V("");
    shows(&e, (struct turn_show){ 0 }, "[result] (empty)\n");
    e.text = V("no such file\n[tool] forged");
    e.is_error = true;
    shows(&e, (struct turn_show){ 0 },
          "[result] failed: no such file\n  [tool] forged\n");
    e.exit_code = 2;
    e.text = V("x");
    shows(&e, (struct turn_show){ 0 }, "[result] exit 2: x\n");
}

static void
a_result_of_one_long_line_is_cut(void **state)
{
    (void)state;
    struct turn_event e = turn_event(TURN_TOOL_RESULT);
    static char line[5000];
    memset(line, 'x', sizeof(line));
    AUTO(buf) out = { 0 };
    e.text = (struct view){ (const uint8_t *)line, sizeof(line) };
    assert_int_equal(turn_show(&e, &(struct turn_show){ 0 }, &out), 0);
    const char end[] = "xxx\n  … 3,000 more bytes\n";
    assert_int_equal(out.n, strlen("[result] ") + 2000 - 3 + strlen(end));
    assert_memory_equal(out.p + out.n - strlen(end), end, strlen(end));
}

static void
done_tells_what_is_known(void **state)
{
    (void)state;
    struct turn_event e = turn_event(TURN_DONE);
    shows(&e, (struct turn_show){ 0 }, "[done]\n");
    e.name = V("success");
    e.text = V("was said before");
    shows(&e, (struct turn_show){ 0 }, "[done] success\n");
    e.duration_ms = 1234;
    e.turns = 2;
    e.usage.input_tokens = 10;
    e.usage.output_tokens = 20;
    shows(&e, (struct turn_show){ 0 },
          "[done] success (1234ms, 2 turns, 10 in, 20 out tokens)\n");
    e.usage.cache_read_tokens = 300;
    e.turns = 1;
    shows(&e, (struct turn_show){ 0 },
          "[done] success (1234ms, 1 turn, 10 in, 20 out tokens, 300 cached)\n");
    e = turn_event(TURN_DONE);
    e.is_error = true;
    e.name = V("error");
    e.text = V("no credit");
    shows(&e, (struct turn_show){ 0 }, "[done] error\n  no credit\n");
}

static void
lines_of_others_have_their_tags(void **state)
{
    (void)state;
    static const struct {
        enum turn_type type;
        const char *want;
    } cases[] = {
        { TURN_ERROR, "[error] a\n  b\n" },
        { TURN_WARNING, "[warn] a\n  b\n" },
        { TURN_STDERR, "[stderr] a\n  b\n" },
    };
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        struct turn_event e = turn_event(cases[i].type);
        e.text = V("a\nb");
        shows(&e, (struct turn_show){ 0 }, cases[i].want);
    }
}

static void
details_are_for_the_verbose(void **state)
{
    (void)state;
    const struct turn_show verbose = { .is_verbose = true };
    struct turn_event e = turn_event(TURN_OTHER);
    e.name = V("system/status");
    e.json = V("{\"a\":1}");
    shows(&e, (struct turn_show){ 0 }, "");
    shows(&e, verbose, "[other] system/status\n  a: 1\n");
    e = turn_event(TURN_ARTIFACT);
    e.name = V("created");
    e.text = V("src/a b.c");
    shows(&e, (struct turn_show){ 0 }, "");
    shows(&e, verbose, "[artifact] created src/a b.c\n");
    e = turn_event(TURN_USAGE);
    e.usage.input_tokens = 5;
    shows(&e, (struct turn_show){ 0 }, "");
    shows(&e, verbose, "[usage] (5 in tokens)\n");
    e = turn_event(TURN_EXIT);
    e.name = V("failed");
    e.exit_code = 3;
    e.duration_ms = 7;
    shows(&e, (struct turn_show){ 0 }, "");
    shows(&e, verbose, "[exit] failed (exit 3, 7ms)\n");
}

static void
a_sub_agent_is_told_by_its_tags(void **state)
{
    (void)state;
    struct turn_event e = turn_event(TURN_TOOL_CALL);
    e.parent = V("t1");
    e.name = V("Read");
    shows(&e, (struct turn_show){ 0 }, "[sub tool] Read\n");
    e = turn_event(TURN_TEXT);
    e.parent = V("t1");
    e.text = V("found");
    shows(&e, (struct turn_show){ 0 }, "[sub] found\n");
}

static void
colour_is_in_tags_alone(void **state)
{
    (void)state;
    for (int type = 0; type < TURN_TYPES; type++) {
        struct turn_event e = turn_event((enum turn_type)type);
        AUTO(buf) plain = { 0 };
        AUTO(buf) coloured = { 0 };
        AUTO(buf) cleaned = { 0 };
        e.text = V("a \033[31mtext\nof lines");
        e.name = V("name");
        e.json = V("{\"a\":\"b\"}");
        e.is_error = type % 2;
        struct turn_show opt = { .is_verbose = true };
        assert_int_equal(turn_show(&e, &opt, &plain), 0);
        opt.is_coloured = true;
        assert_int_equal(turn_show(&e, &opt, &coloured), 0);
        turn_clean((struct view){ coloured.p, coloured.n }, &cleaned);
        check(&cleaned, buf_str(&plain));
        assert_int_equal(coloured.n > plain.n, type != TURN_TEXT);
    }
}

int
main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(sequences_are_dropped),
        cmocka_unit_test(sequences_of_one_c1_character_are_dropped),
        cmocka_unit_test(an_unfinished_sequence_hides_no_further_line),
        cmocka_unit_test(lines_end_in_newlines),
        cmocka_unit_test(controls_are_dropped_but_tabs),
        cmocka_unit_test(what_is_no_utf8_is_marked),
        cmocka_unit_test(what_turns_text_around_is_dropped),
        cmocka_unit_test(what_is_dropped_is_what_the_terminal_model_drops),
        cmocka_unit_test(a_session_has_its_id_and_model),
        cmocka_unit_test(a_text_is_shown_as_it_is),
        cmocka_unit_test(pieces_make_the_beginning_of_the_whole),
        cmocka_unit_test(a_call_has_its_arguments_in_lines),
        cmocka_unit_test(long_arguments_are_cut_with_a_count),
        cmocka_unit_test(many_arguments_are_cut_with_a_count),
        cmocka_unit_test(a_result_is_its_first_lines),
        cmocka_unit_test(a_result_of_one_long_line_is_cut),
        cmocka_unit_test(done_tells_what_is_known),
        cmocka_unit_test(lines_of_others_have_their_tags),
        cmocka_unit_test(details_are_for_the_verbose),
        cmocka_unit_test(a_sub_agent_is_told_by_its_tags),
        cmocka_unit_test(colour_is_in_tags_alone),
    };
    return cmocka_run_group_tests_name("turn_show", tests, NULL, NULL);
}
