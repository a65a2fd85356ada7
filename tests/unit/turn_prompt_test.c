/* SPDX-License-Identifier: MIT */
/* turn_prompt_test.c -- which agent a command line starts, and with which prompt. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include "turn/prompt.h"

enum { WORDS_MAX = 16 };

struct line {
    const char *words; /* separated by '|' */
    enum turn_agent agent;
    enum turn_prompt_from from;
    const char *text;
};

static void
check(const struct line *l)
{
    char room[512];
    const char *argv[WORDS_MAX];
    size_t argc = 0;
    (void)snprintf(room, sizeof(room), "%s", l->words);
    for (char *at = room; at; argc++) {
        argv[argc] = at;
        at = strchr(at, '|');
        if (at)
            *at++ = 0;
    }
    struct turn_prompt p = turn_prompt(argc, argv);
    struct buf text = { 0 };
    assert_int_equal(turn_prompt_text(&p, &text), 0);
    if (p.agent != l->agent || p.from != l->from ||
        strcmp(buf_str(&text), l->text ? l->text : "") != 0)
        fail_msg("%s: agent %d, from %d, prompt \"%s\"", l->words, (int)p.agent,
                 (int)p.from, buf_str(&text));
    assert_int_equal(p.text != NULL, l->from == TURN_PROMPT_ARG);
    buf_release(&text);
}

static void
check_all(const struct line *lines, size_t count)
{
    for (size_t i = 0; i < count; i++)
        check(&lines[i]);
}

#define CHECK_ALL(lines) check_all(lines, sizeof(lines) / sizeof((lines)[0]))

static void
claude_takes_its_prompt_before_or_behind_options(void **state)
{
    (void)state;
    static const struct line lines[] = {
        { "claude|-p|x y", TURN_CLAUDE, TURN_PROMPT_ARG, "x y" },
        { "claude|--print|x", TURN_CLAUDE, TURN_PROMPT_ARG, "x" },
        { "/usr/bin/claude|-p|x|--output-format|stream-json|--verbose", TURN_CLAUDE,
          TURN_PROMPT_ARG, "x" },
        { "claude|-p|--output-format|stream-json|--verbose|x", TURN_CLAUDE,
          TURN_PROMPT_ARG, "x" },
        { "claude|x|-p", TURN_CLAUDE, TURN_PROMPT_ARG, "x" },
        { "claude|-p|--model=opus|x", TURN_CLAUDE, TURN_PROMPT_ARG, "x" },
        { "claude|-p|--model|opus|x", TURN_CLAUDE, TURN_PROMPT_ARG, "x" },
        { "claude|-cp|x", TURN_CLAUDE, TURN_PROMPT_ARG, "x" },
        { "claude|-p|--|-x", TURN_CLAUDE, TURN_PROMPT_ARG, "-x" },
        { "claude|-p|-r|5302b783|x", TURN_CLAUDE, TURN_PROMPT_ARG, "x" },
        { "claude|-p|-r|--verbose|x", TURN_CLAUDE, TURN_PROMPT_ARG, "x" },
        { "claude|-p|--some-new-switch|x", TURN_CLAUDE, TURN_PROMPT_ARG, "x" },
        { "claude|-p|x|--allowedTools|Bash|Edit", TURN_CLAUDE, TURN_PROMPT_ARG, "x" },
        { "claude|-p|--allowedTools|Bash|Edit|--|x", TURN_CLAUDE, TURN_PROMPT_ARG, "x" },
        /* as claude itself has it: the option takes the prompt for a tool */
        { "claude|-p|--allowedTools|Bash|x", TURN_CLAUDE, TURN_PROMPT_STDIN, NULL },
        { "claude|-p", TURN_CLAUDE, TURN_PROMPT_STDIN, NULL },
        { "claude|-p|--output-format|text", TURN_CLAUDE, TURN_PROMPT_STDIN, NULL },
        { "claude|-p|--input-format|stream-json|--output-format|stream-json", TURN_CLAUDE,
          TURN_PROMPT_LINES, NULL },
        { "claude|-p|--input-format=stream-json", TURN_CLAUDE, TURN_PROMPT_LINES, NULL },
        { "claude|-p|--input-format|text|x", TURN_CLAUDE, TURN_PROMPT_ARG, "x" },
        { "claude|-p|--input-format|stream-json|x", TURN_CLAUDE, TURN_PROMPT_LINES,
          NULL },
        { "claude|-p|-d|x", TURN_CLAUDE, TURN_PROMPT_STDIN, NULL },
        /* not on a terminal it prints without being asked to */
        { "claude|x", TURN_CLAUDE, TURN_PROMPT_ARG, "x" },
        { "claude", TURN_CLAUDE, TURN_PROMPT_STDIN, NULL },
        { "claude|--version", TURN_CLAUDE, TURN_PROMPT_NONE, NULL },
        { "claude|mcp|list", TURN_CLAUDE, TURN_PROMPT_NONE, NULL },
    };
    CHECK_ALL(lines);
}

