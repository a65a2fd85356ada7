/* SPDX-License-Identifier: MIT */
/* wire_chunks_test.c -- bodies in chunks, however they are cut: data, ends, what is none.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>

#include <cmocka.h>

#include "support/text_view.h"
#include "wire/chunks.h"

/* A piece in memory of its own, so that a sanitizer sees who reads behind it. *used grows
 * by what was taken. */
static int
feed(struct wire_chunks *c, struct view piece, struct buf *data, size_t *used)
{
    uint8_t *own = malloc(piece.n ? piece.n : 1);
    assert_non_null(own);
    if (piece.n)
        memcpy(own, piece.p, piece.n);
    struct view rest = { own, piece.n }, at;
    int r;
    while ((r = wire_chunks_next(c, &rest, &at)) == 1) {
        assert_true(at.n > 0);
        assert_ptr_equal(at.p + at.n, rest.p);
        buf_append(data, at.p, at.n);
    }
    assert_ptr_equal(rest.p + rest.n, own + piece.n);
    assert_true(r != 0 || !rest.n);
    *used += piece.n - rest.n;
    free(own);
    return r;
}

/* Cut into two at `cut`, or with 0 into bytes. */
static int
read_cut(struct view bytes, size_t cut, struct buf *data, size_t *used)
{
    struct wire_chunks c = { 0 };
    size_t step = cut ? cut : 1;
    int r = 0;
    for (size_t at = 0; at < bytes.n && r == 0; at += step, step = cut ? bytes.n : 1)
        r = feed(&c,
                 (struct view){ bytes.p + at, step < bytes.n - at ? step : bytes.n - at },
                 data, used);
    if (r == 0)
        return 0;
    struct view more = text_view("0\r\n\r\n"), unused = { 0 };
    for (int i = 0; i < 2; i++) {
        assert_int_equal(wire_chunks_next(&c, &more, &unused), r);
        assert_int_equal(more.n, 5);
        assert_int_equal(wire_chunks_next(&c, &(struct view){ 0 }, &unused), r);
    }
    return r;
}

/* So much of it is taken, and that is the data, wherever it is cut. */
static void
assert_view(struct view bytes, int want, size_t used, const char *data)
{
    for (size_t cut = 0; cut <= bytes.n; cut++) {
        AUTO(buf) out = { 0 };
        size_t n = 0;
        assert_int_equal(read_cut(bytes, cut, &out, &n), want);
        assert_int_equal(n, used);
        assert_string_equal(buf_str(&out), data);
    }
}

/* A whole body; it ends there, and is not over before. */
static void
assert_body(const char *bytes, const char *data)
{
    struct view whole = text_view(bytes);
    AUTO(buf) more = { 0 };
    assert_view(whole, 2, whole.n, data);
    for (size_t n = 0; n < whole.n; n++) {
        AUTO(buf) out = { 0 };
        size_t used = 0;
        assert_int_equal(read_cut((struct view){ whole.p, n }, n, &out, &used), 0);
    }
    buf_puts(&more, bytes);
    buf_puts(&more, "GET /");
    assert_view((struct view){ more.p, more.n }, 2, whole.n, data);
}

/* Damaged at its last byte, also with more behind it. */
static void
assert_damaged(const char *bytes, const char *data)
{
    struct view whole = text_view(bytes);
    AUTO(buf) more = { 0 };
    assert_view((struct view){ whole.p, whole.n - 1 }, 0, whole.n - 1, data);
    assert_view(whole, ERR_DAMAGED, whole.n - 1, data);
    buf_puts(&more, bytes);
    buf_puts(&more, "\r\n0\r\n\r\n");
    assert_view((struct view){ more.p, more.n }, ERR_DAMAGED, whole.n - 1, data);
}

static void
assert_all_damaged(const char *const *all)
{
    for (; *all; all++)
        assert_damaged(*all, "");
}

/* -- bodies -- */

