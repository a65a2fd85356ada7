/* SPDX-License-Identifier: MIT */
/*
 * prompt.c -- what a command line says of the agent in it.
 *
 * Options are as in claude 2.1.197 (--help), codex-rs/exec/src/cli.rs (0280533, 2026),
 * gemini-cli's packages/cli/src/config/config.ts and its documentation (0.40), and
 * opencode's packages/opencode/src/cli/cmd/run.ts (1.x). One that is not in the table is
 * taken for a switch, with its value behind '=' if any.
 */
#include "turn/prompt.h"

#include <string.h>

/* What an option takes. */
enum takes {
    VALUE = 1, /* the next word */
    MAYBE,     /* the next word, unless it is an option */
    MANY,      /* all words up to the next option */
    PROMPT,    /* the next word, and that is the prompt */
    ASKS,      /* a prompt too, but then it asks its user */
    LEAVES,    /* nothing: the program tells something and ends */
    LINES,     /* its format of input: with "stream-json" each line is a message */
    LAST,      /* nothing: no session's id stands before the prompt */
};

struct option {
    const char *names; /* "--model -m", with blanks between them */
    enum takes takes;
};

static const struct option claude_options[] = {
    { "--add-dir --allowedTools --allowed-tools --betas --disallowedTools "
      "--disallowed-tools --file --mcp-config --tools",
      MANY },
    { "--agent --agents --append-system-prompt --append-system-prompt-file --debug-file "
      "--effort --fallback-model --json-schema --max-budget-usd --max-turns --model "
      "--name "
      "-n --output-format --permission-mode --permission-prompt-tool --plugin-dir "
      "--plugin-url --remote-control-session-name-prefix --session-id --setting-sources "
      "--settings --system-prompt --system-prompt-file",
      VALUE },
    { "--debug -d --from-pr --prompt-suggestions --remote-control --resume -r --worktree "
      "-w",
      MAYBE },
    { "--input-format", LINES },
    { "--help -h --version -v", LEAVES },
    { 0 },
};

static const struct option codex_options[] = {
    { "--image -i", MANY },
    { "--add-dir --ask-for-approval -a --base --cd -C --color --commit --config -c "
      "--disable --enable --local-provider --model -m --output-last-message -o "
      "--output-schema --profile -p --sandbox -s --title",
      VALUE },
    { "--last", LAST },
    { "--help -h --version -V", LEAVES },
    { 0 },
};

static const struct option gemini_options[] = {
    { "--prompt -p", PROMPT },
    { "--prompt-interactive -i", ASKS },
    { "--admin-policy --allowed-mcp-server-names --allowed-tools --include-directories "
      "--policy",
      MANY },
    { "--approval-mode --delete-session --extensions -e --model -m --output-format -o "
      "--proxy --sandbox-image --session-id --telemetry-otlp-endpoint "
      "--telemetry-otlp-protocol --telemetry-outfile --telemetry-target",
      VALUE },
    { "--resume -r --worktree -w", MAYBE },
    { "--help -h --version -v --list-sessions --list-extensions -l", LEAVES },
    { 0 },
};

static const struct option opencode_options[] = {
    { "--file -f", MANY },
    { "--agent --attach --command --dir --format --log-level --model -m --password -p "
      "--port --session -s --title --username -u --variant",
      VALUE },
    { "--help -h --version -v", LEAVES },
    { 0 },
};

struct agent {
    enum turn_agent agent;
    const char *program, *package;
    const struct option *options;
    const char *verbs;  /* one of these must come first ("exec"); NULL: none */
    const char *others; /* what is no prompt, when it comes first */
    /* Without one of the verbs it asks its user, and may be given the first message;
     * NULL: not so. What is no message, when it comes first: */
    const char *commands;
};

