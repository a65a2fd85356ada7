/* SPDX-License-Identifier: MIT */
#include "calls/mask.h"

#include <errno.h>
#include <strings.h>

#include "base/ascii.h"
#include "base/json_in.h"
#include "base/parts.h"
#include "redact/json.h"

enum {
    SAID_MIN = 8, /* bytes; a shorter one would mask ordinary words */
    SAID_MAX = 16 << 10,
    SAID_ALL_MAX = 256 << 10,
    STREAM_AT_ONCE = 64 << 10,
};

static const char left_out[] = "[left out: it could not be searched for secrets]";

/* -- names -- */

static const char *const credentials[] = {
    "authorization", "proxy-authorization",
    "cookie",        "cookie2",
    "set-cookie",    "set-cookie2",
    "x-api-key",     "api-key",
    "apikey",        "key",
    "token",         "sig",
    "auth",          NULL,
};

/* What their names end in, behind a '-' or '_'. */
static const char *const ends[] = { "key",       "token",         "secret",    "password",
                                    "signature", "authorization", "apikey",    "cookie",
                                    "passwd",    "credential",    "sas",       "jwt",
                                    "auth",      "credentials",   "assertion", NULL };

static const char *const harmless[] = { "idempotency-key", "sec-websocket-key",
                                        "x-idempotency-key", NULL };

static bool
is_word(struct view v, const char *word)
{
    return v.n == strlen(word) && !strncasecmp((const char *)v.p, word, v.n);
}

static bool
is_one_of(struct view v, const char *const *words)
{
    while (*words && !is_word(v, *words))
        words++;
    return *words;
}

static bool
ends_in_one(struct view v)
{
    for (const char *const *end = ends; *end; end++) {
        size_t n = strlen(*end);
        if (v.n > n && (v.p[v.n - n - 1] == '-' || v.p[v.n - n - 1] == '_') &&
            is_word((struct view){ v.p + v.n - n, n }, *end))
            return true;
    }
    return false;
}

bool
calls_mask_is_credential(struct view name)
{
    return is_one_of(name, credentials) ||
           (ends_in_one(name) && !is_one_of(name, harmless));
}

/* A parameter of a URL: "access_token", and words that a header would not be called. */
static bool
is_secret_parameter(struct view name)
{
    static const char *const words[] = { "password", "secret",     "signature",
                                         "passwd",   "credential", NULL };
    return calls_mask_is_credential(name) || is_one_of(name, words);
}

/* -- what was said -- */

void
calls_mask_release(struct calls_mask *m)
{
    buf_release(&m->said);
}

static void
remember(struct calls_mask *m, struct view v)
{
    if (v.n < SAID_MIN || v.n > SAID_MAX || m->said.n > SAID_ALL_MAX)
        return;
    parts_put(&m->said, v);
    if (v.n > m->longest)
        m->longest = v.n;
}

/* Some write "/" as "\/" in JSON. */
static void
learn(struct calls_mask *m, struct view v)
{
    AUTO(buf) escaped = { .ceiling = 2 * SAID_MAX };
    remember(m, v);
    if (!v.n || v.n > SAID_MAX || !memchr(v.p, '/', v.n))
        return;
    for (size_t i = 0; i < v.n; i++) {
        if (v.p[i] == '/')
            buf_append(&escaped, "\\", 1);
        buf_append(&escaped, v.p + i, 1);
    }
    remember(m, (struct view){ escaped.p, escaped.n });
}

static struct view
trim(struct view v)
{
    while (v.n && (v.p[0] == ' ' || v.p[0] == '\t'))
        v = (struct view){ v.p + 1, v.n - 1 };
    while (v.n && (v.p[v.n - 1] == ' ' || v.p[v.n - 1] == '\t'))
        v.n--;
    return v;
}

/* What stands before the next `stop` goes off the front of *rest. */
static struct view
take_until(struct view *rest, char stop)
{
    const uint8_t *end = rest->n ? memchr(rest->p, stop, rest->n) : NULL;
    struct view v = { rest->p, end ? (size_t)(end - rest->p) : rest->n };
    size_t n = v.n + (end != NULL);
    *rest = (struct view){ rest->p + n, rest->n - n };
    return v;
}

