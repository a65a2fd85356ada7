/* SPDX-License-Identifier: MIT */
#include "support/tape_maker.h"

#include <string.h>

enum { STEP_NS = 1000000 };

void
tape_maker_init(struct tape_maker *t, uint16_t cols, uint16_t rows)
{
    *t = (struct tape_maker){ .ts_ns = KIT_START };
    if (cols)
        tape_maker_put(
            t, (struct tape_record){ .tag = TAPE_RESIZE, .cols = cols, .rows = rows });
}

void
tape_maker_release(struct tape_maker *t)
{
    play_loaded_release(&t->loaded);
    buf_release(&t->records);
    buf_release(&t->file);
}

void
tape_maker_put(struct tape_maker *t, struct tape_record rec)
{
    rec.ts_ns = t->ts_ns;
    if (rec.tag == TAPE_DATA) {
        rec.byte_off = t->byte_off;
        t->byte_off += rec.bytes.n;
    }
    uint8_t *p = buf_grow(&t->records, tape_record_size(&rec));
    if (!p)
        abort();
    tape_record_put(p, &rec);
    t->ts_ns += STEP_NS;
    t->count++;
}

void
tape_maker_data(struct tape_maker *t, const char *text)
{
    tape_maker_put(
        t, (struct tape_record){ .bytes = { (const uint8_t *)text, strlen(text) } });
}

void
tape_maker_snapshot(struct tape_maker *t, uint64_t id, const char *label)
{
    tape_maker_put(
        t, (struct tape_record){ .tag = TAPE_SNAPSHOT,
                                 .snapshot_id = id,
                                 .byte_off = t->byte_off,
                                 .bytes = { (const uint8_t *)label, strlen(label) } });
}

void
tape_maker_load(struct tape_maker *t, const struct play_load_options *opt)
{
    static const struct play_load_options plain;
    struct tape_packer packer = { 0 };
    struct tape_block b = { .start_ts_ns = KIT_START,
                            .record_count = t->count,
                            .flags = TAPE_BLOCK_LAST };
    struct err err = { 0 };
    buf_clear(&t->file);
    if (tape_block_seal(&b, (struct view){ t->records.p, t->records.n }, &packer, 4,
                        &t->file) < 0)
        abort();
    tape_packer_release(&packer);
    tape_io_memory_init(&t->io, KIT_PATH, (struct view){ t->file.p, t->file.n });
    play_loaded_release(&t->loaded);
    if (play_load(&t->loaded, &t->io.io, KIT_PATH, opt ? opt : &plain, &err) < 0)
        abort();
}

static int
append(void *ctx, struct view bytes)
{
    return buf_append(ctx, bytes.p, bytes.n);
}

int
tape_maker_report(struct tape_maker *t, const struct play_events *events,
                  const char *format, const struct play_report_options *opt,
                  struct buf *out)
{
    struct play_about about = { .start_ns = t->loaded.first_ts_ns,
                                .total_bytes = t->loaded.total_bytes,
                                .cols = term_cols(t->loaded.term),
                                .rows = term_rows(t->loaded.term),
                                .is_masked = true };
    struct play_report_options own = { .has_snapshots = true,
                                       .has_instructions = true,
                                       .has_notices = true };
    if (opt)
        own = *opt;
    if (own.about)
        about = *own.about;
    about.has_times = own.has_times;
    own.about = &about;
    own.io = &t->io.io;
    own.path = KIT_PATH;
    struct err err = { 0 };
    return play_report(&t->loaded, events ? events : &t->loaded.events,
                       play_format_find(format), &own, append, out, &err);
}
