/* SPDX-License-Identifier: MIT */
/*
 * iteration.h -- the iteration log: what was shown, on disk as it is shown (seed 000).
 *
 * A head of 512 bytes, rewritten in place at the end, then the text:
 *
 *     # Iteration 3
 *     Timestamp: 2026-01-17T10:15:30.123Z
 *     Status: in_progress
 *     ---
 *
 *     what was shown, line by line
 *
 * An append that ends with a newline is a whole event and is in the file when the call
 * returns, by one write. One that does not waits for more, at most flush_ms
 * (journal_iteration_due_ns() tells when to call tick); it is then written with a newline
 * behind it, over which what follows is written. So the file ends with a whole line at
 * any moment at which it may be killed.
 *
 * Trouble with the disk never stops the caller: what cannot be written waits, up to 8
 * MiB; what does not fit is counted, and a line in the log says so when there is room
 * again. The log is locked (flock) while it is open, so that others can tell whether its
 * writer lives.
 */
#ifndef JOURNAL_ITERATION_H
#define JOURNAL_ITERATION_H

#include <stdbool.h>

#include "base/buf.h"

enum {
    JOURNAL_HEAD = 512,
    JOURNAL_HEAD_MAX = 4096, /* of anybody's log */
    JOURNAL_FLUSH_MS = 100,
    JOURNAL_WAITING_MAX = 8 << 20,
};

struct journal_iteration;

/* Makes the file (0600), which must not exist: -EEXIST. */
int journal_iteration_open(struct journal_iteration **ret, const char *path,
                           uint64_t iteration, unsigned flush_ms, struct err *err);
/* 0: all of it is in the file, or waits for the rest of its line. Else -errno: it waits
 * for the disk, or was dropped (ERR_LIMIT). */
int journal_iteration_append(struct journal_iteration *it, struct view content);
/* The same, each line with "[stderr] " before it; a text that is open is ended first. */
int journal_iteration_append_stderr(struct journal_iteration *it, struct view content);
/* All that waits, now. */
int journal_iteration_flush(struct journal_iteration *it);
/* When tick has something to do (clock_mono_ns()); UINT64_MAX: nothing waits. */
uint64_t journal_iteration_due_ns(const struct journal_iteration *it);
void journal_iteration_tick(struct journal_iteration *it, uint64_t mono_ns);
/* True once for each new trouble, and once when it is over (code 0): the disk's -errno,
 * ERR_LIMIT when text begins to be dropped, ERR_MISSING when the file was moved, removed
 * or replaced, ERR_DAMAGED when somebody cut it. One that comes back is not told again.
 * To be asked after each call, and before close: there is room for one. */
bool journal_iteration_trouble(struct journal_iteration *it, struct err *ret);
/* The end, once: the rest is written, then the head, then it is synced. What follows is
 * refused (-EINVAL). Whatever they return, only close is left. signal: "SIGINT". reason:
 * one line. */
int journal_iteration_complete(struct journal_iteration *it, int exit_code,
                               uint64_t duration_ms);
int journal_iteration_abort(struct journal_iteration *it, const char *signal);
int journal_iteration_crash(struct journal_iteration *it, const char *reason);
/* After the end: how many bytes the disk did not take; the last line tells of them. */
uint64_t journal_iteration_missing(const struct journal_iteration *it);
/* Frees it. A log that has no end stays in_progress. */
void journal_iteration_close(struct journal_iteration *it);

/* -- others' logs -- */

enum journal_status {
    JOURNAL_IN_PROGRESS,
    JOURNAL_COMPLETED,
    JOURNAL_ABORTED,
    JOURNAL_CRASHED,
};

const char *journal_status_name(enum journal_status status);

/* What a head says, of this layout or the older one without a Status (appendix of seed
 * 000), which counts as completed. */
struct journal_head {
    uint64_t iteration;
    char timestamp[40];
    enum journal_status status;
    uint64_t duration_ms;  /* UINT64_MAX: none */
    int64_t exit_code;     /* INT64_MIN: none */
    char interrupted[256]; /* "": not */
    size_t size;           /* where the text begins */
};

/* Appends the head, `size` bytes; the spare spaces stand on the Status line. Duration and
 * Exit Code only where it is completed, Interrupted only where aborted or crashed.
 * ERR_LIMIT: it does not fit. */
int journal_head_format(const struct journal_head *h, size_t size, struct buf *out);
/* Sets `interrupted` to what fits of the text, as one clean line. */
void journal_head_reason(struct journal_head *h, const char *text);
/* Pure; `bytes` are the first of the file, 4 KiB or all of it. ERR_DAMAGED: no log. */
int journal_head_read(struct view bytes, struct journal_head *ret);
/* A log whose writer is dead: crashed, "Interrupted: unknown"; a last line that is torn
 * is ended. 1: done, 0: there was nothing to do, ERR_BUSY: its writer lives; else why. */
int journal_iteration_recover(const char *path, struct err *err);

#endif
