/* SPDX-License-Identifier: MIT */
/* tui_draft_test.c -- an instruction while it is written. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <string.h>

#include "base/utf8.h"
#include "support/rng.h"
#include "tui/draft_priv.h"

#define LEFT   "\033[D"
#define RIGHT  "\033[C"
#define UP     "\033[A"
#define DOWN   "\033[B"
#define HOME   "\033[H"
#define END    "\033[F"
#define DELETE "\033[3~"
#define UNDO   "\032"

static struct term_widths widths;

static struct view
view(const char *s)
{
    return (struct view){ (const uint8_t *)s, strlen(s) };
}

/* What the last of these keys brought. */
static enum tui_draft_end
type(struct tui_draft *d, const char *typed)
{
    struct tui_keys keys = { 0 };
    struct tui_key key;
    struct view in = view(typed);
    enum tui_draft_end end = TUI_DRAFT_GOES_ON;
    while (tui_keys_next(&keys, &in, &key))
        end = tui_draft_key(d, key, &widths);
    if (tui_keys_wait_ms(&keys) >= 0 && tui_keys_timeout(&keys, &key))
        end = tui_draft_key(d, key, &widths);
    assert_true(utf8_is_text(d->text.p, d->text.n));
    assert_true(d->cursor <= d->text.n && d->text.n <= TUI_DRAFT_BYTES);
    return end;
}

/* The text with | where the cursor is. */
static void
has(struct tui_draft *d, const char *want)
{
    AUTO(buf) got = { 0 };
    buf_append(&got, d->text.p, d->cursor);
    buf_puts(&got, "|");
    buf_append(&got, d->text.p + d->cursor, d->text.n - d->cursor);
    assert_string_equal(buf_str(&got), want);
}

/* Its lines on the screen, with / between them. */
static void
shows(struct tui_draft *d, const char *want, size_t line, unsigned col)
{
    AUTO(buf) got = { 0 };
    size_t lines = tui_draft_lines(d, &widths), at_line;
    unsigned at_col;
    for (size_t i = 0; i < lines; i++) {
        buf_puts(&got, i ? "/" : "");
        tui_draft_put(d, i, &widths, &got);
    }
    assert_string_equal(buf_str(&got), want);
    tui_draft_cursor(d, &widths, &at_line, &at_col);
    assert_int_equal(at_line, line);
    assert_int_equal(at_col, col);
}

struct sample {
    const char *typed, *want;
};

static void
check(const struct sample *samples, size_t n)
{
    for (size_t i = 0; i < n; i++) {
        struct tui_draft d = { .cols = 40 };
        assert_int_equal(type(&d, samples[i].typed), TUI_DRAFT_GOES_ON);
        has(&d, samples[i].want);
        tui_draft_release(&d);
    }
}

#define CHECK_ALL(samples) check(samples, sizeof(samples) / sizeof((samples)[0]))

static void
keys_edit_the_text(void **state)
{
    (void)state;
    static const struct sample samples[] = {
        { "ab\rcd", "ab\ncd|" },
        { "ab\033[13;2ucd\033\r", "ab\ncd\n|" }, /* with Shift, with Alt */
        { "ab\rcd" HOME "x", "ab\nx|cd" },
        { "ab\rcd\001x" END "y", "ab\nxcdy|" },
        { "ab\rcd" UP "x", "abx|\ncd" },
        { "ab\rcd" UP HOME DOWN "x", "ab\nx|cd" },
        { "ab\rcd\020\002x\016y", "axb\ncdy|" },
        { "ab\rcd" HOME LEFT "x", "abx|\ncd" },
        { "ab\rcd" HOME "\177", "ab|cd" },
        { "ab\rcd" UP DELETE, "ab|cd" },
        { "ab\rcd\033[1;5H\033[1;5Fx\033[1;5Hy", "y|ab\ncdx" },
        { "one two"
          "\033[1;5D\033[1;3Dx\033[1;5Cy",
          "xoney| two" },
        { "one two\027", "one |" },
        { "one two\033[127;5u", "one |" },
        { "ab\rcd\025", "ab\n|" },
        { "ab\rcd" UP HOME "\013\013", "|cd" },
        { "abc" HOME "\004\006\004", "b|" },
        { "a\tb", "a\tb|" },
        { "a\033[Zb\007\033x\033[<0;1;1Mc", "abc|" },
        { "e\314\201\177x", "x|" },
        { "\360\237\221\250\342\200\215\360\237\221\251" LEFT "x",
          "x|\360\237\221\250\342\200\215\360\237\221\251" }, /* an emoji of several */
    };
    CHECK_ALL(samples);
}

