/* SPDX-License-Identifier: MIT */
/* event.c -- what the types of events are called. */
#include "turn/event.h"

#include <string.h>

static const char *const names[TURN_TYPES] = {
    [TURN_SESSION] = "session",
    [TURN_TEXT] = "text",
    [TURN_THINKING] = "thinking",
    [TURN_TOOL_CALL] = "tool_call",
    [TURN_TOOL_RESULT] = "tool_result",
    [TURN_USAGE] = "usage",
    [TURN_ERROR] = "error",
    [TURN_DONE] = "done",
    [TURN_WARNING] = "warning",
    [TURN_STDERR] = "stderr",
    [TURN_ARTIFACT] = "artifact",
    [TURN_EXIT] = "exit",
    [TURN_BRANCH] = "branch",
    [TURN_OTHER] = "other",
};

const char *
turn_type_name(enum turn_type type)
{
    return names[type];
}

int
turn_type_of(struct view name)
{
    for (int i = 0; i < TURN_TYPES; i++)
        if (strlen(names[i]) == name.n && !memcmp(names[i], name.p, name.n))
            return i;
    return -1;
}

struct turn_event
turn_event(enum turn_type type)
{
    return (struct turn_event){
        .type = type,
        .usage = TURN_NO_USAGE,
        .total = TURN_NO_USAGE,
        .duration_ms = TURN_UNKNOWN,
        .turns = TURN_UNKNOWN,
        .cost_microusd = TURN_UNKNOWN,
        .exit_code = -1,
        .from = TURN_UNKNOWN,
    };
}

enum turn_role
turn_role_of(const struct turn_event *e)
{
    if (e->type == TURN_TEXT)
        return e->is_user ? TURN_USER : TURN_ASSISTANT;
    if (e->type == TURN_THINKING || e->type == TURN_TOOL_CALL)
        return TURN_ASSISTANT;
    return e->type == TURN_TOOL_RESULT ? TURN_TOOL : TURN_NOBODY;
}

const char *
turn_role_name(enum turn_role role)
{
    static const char *const roles[] = {
        [TURN_USER] = "user",
        [TURN_ASSISTANT] = "assistant",
        [TURN_TOOL] = "tool",
    };
    return roles[role];
}

uint64_t *
turn_usage_field(struct turn_usage *u, size_t i)
{
    uint64_t *const fields[TURN_USAGE_FIELDS] = { &u->input_tokens, &u->output_tokens,
                                                  &u->cache_creation_tokens,
                                                  &u->cache_read_tokens };
    return fields[i];
}

bool
turn_usage_is_told(struct turn_usage u)
{
    bool is_told = false;
    for (size_t i = 0; i < TURN_USAGE_FIELDS; i++)
        is_told |= *turn_usage_field(&u, i) != TURN_UNKNOWN;
    return is_told;
}
