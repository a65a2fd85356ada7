/* SPDX-License-Identifier: MIT */
/*
 * writer.h -- makes a recording.
 *
 * One thread appends; compression, writing and syncing happen in a second one. An append
 * that returns TAPE_SAVED has its record in a file: it survives SIGKILL of this process,
 * and with TAPE_SYNC_ALWAYS the loss of power. On a full or failing disk the writer never
 * fails the caller: it holds up to 8 MiB in memory, then drops and counts, and puts a gap
 * mark before the next record it can keep (doc/ahr-format.md, section 5).
 */
#ifndef TAPE_WRITER_H
#define TAPE_WRITER_H

#include "tape/io.h"
#include "tape/record.h"

enum tape_sync { TAPE_SYNC_NONE, TAPE_SYNC_INTERVAL, TAPE_SYNC_BLOCK, TAPE_SYNC_ALWAYS };

enum tape_append {
    TAPE_SAVED,   /* on disk as far as the sync policy asks */
    TAPE_HELD,    /* in memory; will be written when the disk lets us */
    TAPE_DROPPED, /* gone; DATA is counted as a gap */
};

struct tape_writer_options {
    int quality;        /* 0..11 */
    bool is_adaptive;   /* lower the quality while blocks pile up */
    size_t block_bytes; /* seal at this much */
    uint64_t block_ns;  /* … or this long after a block's first record */
    enum tape_sync sync;
    uint64_t sync_ns;     /* TAPE_SYNC_INTERVAL's */
    uint64_t patience_ns; /* how long a full queue or a failing disk may hold us up */
    uint64_t start_ts_ns; /* stamp of the first RESIZE */
    uint16_t cols, rows;
    uint8_t session_id[16];
    /* May be NULL. Called in the writer's thread when there is trouble to be told, and,
     * after tape_writer_has_room() said no, as soon as that thread has made room, and
     * when a sync that was asked for is done; not before trouble, room or a sync was
     * first asked for (so that a loop can be made in between), nor after finish has
     * returned. As in a signal handler: it may wake a loop
     * (uv_async_send, a write to a pipe), and call nothing of the tape. */
    void (*on_news)(void *ctx);
    void *news_ctx; /* borrowed */
};

/* 80x24, blocks of 256 KiB or 10 s, quality 4, synced each second. */
extern const struct tape_writer_options tape_writer_defaults;

struct tape_writer_status {
    uint64_t byte_off;      /* PTY bytes seen so far, dropped ones included */
    uint64_t dropped_bytes; /* … never written */
    uint64_t gaps;          /* places where some are missing, an unmarked end included */
    uint64_t synced_byte_off; /* what survives the loss of power */
    uint64_t
        unsaved_bytes; /* after the end: in no file, because the disk did not take them */
    uint64_t sealed_blocks;
    size_t waiting_blocks;
    int quality;        /* used for the latest block */
    bool is_suspect;    /* a sync has failed */
    bool is_failing;    /* the disk takes nothing right now */
    struct err trouble; /* after a good end: one that was not asked for; code 0: none */
};

struct tape_writer;

/* path must not exist, nor pieces of an unfinished recording called so. */
int tape_writer_open(struct tape_writer **ret, struct tape_io *io, const char *path,
                     const struct tape_writer_options *opt, struct err *err);
/* Stamps must not go back. byte_off is set by the writer for DATA; more than 1 MiB of
 * bytes becomes several records. */
enum tape_append tape_writer_append(struct tape_writer *w, struct tape_record rec);
/*
 * True when an append of 64 KiB would not be held up by a full queue: so that a loop can
 * leave its source unread and go on with the rest. Also true when waiting does not help:
 * on a failing disk, and after patience_ns without progress (as if append had waited).
 * Ask again when on_news was called, and whenever tick was due.
 */
bool tape_writer_has_room(struct tape_writer *w);
/* Call now and then: seals a block whose time is up, and tries again what failed. Never
 * waits for the queue. */
void tape_writer_tick(struct tape_writer *w, uint64_t now_ns);
/* When tick has something to do next, as a stamp; UINT64_MAX: nothing waits. */
uint64_t tape_writer_due_ns(const struct tape_writer *w);
/*
 * Asks for a sync, soon and in the writer's thread, of all that was appended so far and
 * of also_fd (a file in the recording's folder, which stays open until the recording is
 * finished; -1: none; at most 8 different ones). Returns a ticket, one more than the last
 * one's. All that ask before it begins share one sync. With TAPE_SYNC_NONE nothing is
 * synced. Never waits.
 */
uint64_t tape_writer_want_sync(struct tape_writer *w, int also_fd);
/* Tickets up to the returned one are done: synced, or beyond help (which is told as
 * trouble). on_news is called when it rises. */
uint64_t tape_writer_synced(struct tape_writer *w);
void tape_writer_status(struct tape_writer *w, struct tape_writer_status *ret);
/* True once for each new trouble, which is described in *ret. Its code is -ESTALE when
 * the file was removed, replaced or cut by somebody; else records are held in memory. */
bool tape_writer_trouble(struct tape_writer *w, struct err *ret);
/* Ends the recording: MARK 2, the last block, sync, join. Frees w whatever happens. */
int tape_writer_finish(struct tape_writer *w, uint64_t now_ns,
                       struct tape_writer_status *ret_status, struct err *err);

#endif
