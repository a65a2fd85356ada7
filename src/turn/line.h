/* SPDX-License-Identifier: MIT */
/*
 * line.h -- an event as a line of JSON, the same for every agent, and back.
 *
 * The normalised stream: `ahr run --json`, session.turns.jsonl, `ahr export --format
 * events`; doc/events.md says what stands in it. Pure.
 */
#ifndef TURN_LINE_H
#define TURN_LINE_H

#include "turn/event.h"

/* What stands before each event. */
struct turn_stamp {
    uint64_t ts_ns;      /* the session's clock */
    uint64_t start_ns;   /* … at its start: "t_ms" counts from there */
    const char *session; /* its id; borrowed */
    uint64_t iteration;  /* 0: of none */
    uint64_t call; /* of a model's API, in which it was told (doc/wire.md); 0: none */
    bool has_anchor;
    uint64_t anchor_byte; /* so many bytes a terminal had shown then */
    bool is_aside;        /* on a branch that was left (play/turns.h); never written */
};

/* Appends {"ts_ns":"…","t_ms":…,"session":"…","iteration":…,"type":"…",…} and a newline.
 */
void turn_line(const struct turn_event *e, const struct turn_stamp *at, struct buf *out);
/* One line, whoever wrote it; texts lie in `texts`, which is cleared first. ERR_DAMAGED:
 * it is none. Fields of the wrong type count as missing; ret_at->session is "". */
int turn_line_read(struct view line, struct buf *texts, struct turn_event *ret,
                   struct turn_stamp *ret_at);

#endif
