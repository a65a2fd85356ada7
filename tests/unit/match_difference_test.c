/* SPDX-License-Identifier: MIT */
/* match_difference_test.c -- where two requests first differ, and how much they are
 * alike; documents by seed with one change in them. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>

#include <cmocka.h>

#include "support/match_kit.h"
#include "support/rng.h"
#include "support/text_view.h"

/* -- random documents -- */

enum { DOCUMENTS = 300, LEAVES_MAX = 512, DEPTH_MAX = 5 };

/*
 * What a document says comes from its seed, and how it is written from `look`. One leaf
 * may be another than the seed says; what a person calls each leaf is remembered.
 */
struct document {
    uint32_t look;
    bool is_plain; /* written as the normal form has it */
    uint32_t planted;
    struct buf out, path;
    uint32_t leaves[LEAVES_MAX];
    struct buf paths[LEAVES_MAX];
    size_t n;
};

static void
document_release(struct document *d)
{
    buf_release(&d->out);
    buf_release(&d->path);
    for (size_t i = 0; i < d->n; i++)
        buf_release(&d->paths[i]);
}

static void
put_blanks(struct document *d)
{
    static const char *const blanks[] = { "", "", " ", "\n\t", "\r\n  " };
    if (!d->is_plain)
        buf_puts(&d->out, blanks[rng_below(&d->look, 5)]);
}

static uint32_t
child_of(uint32_t seed, uint32_t i)
{
    uint32_t s = rng_seed(seed ^ (i + 1) * 40503U);
    rng_next(&s);
    return rng_next(&s);
}

static void
put_word(struct document *d, uint32_t v)
{
    static const char *const words[] = {
        "the bug",  "is fixed",         "caf\xc3\xa9", "\\n", "\\\"q\\\"",
        "/usr/lib", "\xf0\x9f\x98\x80", "x = [1, 2];", "",    "\\u0001"
    };
    buf_puts(&d->out, "\"");
    for (uint32_t i = 0; i < 3; i++)
        buf_puts(&d->out, words[(v >> 4 * i) % (sizeof(words) / sizeof(words[0]))]);
    buf_printf(&d->out, "%u\"", v % 9973);
}

static void
put_leaf(struct document *d, uint32_t seed)
{
    uint32_t v = d->planted && d->planted == seed ? child_of(seed, 77) : seed;
    if (d->n < LEAVES_MAX) {
        d->leaves[d->n] = seed;
        d->paths[d->n] = (struct buf){ 0 };
        buf_append(&d->paths[d->n++], d->path.p, d->path.n);
    }
    switch (v % 8) {
    case 0:
        buf_puts(&d->out, "true");
        break;
    case 1:
        buf_puts(&d->out, "null");
        break;
    case 2:
    case 3:
        buf_printf(&d->out, "%u.%u", v % 1000, v % 7);
        break;
    default:
        put_word(d, v);
    }
}

static void put_node(struct document *d, uint32_t seed, unsigned depth);

/* In the order of `look`; the keys are such as no rule knows. */
static void
put_members(struct document *d, uint32_t seed, uint32_t count, unsigned depth)
{
    static const char *const keys[] = { "alpha", "beta",  "content", "delta key",
                                        "eps.x", "input", "role",    "zeta" };
    uint32_t order[8] = { 0 };
    size_t path = d->path.n;
    for (uint32_t i = 0; i < count; i++) {
        uint32_t k = d->is_plain ? i : rng_below(&d->look, i + 1);
        order[i] = order[k];
        order[k] = i;
    }
    buf_puts(&d->out, "{");
    for (uint32_t i = 0; i < count; i++) {
        const char *key = keys[order[i]];
        buf_puts(&d->out, i ? "," : "");
        put_blanks(d);
        buf_printf(&d->out, "\"%s\"", key);
        put_blanks(d);
        buf_puts(&d->out, ":");
        put_blanks(d);
        bool is_plain = !strpbrk(key, " .");
        buf_printf(&d->path, is_plain ? "%s%s" : "%.0s[\"%s\"]", path ? "." : "", key);
        put_node(d, child_of(seed, order[i]), depth);
        put_blanks(d);
        d->path.n = path;
    }
    buf_puts(&d->out, "}");
}

