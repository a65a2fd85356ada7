/* SPDX-License-Identifier: MIT */
/*
 * report_mask_test.c -- no secret of a session gets into a document, wherever lines end,
 * and nothing else of it changes.
 */
#include <string.h>

#include "support/agent_stream.h"
#include "support/measure.h"
#include "support/tape_maker.h"

/* A token in two halves of 13; none stands in the source as a whole. */
#define FIRST \
    "glpat-"  \
    "Ab3dEf6"
#define SECOND "hIj9lMn2pQr5t"
#define STARS  "*************"

static struct redact *redact;

static int
open_rules(void **state)
{
    (void)state;
    struct err err;
    return redact_open(&redact, NULL, &err);
}

static int
close_rules(void **state)
{
    (void)state;
    redact_close(redact);
    return 0;
}

static void
report_by(enum play_order order, struct tape_maker *t, const struct play_events *events,
          const char *format, bool is_masked, struct buf *out)
{
    struct play_about about = { .title = "title " FIRST SECOND, .is_masked = true };
    struct play_report_options opt = { .order = order,
                                       .has_snapshots = true,
                                       .has_instructions = true,
                                       .redact = is_masked ? redact : NULL,
                                       .about = &about };
    assert_int_equal(tape_maker_report(t, events, format, &opt, out), 0);
}

static void
report(struct tape_maker *t, const struct play_events *events, const char *format,
       bool is_masked, struct buf *out)
{
    report_by(PLAY_VISUAL, t, events, format, is_masked, out);
}

/* What comes of the bytes on a terminal of 20 columns. */
static void
assert_masked(const char *data, const char *format, const char *want)
{
    struct tape_maker t;
    AUTO(buf) out = { 0 };
    tape_maker_init(&t, 20, 6);
    tape_maker_data(&t, data);
    tape_maker_load(&t, NULL);
    report(&t, NULL, format, true, &out);
    assert_string_equal(buf_str(&out), want);
    tape_maker_release(&t);
}

static void
a_secret_is_masked_wherever_lines_end(void **state)
{
    (void)state;
    struct tape_maker t;
    AUTO(buf) out = { 0 };
    tape_maker_init(&t, 80, 6);
    tape_maker_data(&t, "a " FIRST SECOND " b\r\nc");
    tape_maker_load(&t, NULL);
    report(&t, NULL, "txt", true, &out);
    assert_string_equal(buf_str(&out), "a " STARS STARS " b\nc\n");
    tape_maker_release(&t);

    /* The terminal has wrapped it, or the program where the line is full. */
    assert_masked("seven  " FIRST SECOND " b\r\nc", "txt",
                  "seven  " STARS "\n" STARS " b\nc\n");
    assert_masked("seven  " FIRST "\r\n" SECOND " b\r\nc", "txt",
                  "seven  " STARS "\n" STARS " b\nc\n");
    assert_masked("seven  " FIRST SECOND, "txt", "seven  " STARS "\n" STARS "\n");
}

static void
blanks_at_a_wrap_keep_words_apart(void **state)
{
    (void)state;
    /* Half a token, blanks up to the edge, a word on the next row: no token. */
    assert_masked("x " FIRST "     " SECOND, "txt", "x " FIRST "\n" SECOND "\n");
}

static void
masks_keep_columns(void **state)
{
    (void)state;
    assert_masked("password=\"h\xc3\xbc\xe6\xbc\xa2nter2x\" end", "txt",
                  "password=\"**\xef\xbc\x8a******\n\" end\n");
}

static void
spans_stay_where_they_are(void **state)
{
    (void)state;
    struct tape_maker t;
    AUTO(buf) out = { 0 };
    tape_maker_init(&t, 80, 6);
    tape_maker_data(&t, "\xc3\xa4 password = \"h\xc3\xbc\x1b[31mnter\xc3\xb6x\x1b[m\" "
                        "\x1b[34m\xc3\xa4lue\x1b[m end");
    tape_maker_load(&t, NULL);
    report(&t, NULL, "ansi", true, &out);
    assert_string_equal(buf_str(&out), "\xc3\xa4 password = \"**\x1b[0;31m******\x1b[m\" "
                                       "\x1b[0;34m\xc3\xa4lue\x1b[m end\n");
    tape_maker_release(&t);
}

