/* SPDX-License-Identifier: MIT */
/* cast_test.c -- recordings as asciicasts: events, times, characters, masks. */
#include "support/kit.h"
#include "support/sim_disk.h"
#include "support/tape_maker.h"

#include <stdio.h>

#include "play/cast.h"
#include "play/cast_text_priv.h"
#include "play/title.h"

/* -- recordings and casts -- */

static struct tape_record
data(uint64_t ms, const char *text)
{
    return (struct tape_record){ .tag = TAPE_DATA,
                                 .ts_ns = KIT_START + ms * 1000000,
                                 .bytes = { (const uint8_t *)text, strlen(text) } };
}

static struct tape_record
other(uint64_t ms, struct tape_record rec)
{
    rec.ts_ns = KIT_START + ms * 1000000;
    return rec;
}

static int
collect(void *ctx, struct view bytes)
{
    return buf_append(ctx, bytes.p, bytes.n);
}

/* The cast of a recording of these records, ended after a minute. */
static const char *
cast_of(const struct tape_record *recs, size_t n, struct play_cast_options opt)
{
    static struct buf out;
    static struct sim_disk disk;
    struct tape_io *io = &disk.io;
    struct tape_writer_options w_opt = kit_options(TAPE_SYNC_NONE);
    struct tape_writer *w;
    struct err err;
    sim_init(&disk);
    w_opt.start_ts_ns = KIT_START;
    assert_int_equal(tape_writer_open(&w, io, KIT_PATH, &w_opt, &err), 0);
    for (size_t i = 0; i < n; i++)
        tape_writer_append(w, recs[i]);
    struct tape_writer_status st;
    assert_int_equal(tape_writer_finish(w, KIT_START + 60000000000, &st, &err), 0);
    buf_release(&out);
    assert_int_equal(play_cast_write(io, KIT_PATH, &opt, collect, &out, &err), 0);
    sim_release(&disk);
    return buf_str(&out);
}

#define CAST_OF(recs, ...)                            \
    cast_of((recs), sizeof(recs) / sizeof((recs)[0]), \
            (struct play_cast_options){ __VA_ARGS__ })

static struct redact *rules;

static int
open_rules(void **state)
{
    (void)state;
    return redact_open(&rules, NULL, NULL);
}

static int
close_rules(void **state)
{
    (void)state;
    redact_close(rules);
    return 0;
}

#define HEAD_2                                                                      \
    "{\"version\":2,\"width\":80,\"height\":24,\"timestamp\":1700000000,\"title\":" \
    "\"secrets are not masked\",\"ahr\":{\"masked\":false}}\n"

/* -- events -- */

static void
each_record_is_an_event_at_its_time(void **state)
{
    (void)state;
    struct tape_record recs[] = {
        data(1, "one\r\n"),
        other(2500, (struct tape_record){ .tag = TAPE_RESIZE, .cols = 100, .rows = 30 }),
        other(2500, (struct tape_record){ .tag = TAPE_INPUT,
                                          .bytes = { (const uint8_t *)"typed", 5 } }),
        other(3000,
              (struct tape_record){ .tag = TAPE_SNAPSHOT,
                                    .snapshot_id = 7,
                                    .bytes = { (const uint8_t *)"a \"label\"", 9 } }),
        data(3000, "\x1b[1mtwo"),
    };
    recs[0].ts_ns += 234567;
    assert_string_equal(CAST_OF(recs, .version = 2),
                        HEAD_2 "[0.001234,\"o\",\"one\\r\\n\"]\n"
                               "[2.500000,\"r\",\"100x30\"]\n"
                               "[3.000000,\"m\",\"a \\\"label\\\"\"]\n"
                               "[3.000000,\"o\",\"\\u001b[1mtwo\"]\n"
                               "[60.000000,\"o\",\"\"]\n");
}

static void
version_three_has_intervals_that_add_up(void **state)
{
    (void)state;
    struct tape_record recs[] = { data(1, "a"), data(2, "b"), data(3, "c") };
    for (int i = 0; i < 3; i++)
        recs[i].ts_ns += 999;
    assert_string_equal(
        CAST_OF(recs, .version = 3, .title = "T", .command = "sh", .redact = rules,
                .has_exit = true, .exit_code = 3),
        "{\"version\":3,\"term\":{\"cols\":80,\"rows\":24},\"timestamp\":1700000000,"
        "\"command\":\"sh\",\"title\":\"T\",\"ahr\":{\"masked\":true}}\n"
        "[0.001000,\"o\",\"a\"]\n[0.001000,\"o\",\"b\"]\n[0.001000,\"o\",\"c\"]\n"
        "[59.997000,\"x\",\"3\"]\n");
}

