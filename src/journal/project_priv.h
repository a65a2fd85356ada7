/* SPDX-License-Identifier: MIT */
/*
 * project_priv.h -- the folder of all runs of a project, <project>/.ahr/sessions.
 *
 * Names are given, and the folder is put in order, under its lock (flock on the folder
 * itself), which is held for moments only. No link is followed below the project: a
 * cloned repository may have one that leads anywhere.
 */
#ifndef JOURNAL_PROJECT_PRIV_H
#define JOURNAL_PROJECT_PRIV_H

#include <stdbool.h>

#include "base/buf.h"

struct journal_runs {
    int fd;           /* of sessions/; its lock is held */
    const char *base; /* ".ahr" or ".claude-man" */
    bool is_first;    /* sessions/ was made just now */
    bool has_ignore;  /* .gitignore is there */
};

/* Makes what is missing, and .gitignore. root: absolute. */
int journal_runs_open(struct journal_runs *ret, const char *root, struct err *err);
void journal_runs_release(struct journal_runs *s);
/* ".claude-man" where there is such a folder (or link), else ".ahr". */
const char *journal_runs_base(int root_fd);

/* A new folder of that prefix; its name is appended. Never one that was given before. */
int journal_name_claim(int runs_fd, const char *prefix, struct buf *ret_name,
                       struct err *err);

#endif
