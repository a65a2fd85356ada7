/* SPDX-License-Identifier: MIT */
/*
 * io.h -- io.log: all that went in and came out, one JSON object a line (seed 001).
 *
 *     {"timestamp":"2026-11-03T10:15:30.123Z","direction":"in","content":"…"}
 *     {"timestamp":…,"direction":"out","content":"…","type":"tool_call",…}
 *     {"timestamp":…,"direction":"out","content":"…","stream":"stderr"}
 *     {"timestamp":…,"direction":"artifact","path":"…","action":"created"}
 *
 * "open":true marks what went in without a newline, and goes on in the next line that
 * did. Content that is not UTF-8 goes as base64, with "encoding":"base64". `content` of
 * what came out is the text as it is shown, whole; "partial":true marks a piece of a
 * message that follows whole, so that a reader who wants each message once skips these
 * (unless none follows: then they are all there is). One write a line; several processes
 * may append at once.
 */
#ifndef JOURNAL_IO_H
#define JOURNAL_IO_H

#include <stdbool.h>

#include "base/buf.h"
#include "base/iso.h"
#include "session/lines.h"

enum journal_direction { JOURNAL_IN, JOURNAL_OUT, JOURNAL_ARTIFACT };

struct journal_io_entry {
    uint64_t ts_ns;
    enum journal_direction direction;
    struct view content; /* IN and OUT */
    const char *type;    /* OUT: turn_type_name(); NULL: none */
    bool is_stderr, is_partial;
    uint64_t iteration;       /* 0: none */
    struct view path, action; /* ARTIFACT */
    struct view
        more; /* further members as JSON, with a comma before each; may be empty */
};

/* Appends the line, newline included. Texts are masked already. */
void journal_io_line(const struct journal_io_entry *e, struct buf *out);
/* One line, whoever wrote it; texts lie in `texts`, which is cleared first. ERR_DAMAGED:
 * it is none. `type` is NULL or one of turn_type_name()'s. */
int journal_io_read(struct view line, struct buf *texts, struct journal_io_entry *ret);
/* An error that it returns ends the reading and is returned; what is handed over is
 * borrowed. */
typedef int (*journal_io_fn)(void *ctx, const struct journal_io_entry *e);
/*
 * Each line of the io.log at path, archived or not, in its order, in memory for one at a
 * time; none is lost for what stands beside it. ret (may be NULL): the lines that hold
 * something else. ERR_MISSING: there is no such file. ERR_DAMAGED: it is archived, and
 * cannot be read to its end; all before that was handed over, and *ret is set.
 */
int journal_io_each(const char *path, journal_io_fn fn, void *ctx,
                    struct session_unread *ret, struct err *err);
/* Appends "2026-11-03T10:15:30.123Z"; and back, 0 for what is none. */
#define journal_time iso_time
uint64_t journal_time_read(struct view text);
/* Appends the line to the file (0600, made where it is missing) by one write; for those
 * who have one line to say. A file that ends in the middle of a line is ended first; one
 * that is archived is unpacked first. Waits for who archives it just now. */
int journal_io_append(const char *path, struct view line, struct err *err);
/* An archived io.log of the run in dir, as a plain file again; for whoever holds the
 * folder's lock, which is dir_fd's. One that is plain stays. */
int journal_io_restore(int dir_fd, const char *dir, struct err *err);

#endif
