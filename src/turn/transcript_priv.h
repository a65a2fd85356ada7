/* SPDX-License-Identifier: MIT */
/* transcript_priv.h -- the line of a transcript that is being made, and its message. */
#ifndef TURN_TRANSCRIPT_PRIV_H
#define TURN_TRANSCRIPT_PRIV_H

#include "base/json.h"
#include "turn/totals.h"
#include "turn/transcript.h"

enum transcript_open {
    TRANSCRIPT_NONE,
    TRANSCRIPT_USER, /* results of tools */
    TRANSCRIPT_ASSISTANT,
};

/* One of the assistant's, as far as it was told. */
struct transcript_message {
    uint64_t used;           /* the higher, the later; 0: there is none here */
    struct buf id;           /* empty: not told yet */
    struct buf model;        /* empty: the session's */
    struct turn_usage usage; /* that events have told, but for what came with a rest … */
    struct turn_usage told;  /* … and its lines */
    bool is_written;         /* it has a line */
    bool is_final, has_call, was_cut_off;
    bool is_again; /* it was here before, and may have lines: now they tell no usage */
};

/* Those of sub-agents take turns with the others. */
enum { TRANSCRIPT_MESSAGES = 64 };

/* Of what stands in each line: of more than that the beginning. */
enum { TRANSCRIPT_WORD_MAX = 1 << 10 };

struct turn_transcript {
    struct turn_transcript_options opt;
    struct buf cwd, model;       /* the last that were told */
    char parent[TURN_UUID_SIZE]; /* the line before; "": none */
    char before[TURN_UUID_SIZE]; /* … and the one before that */
    /* The line at hand: */
    enum transcript_open open;
    char uuid[TURN_UUID_SIZE];
    uint64_t ts_ns;     /* of its last event */
    struct buf side;    /* the call of which it is a sub-agent's; empty: of none */
    struct buf content; /* what it says, as the inside of an array of JSON … */
    struct json json;   /* … into which this writes */
    uint64_t blocks;    /* of the content */
    bool is_early; /* it is put before it is known that all of its message is there */
    bool is_known; /* it is there already: */
    struct turn_transcript_known known;
    /* The session: */
    struct transcript_message messages[TRANSCRIPT_MESSAGES]; /* the latest */
    struct transcript_message *m; /* the one that is being said, though its line may be
                                     put; NULL: none is */
    uint64_t uses;
    struct buf ids; /* what their ids hash to, 8 bytes each, of the session's all … */
    size_t ids_before; /* … bytes of those of the commands that have ended, … */
    uint64_t commands; /* … of which there are so many */
    struct buf id;     /* room */
    struct buf calls;  /* ids of calls that have no result yet, each with its NUL */
    struct turn_totals truth; /* of the events … */
    struct turn_usage told;   /* … and of the lines */
    struct turn_usage news;   /* what the latest of a message has added to the truth */
    uint64_t last, now_ns;    /* event, and its time */
    struct buf line;
};

/* -- transcript_messages.c -- */

/* Its beginning, in whole characters. */
struct view transcript_cut(struct view text, size_t most);
bool transcript_is_same(struct view a, const struct buf *b);
int transcript_keep(struct buf *kept, struct view told);
/* What a message of the command at hand that the agent calls so has as its id; borrowed
 * until the next. */
struct view transcript_message_id(struct turn_transcript *t, struct view id);
void transcript_command_ended(struct turn_transcript *t);
/* The one with that id; without an id, or where the one at hand has none, that. Else a
 * new one: then those that were used the longest ago are forgotten. */
int transcript_message_of(struct turn_transcript *t, struct view id, struct view side,
                          struct transcript_message **ret);
/* None is at hand, and what those have used that their lines do not tell was told. */
void transcript_messages_settled(struct turn_transcript *t);
/* It has used so much, of which no more is not told yet than there is news. */
void transcript_message_raise(struct transcript_message *m, struct turn_usage used,
                              struct turn_usage news);
/* The one at hand gets an id where it has none: messages are counted by them. */
int transcript_message_name(struct turn_transcript *t);
/* Would another line with that usage count? */
bool transcript_message_can_tell(const struct transcript_message *m,
                                 const struct turn_usage *usage);
/* What its next line tells. */
struct turn_usage transcript_message_usage(const struct transcript_message *m);
/* Adds to the sum what is more now than it was; *had is raised. */
void transcript_told(struct turn_usage *sum, struct turn_usage *had,
                     struct turn_usage now);
/* One that is not known is 0. */
void transcript_plus(uint64_t *tokens, uint64_t more);
void transcript_messages_release(struct turn_transcript *t);

/* -- transcript_calls.c -- */

/* It waits for its result. */
int transcript_call_open(struct turn_transcript *t, struct view id);
bool transcript_call_is_open(const struct turn_transcript *t, struct view id);
void transcript_call_close(struct turn_transcript *t, struct view id);
/* Its arguments, into its block. */
void transcript_put_input(struct turn_transcript *t, struct view json);

/* -- transcript_line.c -- */

/* Writes the line at hand away; nothing where there is none. */
int transcript_put(struct turn_transcript *t);
/* A line of the user's that is nothing but text. */
int transcript_put_text(struct turn_transcript *t, struct view text);

#endif
