/* SPDX-License-Identifier: MIT */
/*
 * clean.h -- sessions that have had their time: which these are, and away with them.
 *
 * Never one that is protected (library/protect.h), and none of which it is not known what
 * it is: whose meta cannot be read, or has no status that we know.
 */
#ifndef LIBRARY_CLEAN_H
#define LIBRARY_CLEAN_H

#include "library/census.h"

enum { LIBRARY_STATUSES = SESSION_INTERRUPTED + 1 };

struct library_clean_wish {
    uint64_t until_ns[LIBRARY_STATUSES]; /* those of that status that were over before
                                            this go; 0: none, UINT64_MAX: all */
    uint64_t keep;                       /* so many of them, the newest, stay */
};

enum library_fate {
    LIBRARY_STAYS, /* it is not meant */
    LIBRARY_GOES,
    LIBRARY_PROTECTED, /* it would go, if it were not */
    LIBRARY_KEPT,      /* … it would go, if it were not among the newest */
    LIBRARY_UNKNOWN,   /* it is not known what it is */
};

/* Zeroed it is ready for use. */
struct library_plan {
    struct library_census census;
    struct library_verdict *verdicts; /* of each, in their order */
    enum library_fate *fates;
    size_t *going; /* places of those that go, in the order in which they are to */
    size_t going_count;
};

void library_plan_release(struct library_plan *p);
/* ERR_BUSY when a session is active whose meta cannot be read: what it descends from is
 * not known, then. */
int library_plan_make(struct library_plan *ret, const char *home,
                      const struct library_clean_wish *wish, struct err *err);

/* What has become of the run's folder in its project. */
enum library_folder {
    LIBRARY_NO_FOLDER,
    LIBRARY_FOLDER_GONE,
    LIBRARY_FOLDER_SHARED, /* it stays: another session uses it */
    LIBRARY_FOLDER_LEFT,   /* it stays, and *err tells why */
};

/*
 * Removes the session at that place of the census, with the folder of its run; it is out
 * of the census then. As library_delete() otherwise; what fails leaves the session.
 *
 * The folder goes once the session is ours, out of the index, and put away to
 * sessions/.old-<id>, so that what keeps it from going costs nothing; and before its
 * files: only these lead to it. Killed between, the session is put back by the next who
 * looks (library_sweep()) and found by the next clean, and what is left of the folder by
 * its id. An error with LIBRARY_FOLDER_GONE: the session is left without it.
 */
int library_clean(struct library_plan *p, const char *home, size_t at,
                  enum library_folder *ret_folder, struct err *err);
/* All bytes of files in the session's folder, and in that of its run if it would go. */
uint64_t library_clean_bytes(const struct library_plan *p, const char *home, size_t at);

#endif
