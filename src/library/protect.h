/* SPDX-License-Identifier: MIT */
/*
 * protect.h -- which sessions are not to be deleted, by what they say of each other;
 * pure.
 *
 * Nothing that is active is, nor whatever an active one descends from (its parent, what
 * it was resumed from, and theirs in turn), nor a session of the role MANAGER. Who
 * branches or forks has the other one as its parent.
 */
#ifndef LIBRARY_PROTECT_H
#define LIBRARY_PROTECT_H

#include <stdbool.h>
#include <stddef.h>

struct library_kin {
    const char *id;                    /* borrowed, each its own */
    const char *parent, *resumed_from; /* ids, of sessions that may not be there, or of
                                          itself; NULL: none */
    const char *role;                  /* in small or large letters; NULL: none */
    bool is_active;
};

enum library_guard {
    LIBRARY_GUARD_NONE,
    LIBRARY_GUARD_ACTIVE,
    LIBRARY_GUARD_MANAGER,
    LIBRARY_GUARD_ANCESTOR, /* of an active one */
};

struct library_verdict {
    enum library_guard guard; /* the first of these that holds */
    size_t heir; /* of an ancestor: the place of an active one that descends from it */
};

#define LIBRARY_MANAGER "MANAGER"
/* In small or large letters; NULL is none. */
bool library_is_manager(const char *role);
/* One verdict a session, in their order. 0, or -ENOMEM. */
int library_protect(const struct library_kin *list, size_t count,
                    struct library_verdict *ret);

#endif
