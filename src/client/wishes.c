/* SPDX-License-Identifier: MIT */
/* wishes.c -- what the user asks of the viewer that the viewer cannot do, and what the
 * host says to it. */
#include <inttypes.h>

#include "base/clock.h"
#include "client/client_priv.h"

void
client_tell(struct client *c, const char *text)
{
    if (c->show.look.viewer)
        tui_viewer_tell(c->show.look.viewer, text, clock_mono_ns());
}

static void
tell_refused(struct client *c, const char *why)
{
    if (c->show.look.viewer)
        tui_viewer_refused(c->show.look.viewer, why, clock_mono_ns());
}

/* -- requests -- */

static const char busy[] = "the recorder has not answered yet: try again";

/* Those that are being typed will ask, too. */
static bool
is_full(const struct client *c)
{
    size_t n = c->asked_count;
    for (const struct telling *t = c->telling; t; t = t->next)
        n++;
    return n >= CLIENT_ASKED_MAX;
}

/* There is room for one more. */
static struct client_request *
ask(struct client *c, enum client_asked what, struct ipc_message m)
{
    struct client_request *r = &c->asked[c->asked_count++];
    *r = (struct client_request){ .what = what };
    client_say(c, m);
    return r;
}

/* The oldest one has its answer. */
static void
drop_asked(struct client *c)
{
    buf_release(&c->asked[0].text);
    memmove(c->asked, c->asked + 1, --c->asked_count * sizeof(c->asked[0]));
}

void
client_release_asked(struct client *c)
{
    while (c->asked_count)
        drop_asked(c);
}

bool
client_take_answer(struct client *c, const struct ipc_message *m)
{
    static const char *const done[] = {
        [CLIENT_ASKED_SNAPSHOT] = "snapshot taken",
        [CLIENT_ASKED_INSTRUCT] = "instruction noted",
        [CLIENT_ASKED_TYPED] = "instruction typed and noted",
        [CLIENT_ASKED_STOP] = "the session is told to stop",
    };
    AUTO(buf) why = { 0 };
    if (!c->asked_count)
        return false;
    enum client_asked what = c->asked[0].what;
    drop_asked(c);
    buf_append(&why, m->bytes.p, m->bytes.n);
    if (m->selector == IPC_DONE)
        client_tell(c, done[what]);
    else if (what == CLIENT_ASKED_INSTRUCT)
        tell_refused(c, buf_str(&why));
    else
        client_tell(c, buf_str(&why));
    events_expire(&c->show.look.events);
    return true;
}

/* -- instructions -- */

/* Whoever still looks has it in the next draft; else it is said when the terminal is
 * free. */
static void
tell_unnoted(struct client *c, const struct tui_wish *wish, const char *why)
{
    if (c->lingers)
        tell_refused(c, why);
    else
        buf_printf(&c->unnoted, "%san instruction is not noted (%s): %.*s",
                   c->unnoted.n ? "\n" : "", why, (int)wish->text.n,
                   (const char *)wish->text.p);
}

/* Where there is no host any more. */
static void
note_after_end(struct client *c, const struct tui_wish *wish)
{
    struct tui_wish w = *wish;
    struct play_event ignored;
    struct err err;
    if (w.anchor_byte == PLAY_NONE)
        w.anchor_byte = c->show.next_off;
    int r = c->opt->instruct ? c->opt->instruct(c->opt->ctx, &w, &ignored, &err)
                             : err_set(&err, ERR_MISSING, "there is no place for it");
    if (r < 0)
        tell_unnoted(c, wish, err.text);
    else
        client_tell(c, "instruction noted");
    events_expire(&c->show.look.events);
}

void
client_note(struct client *c, const struct tui_wish *wish)
{
    if (c->has_ended) {
        note_after_end(c, wish);
        return;
    }
    struct client_request *r = ask(
        c, wish->is_typed ? CLIENT_ASKED_TYPED : CLIENT_ASKED_INSTRUCT,
        (struct ipc_message){
            .selector = IPC_INSTRUCT,
            .field = { wish->anchor_byte, wish->snapshot_id, wish->row, wish->is_typed },
            .bytes = wish->text });
    r->wish = *wish;
    buf_append(&r->text, wish->text.p, wish->text.n);
    r->wish.text = (struct view){ r->text.p, r->text.n };
}

