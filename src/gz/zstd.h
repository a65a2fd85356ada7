/* SPDX-License-Identifier: MIT */
/*
 * zstd.h -- a file that another program has compressed by zstd, read as it was.
 *
 * Nothing that it says of itself is believed: it is read piece by piece, in memory for
 * one window of at most 128 MiB.
 */
#ifndef GZ_ZSTD_H
#define GZ_ZSTD_H

#include <stdbool.h>
#include <sys/types.h>

#include "base/buf.h"

struct gz_zstd;

/* Does a file begin so? */
bool gz_zstd_fits(struct view beginning);
/* fd stays the caller's, and is read from where it stands. */
int gz_zstd_new(struct gz_zstd **ret, int fd);
void gz_zstd_free(struct gz_zstd *z);
/* A count, 0 at the end, -errno, or ERR_DAMAGED: it cannot be read on from here; what
 * came before holds. */
ssize_t gz_zstd_read(struct gz_zstd *z, void *p, size_t n);

#endif
