/* SPDX-License-Identifier: MIT */
/*
 * project.h -- the folder of a run in its project: <project>/.ahr/sessions/<NAME>/ with
 * io.log, metadata.json, artifacts/ and iterations/<n>.log (seed 001).
 *
 * Where <project>/.claude-man/ exists it is used in place of .ahr/. Folders 0700, files
 * 0600. Whoever runs holds a lock on the folder (flock on the folder itself). A name that
 * was given by role comes from one counter a project, <project>/.ahr/sessions/.counter,
 * changed under its lock: never twice, also after a folder was deleted.
 */
#ifndef JOURNAL_PROJECT_H
#define JOURNAL_PROJECT_H

#include <stdbool.h>

#include "base/buf.h"

struct journal_project {
    char *root;       /* the project's folder, absolute */
    char *dir;        /* of this run, absolute */
    char *name;       /* its last part */
    const char *base; /* ".ahr" or ".claude-man" */
    int lock_fd;
    bool is_first;   /* nothing was kept in this project before: say that logs may hold
                        secrets */
    bool has_ignore; /* .gitignore is there */
    uint64_t last_number; /* that journal_project_next() gave; 0: none */
    bool is_again;        /* the folder was there: an earlier run of the same name */
};

/*
 * name NULL: by role (NULL: RUN), "ARCH-001". ERR_BUSY: a run of that name is going on.
 * An earlier run that was cut off is put in order first (journal_project_recover). Writes
 * .gitignore ("*") beside or in sessions/ where there is none; that it cannot be
 * written is no failure (has_ignore).
 */
int journal_project_open(struct journal_project *ret, const char *root, const char *name,
                         const char *role, struct err *err);
void journal_project_release(struct journal_project *p);
/* Tries again to write .gitignore where that failed; true: it is there. Waits for nobody.
 */
bool journal_project_ignore(struct journal_project *p);
/* <dir>/<what>, appended. */
int journal_project_path(const struct journal_project *p, const char *what,
                         struct buf *ret);
/* The number for the next log: one above the highest in iterations/, which is made. The
 * folder is not read again while the one that was given last is used and the next free.
 */
int journal_project_next(struct journal_project *p, uint64_t *ret, struct err *err);

/* What the prefix of names by role is: ARCHITECT ARCH, DEVELOPER DEV, MANAGER MANAGER;
 * others as they are, in capitals, what no name may hold left out; NULL RUN. */
void journal_role_prefix(const char *role, struct buf *ret);

/* A run whose process is dead: its logs are crashed, torn last lines of io.log are cut
 * off (what was torn was never shown), metadata.json says interrupted. 1: something was
 * done, 0: nothing, ERR_BUSY: it lives. dir: of the run. */
int journal_project_recover(const char *dir, struct err *err);
/*
 * Removes the folder `dir` of a run with all that is in it, for the session `id`; what is
 * left of one that was killed at that, too. 0, also when there is none. 1: it stays, and
 * *err tells why: its metadata.json says another id, or none, or it is a link or below
 * one. ERR_BUSY while a run is at it.
 */
int journal_project_remove(const char *dir, const char *id, struct err *err);
/* The same for whoever holds the folder's lock. */
int journal_project_mend(const char *dir, struct err *err);
/* The run folder called so in the project around the current folder (it, or one above
 * it), if there is one: 1, with its path and the library's id ("" when not known). */
int journal_project_find(const char *cwd, const char *name, struct buf *ret_dir,
                         struct buf *ret_id);

#endif
