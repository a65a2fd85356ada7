/* SPDX-License-Identifier: MIT */
/*
 * report_test.c -- sessions as documents: what is loaded of a recording, where events
 * stand among the lines, times, notices.
 */
#include <errno.h>
#include <string.h>

#include "play/merge_priv.h"
#include "support/tape_maker.h"

static void
assert_report(struct tape_maker *t, const struct play_events *events, const char *format,
              const struct play_report_options *opt, const char *want)
{
    AUTO(buf) out = { 0 };
    assert_int_equal(tape_maker_report(t, events, format, opt, &out), 0);
    assert_string_equal(buf_str(&out), want);
}

/* -- the rule -- */

/* Lines by their stamps and events by their anchors, in letters: a … for lines, 1 … for
 * events, G for gaps. */
static void
assert_merge(const uint64_t *stamps, size_t n_lines, const uint64_t *anchors,
             size_t n_events, const char *want)
{
    struct play_events events = { 0 };
    char got[64];
    size_t n = 0, i;
    for (i = 0; i < n_events; i++)
        assert_int_equal(
            play_events_add(
                &events, &(struct play_event){ .id = i + 1, .anchor_byte = anchors[i] }),
            0);
    struct play_merge m = { .events = &events };
    for (size_t line = 0; line <= n_lines; line++) {
        while (play_merge_next(&m, line < n_lines ? &stamps[line] : NULL, &i))
            got[n++] = (char)('1' + i);
        if (line < n_lines)
            got[n++] = (char)('a' + line);
    }
    got[n] = 0;
    play_events_release(&events);
    assert_string_equal(got, want);
}

#define MERGE(stamps, anchors, want)                                             \
    assert_merge((const uint64_t[])stamps, sizeof((const uint64_t[])stamps) / 8, \
                 (const uint64_t[])anchors, sizeof((const uint64_t[])anchors) / 8, want)
#define LIST(...)   \
    {               \
        __VA_ARGS__ \
    }

static void
events_stand_before_the_first_line_that_is_past_them(void **state)
{
    (void)state;
    MERGE(LIST(10, 20, 30), LIST(15), "a1bc");
    MERGE(LIST(10, 20, 30), LIST(20), "ab1c"); /* a line comes first at the same byte */
    MERGE(LIST(10, 20, 30), LIST(19), "a1bc");
    MERGE(LIST(10, 20, 30), LIST(0), "1abc"); /* before the first … */
    MERGE(LIST(10, 20, 30), LIST(30), "abc1");
    MERGE(LIST(10, 20, 30), LIST(99), "abc1");      /* … and behind the last */
    MERGE(LIST(10, 20), LIST(12, 12, 12), "a123b"); /* equal anchors keep their order */
    MERGE(LIST(10, 20), LIST(UINT64_MAX), "ab1");
}

static void
lines_never_move_for_an_event(void **state)
{
    (void)state;
    MERGE(LIST(10, 50, 20, 60), LIST(30), "a1bcd"); /* b is past it, c is not */
    MERGE(LIST(10, 50, 20, 60), LIST(15, 30, 55), "a12bc3d");
    MERGE(LIST(50, 10, 20), LIST(5, 30), "12abc");
    MERGE(LIST(0, 0, 10), LIST(0, 5), "ab12c"); /* never written, so never past */
    MERGE(LIST(20, 20, 20), LIST(19, 20), "1abc2");
}

static void
an_event_comes_before_a_gap_at_its_byte(void **state)
{
    (void)state;
    struct play_events events = { 0 };
    const struct play_gap gaps[] = { { .byte_off = 10 }, { .byte_off = 20 } };
    assert_int_equal(play_events_add(&events, &(struct play_event){ .anchor_byte = 10 }),
                     0);
    assert_int_equal(play_events_add(&events, &(struct play_event){ .anchor_byte = 15 }),
                     0);
    struct play_merge m = { .events = &events, .gaps = gaps, .n_gaps = 2 };
    uint64_t line = 11;
    size_t i;
    assert_int_equal(play_merge_next(&m, &line, &i), PLAY_MERGE_EVENT);
    assert_int_equal(play_merge_next(&m, &line, &i), PLAY_MERGE_GAP);
    assert_int_equal(i, 0);
    assert_int_equal(play_merge_next(&m, &line, &i), PLAY_MERGE_NONE);
    assert_int_equal(play_merge_next(&m, NULL, &i), PLAY_MERGE_EVENT);
    assert_int_equal(i, 1);
    assert_int_equal(play_merge_next(&m, NULL, &i), PLAY_MERGE_GAP);
    assert_int_equal(play_merge_next(&m, NULL, &i), PLAY_MERGE_NONE);
    play_events_release(&events);
}

