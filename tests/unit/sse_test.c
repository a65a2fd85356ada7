/* SPDX-License-Identifier: MIT */
/* sse_test.c -- event streams, however they are cut: the rules of the standard, ceilings.
 */
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>

#include <cmocka.h>

#include "support/measure.h"
#include "support/text_view.h"
#include "turn/sse.h"

/* [name] data, and what was told of id and retry: a line each. */
static int
show(void *ctx, const struct turn_sse_event *e)
{
    struct buf *out = ctx;
    buf_printf(out, "[%.*s]", (int)e->name.n, (const char *)e->name.p);
    if (e->is_too_long)
        buf_puts(out, " too long");
    if (e->data.n)
        buf_puts(out, " ");
    buf_append(out, e->data.p, e->data.n);
    if (e->id.n)
        buf_printf(out, " id=%.*s", (int)e->id.n, (const char *)e->id.p);
    if (e->retry_ms != UINT64_MAX)
        buf_printf(out, " retry=%llu", (unsigned long long)e->retry_ms);
    return buf_puts(out, "\n");
}

/* In memory of its own, so that a sanitizer sees who reads behind it. */
static void
feed(struct turn_sse *s, struct view bytes, struct buf *out)
{
    uint8_t *own = malloc(bytes.n ? bytes.n : 1);
    assert_non_null(own);
    if (bytes.n)
        memcpy(own, bytes.p, bytes.n);
    assert_int_equal(turn_sse_feed(s, (struct view){ own, bytes.n }, show, out), 0);
    free(own);
}

static void
end(struct turn_sse *s, struct buf *out)
{
    if (turn_sse_end(s))
        buf_puts(out, "unfinished\n");
    turn_sse_release(s);
}

/* Cut into two at `cut`, or with 0 into bytes. */
static void
parse(struct view bytes, size_t cut, size_t max, struct buf *out)
{
    struct turn_sse s = { .max = max };
    size_t step = cut ? cut : 1;
    for (size_t at = 0; at < bytes.n; at += step, step = cut ? bytes.n : 1)
        feed(&s, (struct view){ bytes.p + at, step < bytes.n - at ? step : bytes.n - at },
             out);
    end(&s, out);
}

static void
assert_bytes(struct view bytes, size_t max, const char *want)
{
    for (size_t cut = 0; cut <= bytes.n; cut++) {
        AUTO(buf) out = { 0 };
        parse(bytes, cut, max, &out);
        assert_string_equal(buf_str(&out), want);
    }
}

static void
assert_events(const char *bytes, const char *want)
{
    assert_bytes(text_view(bytes), 0, want);
}

/* -- the standard -- */

static void
an_event_ends_with_a_blank_line(void **state)
{
    (void)state;
    assert_events("data: one\n\ndata: two\n\n", "[message] one\n[message] two\n");
    assert_events("\n\n\ndata: one\n\n\n\n", "[message] one\n");
}

static void
lines_end_with_cr_lf_or_both(void **state)
{
    (void)state;
    assert_events("data: a\r\rdata: b\r\n\r\ndata: c\n\n",
                  "[message] a\n[message] b\n[message] c\n");
    assert_events("data: a\r\n\n", "[message] a\n");
    assert_events("data: a\n\r\n", "[message] a\n");
    assert_events("data: a\r\rdata: b\r\r", "[message] a\n[message] b\n");
    assert_events("data: a\n\rdata: b\r\n\r\n", "[message] a\n[message] b\n");
}

static void
a_colon_first_is_a_comment(void **state)
{
    (void)state;
    assert_events(": hello\n:\n:data: no\ndata: yes\n: more\n\n", "[message] yes\n");
    assert_events(": only\n\n: that\n\n", "");
}

static void
lines_of_data_are_joined_by_newlines(void **state)
{
    (void)state;
    assert_events("data: YHOO\ndata: +2\ndata: 10\n\n", "[message] YHOO\n+2\n10\n");
    assert_events("data\n\ndata\ndata\n\ndata:\n\n",
                  "[message]\n[message] \n\n[message]\n");
    assert_events("data:\ndata: a\n\n", "[message] \na\n");
    assert_events("data: a\ndata\n\n", "[message] a\n\n");
}

static void
one_blank_behind_the_colon_goes(void **state)
{
    (void)state;
    assert_events("data:test\n\ndata: test\n\n", "[message] test\n[message] test\n");
    assert_events("data:  test\n\ndata:\ttest\n\n",
                  "[message]  test\n[message] \ttest\n");
    assert_events("event:a\ndata: b: c\n\n", "[a] b: c\n");
}

