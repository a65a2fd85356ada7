/* SPDX-License-Identifier: MIT */
/* import_test.c -- files of other programs, good and bad, and the records that come of
 * them. */
#include "support/kit.h"

#include <inttypes.h>
#include <stdio.h>

#include "base/le.h"
#include "play/import.h"

/* -- what comes of a file, as text -- */

static ssize_t
read_view(void *ctx, void *p, size_t n)
{
    struct view *left = ctx;
    if (n > left->n)
        n = left->n;
    if (n)
        memcpy(p, left->p, n);
    left->p += n;
    left->n -= n;
    return (ssize_t)n;
}

static int
put_head(void *ctx, const struct play_import_head *h)
{
    const struct view texts[] = { h->title, h->command, h->term, h->shell };
    buf_printf(ctx, "%ux%u %" PRIu64, h->cols, h->rows, h->start_ns / 1000000);
    for (size_t i = 0; i < 4; i++)
        buf_printf(ctx, " <%.*s>", (int)texts[i].n, (const char *)texts[i].p);
    return buf_puts(ctx, "\n");
}

static int
put_record(void *ctx, const struct play_import_record *rec)
{
    buf_printf(ctx, "%" PRIu64 " ", rec->time_ns / 1000000);
    switch (rec->kind) {
    case PLAY_IMPORT_SIZE:
        return buf_printf(ctx, "size %ux%u\n", rec->cols, rec->rows);
    case PLAY_IMPORT_EXIT:
        return buf_printf(ctx, "exit %u\n", rec->status);
    case PLAY_IMPORT_OUTPUT:
    case PLAY_IMPORT_INPUT:
    case PLAY_IMPORT_MARKER:
        break;
    }
    static const char *const names[] = { "out", "in", "size", "mark" };
    return buf_printf(ctx, "%s %.*s\n", names[rec->kind], (int)rec->bytes.n,
                      (const char *)rec->bytes.p);
}

static void
put_damage(void *ctx, int source, uint64_t offset, const char *text)
{
    buf_printf(ctx, "! %d at %" PRIu64 ": %s\n", source, offset, text);
}

static const char *
read_views(const char *format, struct view file, struct view timing, struct view typed)
{
    static struct buf out;
    struct view files[] = { file, timing, typed };
    struct play_source sources[PLAY_IMPORT_SOURCES];
    struct play_import im = {
        .head = put_head, .record = put_record, .damage = put_damage, .ctx = &out
    };
    buf_clear(&out);
    for (size_t i = 0; i < PLAY_IMPORT_SOURCES; i++) {
        sources[i] = (struct play_source){ .read = read_view, .ctx = &files[i] };
        im.source[i] = files[i].p ? &sources[i] : NULL;
    }
    int r = play_import_read(play_import_find(format), &im);
    for (size_t i = 0; i < PLAY_IMPORT_SOURCES; i++)
        play_source_release(&sources[i]);
    buf_printf(&out, "%d, %" PRIu64 " ms, %" PRIu64 " left out", r, im.end_ns / 1000000,
               im.left_out);
    return buf_str(&out);
}

static struct view
text(const char *s)
{
    return (struct view){ (const uint8_t *)s, s ? strlen(s) : 0 };
}

static const char *
cast(const char *file)
{
    return read_views("cast", text(file), text(NULL), text(NULL));
}

static const char *
script(const char *file, const char *timing, const char *typed)
{
    return read_views("script", text(file), text(timing), text(typed));
}

/* -- asciicasts -- */

static void
a_cast_of_version_2_has_absolute_times(void **state)
{
    (void)state;
    assert_string_equal(
        cast(
            "{\"version\": 2, \"width\": 80, \"height\": 24, \"timestamp\": 1504467315.5,"
            " \"title\": \"Demo\", \"command\": \"sh -l\", \"theme\": {\"fg\": \"#fff\"},"
            " \"env\": {\"TERM\": \"xterm\", \"SHELL\": \"/bin/sh\"}}\n"
            "[0.25, \"o\", \"a\\u00e9\"]\n[1, \"i\", \"x\"]\n\n[2.5e0, \"r\", "
            "\"90x30\"]\n"
            "[3, \"m\", \"label\"]\n[4, \"z\", [1, {\"a\": null}]]\n[5.0, \"o\", "
            "\"\"]\n"),
        "80x24 1504467315500 <Demo> <sh -l> <xterm> </bin/sh>\n"
        "250 out a\xc3\xa9\n1000 in x\n2500 size 90x30\n3000 mark label\n"
        "0, 5000 ms, 1 left out");
}