/* -- sessions -- */

static void
snapshots_land_between_the_right_lines(void **state)
{
    (void)state;
    struct tape_maker t;
    tape_maker_init(&t, 20, 3);
    tape_maker_snapshot(&t, 1, "first");
    tape_maker_data(&t, "one\r\nspin 1");
    tape_maker_snapshot(&t, 2, "");
    tape_maker_data(&t, "\rspin 2");
    tape_maker_snapshot(&t, 3, "spun");
    tape_maker_data(&t, "\r\nthree\r\nfour\r\nfive\r\n");
    tape_maker_snapshot(&t, 4, "end");
    tape_maker_load(&t, NULL);
    assert_report(&t, NULL, "ruled", NULL,
                  "──── snapshot 1: first ────\n"
                  "one\n"
                  "──── snapshot 2 ────\n"
                  "spin 2\n"
                  "──── snapshot 3: spun ────\n"
                  "three\nfour\nfive\n"
                  "──── snapshot 4: end ────\n");
    tape_maker_release(&t);
}

/* A status line at the top that is written last. */
static void
fill_with_late_top(struct tape_maker *t)
{
    tape_maker_init(t, 20, 4);
    tape_maker_data(t, "\r\nb\r\n");
    tape_maker_snapshot(t, 1, "");
    tape_maker_data(t, "c\x1b[1;1Htop\x1b[4;1H");
    tape_maker_snapshot(t, 2, "");
    tape_maker_data(t, "d");
    tape_maker_load(t, NULL);
}

static void
a_later_row_with_an_earlier_stamp_stays_below(void **state)
{
    (void)state;
    struct tape_maker t;
    fill_with_late_top(&t);
    assert_report(&t, NULL, "ruled", NULL,
                  "──── snapshot 1 ────\ntop\nb\nc\n──── snapshot 2 ────\nd\n");
    tape_maker_release(&t);
}

static void
by_position_everything_is_sorted(void **state)
{
    (void)state;
    struct tape_maker t;
    struct play_report_options opt = { .order = PLAY_POSITION, .has_snapshots = true };
    fill_with_late_top(&t);
    assert_report(&t, NULL, "ruled", &opt,
                  "b\n──── snapshot 1 ────\nc\ntop\n──── snapshot 2 ────\nd\n");
    assert_report(&t, NULL, "csv", &opt,
                  "kind,index_or_id,position,ts_ns,text\r\n"
                  "line,1,3,,b\r\n"
                  "snapshot,1,5,1700000000002000000,\r\n"
                  "line,2,6,,c\r\n"
                  "line,0,15,,top\r\n"
                  "snapshot,2,21,1700000000004000000,\r\n"
                  "line,3,22,,d\r\n");
    tape_maker_release(&t);
}

static void
lines_at_the_same_position_keep_their_order(void **state)
{
    (void)state;
    struct tape_maker t;
    struct play_report_options opt = { .order = PLAY_POSITION };
    tape_maker_init(&t, 20, 4);
    tape_maker_data(&t, "\x1b[4;1Hx");
    tape_maker_load(&t, NULL);
    assert_report(&t, NULL, "csv", &opt,
                  "kind,index_or_id,position,ts_ns,text\r\n"
                  "line,0,0,,\r\nline,1,0,,\r\nline,2,0,,\r\nline,3,7,,x\r\n");
    tape_maker_release(&t);
}

