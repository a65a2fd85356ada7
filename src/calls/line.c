/* SPDX-License-Identifier: MIT */
#include "calls/line.h"

#include "base/base64.h"
#include "base/json.h"
#include "base/utf8.h"
#include "turn/fields.h"

static const char *const types[] = {
    [CALLS_REQUEST] = "request", [CALLS_REQUEST_BODY] = "request_body",
    [CALLS_REPLY] = "reply",     [CALLS_EVENT] = "event",
    [CALLS_BODY] = "body",       [CALLS_END] = "end",
};
enum { TYPES = sizeof(types) / sizeof(types[0]) };

static const char *const statuses[] = {
    [CALLS_OK] = "ok",
    [CALLS_ABORTED] = "aborted",
    [CALLS_ERROR] = "error",
    [CALLS_CUT] = "cut",
};
enum { STATUSES = sizeof(statuses) / sizeof(statuses[0]) };

const char *
calls_status_name(enum calls_status s)
{
    return statuses[s];
}

struct calls_line
calls_line(enum calls_type type, uint64_t call, uint64_t ts_ns)
{
    return (struct calls_line){
        .type = type,
        .ts_ns = ts_ns,
        .call = call,
        .anchor_byte = CALLS_NONE,
        .http_minor = 1,
        .piece = CALLS_NONE,
        .sent = CALLS_NONE,
        .received = CALLS_NONE,
        .events = CALLS_NONE,
        .first_byte_ns = CALLS_NONE,
        .first_token_ns = CALLS_NONE,
        .duration_ns = CALLS_NONE,
        .usage = TURN_NO_USAGE,
    };
}

/* -- out -- */

static void
put_text(struct json *j, const char *key, struct view v)
{
    if (!v.n)
        return;
    json_key(j, key);
    json_bytes(j, v);
}

static void
put_number(struct json *j, const char *key, uint64_t v, uint64_t none)
{
    if (v == none)
        return;
    json_key(j, key);
    json_u64(j, v);
}

static void
put_true(struct json *j, const char *key, bool v)
{
    if (!v)
        return;
    json_key(j, key);
    json_bool(j, true);
}

static void
put_headers(struct json *j, const struct calls_line *l)
{
    json_key(j, "headers");
    json_open(j, '[');
    for (size_t i = 0; i < l->header_count; i++) {
        json_open(j, '[');
        json_bytes(j, l->headers[i].name);
        json_bytes(j, l->headers[i].value);
        json_close(j, ']');
    }
    json_close(j, ']');
}

static void
put_request(struct json *j, const struct calls_line *l)
{
    put_text(j, "upstream", l->upstream);
    put_text(j, "target", l->target);
    put_text(j, "method", l->method);
    put_text(j, "url", l->url);
    json_key(j, "http");
    json_str(j, l->http_minor ? "1.1" : "1.0");
    put_headers(j, l);
    put_number(j, "retry_of", l->retry_of, 0);
    put_true(j, "turns", l->has_turns);
}

static void
put_base64(struct json *j, struct view bytes)
{
    AUTO(buf) letters = { .ceiling = bytes.n / 3 * 4 + 8 };
    base64_put(bytes, &letters);
    if (letters.failed && !j->out->failed)
        j->out->failed = letters.failed;
    json_key(j, "base64");
    json_bytes(j, (struct view){ letters.p, letters.n });
}

static void
put_bytes(struct json *j, const struct calls_line *l)
{
    if (l->base) {
        put_number(j, "base", l->base, 0);
        json_key(j, "ops");
        json_raw(j, l->ops);
    } else if (utf8_is_text(l->bytes.p, l->bytes.n)) {
        json_key(j, "text");
        json_bytes(j, l->bytes);
    } else {
        put_base64(j, l->bytes);
    }
}

static void
put_piece(struct json *j, const struct calls_line *l)
{
    put_number(j, "piece", l->piece, CALLS_NONE);
    put_bytes(j, l);
    put_true(j, "last", l->is_last);
    if (l->is_last)
        put_number(j, "size", l->size_bytes, CALLS_NONE);
}

static void
put_usage(struct json *j, const struct turn_usage *u)
{
    if (!turn_usage_is_told(*u))
        return;
    json_key(j, "usage");
    json_open(j, '{');
    put_number(j, "input_tokens", u->input_tokens, TURN_UNKNOWN);
    put_number(j, "output_tokens", u->output_tokens, TURN_UNKNOWN);
    put_number(j, "cache_creation_input_tokens", u->cache_creation_tokens, TURN_UNKNOWN);
    put_number(j, "cache_read_input_tokens", u->cache_read_tokens, TURN_UNKNOWN);
    json_close(j, '}');
}

static void
put_end(struct json *j, const struct calls_line *l)
{
    json_key(j, "status");
    json_str(j, statuses[l->end]);
    put_text(j, "error", l->error);
    put_number(j, "sent", l->sent, CALLS_NONE);
    put_number(j, "received", l->received, CALLS_NONE);
    put_number(j, "events", l->events, CALLS_NONE);
    put_number(j, "first_byte_ns", l->first_byte_ns, CALLS_NONE);
    put_number(j, "first_token_ns", l->first_token_ns, CALLS_NONE);
    put_number(j, "duration_ns", l->duration_ns, CALLS_NONE);
    put_text(j, "model", l->model);
    put_text(j, "stop", l->stop);
    put_usage(j, &l->usage);
}

