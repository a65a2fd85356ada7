/* SPDX-License-Identifier: MIT */
/*
 * player.h -- a recording as a film: a place in it, the picture there, and the way to any
 * other place.
 *
 * It has no clock: the caller says how far to go (clock.h turns wall time into session
 * time). Times are ns since the recording's first record. Long ways are gone in slices,
 * so that a loop can show progress, take keys and give up: a seek begins with
 * play_seek_…(), and play_work() is called until it returns 0.
 *
 * Keyframes (keyframes_priv.h) make any place near. They are found on the way, and kept
 * in a file if one is named; they are never trusted over the tape: one that does not fit
 * the recording's checksums is as if it were not there.
 */
#ifndef PLAY_PLAYER_H
#define PLAY_PLAYER_H

#include "play/event.h"
#include "play/report.h"
#include "tape/reader.h"
#include "term/term.h"

struct play_options {
    unsigned cols, rows;        /* where the recording does not say; 0: 80x24 */
    const char *keyframes_path; /* NULL: in memory alone */
    tape_notice_fn notice;      /* damage, each time it is met; may be NULL */
    void *ctx;
    size_t keyframe_bytes; /* that lie between two, about; 0: what is best */
};

struct play_player;

/* Stands before the first record, with the recording's first size. */
int play_open(struct play_player **ret, struct tape_io *io, const char *path,
              const struct play_options *opt, struct err *err);
void play_close(struct play_player *p);

/* The picture; its screen is exact, its scrollback may lack what lies before a keyframe.
 * Another object after a seek. */
const struct term *play_term(const struct play_player *p);

struct play_extent {
    uint64_t start_ts_ns; /* the first record's stamp */
    uint64_t duration_ns;
    uint64_t total_bytes;
};

/* Known from the start, by the last block; a recording that still grows has grown by
 * what was read since. */
struct play_extent play_extent(const struct play_player *p);

struct play_place {
    uint64_t time_ns;  /* of the last record that is in the picture, or what was asked */
    uint64_t byte_off; /* bytes before it are in the picture */
    bool is_end;
};

struct play_place play_place(const struct play_player *p);

/* -- on -- */

/* When the next record comes; UINT64_MAX: never. */
uint64_t play_next_ns(struct play_player *p);
/* All records up to that time, at most max_bytes of data. 1: there are more of them, 0:
 * done; or an error. */
int play_advance(struct play_player *p, uint64_t time_ns, size_t max_bytes);
/* The next record that changes the picture. 1: there was one, 0: the end; or an error. */
int play_step(struct play_player *p);
/* True, once for each, when the last steps went over a gap. */
bool play_take_gap(struct play_player *p, struct play_gap *ret);

/* -- anywhere -- */

/* The picture at that time: with all records up to it. Past the end is the end. */
int play_seek_ns(struct play_player *p, uint64_t time_ns);
/* … with all bytes before that one; in the middle of a record, too. */
int play_seek_byte(struct play_player *p, uint64_t byte_off);
/* To the next moment from here at which the text (UTF-8, not empty; ASCII letters match
 * in either case unless the text has a capital) is written, or the one before. Found: the
 * place is just behind it. */
int play_search(struct play_player *p, struct view text, bool is_backwards);
/* All snapshots of the recording are to be known: play_snapshots() then has them. */
int play_index(struct play_player *p);
/* 1: there is more to do, 0: done, ERR_MISSING: the text is not there (the place is as
 * before); or an error. max_bytes: of data, some. */
int play_work(struct play_player *p, size_t max_bytes);
/* What was begun is given up; the place is the one before, or near. */
void play_stop(struct play_player *p);
/* How far the work is: 0..1000. */
unsigned play_work_permille(const struct play_player *p);

/* Those met so far, all after play_index(); by anchor. */
const struct play_events *play_snapshots(struct play_player *p);

/* Work until it is done, for those who can wait: as play_work(). */
int play_work_all(struct play_player *p);

#endif
