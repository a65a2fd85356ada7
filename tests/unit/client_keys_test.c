/* SPDX-License-Identifier: MIT */
/* keys_test.c -- which keys are for the session, and which for the client. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "client/keys_priv.h"

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
    /* Pastes. */
    { ESC "[200~a" PRE "db" ESC "[201~", ESC "[200~a" PRE "db" ESC "[201~", false },
    { ESC "[200~a" ESC "[20|1~" PRE "d", ESC "[200~a" ESC "[201~", true },
    { ESC "[200~" ESC "[2" ESC "[201~" PRE "d", ESC "[200~" ESC "[2" ESC "[201~", true },
};

/* Feeds what is typed, read by read. */
static bool
type(struct keys *k, const char *typed, struct buf *out)
{
    while (*typed) {
        size_t n = strcspn(typed, "|");
        if (keys_take(k, (struct view){ (const uint8_t *)typed, n }, out))
            return true;
        typed += n + (typed[n] == '|');
    }
    return false;
}

static void
keys_go_where_they_belong(void **state)
{
    (void)state;
    for (size_t i = 0; i < sizeof(samples) / sizeof(samples[0]); i++) {
        AUTO(buf) out = { 0 };
        struct keys k = { 0 };
        bool leaves = type(&k, samples[i].typed, &out);
        if (leaves != samples[i].leaves || strcmp(buf_str(&out), samples[i].sent) != 0)
            fail_msg("sample %zu: leaves %d, sent '%s'", i, leaves, buf_str(&out));
    }
}

static void
a_watcher_sends_nothing_and_leaves_easily(void **state)
{
    (void)state;
    static const struct sample watched[] = {
        { "abc" ESC "[A", "", false }, { "abcq", "", true },      { "\003", "", true },
        { PRE "d", "", true },         { PRE "q", "", false },    { "Q", "", false },
        { ESC "[99;5u", "", true },    { PRE PRE "", "", false },
    };
    for (size_t i = 0; i < sizeof(watched) / sizeof(watched[0]); i++) {
        AUTO(buf) out = { 0 };
        struct keys k = { .is_watching = true };
        bool leaves = type(&k, watched[i].typed, &out);
        if (leaves != watched[i].leaves || out.n)
            fail_msg("sample %zu: leaves %d, sent '%s'", i, leaves, buf_str(&out));
    }
}

int
main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(keys_go_where_they_belong),
        cmocka_unit_test(a_watcher_sends_nothing_and_leaves_easily),
    };
    return cmocka_run_group_tests_name("keys", tests, NULL, NULL);
}
