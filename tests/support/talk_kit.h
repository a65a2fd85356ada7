/* SPDX-License-Identifier: MIT */
/*
 * talk_kit.h -- requests and replies of a conversation, and what of them is told.
 *
 * JSON has ' for ". What is told is written as turn_kit_write() has it, a line for each
 * event. In the end the same calls are made twice more, at last each read by what was
 * read of the one before: they tell the same.
 */
#ifndef TALK_KIT_H
#define TALK_KIT_H

#include "calls/talk.h"

struct talk_kit_call {
    bool is_reply, is_stream;
    struct buf bytes;
};

struct talk_kit {
    enum turn_api api;
    struct calls_talk *talk;
    struct talk_kit_call *calls;
    size_t n, room;
    struct buf told; /* all of it */
};

void talk_kit_open(struct talk_kit *k, enum turn_api api);
/* Also makes all of the calls again, twice. */
void talk_kit_close(struct talk_kit *k);
/* This request tells just that. */
void talk_kit_ask(struct talk_kit *k, const char *body, const char *want);
/* Replies to the latest request: in one piece; lines of JSON, the events of one that
 * breaks off behind them. */
void talk_kit_hear(struct talk_kit *k, const char *body);
void talk_kit_hear_some(struct talk_kit *k, const char *lines);

#endif
