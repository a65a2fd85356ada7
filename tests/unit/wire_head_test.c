/* SPDX-License-Identifier: MIT */
/* wire_head_test.c -- heads of requests: what they say, what is refused and at which
 * byte, however they come. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>

#include <cmocka.h>

#include "support/text_view.h"
#include "wire/head.h"

#define HOST     "Host: a\r\n"
#define GET      "GET / HTTP/1.1\r\n"
#define GET_HOST GET HOST

/* The bytes of a literal, NUL among them. */
#define BYTES(s)                                      \
    {                                                 \
        (const uint8_t *)"" s "", sizeof("" s "") - 1 \
    }

/* In memory of its own, so that a sanitizer sees who reads behind it; what is found is
 * told from there. */
struct result {
    int r;
    struct wire_head head;
    struct wire_refusal why;
    uint8_t *own;
};

static void
parse(struct view bytes, struct result *ret)
{
    *ret = (struct result){ .own = malloc(bytes.n ? bytes.n : 1) };
    assert_non_null(ret->own);
    if (bytes.n)
        memcpy(ret->own, bytes.p, bytes.n);
    ret->r = wire_head_parse((struct view){ ret->own, bytes.n }, &ret->head, &ret->why);
}

static int
parse_only(struct view bytes)
{
    struct result result;
    parse(bytes, &result);
    free(result.own);
    return result.r;
}

static void
put(struct buf *out, const char *before, struct view v)
{
    buf_puts(out, before);
    buf_append(out, v.p, v.n);
}

/* METHOD target minor host, flags; then `name=value` a header. */
static void
show(const struct wire_head *h, struct buf *out)
{
    buf_clear(out);
    put(out, "", h->method);
    put(out, " ", h->target);
    buf_printf(out, " %u ", h->minor);
    put(out, "", h->host);
    if (h->has_body && !h->is_chunked)
        buf_printf(out, " length=%llu", (unsigned long long)h->length);
    buf_puts(out, h->is_chunked ? " chunked" : "");
    buf_puts(out, h->wants_continue ? " continue" : "");
    buf_puts(out, h->keeps_alive ? " alive" : "");
    buf_puts(out, h->wants_upgrade ? " upgrade" : "");
    for (size_t i = 0; i < h->header_count; i++) {
        put(out, "|", h->headers[i].name);
        put(out, "=", h->headers[i].value);
    }
}

/* The same at its end and with more behind it; nothing is said before it is whole. */
static void
assert_head(const char *bytes, const char *want)
{
    AUTO(buf) more = { 0 }, out = { 0 };
    struct view whole = text_view(bytes);
    struct result result;
    for (size_t n = 0; n < whole.n; n++)
        assert_int_equal(parse_only((struct view){ whole.p, n }), 0);
    buf_append(&more, whole.p, whole.n);
    for (int i = 0; i < 3; i++) {
        parse((struct view){ more.p, more.n }, &result);
        assert_int_equal(result.r, (int)whole.n);
        show(&result.head, &out);
        assert_string_equal(buf_str(&out), want);
        free(result.own);
        buf_puts(&more, i ? GET "\n" : "\r\n");
    }
}

/* What is refused is refused by its last byte, and whatever comes behind that. */
static void
assert_refused_view(struct view bytes, unsigned status)
{
    static const struct view behind[] = { BYTES(""), BYTES("x"), BYTES("\r\n\r\n"),
                                          BYTES("\0"), BYTES(": 5\r\n" HOST "\r\n") };
    const char *why = NULL;
    assert_int_equal(parse_only((struct view){ bytes.p, bytes.n - 1 }), 0);
    for (size_t i = 0; i < sizeof(behind) / sizeof(behind[0]); i++) {
        AUTO(buf) all = { 0 };
        struct result result;
        buf_append(&all, bytes.p, bytes.n);
        buf_append(&all, behind[i].p, behind[i].n);
        parse((struct view){ all.p, all.n }, &result);
        free(result.own);
        assert_true(result.r < 0);
        assert_int_equal(result.why.status, status);
        assert_non_null(result.why.why);
        assert_true(!why || why == result.why.why);
        why = result.why.why;
    }
}

static void
assert_refused(const char *bytes, unsigned status)
{
    assert_refused_view(text_view(bytes), status);
}

