/* SPDX-License-Identifier: MIT */
/* ask_openai_chat.c -- what the Chat Completions API is asked, and servers that speak it.
 */
#include "calls/ask_priv.h"
#include "turn/content.h"
#include "turn/fields.h"

/* What is called; nothing for what is no object. */
static int
tell_function(struct ask_to *to, struct view id, struct view function)
{
    struct view name = { 0 }, arguments = { 0 };
    const struct turn_field wanted[] = { { "name", &name },
                                         { "arguments", &arguments },
                                         { "input", &arguments } };
    if (!turn_known_fields(function, wanted, 3))
        return 0;
    return ask_tell_call(to, id, name, turn_text(arguments, &to->text[3]));
}

static int
tell_call(struct ask_to *to, struct view call)
{
    struct view id = { 0 }, function = { 0 };
    const struct turn_field wanted[] = { { "id", &id },
                                         { "function", &function },
                                         { "custom", &function } };
    (void)turn_known_fields(call, wanted, 3);
    return tell_function(to, id, function);
}

static int
tell(struct ask_to *to, struct view message)
{
    struct view role = { 0 }, content = { 0 }, calls = { 0 }, id = { 0 }, call;
    struct view thought = { 0 }, function = { 0 }, none = { 0 };
    const struct turn_field wanted[] = {
        { "role", &role },
        { "content", &content },
        { "tool_calls", &calls },
        { "tool_call_id", &id },
        { "reasoning_content", &thought },
        { "function_call", &function },
    };
    if (!turn_known_fields(message, wanted, sizeof(wanted) / sizeof(wanted[0])) ||
        ask_is_set_up(role))
        return 0;
    if (turn_is(role, "tool") || turn_is(role, "function"))
        return ask_tell_result(to, id, content, false);
    bool is_user = !turn_is(role, "assistant");
    int r = is_user ? 0
                    : ask_tell_text(to, TURN_THINKING, false,
                                    turn_text(thought, &to->text[0]));
    if (r >= 0)
        r = ask_tell_text(to, TURN_TEXT, is_user,
                          turn_content_text(content, &to->text[0]));
    while (r >= 0 && turn_next(&calls, &call))
        r = tell_call(to, call);
    return r < 0 ? r : tell_function(to, none, function); /* as there was but one */
}

const struct ask_api ask_openai_chat = {
    .api = TURN_API_OPENAI_CHAT,
    .path = "/chat/completions",
    .list = "messages",
    .tell = tell,
};