static void
the_data_of_all_chunks_is_the_body(void **state)
{
    (void)state;
    assert_body("0\r\n\r\n", "");
    assert_body("5\r\nhello\r\n0\r\n\r\n", "hello");
    assert_body("3\r\nhel\r\n2\r\nlo\r\n0\r\n\r\n", "hello");
    assert_body(
        "a\r\n0123456789\r\nB\r\nabcdefghijk\r\n10\r\n0123456789abcdef\r\n0\r\n\r\n",
        "0123456789abcdefghijk0123456789abcdef");
    assert_body("9\r\n012345678\r\nf\r\n0123456789abcde\r\n0\r\n\r\n",
                "0123456780123456789abcde");
}

static void
data_may_look_like_anything(void **state)
{
    (void)state;
    assert_body("7\r\n\r\n0\r\n\r\n\r\n0\r\n\r\n", "\r\n0\r\n\r\n");
    assert_body("1\r\n\n\r\n1\r\n\r\r\n0\r\n\r\n", "\n\r");
}

static void
a_size_may_begin_with_zeros(void **state)
{
    (void)state;
    assert_body("0000000000000001\r\na\r\n0000000000000000\r\n\r\n", "a");
}

static void
extensions_are_passed_over(void **state)
{
    (void)state;
    assert_body("1;a\r\nx\r\n1;a=b;c=\"d;\te\\\"\xff\"\r\ny\r\n0;last\r\n\r\n", "xy");
    assert_body("1;\r\nx\r\n0;\r\n\r\n", "x");
}

static void
trailers_are_passed_over(void **state)
{
    (void)state;
    assert_body("1\r\nx\r\n0\r\nA: b\r\nDigest:\r\nC:\t\x80 d\r\n\r\n", "x");
    assert_body("0\r\n0: 0\r\n\r\n", "");
}

static void
data_is_not_copied(void **state)
{
    (void)state;
    struct wire_chunks c = { 0 };
    struct view bytes = text_view("5\r\nhello"), rest = bytes, data;
    assert_int_equal(wire_chunks_next(&c, &rest, &data), 1);
    assert_ptr_equal(data.p, bytes.p + 3);
    assert_int_equal(data.n, 5);
}

/* -- damage -- */

static void
a_size_is_hexadecimal_digits(void **state)
{
    (void)state;
    static const char *const all[] = { "\r", "\n", ";",   " ",  "g",     "-",  "+",
                                       "0x", "5 ", "5\t", "5,", "5\x80", "5g", "5.",
                                       "/",  ":",  "@",   "G",  "`",     "\"", NULL };
    assert_all_damaged(all);
}

static void
a_line_ends_with_cr_lf(void **state)
{
    (void)state;
    static const char *const all[] = { "5\n",
                                       "5\r\r",
                                       "5\ra",
                                       "5;a\n",
                                       "5;\r\r",
                                       "5;\"\r\"",
                                       "0\r\n\n",
                                       "0\r\n\r\r",
                                       "0\r\n\rA",
                                       "0\r\nA: b\n",
                                       "0\r\nA: b\r\r",
                                       "0\r\nA: b\rc",
                                       "0\r\nA: b\r\n\n",
                                       NULL };
    assert_all_damaged(all);
}

static void
data_ends_where_its_size_says(void **state)
{
    (void)state;
    assert_damaged("1\r\nab", "a");
    assert_damaged("1\r\na\n", "a");
    assert_damaged("1\r\na\r\r", "a");
    assert_damaged("1\r\na\ra", "a");
    assert_damaged("1\r\na0", "a");
    assert_damaged("1\r\na\r\n\r", "a");
    assert_damaged("1\r\na\r\n\n", "a");
}

static void
control_characters_are_damage(void **state)
{
    (void)state;
    static const char *const all[] = { "5;\x01",       "5;a\x7f",
                                       "5;\x1b",       "0\r\nA\x01",
                                       "0\r\nA: \x7f", "0\r\nA: \x08",
                                       "0\r\nA: \x1f", NULL };
    assert_all_damaged(all);
    static const uint8_t nul[] = "5;\0", in_trailer[] = "0\r\nA:\0";
    assert_view((struct view){ nul, 3 }, ERR_DAMAGED, 2, "");
    assert_view((struct view){ in_trailer, 6 }, ERR_DAMAGED, 5, "");
}

