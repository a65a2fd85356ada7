/* SPDX-License-Identifier: MIT */
/* iteration_test.c -- the iteration log: its layout, its endings, and what recovery makes
 * of one that has none. */
#include "journal/iteration.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/file.h"
#include "support/kit.h"

#define LOG "7.log"

static struct view
text(const char *s)
{
    return (struct view){ (const uint8_t *)s, strlen(s) };
}

static struct journal_iteration *
begin(unsigned flush_ms)
{
    struct journal_iteration *it;
    unlink(LOG);
    assert_int_equal(journal_iteration_open(&it, LOG, 7, flush_ms, NULL), 0);
    return it;
}

static void
append(struct journal_iteration *it, const char *s)
{
    assert_int_equal(journal_iteration_append(it, text(s)), 0);
}

static void
append_stderr(struct journal_iteration *it, const char *s)
{
    assert_int_equal(journal_iteration_append_stderr(it, text(s)), 0);
}

/* The file now; what follows the head is *ret_text. */
static struct journal_head
look(const char *path, struct buf *all, struct view *ret_text)
{
    struct journal_head h;
    buf_clear(all);
    assert_int_equal(file_slurp(path, all), 0);
    assert_int_equal(journal_head_read((struct view){ all->p, all->n }, &h), 0);
    *ret_text = (struct view){ all->p + h.size, all->n - h.size };
    return h;
}

static void
expect_text(const char *want)
{
    AUTO(buf) all = { 0 };
    struct view got;
    look(LOG, &all, &got);
    assert_int_equal(got.n, strlen(want));
    assert_memory_equal(got.p, want, got.n);
}

/* The head with the spare blanks of its Status line gone, and its time made 1. */
static void
expect_head(const char *want)
{
    AUTO(buf) all = { 0 };
    AUTO(buf) short_head = { 0 };
    assert_int_equal(file_slurp(LOG, &all), 0);
    assert_true(all.n >= JOURNAL_HEAD);
    for (size_t i = 0; i < JOURNAL_HEAD; i++) {
        uint8_t c = all.p[i];
        size_t next = i;
        while (next < JOURNAL_HEAD && all.p[next] == ' ')
            next++;
        if (c == ' ' && all.p[next] == '\n')
            i = next - 1;
        else
            buf_append(&short_head, &c, 1);
    }
    char *time = strstr(buf_str(&short_head), "Timestamp: ");
    assert_non_null(time);
    assert_int_equal(strcspn(time, "\n"), strlen("Timestamp: 2026-01-17T10:15:30.123Z"));
    memset(time + 11, '1', 24);
    assert_string_equal(buf_str(&short_head), want);
}

#define TITLE "# Iteration 7\nTimestamp: 111111111111111111111111\n"

static void
the_head_has_512_bytes_and_the_seeds_layout_at_each_end(void **state)
{
    (void)state;
    struct journal_iteration *it = begin(0);
    expect_head(TITLE "Status: in_progress\n---\n\n");
    append(it, "hello\n");
    assert_int_equal(journal_iteration_complete(it, 3, 12345), 0);
    expect_head(TITLE "Status: completed\nDuration: 12345ms\nExit Code: 3\n---\n\n");
    expect_text("hello\n");
    journal_iteration_close(it);
    it = begin(0);
    assert_int_equal(journal_iteration_abort(it, "SIGINT"), 0);
    expect_head(TITLE "Status: aborted\nInterrupted: SIGINT\n---\n\n");
    journal_iteration_close(it);
    it = begin(0);
    assert_int_equal(journal_iteration_crash(it, "TypeError: x\n\tat y\x1b[31m\n"), 0);
    expect_head(TITLE "Status: crashed\nInterrupted: TypeError: x at y [31m\n---\n\n");
    journal_iteration_close(it);
}

