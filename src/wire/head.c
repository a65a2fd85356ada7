/* SPDX-License-Identifier: MIT */
/*
 * head.c -- the head of a request, read from left to right.
 *
 * A head is refused at the first byte with which it can no longer become good, whatever
 * stands behind that byte. So all that goes on with a head that was refused is refused
 * for the same reason, and one that is not refused may still be completed. Checks stand
 * in the order of the bytes that they need: a value, as far as it has come, is judged
 * before the byte that ends it.
 */
#include "wire/head.h"

#include <arpa/inet.h>
#include <string.h>

#include "base/ascii.h"
#include "base/num.h"
#include "wire/token_priv.h"

enum { MORE = 0, DONE = 1 };
enum {
    EMPTY_LINES_MAX = 2,
    METHOD_MAX = 32,
    LENGTH_DIGITS_MAX = 19,
    PORT_DIGITS_MAX = 5
};

/* Headers that mean something here; the order of `rules`. */
enum kind { LENGTH, CODING, HOST, EXPECT, CONNECTION, UPGRADE, OTHER };

struct reader {
    const uint8_t *p, *end; /* what was not read yet */
    struct wire_head head;
    struct wire_refusal why;
    unsigned seen;                               /* 1 << enum kind */
    bool has_close, has_keep_alive, has_upgrade; /* in Connection */
};

static int
refuse(struct reader *r, unsigned status, const char *why)
{
    r->why = (struct wire_refusal){ .status = status, .why = why };
    return ERR_DAMAGED;
}

/* For the byte at p. */
static int
refuse_byte(struct reader *r, const char *otherwise)
{
    if (*r->p == '\n')
        return refuse(r, 400, "a line feed stands without a carriage return");
    if (*r->p != '\r' && !wire_is_value(*r->p))
        return refuse(r, 400, "there is a control character in the head");
    return refuse(r, 400, otherwise);
}

/* The one at p is a carriage return. */
static int
end_line(struct reader *r)
{
    if (r->end - r->p < 2)
        return MORE;
    if (r->p[1] != '\n')
        return refuse(r, 400, "a carriage return stands without a line feed");
    r->p += 2;
    return DONE;
}

static bool
is_word(struct view text, const char *word, size_t n)
{
    if (text.n != n)
        return false;
    for (size_t i = 0; i < n; i++)
        if (ascii_fold(text.p[i]) != ascii_fold((uint8_t)word[i]))
            return false;
    return true;
}

bool
wire_head_is(struct view name, const char *what)
{
    return is_word(name, what, strlen(what));
}

/* -- the request line -- */

static int
pass_empty_lines(struct reader *r)
{
    for (int lines = 0; r->p < r->end && *r->p == '\r'; lines++) {
        if (lines == EMPTY_LINES_MAX)
            return refuse(r, 400, "there are too many empty lines before the request");
        int x = end_line(r);
        if (x <= 0)
            return x;
    }
    return DONE;
}

static int
read_method(struct reader *r)
{
    const uint8_t *from = r->p;
    for (; r->p < r->end && wire_is_token(*r->p); r->p++)
        if (r->p - from == METHOD_MAX)
            return refuse(r, 501, "the method is not known: it is too long");
    if (r->p == r->end)
        return MORE;
    if (*r->p != ' ' || r->p == from)
        return refuse_byte(r, "the method is no token, followed by one blank");
    r->head.method = (struct view){ from, (size_t)(r->p - from) };
    r->p++;
    if (wire_head_is(r->head.method, "CONNECT"))
        return refuse(r, 405, "tunnels (CONNECT) are not made");
    return DONE;
}

/* What stands at p begins no path. */
static int
refuse_target(struct reader *r)
{
    struct view method = r->head.method;
    if (*r->p == ' ')
        return refuse(r, 400, "there is more than one blank behind the method");
    if (*r->p == '*' && method.n == 3 && !memcmp(method.p, "PRI", 3))
        return refuse(r, 505, "only HTTP/1.0 and HTTP/1.1 are spoken");
    if (*r->p == '*')
        return refuse(r, 400, "the target is *, and there is nothing to forward");
    return refuse_byte(r, "the target does not begin with /");
}