static const struct agent agents[] = {
    { TURN_CLAUDE, "claude", "@anthropic-ai/claude-code", claude_options, NULL,
      "agents auth auto-mode config doctor gateway install mcp plugin plugins project "
      "setup-token ultrareview update upgrade",
      NULL },
    { TURN_CODEX, "codex", "@openai/codex", codex_options, "exec e", "help",
      "app app-server apply a cloud completion debug features help login logout mcp "
      "mcp-server review sandbox update" },
    { TURN_GEMINI, "gemini", "@google/gemini-cli", gemini_options, NULL,
      "extension extensions gemma hook hooks mcp skill skills", NULL },
    { TURN_OPENCODE, "opencode", "opencode-ai", opencode_options, "run", "", NULL },
};

enum { AGENTS = sizeof(agents) / sizeof(agents[0]) };

struct words {
    const char *const *p;
    size_t n;
};

static const char *
take(struct words *w)
{
    w->n--;
    return *w->p++;
}

/* -- words and lists of words -- */

static bool
is_among(const char *list, const char *word, size_t n)
{
    for (const char *at = list; n && (at = strstr(at, word)) != NULL; at++) {
        char before = at == list ? ' ' : at[-1];
        if (before == ' ' && (at[n] == ' ' || !at[n]))
            return true;
    }
    return false;
}

static enum takes
takes_of(const struct option *options, const char *word, size_t n)
{
    char name[64];
    if (n >= sizeof(name))
        return 0;
    memcpy(name, word, n);
    name[n] = 0;
    for (; options->names; options++)
        if (is_among(options->names, name, n))
            return options->takes;
    return 0;
}

static bool
is_option(const char *word)
{
    return word[0] == '-' && word[1];
}

static const char *
base_of(const char *path)
{
    const char *slash = strrchr(path, '/');
    return slash ? slash + 1 : path;
}

/* -- which agent -- */

static const struct agent *
by_program(const char *word)
{
    const char *name = base_of(word);
    size_t n = strcspn(name, ".");
    const char *end = name + n;
    bool is_script = !*end || !strcmp(end, ".js") || !strcmp(end, ".mjs") ||
                     !strcmp(end, ".cjs") || !strcmp(end, ".exe");
    for (size_t i = 0; is_script && i < AGENTS; i++)
        if (strlen(agents[i].program) == n && !memcmp(agents[i].program, name, n))
            return &agents[i];
    return NULL;
}

/* "@openai/codex@latest", or a path with the package in it. */
static const struct agent *
by_package(const char *word)
{
    for (size_t i = 0; i < AGENTS; i++) {
        const char *at = strstr(word, agents[i].package);
        char behind = at ? at[strlen(agents[i].package)] : 'x';
        char before = at && at > word ? at[-1] : '/';
        if (before == '/' && (!behind || behind == '@' || behind == '/'))
            return &agents[i];
    }
    return NULL;
}

static const struct agent *
by_script(const char *word)
{
    const struct agent *a = by_package(word);
    return a ? a : by_program(word);
}

/* Programs that start another: the options of theirs that take a value, and how the word
 * that is left is read. */
static const struct starter {
    const char *names;
    struct option options[2];
    const struct agent *(*find)(const char *word); /* NULL: one more command line */
} starters[] = {
    { "env", { { "-u --unset -C --chdir -S --split-string", VALUE } }, NULL },
    { "npx bunx pnpx", { { "-p --package -c --call", VALUE } }, by_script },
    { "node nodejs bun deno",
      { { "-r --require --import --loader --experimental-loader -C --conditions "
          "--env-file -e --eval",
          VALUE } },
      by_script },
};

static const struct starter *
starter_of(const char *word)
{
    const char *name = base_of(word);
    for (size_t i = 0; i < sizeof(starters) / sizeof(starters[0]); i++)
        if (is_among(starters[i].names, name, strlen(name)))
            return &starters[i];
    return NULL;
}

/* Up to the program that is started. */
static void
skip_own(const struct starter *s, struct words *w)
{
    while (w->n) {
        const char *word = w->p[0];
        bool is_setting = !s->find && strchr(word, '=');
        if (!is_option(word) && !is_setting)
            return;
        (void)take(w);
        if (!strcmp(word, "--"))
            return;
        if (takes_of(s->options, word, strlen(word)) == VALUE && w->n)
            (void)take(w);
    }
}

