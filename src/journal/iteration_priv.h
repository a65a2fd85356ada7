/* SPDX-License-Identifier: MIT */
/*
 * iteration_priv.h -- the bytes of an iteration log on disk, and what is told of them.
 *
 * The text ends at `end`. While its last line is open a newline stands there, which the
 * next text takes the place of.
 */
#ifndef JOURNAL_ITERATION_PRIV_H
#define JOURNAL_ITERATION_PRIV_H

#include <stdbool.h>

#include "base/buf.h"

/* -- iteration_disk.c -- */

struct journal_disk {
    int fd;
    uint64_t end;  /* where the next text goes */
    uint64_t size; /* what the file may hold: more than wanted when it could not be cut */
    bool is_open;  /* the last line is */
};

enum { JOURNAL_NOTE_MAX = 160 }; /* bytes of a line that tells what is missing */

/*
 * Writes the text, not empty, by one call. Where the disk takes only some of it, the
 * whole lines of that stay, but for as much room as a note needs; *ret_done says how many
 * bytes are in the file. 0 or -errno.
 */
int journal_disk_put(struct journal_disk *d, struct view text, size_t *ret_done);
/* The first bytes, in place. */
int journal_disk_head(struct journal_disk *d, struct view head);
/* Gives up whole lines at the end, as many as a note needs; returns how many bytes. */
uint64_t journal_disk_make_room(struct journal_disk *d, uint64_t first);

/* -- iteration_news.c: the latest is kept until somebody takes it -- */

struct journal_news {
    const char *path; /* borrowed */
    int told;         /* the last trouble that was told: not twice */
    bool is_told_now; /* … and not yet that it is over */
    bool has;
    struct err latest;
};

void journal_news_trouble(struct journal_news *n, int code);
void journal_news_over(struct journal_news *n);
/* Of text, from now on; of so many bytes, at the end. */
void journal_news_missing(struct journal_news *n);
void journal_news_lost(struct journal_news *n, uint64_t bytes, int code);
/* The path names another file, or none; the file is shorter than it was. */
void journal_news_gone(struct journal_news *n);
void journal_news_cut(struct journal_news *n);
bool journal_news_take(struct journal_news *n, struct err *ret);

#endif