static void
lines_of_the_alternate_screen_are_marked(void **state)
{
    (void)state;
    struct tape_maker t;
    tape_maker_init(&t, 20, 4);
    tape_maker_data(&t, "before\r\n\x1b[?1049h\x1b[Hinside");
    tape_maker_snapshot(&t, 1, "in");
    tape_maker_data(&t, "\x1b[?1049lafter");
    tape_maker_load(&t, NULL);
    assert_report(
        &t, NULL, "json", NULL,
        "[\n"
        "{\"kind\":\"line\",\"index\":0,\"last_write_byte\":6,\"text\":\"before\"},\n"
        "{\"kind\":\"line\",\"index\":1,\"last_write_byte\":25,\"text\":\"inside\","
        "\"screen\":\"alternate\"},\n"
        "{\"kind\":\"snapshot\",\"id\":1,\"anchor_byte\":25,"
        "\"ts_ns\":\"1700000000002000000\",\"t_ms\":2,\"label\":\"in\"},\n"
        "{\"kind\":\"line\",\"index\":2,\"last_write_byte\":38,\"text\":\"after\"}\n"
        "]\n");
    tape_maker_release(&t);
}

static void
instructions_and_snapshots_come_as_they_are_asked_for(void **state)
{
    (void)state;
    struct tape_maker t;
    struct play_events events = { 0 };
    tape_maker_init(&t, 20, 4);
    tape_maker_data(&t, "x\r\n");
    tape_maker_load(&t, NULL);
    const struct play_event instruction = { .kind = PLAY_INSTRUCTION,
                                            .id = 3,
                                            .anchor_byte = 0,
                                            .text = { (const uint8_t *)"do\nit", 5 },
                                            .snapshot_id = 9,
                                            .is_delivered = true };
    assert_int_equal(play_events_add(&events, &instruction), 0);
    assert_report(
        &t, &events, "json", NULL,
        "[\n{\"kind\":\"instruction\",\"id\":3,\"anchor_byte\":0,\"ts_ns\":null,"
        "\"t_ms\":null,\"text\":\"do\\nit\",\"snapshot_id\":9,"
        "\"delivered\":true},\n"
        "{\"kind\":\"line\",\"index\":0,\"last_write_byte\":1,\"text\":\"x\"}"
        "\n]\n");
    struct play_report_options opt = { .has_snapshots = true };
    assert_report(&t, &events, "ruled", &opt, "x\n");
    assert_report(&t, &events, "txt", NULL, "x\n"); /* lines alone */
    play_events_release(&events);
    tape_maker_release(&t);
}

static void
only_what_lies_behind_a_byte_is_shown_if_asked(void **state)
{
    (void)state;
    struct tape_maker t;
    tape_maker_init(&t, 20, 4);
    tape_maker_data(&t, "one\r\n");
    tape_maker_snapshot(&t, 1, "");
    tape_maker_data(&t, "two\r\n");
    tape_maker_snapshot(&t, 2, "");
    tape_maker_load(&t, NULL);
    struct play_report_options opt = { .has_snapshots = true, .from_byte = 8 };
    assert_report(&t, NULL, "ruled", &opt, "──── snapshot 2 ────\n");
    opt.from_byte = 5;
    assert_report(&t, NULL, "csv", &opt,
                  "kind,index_or_id,position,ts_ns,text\r\n"
                  "snapshot,1,5,1700000000002000000,\r\n"
                  "line,1,8,,two\r\n"
                  "snapshot,2,10,1700000000004000000,\r\n");
    tape_maker_release(&t);
}

/* -- times -- */

static void
times_are_those_of_the_record_with_the_last_byte(void **state)
{
    (void)state;
    struct tape_maker t;
    struct play_report_options opt = { .has_times = true };
    tape_maker_init(&t, 20, 4);
    t.ts_ns += UINT64_C(3600000000000);
    tape_maker_data(&t, "first ");
    tape_maker_data(&t, "line\r\n\r\nth");
    t.ts_ns += 61000000000;
    tape_maker_data(&t, "ird");
    tape_maker_data(&t, "\x1b[1;1HF");
    for (int is_loaded = 0; is_loaded < 2; is_loaded++) { /* with them, or read again */
        struct play_load_options load = { .has_times = is_loaded };
        opt.order = PLAY_VISUAL;
        tape_maker_load(&t, &load);
        assert_report(&t, NULL, "txt", &opt,
                      "1:01:01.004  First line\n"
                      "\n"
                      "1:01:01.003  third\n");
        assert_report(&t, NULL, "csv", &opt,
                      "kind,index_or_id,position,ts_ns,text\r\n"
                      "line,0,26,1700003661004000000,First line\r\n"
                      "line,1,0,,\r\n"
                      "line,2,19,1700003661003000000,third\r\n");
        opt.order = PLAY_POSITION;
        assert_report(&t, NULL, "txt", &opt,
                      "\n1:01:01.003  third\n1:01:01.004  First line\n");
    }
    tape_maker_release(&t);
}