static void
links_are_masked(void **state)
{
    (void)state;
    struct tape_maker t;
    tape_maker_init(&t, 80, 6);
    tape_maker_data(&t, "\x1b]8;;http://x/?t=" FIRST SECOND "\aone\x1b]8;;\a "
                        "\x1b]8;;http://y/\atwo\x1b]8;;\a "
                        "\x1b]8;;http://x/?t=" FIRST SECOND "\athree\x1b]8;;\a");
    tape_maker_load(&t, NULL);
#define MASKED "\x1b[0m\x1b]8;;http://x/?t=[REDACTED:gitlab-pat]\x1b\\"
#define ENDED  "\x1b]8;;\x1b\\\x1b[m"
    for (int by = PLAY_VISUAL; by <= PLAY_POSITION; by++) {
        AUTO(buf) out = { 0 };
        report_by((enum play_order)by, &t, NULL, "ansi", true, &out);
        assert_string_equal(buf_str(&out),
                            MASKED "one" ENDED " \x1b[0m\x1b]8;;http://y/\x1b\\two" ENDED
                                   " " MASKED "three" ENDED "\n");
    }
    tape_maker_release(&t);
}

static void
texts_that_people_gave_are_masked(void **state)
{
    (void)state;
    struct tape_maker t;
    struct play_events events = { 0 };
    const char *text = "use\n" FIRST SECOND "\nnow";
    struct play_event event = { .kind = PLAY_INSTRUCTION,
                                .id = 1,
                                .text = { (const uint8_t *)text, strlen(text) } };
    AUTO(buf) out = { 0 };
    tape_maker_init(&t, 80, 6);
    tape_maker_load(&t, NULL);
    assert_int_equal(play_events_add(&events, &event), 0);
    event.kind = PLAY_SNAPSHOT;
    assert_int_equal(play_events_add(&events, &event), 0);
    report(&t, &events, "md", true, &out);
    assert_string_equal(
        buf_str(&out),
        "# title \\[REDACTED:gitlab-pat\\]\n\n"
        "| | position | time | text |\n|---|---:|---:|---|\n"
        "| \xe2\x9c\x8f\xef\xb8\x8f **instruction 1** | 0 |  | "
        "use<br>\\[REDACTED:gitlab-pat\\]<br>now |\n"
        "| \xf0\x9f\x93\xb8 **snapshot 1** | 0 |  | use \\[REDACTED:gitlab-pat\\] now "
        "|\n");
    play_events_release(&events);
    tape_maker_release(&t);
}

/* The second row of a wrapped line was painted again after the alternate screen was
 * shown: its lines come between, and the token is still one. */
static void
a_secret_is_masked_around_lines_of_the_other_screen(void **state)
{
    (void)state;
    struct tape_maker t;
    AUTO(buf) out = { 0 };
    tape_maker_init(&t, 20, 6);
    tape_maker_data(&t, "seven  " FIRST SECOND);
    tape_maker_data(&t, "\x1b[?1049h\x1b[Hother\x1b[?1049l\x1b[2;13Ht!\r\nend");
    tape_maker_load(&t, NULL);
    report(&t, NULL, "txt", true, &out);
    assert_string_equal(buf_str(&out), "seven  " STARS "\nother\n" STARS "!\nend\n");
    buf_clear(&out);
    report(&t, NULL, "txt", false, &out);
    assert_string_equal(buf_str(&out), "seven  " FIRST "\nother\n" SECOND "!\nend\n");
    tape_maker_release(&t);
}

static void
without_secrets_nothing_changes(void **state)
{
    (void)state;
    static const char *const formats[] = { "txt", "ansi", "json", "csv", "ruled" };
    struct tape_maker t;
    tape_maker_init(&t, 97, 30);
    for (uint32_t i = 0; i < 8; i++) {
        AUTO(buf) data = { 0 };
        agent_stream(&data, 60000, i + 1);
        tape_maker_data(&t, buf_str(&data));
        tape_maker_snapshot(&t, i, "label");
        tape_maker_data(
            &t, "\x1b[?1049h\x1b[Hin the \xe6\xbc\xa2 editor\r\n\r\nx\x1b[?1049l");
    }
    tape_maker_load(&t, NULL);
    for (size_t i = 0; i < sizeof(formats) / sizeof(formats[0]); i++) {
        AUTO(buf) plain = { 0 };
        AUTO(buf) masked = { 0 };
        report(&t, NULL, formats[i], false, &plain);
        report(&t, NULL, formats[i], true, &masked);
        assert_true(plain.n > 30000);
        assert_string_equal(buf_str(&plain), buf_str(&masked));
    }
    tape_maker_release(&t);
}

