/* SPDX-License-Identifier: MIT */
/* turn_native_test.c -- command lines that go on with an agent's own session. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include "turn/native.h"

enum { WORDS_MAX = 24 };

#define ID "5d24b3fe-203e-4318-a394-9204b50310b2"

struct words {
    char room[1024];
    const char *argv[WORDS_MAX];
    size_t argc;
};

/* Words separated by '|'. */
static void
split(struct words *w, const char *line)
{
    w->argc = 0;
    (void)snprintf(w->room, sizeof(w->room), "%s", line);
    for (char *at = w->room; at; w->argc++) {
        w->argv[w->argc] = at;
        at = strchr(at, '|');
        if (at)
            *at++ = 0;
    }
}

static void
assert_words(int r, struct buf *words, const char *line, const char *want)
{
    if (!want) {
        assert_int_equal(r, ERR_MISSING);
        buf_release(words);
        return;
    }
    assert_int_equal(r, 0);
    for (size_t i = 0; i + 1 < words->n; i++)
        if (!words->p[i])
            words->p[i] = '|';
    if (strcmp((const char *)words->p, want) != 0)
        fail_msg("%s: %s, not %s", line, (const char *)words->p, want);
    buf_release(words);
}

struct line {
    const char *from, *resumed, *forked; /* NULL: it cannot */
};

static void
check(const struct line *l)
{
    struct words w;
    struct buf words = { 0 };
    split(&w, l->from);
    int r = turn_native_words(w.argc, w.argv, ID, "go on", false, &words);
    assert_words(r, &words, l->from, l->resumed);
    words = (struct buf){ 0 };
    r = turn_native_words(w.argc, w.argv, ID, "go on", true, &words);
    assert_words(r, &words, l->from, l->forked);
}

static void
an_agent_goes_on_with_its_session(void **state)
{
    (void)state;
    static const struct line lines[] = {
        { "claude", "claude|--resume|" ID, "claude|--resume|" ID "|--fork-session" },
        { "claude|fix it", "claude|--resume|" ID,
          "claude|--resume|" ID "|--fork-session" },
        { "claude|-p|fix it|--output-format|stream-json|--verbose",
          "claude|-p|--output-format|stream-json|--verbose|--resume|" ID "|go on",
          "claude|-p|--output-format|stream-json|--verbose|--resume|" ID
          "|--fork-session|go on" },
        { "claude|-p|--allowedTools|Bash|Edit|--resume|older-one|--|fix it",
          "claude|-p|--allowedTools|Bash|Edit|--resume|" ID "|go on",
          "claude|-p|--allowedTools|Bash|Edit|--resume|" ID "|--fork-session|go on" },
        { "claude|-p|--session-id=abcd-1|--continue", "claude|-p|--resume|" ID "|go on",
          "claude|-p|--resume|" ID "|--fork-session|go on" },
        { "codex", "codex|resume|" ID, "codex|fork|" ID },
        { "codex|-m|x|resume|older-one", "codex|-m|x|resume|" ID, "codex|-m|x|fork|" ID },
        { "codex|-m|x|fix it", "codex|-m|x|resume|" ID, "codex|-m|x|fork|" ID },
        { "codex|resume|older-one|fix it", "codex|resume|" ID, "codex|fork|" ID },
        { "codex|exec|--json|fix it", "codex|exec|--json|resume|" ID "|go on", NULL },
        { "codex|exec|--json|resume|older-one|fix it",
          "codex|exec|--json|resume|" ID "|go on", NULL },
        { "codex|exec|resume|--last|fix it", "codex|exec|resume|" ID "|go on", NULL },
        { "codex|exec|-", "codex|exec|resume|" ID "|go on", NULL },
        { "gemini|-p|fix it|-m|pro", "gemini|-m|pro|--resume|" ID "|--prompt|go on",
          NULL },
        { "opencode|run|-m|a/b|fix|it", "opencode|run|-m|a/b|--session|" ID "|go on",
          "opencode|run|-m|a/b|--session|" ID "|--fork|go on" },
        { "cat", NULL, NULL },
        { "bash|-c|claude", NULL, NULL },
    };
    for (size_t i = 0; i < sizeof(lines) / sizeof(lines[0]); i++)
        check(&lines[i]);
}

/* Its messages come line by line: what it is told is no word. */
static void
one_that_reads_lines_has_no_prompt_in_its_words(void **state)
{
    (void)state;
    struct words w;
    struct buf words = { 0 };
    split(&w, "npx|@anthropic-ai/claude-code|-p|--input-format|stream-json");
    int r = turn_native_words(w.argc, w.argv, ID, "go on", false, &words);
    assert_words(
        r, &words, w.room,
        "npx|@anthropic-ai/claude-code|-p|--input-format|stream-json|--resume|" ID);
}