/* "a=x; b=y": each value; of Set-Cookie the first alone. */
static void
learn_cookies(struct calls_mask *m, struct view rest, bool is_set)
{
    do {
        struct view one = take_until(&rest, ';');
        take_until(&one, '=');
        learn(m, trim(one));
    } while (rest.n && !is_set);
}

void
calls_mask_learn(struct calls_mask *m, const struct calls_header *h)
{
    static const char *const cookies[] = { "cookie", "cookie2", NULL };
    static const char *const set[] = { "set-cookie", "set-cookie2", NULL };
    struct view value = trim(h->value), rest = value;
    if (!calls_mask_is_credential(h->name))
        return;
    if (is_one_of(h->name, cookies) || is_one_of(h->name, set)) {
        learn_cookies(m, value, is_one_of(h->name, set));
        return;
    }
    learn(m, value);
    take_until(&rest, ' ');
    learn(m, trim(rest));
}

static int
hex(uint8_t c)
{
    if (c >= '0' && c <= '9')
        return c - '0';
    c = ascii_fold(c);
    return c >= 'a' && c <= 'f' ? c - 'a' + 10 : -1;
}

static void
learn_parameter(struct calls_mask *m, struct view value)
{
    AUTO(buf) plain = { .ceiling = SAID_MAX };
    learn(m, value);
    for (size_t i = 0; i < value.n; i++) {
        bool is_coded = value.p[i] == '%' && i + 2 < value.n &&
                        hex(value.p[i + 1]) >= 0 && hex(value.p[i + 2]) >= 0;
        uint8_t c = is_coded ? (uint8_t)(hex(value.p[i + 1]) << 4 | hex(value.p[i + 2]))
                             : value.p[i];
        buf_append(&plain, &c, 1);
        i += is_coded ? 2 : 0;
    }
    if (!plain.failed && plain.n != value.n)
        learn(m, (struct view){ plain.p, plain.n });
}

void
calls_mask_learn_url(struct calls_mask *m, struct view url)
{
    take_until(&url, '?');
    while (url.n) {
        struct view value = take_until(&url, '&'), name = take_until(&value, '=');
        if (is_secret_parameter(name))
            learn_parameter(m, value);
    }
}

/* -- what was said is masked -- */

struct found {
    size_t at, n;
};

static struct found
find_first(const struct calls_mask *m, struct view text)
{
    struct view rest = { m->said.p, m->said.n }, one;
    struct found first = { text.n, 0 };
    while (parts_take(&rest, &one)) {
        const uint8_t *p = memmem(text.p, text.n, one.p, one.n);
        size_t at = p ? (size_t)(p - text.p) : text.n;
        if (p && (at < first.at || (at == first.at && one.n > first.n)))
            first = (struct found){ at, one.n };
    }
    return first;
}

int
calls_mask_said(const struct calls_mask *m, struct view text, struct buf *out)
{
    while (text.n && m->said.n) {
        struct found f = find_first(m, text);
        if (!f.n)
            break;
        buf_append(out, text.p, f.at);
        buf_puts(out, REDACT_MASK "credential]");
        text = (struct view){ text.p + f.at + f.n, text.n - f.at - f.n };
    }
    return buf_append(out, text.p, text.n);
}

/* -- whole texts -- */

static bool
is_json(struct view body)
{
    size_t i = 0;
    while (i < body.n && memchr(" \t\r\n", body.p[i], 4))
        i++;
    return i < body.n && (body.p[i] == '{' || body.p[i] == '[') && json_in_is_one(body);
}

int
calls_mask_text(struct redact *redact, struct view text, struct buf *out)
{
    size_t before = out->n;
    int r = !text.n         ? 0
            : is_json(text) ? redact_json(redact, text, out)
                            : redact_text(redact, text.p, text.n, out);
    if (r >= 0)
        return r;
    out->n = before;
    out->failed = 0;
    return buf_puts(out, left_out);
}

