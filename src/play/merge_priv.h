/* SPDX-License-Identifier: MIT */
/*
 * merge_priv.h -- which events and gaps stand before which line (doc/reports.md); pure.
 *
 * Lines come in the order in which they stand in the document and never move: before a
 * line stands everything that is not at its last byte or behind it. So a line comes
 * before an event at the same byte, and where a later line has an earlier stamp, an event
 * stands before the first line that is past it.
 */
#ifndef PLAY_MERGE_PRIV_H
#define PLAY_MERGE_PRIV_H

#include "play/report.h"

struct play_merge {
    const struct play_events *events; /* sorted; NULL: none; borrowed */
    const struct play_gap *gaps;      /* in their order; borrowed */
    size_t n_gaps;
    size_t next_event, next_gap; /* zero at the beginning */
};

enum play_merge_kind { PLAY_MERGE_NONE, PLAY_MERGE_EVENT, PLAY_MERGE_GAP };

/* What comes next before a line that was last written by byte last_write_byte, or, NULL,
 * at the end; *ret is its index. An event comes before a gap at the same byte: behind it,
 * its anchor would be another one. */
enum play_merge_kind play_merge_next(struct play_merge *m,
                                     const uint64_t *last_write_byte, size_t *ret);

#endif