static void
what_is_no_id_becomes_no_word(void **state)
{
    (void)state;
    static const char *const bad[] = { "",         "abc",        "--dangerous",
                                       "a b c d",  "$(id)$(id)", "../../etc",
                                       "id;rm -rf" };
    struct words w;
    split(&w, "claude|-p|x");
    for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++) {
        struct buf words = { 0 };
        assert_int_equal(turn_native_words(w.argc, w.argv, bad[i], NULL, false, &words),
                         ERR_MISSING);
        buf_release(&words);
    }
}

static void
another_prompt_takes_the_place_of_the_first(void **state)
{
    (void)state;
    static const char *const lines[][3] = {
        /* the third: on a terminal */
        { "claude|-p|fix it|--verbose", "claude|-p|NEW|--verbose" },
        { "opencode|run|fix|it|now", "opencode|run|NEW" },
        { "gemini|--prompt=fix it|-m|x", "gemini|--prompt=NEW|-m|x" },
        { "gemini|-p|fix it", "gemini|-p|NEW" },
        { "codex|exec|fix it", "codex|exec|NEW" },
        { "codex", "codex|--|NEW" },
        { "codex|-m|x|fix it", "codex|-m|x|--|NEW" },
        { "claude|--resume|older-one|--allowedTools|Bash",
          "claude|--allowedTools|Bash|--|NEW", "tty" },
        { "claude|-p|fix it|-r|older-one", "claude|-p|NEW" },
        { "codex|exec|resume|older-one|fix it", "codex|exec|NEW" },
        { "gemini|-i|hello", "gemini|--prompt-interactive|NEW" },
        { "claude|-p", "claude|-p" }, /* by standard input */
        { "cat", NULL },
    };
    for (size_t i = 0; i < sizeof(lines) / sizeof(lines[0]); i++) {
        struct words w;
        struct buf words = { 0 };
        split(&w, lines[i][0]);
        int r = turn_native_prompt(w.argc, w.argv, "NEW", lines[i][2] != NULL, &words);
        assert_words(r, &words, lines[i][0], lines[i][1]);
    }
}

static void
a_command_line_may_name_its_session(void **state)
{
    (void)state;
    static const char *const lines[][2] = {
        { "claude|--session-id|" ID, ID },
        { "claude|-r|" ID, ID },
        { "claude|--resume=" ID, ID },
        { "codex|resume|" ID, ID },
        { "opencode|run|-s|ses_123|x", "ses_123" },
        { "claude|--resume", NULL },
        { "claude|-p|--resume", NULL },
        { "cat|--resume|" ID, NULL },
    };
    for (size_t i = 0; i < sizeof(lines) / sizeof(lines[0]); i++) {
        struct words w;
        split(&w, lines[i][0]);
        const char *id = turn_native_id(w.argc, w.argv);
        if (lines[i][1])
            assert_string_equal(id, lines[i][1]);
        else
            assert_null(id);
    }
}

static void
a_line_at_the_end_names_it_as_well(void **state)
{
    (void)state;
    static const struct {
        const char *line;
        enum turn_agent agent;
        const char *id;
    } lines[] = {
        { "claude --resume " ID, TURN_CLAUDE, ID },
        { "To continue this session, run codex resume " ID ".", TURN_CODEX, ID },
        { "claude --resume " ID, TURN_CODEX, NULL },
        { "claude --resume ", TURN_CLAUDE, NULL },
        { "claude --resume x", TURN_CLAUDE, NULL },
        { "", TURN_CLAUDE, NULL },
    };
    for (size_t i = 0; i < sizeof(lines) / sizeof(lines[0]); i++) {
        struct buf id = { 0 };
        struct view line = { (const uint8_t *)lines[i].line, strlen(lines[i].line) };
        bool has = turn_native_told(line, lines[i].agent, &id);
        assert_int_equal(has, lines[i].id != NULL);
        assert_string_equal(buf_str(&id), lines[i].id ? lines[i].id : "");
        buf_release(&id);
    }
}

int
main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(an_agent_goes_on_with_its_session),
        cmocka_unit_test(one_that_reads_lines_has_no_prompt_in_its_words),
        cmocka_unit_test(what_is_no_id_becomes_no_word),
        cmocka_unit_test(another_prompt_takes_the_place_of_the_first),
        cmocka_unit_test(a_command_line_may_name_its_session),
        cmocka_unit_test(a_line_at_the_end_names_it_as_well),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