/* The words behind the agent's name are left. */
static const struct agent *
find_agent(struct words *w)
{
    while (w->n) {
        const char *word = take(w);
        const struct starter *s = starter_of(word);
        if (!s)
            return by_program(word);
        skip_own(s, w);
        if (s->find)
            return w->n ? s->find(take(w)) : NULL;
    }
    return NULL;
}

/* -- its arguments -- */

struct found {
    struct words prompt;   /* of an option */
    const char *own;       /* … that stands in its word: "--prompt=x" */
    struct words words[2]; /* the first two that are no option, with what follows each */
    size_t count;          /* of such words, in all */
    size_t run;            /* of the words behind words[0] without an option between */
    bool asks, leaves, lines, has_last;
};

static void
found_word(struct found *f, struct words at, bool *is_run)
{
    if (f->count < 2)
        f->words[f->count] = at;
    if (!f->count)
        *is_run = true;
    f->count++;
    f->run += *is_run;
}

static void
skip_values(struct words *w)
{
    while (w->n && !is_option(w->p[0]))
        (void)take(w);
}

/* An option's value, which stands in the word itself (`own`) or is the next one. */
static void
found_value(struct found *f, enum takes takes, struct words *w, const char *own)
{
    struct words at = *w;
    const char *value = own;
    if (!own && w->n)
        value = take(w);
    if (!value)
        return;
    if (takes == LINES)
        f->lines = !strcmp(value, "stream-json");
    f->asks = f->asks || takes == ASKS;
    if (takes == PROMPT) {
        f->prompt = own ? (struct words){ 0 } : (struct words){ at.p, 1 };
        f->own = own;
    }
}

static void
found_option(struct found *f, enum takes takes, struct words *w, const char *own)
{
    switch (takes) {
    case VALUE:
    case PROMPT:
    case ASKS:
    case LINES:
        found_value(f, takes, w, own);
        break;
    case MAYBE:
        if (!own && w->n && !is_option(w->p[0]))
            (void)take(w);
        break;
    case MANY:
        if (!own)
            skip_values(w);
        break;
    case LEAVES:
        f->leaves = true;
        break;
    case LAST:
        f->has_last = true;
        break;
    }
}

/* "--model=x", "-mx", "-pc" (two switches) or an option alone. */
static void
read_option(struct found *f, const struct option *options, struct words *w)
{
    const char *word = take(w);
    if (word[1] == '-') {
        size_t n = strcspn(word, "=");
        found_option(f, takes_of(options, word, n), w, word[n] ? word + n + 1 : NULL);
        return;
    }
    for (size_t i = 1; word[i]; i++) {
        char name[3] = { '-', word[i], 0 };
        enum takes takes = takes_of(options, name, 2);
        bool is_last = !word[i + 1];
        const char *own = is_last ? NULL : word + i + 1 + (word[i + 1] == '=');
        found_option(f, takes, w, takes ? own : NULL);
        if (takes)
            return;
    }
}

static void
read_words(struct found *f, const struct option *options, struct words w)
{
    bool is_run = false, is_over = false;
    while (w.n) {
        if (!is_over && !strcmp(w.p[0], "--")) {
            is_over = true;
            is_run = false;
            (void)take(&w);
        } else if (!is_over && is_option(w.p[0])) {
            is_run = false;
            read_option(f, options, &w);
        } else {
            found_word(f, w, &is_run);
            (void)take(&w);
        }
    }
}

/* The verb that must come first; options of the agent may stand before it. */
static bool
take_verb(const struct agent *a, struct words *w)
{
    struct found f = { 0 };
    if (!a->verbs)
        return true;
    read_words(&f, a->options, *w);
    if (!f.count || !is_among(a->verbs, f.words[0].p[0], strlen(f.words[0].p[0])))
        return false;
    *w = f.words[0];
    (void)take(w);
    return true;
}

