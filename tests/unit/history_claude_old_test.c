/* SPDX-License-Identifier: MIT */
/* history_claude_old_test.c -- what older versions of Claude Code keep otherwise. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

#include <cmocka.h>

#include "support/history_kit.h"
#include "support/text_view.h"
#include "turn/history_priv.h"

#define LINE(uuid, parent, message)                                        \
    "{\"type\":\"assistant\",\"uuid\":\"" uuid "\",\"parentUuid\":" parent \
    ",\"message\":" message "}\n"
#define TASK(uuid, parent, id, prompt)                                           \
    LINE(uuid, parent,                                                           \
         "{\"id\":\"m-" id "\",\"content\":[{\"type\":\"tool_use\",\"id\":\"" id \
         "\",\"name\":\"Task\",\"input\":{\"prompt\":\"" prompt "\"}}]}")
#define SIDE(type, uuid, parent, content)                          \
    "{\"type\":\"" type "\",\"isSidechain\":true,\"uuid\":\"" uuid \
    "\",\"parentUuid\":" parent ",\"message\":{\"id\":\"n-" uuid   \
    "\",\"content\":" content "}}\n"
#define TEXTS(text) "[{\"type\":\"text\",\"text\":\"" text "\"}]"

/* As older versions have them: among the others, and without a name. */
static void
a_sub_agent_among_the_others_is_known_by_its_prompt(void **state)
{
    (void)state;
    const char *lines = TASK("a", "null", "t1", "look \\u00e0 l\u00e0")
        TASK("b", "\"a\"", "t2", "look") TASK("c", "\"b\"", "t3", "look")
            SIDE("user", "s1", "null", TEXTS("look"))
                SIDE("user", "s2", "null", "\"look \u00e0 l\u00e0\"")
                    SIDE("assistant", "s3", "\"s1\"", TEXTS("1"))
                        SIDE("user", "s4", "\"b\"", "\"look\"")
                            SIDE("assistant", "s5", "\"s2\"", TEXTS("2"))
                                SIDE("assistant", "s6", "\"s3\"", TEXTS("3"))
                                    SIDE("user", "s7", "null", "\"look\"")
                                        SIDE("assistant", "s8", "\"s7\"", TEXTS("4"));
    static const char *const want[] = {
        "text user parent=t2 \"look\"\n",
        "text user parent=t1 \"look \u00e0 l\u00e0\"\n",
        "text id=n-s3 parent=t2 \"1\"\n",
        "text user parent=t3 \"look\"\n",
        "text id=n-s5 parent=t1 \"2\"\n",
        "text id=n-s6 parent=t2 \"3\"\n",
        "text user parent=sidechain \"look\"\n",
        "text id=n-s8 parent=sidechain \"4\"\n",
    };
    struct history_kit k;
    struct view rest = text_view(lines), line;
    history_kit_begin(&k, TURN_CLAUDE);
    while (history_kit_next(&rest, &line)) {
        assert_int_equal(history_kit_lines(&k, line), 0);
        history_kit_reload(&k);
    }
    const char *at = buf_str(&k.shown);
    for (size_t i = 0; i < sizeof(want) / sizeof(want[0]); i++) {
        at = strstr(at, want[i]);
        assert_non_null(at);
    }
    assert_int_equal(k.troubles[TURN_HISTORY_ORPHAN], 0);
    history_kit_end(&k);
}

/* However many there were: those that came last. */
static void
only_the_latest_sub_agents_are_awaited(void **state)
{
    (void)state;
    enum { COUNT = HISTORY_TASKS_MAX + 44 };
    struct history_kit k;
    history_kit_begin(&k, TURN_CLAUDE);
    for (int i = 0; i < COUNT; i++) {
        AUTO(buf) line = { 0 };
        buf_printf(&line, TASK("a%d", "null", "t%d", "look %d"), i, i, i, i);
        assert_int_equal(history_kit_lines(&k, (struct view){ line.p, line.n }), 0);
    }
    /* One speaks, and goes on when more have come. */
    assert_int_equal(
        history_kit_lines(&k, text_view(SIDE("user", "s", "null", "\"look 100\""))), 0);
    assert_int_equal(history_kit_lines(&k, text_view(TASK("z", "null", "t-z", "z"))), 0);
    history_kit_reload(&k);
    assert_int_equal(
        history_kit_lines(&k, text_view(SIDE("assistant", "s2", "\"s\"", TEXTS("1")))),
        0);
    assert_non_null(strstr(buf_str(&k.shown), "text id=n-s2 parent=t100 \"1\"\n"));
    for (int i = 0; i < COUNT; i++) {
        AUTO(buf) line = { 0 };
        AUTO(buf) want = { 0 };
        buf_printf(&line, SIDE("user", "r%d", "null", "\"look %d\""), i, i, i);
        buf_clear(&k.shown);
        assert_int_equal(history_kit_lines(&k, (struct view){ line.p, line.n }), 0);
        if (i <= COUNT - HISTORY_TASKS_MAX || i == 100)
            buf_puts(&want, "text user parent=sidechain ");
        else
            buf_printf(&want, "text user parent=t%d ", i);
        buf_printf(&want, "\"look %d\"\n", i);
        assert_string_equal(buf_str(&k.shown), buf_str(&want));
    }
    history_kit_end(&k);
}

