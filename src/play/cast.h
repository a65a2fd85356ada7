/* SPDX-License-Identifier: MIT */
/*
 * cast.h -- a recording as an asciicast, version 2 or 3: what the asciinema player plays.
 *
 * Output, sizes and markers (snapshots, instructions, gaps) with their times; what was
 * typed is left out. The file holds printable characters and newlines only: all else is
 * escaped, and bytes that are no UTF-8 become U+FFFD. One pass, in bounded memory; the
 * same recording gives the same bytes.
 */
#ifndef PLAY_CAST_H
#define PLAY_CAST_H

#include "play/report.h"

struct play_cast_options {
    int version;             /* 2 or 3 */
    struct redact *redact;   /* NULL: nothing is masked, and the header says so */
    const char *title;       /* NULL: none; masked by the caller */
    const char *command;     /* … */
    unsigned cols, rows;     /* where the recording does not say; 0: 80x24 */
    uint64_t to_byte, to_ns; /* as play_load_options has them; 0: all */
    bool has_exit;           /* the exit status is known: version 3 tells it */
    int exit_code;
    const struct play_events *events; /* by time; its instructions become markers, too */
    tape_notice_fn notice;            /* NULL: nobody listens */
    void (*record)(void *ctx, const struct tape_record *rec); /* each; NULL: nobody */
    void *ctx;                                                /* of these two */
    const struct tape_progress *progress;
    uint64_t *ret_bad_bytes; /* how many became U+FFFD; may be NULL */
};

/* Fails when the recording cannot be opened, or without memory, or with what `write`
 * returned; damage is told by the notices, and all that can be read is written. */
int play_cast_write(struct tape_io *io, const char *path,
                    const struct play_cast_options *opt, play_write_fn write, void *wctx,
                    struct err *err);

#endif
