/* SPDX-License-Identifier: MIT */
/* report_html_test.c -- a page to the byte where it matters, and bytes made to get out of
 * its text. What browsers make of it: html_test.py. */
#include <string.h>

#include "base/utf8.h"
#include "play/html_priv.h"
#include "support/rng.h"
#include "support/tape_maker.h"
#include "support/text_view.h"

static void
assert_cells(const char *text, const char *want)
{
    AUTO(buf) out = { 0 };
    play_html_cells(&out, text_view(text));
    assert_string_equal(buf_str(&out), want);
}

/* The first line of a session that is this, as the page has it. */
static void
assert_line(const char *stream, const char *want)
{
    struct tape_maker t;
    AUTO(buf) out = { 0 };
    tape_maker_init(&t, 40, 4);
    tape_maker_data(&t, stream);
    tape_maker_load(&t, NULL);
    assert_int_equal(tape_maker_report(&t, NULL, "html", NULL, &out), 0);
    const char *line = strstr(buf_str(&out), "<pre>\n");
    assert_non_null(line);
    line += strlen("<pre>\n");
    AUTO(buf) have = { 0 };
    buf_append(&have, line, strcspn(line, "\n"));
    assert_string_equal(buf_str(&have), want);
    tape_maker_release(&t);
}

/* -- text -- */

static void
what_could_be_markup_is_escaped(void **state)
{
    (void)state;
    assert_cells("<b a=\"x\" b='y'>&amp;",
                 "&lt;b a=&quot;x&quot; b=&#39;y&#39;&gt;&amp;amp;");
    assert_line("<script>x</script>\r\n", "&lt;script&gt;x&lt;/script&gt;");
}

/* Only our own tags, only entities that we know, only text. */
static void
assert_inert(const char *p)
{
    static const char *const known[] = { "<i class=w>", "<i class=n>", "<i class=e>",
                                         "</i>",        "&amp;",       "&lt;",
                                         "&gt;",        "&quot;",      "&#39;" };
    assert_true(utf8_is_text(p, strlen(p)));
    while (*(p += strcspn(p, "<>&\"'"))) {
        size_t i = 0;
        while (strncmp(p, known[i], strlen(known[i])) != 0)
            assert_true(++i < sizeof(known) / sizeof(known[0]));
        p += strlen(known[i]);
    }
}

static void
no_bytes_get_out_of_the_text(void **state)
{
    (void)state;
    static const char pieces[] =
        "<>&\"'/=\x1b\x00\x7f\x9b\xc2\xe2\x80\xae\xf0\x9f\x98\xff!-x ";
    uint32_t rng = rng_seed(7);
    for (int round = 0; round < 20000; round++) {
        uint8_t bytes[24];
        size_t n = rng_below(&rng, sizeof(bytes));
        for (size_t i = 0; i < n; i++)
            bytes[i] = (uint8_t)(rng_below(&rng, 2)
                                     ? rng_next(&rng)
                                     : (uint8_t)
                                           pieces[rng_below(&rng, sizeof(pieces) - 1)]);
        AUTO(buf) text = { 0 }, cells = { 0 };
        play_html_text(&text, (struct view){ bytes, n });
        play_html_cells(&cells, (struct view){ bytes, n });
        assert_inert(buf_str(&text));
        assert_inert(buf_str(&cells));
        assert_null(memchr(cells.p ? cells.p : bytes, 0x1b, cells.n));
        assert_null(strstr(buf_str(&cells), "\xe2\x80\xae")); /* U+202E */
    }
}

static void
what_fonts_draw_at_any_width_has_a_box(void **state)
{
    (void)state;
    assert_cells("a漢字b", "a<i class=w>漢字</i>b");
    assert_cells("漢😀字", "<i class=w>漢</i><i class=e>😀</i><i class=w>字</i>");
    assert_cells("✓✗", "<i class=n>✓</i><i class=n>✗</i>");
    assert_cells("👩\u200d🚀", "<i class=e>👩\u200d🚀</i>");
    assert_cells("─│é", "─│é");
}

/* -- looks -- */

static void
looks_are_classes_or_numbers(void **state)
{
    (void)state;
    assert_line("\x1b[1;31mx\x1b[m y", "<i class=\"B f1\">x</i> y");
    assert_line("\x1b[97;44mx", "<i class=\"b4 g15\">x</i>");
    assert_line("\x1b[7mx", "<i class=\"i\">x</i>");
    assert_line("\x1b[4:3;9mx", "<i class=\"S U U3\">x</i>");
    assert_line("\x1b[38;2;1;2;3;48;5;16mx",
                "<i style=\"color:#010203;background:#000000\">x</i>");
    assert_line("\x1b[38;2;255;0;0mx",
                "<i class=\"c\" style=\"--l:#df0000;--d:#ff0000\">x</i>");
    assert_line("\x1b[5mx\x1b[1\"qy", "xy"); /* blinking and protected are not seen */
}

static void
a_ground_behind_the_text_is_drawn_and_no_text(void **state)
{
    (void)state;
    assert_line("\x1b[44mx\x1b[K", "<i class=\"b4\">x<i class=p32></i><i class=p4></i>"
                                   "<i class=p2></i><i class=p1></i></i>");
    assert_line("a\x1b[11G\x1b[41m  \x1b[m",
                "a<i class=p8></i><i class=p1></i><i class=\"b1\"><i class=p2></i></i>");
    assert_line("a\x1b[11G\x1b[1m  \x1b[m", "a");
}

