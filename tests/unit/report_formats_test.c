/* SPDX-License-Identifier: MIT */
/* report_formats_test.c -- each format to the byte, and texts made to break it. */
#include <string.h>

#include "support/tape_maker.h"

/* What a text looks like in a format, as the only line of a session. */
static void
assert_line(const char *format, const char *text, const char *want)
{
    struct tape_maker t;
    AUTO(buf) out = { 0 };
    tape_maker_init(&t, 200, 4);
    tape_maker_data(&t, text);
    tape_maker_load(&t, NULL);
    assert_int_equal(tape_maker_report(&t, NULL, format, NULL, &out), 0);
    assert_string_equal(buf_str(&out), want);
    tape_maker_release(&t);
}

/* … as the label of its only snapshot or the text of its only instruction. */
static void
assert_event(const char *format, enum play_event_kind kind, const char *text,
             const char *want)
{
    struct tape_maker t;
    struct play_events events = { 0 };
    struct play_event event = { .kind = kind,
                                .id = 7,
                                .ts_ns = KIT_START + 1500000000,
                                .snapshot_id = PLAY_NONE,
                                .text = { (const uint8_t *)text, strlen(text) } };
    AUTO(buf) out = { 0 };
    tape_maker_init(&t, 20, 4);
    tape_maker_load(&t, NULL);
    assert_int_equal(play_events_add(&events, &event), 0);
    assert_int_equal(tape_maker_report(&t, &events, format, NULL, &out), 0);
    assert_string_equal(buf_str(&out), want);
    play_events_release(&events);
    tape_maker_release(&t);
}

/* -- branch points -- */

static void
branch_points_are_laid_out_to_the_byte(void **state)
{
    (void)state;
    struct tape_maker t;
    AUTO(buf) out = { 0 };
    tape_maker_init(&t, 20, 4);
    tape_maker_data(&t, "say \"hi\" \\o/\r\n");
    tape_maker_snapshot(&t, 45, "post-tool");
    tape_maker_data(&t, "\x1b[?1049h\xc3\xa4\x1b[?1049l");
    tape_maker_snapshot(&t, 46, "");
    tape_maker_load(&t, NULL);
    assert_int_equal(tape_maker_report(&t, NULL, "branch-points", NULL, &out), 0);
    assert_string_equal(buf_str(&out), "{\n"
                                       "  \"items\": [\n"
                                       "    {\n"
                                       "      \"index\": 0,\n"
                                       "      \"kind\": \"line\",\n"
                                       "      \"last_write_byte\": 12,\n"
                                       "      \"text\": \"say \\\"hi\\\" \\\\o/\"\n"
                                       "    },\n"
                                       "    {\n"
                                       "      \"anchor_byte\": 14,\n"
                                       "      \"id\": 45,\n"
                                       "      \"kind\": \"snapshot\",\n"
                                       "      \"label\": \"post-tool\",\n"
                                       "      \"ts_ns\": 1700000000002000000\n"
                                       "    },\n"
                                       "    {\n"
                                       "      \"index\": 1,\n"
                                       "      \"kind\": \"line\",\n"
                                       "      \"last_write_byte\": 24,\n"
                                       "      \"screen\": \"alternate\",\n"
                                       "      \"text\": \"\xc3\xa4\"\n"
                                       "    },\n"
                                       "    {\n"
                                       "      \"anchor_byte\": 32,\n"
                                       "      \"id\": 46,\n"
                                       "      \"kind\": \"snapshot\",\n"
                                       "      \"label\": null,\n"
                                       "      \"ts_ns\": 1700000000004000000\n"
                                       "    }\n"
                                       "  ],\n"
                                       "  \"total_bytes\": 32\n"
                                       "}\n");
    tape_maker_release(&t);
    assert_event("branch-points", PLAY_INSTRUCTION, "go on",
                 "{\n  \"items\": [\n    {\n"
                 "      \"anchor_byte\": 0,\n"
                 "      \"id\": 7,\n"
                 "      \"kind\": \"instruction\",\n"
                 "      \"text\": \"go on\",\n"
                 "      \"ts_ns\": 1700000001500000000\n"
                 "    }\n  ],\n  \"total_bytes\": 0\n}\n");
}

/* -- texts that people gave -- */

