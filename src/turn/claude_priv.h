/* SPDX-License-Identifier: MIT */
/*
 * claude_priv.h -- Claude Code's stream-json: what the files of its decoder share.
 *
 * What is scratch: text[0] holds a text, text[1] and text[2] an id and a name, text[3]
 * the name of a type that is not known.
 */
#ifndef TURN_CLAUDE_PRIV_H
#define TURN_CLAUDE_PRIV_H

#include "turn/fields.h"
#include "turn/format_priv.h"

/* One line, and who speaks in it. */
struct claude_line {
    struct turn_state *s;
    const struct turn_sink *to;
    struct view parent; /* as text, in its lane; empty: the agent itself */
    struct turn_lane *lane;
    struct view *other; /* a part that is not known: what it is called */
};

/* -- claude.c -- */
/* "<what>/<kind>" is not known; kind is a raw value. */
int claude_other(struct claude_line *l, const char *what, struct view kind);
int claude_tell(const struct claude_line *l, struct turn_event *e);

/* -- claude_lane.c -- */
/* Finds, or makes, the lane of l->parent. */
int claude_lane_find(struct claude_line *l);
/* The message with this id (raw), of that model (raw), is being said from now on. */
int claude_lane_message(struct claude_line *l, struct view id, struct view model);
/* A piece; something whole; the end of what came in pieces. */
int claude_lane_piece(struct claude_line *l, enum turn_type type, struct view text);
int claude_lane_whole(struct claude_line *l, enum turn_type type, struct view text);
int claude_lane_stop(struct claude_line *l);
/* A usage object (raw) of the message; stop: why it has ended (raw), if it has. */
int claude_lane_usage(struct claude_line *l, struct view usage, struct view stop);
struct turn_usage claude_usage(struct view usage);

/* -- claude_blocks.c -- */
int claude_assistant(struct claude_line *l, struct view message);
int claude_user(struct claude_line *l, struct view message);

/* -- claude_sums.c -- */
/* Of a result, raw: the agent's own usage, that by model, and the cost. */
struct claude_sums {
    struct view usage, models, cost;
};
/* Usage, cost and models of a DONE. */
int claude_take_sums(struct turn_state *s, const struct claude_sums *told,
                     struct turn_event *e);

/* -- claude_pieces.c -- */
int claude_stream_event(struct claude_line *l, struct view event);

#endif