static void
a_line_that_was_never_written_has_no_time(void **state)
{
    (void)state;
    struct tape_maker t;
    struct play_report_options opt = { .has_times = true };
    tape_maker_init(&t, 10, 4);
    tape_maker_data(&t, "\x1b[3;1Hx");
    tape_maker_load(&t, &(struct play_load_options){ .has_times = true });
    assert_report(&t, NULL, "json", &opt,
                  "[\n"
                  "{\"kind\":\"line\",\"index\":0,\"last_write_byte\":0,\"text\":\"\","
                  "\"ts_ns\":null,\"t_ms\":null},\n"
                  "{\"kind\":\"line\",\"index\":1,\"last_write_byte\":0,\"text\":\"\","
                  "\"ts_ns\":null,\"t_ms\":null},\n"
                  "{\"kind\":\"line\",\"index\":2,\"last_write_byte\":7,\"text\":\"x\","
                  "\"ts_ns\":\"1700000000001000000\",\"t_ms\":1}\n"
                  "]\n");
    tape_maker_release(&t);
}

/* -- what is missing -- */

static void
put_gap_mark(struct tape_maker *t, uint32_t bytes)
{
    tape_maker_put(
        t, (struct tape_record){ .tag = TAPE_MARK, .code = TAPE_MARK_GAP, .val = bytes });
}

static void
a_gap_ends_where_the_document_does(void **state)
{
    (void)state;
    struct tape_maker t;
    tape_maker_init(&t, 20, 4);
    tape_maker_data(&t, "one");
    put_gap_mark(&t, 10);
    t.byte_off += 10;
    tape_maker_data(&t, "two");
    tape_maker_load(&t, &(struct play_load_options){ .to_byte = 7 });
    assert_int_equal(t.loaded.total_bytes, 7);
    assert_report(&t, NULL, "txt", NULL, "one\n[ahr: 4 bytes were not recorded here]\n");
    tape_maker_release(&t);
}

static void
gaps_are_told_where_they_are(void **state)
{
    (void)state;
    struct tape_maker t;
    tape_maker_init(&t, 20, 9);
    tape_maker_data(&t, "one\r\n");
    put_gap_mark(&t, 100);
    t.byte_off += 100;
    tape_maker_data(&t, "two\r\n");
    t.byte_off += 7;
    tape_maker_data(&t, "three\r\n");
    put_gap_mark(&t, 3);
    t.byte_off += 5; /* more than it owns up to */
    tape_maker_data(&t, "four\r\n");
    put_gap_mark(&t, 4);
    tape_maker_load(&t, NULL);
    assert_int_equal(t.loaded.total_bytes, t.byte_off + 4);
    assert_report(&t, NULL, "txt", NULL,
                  "one\n"
                  "[ahr: 100 bytes were not recorded here]\n"
                  "two\n"
                  "[ahr: 7 bytes are missing here: the recording is damaged]\n"
                  "three\n"
                  "[ahr: 3 bytes were not recorded here]\n"
                  "[ahr: 2 bytes are missing here: the recording is damaged]\n"
                  "four\n"
                  "[ahr: 4 bytes were not recorded here]\n");
    assert_report(&t, NULL, "txt", &(struct play_report_options){ 0 },
                  "one\ntwo\nthree\nfour\n");
    tape_maker_release(&t);
}

static void
a_gap_that_is_too_large_to_be_counted_is_owned_up_to(void **state)
{
    (void)state;
    struct tape_maker t;
    tape_maker_init(&t, 20, 9);
    put_gap_mark(&t, UINT32_MAX);
    t.byte_off += UINT64_C(5000000000);
    tape_maker_data(&t, "x");
    tape_maker_load(&t, NULL);
    assert_report(&t, NULL, "csv", NULL,
                  "kind,index_or_id,position,ts_ns,text\r\n"
                  "notice,,0,,5000000000 bytes were not recorded here\r\n"
                  "line,0,5000000001,,x\r\n");
    tape_maker_release(&t);
}