static void
labels_and_instructions_are_cleaned(void **state)
{
    (void)state;
    static const struct {
        const char *text, *label, *instruction;
    } cases[] = {
        { "plain \xc3\xa4", "plain \xc3\xa4", "plain \xc3\xa4" },
        { "a\r\nb\nc\rd\te", "a b c d e", "a\\nb\\nc\\nd\\te" },
        { "\x1b[31m\x07", "\xef\xbf\xbd[31m\xef\xbf\xbd",
          "\xef\xbf\xbd[31m\xef\xbf\xbd" },
        { "\xc2\x9bm\x7f", "\xef\xbf\xbdm\xef\xbf\xbd", "\xef\xbf\xbdm\xef\xbf\xbd" },
        { "a\xff\xe2\x82z", "a\xef\xbf\xbd\xef\xbf\xbd\xef\xbf\xbdz",
          "a\xef\xbf\xbd\xef\xbf\xbd\xef\xbf\xbdz" },
        { "x\xe2\x80\xaey\xe2\x81\xa6z", "xyz", "xyz" },
        { "x\xe2\x80\xa8y\xc2\x85z", "x y z", "x\\ny\\nz" },
    };
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        char want[512];
        snprintf(want, sizeof(want),
                 "[\n{\"kind\":\"snapshot\",\"id\":7,\"anchor_byte\":0,\"ts_ns\":"
                 "\"1700000001500000000\",\"t_ms\":1500,\"label\":\"%s\"}\n]\n",
                 cases[i].label);
        assert_event("json", PLAY_SNAPSHOT, cases[i].text, want);
        snprintf(want, sizeof(want),
                 "[\n{\"kind\":\"instruction\",\"id\":7,\"anchor_byte\":0,\"ts_ns\":"
                 "\"1700000001500000000\",\"t_ms\":1500,\"text\":\"%s\","
                 "\"snapshot_id\":null,\"delivered\":false}\n]\n",
                 cases[i].instruction);
        assert_event("json", PLAY_INSTRUCTION, cases[i].text, want);
    }
}

/* -- csv -- */

static void
assert_csv(const char *text, const char *field)
{
    char want[512];
    snprintf(want, sizeof(want),
             "kind,index_or_id,position,ts_ns,text\r\n"
             "instruction,7,0,1700000001500000000,%s\r\n",
             field);
    assert_event("csv", PLAY_INSTRUCTION, text, want);
}

static void
csv_fields_are_quoted_where_they_must_be(void **state)
{
    (void)state;
    assert_csv("plain text; with 'these' | \\", "plain text; with 'these' | \\");
    assert_csv("a,b", "\"a,b\"");
    assert_csv("say \"hi\"", "\"say \"\"hi\"\"\"");
    assert_csv("\"", "\"\"\"\"");
    assert_csv("two\nlines", "\"two\nlines\"");
    assert_csv("", "");
}

static void
csv_formulas_are_texts(void **state)
{
    (void)state;
    assert_csv("=1+1", "'=1+1");
    assert_csv("+1", "'+1");
    assert_csv("-1", "'-1");
    assert_csv("@SUM(A1)", "'@SUM(A1)");
    assert_csv("   =1", "'   =1");
    assert_csv("\t=1", "'\t=1");
    assert_csv("=HYPERLINK(\"http://x\",\"y\")",
               "\"'=HYPERLINK(\"\"http://x\"\",\"\"y\"\")\"");
    assert_csv("\xef\xbc\x9d"
               "1",
               "'\xef\xbc\x9d"
               "1"); /* of full width */
    assert_csv("a=1", "a=1");
    assert_csv(" - ", "' - ");
}

/* -- md -- */

#define MD_HEAD "| | position | time | text |\n|---|---:|---:|---|\n"

static void
md_cells_hold_nothing_but_text(void **state)
{
    (void)state;
    static const struct {
        const char *text, *cell;
    } cases[] = {
        { "plain text (of 1 file, 2.0 s)", "plain text (of 1 file, 2.0 s)" },
        { "a|b", "a&#124;b" },
        { "a\\|b", "a\\\\&#124;b" },
        { "`x` *y* _z_ ~q~ $m$", "\\`x\\` \\*y\\* \\_z\\_ \\~q\\~ \\$m\\$" },
        { "<script>&amp;", "&lt;script&gt;&amp;amp;" },
        { "![x](http://y) WWW.example.org", "!\\[x\\](http\\://y) WWW\\.example.org" },
        { "C:/x", "C:/x" },
        { "to me@example.org @ 5", "to me&#64;example.org @ 5" },
    };
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        char want[512];
        snprintf(want, sizeof(want), MD_HEAD "| 0 | %zu |  | %s |\n",
                 strlen(cases[i].text), cases[i].cell);
        assert_line("md", cases[i].text, want);
    }
}

