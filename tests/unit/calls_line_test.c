/* SPDX-License-Identifier: MIT */
/* calls_line_test.c -- lines of session.wire.jsonl: nothing is lost on the way there and
 * back, and doc/wire.md (named by AHR_WIRE_DOC) says what stands in them. */
#include "calls/line.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>

#include <cmocka.h>

#include "base/file.h"
#include "base/json_in.h"
#include "base/utf8.h"
#include "support/text_view.h"

#define TEXT(s)                             \
    {                                       \
        (const uint8_t *)(s), sizeof(s) - 1 \
    }
#define V(s) ((struct view)TEXT(s))

enum { TYPES = CALLS_END + 1 };

static const uint64_t start = UINT64_C(1700000000000000000);
static const uint64_t when = UINT64_C(1700000000123456789);

static void
same_text(struct view a, struct view b)
{
    assert_int_equal(a.n, b.n);
    if (a.n)
        assert_memory_equal(a.p, b.p, a.n);
}

static void
same_headers(const struct calls_line *a, const struct calls_line *b)
{
    assert_int_equal(a->header_count, b->header_count);
    for (size_t i = 0; i < a->header_count; i++) {
        same_text(a->headers[i].name, b->headers[i].name);
        same_text(a->headers[i].value, b->headers[i].value);
    }
}

static void
same_end(const struct calls_line *a, const struct calls_line *b)
{
    assert_int_equal(a->end, b->end);
    same_text(a->error, b->error);
    same_text(a->model, b->model);
    same_text(a->stop, b->stop);
    assert_int_equal(a->sent, b->sent);
    assert_int_equal(a->received, b->received);
    assert_int_equal(a->events, b->events);
    assert_int_equal(a->first_byte_ns, b->first_byte_ns);
    assert_int_equal(a->first_token_ns, b->first_token_ns);
    assert_int_equal(a->duration_ns, b->duration_ns);
    assert_memory_equal(&a->usage, &b->usage, sizeof(a->usage));
}

static void
same(const struct calls_line *a, const struct calls_line *b)
{
    assert_int_equal(a->type, b->type);
    assert_int_equal(a->ts_ns, b->ts_ns);
    assert_int_equal(a->call, b->call);
    assert_int_equal(a->anchor_byte, b->anchor_byte);
    same_text(a->upstream, b->upstream);
    same_text(a->target, b->target);
    same_text(a->method, b->method);
    same_text(a->url, b->url);
    assert_int_equal(a->http_minor, b->http_minor);
    assert_int_equal(a->retry_of, b->retry_of);
    assert_int_equal(a->status, b->status);
    same_headers(a, b);
    same_text(a->bytes, b->bytes);
    same_text(a->ops, b->ops);
    assert_int_equal(a->base, b->base);
    assert_int_equal(a->piece, b->piece);
    assert_int_equal(a->is_last, b->is_last);
    assert_int_equal(a->size_bytes, b->size_bytes);
    assert_int_equal(a->event, b->event);
    assert_int_equal(a->is_held, b->is_held);
    same_end(a, b);
}

/* In memory of its own, so that a sanitizer sees who reads behind it. */
static int
get(struct view json, struct buf *texts, struct calls_header *headers,
    struct calls_line *ret)
{
    uint8_t *own = malloc(json.n ? json.n : 1);
    assert_non_null(own);
    if (json.n)
        memcpy(own, json.p, json.n);
    int r = calls_line_get((struct view){ own, json.n }, texts, headers, ret);
    if (!r && ret->ops.n) /* they stay where they are */
        ret->ops = (struct view){ json.p + (ret->ops.p - own), ret->ops.n };
    free(own);
    return r;
}

/* One line of valid JSON, which is read as what was written. */
static void
goes_round(const struct calls_line *l)
{
    AUTO(buf) line = { 0 };
    AUTO(buf) texts = { 0 };
    struct calls_header headers[CALLS_HEADERS_MAX];
    struct calls_line got;
    calls_line_put(l, start, &line);
    assert_int_equal(line.failed, 0);
    assert_ptr_equal(memchr(line.p, '\n', line.n), line.p + line.n - 1);
    assert_true(utf8_is_text(line.p, line.n));
    struct json_in in = { .p = line.p, .end = line.p + line.n };
    assert_true(json_in_skip(&in));
    assert_false(in.is_odd);
    assert_ptr_equal(in.p, line.p + line.n - 1);
    assert_int_equal(get((struct view){ line.p, line.n }, &texts, headers, &got), 0);
    same(&got, l);
    assert_true(texts.n <= line.n);
}