static void
what_is_pasted_is_text(void **state)
{
    (void)state;
    static const struct sample samples[] = {
        { "\033[200~a\r\nb\tc\n\033[201~d", "a\nb\tc\nd|" },
        { "\033[200~a\023\005\032\003\033[Ab\033[201~", "ab|" },
        { "\033[200~a\033[13;5ub\033[201~", "a\nb|" },
    };
    CHECK_ALL(samples);
}

static void
it_is_sent_or_given_up(void **state)
{
    (void)state;
    struct tui_draft d = { .cols = 40 };
    assert_int_equal(type(&d, "\033"), TUI_DRAFT_GIVEN_UP);
    assert_int_equal(type(&d, "a\023"), TUI_DRAFT_SUBMITTED);
    assert_int_equal(type(&d, "\033[13;5u"), TUI_DRAFT_SUBMITTED);
    assert_int_equal(type(&d, "\033[27;5;13~"), TUI_DRAFT_SUBMITTED);
    assert_int_equal(type(&d, "\033[115;5u"), TUI_DRAFT_SUBMITTED);
    assert_int_equal(type(&d, "\005"), TUI_DRAFT_EDITOR);
    assert_int_equal(type(&d, "\033"), TUI_DRAFT_GOES_ON);
    assert_true(d.was_escape);
    assert_int_equal(type(&d, "b\033"), TUI_DRAFT_GOES_ON);
    assert_int_equal(type(&d, "\003"), TUI_DRAFT_GIVEN_UP);
    has(&d, "ab|");
    tui_draft_clear(&d);
    assert_int_equal(type(&d, " \r\t\033"), TUI_DRAFT_GIVEN_UP); /* blanks are no text */
    assert_true(tui_draft_is_empty(&d));
    type(&d, "x");
    assert_false(tui_draft_is_empty(&d));
    tui_draft_release(&d);
}

static void
changes_are_undone_step_by_step(void **state)
{
    (void)state;
    static const struct sample samples[] = {
        { "abc" UNDO, "|" },
        { UNDO "abc" UNDO UNDO, "|" },
        { "abc\rdef" UNDO, "abc\n|" },
        { "abc\rdef" UNDO "\037", "abc|" },
        { "abc" LEFT "x" UNDO, "ab|c" },
        { "abcd\177\177" UNDO, "abcd|" },
        { "abcd" HOME DELETE DELETE UNDO, "|abcd" },
        { "abcd" LEFT LEFT "\177" DELETE UNDO, "ab|cd" },
        { "abc\177x" UNDO, "ab|" },
        { "abc\177x" UNDO UNDO, "abc|" },
        { "abc\rdef\025" UNDO, "abc\ndef|" },
        { "x" LEFT "\033[200~a\rb\rc\033[201~" UNDO, "|x" },
        { "abc" UNDO "d" UNDO, "|" },
    };
    CHECK_ALL(samples);
    struct tui_draft d = { .cols = 40 };
    for (int i = 0; i < 3 * TUI_DRAFT_UNDO; i++)
        type(&d, "ab\r");
    for (int i = 0; i < 3 * TUI_DRAFT_UNDO; i++)
        type(&d, UNDO);
    assert_int_equal(d.text.n, 9 * TUI_DRAFT_UNDO - 3 * TUI_DRAFT_UNDO / 2);
    tui_draft_release(&d);
}

static void
an_editors_text_is_taken_as_one_change(void **state)
{
    (void)state;
    struct tui_draft d = { .cols = 40 };
    type(&d, "old");
    tui_draft_set(&d, view("\357\273\277new\r\nline\rthree\033\377\t.\n\n"));
    has(&d, "new\nline\nthree\t.|");
    type(&d, UNDO);
    has(&d, "old|");
    tui_draft_set(&d, view(""));
    has(&d, "|");
    tui_draft_release(&d);
}

static void
it_has_a_ceiling(void **state)
{
    (void)state;
    AUTO(buf) much = { 0 };
    struct tui_draft d = { .cols = 40 };
    while (much.n < TUI_DRAFT_BYTES + 10)
        buf_puts(&much, "\342\202\254\n");
    tui_draft_set(&d, (struct view){ much.p, much.n });
    assert_true(d.is_full);
    type(&d, "xxxxx");
    assert_true(d.is_full);
    assert_true(d.text.n > TUI_DRAFT_BYTES - 4);
    type(&d, LEFT);
    assert_false(d.is_full);
    tui_draft_release(&d);
}