/* "a", a mark that owns up to bytes, and "b" behind so many that are missing. */
static const char *
cast_over_gap(uint32_t marked, uint64_t missing, const char *before, const char *after,
              struct play_cast_options opt)
{
    static struct buf out;
    struct tape_maker t;
    struct err err;
    opt.version = 2;
    buf_release(&out);
    tape_maker_init(&t, 80, 24);
    tape_maker_data(&t, before);
    tape_maker_put(&t, (struct tape_record){
                           .tag = TAPE_MARK, .code = TAPE_MARK_GAP, .val = marked });
    t.byte_off += missing;
    if (after)
        tape_maker_data(&t, after);
    tape_maker_load(&t, NULL);
    assert_int_equal(play_cast_write(&t.io.io, KIT_PATH, &opt, collect, &out, &err), 0);
    tape_maker_release(&t);
    return strchr(buf_str(&out), '\n') + 1;
}

static void
bytes_that_are_not_there_are_told_by_markers(void **state)
{
    (void)state;
    struct play_cast_options opt = { 0 };
    uint64_t bad = 0;
    opt.ret_bad_bytes = &bad; /* a character cannot go on behind the gap */
    assert_string_equal(cast_over_gap(10, 10, "\xc3", "\xa9", opt),
                        "[0.003000,\"o\",\"\xef\xbf\xbd\"]\n"
                        "[0.003000,\"m\",\"10 bytes were not recorded here\"]\n"
                        "[0.003000,\"o\",\"\xef\xbf\xbd\"]\n");
    assert_int_equal(bad, 2);
    opt.ret_bad_bytes = NULL;
    assert_string_equal(
        cast_over_gap(4, 10, "a", "b", opt),
        "[0.001000,\"o\",\"a\"]\n"
        "[0.003000,\"m\",\"4 bytes were not recorded here\"]\n"
        "[0.003000,\"m\",\"6 bytes are missing here: the recording is damaged\"]\n"
        "[0.003000,\"o\",\"b\"]\n");
    /* One that is saturated stands for all. */
    assert_string_equal(cast_over_gap(UINT32_MAX, 5000000000, "a", "b", opt),
                        "[0.001000,\"o\",\"a\"]\n"
                        "[0.003000,\"m\",\"5000000000 bytes were not recorded here\"]\n"
                        "[0.003000,\"o\",\"b\"]\n");
    assert_string_equal(cast_over_gap(7, 7, "a", NULL, opt),
                        "[0.001000,\"o\",\"a\"]\n"
                        "[0.002000,\"m\",\"7 bytes were not recorded here\"]\n");
}

/* A mark of nothing, in a file that anybody may have written, parts no token. */
static void
a_gap_of_nothing_is_none(void **state)
{
    (void)state;
    struct play_cast_options opt = { .redact = rules };
    for (uint32_t marked = 0; marked < 2; marked++)
        assert_string_equal(cast_over_gap(marked, 0,
                                          "ghp_"
                                          "16C7e42F292c6912",
                                          "E7710c838347Ae178B4a b", opt),
                            "[0.001000,\"o\",\"********************\"]\n"
                            "[0.003000,\"o\",\"******************** b\"]\n");
}

static void
it_ends_where_it_is_told_to(void **state)
{
    (void)state;
    struct tape_record recs[] = { data(1, "abc"), data(2, "def"), data(3, "ghi") };
    assert_string_equal(CAST_OF(recs, .version = 2, .to_byte = 4),
                        HEAD_2 "[0.001000,\"o\",\"abc\"]\n[0.002000,\"o\",\"d\"]\n"
                               "[0.003000,\"o\",\"\"]\n");
    assert_string_equal(CAST_OF(recs, .version = 2, .to_ns = KIT_START + 2000000),
                        HEAD_2 "[0.001000,\"o\",\"abc\"]\n[0.002000,\"o\",\"def\"]\n");
}

