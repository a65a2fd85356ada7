/* SPDX-License-Identifier: MIT */
/*
 * bench_play.c -- how far any place of a long recording is: `name value unit`, one line
 * each.
 *
 * bench_play [MIB]: an agent's session of that size (1024, which is ten hours), made in
 * $BENCH_DIR (default: the current folder). Cold is a new player whose files are not in
 * the page cache; warm is one that has been elsewhere.
 */
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/num.h"
#include "play/player.h"
#include "support/long_session.h"
#include "support/measure.h"
#include "support/rng.h"

enum { SEEKS = 100 };

static char tape_path[4096], frames_path[4200];

static double
ms_since(uint64_t from_ns)
{
    return (double)(clock_mono_ns() - from_ns) / 1e6;
}

static void
must(int r, const struct err *err)
{
    if (r < 0) {
        fprintf(stderr, "bench_play: %s (%d)\n", err ? err->text : "failed", r);
        unlink(tape_path);
        unlink(frames_path);
        exit(1);
    }
}

static void
make_recording(size_t mib)
{
    struct err err;
    must(long_session_make(tape_path, mib, &err), &err);
}

static double
size_mib(const char *path)
{
    struct stat st;
    return stat(path, &st) < 0 ? 0 : (double)st.st_size / (1 << 20);
}

static void
drop_from_cache(const char *path)
{
    int fd = open(path, O_RDONLY | O_CLOEXEC);
    must(fd, NULL);
    fdatasync(fd);
    posix_fadvise(fd, 0, 0, POSIX_FADV_DONTNEED);
    close(fd);
}

static struct play_player *
open_player(bool has_file)
{
    struct play_options opt = { .keyframes_path = has_file ? frames_path : NULL };
    struct play_player *p;
    struct err err;
    must(play_open(&p, tape_io_files(), tape_path, &opt, &err), &err);
    return p;
}

/* To any time or any byte. */
static void
seek(struct play_player *p, uint32_t *rng)
{
    struct play_extent e = play_extent(p);
    double part = (double)rng_next(rng) / UINT32_MAX;
    must(rng_next(rng) % 2 ? play_seek_ns(p, (uint64_t)(part * (double)e.duration_ns))
                           : play_seek_byte(p, (uint64_t)(part * (double)e.total_bytes)),
         NULL);
    must(play_work_all(p), NULL);
}

static void
tell(const char *what, double v[SEEKS])
{
    char name[96];
    snprintf(name, sizeof(name), "seek %s, median", what);
    measure_line(name, measure_median(v, SEEKS), "ms");
    snprintf(name, sizeof(name), "seek %s, p99", what);
    measure_line(name, measure_percentile(v, SEEKS, 0.99), "ms");
    snprintf(name, sizeof(name), "seek %s, max", what);
    measure_line(name, measure_percentile(v, SEEKS, 1), "ms");
}

static void
bench_seeks(void)
{
    double v[SEEKS];
    uint32_t rng = rng_seed(1);
    for (int i = 0; i < SEEKS; i++) {
        drop_from_cache(tape_path);
        drop_from_cache(frames_path);
        uint64_t start = clock_mono_ns();
        struct play_player *p = open_player(true);
        seek(p, &rng);
        v[i] = ms_since(start);
        play_close(p);
    }
    tell("cold (want 50)", v);
    for (int i = 0; i < SEEKS; i++) {
        uint64_t start = clock_mono_ns();
        struct play_player *p = open_player(true);
        seek(p, &rng);
        v[i] = ms_since(start);
        play_close(p);
    }
    tell("of a new player, cached", v);
    struct play_player *p = open_player(true);
    for (int i = 0; i < SEEKS; i++) {
        uint64_t start = clock_mono_ns();
        seek(p, &rng);
        v[i] = ms_since(start);
    }
    tell("warm (want 10)", v);
    play_close(p);
}

/* These in CPU time. The least that must be done: unpack everything, feed the model. */
static double
feed_all(void)
{
    struct tape_reader_options quiet = { 0 };
    struct term_options opt = term_options_default();
    struct tape_reader *tape;
    struct tape_record rec;
    struct err err;
    opt.cols = 120;
    opt.rows = 40;
    double start = measure_cpu_s();
    struct term *t = term_new(&opt);
    must(tape_reader_open(&tape, tape_io_files(), tape_path, &quiet, &err), &err);
    while (tape_reader_next(tape, &rec))
        if (rec.tag == TAPE_DATA)
            term_feed(t, rec.bytes.p, rec.bytes.n, rec.byte_off);
    tape_reader_close(tape);
    double ms = (measure_cpu_s() - start) * 1e3;
    term_free(t);
    return ms;
}

static double
index_all(void)
{
    double start = measure_cpu_s();
    struct play_player *p = open_player(true);
    must(play_index(p), NULL);
    must(play_work_all(p), NULL);
    play_close(p);
    return (measure_cpu_s() - start) * 1e3;
}

static double
search_all(void)
{
    static const uint8_t text[] = "no such text in it";
    struct play_player *p = open_player(true);
    double start = measure_cpu_s();
    must(play_search(p, (struct view){ text, sizeof(text) - 1 }, false), NULL);
    play_work_all(p);
    double ms = (measure_cpu_s() - start) * 1e3;
    play_close(p);
    return ms;
}

int
main(int argc, char **argv)
{
    const char *dir = getenv("BENCH_DIR");
    uint64_t mib = 1024;
    struct view size = { (const uint8_t *)argv[argc - 1], strlen(argv[argc - 1]) };
    if (argc > 1 && (num_parse(size, 1 << 20, &mib) < 0 || !mib))
        return 2;
    snprintf(tape_path, sizeof(tape_path), "%s/ahr-bench-%d.ahr", dir ? dir : ".",
             (int)getpid());
    snprintf(frames_path, sizeof(frames_path), "%s.keyframes", tape_path);
    make_recording((size_t)mib);
    sleep(3); /* a file that has just changed is read anew each time */
    double indexed = index_all();
    struct rusage used;
    getrusage(RUSAGE_SELF, &used);
    double fed = feed_all();
    measure_line("play: recording", size_mib(tape_path), "MiB");
    measure_line("play: keyframes", size_mib(frames_path), "MiB");
    measure_line("play: keyframes against the recording",
                 size_mib(frames_path) / size_mib(tape_path), "ratio");
    measure_line("play: unpack and feed", fed, "ms");
    measure_line("play: keyframes made", indexed, "ms");
    measure_line("play: made against unpack and feed", indexed / fed, "ratio");
    measure_line("play: memory for that", (double)used.ru_maxrss / 1024, "MiB");
    bench_seeks();
    measure_line("play: search through all", search_all(), "ms");
    unlink(tape_path);
    unlink(frames_path);
    return 0;
}