static void
long_lines_are_wrapped(void **state)
{
    (void)state;
    static const struct {
        const char *text;
        unsigned cols;
        const char *want;
        size_t line;
        unsigned col;
    } cases[] = {
        { "", 10, "", 0, 0 },
        { "abc", 10, "abc", 0, 3 },
        { "a\n\nb\n", 10, "a//b/", 3, 0 },
        { "one two three", 10, "one two /three", 1, 5 },
        { "123456789", 10, "123456789", 0, 9 },
        { "1234567890", 10, "123456789/0", 1, 1 },
        { "123456789 123", 10, "123456789 /123", 1, 3 },
        { "123456789    123", 10, "123456789 /123", 1, 3 },
        { "123456789    ", 10, "123456789 ", 0, 9 },
        { "a\tb\tc", 10, "a   b   c", 0, 9 },
        { "\344\270\255\344\270\255\344\270\255", 6,
          "\344\270\255\344\270\255/\344\270\255", 1, 2 },
        { "ab", 1, "a/b", 1, 0 },
        { "ab", 0, "/", 1, 0 },
    };
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        struct tui_draft d = { .cols = cases[i].cols };
        /* set() would leave the last newline out */
        tui_draft_change(&d, 0, 0, view(cases[i].text), TUI_DRAFT_ALONE);
        shows(&d, cases[i].want, cases[i].line, cases[i].col);
        tui_draft_release(&d);
    }
}

static void
the_cursor_goes_up_and_down_the_screen(void **state)
{
    (void)state;
    struct tui_draft d = { .cols = 10 };
    type(&d, "one two three\rx\rlonger\r");
    type(&d, UP END UP);
    shows(&d, "one two /three/x/longer/", 2, 1);
    type(&d, UP); /* it comes back to its column */
    shows(&d, "one two /three/x/longer/", 1, 5);
    type(&d, UP END);
    shows(&d, "one two /three/x/longer/", 1, 5); /* the line's end, not the row's */
    type(&d, UP UP);
    has(&d, "|one two three\nx\nlonger\n");
    type(&d, "\033[6~");
    has(&d, "one two three\nx\nlonger\n|");
    type(&d, "\033[5~" RIGHT RIGHT DOWN DOWN DOWN);
    has(&d, "one two three\nx\nlo|nger\n");
    tui_draft_release(&d);
}

/* What is known of lines while a text is changed is what is found in it at once. */
static void
a_changed_text_is_wrapped_as_a_new_one(void **state)
{
    (void)state;
    static const char *const keys[] = {
        "a",    "word ", "verylongwordthatisbroken",
        "\r",   "\t",    "\xe6\xbc\xa2",
        "  ",   UP,      DOWN,
        LEFT,   RIGHT,   HOME,
        END,    DELETE,  UNDO,
        "\177", "\027",  "\013",
    };
    uint32_t rng = rng_seed(3);
    struct tui_draft d = { .cols = 12 }, fresh = { 0 };
    for (unsigned i = 0; i < 1000; i++) {
        type(&d, keys[rng_below(&rng, sizeof(keys) / sizeof(keys[0]))]);
        if (!rng_below(&rng, 50))
            d.cols = 1 + rng_below(&rng, 20);
        tui_draft_clear(&fresh);
        buf_append(&fresh.text, d.text.p, d.text.n);
        fresh.cols = d.cols;
        fresh.cursor = d.cursor;
        size_t line, want_line;
        unsigned col, want_col;
        tui_draft_cursor(&d, &widths, &line, &col);
        tui_draft_cursor(&fresh, &widths, &want_line, &want_col);
        assert_true(line == want_line && col == want_col);
        size_t lines = tui_draft_lines(&d, &widths);
        assert_int_equal(lines, tui_draft_lines(&fresh, &widths));
        for (size_t j = 0; j < lines; j++) {
            AUTO(buf) got = { 0 };
            AUTO(buf) want = { 0 };
            tui_draft_put(&d, j, &widths, &got);
            tui_draft_put(&fresh, j, &widths, &want);
            assert_string_equal(buf_str(&got), buf_str(&want));
        }
    }
    tui_draft_release(&d);
    tui_draft_release(&fresh);
}

int
main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(keys_edit_the_text),
        cmocka_unit_test(what_is_pasted_is_text),
        cmocka_unit_test(it_is_sent_or_given_up),
        cmocka_unit_test(changes_are_undone_step_by_step),
        cmocka_unit_test(an_editors_text_is_taken_as_one_change),
        cmocka_unit_test(it_has_a_ceiling),
        cmocka_unit_test(long_lines_are_wrapped),
        cmocka_unit_test(the_cursor_goes_up_and_down_the_screen),
        cmocka_unit_test(a_changed_text_is_wrapped_as_a_new_one),
    };
    int failed = cmocka_run_group_tests_name("tui_draft", tests, NULL, NULL);
    term_widths_release(&widths);
    return failed;
}
