/* SPDX-License-Identifier: MIT */
/*
 * reply_priv.h -- one API of a vendor: a table entry, and what its reader remembers.
 *
 * A new API is one file and one line in reply.c's table. What it says is made of blocks,
 * which may be open at the same time: each has a key of the API's own making.
 *
 * What is scratch: text[0] holds a text or arguments, text[1] and text[2] an id and a
 * name, text[3] what is made for one event.
 */
#ifndef TURN_REPLY_PRIV_H
#define TURN_REPLY_PRIV_H

#include "turn/format_priv.h"
#include "turn/reply.h"
#include "turn/tell_priv.h"

enum {
    TURN_REPLY_BLOCKS = 128, /* open at the same time */
    TURN_REPLY_WORD = 4096,  /* bytes of an id, a name; a longer one is none */
    TURN_REPLY_ITEMS = 128,  /* of a response that are told at the same time */
};

struct turn_block {
    enum turn_type type; /* TEXT, THINKING, TOOL_CALL */
    uint64_t key;
    bool is_lost;    /* TOOL_CALL: cut off already, what comes of it is dropped */
    struct buf said; /* the text, or the arguments */
    struct buf id, name;
    struct buf proof; /* THINKING: JSON */
};

struct turn_reply {
    const struct turn_reply_api *api; /* NULL: not known yet */
    struct turn_sse sse;
    struct turn_sink to; /* of the current call */
    struct buf id, model, stop, raw_usage;
    struct turn_usage usage;
    bool is_final, is_whole, has_failed;
    bool is_silent; /* a reply in one piece: no pieces of it are told */
    bool has_news;  /* usage that was not told: a message without an id has one event */
    bool has_said, has_counted; /* the events of it have: TEXT and its like; USAGE */
    bool has_stray;             /* pieces of calls that are not open: that was told */
    bool has_too_many;          /* blocks: that was told */
    uint64_t before;            /* messages */
    uint64_t calls;             /* of chat completions: so many have begun */
    struct turn_usage raw; /* … the largest of each number; input: with the cached */
    size_t max, held; /* bytes of what blocks say and of proofs: the ceiling, and now */
    uint32_t items[TURN_REPLY_ITEMS]; /* of responses: those with texts that were told,
                                         and that are not done; the latest */
    size_t item_count;
    struct turn_block blocks[TURN_REPLY_BLOCKS]; /* as they have begun; behind the open
                                                    ones: memory for others */
    size_t open;
    struct buf text[4];
};

/* What is looked at to know an API: raw values of an event's object or of a reply. */
struct turn_reply_mark {
    struct view name; /* of the event; text */
    struct view type, object, choices, error;
};

struct turn_reply_api {
    enum turn_api api;
    bool (*is_mine)(const struct turn_reply_mark *m);
    int (*take_event)(struct turn_reply *r, struct view data);
    /* A reply; it is good JSON. */
    int (*take_body)(struct turn_reply *r, struct view json);
    /* Does this event begin another message than the one that is whole? NULL: never. */
    bool (*is_next)(const struct turn_reply *r, struct view data);
    /* Nothing more comes: what was withheld of its usage. NULL: nothing was. */
    int (*end)(struct turn_reply *r);
};

extern const struct turn_reply_api turn_reply_anthropic, turn_reply_openai_chat,
    turn_reply_openai_responses;

/* -- reply.c -- */
int turn_reply_tell(struct turn_reply *r, const struct turn_event *e);
int turn_reply_warn(struct turn_reply *r, const char *why);
int turn_reply_malformed(struct turn_reply *r, struct view data);
/* Text of a raw value, if there is any. */
int turn_reply_set(struct turn_reply *r, struct buf *b, struct view value);
/* An error (raw): an object with a message and a type or code, or a string. */
int turn_reply_error(struct turn_reply *r, struct view error);
/* Another message begins: the one before will never be whole, if it is not. */
int turn_reply_next(struct turn_reply *r);
/* The end of the reply was told: what is open is whole. */
int turn_reply_whole(struct turn_reply *r);

/* -- reply_blocks.c -- */
/* NULL: none of that key is open. */
struct turn_block *turn_block_find(struct turn_reply *r, uint64_t key);
/* *ret NULL: there are too many. The names of a call are texts. */
int turn_block_begin(struct turn_reply *r, uint64_t key, enum turn_type type,
                     struct turn_block **ret);
int turn_block_begin_call(struct turn_reply *r, uint64_t key, struct view id,
                          struct view name, struct turn_block **ret);
int turn_block_piece(struct turn_reply *r, struct turn_block *b, struct view text);
/* What proves a thought (raw), in place of what did before. */
int turn_block_prove(struct turn_reply *r, struct turn_block *b, struct view proof);
/* A piece of the text or thinking of that key, which begins with it if none is open; a
 * call does not, as nobody could tell which it is. */
int turn_block_say(struct turn_reply *r, uint64_t key, enum turn_type type,
                   struct view text);
/* It is whole, or will never be; then it is no more. */
int turn_block_end(struct turn_reply *r, struct turn_block *b, bool was_cut_off);
int turn_block_end_all(struct turn_reply *r, bool was_cut_off);
void turn_block_release_all(struct turn_reply *r);

/* -- reply_usage.c -- */
/* What was told of it now; is_final: nothing more is used. */
int turn_reply_usage(struct turn_reply *r, struct turn_usage told, bool is_final);
/* … in the API's own words (raw). */
int turn_reply_keep_usage(struct turn_reply *r, struct view usage);
/* No more is told of it: what has had no event has one now, and be it without numbers. */
int turn_reply_usage_end(struct turn_reply *r);
/* A usage object with such names; the input is with what is cached, as it was told. */
struct turn_usage turn_reply_openai_usage(struct view usage, const char *input,
                                          const char *output, const char *details);

#endif
