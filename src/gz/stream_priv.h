/* SPDX-License-Identifier: MIT */
/* stream_priv.h -- the gzip format, bytes in and bytes out; all of gz that knows zlib. */
#ifndef GZ_STREAM_PRIV_H
#define GZ_STREAM_PRIV_H

#include <stdbool.h>

#include "base/buf.h"

/* -- out of it; any number of members, one behind the other -- */

struct gz_inflater;

int gz_inflater_new(struct gz_inflater **ret);
void gz_inflater_free(struct gz_inflater *g);
/* Takes bytes off *in and puts at most n to p: how many, 0: it needs more. ERR_DAMAGED:
 * it cannot go on from here; what was put before holds. */
ssize_t gz_inflate(struct gz_inflater *g, struct view *in, uint8_t *p, size_t n);
/* May the file end here? */
bool gz_inflater_is_done(const struct gz_inflater *g);

/* -- into it -- */

struct gz_deflater;

/* name and mtime (seconds) go into the header, as gzip has them there; name is borrowed.
 */
int gz_deflater_new(struct gz_deflater **ret, const char *name, uint64_t mtime);
void gz_deflater_free(struct gz_deflater *g);
/* Appends to out what there is of it so far; is_last: all, with the end. */
int gz_deflate(struct gz_deflater *g, struct view in, bool is_last, struct buf *out);

#endif