static void
put_node(struct document *d, uint32_t seed, unsigned depth)
{
    uint32_t s = rng_seed(seed), kind = rng_below(&s, 10), count = rng_below(&s, 9);
    size_t path = d->path.n;
    if (depth == DEPTH_MAX || kind < 2) {
        put_members(d, seed, depth == DEPTH_MAX ? 8 : count, depth ? depth - 1 : 0);
    } else if (depth && kind < 5) {
        buf_puts(&d->out, "[");
        for (uint32_t i = 0; i < count; i++) {
            buf_puts(&d->out, i ? "," : "");
            put_blanks(d);
            buf_printf(&d->path, "[%u]", i);
            put_node(d, child_of(seed, i), depth - 1);
            d->path.n = path;
        }
        put_blanks(d);
        buf_puts(&d->out, "]");
    } else {
        put_leaf(d, seed);
    }
}

static void
document_make(struct document *d, uint32_t seed, uint32_t look, uint32_t planted)
{
    *d = (struct document){
        .look = rng_seed(look),
        .is_plain = !look,
        .planted = planted,
        .out = { .ceiling = SIZE_MAX },
    };
    put_node(d, seed, DEPTH_MAX);
}

static struct calls_asked
asked(const struct document *d)
{
    return match_post("/v1/x", (struct view){ d->out.p, d->out.n });
}

static void
order_and_blanks_do_not_matter(void **state)
{
    (void)state;
    for (uint32_t seed = 1; seed <= DOCUMENTS; seed++) {
        struct document a, b, plain;
        AUTO(buf) body = { .ceiling = SIZE_MAX };
        document_make(&a, seed, seed, 0);
        document_make(&b, seed, seed + 1000, 0);
        document_make(&plain, seed, 0, 0);
        assert_true(match_is_same(asked(&a), asked(&b)));
        match_normal_body(asked(&a), &body);
        assert_int_equal(body.n, plain.out.n);
        assert_memory_equal(body.p, plain.out.p, body.n);
        document_release(&a);
        document_release(&b);
        document_release(&plain);
    }
}

/* Of leaves whose seed is the same one is told; such are left out. */
static bool
is_alone(const struct document *d, size_t at)
{
    for (size_t i = 0; i < d->n; i++)
        if (i != at && d->leaves[i] == d->leaves[at])
            return false;
    return true;
}

static void
the_one_change_of_a_document_is_named(void **state)
{
    (void)state;
    size_t named = 0;
    for (uint32_t seed = 1; seed <= DOCUMENTS; seed++) {
        struct document a, b;
        AUTO(buf) line = { 0 };
        document_make(&a, seed, seed, 0);
        uint32_t s = rng_seed(seed);
        size_t at = a.n ? rng_below(&s, (uint32_t)a.n) : 0;
        document_make(&b, seed, seed + 1000, a.n ? a.leaves[at] : 0);
        match_difference(asked(&a), asked(&b), &line);
        if (line.n && a.n && is_alone(&a, at)) { /* the other leaf may say the same */
            buf_puts(&a.paths[at], ": recorded ");
            if (strncmp(buf_str(&line), buf_str(&a.paths[at]), a.paths[at].n) != 0)
                fail_msg("seed %u: %s\nis not at %s", seed, buf_str(&line),
                         buf_str(&a.paths[at]));
            named++;
        }
        document_release(&a);
        document_release(&b);
    }
    assert_true(named > DOCUMENTS / 2);
}

/* -- differences -- */

static void
assert_told(const char *a, const char *b, const char *want)
{
    AUTO(buf) line = { 0 };
    match_difference(match_message(a), match_message(b), &line);
    assert_string_equal(buf_str(&line), want);
}

