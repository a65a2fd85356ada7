/* SPDX-License-Identifier: MIT */
/*
 * again_how.c -- which way a session goes on.
 *
 * An agent's own way is the best: its memory is whole. Else a run is sent its messages
 * once more, and so is a terminal, where what was typed is recorded. What is left is to
 * start afresh with a short account, which only an agent can be given.
 */
#include <errno.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>

#include "base/file.h"
#include "cli/again.h"
#include "cli/recall.h"
#include "cli/report.h"
#include "session/id.h"
#include "turn/native.h"

#define GO_ON "Go on where you left off."

static size_t
argc_of(const struct cli_again *a)
{
    return cli_recall_count(a->command);
}

static const char *const *
argv_of(const struct cli_again *a)
{
    return (const char *const *)a->command;
}

static struct turn_prompt
prompt_of(const struct cli_again *a)
{
    return turn_prompt(argc_of(a), argv_of(a));
}

/* -- the words of the new command -- */

static int
split(struct cli_again *a)
{
    size_t n = 0;
    for (size_t at = 0; at < a->words.n; at += strlen((char *)a->words.p + at) + 1)
        n++;
    if (a->words.failed || !(a->argv = calloc(n + 1, sizeof(*a->argv))))
        return -ENOMEM;
    n = 0;
    for (size_t at = 0; at < a->words.n; at += strlen(a->argv[n++]) + 1)
        a->argv[n] = (char *)a->words.p + at;
    return 0;
}

static int
keep_words(struct cli_again *a)
{
    for (size_t i = 0; a->command[i]; i++)
        buf_append(&a->words, a->command[i], strlen(a->command[i]) + 1);
    return a->words.failed;
}

/* -- the agent's own way: 1, it is possible -- */

/* The recording's id is of no use to another agent. */
static bool
is_same_agent(const struct cli_again *a)
{
    enum turn_agent now = prompt_of(a).agent;
    return !a->told.agent || now == TURN_AUTO ||
           !strcmp(a->told.agent, turn_agent_name(now));
}

static int
find_agent_id(struct cli_again *a)
{
    const char *id = is_same_agent(a) ? a->told.agent_session_id : NULL;
    if (!id || !turn_native_is_id(id))
        id = a->agent_id.n ? NULL : turn_native_id(argc_of(a), argv_of(a));
    return id ? (buf_clear(&a->agent_id), buf_puts(&a->agent_id, id)) : 0;
}

static int
try_native(struct cli_again *a)
{
    const char *prompt = a->args->prompt ? a->args->prompt : GO_ON;
    bool is_asking = !a->is_run && !a->args->prompt;
    int r = find_agent_id(a);
    if (r < 0 || !a->agent_id.n || (a->is_fork && a->turns != UINT64_MAX))
        return r;
    r = turn_native_words(argc_of(a), argv_of(a), buf_str(&a->agent_id),
                          is_asking ? NULL : prompt, a->is_fork, &a->words);
    if (r == ERR_MISSING) {
        buf_clear(&a->words);
        return 0;
    }
    if (!r && a->is_run && prompt_of(a).from == TURN_PROMPT_LINES)
        r = buf_puts(&a->context, prompt);
    return r < 0 ? r : 1;
}

/* -- a short account -- */

/* It would run what it is told: a shell, or another interpreter without a script. */
static bool
is_interpreter(const struct cli_again *a)
{
    static const char *const names[] = { "ash",  "bash",   "bun",     "csh",  "dash",
                                         "deno", "fish",   "irb",     "ksh",  "node",
                                         "perl", "python", "python3", "ruby", "sh",
                                         "tcsh", "zsh" };
    const char *name = file_name(a->command[0]);
    for (size_t i = 1; a->command[i]; i++)
        if (a->command[i][0] != '-')
            return false;
    for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++)
        if (!strcmp(name, names[i]))
            return true;
    return false;
}

/* To a program whose messages are lines it is one line. */
static void
fold(struct buf *text)
{
    while (text->n && text->p[text->n - 1] == '\n')
        text->n--;
    for (size_t i = 0; i < text->n; i++)
        if (text->p[i] == '\n')
            text->p[i] = ' ';
}

/* 1: it is possible. */
static int
try_context(struct cli_again *a, struct err *err)
{
    AUTO(buf) text = { 0 };
    struct turn_prompt p = prompt_of(a);
    if (p.agent == TURN_AUTO && (!a->is_run || is_interpreter(a)))
        return 0; /* of a terminal it might be a shell, which would run it */
    int r = cli_again_context(a, &text, err);
    if (r <= 0)
        return r;
    if (p.agent == TURN_AUTO)
        fold(&text);
    bool is_sent = a->is_run && (p.from != TURN_PROMPT_ARG);
    r = is_sent ? keep_words(a)
                : turn_native_prompt(argc_of(a), argv_of(a), buf_str(&text), !a->is_run,
                                     &a->words);
    if (!r && is_sent)
        r = buf_append(&a->context, text.p, text.n);
    return r < 0 ? r : 1;
}

