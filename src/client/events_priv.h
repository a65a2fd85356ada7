/* SPDX-License-Identifier: MIT */
/*
 * events_priv.h -- a live session's snapshots and instructions, from the files of lines
 * that its host writes beside the recording.
 */
#ifndef CLIENT_EVENTS_PRIV_H
#define CLIENT_EVENTS_PRIV_H

#include "client/model_priv.h"
#include "play/event.h"

/* Zeroed it is empty and ready for use. */
struct events {
    struct play_events list; /* sorted */
    uint64_t sizes[2];       /* of the files, when they were last read whole */
    uint64_t looked_ns;      /* … and last looked at; monotonic; 0: never, or to be */
};

void events_release(struct events *e);
/* Looks at the files, a second after the last time or when that was forgotten, and reads
 * them if they have grown; what cannot be read now is tried again then. True: the list is
 * another one. */
bool events_look(struct events *e, const struct model_tape *tape, uint64_t now_ns);
/* How long until that has something to do. */
int events_wait_ms(const struct events *e, uint64_t now_ns);
/* One more is known to be there. */
void events_expire(struct events *e);

#endif