static void
a_difference_is_named_with_what_stands_there(void **state)
{
    (void)state;
    assert_told("{\"messages\":[{\"role\":\"user\"},{\"content\":[{\"text\":\"one\"}]}]}",
                "{\"messages\":[{\"role\":\"user\"},{\"content\":[{\"text\":\"two\"}]}]}",
                "messages[1].content[0].text: recorded \"one\", asked \"two\"");
    assert_told("{\"a\":1}", "{\"a\":2}", "a: recorded 1, asked 2");
    assert_told("{\"a\":1}", "{\"a\":\"1\"}", "a: recorded 1, asked \"1\"");
    assert_told("{\"a\":{}}", "{\"a\":[1]}", "a: recorded {}, asked [1]");
    assert_told("{\"a b\":{\"c\":1}}", "{\"a b\":{\"c\":2}}",
                "[\"a b\"].c: recorded 1, asked 2");
    assert_told("1", "2", "body: recorded 1, asked 2");
    assert_told("[1]", "[2]", "[0]: recorded 1, asked 2");
    assert_told("", "{\"a\":1}", "body: recorded missing, asked {\"a\":1}");
    assert_told("a text", "{\"a\":1}", "body: recorded \"a text\", asked {\"a\":1}");
    assert_told("a text", "a word", "body: recorded \"a text\", asked \"a word\"");
}

static void
members_and_items_that_are_missing_are_told(void **state)
{
    (void)state;
    assert_told("{\"a\":1,\"b\":2}", "{\"b\":2}", "a: recorded 1, asked missing");
    assert_told("{\"b\":2}", "{\"b\":2,\"c\":[]}", "c: recorded missing, asked []");
    assert_told("{\"m\":[1,2,3]}", "{\"m\":[1,2,3,{\"a\":1}]}",
                "m: recorded 3 items, asked 4; the 4th is {\"a\":1}");
    assert_told("{\"m\":[1]}", "{\"m\":[]}", "m: recorded 1 item, asked 0; the 1st is 1");
    assert_told("{\"m\":[1,2,3,4]}", "{\"m\":[1]}",
                "m: recorded 4 items, asked 1; the 2nd is 2");
    assert_told("[1,2,3,4,5,6,7,8,9,10]", "[1,2,3,4,5,6,7,8,9,10,11]",
                "body: recorded 10 items, asked 11; the 11th is 11");
}

static void
things_of_another_kind_are_told_by_it(void **state)
{
    (void)state;
    assert_told("{\"m\":[{\"content\":\"a\",\"role\":\"user\"}]}",
                "{\"m\":[{\"content\":\"b\",\"role\":\"system\"}]}",
                "m[0].role: recorded \"user\", asked \"system\"");
    assert_told("{\"c\":[{\"id\":1,\"type\":\"tool_use\"}]}",
                "{\"c\":[{\"text\":\"x\",\"type\":\"text\"}]}",
                "c[0].type: recorded \"tool_use\", asked \"text\"");
    assert_told("{\"t\":[{\"description\":\"a\",\"name\":\"x\"}]}",
                "{\"t\":[{\"description\":\"b\",\"name\":\"y\"}]}",
                "t[0].name: recorded \"x\", asked \"y\"");
    assert_told("{\"a\":1,\"type\":\"x\"}", "{\"a\":2,\"type\":\"x\"}",
                "a: recorded 1, asked 2");
    assert_told("{\"a\":1,\"type\":\"x\"}", "{\"a\":2,\"type\":1}",
                "a: recorded 1, asked 2");
    assert_told("{\"a\":1,\"type\":\"x\"}", "{\"a\":2}", "a: recorded 1, asked 2");
}

static void
where_it_is_the_same_again_little_is_shown(void **state)
{
    (void)state;
    assert_told("\"You mend files. They are many, and all of them are in this folder.\"",
                "\"You break files. They are many, and all of them are in this folder.\"",
                "body: recorded \"You mend files. They are many, and all…\", "
                "asked \"You break files. They are many, and all…\"");
    assert_told("\"abcabc\"", "\"abc\"", "body: recorded \"abcabc\", asked \"abc\"");
    /* it is cut behind a character */
    assert_told("\"1 aaaaaaaaaaaaaaaaaaaaaaaaaaaa\xc3\xa9\xc3\xa9\xc3\xa9\"",
                "\"2 aaaaaaaaaaaaaaaaaaaaaaaaaaaa\xc3\xa9\xc3\xa9\xc3\xa9\"",
                "body: recorded \"1 aaaaaaaaaaaaaaaaaaaaaaaaaaaa\xc3\xa9…\", "
                "asked \"2 aaaaaaaaaaaaaaaaaaaaaaaaaaaa\xc3\xa9…\"");
}

