/* SPDX-License-Identifier: MIT */
/* lines_test.c -- snapshots and instructions as lines, and files that take whole ones. */
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/file.h"
#include "session/lines.h"
#include "support/kit.h"

#define FILE_NAME "x.snapshots.jsonl"

static struct view
text_view(const char *text)
{
    return (struct view){ (const uint8_t *)text, strlen(text) };
}

static void
write_file(const char *text)
{
    assert_int_equal(file_replace(FILE_NAME, text_view(text), false, NULL), 0);
}

static void
assert_file(const char *text)
{
    AUTO(buf) b = { 0 };
    assert_int_equal(file_slurp(FILE_NAME, &b), 0);
    assert_string_equal(buf_str(&b), text);
}

static int
add(struct session_lines *l, const char *text)
{
    return session_lines_add(l, text_view(text));
}

static void
snapshots_and_instructions_are_one_line_each(void **state)
{
    (void)state;
    AUTO(buf) out = { 0 };
    session_snapshot_line(&out, 7, 8, text_view("a\"\n\xff"), false, 9);
    session_snapshot_line(&out, UINT64_MAX, 0, (struct view){ 0 }, true, 0);
    struct session_instruction i = { .id = 1,
                                     .ts_ns = 2,
                                     .anchor_byte = 3,
                                     .snapshot_id = SESSION_NONE,
                                     .row = SESSION_NO_ROW,
                                     .text = text_view("do it") };
    session_instruction_line(&out, &i);
    i.snapshot_id = 0;
    i.row = 0;
    i.is_delivered = true;
    session_instruction_line(&out, &i);
    assert_string_equal(
        buf_str(&out),
        "{\"id\":7,\"ts_ns\":8,\"label\":\"a\\\"\\u000a\xef\xbf\xbd\",\"kind\":\"auto\","
        "\"anchor_byte\":9}\n"
        "{\"id\":18446744073709551615,\"ts_ns\":0,\"label\":\"\",\"kind\":\"manual\","
        "\"anchor_byte\":0}\n"
        "{\"id\":1,\"ts_ns\":2,\"anchor_byte\":3,\"snapshot_id\":null,\"row\":null,"
        "\"text\":\"do it\",\"delivered\":false}\n"
        "{\"id\":1,\"ts_ns\":2,\"anchor_byte\":3,\"snapshot_id\":0,\"row\":0,"
        "\"text\":\"do it\",\"delivered\":true}\n");
}

static void
the_file_comes_with_its_first_line(void **state)
{
    (void)state;
    AUTO(session_lines) l = { .fd = -1 };
    struct stat st;
    mode_t before = umask(0);
    assert_int_equal(session_lines_init(&l, FILE_NAME), 0);
    assert_int_equal(session_lines_flush(&l), 0);
    assert_int_equal(session_lines_fd(&l), -1);
    assert_int_equal(access(FILE_NAME, F_OK), -1);
    assert_int_equal(add(&l, "one\n"), 0);
    umask(before);
    assert_int_equal(fstat(session_lines_fd(&l), &st), 0);
    assert_int_equal(st.st_mode & 07777, 0600);
    assert_int_equal(add(&l, "two\n"), 0);
    assert_file("one\ntwo\n");
}

static void
a_file_that_was_there_is_nobody_elses_then(void **state)
{
    (void)state;
    AUTO(session_lines) l = { .fd = -1 };
    struct stat st;
    write_file("one\n");
    assert_int_equal(chmod(FILE_NAME, 0666), 0);
    assert_int_equal(session_lines_init(&l, FILE_NAME), 0);
    assert_int_equal(add(&l, "two\n"), 0);
    assert_int_equal(stat(FILE_NAME, &st), 0);
    assert_int_equal(st.st_mode & 07777, 0600);
    assert_file("one\ntwo\n");
}

static void
a_torn_line_is_ended_first(void **state)
{
    (void)state;
    static const char *const cases[][2] = {
        { "", "new\n" },
        { "one\n", "one\nnew\n" },
        { "one\n{\"id", "one\n{\"id\nnew\n" },
    };
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        AUTO(session_lines) l = { .fd = -1 };
        write_file(cases[i][0]);
        assert_int_equal(session_lines_init(&l, FILE_NAME), 0);
        assert_int_equal(add(&l, "new\n"), 0);
        assert_file(cases[i][1]);
    }
}

static void
limit_file_size(rlim_t size)
{
    struct rlimit limit;
    assert_int_equal(getrlimit(RLIMIT_FSIZE, &limit), 0);
    limit.rlim_cur = size < limit.rlim_max ? size : limit.rlim_max;
    assert_int_equal(setrlimit(RLIMIT_FSIZE, &limit), 0);
}

