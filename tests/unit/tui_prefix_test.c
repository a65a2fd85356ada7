/* SPDX-License-Identifier: MIT */
/* tui_prefix_test.c -- which bytes are for the session, and which for us. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <string.h>

#include "tui/keys_priv.h"
#include "tui/prefix.h"

struct sample {
    const char *typed; /* reads are separated by '|' */
    const char *sent;
    bool leaves;
};

#define ESC "\033"
#define PRE "\035"

static const struct sample samples[] = {
    { "text", "text", false },
    { "\303\244\001\003\177", "\303\244\001\003\177", false },
    { ESC, ESC, false },
    { ESC "[A" ESC "OB" ESC "x", ESC "[A" ESC "OB" ESC "x", false },
    { "ab" PRE "dcd", "ab", true },
    { "ab" PRE "|dcd", "ab", true },
    { "ab" PRE PRE "cd", "ab" PRE "cd", false },
    { "ab" PRE "xcd", "abcd", false },
    { "ab" PRE "\303\244cd", "abcd", false },
    { "ab" PRE ESC "[Acd", "abcd", false },
    { "ab" PRE ESC "xcd", "abcd", false },
    { PRE "xd", "d", false },
    /* As sequences. */
    { ESC "[93;5u"
          "d",
      "", true },
    { ESC "[27;5;93~"
          "d",
      "", true },
    { ESC "[93;5u" ESC "[100u", "", true },
    { ESC "[93;5:1u" ESC "[93;5:3u" ESC "[100;1:1u", "", true },
    { ESC "[93:125;69u"
          "d",
      "", true }, /* caps lock */
    { ESC "[93;5u" ESC "[57442;5:3u"
          "d",
      "", true },
    { ESC "[93;5u" ESC "[93;5u"
          "x",
      ESC "[93;5u"
          "x",
      false },
    { ESC "[93;6u"
          "d",
      ESC "[93;6u"
          "d",
      false },
    { ESC "[93u"
          "d",
      ESC "[93u"
          "d",
      false },
    { ESC "[193;5u"
          "d",
      ESC "[193;5u"
          "d",
      false },
    { ESC "[93;5~"
          "d",
      ESC "[93;5~"
          "d",
      false },
    { PRE ESC "[100;5u"
              "x",
      "x", false }, /* Ctrl-d */
    /* What only looks like it. */
    { ESC "[93;5:3u"
          "d",
      "d", false }, /* a release */
    { ESC "[27;6;93~"
          "d",
      ESC "[27;6;93~"
          "d",
      false },
    { ESC PRE "d", ESC PRE "d", false }, /* with Alt */
    { ESC "|" PRE "d", ESC, true },
    { ESC "[" PRE "d", ESC "[", true },
    { ESC "O" PRE "d", ESC "O", true },
    { ESC "[1;" PRE "d", ESC "[1;", true },
    { ESC "[93|;5u"
          "d",
      ESC "[93;5u"
          "d",
      false }, /* never held back */
    { ESC "|[93;5u"
          "d",
      ESC "[93;5u"
          "d",
      false },
    { ESC "[43:42:93;5u"
          "d",
      ESC "[43:42:93;5u"
          "d",
      false },
    { ESC "[1093::93;5u"
          "d",
      "", true }, /* the key is there on another keyboard */
    /* Pastes. */
    { ESC "[200~a" PRE "db" ESC "[201~", ESC "[200~a" PRE "db" ESC "[201~", false },
    { ESC "[200~a" ESC "[20|1~" PRE "d", ESC "[200~a" ESC "[201~", true },
    { ESC "[200~" ESC "[2" ESC "[201~" PRE "d", ESC "[200~" ESC "[2" ESC "[201~", true },
    { ESC "[2|00~" PRE "d", ESC "[200~" PRE "d", false },
    { ESC "|[200~" PRE "d", ESC "[200~" PRE "d", false },
    { ESC "[20|" ESC "[200~" PRE "d", ESC "[20" ESC "[200~" PRE "d", false },
    { ESC "[20|0A" PRE "d", ESC "[200A", true },
    { ESC "[200~|" ESC "|[|2|0|1|~" PRE "d", ESC "[200~" ESC "[201~", true },
    { ESC "[200~" ESC "[20|" ESC "[201~" PRE "d", ESC "[200~" ESC "[20" ESC "[201~",
      true },
    { PRE ESC "[200~" PRE "d", ESC "[200~" PRE "d", false }, /* ends it, too */
};

/* One read, by the rule that d behind the prefix leaves, and other keys are dropped. */
static bool
take(struct tui_prefix *p, struct tui_keys *keys, struct view in, struct buf *out)
{
    struct tui_key key;
    while (in.n) {
        tui_prefix_take(p, &in, out);
        if (!p->is_held || tui_prefix_again(p, &in, out))
            continue;
        if (!tui_keys_next(keys, &in, &key))
            break;
        p->is_held = false;
        if (key.kind == TUI_KEY_CHAR && key.rune == 'd' && !key.has_ctrl)
            return true;
    }
    return false;
}

static bool
type(struct tui_prefix *p, const char *typed, struct buf *out)
{
    struct tui_keys keys = { 0 };
    while (*typed) {
        size_t n = strcspn(typed, "|");
        if (take(p, &keys, (struct view){ (const uint8_t *)typed, n }, out))
            return true;
        typed += n + (typed[n] == '|');
    }
    return false;
}

