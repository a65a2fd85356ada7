/* SPDX-License-Identifier: MIT */
/* reader_priv.h -- a reader's insides, for reading (reader.c, reader_tail.c) and seeking
 * (seek.c). */
#ifndef TAPE_READER_PRIV_H
#define TAPE_READER_PRIV_H

#include "tape/names.h"
#include "tape/reader.h"
#include "tape/segment_priv.h"
#include "tape/tail.h"

enum {
    READER_TAILS_MAX = 128,                 /* writers leave 66 at most */
    READER_TAIL_BYTES = (24 << 20) + 65536, /* 16 MiB of the smallest records, framed */
    READER_LOOKS_MAX = 1000,                /* at the end, for what has come meanwhile */
};

struct segment_source {
    struct segment seg;
    bool is_open; /* there is such a file */
    bool is_foreign;
    bool is_told; /* that it cannot be opened */
    bool has_ended;
    bool is_bad;     /* something was skipped and not yet told */
    bool is_covered; /* … and other files had some of it */
    uint64_t bad_from;
    uint64_t missing_before;
    uint64_t refused_end; /* behind a block that did not fit what other files had */
};

struct tail_source {
    int fd; /* negative: why it could not be opened */
    uint64_t ordinal;
    bool is_used; /* delivered, or not wanted */
    bool is_bad;
};

struct index_entry {
    uint64_t off, byte_off, ts_ns, ordinal;
};

struct tape_reader {
    struct tape_io *io; /* borrowed */
    char *path;
    struct tape_reader_options opt;
    struct segment_source segments[TAPE_SEGMENTS_MAX];
    unsigned segment_count;
    struct tail_source tails[READER_TAILS_MAX]; /* by ordinal */
    size_t tail_count;
    int looks;
    int read_error; /* of the last read that failed; readers go on */

    struct window window;
    struct buf records;            /* unpacked */
    const struct segment *decoded; /* whose head is in `records`; NULL: no one's */
    struct buf tail_bytes;
    uint8_t tail_id[16];
    bool has_tail_id;

    uint64_t next_ordinal, missing_blocks, piece_count, last_end_off;
    bool is_last_seen;
    bool has_conflict; /* files contradict each other */
    uint64_t last_ts_ns;
    const struct segment *last_source; /* of the block delivered last; NULL: a tail */
    bool is_end_covered; /* the bad end of the first segment was found elsewhere */
    uint32_t last_crc;   /* of the block delivered last */
    bool last_is_tail;

    struct view rest; /* of the current piece */
    uint64_t max_ts_ns;
    uint64_t byte_off; /* behind the last DATA delivered */
    struct tape_record pushed_back;
    bool has_pushed_back;

    struct index_entry *index;
    size_t index_count, index_stride;
};

void reader_notify(struct tape_reader *r, enum tape_notice_kind kind, const char *file,
                   uint64_t off, uint64_t len, const char *text);
void reader_notify_tail(struct tape_reader *r, enum tape_notice_kind kind,
                        const struct tail_source *t, uint64_t off, uint64_t len,
                        const char *text);
/* Delivers the tail's good records; false when there are none. */
bool reader_load_tail(struct tape_reader *r, struct tail_source *t,
                      struct tape_piece *ret);
/* The tail of a block that was found sealed: only whether something unusable is in it. */
void reader_inspect_tail(struct tape_reader *r, struct tail_source *t);

#endif