static void
links_go_to_the_web_only(void **state)
{
    (void)state;
    assert_line("\x1b]8;;https://a/?b&c\x1b\\x\x1b[1my\x1b[m\x1b]8;;\x1b\\z",
                "<a href=\"https://a/?b&amp;c\">x<i class=\"B\">y</i></a>z");
    assert_line("\x1b]8;;javascript:x\x1b\\x", "x");
    assert_line("\x1b]8;;http://\x1b\\x", "x");
}

/* -- lines -- */

static void
rows_of_one_line_are_one_text(void **state)
{
    (void)state;
    assert_line("0123456789012345678901234567890123456789and on\r\nx",
                "0123456789012345678901234567890123456789<i class=r></i>and on");
}

/* What stands alone is given to the format by hand. */
static void
put_line(struct play_out *o, uint64_t index, const char *text, bool is_wrapped)
{
    struct term_line line = { .is_wrapped = is_wrapped };
    struct play_item item = {
        .kind = PLAY_ITEM_LINE, .index = index, .text = text_view(text), .line = &line
    };
    o->lines++;
    play_format_html.item(o, &item);
}

static void
rows_that_do_not_follow_each_other_are_not_joined(void **state)
{
    (void)state;
    AUTO(buf) out = { 0 };
    struct play_about about = { .cols = 5 };
    struct play_out o = { .out = &out, .about = &about };
    put_line(&o, 4, "later", true);
    put_line(&o, 1, "earlier", true);
    put_line(&o, 2, "end", false);
    assert_string_equal(buf_str(&out), "<pre>\nlater\nearlier<i class=r></i>end");
}

static void
long_stretches_are_cut_where_a_line_ends(void **state)
{
    (void)state;
    AUTO(buf) out = { 0 };
    struct play_about about = { .cols = 5 };
    struct play_out o = { .out = &out, .about = &about };
    for (uint64_t i = 0; i < 1000; i++)
        put_line(&o, i, "x", i >= 240 && i < 260);
    size_t cuts = 0;
    for (const char *p = buf_str(&out); (p = strstr(p, "</pre>")); p++)
        cuts++;
    assert_int_equal(cuts, 3);
    assert_null(strstr(buf_str(&out), "<i class=r></i>\n"));
}

/* -- events -- */

static void
put_event(struct play_out *o, struct play_events *events, enum play_event_kind kind,
          uint64_t id)
{
    struct play_event event = { .kind = kind, .id = id };
    struct play_item item = { .kind = kind == PLAY_SNAPSHOT ? PLAY_ITEM_SNAPSHOT
                                                            : PLAY_ITEM_INSTRUCTION,
                              .event = &event };
    assert_int_equal(play_events_add(events, &event), 0);
    play_format_html.item(o, &item);
}

/* The ids or references in a page, one a line. */
static void
collect(struct buf *page, const char *before, struct buf *ret)
{
    for (const char *p = buf_str(page); (p = strstr(p, before));) {
        p += strlen(before);
        buf_append(ret, p, strcspn(p, "\""));
        buf_puts(ret, "\n");
    }
}

static void
each_event_has_a_name_of_its_own_and_the_list_knows_it(void **state)
{
    (void)state;
    AUTO(buf) out = { 0 }, ids = { 0 }, list = { 0 }, links = { 0 };
    AUTO(play_events) events = { 0 };
    struct play_about about = { .events = &events };
    struct play_out o = { .out = &out, .about = &about };
    put_event(&o, &events, PLAY_SNAPSHOT, 1);
    put_event(&o, &events, PLAY_INSTRUCTION, 1);
    put_event(&o, &events, PLAY_SNAPSHOT, 1);
    put_event(&o, &events, PLAY_SNAPSHOT, 9);
    put_event(&o, &events, PLAY_SNAPSHOT, 3);
    put_event(&o, &events, PLAY_SNAPSHOT, UINT64_MAX);
    put_event(&o, &events, PLAY_SNAPSHOT, UINT64_MAX);
    collect(&out, " id=\"", &ids);
    assert_string_equal(buf_str(&ids),
                        "snapshot-1\ninstruction-1\nsnapshot-1-3\nsnapshot-9\n"
                        "snapshot-3-5\nsnapshot-18446744073709551615-6\n"
                        "snapshot-18446744073709551615-7\n");
    struct play_out again = { .out = &list, .about = &about };
    play_format_html.begin(&again);
    collect(&list, "<a href=\"#", &links);
    assert_string_equal(buf_str(&links), buf_str(&ids));
}

int
main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(what_could_be_markup_is_escaped),
        cmocka_unit_test(no_bytes_get_out_of_the_text),
        cmocka_unit_test(what_fonts_draw_at_any_width_has_a_box),
        cmocka_unit_test(looks_are_classes_or_numbers),
        cmocka_unit_test(a_ground_behind_the_text_is_drawn_and_no_text),
        cmocka_unit_test(links_go_to_the_web_only),
        cmocka_unit_test(rows_of_one_line_are_one_text),
        cmocka_unit_test(rows_that_do_not_follow_each_other_are_not_joined),
        cmocka_unit_test(long_stretches_are_cut_where_a_line_ends),
        cmocka_unit_test(each_event_has_a_name_of_its_own_and_the_list_knows_it),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
