/* SPDX-License-Identifier: MIT */
/* recorder.h -- the recorder around this command, or that of --session: what tells it of
 * snapshots finds it so. */
#ifndef CLI_RECORDER_H
#define CLI_RECORDER_H

#include "cli/live.h"

/* Whom to tell. */
struct cli_recorder {
    const char *address, *token; /* borrowed; address NULL: nobody */
    const char *variable;        /* that named it; NULL: none did */
    uint8_t selector;            /* by which it takes a snapshot of a person */
    bool has_anchors;            /* it answers IPC_ANCHOR: it is no other make's */
    struct library_live live;    /* reached by name */
};

/* session: of the option, NULL: not given. $AHR_SESSION, which is the option's variable,
 * only says in which session we are. ERR_MISSING when there is none. */
int cli_recorder_find(struct cli_recorder *ret, const char *session, struct err *err);
void cli_recorder_release(struct cli_recorder *r);
int cli_recorder_open(struct client_ask *ret, const struct cli_recorder *r,
                      struct err *err);
/* What is wrong with an answer: a session that takes nothing from inside of it is told
 * apart. */
int cli_recorder_error(const struct cli_recorder *r, int code, struct err *err);

/* One that was reached by name: is it a run? That keeps no place of a snapshot. */
bool cli_recorder_is_run(const struct cli_recorder *r);

/* May a snapshot be labelled so? */
int cli_check_label(const char *label, struct err *err);
/* May an instruction to an agent read so? */
int cli_check_instruction(const char *text, struct err *err);

#endif