/* `codex exec resume [ID] PROMPT`, `codex exec resume --last PROMPT`, `codex exec review
 * [PROMPT]`, `codex fork [ID] PROMPT`: the words of it that are left. */
static struct words
of_codex(const struct found *f)
{
    struct words none = { 0 };
    const char *first = f->count ? f->words[0].p[0] : "";
    bool is_resume = !strcmp(first, "resume") || !strcmp(first, "fork");
    bool is_review = !strcmp(first, "review");
    if (!is_resume && !is_review)
        return f->count ? (struct words){ f->words[0].p, 1 } : none;
    struct found g = { 0 };
    struct words rest = f->words[0];
    (void)take(&rest);
    read_words(&g, codex_options, rest);
    size_t at = is_review || (f->has_last && g.count < 2) ? 0 : 1;
    return g.count > at ? (struct words){ g.words[at].p, 1 } : none;
}

static struct words
prompt_words(const struct agent *a, const struct found *f)
{
    if (f->prompt.n)
        return f->prompt;
    if (a->agent == TURN_CODEX)
        return of_codex(f);
    if (!f->count)
        return (struct words){ 0 };
    return (struct words){ f->words[0].p, a->agent == TURN_CLAUDE ? 1 : f->run };
}

static bool
is_other(const struct agent *a, const struct found *f)
{
    const char *first = f->count ? f->words[0].p[0] : "";
    bool is_review = a->agent == TURN_CODEX && !strcmp(first, "review");
    return is_among(a->others, first, strlen(first)) || (is_review && f->count == 1);
}

/* The first message of one that asks its user. */
static struct words
first_message(const struct agent *a, struct words w)
{
    struct found f = { 0 };
    if (a->commands)
        read_words(&f, a->options, w);
    const char *first = f.count ? f.words[0].p[0] : "";
    return f.count && !f.leaves && !is_among(a->commands, first, strlen(first))
               ? prompt_words(a, &f)
               : (struct words){ 0 };
}

struct turn_prompt
turn_prompt(size_t argc, const char *const *argv)
{
    struct turn_prompt ret = { .agent = TURN_AUTO };
    struct words w = { argv, argc };
    const struct agent *a = find_agent(&w);
    struct found f = { 0 };
    if (!a)
        return ret;
    ret.agent = a->agent;
    if (!take_verb(a, &w)) {
        struct words message = first_message(a, w);
        ret.words = message.p;
        ret.word_count = message.n;
        return ret;
    }
    read_words(&f, a->options, w);
    if (f.leaves || f.asks || is_other(a, &f))
        return ret;
    struct words prompt = prompt_words(a, &f);
    if (f.lines) {
        ret.from = TURN_PROMPT_LINES;
    } else if (f.own) {
        ret.from = TURN_PROMPT_ARG;
        ret.text = f.own;
    } else if (!prompt.n || (a->agent == TURN_CODEX && !strcmp(prompt.p[0], "-"))) {
        ret.from = TURN_PROMPT_STDIN;
    } else {
        ret.from = TURN_PROMPT_ARG;
        ret.text = prompt.p[0];
        ret.words = prompt.p;
        ret.word_count = prompt.n;
    }
    return ret;
}

size_t
turn_prompt_start(size_t argc, const char *const *argv, enum turn_agent *ret)
{
    struct words w = { argv, argc };
    const struct agent *a = find_agent(&w);
    if (!a)
        return 0;
    *ret = a->agent;
    return argc - w.n;
}

int
turn_prompt_text(const struct turn_prompt *p, struct buf *out)
{
    if (!p->word_count && p->text)
        (void)buf_puts(out, p->text);
    for (size_t i = 0; i < p->word_count; i++) {
        (void)buf_puts(out, i ? " " : "");
        (void)buf_puts(out, p->words[i]);
    }
    return out->failed;
}
