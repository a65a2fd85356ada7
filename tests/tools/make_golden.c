/* SPDX-License-Identifier: MIT */
/*
 * make_golden.c -- writes the recordings under tests/golden/ anew: `make_golden FOLDER`.
 *
 * They are kept in the project because other compressors may pack the same records
 * otherwise. Every time stamp is fixed.
 */
#include <fcntl.h>
#include <stdio.h>
#include <unistd.h>

#include "base/file.h"
#include "base/le.h"
#include "support/kit.h"
#include "support/sim_disk.h"
#include "tape/block.h"
#include "tape/brotli.h"
#include "tape/tail.h"

static struct tape_packer packer;

static const char *folder;

static void
save(const char *name, struct view bytes)
{
    char path[4096];
    snprintf(path, sizeof(path), "%s/%s", folder, name);
    int fd = open(path, O_WRONLY | O_CREAT | O_TRUNC, 0644);
    if (fd < 0 || file_write_all(fd, bytes.p, bytes.n) < 0) {
        perror(path);
        _exit(1);
    }
    close(fd);
}

static struct view
all(const struct buf *b)
{
    return (struct view){ b->p, b->n };
}

static struct view
text(const char *s)
{
    return (struct view){ (const uint8_t *)s, strlen(s) };
}

/* -- by the writer -- */

static void
smallest(void)
{
    struct sim_disk d;
    struct tape_writer *w;
    struct tape_writer_status st;
    struct err err;
    struct tape_writer_options opt = kit_options(TAPE_SYNC_NONE);
    sim_init(&d);
    tape_writer_open(&w, &d.io, KIT_PATH, &opt, &err);
    tape_writer_append(
        w, (struct tape_record){ .ts_ns = KIT_START + 1000000, .bytes = text("hi\r\n") });
    tape_writer_finish(w, KIT_START + 2000000, &st, &err);
    save("smallest.ahr", sim_file(&d, KIT_PATH));
    sim_release(&d);
}

static void
sample(struct buf *ret, uint32_t count, size_t block_bytes)
{
    struct sim_disk d;
    struct tape_writer_options opt = kit_options(TAPE_SYNC_NONE);
    opt.block_bytes = block_bytes;
    opt.is_adaptive = false;
    sim_init(&d);
    kit_write(&d.io, KIT_PATH, &opt, count);
    struct view v = sim_file(&d, KIT_PATH);
    buf_append(ret, v.p, v.n);
    sim_release(&d);
}

/* -- by hand -- */

/* One block of a DATA record, as other writers make it: no checksum, header_len 48. */
static void
foreign_block(struct buf *out, size_t head_size, uint64_t byte_off, const char *data)
{
    uint8_t raw[256], head[48] = { 'A', 'H', 'R', 'C', 1, 0, 48, 0 };
    struct tape_record rec = { .ts_ns = KIT_START + byte_off,
                               .byte_off = byte_off,
                               .bytes = text(data) };
    AUTO(buf) packed = { 0 };
    tape_record_put(raw, &rec);
    size_t n = tape_record_size(&rec);
    tape_deflate(&packer, (struct view){ raw, n }, 4, &packed);
    put_le64(head + 8, rec.ts_ns);
    put_le64(head + 16, byte_off);
    put_le32(head + 24, (uint32_t)n);
    put_le32(head + 28, (uint32_t)packed.n);
    put_le32(head + 32, 1);
    buf_append(out, head, head_size);
    buf_append(out, packed.p, packed.n);
}

static void
foreign(const char *name, size_t head_size)
{
    AUTO(buf) out = { 0 };
    foreign_block(&out, head_size, 0, "hello world\r\n");
    foreign_block(&out, head_size, 13, "second block\r\n");
    save(name, all(&out));
}

/* A block like the writer's, of one DATA record. */
static void
block(struct buf *out, uint64_t ordinal, uint64_t ts_ns, uint64_t byte_off,
      struct view data)
{
    struct tape_record rec = { .ts_ns = ts_ns, .byte_off = byte_off, .bytes = data };
    struct tape_block b = { .ordinal = ordinal,
                            .start_ts_ns = ts_ns,
                            .start_byte_off = byte_off,
                            .record_count = 1 };
    AUTO(buf) raw = { 0 };
    tape_record_put(buf_grow(&raw, tape_record_size(&rec)), &rec);
    tape_block_seal(&b, all(&raw), &packer, 4, out);
}

/* Where block number n of a file starts. */
static size_t
start_of(const struct buf *file, int n)
{
    size_t at = 0;
    while (n--)
        at += TAPE_BLOCK_HEAD + get_le32(file->p + at + 28);
    return at;
}

static void
damaged(void)
{
    AUTO(buf) f = { 0 };
    AUTO(buf) out = { 0 };
    sample(&f, 80, 1500);
    size_t a = start_of(&f, 2), b = start_of(&f, 3), c = start_of(&f, 4);
    save("all-tags.ahr", all(&f));
    save("cut.ahr", (struct view){ f.p, f.n - 10 });

    f.p[a + 60] ^= 4;
    save("flipped-payload.ahr", all(&f));
    f.p[a + 60] ^= 4;
    f.p[a + 28] ^= 1; /* the claimed end is no block's start then */
    save("flipped-length.ahr", all(&f));
    f.p[a + 28] ^= 1;

    buf_append(&out, f.p, a);
    buf_append(&out, f.p + b, c - b);
    buf_append(&out, f.p + a, b - a);
    buf_append(&out, f.p + c, f.n - c);
    save("swapped.ahr", all(&out));
    buf_clear(&out);
    buf_append(&out, f.p, b);
    buf_append(&out, f.p + a, f.n - a);
    save("doubled.ahr", all(&out));
    buf_clear(&out);
    buf_append(&out, f.p, a);
    buf_append(&out, f.p + b, f.n - b);
    save("removed.ahr", all(&out));
    buf_clear(&out);
    buf_append(&out, f.p, a);
    buf_puts(&out,
             "AHRC: this is no block, though it begins like one, and it is long enough");
    buf_append(&out, f.p + a, f.n - a);
    save("junk.ahr", all(&out));
    buf_clear(&out);
    buf_append(&out, f.p, a);
    buf_puts(&out, "xy");
    buf_append(&out, f.p + a, f.n - a);
    save("stray.ahr", all(&out));
}

