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

static void
write_file(const char *text)
{
    kit_write_file(FILE_NAME, text);
}

static void
assert_file(const char *text)
{
    kit_assert_file(FILE_NAME, text);
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
        "{\"id\":7,\"ts_ns\":8,\"label\":\"a\\\"\\n\xef\xbf\xbd\",\"kind\":\"auto\","
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
    assert_int_equal(add(&l, "two\n"), -EFBIG);
    assert_file("one\n");
    assert_int_equal(add(&l, "3\n"), -EFBIG); /* it would fit, but keeps its place */
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

/* -- reading -- */

/* "id ts anchor … text;" of each, into ctx. */
static int
note(void *ctx, const struct session_moment *m)
{
    struct buf *out = ctx;
    buf_printf(out, "%llu %llu %llu ", (unsigned long long)m->id,
               (unsigned long long)m->ts_ns, (unsigned long long)m->anchor_byte);
    if (m->snapshot_id != SESSION_NONE)
        buf_printf(out, "of %llu ", (unsigned long long)m->snapshot_id);
    buf_puts(out, m->is_delivered ? "typed " : "");
    buf_append(out, m->text.p, m->text.n);
    return buf_puts(out, ";");
}

/* What is read of the file that holds these bytes, and which lines are not. */
static void
assert_read(enum session_moment_kind kind, struct view file, const char *want,
            uint64_t unread, uint64_t first)
{
    AUTO(buf) seen = { 0 };
    struct session_unread bad = { 0 };
    assert_int_equal(file_replace(FILE_NAME, file, false, NULL), 0);
    assert_int_equal(session_moments_read(FILE_NAME, kind, note, &seen, &bad), 0);
    assert_string_equal(buf_str(&seen), want);
    assert_int_equal(bad.lines, unread);
    assert_int_equal(bad.first, first);
}

#define BYTES(literal)                                  \
    {                                                   \
        (const uint8_t *)(literal), sizeof(literal) - 1 \
    }

/* One line of each kind, and how note() writes it. */
#define ONE      "{\"id\":1,\"ts_ns\":2,\"label\":\"x\",\"kind\":\"auto\",\"anchor_byte\":3}"
#define ONE_SEEN "1 2 3 x;"

static void
what_was_written_is_read(void **state)
{
    (void)state;
    AUTO(buf) text = { 0 };
    session_snapshot_line(&text, UINT64_MAX, 2, text_view("a\"},{\n\\\x01\xff\xc3\xa4"),
                          true, 3);
    session_snapshot_line(&text, 0, 0, (struct view){ 0 }, false, UINT64_MAX);
    assert_read(SESSION_SNAPSHOT, (struct view){ text.p, text.n },
                "18446744073709551615 2 3 a\"},{\n\\\x01\xef\xbf\xbd\xc3\xa4;"
                "0 0 18446744073709551615 ;",
                0, 0);
    buf_clear(&text);
    struct session_instruction i = { .id = 1,
                                     .ts_ns = 2,
                                     .anchor_byte = 3,
                                     .snapshot_id = SESSION_NONE,
                                     .row = SESSION_NO_ROW,
                                     .text = text_view("do\tit\n") };
    session_instruction_line(&text, &i);
    i.snapshot_id = 0;
    i.row = 0;
    i.is_delivered = true;
    session_instruction_line(&text, &i);
    assert_read(SESSION_INSTRUCTION, (struct view){ text.p, text.n },
                "1 2 3 do\tit\n;1 2 3 of 0 typed do\tit\n;", 0, 0);
}

static void
strings_are_read_as_json_has_them(void **state)
{
    (void)state;
    static const struct {
        const char *text, *want; /* NULL: it is no string */
    } cases[] = {
        { "", "" },
        { "\\\"\\\\\\/\\b\\f\\n\\r\\t", "\"\\/\b\f\n\r\t" },
        { "\\u0041\\u00e4\\u20AC", "A\xc3\xa4\xe2\x82\xac" },
        { "\\ud83d\\ude00!", "\xf0\x9f\x98\x80!" },
        { "\\udbff\\udfff", "\xf4\x8f\xbf\xbf" },
        { "\\ud83dx", "\xef\xbf\xbdx" },
        { "\\ude00", "\xef\xbf\xbd" },
        { "\\ud83d\\n", "\xef\xbf\xbd\n" },
        { "\\ud83d\\ud83d\\ude00", "\xef\xbf\xbd\xf0\x9f\x98\x80" },
        { "\\ud83d\\u0041", "\xef\xbf\xbd"
                            "A" },
        { "\xff\xe2\x80\xa8\x80", "\xef\xbf\xbd\xe2\x80\xa8\xef\xbf\xbd" },
        { "\xed\xa0\x80", "\xef\xbf\xbd\xef\xbf\xbd\xef\xbf\xbd" },
        { "\t\x7f", "\t\x7f" },
        { "\\x", NULL },
        { "\\u12", NULL },
        { "\\u12g4", NULL },
        { "\\", NULL },
    };
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        AUTO(buf) line = { 0 };
        AUTO(buf) want = { 0 };
        buf_printf(&line, "{\"id\":1,\"ts_ns\":2,\"anchor_byte\":3,\"label\":\"%s\"}\n",
                   cases[i].text);
        if (cases[i].want)
            buf_printf(&want, "1 2 3 %s;", cases[i].want);
        assert_read(SESSION_SNAPSHOT, (struct view){ line.p, line.n }, buf_str(&want),
                    !cases[i].want, !cases[i].want);
    }
}