static bool
is_target(uint8_t c)
{
    return c > ' ' && c < 0x7f && c != '#';
}

static int
read_target(struct reader *r)
{
    const uint8_t *from = r->p;
    if (r->p < r->end && *r->p != '/')
        return refuse_target(r);
    for (; r->p < r->end && is_target(*r->p); r->p++)
        if (r->p - from == WIRE_TARGET_MAX)
            return refuse(r, 414, "the target is longer than 16 KiB");
    if (r->p == r->end)
        return MORE;
    if (*r->p == '\r')
        return refuse(r, 400, "the request line has no HTTP version");
    if (*r->p != ' ')
        return refuse_byte(r, "there is a byte in the target that must be escaped");
    r->head.target = (struct view){ from, (size_t)(r->p - from) };
    r->p++;
    return DONE;
}

static bool
is_digit(uint8_t c)
{
    return c >= '0' && c <= '9';
}

/* The byte at p is not what the version goes on with. */
static int
refuse_version(struct reader *r, bool is_number)
{
    if (*r->p == ' ')
        return refuse(r, 400, "there are more blanks than two in the request line");
    if (is_number && is_digit(*r->p))
        return refuse(r, 505, "only HTTP/1.0 and HTTP/1.1 are spoken");
    return refuse_byte(r, "the request line does not end with an HTTP version");
}

static int
read_version(struct reader *r)
{
    static const char version[] = "HTTP/1.";
    for (const char *want = version; *want; want++, r->p++) {
        if (r->p == r->end)
            return MORE;
        if (*r->p != (uint8_t)*want)
            return refuse_version(r, *want == '1');
    }
    if (r->p == r->end)
        return MORE;
    if (*r->p != '0' && *r->p != '1')
        return refuse_version(r, true);
    r->head.minor = (unsigned)(*r->p++ - '0');
    if (r->p < r->end && *r->p != '\r')
        return refuse_version(r, false);
    return end_line(r);
}

/* -- headers that mean something -- */

/* Each judges a value as far as it has come, without blanks around it; is_over: nothing
 * may be added to it. Whatever is more than one pass is for whole lines: a head may come
 * byte by byte. */

static int
take_length(struct reader *r, struct view value, bool is_over)
{
    uint64_t length = 0;
    for (size_t i = 0; i < value.n; i++) {
        if (!is_digit(value.p[i]) || i == LENGTH_DIGITS_MAX)
            return refuse(r, 400, "the Content-Length is no plain number");
        length = length * 10 + (uint64_t)(value.p[i] - '0');
        if (length > WIRE_LENGTH_MAX)
            return refuse(r, 413, "the Content-Length is too large");
    }
    if (!value.n && is_over)
        return refuse(r, 400, "the Content-Length is empty");
    r->head.length = length;
    r->head.has_body = true;
    return DONE;
}

/* Is it this word, or may become it? */
static bool
is_begin_of(struct view value, const char *word, bool is_over)
{
    size_t n = strlen(word);
    if (value.n > n || (is_over && value.n < n))
        return false;
    return is_word(value, word, value.n);
}

static int
take_coding(struct reader *r, struct view value, bool is_over)
{
    if (!is_begin_of(value, "chunked", is_over))
        return refuse(r, 501, "the Transfer-Encoding is not chunked alone");
    r->head.is_chunked = r->head.has_body = true;
    return DONE;
}

static int
take_expect(struct reader *r, struct view value, bool is_over)
{
    if (!is_begin_of(value, "100-continue", is_over))
        return refuse(r, 417, "something else than 100-continue is expected");
    r->head.wants_continue = r->head.minor >= 1; /* RFC 9110, 10.1.1 */
    return DONE;
}

static bool
is_hex(uint8_t c)
{
    return is_digit(c) || (ascii_fold(c) >= 'a' && ascii_fold(c) <= 'f');
}

