/* SPDX-License-Identifier: MIT */
/*
 * index.h -- from the files of sessions to library.db.
 *
 * A session is in the index whole or not at all. Whoever changes the files of a stored
 * session takes it out first (library_forget()) and puts it in again afterwards: what is
 * in the index is as the files are, and what was killed on the way is not in it, is
 * listed from its files, and indexed by the next who looks. A session is held
 * (session/hold.h) from the first look at its files to the commit.
 */
#ifndef LIBRARY_INDEX_H
#define LIBRARY_INDEX_H

#include "redact/redact.h"
#include "store/store.h"
#include "tape/reader.h"

struct library_indexed {
    uint64_t lines, text_bytes, pieces;
    uint64_t turns;  /* events of a run */
    bool is_damaged; /* indexed as far as it is whole */
    bool is_moved;   /* nothing of it could be read: it is in damaged/ now */
};

enum {
    LIBRARY_WAIT_MS = 60000,        /* for the library, of those who change it */
    LIBRARY_WAIT_LOOK_MS = 250,     /* … and of those who can do without */
    LIBRARY_WAIT_INDEX_MS = 600000, /* … and of those for whom nobody waits */
};

/* Appends <home>/library.db. */
int library_db_path(const char *home, struct buf *ret);

/* The session of that id in sessions/: into s, in one change of its own, whether it is
 * there already or not. ERR_BUSY: it is being worked on, for longer than wait_ms;
 * ERR_MISSING: it is not there (any more), or encrypted, and not in the index either,
 * now. */
int library_index(struct store *s, const char *home, const char *id, unsigned wait_ms,
                  struct redact *redact, const struct tape_progress *progress,
                  struct library_indexed *ret, struct err *err);
/* Out of the index, and nothing else; where there is no library, nothing. */
int library_forget(const char *home, const char *id, struct err *err);

/* What there is to do: the ids (SESSION_ID_LEN + 1 bytes each) in sessions/ that are not
 * in the index, oldest first; and those in the index that are gone. s NULL: no library,
 * all are. */
int library_pending(struct store *s, const char *home, struct buf *ret_missing,
                    struct buf *ret_gone, struct err *err);

/* Called with each session that is done, the at-th of count; r < 0: it failed, err tells.
 */
typedef void (*library_each_fn)(void *ctx, const char *id, int r,
                                const struct library_indexed *done, const struct err *err,
                                size_t at, size_t count);
/* All of that: what is gone is taken out, what is missing put in. A session that fails
 * does not stop the others; for each that somebody is at, up to wait_ms are waited. */
int library_index_pending(struct store *s, const char *home, unsigned wait_ms,
                          struct redact *redact, library_each_fn each, void *ctx,
                          struct err *err);
/* Everything anew, into a new file, swapped in when it is whole. A session that fails
 * does not stop the others. */
int library_reindex(const char *home, struct redact *redact, library_each_fn each,
                    void *ctx, struct err *err);

#endif