static void
what_fits_half_is_taken_back_and_comes_later(void **state)
{
    (void)state;
    AUTO(session_lines) l = { .fd = -1 };
    signal(SIGXFSZ, SIG_IGN);
    assert_int_equal(session_lines_init(&l, FILE_NAME), 0);
    limit_file_size(6);
    assert_int_equal(add(&l, "one\n"), 0);
    assert_int_equal(add(&l, "two\n"), -ENOSPC);
    assert_file("one\n");
    assert_int_equal(add(&l, "3\n"), -ENOSPC); /* it would fit, but keeps its place */
    assert_file("one\n");
    assert_true(session_lines_flush(&l) < 0);
    limit_file_size(RLIM_INFINITY);
    assert_int_equal(session_lines_flush(&l), 0);
    assert_file("one\ntwo\n3\n");
    assert_int_equal(add(&l, "four\n"), 0);
    assert_file("one\ntwo\n3\nfour\n");
}

static void
too_much_that_waits_is_told(void **state)
{
    (void)state;
    AUTO(session_lines) l = { .fd = -1 };
    AUTO(buf) line = { 0 };
    assert_int_equal(mkdir(FILE_NAME, 0700), 0);
    assert_int_equal(session_lines_init(&l, FILE_NAME), 0);
    memset(buf_grow(&line, SESSION_LINES_WAITING_MAX - 1), 'x',
           SESSION_LINES_WAITING_MAX - 1);
    buf_puts(&line, "\n");
    assert_int_equal(session_lines_add(&l, (struct view){ line.p, line.n }), -EISDIR);
    assert_int_equal(add(&l, "lost\n"), ERR_LIMIT);
    assert_int_equal(rmdir(FILE_NAME), 0);
    assert_int_equal(add(&l, "kept\n"), 0);
    buf_puts(&line, "kept\n");
    assert_file(buf_str(&line));
}

static void
what_is_no_plain_file_is_not_written_to(void **state)
{
    (void)state;
    AUTO(session_lines) l = { .fd = -1 };
    assert_int_equal(session_lines_init(&l, FILE_NAME), 0);
    assert_int_equal(symlink("elsewhere", FILE_NAME), 0);
    assert_int_equal(add(&l, "one\n"), -ELOOP);
    assert_int_equal(access("elsewhere", F_OK), -1);
    unlink(FILE_NAME);
    assert_int_equal(mkfifo(FILE_NAME, 0600), 0);
    assert_int_equal(session_lines_flush(&l), -EINVAL);
    assert_int_equal(session_lines_fd(&l), -1);
}

static void
snapshots_are_read_back_from_what_is_a_line(void **state)
{
    (void)state;
    AUTO(buf) keys = { 0 };
    AUTO(buf) text = { 0 };
    session_snapshot_line(&text, UINT64_MAX, 2, text_view("\"},{\n"), true, 3);
    buf_puts(&text, "{\"id\":1,\"ts_ns\n\n[]\n{}\n"
                    "{\"id\":1,\"ts_ns\":-1,\"anchor_byte\":1}\n"
                    "{\"id\":18446744073709551616,\"ts_ns\":1,\"anchor_byte\":1}\n");
    memset(buf_grow(&text, 2 << 20), '{', 2 << 20);
    buf_puts(&text, "\n{ \"anchor_byte\" : 6, \"ts_ns\": 5, \"x\": null, \"id\":4 }\r\n"
                    "{\"id\":7,\"ts_ns\":8,\"anchor_byte\":9}"); /* torn, as it seems */
    assert_int_equal(session_snapshot_keys(FILE_NAME, &keys), 0);
    write_file(buf_str(&text));
    assert_int_equal(session_snapshot_keys(FILE_NAME, &keys), 0);
    static const struct session_snapshot_key want[] = { { UINT64_MAX, 2, 3 },
                                                        { 4, 5, 6 } };
    assert_int_equal(keys.n, sizeof(want));
    assert_memory_equal(keys.p, want, sizeof(want));
}

int
main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(snapshots_and_instructions_are_one_line_each),
        KIT_IN_DIR(the_file_comes_with_its_first_line),
        KIT_IN_DIR(a_file_that_was_there_is_nobody_elses_then),
        KIT_IN_DIR(a_torn_line_is_ended_first),
        KIT_IN_DIR(what_fits_half_is_taken_back_and_comes_later),
        KIT_IN_DIR(too_much_that_waits_is_told),
        KIT_IN_DIR(what_is_no_plain_file_is_not_written_to),
        KIT_IN_DIR(snapshots_are_read_back_from_what_is_a_line),
    };
    return cmocka_run_group_tests_name("lines", tests, NULL, NULL);
}