/* An address in brackets: how many bytes; 0: it is none, and cannot become one. */
static size_t
span_literal(struct view v, bool is_over)
{
    char text[INET6_ADDRSTRLEN];
    struct in6_addr address;
    size_t n = 0;
    while (1 + n < v.n && n < sizeof(text) - 1 &&
           (is_hex(v.p[1 + n]) || v.p[1 + n] == ':' || v.p[1 + n] == '.'))
        n++;
    if (1 + n == v.n)
        return is_over ? 0 : v.n;
    if (v.p[1 + n] != ']')
        return 0;
    memcpy(text, v.p + 1, n);
    text[n] = '\0';
    return inet_pton(AF_INET6, text, &address) == 1 ? n + 2 : 0;
}

/* A name or an IPv4 address. */
static size_t
span_name(struct view v)
{
    size_t n = 0;
    while (n < v.n && (is_digit(v.p[n]) ||
                       (ascii_fold(v.p[n]) >= 'a' && ascii_fold(v.p[n]) <= 'z') ||
                       v.p[n] == '.' || v.p[n] == '-' || v.p[n] == '_'))
        n++;
    return n;
}

static bool
is_port(struct view v, bool is_over)
{
    uint64_t port;
    if (!v.n || v.p[0] != ':')
        return !v.n;
    if (v.n == 1)
        return !is_over;
    struct view digits = { v.p + 1, v.n - 1 };
    return digits.n <= PORT_DIGITS_MAX && num_parse(digits, UINT16_MAX, &port) == 0;
}

static bool
is_host(struct view v, bool is_over)
{
    if (!v.n)
        return !is_over;
    size_t n = v.p[0] == '[' ? span_literal(v, is_over) : span_name(v);
    return n && is_port((struct view){ v.p + n, v.n - n }, is_over);
}

static int
take_host(struct reader *r, struct view value, bool is_over)
{
    if (!is_host(value, is_over))
        return refuse(r, 400, "the Host is no name or address, and port");
    r->head.host = value;
    return DONE;
}

static struct view
trim(struct view v)
{
    return view_trim(v, " \t");
}

/* Options, separated by commas. */
static void
take_connection(struct reader *r, struct view value)
{
    while (value.n) {
        const uint8_t *comma = memchr(value.p, ',', value.n);
        size_t n = comma ? (size_t)(comma - value.p) : value.n;
        struct view option = trim((struct view){ value.p, n });
        r->has_close |= wire_head_is(option, "close");
        r->has_keep_alive |= wire_head_is(option, "keep-alive");
        r->has_upgrade |= wire_head_is(option, "upgrade");
        n += comma ? 1 : 0;
        value = (struct view){ value.p + n, value.n - n };
    }
}

static const struct rule {
    const char *name;
    const char *twice; /* NULL: that may be */
    int (*take)(struct reader *r, struct view value, bool is_over); /* may be NULL */
} rules[] = {
    [LENGTH] = { "content-length", "there are two Content-Length", take_length },
    [CODING] = { "transfer-encoding", "there are two Transfer-Encoding", take_coding },
    [HOST] = { "host", "there are two Host", take_host },
    [EXPECT] = { "expect", "there are two Expect", take_expect },
    [CONNECTION] = { "connection", NULL, NULL },
    [UPGRADE] = { "upgrade", NULL, NULL },
};

static bool
has(const struct reader *r, enum kind kind)
{
    return r->seen & 1U << kind;
}

static enum kind
kind_of(struct view name)
{
    unsigned kind = 0;
    while (kind < OTHER && !wire_head_is(name, rules[kind].name))
        kind++;
    return (enum kind)kind;
}

/* May such a header stand behind those that are there? */
static int
check_kind(struct reader *r, enum kind kind)
{
    if (kind == OTHER)
        return DONE;
    if (rules[kind].twice && has(r, kind))
        return refuse(r, 400, rules[kind].twice);
    r->seen |= 1U << kind;
    if (has(r, LENGTH) && has(r, CODING))
        return refuse(r, 400, "there are both Content-Length and Transfer-Encoding");
    if (has(r, CODING) && r->head.minor == 0)
        return refuse(r, 400, "there is no Transfer-Encoding in HTTP/1.0");
    return DONE;
}

