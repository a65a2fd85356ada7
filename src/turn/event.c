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
        .duration_ms = TURN_UNKNOWN,
        .turns = TURN_UNKNOWN,
        .cost_microusd = TURN_UNKNOWN,
        .exit_code = -1,
    };
}
