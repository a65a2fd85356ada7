/* SPDX-License-Identifier: MIT */
/*
 * format_priv.h -- one stream format: a table entry, and what its decoder remembers.
 *
 * A new format is one file and one line in decoder.c's table.
 */
#ifndef TURN_FORMAT_PRIV_H
#define TURN_FORMAT_PRIV_H

#include "turn/decoder.h"

struct turn_sink {
    turn_event_fn fn;
    void *ctx;
};

/* What one of several that speak at the same time is saying (claude's sub-agents). */
struct turn_lane {
    struct buf parent;        /* the call in which it speaks; empty: the agent itself */
    struct buf message;       /* as below, of this one */
    struct buf said;          /* … */
    enum turn_type said_type; /* … */
    struct buf told;          /* what was told whole before its message came: hashes */
    struct turn_usage usage;  /* of that message, as far as it was told */
    bool is_final;            /* … and that is all */
    struct buf model;         /* which one says it, where that was told */
};

enum { TURN_LANES = 16 };

/* What a format knows of what came before; each uses what it needs. */
struct turn_state {
    struct turn_lane lanes[TURN_LANES];
    bool has_spoken;           /* since the last DONE */
    struct buf session, model; /* told already, so that it is told once */
    struct buf message;        /* id of the message that is being said */
    struct buf said;           /* of which so much was handed out in pieces */
    enum turn_type said_type;  /* TURN_TEXT or TURN_THINKING */
    struct buf calls;          /* ids and names of tool calls: a format's own layout */
    uint64_t turns, cost_microusd;
    struct turn_usage all; /* of all so far, where a DONE tells running sums */
    struct buf sums;       /* … of what: codex, its thread; claude, each model */
    struct buf text[4];    /* scratch: unescaped strings of the current event */
};

struct turn_format {
    enum turn_agent agent;
    /* Is this object, valid JSON whose "type" is `type` (unescaped), of this format, and
     * of no other? */
    bool (*is_mine)(struct view type, struct view object);
    /* The events of one object, which is valid JSON. A type that is not known: 0, and
     * *ret_other is what it is called ("system/status"; in s->text[3]); the caller makes
     * TURN_OTHER of it. */
    int (*decode)(struct turn_state *s, struct view object, const struct turn_sink *to,
                  struct view *ret_other);
    bool sums_go_on; /* they are of the agent's session, in whatever process */
};

extern const struct turn_format turn_format_claude, turn_format_codex, turn_format_gemini,
    turn_format_opencode;

#endif