static void
only_so_many_gaps_are_kept(void **state)
{
    (void)state;
    struct tape_maker t;
    tape_maker_init(&t, 20, 2);
    for (int i = 0; i < PLAY_GAPS_MAX + 3; i++) {
        t.byte_off++;
        tape_maker_data(&t, "x");
    }
    tape_maker_load(&t, NULL);
    assert_int_equal(t.loaded.gaps.n / sizeof(struct play_gap), PLAY_GAPS_MAX);
    assert_int_equal(t.loaded.gaps_left_out, 3);
    AUTO(buf) out = { 0 };
    assert_int_equal(tape_maker_report(&t, NULL, "txt", NULL, &out), 0);
    static const char first[] = "[ahr: 3 more gaps are not shown]\n";
    assert_memory_equal(out.p, first, strlen(first));
    tape_maker_release(&t);
}

static void
rows_that_were_dropped_are_told(void **state)
{
    (void)state;
    struct tape_maker t;
    tape_maker_init(&t, 20, 2);
    tape_maker_data(&t, "1\r\n2\r\n3\r\n4\r\n5");
    tape_maker_load(&t, &(struct play_load_options){ .scrollback_rows = 1 });
    assert_report(&t, NULL, "txt", NULL,
                  "[ahr: the oldest 2 rows were dropped]\n3\n4\n5\n");
    tape_maker_release(&t);
}

static void
a_document_that_is_not_masked_says_so(void **state)
{
    (void)state;
    struct tape_maker t;
    struct play_about about = { 0 };
    struct play_report_options opt = { .has_notices = true, .about = &about };
    tape_maker_init(&t, 20, 2);
    tape_maker_data(&t, "x");
    tape_maker_load(&t, NULL);
    assert_report(&t, NULL, "txt", &opt,
                  "[ahr: secrets are not masked in this document]\nx\n");
    assert_report(&t, NULL, "json", &opt,
                  "[\n{\"kind\":\"notice\",\"position\":0,"
                  "\"text\":\"secrets are not masked in this document\"},\n"
                  "{\"kind\":\"line\",\"index\":0,\"last_write_byte\":1,\"text\":\"x\"}"
                  "\n]\n");
    assert_report(&t, NULL, "branch-points", &opt,
                  "{\n  \"items\": [\n    {\n      \"index\": 0,\n      \"kind\": "
                  "\"line\",\n      \"last_write_byte\": 1,\n      \"text\": \"x\"\n"
                  "    }\n  ],\n  \"total_bytes\": 0\n}\n");
    tape_maker_release(&t);
}

/* -- loading -- */

static void
sizes_before_the_first_byte_are_no_resizes(void **state)
{
    (void)state;
    struct tape_maker t;
    tape_maker_init(&t, 80, 24);
    tape_maker_put(&t, (struct tape_record){ .tag = TAPE_RESIZE, .cols = 5, .rows = 2 });
    tape_maker_data(&t, "12345678\r\n");
    tape_maker_put(&t, (struct tape_record){ .tag = TAPE_RESIZE, .cols = 2, .rows = 9 });
    tape_maker_put(&t, (struct tape_record){ .tag = TAPE_RESIZE, .cols = 8, .rows = 2 });
    tape_maker_load(&t, NULL);
    assert_int_equal(term_cols(t.loaded.term), 8);
    assert_report(&t, NULL, "txt", NULL, "12345678\n");
    tape_maker_release(&t);

    tape_maker_init(&t, 0, 0);
    tape_maker_data(&t, "x");
    tape_maker_load(&t, NULL);
    assert_int_equal(term_cols(t.loaded.term), 80);
    assert_int_equal(term_rows(t.loaded.term), 24);
    tape_maker_load(&t, &(struct play_load_options){ .cols = 7, .rows = 3 });
    assert_int_equal(term_cols(t.loaded.term), 7);
    tape_maker_release(&t);
}

