/* SPDX-License-Identifier: MIT */
/* turn_context_test.c -- a conversation made small enough to be told again. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include "base/utf8.h"
#include "turn/context.h"

static void
add(struct turn_context *c, enum turn_type type, bool is_user, const char *name,
    const char *text)
{
    struct turn_event e = turn_event(type);
    e.is_user = is_user;
    e.name = (struct view){ (const uint8_t *)name, strlen(name) };
    e.text = e.json = (struct view){ (const uint8_t *)text, strlen(text) };
    assert_int_equal(turn_context_add(c, &e), 0);
}

static struct turn_context *
begin(size_t max)
{
    struct turn_context *c;
    assert_int_equal(turn_context_new(&c, max), 0);
    return c;
}

static struct buf
end(struct turn_context *c, const char *instruction)
{
    struct buf out = { 0 };
    assert_int_equal(turn_context_make(c, instruction, &out), 0);
    turn_context_free(c);
    assert_true(utf8_is_text(out.p, out.n));
    return out;
}

static void
assert_has(struct buf *text, const char *part)
{
    if (!strstr(buf_str(text), part))
        fail_msg("no '%s' in: %s", part, buf_str(text));
}

static void
what_was_asked_decided_touched_and_said_last_is_told(void **state)
{
    (void)state;
    struct turn_context *c = begin(TURN_CONTEXT_MIN);
    add(c, TURN_TEXT, true, "", "Mend the parser.\nAll of it.");
    add(c, TURN_TEXT, false, "", "I will split it in two.\nFirst the scanner, then …");
    add(c, TURN_TOOL_CALL, false, "Edit", "{\"file\":\"a.c\"}");
    add(c, TURN_TOOL_RESULT, false, "Edit", "done");
    add(c, TURN_ARTIFACT, false, "created", "a.c");
    add(c, TURN_ARTIFACT, false, "modified", "b.c");
    add(c, TURN_ARTIFACT, false, "modified", "a.c");
    add(c, TURN_TEXT, true, "", "and the tests");
    struct buf text = end(c, NULL);
    assert_has(&text, "## The task\nMend the parser.\nAll of it.\n");
    assert_has(&text, "in short\n- I will split it in two.\n");
    assert_has(&text, "touched\n- modified b.c\n- modified a.c\n");
    assert_has(&text, "[assistant] I will split it in two.\nFirst the scanner");
    assert_has(&text,
               "[tool] Edit {\"file\":\"a.c\"}\n[result] done\n[user] and the tests\n");
    assert_has(&text, "go on where it left off");
    buf_release(&text);
}

static void
it_never_passes_its_ceiling_and_keeps_the_last(void **state)
{
    (void)state;
    static char big[20000];
    memset(big, 'x', sizeof(big) - 1);
    memcpy(big, "wide \xe4\xb8\x96", 8);
    for (size_t max = TURN_CONTEXT_MIN; max <= TURN_CONTEXT_MAX; max = max * 3 + 7) {
        struct turn_context *c = begin(max < TURN_CONTEXT_MAX ? max : TURN_CONTEXT_MAX);
        add(c, TURN_TEXT, true, "", big);
        for (int i = 0; i < 3000; i++) {
            char text[64];
            snprintf(text, sizeof(text), "message %d", i);
            add(c, TURN_TEXT, i % 2, "", i % 100 == 50 ? big : text);
            add(c, TURN_ARTIFACT, false, "modified", text);
            add(c, TURN_TOOL_RESULT, false, "", big);
        }
        add(c, TURN_TEXT, false, "", "the very last word");
        struct buf text = end(c, "");
        assert_true(text.n <= max);
        assert_has(&text, "[assistant] the very last word\n");
        assert_has(&text, "\n…\n");
        assert_has(&text, "modified message 2999\n");
        buf_release(&text);
    }
}

static void
control_characters_and_rubbish_do_not_get_in(void **state)
{
    (void)state;
    struct turn_context *c = begin(TURN_CONTEXT_MIN);
    add(c, TURN_TEXT, true, "",
        "\x1b]52;c;xx\x07one\xff\x9b"
        "31m two\x08");
    add(c, TURN_TOOL_CALL, false, "\x1b[2JBash\n", "\xc3");
    add(c, TURN_TEXT, false, "", "\n \n");
    struct buf text = end(c, "now\n");
    for (size_t i = 0; i < text.n; i++)
        assert_true(text.p[i] >= 0x20 || text.p[i] == '\n');
    assert_has(&text, "[tool] Bash");
    assert_has(&text, "now\n");
    buf_release(&text);
}

static void
of_nothing_comes_nothing(void **state)
{
    (void)state;
    struct buf out = { 0 };
    struct turn_context *c = begin(TURN_CONTEXT_BYTES);
    assert_int_equal(turn_context_make(c, NULL, &out), ERR_MISSING);
    assert_int_equal(out.n, 0);
    turn_context_free(c);
    buf_release(&out);
}

int
main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(what_was_asked_decided_touched_and_said_last_is_told),
        cmocka_unit_test(it_never_passes_its_ceiling_and_keeps_the_last),
        cmocka_unit_test(control_characters_and_rubbish_do_not_get_in),
        cmocka_unit_test(of_nothing_comes_nothing),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