static void
a_cast_of_version_3_has_intervals(void **state)
{
    (void)state;
    assert_string_equal(
        cast("\xef\xbb\xbf{\"version\":3,\"term\":{\"cols\":80,\"rows\":24,\"type\":"
             "\"vt\"}}\n"
             "# a comment\n[0.001,\"o\",\"a\"]\n[0.002,\"o\",\"\\ud83d\\ude00\"]\n"
             "[1,\"x\",\"3\"]\n[1,\"x\",4]"),
        "80x24 0 <> <> <vt> <>\n1 out a\n3 out \xf0\x9f\x98\x80\n1003 exit 3\n"
        "2003 exit 4\n0, 2003 ms, 0 left out");
}

static void
a_cast_of_version_1_is_one_document(void **state)
{
    (void)state;
    assert_string_equal(
        cast("{\n \"version\": 1,\n \"width\": 80, \"height\": 24, \"duration\": 1.5,\n"
             " \"command\": null, \"title\": \"\", \"env\": {\"TERM\": \"xterm\"},\n"
             " \"stdout\": [\n [0.25, \"a\\r\\n\"],\n [1.0, \"b\"]\n ]\n}\n"),
        "80x24 0 <> <> <xterm> <>\n250 out a\r\n\n1250 out b\n0, 1250 ms, 0 left out");
    assert_string_equal(
        cast("{\"version\":1,\"stdout\":[[1,\"a\"],[-1,\"b\"],7,[1,\"c\"],[1,\"d"),
        "0x0 0 <> <> <> <>\n1000 out a\n"
        "! 0 at 34: a frame that is none\n2000 out c\n"
        "! 0 at 55: the end is missing\n0, 2000 ms, 0 left out");
}

static void
a_broken_line_costs_no_other_event(void **state)
{
    (void)state;
    static const char head[] = "{\"version\":2,\"width\":9,\"height\":9}\n";
    static const struct {
        const char *lines, *want;
    } cases[] = {
        { "[1,\"o\",\"a\"][2,\"o\",\"b\"]",
          "1000 out a\n2000 out b\n! 0 at 35: a line that is no event\n" },
        { "[1,\"o\",\"a[2,\"o\",\"b\"]",
          "2000 out b\n! 0 at 35: a line that is no event\n" },
        { "[1,\"o\",\"a\n[2,\"o\",\"b\"]",
          "! 0 at 35: a line that is no event\n2000 out b\n" },
        { "[NaN,\"o\",\"a\"]\n[-2,\"o\",\"b\"]",
          "! 0 at 35: a line that is no event\n! 0 at 49: a line that is no event\n" },
        { "[1e99,\"o\",\"a\"]", "! 0 at 35: a line that is no event\n" },
        { "[1,\"r\",\"0x5\"]", "! 0 at 35: a line that is no event\n" },
        { "[1,\"r\",\"10x99999\"]", "! 0 at 35: a line that is no event\n" },
        { "[1,\"o\",7]", "! 0 at 35: a line that is no event\n" },
        { "[1,\"x\",\"999\"]", "! 0 at 35: a line that is no event\n" },
        { "[1,\"o\",\"a\xff\"]", "1000 out a\xff\n! 0 at 35: a text that is no text\n" },
        { "[1,\"o\",\"\\ud800\"]",
          "1000 out \xef\xbf\xbd\n! 0 at 35: a text that is no text\n" },
        { "[1,\"o\",\"\\q\"]", "! 0 at 35: a line that is no event\n" },
    };
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        AUTO(buf) file = { 0 };
        AUTO(buf) want = { 0 };
        buf_printf(&file, "%s%s\n", head, cases[i].lines);
        buf_printf(&want, "9x9 0 <> <> <> <>\n%s", cases[i].want);
        const char *have = cast(buf_str(&file));
        assert_memory_equal(have, buf_str(&want), want.n);
        assert_true(have[want.n] == '0' || have[want.n] == '-');
    }
}

