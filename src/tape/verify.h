/* SPDX-License-Identifier: MIT */
/* verify.h -- reads a whole recording and says what is in it and what is wrong with it.
 */
#ifndef TAPE_VERIFY_H
#define TAPE_VERIFY_H

#include "tape/notes.h"

struct tape_verify_report {
    uint64_t blocks, records, bytes, resizes, snapshots;
    uint64_t first_ts_ns, last_ts_ns; /* 0 without records */
    uint64_t file_bytes;              /* of the blocks that are good */
    struct tape_notes notes;
};

/* Fails only when the file cannot be read at all; damage is in the report. progress may
 * be NULL. */
int tape_verify(struct tape_io *io, const char *path,
                const struct tape_progress *progress, struct tape_verify_report *ret,
                struct err *err);
void tape_verify_report_release(struct tape_verify_report *v);

#endif
