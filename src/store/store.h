/* SPDX-License-Identifier: MIT */
/*
 * store.h -- library.db: an index of all sessions, made of their files, which are the
 * truth. It may be deleted at any time.
 *
 * Many processes use it at once (SQLite, WAL). Whoever has it open holds library.db.lock
 * shared, so that it is never swapped under anybody. Waiting is done here, up to a
 * deadline: callers see ERR_BUSY after that, never SQLite's own words. What lies there
 * and is no library of ours, or is damaged, is ERR_DAMAGED; one of a newer ahr is
 * ERR_NEWER; none is ERR_MISSING; each with what to do in *err.
 *
 * Texts are masked before they come here. Borrowed texts of rows live until the next
 * call.
 */
#ifndef STORE_STORE_H
#define STORE_STORE_H

#include <stdbool.h>

#include "base/buf.h"

struct store;

enum store_mode {
    STORE_READ,  /* what is there; nothing is made or migrated */
    STORE_PEEK,  /* the same, without a lock and without a trace: no file is made or
                    touched.  What others write meanwhile may look like damage */
    STORE_WRITE, /* made where it is missing, brought up to date where it is older */
};

/* path: of library.db. wait_ms: how long a call waits for others, at most. */
int store_open(struct store **ret, const char *path, enum store_mode mode,
               unsigned wait_ms, struct err *err);
void store_close(struct store *s);

/* -- a change: all of it or nothing -- */

int store_begin(struct store *s, struct err *err);
int store_commit(struct store *s, struct err *err);
void store_rollback(struct store *s); /* nothing when none was begun */

/* What is read from here to store_rollback() is of one moment, whatever others change. */
int store_begin_read(struct store *s, struct err *err);

/* -- sessions -- */

enum { STORE_ID_LEN = 47 }; /* as SESSION_ID_LEN */

/* A text that is not known is NULL, a number UINT64_MAX or, where it says so, < 0 or 0.
 */
struct store_session {
    const char *id;
    const char *name, *role, *kind, *status, *signal;
    const char *cmd;     /* JSON: an array of words */
    const char *command; /* the same in one line as a shell would take it */
    const char *cwd, *task, *parent, *resumed_from;
    const char *agent, *agent_session_id, *model;
    const char *project;                 /* a run's folder in its project */
    int exit_code;                       /* < 0: none */
    uint64_t started_at_ns, ended_at_ns; /* 0: not known */
    uint64_t bytes;                      /* of the terminal's stream */
    uint64_t size_bytes;                 /* of all files */
    unsigned cols, rows;
    uint64_t snapshots, instructions;
    uint64_t branch_snapshot, branch_byte; /* of the parent, where it has branched off */
    uint64_t fork_turn;                    /* … after so many turns of it */
    uint64_t lines, text_bytes;            /* that were indexed */
    bool is_damaged;                       /* it could not be read whole */
    /* UINT64_MAX each: not known */
    uint64_t input_tokens, output_tokens, cache_creation_tokens, cache_read_tokens, calls;
    uint64_t turns;      /* events that were indexed */
    uint64_t iterations; /* 0: not known */
};

/* One of which nothing is known. */
extern const struct store_session store_session_unknown;

/* 0 ends the walk, 1 goes on, else an error that is returned. */
typedef int (*store_session_fn)(void *ctx, const struct store_session *row);

/*
 * Keys order sessions by their start, the latest highest: milliseconds since 1970, raised
 * to the next free one. Puts a row in, or over the one with the same id, which keeps its
 * key unless its start has changed and it has no pieces; its pieces, moments and turns
 * stay. In a change.
 */
int store_session_put(struct store *s, const struct store_session *row, int64_t *ret_key,
                      struct err *err);
/* ERR_MISSING: it is not indexed. fn is called once; may be NULL. */
int store_session_get(struct store *s, const char *id, store_session_fn fn, void *ctx,
                      struct err *err);
/* The newest first. Those that fit alone; NULL and 0: any. */
struct store_filter {
    const char *name; /* exactly */
    const char *status;
    uint64_t since_ns, until_ns; /* started not before, and before */
    bool is_short; /* id, name, status, command, task, parent, start, end, size, damage,
                      kind, agent and tokens are enough */
};
int store_sessions(struct store *s, const struct store_filter *filter,
                   store_session_fn fn, void *ctx, struct err *err);
