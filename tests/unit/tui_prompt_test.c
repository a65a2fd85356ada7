/* SPDX-License-Identifier: MIT */
/* tui_prompt_test.c -- a line that is typed. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <string.h>

#include "base/utf8.h"
#include "tui/prompt_priv.h"

#define NOTHING ((struct view){ NULL, 0 })
#define LEFT    "\033[D"
#define RIGHT   "\033[C"
#define UP      "\033[A"
#define DOWN    "\033[B"
#define HOME    "\033[H"
#define END     "\033[F"
#define DELETE  "\033[3~"

/* What the last of these keys brought. */
static enum tui_prompt_end
type(struct tui_prompt *p, const char *typed)
{
    struct tui_keys keys = { 0 };
    struct tui_key key;
    struct view in = { (const uint8_t *)typed, strlen(typed) };
    enum tui_prompt_end end = TUI_PROMPT_GOES_ON;
    while (tui_keys_next(&keys, &in, &key))
        end = tui_prompt_key(p, key);
    if (tui_keys_wait_ms(&keys) >= 0 && tui_keys_timeout(&keys, &key))
        end = tui_prompt_key(p, key);
    assert_true(utf8_is_line(p->text.p, p->text.n));
    assert_true(p->cursor <= p->text.n && p->text.n <= TUI_PROMPT_BYTES);
    return end;
}

/* The text with | where the cursor is. */
static void
shows(struct tui_prompt *p, const char *want)
{
    AUTO(buf) got = { 0 };
    buf_append(&got, p->text.p, p->cursor);
    buf_puts(&got, "|");
    buf_append(&got, p->text.p + p->cursor, p->text.n - p->cursor);
    assert_string_equal(buf_str(&got), want);
}

static void
keys_edit_the_line(void **state)
{
    (void)state;
    static const struct {
        const char *typed, *want;
    } cases[] = {
        { "abc", "abc|" },
        { "abc" LEFT LEFT "x", "ax|bc" },
        { "abc\001x\005y", "xabcy|" },
        { "abc" HOME "x" END "y", "xabcy|" },
        { "abc\002\002\006x", "abx|c" },
        { "abc" LEFT "\177", "a|c" },
        { "abc" LEFT "\b", "a|c" },
        { "abc\033[104;5u", "ab|" }, /* ^H of kitty */
        { "abc" HOME DELETE, "|bc" },
        { "abc" DELETE RIGHT, "abc|" },
        { "abc def" LEFT "\025", "|f" },
        { "abc def" HOME RIGHT "\013", "a|" },
        { "abc def  \027", "abc |" },
        { "abc def\033[1;5Dx", "abc x|def" },
        { "abc def" HOME "\033[1;3Cx", "abcx| def" },
        { "\303\251\342\202\254\177", "\303\251|" },
        { "e\314\201x" LEFT "\177", "|x" }, /* an accent goes with its letter */
        { "a\033xb\004\t\033[5~\033[<0;1;1Mc", "abc|" },
        { "\033[200~a\rb\tc\003\033[A\033[201~d", "a b cd|" },
    };
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        struct tui_prompt p = { 0 };
        tui_prompt_open(&p, "/", NOTHING);
        type(&p, cases[i].typed);
        assert_true(p.is_open);
        shows(&p, cases[i].want);
        tui_prompt_release(&p);
    }
}

static void
it_tells_what_became_of_it(void **state)
{
    (void)state;
    struct tui_prompt p = { 0 };
    tui_prompt_open(&p, "/", NOTHING);
    assert_int_equal(type(&p, "a"), TUI_PROMPT_CHANGED);
    assert_int_equal(type(&p, LEFT), TUI_PROMPT_GOES_ON);
    assert_int_equal(type(&p, "\177"), TUI_PROMPT_GOES_ON); /* nothing is before it */
    assert_int_equal(type(&p, DELETE), TUI_PROMPT_CHANGED);
    assert_int_equal(type(&p, "\177"), TUI_PROMPT_GIVEN_UP);
    assert_false(p.is_open);
    static const char *const ends[] = { "\033", "\003" };
    for (size_t i = 0; i < 2; i++) {
        tui_prompt_open(&p, "/", NOTHING);
        assert_int_equal(type(&p, "abc"), TUI_PROMPT_CHANGED);
        assert_int_equal(type(&p, ends[i]), TUI_PROMPT_GIVEN_UP);
    }
    tui_prompt_open(&p, "/", NOTHING);
    assert_int_equal(type(&p, "abc\r"), TUI_PROMPT_DONE);
    assert_false(p.is_open);
    assert_string_equal(buf_str(&p.text), "abc");
    tui_prompt_release(&p);
}