static void
instructions_are_markers_too(void **state)
{
    (void)state;
    struct tape_record recs[] = { data(1, "abc"), data(5, "def") };
    struct play_events events = { 0 };
    struct play_event e = { .kind = PLAY_INSTRUCTION,
                            .anchor_byte = 3,
                            .ts_ns = KIT_START + 2000000,
                            .text = { (const uint8_t *)"go on\nplease", 12 } };
    assert_int_equal(play_events_add(&events, &e), 0);
    assert_string_equal(CAST_OF(recs, .version = 2, .events = &events),
                        HEAD_2 "[0.001000,\"o\",\"abc\"]\n"
                               "[0.002000,\"m\",\"instruction: go on\\nplease\"]\n"
                               "[0.005000,\"o\",\"def\"]\n[60.000000,\"o\",\"\"]\n");
    play_events_release(&events);
}

/* Also one that is anchored behind bytes that were still under way: a cast goes by time.
 */
static void
an_instruction_stands_when_it_was_given(void **state)
{
    (void)state;
    struct tape_record recs[] = { data(1, "abc"), data(5, "def"), data(7, "ghi") };
    struct play_events events = { 0 };
    struct play_event e = { .kind = PLAY_INSTRUCTION,
                            .anchor_byte = 6,
                            .ts_ns = KIT_START + 2000000,
                            .text = { (const uint8_t *)"go", 2 } };
    assert_int_equal(play_events_add(&events, &e), 0);
    assert_string_equal(CAST_OF(recs, .version = 2, .events = &events), HEAD_2
                        "[0.001000,\"o\",\"abc\"]\n[0.002000,\"m\",\"instruction: go\"]\n"
                        "[0.005000,\"o\",\"def\"]\n"
                        "[0.007000,\"o\",\"ghi\"]\n[60.000000,\"o\",\"\"]\n");
    play_events_release(&events);
}

/* -- masks -- */

#define TOKEN \
    "ghp_"    \
    "16C7e42F292c6912E7710c838347Ae178B4a"

static void
a_secret_over_several_records_is_masked_in_each(void **state)
{
    (void)state;
    struct tape_record recs[] = {
        data(1, "token=ghp_"
                "16C7e42F"),
        other(2, (struct tape_record){ .tag = TAPE_RESIZE, .cols = 90, .rows = 24 }),
        data(3, "292c6912E7710c8"),
        other(4, (struct tape_record){ .tag = TAPE_SNAPSHOT,
                                       .bytes = { (const uint8_t *)TOKEN, 40 } }),
        data(5, "38347Ae178B4a and more"),
    };
    const char *cast = CAST_OF(recs, .version = 2, .redact = rules);
    const char *events = strchr(cast, '\n') + 1;
    assert_string_equal(events, "[0.001000,\"o\",\"token=************\"]\n"
                                "[0.002000,\"r\",\"90x24\"]\n"
                                "[0.003000,\"o\",\"***************\"]\n"
                                "[0.004000,\"m\",\"[REDACTED:github-pat]\"]\n"
                                "[0.005000,\"o\",\"************* and more\"]\n"
                                "[60.000000,\"o\",\"\"]\n");
}

/* The program broke the token at the edge of a terminal that has become narrow. */
static void
the_mask_knows_the_terminals_new_width(void **state)
{
    (void)state;
    struct tape_record recs[] = {
        data(1, "\r\n"),
        other(2, (struct tape_record){ .tag = TAPE_RESIZE, .cols = 26, .rows = 24 }),
        data(3, "api_key="
                "9f8e7d6c5b4a392817\r\n06f5e4d3c2b1a09f8\r\n"),
    };
    const char *cast = CAST_OF(recs, .version = 2, .redact = rules);
    assert_non_null(
        strstr(cast, "api_key=******************\\r\\n*****************\\r\\n"));
}

/* A mark that turns the text around is not seen, and hides nothing. */
#define UNSEEN "\xe2\x80\x8f"

static void
a_secret_with_an_unseen_character_in_it_is_masked(void **state)
{
    (void)state;
    static const char token[] = "ghp_"
                                "16C7e42F292c6912E" UNSEEN "7710c838347Ae178B4a";
    AUTO(buf) title = { 0 };
    struct tape_record recs[] = {
        other(1, (struct tape_record){ .tag = TAPE_SNAPSHOT,
                                       .bytes = { (const uint8_t *)token,
                                                  sizeof(token) - 1 } }),
    };
    assert_int_equal(play_title(rules, token, &title), 0);
    assert_string_equal(buf_str(&title), "[REDACTED:github-pat]");
    const char *cast = CAST_OF(recs, .version = 2, .redact = rules);
    assert_non_null(strstr(cast, "[0.001000,\"m\",\"[REDACTED:github-pat]\"]\n"));
}