static void
a_recording_is_loaded_up_to_a_byte_or_a_time(void **state)
{
    (void)state;
    struct tape_maker t;
    tape_maker_init(&t, 20, 4);
    tape_maker_data(&t, "one\r\n");
    tape_maker_snapshot(&t, 1, "");
    tape_maker_data(&t, "two\r\n");
    tape_maker_snapshot(&t, 2, "");
    tape_maker_load(&t, &(struct play_load_options){ .to_byte = 7 });
    assert_int_equal(t.loaded.total_bytes, 7);
    assert_report(&t, NULL, "ruled", NULL, "one\n──── snapshot 1 ────\ntw\n");
    tape_maker_load(&t, &(struct play_load_options){ .to_byte = 99 });
    assert_int_equal(t.loaded.total_bytes, 10);
    assert_int_equal(t.loaded.events.count, 2);
    tape_maker_load(&t, &(struct play_load_options){ .to_ns = KIT_START + 2000000 });
    assert_int_equal(t.loaded.total_bytes, 5);
    assert_int_equal(t.loaded.last_ts_ns, KIT_START + 2000000);
    assert_report(&t, NULL, "ruled", NULL, "one\n──── snapshot 1 ────\n");
    tape_maker_release(&t);
}

static int
stop(void *ctx, struct view bytes)
{
    (void)bytes;
    ++*(int *)ctx;
    return -EPIPE;
}

static void
whoever_stops_reading_ends_the_report(void **state)
{
    (void)state;
    struct tape_maker t;
    struct err err = { 0 };
    int calls = 0;
    tape_maker_init(&t, 80, 4);
    for (int i = 0; i < 5000; i++)
        tape_maker_data(&t, "a line of some length that fills a buffer soon enough\r\n");
    tape_maker_load(&t, NULL);
    struct play_about about = { .is_masked = true };
    struct play_report_options opt = { .about = &about };
    assert_int_equal(
        play_report(&t.loaded, NULL, &play_format_txt, &opt, stop, &calls, &err), -EPIPE);
    assert_int_equal(calls, 1);
    assert_string_equal(err.text, "");
    tape_maker_release(&t);
}

static void
an_empty_recording_is_an_empty_document(void **state)
{
    (void)state;
    struct tape_maker t;
    tape_maker_init(&t, 20, 4);
    tape_maker_load(&t, NULL);
    assert_report(&t, NULL, "txt", NULL, "");
    assert_report(&t, NULL, "md", NULL, "");
    assert_report(&t, NULL, "json", NULL, "[]\n");
    assert_report(&t, NULL, "csv", NULL, "kind,index_or_id,position,ts_ns,text\r\n");
    assert_report(&t, NULL, "branch-points", NULL,
                  "{\n  \"items\": [],\n  \"total_bytes\": 0\n}\n");
    tape_maker_release(&t);
}

int
main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(events_stand_before_the_first_line_that_is_past_them),
        cmocka_unit_test(lines_never_move_for_an_event),
        cmocka_unit_test(an_event_comes_before_a_gap_at_its_byte),
        cmocka_unit_test(snapshots_land_between_the_right_lines),
        cmocka_unit_test(a_later_row_with_an_earlier_stamp_stays_below),
        cmocka_unit_test(by_position_everything_is_sorted),
        cmocka_unit_test(lines_at_the_same_position_keep_their_order),
        cmocka_unit_test(lines_of_the_alternate_screen_are_marked),
        cmocka_unit_test(instructions_and_snapshots_come_as_they_are_asked_for),
        cmocka_unit_test(only_what_lies_behind_a_byte_is_shown_if_asked),
        cmocka_unit_test(times_are_those_of_the_record_with_the_last_byte),
        cmocka_unit_test(a_line_that_was_never_written_has_no_time),
        cmocka_unit_test(a_gap_ends_where_the_document_does),
        cmocka_unit_test(gaps_are_told_where_they_are),
        cmocka_unit_test(a_gap_that_is_too_large_to_be_counted_is_owned_up_to),
        cmocka_unit_test(only_so_many_gaps_are_kept),
        cmocka_unit_test(rows_that_were_dropped_are_told),
        cmocka_unit_test(a_document_that_is_not_masked_says_so),
        cmocka_unit_test(sizes_before_the_first_byte_are_no_resizes),
        cmocka_unit_test(a_recording_is_loaded_up_to_a_byte_or_a_time),
        cmocka_unit_test(whoever_stops_reading_ends_the_report),
        cmocka_unit_test(an_empty_recording_is_an_empty_document),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
