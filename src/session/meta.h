/* SPDX-License-Identifier: MIT */
/*
 * meta.h -- the facts of a session, session.meta.json (seed 003, 5.3, and more).
 *
 * Replaced atomically: a reader finds the old one or the new one, whole.
 */
#ifndef SESSION_META_H
#define SESSION_META_H

#include <stdbool.h>

#include "base/buf.h"
#include "session/id.h"

enum session_status {
    SESSION_ACTIVE,
    SESSION_COMPLETED,   /* ended by itself, exit 0 */
    SESSION_FAILED,      /* by itself, not 0 */
    SESSION_CRASHED,     /* killed by a signal that was not ours */
    SESSION_ABORTED,     /* a person or signal stopped it; `signal` names it */
    SESSION_INTERRUPTED, /* the recorder vanished */
    SESSION_ENCRYPTED,   /* how it ended is locked away with all else */
};

const char *session_status_name(enum session_status status);

/* Where a session has branched off from its parent: the files that it began with. */
struct session_branch {
    const char *from; /* the session's id; borrowed */
    uint64_t snapshot_id;
    uint64_t anchor_byte; /* of the parent's stream; UINT64_MAX: of none */
};

/* Whose conversation a session goes on with: all of it, or its first turns. */
struct session_lineage {
    const char *resumed_from; /* the session's id; NULL: of none; borrowed */
    uint64_t fork_turn; /* it has so many turns of its parent; UINT64_MAX: no fork */
};

/* What the model's answers took; UINT64_MAX each: not known. input_tokens are without the
 * cached ones. */
struct session_usage {
    uint64_t input_tokens, output_tokens, cache_creation_tokens, cache_read_tokens, calls;
};

/* Whether a run keeps its conversation in its project's .entire/ (journal/entire.h): who
 * is not told so has no files there, whatever is called like it. */
enum session_entire {
    SESSION_ENTIRE_NONE,
    SESSION_ENTIRE_WANTED, /* "entire":false: nothing was made there yet */
    SESSION_ENTIRE_MADE,   /* "entire":true: what is not there now was removed */
};

#define SESSION_NO_USAGE                                           \
    (struct session_usage)                                         \
    {                                                              \
        UINT64_MAX, UINT64_MAX, UINT64_MAX, UINT64_MAX, UINT64_MAX \
    }

/* What the recorder knows. All texts are borrowed; NULL: left out. */
struct session_meta {
    const char *id;
    enum session_status status;
    uint64_t started_at_ns, ended_at_ns; /* 0: not yet */
    const char *const *cmd;              /* masked; cmd_count of them */
    size_t cmd_count;
    int host_pid;        /* of the recorder; 0: it has ended */
    uint16_t cols, rows; /* at the start; 0: not known */
    int quality;
    const char *name, *role, *task, *parent, *cwd;
    const char *git_branch;                /* on which it began */
    const struct session_branch *branch;   /* NULL: it has not */
    const struct session_lineage *lineage; /* NULL: of no other */
    const char *signal;                    /* "TERM"; NULL: none */
    int exit_code;                         /* < 0: none */
    uint64_t total_bytes;
    uint64_t gaps, missing_bytes; /* places where bytes are missing, and how many */
    bool is_suspect;              /* a sync has failed */
    bool has_input, is_redacted;
    const char *kind;   /* "import", "stream"; NULL: a terminal, recorded here */
    const char *source; /* the file it was imported from */
    /* of a run: */
    const char *agent, *agent_session_id, *model;
    const char *project;               /* its folder in its project, absolute */
    const struct session_usage *usage; /* NULL: nothing is known of it */
    uint64_t iterations;               /* begun so far; 0: left out */
    enum session_entire entire;
    const char *const *env; /* names and values by turns, NULL at the end; NULL: this
                              process's */
};

/* Appends the JSON text, with ahrVersion, and, unless it was imported, host {os, arch},
 * and TERM, COLORTERM, LANG and SHELL of this process's environment as "env". */
