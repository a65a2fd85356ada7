/* SPDX-License-Identifier: MIT */
/*
 * talk.h -- the conversation in what was asked.
 *
 * A conversation is sent again with each call: what no call before has asked becomes
 * events of turn/event.h; what was replied (answer.h) is not told once more. Several
 * conversations may go on at the same time. The same calls, in the order in which they
 * were made, always make the same events. Pure.
 */
#ifndef CALLS_TALK_H
#define CALLS_TALK_H

#include "turn/event.h"
#include "turn/reply.h"

struct calls_talk;

int calls_talk_new(struct calls_talk **ret);
void calls_talk_free(struct calls_talk *t);
/* Which API a request is for, by its method and its URL's path; TURN_API_AUTO: none that
 * has conversations. */
enum turn_api calls_talk_api(struct view method, struct view url);
/* A request's body is complete: the messages that are new. What is no request of that API
 * says nothing. */
int calls_talk_request(struct calls_talk *t, enum turn_api api, struct view body,
                       turn_event_fn fn, void *ctx);
/* How a request was read: one that begins with the same bytes is read faster by it, and
 * tells the same. Zeroed it is of none. */
struct calls_talk_read {
    enum turn_api api;
    uint64_t salt;     /* talk.c */
    size_t start;      /* of its list of messages in the body */
    struct buf ends;   /* size_t: of each message in the body … */
    struct buf counts; /* uint32_t: … and its events, */
    struct buf hashes; /* uint64_t: which are these */
};

void calls_talk_read_release(struct calls_talk_read *r);
/* The same, where the body begins with `alike` bytes of that of which `like` (NULL: none)
 * was read. ret (NULL: nobody wants it): how this one was; of none after an error. */
int calls_talk_request_like(struct calls_talk *t, enum turn_api api, struct view body,
                            const struct calls_talk_read *like, size_t alike,
                            struct calls_talk_read *ret, turn_event_fn fn, void *ctx);
/* By which that request is known from now on; 0: it was none. */
uint64_t calls_talk_asked(const struct calls_talk *t);
/* An event of a reply: what it says is not new when it is sent. */
int calls_talk_heard(struct calls_talk *t, const struct turn_event *e);
/* That request has its answer, whole: who asks the same again asks anew. Before, it is
 * tried again. */
void calls_talk_answered(struct calls_talk *t, uint64_t asked);

#endif
