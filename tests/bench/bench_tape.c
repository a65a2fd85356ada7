/* SPDX-License-Identifier: MIT */
/*
 * bench_tape.c -- how fast and how small recordings are: `name value unit`, one line
 * each.
 *
 * Ratios are against bare Brotli doing the same pieces in the same run, alternating,
 * medians of several rounds. Files go to the folder in $BENCH_DIR (default: the current
 * one) and, for appends, to /dev/shm too.
 */
#include <brotli/decode.h>
#include <brotli/encode.h>
#include <stdio.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/file.h"
#include "support/agent_stream.h"
#include "support/measure.h"
#include "tape/block.h"
#include "tape/reader.h"
#include "tape/writer.h"

enum { ROUNDS = 5, STREAM_MB = 96, PIECE = 16 << 10, BLOCK = 256 << 10 };

static double
seconds(uint64_t from_ns)
{
    return (double)(clock_mono_ns() - from_ns) / 1e9;
}

static void
must(int r, const struct err *err)
{
    if (r < 0) {
        fprintf(stderr, "bench_tape: %s\n", err->text);
        _exit(1);
    }
}

static const char *
path_in(const char *dir)
{
    static char path[4096];
    snprintf(path, sizeof(path), "%s/ahr-bench-%d.ahr", dir, (int)getpid());
    unlink(path);
    return path;
}

/* Records made of the stream in pieces; stamps as at `rate` bytes a second. */
static void
record(const char *path, struct view data, size_t piece, uint64_t rate,
       const struct tape_writer_options *opt)
{
    struct tape_writer *w;
    struct tape_writer_status st;
    struct err err;
    must(tape_writer_open(&w, tape_io_files(), path, opt, &err), &err);
    for (size_t at = 0; at < data.n; at += piece) {
        size_t n = data.n - at < piece ? data.n - at : piece;
        uint64_t ts_ns = rate ? (uint64_t)at * 1000000000 / rate : at;
        tape_writer_append(
            w, (struct tape_record){ .ts_ns = ts_ns, .bytes = { data.p + at, n } });
    }
    must(tape_writer_finish(w, 0, &st, &err), &err);
}

/* The same records, one behind the other. */
static void
flatten(struct buf *out, struct view data, size_t piece, uint64_t rate)
{
    for (size_t at = 0; at < data.n; at += piece) {
        struct tape_record rec = { .ts_ns = rate ? (uint64_t)at * 1000000000 / rate : at,
                                   .byte_off = at };
        rec.bytes = (struct view){ data.p + at,
                                   data.n - at < piece ? data.n - at : piece };
        uint8_t *p = buf_grow(out, tape_record_size(&rec));
        if (!p)
            _exit(1);
        tape_record_put(p, &rec);
    }
}

/* -- appends -- */

/* Paced, as an agent writes: what one append costs. Unpaced, it would wait for the
 * compressor. */
static void
appends(const char *where, const char *dir, struct view data)
{
    static const size_t sizes[] = { 4 << 10, 16 << 10, 64 << 10 };
    for (size_t s = 0; s < 3; s++) {
        enum { COUNT = 2000 };
        static double us[COUNT];
        const char *path = path_in(dir);
        struct tape_writer *w;
        struct tape_writer_status st;
        struct err err;
        char name[64];
        must(tape_writer_open(&w, tape_io_files(), path, &tape_writer_defaults, &err),
             &err);
        uint64_t step_ns = sizes[s] * 1000 / 20; /* 20 MB/s */
        uint64_t next_ns = clock_mono_ns();
        for (size_t i = 0; i < COUNT; i++) {
            while (clock_mono_ns() < next_ns)
                usleep(20);
            next_ns += step_ns;
            size_t at = i * sizes[s] % (data.n - sizes[s]);
            uint64_t begin_ns = clock_mono_ns();
            tape_writer_append(
                w, (struct tape_record){ .ts_ns = i * step_ns,
                                         .bytes = { data.p + at, sizes[s] } });
            us[i] = (double)(clock_mono_ns() - begin_ns) / 1e3;
        }
        must(tape_writer_finish(w, 0, &st, &err), &err);
        unlink(path);
        snprintf(name, sizeof(name), "append %zu KiB p50, %s", sizes[s] >> 10, where);
        measure_line(name, measure_median(us, COUNT), "us");
        snprintf(name, sizeof(name), "append %zu KiB p99, %s (< 1000)", sizes[s] >> 10,
                 where);
        measure_line(name, measure_percentile(us, COUNT, 0.99), "us");
    }
}

