/* SPDX-License-Identifier: MIT */
/*
 * context.h -- a conversation made small enough to be told again, as the first message of
 * a session that starts afresh: what was asked, what was decided, which files were
 * touched, what was said last.
 *
 * Pure. Never more than the ceiling, however long the conversation: of what does not fit
 * the beginning of the task, the latest decisions, the latest files and the last messages
 * stay, and it says that there was more.
 */
#ifndef TURN_CONTEXT_H
#define TURN_CONTEXT_H

#include "turn/event.h"

enum {
    TURN_CONTEXT_MIN = 4 << 10,
    TURN_CONTEXT_MAX = 96 << 10, /* so that it may be one word of a command line */
    TURN_CONTEXT_BYTES = 24 << 10,
};

struct turn_context;

/* max: bytes of the text that will be made, from TURN_CONTEXT_MIN to _MAX. */
int turn_context_new(struct turn_context **ret, size_t max);
void turn_context_free(struct turn_context *c);
/* Each event, in its order. */
int turn_context_add(struct turn_context *c, const struct turn_event *e);
/* Appends the text, UTF-8 without control characters; instruction: what the agent is to
 * do now, NULL: to go on. ERR_MISSING: nothing was said at all. */
int turn_context_make(struct turn_context *c, const char *instruction, struct buf *out);

#endif