static void
writes(const struct calls_line *l, const char *want)
{
    static const char head[] = "{\"ts_ns\":\"1700000000123456789\",\"t_ms\":123,";
    AUTO(buf) line = { 0 };
    calls_line_put(l, start, &line);
    assert_memory_equal(line.p, head, sizeof(head) - 1);
    assert_string_equal(buf_str(&line) + sizeof(head) - 1, want);
    goes_round(l);
}

static int
reads(const char *line, struct calls_line *ret)
{
    AUTO(buf) texts = { 0 };
    struct calls_header headers[CALLS_HEADERS_MAX];
    return get(text_view(line), &texts, headers, ret);
}

/* -- there and back -- */

static const struct view texts_of_all_kinds[] = {
    TEXT("plain"),
    TEXT("\"quoted\" back\\slash /"),
    TEXT("a\0b\x01\x1f\x7f\t\r\n"),
    TEXT("\xe2\x80\xa8\xe2\x80\xa9\xc2\x85\xef\xbb\xbf"),
    TEXT("\xf0\x9f\x98\x80 \xf4\x8f\xbf\xbf \xef\xbf\xbd \xc3\xa9"),
    TEXT("{\"ts_ns\":\"1\",\"call\":7,\"type\":\"end\"}"),
};
enum { KINDS = sizeof(texts_of_all_kinds) / sizeof(texts_of_all_kinds[0]) };

/* Every field that the type has. */
static struct calls_line
full(enum calls_type type, struct view text, uint64_t number,
     const struct calls_header *headers)
{
    struct calls_line l = calls_line(type, number, when);
    l.anchor_byte = number;
    switch (type) {
    case CALLS_REQUEST:
        l.upstream = l.target = l.method = l.url = text;
        l.http_minor = 0;
        l.retry_of = number;
        l.headers = headers;
        l.header_count = 2;
        break;
    case CALLS_REQUEST_BODY:
    case CALLS_BODY:
        l.bytes = text;
        l.piece = number;
        l.is_last = true;
        l.size_bytes = number;
        break;
    case CALLS_REPLY:
        l.status = 529;
        l.headers = headers;
        l.header_count = 2;
        break;
    case CALLS_EVENT:
        l.bytes = text;
        l.event = number;
        l.is_held = true;
        break;
    case CALLS_END:
        l.end = CALLS_ERROR;
        l.error = l.model = l.stop = text;
        l.sent = l.received = l.events = number;
        l.first_byte_ns = l.first_token_ns = l.duration_ns = number;
        l.usage = (struct turn_usage){ 1, 2, 3, 4 };
        break;
    }
    return l;
}

static void
every_field_of_every_type_comes_back(void **state)
{
    (void)state;
    static const uint64_t numbers[] = { 1, 4096, UINT64_C(1) << 53,
                                        (UINT64_C(1) << 53) + 1, UINT64_MAX - 1 };
    for (int i = 0; i < TYPES * KINDS * 5; i++) {
        struct view text = texts_of_all_kinds[i / TYPES % KINDS];
        const struct calls_header headers[] = { { V("x-a"), text }, { text, V("") } };
        struct calls_line l = full((enum calls_type)(i % TYPES), text,
                                   numbers[i / TYPES / KINDS], headers);
        goes_round(&l);
    }
}

static void
what_is_not_known_comes_back_as_that(void **state)
{
    (void)state;
    for (int i = 0; i < TYPES; i++) {
        struct calls_line l = calls_line((enum calls_type)i, 1, 0);
        goes_round(&l);
    }
    for (int i = CALLS_OK; i <= CALLS_CUT; i++) {
        struct calls_line l = calls_line(CALLS_END, 1, when);
        l.end = (enum calls_status)i;
        goes_round(&l);
    }
    for (size_t i = 0; i < TURN_USAGE_FIELDS; i++) {
        struct calls_line l = calls_line(CALLS_END, 1, when);
        *turn_usage_field(&l.usage, i) = i;
        goes_round(&l);
    }
}