int
calls_mask_body(struct calls_mask *m, struct view body, struct buf *out)
{
    AUTO(buf) said = { .ceiling = out->ceiling };
    if (!body.n || !find_first(m, body).n)
        return calls_mask_text(m->redact, body, out);
    int r = calls_mask_said(m, body, &said);
    return r < 0 ? buf_puts(out, left_out)
                 : calls_mask_text(m->redact, (struct view){ said.p, said.n }, out);
}

int
calls_mask_header(struct calls_mask *m, const struct calls_header *h, struct buf *out)
{
    return calls_mask_is_credential(h->name) ? buf_puts(out, REDACT_MASK "header]")
                                             : calls_mask_body(m, h->value, out);
}

static void
put_parameters(struct calls_mask *m, struct view rest, struct buf *out)
{
    while (rest.n) {
        struct view value = take_until(&rest, '&'), name = take_until(&value, '=');
        bool is_secret = value.n && is_secret_parameter(name);
        bool has_value = name.p + name.n < value.p;
        buf_append(out, name.p, name.n);
        if (has_value)
            buf_puts(out, "=");
        if (is_secret)
            buf_puts(out, REDACT_MASK "query]");
        else
            calls_mask_body(m, value, out);
        if (value.p + value.n < rest.p)
            buf_puts(out, "&");
    }
}

int
calls_mask_url(struct calls_mask *m, struct view url, struct buf *out)
{
    struct view path = take_until(&url, '?');
    AUTO(buf) query = { .ceiling = out->ceiling };
    calls_mask_body(m, path, out);
    if (path.p + path.n < url.p)
        buf_puts(out, "?");
    put_parameters(m, url, &query);
    return query.failed ? query.failed : buf_append(out, query.p, query.n);
}

/* -- as it comes -- */

/* The last bytes may be the beginning of what was said. */
static int
pass_on(struct calls_mask *m, struct calls_mask_stream *s, size_t keep, struct buf *out)
{
    AUTO(buf) said = { .ceiling = 2 * (STREAM_AT_ONCE + SAID_MAX) };
    struct view text = { s->waiting.p, s->waiting.n };
    int r = 0;
    while (text.n > keep && r >= 0) {
        struct found f = find_first(m, text);
        size_t plain = f.n ? f.at : text.n - keep;
        buf_clear(&said);
        buf_append(&said, text.p, plain);
        if (f.n)
            buf_puts(&said, REDACT_MASK "credential]");
        r = said.failed ? said.failed
                        : redact_stream_feed(s->redact, said.p, said.n, out);
        plain += f.n;
        text = (struct view){ text.p + plain, text.n - plain };
    }
    if (text.n)
        memmove(s->waiting.p, text.p, text.n);
    s->waiting.n = text.n;
    return r;
}

int
calls_mask_feed(struct calls_mask *m, struct calls_mask_stream *s, struct view bytes,
                struct buf *out)
{
    int r = s->redact ? 0
                      : redact_stream_new(&s->redact, m->redact,
                                          &(struct redact_options){ .is_whole = true });
    while (bytes.n && r >= 0) {
        size_t n = bytes.n < STREAM_AT_ONCE ? bytes.n : STREAM_AT_ONCE;
        r = buf_append(&s->waiting, bytes.p, n);
        if (r >= 0)
            r = pass_on(m, s, m->longest ? m->longest - 1 : 0, out);
        bytes = (struct view){ bytes.p + n, bytes.n - n };
    }
    return r;
}

int
calls_mask_flush(struct calls_mask *m, struct calls_mask_stream *s, struct buf *out)
{
    if (!s->redact)
        return 0;
    int r = pass_on(m, s, 0, out);
    return r < 0 ? r : redact_stream_flush(s->redact, out);
}

void
calls_mask_stream_release(struct calls_mask_stream *s)
{
    redact_stream_free(s->redact);
    buf_release(&s->waiting);
    *s = (struct calls_mask_stream){ 0 };
}
