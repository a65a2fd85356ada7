/* SPDX-License-Identifier: MIT */
/* Whatever line is read: written again it is one line of valid JSON, and says the same.
 */
#include "base/json_in.h"
#include "base/utf8.h"
#include "calls/line.h"
#include "fuzz/fuzz.h"

static bool
is_same(struct view a, struct view b)
{
    return a.n == b.n && (!a.n || !memcmp(a.p, b.p, a.n));
}

static void
check_heads(const struct calls_line *a, const struct calls_line *b)
{
    CHECK(is_same(a->upstream, b->upstream) && is_same(a->target, b->target));
    CHECK(is_same(a->method, b->method) && is_same(a->url, b->url));
    CHECK(a->http_minor == b->http_minor && a->retry_of == b->retry_of);
    CHECK(a->status == b->status && a->header_count == b->header_count);
    CHECK(a->header_count <= CALLS_HEADERS_MAX);
    for (size_t i = 0; i < a->header_count; i++)
        CHECK(is_same(a->headers[i].name, b->headers[i].name) &&
              is_same(a->headers[i].value, b->headers[i].value));
}

static void
check_same(const struct calls_line *a, const struct calls_line *b)
{
    CHECK(a->type == b->type && a->ts_ns == b->ts_ns && a->call == b->call);
    CHECK(a->anchor_byte == b->anchor_byte);
    check_heads(a, b);
    CHECK(is_same(a->bytes, b->bytes) && is_same(a->ops, b->ops));
    CHECK(!a->base == !a->ops.n && (!a->base || !a->bytes.n));
    CHECK(a->base == b->base && a->piece == b->piece && a->is_last == b->is_last);
    CHECK(a->size_bytes == b->size_bytes && a->event == b->event);
    CHECK(a->is_held == b->is_held && a->end == b->end);
    CHECK(is_same(a->error, b->error) && is_same(a->model, b->model));
    CHECK(is_same(a->stop, b->stop) && a->sent == b->sent);
    CHECK(a->received == b->received && a->events == b->events);
    CHECK(a->first_byte_ns == b->first_byte_ns && a->duration_ns == b->duration_ns);
    CHECK(a->first_token_ns == b->first_token_ns);
    CHECK(!memcmp(&a->usage, &b->usage, sizeof(a->usage)));
}

static void
check_line(const struct buf *line)
{
    struct json_in in = { .p = line->p, .end = line->p + line->n };
    CHECK(!line->failed && memchr(line->p, '\n', line->n) == line->p + line->n - 1);
    CHECK(utf8_is_text(line->p, line->n));
    CHECK(json_in_skip(&in) && in.p + 1 == in.end);
}

/* As a file is cut into lines. */
static struct view
first_line(struct view in)
{
    const uint8_t *end = in.n ? memchr(in.p, '\n', in.n) : NULL;
    return (struct view){ in.p, end ? (size_t)(end - in.p) : in.n };
}

int
LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static struct calls_header headers[CALLS_HEADERS_MAX], others[CALLS_HEADERS_MAX];
    AUTO(buf) texts = { 0 };
    AUTO(buf) again = { 0 };
    AUTO(buf) line = { 0 };
    struct calls_line a, b;
    struct view in = { data ? data : (const uint8_t *)"", size };
    int r = calls_line_get(first_line(in), &texts, headers, &a);
    CHECK(r == 0 || r == ERR_DAMAGED);
    if (r)
        return 0;
    calls_line_put(&a, 0, &line);
    check_line(&line);
    CHECK(calls_line_get((struct view){ line.p, line.n }, &again, others, &b) == 0);
    check_same(&a, &b);
    return 0;
}
