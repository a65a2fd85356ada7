/* SPDX-License-Identifier: MIT */
/*
 * import.h -- recordings of other programs, read: one interface, and a table of formats.
 *
 * Pure: bytes come from sources, and what they hold goes to callbacks, the same however
 * the bytes are cut into reads. No length or number in such a file is believed before it
 * is checked, and everything has a ceiling. What cannot be read is told and passed over;
 * what lies around it is not lost by that.
 */
#ifndef PLAY_IMPORT_H
#define PLAY_IMPORT_H

#include "play/source.h"

enum play_import_kind {
    PLAY_IMPORT_OUTPUT, /* bytes */
    PLAY_IMPORT_INPUT,  /* bytes: what was typed */
    PLAY_IMPORT_SIZE,   /* cols, rows */
    PLAY_IMPORT_MARKER, /* bytes: its label */
    PLAY_IMPORT_EXIT,   /* status */
};

/* Times are ns since the beginning and never go back; bytes are borrowed. */
struct play_import_record {
    enum play_import_kind kind;
    uint64_t time_ns;
    struct view bytes; /* at most PLAY_IMPORT_BYTES_MAX */
    unsigned cols, rows;
    unsigned status;
};

enum {
    PLAY_IMPORT_BYTES_MAX = 1 << 20,
    PLAY_IMPORT_SIZE_MAX = 10000, /* columns, or rows */
};

/* What a file says of itself; what is not known is 0 or empty. Texts are borrowed, and
 * anything may be in them. */
struct play_import_head {
    unsigned cols, rows;
    uint64_t start_ns; /* wall clock */
    struct view title, command, term, shell;
};

/* Where bytes come from. */
enum {
    PLAY_IMPORT_FILE,   /* the recording */
    PLAY_IMPORT_TIMING, /* of a typescript: when its bytes came */
    PLAY_IMPORT_TYPED,  /* of a typescript: what was typed, in a file of its own */
    PLAY_IMPORT_SOURCES,
};

struct play_import {
    /* The caller's: */
    struct play_source *source[PLAY_IMPORT_SOURCES]; /* NULL: none; borrowed */
    /* Once, before all records; then each record; an error ends the reading. */
    int (*head)(void *ctx, const struct play_import_head *head);
    int (*record)(void *ctx, const struct play_import_record *rec);
    /* Something that cannot be read: near which byte of that source; may be NULL. */
    void (*damage)(void *ctx, int source, uint64_t offset, const char *text);
    void *ctx;

    /* What came of it: */
    uint64_t records, damages;
    uint64_t left_out; /* events of a kind that is not known, and those without a meaning
                          here */
    uint64_t end_ns;   /* how long it is */

    /* For the formats alone: */
    bool has_head;
    uint64_t raw_ns; /* the last stamp as the file has it */
    bool has_raw;
};

struct play_import_format {
    const char *name; /* as --format has it */
    const char *what; /* "an asciicast" */
    bool has_timing;  /* it needs a second file */
    /* Could a file begin so? */
    bool (*fits)(struct view beginning);
    /* 0 when all was read, with or without damages; ERR_DAMAGED when nothing in it could
     * be; or what a callback returned. */
    int (*read)(struct play_import *im);
};

extern const struct play_import_format play_import_cast, play_import_script,
    play_import_ttyrec;

enum { PLAY_IMPORT_BEGINNING = 4096 }; /* enough to tell by */

/* By its name, or by what a file begins with; NULL: none. */
const struct play_import_format *play_import_find(const char *name);
const struct play_import_format *play_import_guess(struct view beginning);
/* Reads all of it; also fails when a source could not be read to its end (-errno; what
 * came before it has been handed over). */
int play_import_read(const struct play_import_format *format, struct play_import *im);

/* -- for the formats -- */

enum { PLAY_IMPORT_STEP_MAX_S = 366 * 86400 };
#define PLAY_IMPORT_TIME_MAX (UINT64_C(1) << 62)

int play_import_begin(struct play_import *im, const struct play_import_head *head);
/* A record now, its bytes in pieces when they are many. Output and input without bytes
 * are not handed over. */
int play_import_put(struct play_import *im, struct play_import_record rec);
/* So much later; or when a clock with any beginning says raw_ns. A clock that goes back,
 * or leaps by more than a year, was set: no time has gone by. */
void play_import_wait(struct play_import *im, uint64_t ns);
void play_import_clock(struct play_import *im, uint64_t raw_ns);
void play_import_damaged(struct play_import *im, int source, uint64_t offset,
                         const char *text);

#endif
