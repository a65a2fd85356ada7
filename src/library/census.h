/* SPDX-License-Identifier: MIT */
/*
 * census.h -- all sessions of a home, as their own files tell of them.
 *
 * For those who delete: the index may be old, and is not asked. Nothing is changed.
 */
#ifndef LIBRARY_CENSUS_H
#define LIBRARY_CENSUS_H

#include "journal/metadata.h"
#include "library/protect.h"
#include "session/meta.h"

struct library_member {
    char id[SESSION_ID_LEN + 1];
    struct session_told told; /* of its meta */
    struct journal_told run;  /* of metadata.json in its project; all 0: none */
    struct buf project;       /* its folder there, as a C string by buf_str(); may be
                                 empty */
    bool is_live;             /* it lies in live/ */
    bool is_told;             /* its meta could be read */
    bool is_held;             /* it is being recorded, or recovered */
    bool is_active;           /* that, or the process of its run lives */
    uint64_t last_ns;         /* its end, or its start, whichever is later: clocks can be
                                 set back; 0: not known */
};

/* Zeroed it is ready for use. */
struct library_census {
    struct library_member *list; /* by id */
    size_t count, cap;
    struct buf links; /* ids in sessions/ and live/ that are no folders, or links, with
                         their NUL */
};

void library_census_release(struct library_census *c);
/* A home that is not there has none. */
int library_census_take(struct library_census *ret, const char *home, struct err *err);
/* NULL: there is no such session. */
const struct library_member *library_census_find(const struct library_census *c,
                                                 const char *id);
/* `interrupted` where the recorder has vanished, whatever the meta says. NULL: none that
 * we know. */
const char *library_member_status(const struct library_member *m);
/* A verdict a session, in their order. */
int library_census_protect(const struct library_census *c, struct library_verdict *ret);
/* ERR_BUSY when one is active whose meta cannot be read: its ancestors could be any. */
int library_census_check(const struct library_census *c, struct err *err);
/* Why it is protected, as a sentence's end: "its role is MANAGER". */
void library_census_reason(const struct library_census *c,
                           const struct library_verdict *v, struct buf *out);

#endif
