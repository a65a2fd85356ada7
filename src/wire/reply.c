/* SPDX-License-Identifier: MIT */
/* reply.c -- a reply as the client is sent it: head, framing, and errors of our own. */
#include <stdio.h>
#include <strings.h>

#include "base/json.h"
#include "wire/wire_priv.h"

/* -- headers -- */

static const char *const hops[] = {
    "connection", "keep-alive", "proxy-connection",  "te",
    "trailer",    "upgrade",    "transfer-encoding", NULL,
};

static bool
is_in_list(struct view name, struct view list)
{
    while (list.n) {
        const uint8_t *comma = memchr(list.p, ',', list.n);
        size_t n = comma ? (size_t)(comma - list.p) : list.n;
        struct view one = view_trim((struct view){ list.p, n }, " \t");
        if (one.n && one.n == name.n &&
            !strncasecmp((const char *)one.p, (const char *)name.p, one.n))
            return true;
        n += comma != NULL;
        list = (struct view){ list.p + n, list.n - n };
    }
    return false;
}

/* The length tells where the body ends, whatever Connection says of it. */
bool
reply_is_hop(struct view name, const struct calls_header *headers, size_t count)
{
    if (wire_head_is(name, "content-length"))
        return false;
    for (const char *const *hop = hops; *hop; hop++)
        if (wire_head_is(name, *hop))
            return true;
    for (size_t i = 0; i < count; i++)
        if (wire_head_is(headers[i].name, "connection") &&
            is_in_list(name, headers[i].value))
            return true;
    return false;
}

static struct view
find(const struct calls_header *headers, size_t count, const char *name)
{
    for (size_t i = 0; i < count; i++)
        if (wire_head_is(headers[i].name, name))
            return headers[i].value;
    return (struct view){ 0 };
}

/* Nothing that would end a line before its end. */
static bool
is_clean(const struct calls_header *h)
{
    for (size_t i = 0; i < h->name.n; i++)
        if (h->name.p[i] <= ' ' || h->name.p[i] >= 0x7f)
            return false;
    for (size_t i = 0; i < h->value.n; i++)
        if ((h->value.p[i] < ' ' && h->value.p[i] != '\t') || h->value.p[i] == 0x7f)
            return false;
    return h->name.n;
}

/* -- the head -- */

static enum reply_framing
framing_of(const struct reply *r, unsigned status, const struct calls_header *headers,
           size_t count)
{
    if (r->is_head_method || status == 204 || status == 304)
        return REPLY_NONE;
    if (find(headers, count, "content-length").n)
        return REPLY_LENGTH;
    return r->minor ? REPLY_CHUNKED : REPLY_CLOSE;
}

/* An HTTP/1.0 client takes a connection for closed unless it is told. */
static const char *
connection_line(const struct reply *r)
{
    if (!r->keeps)
        return "Connection: close\r\n";
    return r->minor ? "" : "Connection: keep-alive\r\n";
}

void
reply_head(struct reply *r, unsigned status, struct view reason,
           const struct calls_header *headers, size_t count)
{
    AUTO(buf) head = { 0 };
    r->has_head = true;
    r->framing = framing_of(r, status, headers, count);
    r->keeps &= r->framing != REPLY_CLOSE;
    buf_printf(&head, "HTTP/1.1 %u %.*s\r\n", status, (int)reason.n,
               (const char *)reason.p);
    for (size_t i = 0; i < count; i++) {
        if (reply_is_hop(headers[i].name, headers, count) || !is_clean(&headers[i]))
            continue;
        buf_append(&head, headers[i].name.p, headers[i].name.n);
        buf_puts(&head, ": ");
        buf_append(&head, headers[i].value.p, headers[i].value.n);
        buf_puts(&head, "\r\n");
    }
    if (r->framing == REPLY_CHUNKED)
        buf_puts(&head, "Transfer-Encoding: chunked\r\n");
    buf_puts(&head, connection_line(r));
    buf_puts(&head, "\r\n");
    if (head.failed)
        reply_break(r);
    else
        conn_send(r->conn, &(struct view){ head.p, head.n }, 1);
}

/* -- the body -- */

void
reply_data(struct reply *r, struct view bytes)
{
    char size[24];
    if (r->framing == REPLY_NONE || !bytes.n)
        return;
    int n = snprintf(size, sizeof(size), "%zx\r\n", bytes.n);
    const struct view parts[] = { { (const uint8_t *)size, (size_t)n },
                                  bytes,
                                  { (const uint8_t *)"\r\n", 2 } };
    if (r->framing == REPLY_CHUNKED)
        conn_send(r->conn, parts, 3);
    else
        conn_send(r->conn, &bytes, 1);
}

void
reply_end(struct reply *r)
{
    static const char last[] = "0\r\n\r\n";
    if (r->framing == REPLY_CHUNKED)
        conn_send(r->conn, &(struct view){ (const uint8_t *)last, sizeof(last) - 1 }, 1);
    conn_replied(r->conn, r->keeps);
}

void
reply_break(struct reply *r)
{
    conn_break(r->conn, r->framing == REPLY_CLOSE);
}

/* -- errors -- */

static const struct {
    unsigned status;
    const char *reason;
} reasons[] = {
    { 400, "Bad Request" },
    { 403, "Forbidden" },
    { 404, "Not Found" },
    { 405, "Method Not Allowed" },
    { 408, "Request Timeout" },
    { 413, "Content Too Large" },
    { 414, "URI Too Long" },
    { 417, "Expectation Failed" },
    { 421, "Misdirected Request" },
    { 431, "Request Header Fields Too Large" },
    { 500, "Internal Server Error" },
    { 501, "Not Implemented" },
    { 502, "Bad Gateway" },
    { 503, "Service Unavailable" },
    { 505, "HTTP Version Not Supported" },
};

static struct view
view_of(const char *s)
{
    return (struct view){ (const uint8_t *)s, strlen(s) };
}

static struct view
reason_of(unsigned status)
{
    for (size_t i = 0; i < sizeof(reasons) / sizeof(reasons[0]); i++)
        if (reasons[i].status == status)
            return view_of(reasons[i].reason);
    return view_of("Error");
}

/* {"type":"error","error":{"type":…,"message":…}}: the clients of all APIs show that. */
static void
put_error(struct buf *body, const char *type, const char *why)
{
    AUTO(buf) message = { 0 };
    struct json json = { .out = body }, *j = &json;
    buf_printf(&message, "ahr proxy: %s", why);
    json_open(j, '{');
    json_key(j, "type"), json_str(j, "error");
    json_key(j, "error"), json_open(j, '{');
    json_key(j, "type"), json_str(j, type);
    json_key(j, "message"), json_str(j, buf_str(&message));
    json_close(j, '}');
    json_close(j, '}');
    buf_puts(body, "\n");
}

void
reply_error(struct reply *r, unsigned status, const char *type, const char *why,
            bool is_final)
{
    AUTO(buf) body = { 0 };
    char length[24];
    put_error(&body, type, why);
    snprintf(length, sizeof(length), "%zu", body.n);
    const struct calls_header headers[] = {
        { view_of("Content-Type"), view_of("application/json") },
        { view_of("Content-Length"), view_of(length) },
        { view_of("x-should-retry"),
          view_of("false") }, /* the vendors' clients heed it */
    };
    reply_head(r, status, reason_of(status), headers, is_final ? 3 : 2);
    reply_data(r, (struct view){ body.p, body.n });
    reply_end(r);
}