static void
the_spare_blanks_stand_on_the_status_line(void **state)
{
    (void)state;
    AUTO(buf) all = { 0 };
    struct journal_iteration *it = begin(0);
    journal_iteration_close(it);
    assert_int_equal(file_slurp(LOG, &all), 0);
    assert_int_equal(all.n, JOURNAL_HEAD);
    assert_memory_equal(all.p + all.n - 7, " \n---\n\n", 7);
    assert_null(strstr(buf_str(&all), " \nTimestamp"));
}

static void
only_its_owner_may_read_a_log_and_none_is_overwritten(void **state)
{
    (void)state;
    struct stat st;
    struct journal_iteration *it = begin(0), *other;
    struct err err;
    assert_int_equal(stat(LOG, &st), 0);
    assert_int_equal(st.st_mode & 0777, 0600);
    assert_int_equal(journal_iteration_open(&other, LOG, 7, 0, &err), -EEXIST);
    journal_iteration_close(it);
    assert_int_equal(journal_iteration_open(&other, "no/1.log", 1, 0, &err), ERR_MISSING);
}

static void
an_event_is_in_the_file_when_append_returns(void **state)
{
    (void)state;
    struct journal_iteration *it = begin(1000000);
    append(it, "one\n");
    expect_text("one\n");
    append(it, "two\nthree\n");
    expect_text("one\ntwo\nthree\n");
    journal_iteration_close(it);
}

static void
an_open_line_ends_with_a_newline_that_what_follows_takes_the_place_of(void **state)
{
    (void)state;
    struct journal_iteration *it = begin(0);
    append(it, "Hel");
    expect_text("Hel\n");
    append(it, "lo,");
    expect_text("Hello,\n");
    append(it, " world\nand");
    expect_text("Hello, world\nand\n");
    append(it, "\n");
    expect_text("Hello, world\nand\n");
    append(it, "next\n");
    expect_text("Hello, world\nand\nnext\n");
    journal_iteration_close(it);
}

static void
pieces_wait_for_flush_ms_and_no_longer(void **state)
{
    (void)state;
    struct journal_iteration *it = begin(50);
    uint64_t before = clock_mono_ns();
    assert_true(journal_iteration_due_ns(it) == UINT64_MAX);
    append(it, "a piece");
    expect_text("");
    uint64_t due = journal_iteration_due_ns(it);
    assert_true(due >= before + 50000000);
    assert_true(due <= clock_mono_ns() + 50000000);
    journal_iteration_tick(it, due - 1);
    expect_text("");
    journal_iteration_tick(it, due);
    expect_text("a piece\n");
    assert_true(journal_iteration_due_ns(it) == UINT64_MAX);
    append(it, ", more");
    assert_int_equal(journal_iteration_flush(it), 0);
    expect_text("a piece, more\n");
    append(it, ", end");
    journal_iteration_close(it);
    expect_text("a piece, more, end\n");
}

static void
stderr_keeps_its_place_and_has_a_mark_before_each_line(void **state)
{
    (void)state;
    struct journal_iteration *it = begin(100);
    append(it, "out 1\n");
    append_stderr(it, "err 1\nerr 2\n");
    append(it, "open");
    append_stderr(it, "err 3\n");
    append(it, "on\n");
    append_stderr(it, "torn ");
    append_stderr(it, "apart\n\nx");
    append(it, "out 2\n");
    append_stderr(it, "");
    expect_text("out 1\n[stderr] err 1\n[stderr] err 2\nopen\n[stderr] err 3\non\n"
                "[stderr] torn apart\n[stderr] \n[stderr] x\nout 2\n");
    journal_iteration_close(it);
}

