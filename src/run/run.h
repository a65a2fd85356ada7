/* SPDX-License-Identifier: MIT */
/*
 * run.h -- `ahr run`: a command on pipes, recorded message by message.
 *
 * One process. What the command prints is decoded to events; each is masked and written
 * to session.turns.jsonl, io.log, the iteration log and the tape before it is shown. The
 * tape holds what a terminal would show, with colours, so that all that works with a
 * recording works with a run.
 */
#ifndef RUN_RUN_H
#define RUN_RUN_H

#include <stdbool.h>

#include "base/clock.h"
#include "session/id.h"
#include "session/meta.h"
#include "turn/decoder.h"
#include "turn/event.h"

/* A message for the command. */
struct run_said {
    struct view text; /* as the command is to read it, without its newline; borrowed */
    uint64_t heard;   /* messages of the command that the recording has before it */
};

/* What the command is sent before our own input: the conversation of another run. */
struct run_script {
    const struct run_said *said;
    size_t count;
    uint64_t heard;    /* messages of the command in all of the recording */
    unsigned quiet_ms; /* who has answered and rests so long has said all */
    /* Each message of the command, as io.log has it (text, thinking, tool_call,
     * tool_result, error); true: it is the recording's next. NULL: nobody compares. */
    bool (*hear)(void *ctx, enum turn_type type, struct view content);
    void (*over)(void *ctx); /* all is said: our input is next; NULL: nobody asks */
    void *ctx;
};

/* Does a message of that type count, when a run is held against another? */
bool run_script_counts(enum turn_type type);

/* Borrowed, all of it. */
struct run_options {
    const char *home;                      /* $AHR_HOME, absolute */
    const char *root;                      /* the project's folder, absolute */
    const char *name, *role, *task;        /* NULL: none */
    const char *parent;                    /* the library's id; NULL: none */
    const char *parent_name;               /* what it is called; NULL: as its id */
    const struct session_lineage *lineage; /* NULL: of no other */
    const char *const *context_files;      /* as they were given */
    size_t context_count;
    char *const *argv; /* the command, NULL at the end; "{n}" is the iteration's number */
    uint64_t iterations; /* at most, from 1 */
    const char *until;   /* NULL: none */
    enum turn_agent agent;
    unsigned flush_ms;
    uint16_t cols, rows; /* of the tape */
    bool is_echoed, is_json, is_verbose, is_coloured;
    bool is_indexed; /* `ahr index` is started at the end */
    bool is_wired;   /* what it asks of model APIs is recorded, by a proxy (tap/tap.h) */
    const char *upstream, *ca_file;  /* … of that; NULL: as it is */
    bool is_entire;                  /* the conversation also goes to .entire/ of root */
    const struct run_script *script; /* NULL: none */
    const char *own_rules; /* compiled, of redact_open(); NULL: at their default place */
    /* Told to the user, at once: trouble, and what should be known. */
    void (*say)(void *ctx, const char *text);
    /* Nothing was kept in this project before; called before the command starts or, where
     * no .gitignore could be written by then, at the end. */
    void (*greet)(void *ctx, bool has_ignore);
    /* It is kept from now on, and will begin. NULL: nobody asks. */
    void (*opened)(void *ctx, const char *id);
    void *ctx;
};

struct run_result {
    char id[SESSION_ID_LEN + 1];
    char name[65];
    enum session_status status;
    int exit_status; /* for exit(): the command's own, 128 + N for a signal; 126, 127 */
    uint64_t duration_ms, iterations, events;
    uint64_t sent; /* messages of the script */
    bool has_log, has_recording;
    bool is_key_last; /* ctrl-C: the terminal may have echoed it behind all that it shows
                       */
};

/* < 0: nothing was started, and why; ERR_BUSY: a run of that name is going on. The
 * signals that would have ended it are blocked behind it: who calls it has only to leave.
 */
int run_session(const struct run_options *opt, struct run_result *ret, struct err *err);

#endif