/* An agent has printed another recording's block; then the enclosing header is damaged.
 */
static void
planted(void)
{
    AUTO(buf) out = { 0 };
    AUTO(buf) data = { 0 };
    uint32_t noise = 12345;
    block(&out, 0, KIT_START, 0, text("before\r\n"));
    for (int i = 0; i < 3000; i++) {
        noise = noise * 1664525 + 1013904223;
        uint8_t byte = (uint8_t)(noise >> 24);
        buf_append(&data, &byte, 1);
        if (i == 1500)
            block(&data, 5, KIT_START - 1000000000, 100000, text("planted"));
    }
    size_t at = out.n;
    block(&out, 1, KIT_START + 1000000, 8, all(&data));
    block(&out, 2, KIT_START + 2000000, 8 + data.n, text("after\r\n"));
    out.p[at + 28] ^= 1;
    save("planted.ahr", all(&out));
}

static void
gap(void)
{
    AUTO(buf) raw = { 0 };
    AUTO(buf) out = { 0 };
    struct tape_record recs[] = {
        { .tag = TAPE_RESIZE, .ts_ns = KIT_START, .cols = 100, .rows = 30 },
        { .tag = TAPE_DATA, .ts_ns = KIT_START + 1, .bytes = text("before") },
        { .tag = TAPE_MARK, .ts_ns = KIT_START + 2, .code = TAPE_MARK_GAP, .val = 1000 },
        { .tag = TAPE_DATA,
          .ts_ns = KIT_START + 2,
          .byte_off = 1006,
          .bytes = text("after") },
        { .tag = TAPE_MARK, .ts_ns = KIT_START + 3, .code = TAPE_MARK_END },
    };
    struct tape_block b = { .start_ts_ns = KIT_START,
                            .record_count = 5,
                            .flags = TAPE_BLOCK_LAST };
    for (size_t i = 0; i < sizeof(recs) / sizeof(recs[0]); i++)
        tape_record_put(buf_grow(&raw, tape_record_size(&recs[i])), &recs[i]);
    tape_block_seal(&b, all(&raw), &packer, 4, &out);
    save("gap.ahr", all(&out));
}

/* A recording that was cut off: blocks, a torn one, and the tails of it and of the next.
 */
static void
tails(void)
{
    AUTO(buf) out = { 0 };
    struct tape_tail head = { .ordinal = 1, .start_byte_off = 7 };
    memset(head.session_id, 0x5a, sizeof(head.session_id));
    block(&out, 0, KIT_START, 0, text("sealed\n"));
    size_t good = out.n;
    block(&out, 1, KIT_START + 1000000, 7, text("in tail 1\n"));
    save("tails.ahr", (struct view){ out.p, good + 30 });

    for (uint64_t i = 1; i < 3; i++) {
        AUTO(buf) tail = { 0 };
        char name[40];
        head.ordinal = i;
        head.start_byte_off = 7 + (i - 1) * 10;
        uint32_t crc = tape_tail_put_head(buf_grow(&tail, TAPE_TAIL_HEAD), &head);
        struct tape_record rec = { .ts_ns = KIT_START + i * 1000000,
                                   .byte_off = head.start_byte_off,
                                   .bytes = text(i == 1 ? "in tail 1\n"
                                                        : "in tail 2\n") };
        tape_tail_put_record(&tail, &rec, &crc);
        size_t whole = tail.n;
        tape_tail_put_record(&tail, &rec, &crc);
        snprintf(name, sizeof(name), "tails.ahr.tail-%d", (int)i);
        save(name, (struct view){ tail.p, i == 1 ? whole : tail.n - 5 });
        if (i == 1)
            continue;
        /* The same with a record spoilt that others follow. */
        tape_tail_put_record(&tail, &rec, &crc);
        tail.p[whole + 12] ^= 1;
        save("tail-damaged.ahr", (struct view){ out.p, out.n });
        save("tail-damaged.ahr.tail-2", all(&tail));
    }
}

/* A sync failed after block 1: blocks 1 and 2 stand in the second segment; 1 is bad in
 * the first. */
static void
segments(void)
{
    AUTO(buf) f = { 0 };
    AUTO(buf) second = { 0 };
    sample(&f, 40, 1500);
    size_t a = start_of(&f, 1), c = start_of(&f, 3);
    buf_append(&second, f.p + a, f.n - a);
    save("segments.ahr.1", all(&second));
    f.p[a + 70] ^= 0x10;
    save("segments.ahr", (struct view){ f.p, c });
}

int
main(int argc, char **argv)
{
    if (argc != 2)
        return 2;
    folder = argv[1];
    save("empty.ahr", (struct view){ 0 });
    smallest();
    foreign("foreign-44.ahr", 44);
    foreign("foreign-48.ahr", 48);
    damaged();
    planted();
    gap();
    tails();
    segments();
    return 0;
}