static void
md_fences_what_a_table_would_mangle(void **state)
{
    (void)state;
    assert_line("md", "  indented", "```text\n  indented\n```\n");
    assert_line("md", "two  blanks", "```text\ntwo  blanks\n```\n");
    assert_line("md", "a\r\n\r\nb", "```text\na\n\nb\n```\n");
    assert_line("md", "  ```\r\n  ````x\r\n<b>",
                "`````text\n  ```\n  ````x\n<b>\n`````\n");
}

static void
md_events_have_badges(void **state)
{
    (void)state;
    struct tape_maker t;
    struct play_about about = { .title = "a *title*",
                                .start_ns = KIT_START,
                                .is_masked = true };
    struct play_report_options opt = { .has_snapshots = true,
                                       .has_notices = true,
                                       .about = &about };
    AUTO(buf) out = { 0 };
    tape_maker_init(&t, 40, 9);
    tape_maker_data(&t, "  one\r\n");
    tape_maker_snapshot(&t, 1, "a|b");
    tape_maker_data(&t, "two\r\n");
    tape_maker_put(
        &t, (struct tape_record){ .tag = TAPE_MARK, .code = TAPE_MARK_GAP, .val = 9 });
    t.byte_off += 9;
    tape_maker_data(&t, "\x1b[?1049h  three\x1b[?1049lfour");
    tape_maker_load(&t, NULL);
    assert_int_equal(tape_maker_report(&t, NULL, "md", &opt, &out), 0);
    assert_string_equal(buf_str(&out),
                        "# a \\*title\\*\n"
                        "\n```text\n  one\n```\n"
                        "\n" MD_HEAD "| \xf0\x9f\x93\xb8 **snapshot 1** | 7 | 0:00:00.002"
                        " | a&#124;b |\n"
                        "| 1 | 10 |  | two |\n"
                        "| \xe2\x9a\xa0\xef\xb8\x8f **notice** | 12 |  | 9 bytes were "
                        "not recorded here |\n"
                        "\nAlternate screen:\n\n```text\n  three\n```\n"
                        "\n" MD_HEAD "| 3 | 48 |  | four |\n");
    tape_maker_release(&t);
    assert_event("md", PLAY_INSTRUCTION, "do <this>\nand that",
                 MD_HEAD
                 "| \xe2\x9c\x8f\xef\xb8\x8f **instruction 7** | 0 | 0:00:01.500 | "
                 "do &lt;this&gt;<br>and that |\n");
}

/* Longer than what is held at once: the fence stays, until it must be longer. */
static void
md_goes_on_with_a_long_stretch(void **state)
{
    (void)state;
    struct tape_maker t;
    AUTO(buf) out = { 0 };
    AUTO(buf) want = { 0 };
    enum { LINES = 10000, TICKS = 9000 };
    tape_maker_init(&t, 40, 4);
    buf_puts(&want, "```text\n");
    for (int i = 0; i < LINES; i++) {
        if (i == 8000)
            buf_puts(&want, "```\n\n````text\n"); /* a new batch has more */
        const char *line = i == TICKS ? "  ```" : i / 4000 == 1 ? "fits" : "  x";
        buf_printf(&want, "%s\n", line);
        tape_maker_data(&t, line);
        tape_maker_data(&t, "\r\n");
    }
    buf_puts(&want, "````\n");
    tape_maker_load(&t, NULL);
    assert_int_equal(tape_maker_report(&t, NULL, "md", NULL, &out), 0);
    assert_string_equal(buf_str(&out), buf_str(&want));
    tape_maker_release(&t);
}

/* -- txt, ansi, ruled -- */

static void
ansi_has_colours_and_links_and_nothing_else(void **state)
{
    (void)state;
    assert_line("ansi",
                "\x1b[1;31mred\x1b[m \x1b]8;;http://x/\x07link\x1b]8;;\x07\x1b]0;t\x07!",
                "\x1b[0;1;31mred\x1b[m \x1b[0m\x1b]8;;http://x/\x1b\\link\x1b]8;;\x1b\\"
                "\x1b[m!\n");
    assert_line("txt", "\x1b[1;31mred\x1b[m \x1b]8;;http://x/\x07link\x1b]8;;\x07!",
                "red link!\n");
    assert_event("ansi", PLAY_SNAPSHOT, "x", "");
}