static void
a_header_that_is_no_good_costs_no_event(void **state)
{
    (void)state;
    assert_string_equal(cast("{\"version\":2,\"wid\n[1,\"o\",\"a\"]\n"),
                        "! 0 at 0: a header that cannot be read\n0x0 0 <> <> <> <>\n"
                        "1000 out a\n0, 1000 ms, 0 left out");
    assert_string_equal(cast("[1,\"o\",\"a\"]\n[2,\"o\",\"b\"]\n"),
                        "! 0 at 0: a header that cannot be read\n0x0 0 <> <> <> <>\n"
                        "1000 out a\n2000 out b\n0, 2000 ms, 0 left out");
    assert_string_equal(cast("{\"version\":2}\n[1,\"o\",\"a\"]\n"),
                        "! 0 at 0: a header without a size\n0x0 0 <> <> <> <>\n"
                        "1000 out a\n0, 1000 ms, 0 left out");
    assert_string_equal(cast("nothing"),
                        "! 0 at 0: a header that cannot be read\n0x0 0 <> <> <> <>\n"
                        "! 0 at 0: a line that is no event\n-10003, 0 ms, 0 left out");
}

static void
a_time_that_leaps_or_goes_back_moves_no_other(void **state)
{
    (void)state;
    assert_string_equal(
        cast("{\"version\":2,\"width\":9,\"height\":9}\n[1,\"o\",\"a\"]\n"
             "[1000000000,\"o\",\"b\"]\n[3,\"o\",\"c\"]\n[4.5,\"o\",\"d\"]\n"),
        "9x9 0 <> <> <> <>\n1000 out a\n1000 out b\n1000 out c\n"
        "2500 out d\n0, 2500 ms, 0 left out");
}

static void
a_line_of_beginnings_ends(void **state)
{
    (void)state;
    AUTO(buf) file = { 0 };
    buf_puts(&file, "{\"version\":2,\"width\":9,\"height\":9}\n");
    for (int i = 0; i < 200000; i++)
        buf_puts(&file, "[1,\"o\",");
    const char *have = cast(buf_str(&file));
    assert_non_null(strstr(have, "a line that is no event\n-10003"));
    buf_clear(&file);
    for (int i = 0; i < 1000000; i++)
        buf_puts(&file, "{\"a\":[");
    assert_non_null(strstr(cast(buf_str(&file)), "-10003"));
}

/* -- typescripts -- */

#define SCRIPT_HEAD                                                        \
    "Script started on 2024-01-02 03:04:05+01:00 [COMMAND=\"echo \"x\"\" " \
    "TERM=\"xterm\" "                                                      \
    "TTY=\"/dev/pts/0\" COLUMNS=\"90\" LINES=\"30\"]\n"
#define SCRIPT_END \
    "\nScript done on 2024-01-02 03:05:05+01:00 [COMMAND_EXIT_CODE=\"0\"]\n"
#define SCRIPT_FACTS "90x30 1704161045000 <> <echo \"x\"> <xterm> <>\n"

static void
a_typescript_has_its_times_elsewhere(void **state)
{
    (void)state;
    assert_string_equal(
        script(SCRIPT_HEAD "abcdef" SCRIPT_END, "0.5 2\n1.000001 3\n0.25 1\n", NULL),
        SCRIPT_FACTS "500 out ab\n1500 out cde\n1750 out f\n"
                     "0, 1750 ms, 0 left out");
}