static void
an_event_has_the_last_name_that_was_told(void **state)
{
    (void)state;
    assert_events("event: a\nevent: b\ndata: 1\n\ndata: 2\n\n", "[b] 1\n[message] 2\n");
    assert_events("data: 1\nevent: late\n\n", "[late] 1\n");
    assert_events("event: a\nevent:\ndata: 1\n\n", "[message] 1\n");
}

static void
an_event_without_data_is_none_and_its_name_is_forgotten(void **state)
{
    (void)state;
    assert_events("event: a\n\ndata: 1\n\n", "[message] 1\n");
}

static void
an_id_stays_until_another_comes(void **state)
{
    (void)state;
    assert_events("id: 1\ndata: a\n\ndata: b\n\nid\ndata: c\n\n",
                  "[message] a id=1\n[message] b id=1\n[message] c\n");
    assert_events("id: 7\n\ndata: a\n\n", "[message] a id=7\n");
}

static void
an_id_with_a_nul_is_ignored(void **state)
{
    (void)state;
    static const char bytes[] = "id: 1\nid: 2\0003\ndata: a\n\n";
    assert_bytes((struct view){ (const uint8_t *)bytes, sizeof(bytes) - 1 }, 0,
                 "[message] a id=1\n");
}

static void
retry_is_digits_only(void **state)
{
    (void)state;
    assert_events("retry: 3000\ndata: a\n\ndata: b\n\n",
                  "[message] a retry=3000\n[message] b retry=3000\n");
    assert_events("retry: 0\nretry: 5s\nretry: -1\nretry:\nretry:  7\n"
                  "retry: 99999999999999999999\ndata: a\n\n",
                  "[message] a retry=0\n");
}

static void
other_fields_are_ignored(void **state)
{
    (void)state;
    assert_events("datas: x\nData: x\n data: x\ndat: x\nerror: x\ndata: a\n\n",
                  "[message] a\n");
}

static void
one_byte_order_mark_goes_at_the_beginning(void **state)
{
    (void)state;
    assert_events("\xef\xbb\xbf"
                  "data: a\n\n",
                  "[message] a\n");
    assert_events("\xef\xbb\xbf: x\ndata: a\n\n", "[message] a\n");
    assert_events("\xef\xbb\xbf\ndata: a\n\n", "[message] a\n");
    assert_events("\xef\xbb\xbf\xef\xbb\xbf"
                  "data: a\n\ndata: b\n\n",
                  "[message] b\n");
    assert_events("data: a\n\xef\xbb\xbf"
                  "data: b\n\n",
                  "[message] a\n");
    assert_events("\n\xef\xbb\xbf"
                  "data: b\n\n",
                  "");
}

static void
an_unfinished_event_is_not_handed_out_but_known(void **state)
{
    (void)state;
    assert_events("data: a\n\ndata: b\n", "[message] a\nunfinished\n");
    assert_events("data: a\n\ndata: b", "[message] a\nunfinished\n");
    assert_events("data: a\n\nd", "[message] a\nunfinished\n");
    assert_events("event: a\n", "unfinished\n");
    assert_events("data: a\n\n", "[message] a\n");
    assert_events("data: a\n\n: comment", "[message] a\n");
    assert_events("data: a\n\nid: 3\n", "[message] a\n");
    assert_events("", "");
}

static void
it_is_as_new_after_the_end(void **state)
{
    (void)state;
    struct turn_sse s = { 0 };
    AUTO(buf) out = { 0 };
    feed(&s, text_view("id: 1\nretry: 2\nevent: x\ndata: a\r"), &out);
    assert_true(turn_sse_end(&s));
    feed(&s,
         text_view("\n\xef\xbb\xbf"
                   "data: no\n"),
         &out);
    assert_false(turn_sse_end(&s));
    feed(&s,
         text_view("\xef\xbb\xbf"
                   "data: yes\n\n"),
         &out);
    end(&s, &out);
    assert_string_equal(buf_str(&out), "[message] yes\n");
}

static void
bytes_that_are_no_text_stay_as_they_are(void **state)
{
    (void)state;
    assert_events("data: \xff\xfe\x01\n\n", "[message] \xff\xfe\x01\n");
}

/* -- ceilings -- */

static void
a_line_over_the_ceiling_costs_its_event_and_no_other(void **state)
{
    (void)state;
    assert_bytes(
        text_view("data: 1\n\nevent: x\ndata: 345678901\ndata: 2\n\ndata: 3\n\n"), 14,
        "[message] 1\n[x] too long\n[message] 3\n");
    assert_bytes(text_view("data: 34567890\n\n"), 14, "[message] 34567890\n");
    assert_bytes(text_view("data: 345678901\n"), 14, "unfinished\n");
    assert_bytes(text_view("data: 345678901"), 14, "unfinished\n");
}

