/* SPDX-License-Identifier: MIT */
/* option_test.c -- values of options: sizes, and those that may be left out. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "cli/option.h"

enum { WORDS_MAX = 6 };

struct args {
    uint64_t size, pause;
};

static const struct cli_option options[] = {
    { "size", 's', CLI_SIZE, offsetof(struct args, size), "SIZE", "", 10, 1 << 20 },
    { "pause", 'p', CLI_MAYBE, offsetof(struct args, pause), "[SECONDS|quiet|off]", "", 1,
      60 },
    { 0 },
};

static const struct cli_command command = { "try", "", "", options, NULL, true };

struct typed {
    const char *words[WORDS_MAX];
    int result;
    struct args args;
    const char *first; /* operand; NULL: none */
};

static void
check(const struct typed *t)
{
    char room[WORDS_MAX][32], *argv[WORDS_MAX];
    struct args a = { 7, 7 };
    struct err err = { 0 };
    int argc = 0, count;
    for (; argc < WORDS_MAX && t->words[argc]; argc++) {
        snprintf(room[argc], sizeof(room[argc]), "%s", t->words[argc]);
        argv[argc] = room[argc];
    }
    assert_int_equal(cli_parse(&command, argc, argv, &a, &count, &err), t->result);
    if (t->result)
        return;
    assert_int_equal(a.size, t->args.size);
    assert_int_equal(a.pause, t->args.pause);
    assert_int_equal(count > 0, t->first != NULL);
    if (t->first)
        assert_string_equal(argv[0], t->first);
}

static void
sizes_are_within_their_range(void **state)
{
    (void)state;
    static const struct typed all[] = {
        { { "--size", "512" }, 0, { 512, 7 }, NULL },
        { { "--size=3k" }, 0, { 3072, 7 }, NULL },
        { { "-s1M" }, 0, { 1 << 20, 7 }, NULL },
        { { "--size", "9" }, ERR_USAGE, { 0 }, NULL },
        { { "--size", "2M" }, ERR_USAGE, { 0 }, NULL },
        { { "--size", "" }, ERR_USAGE, { 0 }, NULL },
        { { "--size", "much" }, ERR_USAGE, { 0 }, NULL },
        { { "--size" }, ERR_USAGE, { 0 }, NULL },
    };
    for (size_t i = 0; i < sizeof(all) / sizeof(all[0]); i++)
        check(&all[i]);
}

static void
a_value_that_may_be_left_out_is_no_operand(void **state)
{
    (void)state;
    static const struct typed all[] = {
        { { "--pause" }, 0, { 7, CLI_WORD(0) }, NULL },
        { { "--pause", "30" }, 0, { 7, 30 }, NULL },
        { { "--pause", "quiet" }, 0, { 7, CLI_WORD(0) }, NULL },
        { { "--pause", "off", "x" }, 0, { 7, CLI_WORD(1) }, "x" },
        { { "--pause=off" }, 0, { 7, CLI_WORD(1) }, NULL },
        { { "-p5", "x" }, 0, { 7, 5 }, "x" },
        { { "--pause", "claude", "5" }, 0, { 7, CLI_WORD(0) }, "claude" },
        { { "--pause", "quietly" }, 0, { 7, CLI_WORD(0) }, "quietly" },
        { { "--pause", "SECONDS" }, 0, { 7, CLI_WORD(0) }, "SECONDS" },
        { { "--pause", "--size", "16" }, 0, { 16, CLI_WORD(0) }, NULL },
        { { "--pause", "--", "30" }, 0, { 7, CLI_WORD(0) }, "30" },
        { { "--pause", "" }, 0, { 7, CLI_WORD(0) }, "" },
        { { "--pause", "0" }, ERR_USAGE, { 0 }, NULL },
        { { "--pause", "99999999999999999999999" }, ERR_USAGE, { 0 }, NULL },
        { { "--pause=" }, ERR_USAGE, { 0 }, NULL },
        { { "--pause=claude" }, ERR_USAGE, { 0 }, NULL },
    };
    for (size_t i = 0; i < sizeof(all) / sizeof(all[0]); i++)
        check(&all[i]);
}

int
main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(sizes_are_within_their_range),
        cmocka_unit_test(a_value_that_may_be_left_out_is_no_operand),
    };
    setenv("XDG_CONFIG_HOME", "/nowhere", 1); /* no config file */
    unsetenv("AHR_SIZE");
    unsetenv("AHR_PAUSE");
    return cmocka_run_group_tests(tests, NULL, NULL);
}
