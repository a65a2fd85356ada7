/* SPDX-License-Identifier: MIT */
/*
 * history_source_priv.h -- the files of a history as lines, in the order of their time.
 *
 * A line is whole: its newline is there, or it is an object to its last brace. What is
 * behind the last one is not taken, and stays for the next time. A file is read as far as
 * it was when it was opened, by whoever appends to it meanwhile.
 *
 * There may be thousands of sub-agents. Of a source that waits only the stamp of its next
 * line is needed: few are held, with a descriptor and some of their bytes; the others are
 * parked, and read again from there when it is their turn.
 */
#ifndef LIBRARY_HISTORY_SOURCE_PRIV_H
#define LIBRARY_HISTORY_SOURCE_PRIV_H

#include <stdbool.h>

#include "gz/zstd.h"

enum { HISTORY_LINE_MAX = 64 << 20 };

/* What is known of a file, and kept until it is looked at again. */
struct history_file {
    struct buf path;
    uint64_t offset, line;         /* taken so far: bytes, and line ends */
    uint64_t head, tail;           /* hashes of the first and last of these bytes */
    uint64_t size_bytes, mtime_ns; /* of the file then */
};

struct history_source {
    struct history_file file;
    struct buf known_as;    /* in the state, if not by its path: redacted */
    struct buf call;        /* of a sub-agent's: in which call it works */
    bool is_linked;         /* … for sure */
    bool is_open;           /* it is read on; else it has no lines */
    int fd;                 /* -1: it is parked, or not open */
    uint64_t device, inode; /* which file it was */
    uint64_t used;          /* the last time it was its turn */
    struct gz_zstd *zstd;
    bool is_document; /* all of it is one line */
    bool is_over;
    bool has_line;
    bool is_too_long; /* the line at hand: it is empty, what it was is passed over */
    bool has_rivals;  /* others may have earlier lines: stamps count */
    bool is_one_of_many;
    bool is_parked;    /* has_line: not in memory */
    struct buf held;   /* bytes of the file … */
    size_t at;         /* … from file.offset on from here */
    struct view line;  /* of them, without its newline; has_line */
    size_t line_bytes; /* with it */
    uint64_t stamp_ns; /* of the line, or of the last that had one */
    int error;         /* it could not be read to its end */
};

enum { HISTORY_HELD = 32 }; /* sources, with a descriptor */

struct history_sources {
    struct history_source *list;
    size_t count;
    /* private: */
    uint64_t turns;
    size_t *waiting; /* a heap: those that have a line, the earliest first … */
    size_t waiting_count;
    bool is_begun; /* … once all were looked at */
    size_t held[HISTORY_HELD];
    size_t held_count;
};

void history_sources_release(struct history_sources *s);
/* One more, which is not open yet; NULL: out of memory. */
struct history_source *history_sources_add(struct history_sources *s, const char *path);
/* From file.offset on. */
int history_source_open(struct history_source *s, struct err *err);
void history_source_close(struct history_source *s);
/* Gives its descriptor and its memory back; it can be read on all the same. */
void history_source_park(struct history_source *s);
/* The line that is at hand, back in memory; false: it cannot be read any more. */
bool history_source_unpark(struct history_source *s);
/* Makes the next line the one at hand, if there is one. The bytes before it were taken.
 */
void history_source_find_line(struct history_source *s);
/* Are there more than can be held? */
bool history_sources_are_many(const struct history_sources *s);
/* Is what was taken of it still its beginning? */
bool history_source_is_same(struct history_source *s);
/* Does it begin as it did, however much of it there is? */
bool history_source_begins_same(struct history_source *s);
/* Has one file all that another has? 0, or an error of the first. */
enum history_relation {
    HISTORY_OTHER,  /* each has its own */
    HISTORY_WITHIN, /* a is b's beginning, or all of it */
    HISTORY_BEYOND, /* a goes on where b ends */
};
int history_files_compare(const char *a, const char *b, enum history_relation *ret,
                          struct err *err);
/* The one with the next line, which is in it; NULL: there is none any more. */
struct history_source *history_sources_next(struct history_sources *s, int *ret_error);
/* That line has been dealt with. */
void history_source_taken(struct history_source *s);
/* Bytes behind the last whole line. */
uint64_t history_source_rest(const struct history_source *s);
/* Of the last bytes before there; 0: they cannot be read. */
uint64_t history_hash_before(int fd, uint64_t end);
/* Sets the hashes of what was taken. */
void history_source_seal(struct history_source *s);

#endif
