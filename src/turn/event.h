/* SPDX-License-Identifier: MIT */
/*
 * event.h -- what an agent does, as one kind of event whatever agent it is.
 *
 * Pure. All texts are borrowed until the one who handed the event over is called again;
 * an empty view: none. Texts are as the agent gave them: not masked, and with whatever
 * bytes are in them.
 */
#ifndef TURN_EVENT_H
#define TURN_EVENT_H

#include <stdbool.h>

#include "base/buf.h"

enum turn_type {
    TURN_SESSION, /* the agent has begun, or told its model */
    TURN_TEXT,    /* what the assistant, or the user, says */
    TURN_THINKING,
    TURN_TOOL_CALL,
    TURN_TOOL_RESULT,
    TURN_USAGE, /* of one message of the model's */
    TURN_ERROR,
    TURN_DONE, /* the agent has answered */
    /* What no agent says: */
    TURN_WARNING,  /* malformed JSON, say */
    TURN_STDERR,   /* a line of its standard error */
    TURN_ARTIFACT, /* a file was made, changed or removed */
    TURN_EXIT,     /* the command has ended */
    TURN_BRANCH,   /* what follows goes on behind an earlier event */
    TURN_OTHER,    /* an event of a type that is not known */
};

enum { TURN_TYPES = TURN_OTHER + 1 };
#define TURN_UNKNOWN UINT64_MAX

/* "tool_call"; and back, -1 for another word. */
const char *turn_type_name(enum turn_type type);
int turn_type_of(struct view name);

/* TURN_UNKNOWN each: not told. input_tokens are without the cached ones. */
struct turn_usage {
    uint64_t input_tokens, output_tokens, cache_creation_tokens, cache_read_tokens;
};

#define TURN_NO_USAGE                                          \
    (struct turn_usage)                                        \
    {                                                          \
        TURN_UNKNOWN, TURN_UNKNOWN, TURN_UNKNOWN, TURN_UNKNOWN \
    }

/* Each of them, from 0. */
enum { TURN_USAGE_FIELDS = 4 };
uint64_t *turn_usage_field(struct turn_usage *u, size_t i);
/* Is any of them known? */
bool turn_usage_is_told(struct turn_usage u);

struct turn_event {
    enum turn_type type;
    /* TEXT and THINKING: a piece of what is still being said; the whole comes as one more
     * event with the same id and without this. TOOL_CALL of a model's API: the first has
     * its name, the next a piece of its arguments each. */
    bool is_partial;
    bool is_user;     /* TEXT: the user's, not the assistant's */
    bool is_error;    /* TOOL_RESULT, DONE: it failed */
    bool was_cut_off; /* TEXT, THINKING, TOOL_CALL: never told whole; what there was of it
                       */
    bool is_final;    /* USAGE: nothing more is used by that message; else it is a lower
                         bound */
    /* SESSION: the agent's session id. TEXT, THINKING, USAGE: of the message. TOOL_CALL,
     * TOOL_RESULT: of the call. DONE: the agent's session id, where there is a total. */
    struct view id;
    struct view message; /* TOOL_CALL that is whole: in which it stands */
    struct view parent;  /* the tool call in which it happens (of a sub-agent) */
    struct view name; /* TOOL_CALL, and TOOL_RESULT where it is known: the tool. DONE: how
                         ("success"). ARTIFACT: created, modified or deleted. OTHER: its
                         type ("system/status"). EXIT: the session's status. SESSION: the
                         command line, of a session that is no agent's. ERROR: of which
                         kind, where a model's API says so ("overloaded_error") */
    struct view text; /* the text; a result; why; a line; an artifact's path */
    struct view json; /* TOOL_CALL: its arguments. OTHER: all of it. THINKING of a model's
                         API: what proves it, {"signature":…}. JSON as it came. DONE: its
                         usage by model, {"<model>":{"input_tokens":…},…} */
    struct view model, cwd;  /* SESSION; model: also USAGE */
    struct turn_usage usage; /* USAGE, DONE */
    struct turn_usage total; /* DONE: what that session has used since it was begun, in
                                whatever process */
    uint64_t duration_ms, turns, cost_microusd; /* DONE (EXIT: the first); TURN_UNKNOWN */
    int exit_code;      /* EXIT, and TOOL_RESULT where it is known; < 0: none */
    struct view signal; /* EXIT */
    uint64_t from;      /* BRANCH: behind the event of that number; 0: at the beginning */
};

/* One of which nothing is known but its type. */
struct turn_event turn_event(enum turn_type type);

/* Who says it: TEXT, THINKING and TOOL_CALL are the assistant's or the user's, a
 * TOOL_RESULT is the tool's. */
enum turn_role { TURN_NOBODY, TURN_USER, TURN_ASSISTANT, TURN_TOOL };
enum turn_role turn_role_of(const struct turn_event *e);
/* "user"; NULL for nobody. */
const char *turn_role_name(enum turn_role role);

/* An error (< 0) that it returns ends the reading and is returned. */
typedef int (*turn_event_fn)(void *ctx, const struct turn_event *e);

#endif