/* The host answers what it has taken before it tells of the end. */
void
client_note_unanswered(struct client *c, bool is_known)
{
    for (; c->asked_count; drop_asked(c)) {
        const struct client_request *r = &c->asked[0];
        if (!r->text.n)
            continue;
        if (is_known)
            note_after_end(c, &r->wish);
        else
            tell_unnoted(c, &r->wish, "or it is: the recorder has not said so");
    }
}

static void
instruct(struct client *c, const struct tui_wish *wish)
{
    struct tui_wish untyped = *wish;
    untyped.is_typed = false;
    if (wish->text.n > IPC_MESSAGE_BYTES_MAX)
        tell_refused(c, "the instruction is too long");
    else if (!c->has_ended && is_full(c))
        tell_refused(c, busy);
    else if (wish->is_typed && !c->has_ended)
        telling_add(c, wish);
    else
        client_note(c, &untyped);
}

/* -- wishes -- */

static void
snapshot(struct client *c, const struct tui_wish *wish)
{
    ask(c, CLIENT_ASKED_SNAPSHOT,
        (struct ipc_message){ .selector = IPC_SNAPSHOT_MANUAL,
                              .field = { clock_id() },
                              .bytes = wish->text });
}

static void
stop(struct client *c)
{
    struct ipc_message m = { .selector = IPC_STOP, .field = { SIGTERM } };
    if (c->opt->kind == CLIENT_RECORD) /* its own client is not answered */
        client_say(c, m);
    else
        ask(c, CLIENT_ASKED_STOP, m);
}

static void
leave(struct client *c)
{
    if (c->has_ended)
        client_stop_lingering(c);
    else
        client_detach(c, 0);
}

static void
edit(struct client *c, const struct tui_wish *wish)
{
    AUTO(buf) path = { 0 };
    buf_append(&path, wish->text.p, wish->text.n);
    client_edit(c, buf_str(&path), wish->row == UINT32_MAX ? 0 : wish->row);
}

/* Is it for the session, and can it not be had? Then that is told. */
static bool
is_refused(struct client *c, enum tui_wish_kind kind)
{
    bool is_for_session = kind == TUI_WISH_SNAPSHOT || kind == TUI_WISH_STOP ||
                          kind == TUI_WISH_INSTRUCT;
    bool is_answered = kind == TUI_WISH_SNAPSHOT ||
                       (kind == TUI_WISH_STOP && c->opt->kind != CLIENT_RECORD);
    if (is_for_session && c->opt->kind == CLIENT_WATCH)
        client_tell(c, "a watcher only looks");
    else if (is_for_session && kind != TUI_WISH_INSTRUCT && c->has_ended)
        client_tell(c, "the session has ended");
    else if (is_answered && is_full(c))
        client_tell(c, busy);
    else
        return false;
    return true;
}

static void
grant(struct client *c, const struct tui_wish *wish)
{
    if (is_refused(c, wish->kind))
        return;
    switch (wish->kind) {
    case TUI_WISH_SNAPSHOT:
        snapshot(c, wish);
        break;
    case TUI_WISH_INSTRUCT:
        instruct(c, wish);
        break;
    case TUI_WISH_REMEMBER:
        if (c->opt->remember)
            c->opt->remember(c->opt->ctx, wish->is_typed);
        break;
    case TUI_WISH_STOP:
        stop(c);
        break;
    case TUI_WISH_DETACH:
    case TUI_WISH_LEAVE:
        leave(c);
        break;
    case TUI_WISH_SUSPEND:
        client_suspend_job(c);
        break;
    case TUI_WISH_EDITOR:
        edit(c, wish);
        break;
    }
}

void
client_take_wishes(struct client *c)
{
    struct tui_wish wish;
    while (c->show.look.viewer && !c->is_done &&
           tui_viewer_wish(c->show.look.viewer, &wish))
        grant(c, &wish);
}
