/* SPDX-License-Identifier: MIT */
/* history_kit.h -- lines of an agent's history, read and written down. */
#ifndef HISTORY_KIT_H
#define HISTORY_KIT_H

#include "turn/history.h"
#include "turn/totals.h"

/*
 * `shown` has a line for each event, as turn_kit_write() has it, but for the JSON of
 * those that are not known; and one for each trouble:
 *
 *     usage id=m1 in=3 out=5 final
 *     branch from=4
 *     ! begins anew
 */
struct history_kit {
    struct turn_history *h;
    enum turn_agent agent;
    struct buf shown;
    struct turn_totals totals;
    uint64_t events, troubles[TURN_HISTORY_TROUBLES];
    uint64_t last_ns;  /* of the last event */
    uint64_t fails_at; /* the event of that number does; 0: none */
    struct buf side;
    bool is_quiet; /* nothing is shown */
};

void history_kit_begin(struct history_kit *k, enum turn_agent agent);
void history_kit_end(struct history_kit *k);
/* Each line of it, in memory of its own; what the last one returned. */
int history_kit_lines(struct history_kit *k, struct view bytes);
/* All that was read goes on in a reader that is loaded. */
void history_kit_reload(struct history_kit *k);
/* The next line of what is left. */
bool history_kit_next(struct view *rest, struct view *ret_line);
/* A file of the shared fixtures; false: they are not there. */
bool history_kit_fixture(const char *name, struct buf *out);

#endif