void session_meta_format(const struct session_meta *m, struct buf *out);
/* By temporary file, fsync, rename, fsync of the folder; is_synced false: without the
 * syncs, for the first one, which the recorder's start need not wait for. */
int session_meta_write(const char *path, const struct session_meta *m, bool is_synced,
                       struct err *err);

enum { SESSION_COMMAND_MAX = 1024 }; /* of a command line that is shown */

/* What finders need of a meta.json that anybody may have written. */
struct session_facts {
    char id[SESSION_ID_LEN + 1]; /* "" when there is none */
    char name[65];
    char status[16];
    char command[SESSION_COMMAND_MAX]; /* one line as a shell would take it, cut off with
                                          "…" */
    uint16_t cols, rows;
    int exit_code; /* < 0: none */
    uint64_t started_at_ns, ended_at_ns;
};

/* Bounded (1 MiB) whatever lies there; ERR_DAMAGED for what is no such file. Fields of
 * the wrong type are left empty, and so are numbers past 63 bits; who changes such a file
 * writes null for them. */
int session_meta_read(const char *path, struct session_facts *ret, struct err *err);
/*
 * All that it says of the session, in full; zeroed it is ready for use. Texts lie in
 * `texts`, NULL: none.
 */
struct session_told {
    const char *name, *role, *kind, *status, *signal, *cwd, *git_branch, *task, *parent;
    const char *resumed_from, *agent, *agent_session_id, *model, *project, *source;
    struct view words; /* of the command, each with its NUL; p NULL: none */
    unsigned cols, rows;
    int exit_code;                       /* < 0: none */
    uint64_t started_at_ns, ended_at_ns; /* 0: not known */
    uint64_t total_bytes;                /* UINT64_MAX: not known */
    uint64_t branch_snapshot;            /* it began with those files; UINT64_MAX: none */
    uint64_t branch_byte;                /* … at that place of its parent; as above */
    uint64_t fork_turn;                  /* it has so many turns of it; as above */
    struct session_usage usage;
    uint64_t iterations; /* 0: not known */
    enum session_entire entire;
    int host_pid; /* of its recorder; 0: it has ended, or is not known */
    struct buf texts;
};

void session_told_release(struct session_told *t);
/* As session_meta_read(). */
int session_meta_tell(const char *path, struct session_told *ret, struct err *err);
/* Appends words, each with its NUL, as one line as a shell would take it; cut off with
 * "…" so that it is shorter than `max` bytes. */
int session_command_line(struct view words, size_t max, struct buf *out);
/* Each fact of it as text, in its order: numbers, "yes" and "no", lists of words as one
 * command line, what an object holds as "outer.inner". Texts are as they stand there. */
typedef void (*session_fact_fn)(void *ctx, const char *key, const char *text);
int session_meta_each(const char *path, session_fact_fn fn, void *ctx, struct err *err);
/* Appends it as JSON on one line, in ASCII without control characters. */
int session_meta_json(const char *path, struct buf *ret, struct err *err);
/* Sets status `interrupted`, totalBytes and endedAtNs, and keeps all else as it is, in
 * its order; makes a small one where there is none or a damaged one (kept as *.bad). */
int session_meta_interrupt(const char *path, const char *id, uint64_t total_bytes,
                           uint64_t ended_at_ns, struct err *err);
/* What is of no use there is kept as *.bad; 0 also where there is none. */
int session_meta_set_aside(const char *path, struct err *err);
/* What the events of a run tell and its meta may not know yet: set where it is told here
 * (NULL, 0: it is not), all else is kept as it is. ERR_MISSING and ERR_DAMAGED: there is
 * no meta. */
struct session_learnt {
    const char *agent, *agent_session_id, *model;
    struct session_usage usage;
    uint64_t iterations;
};
int session_meta_learn(const char *path, const struct session_learnt *learnt,
                       struct err *err);
/* Sets the name, NULL: takes it away, and keeps all else as it is, in its order.
 * ERR_DAMAGED for what is no session.meta.json: it stays as it is. */
int session_meta_rename(const char *path, const char *name, struct err *err);
/* Of Jansson. */
const char *session_jansson_version(void);

#endif
