/* SPDX-License-Identifier: MIT */
#include "calls/har.h"

#include <inttypes.h>
#include <stdio.h>
#include <strings.h>

#include "base/base64.h"
#include "base/iso.h"
#include "base/utf8.h"

void
calls_har_begin(struct calls_har *h, const char *title, struct buf *out)
{
    struct json *j = &h->json;
    *h = (struct calls_har){ .json.out = out };
    json_open(j, '{');
    json_key(j, "log"), json_open(j, '{');
    json_key(j, "version"), json_str(j, "1.2");
    json_key(j, "creator"), json_open(j, '{');
    json_key(j, "name"), json_str(j, "ahr");
    json_key(j, "version"), json_str(j, AHR_VERSION);
    json_close(j, '}');
    json_key(j, "pages"), json_open(j, '['), json_close(j, ']');
    json_key(j, "comment"), json_str(j, title);
    json_key(j, "entries"), json_open(j, '[');
}

void
calls_har_end(struct calls_har *h)
{
    json_close(&h->json, ']');
    json_close(&h->json, '}');
    json_close(&h->json, '}');
    buf_puts(h->json.out, "\n");
}

/* -- values -- */

static void
put_view(struct json *j, const char *key, struct view v)
{
    json_key(j, key);
    json_bytes(j, v);
}

/* Milliseconds with three digits behind the point. */
static void
put_ms(struct json *j, const char *key, uint64_t ns)
{
    char text[48];
    int n = snprintf(text, sizeof(text), "%" PRIu64 ".%03" PRIu64, ns / 1000000,
                     ns / 1000 % 1000);
    json_key(j, key);
    json_raw(j, (struct view){ (const uint8_t *)text, (size_t)n });
}

static void
put_minus_one(struct json *j, const char *key)
{
    json_key(j, key);
    json_raw(j, (struct view){ (const uint8_t *)"-1", 2 });
}

static struct view
find(const struct calls_header *headers, size_t count, const char *name)
{
    for (size_t i = 0; i < count; i++)
        if (headers[i].name.n == strlen(name) &&
            !strncasecmp((const char *)headers[i].name.p, name, strlen(name)))
            return headers[i].value;
    return (struct view){ 0 };
}

static void
put_pair(struct json *j, struct view name, struct view value)
{
    json_open(j, '{');
    put_view(j, "name", name);
    put_view(j, "value", value);
    json_close(j, '}');
}

static void
put_headers(struct json *j, const struct calls_header *headers, size_t count)
{
    json_key(j, "headers"), json_open(j, '[');
    for (size_t i = 0; i < count; i++)
        put_pair(j, headers[i].name, headers[i].value);
    json_close(j, ']');
    /* Those of requests and replies are among the headers, masked. */
    json_key(j, "cookies"), json_open(j, '['), json_close(j, ']');
}

static struct view
take_until(struct view *rest, char stop)
{
    const uint8_t *end = rest->n ? memchr(rest->p, stop, rest->n) : NULL;
    struct view v = { rest->p, end ? (size_t)(end - rest->p) : rest->n };
    size_t n = v.n + (end != NULL);
    *rest = (struct view){ rest->p + n, rest->n - n };
    return v;
}

static void
put_query(struct json *j, struct view url)
{
    take_until(&url, '?');
    json_key(j, "queryString"), json_open(j, '[');
    while (url.n) {
        struct view value = take_until(&url, '&'), name = take_until(&value, '=');
        put_pair(j, name, value);
    }
    json_close(j, ']');
}

/* Text, or what is none in base 64, which `encoding` tells. */
static int
put_text(struct json *j, struct view bytes, const char *encoding)
{
    AUTO(buf) letters = { .ceiling = bytes.n / 3 * 4 + 8 };
    if (utf8_is_text(bytes.p, bytes.n)) {
        put_view(j, "text", bytes);
        return 0;
    }
    base64_put(bytes, &letters);
    put_view(j, "text", (struct view){ letters.p, letters.n });
    json_key(j, encoding), json_str(j, "base64");
    return letters.failed;
}

static void
put_version(struct json *j, unsigned minor)
{
    json_key(j, "httpVersion"), json_str(j, minor ? "HTTP/1.1" : "HTTP/1.0");
}

/* -- an entry -- */

