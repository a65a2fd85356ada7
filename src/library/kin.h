/* SPDX-License-Identifier: MIT */
/* kin.h -- which sessions go on with another one. */
#ifndef LIBRARY_KIN_H
#define LIBRARY_KIN_H

#include <stdbool.h>

#include "base/err.h"
#include "session/id.h"

/* A session that is being recorded now and goes on with that one: true, with its id. */
bool library_is_resumed(const char *home, const char *id,
                        char ret_by[SESSION_ID_LEN + 1]);

/* For who has it held and is about to delete it, since one may have begun behind the
 * census (library/census.h): -EPERM when a session that is being recorded descends from
 * it, ERR_BUSY when it cannot be read what one descends from. */
int library_check_heirs(const char *home, const char *id, struct err *err);
/* That ERR_BUSY. */
int library_refuse_unread(const char *live, struct err *err);

#endif
