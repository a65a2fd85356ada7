/* SPDX-License-Identifier: MIT */
/* tui_status_test.c -- the status line, and what of it has room. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "base/utf8.h"
#include "term/text.h"
#include "tui/status_priv.h"

#define MS 1000000ULL

static struct term_widths widths;

static struct tui_status
sample(void)
{
    return (struct tui_status){ .time_ns = 62500 * MS,
                                .duration_ns = 250000 * MS,
                                .speed = 1000,
                                .byte_off = 4711,
                                .total_bytes = 20000,
                                .hint = "? help" };
}

static void
is_line(const struct tui_status *s, unsigned cols, const char *want)
{
    AUTO(buf) out = { 0 };
    tui_status_line(s, cols, &widths, &out);
    assert_string_equal(buf_str(&out), want);
}

static void
all_of_it_is_told_where_there_is_room(void **state)
{
    (void)state;
    struct tui_status s = sample();
    is_line(&s, 70,
            "▶ 1:02 / 4:10  1×  @4711  ━━━━━━━────────────────────────  25%  ? help");
    s.is_paused = s.has_millis = true;
    s.speed = 1500;
    s.has_label = true;
    s.label = term_text("built");
    is_line(&s, 60, "⏸ 1:02.500 / 4:10  1.5×  ◆ built  @4711  25%          ? help");
}

static void
the_least_important_goes_first(void **state)
{
    (void)state;
    struct tui_status s = sample();
    is_line(&s, 40, "▶ 1:02 / 4:10  1×  @4711  25%     ? help");
    is_line(&s, 33, "▶ 1:02 / 4:10  1×  @4711   ? help");
    is_line(&s, 25, "▶ 1:02 / 4:10  1×  @4711");
    is_line(&s, 22, "▶ 1:02 / 4:10  @4711");
    is_line(&s, 14, "▶ 1:02 / 4:10");
    is_line(&s, 10, "▶ 1:02");
    is_line(&s, 4, "▶ 1…");
    is_line(&s, 1, "…");
    is_line(&s, 0, "");
}

static void
what_is_wrong_stays_and_is_cut_last(void **state)
{
    (void)state;
    struct tui_status s = sample();
    s.note = "123 bytes were not recorded here";
    s.hint = NULL;
    is_line(&s, 60, "▶ 1:02 / 4:10  123 bytes were not recorded here  1×  @4711");
    is_line(&s, 40, "▶ 1:02  123 bytes were not recorded here");
    is_line(&s, 30, "▶ 1:02  123 bytes were not re…");
    s.work = "seeking";
    s.work_permille = 425;
    is_line(&s, 34, "▶ 1:02  seeking 42%  123 bytes we…");
    is_line(&s, 20, "▶ 1:02  seeking 42%");
}

static void
times_and_speeds_are_short(void **state)
{
    (void)state;
    static const struct {
        uint64_t ms;
        bool has_millis;
        const char *want;
    } times[] = {
        { 0, false, "0:00" },
        { 59999, false, "0:59" },
        { 60000, true, "1:00.000" },
        { 3723004, true, "1:02:03.004" },
        { 360000000, false, "100:00:00" },
    };
    for (size_t i = 0; i < sizeof(times) / sizeof(times[0]); i++) {
        AUTO(buf) out = { 0 };
        tui_status_time(times[i].ms * MS, times[i].has_millis, &out);
        assert_string_equal(buf_str(&out), times[i].want);
    }
    static const struct {
        uint32_t speed;
        const char *want;
    } speeds[] = { { 250, "0.25×" },
                   { 500, "0.5×" },
                   { 1500, "1.5×" },
                   { 16000, "16×" },
                   { 1001, "1.001×" } };
    for (size_t i = 0; i < sizeof(speeds) / sizeof(speeds[0]); i++) {
        AUTO(buf) out = { 0 };
        struct tui_status s = sample();
        s.speed = speeds[i].speed;
        tui_status_line(&s, 22, &widths, &out);
        assert_non_null(strstr(buf_str(&out), speeds[i].want));
    }
}

static void
no_text_takes_more_columns_than_it_is_given(void **state)
{
    (void)state;
    static const char hostile[] =
        "世界\033[2J\x9b"
        "1m\xc2\x9b\a\r\n\t\x7f\xff世界é👩‍👩‍👧🇩🇪";
    struct tui_status s = sample();
    s.has_label = true;
    s.label = (struct view){ (const uint8_t *)hostile, sizeof(hostile) - 1 };
    s.note = hostile;
    for (unsigned cols = 0; cols < 120; cols++) {
        AUTO(buf) out = { 0 };
        tui_status_line(&s, cols, &widths, &out);
        assert_true(term_text_cols(&widths, (struct view){ out.p, out.n }) <= cols);
        assert_true(utf8_is_line(out.p, out.n));
    }
}

static void
a_text_can_be_seen_from_its_end(void **state)
{
    (void)state;
    AUTO(buf) out = { 0 };
    assert_int_equal(term_text_put_end(&widths, term_text("one two three"), 6, &out), 6);
    assert_string_equal(buf_str(&out), "…three");
    buf_clear(&out);
    assert_int_equal(term_text_put_end(&widths, term_text("a世界"), 4, &out), 3);
    assert_string_equal(buf_str(&out), "…界");
    buf_clear(&out);
    assert_int_equal(term_text_put_end(&widths, term_text("short"), 6, &out), 5);
    assert_string_equal(buf_str(&out), "short");
}

static void
a_text_cannot_turn_its_neighbours_around(void **state)
{
    (void)state;
    AUTO(buf) out = { 0 };
    term_text_put(&widths,
                  term_text("a\u202eb\u2066c\r\x7f\xc2\x85"
                            "d"),
                  9, &out);
    assert_string_equal(buf_str(&out), "abcd");
}

static int
release(void **state)
{
    (void)state;
    term_widths_release(&widths);
    return 0;
}

int
main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(all_of_it_is_told_where_there_is_room),
        cmocka_unit_test(the_least_important_goes_first),
        cmocka_unit_test(what_is_wrong_stays_and_is_cut_last),
        cmocka_unit_test(times_and_speeds_are_short),
        cmocka_unit_test(no_text_takes_more_columns_than_it_is_given),
        cmocka_unit_test(a_text_can_be_seen_from_its_end),
        cmocka_unit_test(a_text_cannot_turn_its_neighbours_around),
    };
    return cmocka_run_group_tests_name("tui_status", tests, NULL, release);
}