static void
the_advanced_format_tells_more(void **state)
{
    (void)state;
    assert_string_equal(
        script(
            "Skript gestartet\nabcd" SCRIPT_END,
            "H 0.0 START_TIME 2024-01-02 03:04:05+01:00\nH 0 COLUMNS 90\nH 0 LINES 30\n"
            "H 0.0 SHELL /bin/sh\nH 0.0 COMMAND ls -l\nH 0.0 OUTPUT_LOG o\n"
            "H 0.0 INPUT_LOG i\nO 0.5 2\nI 0.5 1\nS 1 SIGWINCH ROWS=40 COLS=100\n"
            "S 0 SIGTERM\nO 0.5 2\nH 0 DURATION 4.0\nH 0 EXIT_CODE 7\n",
            "Skript gestartet\nxy"),
        "90x30 1704161045000 <> <ls -l> <> </bin/sh>\n500 out ab\n1000 in x\n"
        "2000 size 100x40\n2500 out cd\n4000 exit 7\n0, 4000 ms, 1 left out");
}

static void
what_was_typed_may_stand_between_or_elsewhere(void **state)
{
    (void)state;
    assert_string_equal(script("first\nabXcd" SCRIPT_END,
                               "H 0 OUTPUT_LOG b\nH 0 INPUT_LOG b\nO 1 2\nI 1 1\nO 1 2\n",
                               NULL),
                        "0x0 0 <> <> <> <>\n1000 out ab\n2000 in X\n3000 out cd\n"
                        "0, 3000 ms, 0 left out");
    assert_string_equal(script("first\nabcd", "O 1 2\nI 1 1\nO 1 2\n", NULL),
                        "0x0 0 <> <> <> <>\n1000 out ab\n3000 out cd\n"
                        "0, 3000 ms, 1 left out");
}

static void
no_byte_is_lost_with_its_time(void **state)
{
    (void)state;
    assert_string_equal(
        script("first\nabcdef" SCRIPT_END, "1 2\nx y\n1 -2\n1 1 1\n1 1\n", NULL),
        "0x0 0 <> <> <> <>\n1000 out ab\n! 1 at 4: a line that is no time\n"
        "! 1 at 8: a line that is no time\n! 1 at 13: a line that is no time\n"
        "2000 out c\n! 0 at 9: the rest has no times\n2000 out def\n"
        "0, 2000 ms, 0 left out");
    assert_string_equal(script("first\nabc", "1 2\n1 4294967296\n1 5\n", NULL),
                        "0x0 0 <> <> <> <>\n1000 out ab\n2000 out c\n"
                        "! 0 at 9: it ends before its times do\n0, 3000 ms, 0 left out");
    assert_string_equal(script("", "1 2\n", NULL), "-10003, 0 ms, 0 left out");
}

/* -- ttyrec -- */

struct tty {
    struct buf bytes;
    bool is_big;
};

static void
put_32(struct tty *t, uint32_t v)
{
    uint8_t p[4];
    put_le32(p, t->is_big ? __builtin_bswap32(v) : v);
    buf_append(&t->bytes, p, 4);
}

static void
put_tty(struct tty *t, uint32_t s, uint32_t us, uint32_t n, const char *bytes)
{
    put_32(t, s);
    put_32(t, us);
    put_32(t, n);
    buf_puts(&t->bytes, bytes);
}

static const char *
ttyrec(struct tty *t)
{
    const char *have = read_views("ttyrec", (struct view){ t->bytes.p, t->bytes.n },
                                  text(NULL), text(NULL));
    buf_release(&t->bytes);
    return have;
}

static void
a_ttyrec_file_may_have_either_end_first(void **state)
{
    (void)state;
    for (int big = 0; big < 2; big++) {
        struct tty t = { .is_big = big };
        put_tty(&t, 1700000000, 500000, 3, "abc");
        put_tty(&t, 1700000002, 0, 0, "");
        put_tty(&t, 1700000001, 0, 1, "d"); /* the clock was set */
        put_tty(&t, 1700000002, 0, 1, "e");
        assert_string_equal(ttyrec(&t), "0x0 1700000000500 <> <> <> <>\n0 out abc\n"
                                        "1500 out d\n2500 out e\n0, 2500 ms, 0 left out");
    }
}