static void
a_good_line_is_not_lost_beside_a_bad_one(void **state)
{
    (void)state;
    static const struct {
        struct view file;
        const char *want;
        uint64_t unread, first;
    } cases[] = {
        { BYTES(""), "", 0, 0 },
        { BYTES("\n\r\n \n"), "", 0, 0 },
        { BYTES(ONE), ONE_SEEN, 0, 0 }, /* its newline is all that was torn off */
        { BYTES("\xef\xbb\xbf" ONE "\r\n"), ONE_SEEN, 0, 0 },
        { BYTES(ONE ONE "\n" ONE " \t" ONE "\n"), ONE_SEEN ONE_SEEN ONE_SEEN ONE_SEEN, 0,
          0 },
        { BYTES("\0\0\0" ONE "\0\0" ONE "\0\n\0"), ONE_SEEN ONE_SEEN, 0, 0 },
        { BYTES(ONE "\n{\"id\":1,\"ts_"), ONE_SEEN, 1, 2 },
        { BYTES("{\"id\":1,\"ts_" ONE "\n"), ONE_SEEN, 1, 1 },
        { BYTES("{\"id\":1,\"label\":\"ab" ONE "\n"), ONE_SEEN, 1, 1 },
        { BYTES("{\"id\":1,\"label\":\"ab\0\0" ONE "\n"), ONE_SEEN, 1, 1 },
        { BYTES("\n\n{\"id\n}\n" ONE "x\n" ONE), ONE_SEEN ONE_SEEN, 3, 3 },
        { BYTES("[" ONE "]\n"), ONE_SEEN, 1, 1 },
        { BYTES("{{{{\n" ONE), ONE_SEEN, 1, 1 },
        { BYTES("{}\n[]\n1\n\"\"\nnull\n" ONE), ONE_SEEN, 5, 1 },
    };
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++)
        assert_read(SESSION_SNAPSHOT, cases[i].file, cases[i].want, cases[i].unread,
                    cases[i].first);
}

static void
what_others_add_to_a_line_is_passed_over(void **state)
{
    (void)state;
    static const struct {
        const char *more;
        bool is_read;
    } cases[] = {
        { "\"x\":null", true },
        { "\"x\":{\"id\":7,\"y\":[{},[],[1,-2.5e+3,\"a\\\"\"]]}", true },
        { "\"x\":-1", true },
        { "\"x\":1e400", true },
        { "\"id\":1", true }, /* the last one counts */
        { "\"id\":1.5", true },
        { "\"delivered\":1", true },
        { "\"label\":null", true },
        { "\"label\":7", true },
        { "\"x\":nul", false },
        { "\"x\":", false },
        { "\"x\"", false },
        { "\"x\":[1", false },
        { "\"x\":[1,]", false },
        { "\"x\":{\"y\"}", false },
        { "", false },
    };
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        AUTO(buf) line = { 0 };
        buf_printf(&line, "{ \"id\" : 1 ,\"ts_ns\":2,\"anchor_byte\":3, %s }\n",
                   cases[i].more);
        assert_read(SESSION_SNAPSHOT, (struct view){ line.p, line.n },
                    cases[i].is_read ? "1 2 3 ;" : "", !cases[i].is_read,
                    !cases[i].is_read);
    }
}