static void
each_type_is_written_as_it_should_be(void **state)
{
    (void)state;
    const struct calls_header headers[] = { { V("a"), V("b") }, { V("a"), V("\"") } };
    struct calls_line l = calls_line(CALLS_REQUEST, 3, when);
    l.method = V("POST");
    l.url = V("/v1/messages");
    l.headers = headers;
    l.header_count = 2;
    writes(&l,
           "\"call\":3,\"type\":\"request\",\"method\":\"POST\",\"url\":\"/v1/messages\","
           "\"http\":\"1.1\",\"headers\":[[\"a\",\"b\"],[\"a\",\"\\\"\"]]}\n");
    l = calls_line(CALLS_REQUEST_BODY, 3, when);
    l.base = 2;
    l.ops = V("[[0,12],\"x\"]");
    l.is_last = true;
    l.size_bytes = 13;
    writes(&l, "\"call\":3,\"type\":\"request_body\",\"base\":2,\"ops\":[[0,12],\"x\"],"
               "\"last\":true,\"size\":13}\n");
    l = calls_line(CALLS_REPLY, 3, when);
    l.status = 200;
    writes(&l, "\"call\":3,\"type\":\"reply\",\"status\":200,\"headers\":[]}\n");
    l = calls_line(CALLS_EVENT, 3, when);
    l.anchor_byte = 9;
    l.bytes = V("data: {}\n\n");
    writes(&l, "\"call\":3,\"type\":\"event\",\"anchor_byte\":9,\"event\":0,"
               "\"text\":\"data: {}\\n\\n\"}\n");
    l = calls_line(CALLS_BODY, 3, when);
    writes(&l, "\"call\":3,\"type\":\"body\",\"text\":\"\"}\n");
    l = calls_line(CALLS_END, 3, when);
    l.end = CALLS_ABORTED;
    l.usage.output_tokens = 5;
    writes(&l, "\"call\":3,\"type\":\"end\",\"status\":\"aborted\","
               "\"usage\":{\"output_tokens\":5}}\n");
}

static void
bytes_that_are_no_utf8_are_written_as_base64(void **state)
{
    (void)state;
    static const struct view bytes[] = {
        TEXT("\377"), TEXT("\xc3"), /* cut in a character */
        TEXT("\xed\xa0\x80"),       /* half of a pair */
        TEXT("\xc0\x80"),           /* overlong */
        TEXT("a\xf4\x90\x80\x80")   /* past U+10FFFF */
    };
    for (size_t i = 0; i < sizeof(bytes) / sizeof(bytes[0]); i++) {
        struct calls_line l = calls_line(CALLS_EVENT, 1, when);
        AUTO(buf) line = { 0 };
        l.bytes = bytes[i];
        goes_round(&l);
        calls_line_put(&l, start, &line);
        assert_non_null(strstr(buf_str(&line), "\"base64\":\""));
        assert_null(strstr(buf_str(&line), "\"text\""));
    }
    struct calls_line l = calls_line(CALLS_BODY, 1, when);
    l.bytes = bytes[0];
    writes(&l, "\"call\":1,\"type\":\"body\",\"base64\":\"/w==\"}\n");
}

/* Nobody sends such a head; the line is valid all the same. */
static void
a_head_that_is_no_utf8_is_readable_and_no_more(void **state)
{
    (void)state;
    const struct calls_header header = { V("x-\377"), V("\xc3") };
    AUTO(buf) line = { 0 };
    AUTO(buf) texts = { 0 };
    struct calls_header headers[CALLS_HEADERS_MAX];
    struct calls_line l = calls_line(CALLS_REPLY, 1, when), got;
    l.headers = &header;
    l.header_count = 1;
    calls_line_put(&l, start, &line);
    assert_int_equal(
        calls_line_get((struct view){ line.p, line.n }, &texts, headers, &got), 0);
    same_text(got.headers[0].name, V("x-\xef\xbf\xbd"));
    same_text(got.headers[0].value, V("\xef\xbf\xbd"));
}

static void
bytes_of_every_size_come_back(void **state)
{
    (void)state;
    AUTO(buf) all = { 0 };
    for (int i = 0; i < 700; i++)
        buf_append(&all, &(uint8_t){ (uint8_t)(i * 7) }, 1);
    for (size_t n = 0; n <= all.n; n++) {
        struct calls_line l = calls_line(CALLS_BODY, 1, when);
        l.bytes = (struct view){ all.p, n };
        goes_round(&l);
    }
}

