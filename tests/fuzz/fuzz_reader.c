/* SPDX-License-Identifier: MIT */
/*
 * A disk with a recording, segments and tails, made by the input: raw bytes, good blocks
 * and frames in any order, spoilt places. Whatever it holds:
 *  - records come in order, by ordinal and in bounds;
 *  - seeking finds what reading finds;
 *  - repair loses no record that could be read, invents none, and the second one does
 * nothing.
 */
#include "base/le.h"
#include "fuzz/fuzz.h"
#include "support/sim_disk.h"
#include "tape/block.h"
#include "tape/reader.h"
#include "tape/repair.h"
#include "tape/tail.h"

static struct tape_packer packer;

enum { FILES = 5, RECORDS_MAX = 4000 };

static const char *const names[FILES] = { "x", "x.1", "x.2", "x.tail-2", "x.tail-3" };

struct maker {
    struct view in;
    struct buf files[FILES];
    uint32_t crc; /* of the tail being written */
    uint64_t ordinal, ts_ns, off;
    bool is_odd; /* time went back, or bytes were put in or changed */
};

static struct view
take(struct maker *m, size_t n)
{
    struct view v = { m->in.p, n < m->in.n ? n : m->in.n };
    m->in.p += v.n;
    m->in.n -= v.n;
    return v;
}

static struct tape_record
make_record(struct maker *m)
{
    struct tape_record rec = { .tag = fuzz_byte(&m->in) % 5,
                               .ts_ns = m->ts_ns,
                               .byte_off = m->off };
    rec.bytes = take(m, fuzz_byte(&m->in) % 40U);
    rec.cols = rec.rows = 1;
    if (rec.tag == TAPE_DATA)
        m->off += rec.bytes.n;
    m->ts_ns++;
    return rec;
}

static void
put_block(struct maker *m, struct buf *file)
{
    AUTO(buf) raw = { 0 };
    struct tape_block b = { .ordinal = m->ordinal,
                            .start_ts_ns = m->ts_ns,
                            .start_byte_off = m->off };
    uint8_t flags = fuzz_byte(&m->in);
    b.flags = flags & TAPE_BLOCK_LAST && flags & 0x80 ? TAPE_BLOCK_LAST : 0;
    for (b.record_count = 0; b.record_count < (flags & 3U); b.record_count++) {
        struct tape_record rec = make_record(m);
        tape_record_put(buf_grow(&raw, tape_record_size(&rec)), &rec);
    }
    size_t at = file->n;
    CHECK(!tape_block_seal(&b, (struct view){ raw.p, raw.n }, &packer, 1, file));
    if ((flags & 0x70) == 0x70) /* as other writers make them */
        memset(file->p + at + 36, 0, 8);
    m->ordinal++;
}

static void
put_tail(struct maker *m, struct buf *file, uint64_t ordinal)
{
    struct tape_tail head = { .ordinal = ordinal, .start_byte_off = m->off };
    head.session_id[0] = fuzz_byte(&m->in) > 250;
    if (!file->n)
        m->crc = tape_tail_put_head(buf_grow(file, TAPE_TAIL_HEAD), &head);
    struct tape_record rec = make_record(m);
    CHECK(!tape_tail_put_record(file, &rec, &m->crc));
}

static void
make_files(struct maker *m)
{
    int f = 0;
    while (m->in.n) {
        uint8_t op = fuzz_byte(&m->in);
        struct buf *file = &m->files[f];
        switch (op % 8) {
        case 0:
        case 1:
        case 2:
            if (f < 3)
                put_block(m, file);
            else
                put_tail(m, file, (uint64_t)f - 1);
            break;
        case 3: {
            struct view v = take(m, op >> 3);
            buf_append(file, v.p, v.n);
            m->is_odd |= v.n > 0;
            break;
        }
        case 4:
            f = (op >> 3) % FILES;
            break;
        case 5:
            m->ordinal = (op >> 3) % 6U;
            break;
        case 6:
            m->off += op >> 3;
            m->ts_ns -= fuzz_byte(&m->in) % 3U;
            m->is_odd = true;
            break;
        case 7:
            m->is_odd = true;
            if (file->n)
                file->p[(size_t)(op >> 3) * fuzz_byte(&m->in) % file->n] ^= fuzz_byte(
                    &m->in);
            break;
        }
    }
}

/* All that is read, as sums of each record. */
struct trace {
    uint32_t sums[RECORDS_MAX];
    uint64_t ts[RECORDS_MAX];
    size_t n;
};

static uint32_t
sum(const struct tape_record *r)
{
    uint32_t s = (uint32_t)(r->tag + r->ts_ns * 31 + r->byte_off * 7 + r->bytes.n);
    for (size_t i = 0; i < r->bytes.n; i++)
        s = s * 31 + r->bytes.p[i];
    return s;
}

static struct tape_reader *
open_reader(struct sim_disk *d)
{
    struct tape_reader_options opt = { 0 };
    struct tape_reader *r;
    struct err err;
    return tape_reader_open(&r, &d->io, names[0], &opt, &err) < 0 ? NULL : r;
}

static void
trace(struct sim_disk *d, struct trace *t)
{
    struct tape_record rec;
    struct tape_reader *r = open_reader(d);
    t->n = 0;
    for (; r && tape_reader_next(r, &rec); t->n++) {
        CHECK(t->n < RECORDS_MAX);
        t->sums[t->n] = sum(&rec);
        t->ts[t->n] = rec.ts_ns;
    }
    if (r)
        tape_reader_close(r);
}

static void
check_seek(struct sim_disk *d, const struct trace *t, uint8_t pick, bool is_odd)
{
    struct tape_reader *r = open_reader(d);
    struct tape_record rec;
    if (!r)
        return;
    for (size_t i = 1; i < t->n; i++)
        is_odd |= t->ts[i] < t->ts[i - 1];
    if (t->n && !is_odd) { /* only where time runs forward does it lead to one place */
        size_t want = pick % t->n;
        while (want && t->ts[want - 1] == t->ts[want])
            want--;
        CHECK(tape_reader_seek_time(r, t->ts[want]) == 0);
        CHECK(tape_reader_next(r, &rec));
        CHECK(rec.ts_ns == t->ts[want]);
    }
    CHECK(tape_reader_seek_byte(r, pick) == 0);
    if (tape_reader_next(r, &rec) && rec.tag == TAPE_DATA)
        CHECK(rec.byte_off + rec.bytes.n > pick);
    tape_reader_close(r);
}

int
LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static struct trace before, after;
    struct maker m = { .in = { data, size }, .ts_ns = 1000 };
    struct sim_disk d;
    struct tape_repair_report report;
    struct err err;
    if (size > 4096)
        return 0;
    sim_init(&d);
    make_files(&m);
    for (int i = 0; i < FILES; i++) {
        if (m.files[i].n || !i)
            sim_put(&d, names[i], (struct view){ m.files[i].p, m.files[i].n });
        buf_release(&m.files[i]);
    }
    trace(&d, &before);
    check_seek(&d, &before, size ? data[size - 1] : 0, m.is_odd);
    int e = tape_repair(&d.io, names[0], false, NULL, &report, &err);
    trace(&d, &after);
    CHECK(after.n == before.n &&
          !memcmp(after.sums, before.sums, before.n * sizeof(uint32_t)));
    if (!e) {
        CHECK(!tape_repair(&d.io, names[0], false, NULL, &report, &err));
        CHECK(!report.is_changed);
    }
    sim_release(&d);
    return 0;
}
