/* SPDX-License-Identifier: MIT */
/*
 * take.h -- a snapshot of the files below a root, whoever wrote them.
 *
 * It is there whole, as refs/ahr/<session>/<id> of the shadow repository, or not at all,
 * whenever we are killed; nothing below the root is changed, not even the time of last
 * access where that can be helped. Each file in it is what it was at one moment; one that
 * would not hold still is left out and listed.
 */
#ifndef SNAP_TAKE_H
#define SNAP_TAKE_H

#include "snap/facts.h"
#include "snap/repo.h"
#include "snap/skip.h"

struct snap_limits {
    uint64_t file_bytes; /* of one file */
    uint64_t files;      /* and links, of all */
    uint64_t total_bytes;
};

extern const struct snap_limits snap_limits_defaults;

/* All borrowed. */
struct snap_request {
    const char *home;    /* $AHR_HOME: what lies there is no part of any snapshot */
    const char *root;    /* as snap_root() */
    const char *session; /* NULL: none */
    const char *label;   /* NULL: none */
    uint64_t id;         /* the next free one is taken where it is in use */
    uint64_t ts_ns, anchor_byte;
    bool is_auto, takes_all;
    bool only_changed; /* nothing is taken where nothing has changed since the last one,
                          if that is of the same session */
    bool is_work;      /* for a comparison: under refs/work/, which nobody lists */
    bool is_gentle;    /* one thread: somebody else needs the machine */
    struct snap_limits limits;
    /* What is being done, now and then, for a progress line; NULL: nobody asks. */
    void (*progress)(void *ctx, uint64_t files, uint64_t bytes);
    void *ctx;
};

struct snap_taken {
    struct snap_facts facts;
    struct snap_skips skips;
    char ref[128];
};

/* 0; 1: nothing has changed (only_changed) and *ret is empty; else an error. */
int snap_take(const struct snap_request *q, struct snap_taken *ret, struct err *err);
void snap_taken_release(struct snap_taken *t);

#endif
