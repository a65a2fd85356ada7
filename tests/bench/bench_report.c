/* SPDX-License-Identifier: MIT */
/*
 * bench_report.c -- what a report takes: `name value unit`, one line each.
 *
 * An agent's session of 1 GB (or as many MB as the first argument says) is read in four
 * ways: unpacked, unpacked and fed to the model, and as a report in every format (or
 * those that the other arguments name), masked as an export is. Each way runs in a
 * process of its own; CPU time, and the most memory it had. `--make FILE MB` makes the
 * session and ends; `--one feed|FORMAT FILE` reads it once, for a profiler.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include "play/report.h"
#include "support/agent_stream.h"
#include "support/measure.h"
#include "tape/writer.h"

enum {
    MB = 1000000,
    PIECE = 16 << 10,
    PIECE_NS = 1000000,
    SNAPSHOT_EVERY = 100,
    ROUNDS = 3
};

static void
must(int r, const struct err *err)
{
    if (r < 0) {
        fprintf(stderr, "bench_report: %s\n", err->text);
        _exit(1);
    }
}

/* -- the session -- */

static uint64_t
append(struct tape_writer *w, struct view data, uint64_t ts_ns)
{
    static uint64_t id;
    for (size_t at = 0; at < data.n; at += PIECE, ts_ns += PIECE_NS) {
        size_t n = data.n - at < PIECE ? data.n - at : PIECE;
        tape_writer_append(
            w, (struct tape_record){ .ts_ns = ts_ns, .bytes = { data.p + at, n } });
        if (++id % SNAPSHOT_EVERY)
            continue;
        struct tape_writer_status st;
        tape_writer_status(w, &st);
        tape_writer_append(w,
                           (struct tape_record){ .tag = TAPE_SNAPSHOT,
                                                 .ts_ns = ts_ns,
                                                 .snapshot_id = id,
                                                 .byte_off = st.byte_off,
                                                 .bytes = { (const void *)"post", 4 } });
    }
    return ts_ns;
}

static void
make_session(const char *path, unsigned long mb)
{
    struct tape_writer_options opt = tape_writer_defaults;
    struct tape_writer *w;
    struct tape_writer_status st;
    struct err err;
    uint64_t ts_ns = 1;
    opt.cols = 120;
    opt.rows = 40;
    opt.sync = TAPE_SYNC_NONE;
    opt.patience_ns = UINT64_MAX;
    must(tape_writer_open(&w, tape_io_files(), path, &opt, &err), &err);
    for (unsigned long i = 0; i < mb; i++) {
        AUTO(buf) data = { 0 };
        agent_stream(&data, MB, (uint32_t)i + 1);
        ts_ns = append(w, (struct view){ data.p, data.n }, ts_ns);
    }
    must(tape_writer_finish(w, ts_ns, &st, &err), &err);
}

/* -- the ways -- */

static const char by_position[] = "json-by-position";

static void
decode(const char *path, const char *format)
{
    (void)format;
    struct tape_reader_options opt = { 0 };
    struct tape_reader *r;
    struct tape_record rec;
    struct err err;
    must(tape_reader_open(&r, tape_io_files(), path, &opt, &err), &err);
    while (tape_reader_next(r, &rec))
        ;
    tape_reader_close(r);
}

static void
load(struct play_loaded *ret, const char *path)
{
    struct play_load_options opt = { 0 };
    struct err err;
    must(play_load(ret, tape_io_files(), path, &opt, &err), &err);
}

static void
decode_and_feed(const char *path, const char *format)
{
    (void)format;
    struct play_loaded l;
    load(&l, path);
    _exit(0);
}

static int
write_all(void *ctx, struct view bytes)
{
    (void)ctx;
    return write(STDERR_FILENO, bytes.p, bytes.n) < 0 ? -1 : 0;
}

