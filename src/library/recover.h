/* SPDX-License-Identifier: MIT */
/*
 * recover.h -- sessions whose recorder has vanished: sealed, marked `interrupted`, and
 * moved from live/ to sessions/; and stored ones that are not whole, mended.
 *
 * The lock of a session is held while it is worked on; one that is being recorded is left
 * alone. Killed at any point and started again, the result is the same.
 */
#ifndef LIBRARY_RECOVER_H
#define LIBRARY_RECOVER_H

#include "library/find.h"
#include "tape/repair.h"

/* A run's folder in its project. Zeroed it is ready for use. */
struct library_project {
    struct buf dir;  /* as a C string by buf_str(); empty: there is none */
    bool is_changed; /* it was put in order just now */
    struct err why;  /* code < 0: it could not be */
};

void library_project_release(struct library_project *p);

/*
 * Seals the session `id` of live/; its recording's path afterwards is appended. Nothing
 * is when there was not one byte: then the session is removed. Each snapshot of the
 * recording has its line afterwards. The meta gets `interrupted`, the bytes that the
 * recording holds, and its last record's time as its end, unless it tells of an end
 * already. 1 when there are bytes and nothing of them can be read: its folder is in
 * damaged/ then, unless what was said is there: then it moves as others do, with no
 * ret->blocks, and ret->damages. ERR_BUSY while it is being recorded. Of a run the events
 * and the folder in its project are put in order as well, whatever there is of the
 * recording; ret_project NULL: whoever asks does not want to know.
 */
int library_recover(const char *id, bool is_dry_run, const struct tape_progress *progress,
                    struct tape_repair_report *ret, struct buf *ret_path,
                    struct library_project *ret_project, struct err *err);
/*
 * Makes the stored session `id` whole, and gives it a meta where it has none that tells
 * what it is. Where there is something to do, it is taken out of
 * the index first: who calls this has it indexed afterwards (ret->is_changed). 1 when
 * nothing of it can be read: its folder is in damaged/ then. Where what was said is there
 * though nothing of the recording is, it stays, with no ret->blocks, and ret->damages.
 * ERR_BUSY while somebody is at it, or at the library.
 */
int library_mend(const char *id, bool is_dry_run, const struct tape_progress *progress,
                 struct tape_repair_report *ret, struct err *err);
/* The ids in live/ whose recorder is gone, NUL-terminated each, oldest first. What a
 * recorder left before it had begun (live/.new-*) and nobody holds is removed. *ret_held:
 * how many there are besides, which somebody holds; may be NULL. */
int library_interrupted(struct buf *ret_ids, uint64_t *ret_held, struct err *err);

#endif
