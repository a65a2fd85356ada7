/* SPDX-License-Identifier: MIT */
/*
 * side.h -- one of two sessions that are compared: its turns, or a terminal's lines.
 *
 * A turn is what is said by the user or the assistant, what the model thinks, a call of a
 * tool, its result, or an error. What is different by nature (ids, times, usage, how long
 * something took) is no part of it. Texts are kept as they are shown: without control
 * characters, and masked.
 */
#ifndef PLAY_SIDE_H
#define PLAY_SIDE_H

#include "play/report.h"
#include "play/turns.h"
#include "turn/totals.h"

enum { PLAY_SIDE_TEXT_MAX = 1 << 30 }; /* of a session; more is ERR_LIMIT */

struct play_side_turn {
    enum turn_type type; /* of TEXT, THINKING, TOOL_CALL, TOOL_RESULT, ERROR */
    bool is_line;        /* of a terminal; its type is TEXT */
    bool is_user, is_sub;
    bool has_failed; /* a result; a call whose result has */
    bool has_json;   /* a call: its arguments are JSON, else a text */
    int exit_code;   /* as in turn/event.h */
    uint32_t name_size;
    uint64_t event;  /* its number in session.turns.jsonl, from 1; a line: 0 */
    size_t at, size; /* in the texts: all that is compared */
};

enum play_file_change {
    PLAY_FILE_NONE,
    PLAY_FILE_CREATED,
    PLAY_FILE_MODIFIED,
    PLAY_FILE_DELETED,
};

/* One event that told of it. */
struct play_file {
    enum play_file_change change;
    size_t at, size; /* in the texts: its path */
};

/* Zeroed it is ready for use. */
struct play_side {
    struct buf turns; /* struct play_side_turn */
    struct buf files; /* struct play_file */
    struct buf texts;
    uint64_t events, bad_lines;
    uint64_t tool_calls, failed_calls;
    uint64_t cost_microusd; /* has_cost: else nothing was told */
    bool has_cost;
    struct turn_totals totals;
    uint64_t first_ns, last_ns; /* 0: no event */
    struct buf calls;           /* private: the latest calls, for their results */
};

void play_side_release(struct play_side *s);

struct play_side_options {
    bool is_growing;       /* as in turns.h */
    struct redact *redact; /* NULL: nothing is masked */
    play_turns_bad_fn bad; /* may be NULL */
    void *ctx;
};

/* The turns of its session.turns.jsonl. ERR_MISSING: there is none. */
int play_side_read(struct play_side *s, const char *path,
                   const struct play_side_options *opt, struct err *err);
/* Its final lines; those that only the width has wrapped are joined. */
int play_side_lines(struct play_side *s, const struct play_loaded *l,
                    struct redact *redact, struct err *err);
/* One more line. */
int play_side_add_line(struct play_side *s, struct view text);

/* -- turns -- */

static inline size_t
play_side_count(const struct play_side *s)
{
    return s->turns.n / sizeof(struct play_side_turn);
}

static inline const struct play_side_turn *
play_side_at(const struct play_side *s, size_t i)
{
    return (const struct play_side_turn *)(const void *)s->turns.p + i;
}

/* Two turns are the same if their keys are, and of the same kind if these are. */
struct view play_side_key(const struct play_side *s, const struct play_side_turn *t);
struct view play_side_kind(const struct play_side *s, const struct play_side_turn *t);
/* The tool's name. */
struct view play_side_name(const struct play_side *s, const struct play_side_turn *t);
/* The text; a call's arguments. */
struct view play_side_text(const struct play_side *s, const struct play_side_turn *t);
/* Appends it as people read it: whole lines, each with its newline; is_one_line: without
 * those, and with blanks in place of others. */
int play_side_show(const struct play_side *s, const struct play_side_turn *t,
                   bool is_one_line, struct buf *out);

#endif