static void
assert_all_refused(const char *const *all, unsigned status)
{
    for (; *all; all++)
        assert_refused(*all, status);
}

/* -- good ones -- */

static void
a_request_has_its_parts(void **state)
{
    (void)state;
    assert_head(GET "Host: localhost:4000\r\n\r\n",
                "GET / 1 localhost:4000 alive|Host=localhost:4000");
    assert_head("POST /s3/v1/messages?beta=true&x=%20 HTTP/1.1\r\nhOST: [::1]:80\r\n"
                "Content-Length: 12\r\nX-Api-Key: k\r\n\r\n",
                "POST /s3/v1/messages?beta=true&x=%20 1 [::1]:80 length=12 alive"
                "|hOST=[::1]:80|Content-Length=12|X-Api-Key=k");
    assert_head("GET //a/../b;c:d@e!$'()*,[]|~ HTTP/1.1\r\n" HOST "\r\n",
                "GET //a/../b;c:d@e!$'()*,[]|~ 1 a alive|Host=a");
    assert_head("OPTIONS / HTTP/1.1\r\n" HOST "\r\n", "OPTIONS / 1 a alive|Host=a");
    assert_head("!#$%&'*+-.^_`|~azAZ09 / HTTP/1.1\r\n" HOST "\r\n",
                "!#$%&'*+-.^_`|~azAZ09 / 1 a alive|Host=a");
}

static void
blanks_around_a_value_are_none_of_it(void **state)
{
    (void)state;
    assert_head(GET_HOST "A:b\r\nC: \t d \t\r\nE:\r\nF: \t\r\nG: h \t i:\r\n\r\n",
                "GET / 1 a alive|Host=a|A=b|C=d|E=|F=|G=h \t i:");
}

static void
bytes_beyond_ascii_may_stand_in_values(void **state)
{
    (void)state;
    assert_head(GET_HOST "A: \xc3\xa4\x80\xff\r\n\r\n",
                "GET / 1 a alive|Host=a|A=\xc3\xa4\x80\xff");
}

static void
two_empty_lines_may_come_before(void **state)
{
    (void)state;
    assert_head("\r\n" GET_HOST "\r\n", "GET / 1 a alive|Host=a");
    assert_head("\r\n\r\n" GET_HOST "\r\n", "GET / 1 a alive|Host=a");
}

static void
http_1_0_needs_no_host_and_closes(void **state)
{
    (void)state;
    assert_head("GET / HTTP/1.0\r\n\r\n", "GET / 0 ");
    assert_head("GET / HTTP/1.0\r\n" HOST "\r\n", "GET / 0 a|Host=a");
    assert_head("GET / HTTP/1.0\r\nConnection: Keep-Alive\r\n\r\n",
                "GET / 0  alive|Connection=Keep-Alive");
    assert_head("GET / HTTP/1.0\r\nConnection: keep-alive, close\r\n\r\n",
                "GET / 0 |Connection=keep-alive, close");
}

static void
a_connection_lives_until_close_is_said(void **state)
{
    (void)state;
    assert_head(GET_HOST "Connection: close\r\n\r\n",
                "GET / 1 a|Host=a|Connection=close");
    assert_head(GET_HOST "CONNECTION:TE ,\t, cLOSE\t,x\r\n\r\n",
                "GET / 1 a|Host=a|CONNECTION=TE ,\t, cLOSE\t,x");
    assert_head(GET_HOST "Connection: x,close,\r\n\r\n",
                "GET / 1 a|Host=a|Connection=x,close,");
    assert_head(GET_HOST "Connection: keep-alive\r\nConnection: close\r\n\r\n",
                "GET / 1 a|Host=a|Connection=keep-alive|Connection=close");
    assert_head(GET_HOST "Connection: closed, enclose, clos e\r\n\r\n",
                "GET / 1 a alive|Host=a|Connection=closed, enclose, clos e");
    assert_head(GET_HOST "X-Connection: close\r\n\r\n",
                "GET / 1 a alive|Host=a|X-Connection=close");
}