static void
method_and_path_come_first(void **state)
{
    (void)state;
    struct calls_asked a = match_message("{\"a\":1}"), b = match_message("{\"a\":2}");
    AUTO(buf) line = { 0 };
    b.url = text_view("/v1/complete?key=1");
    match_difference(a, b, &line);
    assert_string_equal(buf_str(&line),
                        "path: recorded \"/v1/messages\", asked \"/v1/complete\"");
    buf_clear(&line);
    b.method = text_view("GET");
    match_difference(a, b, &line);
    assert_string_equal(buf_str(&line), "method: recorded \"POST\", asked \"GET\"");
}

static void
long_values_are_cut_around_the_place(void **state)
{
    (void)state;
    AUTO(buf) a = { 0 };
    AUTO(buf) b = { 0 };
    AUTO(buf) line = { 0 };
    for (int i = 0; i < 2; i++) {
        struct buf *out = i ? &b : &a;
        buf_puts(out, "{\"text\":\"");
        for (int k = 0; k < 1000; k++)
            buf_puts(out, k == 500 && i ? "other " : "word\\n\xc3\xa9 ");
        buf_puts(out, "\"}");
    }
    match_difference(match_message(buf_str(&a)), match_message(buf_str(&b)), &line);
    const char *told = buf_str(&line);
    assert_non_null(strstr(told, "text: recorded \"\xe2\x80\xa6"));
    assert_non_null(strstr(told, "word\\n\xc3\xa9 other word"));
    assert_non_null(strstr(told, "\xe2\x80\xa6\", asked \"\xe2\x80\xa6"));
    assert_non_null(strstr(told, "\", asked \""));
    assert_true(line.n > 200 && line.n < 300);
}

static void
a_difference_is_one_clean_line(void **state)
{
    (void)state;
    assert_told("\"a\\u001b[31m\\u0085\\u202e\\\"\\\\\\t\"", "\"b\"",
                "body: recorded \"a\\u001b[31m\\u0085\\u202e\\\"\\\\\\t\", asked \"b\"");
    assert_told("\xff\x1b", "\xff\x1c",
                "body: recorded \"\xef\xbf\xbd\\u001b\", asked \"\xef\xbf\xbd\\u001c\"");
    assert_told("{\"\\u0085\":1}", "{\"\\u0085\":2}",
                "[\"\\u0085\"]: recorded 1, asked 2");
    /* characters whose first bytes are the same */
    assert_told("\"\xc3\xa9\"", "\"\xc3\xa8\"",
                "body: recorded \"\xc3\xa9\", asked \"\xc3\xa8\"");
}

static void
a_long_path_is_cut_in_its_middle(void **state)
{
    (void)state;
    AUTO(buf) a = { 0 };
    AUTO(buf) line = { 0 };
    for (int i = 0; i < 200; i++)
        buf_printf(&a, "{\"key number %d\":", i);
    buf_puts(&a, "1");
    for (int i = 0; i < 200; i++)
        buf_puts(&a, "}");
    AUTO(buf) b = { 0 };
    buf_append(&b, a.p, a.n);
    b.p[b.n - 201] = '2';
    match_difference(match_message(buf_str(&a)), match_message(buf_str(&b)), &line);
    assert_non_null(strstr(buf_str(&line), "[\"key number 0\"]"));
    assert_non_null(strstr(buf_str(&line), "[\"key number 199\"]: recorded 1, asked 2"));
}

/* -- likeness -- */

static unsigned
alike(const char *a, const char *b)
{
    return calls_match_likeness(text_view(a), text_view(b));
}

static void
likeness_counts_how_they_begin_and_end(void **state)
{
    (void)state;
    assert_int_equal(alike("", ""), 1000);
    assert_int_equal(alike("", "a"), 0);
    assert_int_equal(alike("abcd", "abcd"), 1000);
    assert_int_equal(alike("abcd", "abxd"), 750);
    assert_int_equal(alike("ab", "abcd"), 500);
    assert_int_equal(alike("aaaa", "aaa"), 750);
    assert_int_equal(alike("xy", "ab"), 0);
}

static void
likeness_of_long_ones_is_exact(void **state)
{
    (void)state;
    enum { BYTES = 20000 };
    static uint8_t a[BYTES], b[BYTES];
    struct view x = { a, BYTES }, y = { b, BYTES };
    for (size_t at = 0; at < BYTES; at += 997) {
        b[at] = 1;
        assert_int_equal(calls_match_likeness(x, y), 999);
        b[at] = 0;
    }
    b[5000] = b[14999] = 1;
    assert_int_equal(calls_match_likeness(x, y), 500);
}

