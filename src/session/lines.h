/* SPDX-License-Identifier: MIT */
/*
 * lines.h -- what a session was told, one JSON object a line: session.snapshots.jsonl and
 * session.instructions.jsonl (seed 003, 5.2).
 *
 * A line is written whole, by one call, or not at all: what a failing disk has taken half
 * is taken back. Should even that fail, the torn line is ended, and readers skip it.
 * Several processes may append to one file: each line is written under the file's lock,
 * and behind a newline where another was killed in the middle of one.
 */
#ifndef SESSION_LINES_H
#define SESSION_LINES_H

#include <stdbool.h>

#include "base/buf.h"

#define SESSION_SNAPSHOTS    "snapshots.jsonl"
#define SESSION_INSTRUCTIONS "instructions.jsonl"
#define SESSION_TURNS        "turns.jsonl" /* of a conversation: library/turns.h */
#define SESSION_WIRE         "wire.jsonl"  /* of calls of a model's API: calls/read.h */

/* Appends {"id","ts_ns","label","kind","anchor_byte"} and a newline. */
void session_snapshot_line(struct buf *out, uint64_t id, uint64_t ts_ns,
                           struct view label, bool is_manual, uint64_t anchor);

#define SESSION_NONE   UINT64_MAX
#define SESSION_NO_ROW UINT32_MAX

struct session_instruction {
    uint64_t id, ts_ns, anchor_byte;
    uint64_t snapshot_id; /* SESSION_NONE: of none */
    uint32_t row;         /* SESSION_NO_ROW: at none */
    struct view text;     /* borrowed */
    bool is_delivered;
};

/* Appends {"id","ts_ns","anchor_byte","snapshot_id","row","text","delivered"} and a
 * newline; what there is none of is null. */
void session_instruction_line(struct buf *out, const struct session_instruction *i);

/* -- reading, whatever else is there -- */

enum session_moment_kind { SESSION_SNAPSHOT, SESSION_INSTRUCTION };

/* What a line of either file says. */
struct session_moment {
    uint64_t id, ts_ns, anchor_byte;
    uint64_t snapshot_id; /* an instruction's; SESSION_NONE: of none */
    struct view text;     /* label or instruction: UTF-8; borrowed until the next one */
    bool is_delivered;
};

/*
 * Takes what stands first in *rest, a line or what is left of one, and moves it behind
 * that. 1: *ret is a moment. 0: there is nothing more. ERR_DAMAGED: it was none. Else
 * -ENOMEM. `text` is for ret->text.
 */
int session_moment_next(struct view *rest, enum session_moment_kind kind,
                        struct buf *text, struct session_moment *ret);

/* Lines that hold something that is no moment. */
struct session_unread {
    uint64_t lines;
    uint64_t first; /* its number, from 1 */
};

/* An error that it returns ends the reading and is returned. */
typedef int (*session_moment_fn)(void *ctx, const struct session_moment *moment);
/* Each moment in the file at path, as they come; none is lost for what stands beside it
 * or comes after. A file that is missing has none. */
int session_moments_read(const char *path, enum session_moment_kind kind,
                         session_moment_fn fn, void *ctx, struct session_unread *ret);

/* What tells one snapshot from another. The record's stamp may be a later one. */
struct session_snapshot_key {
    uint64_t id, ts_ns, anchor_byte;
};

/* Appends the key of each snapshot in the file at path, as session_moments_read(). */
int session_snapshot_keys(const char *path, struct buf *ret);

/* -- a file of such lines, which grows -- */

enum {
    SESSION_LINES_WAITING_MAX = 1 << 20,
    SESSION_LAST_TRIES = 4, /* of whatever is written when all ends */
};

struct session_lines {
    char *path;
    int fd;             /* -1: not open yet */
    uint64_t end;       /* of what is known to end with a newline */
    struct buf waiting; /* lines that the disk has not taken yet */
};

/* Makes nothing on disk: the file (0600) comes with the first line. path is copied. */
int session_lines_init(struct session_lines *l, const char *path);
/* The same for a file that is open already, and belongs to *l now. */
int session_lines_init_fd(struct session_lines *l, const char *path, int fd);
/* The file, which was not open yet, is this one; it belongs to *l now. */
void session_lines_use(struct session_lines *l, int fd);
/* What still waits is lost. */
void session_lines_release(struct session_lines *l);
/*
 * Adds one line, newline included, behind those that wait. 0: it is in the file.
 * ERR_LIMIT: it is lost, since too much waits. Else -errno: it waits, and is tried again
 * with the next line or flush.
 */
int session_lines_add(struct session_lines *l, struct view line);
/* 0: nothing waits any more. */
int session_lines_flush(struct session_lines *l);
/*
 * The last time: tried until all of it is in the file, or SESSION_LAST_TRIES times
 * without progress, as a disk may fail now and then; then synced. What is left waits for
 * nobody any more: *lost grows by so many lines. write: what does it in place of
 * session_lines_flush(); may be NULL.
 */
int session_lines_finish(struct session_lines *l, int (*write)(void *ctx), void *ctx,
                         uint64_t *lost);
/* For syncing; -1: no file yet. Once there is one it stays the same until release. */
int session_lines_fd(const struct session_lines *l);

uint64_t session_lines_count(struct view lines);

/* -- what a dead writer has left: lines_mend.c -- */

typedef bool (*session_line_fn)(struct view line);
/*
 * The file, open for reading and writing, then ends with a newline, or is empty: NULs at
 * its end are cut off, and so is a last line that was torn, which is one that begins like
 * one of ours and is not whole. Another one is ended. 1: it was changed, and is synced.
 */
int session_lines_mend(int fd, const char *begin, session_line_fn is_whole);

#endif