static void
a_moment_before_the_start_is_at_zero(void **state)
{
    (void)state;
    AUTO(buf) line = { 0 };
    struct calls_line l = calls_line(CALLS_END, 1, start - 1);
    calls_line_put(&l, start, &line);
    assert_non_null(strstr(buf_str(&line), "\"t_ms\":0,"));
}

static void
what_does_not_fit_is_remembered_as_a_failure(void **state)
{
    (void)state;
    struct calls_line l = calls_line(CALLS_BODY, 1, when);
    l.bytes = V("\377\377\377\377\377\377\377\377\377\377\377\377");
    AUTO(buf) whole = { 0 };
    calls_line_put(&l, start, &whole);
    for (size_t most = 1; most < whole.n; most++) {
        AUTO(buf) line = { .ceiling = most };
        calls_line_put(&l, start, &line);
        assert_int_equal(line.failed, ERR_LIMIT);
    }
}

/* -- lines of others -- */

static void
what_is_no_line_is_told(void **state)
{
    (void)state;
    static const char *const lines[] = {
        "",
        "{",
        "[]",
        "nonsense",
        "{}",
        "{\"call\":1}",
        "{\"type\":\"end\"}",
        "{\"call\":0,\"type\":\"end\"}",
        "{\"call\":-1,\"type\":\"end\"}",
        "{\"call\":1.5,\"type\":\"end\"}",
        "{\"call\":18446744073709551615,\"type\":\"end\"}",
        "{\"call\":18446744073709551616,\"type\":\"end\"}",
        "{\"call\":1,\"type\":\"ending\"}",
        "{\"call\":1,\"type\":7}",
        "{\"call\":1,\"type\":\"end\"",
        "{\"call\":1,\"type\":\"end\"} x",
        "{\"call\":1,\"type\":\"end\",}",
        "{\"call\":1,\"type\":\"end\",\"error\":\"\xff\"}",
        "{\"call\":1,\"type\":\"end\"}{\"call\":1,\"type\":\"end\"}",
    };
    struct calls_line l;
    for (size_t i = 0; i < sizeof(lines) / sizeof(lines[0]); i++)
        assert_int_equal(reads(lines[i], &l), ERR_DAMAGED);
}

static void
a_piece_without_its_bytes_is_no_line(void **state)
{
    (void)state;
    static const char *const lines[] = {
        "{\"call\":1,\"type\":\"body\"}",
        "{\"call\":1,\"type\":\"body\",\"text\":7}",
        "{\"call\":1,\"type\":\"body\",\"text\":null}",
        "{\"call\":1,\"type\":\"body\",\"base64\":\"YQ=\"}",
        "{\"call\":1,\"type\":\"body\",\"base64\":[\"YQ==\"]}",
        "{\"call\":1,\"type\":\"body\",\"base\":1,\"ops\":[]}",
        "{\"call\":1,\"type\":\"request_body\",\"base\":1}",
        "{\"call\":1,\"type\":\"request_body\",\"base\":1,\"ops\":\"[]\"}",
        "{\"call\":1,\"type\":\"request_body\",\"base\":0,\"ops\":[]}",
        "{\"call\":1,\"type\":\"request_body\",\"ops\":[]}",
        "{\"call\":1,\"type\":\"event\",\"event\":0}",
        "{\"call\":1,\"type\":\"event\",\"text\":\"a\"}",
        "{\"call\":1,\"type\":\"event\",\"event\":-1,\"text\":\"a\"}",
        "{\"call\":1,\"type\":\"event\",\"event\":0,\"base\":1,\"ops\":[]}",
    };
    struct calls_line l;
    for (size_t i = 0; i < sizeof(lines) / sizeof(lines[0]); i++)
        assert_int_equal(reads(lines[i], &l), ERR_DAMAGED);
}

