/* SPDX-License-Identifier: MIT */
/* split_test.c -- event streams cut into their events: no byte is lost, however they
 * come.
 */
#include "calls/split.h"

#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>

#include <cmocka.h>

#include "support/measure.h"
#include "support/rng.h"
#include "support/text_view.h"
#include "turn/sse.h"

enum { EVENTS_MOST = 64 };

/* What came, one behind the other, and where each ends. */
struct seen {
    struct buf all;
    size_t ends[EVENTS_MOST];
    size_t count;
};

static int
note(void *ctx, struct view event, enum calls_split_end end)
{
    struct seen *s = ctx;
    if (event.n > 1 || event.p[0] != '\n') /* which may be the rest of a CR before it */
        assert_int_equal(calls_split_how(event, end == CALLS_SPLIT_CUT), end);
    assert_true(event.n > 0);
    assert_true(event.n <= CALLS_EVENT_MAX);
    buf_append(&s->all, event.p, event.n);
    assert_true(s->count < EVENTS_MOST);
    s->ends[s->count++] = s->all.n;
    return s->all.failed;
}

static struct view
event_of(const struct seen *s, size_t i)
{
    size_t start = i ? s->ends[i - 1] : 0;
    return (struct view){ s->all.p + start, s->ends[i] - start };
}

/* In memory of its own, so that a sanitizer sees who reads behind it. */
static void
feed(struct calls_split *s, struct view bytes, struct seen *seen)
{
    uint8_t *own = malloc(bytes.n ? bytes.n : 1);
    assert_non_null(own);
    if (bytes.n)
        memcpy(own, bytes.p, bytes.n);
    assert_int_equal(calls_split_feed(s, (struct view){ own, bytes.n }, note, seen), 0);
    free(own);
}

/* Cut into two at `cut`, or with 0 into bytes. */
static void
split(struct view bytes, size_t cut, struct seen *seen)
{
    struct calls_split s = { 0 };
    size_t step = cut ? cut : 1;
    *seen = (struct seen){ .all.ceiling = 256 << 20 };
    for (size_t at = 0; at < bytes.n; at += step, step = cut ? bytes.n : 1)
        feed(&s, (struct view){ bytes.p + at, step < bytes.n - at ? step : bytes.n - at },
             seen);
    assert_int_equal(calls_split_end(&s, note, seen), 0);
    assert_null(s.held.p);
}

/* -- what holds of every stream -- */

/* Does a blank line stand at its end, and nowhere before but at its very beginning, where
 * it is the rest of a CR LF? */
static bool
is_one_event(struct view event, bool is_behind_cr)
{
    bool has_line = false, has_ended = false;
    size_t at = is_behind_cr && event.p[0] == '\n';
    while (at < event.n) {
        if (has_ended)
            return false;
        uint8_t c = event.p[at++];
        if (c == '\r' && at < event.n && event.p[at] == '\n')
            at++;
        has_ended = (c == '\r' || c == '\n') && !has_line;
        has_line = c != '\r' && c != '\n';
    }
    return has_ended;
}

/* name: data, for each. */
static int
show(void *ctx, const struct turn_sse_event *e)
{
    struct buf *out = ctx;
    buf_append(out, e->name.p, e->name.n);
    buf_puts(out, ": ");
    buf_append(out, e->data.p, e->data.n);
    return buf_puts(out, "\1");
}

static void
parse(struct turn_sse *sse, struct view bytes, struct buf *out)
{
    assert_int_equal(turn_sse_feed(sse, bytes, show, out), 0);
}

static size_t
count_of(const struct buf *b, uint8_t byte)
{
    size_t n = 0;
    for (size_t i = 0; i < b->n; i++)
        n += b->p[i] == byte;
    return n;
}

