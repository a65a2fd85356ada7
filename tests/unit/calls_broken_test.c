/* SPDX-License-Identifier: MIT */
/* calls_broken_test.c -- files of calls that grow, are torn, flipped, or made to hurt:
 * each line that is good is read, in bounded time and memory. */
#include "calls/read.h"

#include <fcntl.h>
#include <unistd.h>

#include "base/file.h"
#include "support/calls_kit.h"
#include "support/kit.h"
#include "support/measure.h"

static struct view
view_of(const struct buf *b)
{
    return (struct view){ b->p, b->n };
}

/* -- torn files, and what stands between lines -- */

static void
a_file_cut_anywhere_has_all_lines_before(void **state)
{
    (void)state;
    AUTO(calls_file) f = { .ts_ns = 0 };
    calls_file_sample(&f);
    for (size_t cut = 0; cut <= f.text.n; cut += (size_t)kit_stride()) {
        struct calls *c = calls_kit_open_bytes((struct view){ f.text.p, cut });
        size_t lines = 0, calls = 0;
        while (lines < f.count && f.ends[lines] <= cut + 1) /* or but for its newline */
            lines++;
        uint64_t seen = 0;
        for (size_t i = 0; i < lines; i++)
            if (!(seen >> f.calls[i] & 1)) {
                seen |= UINT64_C(1) << f.calls[i];
                calls++;
            }
        assert_int_equal(calls_count(c), calls);
        assert_int_equal(calls_bad_lines(c), 0);
        AUTO(buf) out = { 0 };
        calls_kit_show_all(c, &out);
        calls_close(c);
    }
}

static void
a_file_that_grows_is_read_as_far_as_it_is_there(void **state)
{
    (void)state;
    AUTO(calls_file) f = { .ts_ns = 0 };
    AUTO(buf) before = { 0 };
    AUTO(buf) after = { 0 };
    calls_file_sample(&f);
    calls_kit_write((struct view){ f.text.p, f.ends[8] - 10 });
    struct calls *c = calls_kit_open();
    calls_kit_show_all(c, &before);
    int fd = open(CALLS_KIT_NAME, O_WRONLY | O_APPEND | O_CLOEXEC);
    assert_true(fd >= 0);
    assert_int_equal(
        file_write_all(fd, f.text.p + f.ends[8] - 10, f.text.n - f.ends[8] + 10), 0);
    close(fd);
    calls_kit_show_all(c, &after);
    calls_kit_same(&after, &before);
    calls_close(c);
    c = calls_kit_open();
    calls_kit_check_sample(c);
    calls_close(c);
}

static void
a_file_that_becomes_shorter_is_read_as_damaged(void **state)
{
    (void)state;
    AUTO(calls_file) f = { .ts_ns = 0 };
    calls_file_sample(&f);
    struct calls *c = calls_kit_open_bytes(view_of(&f.text));
    assert_int_equal(truncate(CALLS_KIT_NAME, (off_t)f.ends[5]), 0);
    calls_kit_asks(c, 1, "the first body, which is long enough \xc3\xa9\n", true);
    calls_kit_says(c, 1, "data: a\n\n", false);
    calls_kit_asks(c, 2, "", false);
    calls_kit_says(c, 2, "", false);
    assert_int_equal(truncate(CALLS_KIT_NAME, 0), 0);
    calls_kit_asks(c, 4, "", false);
    calls_kit_asks(c, 7, "", false);
    calls_close(c);
}

static void
what_stands_between_the_lines_costs_nothing(void **state)
{
    (void)state;
    static const struct {
        const char *bytes;
        size_t n;
        bool is_bad;
    } between[] = {
        { "\n", 1, false },
        { "\r\n", 2, false },
        { "  \t\n", 4, false },
        { "\0\0\0", 3, false },
        { "nonsense\n", 9, true },
        { "{\"ts_ns\":\"17", 12, true }, /* torn, and the next on the same line */
        { "{\"ts_ns\":\"17\",\"call\":1,\"type\":\"event\",\"text\":\"", 45, true },
        { "{\"call\":1}\n", 11, true },
        { "{\"ts_ns\":\"1\",\"call\":1,\"type\":\"later\"}\n", 39, true },
        { "\xff\xfe\n", 3, true },
        { "garbage\0\0", 9, true },
        { "[[[[[[[[[[\n", 11, true },
        { "\xef\xbb\xbf", 3, false },
    };
    AUTO(calls_file) f = { .ts_ns = 0 };
    calls_file_sample(&f);
    for (size_t i = 0; i < sizeof(between) / sizeof(between[0]); i++) {
        AUTO(buf) text = { 0 };
        for (size_t k = 0, at = 0; k < f.count; at = f.ends[k++]) {
            buf_append(&text, between[i].bytes, between[i].n);
            buf_append(&text, f.text.p + at, f.ends[k] - at);
        }
        struct calls *c = calls_kit_open_bytes(view_of(&text));
        calls_kit_check_sample(c);
        assert_int_equal(calls_bad_lines(c), between[i].is_bad ? f.count : 0);
        calls_close(c);
    }
}