/* What finding one needs to know of it. */
struct store_brief {
    const char *id, *name;
    uint64_t started_at_ns;
};
/* As store_session_fn. */
typedef int (*store_brief_fn)(void *ctx, const struct store_brief *row);
/* Those whose id begins so; or those that are called so, and those whose name holds what
 * a mask begins with. In no order, and no others are read. */
int store_briefs_of(struct store *s, const char *id_prefix, store_brief_fn fn, void *ctx,
                    struct err *err);
int store_briefs_named(struct store *s, const char *name, const char *mask,
                       store_brief_fn fn, void *ctx, struct err *err);
/* Appends the ids (SESSION_ID_LEN + 1 bytes each, with their NUL) in their order. */
int store_ids(struct store *s, struct buf *ret, struct err *err);
/* With all that belongs to it; 0 also when there is none. In a change. The caller has
 * taken its pieces out of the index before (store_piece_remove). */
int store_session_delete(struct store *s, const char *id, struct err *err);

/* -- snapshots and instructions -- */

enum store_moment_kind { STORE_SNAPSHOT, STORE_INSTRUCTION };

struct store_moment {
    enum store_moment_kind kind;
    uint64_t id, ts_ns, anchor_byte;
    uint64_t snapshot_id; /* an instruction's; UINT64_MAX: of none */
    struct view text;
    bool is_delivered;
};

int store_moment_put(struct store *s, int64_t key, const struct store_moment *m,
                     struct err *err);

/* -- what an agent did -- */

/* An event of session.turns.jsonl. Texts that there are not are NULL. */
struct store_turn {
    uint64_t number;           /* from 1, each once */
    uint64_t ts_ns, iteration; /* 0: not known */
    const char *type;          /* as in that file */
    const char *role;          /* "user", "assistant", "tool" */
    const char *name;          /* the tool's; how it was done */
    const char *call;          /* the tool call's id */
    uint64_t text_bytes;
    bool has_failed;
};

/* All of these in a change. */
int store_turn_put(struct store *s, int64_t key, const struct store_turn *t,
                   struct err *err);

/*
 * What a session has used of one model on one day for a message, or for all those that
 * have no id that is unique in the world. Sessions may have the same message: it counts
 * in the one that can be trusted most with it, of several in the first. So what all have
 * used is the same in whatever order they come and go.
 */
struct store_message {
    uint64_t message;  /* a hash of its id; 0: of those that have none; they all count */
    uint64_t caller;   /* of a sub-agent's: of the message that called it; else 0 */
    unsigned trust;    /* the higher the better */
    const char *model; /* "": not known */
    uint64_t day;      /* since 1970, UTC; 0: not known */
    /* UINT64_MAX each: not known */
    uint64_t input_tokens, output_tokens, cache_creation_tokens, cache_read_tokens;
    uint64_t calls, open_calls; /* open: of these, that are a lower bound */
    uint64_t span;              /* of which answer it is a part; 0: of none */
    bool is_extra; /* what that answer has taken beyond its messages; message: a hash of
                      them all. Less where others know more of these, or of sub-agents
                      that these have called. */
};

/*
 * What an agent's own session (`thread`, a hash of its id) had used in all at some time.
 * Several of ours may go on with the same: each has what it has grown by, in whatever
 * order they come and go.
 */
struct store_total {
    uint64_t thread;
    bool is_history; /* all messages up to there were put as such */
    const char *model;
    uint64_t day;
    uint64_t input_tokens, output_tokens, cache_creation_tokens, cache_read_tokens;
    uint64_t calls;
};

int store_total_put(struct store *s, int64_t key, const struct store_total *t,
                    struct err *err);
/* Each message, model and day once; of an extra, each span and model. */
int store_message_put(struct store *s, int64_t key, const struct store_message *m,
                      struct err *err);
/* Behind the last of a session: from here on they count. */
int store_messages_settle(struct store *s, int64_t key, struct err *err);

/* A file that it has made, changed or removed. */
struct store_artifact {
    uint64_t turn; /* the event's number: of each, one at most */
    const char *path, *action;
    uint64_t ts_ns;
};

int store_artifact_put(struct store *s, int64_t key, const struct store_artifact *a,
                       struct err *err);

/* -- what it took -- */

