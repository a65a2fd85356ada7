/* SPDX-License-Identifier: MIT */
/*
 * film.h -- recordings made record by record, and what they show when they are fed to a
 * terminal from the start: what a player must show at any place.
 */
#ifndef FILM_H
#define FILM_H

#include "play/player.h"
#include "support/kit.h"

/* A recording under the camera. Zeroed it is ready for use. */
struct film {
    struct buf file;    /* sealed blocks */
    struct buf records; /* of the block to come */
    uint32_t record_count;
    uint64_t ordinal, ts_ns, byte_off, block_off, block_ts_ns;
    bool is_foreign;     /* without checksums, as other writers make them */
    size_t starts[4096]; /* of each block */
    size_t blocks;
};

void film_release(struct film *f);
/* Each stamps and appends one record; time goes on by wait_ns before. */
void film_data(struct film *f, uint64_t wait_ns, const void *p, size_t n);
void film_text(struct film *f, uint64_t wait_ns, const char *text);
void film_size(struct film *f, uint64_t wait_ns, unsigned cols, unsigned rows);
void film_snapshot(struct film *f, uint64_t id, uint64_t anchor, const char *label);
/* That many bytes are missing; told: with a mark. */
void film_gap(struct film *f, uint32_t bytes, bool is_told);
/* Ends the block; is_last: and the session. */
void film_cut(struct film *f, bool is_last);
struct view film_bytes(const struct film *f);
/* A session of many kinds of output, sizes, snapshots and gaps, drawn from the seed. */
void film_agent(struct film *f, uint32_t seed, size_t bytes);

/* What a terminal shows that was fed everything before a byte, or up to a time (the other
 * is UINT64_MAX). NULL: there is no byte before it. */
struct term *film_feed(struct tape_io *io, const char *path, uint64_t byte_off,
                       uint64_t time_ns);
/* Fails the test unless the player shows the same. */
void film_expect(const struct play_player *p, const struct term *want, const char *what,
                 uint64_t place);

struct play_player *film_open(struct tape_io *io, const char *path,
                              const char *keyframes_path);

#endif
