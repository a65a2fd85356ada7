/* SPDX-License-Identifier: MIT */
/* tui_keys_test.c -- what terminals send, as keys, however it is cut. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <stdio.h>

#include "tui/keys_priv.h"

#define VIEW(s) ((struct view){ (const uint8_t *)(s), sizeof(s) - 1 })

/* A key as a word: "S-left", "C-c", "U+e9", "paste:a". */
static void
tell(struct buf *out, const struct tui_key *key)
{
    static const char *const names[] = { NULL,  "enter", "escape", "backspace", "tab",
                                         "up",  "down",  "left",   "right",     "home",
                                         "end", "pgup",  "pgdn",   "delete",    "mouse" };
    static const char *const mice[] = { "press", "up", "down", "other" };
    buf_printf(out, "%s%s%s%s%s", out->n ? " " : "", key->is_pasted ? "paste:" : "",
               key->has_ctrl ? "C-" : "", key->has_alt ? "A-" : "",
               key->has_shift ? "S-" : "");
    if (key->kind == TUI_KEY_MOUSE)
        buf_printf(out, "%s@%u,%u", mice[key->mouse], key->row, key->col);
    else if (key->kind != TUI_KEY_CHAR)
        buf_puts(out, names[key->kind]);
    else if (key->rune > 0x20 && key->rune < 0x7f)
        buf_printf(out, "%c", (char)key->rune);
    else
        buf_printf(out, "U+%x", (unsigned)key->rune);
}

/* In pieces of so many bytes; then nothing more comes. */
static void
tell_all(struct buf *out, struct view in, size_t step)
{
    struct tui_keys keys = { 0 };
    struct tui_key key;
    for (size_t at = 0; at < in.n; at += step) {
        struct view piece = { in.p + at, in.n - at < step ? in.n - at : step };
        while (tui_keys_next(&keys, &piece, &key))
            tell(out, &key);
        assert_int_equal(piece.n, 0);
    }
    if (tui_keys_wait_ms(&keys) >= 0 && tui_keys_timeout(&keys, &key))
        tell(out, &key);
}

static void
are_keys(struct view in, const char *want)
{
    for (size_t step = 1; step <= in.n; step++) {
        AUTO(buf) out = { 0 };
        tell_all(&out, in, step);
        assert_string_equal(buf_str(&out), want);
    }
}

static void
every_terminals_keys_are_known(void **state)
{
    (void)state;
    const struct {
        struct view in;
        const char *want;
    } cases[] = {
        { VIEW("q Q/"), "q U+20 Q /" },
        { VIEW("\x03\x1a\x0c\x15\x00"), "C-c C-z C-l C-u C-@" },
        { VIEW("\r\n\t\x7f\b"), "enter enter tab backspace backspace" },
        { VIEW("é€😀"), "U+e9 U+20ac U+1f600" },
        { VIEW("\033[D\033[C\033[A\033[B"), "left right up down" },
        { VIEW("\033OD\033OC\033OH\033OF\033OM"), "left right home end enter" },
        { VIEW("\033[1;2D\033[1;2C"), "S-left S-right" },               /* xterm */
        { VIEW("\033[d\033[c\033Od"), "S-left S-right S-left" },        /* rxvt */
        { VIEW("\033[2D\033O2C"), "S-left S-right" },                   /* old xterm */
        { VIEW("\033[1;2:1D\033[1;2:3D\033[1;66C"), "S-left S-right" }, /* kitty; locks */
        { VIEW("\033[1;5D\033[1;3C\033[1;6C"), "C-left A-right C-S-right" },
        { VIEW("\033[H\033[F\033[1~\033[4~\033[7~\033[8~"),
          "home end home end home end" },
        { VIEW("\033[5~\033[6~\033[3~\033[3;2~"), "pgup pgdn delete S-delete" },
        { VIEW("\033[113u\033[113;1:3u\033[99;5u"), "q C-c" },
        { VIEW("\033[103;2u\033[103:71;2u"), "S-G S-G" },
        { VIEW("\033[27u\033[13u\033[127u\033[57417;2u"),
          "escape enter backspace S-left" },
        { VIEW("\033[27;5;99~\033[27;2;13~"), "C-c S-enter" },
        { VIEW("\033[13;5u\033[13;5:1u\033[13;5:3u\033[27;5;13~"),
          "C-enter C-enter C-enter" },
        { VIEW("\033[57414;5u\033[13;2u\r"), "C-enter S-enter enter" },
        { VIEW("\033[103:71;6u\033[27;6;71~\033[27;5;83~"), "C-S-g C-S-g C-s" },
        { VIEW("\033[Z"), "S-tab" },
        { VIEW("\033x\0331"), "A-x A-1" },
        { VIEW("\033"), "escape" },
        { VIEW("\033\033[D"), "escape left" },
        { VIEW("\033\033"), "escape escape" },
    };
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++)
        are_keys(cases[i].in, cases[i].want);
}

