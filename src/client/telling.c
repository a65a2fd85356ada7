/* SPDX-License-Identifier: MIT */
#include "client/telling_priv.h"

#include <stdlib.h>

#include "base/clock.h"
#include "client/client_priv.h"
#include "client/typing.h"

#define NS_A_MS     1000000ULL
#define PASTE_BEGIN "\033[200~"
#define PASTE_END   "\033[201~"

void
telling_add(struct client *c, const struct tui_wish *wish)
{
    struct telling *t = calloc(1, sizeof(*t)), **at = &c->telling;
    if (!t || buf_append(&t->text, wish->text.p, wish->text.n) < 0) {
        free(t);
        client_tell(c, "no memory: the instruction was not noted");
        return;
    }
    t->wish = *wish;
    t->wish.text = (struct view){ t->text.p, t->text.n };
    if (t->wish.anchor_byte == PLAY_NONE) /* what was seen when it was written */
        t->wish.anchor_byte = c->show.next_off;
    while (*at)
        at = &(*at)->next;
    *at = t;
}

static void
drop_first(struct client *c)
{
    struct telling *t = c->telling;
    c->telling = t->next;
    buf_release(&t->text);
    free(t);
}

void
telling_release(struct client *c)
{
    while (c->telling)
        drop_first(c);
}

/* -- typing -- */

static void
enter_state(struct client *c, enum telling_state state, uint64_t now_ns)
{
    struct telling *t = c->telling;
    t->state = state;
    t->since_ns = now_ns;
    t->taken = c->typed;
}

/* Lines in a paste are no Enter. */
static void
type_text(struct client *c, struct view text)
{
    const struct term *term = c->show.model.term;
    bool is_paste = term && term_modes(term).bracketed_paste &&
                    memchr(text.p, '\n', text.n);
    if (is_paste)
        client_type_text(c, PASTE_BEGIN);
    client_type_bytes(c, text);
    if (is_paste)
        client_type_text(c, PASTE_END);
}

static void
note(struct client *c, bool is_delivered)
{
    c->telling->wish.is_typed = is_delivered;
    client_note(c, &c->telling->wish);
    drop_first(c);
}

static uint64_t
patience_ns(const struct telling *t)
{
    return (t->state == TELLING_PAUSE ? CLIENT_TYPING_PAUSE_MS
                                      : CLIENT_TYPING_PATIENCE_MS) *
           NS_A_MS;
}

static void
give_up(struct client *c)
{
    if (c->telling->state == TELLING_TEXT)
        client_type_text(c, "\r");
    note(c, false);
    client_tell(c, "the program has not read it yet: noted as not delivered");
}

/* One step of the first one; false: there is none to be done now. */
static bool
advance(struct client *c, uint64_t now_ns)
{
    struct telling *t = c->telling;
    bool is_late = t && now_ns - t->since_ns >= patience_ns(t);
    if (!t)
        return false;
    switch (t->state) {
    case TELLING_WAITS:
        type_text(c, t->wish.text);
        enter_state(c, TELLING_TEXT, now_ns);
        return true;
    case TELLING_PAUSE:
        if (!is_late)
            return false;
        client_type_text(c, "\r");
        enter_state(c, TELLING_ENTER, now_ns);
        return true;
    case TELLING_TEXT:
    case TELLING_ENTER:
        if (c->taken < t->taken && !is_late)
            return false;
        if (c->taken < t->taken)
            give_up(c);
        else if (t->state == TELLING_TEXT)
            enter_state(c, TELLING_PAUSE, now_ns);
        else
            note(c, true);
        return true;
    }
    return false;
}

void
telling_step(struct client *c, uint64_t now_ns)
{
    while (!c->has_ended && advance(c, now_ns))
        continue;
}

int
telling_wait_ms(const struct client *c, uint64_t now_ns)
{
    const struct telling *t = c->telling;
    if (!t || c->has_ended)
        return -1;
    uint64_t due_ns = t->state == TELLING_WAITS ? now_ns : t->since_ns + patience_ns(t);
    return due_ns <= now_ns ? 0 : (int)((due_ns - now_ns + NS_A_MS - 1) / NS_A_MS);
}

void
telling_finish(struct client *c)
{
    for (const struct telling *t; (t = c->telling);)
        note(c, t->state == TELLING_ENTER && c->taken >= t->taken);
}
