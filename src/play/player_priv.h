/* SPDX-License-Identifier: MIT */
/* player_priv.h -- a player's insides: what is shown (player.c), the way to a place
 * (way.c) and to a text (search.c). */
#ifndef PLAY_PLAYER_PRIV_H
#define PLAY_PLAYER_PRIV_H

#include "play/keyframes_priv.h"
#include "play/player.h"
#include "play/walk_priv.h"

enum {
    PLAY_GAPS_HELD = 64,
    PLAY_RECORD_COST = 16,     /* what taking a record costs, in bytes of data */
    PLAY_WORK_SLICE = 4 << 20, /* for those who can wait */
    PLAY_NEEDLE_MAX = 4096,    /* bytes of a text that is looked for */
};

/* Where a walk is to go. */
enum play_way_kind { PLAY_TO_TIME, PLAY_TO_BYTE, PLAY_TO_SPOT, PLAY_TO_END };

struct play_way {
    enum play_way_kind kind;
    uint64_t ts_ns, byte_off;
    struct play_spot spot; /* up to it, without it; records without bytes included */
};

enum play_search_phase {
    PLAY_SEARCH_GO,      /* the scout is on its way, then: */
    PLAY_SEARCH_STRETCH, /* … to a keyframe */
    PLAY_SEARCH_SCAN,
    PLAY_SEARCH_REFINE, /* byte by byte, in the piece in which it was found */
};

struct play_search {
    struct buf needle; /* folded, with is_folded */
    bool is_folded, is_backwards;
    enum play_search_phase phase, then;
    struct play_way way;
    bool is_begun;
    uint64_t from, limit; /* where it began; how far to look */
    bool is_first;        /* backwards: the stretch is the first of the recording */
    uint64_t stretch;     /* … where it begins */
    bool has_hit;
    uint64_t hit_from, hit_to; /* the last piece with the text */
    uint64_t row;              /* rows that had scrolled off, when last looked */
    struct buf known, found;   /* of uint64_t: where it stands, as hashes */
    struct buf text;           /* a line, rows joined */
    struct term_line line;
};

enum play_work_kind {
    PLAY_WORK_NONE,
    PLAY_WORK_SEEK,
    PLAY_WORK_INDEX,
    PLAY_WORK_SEARCH,
};

struct play_player {
    char *path;
    struct play_walk now;   /* what is shown */
    struct play_walk scout; /* looks for texts and snapshots */
    uint64_t time_ns;       /* what the place is called */
    struct play_extent extent;
    struct play_keyframes frames;
    struct play_events snapshots; /* met so far */
    bool is_unsorted;
    bool is_indexed;

    enum play_work_kind work;
    struct play_way way;
    uint64_t way_from; /* bytes */
    bool is_regaining; /* the model lacked rows, and comes from the start to: */
    struct play_way lost;
    struct play_search search;

    struct play_gap gaps[PLAY_GAPS_HELD]; /* not yet asked for */
    size_t gap_count;
};

/* -- way.c -- */

/* Puts the walk where it is nearest, and is not past it. */
int play_way_begin(struct play_player *p, struct play_walk *w,
                   const struct play_way *way);
/* 1: there is more to go, 0: it is there; or an error. */
int play_way_go(struct play_player *p, struct play_walk *w, const struct play_way *way,
                size_t max_bytes);
/* The same; PLAY_BLIND when it should begin anew. */
int play_way_step(struct play_player *p, struct play_walk *w, const struct play_way *way,
                  size_t max_bytes);
/* A play_watch's `record`, `sized` and `blind`; ctx is the player. */
int play_way_record(void *ctx, struct play_walk *w);
int play_way_sized(void *ctx, struct play_walk *w);
int play_way_blind(void *ctx, struct play_walk *w);

/* -- search.c -- */

int play_search_begin(struct play_player *p, struct view text, bool is_backwards);
/* 1: there is more to do, 0: found, *ret_byte; ERR_MISSING; or an error. */
int play_search_work(struct play_player *p, size_t max_bytes, uint64_t *ret_byte);
unsigned play_search_permille(const struct play_player *p);
void play_search_release(struct play_search *s);

#endif