/* -- throughput -- */

static double
bare_compress(struct view raw, int quality)
{
    size_t cap = BrotliEncoderMaxCompressedSize(BLOCK);
    uint8_t *out = malloc(cap);
    uint64_t begin_ns = clock_mono_ns();
    for (size_t at = 0; at < raw.n; at += BLOCK) {
        size_t n = cap, in = raw.n - at < BLOCK ? raw.n - at : (size_t)BLOCK;
        BrotliEncoderCompress(quality, BROTLI_DEFAULT_WINDOW, BROTLI_MODE_GENERIC, in,
                              raw.p + at, &n, out);
    }
    double s = seconds(begin_ns);
    free(out);
    return s;
}

static void
throughput(const char *dir, struct view data)
{
    double ours[ROUNDS], adaptive[ROUNDS], bare[ROUNDS];
    struct tape_writer_options opt = tape_writer_defaults;
    struct buf raw = { .ceiling = 256 << 20 };
    flatten(&raw, data, PIECE, 0);
    for (int i = 0; i < ROUNDS; i++) {
        const char *path = path_in(dir);
        opt.is_adaptive = false;
        uint64_t begin_ns = clock_mono_ns();
        record(path, data, PIECE, 0, &opt);
        ours[i] = seconds(begin_ns);
        bare[i] = bare_compress((struct view){ raw.p, raw.n }, 4);
        path = path_in(dir);
        opt.is_adaptive = true;
        begin_ns = clock_mono_ns();
        record(path, data, PIECE, 0, &opt);
        adaptive[i] = seconds(begin_ns);
        unlink(path);
    }
    double mb = (double)data.n / 1e6;
    double t = measure_median(ours, ROUNDS), b = measure_median(bare, ROUNDS);
    measure_line("record, quality 4", mb / t, "MB/s");
    measure_line("bare Brotli, quality 4", mb / b, "MB/s");
    measure_line("record / bare (>= 0.9)", b / t, "x");
    measure_line("record, adaptive", mb / measure_median(adaptive, ROUNDS), "MB/s");
    measure_line("record, adaptive / bare (>= 0.9)", b / measure_median(adaptive, ROUNDS),
                 "x");
    buf_release(&raw);
}

/* -- reading -- */

struct packed_blocks {
    struct buf file;
    uint64_t raw_bytes;
};

static double
bare_decode(const struct buf *file)
{
    uint8_t *out = malloc(TAPE_BLOCK_RAW_MAX);
    uint64_t begin_ns = clock_mono_ns();
    for (size_t at = 0; at < file->n;) {
        struct tape_block b;
        if (tape_block_parse(file->p + at, &b))
            _exit(1);
        size_t n = TAPE_BLOCK_RAW_MAX;
        BrotliDecoderDecompress(b.packed_len, file->p + at + TAPE_BLOCK_HEAD, &n, out);
        at += TAPE_BLOCK_HEAD + b.packed_len;
    }
    double s = seconds(begin_ns);
    free(out);
    return s;
}

static void
reading(const char *dir, struct view data)
{
    double ours[ROUNDS], bare[ROUNDS];
    struct tape_writer_options opt = tape_writer_defaults;
    opt.is_adaptive = false;
    const char *path = path_in(dir);
    record(path, data, PIECE, 0, &opt);
    struct buf file = { .ceiling = 256 << 20 };
    if (file_slurp(path, &file) < 0)
        _exit(1);
    for (int i = 0; i < ROUNDS; i++) {
        struct tape_reader_options none = { 0 };
        struct tape_reader *r;
        struct tape_record rec;
        struct err err;
        uint64_t bytes = 0, begin_ns = clock_mono_ns();
        must(tape_reader_open(&r, tape_io_files(), path, &none, &err), &err);
        while (tape_reader_next(r, &rec))
            bytes += rec.tag == TAPE_DATA ? rec.bytes.n : 0;
        tape_reader_close(r);
        ours[i] = seconds(begin_ns);
        if (bytes != data.n)
            _exit(1);
        bare[i] = bare_decode(&file);
    }
    unlink(path);
    double mb = (double)data.n / 1e6;
    double t = measure_median(ours, ROUNDS), b = measure_median(bare, ROUNDS);
    measure_line("read", mb / t, "MB/s");
    measure_line("bare Brotli decoding", mb / b, "MB/s");
    measure_line("read / bare (>= 0.9)", b / t, "x");
    buf_release(&file);
}