/* -- the choice -- */

static int
is_impossible(struct cli_again *a, struct err *err)
{
    const char *called = buf_str(&a->called), *verb = a->self->name;
    switch (a->args->how) {
    case CLI_HOW_CONTEXT:
        return err_set(
            err, ERR_USAGE,
            "there is no way to tell '%.80s' what has happened: it is no agent "
            "that is known, or nothing was said in session %s",
            a->command[0], called);
    case CLI_HOW_REPLAY:
    case CLI_HOW_TYPED:
        return err_set(err, ERR_USAGE,
                       "session %s cannot be replayed: what was typed is not in its "
                       "recording ('ahr record --input' keeps it)",
                       called);
    case CLI_HOW_NATIVE:
    case CLI_HOW_BEST:
        break;
    }
    return err_set(
        err, ERR_USAGE,
        "session %s cannot go on: what was typed is not in its recording, and "
        "'%.80s' is no agent that is known; say another command: 'ahr %s %s -- "
        "COMMAND'",
        called, a->command[0], verb, called);
}

/* 1: this way it is. */
static int
try_way(struct cli_again *a, enum cli_how how, struct err *err)
{
    int r = 0;
    switch (how) {
    case CLI_HOW_NATIVE:
        r = try_native(a);
        break;
    case CLI_HOW_REPLAY:
        r = a->is_run ? keep_words(a) : 0;
        r = r < 0 ? r : a->is_run;
        break;
    case CLI_HOW_TYPED:
        r = !a->is_run && a->typed.n ? keep_words(a) : 0;
        r = r < 0 ? r : !a->is_run && a->typed.n;
        break;
    case CLI_HOW_CONTEXT:
        r = try_context(a, err);
        break;
    case CLI_HOW_BEST:
        break;
    }
    return r;
}

static bool
is_asked(const struct cli_again *a, enum cli_how how)
{
    enum cli_how asked = a->args->how;
    return asked == CLI_HOW_BEST || asked == how ||
           (asked == CLI_HOW_REPLAY && how == CLI_HOW_TYPED);
}

int
cli_again_choose(struct cli_again *a, struct err *err)
{
    static const enum cli_how ways[] = { CLI_HOW_NATIVE, CLI_HOW_REPLAY, CLI_HOW_TYPED,
                                         CLI_HOW_CONTEXT };
    int r = a->is_run ? 0 : cli_again_tape(a, err);
    for (size_t i = 0; !r && i < sizeof(ways) / sizeof(ways[0]); i++) {
        r = is_asked(a, ways[i]) ? try_way(a, ways[i], err) : 0;
        a->how = r > 0 ? ways[i] : a->how;
    }
    if (!r)
        return is_impossible(a, err);
    if (r > 0 && a->how == CLI_HOW_TYPED && a->args->prompt)
        return err_set(err, ERR_USAGE,
                       "session %s goes on by typing once more what was typed: --prompt "
                       "does not go with that",
                       buf_str(&a->called));
    if (r > 0)
        r = split(a);
    return r < 0 && !err->code ? err_code(err, r, "cannot %s", a->self->name) : r;
}

static void
tell_replay(const struct cli_again *a, struct buf *ret)
{
    bool has_prompt = a->args->prompt && a->said.n;
    size_t count = a->said.n / sizeof(struct run_said) - has_prompt;
    if (!count)
        buf_puts(ret, "by its command, run once more");
    buf_puts(ret, count ? "by " : "");
    if (count)
        cli_count(ret, count, "message");
    buf_puts(ret, count ? " sent once more" : "");
    buf_puts(ret, has_prompt ? ", and the prompt" : "");
}

void
cli_again_tell_how(const struct cli_again *a, struct buf *ret)
{
    struct buf id = a->agent_id;
    switch (a->how) {
    case CLI_HOW_NATIVE:
        buf_printf(ret, "by the agent's own session %s", buf_str(&id));
        break;
    case CLI_HOW_REPLAY:
        tell_replay(a, ret);
        break;
    case CLI_HOW_TYPED:
        buf_puts(ret, "by typing once more what was typed");
        break;
    case CLI_HOW_CONTEXT:
        buf_puts(ret, "afresh, with a short account of what has happened");
        break;
    case CLI_HOW_BEST:
        break;
    }
}