/* -- characters -- */

static const char *
text_of(const char *bytes, size_t n, size_t step, uint64_t *ret_bad)
{
    static struct buf out;
    struct cast_text t = { 0 };
    buf_clear(&out);
    for (size_t at = 0; at < n; at += step) {
        size_t len = n - at < step ? n - at : step;
        assert_int_equal(
            cast_text_put(&t, (struct view){ (const uint8_t *)bytes + at, len }, &out),
            0);
    }
    assert_int_equal(cast_text_end(&t, &out), 0);
    *ret_bad = t.bad_bytes;
    return buf_str(&out);
}

static void
characters_are_whole_however_the_bytes_are_cut(void **state)
{
    (void)state;
    static const struct {
        const char *bytes, *want;
        uint64_t bad;
    } cases[] = {
        { "plain \"q\" \\ \t\r\n\x7f", "plain \\\"q\\\" \\\\ \\t\\r\\n\\u007f", 0 },
        { "\xc3\xa9\xe4\xb8\xad\xf0\x9f\x98\x80", "\xc3\xa9\xe4\xb8\xad\xf0\x9f\x98\x80",
          0 },
        { "\xc2\x9b\xe2\x80\xae\xe2\x80\xa8\xef\xbb\xbf", "\\u009b\\u202e\\u2028\\ufeff",
          0 },
        { "\xf3\xa0\x80\x81", "\\udb40\\udc01", 0 },
        { "a\x9b"
          "b",
          "a\xef\xbf\xbd"
          "b",
          1 },
        { "\xf0\x9f\x98z", "\xef\xbf\xbdz", 3 },
        { "\xf0\x9f\xe4\xb8\xad", "\xef\xbf\xbd\xe4\xb8\xad", 2 },
        { "\xe0\x80\x80", "\xef\xbf\xbd\xef\xbf\xbd\xef\xbf\xbd", 3 },
        { "\xed\xa0\x80", "\xef\xbf\xbd\xef\xbf\xbd\xef\xbf\xbd", 3 },
        { "end \xe4\xb8", "end \xef\xbf\xbd", 2 },
    };
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++)
        for (size_t step = 1; step <= 8; step++) {
            uint64_t bad;
            assert_string_equal(
                text_of(cases[i].bytes, strlen(cases[i].bytes), step, &bad),
                cases[i].want);
            assert_int_equal(bad, cases[i].bad);
        }
}

static void
a_long_text_is_taken_in_pieces(void **state)
{
    (void)state;
    AUTO(buf) in = { 0 };
    AUTO(buf) want = { 0 };
    for (int i = 0; i < 30000; i++) {
        buf_puts(&in, i % 7 ? "\xe4\xb8\xad" : "x\x1b");
        buf_puts(&want, i % 7 ? "\xe4\xb8\xad" : "x\\u001b");
    }
    uint64_t bad;
    assert_string_equal(text_of((char *)in.p, in.n, in.n, &bad), buf_str(&want));
    assert_string_equal(text_of((char *)in.p, in.n, 1000, &bad), buf_str(&want));
    assert_int_equal(bad, 0);
}

int
main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(each_record_is_an_event_at_its_time),
        cmocka_unit_test(version_three_has_intervals_that_add_up),
        cmocka_unit_test(bytes_that_are_not_there_are_told_by_markers),
        cmocka_unit_test(a_gap_of_nothing_is_none),
        cmocka_unit_test(it_ends_where_it_is_told_to),
        cmocka_unit_test(instructions_are_markers_too),
        cmocka_unit_test(an_instruction_stands_when_it_was_given),
        cmocka_unit_test(the_mask_knows_the_terminals_new_width),
        cmocka_unit_test(a_secret_over_several_records_is_masked_in_each),
        cmocka_unit_test(a_secret_with_an_unseen_character_in_it_is_masked),
        cmocka_unit_test(characters_are_whole_however_the_bytes_are_cut),
        cmocka_unit_test(a_long_text_is_taken_in_pieces),
    };
    return cmocka_run_group_tests(tests, open_rules, close_rules);
}
