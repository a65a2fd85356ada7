/* SPDX-License-Identifier: MIT */
/* again_context.c -- the short account of what has happened, for who starts afresh. */
#include <limits.h>
#include <string.h>

#include "cli/again.h"
#include "cli/recall.h"
#include "play/turns.h"
#include "session/folder.h"
#include "turn/context.h"

/* The turns of a fork are counted by what the command was sent. */
struct telling {
    struct turn_context *context;
    const struct cli_again *a;
    size_t next;   /* message, from here on */
    uint64_t sent; /* turns that have begun */
};

/* Does the next turn begin with it? It may be a piece of what was sent. */
static bool
is_next_sent(struct telling *t, const struct turn_event *e)
{
    const struct library_messages *all = &t->a->messages;
    while (t->next < library_messages_count(all) &&
           !library_messages_at(all, t->next)->is_in)
        t->next++;
    if (e->type != TURN_TEXT || !e->is_user || e->is_partial ||
        t->next == library_messages_count(all))
        return false;
    struct view v = library_messages_text(all, library_messages_at(all, t->next));
    bool is_it = v.n >= e->text.n && (!v.n || !memcmp(v.p, e->text.p, e->text.n));
    t->next += is_it;
    return is_it;
}

/* A play_turn_fn. */
static int
add_event(void *ctx, const struct turn_event *e, const struct turn_stamp *at)
{
    struct telling *t = ctx;
    const struct library_messages *all = &t->a->messages;
    if (at->is_aside)
        return 0;
    if (t->a->turns != UINT64_MAX) {
        if (all->iteration && at->iteration != all->iteration)
            return 0;
        t->sent += is_next_sent(t, e);
        if (t->sent > t->a->turns)
            return 0;
    }
    return turn_context_add(t->context, e);
}

static int
add_text(struct turn_context *c, bool is_user, struct view text)
{
    struct turn_event e = turn_event(TURN_TEXT);
    e.is_user = is_user;
    e.text = text;
    return text.n ? turn_context_add(c, &e) : 0;
}

/* What is left of a run of another tool: its texts. */
static int
add_messages(struct turn_context *c, const struct cli_again *a)
{
    const struct library_messages *t = &a->messages;
    uint64_t sent = 0;
    int r = 0;
    for (size_t i = 0; !r && i < library_messages_count(t); i++) {
        const struct library_message *m = library_messages_at(t, i);
        sent += m->is_in;
        if (sent > a->turns)
            break;
        if (m->type == TURN_TEXT)
            r = add_text(c, m->is_in, library_messages_text(t, m));
    }
    return r;
}

static int
add_screen(struct turn_context *c, struct cli_again *a)
{
    AUTO(buf) asked = { 0 };
    struct turn_prompt p = turn_prompt(cli_recall_count(a->command),
                                       (const char *const *)a->command);
    int r = p.from == TURN_PROMPT_ARG ? turn_prompt_text(&p, &asked) : 0;
    if (!r)
        r = add_text(c, true, (struct view){ asked.p, asked.n });
    for (size_t at = 0; !r && at < a->screen.n;) {
        const uint8_t *p0 = a->screen.p + at, *end = memchr(p0, '\n', a->screen.n - at);
        size_t n = end ? (size_t)(end - p0) : a->screen.n - at;
        r = add_text(c, false, (struct view){ p0, n });
        at += n + 1;
    }
    return r;
}

/* All of it, or the turns of a fork alone. */
static int
add_all(struct turn_context *c, struct cli_again *a, struct err *err)
{
    AUTO(buf) path = { .ceiling = PATH_MAX };
    struct telling t = { .context = c, .a = a };
    const struct play_turns_options opt = { .has_asides = true,
                                            .fn = add_event,
                                            .ctx = &t };
    if (!a->is_run)
        return add_screen(c, a);
    if (!*a->found.id)
        return add_messages(c, a);
    int r = session_sibling_path(buf_str(&a->found.tape_path), SESSION_TURNS, &path);
    if (!r)
        r = play_turns_read(buf_str(&path), &opt, err);
    return r == ERR_MISSING || r == ERR_DAMAGED ? add_messages(c, a) : r;
}

int
cli_again_context(struct cli_again *a, struct buf *ret, struct err *err)
{
    struct turn_context *c;
    int r = turn_context_new(&c, (size_t)a->args->context_bytes);
    if (!r) {
        r = add_all(c, a, err);
        if (!r)
            r = turn_context_make(c, a->args->prompt, ret);
        turn_context_free(c);
    }
    return r == ERR_MISSING ? 0 : r < 0 ? r : 1;
}
