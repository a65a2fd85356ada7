/* SPDX-License-Identifier: MIT */
/*
 * match.c -- requests in their normal form: a line of method and path, then the body.
 *
 * In that line are no blanks but the one between the two, so that it can be told apart
 * from the body whatever was asked.
 */
#include "calls/match.h"

#include "base/ascii.h"
#include "calls/match_priv.h"

enum { BOUNDARY_MOST = 70 }; /* RFC 2046, section 5.1.1 */
#define BOUNDARY "<boundary>"

/* -- the address -- */

struct param {
    struct view name, whole;
};

/* In the order of their names; those of one name as they come. */
static int
compare(const void *a, const void *b)
{
    const struct param *x = a, *y = b;
    size_t n = x->name.n < y->name.n ? x->name.n : y->name.n;
    int order = n ? memcmp(x->name.p, y->name.p, n) : 0;
    if (!order && x->name.n != y->name.n)
        order = x->name.n < y->name.n ? -1 : 1;
    return order ? order : x->whole.p < y->whole.p ? -1 : 1;
}

/* In whatever case, with or without joints. */
static bool
is_named(struct view name, const char *what)
{
    for (size_t i = 0; i < name.n; i++) {
        if (name.p[i] == '-' || name.p[i] == '_')
            continue;
        if (!*what || ascii_fold(name.p[i]) != (uint8_t)*what)
            return false;
        what++;
    }
    return !*what;
}

static bool
is_credential(struct view name)
{
    static const char *const names[] = {
        "accesskey",      "accesstoken",     "apikey",
        "auth",           "authorization",   "authtoken",
        "clientsecret",   "idtoken",         "key",
        "password",       "refreshtoken",    "secret",
        "securitytoken",  "sessiontoken",    "sig",
        "signature",      "subscriptionkey", "token",
        "xamzcredential", "xamzdate",        "xamzsecuritytoken",
        "xamzsignature",  "xapikey",         "xgoogapikey",
    };
    for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++)
        if (is_named(name, names[i]))
            return true;
    return false;
}

/* Up to the next one of these bytes. */
static struct view
take_until(struct view *rest, const char *ends)
{
    size_t n = 0;
    while (n < rest->n && !(rest->p[n] && strchr(ends, rest->p[n])))
        n++;
    struct view v = { rest->p, n };
    *rest = (struct view){ rest->p + n, rest->n - n };
    return v;
}

static void
put_params(struct calls_ids *ids, struct view query, struct buf *out)
{
    AUTO(buf) params = { .ceiling = SIZE_MAX };
    while (query.n) {
        query = (struct view){ query.p + 1, query.n - 1 }; /* ? or & */
        struct param p = { .whole = take_until(&query, "&") };
        struct view rest = p.whole;
        p.name = take_until(&rest, "=");
        if (p.whole.n && !is_credential(p.name))
            buf_append(&params, &p, sizeof(p));
    }
    struct param *all = (struct param *)(void *)params.p;
    size_t count = params.n / sizeof(*all);
    if (count > 1)
        qsort(all, count, sizeof(*all), compare);
    for (size_t i = 0; i < count; i++) {
        buf_puts(out, i ? "&" : "?");
        calls_text_put(ids, all[i].whole, true, out);
    }
    if (params.failed && !out->failed)
        out->failed = params.failed;
}

/* A proxy may be asked with scheme and host. */
static struct view
without_host(struct view url)
{
    struct view rest = url;
    struct view scheme = take_until(&rest, "/?#:");
    if (!scheme.n || rest.n < 3 || memcmp(rest.p, "://", 3) != 0)
        return url;
    rest = (struct view){ rest.p + 3, rest.n - 3 };
    take_until(&rest, "/?#");
    return rest;
}

static void
put_url(struct calls_ids *ids, struct view url, struct buf *out)
{
    struct view rest = url.n ? without_host(url) : url;
    struct view shown = take_until(&rest, "#");
    struct view path = take_until(&shown, "?");
    calls_text_put(ids, path, true, out);
    put_params(ids, shown, out);
}

/* Appends it without blanks and control characters. */
static void
put_word(struct view v, struct buf *out)
{
    for (size_t i = 0; i < v.n; i++)
        if (v.p[i] <= ' ' || v.p[i] == 0x7f)
            buf_printf(out, "%%%02X", v.p[i]);
        else
            buf_append(out, &v.p[i], 1);
}