enum store_usage_by {
    STORE_BY_DAY,
    STORE_BY_MODEL,
    STORE_BY_SESSION, /* the newest first */
    STORE_BY_AGENT,
    STORE_BY_PROJECT, /* the folder above a run's; else where the command ran */
};

/* Of one group, model and agent. Texts that are not known are NULL. */
struct store_usage {
    const char *group, *model, *agent;
    const char *name; /* by session */
    uint64_t day, started_at_ns;
    /* UINT64_MAX each: not known */
    uint64_t input_tokens, output_tokens, cache_creation_tokens, cache_read_tokens;
    uint64_t calls, open_calls;
};

struct store_usage_filter {
    const char *id;     /* of one session; NULL: all */
    uint64_t since_day; /* 0: any */
};

/* 0 ends the walk, 1 goes on, else an error that is returned. */
typedef int (*store_usage_fn)(void *ctx, const struct store_usage *row);
/* All that counts, a row for each group, model and agent; those of a group behind each
 * other. ERR_MISSING: that session is not indexed. */
int store_usage(struct store *s, enum store_usage_by by,
                const struct store_usage_filter *filter, store_usage_fn fn, void *ctx,
                struct err *err);
/* How many of a session's messages count in others. */
int store_repeats(struct store *s, const char *id, uint64_t *ret, struct err *err);

/* -- the text, in pieces of some lines -- */

enum { STORE_PIECES_MAX = 1 << 20 }; /* of a session */

/*
 * A piece is bytes that the caller packs, and the words under which it is found: six hex
 * digits each, separated by blanks (library/grams_priv.h). Nothing else is ever part of a
 * query.
 */
struct store_piece {
    int64_t key; /* the session's */
    uint32_t number;
    const char *id; /* the session's; when read */
    struct view packed;
};

/* In a change; numbers of a session from 0 up. */
int store_piece_put(struct store *s, const struct store_piece *piece, struct view words,
                    struct err *err);
/* The words as they were put. */
int store_piece_remove(struct store *s, int64_t key, uint32_t number, struct view words,
                       struct err *err);
/* 0 ends the walk, 1 goes on, else an error that is returned. */
typedef int (*store_piece_fn)(void *ctx, const struct store_piece *piece);

struct store_search {
    struct view words;        /* all of them; empty: every piece */
    const char *id;           /* of one session; NULL: any */
    uint64_t since_ns;        /* started not before; 0: any */
    const char *agent, *role; /* the session's, but for the case of letters; NULL: any */
};

/* The newest session first, and of a session the last piece first; nothing for an id that
 * is not indexed. fn must not change the store, nor begin such a walk itself. */
int store_pieces(struct store *s, const struct store_search *search, store_piece_fn fn,
                 void *ctx, struct err *err);

/* What sessions are called by, and what tools were: each word once, by the alphabet. */
enum store_word { STORE_AGENT, STORE_ROLE, STORE_TOOL };
/* 0 ends the walk, 1 goes on, else an error that is returned. */
typedef int (*store_word_fn)(void *ctx, const char *word);
int store_words(struct store *s, enum store_word which, store_word_fn fn, void *ctx,
                struct err *err);

/* -- the whole -- */

/* Nothing of what was deleted is left: not in free pages, not in the index of words, not
 * in the log. Not in a change. Rewrites all of it: takes time and room with its size.
 * ERR_BUSY while others read for longer than we wait. */
int store_scrub(struct store *s, struct err *err);
/* Every page and row is looked at. ERR_DAMAGED tells what is wrong. */
int store_check(struct store *s, struct err *err);
/* Of SQLite. */
const char *store_sqlite_version(void);
/* A new, empty one beside it, for filling; nobody else sees it until the swap. Closed
 * without one it is gone; what is left of a killed one is removed. */
int store_new_beside(struct store **ret, const char *path, struct err *err);
/* Removes what a killed one has left, unless one is being made right now. */
void store_sweep(const char *path);
/* Of one made beside: nobody has the library at path open any more, or opens it, until s
 * is closed or has taken its place. Waits for those who have. What was changed there up
 * to now can so be told for certain, and brought into s. */
int store_claim(struct store *s, const char *path, unsigned wait_ms, struct err *err);
/* Takes the place of the library at path, whole, in one step; what lay there is removed
 * with its log. Waits for those who have the old one open: the caller must not. Closes s
 * in any case. */
int store_swap(struct store *s, const char *path, unsigned wait_ms, struct err *err);

#endif