static void
a_ttyrec_file_may_begin_with_its_size(void **state)
{
    (void)state;
    struct tty t = { 0 };
    put_tty(&t, 1700000000, 0, 14, "\x1b%G\x1b[8;30;100t");
    assert_string_equal(ttyrec(&t), "100x30 1700000000000 <> <> <> <>\n"
                                    "0 out \x1b%G\x1b[8;30;100t\n0, 0 ms, 0 left out");
}

static void
behind_an_absurd_length_the_next_record_is_found(void **state)
{
    (void)state;
    struct tty t = { 0 };
    put_tty(&t, 1700000000, 0, 3, "abc");
    put_tty(&t, 1700000001, 0, UINT32_MAX, "lost");
    put_tty(&t, 1700000002, 0, 1, "d");
    put_tty(&t, 1700000003, 0, 20, "kept"); /* a wrong one */
    put_tty(&t, 1700000004, 0, 1, "e");
    put_tty(&t, 1700000005, 0, 9, "f");
    assert_string_equal(ttyrec(&t),
                        "0x0 1700000000000 <> <> <> <>\n0 out abc\n"
                        "! 0 at 15: a record of an absurd length\n2000 out d\n"
                        "! 0 at 44: a record of a wrong length\n3000 out kept\n"
                        "4000 out e\n! 0 at 85: it ends in the middle of a record\n"
                        "5000 out f\n0, 5000 ms, 0 left out");
}

static void
a_file_that_is_no_ttyrec_is_told(void **state)
{
    (void)state;
    assert_string_equal(
        read_views("ttyrec", text("just some text, and more"), text(NULL), text(NULL)),
        "0x0 0 <> <> <> <>\n! 0 at 0: a record of an absurd length\n"
        "-10003, 0 ms, 0 left out");
}

/* -- which -- */

static void
what_a_file_is_shows_by_its_beginning(void **state)
{
    (void)state;
    static const struct {
        const char *beginning, *format;
    } cases[] = {
        { "{\"version\":2}", "cast" },
        { " {\"title\":\"x\",\n\"version\" : 1 ,", "cast" },
        { "{\"version\":4}", NULL },
        { "{\"version\":", NULL },
        { "Script started on ", "script" },
        { "\x16>\xfaj\1\1\1\1\1\1\1\1", NULL },
        { "#!/bin/sh\necho hello", NULL },
        { "", NULL },
    };
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        const struct play_import_format *f = play_import_guess(text(cases[i].beginning));
        assert_string_equal(f ? f->name : "none",
                            cases[i].format ? cases[i].format : "none");
    }
    static const uint8_t head[] = { 0x16, 0x3e, 0xfa, 0x6a, 1, 0, 0, 0, 9, 0, 0, 0, 'x' };
    assert_ptr_equal(play_import_guess((struct view){ head, sizeof(head) }),
                     &play_import_ttyrec);
    assert_null(play_import_find("none"));
}

int
main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_cast_of_version_2_has_absolute_times),
        cmocka_unit_test(a_cast_of_version_3_has_intervals),
        cmocka_unit_test(a_cast_of_version_1_is_one_document),
        cmocka_unit_test(a_broken_line_costs_no_other_event),
        cmocka_unit_test(a_header_that_is_no_good_costs_no_event),
        cmocka_unit_test(a_time_that_leaps_or_goes_back_moves_no_other),
        cmocka_unit_test(a_line_of_beginnings_ends),
        cmocka_unit_test(a_typescript_has_its_times_elsewhere),
        cmocka_unit_test(the_advanced_format_tells_more),
        cmocka_unit_test(what_was_typed_may_stand_between_or_elsewhere),
        cmocka_unit_test(no_byte_is_lost_with_its_time),
        cmocka_unit_test(a_ttyrec_file_may_have_either_end_first),
        cmocka_unit_test(a_ttyrec_file_may_begin_with_its_size),
        cmocka_unit_test(behind_an_absurd_length_the_next_record_is_found),
        cmocka_unit_test(a_file_that_is_no_ttyrec_is_told),
        cmocka_unit_test(what_a_file_is_shows_by_its_beginning),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