static void
put_head(const struct calls_asked *q, struct calls_ids *ids, struct buf *out)
{
    AUTO(buf) url = { .ceiling = SIZE_MAX };
    put_url(ids, q->url, &url);
    put_word(q->method, out);
    buf_puts(out, " ");
    put_word((struct view){ url.p, url.n }, out);
    buf_puts(out, "\n");
    if (url.failed && !out->failed)
        out->failed = url.failed;
}

/* -- bodies that are no JSON -- */

/* Of what boundaries are made; or it is ours. */
static bool
is_boundary_text(struct view v)
{
    if (v.n < 1 || v.n > BOUNDARY_MOST)
        return false;
    for (size_t i = 0; i < v.n; i++)
        if (!calls_is_alnum(v.p[i]) && !(v.p[i] && strchr("'()+_,-./:=?", v.p[i])))
            return v.n == strlen(BOUNDARY) && calls_is_at(v, 0, BOUNDARY);
    return true;
}

/* "--" and the boundary, where a body of several parts begins with it; else nothing. */
static struct view
boundary_of(struct view body)
{
    static const char next[] = "content-";
    struct view rest = body, none = { 0 };
    if (!calls_is_at(body, 0, "--"))
        return none;
    struct view line = take_until(&rest, "\r\n");
    if (!is_boundary_text(calls_part(line, 2, line.n)))
        return none;
    size_t i = line.n + (calls_is_at(rest, 0, "\r\n") ? 2 : 1);
    for (size_t k = 0; next[k]; k++)
        if (ascii_fold(calls_byte_at(body, i + k)) != (uint8_t)next[k])
            return none;
    return line;
}

static bool
is_line_end(struct view body, size_t i)
{
    return i >= body.n || body.p[i] == '\r' || body.p[i] == '\n';
}

/* Does a line of the boundary begin there, perhaps the last one? */
static bool
is_boundary(struct view body, size_t i, struct view boundary)
{
    size_t end = i + boundary.n;
    if (end > body.n || memcmp(body.p + i, boundary.p, boundary.n) != 0)
        return false;
    return is_line_end(body, end) ||
           (calls_is_at(body, end, "--") && is_line_end(body, end + 2));
}

static void
put_parts(struct calls_ids *ids, struct view body, struct view boundary, struct buf *out)
{
    size_t done = 0;
    for (size_t i = 0; i < body.n;) {
        if (is_boundary(body, i, boundary)) {
            calls_text_put(ids, calls_part(body, done, i), false, out);
            buf_puts(out, "--" BOUNDARY);
            done = i + boundary.n;
        }
        const uint8_t *line = memchr(body.p + i, '\n', body.n - i);
        i = line ? (size_t)(line - body.p) + 1 : body.n;
    }
    calls_text_put(ids, calls_part(body, done, body.n), false, out);
}

static void
put_text(struct calls_ids *ids, struct view body, struct buf *out)
{
    struct view boundary = boundary_of(body);
    if (boundary.n)
        put_parts(ids, body, boundary, out);
    else
        calls_text_put(ids, body, false, out);
}

/* What is random is known before anything is put: it may stand in the address, too. */
static void
put_request(const struct calls_asked *q, const struct calls_json *json,
            struct calls_ids *ids, struct buf *out)
{
    if (json)
        calls_json_learn(json, ids);
    else
        calls_text_learn(ids, q->body);
    put_head(q, ids, out);
    if (json)
        calls_json_put(json, ids, out);
    else
        put_text(ids, q->body, out);
    if (ids->texts.failed && !out->failed)
        out->failed = ids->texts.failed;
}

/* Nothing has an address, too. */
static struct view
known(struct view v)
{
    return v.n ? v : (struct view){ (const uint8_t *)"", 0 };
}

int
calls_match_normal(const struct calls_asked *q, struct buf *out)
{
    return calls_match_normal_ids(q, out, NULL);
}

int
calls_match_normal_ids(const struct calls_asked *asked, struct buf *out, struct buf *told)
{
    struct calls_asked q = { known(asked->method), known(asked->url),
                             known(asked->body) };
    struct calls_json json;
    struct calls_ids ids;
    size_t before = out->n;
    int is_json = calls_json_read(&json, q.body);
    if (is_json < 0)
        return is_json;
    int r = calls_ids_init(&ids, q.body.n + q.url.n);
    if (!r) {
        put_request(&q, is_json ? &json : NULL, &ids, out);
        r = out->failed;
        if (!r && told)
            r = calls_ids_list(&ids, told);
        calls_ids_release(&ids);
    }
    if (is_json)
        calls_json_release(&json);
    if (r < 0)
        out->n = before;
    return r;
}