static void
a_log_ends_once_whatever_is_called_behind_that(void **state)
{
    (void)state;
    for (int first = 0; first < 3; first++) {
        AUTO(buf) all = { 0 };
        struct view got;
        struct journal_iteration *it = begin(100000);
        append(it, "not yet written");
        for (int i = first; i < first + 4; i++) {
            int r = i % 3 == 0   ? journal_iteration_complete(it, i, 1)
                    : i % 3 == 1 ? journal_iteration_abort(it, "SIGTERM")
                                 : journal_iteration_crash(it, "boom");
            assert_int_equal(r, i == first ? 0 : -EINVAL);
        }
        assert_int_equal(journal_iteration_append(it, text("x\n")), -EINVAL);
        assert_int_equal(journal_iteration_append_stderr(it, text("x\n")), -EINVAL);
        assert_int_equal(journal_iteration_flush(it), -EINVAL);
        journal_iteration_close(it);
        struct journal_head h = look(LOG, &all, &got);
        assert_int_equal(h.status, JOURNAL_COMPLETED + first);
        expect_text("not yet written\n");
    }
}

static void
large_texts_go_through_whole(void **state)
{
    (void)state;
    AUTO(buf) all = { 0 };
    struct view got;
    size_t n = 20 << 20;
    char *big = malloc(n + 1);
    assert_non_null(big);
    memset(big, 'x', n);
    big[n] = 0;
    struct journal_iteration *it = begin(0);
    append(it, big);
    append(it, "y\n");
    big[n - 1] = '\n';
    append(it, big);
    journal_iteration_close(it);
    look(LOG, &all, &got);
    assert_int_equal(got.n, 2 * n + 2);
    assert_memory_equal(got.p + n - 2, "xxy\nxx", 6);
    free(big);
}

/* -- heads of others -- */

static struct journal_head
read_head(const char *s)
{
    struct journal_head h = { 0 };
    assert_int_equal(journal_head_read(text(s), &h), 0);
    return h;
}

static void
an_old_head_counts_as_completed(void **state)
{
    (void)state;
    const char *old = "# Iteration 12\nTimestamp: 2026-01-17T10:15:30.123Z\n"
                      "Duration: 4500ms\nExit Code: 1\n---\n\nhello\n";
    struct journal_head h = read_head(old);
    assert_int_equal(h.status, JOURNAL_COMPLETED);
    assert_int_equal(h.iteration, 12);
    assert_int_equal(h.duration_ms, 4500);
    assert_int_equal(h.exit_code, 1);
    assert_string_equal(h.timestamp, "2026-01-17T10:15:30.123Z");
    assert_string_equal(old + h.size, "hello\n");
}

static void
a_head_is_read_whatever_its_line_ends_and_padding(void **state)
{
    (void)state;
    struct journal_head h = read_head("# Iteration 1\r\nStatus: aborted   \r\n"
                                      "Exit Code: null\r\nMood: good\r\n"
                                      "Interrupted: SIGHUP \r\n---\r\n\r\nx");
    assert_int_equal(h.status, JOURNAL_ABORTED);
    assert_string_equal(h.interrupted, "SIGHUP");
    assert_true(h.exit_code == INT64_MIN);
    assert_true(h.duration_ms == UINT64_MAX);
    assert_string_equal(h.timestamp, "");
    h = read_head("# Iteration 1\nExit Code: -2\n---\ntext at once\n");
    assert_int_equal(h.exit_code, -2);
    assert_int_equal(h.size, strlen("# Iteration 1\nExit Code: -2\n---\n"));
}

static void
what_is_no_head_is_refused(void **state)
{
    (void)state;
    static const char *const none[] = {
        "",
        "# Iteration",
        "# Iteration \n---\n",
        "# Iteration 1",
        "# Iteration 1\n",
        "# Iteration -1\n---\n",
        "# Iteration 99999999999999999999999\n---\n",
        "# Iteration 1\nStatus: happy\n---\n",
        "# Iteration 1\nInterrupted: \x1b[2J\n---\n",
        "# Iteration 1\nTimestamp: \xff\n---\n",
        "# Iteration 1\nTimestamp: 1234567890123456789012345678901234567890\n---\n",
        "x# Iteration 1\n---\n",
    };
    struct journal_head h;
    for (size_t i = 0; i < sizeof(none) / sizeof(none[0]); i++)
        assert_int_equal(journal_head_read(text(none[i]), &h), ERR_DAMAGED);
}