static void
what_is_needed_and_not_there_makes_it_none(void **state)
{
    (void)state;
    static const char *const cases[] = {
        "{\"ts_ns\":2,\"anchor_byte\":3,\"text\":\"x\"}",
        "{\"id\":1,\"anchor_byte\":3,\"text\":\"x\"}",
        "{\"id\":1,\"ts_ns\":2,\"text\":\"x\"}",
        "{\"id\":1,\"ts_ns\":2,\"anchor_byte\":3}",
        "{\"id\":1,\"ts_ns\":2,\"anchor_byte\":3,\"text\":null}",
        "{\"id\":-1,\"ts_ns\":2,\"anchor_byte\":3,\"text\":\"x\"}",
        "{\"id\":18446744073709551616,\"ts_ns\":2,\"anchor_byte\":3,\"text\":\"x\"}",
        "{\"id\":\"1\",\"ts_ns\":2,\"anchor_byte\":3,\"text\":\"x\"}",
    };
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++)
        assert_read(SESSION_INSTRUCTION, text_view(cases[i]), "", 1, 1);
}

static void
fill_with(struct buf *b, const char *text, size_t n)
{
    for (size_t i = 0; i < n; i++)
        assert_int_equal(buf_puts(b, text), 0);
}

static void
long_lines_are_read_and_longer_ones_passed_over(void **state)
{
    (void)state;
    AUTO(buf) file = { 0 };
    AUTO(buf) want = { 0 };
    buf_puts(&file, "{\"id\":1,\"ts_ns\":2,\"anchor_byte\":3,\"label\":\"");
    fill_with(&file, "0123456789abcdef", 2 << 16); /* 2 MiB */
    buf_puts(&file, "\"}\n" ONE "\n{\"id\":1,\"ts_ns\":2,\"anchor_byte\":3,\"label\":\"");
    fill_with(&file, "0123456789abcdef", 17 << 16);
    buf_puts(&file, "\"}\n" ONE "\n");
    memset(buf_grow(&file, 20 << 20), 0, 20 << 20);
    buf_puts(&file, ONE "\n");
    buf_puts(&want, "1 2 3 ");
    fill_with(&want, "0123456789abcdef", 2 << 16);
    buf_puts(&want, ";" ONE_SEEN ONE_SEEN ONE_SEEN);
    assert_read(SESSION_SNAPSHOT, (struct view){ file.p, file.n }, buf_str(&want), 1, 3);
}

static void
braces_and_depth_cost_little(void **state)
{
    (void)state;
    static const char *const parts[] = { "{",        "{\"a\":",    "[",
                                         "{\"a\":[", "{\"a\":{},", "\"{\"" };
    for (size_t i = 0; i < sizeof(parts) / sizeof(parts[0]); i++) {
        AUTO(buf) file = { 0 };
        fill_with(&file, "{\"a\":", 1);
        fill_with(&file, parts[i], 1 << 20);
        buf_puts(&file, "\n" ONE);
        assert_read(SESSION_SNAPSHOT, (struct view){ file.p, file.n }, ONE_SEEN, 1, 1);
    }
}

static void
only_a_plain_file_is_read(void **state)
{
    (void)state;
    AUTO(buf) seen = { 0 };
    struct session_unread bad = { 7, 7 };
    assert_int_equal(session_moments_read(FILE_NAME, SESSION_SNAPSHOT, note, &seen, &bad),
                     0); /* there is none */
    assert_int_equal(bad.lines, 0);
    assert_int_equal(mkfifo(FILE_NAME, 0600), 0);
    assert_int_equal(session_moments_read(FILE_NAME, SESSION_SNAPSHOT, note, &seen, &bad),
                     -EINVAL);
    unlink(FILE_NAME);
    assert_int_equal(mkdir(FILE_NAME, 0700), 0);
    assert_true(session_moments_read(FILE_NAME, SESSION_SNAPSHOT, note, &seen, &bad) < 0);
    assert_int_equal(seen.n, 0);
}

static int
refuse(void *ctx, const struct session_moment *m)
{
    (void)m;
    return ++*(int *)ctx == 2 ? -EIO : 0;
}

static void
whoever_reads_may_stop_it(void **state)
{
    (void)state;
    int count = 0;
    write_file(ONE "\n" ONE "\n" ONE "\n");
    assert_int_equal(
        session_moments_read(FILE_NAME, SESSION_SNAPSHOT, refuse, &count, NULL), -EIO);
    assert_int_equal(count, 2);
}

static void
snapshots_are_known_by_their_keys(void **state)
{
    (void)state;
    AUTO(buf) keys = { 0 };
    assert_int_equal(session_snapshot_keys(FILE_NAME, &keys), 0);
    write_file(ONE "\n[]\n{ \"anchor_byte\" : 6, \"ts_ns\": 5, \"id\":4 }\r\n");
    assert_int_equal(session_snapshot_keys(FILE_NAME, &keys), 0);
    static const struct session_snapshot_key want[] = { { 1, 2, 3 }, { 4, 5, 6 } };
    assert_int_equal(keys.n, sizeof(want));
    assert_memory_equal(keys.p, want, sizeof(want));
}

