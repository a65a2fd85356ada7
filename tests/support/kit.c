/* SPDX-License-Identifier: MIT */
#include "support/kit.h"

#include <ftw.h>
#include <stdio.h>
#include <unistd.h>

#include "base/file.h"
#include "base/le.h"
#include "support/sim_disk.h"
#include "tape/block.h"
#include "tape/tail.h"

struct tape_writer_options
kit_options(enum tape_sync sync)
{
    struct tape_writer_options opt = tape_writer_defaults;
    opt.sync = sync;
    opt.block_bytes = 1500;
    opt.sync_ns = 1000000;
    opt.patience_ns = 4000000;
    opt.start_ts_ns = KIT_START;
    memset(opt.session_id, 0x5a, sizeof(opt.session_id));
    return opt;
}

/* Numbers of bytes and their values differ from record to record; the number stands
 * first. */
static struct view
fill(uint32_t i, uint8_t *room)
{
    size_t n = 4 + i * 7919U % (KIT_DATA_MAX - 4);
    put_le32(room, i);
    for (size_t k = 4; k < n; k++)
        room[k] = (uint8_t)(k % 5 ? 'a' + i % 26 : i * 31 + k * k);
    return (struct view){ room, n };
}

struct tape_record
kit_record(uint32_t i, uint8_t room[KIT_DATA_MAX])
{
    struct tape_record r = { .ts_ns = KIT_START + i * 1000000ULL,
                             .bytes = fill(i, room) };
    switch (i % 11) {
    case 3:
        r.tag = TAPE_INPUT;
        break;
    case 5:
        r.tag = TAPE_SNAPSHOT;
        r.snapshot_id = i;
        r.byte_off = i * 3ULL;
        break;
    case 7:
        r.tag = TAPE_RESIZE;
        r.cols = (uint16_t)i;
        r.rows = (uint16_t)(i >> 16);
        r.bytes = (struct view){ 0 };
        break;
    case 9:
        r.tag = TAPE_MARK;
        r.code = 1000;
        r.val = i;
        r.bytes = (struct view){ 0 };
        break;
    default:
        r.tag = TAPE_DATA;
    }
    return r;
}

void
kit_append(struct tape_writer *w, uint32_t first, uint32_t last, bool *saved)
{
    uint8_t room[KIT_DATA_MAX];
    for (uint32_t i = first; i < last; i++) {
        enum tape_append r = tape_writer_append(w, kit_record(i, room));
        if (saved)
            saved[i] = r == TAPE_SAVED;
    }
}

void
kit_write(struct tape_io *io, const char *path, const struct tape_writer_options *opt,
          uint32_t count)
{
    struct tape_writer *w;
    struct tape_writer_status st;
    struct err err;
    assert_int_equal(tape_writer_open(&w, io, path, opt, &err), 0);
    kit_append(w, 1, count, NULL);
    assert_int_equal(tape_writer_finish(w, KIT_START + count * 1000000ULL, &st, &err), 0);
}

/* The number of a record that came back, or -1: a gap or end mark. */
static int64_t
number_of(const struct tape_record *rec, struct kit_result *res)
{
    if (rec->tag == TAPE_RESIZE)
        return rec->cols == 80 && rec->rows == 24 && rec->ts_ns == KIT_START
                   ? 0
                   : rec->cols | rec->rows << 16;
    if (rec->tag != TAPE_MARK)
        return rec->bytes.n >= 4 ? (int64_t)get_le32(rec->bytes.p) : 0;
    if (rec->code == 1000)
        return rec->val;
    res->gaps += rec->code == TAPE_MARK_GAP;
    res->gap_bytes += rec->code == TAPE_MARK_GAP ? rec->val : 0;
    res->has_end |= rec->code == TAPE_MARK_END;
    return -1;
}

/* Bytes of DATA in the records before number i. */
static uint64_t
byte_off_of(uint32_t i)
{
    static uint64_t off[KIT_RECORDS_MAX];
    static uint32_t known = 1;
    uint8_t room[KIT_DATA_MAX];
    for (; known <= i; known++) {
        struct tape_record r = kit_record(known - 1, room);
        bool is_data = known > 1 && r.tag == TAPE_DATA;
        off[known] = off[known - 1] + (is_data ? r.bytes.n : 0);
    }
    return off[i];
}

static void
check(const struct tape_record *rec, uint32_t i)
{
    uint8_t room[KIT_DATA_MAX];
    struct tape_record want = kit_record(i, room);
    assert_int_equal(rec->tag, want.tag);
    assert_int_equal(rec->ts_ns, want.ts_ns);
    assert_int_equal(rec->snapshot_id, want.snapshot_id);
    if (rec->tag == TAPE_DATA)
        assert_int_equal(rec->byte_off, byte_off_of(i));
    if (rec->tag == TAPE_SNAPSHOT)
        assert_int_equal(rec->byte_off, want.byte_off);
    assert_int_equal(rec->bytes.n, want.bytes.n);
    if (want.bytes.n)
        assert_memory_equal(rec->bytes.p, want.bytes.p, want.bytes.n);
}