static void
a_head_that_does_not_fit_is_not_begun(void **state)
{
    (void)state;
    AUTO(buf) out = { 0 };
    struct journal_head h = { .iteration = UINT64_MAX, .status = JOURNAL_CRASHED };
    char reason[600];
    memset(reason, 'r', sizeof(reason));
    reason[sizeof(reason) - 1] = 0;
    journal_head_reason(&h, reason);
    assert_int_equal(strlen(h.interrupted), sizeof(h.interrupted) - 1);
    assert_int_equal(journal_head_format(&h, 40, &out), ERR_LIMIT);
    assert_int_equal(out.n, 0);
    assert_int_equal(journal_head_format(&h, JOURNAL_HEAD, &out), 0);
    assert_int_equal(out.n, JOURNAL_HEAD);
}

/* -- logs that have no end -- */

static void
recovery_leaves_a_live_log_alone_and_ends_a_dead_one_once(void **state)
{
    (void)state;
    struct journal_iteration *it = begin(0);
    append(it, "hello");
    assert_int_equal(journal_iteration_recover(LOG, NULL), ERR_BUSY);
    journal_iteration_close(it);
    assert_int_equal(journal_iteration_recover(LOG, NULL), 1);
    expect_head(TITLE "Status: crashed\nInterrupted: unknown\n---\n\n");
    expect_text("hello\n");
    assert_int_equal(journal_iteration_recover(LOG, NULL), 0);
}

static void
recovery_changes_no_log_that_has_an_end(void **state)
{
    (void)state;
    struct journal_iteration *it = begin(0);
    journal_iteration_abort(it, "SIGHUP");
    journal_iteration_close(it);
    assert_int_equal(journal_iteration_recover(LOG, NULL), 0);
    expect_head(TITLE "Status: aborted\nInterrupted: SIGHUP\n---\n\n");
    kit_write_file(LOG, "# Iteration 7\nDuration: 1ms\n---\n\nan old one, no newline");
    assert_int_equal(journal_iteration_recover(LOG, NULL), 0);
    expect_text("an old one, no newline");
}

static void
recovery_ends_a_torn_line_and_drops_what_was_never_written(void **state)
{
    (void)state;
    struct journal_iteration *it = begin(0);
    append(it, "whole\n");
    journal_iteration_close(it);
    int fd = open(LOG, O_WRONLY | O_APPEND | O_CLOEXEC);
    assert_int_equal(file_write_all(fd, "torn", 4), 0);
    assert_int_equal(ftruncate(fd, 20000), 0);
    close(fd);
    assert_int_equal(journal_iteration_recover(LOG, NULL), 1);
    expect_text("whole\ntorn\n");
}

/* The end is looked for from behind, some 4,096 bytes at a time. */
static void
recovery_finds_the_last_line_behind_any_number_of_nul_bytes(void **state)
{
    (void)state;
    static const off_t zeros[] = { 0, 1, 4095, 4096, 4097, 9000 };
    static const char *const ends[][2] = { { "", "" }, { "a\n", "a\n" }, { "b", "b\n" } };
    for (size_t i = 0; i < sizeof(zeros) / sizeof(zeros[0]) * 3; i++) {
        struct journal_iteration *it = begin(0);
        journal_iteration_close(it);
        int fd = open(LOG, O_WRONLY | O_APPEND | O_CLOEXEC);
        assert_int_equal(file_write_all(fd, ends[i % 3][0], strlen(ends[i % 3][0])), 0);
        assert_int_equal(ftruncate(fd, lseek(fd, 0, SEEK_END) + zeros[i / 3]), 0);
        close(fd);
        assert_int_equal(journal_iteration_recover(LOG, NULL), 1);
        expect_text(ends[i % 3][1]);
    }
}