static void
put_rest(struct json *j, const struct calls_line *l)
{
    switch (l->type) {
    case CALLS_REQUEST:
        put_request(j, l);
        break;
    case CALLS_REQUEST_BODY:
    case CALLS_BODY:
        put_piece(j, l);
        break;
    case CALLS_REPLY:
        put_number(j, "status", l->status, CALLS_NONE);
        put_headers(j, l);
        break;
    case CALLS_EVENT:
        put_number(j, "event", l->event, CALLS_NONE);
        put_true(j, "held", l->is_held);
        put_bytes(j, l);
        break;
    case CALLS_END:
        put_end(j, l);
        break;
    }
}

void
calls_line_put(const struct calls_line *l, uint64_t start_ns, struct buf *out)
{
    struct json json = { .out = out }, *j = &json;
    json_open(j, '{');
    json_key(j, "ts_ns");
    json_u64_str(j, l->ts_ns);
    json_key(j, "t_ms");
    json_u64(j, l->ts_ns > start_ns ? (l->ts_ns - start_ns) / 1000000 : 0);
    put_number(j, "call", l->call, CALLS_NONE);
    json_key(j, "type");
    json_str(j, types[l->type]);
    put_number(j, "anchor_byte", l->anchor_byte, CALLS_NONE);
    put_rest(j, l);
    json_close(j, '}');
    buf_puts(out, "\n");
}

/* -- in -- */

/* What a line has, as raw JSON. */
struct raw {
    struct view ts_ns, call, type, anchor_byte;
    struct view upstream, target, method, url, http, headers, retry_of, status;
    struct view piece, text, base64, base, ops, is_last, size, event, is_held;
    struct view error, model, stop, sent, received, events, usage, turns;
    struct view first_byte, first_token, duration;
};

static bool
find(struct view json, struct raw *r)
{
    const struct turn_field wanted[] = {
        { "ts_ns", &r->ts_ns },
        { "call", &r->call },
        { "type", &r->type },
        { "anchor_byte", &r->anchor_byte },
        { "upstream", &r->upstream },
        { "target", &r->target },
        { "method", &r->method },
        { "url", &r->url },
        { "http", &r->http },
        { "headers", &r->headers },
        { "retry_of", &r->retry_of },
        { "status", &r->status },
        { "piece", &r->piece },
        { "text", &r->text },
        { "base64", &r->base64 },
        { "base", &r->base },
        { "ops", &r->ops },
        { "last", &r->is_last },
        { "size", &r->size },
        { "event", &r->event },
        { "held", &r->is_held },
        { "error", &r->error },
        { "model", &r->model },
        { "stop", &r->stop },
        { "sent", &r->sent },
        { "received", &r->received },
        { "events", &r->events },
        { "first_byte_ns", &r->first_byte },
        { "first_token_ns", &r->first_token },
        { "duration_ns", &r->duration },
        { "usage", &r->usage },
        { "turns", &r->turns },
    };
    return turn_fields(json, wanted, sizeof(wanted) / sizeof(wanted[0]));
}

/* A number, or a string of its digits. */
static uint64_t
number(struct view value, uint64_t otherwise)
{
    if (value.n > 2 && value.p[0] == '"')
        value = (struct view){ value.p + 1, value.n - 2 };
    return turn_u64(value, otherwise);
}

static struct view
since(const struct buf *texts, size_t start)
{
    return (struct view){ texts->n > start ? texts->p + start : NULL, texts->n - start };
}

static struct view
take_str(struct view value, struct buf *texts)
{
    size_t start = texts->n;
    if (!turn_str(value, texts))
        texts->n = start;
    return since(texts, start);
}

/* False: it has none. */
static bool
take_bytes(const struct raw *r, struct buf *texts, struct view *ret)
{
    AUTO(buf) letters = { .ceiling = r->base64.n + 1 };
    size_t start = texts->n;
    bool is_there = turn_str(r->text, texts);
    if (!is_there)
        is_there = turn_str(r->base64, &letters) &&
                   base64_take((struct view){ letters.p, letters.n }, texts);
    *ret = since(texts, start);
    return is_there;
}

static size_t
take_headers(struct view rest, struct buf *texts, struct calls_header *headers)
{
    size_t n = 0;
    for (struct view pair, name, value; n < CALLS_HEADERS_MAX && turn_next(&rest, &pair);)
        if (turn_next(&pair, &name) && name.p[0] == '"' && turn_next(&pair, &value) &&
            value.p[0] == '"') {
            headers[n].name = take_str(name, texts);
            headers[n++].value = take_str(value, texts);
        }
    return n;
}

