/* SPDX-License-Identifier: MIT */
/*
 * turns.h -- the events of a run once more, from its session.turns.jsonl.
 *
 * A good event is never lost for what stands beside it: a torn line, two events on one
 * line, what a disk without power has left. An archived file (gz/read.h) is read as it
 * was, here and in all that takes its path.
 */
#ifndef PLAY_TURNS_H
#define PLAY_TURNS_H

#include "play/report.h"
#include "redact/redact.h"
#include "turn/line.h"

/* An error that it returns ends the reading and is returned. */
typedef int (*play_turn_fn)(void *ctx, const struct turn_event *e,
                            const struct turn_stamp *at);
/* A line has something in it that is no event; its number is from 1. */
typedef void (*play_turns_bad_fn)(void *ctx, uint64_t line);

struct play_turns_options {
    bool is_growing; /* a last line without a newline is not there yet */
    bool has_asides; /* tell at->is_aside: the file is then looked at twice */
    play_turn_fn fn;
    play_turns_bad_fn bad; /* may be NULL */
    void *ctx;             /* of both */
};

/* Is there such a file, with something in it? */
bool play_turns_exist(const char *path);
/* ERR_MISSING: there is none. ERR_DAMAGED: it is archived, and cannot be read to its end;
 * all before that was handed over. */
int play_turns_read(const char *path, const struct play_turns_options *opt,
                    struct err *err);

/* An event with its texts masked, which then lie in `room`; at first it is zeroed. */
struct play_turns_mask {
    struct buf text, id, message, parent, json, name, model, cwd;
};

int play_turns_mask(struct redact *r, struct turn_event *e, struct play_turns_mask *room);
void play_turns_mask_release(struct play_turns_mask *room);

#endif