static void
check(uint8_t key, const struct sample *s)
{
    AUTO(buf) out = { 0 };
    struct tui_prefix p = { .key = key };
    bool leaves = type(&p, s->typed, &out);
    if (leaves != s->leaves || strcmp(buf_str(&out), s->sent) != 0)
        fail_msg("'%s': leaves %d, sent '%s'", s->typed, leaves, buf_str(&out));
}

static void
keys_go_where_they_belong(void **state)
{
    (void)state;
    for (size_t i = 0; i < sizeof(samples) / sizeof(samples[0]); i++)
        check(TUI_PREFIX_DEFAULT, &samples[i]);
}

static void
any_control_key_may_be_the_prefix(void **state)
{
    (void)state;
    static const struct {
        uint8_t key;
        struct sample sample;
    } others[] = {
        { 1, { "a\001d", "a", true } },
        { 1, { PRE "\001\001x", PRE "\001x", false } },
        { 1, { ESC "[97;5ud", "", true } },
        { 1, { ESC "[27;5;97~d", "", true } },
        { 1, { ESC "[97:65;6ud", ESC "[97:65;6ud", false } },
        { 1, { ESC "[1092::97;5ud", "", true } }, /* a Cyrillic keyboard */
        { 2, { ESC "[97;5u" PRE ESC "[98;5u" ESC "[100u", ESC "[97;5u" PRE, true } },
        { 0x1c, { ESC "[92;5ud", "", true } },
        { 0x1e, { ESC "[54:94;6ud", "", true } },
        { 0x1e, { ESC "[27;6;94~d", "", true } },
        { 0x1e, { "\036\036", "\036", false } },
        { 0x1f, { ESC "[45:95;6ud", "", true } },
        { 0, { PRE "d\001d" ESC "[93;5ud", PRE "d\001d" ESC "[93;5ud", false } },
    };
    for (size_t i = 0; i < sizeof(others) / sizeof(others[0]); i++)
        check(others[i].key, &others[i].sample);
}

static void
a_prefix_is_held_until_a_key_comes(void **state)
{
    (void)state;
    AUTO(buf) out = { 0 };
    struct tui_prefix p = { .key = TUI_PREFIX_DEFAULT };
    struct view in = { (const uint8_t *)"ab" PRE "cd", 5 };
    tui_prefix_take(&p, &in, &out);
    assert_true(p.is_held);
    assert_int_equal(in.n, 2);
    assert_string_equal(buf_str(&out), "ab");
    assert_false(tui_prefix_again(&p, &in, &out));
    assert_int_equal(in.n, 2);
    struct view none = { NULL, 0 };
    assert_false(tui_prefix_again(&p, &none, &out));
    tui_prefix_take(&p, &none, &out);
    assert_true(p.is_held);
}

static void
a_key_that_was_read_is_known_as_the_prefix(void **state)
{
    (void)state;
    struct tui_prefix p = { .key = TUI_PREFIX_DEFAULT };
    struct tui_keys keys = { 0 };
    struct tui_key key;
    static const char typed[] = PRE ESC "[93;5u]";
    struct view in = { (const uint8_t *)typed, sizeof(typed) - 1 };
    assert_true(tui_keys_next(&keys, &in, &key) && tui_prefix_is(&p, &key));
    assert_true(tui_keys_next(&keys, &in, &key) && tui_prefix_is(&p, &key));
    assert_true(tui_keys_next(&keys, &in, &key) && !tui_prefix_is(&p, &key));
}

static void
a_prefix_is_written_as_people_do(void **state)
{
    (void)state;
    static const struct {
        const char *text, *name;
        uint8_t key;
    } good[] = {
        { "^]", "Ctrl-]", 0x1d },     { "C-]", "Ctrl-]", 0x1d },
        { "ctrl-]", "Ctrl-]", 0x1d }, { "^a", "Ctrl-A", 1 },
        { "c-B", "Ctrl-B", 2 },       { "Ctrl-Z", "Ctrl-Z", 26 },
        { "^\\", "Ctrl-\\", 0x1c },   { "^^", "Ctrl-^", 0x1e },
        { "^_", "Ctrl-_", 0x1f },
    };
    static const char *const bad[] = { "",   "^",  "]",   "^]]",  "Ctrl-",
                                       "^[", "^M", "C-j", "^i",   "^\303",
                                       "^@", "^?", "^1",  "\035", "M-x" };
    for (size_t i = 0; i < sizeof(good) / sizeof(good[0]); i++) {
        uint8_t key = 0;
        char room[16];
        assert_int_equal(tui_prefix_parse(good[i].text, &key, NULL), 0);
        assert_int_equal(key, good[i].key);
        assert_string_equal(tui_prefix_name(key, room), good[i].name);
    }
    for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++) {
        uint8_t key = 99;
        struct err err;
        assert_int_equal(tui_prefix_parse(bad[i], &key, &err), ERR_USAGE);
        assert_int_equal(key, 99);
    }
}

int
main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(keys_go_where_they_belong),
        cmocka_unit_test(any_control_key_may_be_the_prefix),
        cmocka_unit_test(a_prefix_is_held_until_a_key_comes),
        cmocka_unit_test(a_key_that_was_read_is_known_as_the_prefix),
        cmocka_unit_test(a_prefix_is_written_as_people_do),
    };
    return cmocka_run_group_tests_name("tui_prefix", tests, NULL, NULL);
}
