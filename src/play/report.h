/* SPDX-License-Identifier: MIT */
/*
 * report.h -- a session as a document: its final lines, with the snapshots and
 * instructions between them (doc/reports.md).
 *
 * play_load() takes the recording through the terminal model once. play_report() walks
 * over what came of it and hands the items, in order and masked, to a format (format.h).
 * The same recording gives the same bytes, wherever it lies.
 */
#ifndef PLAY_REPORT_H
#define PLAY_REPORT_H

#include "play/event.h"
#include "play/format.h"
#include "redact/redact.h"
#include "tape/reader.h"
#include "term/term.h"

/* -- the recording -- */

/* A stretch of the stream that is not there: not recorded, or lost with damage. */
struct play_gap {
    uint64_t byte_off, bytes;
    uint64_t ts_ns;   /* of the first record behind it */
    bool is_recorded; /* the recorder owned up to it (MARK 1) */
};

/* How many of the bytes that are missing the recorder owned up to, by its marks. A mark
 * that is saturated owns up to all; what is missing beyond a mark is damage. */
static inline uint64_t
play_gap_owned(uint64_t missing, uint64_t marked)
{
    return marked < missing && marked < UINT32_MAX ? marked : missing;
}

/* A record's bytes were taken. */
struct play_time {
    uint64_t end; /* the offset behind them */
    uint64_t ts_ns;
};

struct play_load_options {
    unsigned cols, rows;      /* where the recording does not say; 0: 80x24 */
    uint32_t scrollback_rows; /* 0: TERM_SCROLLBACK_ROWS */
    uint64_t to_byte;         /* only what lies before it; 0: all … */
    uint64_t to_ns;           /* … and not behind this stamp; 0: all */
    bool has_times;           /* a report with times will follow */
    tape_notice_fn notice;    /* NULL: nobody listens */
    void (*record)(void *ctx, const struct tape_record *rec); /* each; NULL: nobody */
    void *ctx;                                                /* of these two */
    const struct tape_progress *progress;
};

/* What came of a recording. */
struct play_loaded {
    struct term *term;
    struct play_events events; /* the snapshots on tape, in their order … */
    uint64_t events_left_out;  /* … but for those over its ceilings */
    struct buf gaps;           /* struct play_gap, at most PLAY_GAPS_MAX */
    uint64_t gaps_left_out;
    struct buf times; /* with has_times, struct play_time; empty: there were too many */
    uint64_t first_ts_ns, last_ts_ns; /* 0: it holds no record */
    uint64_t total_bytes;             /* where the stream ends, gaps included */
    uint64_t records;
};

enum {
    PLAY_GAPS_MAX = 10000,
    PLAY_TIMES_MAX = 2 << 20, /* records */
};

/* Fails when the recording cannot be opened, or without memory; damage is told by the
 * notices, and what can be read is in *ret. */
int play_load(struct play_loaded *ret, struct tape_io *io, const char *path,
              const struct play_load_options *opt, struct err *err);
void play_loaded_release(struct play_loaded *l);

/* -- the document -- */

enum play_order {
    PLAY_VISUAL,   /* lines as they stand on the screen; events where their byte falls */
    PLAY_POSITION, /* all by position */
};

struct play_report_options {
    enum play_order order;
    bool has_snapshots, has_instructions, has_notices;
    bool has_times;        /* items of lines get the time of their last write */
    uint64_t from_byte;    /* only lines last written behind it, and events and gaps not
                              before it; 0: all */
    struct redact *redact; /* NULL: nothing is masked */
    const struct play_about *about;
    /* For has_times: the recording is read again, unless it was loaded with them. */
    struct tape_io *io;
    const char *path;
};

/*
 * events: what stands between the lines (joined and sorted by the caller); may be NULL.
 * Bytes go to `write` in pieces; an error that it returns ends the report and is
 * returned, without a word in err.
 */
typedef int (*play_write_fn)(void *ctx, struct view bytes);
int play_report(const struct play_loaded *l, const struct play_events *events,
                const struct play_format *format, const struct play_report_options *opt,
                play_write_fn write, void *ctx, struct err *err);

#endif