/* … a call is one whose lines, and those of what it is told by, are as they were. */
static void
check_damage(struct view bytes, const struct calls_file *f, size_t hurt,
             struct buf *const want)
{
    static const uint64_t numbers[] = { 1, 2, 4, 7 };
    struct calls *c = calls_kit_open_bytes(bytes);
    for (size_t i = 0; i < 4; i++) {
        AUTO(buf) got = { 0 };
        bool is_own = hurt < f->count && f->calls[hurt] == numbers[i];
        if (is_own || (hurt == 1 && numbers[i] == 2))
            continue;
        calls_kit_show(c, numbers[i], &got);
        calls_kit_same(&got, &want[i]);
    }
    AUTO(buf) all = { 0 };
    calls_kit_show_all(c, &all);
    assert_true(calls_bad_lines(c) <= 1);
    calls_close(c);
}

static void
a_flipped_bit_costs_no_other_call(void **state)
{
    (void)state;
    AUTO(calls_file) f = { .ts_ns = 0 };
    static const uint64_t numbers[] = { 1, 2, 4, 7 };
    struct buf want[4] = { { 0 } };
    calls_file_sample(&f);
    struct calls *c = calls_kit_open_bytes(view_of(&f.text));
    for (size_t i = 0; i < 4; i++)
        calls_kit_show(c, numbers[i], &want[i]);
    calls_close(c);
    size_t line = 0, stride = (size_t)kit_stride();
    for (size_t at = 0; at < f.text.n; at += stride) {
        while (f.ends[line] <= at)
            line++;
        /* A newline is of no line. */
        size_t hurt = at + 1 == f.ends[line] ? SIZE_MAX : line;
        for (size_t bit = at % 3; bit < 8; bit += 3) {
            f.text.p[at] ^= (uint8_t)(1 << bit);
            check_damage(view_of(&f.text), &f, hurt, want);
            f.text.p[at] ^= (uint8_t)(1 << bit);
        }
    }
    for (size_t i = 0; i < 4; i++)
        buf_release(&want[i]);
}

static void
a_line_torn_in_the_middle_costs_no_other_call(void **state)
{
    (void)state;
    AUTO(calls_file) f = { .ts_ns = 0 };
    static const uint64_t numbers[] = { 1, 2, 4, 7 };
    struct buf want[4] = { { 0 } };
    calls_file_sample(&f);
    struct calls *c = calls_kit_open_bytes(view_of(&f.text));
    for (size_t i = 0; i < 4; i++)
        calls_kit_show(c, numbers[i], &want[i]);
    calls_close(c);
    for (size_t line = 0; line < f.count; line++) {
        size_t from = line ? f.ends[line - 1] : 0;
        for (size_t at = from; at < f.ends[line]; at += 7) {
            AUTO(buf) text = { 0 };
            buf_append(&text, f.text.p, at); /* what follows is on the same line */
            buf_append(&text, f.text.p + f.ends[line], f.text.n - f.ends[line]);
            check_damage(view_of(&text), &f, line, want);
        }
    }
    for (size_t i = 0; i < 4; i++)
        buf_release(&want[i]);
}

/* -- hostile files -- */

/* Each is twice the one before it. */
static void
bodies_that_explode_are_bounded(void **state)
{
    (void)state;
    AUTO(calls_file) f = { .ts_ns = 0 };
    size_t before = measure_heap_bytes();
    uint64_t n = 16;
    calls_file_body(&f, 1, "0123456789abcdef");
    for (uint64_t i = 2; i <= 60; i++, n *= 2) {
        AUTO(buf) ops = { 0 };
        unsigned long long now = n > CALLS_BODY_MAX ? CALLS_BODY_MAX : n;
        buf_printf(&ops, "[[0,%llu],[0,%llu]]", now, now);
        calls_file_told(&f, i, i - 1, buf_str(&ops));
    }
    calls_file_told(&f, 61, 22, "[[0,33554432],\"x\"]");
    struct calls *c = calls_kit_open_bytes(view_of(&f.text));
    struct calls_whole w = calls_kit_get(c, 22);
    assert_int_equal(w.request.n, CALLS_BODY_MAX);
    for (uint64_t i = 23; i <= 61; i++) {
        w = calls_kit_get(c, i);
        assert_int_equal(w.request.n, 0);
        assert_false(w.is_request_whole);
    }
    assert_true(measure_heap_bytes() - before < (size_t)8 * CALLS_BODY_MAX);
    calls_close(c);
}

