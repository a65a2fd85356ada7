/* SPDX-License-Identifier: MIT */
/*
 * pack.h -- a file put away compressed, NAME to NAME.gz, and the way back.
 *
 * Either way the new file is made under another name, synced, and put in its place; only
 * then the old one goes. Killed at any point there is NAME whole, or NAME.gz whole, or
 * both, and then NAME is the truth: the next call ends the work. What is compressed was
 * read back and compared with NAME before that goes.
 *
 * One at a time in a folder: the caller holds a lock that all have. Mode, owner and time
 * of change are kept. No link is followed.
 */
#ifndef GZ_PACK_H
#define GZ_PACK_H

#include <stdbool.h>

#include "base/buf.h"

/* What both make first; one that was left by somebody who was killed is nobody's. */
#define GZ_TEMP ".ahr-archive.new"
/* Behind the name of an archive that could not be read to its end; ".bad1" and so on
 * where that is taken. */
#define GZ_BAD ".bad"

/* No larger file is packed, and none that is packed grows beyond it. */
static const uint64_t GZ_FILE_MAX = UINT64_C(16) << 30;

struct gz_sizes {
    uint64_t plain, packed;
    bool is_aside; /* gz_pack(): a damaged NAME.gz was there, and is NAME.gz.bad now */
};

/* Told of each piece of NAME that is done; may be NULL. */
struct gz_progress {
    void (*step)(void *ctx, uint64_t bytes);
    void *ctx;
};

/*
 * 0: NAME.gz has it. An empty file stays as it is, with sizes of 0. ERR_BUSY: somebody
 * writes to it; ERR_LIMIT: it is too large; -EEXIST: there is a NAME.gz, too, and NAME
 * does not begin with what that holds; -EIO: what was written does not come back. Then,
 * and after any other failure, NAME is as it was.
 */
int gz_pack(int dir_fd, const char *name, const struct gz_progress *progress,
            struct gz_sizes *ret);
/* 0: NAME has it. ERR_DAMAGED: NAME.gz cannot be read to its end; ERR_LIMIT, -EEXIST as
 * above. Then, and after any other failure, NAME.gz is as it was. */
int gz_unpack(int dir_fd, const char *name, const struct gz_progress *progress,
              struct gz_sizes *ret);
/* The same; but of a damaged one NAME has what could be read, and NAME.gz becomes
 * NAME.gz.bad. It is ERR_DAMAGED all the same. */
int gz_rescue(int dir_fd, const char *name, const struct gz_progress *progress,
              struct gz_sizes *ret);
/* Is NAME.gz of a NAME, by its header? A file of another, called so by chance, is not. */
bool gz_is_of(int dir_fd, const char *name);
/* Removes what a killed one has left. */
int gz_sweep(int dir_fd);

#endif
