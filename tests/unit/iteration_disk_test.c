/* SPDX-License-Identifier: MIT */
/*
 * iteration_disk_test.c -- the iteration log on a disk that fails: each call at its turn,
 * once or from then on, by an error or a short write; full, read-only, or gone.
 *
 * Whatever happens the caller goes on, the log can be read and has whole lines only, and
 * what is not in it is told.
 */
#include "journal/iteration.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <sys/stat.h>
#include <sys/uio.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/file.h"
#include "support/kit.h"

#define LOG "1.log"

enum fault { FAULT_ERROR, FAULT_SHORT };

static struct {
    int calls; /* that change the file, so far */
    int at;    /* the first that fails, from 1; 0: none */
    int times; /* how many fail from there on */
    int code;
    enum fault fault;
    int64_t room; /* bytes that the file may have; < 0: any */
} disk;

static bool
fails(void)
{
    int n = ++disk.calls;
    if (!disk.at || n < disk.at || n - disk.at >= disk.times)
        return false;
    errno = disk.code;
    return true;
}

ssize_t __real_pwritev64(int fd, const struct iovec *parts, int count, off_t at);
ssize_t __wrap_pwritev64(int fd, const struct iovec *parts, int count, off_t at);
int __real_ftruncate64(int fd, off_t size);
int __wrap_ftruncate64(int fd, off_t size);
int __real_fdatasync(int fd);
int __wrap_fdatasync(int fd);

static ssize_t
write_some(int fd, const struct iovec *parts, int count, off_t at, size_t n)
{
    size_t all = 0;
    for (int i = 0; i < count; i++) {
        size_t len = parts[i].iov_len < n - all ? parts[i].iov_len : n - all;
        ssize_t r = len ? pwrite(fd, parts[i].iov_base, len, at + (off_t)all) : 0;
        assert_int_equal(r, len);
        all += len;
    }
    return (ssize_t)all;
}

ssize_t
__wrap_pwritev64(int fd, const struct iovec *parts, int count, off_t at)
{
    size_t n = 0;
    for (int i = 0; i < count; i++)
        n += parts[i].iov_len;
    if (fails())
        return disk.fault == FAULT_SHORT && n > 1
                   ? write_some(fd, parts, count, at, n / 2)
                   : -1;
    if (disk.room >= 0 && at + (off_t)n > disk.room) {
        errno = ENOSPC;
        return at >= disk.room
                   ? -1
                   : write_some(fd, parts, count, at, (size_t)(disk.room - at));
    }
    return __real_pwritev64(fd, parts, count, at);
}

int
__wrap_ftruncate64(int fd, off_t size)
{
    return fails() ? -1 : __real_ftruncate64(fd, size);
}

int
__wrap_fdatasync(int fd)
{
    return fails() ? -1 : __real_fdatasync(fd);
}

static int
reset(void **state)
{
    memset(&disk, 0, sizeof(disk));
    disk.room = -1;
    return kit_enter_dir(state);
}

#define ON_DISK(test) cmocka_unit_test_setup_teardown(test, reset, kit_leave_dir)

static struct view
text(const char *s)
{
    return (struct view){ (const uint8_t *)s, strlen(s) };
}

static struct journal_iteration *
begin(void)
{
    struct journal_iteration *it;
    unlink(LOG);
    assert_int_equal(journal_iteration_open(&it, LOG, 1, 0, NULL), 0);
    return it;
}

static struct view
look(struct buf *all, struct journal_head *ret)
{
    buf_clear(all);
    assert_int_equal(file_slurp(LOG, all), 0);
    assert_int_equal(journal_head_read((struct view){ all->p, all->n }, ret), 0);
    buf_str(all);
    return (struct view){ all->p + ret->size, all->n - ret->size };
}

/* Twelve events of several kinds; the last may be missing at its end. */
enum { EVENTS = 12 };

static void
event(int i, struct buf *ret)
{
    buf_clear(ret);
    for (int line = 0; line <= i % 3; line++)
        buf_printf(ret, "event %d line %d of some length\n", i, line);
}

static void
run(struct journal_iteration *it)
{
    AUTO(buf) e = { 0 };
    for (int i = 0; i < EVENTS; i++) {
        event(i, &e);
        size_t half = i % 2 ? e.n / 2 : 0;
        if (half)
            journal_iteration_append(it, (struct view){ e.p, half });
        journal_iteration_append(it, (struct view){ e.p + half, e.n - half });
    }
}

