/* SPDX-License-Identifier: MIT */
/*
 * project_priv.h -- from the bytes of a stream to its texts.
 *
 * Control sequences that leave the cursor where it is are seen through, those that move
 * it break the text. In a terminal's stream the end of a line may be a wrap in the middle
 * of a value: the line feed and the indentation of the next line are not part of the
 * text, but a wrap is noted. In other texts a line feed is a byte like any other, and
 * sequences that are spelled out in a string (\u001b[1m) are seen through, too.
 */
#ifndef REDACT_PROJECT_PRIV_H
#define REDACT_PROJECT_PRIV_H

#include "redact/lane_priv.h"

/* What a byte of the input is. The first two are also the lanes. */
enum project_kind {
    PROJECT_TEXT,
    PROJECT_STRING, /* payload of an OSC, DCS … */
    PROJECT_OTHER,
    PROJECT_LANES = PROJECT_OTHER,
};

enum project_state {
    PROJECT_GROUND,
    PROJECT_ESC,
    PROJECT_ESC_MORE, /* behind an intermediate */
    PROJECT_CSI,
    PROJECT_PAYLOAD,
    PROJECT_PAYLOAD_ESC,
};

struct project {
    bool is_terminal;
    bool is_literal; /* every blank is of the text, and what does not move is no break */
    enum project_state state;
    bool is_private; /* the CSI has a marker */
    bool is_odd;     /* or an intermediate */
    enum {
        PROJECT_NO_END,
        PROJECT_CR,
        PROJECT_LF,
        PROJECT_BOTH,
    } line_end; /* what has come of it since the last text */
    uint32_t params[2];
    unsigned n_params;
    unsigned indent;   /* blanks that a new line may still begin with */
    bool has_space;    /* a blank that is not in the text yet: "\r" behind it is a wrap */
    bool has_space_cr; /* and that has come */
    uint64_t space_raw;
    uint8_t *kinds; /* of the byte at kinds_raw, while feeding; down to kinds_first */
    uint64_t kinds_raw, kinds_first;
};

/*
 * Reads n bytes that stand at raw. kinds gets what each is; before it stand those of the
 * n_before bytes that came last. Returns how many were taken:
 * some are left when it depends on the next ones what they are, and must be given again
 * with those (is_end: there are none).
 */
size_t project_feed(struct project *p, struct lane lanes[PROJECT_LANES],
                    const uint8_t *bytes, size_t n, uint64_t raw, uint8_t *kinds,
                    size_t n_before, bool is_end);
/* The end of the input. */
void project_end(struct project *p, struct lane lanes[PROJECT_LANES]);

#endif
