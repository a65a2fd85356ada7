/* SPDX-License-Identifier: MIT */
#include "wire/answer_head.h"

#include "base/num.h"
#include "wire/head.h"
#include "wire/token_priv.h"

struct reader {
    struct wire_answer_head *head;
    size_t length_at; /* of the Content-Length; SIZE_MAX: there is none */
    uint64_t length;
    bool has_coding;
};

static struct view
trim(struct view v)
{
    return view_trim(v, " \t\r\n");
}

/* The next line goes off the front of *rest. */
static struct view
take_line(struct view *rest)
{
    const uint8_t *end = memchr(rest->p, '\n', rest->n);
    size_t n = end ? (size_t)(end - rest->p) + 1 : rest->n;
    struct view line = { rest->p, n };
    *rest = (struct view){ rest->p + n, rest->n - n };
    return line;
}

/* "HTTP/1.1 200 OK": behind the status; nothing that would be more than a phrase. */
static struct view
reason_of(struct view line)
{
    for (int blanks = 0; line.n && blanks < 2;
         line = (struct view){ line.p + 1, line.n - 1 })
        blanks += line.p[0] == ' ';
    line = trim(line);
    for (size_t i = 0; i < line.n; i++)
        if (!wire_is_value(line.p[i]))
            return (struct view){ 0 };
    return line;
}

static const char *
take_length(struct reader *r, struct view value)
{
    uint64_t length;
    if (num_parse(value, WIRE_LENGTH_MAX, &length) < 0)
        return "its Content-Length is no plain number";
    if (r->length_at != SIZE_MAX && length != r->length)
        return "it has two Content-Length that differ";
    r->length = length;
    return NULL;
}

static const char *
take_header(struct reader *r, struct view name, struct view value)
{
    struct wire_answer_head *h = r->head;
    bool is_length = wire_head_is(name, "content-length");
    const char *why = is_length ? take_length(r, value) : NULL;
    if (why || (is_length && r->length_at != SIZE_MAX))
        return why; /* once is enough */
    if (h->count == CALLS_HEADERS_MAX)
        return "its head has more than 256 headers";
    if (is_length)
        r->length_at = h->count;
    r->has_coding |= wire_head_is(name, "transfer-encoding");
    h->headers[h->count++] = (struct calls_header){ name, value };
    return NULL;
}

static void
drop(struct wire_answer_head *h, size_t at)
{
    h->count--;
    memmove(&h->headers[at], &h->headers[at + 1],
            (h->count - at) * sizeof(h->headers[0]));
}

int
wire_answer_head_read(struct view bytes, struct wire_answer_head *ret,
                      const char **ret_why)
{
    struct reader r = { .head = ret, .length_at = SIZE_MAX };
    const char *why = NULL;
    ret->count = 0;
    ret->reason = bytes.n ? reason_of(take_line(&bytes)) : (struct view){ 0 };
    while (bytes.n && !why) {
        struct view line = take_line(&bytes);
        const uint8_t *colon = memchr(line.p, ':', line.n);
        if (!colon)
            continue;
        size_t name = (size_t)(colon - line.p);
        why = take_header(&r, trim((struct view){ line.p, name }),
                          trim((struct view){ colon + 1, line.n - name - 1 }));
    }
    if (why) {
        *ret_why = why;
        return ERR_DAMAGED;
    }
    if (r.has_coding && r.length_at != SIZE_MAX)
        drop(ret, r.length_at);
    return 0;
}
