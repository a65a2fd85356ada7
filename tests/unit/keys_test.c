/* SPDX-License-Identifier: MIT */
/* keys_test.c -- keys by name, as xterm sends them. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "cli/keys.h"

struct sent {
    const char *name, *bytes;
};

static void
check(const struct sent *s, bool is_app_cursor)
{
    AUTO(buf) out = { 0 };
    struct err err = { 0 };
    if (cli_keys_find(s->name, is_app_cursor, &out, &err) < 0)
        fail_msg("%s: %s", s->name, err.text);
    if (strcmp(buf_str(&out), s->bytes) != 0)
        fail_msg("%s gives other bytes", s->name);
}

static void
keys_send_what_xterm_sends(void **state)
{
    (void)state;
    static const struct sent all[] = {
        { "Enter", "\r" },
        { "return", "\r" },
        { "TAB", "\t" },
        { "Escape", "\033" },
        { "esc", "\033" },
        { "Space", " " },
        { "Backspace", "\177" },
        { "Delete", "\033[3~" },
        { "Insert", "\033[2~" },
        { "PageUp", "\033[5~" },
        { "pgdn", "\033[6~" },
        { "F1", "\033OP" },
        { "F4", "\033OS" },
        { "F5", "\033[15~" },
        { "F6", "\033[17~" },
        { "F10", "\033[21~" },
        { "F11", "\033[23~" },
        { "f12", "\033[24~" },
        { "S-Tab", "\033[Z" },
        { "C-c", "\003" },
        { "C-C", "\003" },
        { "Ctrl-c", "\003" },
        { "ctrl+C", "\003" },
        { "^C", "\003" },
        { "^[", "\033" },
        { "C-?", "\177" },
        { "C-\\", "\034" },
        { "M-x", "\033x" },
        { "M-X", "\033X" },
        { "Alt-.", "\033." },
        { "C-M-x", "\033\030" },
        { "M-^X", "\033\030" },
        { "M-Enter", "\033\r" },
        { "C-Up", "\033[1;5A" },
        { "S-F1", "\033[1;2P" },
        { "C-Delete", "\033[3;5~" },
        { "C-Backspace", "\b" },
        { "M-Left", "\033[1;3D" },
        { "C-S-End", "\033[1;6F" },
        { "M-\xc3\xa4", "\033\xc3\xa4" },
    };
    for (size_t i = 0; i < sizeof(all) / sizeof(all[0]); i++)
        for (int mode = 0; mode < 2; mode++) {
            check(&all[i], mode);
            assert_false(cli_keys_has_modes(all[i].name));
        }
}

static void
a_character_is_itself(void **state)
{
    (void)state;
    static const struct sent all[] = {
        { "x", "x" }, { "X", "X" }, { "^", "^" }, { "-", "-" },
        { "C", "C" }, { "+", "+" }, { "1", "1" }, { "\xe2\x82\xac", "\xe2\x82\xac" },
    };
    for (size_t i = 0; i < sizeof(all) / sizeof(all[0]); i++)
        check(&all[i], false);
}

static void
cursor_keys_depend_on_their_mode(void **state)
{
    (void)state;
    static const struct sent plain[] = {
        { "Up", "\033[A" },   { "down", "\033[B" }, { "Right", "\033[C" },
        { "LEFT", "\033[D" }, { "Home", "\033[H" }, { "End", "\033[F" },
    };
    static const struct sent application[] = {
        { "Up", "\033OA" },   { "down", "\033OB" }, { "Right", "\033OC" },
        { "LEFT", "\033OD" }, { "Home", "\033OH" }, { "End", "\033OF" },
    };
    for (size_t i = 0; i < sizeof(plain) / sizeof(plain[0]); i++) {
        check(&plain[i], false);
        check(&application[i], true);
        assert_true(cli_keys_has_modes(plain[i].name));
    }
}

static void
control_and_space_is_a_nul(void **state)
{
    (void)state;
    static const char *const names[] = { "C-Space", "C-@", "^@" };
    for (size_t i = 0; i < 3; i++) {
        AUTO(buf) out = { 0 };
        assert_int_equal(cli_keys_find(names[i], false, &out, NULL), 0);
        assert_int_equal(out.n, 1);
        assert_int_equal(out.p[0], 0);
    }
}

static void
what_is_no_key_is_told_the_nearest(void **state)
{
    (void)state;
    static const struct {
        const char *name, *near;
    } all[] = {
        { "Entre", "did you mean 'Enter'?" },
        { "ENTR", "did you mean 'Enter'?" },
        { "C-Delet", "did you mean 'Delete'?" },
        { "F13", "did you mean 'F1" },
        { "", "no key ''" },
        { "C-Enter2345678901234567890", "no key" },
        { "C-1", "no key 'C-1'" },
        { "S-Enter", "no key 'S-Enter'; 'man ahr-send'" },
        { "C-\xc3\xa4", "no key" },
        { "\xff", "no key" },
        { "C-", "no key" },
    };
    for (size_t i = 0; i < sizeof(all) / sizeof(all[0]); i++) {
        AUTO(buf) out = { 0 };
        struct err err = { 0 };
        assert_int_equal(cli_keys_find(all[i].name, false, &out, &err), ERR_USAGE);
        assert_int_equal(out.n, 0);
        if (!strstr(err.text, all[i].near))
            fail_msg("'%s': %s", all[i].name, err.text);
    }
}

int
main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(keys_send_what_xterm_sends),
        cmocka_unit_test(a_character_is_itself),
        cmocka_unit_test(cursor_keys_depend_on_their_mode),
        cmocka_unit_test(control_and_space_is_a_nul),
        cmocka_unit_test(what_is_no_key_is_told_the_nearest),
    };
    return cmocka_run_group_tests_name("keys", tests, NULL, NULL);
}
