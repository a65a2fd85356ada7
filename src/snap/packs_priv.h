/* SPDX-License-Identifier: MIT */
/* packs_priv.h -- packs of a shadow repository: made of others, and removed. Files of
 * packs are named as lines, "pack-<hex>.pack" each. */
#ifndef SNAP_PACKS_PRIV_H
#define SNAP_PACKS_PRIV_H

#include "base/buf.h"

enum { SNAP_PACK_NAME = 5 + 64 + 5 }; /* of a file, at most */

struct snap_pack {
    uint64_t bytes;
    char file[SNAP_PACK_NAME + 1];
};

/* Appends those that there are, the smallest first. 0 or -errno. */
int snap_packs(struct buf *ret, const char *repo_path);
/* One of what `git pack-objects` with that option is told: "--revs" and commits, or
 * "--stdin-packs" and files. Its file is appended to `made`; what the one has that is
 * there already is left out. Nothing is made, and no error, where nothing is left. */
int snap_packs_make(struct buf *made, const char *repo_path, const char *option,
                    struct view input, const char *doing, struct err *err);
/* Removes packs but those that were made, without which none goes: those of these files,
 * or all if none is named. The repository is held alone. 0 or -errno. */
int snap_packs_remove(const char *repo_path, struct view made, struct view files);
/* Those that were made, of what is still there, shall not be; before: what snap_packs()
 * gave then, for one of those may have been made again. Needs no lock. */
void snap_packs_undo(const char *repo_path, struct view made, const struct buf *before);
/* What the objects take that those commits need (a line each). */
int snap_packs_needed(uint64_t *ret, const char *repo_path, struct view commits,
                      struct err *err);

#endif
