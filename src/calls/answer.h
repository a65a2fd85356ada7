/* SPDX-License-Identifier: MIT */
/*
 * answer.h -- what was replied to a call, as events of turn/event.h: whole messages, and
 * what they have used; an error where there is one. Pure.
 */
#ifndef CALLS_ANSWER_H
#define CALLS_ANSWER_H

#include "turn/event.h"
#include "turn/reply.h"

enum { CALLS_ANSWER_MAX = 16 << 20 }; /* bytes of a reply that are looked at at once */

struct calls_answer;

/* api TURN_API_AUTO: the call is none of a conversation, and says nothing; its facts are
 * told all the same. status: of HTTP. */
int calls_answer_new(struct calls_answer **ret, enum turn_api api, unsigned status,
                     bool is_stream);
void calls_answer_free(struct calls_answer *a);
/* What the reply says, as it comes: of a stream, whole events. */
int calls_answer_feed(struct calls_answer *a, struct view bytes, turn_event_fn fn,
                      void *ctx);
/* Nothing follows. error: why it broke off, or could not be had; empty: it did not. */
int calls_answer_end(struct calls_answer *a, struct view error, turn_event_fn fn,
                     void *ctx);
/* Has the model said anything yet? */
bool calls_answer_has_begun(const struct calls_answer *a);
/* Is there an error in it? */
bool calls_answer_has_failed(const struct calls_answer *a);
/* Borrowed until the next call. */
struct turn_reply_facts calls_answer_facts(const struct calls_answer *a);

#endif
