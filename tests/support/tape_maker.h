/* SPDX-License-Identifier: MIT */
/*
 * tape_maker.h -- small recordings in memory, made record by record, and the reports on
 * them.
 *
 * Records are a millisecond apart, from KIT_START on.
 */
#ifndef TAPE_MAKER_H
#define TAPE_MAKER_H

#include "play/report.h"
#include "support/kit.h"

struct tape_maker {
    struct buf records, file;
    struct tape_io_memory io;
    uint64_t byte_off; /* of the next DATA; may be moved */
    uint64_t ts_ns;    /* of the next record */
    uint32_t count;
    struct play_loaded loaded;
};

/* Begins with the size; zero columns: without. */
void tape_maker_init(struct tape_maker *t, uint16_t cols, uint16_t rows);
void tape_maker_release(struct tape_maker *t);
void tape_maker_put(struct tape_maker *t, struct tape_record rec);
void tape_maker_data(struct tape_maker *t, const char *text);
void tape_maker_snapshot(struct tape_maker *t, uint64_t id, const char *label);
/* Seals what was put, and loads it into t->loaded. opt may be NULL. */
void tape_maker_load(struct tape_maker *t, const struct play_load_options *opt);
/* Appends the report on what was loaded, with its own snapshots unless `events` are
 * given; opt NULL: all of it, by the eye. 0, or what play_report() says. */
int tape_maker_report(struct tape_maker *t, const struct play_events *events,
                      const char *format, const struct play_report_options *opt,
                      struct buf *out);

#endif
