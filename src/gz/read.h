/* SPDX-License-Identifier: MIT */
/*
 * read.h -- a file as it was, whether it lies under its name or compressed beside it.
 *
 * PATH is read if it is there, else PATH.gz. Where both are (pack.h was killed between
 * two steps) PATH is the truth. Plain files only, and no link is followed. Nothing that a
 * compressed file says of itself is believed: it is read piece by piece, in memory for
 * one of them, and whoever keeps what comes has a ceiling.
 */
#ifndef GZ_READ_H
#define GZ_READ_H

#include <stdbool.h>
#include <sys/stat.h>
#include <sys/types.h>

#include "base/buf.h"

#define GZ_SUFFIX ".gz"

struct gz;

/* -ENOENT: there is neither; -ELOOP: a link; -EINVAL: no plain file. */
int gz_open(struct gz **ret, int at_fd, const char *path);
/* The same for what is open already, and belongs to *ret now; it is closed when this
 * fails. */
int gz_open_fd(struct gz **ret, int fd, bool is_packed);
void gz_close(struct gz *g);
bool gz_is_packed(const struct gz *g);
/* Its descriptor: the compressed file's, where it is one. */
int gz_fd(const struct gz *g);
/* As file_read(). ERR_DAMAGED: a compressed file ends too early, or what comes next
 * cannot be read; what came before is all there is. */
ssize_t gz_read(struct gz *g, void *p, size_t n);
/* Appends all of it. ERR_LIMIT: it is more than `most`; then, and with ERR_DAMAGED, the
 * beginning is there. */
int gz_slurp(int at_fd, const char *path, size_t most, struct buf *ret);
/* What is there, link or not: 0: PATH, 1: PATH.gz; *ret is its. */
int gz_stat(int at_fd, const char *path, struct stat *ret);
/* "X" for "X.gz": how long that is; 0: it is no such name. */
size_t gz_name_len(const char *name);
/* Of zlib. */
const char *gz_version(void);

#endif
