/* SPDX-License-Identifier: MIT */
/*
 * kit.h -- sample recordings, and what comes back from them.
 *
 * A sample is a run of records numbered 0, 1, 2 …, of all kinds, each a function of its
 * number: whatever is read back can be held against what must have been written. Record 0
 * is the size that the writer puts first.
 */
#ifndef KIT_H
#define KIT_H

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "support/text_view.h"
#include "tape/notes.h"
#include "tape/repair.h"
#include "tape/writer.h"

enum { KIT_RECORDS_MAX = 100000, KIT_MANY = 200, KIT_DATA_MAX = 300 };

#define KIT_PATH  "x.ahr"
#define KIT_START UINT64_C(1700000000000000000)

/* The options most tests use: small blocks, no waiting. */
struct tape_writer_options kit_options(enum tape_sync sync);
/* Record number i ≥ 1; its bytes are in `room`. byte_off is not set. */
struct tape_record kit_record(uint32_t i, uint8_t room[KIT_DATA_MAX]);
/* Appends records first … last-1, noting in saved[] (may be NULL) which were
 * acknowledged. */
void kit_append(struct tape_writer *w, uint32_t first, uint32_t last, bool *saved);
/* A whole recording of `count` records on io, closed properly. */
void kit_write(struct tape_io *io, const char *path,
               const struct tape_writer_options *opt, uint32_t count);

/* What came back. */
struct kit_result {
    bool has[KIT_RECORDS_MAX]; /* by number */
    uint32_t count;            /* of numbered ones */
    uint32_t gaps;             /* gap marks */
    uint64_t gap_bytes;
    bool has_end;
    struct tape_notes notes;
};

/* Reads all; fails the test when a record is not exactly one that was written, or is out
 * of order. */
void kit_read(struct tape_io *io, const char *path, struct kit_result *ret);
void kit_release(struct kit_result *res);
/* True when the numbers are 0 … count-1. */
bool kit_is_prefix(const struct kit_result *res);
/* How many bytes of DATA come back without a hole, from the first on. */
uint64_t kit_contiguous(struct tape_io *io, const char *path);

/* A recording as bytes, with the places of its blocks. */
struct kit_sample {
    struct buf file;
    size_t start[64];     /* of each block, and the end */
    uint32_t records[64]; /* that lie before it */
    int blocks;
};

void kit_sample_init(struct kit_sample *s, uint32_t count, size_t block_bytes);
void kit_sample_release(struct kit_sample *s);
struct view kit_block(const struct kit_sample *s, int i);
/* The tail file that the writer had for block i. */
void kit_make_tail(const struct kit_sample *s, int i, struct buf *ret);

/* Runs tape_repair(); 0 or its error. */
int kit_repair(struct tape_io *io, const char *path, struct tape_repair_report *ret);
/* How far a loop over every call, cut or bit goes at a step: 1, and more where each costs
 * many times as much (sanitizers); the plain run takes them all. */
int kit_stride(void);
/* The seed or size of a campaign: `normal`, or `thorough` with AHR_TEST_LONG set. */
int kit_times(int normal, int thorough);
/* A new folder, and its removal with all in it. */
char *kit_make_dir(void);
void kit_remove_dir(char *dir);
/* A file with that text, made or made anew; and one that must have just that. */
void kit_write_file(const char *path, const char *text);
void kit_assert_file(const char *path, const char *text);
/* Before and after a test: such a folder is *state and the current one. */
int kit_enter_dir(void **state);
int kit_leave_dir(void **state);
#define KIT_IN_DIR(test) \
    cmocka_unit_test_setup_teardown(test, kit_enter_dir, kit_leave_dir)

#endif