static void
a_trailer_is_a_field_line(void **state)
{
    (void)state;
    static const char *const all[] = {
        "0\r\n ",         "0\r\n\t",   "0\r\n:",     "0\r\nA ", "0\r\nA\r",
        "0\r\nA: b\r\n ", "0\r\nGET ", "0\r\nA\x80", "0\r\n{",  NULL
    };
    assert_all_damaged(all);
}

/* -- ceilings -- */

static void
a_size_over_its_ceiling_is_damage(void **state)
{
    (void)state;
    assert_damaged("4000000000000001", "");
    assert_damaged("8000000000000000", "");
    assert_damaged("ffffffffffffffff", "");
    assert_damaged("00000000000000000", "");
    assert_damaged("00000000000000001", "");
    struct wire_chunks c = { 0 };
    struct view rest = text_view("4000000000000000\r\na"), data;
    assert_int_equal(wire_chunks_next(&c, &rest, &data), 1);
    assert_int_equal(data.n, 1);
    assert_int_equal(wire_chunks_next(&c, &rest, &data), 0);
}

static void
put_many(struct buf *out, char c, size_t n)
{
    uint8_t *p = buf_grow(out, n);
    assert_non_null(p);
    memset(p, c, n);
}

static int
read_whole(const struct buf *bytes, size_t *used)
{
    AUTO(buf) data = { 0 };
    struct view whole = { bytes->p, bytes->n };
    *used = 0;
    return read_cut(whole, whole.n, &data, used);
}

static void
an_extension_over_its_ceiling_is_damage(void **state)
{
    (void)state;
    AUTO(buf) body = { 0 };
    size_t used;
    buf_puts(&body, "0;");
    put_many(&body, 'a', WIRE_CHUNK_LINE_MAX - 2);
    assert_int_equal(read_whole(&body, &used), 0);
    buf_puts(&body, "\r\n\r\n");
    assert_int_equal(read_whole(&body, &used), 2);
    body.n -= 4;
    buf_puts(&body, "a");
    assert_int_equal(read_whole(&body, &used), ERR_DAMAGED);
    assert_int_equal(used, WIRE_CHUNK_LINE_MAX);
}

static void
trailers_over_their_ceiling_are_damage(void **state)
{
    (void)state;
    AUTO(buf) body = { 0 };
    size_t used;
    buf_puts(&body, "0\r\n");
    for (int i = 0; i < WIRE_TRAILERS_MAX / 4; i++)
        buf_puts(&body, "A:\r\n");
    assert_int_equal(read_whole(&body, &used), 0);
    buf_puts(&body, "\r\n");
    assert_int_equal(read_whole(&body, &used), 2);
    body.n -= 2;
    buf_puts(&body, "A");
    assert_int_equal(read_whole(&body, &used), ERR_DAMAGED);
    assert_int_equal(used, 3 + WIRE_TRAILERS_MAX);
}

int
main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_data_of_all_chunks_is_the_body),
        cmocka_unit_test(data_may_look_like_anything),
        cmocka_unit_test(a_size_may_begin_with_zeros),
        cmocka_unit_test(extensions_are_passed_over),
        cmocka_unit_test(trailers_are_passed_over),
        cmocka_unit_test(data_is_not_copied),
        cmocka_unit_test(a_size_is_hexadecimal_digits),
        cmocka_unit_test(a_line_ends_with_cr_lf),
        cmocka_unit_test(data_ends_where_its_size_says),
        cmocka_unit_test(control_characters_are_damage),
        cmocka_unit_test(a_trailer_is_a_field_line),
        cmocka_unit_test(a_size_over_its_ceiling_is_damage),
        cmocka_unit_test(an_extension_over_its_ceiling_is_damage),
        cmocka_unit_test(trailers_over_their_ceiling_are_damage),
    };
    return cmocka_run_group_tests_name("wire_chunks", tests, NULL, NULL);
}
