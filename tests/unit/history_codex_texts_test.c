/* SPDX-License-Identifier: MIT */
/* history_codex_texts_test.c -- Codex's rollouts: who says what, told by two lines each.
 */
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

static void
assert_shown(const char *lines, const char *want)
{
    struct history_kit k;
    history_kit_begin(&k, TURN_CODEX);
    assert_int_equal(history_kit_lines(&k, text_view(lines)), 0);
    assert_string_equal(buf_str(&k.shown), want);
    history_kit_end(&k);
}

static void
what_two_lines_tell_is_told_once_in_either_order(void **state)
{
    (void)state;
    const char *want = "text user \"go\"\ntext \"yes\"\n";
    assert_shown(ASKED("go") SAID("yes"), want);
    assert_shown(ASKED_EVENT("go") SAID_EVENT("yes"), want);
    assert_shown(ASKED("go") ASKED_EVENT("go") SAID_EVENT("yes") SAID("yes"), want);
    assert_shown(ASKED("go") SAID("yes") ASKED_EVENT("go") SAID_EVENT("yes"), want);
}

static void
what_is_said_again_is_told_again(void **state)
{
    (void)state;
    const char *want = "text user \"go\"\ntext user \"go\"\n";
    assert_shown(ASKED("go") ASKED("go"), want);
    assert_shown(ASKED_EVENT("go") ASKED_EVENT("go"), want);
    assert_shown(ASKED("go") ASKED_EVENT("go") ASKED("go") ASKED_EVENT("go"), want);
    assert_shown(ASKED("go") ASKED("go") ASKED_EVENT("go") ASKED_EVENT("go"), want);
    assert_shown(SAID("0") SAID_EVENT("1") SAID("2") ASKED_EVENT("3") ASKED("6"),
                 "text \"0\"\ntext \"1\"\ntext \"2\"\ntext user \"3\"\ntext user "
                 "\"6\"\n");
    assert_shown(ASKED("yes") SAID_EVENT("yes"), "text user \"yes\"\ntext \"yes\"\n");
}

static void
each_part_of_a_reasoning_is_one_thought(void **state)
{
    (void)state;
    const char *want = "thinking \"one\"\nthinking \"two\"\n";
    const char *model = RESPONSE(
        "{\"type\":\"reasoning\",\"summary\":[{\"text\":\"one\"},"
        "{\"text\":\"two\"}],\"content\":null}");
    const char *events = EVENT("{\"type\":\"agent_reasoning\",\"text\":\"one\"}")
        EVENT("{\"type\":\"agent_reasoning\",\"text\":\"two\"}");
    const char *item = EVENT(
        "{\"type\":\"item_completed\",\"item\":{\"type\":\"Reasoning\","
        "\"summary_text\":[\"one\",\"two\"],\"raw_content\":[]}}");
    const char *const all[] = { model, events, item };
    for (size_t i = 0; i < 3; i++) {
        assert_shown(all[i], want);
        AUTO(buf) both = { 0 };
        buf_puts(&both, all[i]);
        buf_puts(&both, all[i ? 0 : 1]);
        assert_shown(buf_str(&both), want);
    }
    assert_shown(
        RESPONSE("{\"type\":\"reasoning\",\"id\":\"r\",\"summary\":[],\"content\":["
                 "{\"type\":\"reasoning_text\",\"text\":\"deep\"}]}")
            EVENT("{\"type\":\"agent_reasoning_raw_content\",\"text\":\"deep\"}"),
        "thinking id=r \"deep\"\n");
}

static void
what_a_program_puts_before_the_user_is_no_word_of_theirs(void **state)
{
    (void)state;
    static const char *const texts[] = {
        "<environment_context>\\n <cwd>/p</cwd>\\n</environment_context>\\n",
        "# AGENTS.md instructions for /p\\n\\n<INSTRUCTIONS>\\nx",
        "<user_instructions>x</user_instructions><skills>y</skills>",
        "<subagent_notification>x</subagent_notification>",
        "<permissions instructions>x</permissions instructions>",
        "<skills_instructions>x</skills_instructions>",
    };
    for (size_t i = 0; i < sizeof(texts) / sizeof(texts[0]); i++) {
        AUTO(buf) line = { 0 };
        buf_printf(&line, RESPONSE(MESSAGE("user", "%s")), texts[i]);
        assert_shown(buf_str(&line), "other name=response_item/user\n");
    }
    assert_shown(RESPONSE(MESSAGE("developer", "z")) ASKED("go"),
                 "other name=response_item/developer\ntext user \"go\"\n");
}

