/* SPDX-License-Identifier: MIT */
/*
 * events.h -- the snapshots and instructions that stand beside a recording.
 *
 * Those that the recording itself holds are not looked at: play_load() has them, and
 * play_events_join() brings both together.
 */
#ifndef LIBRARY_EVENTS_H
#define LIBRARY_EVENTS_H

#include "library/find.h"
#include "play/event.h"

/* Of one of the two files: what could not be used. */
struct library_unread {
    struct buf path;       /* as a C string by buf_str() */
    uint64_t lines, first; /* how many lines; the first one's number, from 1 */
    uint64_t over;         /* events over the limits of play/event.h */
    int error;             /* -errno: the file was not read, or not to its end; else 0 */
};

/* Zeroed it is ready for use. */
struct library_events {
    struct play_events events; /* snapshots, then instructions, each as in its file */
    struct library_unread snapshots, instructions;
};

void library_events_release(struct library_events *e);
/* A file that is missing is empty; what can be read of one is. Fails without memory. */
int library_events(const struct library_found *found, struct library_events *ret,
                   struct err *err);

#endif