static void
expect_all_events(struct view got)
{
    AUTO(buf) want = { 0 };
    AUTO(buf) e = { 0 };
    for (int i = 0; i < EVENTS; i++) {
        event(i, &e);
        buf_append(&want, e.p, e.n);
    }
    assert_int_equal(got.n, want.n);
    assert_memory_equal(got.p, want.p, want.n);
}

/* A beginning of all events, whole lines. */
static void
expect_some_events(struct view got)
{
    AUTO(buf) want = { 0 };
    AUTO(buf) e = { 0 };
    for (int i = 0; i < EVENTS; i++) {
        event(i, &e);
        buf_append(&want, e.p, e.n);
    }
    assert_true(got.n <= want.n);
    if (!got.n)
        return;
    assert_int_equal(got.p[got.n - 1], '\n');
    assert_memory_equal(got.p, want.p, got.n - 1);
}

static void
a_call_that_fails_once_costs_nothing(void **state)
{
    (void)state;
    static const int codes[] = { EIO, ENOSPC, EINTR };
    AUTO(buf) all = { 0 };
    struct journal_head h;
    int tried = 0;
    for (size_t c = 0; c < 3; c++)
        for (int fault = 0; fault < 2; fault++)
            for (int at = 1;; at++, tried++) {
                disk.calls = 0;
                disk.at = at;
                disk.times = 1;
                disk.code = codes[c];
                disk.fault = (enum fault)fault;
                struct journal_iteration *it = begin();
                run(it);
                journal_iteration_complete(it, 0, 5);
                journal_iteration_close(it);
                struct view got = look(&all, &h);
                assert_int_equal(h.status, JOURNAL_COMPLETED);
                expect_all_events(got);
                if (disk.calls < at)
                    break;
            }
    print_message("# %d failing calls\n", tried);
}

/* Not even the head can be written where the first one fails. */
static void
a_disk_that_fails_for_ever_leaves_whole_lines(void **state)
{
    (void)state;
    AUTO(buf) all = { 0 };
    struct journal_head h;
    struct err err;
    for (int fault = 0; fault < 2; fault++)
        for (int at = 2;; at++) {
            disk.calls = 0;
            disk.at = at;
            disk.times = fault ? 1 : INT32_MAX;
            disk.code = EIO;
            disk.fault = (enum fault)fault;
            struct journal_iteration *it = begin();
            run(it);
            int r = journal_iteration_complete(it, 0, 5);
            int calls = disk.calls;
            if (!fault && calls >= at) {
                assert_true(r < 0);
                assert_true(journal_iteration_trouble(it, &err));
                assert_int_equal(err.code, -EIO);
                assert_non_null(strstr(err.text, LOG));
                assert_false(journal_iteration_trouble(it, &err));
            }
            journal_iteration_close(it);
            expect_some_events(look(&all, &h));
            if (calls < at)
                break;
        }
}

static void
trouble_is_told_once_and_so_is_its_end(void **state)
{
    (void)state;
    AUTO(buf) all = { 0 };
    struct journal_head h;
    struct err err;
    struct journal_iteration *it = begin();
    disk.at = disk.calls + 1;
    disk.times = 3;
    disk.code = ENOSPC;
    for (int i = 0; i < 3; i++)
        assert_int_equal(journal_iteration_append(it, text("x\n")), -ENOSPC);
    assert_true(journal_iteration_trouble(it, &err));
    assert_int_equal(err.code, -ENOSPC);
    assert_false(journal_iteration_trouble(it, &err));
    assert_true(journal_iteration_due_ns(it) < clock_mono_ns() + 1000000000);
    assert_int_equal(journal_iteration_append(it, text("y\n")), 0);
    assert_true(journal_iteration_trouble(it, &err));
    assert_int_equal(err.code, 0);
    assert_false(journal_iteration_trouble(it, &err));
    struct view got = look(&all, &h);
    assert_string_equal((const char *)got.p, "x\nx\nx\ny\n");
    journal_iteration_close(it);
}

static void
a_clock_that_ticks_brings_what_waits_to_the_disk(void **state)
{
    (void)state;
    AUTO(buf) all = { 0 };
    struct journal_head h;
    struct journal_iteration *it = begin();
    disk.at = disk.calls + 1;
    disk.times = 1;
    disk.code = EIO;
    assert_int_equal(journal_iteration_append(it, text("x\n")), -EIO);
    journal_iteration_tick(it, journal_iteration_due_ns(it));
    assert_string_equal((const char *)look(&all, &h).p, "x\n");
    assert_true(journal_iteration_due_ns(it) == UINT64_MAX);
    journal_iteration_close(it);
}