static void
codex_needs_the_word_exec(void **state)
{
    (void)state;
    static const struct line lines[] = {
        { "codex|exec|x", TURN_CODEX, TURN_PROMPT_ARG, "x" },
        { "codex|e|--json|x", TURN_CODEX, TURN_PROMPT_ARG, "x" },
        { "codex|exec|x|--json", TURN_CODEX, TURN_PROMPT_ARG, "x" },
        { "codex|-m|exec|exec|x", TURN_CODEX, TURN_PROMPT_ARG, "x" },
        { "codex|exec|-C|/tmp|-s|read-only|-c|a=b|x", TURN_CODEX, TURN_PROMPT_ARG, "x" },
        { "codex|exec|-mgpt-5|x", TURN_CODEX, TURN_PROMPT_ARG, "x" },
        { "codex|exec|--json|--|-x", TURN_CODEX, TURN_PROMPT_ARG, "-x" },
        { "codex|exec|-", TURN_CODEX, TURN_PROMPT_STDIN, NULL },
        { "codex|exec|--json", TURN_CODEX, TURN_PROMPT_STDIN, NULL },
        { "codex|exec|resume|--last|x", TURN_CODEX, TURN_PROMPT_ARG, "x" },
        { "codex|exec|--json|resume|01a1de26|x", TURN_CODEX, TURN_PROMPT_ARG, "x" },
        { "codex|exec|resume|01a1de26", TURN_CODEX, TURN_PROMPT_STDIN, NULL },
        { "codex|exec|review|x", TURN_CODEX, TURN_PROMPT_ARG, "x" },
        { "codex|exec|review|--uncommitted", TURN_CODEX, TURN_PROMPT_NONE, NULL },
        { "codex|x", TURN_CODEX, TURN_PROMPT_NONE, "x" },
        { "codex|resume|01a1de26|x", TURN_CODEX, TURN_PROMPT_NONE, "x" },
        { "codex|login|x", TURN_CODEX, TURN_PROMPT_NONE, NULL },
        { "codex", TURN_CODEX, TURN_PROMPT_NONE, NULL },
        { "codex|exec|--help", TURN_CODEX, TURN_PROMPT_NONE, NULL },
    };
    CHECK_ALL(lines);
}

static void
gemini_takes_it_as_an_option_or_as_words(void **state)
{
    (void)state;
    static const struct line lines[] = {
        { "gemini|-p|x", TURN_GEMINI, TURN_PROMPT_ARG, "x" },
        { "gemini|--prompt|x|-o|stream-json", TURN_GEMINI, TURN_PROMPT_ARG, "x" },
        { "gemini|--prompt=x y", TURN_GEMINI, TURN_PROMPT_ARG, "x y" },
        { "gemini|-px", TURN_GEMINI, TURN_PROMPT_ARG, "x" },
        { "gemini|-y|--output-format|stream-json|x", TURN_GEMINI, TURN_PROMPT_ARG, "x" },
        { "gemini|mend|the|test|-y", TURN_GEMINI, TURN_PROMPT_ARG, "mend the test" },
        { "gemini|-r|latest|x", TURN_GEMINI, TURN_PROMPT_ARG, "x" },
        { "gemini|-o|stream-json", TURN_GEMINI, TURN_PROMPT_STDIN, NULL },
        { "gemini|-i|x", TURN_GEMINI, TURN_PROMPT_NONE, NULL },
        { "gemini|mcp|list", TURN_GEMINI, TURN_PROMPT_NONE, NULL },
    };
    CHECK_ALL(lines);
}

