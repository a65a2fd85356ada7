/* SPDX-License-Identifier: MIT */
/*
 * sealer_priv.h -- the writer's thread: compress, write, sync, and let go of tails.
 *
 * The writer hands over whole blocks; from then on they are the thread's alone. A tail
 * file is removed only when a sync of the recording that covers its block has succeeded
 * (with TAPE_SYNC_NONE: when the block is written). Blocks are written strictly in order.
 */
#ifndef TAPE_SEALER_PRIV_H
#define TAPE_SEALER_PRIV_H

#include "tape/io.h"
#include "tape/job_priv.h"
#include "tape/writer.h"

enum {
    SEALER_WAIT_TAILS = 64,       /* blocks not yet safely sealed */
    SEALER_WAIT_BYTES = 16 << 20, /* their records */
    SEALER_SEGMENTS_MAX = 8,      /* after that many failed syncs no more are asked for */
    SEALER_DONE_MAX = 32,         /* blocks safely sealed, with tails to be removed */
    SEALER_SPARES = 8,            /* buffers kept for later blocks */
    SEALER_NAMES_MAX = 4,         /* that the recording has, one after the other */
    SEALER_ALSO_MAX = 8,          /* files beside it that are synced on demand */
    TAPE_RETRIES = 20,            /* attempts within the writer's patience */
};

struct sealer;

int sealer_start(struct sealer **ret, struct tape_io *io, const char *path, int fd,
                 const struct tape_writer_options *opt, struct err *err);
enum sealer_wait { SEALER_NO_WAIT, SEALER_WAIT, SEALER_FORCE };
/*
 * Hands the job over. When the queue is full, SEALER_WAIT waits for room, at most 2 s
 * without progress and not at all when the disk is known to fail; SEALER_FORCE goes over
 * the limit. Returns 0, or an error and the job stays the caller's.
 */
int sealer_push(struct sealer *s, struct seal_job *job, enum sealer_wait wait);
/*
 * True when a push of len bytes of records would not wait, also because the disk fails.
 * When not, on_news is called as soon as it would, and *ret_progress_ns says when (by the
 * monotonic clock) there was progress last.
 */
bool sealer_has_room(struct sealer *s, size_t len, uint64_t *ret_progress_ns);
/* The open block's tail: records up to byte_off are in it. True, once: that file has lost
 * its name, or has one that is no longer ours; the block should be sealed at once. */
bool sealer_note_tail(struct sealer *s, const struct seal_job *open, uint64_t byte_off);
/* A tail could not be written: told like the failures here. */
void sealer_note_failure(struct sealer *s, int code);
/* A new tail's name stands in the folder. */
void sealer_note_name(struct sealer *s);
/* Gives the job an empty buffer, used before if there is one, and the recording's name.
 */
void sealer_equip(struct sealer *s, struct seal_job *job);
/* As tape_writer_want_sync() and tape_writer_synced(). */
uint64_t sealer_want_sync(struct sealer *s, int also_fd);
uint64_t sealer_synced(struct sealer *s);
/* A sync of the open tail has failed: later ones of it prove nothing. */
bool sealer_is_tail_suspect(struct sealer *s);
/* Bytes of records that are in no file yet. */
size_t sealer_unsaved(struct sealer *s);
void sealer_status(struct sealer *s, struct tape_writer_status *st);
/* True once for each new trouble, which is described in *ret. */
bool sealer_trouble(struct sealer *s, struct err *ret);
/*
 * Writes what waits and ends the thread; gives up after 2 s without progress on a failing
 * disk. Returns 0, or the error that kept blocks from being sealed (their tails stay).
 * *ret_segments is the recording's name when there are segments to be joined, and the
 * caller's; else NULL. Frees s.
 */
int sealer_finish(struct sealer *s, struct tape_writer_status *st, char **ret_segments,
                  struct err *err);

#endif
