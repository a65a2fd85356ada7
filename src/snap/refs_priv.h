/* SPDX-License-Identifier: MIT */
/* refs_priv.h -- the names of snapshots: refs/ahr/<session>/<id> in a shadow repository.
 */
#ifndef SNAP_REFS_PRIV_H
#define SNAP_REFS_PRIV_H

#include "snap/facts.h"

#define SNAP_REFS      "refs/ahr/"
#define SNAP_WORK_REFS "refs/work/"

struct snap_ref {
    char session[SNAP_SESSION_MAX + 1]; /* SNAP_NO_SESSION: of none */
    uint64_t id;
    char commit[SNAP_COMMIT_MAX + 1];
    struct view name; /* borrowed: the whole of it */
};

/* Appends those below a place ("refs/ahr/"), for snap_ref_next(). No lock is needed. */
int snap_refs(const char *repo_path, const char *below, struct buf *ret, struct err *err);
/* Takes the next one off *rest: false at the end. What is no name of a snapshot is passed
 * over. Pure. */
bool snap_ref_next(struct view *rest, struct snap_ref *ret);
/* Takes the next line off *rest, whatever it names: false at the end. */
bool snap_refs_line(struct view *rest, struct view *ret);
/* Are there any of that session? Asks no git. */
bool snap_refs_has(const char *repo_path, const char *session);
/* Takes them away, all or none: `refs` as snap_refs() gave them, whatever their names.
 * The repository is held alone, and marked: there is something to collect. */
int snap_refs_remove(const char *repo_path, struct view refs, struct err *err);

#endif
