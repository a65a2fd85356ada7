/* SPDX-License-Identifier: MIT */
/* list.h -- the snapshots that there are, and one of them by what a person calls it. */
#ifndef SNAP_LIST_H
#define SNAP_LIST_H

#include "snap/facts.h"
#include "snap/repo.h"

/* repo_path: of its shadow repository. Returns 0, or what ends the list. */
typedef int (*snap_list_fn)(void *ctx, const struct snap_facts *f, const char *repo_path);

/* What is to be listed; NULL: any. */
struct snap_filter {
    const char *session; /* its id; SNAP_NO_SESSION: those of none */
    const char *root;    /* real path */
};

/* In the order of their time. A repository that cannot be read costs the others nothing:
 * ERR_DAMAGED at the end, with the first reason. */
int snap_list(const char *home, const struct snap_filter *filter, snap_list_fn fn,
              void *ctx, struct err *err);

/* Has that session any, as far as can be told without starting a git? */
bool snap_has(const char *home, const char *session);

struct snap_found {
    struct snap_facts facts;
    struct snap_repo repo; /* open, shared */
};

/* `what`: an id, a unique beginning of one (four digits and more), a whole label or the
 * first seven hex digits and more of a commit, if there is but one such; `last`. Those of
 * here (a root; may be NULL) come first: only where none fits are the others looked at.
 * ERR_MISSING; ERR_USAGE when several fit, which *err names. */
int snap_find(struct snap_found *ret, const char *home, const char *here,
              const char *what, struct err *err);
/* The same among those of one session alone. */
int snap_find_of(struct snap_found *ret, const char *home, const char *session,
                 const char *what, struct err *err);
void snap_found_release(struct snap_found *f);

#endif
