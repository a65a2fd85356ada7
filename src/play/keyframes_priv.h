/* SPDX-License-Identifier: MIT */
/*
 * keyframes_priv.h -- pictures on the way, so that any place is near (doc/keyframes.md).
 *
 * A keyframe is the model before a record, without the rows that had scrolled off, and
 * all that a walk needs to go on from there. The list is made by whoever comes by first,
 * in the order of the recording; each may be missing without harm. The file keeps it, and
 * the recording's snapshots, for the next time.
 */
#ifndef PLAY_KEYFRAMES_PRIV_H
#define PLAY_KEYFRAMES_PRIV_H

#include "play/event.h"
#include "play/walk_priv.h"
#include "tape/brotli.h"

enum {
    PLAY_KEYFRAME_SPACING = 512 << 10,  /* what lies between two, at first; as cost */
    PLAY_KEYFRAME_BLOCKS = 32,          /* that cost as much, however little is in them */
    PLAY_KEYFRAMES_MAX = 1 << 15,       /* past it every second one goes */
    PLAY_KEYFRAMES_SIZED_MAX = 1 << 14, /* those after a new size, which stay */
    PLAY_KEYFRAMES_BYTES_MAX = 64 << 20, /* of their pictures, packed */
    PLAY_PICTURE_MAX = 4 << 20,          /* of one, unpacked */
};
#define PLAY_KEYFRAME_SPACING_MAX ((uint64_t)PLAY_KEYFRAME_SPACING << 32)

struct play_keyframe {
    struct play_spot spot;   /* the record to go on with */
    struct tape_place place; /* its block */
    uint64_t chain;          /* of the blocks before that one */
    uint64_t from_ts_ns;     /* of use for times from here on … */
    uint64_t from_byte;      /* … and for bytes */
    uint64_t taken_ts_ns, shown_ts_ns, byte_off, unrecorded; /* as in a walk */
    uint16_t cols, rows, term_cols, term_rows;
    bool is_sized; /* the model has just taken a new size */
    bool is_in_file;
    bool is_bad;         /* was tried, and is of no use */
    uint64_t picture_at; /* in the file, or in `pictures` */
    uint32_t packed_len, raw_len, picture_crc;
};

/* What the recording is known by. */
struct play_keyframes_id {
    struct tape_identity file;
    uint64_t start_ts_ns;
    uint16_t cols, rows; /* at its start */
};

struct play_keyframes {
    struct buf list; /* of struct play_keyframe, in the recording's order */
    size_t count, sized_count;
    size_t picture_bytes;      /* of all of them */
    struct buf pictures;       /* packed; of those that are not in the file */
    struct tape_packer packer; /* for them */
    struct buf room;           /* for one picture */
    size_t spacing, cost;      /* … and what came since the last one */
    size_t count_max, sized_max, bytes_max; /* the ceilings above */
    struct play_spot front; /* all records before it have been looked at */
    struct buf snapshots;   /* as in the file */

    bool is_complete; /* the recording was gone through to its end: */
    uint64_t end_byte, end_ts_ns, end_chain;

    /* the file */
    struct tape_io *io;          /* borrowed */
    char *path;                  /* NULL: there is none */
    int fd;                      /* -1: it is not open */
    struct play_keyframes_id id; /* of the recording, when it was opened */
    bool is_settled;             /* it was old by then: its identity can be believed */
    size_t new_count;            /* keyframes that are not in the file */
    bool is_stale;               /* the file does not say what we know */
};

/* 64 bits that stand for all blocks up to one, by their headers and places. */
uint64_t play_chain(uint64_t chain, uint64_t file_off,
                    const uint8_t head[TAPE_BLOCK_HEAD]);

/* -- the list -- */

/* path NULL: in memory alone. */
int play_keyframes_init(struct play_keyframes *k, struct tape_io *io, const char *path);
void play_keyframes_release(struct play_keyframes *k);
static inline struct play_keyframe *
play_keyframe_at(const struct play_keyframes *k, size_t i)
{
    return (struct play_keyframe *)(void *)k->list.p + i;
}
/* Before each record that a walk takes: makes a keyframe where one is due, and notes
 * snapshots: they go to `events`, too. */
int play_keyframes_record(struct play_keyframes *k, struct play_walk *w,
                          struct play_events *events);
/* After a new size. */
void play_keyframes_sized(struct play_keyframes *k, struct play_walk *w);
/* The walk is at its end. */
void play_keyframes_end(struct play_keyframes *k, const struct play_walk *w);
/* The last one of use for that time or byte, NULL: none; the first one that is not before
 * the spot, and has a new size. */
struct play_keyframe *play_keyframes_by_time(const struct play_keyframes *k,
                                             uint64_t ts_ns);
struct play_keyframe *play_keyframes_by_byte(const struct play_keyframes *k,
                                             uint64_t byte_off);
struct play_keyframe *play_keyframes_by_size(const struct play_keyframes *k,
                                             struct play_spot spot);
/* The walk goes on from there: 1; or 0, it must be begun anew: this one was no good, and
 * will not be found again. */
int play_keyframes_go(struct play_keyframes *k, struct play_keyframe *f,
                      struct play_walk *w);
/* Its picture; NULL when it cannot be had. */
struct term *play_keyframes_picture(struct play_keyframes *k, struct play_keyframe *f);
/* The same, packed; borrowed from the list or from `room`. False: it cannot be read. */
bool play_keyframes_read_packed(struct play_keyframes *k, const struct play_keyframe *f,
                                struct buf *room, struct view *ret);
/* Only the first n remain. */
void play_keyframes_cut(struct play_keyframes *k, size_t n);

/* -- the file -- */

/* For a walk that has just begun. Takes over what the file has for this recording; its
 * snapshots go to `events`. What does not fit is as if it were not there. */
int play_keyframes_load(struct play_keyframes *k, struct play_walk *w,
                        struct play_events *events);
/* Puts the file in the place of the old one, if there is something new; a failure is the
 * file's, not the caller's: there is none then. */
void play_keyframes_save(struct play_keyframes *k, const struct play_walk *w);

/* A snapshot to and from the bytes of `snapshots`. */
int play_keyframes_put_snapshot(struct buf *out, struct play_spot spot,
                                const struct play_event *event);
/* Returns its size, 0: it is none. */
size_t play_keyframes_get_snapshot(struct view in, struct play_spot *ret_spot,
                                   struct play_event *ret);

#endif
