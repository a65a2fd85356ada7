/* SPDX-License-Identifier: MIT */
/*
 * bench_journal.c -- how long an append to an iteration log takes, against a bare
 * write(2) of the same bytes in the same run, alternating: on the disk (in $BENCH_DIR,
 * default: the current folder) and in memory. Not synced, as neither is in use. The same
 * of a turn that becomes a line of full.jsonl: made, and written.
 */
#include <fcntl.h>
#include <stdio.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/tree.h"
#include "journal/entire.h"
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

/* -- full.jsonl -- */

#define SESSION "2026-02-10-a1b2c3d4-e5f6-4890-abcd-ef1234567890"

static int
open_at(const char *dir, const char *name, int flags)
{
    AUTO(buf) path = { 0 };
    buf_printf(&path, "%s/%s", dir, name);
    int fd = open(buf_str(&path), flags | O_CLOEXEC, 0600);
    must(fd >= 0, "open what is measured");
    return fd;
}

/* One turn, of the assistant and of the user by turns, so that each is a line that is
 * complete when the next one comes. The bytes of the line before it are what the bare
 * write has. */
static void
run_entire(const char *dir, const char *where, size_t size)
{
    struct journal_entire *entire;
    AUTO(buf) root = { 0 };
    static uint8_t line[8192], text[4096];
    memset(line, 'x', sizeof(line));
    memset(text, 'x', sizeof(text));
    buf_printf(&root, "%s/ahr-bench-%d.entire", dir, (int)getpid());
    must(mkdir(buf_str(&root), 0700) == 0, "make a folder");
    const struct journal_entire_options opt = {
        .root = buf_str(&root), .session = SESSION, .version = "1", .cwd = "/work"
    };
    must(!journal_entire_open(&entire, &opt), "begin a transcript");
    int fd = open_at(buf_str(&root), "bare", O_WRONLY | O_CREAT | O_APPEND), lines = -1;
    off_t last = 0;
    for (int i = -WARM_UP; i < TIMES; i++) {
        struct turn_event e = turn_event(i % 2 ? TURN_TOOL_RESULT : TURN_TEXT);
        e.id = (struct view){ (const uint8_t *)"m", 1 };
        e.text = (struct view){ text, size };
        uint64_t from = clock_mono_ns();
        must(!journal_entire_add(entire, &e, 1) && !journal_entire_write(entire),
             "append a turn");
        double line_us = since_us(from);
        if (lines < 0 && i > -WARM_UP)
            lines = open_at(journal_entire_path(entire), "full.jsonl", O_RDONLY);
        off_t end = lines < 0 ? 0 : lseek(lines, 0, SEEK_END);
        size_t n = end > last ? (size_t)(end - last) : size;
        last = end;
        must(n <= sizeof(line), "tell how long a line is");
        from = clock_mono_ns();
        must(write(fd, line, n) == (ssize_t)n, "write");
        double bare_us = since_us(from);
        if (i >= 0) {
            times.log_us[i] = line_us;
            times.bare_us[i] = bare_us;
        }
    }
    must((uint64_t)TIMES < journal_entire_count(entire), "write a line a turn");
    close(lines);
    close(fd);
    journal_entire_free(entire);
    must(!tree_remove(AT_FDCWD, buf_str(&root)), "remove a folder");
    tell(where, size, "entire", times.log_us);
    tell(where, size, "entire-write", times.bare_us);
}

int
main(void)
{
    const char *dir = getenv("BENCH_DIR") ? getenv("BENCH_DIR") : ".";
    static const size_t sizes[] = { 200, 4096 };
    for (size_t i = 0; i < sizeof(sizes) / sizeof(sizes[0]); i++) {
        run(dir, "disk", sizes[i]);
        run_entire(dir, "disk", sizes[i]);
        if (!access("/dev/shm", W_OK)) {
            run("/dev/shm", "memory", sizes[i]);
            run_entire("/dev/shm", "memory", sizes[i]);
        }
    }
    return 0;
}
