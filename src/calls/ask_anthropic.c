/* SPDX-License-Identifier: MIT */
/* ask_anthropic.c -- what the Messages API is asked. */
#include "calls/ask_priv.h"
#include "turn/fields.h"

struct block {
    struct view type, text, thinking, id, name, input, call, content, is_error;
};

static bool
next_block(struct view *rest, struct block *b)
{
    *b = (struct block){ 0 };
    const struct turn_field wanted[] = {
        { "type", &b->type },         { "text", &b->text },
        { "thinking", &b->thinking }, { "id", &b->id },
        { "name", &b->name },         { "input", &b->input },
        { "tool_use_id", &b->call },  { "content", &b->content },
        { "is_error", &b->is_error },
    };
    return turn_known_next(rest, wanted, sizeof(wanted) / sizeof(wanted[0]));
}

static int
tell_block(struct ask_to *to, const struct block *b, bool is_user)
{
    if (turn_is(b->type, "text"))
        return ask_tell_text(to, TURN_TEXT, is_user, turn_text(b->text, &to->text[0]));
    if (turn_is(b->type, "thinking"))
        return ask_tell_text(to, TURN_THINKING, false,
                             turn_text(b->thinking, &to->text[0]));
    if (turn_is(b->type, "redacted_thinking"))
        return 0;
    if (turn_ends_in(b->type, "tool_use"))
        return ask_tell_call(to, b->id, b->name, b->input);
    if (turn_ends_in(b->type, "tool_result"))
        return ask_tell_result(to, b->call, b->content, turn_is_true(b->is_error));
    return ask_tell_other(to, is_user, b->type);
}

static int
tell(struct ask_to *to, struct view message)
{
    struct view role = { 0 }, content = { 0 };
    const struct turn_field wanted[] = { { "role", &role }, { "content", &content } };
    if (!turn_known_fields(message, wanted, 2) || ask_is_set_up(role))
        return 0;
    bool is_user = !turn_is(role, "assistant");
    if (content.n && content.p[0] == '"')
        return ask_tell_text(to, TURN_TEXT, is_user, turn_text(content, &to->text[0]));
    struct block b;
    int r = 0;
    while (r >= 0 && next_block(&content, &b))
        r = tell_block(to, &b, is_user);
    return r;
}

const struct ask_api ask_anthropic = {
    .api = TURN_API_ANTHROPIC,
    .path = "/messages",
    .list = "messages",
    .tell = tell,
};