/* No event of ours has two of the standard's, and none of these waits for the next. */
static void
says_the_same(struct view bytes, const struct seen *seen)
{
    struct turn_sse whole = { 0 }, pieces = { 0 };
    AUTO(buf) want = { 0 };
    AUTO(buf) got = { 0 };
    parse(&whole, bytes, &want);
    for (size_t i = 0; i < seen->count; i++) {
        size_t before = count_of(&got, 1);
        parse(&pieces, event_of(seen, i), &got);
        assert_true(count_of(&got, 1) <= before + 1);
    }
    assert_int_equal(got.n, want.n);
    assert_true(!got.n || !memcmp(got.p, want.p, got.n));
    turn_sse_release(&whole);
    turn_sse_release(&pieces);
}

static void
holds(struct view bytes, const struct seen *seen)
{
    assert_int_equal(seen->all.n, bytes.n);
    assert_true(!bytes.n || !memcmp(seen->all.p, bytes.p, bytes.n));
    bool is_behind_cr = false;
    for (size_t i = 0; i < seen->count; i++) {
        struct view one = event_of(seen, i);
        if (i + 1 < seen->count)
            assert_true(is_one_event(one, is_behind_cr));
        is_behind_cr = one.p[one.n - 1] == '\r';
    }
    says_the_same(bytes, seen);
}

/* The events of the stream when it comes whole, with '|' behind each. */
static void
splits_into(const char *stream, const char *want)
{
    struct view bytes = text_view(stream);
    struct seen seen;
    AUTO(buf) got = { 0 };
    split(bytes, bytes.n, &seen);
    for (size_t i = 0; i < seen.count; i++) {
        struct view one = event_of(&seen, i);
        buf_append(&got, one.p, one.n);
        buf_puts(&got, "|");
    }
    assert_string_equal(buf_str(&got), want);
    buf_release(&seen.all);
    for (size_t cut = 0; cut <= bytes.n; cut++) {
        split(bytes, cut, &seen);
        holds(bytes, &seen);
        buf_release(&seen.all);
    }
}

/* -- streams -- */

static void
an_event_ends_with_its_blank_line(void **state)
{
    (void)state;
    splits_into("", "");
    splits_into("data: a\n\ndata: b\n\n", "data: a\n\n|data: b\n\n|");
    splits_into("event: x\ndata: a\ndata: b\n\n", "event: x\ndata: a\ndata: b\n\n|");
}

static void
lines_end_with_cr_lf_or_both(void **state)
{
    (void)state;
    splits_into("data: a\r\n\r\ndata: b\r\n\r\n", "data: a\r\n\r\n|data: b\r\n\r\n|");
    splits_into("data: a\r\rdata: b\r\r", "data: a\r\r|data: b\r\r|");
    splits_into("data: a\n\rdata: b\r\n\ndata: c\r\n\r",
                "data: a\n\r|data: b\r\n\n|data: c\r\n\r|");
    splits_into("data: a\n\r\ndata: b\r\r\n", "data: a\n\r\n|data: b\r\r\n|");
}

static void
comments_and_blank_lines_are_events_too(void **state)
{
    (void)state;
    splits_into(": ping\n\n\n\ndata: a\n\n", ": ping\n\n|\n|\n|data: a\n\n|");
    splits_into("\r\n\r\n\n\r", "\r\n|\r\n|\n|\r|");
}

static void
the_last_may_lack_its_end(void **state)
{
    (void)state;
    splits_into("data: a\n\ndata: b\n", "data: a\n\n|data: b\n|");
    splits_into("data: a\n\ndata: b", "data: a\n\n|data: b|");
    splits_into("d", "d|");
    splits_into("data: a\r", "data: a\r|");
    splits_into("data: a\n\n ", "data: a\n\n| |");
}

static void
marks_and_other_bytes_are_of_their_lines(void **state)
{
    (void)state;
    splits_into("\xef\xbb\xbf\n\n", "\xef\xbb\xbf\n\n|");
    splits_into("\xef\xbb\xbf"
                "data: a\n\n\xff\x80\n\n",
                "\xef\xbb\xbf"
                "data: a\n\n|\xff\x80\n\n|");
}

