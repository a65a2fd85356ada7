/* SPDX-License-Identifier: MIT */
/*
 * names_priv.h -- the files of a snapshot get their names: the tree, as fast-import is
 * told of it.
 *
 * It looks through the whole folder for each name. Where very many names of one folder
 * change that would take a time that grows with their square: the tree of such a broad
 * folder is made here, and fast-import is told of it as a whole.
 */
#ifndef SNAP_NAMES_PRIV_H
#define SNAP_NAMES_PRIV_H

#include "snap/fate_priv.h"

enum { SNAP_NAMES_BROAD = 2000, SNAP_ID_BYTES = 20 };

struct snap_names {
    const struct snap_fates *fates; /* borrowed, as the next three */
    struct snap_import *import;
    const char *repo_path;
    const char *base;             /* the tree of the last snapshot's files; "": none */
    uint32_t *changes;            /* in each folder, by its entry */
    uint8_t (*id)[SNAP_ID_BYTES]; /* of each entry in a broad folder; NULL: none is */
};

/* Before the commit begins: all blobs are sent. The four that are borrowed are set. */
int snap_names_init(struct snap_names *n, struct err *err);
/* In the commit, behind the base. What fast-import fails at is left to it. */
int snap_names_put(struct snap_names *n, struct err *err);
void snap_names_release(struct snap_names *n);

#endif