static void
an_upgrade_is_wanted_by_two_headers(void **state)
{
    (void)state;
    assert_head(GET_HOST "Connection: Upgrade\r\nUpgrade: websocket\r\n\r\n",
                "GET / 1 a alive upgrade|Host=a|Connection=Upgrade|Upgrade=websocket");
    assert_head(GET_HOST "upgrade: h2c\r\nConnection: HTTP2-Settings, upgrade\r\n\r\n",
                "GET / 1 a alive upgrade|Host=a|upgrade=h2c"
                "|Connection=HTTP2-Settings, upgrade");
    assert_head(GET_HOST "Upgrade: websocket\r\n\r\n",
                "GET / 1 a alive|Host=a|Upgrade=websocket");
    assert_head(GET_HOST "Connection: upgrade\r\n\r\n",
                "GET / 1 a alive|Host=a|Connection=upgrade");
    assert_head("GET / HTTP/1.0\r\nConnection: upgrade\r\nUpgrade: x\r\n\r\n",
                "GET / 0 |Connection=upgrade|Upgrade=x");
}

static void
a_body_has_a_length_or_chunks(void **state)
{
    (void)state;
    assert_head(GET_HOST "content-length:0\r\n\r\n",
                "GET / 1 a length=0 alive|Host=a|content-length=0");
    assert_head(GET_HOST "Content-Length: 0007 \t\r\n\r\n",
                "GET / 1 a length=7 alive|Host=a|Content-Length=0007");
    assert_head(GET_HOST "Content-Length: 4611686018427387904\r\n\r\n",
                "GET / 1 a length=4611686018427387904 "
                "alive|Host=a|Content-Length=4611686018427387904");
    assert_head(GET_HOST "Transfer-Encoding: chunked\r\n\r\n",
                "GET / 1 a chunked alive|Host=a|Transfer-Encoding=chunked");
    assert_head(GET_HOST "TRANSFER-ENCODING:\t Chunked \r\n\r\n",
                "GET / 1 a chunked alive|Host=a|TRANSFER-ENCODING=Chunked");
    assert_head("POST / HTTP/1.0\r\nContent-Length: 3\r\n\r\n",
                "POST / 0  length=3|Content-Length=3");
}

static void
a_client_may_wait_for_leave_to_go_on(void **state)
{
    (void)state;
    assert_head(GET_HOST "Expect: 100-Continue\r\n\r\n",
                "GET / 1 a continue alive|Host=a|Expect=100-Continue");
    assert_head("GET / HTTP/1.0\r\nExpect: 100-continue\r\n\r\n",
                "GET / 0 |Expect=100-continue");
}

static void
a_host_is_a_name_or_an_address(void **state)
{
    (void)state;
    static const char *const hosts[] = {
        "a",
        "a.b-c_d.example.",
        "127.0.0.1",
        "127.0.0.1:65535",
        "LOCALHOST:0",
        "azAZ09.-_",
        "[a::f9:A0F]",
        "localhost:00080",
        "[::]",
        "[2001:DB8::1]:443",
        "[::ffff:127.0.0.1]:1",
        "[0000:0000:0000:0000:0000:ffff:127.100.100.101]"
    };
    for (size_t i = 0; i < sizeof(hosts) / sizeof(hosts[0]); i++) {
        AUTO(buf) head = { 0 }, want = { 0 };
        buf_printf(&head, GET "Host: \t%s \r\n\r\n", hosts[i]);
        buf_printf(&want, "GET / 1 %s alive|Host=%s", hosts[i], hosts[i]);
        assert_head(buf_str(&head), buf_str(&want));
    }
}

static void
nothing_is_written_before_the_head_is_good(void **state)
{
    (void)state;
    static const struct wire_head untouched;
    struct wire_head head = { 0 };
    struct wire_refusal why = { .status = 7 };
    assert_int_equal(wire_head_parse(text_view(GET_HOST), &head, &why), 0);
    assert_int_equal(why.status, 7);
    assert_true(wire_head_parse(text_view(GET_HOST "\n"), &head, &why) < 0);
    assert_memory_equal(&head, &untouched, sizeof(head));
    assert_int_equal(wire_head_parse((struct view){ 0 }, &head, &why), 0);
}

static void
names_are_compared_without_case(void **state)
{
    (void)state;
    assert_true(wire_head_is(text_view("Content-TYPE"), "content-type"));
    assert_true(wire_head_is(text_view("content-type"), "Content-Type"));
    assert_false(wire_head_is(text_view("content-typ"), "content-type"));
    assert_false(wire_head_is(text_view("content-type "), "content-type"));
    assert_false(wire_head_is(text_view("Content\rType"), "content-type"));
    assert_true(wire_head_is(text_view(""), ""));
}

