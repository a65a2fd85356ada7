/* SPDX-License-Identifier: MIT */
/* turn_kit.h -- an agent's output, decoded and written down: a line for each event. */
#ifndef TURN_KIT_H
#define TURN_KIT_H

#include "turn/decoder.h"

/*
 * A turn_event_fn; ctx is a struct buf to which is appended what is known of the event:
 *
 *     text partial id=msg_1 "Hello "
 *     tool_call id=t1 name=Bash json={"command":"ls"}
 */
int turn_kit_write(void *ctx, const struct turn_event *e);
/* All of it in one piece; in pieces of `step` bytes, of what `cuts` says. */
void turn_kit_decode(enum turn_agent agent, struct view bytes, size_t step,
                     struct buf *out);
void turn_kit_decode_cut(enum turn_agent agent, struct view bytes, struct view cuts,
                         struct buf *out);

#endif
