/* SPDX-License-Identifier: MIT */
/*
 * anew_run_priv.h -- a run's folder in its project without its secrets.
 *
 * It is the user's project, so that its files are replaced one by one, each whole or not
 * at all, and never through a link. What cannot be masked stays as it is and is told by
 * its name; the others do not wait for it.
 */
#ifndef LIBRARY_ANEW_RUN_PRIV_H
#define LIBRARY_ANEW_RUN_PRIV_H

#include "library/rewrite.h"
#include "library/scrub_priv.h"

enum { ANEW_TEXT_MAX = 1 << 30 }; /* of a file that is read whole */
/* For who is at a folder just now. */
#define ANEW_HELD_WAITS_NS UINT64_C(2000000000)

struct anew_run {
    const struct library_rewrite *rw; /* borrowed, as is the next */
    struct library_rewritten *done;
    struct scrub *scrub;
    struct buf path; /* of what is looked at */
    uint64_t left;   /* files that are as they were */
};

void anew_run_release(struct anew_run *r);
/* What is at the path was not masked: told, and counted. */
void anew_run_leave(struct anew_run *r, const char *why);
void anew_run_leave_code(struct anew_run *r, int code);

/* Its descriptor, locked as a run locks it; -1: it is not there. ERR_BUSY: a run is going
 * on in it. Else why it cannot be used. */
int anew_run_hold(const char *dir, struct err *err);
/* All files below it; adds to *done. ERR_DAMAGED: some were told, and are as they were.
 */
int anew_run_make(const char *dir, int fd, const struct library_rewrite *rw,
                  struct library_rewritten *done, struct err *err);

/* -- anew_entire.c -- */

/* The same for the session's own files in .entire/ of the project at `root`, where there
 * are any. dir: the session's folder, which is masked already. */
int anew_entire_make(const char *root, const char *id, const char *dir,
                     const struct library_rewrite *rw, struct library_rewritten *done,
                     struct err *err);

#endif