/* -- refused ones: up to the byte that shows it -- */

static void
a_line_feed_alone_is_refused(void **state)
{
    (void)state;
    static const char *const all[] = {
        "\n",
        "\r\n\n",
        "G\n",
        "GET \n",
        "GET /\n",
        "GET / \n",
        "GET / HTTP/1\n",
        "GET / HTTP/1.1\n",
        GET "\n",
        GET_HOST "\n",
        GET "A\n",
        GET "A:\n",
        GET "A: b\n",
        GET "A: b \n",
        GET "Content-Length: 5\n",
        GET "Host: a\n",
        NULL,
    };
    assert_all_refused(all, 400);
}

static void
a_carriage_return_alone_is_refused(void **state)
{
    (void)state;
    static const char *const all[] = {
        "\rG",
        "\r\r",
        "G\r",
        "GET \r",
        "GET /\r",
        "GET / \r",
        "GET / HTTP/1.1\r\r",
        "GET / HTTP/1.1\rA",
        GET_HOST "\rA",
        GET_HOST "\r\r",
        GET "A\r",
        GET "A:\rb",
        GET "A: b\r\r",
        GET "A: b\r\t",
        GET "Content-Length: 5\r6",
        NULL,
    };
    assert_all_refused(all, 400);
}

static void
a_control_character_is_refused(void **state)
{
    (void)state;
    static const struct view all[] = {
        BYTES("\0"),
        BYTES("G\0"),
        BYTES("GET\t"),
        BYTES("GET /\0"),
        BYTES("GET /\t"),
        BYTES("GET /a\x7f"),
        BYTES("GET / HTTP/1.1\0"),
        BYTES(GET "\0"),
        BYTES(GET "A\0"),
        BYTES(GET "A\x7f"),
        BYTES(GET "A:\0"),
        BYTES(GET "A: b\0"),
        BYTES(GET "A: b\x1f"),
        BYTES(GET "A: b\x7f"),
        BYTES(GET "A: b\x0b"),
        BYTES(GET "A: b\b"),
        BYTES(GET "Host: a\0"),
        BYTES(GET "Content-Length: 5\0"),
    };
    for (size_t i = 0; i < sizeof(all) / sizeof(all[0]); i++)
        assert_refused_view(all[i], 400);
}

static void
too_many_empty_lines_before_are_refused(void **state)
{
    (void)state;
    assert_refused("\r\n\r\n\r", 400);
}

static void
a_method_is_a_token_of_bounded_length(void **state)
{
    (void)state;
    static const char *const all[] = { " ",    "(", "G(", "GET/", "G\x80",
                                       "\x16", "{", "G:", "[",    NULL };
    assert_all_refused(all, 400);
    assert_refused("ABCDEFGHIJKLMNOPQRSTUVWXYZABCDEFG", 501);
    assert_head("ABCDEFGHIJKLMNOPQRSTUVWXYZABCDEF / HTTP/1.1\r\n" HOST "\r\n",
                "ABCDEFGHIJKLMNOPQRSTUVWXYZABCDEF / 1 a alive|Host=a");
}

static void
a_tunnel_is_refused(void **state)
{
    (void)state;
    assert_refused("CONNECT ", 405);
    assert_refused("\r\nconnect ", 405);
}

static void
a_target_is_a_path(void **state)
{
    (void)state;
    static const char *const all[] = {
        "GET h",     "GET a",     "GET ?",     "GET *",    "OPTIONS *", "GET \\",
        "GET %",     "GET  ",     "GET \t",    "GET \x80", "GET /#",    "GET /a?b#",
        "GET /\x7f", "GET /\x80", "GET /\xc3", NULL,
    };
    assert_all_refused(all, 400);
}

static void
the_request_line_ends_with_a_version(void **state)
{
    (void)state;
    static const char *const all[] = {
        "GET /\r",
        "GET /  ",
        "GET / h",
        "GET / X",
        "GET / HTTP ",
        "GET / HTTP/ ",
        "GET / HTTP/x",
        "GET / HTTP/1,",
        "GET / HTTP/11",
        "GET / HTTP/1.\r",
        "GET / HTTP/1.x",
        "GET / HTTP/1.1 ",
        "GET / HTTP/1.1\t",
        "GET / HTTP/1.10",
        "GET / HTTP/1.1x",
        "GET / HTTP/1.0,",
        NULL,
    };
    assert_all_refused(all, 400);
}

