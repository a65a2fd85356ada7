/* SPDX-License-Identifier: MIT */
/* skip.h -- what a snapshot has left out, and why. Pure. */
#ifndef SNAP_SKIP_H
#define SNAP_SKIP_H

#include <stdbool.h>

#include "base/buf.h"

enum snap_reason {
    SNAP_SKIP_LARGE,      /* over the ceiling for one file */
    SNAP_SKIP_MANY,       /* over the ceiling for their number */
    SNAP_SKIP_TOTAL,      /* over the ceiling for all together */
    SNAP_SKIP_UNREADABLE, /* file or folder */
    SNAP_SKIP_CHANGING,   /* written to while it was read, again and again */
    SNAP_SKIP_DEVICE,     /* devices */
    SNAP_SKIP_FIFO,
    SNAP_SKIP_SOCKET,
    SNAP_SKIP_MOUNT, /* another file system is mounted there */
    SNAP_SKIP_NAME,  /* .git in other letters, or a path that is too long */
    SNAP_SKIP_OURS,  /* where ahr keeps its files */
    SNAP_REASONS,
};

/* A word for JSON and files: "large". */
const char *snap_reason_word(enum snap_reason r);

enum { SNAP_SKIPS_KEPT = 100000 };

/* The first SNAP_SKIPS_KEPT of them by path, each "WORD PATH" and NUL; and how many there
 * are of all. */
struct snap_skips {
    struct buf list;
    uint64_t kept, count;
};

void snap_skips_release(struct snap_skips *s);
int snap_skips_add(struct snap_skips *s, enum snap_reason why, const char *path);

struct snap_skip {
    const char *word; /* not ended by NUL: word_len bytes */
    size_t word_len;
    const char *path; /* borrowed; ended by NUL */
};
/* Takes the next one off *rest: false at the end, or where it is damaged. */
bool snap_skip_next(struct view *rest, struct snap_skip *ret);
/* The reason, as a person is told it: "larger than --max-file". */
const char *snap_skip_text(const struct snap_skip *s);

#endif
