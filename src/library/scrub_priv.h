/* SPDX-License-Identifier: MIT */
/*
 * scrub_priv.h -- secrets out of the contents of a session's files.
 *
 * What comes out is looked at again until nothing more is found in it, so that a mask
 * never uncovers another secret; where that does not come to an end, ERR_LIMIT. What
 * holds none comes out as it went in, byte for byte.
 */
#ifndef LIBRARY_SCRUB_PRIV_H
#define LIBRARY_SCRUB_PRIV_H

#include "redact/redact.h"
#include "tape/reader.h"

/* How much was masked. */
struct scrub_count {
    uint64_t places, bytes;
};

struct scrub;

/* secrets: borrowed. */
int scrub_new(struct scrub **ret, struct redact *secrets);
void scrub_free(struct scrub *s);

/* Each appends to out and adds to *count. */
int scrub_text(struct scrub *s, struct view in, struct buf *out,
               struct scrub_count *count);
/* The same with as many stars in its place: its length stays. */
int scrub_stars(struct scrub *s, struct view in, struct buf *out,
                struct scrub_count *count);
/*
 * JSON, one value or several: each string is decoded, masked, and encoded again. Keys
 * that are plain words, and what the format of our own files asks for (an id, a status, a
 * time), stay. Bytes that stand there as base64 are masked as such. What is no JSON is
 * masked as a text, too.
 */
int scrub_json(struct scrub *s, struct view in, struct buf *out,
               struct scrub_count *count);
/* The same for lines, each for itself. */
int scrub_json_lines(struct scrub *s, struct view in, struct buf *out,
                     struct scrub_count *count);
/* An io.log: lines of JSON, and messages that are told in pieces. */
int scrub_io(struct scrub *s, struct view in, struct buf *out, struct scrub_count *count);
/* A session.wire.jsonl at that path, from its beginning to its end (calls/rewrite.h).
 * *ret_dropped: so many lines could not be looked through, and are gone. */
int scrub_wire(struct scrub *s, const char *path, int to_fd, struct scrub_count *count,
               uint64_t *ret_dropped, struct err *err);
/* All of a file, of any size, with as many bytes in place of those that are masked. */
int scrub_bytes(struct scrub *s, int from_fd, int to_fd, struct scrub_count *count);

/*
 * The recording at `from` with its segments and tails, made anew at `to`; what stands on
 * its final lines is looked at as well. is_damaged: what could not be read is not in it.
 * ERR_MISSING: there is none; ERR_DAMAGED: nothing of it can be read. What fails leaves
 * nothing at `to`.
 */
int scrub_tape(struct redact *secrets, const char *from, const char *to,
               const struct tape_progress *progress, struct scrub_count *count,
               bool *ret_is_damaged, struct err *err);

#endif
