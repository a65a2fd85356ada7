/* SPDX-License-Identifier: MIT */
/*
 * bench_journal.c -- how long an append to an iteration log takes, against a bare
 * write(2) of the same bytes in the same run, alternating: on the disk (in $BENCH_DIR,
 * default: the current folder) and in memory. Not synced, as neither is in use.
 */
#include <fcntl.h>
#include <stdio.h>
#include <unistd.h>

#include "base/clock.h"
#include "journal/iteration.h"
#include "support/measure.h"

enum { TIMES = 20000, WARM_UP = 200 };

struct pair {
    double log_us[TIMES], bare_us[TIMES];
};

static struct pair times;

static void
must(bool is_good, const char *what)
{
    if (is_good)
        return;
    fprintf(stderr, "bench_journal: cannot %s\n", what);
    _exit(1);
}

static double
since_us(uint64_t from_ns)
{
    return (double)(clock_mono_ns() - from_ns) / 1e3;
}

static void
tell(const char *where, size_t size, const char *what, double *v)
{
    static const struct {
        const char *name;
        double p;
    } points[] = { { "p50", 0.5 }, { "p99", 0.99 }, { "p99.9", 0.999 } };
    for (size_t i = 0; i < sizeof(points) / sizeof(points[0]); i++) {
        char name[128];
        snprintf(name, sizeof(name), "journal-%s-%s-%zuB-%s%s", what, where, size,
                 points[i].name, i == 1 && what[0] == 'a' ? "-below-1000" : "");
        measure_line(name, measure_percentile(v, TIMES, points[i].p), "us");
    }
}

static void
run(const char *dir, const char *where, size_t size)
{
    struct journal_iteration *it;
    struct err err;
    char log[4096], bare[4096];
    static uint8_t line[4096];
    snprintf(log, sizeof(log), "%s/ahr-bench-%d.log", dir, (int)getpid());
    snprintf(bare, sizeof(bare), "%s/ahr-bench-%d.bare", dir, (int)getpid());
    memset(line, 'x', size);
    line[size - 1] = '\n';
    must(journal_iteration_open(&it, log, 1, JOURNAL_FLUSH_MS, &err) >= 0, "make a log");
    int fd = open(bare, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC | O_APPEND, 0600);
    must(fd >= 0, "make a file");
    for (int i = -WARM_UP; i < TIMES; i++) {
        uint64_t from = clock_mono_ns();
        must(!journal_iteration_append(it, (struct view){ line, size }), "append");
        double log_us = since_us(from);
        from = clock_mono_ns();
        must(write(fd, line, size) == (ssize_t)size, "write");
        double bare_us = since_us(from);
        if (i >= 0) {
            times.log_us[i] = log_us;
            times.bare_us[i] = bare_us;
        }
    }
    close(fd);
    journal_iteration_close(it);
    unlink(log);
    unlink(bare);
    tell(where, size, "append", times.log_us);
    tell(where, size, "write", times.bare_us);
}

int
main(void)
{
    const char *dir = getenv("BENCH_DIR") ? getenv("BENCH_DIR") : ".";
    static const size_t sizes[] = { 200, 4096 };
    for (size_t i = 0; i < sizeof(sizes) / sizeof(sizes[0]); i++) {
        run(dir, "disk", sizes[i]);
        if (!access("/dev/shm", W_OK))
            run("/dev/shm", "memory", sizes[i]);
    }
    return 0;
}
