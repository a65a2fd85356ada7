/* SPDX-License-Identifier: MIT */
/*
 * transcript.h -- a conversation as Entire keeps it: full.jsonl, a line of JSON a turn of
 * the user's or the assistant's (seed 002).
 *
 * Pure: events go in, and each line comes out when it is complete, with its newline. Who
 * gives the line its uuid, and where it goes, is the caller's. What an assistant says in
 * one message (text, thinking, tool calls) is one line, whose content is always an array;
 * the results of its calls are the next line of the user's. Warnings, standard error,
 * artifacts and what is not known are no part of a conversation.
 *
 * Where the command ends (EXIT) calls that have no result get one that says that they
 * were interrupted, and whatever the next one says is of other messages: one whose id was
 * there before has the number of the command behind it ("item_5.2"). An id that is unique
 * in the world is that of the same message in each.
 *
 * Usage is that of the message, which is told by one more line of it where it comes late.
 * Where the stream's own total (DONE) says more than its messages did, the last one has
 * the rest, or a message that is nothing else. So the sum over all messages is right, for
 * readers who take of each the largest of each value, and for Entire, which takes of its
 * lines the one with the most output. (A message that is told again when its lines are
 * forgotten has no usage in the new ones: what is news in it comes with the rest.)
 *
 * A call that is told again before its result is there once.
 *
 * Texts are as the events have them: who wants them masked masks the events.
 */
#ifndef TURN_TRANSCRIPT_H
#define TURN_TRANSCRIPT_H

#include "turn/event.h"

enum { TURN_UUID_SIZE = 37 }; /* with its NUL */

/* In the number of a line that closes the calls which an event (EXIT) has left open:
 * there may be another line that begins with it. */
#define TURN_CLOSING (UINT64_C(1) << 63)

#define TURN_INTERRUPTED "[Tool execution was interrupted]"

/* What there is already of a line. */
struct turn_transcript_known {
    uint64_t blocks; /* of its content */
    struct turn_usage usage;
    struct view id; /* of its message, borrowed until the transcript is freed */
};

struct turn_transcript_options {
    const char *session, *version; /* borrowed, as all here */
    const char *git_branch;        /* NULL: not known */
    const char *cwd, *model;       /* until an event tells; NULL: not known */
    const char *parent; /* the line before the first that is not known; NULL: the one it
                           follows, or none */
    /* Of the line that begins with this event, or closes what it left open. */
    void (*uuid)(void *ctx, uint64_t number, char ret[TURN_UUID_SIZE]);
    /* An error (< 0) that it returns ends it all and is returned. 1: it is lost, and the
     * next one stands behind the one before it. */
    int (*line)(void *ctx, struct view line);
    /* Is that line there already? Then it has as much in it as it had, what follows is
     * another line, and `line` is not called. NULL: none is. */
    bool (*known)(void *ctx, const char *uuid, struct turn_transcript_known *ret);
    void *ctx; /* of these three */
};

struct turn_transcript;

int turn_transcript_new(struct turn_transcript **ret,
                        const struct turn_transcript_options *opt);
void turn_transcript_free(struct turn_transcript *t);
/* number: the event's, each greater than the one before. Of what stands in each line
 * (model, folder, the message's id) only so much is kept as is meant by one. What lies in
 * a line is some MiB at most: more of one turn is another line. */
int turn_transcript_add(struct turn_transcript *t, const struct turn_event *e,
                        uint64_t number, uint64_t ts_ns);
/* Is there a line that waits for more of its turn? */
bool turn_transcript_is_open(const struct turn_transcript *t);
/* It is complete now, since nothing has come for a while. More of the same message is
 * another line with the message's id. */
int turn_transcript_flush(struct turn_transcript *t);
/* Nothing follows. has_ended: nor will anything ever, and calls without a result get one
 * that says that they were interrupted. Then as new, but for where the chain goes on. */
int turn_transcript_end(struct turn_transcript *t, uint64_t ts_ns, bool has_ended);

/* A uuid (version 8) that is always the same for this session and number, and another for
 * each. */
void turn_transcript_uuid(const char *session, uint64_t number, char ret[TURN_UUID_SIZE]);
/* The number of an event that has this time and comes behind one of number `last`: its
 * own, whatever becomes of the others. */
uint64_t turn_transcript_number(uint64_t last, uint64_t ts_ns);

#endif
