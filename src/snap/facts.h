/* SPDX-License-Identifier: MIT */
/*
 * facts.h -- what is known of a snapshot: the message of its commit, one JSON object on
 * one line. Pure.
 */
#ifndef SNAP_FACTS_H
#define SNAP_FACTS_H

#include <stdbool.h>

#include "base/buf.h"

#define SNAP_NONE       UINT64_MAX
#define SNAP_NO_SESSION "none" /* in place of a session, in refs/ahr/<session>/<id> */

enum { SNAP_SESSION_MAX = 64, SNAP_COMMIT_MAX = 64 };

struct snap_facts {
    uint64_t id;
    char session[SNAP_SESSION_MAX + 1]; /* "": taken outside of a recording */
    char commit[SNAP_COMMIT_MAX + 1];   /* hex; no part of the message */
    bool is_auto;
    uint64_t ts_ns;
    uint64_t anchor_byte; /* SNAP_NONE: no terminal */
    uint64_t files, bytes, skipped;
    bool has_all; /* also what .gitignore names */
    char *label;  /* "": none; owned */
    char *root;   /* owned */
};

void snap_facts_release(struct snap_facts *f);
/* Appends {"id","session","label","kind","ts_ns","anchor_byte","files","bytes","skipped",
 * "all","root"} and a newline; what there is none of is null. root is written as
 * UTF-8 with what is none replaced: the repository has the true one. */
void snap_facts_put(struct buf *out, const struct snap_facts *f);
/* ERR_DAMAGED; *ret is then empty. Unknown keys are passed over. */
int snap_facts_get(struct snap_facts *ret, struct view message);

#endif
