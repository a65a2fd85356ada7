/* SPDX-License-Identifier: MIT */
/*
 * native.c -- command lines that go on with an agent's own session.
 *
 * As claude 2.1.197, codex 0.166, gemini-cli 0.40 and opencode 1.x have them.
 */
#include "turn/native.h"

#include <string.h>

enum { ID_MAX = 128 };

/* What the words behind an option's name are. */
enum takes { NOTHING = 1, VALUE, MAYBE };

/* What is said by an option that does not stay: the session's id, other things of an
 * earlier session, what it is told. */
enum says { ID, SESSION, PROMPT };

struct dropped {
    const char *name;
    enum takes takes;
    enum says says;
};

struct native {
    enum turn_agent agent;
    const char *resume,
        *fork;             /* the words before the id and behind it; NULL: it cannot */
    const char *verb;      /* before the id in place of an option; NULL: none */
    const char *fork_verb; /* … where it asks its user; NULL: none */
    const char *asks;      /* an option before a prompt; NULL: the prompt alone */
    const char *tells;     /* words that agents print before an id */
    struct dropped dropped[8];
};

static const struct native natives[] = {
    { .agent = TURN_CLAUDE,
      .resume = "--resume",
      .fork = "--fork-session",
      .tells = "claude --resume ",
      .dropped = { { "--resume", MAYBE, ID },
                   { "-r", MAYBE, ID },
                   { "--session-id", VALUE, ID },
                   { "--continue", NOTHING, SESSION },
                   { "-c", NOTHING, SESSION },
                   { "--fork-session", NOTHING, SESSION },
                   { "--resume-session-at", VALUE, SESSION } } },
    { .agent = TURN_CODEX,
      .verb = "resume",
      .fork_verb = "fork",
      .tells = "codex resume ",
      .dropped = { { "--last", NOTHING, SESSION } } },
    { .agent = TURN_GEMINI,
      .resume = "--resume",
      .asks = "--prompt",
      .tells = "gemini --resume ",
      .dropped = { { "--resume", MAYBE, ID },
                   { "-r", MAYBE, ID },
                   { "--session-id", VALUE, ID },
                   { "--prompt", VALUE, PROMPT },
                   { "-p", VALUE, PROMPT },
                   { "--prompt-interactive", VALUE, PROMPT },
                   { "-i", VALUE, PROMPT } } },
    { .agent = TURN_OPENCODE,
      .resume = "--session",
      .fork = "--fork",
      .tells = "opencode --session ",
      .dropped = { { "--session", VALUE, ID },
                   { "-s", VALUE, ID },
                   { "--continue", NOTHING, SESSION },
                   { "-c", NOTHING, SESSION },
                   { "--fork", NOTHING, SESSION } } },
};

static const struct native *
native_of(enum turn_agent agent)
{
    for (size_t i = 0; i < sizeof(natives) / sizeof(natives[0]); i++)
        if (natives[i].agent == agent)
            return &natives[i];
    return NULL;
}

