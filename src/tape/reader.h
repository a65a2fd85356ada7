/* SPDX-License-Identifier: MIT */
/*
 * reader.h -- reads a recording, finished, cut off or still being made.
 *
 * Segments and tails are joined by ordinal, first valid copy wins; nothing is changed on
 * disk. Nothing is delivered that was not checked (doc/ahr-format.md, section 6). What is
 * missing or odd is told through the notice callback, in order, before the records that
 * follow it.
 */
#ifndef TAPE_READER_H
#define TAPE_READER_H

#include "tape/block.h"
#include "tape/io.h"
#include "tape/record.h"

enum tape_notice_kind {
    TAPE_NOTE_WARNING, /* odd, nothing is missing */
    TAPE_NOTE_DAMAGE,  /* bytes of the file that are no good, or blocks that are not there
                        */
    TAPE_NOTE_TORN,    /* damage up to the end of the last file */
};

struct tape_notice {
    enum tape_notice_kind kind;
    const char *file;        /* the path of the segment or tail */
    uint64_t offset, length; /* in that file */
    const char *text;
};

typedef void (*tape_notice_fn)(void *ctx, const struct tape_notice *notice);

/* Called with each block: how much of the file lies behind. */
struct tape_progress {
    void (*step)(void *ctx, uint64_t done, uint64_t total);
    void *ctx;
};

struct tape_reader_options {
    tape_notice_fn notice; /* NULL: nobody listens */
    void *ctx;
    const struct tape_progress *progress; /* NULL: nobody waits */
};

/* A checked block. Everything is borrowed until the next call. */
struct tape_piece {
    struct tape_block head;
    struct view records;
    uint32_t record_count; /* as counted */
    struct view
        packed; /* the block as it stands in the file; empty when it is from a tail */
    uint64_t file_off;
    unsigned segment;
    bool is_tail;
};

struct tape_reader;

int tape_reader_open(struct tape_reader **ret, struct tape_io *io, const char *path,
                     const struct tape_reader_options *opt, struct err *err);
void tape_reader_close(struct tape_reader *r);
/* False at the end. The record's bytes are borrowed until the next call; stamps that go
 * back are raised to the latest before them. */
bool tape_reader_next(struct tape_reader *r, struct tape_record *ret);
/* The same by blocks; do not mix with the call above. */
bool tape_reader_next_piece(struct tape_reader *r, struct tape_piece *ret);
/*
 * The next record is then the first one that is not wholly before the byte offset (a DATA
 * that ends behind it; another record when that many bytes have gone by), or not before
 * the time.
 */
int tape_reader_seek_byte(struct tape_reader *r, uint64_t byte_off);
int tape_reader_seek_time(struct tape_reader *r, uint64_t ts_ns);

/* -- for those who have been here before -- */

/* A block of a recording that is one file. */
struct tape_place {
    uint64_t file_off, ordinal;
    uint32_t crc; /* as in its header */
};

/* From the first record again. */
void tape_reader_rewind(struct tape_reader *r);
/* The next piece is then that block, if it is there and good; what follows is as if all
 * before it had been read. False when it is not, or several files overlap: the reader is
 * rewound. */
bool tape_reader_begin_at(struct tape_reader *r, const struct tape_place *place);
/* After the first piece: true when the recording is one file with checksums, and nothing
 * failed to be read so far. A place then stays good while the file is the same. */
bool tape_reader_is_single(const struct tape_reader *r);
/* Of a recording that is one file; 0 or an error. */
int tape_reader_identity(const struct tape_reader *r, struct tape_identity *ret);
/* The headers of the first file's blocks, as they follow on each other, unchecked, up to
 * the first that makes no sense, or for which `fn` returns false. */
typedef bool (*tape_head_fn)(void *ctx, const struct tape_place *place,
                             const uint8_t head[TAPE_BLOCK_HEAD]);
void tape_reader_heads(struct tape_reader *r, tape_head_fn fn, void *ctx);
/* How far the recording leads: by its last block where that is all there is to it, else
 * by reading to the end; bytes and stamps as headers and records have them. The reader is
 * rewound. */
int tape_reader_reach(struct tape_reader *r, uint64_t *ret_byte_off, uint64_t *ret_ts_ns);

/* For repair, after reading to the end: which files there are. A tail is bad when it
 * holds something that could not be used. */
/* has_foreign: one of them is another recording's, or they contradict each other. */
unsigned tape_reader_segments(const struct tape_reader *r, bool *ret_has_foreign);
/* -errno when something could not be read and was taken for damage (-EFBIG: there was too
 * much to look at), else 0. */
int tape_reader_error(const struct tape_reader *r);
/* True when the bad end of the recording's own file is not missed. */
bool tape_reader_is_end_covered(const struct tape_reader *r);
bool tape_reader_tail(const struct tape_reader *r, size_t i, uint64_t *ret_ordinal,
                      bool *ret_is_bad);

#endif
