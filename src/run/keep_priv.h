/* SPDX-License-Identifier: MIT */
/*
 * keep_priv.h -- where a run is kept: its folder in the library, its folder in the
 * project, and the files in them.
 *
 * Trouble with one of them is told once and costs nothing else: the command goes on, and
 * the others are written.
 */
#ifndef RUN_KEEP_PRIV_H
#define RUN_KEEP_PRIV_H

#include "journal/artifact.h"
#include "journal/entire.h"
#include "journal/iteration.h"
#include "journal/project.h"
#include "run/run.h"
#include "session/folder.h"
#include "session/lines.h"
#include "tape/writer.h"
#include "turn/totals.h"

/* Where there may be trouble: of each folder it is told once, whichever file it is. */
enum run_place { RUN_LIBRARY, RUN_PROJECT, RUN_ENTIRE };

/* What is known of the run; all texts are masked. */
struct run_facts {
    enum session_status status;
    const char *signal; /* "INT"; NULL: none */
    int exit_code;      /* < 0: none yet */
    int command_pid;    /* of what runs now; 0: nothing */
    uint64_t ended_at_ns, iterations;
    const char *agent; /* NULL: not known */
    struct buf agent_session_id, model;
    struct turn_totals totals;
    struct session_usage wire; /* by the proxy, where the command tells none … */
    bool has_wire;             /* … and it is known */
    struct buf cmd, task, cwd, branch;     /* the words of cmd, each with its NUL */
    struct buf role, parent_name, context; /* the files, as the words */
    const char **cmd_list, **context_list;
    size_t cmd_count, context_count;
    bool is_changed;     /* since they were written … */
    uint64_t at_mono_ns; /* … then */
};

/* What is to be written together, in this order. */
struct run_batch {
    struct buf turns, io, log, tape;
};

struct run_keep {
    const struct run_options *opt;
    struct clock clock;
    char id[SESSION_ID_LEN + 1];
    struct redact *redact;
    struct session_folder folder;
    struct journal_project project;
    bool has_folder, has_project;
    bool is_owed; /* by the proxy: what went over the wire is not in order yet */
    struct tape_writer *tape; /* NULL: none */
    uint64_t tape_off;        /* bytes given to it */
    struct session_lines turns, io;
    /* Nothing has taken them, and no line tells of them yet; at the end, all of them. */
    uint64_t turns_lost, io_lost;  /* lines */
    uint64_t log_lost;             /* bytes, at the ends of logs */
    bool is_named;                 /* the library knows the project's folder */
    struct journal_iteration *log; /* NULL: none now */
    struct journal_artifacts *artifacts;
    struct journal_entire *entire; /* NULL: none */
    struct run_facts facts;
    unsigned told; /* bits of enum run_place */
};

/* ERR_BUSY: the name is taken; else it goes on with what can be made. on_news: of the
 * tape, in its thread. */
int run_keep_open(struct run_keep *k, const struct run_options *opt,
                  void (*on_news)(void *ctx), void *ctx, struct err *err);
uint64_t run_keep_now_ns(const struct run_keep *k);
/* All of it, in the order of the files; then it is empty. */
void run_keep_write(struct run_keep *k, struct run_batch *b);
/* Tries again what the disk has not taken, seals what is due. */
void run_keep_tick(struct run_keep *k);
/* In how many ms that is due; UINT64_MAX: not. */
uint64_t run_keep_due_ms(const struct run_keep *k);
/* May more be read? */
bool run_keep_has_room(struct run_keep *k);
/* The next iteration's number, and its log is open (where there can be one). */
uint64_t run_keep_begin(struct run_keep *k);
/* Its end: the log is closed. signal: of ours, "INT"; reason: it crashed. */
void run_keep_end(struct run_keep *k, int exit_code, uint64_t duration_ms,
                  const char *signal, const char *reason);
/* All has ended: closed, synced, and in its place. */
void run_keep_finish(struct run_keep *k);
/* Nothing was run after all: the library has nothing of it. */
void run_keep_discard(struct run_keep *k);
void run_keep_release(struct run_keep *k);

/* -- entire.c: what goes to .entire/, where that is wanted -- */

void run_entire_open(struct run_keep *k);
/* An event that is masked, and its time in session.turns.jsonl. */
void run_entire_add(struct run_keep *k, const struct turn_event *e, uint64_t ts_ns);
void run_entire_write(struct run_keep *k);
/* Our own input has ended: nothing is written yet. */
void run_entire_asked(struct run_keep *k);
void run_entire_tick(struct run_keep *k);
/* What session.meta.json has of it. */
enum session_entire run_entire_fact(const struct run_keep *k);
uint64_t run_entire_due_ms(const struct run_keep *k);
/* All has ended; tells what is missing. */
void run_entire_finish(struct run_keep *k);
void run_entire_release(struct run_keep *k);

/* -- trouble.c -- */

/* Says it, once for each place. */
void run_keep_tell(struct run_keep *k, enum run_place place, const char *text);
/* The same of a file that cannot be written, with what becomes of it and what to do. */
void run_keep_trouble(struct run_keep *k, enum run_place place, const struct err *why);
/* At the end: what is missing; nothing is said where nothing is. why: the recording could
 * not be ended. */
void run_keep_tell_project_loss(struct run_keep *k);
void run_keep_tell_library_loss(struct run_keep *k, uint64_t tape_bytes, const char *why);

/* -- facts.c -- */

int run_facts_init(struct run_keep *k, struct err *err);
void run_facts_release(struct run_facts *f);
/* What an event tells of the agent. */
void run_facts_see(struct run_keep *k, const struct turn_event *e);
/* What the proxy has counted: it holds where the command's own stream tells nothing. */
void run_facts_learn(struct run_keep *k, const struct session_usage *used,
                     struct view model);
/* Both files; is_last: synced. */
void run_facts_write(struct run_keep *k, bool is_last);

#endif
