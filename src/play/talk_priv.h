/* SPDX-License-Identifier: MIT */
/* talk_priv.h -- what formats of conversations have in common. */
#ifndef PLAY_TALK_PRIV_H
#define PLAY_TALK_PRIV_H

#include "play/format_priv.h"
#include "play/talk.h"

/* The columns of what it all came to. */
struct talk_sum {
    const char *title, *key;
    uint64_t value;
};
enum { TALK_SUMS = 6 };
/* Those that were told; how many they are. NULL has none. */
size_t talk_sums(const struct play_talk_sums *sums, struct talk_sum ret[TALK_SUMS]);
/* "Snapshot 45", "Instruction 3 (not delivered)"; is_tag: in small letters. */
void talk_put_event(struct buf *out, const struct play_item *item, bool is_tag);
/* " (failed)", " (exit 2)", " (interrupted)", or nothing. */
void talk_put_fate(struct buf *out, const struct turn_event *e);

#endif