void
kit_read(struct tape_io *io, const char *path, struct kit_result *res)
{
    struct err err;
    struct tape_record rec;
    struct tape_reader *r;
    struct tape_reader_options opt = { .notice = tape_notes_add, .ctx = &res->notes };
    int64_t last = -1;
    memset(res, 0, sizeof(*res));
    int e = tape_reader_open(&r, io, path, &opt, &err);
    if (e == ERR_MISSING)
        return;
    assert_int_equal(e, 0);
    while (tape_reader_next(r, &rec)) {
        int64_t i = number_of(&rec, res);
        if (i < 0)
            continue;
        assert_true(i > last && i < KIT_RECORDS_MAX);
        if (i)
            check(&rec, (uint32_t)i);
        res->has[i] = true;
        res->count++;
        last = i;
    }
    tape_reader_close(r);
}

void
kit_release(struct kit_result *res)
{
    tape_notes_release(&res->notes);
}

bool
kit_is_prefix(const struct kit_result *res)
{
    for (uint32_t i = 0; i < res->count; i++)
        if (!res->has[i])
            return false;
    return true;
}

uint64_t
kit_contiguous(struct tape_io *io, const char *path)
{
    struct tape_reader_options opt = { 0 };
    struct tape_reader *r;
    struct tape_record rec;
    struct err err;
    uint64_t next = 0;
    int e = tape_reader_open(&r, io, path, &opt, &err);
    if (e == ERR_MISSING)
        return 0;
    assert_int_equal(e, 0);
    while (tape_reader_next(r, &rec))
        if (rec.tag == TAPE_DATA && rec.byte_off == next)
            next += rec.bytes.n;
    tape_reader_close(r);
    return next;
}

int
kit_repair(struct tape_io *io, const char *path, struct tape_repair_report *ret)
{
    struct err err;
    return tape_repair(io, path, false, NULL, ret, &err);
}

int
kit_times(int normal, int thorough)
{
    return getenv("AHR_TEST_LONG") ? thorough : normal;
}

char *
kit_make_dir(void)
{
    const char *base = getenv("TMPDIR");
    char path[4096];
    snprintf(path, sizeof(path), "%s/ahr-test-XXXXXX", base ? base : "/tmp");
    assert_non_null(mkdtemp(path));
    return strdup(path);
}

static int
remove_one(const char *path, const struct stat *st, int kind, struct FTW *at)
{
    (void)st, (void)kind, (void)at;
    return remove(path);
}

void
kit_remove_dir(char *dir)
{
    nftw(dir, remove_one, 16, FTW_DEPTH | FTW_PHYS);
    free(dir);
}

void
kit_write_file(const char *path, const char *text)
{
    assert_int_equal(file_replace(path, text_view(text), false, NULL), 0);
}

void
kit_assert_file(const char *path, const char *text)
{
    AUTO(buf) b = { 0 };
    assert_int_equal(file_slurp(path, &b), 0);
    assert_string_equal(buf_str(&b), text);
}

int
kit_enter_dir(void **state)
{
    *state = kit_make_dir();
    return chdir(*state);
}

int
kit_leave_dir(void **state)
{
    umask(022);
    int r = chdir("/");
    kit_remove_dir(*state);
    return r;
}

void
kit_sample_init(struct kit_sample *s, uint32_t count, size_t block_bytes)
{
    struct sim_disk d;
    struct tape_writer_options opt = kit_options(TAPE_SYNC_NONE);
    opt.block_bytes = block_bytes;
    sim_init(&d);
    kit_write(&d.io, KIT_PATH, &opt, count);
    struct view v = sim_file(&d, KIT_PATH);
    *s = (struct kit_sample){ 0 };
    buf_append(&s->file, v.p, v.n);
    for (size_t at = 0; at < v.n; s->blocks++) {
        s->start[s->blocks] = at;
        s->records[s->blocks + 1] = s->records[s->blocks] + get_le32(v.p + at + 32);
        at += TAPE_BLOCK_HEAD + get_le32(v.p + at + 28);
        s->start[s->blocks + 1] = at;
    }
    sim_release(&d);
}

void
kit_sample_release(struct kit_sample *s)
{
    buf_release(&s->file);
}

struct view
kit_block(const struct kit_sample *s, int i)
{
    return (struct view){ s->file.p + s->start[i], s->start[i + 1] - s->start[i] };
}

void
kit_make_tail(const struct kit_sample *s, int i, struct buf *ret)
{
    struct tape_tail head = { .ordinal = (uint64_t)i };
    struct view block = kit_block(s, i);
    struct tape_block b;
    struct tape_extent extent;
    struct tape_record rec;
    const char *reason;
    size_t size;
    AUTO(buf) records = { 0 };
    assert_null(tape_block_parse(block.p, &b));
    assert_null(tape_block_unpack(&b, block, &records, &size, &extent));
    head.start_byte_off = b.start_byte_off;
    uint32_t crc = tape_tail_put_head(buf_grow(ret, TAPE_TAIL_HEAD), &head);
    for (size_t at = 0; at < records.n;) {
        at += tape_record_get((struct view){ records.p + at, records.n - at }, &rec,
                              &reason);
        tape_tail_put_record(ret, &rec, &crc);
    }
}

int
kit_stride(void)
{
    const char *stride = getenv("AHR_TEST_STRIDE");
    return stride ? (int)strtol(stride, NULL, 10) : 1;
}
