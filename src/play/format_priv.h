/* SPDX-License-Identifier: MIT */
/* format_priv.h -- what formats have in common. */
#ifndef PLAY_FORMAT_PRIV_H
#define PLAY_FORMAT_PRIV_H

#include "play/format.h"

/* "line", "snapshot" … */
const char *play_item_name(enum play_item_kind kind);
/* How long after the session's first record; a stamp before it counts as 0. */
uint64_t play_since_start(const struct play_out *o, uint64_t ts_ns);
/* A duration as h:mm:ss.mmm. */
void play_put_clock(struct buf *out, uint64_t ns);
/* With has_times, the time of an item's line in text that is read as it is, then two
 * blanks; blanks alone where there is none. */
void play_put_time_column(struct play_out *o, const struct play_item *item);
/* A beginning or an end without a byte. */
void play_put_nothing(struct play_out *o);
/* How many blanks stood at the end of a line that the width has wrapped: between it and
 * the rest. */
unsigned play_wrapped_blanks(const struct play_out *o, const struct term_line *line);
/* "[ahr: …]" */
void play_put_notice(struct buf *out, const struct play_item *item);

/* A field by RFC 4180, quoted where it must be, and no formula (format_csv.c). */
void play_put_csv(struct buf *out, struct view text);
/* A text in which no renderer of Markdown finds anything but text, on one line
 * (format_md.c). */
void play_put_md(struct buf *out, struct view text);
/* The longest run of backticks in it: a fence is longer. */
size_t play_md_ticks(struct view text);

static inline void
play_put_view(struct buf *out, struct view v)
{
    buf_append(out, v.p, v.n);
}

#endif
