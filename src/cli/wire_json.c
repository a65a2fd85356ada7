/* SPDX-License-Identifier: MIT */
/* wire_json.c -- calls as JSON: facts of all of them, or all there is of one. */
#include <inttypes.h>
#include <stdio.h>

#include "base/base64.h"
#include "base/iso.h"
#include "base/json.h"
#include "base/utf8.h"
#include "cli/wire_print.h"

enum { LOT = 1 << 20 }; /* bytes that are written together */

/* -- facts -- */

static void
put_view(struct json *j, const char *key, struct view v)
{
    json_key(j, key);
    if (v.n)
        json_bytes(j, v);
    else
        json_none(j);
}

static void
put_u64(struct json *j, const char *key, uint64_t v)
{
    json_key(j, key);
    if (v == UINT64_MAX)
        json_none(j);
    else
        json_u64(j, v);
}

/* A number with so many digits behind the point. */
static void
put_decimal(struct json *j, const char *key, uint64_t v, unsigned places, uint64_t unit)
{
    char text[48];
    if (v == UINT64_MAX) {
        put_u64(j, key, v);
        return;
    }
    int n = snprintf(text, sizeof(text), "%" PRIu64 ".%0*" PRIu64, v / unit, (int)places,
                     v % unit);
    json_key(j, key);
    json_raw(j, (struct view){ (const uint8_t *)text, (size_t)n });
}

static void
put_ms(struct json *j, const char *key, uint64_t ns)
{
    put_decimal(j, key, ns == CALLS_NONE ? UINT64_MAX : ns / 1000, 3, 1000);
}

static void
put_usage(struct json *j, const struct turn_usage *u)
{
    json_key(j, "usage");
    if (!turn_usage_is_told(*u)) {
        json_none(j);
        return;
    }
    json_open(j, '{');
    put_u64(j, "input_tokens", u->input_tokens);
    put_u64(j, "output_tokens", u->output_tokens);
    put_u64(j, "cache_creation_input_tokens", u->cache_creation_tokens);
    put_u64(j, "cache_read_input_tokens", u->cache_read_tokens);
    json_close(j, '}');
}

static void
put_facts(struct json *j, const struct calls_facts *f, uint64_t start_ns)
{
    AUTO(buf) time = { 0 };
    iso_time(f->ts_ns, &time);
    put_u64(j, "call", f->number);
    json_key(j, "time"), json_str(j, buf_str(&time));
    json_key(j, "ts_ns"), json_u64_str(j, f->ts_ns);
    put_u64(j, "t_ms", f->ts_ns > start_ns ? (f->ts_ns - start_ns) / 1000000 : 0);
    put_u64(j, "anchor_byte", f->anchor_byte);
    put_u64(j, "end_anchor_byte", f->end_anchor_byte);
    put_view(j, "upstream", f->upstream);
    put_view(j, "target", f->target);
    put_view(j, "method", f->method);
    put_view(j, "url", f->url);
    put_u64(j, "retry_of", f->retry_of ? f->retry_of : UINT64_MAX);
    put_u64(j, "status", f->status ? f->status : UINT64_MAX);
    json_key(j, "end"), json_str(j, f->has_end ? calls_status_name(f->end) : "open");
    put_view(j, "error", f->error);
    put_view(j, "model", f->model);
    put_view(j, "stop", f->stop);
    put_usage(j, &f->usage);
    put_decimal(j, "cache_share", cli_wire_cache_share(&f->usage), 3, 1000);
    put_ms(j, "first_byte_ms", f->first_byte_ns);
    put_ms(j, "first_token_ms", f->first_token_ns);
    put_ms(j, "duration_ms", f->duration_ns);
    put_decimal(j, "tokens_per_s", cli_wire_speed(f), 1, 10);
    put_u64(j, "events", f->is_stream ? f->events : UINT64_MAX);
    put_u64(j, "sent_bytes", f->sent);
    put_u64(j, "received_bytes", f->received);
}

int
cli_wire_json(const struct calls *c, uint64_t start_ns, struct err *err)
{
    AUTO(buf) text = { 0 };
    struct json json = { .out = &text }, *j = &json;
    int r = 0;
    json_open(j, '[');
    for (size_t i = 0; i < calls_count(c) && !r; i++) {
        json_open(j, '{');
        put_facts(j, calls_facts(c, i), start_ns);
        json_close(j, '}');
        if (text.n >= LOT)
            r = cli_wire_write(&text, err);
    }
    json_close(j, ']');
    buf_puts(&text, "\n");
    return r < 0 ? r : cli_wire_write(&text, err);
}

/* -- one, whole -- */

/* As text, or as base 64 with another name. */
static void
put_bytes(struct json *j, const char *key, const char *key_64, struct view v)
{
    AUTO(buf) letters = { .ceiling = v.n / 3 * 4 + 8 };
    if (utf8_is_text(v.p, v.n)) {
        json_key(j, key);
        json_bytes(j, v);
        return;
    }
    base64_put(v, &letters);
    json_key(j, key_64);
    json_bytes(j, (struct view){ letters.p, letters.n });
}

static void
put_headers(struct json *j, const char *key, const struct calls_header *headers,
            size_t count)
{
    json_key(j, key), json_open(j, '[');
    for (size_t i = 0; i < count; i++) {
        json_open(j, '[');
        json_bytes(j, headers[i].name);
        json_bytes(j, headers[i].value);
        json_close(j, ']');
    }
    json_close(j, ']');
}

static void
put_event(struct json *j, const struct calls_event *e, uint64_t from_ns)
{
    json_open(j, '{');
    json_key(j, "ts_ns"), json_u64_str(j, e->ts_ns);
    put_ms(j, "after_ms", e->ts_ns > from_ns ? e->ts_ns - from_ns : 0);
    if (e->anchor_byte != CALLS_NONE)
        put_u64(j, "anchor_byte", e->anchor_byte);
    put_bytes(j, "text", "base64", e->bytes);
    json_close(j, '}');
}

int
cli_wire_json_whole(const struct calls_whole *w, uint64_t start_ns, struct err *err)
{
    AUTO(buf) text = { .ceiling = (size_t)3 << 30 };
    struct json json = { .out = &text }, *j = &json;
    json_open(j, '{');
    put_facts(j, w->facts, start_ns);
    put_headers(j, "request_headers", w->request_headers, w->request_header_count);
    put_bytes(j, "request", "request_base64", w->request);
    json_key(j, "request_is_whole"), json_bool(j, w->is_request_whole);
    put_headers(j, "reply_headers", w->reply_headers, w->reply_header_count);
    put_bytes(j, "reply", "reply_base64", w->reply);
    json_key(j, "reply_is_whole"), json_bool(j, w->is_reply_whole);
    if (w->facts->is_stream) {
        json_key(j, "reply_events"), json_open(j, '[');
        for (size_t i = 0; i < w->event_count; i++)
            put_event(j, &w->events[i], w->facts->ts_ns);
        json_close(j, ']');
    }
    json_close(j, '}');
    buf_puts(&text, "\n");
    return cli_wire_write(&text, err);
}