static void
a_field_of_the_wrong_type_is_missing(void **state)
{
    (void)state;
    struct calls_line got, none = calls_line(CALLS_REQUEST, 1, 0);
    assert_int_equal(
        reads(
            "{\"ts_ns\":[],\"t_ms\":\"x\",\"call\":1,\"type\":\"request\","
            "\"anchor_byte\":-5,\"upstream\":1,\"target\":null,\"method\":{},"
            "\"url\":[\"a\"],\"http\":1.0,\"headers\":{\"a\":\"b\"},\"retry_of\":\"x\"}",
            &got),
        0);
    same(&got, &none);
    none = calls_line(CALLS_END, 1, 0);
    none.end = CALLS_CUT;
    assert_int_equal(reads("{\"call\":1,\"type\":\"end\",\"status\":200,\"error\":false,"
                           "\"sent\":1.5,\"received\":-1,\"events\":[],\"first_byte_ns\":"
                           "1e3,\"first_token_ns\":18446744073709551616,\"duration_ns\":"
                           "\"\",\"model\":{},\"stop\":9,\"usage\":[1]}",
                           &got),
                     0);
    same(&got, &none);
    none = calls_line(CALLS_BODY, 1, 0);
    assert_int_equal(reads("{\"call\":1,\"type\":\"body\",\"text\":\"\",\"last\":1,"
                           "\"size\":7,\"piece\":\"x\"}",
                           &got),
                     0);
    same(&got, &none);
    none.is_last = true;
    none.size_bytes = CALLS_NONE;
    assert_int_equal(reads("{\"call\":1,\"type\":\"body\",\"text\":\"\",\"last\":true,"
                           "\"size\":{}}",
                           &got),
                     0);
    same(&got, &none);
    none = calls_line(CALLS_REPLY, 1, 0);
    assert_int_equal(
        reads("{\"call\":1,\"type\":\"reply\",\"status\":1000,\"headers\":1}", &got), 0);
    same(&got, &none);
}

static void
base64_counts_where_the_text_is_none(void **state)
{
    (void)state;
    AUTO(buf) texts = { 0 };
    struct calls_header headers[CALLS_HEADERS_MAX];
    struct calls_line l;
    assert_int_equal(
        get(V("{\"call\":1,\"type\":\"body\",\"text\":null,\"base64\":\"/w==\"}"), &texts,
            headers, &l),
        0);
    same_text(l.bytes, V("\377"));
}

static void
what_its_type_does_not_have_is_not_read(void **state)
{
    (void)state;
    static const char rest[] =
        "\"upstream\":\"u\",\"target\":\"t\",\"method\":\"m\",\"url\":\"l\",\"http\":"
        "\"1.0\",\"retry_of\":7,\"headers\":[[\"a\",\"b\"]],\"status\":\"ok\",\"text\":"
        "\"\","
        "\"event\":0,\"held\":true,\"last\":true,\"size\":0,\"piece\":4,\"error\":\"e\","
        "\"sent\":1,\"received\":2,\"events\":3,\"first_byte_ns\":4,\"first_token_ns\":5,"
        "\"duration_ns\":6,\"model\":\"m\",\"stop\":\"s\",\"usage\":{\"input_tokens\":1}"
        "}";
    static const char *const types[] = { "request", "request_body", "reply",
                                         "event",   "body",         "end" };
    for (int i = 0; i < TYPES; i++) {
        AUTO(buf) line = { 0 };
        AUTO(buf) texts = { 0 };
        struct calls_header headers[CALLS_HEADERS_MAX];
        struct calls_line l;
        buf_printf(&line, "{\"call\":1,\"type\":\"%s\",%s", types[i], rest);
        assert_int_equal(
            calls_line_get((struct view){ line.p, line.n }, &texts, headers, &l), 0);
        assert_int_equal(l.type, i);
        goes_round(&l);
    }
}

static void
members_in_any_order_and_others_among_them(void **state)
{
    (void)state;
    struct calls_line got, want = calls_line(CALLS_EVENT, 12, 5);
    AUTO(buf) texts = { 0 };
    struct calls_header headers[CALLS_HEADERS_MAX];
    want.bytes = V("\xef\xbf\xbd \xf0\x9f\x98\x80/");
    want.event = 3;
    assert_int_equal(
        get(V(" { \"new\" : [ { \"call\" : 9 } ] ,\t\"event\":\"3\",\"text\" : "
              "\"\\ud800 \\ud83d\\ude00\\/\", \"type\":\"event\", "
              "\"call\":\"12\", \"ts_ns\":5 } "),
            &texts, headers, &got),
        0);
    same(&got, &want);
}

/* -- ceilings -- */