static unsigned
near(const char *a, const char *b)
{
    return calls_match_nearness(text_view(a), text_view(b));
}

static void
of_two_that_are_as_much_alike_the_one_at_the_same_address_is_nearer(void **state)
{
    (void)state;
    assert_int_equal(near("POST /a\nabcd", "POST /a\nabcd"), 1500);
    assert_int_equal(near("POST /a\nabcd", "POST /b\nabcd"), 1000);
    assert_int_equal(near("POST /a\nabcd", "POST /a\nabxd"), 1250);
    assert_int_equal(near("GET /a\n", "GET /b\n"), 1000);
    assert_int_equal(near("GET /a\n", "POST /a\nabcd"), 0);
    assert_int_equal(near("", ""), 1500);
}

static unsigned
near_by_outline(struct view a, struct view b)
{
    struct calls_outline x, y;
    assert_int_equal(calls_outline_make(a, &x), 0);
    assert_int_equal(calls_outline_make(b, &y), 0);
    unsigned nearness = calls_outline_nearness(&x, &y);
    assert_int_equal(calls_outline_nearness(&y, &x), nearness);
    calls_outline_release(&x);
    calls_outline_release(&y);
    return nearness;
}

/* Two texts of which the second lacks or has other bytes somewhere. */
static void
an_outline_knows_all_but_the_pieces_that_are_cut(void **state)
{
    (void)state;
    enum { ROUNDS = 2000, BYTES_MOST = 30000, PIECE_SMALL = 16, PIECE_MOST = 1024 };
    static uint8_t a[BYTES_MOST + 8] = "GET /x\n", b[BYTES_MOST + 8];
    for (uint32_t seed = 1; seed <= ROUNDS; seed++) {
        uint32_t rng = rng_seed(seed);
        size_t n = rng_below(&rng, seed % 2 ? 200 : BYTES_MOST), head = 7;
        size_t at = n ? rng_below(&rng, (uint32_t)n) : 0;
        size_t gone = n ? rng_below(&rng, (uint32_t)(n - at)) : 0;
        for (size_t i = 0; i < n; i++)
            a[head + i] = (uint8_t)rng_below(&rng, 256);
        memcpy(b, a, head + n);
        if (seed % 3)
            memmove(b + head + at, b + head + at + gone, n - at - gone);
        else if (n)
            b[head + at] ^= 1;
        struct view x = { a, head + n }, y = { b, head + n - (seed % 3 ? gone : 0) };
        unsigned exact = calls_match_nearness(x, y), rough = near_by_outline(x, y);
        size_t piece = n <= 1000 ? PIECE_SMALL : PIECE_MOST;
        assert_true(rough <= exact);
        assert_true(exact - rough <= (n ? 2 * piece * 1000 / n + 1 : 0));
    }
    assert_int_equal(near_by_outline((struct view){ 0 }, (struct view){ 0 }), 1500);
}

int
main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(order_and_blanks_do_not_matter),
        cmocka_unit_test(the_one_change_of_a_document_is_named),
        cmocka_unit_test(a_difference_is_named_with_what_stands_there),
        cmocka_unit_test(members_and_items_that_are_missing_are_told),
        cmocka_unit_test(things_of_another_kind_are_told_by_it),
        cmocka_unit_test(where_it_is_the_same_again_little_is_shown),
        cmocka_unit_test(method_and_path_come_first),
        cmocka_unit_test(long_values_are_cut_around_the_place),
        cmocka_unit_test(a_difference_is_one_clean_line),
        cmocka_unit_test(a_long_path_is_cut_in_its_middle),
        cmocka_unit_test(likeness_counts_how_they_begin_and_end),
        cmocka_unit_test(likeness_of_long_ones_is_exact),
        cmocka_unit_test(
            of_two_that_are_as_much_alike_the_one_at_the_same_address_is_nearer),
        cmocka_unit_test(an_outline_knows_all_but_the_pieces_that_are_cut),
    };
    return cmocka_run_group_tests_name("match_difference", tests, NULL, NULL);
}