static void
past_the_ceiling_text_is_counted_and_the_log_says_so(void **state)
{
    (void)state;
    AUTO(buf) all = { 0 };
    struct journal_head h;
    struct err err;
    size_t n = 1 << 20;
    char *mega = malloc(n);
    assert_non_null(mega);
    memset(mega, 'm', n);
    mega[n - 1] = '\n';
    struct journal_iteration *it = begin();
    assert_int_equal(journal_iteration_append(it, text("open")), 0);
    disk.at = disk.calls + 1;
    disk.times = INT32_MAX;
    disk.code = ENOSPC;
    for (int i = 0; i < 8; i++)
        assert_int_equal(
            journal_iteration_append(it, (struct view){ (uint8_t *)mega, n - (i == 7) }),
            -ENOSPC);
    assert_int_equal(journal_iteration_append(it, text("12345678\n")), ERR_LIMIT);
    assert_int_equal(journal_iteration_append_stderr(it, text("1\n")), ERR_LIMIT);
    while (journal_iteration_trouble(it, &err))
        assert_true(err.code < 0);
    disk.at = 0;
    assert_int_equal(journal_iteration_flush(it), 0);
    assert_int_equal(journal_iteration_append(it, text("after\n")), 0);
    assert_true(journal_iteration_trouble(it, &err));
    assert_int_equal(err.code, 0);
    struct view got = look(&all, &h);
    const char *end = "m\n[ahr] 11 bytes are missing here: the disk was full\nafter\n";
    assert_int_equal(got.n, 4 + 8 * n - 1 + strlen(end) - 1);
    assert_memory_equal(got.p, "openmmm", 7);
    assert_string_equal((const char *)got.p + got.n - strlen(end), end);
    journal_iteration_close(it);
    free(mega);
}

/* Room for so many bytes: at each of them the log says at its end what it lacks. */
static void
a_full_disk_leaves_whole_lines_and_a_line_about_the_rest(void **state)
{
    (void)state;
    AUTO(buf) all = { 0 };
    struct journal_head h;
    int told = 0;
    for (int64_t room = JOURNAL_HEAD; room < JOURNAL_HEAD + 1000; room += 7) {
        disk.room = room;
        struct journal_iteration *it = begin();
        run(it);
        int r = journal_iteration_abort(it, "SIGTERM");
        journal_iteration_close(it);
        struct view got = look(&all, &h);
        assert_int_equal(h.status, JOURNAL_ABORTED);
        assert_true(got.n == 0 || got.p[got.n - 1] == '\n');
        char *note = strstr((const char *)got.p, "[ahr] ");
        if (note) {
            assert_non_null(strstr(note, " bytes are missing here: the disk was full\n"));
            got.n = (size_t)(note - (const char *)got.p);
            told++;
        } else if (room > JOURNAL_HEAD + 400) {
            assert_int_equal(r, 0);
            expect_all_events(got);
        }
        expect_some_events(got);
    }
    assert_true(told > 50);
}

static void
a_disk_that_is_full_from_the_start_harms_nobody(void **state)
{
    (void)state;
    AUTO(buf) all = { 0 };
    struct journal_head h;
    disk.room = 100;
    struct journal_iteration *it = begin();
    assert_int_equal(journal_iteration_append(it, text("x\n")), -ENOSPC);
    disk.room = -1;
    assert_int_equal(journal_iteration_append(it, text("y\n")), 0);
    assert_int_equal(journal_iteration_complete(it, 0, 1), 0);
    journal_iteration_close(it);
    struct view got = look(&all, &h);
    assert_string_equal((const char *)got.p, "x\ny\n");
    assert_int_equal(h.status, JOURNAL_COMPLETED);
}

static void
a_log_that_is_removed_is_told_of_and_goes_on(void **state)
{
    (void)state;
    AUTO(buf) all = { 0 };
    struct journal_head h;
    struct err err;
    struct journal_iteration *it = begin();
    assert_int_equal(link(LOG, "kept"), 0);
    assert_int_equal(unlink(LOG), 0);
    assert_int_equal(journal_iteration_append(it, text("on\n")), 0);
    assert_int_equal(journal_iteration_complete(it, 0, 1), 0);
    assert_true(journal_iteration_trouble(it, &err));
    assert_int_equal(err.code, ERR_MISSING);
    assert_false(journal_iteration_trouble(it, &err));
    journal_iteration_close(it);
    assert_int_equal(rename("kept", LOG), 0);
    assert_string_equal((const char *)look(&all, &h).p, "on\n");
    assert_int_equal(h.status, JOURNAL_COMPLETED);
}