static void
other_versions_are_not_spoken(void **state)
{
    (void)state;
    static const char *const all[] = { "GET / HTTP/2",
                                       "GET / HTTP/0",
                                       "GET / HTTP/3",
                                       "GET / HTTP/1.2",
                                       "GET / HTTP/1.9",
                                       "PRI *",
                                       NULL };
    assert_all_refused(all, 505);
}

static void
a_folded_line_is_refused(void **state)
{
    (void)state;
    static const char *const all[] = { GET " ",       GET "\t",        GET_HOST " ",
                                       GET_HOST "\t", GET "A: b\r\n ", NULL };
    assert_all_refused(all, 400);
}

static void
a_name_is_a_token_right_before_its_colon(void **state)
{
    (void)state;
    static const char *const all[] = { GET ":",  GET "A ",    GET "A\t",
                                       GET "A(", GET "A/",    GET "\"",
                                       GET "A@", GET "A\x80", GET "A\r",
                                       GET "A{", GET "A;",    GET "A,",
                                       GET "A=", GET "[",     GET "Content-Length ",
                                       NULL };
    assert_all_refused(all, 400);
}

static void
a_length_is_a_plain_number(void **state)
{
    (void)state;
    static const char *const all[] = {
        GET "Content-Length: +",
        GET "Content-Length: -",
        GET "Content-Length: 0x",
        GET "Content-Length: a",
        GET "Content-Length: 5,",
        GET "Content-Length: 5 5",
        GET "Content-Length: 5 ,",
        GET "Content-Length: 5;",
        GET "Content-Length: 5.",
        GET "Content-Length: \"",
        GET "Content-Length: 1e",
        GET "Content-Length: 5\x80",
        GET "Content-Length:\r",
        GET "Content-Length: \t\r",
        GET "Content-Length: 00000000000000000000",
        NULL,
    };
    assert_all_refused(all, 400);
    assert_refused(GET "Content-Length: 4611686018427387905", 413);
    assert_refused(GET "Content-Length: 9223372036854775807", 413);
    assert_refused(GET "Content-Length: 9999999999999999999", 413);
}

static void
what_is_told_twice_is_refused(void **state)
{
    (void)state;
    static const char *const all[] = {
        GET "Content-Length: 5\r\ncontent-length:",
        GET "Transfer-Encoding: chunked\r\nTransfer-Encoding:",
        GET "Host: a\r\nHOST:",
        "GET / HTTP/1.0\r\nHost: a\r\nHost:",
        GET "Expect: 100-continue\r\nExpect:",
        NULL,
    };
    assert_all_refused(all, 400);
}

static void
a_length_and_chunks_are_refused(void **state)
{
    (void)state;
    assert_refused(GET "Content-Length: 5\r\nTransfer-Encoding:", 400);
    assert_refused(GET "Transfer-Encoding: chunked\r\nA: b\r\nContent-Length:", 400);
}

static void
a_transfer_coding_is_chunked_and_nothing_else(void **state)
{
    (void)state;
    static const char *const all[] = {
        GET "Transfer-Encoding: g",
        GET "Transfer-Encoding: i",
        GET "Transfer-Encoding: chunkes",
        GET "Transfer-Encoding: chunkedx",
        GET "Transfer-Encoding: chunked,",
        GET "Transfer-Encoding: chunked;",
        GET "Transfer-Encoding: chunked x",
        GET "Transfer-Encoding: ,",
        GET "Transfer-Encoding: \"",
        GET "Transfer-Encoding: chunk ",
        GET "Transfer-Encoding: chunke\r",
        GET "Transfer-Encoding: x",
        GET "Transfer-Encoding: \x80",
        GET "Transfer-Encoding:\r",
        NULL,
    };
    assert_all_refused(all, 501);
    assert_refused("GET / HTTP/1.0\r\nTransfer-Encoding:", 400);
}