static void
a_comment_over_the_ceiling_costs_nothing(void **state)
{
    (void)state;
    assert_bytes(text_view("data: 1\n: 0123456789abcdef\n\n"), 14, "[message] 1\n");
    assert_bytes(text_view("\xef\xbb\xbf: 0123456789abcdef\ndata: 1\n\n"), 14,
                 "[message] 1\n");
    assert_bytes(text_view("data: 1\n\n: 0123456789abcdef"), 14, "[message] 1\n");
}

static void
data_of_many_lines_over_the_ceiling_costs_its_event(void **state)
{
    (void)state;
    assert_bytes(text_view("data: 12345\ndata: 78901234\n\ndata: 1\n\n"), 14,
                 "[message] 12345\n78901234\n[message] 1\n");
    assert_bytes(text_view("data: 12345\ndata: 7890123\ndata\ndata\n\ndata: 1\n\n"), 14,
                 "[message] too long\n[message] 1\n");
}

static void
memory_is_bounded_whatever_comes(void **state)
{
    (void)state;
    enum { MAX = 1 << 20, PIECE = 64 << 10 };
    static uint8_t piece[PIECE];
    AUTO(buf) out = { 0 };
    struct turn_sse s = { .max = MAX };
    size_t before = measure_heap_bytes(), most = 0;
    memset(piece, 'x', sizeof(piece));
    for (size_t i = 0; i < 6; i++)
        piece[i] = (uint8_t) "data: "[i];
    for (int i = 0; i < 1000; i++) {
        piece[PIECE - 1] = i % 100 < 50 ? 'x' : '\n';
        assert_int_equal(turn_sse_feed(&s, (struct view){ piece, PIECE }, show, &out), 0);
        size_t now = measure_heap_bytes() - before;
        most = now > most ? now : most;
    }
    assert_true(turn_sse_end(&s));
    assert_true(most < (size_t)4 * MAX);
    assert_string_equal(buf_str(&out), "");
}

static int
refuse(void *ctx, const struct turn_sse_event *e)
{
    (void)e;
    ++*(int *)ctx;
    return -EIO;
}

static void
an_error_of_the_reader_ends_the_reading(void **state)
{
    (void)state;
    struct turn_sse s = { 0 };
    int calls = 0;
    assert_int_equal(
        turn_sse_feed(&s, text_view("data: a\n\ndata: b\n\n"), refuse, &calls), -EIO);
    assert_int_equal(calls, 1);
    turn_sse_release(&s);
}

static int
remember(void *ctx, const struct turn_sse_event *e)
{
    *(struct view *)ctx = e->data;
    return 0;
}

static void
data_in_one_piece_is_not_copied(void **state)
{
    (void)state;
    struct turn_sse s = { 0 };
    struct view bytes = text_view("event: a\ndata: here\n\n"), seen = { 0 };
    assert_int_equal(turn_sse_feed(&s, bytes, remember, &seen), 0);
    assert_ptr_equal(seen.p, bytes.p + 15);
    turn_sse_release(&s);
}

int
main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(an_event_ends_with_a_blank_line),
        cmocka_unit_test(lines_end_with_cr_lf_or_both),
        cmocka_unit_test(a_colon_first_is_a_comment),
        cmocka_unit_test(lines_of_data_are_joined_by_newlines),
        cmocka_unit_test(one_blank_behind_the_colon_goes),
        cmocka_unit_test(an_event_has_the_last_name_that_was_told),
        cmocka_unit_test(an_event_without_data_is_none_and_its_name_is_forgotten),
        cmocka_unit_test(an_id_stays_until_another_comes),
        cmocka_unit_test(an_id_with_a_nul_is_ignored),
        cmocka_unit_test(retry_is_digits_only),
        cmocka_unit_test(other_fields_are_ignored),
        cmocka_unit_test(one_byte_order_mark_goes_at_the_beginning),
        cmocka_unit_test(an_unfinished_event_is_not_handed_out_but_known),
        cmocka_unit_test(it_is_as_new_after_the_end),
        cmocka_unit_test(bytes_that_are_no_text_stay_as_they_are),
        cmocka_unit_test(a_line_over_the_ceiling_costs_its_event_and_no_other),
        cmocka_unit_test(a_comment_over_the_ceiling_costs_nothing),
        cmocka_unit_test(data_of_many_lines_over_the_ceiling_costs_its_event),
        cmocka_unit_test(memory_is_bounded_whatever_comes),
        cmocka_unit_test(an_error_of_the_reader_ends_the_reading),
        cmocka_unit_test(data_in_one_piece_is_not_copied),
    };
    return cmocka_run_group_tests_name("sse", tests, NULL, NULL);
}