static void
a_log_that_was_cut_has_a_head_again(void **state)
{
    (void)state;
    AUTO(buf) all = { 0 };
    struct journal_head h;
    struct err err;
    struct journal_iteration *it = begin();
    assert_int_equal(journal_iteration_append(it, text("lost\n")), 0);
    assert_int_equal(truncate(LOG, 0), 0);
    assert_int_equal(journal_iteration_complete(it, 0, 1), 0);
    assert_true(journal_iteration_trouble(it, &err));
    assert_int_equal(err.code, ERR_DAMAGED);
    journal_iteration_close(it);
    assert_int_equal(look(&all, &h).n, 0);
    assert_int_equal(h.status, JOURNAL_COMPLETED);
}

static void
a_folder_that_takes_no_files_is_named(void **state)
{
    (void)state;
    struct journal_iteration *it;
    struct err err;
    if (geteuid() == 0) {
        assert_int_equal(journal_iteration_open(&it, "/proc/1.log", 1, 0, &err),
                         ERR_MISSING);
        assert_non_null(strstr(err.text, "/proc/1.log"));
        return;
    }
    assert_int_equal(mkdir("locked", 0500), 0);
    assert_int_equal(journal_iteration_open(&it, "locked/1.log", 1, 0, &err), -EACCES);
    assert_non_null(strstr(err.text, "locked/1.log"));
}

static void
a_line_that_does_not_fit_leaves_the_piece_before_it_a_whole_line(void **state)
{
    (void)state;
    AUTO(buf) all = { 0 };
    struct journal_head head;
    struct journal_iteration *it = begin();
    assert_int_equal(journal_iteration_append(it, text("piece")), 0);
    disk.room = JOURNAL_HEAD + 10;
    assert_int_equal(journal_iteration_append(it, text(" of a line\n")), -ENOSPC);
    look(&all, &head);
    assert_string_equal((char *)all.p + head.size, "piece\n");
    disk.room = -1;
    assert_int_equal(journal_iteration_complete(it, 0, 1), 0);
    journal_iteration_close(it);
    look(&all, &head);
    assert_string_equal((char *)all.p + head.size, "piece of a line\n");
}

/* What is left when the calls behind the first `good` ones of its end fail. */
static int
end_after(int good, struct journal_head *ret_head, struct buf *ret_all)
{
    struct journal_iteration *it;
    unlink(LOG);
    disk.at = 0;
    assert_int_equal(journal_iteration_open(&it, LOG, 1, 60000, NULL), 0);
    assert_int_equal(journal_iteration_append(it, text("rest")), 0);
    disk.at = disk.calls + good + 1;
    disk.times = 1000;
    disk.code = EIO;
    int r = journal_iteration_complete(it, 0, 1);
    journal_iteration_close(it);
    look(ret_all, ret_head);
    return r;
}

static void
a_log_tells_of_its_end_when_all_of_it_is_there(void **state)
{
    (void)state;
    AUTO(buf) all = { 0 };
    struct journal_head head;
    assert_int_equal(end_after(1, &head, &all), -EIO);
    assert_int_equal(head.status, JOURNAL_IN_PROGRESS);
    assert_string_equal((char *)all.p + head.size, "rest\n");
    assert_int_equal(end_after(2, &head, &all), -EIO); /* and it is synced */
    assert_int_equal(head.status, JOURNAL_COMPLETED);
    assert_int_equal(end_after(3, &head, &all), 0);
}

int
main(void)
{
    const struct CMUnitTest tests[] = {
        ON_DISK(a_call_that_fails_once_costs_nothing),
        ON_DISK(a_disk_that_fails_for_ever_leaves_whole_lines),
        ON_DISK(trouble_is_told_once_and_so_is_its_end),
        ON_DISK(a_clock_that_ticks_brings_what_waits_to_the_disk),
        ON_DISK(past_the_ceiling_text_is_counted_and_the_log_says_so),
        ON_DISK(a_full_disk_leaves_whole_lines_and_a_line_about_the_rest),
        ON_DISK(a_disk_that_is_full_from_the_start_harms_nobody),
        ON_DISK(a_log_that_is_removed_is_told_of_and_goes_on),
        ON_DISK(a_log_that_was_cut_has_a_head_again),
        ON_DISK(a_folder_that_takes_no_files_is_named),
        ON_DISK(a_line_that_does_not_fit_leaves_the_piece_before_it_a_whole_line),
        ON_DISK(a_log_tells_of_its_end_when_all_of_it_is_there),
    };
    return cmocka_run_group_tests_name("iteration_disk", tests, NULL, NULL);
}
