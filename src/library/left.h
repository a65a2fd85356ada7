/* SPDX-License-Identifier: MIT */
/*
 * left.h -- sessions of a folder that were cut off, and wait for somebody to go on.
 *
 * Found without the index, by those who start another session there: runs by their
 * metadata.json in the project, terminals by their folder in live/ and, where they were
 * recovered meanwhile, by a line of <home>/interrupted, which recover writes: `cut ID
 * FOLDER`; `settled ID` for one that somebody went on with, `declined ID` for one that
 * somebody, when asked, did not want to. That file is a help, no truth: without it some
 * sessions are not offered.
 */
#ifndef LIBRARY_LEFT_H
#define LIBRARY_LEFT_H

#include <stdbool.h>
#include <stdint.h>

#include "base/err.h"
#include "session/id.h"

struct library_left {
    char id[SESSION_ID_LEN + 1];
    const char *name, *task; /* NULL: none */
    uint64_t started_at_ns;  /* 0: not known */
    int command_pid; /* its command has outlived its recorder, and goes on; 0: it has not
                      */
};

/* 0 ends it, 1 goes on; what is handed over is borrowed. */
typedef int (*library_left_fn)(void *ctx, const struct library_left *left);
/* Each that began in that folder, or is kept in the project around it, the newest first;
 * with_declined: those, too. A run whose process is dead is marked as interrupted on the
 * way. */
void library_left_each(const char *home, const char *folder, bool with_declined,
                       library_left_fn fn, void *ctx);
/* Only that: runs of the project around the folder whose process is dead. */
void library_left_mark(const char *folder);
/* It was recovered. */
void library_left_note(const char *home, const char *id, const char *folder);
/* It is locked away, or gone: no line of that file names it any more. */
int library_left_forget(const char *home, const char *id, struct err *err);
/* Somebody goes on with it: it is not to be offered again. */
void library_left_settle(const char *home, const char *id);
/* Somebody does not want to: it is not to be asked for again. */
void library_left_decline(const char *home, const char *id);

#endif
