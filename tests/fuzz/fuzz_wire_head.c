/* SPDX-License-Identifier: MIT */
/* Whatever comes: a head is neither good nor refused before the byte that makes it so,
 * and stays so behind it; while more is asked for, something can make it good; and one
 * that is good has nothing in it that two readers may take differently. */
#include <string.h>

#include "base/ascii.h"
#include "fuzz/fuzz.h"
#include "wire/head.h"

struct result {
    int r;
    struct wire_refusal why;
    struct buf text; /* a good one, written anew */
};

static void
check_within(struct view v, const uint8_t *from, size_t n)
{
    CHECK(!v.n || (v.p >= from && v.p + v.n <= from + n));
}

static void
put(struct buf *out, struct view v, const char *behind)
{
    buf_append(out, v.p, v.n);
    buf_puts(out, behind);
}

static void
write_anew(const struct wire_head *h, struct buf *out)
{
    put(out, h->method, " ");
    put(out, h->target, h->minor ? " HTTP/1.1\r\n" : " HTTP/1.0\r\n");
    for (size_t i = 0; i < h->header_count; i++) {
        put(out, h->headers[i].name, ": ");
        put(out, h->headers[i].value, "\r\n");
    }
    buf_puts(out, "\r\n");
}

/* How many lines behind the first begin so. */
static size_t
count_lines(struct view head, const char *begin)
{
    size_t n = 0, length = strlen(begin);
    for (size_t i = 0; i + length < head.n; i++) {
        size_t same = 0;
        while (same < length && ascii_fold(head.p[i + 1 + same]) == (uint8_t)begin[same])
            same++;
        n += head.p[i] == '\n' && same == length;
    }
    return n;
}

/* What the bytes of a good head are, seen without the parser. */
static void
check_good(struct view head, const struct wire_head *h)
{
    size_t lines = 0;
    for (size_t i = 0; i < head.n; i++) {
        uint8_t c = head.p[i];
        CHECK(c >= ' ' || c == '\t' || c == '\r' || c == '\n');
        CHECK(c != 0x7f);
        CHECK((c == '\r') == (i + 1 < head.n && head.p[i + 1] == '\n'));
        lines += c == '\n';
    }
    CHECK(head.n >= 4 && !memcmp(head.p + head.n - 4, "\r\n\r\n", 4));
    CHECK(lines >= h->header_count + 2 && lines <= h->header_count + 4);
    size_t hosts = count_lines(head, "host:");
    size_t lengths = count_lines(head, "content-length:");
    size_t codings = count_lines(head, "transfer-encoding:");
    CHECK(hosts <= 1 && (!h->minor || hosts == 1) && hosts == (h->host.n > 0));
    CHECK(lengths + codings <= 1);
    CHECK(h->is_chunked == (codings == 1));
    CHECK(h->has_body == (lengths + codings == 1));
    CHECK(!count_lines(head, " ") && !count_lines(head, "\t"));
    CHECK(h->target.p[0] == '/' && h->method.n);
}

static void
check_views(const struct wire_head *h, const uint8_t *from, size_t n)
{
    check_within(h->method, from, n);
    check_within(h->target, from, n);
    check_within(h->host, from, n);
    CHECK(h->header_count <= WIRE_HEADERS_MAX);
    for (size_t i = 0; i < h->header_count; i++) {
        check_within(h->headers[i].name, from, n);
        check_within(h->headers[i].value, from, n);
        CHECK(h->headers[i].name.n);
    }
}

static void
parse(struct view bytes, struct result *ret)
{
    struct wire_head head;
    *ret = (struct result){ 0 };
    uint8_t *own = malloc(bytes.n ? bytes.n : 1);
    CHECK(own);
    if (bytes.n)
        memcpy(own, bytes.p, bytes.n);
    ret->r = wire_head_parse((struct view){ own, bytes.n }, &head, &ret->why);
    CHECK(ret->r <= (int)bytes.n);
    CHECK((ret->r < 0) == (ret->why.status >= 400 && ret->why.why && ret->why.why[0]));
    if (ret->r > 0) {
        check_views(&head, own, (size_t)ret->r);
        check_good((struct view){ own, (size_t)ret->r }, &head);
        write_anew(&head, &ret->text);
    }
    free(own);
}

static bool
is_same(const struct result *a, const struct result *b)
{
    return a->r == b->r && a->why.status == b->why.status && a->why.why == b->why.why &&
           a->text.n == b->text.n &&
           (!a->text.n || !memcmp(a->text.p, b->text.p, a->text.n));
}

/* Returns how many bytes were there when more was asked for the last time. */
static size_t
check_prefixes(struct view in)
{
    struct result first = { 0 };
    size_t open = 0, step = 1 + in.n / 512;
    for (size_t n = 0; n <= in.n; n += step) {
        struct result now;
        parse((struct view){ in.p, n }, &now);
        CHECK(!first.r || is_same(&first, &now));
        if (!now.r)
            open = n;
        buf_release(&first.text);
        first = now;
    }
    buf_release(&first.text);
    return open;
}

/* A good head, written anew, is the same, as long as there is room for its blanks. */
static void
check_anew(struct view in)
{
    struct result first, again;
    parse(in, &first);
    if (first.r > 0 && first.text.n <= WIRE_HEAD_MAX) {
        parse((struct view){ first.text.p, first.text.n }, &again);
        CHECK(again.r == (int)first.text.n);
        CHECK(again.text.n == first.text.n &&
              !memcmp(again.text.p, first.text.p, first.text.n));
        buf_release(&again.text);
    }
    buf_release(&first.text);
}

static bool
is_good_with(struct view begin, const char *end)
{
    AUTO(buf) all = { 0 };
    struct result result;
    put(&all, begin, end);
    parse((struct view){ all.p, all.n }, &result);
    buf_release(&result.text);
    return result.r == (int)all.n;
}

/* … unless a ceiling is near, or an address in brackets is begun, which is judged whole.
 */
static bool
can_be_judged(struct view begin)
{
    size_t lines = 0;
    for (size_t i = 0; i < begin.n; i++) {
        if (begin.p[i] == '[')
            return false;
        lines += begin.p[i] == '\n';
    }
    return lines < WIRE_HEADERS_MAX && begin.n < WIRE_TARGET_MAX;
}

static bool
can_be_made_good(struct view begin)
{
    /* What is left of one of them makes it good, wherever it stands. */
    static const char *const ends[] = {
        "\nGET / HTTP/1.1\r\nHost: a\r\n\r\n",
        "x / HTTP/1.1\r\nHost: a\r\n\r\n",
        "x:\r\n\r\n",
        "x:\r\nHost: a\r\n\r\n",
        "chunked\r\n\r\n",
        "chunked\r\nHost: a\r\n\r\n",
        "100-continue\r\n\r\n",
        "100-continue\r\nHost: a\r\n\r\n",
        "1\r\n\r\n",
        "1\r\nHost: a\r\n\r\n",
    };
    for (size_t i = 0; i < sizeof(ends) / sizeof(ends[0]); i++)
        for (const char *end = ends[i]; *end; end++)
            if (is_good_with(begin, end))
                return true;
    return false;
}

int
LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct view in = { data ? data : (const uint8_t *)"", size };
    size_t cut = fuzz_byte(&in);
    size_t open = check_prefixes(in);
    check_anew(in);
    struct view begin = { in.p, cut < open ? cut : open }, longest = { in.p, open };
    CHECK(!can_be_judged(begin) || can_be_made_good(begin));
    CHECK(!can_be_judged(longest) || can_be_made_good(longest));
    return 0;
}