/* Whatever they begin with. */
static void
what_the_user_says_is_theirs(void **state)
{
    (void)state;
#define SAYS(text)                                                               \
    assert_shown(ASKED(text) ASKED_EVENT(text), "text user \"" text "\"\n"),     \
        assert_shown(ASKED_EVENT(text) ASKED(text), "text user \"" text "\"\n"), \
        assert_shown(ASKED_EVENT(text), "text user \"" text "\"\n")
    SAYS("# AGENTS.md is missing here, write one");
    SAYS("<skills> is no tag that I know");
    SAYS("<environment_context>");
    SAYS("<permissions> and </b>");
    /* A word that only begins as a tag of a program's, also where nobody else saw it. */
    SAYS("<skills.txt> has a typo, see </skills.txt>");
    assert_shown(ASKED("<skills.txt> has a typo, see </skills.txt>"),
                 "text user \"<skills.txt> has a typo, see </skills.txt>\"\n");
    assert_shown(ASKED("<skill>x</skillet>"), "text user \"<skill>x</skillet>\"\n");
    /* One that is all as a program's: who saw it says whose it is. */
    assert_shown(ASKED("<skill>x</skill>") ASKED_EVENT("<skill>x</skill>"),
                 "other name=response_item/user\ntext user \"<skill>x</skill>\"\n");
}

#define PART(text) "{\"type\":\"input_text\",\"text\":\"" text "\"}"
#define IMAGE      "{\"type\":\"input_image\",\"image_url\":\"data:,x\"}"
#define SENT(parts) \
    RESPONSE("{\"type\":\"message\",\"role\":\"user\",\"content\":[" parts "]}")

static void
a_prompt_with_an_image_is_one_and_a_place(void **state)
{
    (void)state;
    const char *lines = ASKED("a") SENT(
        PART("<image name=[Image #1]>") "," IMAGE "," PART("</image>") "," PART("look"))
        ASKED_EVENT("look") SAID("1") ASKED("c")
            EVENT("{\"type\":\"thread_rolled_back\",\"num_turns\":2}") ASKED("d");
    assert_shown(lines, "text user \"a\"\ntext user \"look\"\ntext \"1\"\n"
                        "text user \"c\"\nbranch from=1\ntext user \"d\"\n");
    const char *item = EVENT(
        "{\"type\":\"item_completed\",\"item\":{\"type\":\"UserMessage\",\"id\":\"u\","
        "\"content\":[{\"type\":\"image\",\"image_url\":\"x\"},{\"type\":\"text\","
        "\"text\":\"look\"}]}}")
        SENT(PART("<image>") "," IMAGE "," PART("</image>") "," PART("look"));
    assert_shown(item, "text user id=u \"look\"\n");
    assert_shown(SENT(PART("<image name=[Image #1]>") "," IMAGE "," PART("</image>"))
                     ASKED_EVENT(""),
                 "text user \"<image name=[Image #1]>\n</image>\"\n");
    assert_shown(SENT(PART("<images> and") "," PART("<image> b>")),
                 "text user \"<images> and\n<image> b>\"\n");
}

#define SAID_AS(id, text)                                                \
    RESPONSE("{\"type\":\"message\",\"role\":\"assistant\",\"id\":\"" id \
             "\",\"content\":[{\"type\":\"output_text\",\"text\":\"" text "\"}]}")
#define SHOWN_AS(id, text)                                                              \
    EVENT(                                                                              \
        "{\"type\":\"item_completed\",\"item\":{\"type\":\"AgentMessage\",\"id\":\"" id \
        "\",\"content\":[{\"type\":\"Text\",\"text\":\"" text "\"}]}}")

/* A part of it may be cut out for who looks on. */
static void
what_is_said_is_told_once_by_its_id(void **state)
{
    (void)state;
    assert_shown(SAID_AS("m9", "yes<cite>x</cite>") SHOWN_AS("m9", "yes"),
                 "text id=m9 \"yes<cite>x</cite>\"\n");
    assert_shown(SHOWN_AS("m9", "yes") SAID_AS("m9", "yes<cite>x</cite>"),
                 "text id=m9 \"yes\"\n");
    assert_shown(SHOWN_AS("m1", "yes") SAID_AS("m1", "yes<cite>") SAID_AS("m2", "yes")
                     SHOWN_AS("m2", "yes"),
                 "text id=m1 \"yes\"\ntext id=m2 \"yes\"\n");
    /* Where only one has an id, the texts tell. */
    assert_shown(SAID_AS("m1", "yes") SAID_EVENT("yes") SAID_AS("m2", "yes")
                     SAID_EVENT("yes"),
                 "text id=m1 \"yes\"\ntext id=m2 \"yes\"\n");
    assert_shown(SAID_EVENT("yes") SAID_AS("m1", "yes") SAID("no") SHOWN_AS("m2", "no"),
                 "text \"yes\"\ntext \"no\"\n");
}

int
main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(what_two_lines_tell_is_told_once_in_either_order),
        cmocka_unit_test(what_is_said_again_is_told_again),
        cmocka_unit_test(each_part_of_a_reasoning_is_one_thought),
        cmocka_unit_test(what_a_program_puts_before_the_user_is_no_word_of_theirs),
        cmocka_unit_test(what_the_user_says_is_theirs),
        cmocka_unit_test(a_prompt_with_an_image_is_one_and_a_place),
        cmocka_unit_test(what_is_said_is_told_once_by_its_id),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
