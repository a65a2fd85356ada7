/* SPDX-License-Identifier: MIT */
#include "cli/filters.h"

#include <stdlib.h>
#include <strings.h>

enum { NAMED_MAX = 8 }; /* words that there are, and are told */

/* What a variable says is meant for `ahr run`, which has these options, too. */
static const char *
asked(const char *value, const char *variable)
{
    return value && value != getenv(variable) ? value : NULL;
}

static const char *
role_of(const struct cli_filters *f)
{
    return asked(f->role, "AHR_ROLE");
}

static const char *
agent_of(const struct cli_filters *f)
{
    return asked(f->agent, "AHR_AGENT");
}

static enum turn_role
turn_role(const char *word)
{
    for (enum turn_role r = TURN_USER; word && r <= TURN_TOOL; r++)
        if (!strcasecmp(word, turn_role_name(r)))
            return r;
    return TURN_NOBODY;
}

int
cli_filters_take(const struct cli_filters *f, struct library_search *search,
                 struct err *err)
{
    const char *role = role_of(f);
    const char *empty = role && !*role              ? "role"
                        : f->tool && !*f->tool      ? "tool"
                        : agent_of(f) && !*f->agent ? "agent"
                                                    : NULL;
    if (empty)
        return err_set(err, ERR_USAGE, "--%s needs a word", empty);
    search->role = turn_role(role);
    search->session_role = search->role ? NULL : role;
    search->agent = agent_of(f);
    if (f->tool)
        search->tool = (struct view){ (const uint8_t *)f->tool, strlen(f->tool) };
    bool is_of_turns = search->role || f->tool;
    search->in = f->in >= 0    ? (enum library_in)f->in
                 : is_of_turns ? LIBRARY_IN_TURNS
                               : LIBRARY_IN_ALL;
    if (is_of_turns && search->in == LIBRARY_IN_TERMINAL)
        return err_set(err, ERR_USAGE,
                       "a terminal's rows have no %s; leave out --in terminal",
                       f->tool ? "tool" : "speaker");
    if (is_of_turns)
        search->in = LIBRARY_IN_TURNS;
    return 0;
}

/* -- what there is -- */

struct words {
    const char *wanted;
    bool is_there;
    size_t count;
    struct buf text;
};

/* A store_word_fn. */
static int
take_word(void *ctx, const char *word)
{
    struct words *w = ctx;
    w->is_there = w->is_there || !strcasecmp(w->wanted, word);
    if (w->count++ >= NAMED_MAX)
        return !w->is_there;
    buf_puts(&w->text, w->count > 1 ? ", '" : "'");
    buf_puts(&w->text, word);
    buf_puts(&w->text, "'");
    return !w->is_there;
}

static void
tell(const struct cli_command *self, struct store *s, enum store_word which,
     const char *wanted, const char *what)
{
    struct words w = { .wanted = wanted };
    AUTO(buf) asked_for = { 0 };
    struct err ignored;
    if (wanted && s && store_words(s, which, take_word, &w, &ignored) >= 0 &&
        !w.is_there && buf_puts(&asked_for, wanted) >= 0 &&
        buf_append(&asked_for, "", 1) >= 0 && buf_append(&w.text, "", 1) >= 0) {
        const char *there = cli_clean((char *)w.text.p);
        cli_say(self, "no %s '%s' is in the library%s%s%s", what,
                cli_clean((char *)asked_for.p), *there ? "; there are " : "", there,
                w.count > NAMED_MAX ? ", …" : "");
    }
    buf_release(&w.text);
}

void
cli_filters_tell(const struct cli_filters *f, const struct cli_command *self,
                 struct store *s)
{
    const char *role = role_of(f);
    tell(self, s, STORE_AGENT, agent_of(f), "session of the agent");
    tell(self, s, STORE_ROLE, turn_role(role) ? NULL : role, "session of the role");
    tell(self, s, STORE_TOOL, f->tool, "call of the tool");
}
