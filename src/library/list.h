/* SPDX-License-Identifier: MIT */
/*
 * list.h -- all sessions of a home: from the index, and from the folders of those that
 * are not in it.
 */
#ifndef LIBRARY_LIST_H
#define LIBRARY_LIST_H

#include "library/session.h"

struct library_list {
    const char *status, *name_glob; /* NULL: any */
    uint64_t since_ns, until_ns;    /* started not before, and before; 0: any */
    uint64_t limit;                 /* 0: all */
    bool is_short; /* other facts than id, name, status, command, parent, times, size and
                      damage may be missing */
};

struct library_listed {
    uint64_t sessions;    /* that were handed over */
    uint64_t unindexed;   /* of all in sessions/ */
    uint64_t gone;        /* in the index and no more in sessions/ */
    uint64_t interrupted; /* of all in live/ */
    uint64_t damaged;     /* in damaged/ */
    struct err why; /* code < 0: the index was not used, and why (ERR_MISSING too) */
};

/* The newest first; live ones are among them. What cannot be read is passed over. fn: 0
 * ends the list, 1 goes on, else an error that is returned as it is; it must not change
 * the library. */
typedef int (*library_list_fn)(void *ctx, const struct library_session *s);
int library_list(const char *home, const struct library_list *list, library_list_fn fn,
                 void *ctx, struct library_listed *ret, struct err *err);
/* One session, from the index where it is in it, else from its folder; why: as above. */
int library_look(struct library_session *ret, const char *home, const char *id,
                 struct err *ret_why, struct err *err);

#endif
