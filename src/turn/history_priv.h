/* SPDX-License-Identifier: MIT */
/* history_priv.h -- one agent's histories: a table entry, and what its reader remembers.
 */
#ifndef TURN_HISTORY_PRIV_H
#define TURN_HISTORY_PRIV_H

#include "turn/format_priv.h"
#include "turn/history.h"
#include "turn/history_tree_priv.h"

enum {
    HISTORY_AWAITED_MAX = 64,
    HISTORY_PLACES = 3,
    HISTORY_SUMMARIES_MAX = 64,
    HISTORY_TASKS_MAX = 256,
};

struct turn_history {
    struct turn_history_options opt;
    const struct turn_history_format *format;
    struct turn_history_facts facts;
    struct turn_state s;
    struct turn_history_tree tree;
    struct buf side, scratch;
    bool is_stream; /* what was printed, not what is kept */
    /* The format's own: hashes of what was told, and may be told again; places to which a
     * line may go back. */
    struct buf told, marks;
    uint64_t totals[TURN_USAGE_FIELDS]; /* the last that were told, where a format sums */
    /* history_codex_usage.c: hashes of what records have told, and a count will tell
     * again; of the turn, the call and the thread at hand; it goes on from another. */
    struct buf awaited;
    uint64_t place[HISTORY_PLACES];
    bool is_fork;
    /* history_claude.c, as parts: summaries whose leaves have not come; calls of
     * sub-agents, with hashes of their prompts. The oldest go; so many calls have. */
    struct buf summaries, tasks;
    uint64_t tasks_gone;
};

struct turn_history_format {
    enum turn_agent agent;
    /* Is this object, valid JSON, one of its lines, and of no other's? */
    bool (*is_mine)(struct view object);
    int (*decode)(struct turn_history *h, struct view object);
};

extern const struct turn_history_format turn_history_claude, turn_history_codex,
    turn_history_gemini;

int history_tell(struct turn_history *h, const struct turn_event *e);
/* An object of a kind that is kept as it is: "type", "type/kind"; raw values. */
int history_other(struct turn_history *h, struct view type, struct view kind,
                  struct view object);
void history_trouble(struct turn_history *h, enum turn_history_trouble what);
/* The time of all that is told from now on; a raw value. */
void history_set_time(struct turn_history *h, struct view timestamp);
/* A fact from a raw value; true: it is another than before. */
bool history_learn(struct turn_history *h, struct buf *fact, struct view raw);
bool history_learn_text(struct turn_history *h, struct buf *fact, struct view text);
/* As it may be kept, in that room if it is another then. */
int history_masked(struct turn_history *h, struct view *text, struct buf *room);
/* A TURN_SESSION of the facts. */
int history_session(struct turn_history *h);
/* What follows goes on behind that event. */
int history_branch(struct turn_history *h, uint64_t from);
uint64_t history_hash(uint64_t seed, struct view text);

/* -- hashes that are remembered, the latest of them (h->told) -- */

enum { HISTORY_TOLD_MAX = 4096, HISTORY_MARKS_MAX = 1 << 16 };

int history_remember(struct turn_history *h, uint64_t hash);
/* It was, once; now it is forgotten. */
bool history_take_back(struct turn_history *h, uint64_t hash);

/* -- places (h->marks): so many events there were -- */

int history_mark(struct turn_history *h);
/* Takes the last n marks away, or all that there are; the place of the first of them.
 * False: there is none. */
bool history_unmark(struct turn_history *h, uint64_t n, uint64_t *ret_from);

/* -- history_stream.c -- */

/* TURN_AUTO: it is of none. */
enum turn_agent history_stream_agent(struct view object);
/* 1: it was of its agent's stream, and has been told. 0: it is not. */
int history_stream_line(struct turn_history *h, struct view object);

#endif