static void
nothing_but_100_continue_may_be_expected(void **state)
{
    (void)state;
    static const char *const all[] = {
        GET "Expect: 2",
        GET "Expect: 100-continue,",
        GET "Expect: 100-continuex",
        GET "Expect:\r",
        GET "Expect: 100\r",
        GET "Expect: 100 ",
        NULL,
    };
    assert_all_refused(all, 417);
}

static void
a_host_must_be_there_and_be_one(void **state)
{
    (void)state;
    static const char *const all[] = {
        GET "\r",
        GET "A: b\r\n\r",
        GET "Host:\r",
        GET "Host: \r",
        GET "Host: :",
        GET "Host: a b",
        GET "Host: a,",
        GET "Host: a/",
        GET "Host: a@",
        GET "Host: a\\",
        GET "Host: a?",
        GET "Host: a#",
        GET "Host: a%",
        GET "Host: a\"",
        GET "Host: \x80",
        GET "Host: a:\r",
        GET "Host: a: ",
        GET "Host: a:b",
        GET "Host: a:+",
        GET "Host: a:80:",
        GET "Host: a:80/",
        GET "Host: a:65536",
        GET "Host: a:000080",
        GET "Host: http:/",
        GET "Host: []",
        GET "Host: [:]",
        GET "Host: [:::]",
        GET "Host: [::1\r",
        GET "Host: [:80\r",
        GET "Host: [::1 ",
        GET "Host: [::1%",
        GET "Host: [::g",
        GET "Host: [127.0.0.1]",
        GET "Host: [::1]8",
        GET "Host: [::1]a",
        GET "Host: [::1]]",
        GET "Host: [::1]:\r",
        GET "Host: a[",
        GET "Host: [0:0:0:0:0:0:0:0:0:0:0:0:0:0:0:0:0:0:0:0:0:0:0:",
        NULL,
    };
    assert_all_refused(all, 400);
}

static void
a_refusal_says_why(void **state)
{
    (void)state;
    static const struct {
        const char *bytes, *why;
    } all[] = {
        { "G\n", "a line feed stands without a carriage return" },
        { "GET /\n", "a line feed stands without a carriage return" },
        { GET "A: b\n", "a line feed stands without a carriage return" },
        { GET "A: b\rc", "a carriage return stands without a line feed" },
        { GET "A: b\x01", "there is a control character in the head" },
        { "GET /\x01", "there is a control character in the head" },
        { "G\r", "the method is no token, followed by one blank" },
        { "CONNECT ", "tunnels (CONNECT) are not made" },
        { "GET h", "the target does not begin with /" },
        { "GET  ", "there is more than one blank behind the method" },
        { "OPTIONS *", "the target is *, and there is nothing to forward" },
        { "PRI *", "only HTTP/1.0 and HTTP/1.1 are spoken" },
        { "GET /\r", "the request line has no HTTP version" },
        { "GET /\x80", "there is a byte in the target that must be escaped" },
        { "GET /  ", "there are more blanks than two in the request line" },
        { "GET / HTTP/2", "only HTTP/1.0 and HTTP/1.1 are spoken" },
        { "GET / http", "the request line does not end with an HTTP version" },
        { GET " ", "there is a blank before the first header" },
        { GET_HOST " ", "a header goes on in the next line" },
        { GET "A\r", "a header has no colon" },
        { GET "A ", "there is a blank behind a header's name" },
        { GET ":", "a header has no name" },
        { GET "A(", "the name of a header is no token" },
        { GET "\r", "there is no Host" },
    };
    for (size_t i = 0; i < sizeof(all) / sizeof(all[0]); i++) {
        struct wire_head head;
        struct wire_refusal why = { 0 };
        assert_true(wire_head_parse(text_view(all[i].bytes), &head, &why) < 0);
        assert_string_equal(why.why, all[i].why);
    }
}

/* -- ceilings -- */

static void
put_many(struct buf *out, char c, size_t n)
{
    uint8_t *p = buf_grow(out, n);
    assert_non_null(p);
    memset(p, c, n);
}

static void
a_target_over_its_ceiling_is_refused(void **state)
{
    (void)state;
    AUTO(buf) head = { 0 };
    buf_puts(&head, "GET /");
    put_many(&head, 'a', WIRE_TARGET_MAX - 1);
    size_t n = head.n;
    buf_puts(&head, " HTTP/1.0\r\n\r\n");
    assert_int_equal(parse_only((struct view){ head.p, head.n }), (int)head.n);
    head.n = n;
    buf_puts(&head, "b");
    assert_refused_view((struct view){ head.p, head.n }, 414);
}