static void
recovery_gives_a_head_to_a_log_that_died_before_it_had_one(void **state)
{
    (void)state;
    static const char *const begun[] = { "", "#", "# Iteration 7\nTimes" };
    for (size_t i = 0; i < sizeof(begun) / sizeof(begun[0]); i++) {
        kit_write_file(LOG, begun[i]);
        assert_int_equal(journal_iteration_recover(LOG, NULL), 1);
        expect_head(TITLE "Status: crashed\nInterrupted: unknown\n---\n\n");
        expect_text("");
    }
}

static void
recovery_makes_room_in_a_head_without_blanks(void **state)
{
    (void)state;
    kit_write_file(LOG, "# Iteration 7\nTimestamp: 2026-01-17T10:15:30.123Z\n"
                        "Status: in_progress\n---\n\nsomebody else's\n");
    assert_int_equal(journal_iteration_recover(LOG, NULL), 1);
    expect_head(TITLE "Status: crashed\nInterrupted: unknown\n---\n\n");
    expect_text("somebody else's\n");
}

static void
recovery_touches_nothing_that_is_no_log(void **state)
{
    (void)state;
    AUTO(buf) all = { 0 };
    struct err err;
    kit_write_file(LOG, "my notes");
    assert_int_equal(journal_iteration_recover(LOG, &err), ERR_DAMAGED);
    assert_int_equal(file_slurp(LOG, &all), 0);
    assert_string_equal(buf_str(&all), "my notes");
    assert_int_equal(journal_iteration_recover("nothing.log", &err), ERR_MISSING);
    assert_int_equal(symlink(LOG, "link.log"), 0);
    assert_true(journal_iteration_recover("link.log", &err) < 0);
    assert_int_equal(mkdir("d.log", 0700), 0);
    assert_true(journal_iteration_recover("d.log", &err) < 0);
    assert_int_equal(mkfifo("f.log", 0600), 0);
    assert_int_equal(journal_iteration_recover("f.log", &err), ERR_DAMAGED);
}

int
main(void)
{
    const struct CMUnitTest tests[] = {
        KIT_IN_DIR(the_head_has_512_bytes_and_the_seeds_layout_at_each_end),
        KIT_IN_DIR(the_spare_blanks_stand_on_the_status_line),
        KIT_IN_DIR(only_its_owner_may_read_a_log_and_none_is_overwritten),
        KIT_IN_DIR(an_event_is_in_the_file_when_append_returns),
        KIT_IN_DIR(an_open_line_ends_with_a_newline_that_what_follows_takes_the_place_of),
        KIT_IN_DIR(pieces_wait_for_flush_ms_and_no_longer),
        KIT_IN_DIR(stderr_keeps_its_place_and_has_a_mark_before_each_line),
        KIT_IN_DIR(a_log_ends_once_whatever_is_called_behind_that),
        KIT_IN_DIR(large_texts_go_through_whole),
        cmocka_unit_test(an_old_head_counts_as_completed),
        cmocka_unit_test(a_head_is_read_whatever_its_line_ends_and_padding),
        cmocka_unit_test(what_is_no_head_is_refused),
        cmocka_unit_test(a_head_that_does_not_fit_is_not_begun),
        KIT_IN_DIR(recovery_leaves_a_live_log_alone_and_ends_a_dead_one_once),
        KIT_IN_DIR(recovery_changes_no_log_that_has_an_end),
        KIT_IN_DIR(recovery_ends_a_torn_line_and_drops_what_was_never_written),
        KIT_IN_DIR(recovery_finds_the_last_line_behind_any_number_of_nul_bytes),
        KIT_IN_DIR(recovery_gives_a_head_to_a_log_that_died_before_it_had_one),
        KIT_IN_DIR(recovery_makes_room_in_a_head_without_blanks),
        KIT_IN_DIR(recovery_touches_nothing_that_is_no_log),
    };
    return cmocka_run_group_tests_name("iteration", tests, NULL, NULL);
}
