/* SPDX-License-Identifier: MIT */
/* transcript_priv.h -- the line of a transcript that is being made. */
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

struct turn_transcript {
    struct turn_transcript_options opt;
    struct buf cwd, model;       /* the last that were told */
    char parent[TURN_UUID_SIZE]; /* the line before; "": none */
    char before[TURN_UUID_SIZE]; /* … and the one before that */
    /* The line at hand: */
    enum transcript_open open;
    char uuid[TURN_UUID_SIZE];
    uint64_t ts_ns;          /* of its last event */
    struct buf side;         /* the call of which it is a sub-agent's; empty: of none */
    struct buf id;           /* of the message; empty: not told yet */
    struct buf content;      /* what it says, as the inside of an array of JSON … */
    struct json json;        /* … into which this writes */
    struct turn_usage usage; /* of the message */
    uint64_t blocks;         /* of the content */
    bool has_call, was_cut_off, is_final;
    bool is_early; /* it is put before it is known that all of its message is there … */
    bool goes_on;  /* … so it was with the last one, whose id and usage these are */
    bool is_known; /* it is there already: */
    struct turn_transcript_known known;
    /* The session: */
    struct buf early; /* a message that was told of before it said anything, … */
    struct turn_usage early_usage; /* … and what it has used */
    struct buf calls; /* ids of calls that have no result yet, each with its NUL */
    struct turn_totals truth, told; /* of the events, and of the lines */
    uint64_t last, now_ns;          /* event, and its time */
    struct buf line;
};

/* Writes the line at hand away; nothing where there is none. */
int transcript_put(struct turn_transcript *t);
/* A line of the user's that is nothing but text. */
int transcript_put_text(struct turn_transcript *t, struct view text);
/* A message that has no id gets one: messages are counted by them. */
int transcript_name(struct turn_transcript *t);

#endif
