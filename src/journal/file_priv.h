/* SPDX-License-Identifier: MIT */
/*
 * file_priv.h -- files in a folder that anybody may have filled.
 *
 * A project may be a clone of somebody's repository: what stands in place of a file of
 * ours may be a link to another, a FIFO or a device. Only plain files are opened, and no
 * link is followed.
 */
#ifndef JOURNAL_FILE_PRIV_H
#define JOURNAL_FILE_PRIV_H

#include <stdbool.h>

#include "base/buf.h"

/* openat() for a plain file; flags as O_RDONLY. A descriptor or -errno: -ELOOP for a
 * link, -EINVAL for what is no plain file. One that is made is 0600. */
int journal_file_open(int at_fd, const char *path, int flags);
/* All of it, appended; ERR_LIMIT for more than `most` bytes. */
int journal_file_read(int at_fd, const char *path, size_t most, struct buf *ret);
/* The folder; is_made tells whether it was made (0700), and may be NULL: then it must be
 * there. */
int journal_file_folder(int at_fd, const char *path, bool *ret_is_made);

#endif