static void
seeking(const char *dir, struct view data)
{
    enum { TIMES = 50 };
    static double ms[TIMES];
    const char *path = path_in(dir);
    record(path, data, PIECE, 0, &tape_writer_defaults);
    for (uint32_t i = 0; i < TIMES; i++) {
        struct tape_reader_options none = { 0 };
        struct tape_reader *r;
        struct tape_record rec;
        struct err err;
        uint64_t begin_ns = clock_mono_ns();
        must(tape_reader_open(&r, tape_io_files(), path, &none, &err), &err);
        tape_reader_seek_byte(r, (uint64_t)i * 2654435761U % data.n);
        tape_reader_next(r, &rec);
        tape_reader_close(r);
        ms[i] = seconds(begin_ns) * 1e3;
    }
    unlink(path);
    measure_line("open and seek to a byte, p50", measure_median(ms, TIMES), "ms");
}

/* -- size -- */

static size_t
one_stream(struct view raw)
{
    size_t n = BrotliEncoderMaxCompressedSize(raw.n);
    uint8_t *out = malloc(n);
    BrotliEncoderCompress(4, BROTLI_DEFAULT_WINDOW, BROTLI_MODE_GENERIC, raw.n, raw.p, &n,
                          out);
    free(out);
    return n;
}

static void
sizes(const char *dir, const char *what, struct view data)
{
    static const uint64_t rates[] = { 1000, 5000, 100000 };
    for (size_t i = 0; i < 3; i++) {
        /* Twenty pieces a second, as pack makes them; half an hour at most. */
        size_t piece = rates[i] / 20 < 65536 ? rates[i] / 20 : 65536;
        struct view v = { data.p, data.n < rates[i] * 1800 ? data.n : rates[i] * 1800 };
        struct tape_writer_options opt = tape_writer_defaults;
        struct buf raw = { .ceiling = 256 << 20 }, file = { .ceiling = 256 << 20 };
        char name[80];
        const char *path = path_in(dir);
        opt.is_adaptive =
            false; /* the stamps are made up: time does not let the queue empty */
        opt.sync = TAPE_SYNC_NONE;
        record(path, v, piece, rates[i], &opt);
        flatten(&raw, v, piece, rates[i]);
        file_slurp(path, &file);
        unlink(path);
        snprintf(name, sizeof(name), "%s, %d KB/s: size / raw", what,
                 (int)(rates[i] / 1000));
        measure_line(name, (double)file.n / (double)v.n, "x");
        snprintf(name, sizeof(name), "%s, %d KB/s: size / one stream (<= 1.3)", what,
                 (int)(rates[i] / 1000));
        measure_line(name,
                     (double)file.n / (double)one_stream((struct view){ raw.p, raw.n }),
                     "x");
        buf_release(&raw);
        buf_release(&file);
    }
}

int
main(void)
{
    const char *dir = getenv("BENCH_DIR");
    struct buf data = { .ceiling = 256 << 20 };
    struct buf real = { 0 };
    char fixture[4096];
    dir = dir ? dir : ".";
    agent_stream(&data, (size_t)STREAM_MB << 20, 1);
    struct view v = { data.p, data.n };
    appends("this disk", dir, v);
    if (access("/dev/shm", W_OK) == 0)
        appends("tmpfs", "/dev/shm", v);
    throughput(dir, v);
    reading(dir, v);
    seeking(dir, v);
    sizes(dir, "made-up agent", v);
    snprintf(fixture, sizeof(fixture), "%s/agents/claude-tui.raw",
             getenv("AHR_FIXTURES") ? getenv("AHR_FIXTURES") : "../shared/fixtures");
    if (file_slurp(fixture, &real) == 0)
        sizes(dir, "real agent", (struct view){ real.p, real.n });
    else
        printf("# no shared fixtures here: sizes of a real agent's session skipped\n");
    buf_release(&data);
    buf_release(&real);
    return 0;
}