static struct turn_usage
take_usage(struct view value)
{
    struct view in = { 0 }, out = { 0 }, creation = { 0 }, cached = { 0 };
    const struct turn_field wanted[] = {
        { "input_tokens", &in },
        { "output_tokens", &out },
        { "cache_creation_input_tokens", &creation },
        { "cache_read_input_tokens", &cached },
    };
    if (!value.n || !turn_fields(value, wanted, sizeof(wanted) / sizeof(wanted[0])))
        return TURN_NO_USAGE;
    return (struct turn_usage){
        turn_tokens(in, TURN_UNKNOWN),
        turn_tokens(out, TURN_UNKNOWN),
        turn_tokens(creation, TURN_UNKNOWN),
        turn_tokens(cached, TURN_UNKNOWN),
    };
}

static int
word_of(struct view value, const char *const *words, int count)
{
    int i = 0;
    while (i < count && !turn_is(value, words[i]))
        i++;
    return i < count ? i : -1;
}

static int
take_body(const struct raw *r, struct buf *texts, struct calls_line *l)
{
    uint64_t base = number(r->base, 0);
    if (l->type == CALLS_REQUEST_BODY && base && r->ops.n && r->ops.p[0] == '[') {
        l->base = base;
        l->ops = r->ops;
    } else if (!take_bytes(r, texts, &l->bytes)) {
        return ERR_DAMAGED;
    }
    l->piece = number(r->piece, CALLS_NONE);
    l->is_last = turn_is_true(r->is_last);
    if (l->is_last)
        l->size_bytes = number(r->size, CALLS_NONE);
    return 0;
}

static int
take_event(const struct raw *r, struct buf *texts, struct calls_line *l)
{
    l->event = number(r->event, CALLS_NONE);
    l->is_held = turn_is_true(r->is_held);
    return take_bytes(r, texts, &l->bytes) && l->event != CALLS_NONE ? 0 : ERR_DAMAGED;
}

static void
take_end(const struct raw *r, struct buf *texts, struct calls_line *l)
{
    int end = word_of(r->status, statuses, STATUSES);
    l->end = end < 0 ? CALLS_CUT : (enum calls_status)end;
    l->error = take_str(r->error, texts);
    l->model = take_str(r->model, texts);
    l->stop = take_str(r->stop, texts);
    l->sent = number(r->sent, CALLS_NONE);
    l->received = number(r->received, CALLS_NONE);
    l->events = number(r->events, CALLS_NONE);
    l->first_byte_ns = number(r->first_byte, CALLS_NONE);
    l->first_token_ns = number(r->first_token, CALLS_NONE);
    l->duration_ns = number(r->duration, CALLS_NONE);
    l->usage = take_usage(r->usage);
}

static void
take_request(const struct raw *r, struct buf *texts, struct calls_header *headers,
             struct calls_line *l)
{
    l->upstream = take_str(r->upstream, texts);
    l->target = take_str(r->target, texts);
    l->method = take_str(r->method, texts);
    l->url = take_str(r->url, texts);
    l->http_minor = turn_is(r->http, "1.0") ? 0 : 1;
    l->retry_of = number(r->retry_of, 0);
    l->has_turns = turn_is_true(r->turns);
    l->headers = headers;
    l->header_count = take_headers(r->headers, texts, headers);
}

static void
take_reply(const struct raw *r, struct buf *texts, struct calls_header *headers,
           struct calls_line *l)
{
    uint64_t status = number(r->status, 0);
    l->status = status < 1000 ? (unsigned)status : 0;
    l->headers = headers;
    l->header_count = take_headers(r->headers, texts, headers);
}

static int
take_rest(const struct raw *r, struct buf *texts, struct calls_header *headers,
          struct calls_line *l)
{
    switch (l->type) {
    case CALLS_REQUEST:
        take_request(r, texts, headers, l);
        break;
    case CALLS_REQUEST_BODY:
    case CALLS_BODY:
        return take_body(r, texts, l);
    case CALLS_REPLY:
        take_reply(r, texts, headers, l);
        break;
    case CALLS_EVENT:
        return take_event(r, texts, l);
    case CALLS_END:
        take_end(r, texts, l);
        break;
    }
    return 0;
}

int
calls_line_get(struct view json, struct buf *texts, struct calls_header *headers,
               struct calls_line *ret)
{
    struct raw raw = { 0 };
    buf_clear(texts);
    if (!json.n || !utf8_is_text(json.p, json.n) || !find(json, &raw))
        return ERR_DAMAGED;
    int type = word_of(raw.type, types, TYPES);
    uint64_t call = number(raw.call, 0);
    if (type < 0 || !call || call == CALLS_NONE)
        return ERR_DAMAGED;
    /* Views of it are handed out while more is appended; no text is longer than its JSON.
     */
    int r = buf_reserve(texts, json.n);
    if (r < 0)
        return r;
    struct calls_line l = calls_line((enum calls_type)type, call, number(raw.ts_ns, 0));
    l.anchor_byte = number(raw.anchor_byte, CALLS_NONE);
    r = take_rest(&raw, texts, headers, &l);
    if (!r)
        *ret = l;
    return r;
}
