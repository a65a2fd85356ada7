/* SPDX-License-Identifier: MIT */
/* io_each_test.c -- all lines of an io.log, whatever stands between them, archived or
 * not. */
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/file.h"
#include "journal/io.h"
#include "support/kit.h"

#define FILE_NAME "io.log"
#define LINE(n)                                                                         \
    "{\"timestamp\":\"2026-11-03T10:15:30.12" n "Z\",\"direction\":\"in\",\"content\":" \
    "\"say " n "\"}"

struct seen {
    struct buf texts; /* contents, each with a '|' behind it */
    int stop_after;   /* entries; 0: never */
    int count;
};

/* A journal_io_fn. */
static int
note(void *ctx, const struct journal_io_entry *e)
{
    struct seen *s = ctx;
    buf_append(&s->texts, e->content.p, e->content.n);
    buf_puts(&s->texts, "|");
    return ++s->count == s->stop_after ? -ECANCELED : 0;
}

static void
write_bytes(const void *p, size_t n)
{
    assert_int_equal(
        file_replace(FILE_NAME, (struct view){ (const uint8_t *)p, n }, false, NULL), 0);
}

/* As gzip does it, which is not ours. */
static void
archive(void)
{
    assert_int_equal(system("gzip -f " FILE_NAME), 0);
    assert_int_equal(access(FILE_NAME, F_OK), -1);
}

static void
assert_read(int want, const char *texts, uint64_t bad, uint64_t first)
{
    struct seen s = { .texts.ceiling = SIZE_MAX };
    struct session_unread unread = { 0 };
    assert_int_equal(journal_io_each(FILE_NAME, note, &s, &unread, NULL), want);
    assert_string_equal(buf_str(&s.texts), texts);
    assert_int_equal(unread.lines, bad);
    assert_int_equal(unread.first, first);
    buf_release(&s.texts);
}

/* Plain, and archived. */
static void
assert_both(const void *p, size_t n, const char *texts, uint64_t bad, uint64_t first)
{
    write_bytes(p, n);
    assert_read(0, texts, bad, first);
    archive();
    assert_read(0, texts, bad, first);
    assert_int_equal(unlink(FILE_NAME ".gz"), 0);
}

#define ASSERT_BOTH(bytes, texts, bad, first) \
    assert_both(bytes, sizeof(bytes) - 1, texts, bad, first)

static void
good_lines_are_read_in_their_order(void **state)
{
    (void)state;
    ASSERT_BOTH("", "", 0, 0);
    ASSERT_BOTH(LINE("1") "\n" LINE("2") "\n", "say 1|say 2|", 0, 0);
    ASSERT_BOTH("\xef\xbb\xbf" LINE("1") "\r\n\r\n" LINE("2"), "say 1|say 2|", 0, 0);
    ASSERT_BOTH(LINE("1") LINE("2") "\n" LINE("3") " \t" LINE("4") "\n",
                "say 1|say 2|say 3|say 4|", 0, 0);
}

static void
a_good_line_is_not_lost_beside_a_bad_one(void **state)
{
    (void)state;
    ASSERT_BOTH(LINE("1") "\n{\"timestamp\":\"2026-11-03T1", "say 1|", 1, 2);
    ASSERT_BOTH("{\"timestamp\":\"2026-11-03T1" LINE("2") "\n" LINE("3") "\n",
                "say 2|say 3|", 1, 1);
    ASSERT_BOTH(LINE("1") "\n\0\0\0\0" LINE("2") "\n\0\0\n" LINE("3") "\n",
                "say 1|say 2|say 3|", 0, 0);
    ASSERT_BOTH(LINE("1") "\n[1]\n{}\n\"x\"\n" LINE("2") "\n", "say 1|say 2|", 3, 2);
    ASSERT_BOTH("{\"direction\":\"in\",\"content\":\"\xff\xfe\"}\n\xff\n" LINE("2") "\n",
                "\xff\xfe|say 2|", 1, 2);
    ASSERT_BOTH(LINE("1") " and more\n" LINE("2") "\n", "say 1|say 2|", 1, 1);
}

