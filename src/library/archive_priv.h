/* SPDX-License-Identifier: MIT */
/*
 * archive_priv.h -- which files of a session go into an archive, and each of them there
 * or back.
 *
 * Of the session's folder session.turns.jsonl; of the run's folder in its project io.log,
 * iterations/<n>.log and the copies in artifacts/ (<NNNN>-<name>, but those that end in
 * .gz). All else is small, or compressed, or read in place by others.
 */
#ifndef LIBRARY_ARCHIVE_PRIV_H
#define LIBRARY_ARCHIVE_PRIV_H

#include <stdbool.h>

#include "gz/pack.h"

struct archive {
    bool is_undo;
    bool is_rescue;  /* of what is damaged, undone: keep what can be read */
    bool is_dry_run; /* count them, and nothing else */
    const struct gz_progress *progress;        /* may be NULL */
    void (*tell)(void *ctx, const char *text); /* of each that failed, or was
                                                  set aside; may be NULL */
    void *ctx;
    /* What came of it: */
    uint64_t files;         /* there or back */
    uint64_t before, after; /* … their bytes; after: not of a dry run */
    uint64_t failed;        /* as they were, but for a rescue */
    int error;              /* of the first of these */
};

/* The folder's lock is held by the caller. */
void archive_session(struct archive *a, int dir_fd, const char *dir);
void archive_run(struct archive *a, int dir_fd, const char *dir);

#endif