static void
a_chain_longer_than_any_ends(void **state)
{
    (void)state;
    enum { MANY = 3000 };
    AUTO(calls_file) f = { .ts_ns = 0 };
    calls_file_request(&f, 1, "/x");
    calls_file_body(&f, 1, "0123456789abcdef");
    for (uint64_t i = 2; i <= MANY; i++) {
        calls_file_request(&f, i, "/x");
        calls_file_told(&f, i, i - 1, "[[1,15],\"x\"]");
    }
    struct calls *c = calls_kit_open_bytes(view_of(&f.text));
    calls_kit_asks(c, MANY, "", false);
    calls_kit_asks(c, 65, "xxxxxxxxxxxxxxxx", true);
    calls_kit_asks(c, MANY - 1, "", false);
    /* What was in the middle of those is not the worse for it, step by step. */
    for (uint64_t i = 66; i <= MANY; i++)
        calls_kit_asks(c, i, "xxxxxxxxxxxxxxxx", true);
    calls_kit_asks(c, MANY / 2, "", false);
    calls_kit_asks(c, 2, "123456789abcdefx", true);
    calls_close(c);
}

static void
calls_in_falling_order_end_in_no_time(void **state)
{
    (void)state;
    enum { MANY = 30000 };
    AUTO(calls_file) f = { .ts_ns = 0 };
    for (uint64_t i = MANY; i > 0; i--)
        calls_file_event(&f, i, i, "a");
    for (uint64_t i = MANY; i > 0; i--)
        calls_file_event(&f, MANY + 1, i, "b");
    struct calls *c = calls_kit_open_bytes(view_of(&f.text));
    assert_true(calls_count(c) > 1000);
    AUTO(buf) out = { 0 };
    calls_kit_show_all(c, &out);
    calls_close(c);
}

static void
lines_of_any_length_are_read(void **state)
{
    (void)state;
    AUTO(calls_file) f = { .ts_ns = 0 };
    AUTO(buf) large = { 0 };
    for (int i = 0; i < 300000; i++)
        buf_puts(&large, "\"\\");
    struct calls_line l = calls_file_line(&f, CALLS_REQUEST, 1);
    l.url = l.upstream = view_of(&large);
    calls_file_put(&f, &l);
    calls_file_body(&f, 1, buf_str(&large));
    calls_file_reply(&f, 1, 200);
    calls_file_event(&f, 1, 0, buf_str(&large));
    calls_file_event(&f, 1, 1, "b");
    AUTO(buf) wide = { 0 };
    buf_puts(&wide, "x");
    for (int i = 0; i < 40000; i++)
        buf_puts(&wide, "\xc3\xa9");
    l = calls_file_line(&f, CALLS_END, 1);
    l.model = view_of(&wide);
    l.events = 2;
    calls_file_put(&f, &l);
    struct calls *c = calls_kit_open_bytes(view_of(&f.text));
    struct calls_whole w = calls_kit_get(c, 1);
    assert_int_equal(w.facts->model.n, (64 << 10) - 1); /* no character is cut */
    assert_int_equal(w.request.n, large.n);
    assert_int_equal(w.reply.n, large.n + 1);
    assert_true(w.is_reply_whole);
    assert_int_equal(w.facts->url.n, 64 << 10);
    calls_close(c);
}

static void
an_index_takes_no_more_memory_than_its_file(void **state)
{
    (void)state;
    AUTO(calls_file) f = { .ts_ns = 0 };
    AUTO(buf) url = { 0 };
    while (url.n < 2000)
        buf_puts(&url, "/a/long/one");
    for (uint64_t i = 1; i <= 2000; i++)
        calls_file_request(&f, i, buf_str(&url));
    size_t before = measure_heap_bytes();
    struct calls *c = calls_kit_open_bytes(view_of(&f.text));
    assert_true(measure_heap_bytes() - before < 2 * f.text.n);
    calls_close(c);
    assert_true(measure_heap_bytes() <= before);
}

int
main(void)
{
    const struct CMUnitTest tests[] = {
        KIT_IN_DIR(a_file_cut_anywhere_has_all_lines_before),
        KIT_IN_DIR(a_file_that_grows_is_read_as_far_as_it_is_there),
        KIT_IN_DIR(a_file_that_becomes_shorter_is_read_as_damaged),
        KIT_IN_DIR(what_stands_between_the_lines_costs_nothing),
        KIT_IN_DIR(a_flipped_bit_costs_no_other_call),
        KIT_IN_DIR(a_line_torn_in_the_middle_costs_no_other_call),
        KIT_IN_DIR(bodies_that_explode_are_bounded),
        KIT_IN_DIR(a_chain_longer_than_any_ends),
        KIT_IN_DIR(calls_in_falling_order_end_in_no_time),
        KIT_IN_DIR(lines_of_any_length_are_read),
        KIT_IN_DIR(an_index_takes_no_more_memory_than_its_file),
    };
    return cmocka_run_group_tests_name("calls_broken", tests, NULL, NULL);
}
