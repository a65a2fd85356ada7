/* SPDX-License-Identifier: MIT */
/*
 * metadata.h -- metadata.json: what is known of a run (seed 001), replaced whole.
 *
 * The seed's fields: session_id (the name), role, status, created_at, completed_at,
 * parent_session (its name, else its id), task, context_files, artifacts_produced, pid,
 * exit_code; and beside them id (of the library), pid_start (when that process began, so
 * that a number that was used again is not taken for it), command_pid and command_start
 * (the same of the command that it runs now), signal, cmd, cwd, agent,
 * agent_session_id, model, iterations, resumed_from, usage{…}.
 */
#ifndef JOURNAL_METADATA_H
#define JOURNAL_METADATA_H

#include "turn/event.h"

enum { JOURNAL_METADATA_MAX = 1 << 20 }; /* bytes of the file */

/* Texts are borrowed and masked, NULL: none. */
struct journal_metadata {
    const char *id, *name, *role, *status, *signal, *parent, *resumed_from, *task;
    const char *cwd, *agent, *agent_session_id, *model;
    const char *const *cmd;
    size_t cmd_count;
    const char *const *context_files;
    size_t context_count;
    struct view artifacts;                   /* paths, each with its NUL, each once */
    uint64_t created_at_ns, completed_at_ns; /* 0: not yet */
    int pid;                                 /* 0: none */
    uint64_t pid_start;                      /* journal_process_start(); 0: not known */
    int command_pid;                         /* of what it runs now; 0: nothing */
    uint64_t command_start;                  /* as above */
    int exit_code;                           /* < 0: none */
    uint64_t iterations;
    struct turn_usage usage;
    uint64_t calls;
};

/* `old` is what stands in the file now (whoever wrote it; empty: nothing): its artifacts
 * and the members that are none of ours are kept. */
void journal_metadata_format(const struct journal_metadata *m, struct view old,
                             struct buf *out);
/* By temp + fsync + rename + fsync of the folder; is_synced false: without the syncs, for
 * what changes while it runs. What others have added meanwhile (journal_metadata_change)
 * stays: changes are made under a short lock, metadata.json.lock. ERR_BUSY: somebody has
 * it, and nothing is written; what is to be synced waits for longer, and is written all
 * the same. */
int journal_metadata_write(const char *path, const struct journal_metadata *m,
                           bool is_synced, struct err *err);

/* What others need of one that anybody may have written; bounded
 * (JOURNAL_METADATA_MAX). Texts lie in
 * `texts`, NULL: none. Zeroed it is ready for use. */
struct journal_told {
    const char *id, *name, *role, *status, *parent, *task, *signal, *resumed_from;
    const char *cwd, *agent, *agent_session_id, *model;
    uint64_t created_at_ns, completed_at_ns;   /* 0: not known */
    struct view artifacts, context_files, cmd; /* each with its NUL */
    int exit_code;                             /* < 0: none */
    uint64_t iterations;
    int pid, command_pid;              /* 0: none */
    uint64_t pid_start, command_start; /* 0: not known */
    struct buf texts;
};

void journal_told_release(struct journal_told *t);
int journal_metadata_read(const char *path, struct journal_told *ret, struct err *err);
/* -EACCES where all that is there of the run in the folder dir is locked away
 * (library/encrypt.h): nothing is to be written there. Who writes asks once it has the
 * lock that is for it, since encrypt has all of these until only that is left. */
int journal_refuse_encrypted(const char *dir, struct err *err);
/* Changes these members and leaves all others as they are, byte for byte where it can:
 * for recover (status, completed_at, exit_code null) and `ahr artifact add`. A NULL or 0
 * leaves that one alone; a status takes the exit_code with it. artifact: added to
 * artifacts_produced, once. */
int journal_metadata_change(const char *path, const char *status,
                            uint64_t completed_at_ns, const char *artifact,
                            struct err *err);

/* The same over bytes; pure. ERR_DAMAGED: `old` is no JSON object. */
int journal_metadata_edit(struct view old, const char *status, uint64_t completed_at_ns,
                          const char *artifact, struct buf *out);

/* Which process that it names is still there: the command, which may have outlived who
 * started it, else the recorder; 0: none. One whose number was used again is not; of one
 * whose start it does not tell, it is while the status is `active`. */
int journal_told_alive(const struct journal_told *t);
/* When that process began, in the kernel's own unit (of /proc/PID/stat); 0: there is
 * none. */
uint64_t journal_process_start(int pid);
/* Does that process live, and is it the one that began then? start 0: nobody knows, and
 * it is not. */
bool journal_process_is(int pid, uint64_t start);

#endif