static void
what_was_typed_before_comes_back(void **state)
{
    (void)state;
    struct tui_prompt p = { 0 };
    static const char *const lines[] = { "one\r", "two\r", "two\r", "\r", "lost\033" };
    for (size_t i = 0; i < 5; i++) {
        tui_prompt_open(&p, "/", NOTHING);
        type(&p, lines[i]);
    }
    tui_prompt_open(&p, "/", NOTHING);
    type(&p, "new");
    assert_int_equal(type(&p, UP), TUI_PROMPT_CHANGED);
    shows(&p, "two|");
    type(&p, UP);
    shows(&p, "one|");
    assert_int_equal(type(&p, UP), TUI_PROMPT_GOES_ON);
    type(&p, DOWN DOWN);
    shows(&p, "new|");
    assert_int_equal(type(&p, DOWN), TUI_PROMPT_GOES_ON);
    type(&p, UP "x" DOWN);
    shows(&p, "twox|");
    assert_int_equal(p.n_old, 2);
    for (int i = 0; i < 3 * TUI_PROMPT_OLD; i++) {
        char text[] = { (char)('a' + i % 26), '\r', 0 };
        tui_prompt_open(&p, "/", NOTHING);
        type(&p, text);
    }
    assert_int_equal(p.n_old, TUI_PROMPT_OLD);
    tui_prompt_release(&p);
}

static void
it_begins_with_a_text_and_has_a_ceiling(void **state)
{
    (void)state;
    struct tui_prompt p = { 0 };
    static const char dirty[] = "a\033b\n\377c\342\202\254";
    tui_prompt_open(&p,
                    "a head that is much too long for the room that there is for heads",
                    (struct view){ (const uint8_t *)dirty, sizeof(dirty) - 1 });
    shows(&p, "abc\342\202\254|");
    for (int i = 0; i < TUI_PROMPT_BYTES; i++)
        type(&p, "\342\202\254");
    assert_true(p.text.n > TUI_PROMPT_BYTES - 3);
    assert_int_equal(type(&p, "\342\202\254"), TUI_PROMPT_GOES_ON);
    assert_true(buf_str(&p.text)[0] == 'a');
    tui_prompt_release(&p);
}

static void
what_has_room_is_shown_with_the_cursor(void **state)
{
    (void)state;
    static const struct {
        const char *typed;
        unsigned cols;
        const char *want;
        unsigned col;
    } cases[] = {
        { "abc", 10, "/abc", 4 },
        { "abcdefghi", 10, "/bcdefghi", 9 },
        { "abcdefghi" LEFT, 10, "/abcdefghi", 9 },
        { "abcdefghijkl" HOME, 10, "/abcdefghi", 1 },
        { "\344\270\255\344\270\255\344\270\255", 6, "/\344\270\255\344\270\255", 5 },
        { "abc", 1, "", 0 },
        { "abc", 0, "", 0 },
    };
    struct term_widths *widths = calloc(1, sizeof(*widths));
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        AUTO(buf) out = { 0 };
        struct tui_prompt p = { 0 };
        unsigned col;
        tui_prompt_open(&p, "/", NOTHING);
        type(&p, cases[i].typed);
        tui_prompt_put(&p, cases[i].cols, widths, &out, &col);
        assert_string_equal(buf_str(&out), cases[i].want);
        assert_int_equal(col, cases[i].col);
        tui_prompt_release(&p);
    }
    term_widths_release(widths);
    free(widths);
}

int
main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(keys_edit_the_line),
        cmocka_unit_test(it_tells_what_became_of_it),
        cmocka_unit_test(what_was_typed_before_comes_back),
        cmocka_unit_test(it_begins_with_a_text_and_has_a_ceiling),
        cmocka_unit_test(what_has_room_is_shown_with_the_cursor),
    };
    return cmocka_run_group_tests_name("tui_prompt", tests, NULL, NULL);
}
