/* SPDX-License-Identifier: MIT */
/* ask.c -- what the messages of all APIs are made of. */
#include "calls/ask_priv.h"
#include "turn/content.h"
#include "turn/fields.h"

bool
ask_is_set_up(struct view role)
{
    return turn_is(role, "system") || turn_is(role, "developer");
}

/* A text that was lost looks empty. */
static int
failure(const struct ask_to *to)
{
    for (size_t i = 0; i < ASK_SCRATCH; i++)
        if (to->text[i].failed)
            return to->text[i].failed;
    return 0;
}

static int
tell(struct ask_to *to, const struct turn_event *e)
{
    int r = failure(to);
    return r < 0 ? r : to->tell(to->ctx, e);
}

int
ask_tell_text(struct ask_to *to, enum turn_type type, bool is_user, struct view text)
{
    struct turn_event e = turn_event(type);
    e.is_user = is_user;
    e.text = text;
    return text.n ? tell(to, &e) : failure(to);
}

int
ask_tell_other(struct ask_to *to, bool is_user, struct view type)
{
    struct buf *out = &to->text[0];
    buf_clear(out);
    buf_puts(out, "[");
    if (!turn_str(type, out))
        buf_puts(out, "?");
    buf_puts(out, "]");
    return ask_tell_text(to, TURN_TEXT, is_user, (struct view){ out->p, out->n });
}

int
ask_tell_call(struct ask_to *to, struct view id, struct view name, struct view json)
{
    struct turn_event e = turn_event(TURN_TOOL_CALL);
    e.id = turn_text(id, &to->text[1]);
    e.name = turn_text(name, &to->text[2]);
    e.json = json;
    return tell(to, &e);
}

int
ask_tell_result(struct ask_to *to, struct view id, struct view content, bool is_error)
{
    struct turn_event e = turn_event(TURN_TOOL_RESULT);
    e.id = turn_text(id, &to->text[1]);
    e.text = turn_content_text(content, &to->text[0]);
    e.is_error = is_error;
    return tell(to, &e);
}
