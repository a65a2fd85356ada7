/* SPDX-License-Identifier: MIT */
/*
 * iteration_kill_test.c -- SIGKILL for the writer of an iteration log at random instants:
 * all whose append returned is there, in order, and after recovery there are whole lines
 * only. Several write beside each other in one folder.
 */
#include "journal/iteration.h"

#include <inttypes.h>
#include <signal.h>
#include <stdio.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/file.h"
#include "support/kit.h"

enum { WRITERS = 4, LINE_MAX_BYTES = 20000 };

/* What each child tells before it dies. */
struct ack {
    volatile uint32_t begun;
    volatile uint32_t lines; /* … whose appends have returned */
    volatile uint32_t piece; /* of the next one's two pieces, how many have */
};

static struct ack *acks;

/* Line number i of a writer; every seventh is longer than a page, others are two pieces.
 */
static size_t
make_line(unsigned writer, uint32_t i, char line[LINE_MAX_BYTES])
{
    size_t n = (size_t)snprintf(line, LINE_MAX_BYTES, "%u/%" PRIu32 "/", writer, i);
    size_t more = i % 7 ? 40 + i % 100 : 5000 + i % 9000;
    memset(line + n, 'a' + (int)(i % 26), more);
    line[n + more] = '\n';
    return n + more + 1;
}

static void
path_of(unsigned writer, char path[64])
{
    snprintf(path, 64, "%u.log", writer);
}

_Noreturn static void
write_until_killed(unsigned writer)
{
    struct journal_iteration *it;
    char path[64], line[LINE_MAX_BYTES];
    path_of(writer, path);
    if (journal_iteration_open(&it, path, writer, 0, NULL) < 0)
        _exit(1);
    acks[writer].begun = 1;
    for (uint32_t i = 0;; i++) {
        size_t n = make_line(writer, i, line), half = i % 3 ? 0 : n / 2;
        const uint8_t *p = (const uint8_t *)line;
        if (half && journal_iteration_append(it, (struct view){ p, half }) < 0)
            _exit(1);
        acks[writer].piece = half ? 1 : 0;
        if (journal_iteration_append(it, (struct view){ p + half, n - half }) < 0)
            _exit(1);
        acks[writer].piece = 0;
        acks[writer].lines = i + 1;
    }
}

/* Lines 0, 1, 2 … as they were made; of the last one a beginning will do. Returns how
 * many are whole. */
static uint32_t
count_lines(unsigned writer, struct view v, size_t *ret_rest)
{
    char line[LINE_MAX_BYTES];
    for (uint32_t i = 0;; i++) {
        size_t n = make_line(writer, i, line);
        if (v.n < n || memcmp(v.p, line, n) != 0) {
            assert_true(v.n <= n);
            if (v.n)
                assert_memory_equal(v.p, line, v.n - 1);
            *ret_rest = v.n;
            return i;
        }
        v.p += n;
        v.n -= n;
    }
}

static uint32_t
expect_acked(unsigned writer)
{
    AUTO(buf) all = { 0 };
    struct journal_head h;
    char path[64], line[LINE_MAX_BYTES];
    size_t rest;
    path_of(writer, path);
    assert_int_equal(journal_iteration_recover(path, NULL), 1);
    assert_int_equal(file_slurp(path, &all), 0);
    assert_int_equal(journal_head_read((struct view){ all.p, all.n }, &h), 0);
    assert_int_equal(h.status, JOURNAL_CRASHED);
    assert_string_equal(h.interrupted, "unknown");
    assert_int_equal(h.iteration, writer);
    assert_int_equal(h.size, JOURNAL_HEAD);
    assert_int_equal(all.p[all.n - 1], '\n');
    uint32_t lines = count_lines(writer, (struct view){ all.p + h.size, all.n - h.size },
                                 &rest);
    assert_true(lines >= acks[writer].lines);
    if (lines == acks[writer].lines && acks[writer].piece)
        assert_true(rest > make_line(writer, lines, line) / 2);
    return lines;
}

static void
killed_at_random_instants_a_log_has_all_that_was_appended(void **state)
{
    (void)state;
    const char *asked = getenv("AHR_TEST_KILLS");
    /* A fourth of what others do in as much time. */
    int kills = asked ? (int)strtol(asked, NULL, 10) / 4 : kit_times(60, 2000);
    unsigned seed = (unsigned)getpid();
    uint64_t lines = 0;
    for (int i = 0; i < kills; i += WRITERS) {
        pid_t pids[WRITERS];
        memset(acks, 0, WRITERS * sizeof(*acks));
        for (unsigned w = 0; w < WRITERS; w++) {
            char path[64];
            path_of(w, path);
            unlink(path);
            pids[w] = fork();
            if (!pids[w])
                write_until_killed(w);
        }
        for (unsigned w = 0; w < WRITERS; w++) {
            while (!acks[w].begun)
                usleep(50);
            usleep((unsigned)rand_r(&seed) % 3000);
            kill(pids[w], SIGKILL);
            int status;
            assert_int_equal(waitpid(pids[w], &status, 0), pids[w]);
            assert_true(WIFSIGNALED(status));
        }
        for (unsigned w = 0; w < WRITERS; w++)
            lines += expect_acked(w);
    }
    print_message("# %d kills, %" PRIu64 " lines found again\n", kills, lines);
}

int
main(void)
{
    acks = mmap(NULL, WRITERS * sizeof(*acks), PROT_READ | PROT_WRITE,
                MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    if (acks == MAP_FAILED)
        return 1;
    const struct CMUnitTest tests[] = {
        KIT_IN_DIR(killed_at_random_instants_a_log_has_all_that_was_appended),
    };
    return cmocka_run_group_tests_name("iteration_kill", tests, NULL, NULL);
}
