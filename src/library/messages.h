/* SPDX-License-Identifier: MIT */
/*
 * messages.h -- what was said in a run, message by message: what it was sent, and what it
 * said.
 *
 * Of the last iteration, which is the one that may go on: each is a command of its own.
 * From io.log in its project; where that has nothing of it, from the events of the
 * session. A good message is never lost for what stands beside it.
 */
#ifndef LIBRARY_MESSAGES_H
#define LIBRARY_MESSAGES_H

#include <stdbool.h>

#include "base/auto.h"
#include "base/buf.h"
#include "session/lines.h"
#include "turn/event.h"

struct library_message {
    bool is_in;          /* the command was sent it; else it came out */
    enum turn_type type; /* of what came out */
    uint64_t ts_ns;
    size_t at, n; /* in the texts */
};

/* Zeroed it is ready for use. */
struct library_messages {
    struct buf messages; /* struct library_message, in their order */
    struct buf texts;
    uint64_t sent;      /* how many of them the command was sent */
    uint64_t iteration; /* 0: not known */
    bool is_masked;     /* something in what it was sent is a mask, not what was typed */
    struct session_unread unread;
    bool is_cut; /* an archived log could not be read to its end */
};

void library_messages_release(struct library_messages *t);
/* project: the run's folder there, or NULL; turns_path: the session's events, or NULL.
 * What came out is taken where fn says so. ERR_LIMIT: there is more than fits in
 * memory. */
int library_messages_read(struct library_messages *ret, const char *project,
                          const char *turns_path, bool (*counts)(enum turn_type type),
                          struct err *err);
size_t library_messages_count(const struct library_messages *t);
const struct library_message *library_messages_at(const struct library_messages *t,
                                                  size_t i);
struct view library_messages_text(const struct library_messages *t,
                                  const struct library_message *m);

#endif