static void
opencode_joins_its_words(void **state)
{
    (void)state;
    static const struct line lines[] = {
        { "opencode|run|x", TURN_OPENCODE, TURN_PROMPT_ARG, "x" },
        { "opencode|run|mend|the|test", TURN_OPENCODE, TURN_PROMPT_ARG, "mend the test" },
        { "opencode|run|--format|json|-m|a/b|x|y", TURN_OPENCODE, TURN_PROMPT_ARG,
          "x y" },
        { "opencode|--log-level|DEBUG|run|x", TURN_OPENCODE, TURN_PROMPT_ARG, "x" },
        { "opencode|run|--format|json", TURN_OPENCODE, TURN_PROMPT_STDIN, NULL },
        { "opencode|serve", TURN_OPENCODE, TURN_PROMPT_NONE, NULL },
        { "opencode", TURN_OPENCODE, TURN_PROMPT_NONE, NULL },
    };
    CHECK_ALL(lines);
}

static void
an_agent_is_known_behind_what_starts_it(void **state)
{
    (void)state;
    static const struct line lines[] = {
        { "npx|@anthropic-ai/claude-code|-p|x", TURN_CLAUDE, TURN_PROMPT_ARG, "x" },
        { "npx|-y|@anthropic-ai/claude-code@2.1.197|-p|x", TURN_CLAUDE, TURN_PROMPT_ARG,
          "x" },
        { "npx|--yes|@openai/codex@latest|exec|x", TURN_CODEX, TURN_PROMPT_ARG, "x" },
        { "npx|-y|--package|@google/gemini-cli|gemini|-p|x", TURN_GEMINI, TURN_PROMPT_ARG,
          "x" },
        { "npx|opencode-ai|run|x", TURN_OPENCODE, TURN_PROMPT_ARG, "x" },
        { "env|A=B|claude|-p|x", TURN_CLAUDE, TURN_PROMPT_ARG, "x" },
        { "env|-i|-u|C|A=B|D=|/opt/claude|-p|x", TURN_CLAUDE, TURN_PROMPT_ARG, "x" },
        { "env|A=B|npx|-y|@openai/codex|exec|x", TURN_CODEX, TURN_PROMPT_ARG, "x" },
        { "node|/lib/node_modules/@anthropic-ai/claude-code/cli.js|-p|x", TURN_CLAUDE,
          TURN_PROMPT_ARG, "x" },
        { "node|--no-warnings|-r|a.js|/usr/bin/gemini.js|-p|x", TURN_GEMINI,
          TURN_PROMPT_ARG, "x" },
    };
    CHECK_ALL(lines);
}

static void
other_programs_are_no_agents(void **state)
{
    (void)state;
    static const struct line lines[] = {
        { "cat|claude", TURN_AUTO, TURN_PROMPT_NONE, NULL },
        { "claude-wrapper|-p|x", TURN_AUTO, TURN_PROMPT_NONE, NULL },
        { "claude.txt|-p|x", TURN_AUTO, TURN_PROMPT_NONE, NULL },
        { "npx|my-claude-code|-p|x", TURN_AUTO, TURN_PROMPT_NONE, NULL },
        { "npx|@anthropic-ai/claude-coder|x", TURN_AUTO, TURN_PROMPT_NONE, NULL },
        { "npx", TURN_AUTO, TURN_PROMPT_NONE, NULL },
        { "npx|-y", TURN_AUTO, TURN_PROMPT_NONE, NULL },
        { "env|A=B", TURN_AUTO, TURN_PROMPT_NONE, NULL },
        { "node|server.js", TURN_AUTO, TURN_PROMPT_NONE, NULL },
        { "", TURN_AUTO, TURN_PROMPT_NONE, NULL },
    };
    CHECK_ALL(lines);
    assert_int_equal(turn_prompt(0, NULL).agent, TURN_AUTO);
}

int
main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(claude_takes_its_prompt_before_or_behind_options),
        cmocka_unit_test(codex_needs_the_word_exec),
        cmocka_unit_test(gemini_takes_it_as_an_option_or_as_words),
        cmocka_unit_test(opencode_joins_its_words),
        cmocka_unit_test(an_agent_is_known_behind_what_starts_it),
        cmocka_unit_test(other_programs_are_no_agents),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
