/* SPDX-License-Identifier: MIT */
/*
 * log.h -- iteration logs read, also while they are written, and whoever wrote them.
 *
 * The newline at the end of a log that is in progress may be one that the rest of its
 * line takes the place of (iteration.h): it is held back until something stands behind it
 * or the log has its end.
 */
#ifndef JOURNAL_LOG_H
#define JOURNAL_LOG_H

#include "journal/iteration.h"

struct gz;

struct journal_log {
    char *path;
    int fd;                   /* -1: it is archived, and read from: */
    struct gz *archive;       /* … which nobody writes to */
    struct buf ahead;         /* of that: what was read for the head */
    struct journal_head head; /* as it was at the last read */
    struct buf head_text;     /* … its bytes; empty: it has none yet */
    uint64_t at;              /* where the next text begins */
};

/* A plain file, links are followed; or an archive of it (gz/read.h), which none is. */
int journal_log_open(struct journal_log *ret, const char *path, struct err *err);
void journal_log_release(struct journal_log *l);
/* Reads the head as it is now. ERR_DAMAGED: there is none. */
int journal_log_look(struct journal_log *l);
/* Appends the text that follows, some of it: how many bytes, 0: there is no more now;
 * else -errno, or ERR_DAMAGED for what an archive has lost. is_last: nothing is held
 * back. A file that was cut is read on from its end. Only after journal_log_look(); what
 * that says is from before this read. */
ssize_t journal_log_read(struct journal_log *l, bool is_last, struct buf *ret);
/* Does its writer live? */
bool journal_log_is_written(const struct journal_log *l);
/* Is another file in its place? */
bool journal_log_is_replaced(const struct journal_log *l);

/* -- the logs of a run; dir: its folder -- */

enum { JOURNAL_LOGS_MAX = 1 << 20 };

/* The numbers of all logs (uint64_t), archived or not, in order, appended; none where
 * there is no folder of them. */
int journal_logs_list(const char *dir, struct buf *ret);
/* Is it the name of a log, as we write it: "12.log"? */
bool journal_log_is(const char *name, uint64_t *ret);
/* Appends "<dir>/iterations/<n>.log". */
int journal_logs_path(const char *dir, uint64_t n, struct buf *ret);
/* Is the last message of the run whole, by its io.log, and not of this very moment? Then
 * the newline at the end of its log stays. An archived run has come to an end. */
bool journal_run_rests(const char *dir);
/* Does the run go on? */
bool journal_run_is_on(const char *dir);
/* The run that was written to last in the project around the folder (it, or one above
 * it): 1, with its path; 0: there is none. */
int journal_run_last(const char *cwd, struct buf *ret_dir);

#endif