static void
rules_are_of_one_line(void **state)
{
    (void)state;
    assert_event("ruled", PLAY_INSTRUCTION, "a\nb\tc",
                 "──── instruction 7: a ⏎ b c ────\n");
}

static void
events_are_one_object_a_line(void **state)
{
    (void)state;
    static const char head[] = "{\"ts_ns\":\"1700000000000000000\",\"t_ms\":0,"
                               "\"session\":\"\",\"type\":\"session\"}\n";
    AUTO(buf) want = { 0 };
    buf_puts(&want, head);
    buf_puts(&want, "{\"ts_ns\":\"1700000001500000000\",\"t_ms\":1500,\"session\":\"\","
                    "\"type\":\"text\",\"role\":\"user\",\"text\":\"go\\non\"}\n");
    assert_event("events", PLAY_INSTRUCTION, "go\non", buf_str(&want));
    buf_clear(&want);
    buf_puts(&want, head);
    buf_puts(&want, "{\"ts_ns\":\"1700000001500000000\",\"t_ms\":1500,\"session\":\"\","
                    "\"type\":\"other\",\"name\":\"snapshot\",\"data\":{\"id\":7,"
                    "\"label\":\"a \\\"b\\\"\",\"anchor_byte\":0}}\n");
    assert_event("events", PLAY_SNAPSHOT, "a \"b\"", buf_str(&want));
}

static void
unknown_formats_are_not_found(void **state)
{
    (void)state;
    assert_null(play_format_find("xml"));
    assert_null(play_format_find(""));
    assert_ptr_equal(play_format_find("csv"), &play_format_csv);
}

/* Numbers that come twice, or out of order, and the largest one. */
static void
every_event_of_a_page_has_an_id_of_its_own(void **state)
{
    (void)state;
    static const uint64_t ids[] = { 5, 5, 3, UINT64_MAX, UINT64_MAX, 6 };
    static const char *const names[] = {
        "\"snapshot-5\"",
        "\"snapshot-5-2\"",
        "\"snapshot-3-3\"",
        "\"snapshot-18446744073709551615-4\"",
        "\"snapshot-18446744073709551615-5\"",
        "\"snapshot-6\"",
    };
    struct tape_maker t;
    AUTO(buf) out = { 0 };
    tape_maker_init(&t, 20, 4);
    for (size_t i = 0; i < sizeof(ids) / sizeof(ids[0]); i++)
        tape_maker_snapshot(&t, ids[i], "");
    tape_maker_load(&t, NULL);
    assert_int_equal(tape_maker_report(&t, NULL, "html", NULL, &out), 0);
    for (size_t i = 0; i < sizeof(ids) / sizeof(ids[0]); i++) {
        AUTO(buf) id = { 0 };
        buf_printf(&id, " id=%s ", names[i]);
        const char *found = strstr(buf_str(&out), buf_str(&id));
        assert_non_null(found);
        assert_null(strstr(found + 1, buf_str(&id)));
        buf_clear(&id);
        buf_printf(&id, "<li><a href=\"#%s>", names[i] + 1);
        assert_non_null(strstr(buf_str(&out), buf_str(&id)));
    }
    tape_maker_release(&t);
}

int
main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(branch_points_are_laid_out_to_the_byte),
        cmocka_unit_test(labels_and_instructions_are_cleaned),
        cmocka_unit_test(csv_fields_are_quoted_where_they_must_be),
        cmocka_unit_test(csv_formulas_are_texts),
        cmocka_unit_test(md_cells_hold_nothing_but_text),
        cmocka_unit_test(md_fences_what_a_table_would_mangle),
        cmocka_unit_test(md_events_have_badges),
        cmocka_unit_test(md_goes_on_with_a_long_stretch),
        cmocka_unit_test(ansi_has_colours_and_links_and_nothing_else),
        cmocka_unit_test(rules_are_of_one_line),
        cmocka_unit_test(events_are_one_object_a_line),
        cmocka_unit_test(unknown_formats_are_not_found),
        cmocka_unit_test(every_event_of_a_page_has_an_id_of_its_own),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
