/* SPDX-License-Identifier: MIT */
/*
 * talk.h -- the conversation in what went over the wire.
 *
 * Calls in the order in which their lines were written become the events of turn/event.h:
 * what is new in a request (a conversation is sent again with each call), and what was
 * replied. The same calls always make the same events: whoever was killed between writing
 * the one and the other makes the rest anew. Pure.
 */
#ifndef CALLS_TALK_H
#define CALLS_TALK_H

#include "turn/event.h"

struct calls_talk;

int calls_talk_new(struct calls_talk **ret);
void calls_talk_free(struct calls_talk *t);
/*
 * A request's body is complete: the messages that no call before it had. A message of the
 * assistant's that a recorded call has replied is not told again. What is no request of
 * an API that is known says nothing. `path` is the URL's.
 */
int calls_talk_request(struct calls_talk *t, uint64_t call, struct view path,
                       struct view body, turn_event_fn fn, void *ctx);
/* The call has ended: what was replied (all events' bytes, or the body), whole messages
 * only, with its TURN_USAGE; a TURN_ERROR where it failed. status: HTTP's; 0: no reply.
 * `error`: why it broke off; empty: it did not. */
struct calls_talk_reply {
    uint64_t call;
    unsigned status;
    bool is_stream;
    struct view bytes, error;
};
int calls_talk_reply(struct calls_talk *t, const struct calls_talk_reply *r,
                     turn_event_fn fn, void *ctx);

#endif
