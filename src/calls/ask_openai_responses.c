/* SPDX-License-Identifier: MIT */
/* ask_openai_responses.c -- what the Responses API is asked: items, or one text. */
#include "calls/ask_priv.h"
#include "turn/content.h"
#include "turn/fields.h"

struct item {
    struct view type, role, content, id, call, name, arguments, input, action, output;
};

/* A text, or parts, each of which is told by itself, as replies tell them. */
static int
tell_message(struct ask_to *to, const struct item *i)
{
    bool is_user = !turn_is(i->role, "assistant");
    struct view parts = i->content;
    int r = 0;
    if (ask_is_set_up(i->role))
        return 0;
    if (parts.n && parts.p[0] == '"')
        return ask_tell_text(to, TURN_TEXT, is_user, turn_text(parts, &to->text[0]));
    while (r >= 0) {
        struct view type = { 0 }, text = { 0 };
        const struct turn_field wanted[] = { { "type", &type },
                                             { "text", &text },
                                             { "refusal", &text } };
        if (!turn_known_next(&parts, wanted, 3))
            break;
        r = text.n ? ask_tell_text(to, TURN_TEXT, is_user, turn_text(text, &to->text[0]))
                   : ask_tell_other(to, is_user, type);
    }
    return r;
}

/* Arguments are JSON in a string, text, or an object of the tool's own. */
static int
tell_call(struct ask_to *to, const struct item *i)
{
    struct view text = i->arguments.n ? i->arguments : i->input;
    if (!text.n)
        return ask_tell_call(to, i->call, i->name.n ? i->name : i->type, i->action);
    return ask_tell_call(to, i->call, i->name, turn_text(text, &to->text[3]));
}

static int
tell(struct ask_to *to, struct view message)
{
    struct item i = { 0 };
    const struct turn_field wanted[] = {
        { "type", &i.type },           { "role", &i.role },
        { "content", &i.content },     { "id", &i.id },
        { "call_id", &i.call },        { "name", &i.name },
        { "arguments", &i.arguments }, { "input", &i.input },
        { "action", &i.action },       { "output", &i.output },
    };
    if (message.n && message.p[0] == '"')
        return ask_tell_text(to, TURN_TEXT, true, turn_text(message, &to->text[0]));
    if (!turn_known_fields(message, wanted, sizeof(wanted) / sizeof(wanted[0])))
        return 0;
    if (turn_is(i.type, "message") || !i.type.n)
        return tell_message(to, &i);
    if (!i.call.n) /* what the API calls itself has no other */
        i.call = i.id;
    if (turn_ends_in(i.type, "call_output"))
        return ask_tell_result(to, i.call, i.output, false);
    if (turn_ends_in(i.type, "_call"))
        return tell_call(to, &i);
    return 0;
}

const struct ask_api ask_openai_responses = {
    .api = TURN_API_OPENAI_RESPONSES,
    .path = "/responses",
    .list = "input",
    .tell = tell,
};
