/* SPDX-License-Identifier: MIT */
/*
 * json_pieces.h -- secrets behind the escapes of JSON, in a text that comes in pieces.
 *
 * The text was masked as it stands before (redact_stream). Of its strings comes out what
 * redact_json() makes of them, however they were cut; what is in no doubt comes out at
 * once. One with a secret in it waits for its end, up to 1 MiB: a longer one that was cut
 * is masked also if it has no escapes, where redact_json() leaves it as it is. From
 * where it is no JSON it is passed on.
 */
#ifndef REDACT_JSON_PIECES_H
#define REDACT_JSON_PIECES_H

#include "redact/redact.h"

/* Zeroed but for `redact` (borrowed) it is at the beginning of a text. */
struct redact_json_pieces {
    struct redact *redact;
    struct redact_stream *scanner;
    bool is_off;      /* it was no JSON */
    bool is_cut;      /* the last piece breaks off (redact_stream_cut()) */
    bool is_inside;   /* a string, which has not ended; the rest is of that: */
    struct buf raw;   /* what was not passed on */
    size_t seen;      /* … of which the scanner has seen so much */
    struct buf plain; /* what raw says up to there … */
    size_t clean;     /* … and how much of that stands as it came */
    bool has_escape;
    bool is_changed;   /* a secret was in it: */
    struct buf masked; /* this takes the place of raw */
    bool has_more;     /* … and of some that is gone */
};

/* Appended to `out` as far as it is decided; is_last: nothing follows. */
int redact_json_pieces_feed(struct redact_json_pieces *s, struct view piece, bool is_last,
                            struct buf *out);
void redact_json_pieces_release(struct redact_json_pieces *s);

#endif
