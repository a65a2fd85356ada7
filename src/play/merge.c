/* SPDX-License-Identifier: MIT */
#include "play/merge_priv.h"

enum play_merge_kind
play_merge_next(struct play_merge *m, const uint64_t *last_write_byte, size_t *ret)
{
    bool has_event = m->events && m->next_event < m->events->count;
    bool has_gap = m->next_gap < m->n_gaps;
    uint64_t event_at = 0, gap_at = 0;
    if (has_event)
        event_at = play_events_at(m->events, m->next_event).anchor_byte;
    if (has_gap)
        gap_at = m->gaps[m->next_gap].byte_off;
    bool is_event = has_event && (!has_gap || event_at <= gap_at);
    if (!is_event && !has_gap)
        return PLAY_MERGE_NONE;
    if (last_write_byte && (is_event ? event_at : gap_at) >= *last_write_byte)
        return PLAY_MERGE_NONE;
    *ret = is_event ? m->next_event++ : m->next_gap++;
    return is_event ? PLAY_MERGE_EVENT : PLAY_MERGE_GAP;
}