/* -- the end that a dead writer has left -- */

/* A session_line_fn. */
static bool
is_whole(struct view line)
{
    return line.p[line.n - 1] == '}';
}

static void
put_bytes(struct view bytes)
{
    int fd = open(FILE_NAME, O_WRONLY | O_CREAT | O_TRUNC, 0600);
    assert_int_equal(file_write_all(fd, bytes.p, bytes.n), 0);
    close(fd);
}

static void
assert_mended(struct view left, struct view want)
{
    AUTO(buf) now = { 0 };
    bool is_good = left.n == want.n && (!left.n || !memcmp(left.p, want.p, left.n));
    put_bytes(left);
    for (int times = 0; times < 2; times++) {
        int fd = open(FILE_NAME, O_RDWR | (times ? O_APPEND : 0));
        assert_int_equal(session_lines_mend(fd, "{\"id", is_whole), !times && !is_good);
        close(fd);
        buf_clear(&now);
        assert_int_equal(file_slurp(FILE_NAME, &now), 0);
        assert_int_equal(now.n, want.n);
        if (want.n)
            assert_memory_equal(now.p, want.p, want.n);
    }
}

static void
an_end_that_is_torn_is_cut_and_another_one_is_ended(void **state)
{
    (void)state;
    static const struct {
        struct view left, want;
    } cases[] = {
        { BYTES(""), BYTES("") },
        { BYTES("\0\0"), BYTES("") },
        { BYTES("a\n"), BYTES("a\n") },
        { BYTES("a\n\0\0\0"), BYTES("a\n") },
        { BYTES("{"), BYTES("") },
        { BYTES("a\n{\"id\":"), BYTES("a\n") },
        { BYTES("a\n{\"id\":\0\0"), BYTES("a\n") },
        { BYTES("a\n{\"id\":1}"), BYTES("a\n{\"id\":1}\n") },
        { BYTES("a\n{\"id\":1}\0"), BYTES("a\n{\"id\":1}\n") },
        { BYTES("a\n{\"id\":\0\0}"), BYTES("a\n{\"id\":\0\0}\n") },
        { BYTES("a\n\0\nb\n"), BYTES("a\n\0\nb\n") },
        { BYTES("a\n{\"x\":"), BYTES("a\n{\"x\":\n") },
    };
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++)
        assert_mended(cases[i].left, cases[i].want);
}

/* However far away the end of the line before is. */
static void
a_long_end_is_mended_as_well(void **state)
{
    (void)state;
    for (size_t size = 1 << 16; size <= 8 << 20; size <<= 3)
        for (size_t nuls = size - 1; nuls <= size + 1; nuls++) {
            AUTO(buf) left = { 0 };
            buf_puts(&left, "a\n{\"id\":");
            memset(buf_grow(&left, size), 'x', size);
            memset(buf_grow(&left, nuls), 0, nuls);
            assert_mended((struct view){ left.p, left.n }, text_view("a\n"));
        }
}

static void
lines_are_counted_by_their_ends(void **state)
{
    (void)state;
    assert_int_equal(session_lines_count((struct view){ 0 }), 0);
    assert_int_equal(session_lines_count(text_view("a\n\nb\nc")), 3);
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
        KIT_IN_DIR(what_was_written_is_read),
        KIT_IN_DIR(strings_are_read_as_json_has_them),
        KIT_IN_DIR(a_good_line_is_not_lost_beside_a_bad_one),
        KIT_IN_DIR(what_others_add_to_a_line_is_passed_over),
        KIT_IN_DIR(what_is_needed_and_not_there_makes_it_none),
        KIT_IN_DIR(long_lines_are_read_and_longer_ones_passed_over),
        KIT_IN_DIR(braces_and_depth_cost_little),
        KIT_IN_DIR(only_a_plain_file_is_read),
        KIT_IN_DIR(whoever_reads_may_stop_it),
        KIT_IN_DIR(snapshots_are_known_by_their_keys),
        KIT_IN_DIR(an_end_that_is_torn_is_cut_and_another_one_is_ended),
        KIT_IN_DIR(a_long_end_is_mended_as_well),
        cmocka_unit_test(lines_are_counted_by_their_ends),
    };
    return cmocka_run_group_tests_name("lines", tests, NULL, NULL);
}