/* -- memory -- */

static size_t heap_at_first; /* a format has no room for a pointer */

static void
note_heap(struct play_out *o, const struct play_item *item)
{
    (void)item;
    if (o->items == 1)
        heap_at_first = measure_heap_bytes();
}

static void
nothing(struct play_out *o)
{
    (void)o;
}

static int
ignore(void *ctx, struct view bytes)
{
    (void)ctx;
    (void)bytes;
    return 0;
}

/* A row of the primary screen waits for what follows it, which comes only behind more
 * lines of the alternate screen than may wait. */
static void
lines_do_not_wait_for_ever(void **state)
{
    (void)state;
    static const struct play_format format = {
        .name = "heap", .begin = nothing, .item = note_heap, .end = nothing
    };
    struct tape_maker t;
    struct err err;
    struct play_about about = { .is_masked = true };
    struct play_report_options opt = { .redact = redact, .about = &about };
    tape_maker_init(&t, 80, 6);
    tape_maker_data(&t, "token=\"" FIRST);
    tape_maker_data(&t, "\x1b[?1049h");
    for (int i = 0; i < 90000; i++)
        tape_maker_data(&t, "a line of the alternate screen that scrolls off it\r\n");
    tape_maker_load(&t, NULL);
    size_t before = measure_heap_bytes();
    assert_int_equal(play_report(&t.loaded, NULL, &format, &opt, ignore, NULL, &err), 0);
    assert_in_range(heap_at_first - before, 1, 8 << 20);
    tape_maker_release(&t);
}

/* Where all lines are kept, so is a masked link, but not once for each span. */
static void
a_link_is_masked_once_for_many_spans(void **state)
{
    (void)state;
    enum { ROWS = 200, COLS = 80 };
    static const struct play_format format = { .name = "heap",
                                               .begin = nothing,
                                               .item = note_heap,
                                               .end = nothing,
                                               .wants_spans = true };
    AUTO(buf) data = { 0 };
    struct tape_maker t;
    struct err err;
    struct play_about about = { .is_masked = true };
    struct play_report_options opt = { .order = PLAY_POSITION,
                                       .redact = redact,
                                       .about = &about };
    buf_puts(&data, "\x1b]8;;http://x/?t=" FIRST SECOND "&");
    for (int i = 0; i < 1500; i++)
        buf_puts(&data, "-");
    buf_puts(&data, "\a");
    for (int i = 0; i < ROWS * COLS; i++)
        buf_printf(&data, "\x1b[3%dm%c", i % 8, 'a' + i % 26);
    tape_maker_init(&t, COLS, 6);
    tape_maker_data(&t, buf_str(&data));
    tape_maker_load(&t, NULL);
    size_t before = measure_heap_bytes();
    assert_int_equal(play_report(&t.loaded, NULL, &format, &opt, ignore, NULL, &err), 0);
    assert_in_range(heap_at_first - before, 1, 8 << 20);
    tape_maker_release(&t);
}

/* One line of the alternate screen waits, and holds up more lines than may wait: that is
 * no reason to look away from a token that is half there. */
static void
what_waits_elsewhere_does_not_uncover_a_secret(void **state)
{
    (void)state;
    enum { TOKENS = 40000 };
    for (int first_rows = 0; first_rows < 2; first_rows++) {
        AUTO(buf) data = { 0 };
        AUTO(buf) out = { 0 };
        struct tape_maker t;
        tape_maker_init(&t, 20, 6);
        tape_maker_data(&t, "\x1b[?1049h\x1b[Hother\x1b[?1049l");
        buf_puts(&data, first_rows ? "first\r\n" : "");
        for (int i = 0; i < TOKENS; i++)
            buf_puts(&data, "seven  " FIRST SECOND "\r\n");
        tape_maker_data(&t, buf_str(&data));
        tape_maker_load(&t, NULL);
        report(&t, NULL, "txt", true, &out);
        assert_null(strstr(buf_str(&out), FIRST));
        assert_null(strstr(buf_str(&out), SECOND));
        tape_maker_release(&t);
    }
}

