/* SPDX-License-Identifier: MIT */
/*
 * history.h -- a session made, or brought up to date, of what an agent has kept.
 *
 * It is an import: its session.turns.jsonl has the events (turn/history.h), its recording
 * is empty. The id is made of the agent's own, so that the same history is the same
 * session whenever it is imported; `import.state` in its folder says how far it was read,
 * and has what the next line needs. A new session appears whole or not at all; one that
 * has grown is appended to, and what a killed import has appended is taken off by the
 * next. The history itself is only read.
 */
#ifndef LIBRARY_HISTORY_H
#define LIBRARY_HISTORY_H

#include "journal/histories.h"
#include "redact/redact.h"
#include "session/id.h"
#include "turn/history.h"

enum library_history_result {
    LIBRARY_HISTORY_NEW,
    LIBRARY_HISTORY_GROWN,     /* so much was added */
    LIBRARY_HISTORY_UNCHANGED, /* nothing is new */
    LIBRARY_HISTORY_REPLACED,  /* it was written anew, and is read anew */
    LIBRARY_HISTORY_SKIPPED,   /* *why says why */
    LIBRARY_HISTORY_RESULTS,
};

/* "grown" */
const char *library_history_result_name(enum library_history_result result);

enum { LIBRARY_HISTORY_PLACES = 64 }; /* of which each is told */

/* What may be wrong: first what is in the lines (enum turn_history_trouble). */
enum library_history_wrong {
    LIBRARY_HISTORY_TOO_LONG = TURN_HISTORY_TROUBLES, /* a line, which is left out */
    LIBRARY_HISTORY_NULS, /* beside what is good: what a disk without power has left */
    LIBRARY_HISTORY_CUT,  /* the file cannot be read from there on */
    LIBRARY_HISTORY_WRONGS,
};

/* "malformed JSON"; and in JSON: "malformed" */
const char *library_history_wrong_name(unsigned wrong);
const char *library_history_wrong_key(unsigned wrong);

/* Where it was. */
struct library_history_place {
    unsigned wrong;
    uint32_t file;         /* 0: the own one, else of a sub-agent */
    uint64_t line, offset; /* from 1; in bytes, of the line */
};

struct library_history_done {
    enum library_history_result result;
    char id[SESSION_ID_LEN + 1];
    enum turn_agent agent;
    struct buf agent_session_id, why;
    bool is_usual; /* it is skipped each time, and nobody can do anything about it */
    uint64_t events, all_events; /* added now; with those of before */
    uint64_t bytes;              /* of the history that were read now */
    uint64_t wrongs[LIBRARY_HISTORY_WRONGS];
    uint64_t unfinished; /* bytes behind the last whole line */
    struct library_history_place places[LIBRARY_HISTORY_PLACES];
    size_t place_count;
};

void library_history_done_release(struct library_history_done *d);

/* Of all sessions that are stored, sorted by what follows the day; read when it is first
 * needed. Zeroed it is ready for use. */
struct library_history_ids {
    struct buf all;
    bool is_read;
};

void library_history_ids_release(struct library_history_ids *ids);

struct library_history_options {
    const char *home;
    struct redact *redact;
    struct library_history_ids *ids; /* one for all imports under the same lock */
    bool is_dry_run;
    void (*step)(void *ctx, uint64_t bytes); /* read since the last call; may be NULL */
    bool (*is_stopped)(void *ctx);           /* NULL: never */
    void *ctx;
};

/* Whose history begins so? By lines that are whole, else by words in one that goes on
 * behind what is looked at. TURN_AUTO: nobody's that is known. */
enum turn_agent library_history_guess(struct view beginning);

/* Only one at a time a home: a descriptor to close, or ERR_BUSY. */
int library_history_lock(const char *home, struct err *err);
/* Under that lock. An error (< 0) leaves the session as it was; ERR_MISSING: the file is
 * no history of an agent's. */
int library_history_import(const struct journal_history *from,
                           const struct library_history_options *opt,
                           struct library_history_done *ret, struct err *err);

/* What is new is on the disk when this returns. */
int library_history_sync(const char *home, struct err *err);

#endif
