/* SPDX-License-Identifier: MIT */
/* diff.h -- what is different between two snapshots of one root. */
#ifndef SNAP_DIFF_H
#define SNAP_DIFF_H

#include "snap/list.h"

enum snap_change_kind {
    SNAP_ADDED = 'A',
    SNAP_DELETED = 'D',
    SNAP_MODIFIED = 'M', /* its bytes, or where a link leads */
    SNAP_TYPE = 'T',     /* a file became a link, say */
    SNAP_MODE = 'P',     /* its permissions alone */
    SNAP_UNKNOWN = '?',  /* one of the two has left it out: see skip.h */
};

struct snap_change {
    enum snap_change_kind kind;
    const char *path; /* borrowed; a folder's (an empty one, or one with other
                         permissions) ends with a slash */
};

typedef int (*snap_change_fn)(void *ctx, const struct snap_change *c);

/* Both commits are in that repository. In the order of their paths. */
int snap_diff(const struct snap_repo *repo, const char *commit_a, const char *commit_b,
              snap_change_fn fn, void *ctx, struct err *err);
/* As text for `patch` and `git apply`, to fd. */
int snap_diff_patch(const struct snap_repo *repo, const char *commit_a,
                    const char *commit_b, int fd, struct err *err);

/* Takes the name off what snap_take() has made for a comparison (is_work); its bytes go
 * when somebody tidies. */
int snap_diff_drop(const struct snap_repo *repo, const char *ref, struct err *err);

#endif