#define SUMMARY(text, leaf) \
    "{\"type\":\"summary\",\"summary\":\"" text "\",\"leafUuid\":\"" leaf "\"}\n"
#define LEAF(id)                                                                \
    "{\"type\":\"user\",\"uuid\":\"" id "\",\"parentUuid\":null,\"sessionId\":" \
    "\"S\",\"message\":{\"content\":\"x\"}}\n"

static void
assert_title(const char *lines, const char *want)
{
    for (int is_interrupted = 0; is_interrupted < 2; is_interrupted++) {
        struct history_kit k;
        struct view rest = text_view(lines), line;
        history_kit_begin(&k, TURN_CLAUDE);
        while (history_kit_next(&rest, &line)) {
            assert_int_equal(history_kit_lines(&k, line), 0);
            if (is_interrupted)
                history_kit_reload(&k);
        }
        const struct buf *title = &turn_history_facts(k.h)->title;
        assert_int_equal(title->n, strlen(want));
        assert_memory_equal(title->p, want, title->n);
        history_kit_end(&k);
    }
}

/* Older versions put those of other sessions at the top of a new file. */
static void
a_summary_is_of_the_session_that_has_its_leaf(void **state)
{
    (void)state;
    assert_title(SUMMARY("theirs", "x") SUMMARY("others", "y") LEAF("a"), "");
    assert_title(SUMMARY("theirs", "x") SUMMARY("mine", "b") SUMMARY("others", "y")
                     LEAF("a") LEAF("b"),
                 "mine");
    assert_title(LEAF("a") LEAF("b") SUMMARY("mine", "a") SUMMARY("theirs", "x"), "mine");
    assert_title(SUMMARY("m\\u00efne", "a") LEAF("a") SUMMARY("later", "a") LEAF("a"),
                 "later");
    assert_title("{\"type\":\"custom-title\",\"customTitle\":\"own\",\"sessionId\":"
                 "\"S\"}\n" SUMMARY("theirs", "x") LEAF("a"),
                 "own");
}

/* However many there were: those that came last. */
static void
only_the_latest_summaries_are_awaited(void **state)
{
    (void)state;
    enum { COUNT = 5200, FIRST = COUNT - HISTORY_SUMMARIES_MAX };
    struct history_kit k;
    history_kit_begin(&k, TURN_CLAUDE);
    for (int i = 0; i < COUNT; i++) {
        AUTO(buf) line = { 0 };
        buf_printf(&line, SUMMARY("of %d", "u%d"), i, i);
        assert_int_equal(history_kit_lines(&k, (struct view){ line.p, line.n }), 0);
    }
    for (int i = FIRST - 1; i < COUNT; i++) {
        AUTO(buf) line = { 0 };
        AUTO(buf) want = { 0 };
        const struct buf *title = &turn_history_facts(k.h)->title;
        buf_printf(&line, LEAF("u%d"), i);
        if (i >= FIRST)
            buf_printf(&want, "of %d", i);
        assert_int_equal(history_kit_lines(&k, (struct view){ line.p, line.n }), 0);
        assert_int_equal(title->n, want.n);
        assert_true(!want.n || !memcmp(title->p, want.p, want.n));
    }
    history_kit_end(&k);
}

/* Those of others in any number, and of any length. */
static void
summaries_of_others_cost_a_fixed_amount(void **state)
{
    (void)state;
    struct history_kit k;
    AUTO(buf) saved = { 0 };
    history_kit_begin(&k, TURN_CLAUDE);
    k.is_quiet = true;
    for (int i = 0; i < 20000; i++) {
        AUTO(buf) line = { 0 };
        buf_printf(&line, SUMMARY("of %0*d", "%d"), i % 8000, 1, i);
        assert_int_equal(history_kit_lines(&k, (struct view){ line.p, line.n }), 0);
    }
    assert_int_equal(turn_history_save(k.h, &saved), 0);
    assert_true(saved.n < 300000);
    history_kit_end(&k);
}

int
main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_sub_agent_among_the_others_is_known_by_its_prompt),
        cmocka_unit_test(only_the_latest_sub_agents_are_awaited),
        cmocka_unit_test(a_summary_is_of_the_session_that_has_its_leaf),
        cmocka_unit_test(only_the_latest_summaries_are_awaited),
        cmocka_unit_test(summaries_of_others_cost_a_fixed_amount),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