static int
put_request(struct json *j, const struct calls_whole *w)
{
    const struct calls_facts *f = w->facts;
    AUTO(buf) url = { 0 };
    struct view type = find(w->request_headers, w->request_header_count, "content-type");
    int r = 0;
    buf_append(&url, f->target.p, f->target.n);
    buf_append(&url, f->url.p, f->url.n);
    json_key(j, "request"), json_open(j, '{');
    put_view(j, "method", f->method);
    put_view(j, "url", (struct view){ url.p, url.n });
    put_version(j, f->http_minor);
    put_headers(j, w->request_headers, w->request_header_count);
    put_query(j, f->url);
    if (w->request.n) {
        json_key(j, "postData"), json_open(j, '{');
        put_view(j, "mimeType", type);
        r = put_text(j, w->request, "_encoding"); /* the format has none there */
        json_close(j, '}');
    }
    put_minus_one(j, "headersSize");
    json_key(j, "bodySize");
    json_u64(j, f->sent == CALLS_NONE ? w->request.n : f->sent);
    json_close(j, '}');
    return r;
}

static int
put_response(struct json *j, const struct calls_whole *w)
{
    const struct calls_facts *f = w->facts;
    struct view type = find(w->reply_headers, w->reply_header_count, "content-type");
    struct view to = find(w->reply_headers, w->reply_header_count, "location");
    json_key(j, "response"), json_open(j, '{');
    json_key(j, "status"), json_u64(j, f->status);
    json_key(j, "statusText"), json_str(j, "");
    put_version(j, 1);
    put_headers(j, w->reply_headers, w->reply_header_count);
    json_key(j, "content"), json_open(j, '{');
    json_key(j, "size"), json_u64(j, w->reply.n);
    put_view(j, "mimeType", type);
    int r = put_text(j, w->reply, "encoding");
    json_close(j, '}');
    put_view(j, "redirectURL", to);
    put_minus_one(j, "headersSize");
    json_key(j, "bodySize");
    json_u64(j, f->received == CALLS_NONE ? w->reply.n : f->received);
    json_close(j, '}');
    return r;
}

/* The parts are their sum, as the format wants it. */
static void
put_timings(struct json *j, const struct calls_facts *f)
{
    uint64_t all = f->duration_ns != CALLS_NONE ? f->duration_ns
                   : f->last_ns > f->ts_ns      ? f->last_ns - f->ts_ns
                                                : 0;
    uint64_t wait = f->first_byte_ns < all ? f->first_byte_ns : all;
    put_ms(j, "time", all);
    json_key(j, "timings"), json_open(j, '{');
    put_ms(j, "send", 0);
    put_ms(j, "wait", wait);
    put_ms(j, "receive", all - wait);
    json_close(j, '}');
}

static void
put_events(struct json *j, const struct calls_whole *w)
{
    if (!w->facts->is_stream)
        return;
    json_key(j, "_events"), json_open(j, '[');
    for (size_t i = 0; i < w->event_count; i++) {
        uint64_t ts_ns = w->events[i].ts_ns, from = w->facts->ts_ns;
        json_open(j, '{');
        put_ms(j, "time", ts_ns > from ? ts_ns - from : 0);
        json_key(j, "size"), json_u64(j, w->events[i].bytes.n);
        json_close(j, '}');
    }
    json_close(j, ']');
}

static void
put_ours(struct json *j, const struct calls_whole *w)
{
    const struct calls_facts *f = w->facts;
    json_key(j, "_call"), json_u64(j, f->number);
    json_key(j, "_end");
    json_str(j, f->has_end ? calls_status_name(f->end) : "open");
    if (f->error.n)
        put_view(j, "_error", f->error);
    if (f->model.n)
        put_view(j, "_model", f->model);
    if (f->retry_of)
        json_key(j, "_retryOf"), json_u64(j, f->retry_of);
    if (f->anchor_byte != CALLS_NONE)
        json_key(j, "_anchorByte"), json_u64(j, f->anchor_byte);
    put_events(j, w);
}

int
calls_har_entry(struct calls_har *h, const struct calls_whole *w)
{
    struct json *j = &h->json;
    AUTO(buf) time = { 0 };
    iso_time(w->facts->ts_ns, &time);
    json_open(j, '{');
    json_key(j, "startedDateTime"), json_str(j, buf_str(&time));
    put_timings(j, w->facts);
    int r = put_request(j, w);
    if (!r)
        r = put_response(j, w);
    json_key(j, "cache"), json_open(j, '{'), json_close(j, '}');
    put_ours(j, w);
    json_close(j, '}');
    return r < 0 ? r : j->out->failed;
}