static void
headers_over_their_ceiling_are_refused(void **state)
{
    (void)state;
    AUTO(buf) head = { 0 };
    buf_puts(&head, GET_HOST);
    for (int i = 1; i < WIRE_HEADERS_MAX; i++)
        buf_puts(&head, "A:\r\n");
    size_t n = head.n;
    buf_puts(&head, "\r\n");
    assert_int_equal(parse_only((struct view){ head.p, head.n }), (int)head.n);
    head.n = n;
    buf_puts(&head, "A");
    assert_refused_view((struct view){ head.p, head.n }, 431);
}

static void
a_head_over_its_ceiling_is_refused(void **state)
{
    (void)state;
    AUTO(buf) head = { 0 };
    buf_puts(&head, GET_HOST "A: ");
    put_many(&head, 'b', WIRE_HEAD_MAX - head.n - 4);
    buf_puts(&head, "\r\n\r\n");
    assert_int_equal(head.n, WIRE_HEAD_MAX);
    assert_int_equal(parse_only((struct view){ head.p, head.n }), WIRE_HEAD_MAX);
    memcpy(head.p + head.n - 4, "b\r\n\r", 4);
    assert_refused_view((struct view){ head.p, head.n }, 431);
    memcpy(head.p + head.n - 4, "bbbb", 4);
    assert_refused_view((struct view){ head.p, head.n }, 431);
    /* What comes first decides. */
    head.p[head.n - 1] = '\n';
    assert_refused_view((struct view){ head.p, head.n }, 400);
    head.p[head.n - 1] = 'b';
    buf_puts(&head, "\n");
    struct result result;
    parse((struct view){ head.p, head.n }, &result);
    free(result.own);
    assert_int_equal(result.why.status, 431);
}

int
main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_request_has_its_parts),
        cmocka_unit_test(blanks_around_a_value_are_none_of_it),
        cmocka_unit_test(bytes_beyond_ascii_may_stand_in_values),
        cmocka_unit_test(two_empty_lines_may_come_before),
        cmocka_unit_test(http_1_0_needs_no_host_and_closes),
        cmocka_unit_test(a_connection_lives_until_close_is_said),
        cmocka_unit_test(an_upgrade_is_wanted_by_two_headers),
        cmocka_unit_test(a_body_has_a_length_or_chunks),
        cmocka_unit_test(a_client_may_wait_for_leave_to_go_on),
        cmocka_unit_test(a_host_is_a_name_or_an_address),
        cmocka_unit_test(nothing_is_written_before_the_head_is_good),
        cmocka_unit_test(names_are_compared_without_case),
        cmocka_unit_test(a_line_feed_alone_is_refused),
        cmocka_unit_test(a_carriage_return_alone_is_refused),
        cmocka_unit_test(a_control_character_is_refused),
        cmocka_unit_test(too_many_empty_lines_before_are_refused),
        cmocka_unit_test(a_method_is_a_token_of_bounded_length),
        cmocka_unit_test(a_tunnel_is_refused),
        cmocka_unit_test(a_target_is_a_path),
        cmocka_unit_test(the_request_line_ends_with_a_version),
        cmocka_unit_test(other_versions_are_not_spoken),
        cmocka_unit_test(a_folded_line_is_refused),
        cmocka_unit_test(a_name_is_a_token_right_before_its_colon),
        cmocka_unit_test(a_length_is_a_plain_number),
        cmocka_unit_test(what_is_told_twice_is_refused),
        cmocka_unit_test(a_length_and_chunks_are_refused),
        cmocka_unit_test(a_transfer_coding_is_chunked_and_nothing_else),
        cmocka_unit_test(nothing_but_100_continue_may_be_expected),
        cmocka_unit_test(a_host_must_be_there_and_be_one),
        cmocka_unit_test(a_refusal_says_why),
        cmocka_unit_test(a_target_over_its_ceiling_is_refused),
        cmocka_unit_test(headers_over_their_ceiling_are_refused),
        cmocka_unit_test(a_head_over_its_ceiling_is_refused),
    };
    return cmocka_run_group_tests_name("wire_head", tests, NULL, NULL);
}
