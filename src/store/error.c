/* SPDX-License-Identifier: MIT */
/* error.c -- SQLite's results as our codes, and as words for people. */
#include <errno.h>

#include "store/store_priv.h"

#define ANEW "'ahr reindex' makes it anew"

int
store_damaged(const char *path, const char *what, struct err *err)
{
    return err_set(err, ERR_DAMAGED, "'%s' is damaged: %s; " ANEW, path, what);
}

/* What the system said, where SQLite has kept it. */
static int
system_error(struct store *s, int otherwise)
{
    int code = s->db ? sqlite3_system_errno(s->db) : 0;
    return code > 0 ? -code : otherwise;
}

int
store_fail(struct store *s, int rc, struct err *err)
{
    switch (rc & 0xff) {
    case SQLITE_BUSY:
    case SQLITE_LOCKED:
    case SQLITE_PROTOCOL:
        return err_set(err, ERR_BUSY, "'%s' is locked by another program; try again",
                       s->path);
    case SQLITE_FULL:
        return err_code(err, -ENOSPC, "cannot write '%s'", s->path);
    case SQLITE_NOMEM:
        return err_code(err, -ENOMEM, "cannot use '%s'", s->path);
    case SQLITE_TOOBIG:
        return err_set(err, ERR_LIMIT, "too much at once for '%s'", s->path);
    case SQLITE_CANTOPEN:
        return err_code(err, system_error(s, -EIO), "cannot open '%s'", s->path);
    case SQLITE_READONLY:
    case SQLITE_PERM:
    case SQLITE_AUTH:
        return err_code(err, system_error(s, -EROFS), "cannot write '%s'", s->path);
    case SQLITE_IOERR:
        if (rc == SQLITE_IOERR_NOMEM)
            return err_code(err, -ENOMEM, "cannot use '%s'", s->path);
        return err_code(err, system_error(s, -EIO), "cannot read or write '%s'", s->path);
    default: /* what is asked is always the same: if it is wrong, what lies there is */
        return store_damaged(s->path, "it does not hold what a library holds", err);
    }
}