static void
the_rest_of_a_line_end_begins_the_next_event(void **state)
{
    (void)state;
    struct calls_split s = { 0 };
    struct seen seen = { 0 };
    feed(&s, text_view("data: a\r\n\r"), &seen);
    assert_int_equal(seen.count, 1); /* it does not wait */
    feed(&s, text_view("\n"), &seen);
    assert_int_equal(seen.count, 1);
    feed(&s, text_view("data: b\n\n"), &seen);
    assert_int_equal(seen.count, 2);
    struct view second = event_of(&seen, 1);
    assert_int_equal(second.n, 10);
    assert_memory_equal(second.p, "\ndata: b\n\n", 10);
    assert_int_equal(calls_split_end(&s, note, &seen), 0);
    assert_int_equal(seen.count, 2);
    buf_release(&seen.all);
}

static void
any_bytes_come_back(void **state)
{
    (void)state;
    static const char *const parts[] = { "\n", "\r",      "\r\n",         "\n\n",
                                         "a",  "data: x", "\xef\xbb\xbf", "event: y" };
    for (uint32_t seed = 0; seed < 1500; seed++) {
        uint32_t rng = rng_seed(seed);
        AUTO(buf) stream = { 0 };
        struct seen seen;
        for (uint32_t n = rng_below(&rng, 30); n > 0; n--)
            buf_puts(&stream, parts[rng_below(&rng, 8)]);
        struct view bytes = { stream.p, stream.n };
        for (size_t cut = 0; cut <= bytes.n; cut++) {
            split(bytes, cut, &seen);
            holds(bytes, &seen);
            buf_release(&seen.all);
        }
    }
}

static void
it_is_as_new_after_the_end(void **state)
{
    (void)state;
    struct calls_split s = { 0 };
    struct seen seen = { 0 };
    feed(&s, text_view("data: a\r"), &seen);
    assert_int_equal(calls_split_end(&s, note, &seen), 0);
    assert_int_equal(calls_split_end(&s, note, &seen), 0);
    assert_int_equal(seen.count, 1);
    feed(&s, text_view("\ndata: b\n\n"), &seen);
    assert_int_equal(seen.count, 3);
    assert_int_equal(event_of(&seen, 1).n, 1);
    calls_split_release(&s);
    calls_split_release(&s);
    buf_release(&seen.all);
}

/* -- ceilings -- */

static void
an_event_over_the_ceiling_goes_on_as_another(void **state)
{
    (void)state;
    static const size_t steps[] = { SIZE_MAX / 2, 1 << 20, CALLS_EVENT_MAX,
                                    CALLS_EVENT_MAX - 1, 333333 };
    for (size_t i = 0; i < sizeof(steps) / sizeof(steps[0]); i++) {
        struct calls_split s = { 0 };
        struct seen seen = { .all.ceiling = 64 << 20 };
        AUTO(buf) all = { 0 };
        uint8_t *p = buf_grow(&all, 2 * CALLS_EVENT_MAX + 100);
        assert_non_null(p);
        memset(p, 'x', all.n);
        buf_puts(&all, "\r\n\r\ndata: b\n\n");
        for (size_t at = 0; at < all.n; at += steps[i]) {
            size_t n = steps[i] < all.n - at ? steps[i] : all.n - at;
            assert_int_equal(
                calls_split_feed(&s, (struct view){ all.p + at, n }, note, &seen), 0);
            assert_true(s.held.n < CALLS_EVENT_MAX);
            assert_true(s.held.cap <= (size_t)2 * CALLS_EVENT_MAX);
        }
        assert_int_equal(calls_split_end(&s, note, &seen), 0);
        assert_int_equal(seen.count, 4);
        assert_int_equal(event_of(&seen, 0).n, CALLS_EVENT_MAX);
        assert_int_equal(event_of(&seen, 1).n, CALLS_EVENT_MAX);
        assert_int_equal(event_of(&seen, 2).n, 104);
        assert_true(seen.all.n == all.n && !memcmp(seen.all.p, all.p, all.n));
        buf_release(&seen.all);
    }
}

