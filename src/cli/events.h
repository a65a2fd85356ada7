/* SPDX-License-Identifier: MIT */
/* events.h -- what stands beside a recording; what cannot be read of it is told. */
#ifndef CLI_EVENTS_H
#define CLI_EVENTS_H

#include "cli/command.h"
#include "library/events.h"

/* Adds to *ret, which is zeroed or holds others. 1: something was lost, and told on
 * stderr; 0, or an error. */
int cli_events(const struct cli_command *self, const struct library_found *found,
               struct play_events *ret, struct err *err);

#endif
