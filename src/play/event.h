/* SPDX-License-Identifier: MIT */
/*
 * event.h -- the moments of a session that stand between its lines: snapshots and
 * instructions, each at a byte of the recording.
 *
 * A list keeps copies of all texts and the order in which they were added, until it is
 * sorted. It has ceilings: what a hostile file brings beyond them is refused.
 */
#ifndef PLAY_EVENT_H
#define PLAY_EVENT_H

#include <stdbool.h>

#include "base/buf.h"

enum {
    PLAY_EVENTS_MAX = 1 << 20,
    PLAY_EVENTS_TEXT_MAX = 64 << 20, /* bytes of all texts together */
};

enum play_event_kind { PLAY_SNAPSHOT, PLAY_INSTRUCTION };

#define PLAY_NONE UINT64_MAX

struct play_event {
    enum play_event_kind kind;
    uint64_t id;
    uint64_t ts_ns; /* absolute; 0: not known */
    uint64_t anchor_byte;
    struct view text;     /* label or instruction, as it was given; borrowed */
    uint64_t snapshot_id; /* an instruction's; PLAY_NONE: of none */
    bool is_delivered;    /* an instruction was typed into the session */
};

struct tape_record;
/* The snapshot that a record tells of; its text is the record's. */
struct play_event play_event_of(const struct tape_record *record);

/* Zeroed it is empty and ready for use. */
struct play_events {
    size_t count;
    struct buf entries, texts; /* private */
};

void play_events_release(struct play_events *e);
/* Copies the text. 0, -ENOMEM or ERR_LIMIT. */
int play_events_add(struct play_events *e, const struct play_event *event);
/* The text is borrowed until the next add. */
struct play_event play_events_at(const struct play_events *e, size_t i);
/* Adds what `more` (lines) has and this list (of a recording) does not: a snapshot is the
 * same when its id and anchor are, and its stamp is that of the record, or earlier: then
 * it is taken over. Every instruction is its own. Those for which there is no room are
 * counted in *left_out. 0 or -ENOMEM. */
int play_events_join(struct play_events *e, const struct play_events *more,
                     uint64_t *left_out);
/* By anchor_byte; those at the same one keep their order. */
void play_events_sort(struct play_events *e);
/* By ts_ns, those that have none last; those at the same time keep their order. */
void play_events_sort_by_time(struct play_events *e);
/* The snapshot whose anchor is nearest to the byte; of several the newest one. False:
 * there is none. Its text is borrowed as above. */
bool play_events_nearest(const struct play_events *e, uint64_t byte_off,
                         struct play_event *ret);

#endif