static void
headers_over_the_ceiling_are_left_out(void **state)
{
    (void)state;
    static struct calls_header many[CALLS_HEADERS_MAX + 9];
    static struct calls_header headers[CALLS_HEADERS_MAX];
    AUTO(buf) line = { 0 };
    AUTO(buf) texts = { 0 };
    struct calls_line l = calls_line(CALLS_REPLY, 1, when), got;
    for (size_t i = 0; i < CALLS_HEADERS_MAX + 9; i++)
        many[i] = (struct calls_header){ V("name"), V("value") };
    l.headers = many;
    l.header_count = CALLS_HEADERS_MAX + 9;
    calls_line_put(&l, start, &line);
    assert_int_equal(get((struct view){ line.p, line.n }, &texts, headers, &got), 0);
    assert_int_equal(got.header_count, CALLS_HEADERS_MAX);
    l.header_count = CALLS_HEADERS_MAX;
    same(&got, &l);
}

static void
headers_that_are_no_pairs_of_texts_are_left_out(void **state)
{
    (void)state;
    AUTO(buf) texts = { 0 };
    struct calls_header headers[CALLS_HEADERS_MAX];
    struct calls_line l;
    assert_int_equal(
        get(V("{\"call\":1,\"type\":\"reply\",\"headers\":[[],[\"a\"],[1,\"b\"],"
              "[\"c\",2],\"d\",[\"e\",\"f\",\"g\"],null,[\"h\",\"\"]]}"),
            &texts, headers, &l),
        0);
    assert_int_equal(l.header_count, 2);
    same_text(l.headers[0].name, V("e"));
    same_text(l.headers[0].value, V("f"));
    same_text(l.headers[1].name, V("h"));
    same_text(l.headers[1].value, V(""));
}

static void
a_line_over_the_ceiling_of_its_texts_is_told(void **state)
{
    (void)state;
    AUTO(buf) texts = { .ceiling = 40 };
    struct calls_header headers[CALLS_HEADERS_MAX];
    struct calls_line l;
    struct view json = V("{\"call\":1,\"type\":\"body\",\"text\":\"0123456789\"}");
    assert_int_equal(calls_line_get(json, &texts, headers, &l), ERR_LIMIT);
    texts.ceiling = json.n;
    assert_int_equal(calls_line_get(json, &texts, headers, &l), 0);
}

static void
every_cut_and_every_flip_of_a_line_is_read_or_told(void **state)
{
    (void)state;
    const struct calls_header pairs[] = { { V("x-a"), V("b") }, { V("c"), V("\\") } };
    for (int type = 0; type < TYPES; type++) {
        AUTO(buf) line = { 0 };
        AUTO(buf) texts = { 0 };
        static struct calls_header headers[CALLS_HEADERS_MAX];
        struct calls_line l = full((enum calls_type)type, V("a\n\xc3\xa9"), 77, pairs),
                          got;
        calls_line_put(&l, start, &line);
        for (size_t n = 0; n < line.n - 1; n++)
            assert_int_equal(get((struct view){ line.p, n }, &texts, headers, &got),
                             ERR_DAMAGED);
        for (size_t i = 0; i < line.n * 8; i++) {
            line.p[i / 8] ^= (uint8_t)(1 << i % 8);
            int r = get((struct view){ line.p, line.n }, &texts, headers, &got);
            assert_true(r == 0 || r == ERR_DAMAGED);
            line.p[i / 8] ^= (uint8_t)(1 << i % 8);
        }
    }
}

/* -- the document -- */

static void
read_doc(struct buf *doc)
{
    const char *path = getenv("AHR_WIRE_DOC");
    assert_non_null(path);
    assert_int_equal(file_slurp(path, doc), 0);
}

static struct view
next_line(struct view *rest)
{
    const uint8_t *end = memchr(rest->p, '\n', rest->n);
    struct view line = { rest->p, end ? (size_t)(end - rest->p) : rest->n };
    size_t gone = line.n + (end != NULL);
    *rest = (struct view){ rest->p + gone, rest->n - gone };
    return line;
}

/* Read and written again. */
static enum calls_type
check_example(struct view line)
{
    AUTO(buf) texts = { 0 };
    AUTO(buf) again = { 0 };
    static struct calls_header headers[CALLS_HEADERS_MAX];
    struct calls_line l;
    assert_int_equal(calls_line_get(line, &texts, headers, &l), 0);
    calls_line_put(&l, start, &again);
    assert_int_equal(again.n, line.n + 1);
    assert_memory_equal(again.p, line.p, line.n);
    return l.type;
}