/* The ceiling lies at each byte of an event's end once. */
static void
an_end_at_the_ceiling_is_found(void **state)
{
    (void)state;
    for (size_t before = CALLS_EVENT_MAX - 6; before <= CALLS_EVENT_MAX; before++) {
        struct calls_split s = { 0 };
        struct seen seen = { .all.ceiling = 64 << 20 };
        AUTO(buf) all = { 0 };
        uint8_t *p = buf_grow(&all, before);
        assert_non_null(p);
        memset(p, 'x', before);
        buf_puts(&all, "\r\n\r\ndata: b\n\n");
        assert_int_equal(calls_split_feed(&s, (struct view){ all.p, all.n }, note, &seen),
                         0);
        assert_int_equal(calls_split_end(&s, note, &seen), 0);
        assert_true(seen.all.n == all.n && !memcmp(seen.all.p, all.p, all.n));
        struct view last = event_of(&seen, seen.count - 1);
        assert_true(last.n >= 9 && last.n <= 10);
        assert_memory_equal(last.p + last.n - 9, "data: b\n\n", 9);
        assert_true(seen.count <= 3);
        buf_release(&seen.all);
    }
}

static int
refuse(void *ctx, struct view event, enum calls_split_end end)
{
    (void)end;
    (void)event;
    ++*(int *)ctx;
    return -EIO;
}

static void
an_error_of_the_reader_ends_the_reading(void **state)
{
    (void)state;
    struct calls_split s = { 0 };
    int calls = 0;
    assert_int_equal(calls_split_feed(&s, text_view("a\n\nb\n\n"), refuse, &calls), -EIO);
    assert_int_equal(calls, 1);
    assert_int_equal(calls_split_feed(&s, text_view("a"), refuse, &calls), 0);
    assert_int_equal(calls_split_feed(&s, text_view("\n\nb\n\n"), refuse, &calls), -EIO);
    assert_int_equal(calls, 2);
    assert_int_equal(calls_split_feed(&s, text_view("a"), refuse, &calls), 0);
    assert_int_equal(calls_split_end(&s, refuse, &calls), -EIO);
    assert_int_equal(calls, 3);
}

static int
remember(void *ctx, struct view event, enum calls_split_end end)
{
    (void)end;
    *(struct view *)ctx = event;
    return 0;
}

static void
an_event_in_one_piece_is_not_copied(void **state)
{
    (void)state;
    struct calls_split s = { 0 };
    struct view bytes = text_view("a\n\nb\n\n"), seen = { 0 };
    assert_int_equal(calls_split_feed(&s, bytes, remember, &seen), 0);
    assert_ptr_equal(seen.p, bytes.p + 3);
    assert_null(s.held.p);
    calls_split_release(&s);
}

int
main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(an_event_ends_with_its_blank_line),
        cmocka_unit_test(lines_end_with_cr_lf_or_both),
        cmocka_unit_test(comments_and_blank_lines_are_events_too),
        cmocka_unit_test(the_last_may_lack_its_end),
        cmocka_unit_test(marks_and_other_bytes_are_of_their_lines),
        cmocka_unit_test(the_rest_of_a_line_end_begins_the_next_event),
        cmocka_unit_test(any_bytes_come_back),
        cmocka_unit_test(it_is_as_new_after_the_end),
        cmocka_unit_test(an_event_over_the_ceiling_goes_on_as_another),
        cmocka_unit_test(an_end_at_the_ceiling_is_found),
        cmocka_unit_test(an_error_of_the_reader_ends_the_reading),
        cmocka_unit_test(an_event_in_one_piece_is_not_copied),
    };
    return cmocka_run_group_tests_name("split", tests, NULL, NULL);
}
