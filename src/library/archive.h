/* SPDX-License-Identifier: MIT */
/*
 * archive.h -- the journals of a run that has ended, compressed where they lie; and back.
 *
 * doc/archive.md says which files, and what holds. Every reader finds them all the same
 * (gz/read.h).
 */
#ifndef LIBRARY_ARCHIVE_H
#define LIBRARY_ARCHIVE_H

#include <stdbool.h>
#include <stdint.h>

#include "base/buf.h"
#include "redact/redact.h"

struct library_archive {
    bool is_undo, is_dry_run;
    struct redact *redact;                     /* for the index, as ever */
    void (*tell)(void *ctx, const char *text); /* of a file that was left as it is */
    void (*step)(void *ctx, uint64_t done, uint64_t total); /* in bytes; may be NULL */
    void *ctx;                                              /* of both */
    struct buf *counted; /* a dry run's: run folders, each with its NUL. Several sessions
                            may share one, which counts for the first */
};

struct library_archived {
    uint64_t files;         /* there or back now, or that would be */
    uint64_t before, after; /* … their bytes; after is 0 of a dry run */
    uint64_t failed;        /* files that were left as they are, and told */
    bool has_any; /* files that an archive takes, whether they lie in one or not */
};

/*
 * ERR_BUSY for a live session, one that somebody is at, and one in whose run folder a run
 * is going on: nothing was changed. -ELOOP: that folder is reached through a link. A
 * session whose recorder has vanished is recovered first, unless it is a dry run. When
 * files are left as they are, the others are done, and it is the first one's error.
 */
int library_archive(const char *home, const char *id, const struct library_archive *opt,
                    struct library_archived *ret, struct err *err);

#endif