static void
report(const char *path, const char *format)
{
    struct play_loaded l;
    struct redact *redact;
    struct err err;
    load(&l, path);
    must(redact_open(&redact, NULL, &err), &err);
    struct play_about about = { .start_ns = l.first_ts_ns,
                                .total_bytes = l.total_bytes,
                                .cols = term_cols(l.term),
                                .rows = term_rows(l.term),
                                .is_masked = true };
    bool is_sorted = !strcmp(format, by_position);
    struct play_report_options opt = { .order = is_sorted ? PLAY_POSITION : PLAY_VISUAL,
                                       .has_snapshots = true,
                                       .has_instructions = true,
                                       .has_notices = true,
                                       .redact = redact,
                                       .about = &about };
    must(play_report(&l, &l.events, play_format_find(is_sorted ? "json" : format), &opt,
                     write_all, NULL, &err),
         &err);
    _exit(0);
}

/* CPU seconds; *ret_mib is the most memory. */
static double
run(void (*way)(const char *path, const char *format), const char *path,
    const char *format, double *ret_mib)
{
    struct rusage usage;
    int status;
    pid_t pid = fork();
    if (pid == 0) {
        if (!freopen("/dev/null", "w", stderr))
            _exit(1);
        way(path, format);
        _exit(0);
    }
    if (pid < 0 || wait4(pid, &status, 0, &usage) < 0 || status)
        abort();
    *ret_mib = (double)usage.ru_maxrss / 1024;
    return (double)(usage.ru_utime.tv_sec + usage.ru_stime.tv_sec) +
           (double)(usage.ru_utime.tv_usec + usage.ru_stime.tv_usec) / 1e6;
}

/* In turns with reading and feeding, medians. */
static void
measure_format(const char *path, const char *format)
{
    char name[96];
    double mib, feed[ROUNDS], made[ROUNDS];
    for (int i = 0; i < ROUNDS; i++) {
        feed[i] = run(decode_and_feed, path, NULL, &mib);
        made[i] = run(report, path, format, &mib);
    }
    double s = measure_median(made, ROUNDS), feed_s = measure_median(feed, ROUNDS);
    snprintf(name, sizeof(name), "report %s", format);
    measure_line(name, s, "s");
    snprintf(name, sizeof(name), "report %s / decode and feed (<= 1.2)", format);
    measure_line(name, s / feed_s, "x");
    snprintf(name, sizeof(name), "report %s, memory (<= 256)", format);
    measure_line(name, mib, "MiB");
}

static int
run_part(char **argv)
{
    if (!strcmp(argv[1], "--make"))
        make_session(argv[2], strtoul(argv[3], NULL, 10));
    else if (!strcmp(argv[2], "feed"))
        decode_and_feed(argv[3], NULL);
    else
        report(argv[3], argv[2]);
    return 0;
}

int
main(int argc, char **argv)
{
    if (argc == 4 && !strncmp(argv[1], "--", 2))
        return run_part(argv);
    static const char *const formats[] = { "md",   "json", "csv",           "txt",
                                           "ansi", "html", "branch-points", by_position };
    unsigned long mb = argc > 1 ? strtoul(argv[1], NULL, 10) : 1000;
    const char *dir = getenv("BENCH_DIR");
    char path[4096];
    double mib;
    snprintf(path, sizeof(path), "%s/ahr-bench-%d.ahr", dir ? dir : ".", (int)getpid());
    make_session(path, mb);
    double decode_s = run(decode, path, NULL, &mib);
    measure_line("report: decode alone", decode_s, "s");
    double feed_s = run(decode_and_feed, path, NULL, &mib);
    measure_line("report: decode and feed", feed_s, "s");
    measure_line("report: decode and feed, memory", mib, "MiB");
    for (int i = 2; i < argc; i++)
        measure_format(path, argv[i]);
    for (size_t i = 0; argc <= 2 && i < sizeof(formats) / sizeof(formats[0]); i++)
        if (formats[i] == by_position || play_format_find(formats[i]))
            measure_format(path, formats[i]);
    unlink(path);
    return 0;
}