/* -- headers -- */

static int
read_name(struct reader *r, struct view *ret_name)
{
    const uint8_t *from = r->p;
    if (wire_is_blank(*from) && r->head.header_count)
        return refuse(r, 400, "a header goes on in the next line");
    if (wire_is_blank(*from))
        return refuse(r, 400, "there is a blank before the first header");
    if (r->head.header_count == WIRE_HEADERS_MAX)
        return refuse(r, 431, "there are more than 128 headers");
    while (r->p < r->end && wire_is_token(*r->p))
        r->p++;
    if (r->p == r->end)
        return MORE;
    if (*r->p == ':' && r->p == from)
        return refuse(r, 400, "a header has no name");
    if (wire_is_blank(*r->p))
        return refuse(r, 400, "there is a blank behind a header's name");
    if (*r->p == '\r')
        return refuse(r, 400, "a header has no colon");
    if (*r->p != ':')
        return refuse_byte(r, "the name of a header is no token");
    *ret_name = (struct view){ from, (size_t)(r->p - from) };
    r->p++;
    return DONE;
}

static int
read_value(struct reader *r, enum kind kind, struct view *ret_value)
{
    const uint8_t *from = r->p;
    while (r->p < r->end && wire_is_value(*r->p))
        r->p++;
    struct view value = trim((struct view){ from, (size_t)(r->p - from) });
    bool has_blank_behind = value.n && value.p + value.n < r->p;
    bool is_over = has_blank_behind || (r->p < r->end && *r->p == '\r');
    int x = DONE;
    if (kind != OTHER && rules[kind].take)
        x = rules[kind].take(r, value, is_over);
    if (x <= 0)
        return x;
    if (r->p == r->end)
        return MORE;
    if (*r->p != '\r')
        return refuse_byte(r, "there is a byte in a value that may not be there");
    *ret_value = value;
    return end_line(r);
}

static int
read_header(struct reader *r)
{
    struct view name, value;
    int x = read_name(r, &name);
    if (x <= 0)
        return x;
    enum kind kind = kind_of(name);
    if ((x = check_kind(r, kind)) <= 0 || (x = read_value(r, kind, &value)) <= 0)
        return x;
    if (kind == CONNECTION)
        take_connection(r, value);
    r->head.headers[r->head.header_count++] = (struct calls_header){ name, value };
    return DONE;
}

static int
end_head(struct reader *r)
{
    struct wire_head *h = &r->head;
    if (h->minor >= 1 && !has(r, HOST))
        return refuse(r, 400, "there is no Host");
    h->keeps_alive = !r->has_close && (h->minor >= 1 || r->has_keep_alive);
    h->wants_upgrade = r->has_upgrade && has(r, UPGRADE) && h->minor >= 1;
    return end_line(r);
}

static int
read_head(struct reader *r)
{
    int x = pass_empty_lines(r);
    if (x > 0)
        x = read_method(r);
    if (x > 0)
        x = read_target(r);
    if (x > 0)
        x = read_version(r);
    while (x > 0 && r->p < r->end && *r->p != '\r')
        x = read_header(r);
    if (x > 0)
        x = r->p < r->end ? end_head(r) : MORE;
    return x;
}

int
wire_head_parse(struct view bytes, struct wire_head *ret, struct wire_refusal *why)
{
    if (!bytes.n)
        return MORE;
    size_t n = bytes.n < WIRE_HEAD_MAX ? bytes.n : (size_t)WIRE_HEAD_MAX;
    struct reader r = { .p = bytes.p, .end = bytes.p + n };
    int x = read_head(&r);
    if (x == MORE && n == WIRE_HEAD_MAX)
        x = refuse(&r, 431, "the head is longer than 64 KiB");
    if (x < 0)
        *why = r.why;
    if (x <= 0)
        return x;
    *ret = r.head;
    return (int)(r.p - bytes.p);
}