static void
resize(struct tape_maker *t, uint16_t cols)
{
    tape_maker_put(t,
                   (struct tape_record){ .tag = TAPE_RESIZE, .cols = cols, .rows = 6 });
}

/* Written on an alternate screen of 20 columns; then the terminal has others. */
static void
assert_other_screen(uint16_t cols, const char *data, const char *want)
{
    struct tape_maker t;
    AUTO(buf) out = { 0 };
    tape_maker_init(&t, 20, 6);
    tape_maker_data(&t, "\x1b[?1049h\x1b[H");
    tape_maker_data(&t, data);
    tape_maker_data(&t, "\x1b[?1049l");
    resize(&t, cols);
    tape_maker_data(&t, "end");
    tape_maker_load(&t, NULL);
    report(&t, NULL, "txt", true, &out);
    assert_string_equal(buf_str(&out), want);
    tape_maker_release(&t);
}

/* Lines of the alternate screen keep the width that they had, whoever broke them. */
static void
a_new_width_does_not_uncover_the_other_screen(void **state)
{
    (void)state;
    static const uint16_t widths[] = { 10, 15, 20, 33, 60, 200 };
    for (size_t i = 0; i < sizeof(widths) / sizeof(widths[0]); i++) {
        const char *want = "seven  " STARS "\n" STARS " b\nend\n";
        assert_other_screen(widths[i], "seven  " FIRST SECOND " b", want);
        assert_other_screen(widths[i], "seven  " FIRST "\r\n" SECOND " b", want);
        /* The first row is a value by itself: nothing but its width tells of more. */
        assert_other_screen(widths[i], "password=hunt2xQ9zab\r\ntail7xyzw end!",
                            "password=***********\n********* end!\nend\n");
    }
    /* What ends before the edge has ended. */
    assert_other_screen(60, "password=hunter2x\r\nb\r\n--------------------",
                        "password=********\nb\n--------------------\nend\n");
}

/* It gets another width while the alternate screen is shown, and again behind it. */
static void
each_line_of_the_other_screen_has_a_width_of_its_own(void **state)
{
    (void)state;
    struct tape_maker t;
    AUTO(buf) out = { 0 };
    tape_maker_init(&t, 20, 6);
    tape_maker_data(&t, "\x1b[?1049h\x1b[Hpassword=hunt2xQ9zab\r\ntail7xyzw end!\r\n");
    resize(&t, 30);
    tape_maker_data(&t, "a longer password=hunt2xQ9zabc\r\ntail7xyzw end!\x1b[?1049l");
    resize(&t, 70);
    tape_maker_data(&t, "end");
    tape_maker_load(&t, NULL);
    report(&t, NULL, "txt", true, &out);
    assert_string_equal(buf_str(&out),
                        "password=***********\n********* end!\n"
                        "a longer password=************\n********* end!\nend\n");
    tape_maker_release(&t);
}

int
main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_secret_is_masked_wherever_lines_end),
        cmocka_unit_test(blanks_at_a_wrap_keep_words_apart),
        cmocka_unit_test(masks_keep_columns),
        cmocka_unit_test(spans_stay_where_they_are),
        cmocka_unit_test(links_are_masked),
        cmocka_unit_test(texts_that_people_gave_are_masked),
        cmocka_unit_test(a_secret_is_masked_around_lines_of_the_other_screen),
        cmocka_unit_test(without_secrets_nothing_changes),
        cmocka_unit_test(lines_do_not_wait_for_ever),
        cmocka_unit_test(a_link_is_masked_once_for_many_spans),
        cmocka_unit_test(what_waits_elsewhere_does_not_uncover_a_secret),
        cmocka_unit_test(a_new_width_does_not_uncover_the_other_screen),
        cmocka_unit_test(each_line_of_the_other_screen_has_a_width_of_its_own),
    };
    return cmocka_run_group_tests(tests, open_rules, close_rules);
}