static void
long_lines_are_read(void **state)
{
    (void)state;
    static const char begin[] = "{\"direction\":\"out\",\"content\":\"";
    AUTO(buf) file = { 0 };
    AUTO(buf) want = { 0 };
    const size_t n = 3 << 20;
    buf_puts(&file, begin);
    uint8_t *p = buf_grow(&file, n);
    assert_non_null(p);
    memset(p, 'x', n);
    buf_append(&want, file.p + sizeof(begin) - 1, n);
    buf_puts(&file, "\"}\n" LINE("2") "\n");
    buf_puts(&want, "|say 2|");
    assert_both(file.p, file.n, buf_str(&want), 0, 0);
}

static void
what_an_archive_has_before_its_damage_is_read(void **state)
{
    (void)state;
    AUTO(buf) text = { 0 };
    AUTO(buf) packed = { 0 };
    for (int i = 0; i < 2000; i++)
        buf_printf(&text, "{\"direction\":\"in\",\"content\":\"%x\"}\n", rand());
    write_bytes(text.p, text.n);
    archive();
    assert_int_equal(file_slurp(FILE_NAME ".gz", &packed), 0);
    assert_int_equal(truncate(FILE_NAME ".gz", (off_t)packed.n / 2), 0);
    struct seen s = { 0 };
    struct session_unread unread;
    struct err err;
    assert_int_equal(journal_io_each(FILE_NAME, note, &s, &unread, &err), ERR_DAMAGED);
    assert_string_equal(err.text, "'io.log.gz' is damaged: not all of it can be read");
    assert_in_range(s.count, 500, 1500);
    assert_in_range(unread.lines, 0, 1);
    buf_release(&s.texts);
}

static void
where_both_are_the_plain_one_is_the_truth(void **state)
{
    (void)state;
    write_bytes(LINE("1") "\n", sizeof(LINE("1") "\n") - 1);
    archive();
    write_bytes(LINE("2") "\n", sizeof(LINE("2") "\n") - 1);
    assert_read(0, "say 2|", 0, 0);
}

static void
only_a_plain_file_is_read(void **state)
{
    (void)state;
    struct seen s = { 0 };
    assert_int_equal(journal_io_each(FILE_NAME, note, &s, NULL, NULL), ERR_MISSING);
    assert_int_equal(symlink("/etc/passwd", FILE_NAME ".gz"), 0);
    assert_int_equal(journal_io_each(FILE_NAME, note, &s, NULL, NULL), -ELOOP);
    assert_int_equal(mkfifo(FILE_NAME, 0600), 0);
    assert_int_equal(journal_io_each(FILE_NAME, note, &s, NULL, NULL), -EINVAL);
    assert_int_equal(s.count, 0);
}

static void
whoever_reads_may_stop_it(void **state)
{
    (void)state;
    struct seen s = { .stop_after = 2 };
    write_bytes(LINE("1") "\n" LINE("2") LINE("3") "\n",
                sizeof(LINE("1") "\n" LINE("2") LINE("3") "\n") - 1);
    assert_int_equal(journal_io_each(FILE_NAME, note, &s, NULL, NULL), -ECANCELED);
    assert_int_equal(s.count, 2);
    buf_release(&s.texts);
}

int
main(void)
{
    const struct CMUnitTest tests[] = {
        KIT_IN_DIR(good_lines_are_read_in_their_order),
        KIT_IN_DIR(a_good_line_is_not_lost_beside_a_bad_one),
        KIT_IN_DIR(long_lines_are_read),
        KIT_IN_DIR(what_an_archive_has_before_its_damage_is_read),
        KIT_IN_DIR(where_both_are_the_plain_one_is_the_truth),
        KIT_IN_DIR(only_a_plain_file_is_read),
        KIT_IN_DIR(whoever_reads_may_stop_it),
    };
    return cmocka_run_group_tests_name("io_each", tests, NULL, NULL);
}