static void
a_mouse_says_where_it_was_and_what_it_did(void **state)
{
    (void)state;
    are_keys(VIEW("\033[<0;1;1M\033[<0;1;1m"), "press@0,0 other@0,0");
    are_keys(VIEW("\033[<64;80;24M\033[<65;300;200M"), "up@23,79 down@199,299");
    are_keys(VIEW("\033[<16;3;2M\033[<8;3;2M\033[<68;3;2M"),
             "C-press@1,2 A-press@1,2 S-up@1,2");
    /* Other buttons, dragging, moving, a wheel to the side. */
    are_keys(VIEW("\033[<1;1;1M\033[<32;1;1M\033[<35;1;1M\033[<66;1;1M\033[<128;1;1M"),
             "other@0,0 other@0,0 other@0,0 other@0,0 other@0,0");
}

static void
what_is_no_mouse_is_passed_over(void **state)
{
    (void)state;
    are_keys(VIEW("\033[<0;0;1Mq\033[<0;1Mq\033[<Mq\033[<0;1;1;1Mq\033[<0;1;1Aq"),
             "q q q q q");
    are_keys(VIEW("\033[<?0;1;1Mq\033[<<0;1;1Mq\033[0;1;1Mq"), "q q q");
    are_keys(VIEW("\033[M !!q\033[M\x03\033\rq"), "q q"); /* without SGR 1006 */
    are_keys(VIEW("\033[M !"), "");
    are_keys(VIEW("\033[200~\033[<0;1;1M\033[201~q"), "q");
}

static void
what_is_no_key_is_passed_over(void **state)
{
    (void)state;
    are_keys(VIEW("\033[?1;2cq"), "q");              /* a report */
    are_keys(VIEW("\033]11;rgb:1/2/3\033\\q"), "q"); /* an answer */
    are_keys(VIEW("\033]11;rgb:1/2/3\aq"), "q");
    are_keys(VIEW("\033P1$r0m\033\\q"), "q");
    are_keys(VIEW("\033[Iq\033[Oq"), "q q"); /* focus */
    are_keys(VIEW("\033[[Aq"), "q");         /* F1 of the console */
    are_keys(VIEW("\033[11~q\033OPq\033[1;5Sq\033[24;6~q\033[57376uq"), "q q q q q");
    are_keys(VIEW("\033[1;2;3;4;5Dq"), "q");
    /* no characters */
    are_keys(VIEW("\033[1114112u\033[55296u\033[5u\033[128u\033[159uq"), "q");
    are_keys(VIEW("\x80\xff\xc3q\xe2\x82q\xed\xa0\x80q"), "q q q");
    are_keys(VIEW("\xc2\x9bq"), "q"); /* C1 */
}

static void
a_sequence_that_is_cut_off_is_not_waited_for(void **state)
{
    (void)state;
    are_keys(VIEW("\033[1;2"), "");
    are_keys(VIEW("\033["), "");
    are_keys(VIEW("\033]0;title"), "");
    are_keys(VIEW("\xe2\x82"), "");
    are_keys(VIEW("\033[1;\033[D"), "left");
    are_keys(VIEW("\033[1;\x03"), "C-c");
    are_keys(VIEW("\033]0;x\033[D"), "left");
}

static void
a_paste_is_told_from_keys(void **state)
{
    (void)state;
    are_keys(VIEW("a\033[200~qx\r\033[201~b"), "a paste:q paste:x paste:enter b");
    are_keys(VIEW("\033[200~\x03"), "paste:C-c");
    are_keys(VIEW("\033[200~a\r\nb\n\n\r\033[201~\n"),
             "paste:a paste:enter paste:b paste:enter paste:enter paste:enter enter");
    struct tui_keys keys = { 0 };
    struct tui_key key;
    struct view in = VIEW("\033[200~never ends");
    while (tui_keys_next(&keys, &in, &key))
        assert_true(key.is_pasted);
    assert_true(tui_keys_wait_ms(&keys) > 0);
    assert_false(tui_keys_timeout(&keys, &key));
    assert_int_equal(tui_keys_wait_ms(&keys), -1);
    in = VIEW("q");
    assert_true(tui_keys_next(&keys, &in, &key));
    assert_false(key.is_pasted);
}

static void
any_length_is_taken(void **state)
{
    (void)state;
    static uint8_t bytes[1 << 16];
    static const char *const heads[] = { "\033[", "\033]", "\033[1;", "\033O" };
    for (size_t i = 0; i < sizeof(heads) / sizeof(heads[0]); i++) {
        AUTO(buf) in = { 0 };
        AUTO(buf) out = { 0 };
        memset(bytes, '1', sizeof(bytes));
        buf_puts(&in, heads[i]);
        buf_append(&in, bytes, sizeof(bytes));
        buf_puts(&in, "D\033\\q");
        tell_all(&out, (struct view){ in.p, in.n }, 1000);
        const char *last = strrchr(buf_str(&out), 'q');
        assert_non_null(last);
        assert_true(out.n < 10);
    }
}

int
main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_terminals_keys_are_known),
        cmocka_unit_test(a_mouse_says_where_it_was_and_what_it_did),
        cmocka_unit_test(what_is_no_mouse_is_passed_over),
        cmocka_unit_test(what_is_no_key_is_passed_over),
        cmocka_unit_test(a_sequence_that_is_cut_off_is_not_waited_for),
        cmocka_unit_test(a_paste_is_told_from_keys),
        cmocka_unit_test(any_length_is_taken),
    };
    return cmocka_run_group_tests_name("tui_keys", tests, NULL, NULL);
}