static void
every_type_has_an_example_in_the_document(void **state)
{
    (void)state;
    AUTO(buf) doc = { 0 };
    bool is_seen[TYPES] = { false };
    read_doc(&doc);
    struct view rest = { doc.p, doc.n };
    while (rest.n) {
        struct view line = next_line(&rest);
        while (line.n && line.p[0] == ' ')
            line = (struct view){ line.p + 1, line.n - 1 };
        if (line.n > 9 && !memcmp(line.p, "{\"ts_ns\":", 9))
            is_seen[check_example(line)] = true;
    }
    for (int i = 0; i < TYPES; i++)
        assert_true(is_seen[i]);
}

/* … as `key` or "key". */
static void
check_keys(struct view object, const char *doc)
{
    struct json_in in = { .p = object.p, .end = object.p + object.n };
    AUTO(buf) key = { 0 };
    bool is_first = true;
    assert_true(json_in_take(&in, '{'));
    while (json_in_each(&in, '}', &is_first)) {
        AUTO(buf) ticked = { 0 };
        AUTO(buf) quoted = { 0 };
        assert_true(json_in_key(&in, &key));
        buf_printf(&ticked, "`%s`", buf_str(&key));
        buf_printf(&quoted, "\"%s\"", buf_str(&key));
        if (!strstr(doc, buf_str(&ticked)) && !strstr(doc, buf_str(&quoted)))
            fail_msg("doc/wire.md does not have %s", buf_str(&ticked));
        (void)json_in_peek(&in);
        const uint8_t *value = in.p;
        assert_true(json_in_skip(&in));
        if (!strcmp(buf_str(&key), "usage"))
            check_keys((struct view){ value, (size_t)(in.p - value) }, doc);
    }
}

static void
every_field_is_in_the_document(void **state)
{
    (void)state;
    static const struct view texts[] = { TEXT("plain"), TEXT("\377") };
    AUTO(buf) doc = { 0 };
    read_doc(&doc);
    for (int i = 0; i < TYPES * 3; i++) {
        AUTO(buf) line = { 0 };
        struct calls_header header[2] = { { V("a"), V("b") }, { V("c"), V("d") } };
        struct calls_line l = full((enum calls_type)(i / 3), texts[i % 2], 7, header);
        if (i % 3 == 2 && l.type == CALLS_REQUEST_BODY) {
            l.base = 1;
            l.ops = V("[]");
        }
        calls_line_put(&l, start, &line);
        check_keys((struct view){ line.p, line.n }, buf_str(&doc));
    }
    for (int i = CALLS_OK; i <= CALLS_CUT; i++) {
        AUTO(buf) ticked = { 0 };
        buf_printf(&ticked, "`%s`: ", calls_status_name((enum calls_status)i));
        assert_true(i == CALLS_OK ? strstr(buf_str(&doc), "`ok`;") != NULL
                                  : strstr(buf_str(&doc), buf_str(&ticked)) != NULL);
    }
}

int
main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_field_of_every_type_comes_back),
        cmocka_unit_test(what_is_not_known_comes_back_as_that),
        cmocka_unit_test(each_type_is_written_as_it_should_be),
        cmocka_unit_test(bytes_that_are_no_utf8_are_written_as_base64),
        cmocka_unit_test(a_head_that_is_no_utf8_is_readable_and_no_more),
        cmocka_unit_test(bytes_of_every_size_come_back),
        cmocka_unit_test(a_moment_before_the_start_is_at_zero),
        cmocka_unit_test(what_does_not_fit_is_remembered_as_a_failure),
        cmocka_unit_test(what_is_no_line_is_told),
        cmocka_unit_test(a_piece_without_its_bytes_is_no_line),
        cmocka_unit_test(a_field_of_the_wrong_type_is_missing),
        cmocka_unit_test(base64_counts_where_the_text_is_none),
        cmocka_unit_test(what_its_type_does_not_have_is_not_read),
        cmocka_unit_test(members_in_any_order_and_others_among_them),
        cmocka_unit_test(headers_over_the_ceiling_are_left_out),
        cmocka_unit_test(headers_that_are_no_pairs_of_texts_are_left_out),
        cmocka_unit_test(a_line_over_the_ceiling_of_its_texts_is_told),
        cmocka_unit_test(every_cut_and_every_flip_of_a_line_is_read_or_told),
        cmocka_unit_test(every_type_has_an_example_in_the_document),
        cmocka_unit_test(every_field_is_in_the_document),
    };
    return cmocka_run_group_tests_name("calls_line", tests, NULL, NULL);
}
