/* SPDX-License-Identifier: MIT */
/*
 * format.h -- report formats, by table: one file a format.
 *
 * A format gets the items one by one and appends to `out`, which is written away between
 * calls: it keeps no more than a few words of state, and little text. Texts that reach it
 * are valid UTF-8 without control characters (an instruction's may hold newlines and
 * tabs); it escapes what its own syntax needs and nothing of a recording gets through as
 * syntax.
 */
#ifndef PLAY_FORMAT_H
#define PLAY_FORMAT_H

#include <stdbool.h>

#include "base/json.h"
#include "play/event.h"
#include "term/term.h"

enum play_item_kind {
    PLAY_ITEM_LINE,
    PLAY_ITEM_SNAPSHOT,
    PLAY_ITEM_INSTRUCTION,
    PLAY_ITEM_NOTICE, /* what a reader must know: a gap, dropped rows, no masking */
};

struct play_item {
    enum play_item_kind kind;
    uint64_t position; /* last_write_byte, anchor_byte, or where a gap begins */
    uint64_t index;    /* a line's: from 0, in visual order */
    uint64_t ts_ns;    /* an event's stamp; a line's with has_times; 0: none */
    struct view text;  /* a line's, a label, an instruction's, a notice's */
    const struct term_line *line;   /* a line's looks; text as above, masked */
    const struct play_event *event; /* a snapshot's or instruction's other facts */
};

/* What is known of the session as such; texts are clean UTF-8, NULL: none. */
struct play_session {
    const char *id, *command, *cwd, *status, *signal;
    int exit_code;     /* < 0: none */
    uint64_t ended_ns; /* its end, or its last record */
};

/* What stands at the head of a document. */
struct play_about {
    const char *title; /* NULL: none; clean UTF-8 */
    uint64_t start_ns; /* the first record's stamp: times count from here */
    uint64_t total_bytes;
    unsigned cols, rows;
    bool is_masked; /* else the document says that it is not */
    bool has_times;
    const struct play_session *session; /* for those that are is_by_time; else NULL */
    const struct play_events *events;   /* those that will come, for a list of contents */
    const char *facts; /* of a conversation: a line below the title; NULL: none */
};

struct play_out {
    struct buf *out;                /* borrowed */
    const struct play_about *about; /* borrowed */
    struct json json;               /* into out, for those that need it */
    uint64_t items, lines;          /* counted by play_report before each item */
    uint64_t state[8];              /* the format's own; zero at the beginning */
    struct buf held;                /* … and what it cannot write yet, some 256 KiB */
};

struct play_format {
    const char *name; /* as --format has it */
    void (*begin)(struct play_out *o);
    void (*item)(struct play_out *o, const struct play_item *item);
    void (*end)(struct play_out *o);
    bool wants_spans; /* colours and links, not the text alone */
    bool is_lines;    /* the final lines alone: no snapshots or instructions in it */
    bool is_by_time;  /* lines come by position, with times, whatever else was asked */
};

extern const struct play_format play_format_md, play_format_json, play_format_csv,
    play_format_txt, play_format_ansi, play_format_html,
    play_format_events,        /* the normalised stream (doc/events.md) */
    play_format_branch_points, /* JSON with sorted keys (seed 003, branch-points) */
    play_format_ruled;         /* lines, with a visible rule where a snapshot stands */

/* NULL: no such format. */
const struct play_format *play_format_find(const char *name);

#endif
