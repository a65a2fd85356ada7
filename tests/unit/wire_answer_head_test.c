/* SPDX-License-Identifier: MIT */
/* wire_answer_head_test.c -- heads of upstreams' replies: parts, framing, what is
 * refused.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "support/text_view.h"
#include "wire/answer_head.h"

static void
assert_view(struct view v, const char *want)
{
    assert_int_equal(v.n, strlen(want));
    assert_memory_equal(v.p, want, v.n);
}

/* "reason|name=value|name=value" */
static void
assert_head(const char *lines, const char *want)
{
    struct wire_answer_head h;
    const char *why = NULL;
    AUTO(buf) got = { 0 };
    assert_int_equal(wire_answer_head_read(text_view(lines), &h, &why), 0);
    assert_null(why);
    buf_append(&got, h.reason.p, h.reason.n);
    for (size_t i = 0; i < h.count; i++)
        buf_printf(&got, "|%.*s=%.*s", (int)h.headers[i].name.n,
                   (const char *)h.headers[i].name.p, (int)h.headers[i].value.n,
                   (const char *)h.headers[i].value.p);
    assert_string_equal(buf_str(&got), want);
}

static void
assert_refused(const char *lines, const char *because)
{
    struct wire_answer_head h;
    const char *why = NULL;
    assert_int_equal(wire_answer_head_read(text_view(lines), &h, &why), ERR_DAMAGED);
    assert_non_null(why);
    assert_non_null(strstr(why, because));
}

static void
a_head_has_its_parts(void **state)
{
    (void)state;
    assert_head("HTTP/1.1 200 OK\r\nServer: x\r\nX-A:  b  c \r\nx-empty:\r\n",
                "OK|Server=x|X-A=b  c|x-empty=");
    assert_head("HTTP/1.1 200\r\n", "");
    assert_head("HTTP/1.1 529 Site is overloaded\r\nA: b\r\nA: c\r\n",
                "Site is overloaded|A=b|A=c");
    assert_head("", "");
}

static void
lines_may_end_as_they_like(void **state)
{
    (void)state;
    assert_head("HTTP/1.1 200 OK\nA: b\nC: d", "OK|A=b|C=d");
    assert_head("HTTP/1.1 200 OK\r\nno colon\r\nC: d\r\n", "OK|C=d");
}

static void
a_reason_with_controls_is_none(void **state)
{
    (void)state;
    assert_head("HTTP/1.1 200 OK\rX-Evil: 1\r\nA: b\r\n", "|A=b");
    assert_head("HTTP/1.1 200 \x1b[31mred\r\n", "");
}

static void
the_length_beside_chunks_goes(void **state)
{
    (void)state;
    assert_head(
        "HTTP/1.1 200 OK\r\nContent-Length: 3\r\nA: b\r\nTransfer-Encoding: chunked\r\n",
        "OK|A=b|Transfer-Encoding=chunked");
    assert_head("HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\ncontent-length: 3\r\n",
                "OK|transfer-encoding=chunked");
}

static void
the_same_length_twice_is_one(void **state)
{
    (void)state;
    assert_head("HTTP/1.1 200 OK\r\nContent-Length: 3\r\ncontent-length: 3\r\nA: b\r\n",
                "OK|Content-Length=3|A=b");
}

static void
lengths_that_differ_or_are_none_are_refused(void **state)
{
    static const char *const none[] = {
        "", "-1", "+1", "1 2", "1,1", "0x1", "1;", "a", "1e3", "99999999999999999999"
    };
    (void)state;
    assert_refused("HTTP/1.1 200 OK\r\nContent-Length: 5\r\nContent-Length: 3\r\n",
                   "differ");
    for (size_t i = 0; i < sizeof(none) / sizeof(none[0]); i++) {
        AUTO(buf) head = { 0 };
        buf_printf(&head, "HTTP/1.1 200 OK\r\nContent-Length: %s\r\n", none[i]);
        assert_refused(buf_str(&head), "no plain number");
    }
}

static void
more_headers_than_are_passed_on_are_refused(void **state)
{
    struct wire_answer_head h;
    const char *why;
    AUTO(buf) head = { 0 };
    (void)state;
    buf_puts(&head, "HTTP/1.1 200 OK\r\n");
    for (int i = 0; i < CALLS_HEADERS_MAX; i++)
        buf_puts(&head, "a: b\r\n");
    assert_int_equal(wire_answer_head_read(text_view(buf_str(&head)), &h, &why), 0);
    assert_int_equal(h.count, CALLS_HEADERS_MAX);
    assert_view(h.headers[CALLS_HEADERS_MAX - 1].value, "b");
    buf_puts(&head, "a: b\r\n");
    assert_refused(buf_str(&head), "more than 256");
}

int
main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_head_has_its_parts),
        cmocka_unit_test(lines_may_end_as_they_like),
        cmocka_unit_test(a_reason_with_controls_is_none),
        cmocka_unit_test(the_length_beside_chunks_goes),
        cmocka_unit_test(the_same_length_twice_is_one),
        cmocka_unit_test(lengths_that_differ_or_are_none_are_refused),
        cmocka_unit_test(more_headers_than_are_passed_on_are_refused),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