static bool
is_id_byte(uint8_t c)
{
    return (c >= '0' && c <= '9') || (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') ||
           c == '-' || c == '_';
}

bool
turn_native_is_id(const char *id)
{
    size_t n = strlen(id);
    if (n < 4 || n > ID_MAX || id[0] == '-')
        return false;
    for (size_t i = 0; i < n; i++)
        if (!is_id_byte((uint8_t)id[i]))
            return false;
    return true;
}

static int
put(struct buf *words, const char *word)
{
    return buf_append(words, word, strlen(word) + 1);
}

/* -- what stays of the words -- */

static const struct dropped *
dropped_of(const struct native *n, const char *word)
{
    size_t len = strcspn(word, "=");
    for (const struct dropped *d = n->dropped; d->name; d++)
        if (strlen(d->name) == len && !memcmp(d->name, word, len))
            return d;
    return NULL;
}

/* How many words an option has that is dropped: its value may stand in its own. */
static size_t
words_of(const struct dropped *d, size_t argc, const char *const *argv, size_t i)
{
    bool has_next = i + 1 < argc && (d->takes == VALUE || argv[i + 1][0] != '-');
    return d->takes != NOTHING && !strchr(argv[i], '=') && has_next ? 2 : 1;
}

static bool
is_prompt(const struct turn_prompt *p, const char *const *word)
{
    return p->words && word >= p->words && word < p->words + p->word_count;
}

/* codex: "resume ID" of a command line that went on with a session already. */
static bool
is_verb(const struct native *n, const char *word)
{
    return (n->verb && !strcmp(n->verb, word)) ||
           (n->fork_verb && !strcmp(n->fork_verb, word));
}

/* How many words from there on do not stay; 0: it does. */
static size_t
gone(const struct native *n, size_t argc, const char *const *argv, size_t i,
     bool is_prompt_gone)
{
    const struct dropped *d = dropped_of(n, argv[i]);
    if (d && (is_prompt_gone || d->says != PROMPT))
        return words_of(d, argc, argv, i);
    if (!is_verb(n, argv[i]))
        return 0;
    return i + 1 < argc && turn_native_is_id(argv[i + 1]) ? 2 : 1;
}

/* "-": codex reads its prompt from standard input. */
static bool
is_mark(const char *word)
{
    return !strcmp(word, "--") || !strcmp(word, "-");
}

static void
put_kept(const struct native *n, const struct turn_prompt *p, size_t start, size_t argc,
         const char *const *argv, struct buf *words)
{
    for (size_t i = 0; i < argc;) {
        size_t skipped = is_prompt(p, argv + i) || (i >= start && is_mark(argv[i])) ? 1
                         : i < start                                                ? 0
                                     : gone(n, argc, argv, i, true);
        if (!skipped)
            put(words, argv[i]);
        i += skipped ? skipped : 1;
    }
}

static bool
is_asking(const struct turn_prompt *p)
{
    return p->from == TURN_PROMPT_NONE || p->from == TURN_PROMPT_LINES;
}

/* -- the words -- */

/* Interactive claude and codex take a prompt as a word, too, and is_asking() does not see
 * them: without -p a claude that has its prompt asks further. */
static bool
wants_prompt(const struct native *n, const struct turn_prompt *p, size_t argc,
             const char *const *argv)
{
    bool is_print = false;
    if (n->agent != TURN_CLAUDE || p->from == TURN_PROMPT_LINES)
        return !is_asking(p);
    for (size_t i = 0; i < argc; i++)
        is_print |= !strcmp(argv[i], "-p") || !strcmp(argv[i], "--print");
    return is_print;
}

int
turn_native_words(size_t argc, const char *const *argv, const char *id,
                  const char *prompt, bool is_fork, struct buf *words)
{
    enum turn_agent agent = TURN_AUTO;
    size_t start = turn_prompt_start(argc, argv, &agent);
    const struct native *n = start ? native_of(agent) : NULL;
    struct turn_prompt p = turn_prompt(argc, argv);
    const char *fork_verb = n && p.from == TURN_PROMPT_NONE ? n->fork_verb : NULL;
    if (!n || !turn_native_is_id(id) || (is_fork && !n->fork && !fork_verb))
        return ERR_MISSING;
    put_kept(n, &p, start, argc, argv, words);
    put(words, is_fork && fork_verb ? fork_verb : n->verb ? n->verb : n->resume);
    put(words, id);
    if (is_fork && n->fork)
        put(words, n->fork);
    if (prompt && wants_prompt(n, &p, argc, argv)) {
        if (n->asks)
            put(words, n->asks);
        put(words, prompt);
    }
    return words->failed;
}

/* "--prompt=TEXT": the name of the option stays. */
static void
put_own(struct buf *words, const char *word, const char *prompt)
{
    size_t n = strcspn(word, "=");
    buf_append(words, word, n + 1);
    put(words, prompt);
}

/* It asks its user, and this first. "--": there may be an option that takes all words. */
static void
put_first(const struct native *n, const char *prompt, struct buf *words)
{
    put(words, n->asks ? "--prompt-interactive" : "--");
    put(words, prompt);
}

int
turn_native_prompt(size_t argc, const char *const *argv, const char *prompt,
                   bool has_terminal, struct buf *words)
{
    enum turn_agent agent = TURN_AUTO;
    struct turn_prompt p = turn_prompt(argc, argv);
    size_t start = turn_prompt_start(argc, argv, &agent);
    const struct native *n = start ? native_of(agent) : NULL;
    if (!n)
        return ERR_MISSING;
    if (p.from == TURN_PROMPT_NONE || (p.from == TURN_PROMPT_STDIN && has_terminal)) {
        put_kept(n, &p, start, argc, argv, words);
        put_first(n, prompt, words);
        return words->failed;
    }
    for (size_t i = 0; i < argc;) {
        bool is_own = p.from == TURN_PROMPT_ARG && !p.words && p.text > argv[i] &&
                      p.text <= argv[i] + strlen(argv[i]);
        size_t skipped = i < start || is_prompt(&p, argv + i)
                             ? 0
                             : gone(n, argc, argv, i, false);
        if (is_own)
            put_own(words, argv[i], prompt);
        else if (is_prompt(&p, argv + i) && argv + i == p.words)
            put(words, prompt);
        else if (!skipped && !is_prompt(&p, argv + i))
            put(words, argv[i]);
        i += skipped ? skipped : 1;
    }
    return words->failed;
}

/* -- the id -- */

const char *
turn_native_id(size_t argc, const char *const *argv)
{
    enum turn_agent agent = TURN_AUTO;
    size_t start = turn_prompt_start(argc, argv, &agent);
    const struct native *n = start ? native_of(agent) : NULL;
    for (size_t i = start; n && i < argc; i++) {
        const struct dropped *d = dropped_of(n, argv[i]);
        const char *own = strchr(argv[i], '=');
        bool is_named = (d && d->says == ID) || is_verb(n, argv[i]);
        const char *id = own && d ? own + 1 : i + 1 < argc ? argv[i + 1] : "";
        if (is_named && turn_native_is_id(id))
            return id;
    }
    return NULL;
}

bool
turn_native_told(struct view line, enum turn_agent agent, struct buf *ret)
{
    const struct native *n = native_of(agent);
    const uint8_t *at = n && line.n ? memmem(line.p, line.n, n->tells, strlen(n->tells))
                                    : NULL;
    AUTO(buf) id = { .ceiling = ID_MAX + 1 };
    if (!at)
        return false;
    for (at += strlen(n->tells); at < line.p + line.n && is_id_byte(*at); at++)
        buf_append(&id, at, 1);
    if (id.failed || !turn_native_is_id(buf_str(&id)))
        return false;
    return buf_append(ret, id.p, id.n) == 0;
}
