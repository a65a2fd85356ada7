/* SPDX-License-Identifier: MIT */
/*
 * status_priv.h -- one line about where a recording is: state, time, speed, byte, and
 * what is to be known at this place. What has no room is left out, the least important
 * first. Pure.
 */
#ifndef TUI_STATUS_PRIV_H
#define TUI_STATUS_PRIV_H

#include <stdbool.h>

#include "base/buf.h"
#include "term/width.h"

struct tui_status {
    bool is_paused;
    bool has_millis; /* times are told to the millisecond */
    uint64_t time_ns, duration_ns;
    uint32_t speed; /* thousandths */
    uint64_t byte_off, total_bytes;
    const char *work; /* what is being done: "seeking"; NULL: nothing */
    unsigned work_permille;
    const char *note;  /* what is wrong or odd here; NULL: nothing */
    const char *size;  /* how the picture is cut; NULL: it is not */
    struct view label; /* of the snapshot at this place */
    bool has_label;
    const char *hint; /* which keys there are; NULL: none */
};

/* Appends the line: text of at most so many columns. */
void tui_status_line(const struct tui_status *s, unsigned cols,
                     struct term_widths *widths, struct buf *out);
/* "0:07", "1:02:03", with millis "0:07.250". */
void tui_status_time(uint64_t time_ns, bool has_millis, struct buf *out);

#endif
