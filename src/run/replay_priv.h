/* SPDX-License-Identifier: MIT */
/*
 * replay_priv.h -- messages that a command is sent before our own input, each when the
 * one before is answered.
 *
 * Where its output is an agent's stream, the stream itself says when a message is
 * answered. Of other programs it is known when they have said, word for word, what the
 * recording has up to the next message; else when they have answered and then said
 * nothing for a moment.
 *
 * Pure: it is told what happens, and asked what is due.
 */
#ifndef RUN_REPLAY_PRIV_H
#define RUN_REPLAY_PRIV_H

#include "run/run.h"
#include "turn/event.h"

/* Zeroed it has nothing to send. */
struct run_replay {
    const struct run_script *script; /* borrowed; NULL: none */
    size_t sent;
    uint64_t heard;  /* messages of the command that count */
    bool is_same;    /* … are those of the recording, so far */
    bool has_answer; /* something came since the last was sent */
    bool is_done;    /* … and the stream's word that it is all */
    bool is_agent;   /* the output is an agent's stream */
    uint64_t at_ns;  /* when something was last sent or heard (monotonic) */
    bool is_over;
};

void run_replay_init(struct run_replay *p, const struct run_script *script,
                     uint64_t now_ns);
/* Our own input waits. */
bool run_replay_holds(const struct run_replay *p);
/* The command has said this, whole. */
void run_replay_hear(struct run_replay *p, enum turn_type type, struct view content,
                     uint64_t now_ns);
/* Something came from it, if only a piece of what it says: it does not rest. */
void run_replay_stir(struct run_replay *p, uint64_t now_ns);
/* In how many ms is the next one due, or the end? 0: now. UINT64_MAX: when something has
 * come. has_input: our own input has not ended. */
uint64_t run_replay_due_ms(const struct run_replay *p, bool has_input, uint64_t now_ns);
/* It is due: the next message; NULL: that was all. */
const struct run_said *run_replay_next(struct run_replay *p, uint64_t now_ns);

#endif
