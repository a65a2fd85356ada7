/* SPDX-License-Identifier: MIT */
#include "calls/mask.h"

#include <errno.h>

#include "base/ascii.h"
#include "base/json.h"
#include "base/json_in.h"
#include "redact/json.h"
#include "redact/json_pieces.h"

enum {
    SAID_MIN = 8, /* bytes; a shorter one would mask ordinary words */
    SAID_MAX = CALLS_LEARNT_TEXT_MAX,
    STREAM_AT_ONCE = 64 << 10,
};

/* So many times longer text gets: masked, where a mask is longer than SAID_MIN; in JSON.
 */
static const size_t MASK_GROWS = 3, JSON_GROWS = 6;

static const char left_out[] = "[left out: it could not be searched for secrets]";

/* -- names -- */

/* What the names of credentials are, or end in behind a '-' or '_', or "InSuchWords". */
static const char *const words[] = {
    "key",    "token",       "secret",    "password",   "signature", "authorization",
    "apikey", "cookie",      "passwd",    "credential", "sas",       "jwt",
    "auth",   "credentials", "assertion", NULL
};

static const char *const names[] = { "cookie2", "set-cookie2", "sig", "pwd", NULL };

static const char *const harmless[] = { "idempotency-key",   "x-idempotency-key",
                                        "sec-websocket-key", "prompt-cache-key",
                                        "surrogate-key",     NULL };

static uint8_t
fold(uint8_t c)
{
    return c == '_' ? '-' : ascii_fold(c);
}

static bool
is_word(struct view v, const char *word)
{
    size_t i = 0;
    while (i < v.n && word[i] && fold(v.p[i]) == (uint8_t)word[i])
        i++;
    return i == v.n && !word[i];
}

static bool
is_one_of(struct view v, const char *const *all)
{
    while (*all && !is_word(v, *all))
        all++;
    return *all;
}

static bool
is_lower(uint8_t c)
{
    return c >= 'a' && c <= 'z';
}

/* Does a word begin there? */
static bool
is_edge(struct view v, size_t i)
{
    return v.p[i - 1] == '-' || v.p[i - 1] == '_' ||
           (is_lower(v.p[i - 1]) && v.p[i] >= 'A' && v.p[i] <= 'Z');
}

static bool
ends_in_one(struct view v)
{
    for (const char *const *word = words; *word; word++) {
        size_t n = strlen(*word), at = v.n - n;
        if (v.n > n && is_edge(v, at) && is_word((struct view){ v.p + at, n }, *word))
            return true;
    }
    return false;
}

bool
calls_mask_is_credential(struct view name)
{
    if (is_one_of(name, words) || is_one_of(name, names))
        return true;
    return ends_in_one(name) && !is_one_of(name, harmless);
}

/* -- what was said -- */

void
calls_mask_release(struct calls_mask *m)
{
    calls_learnt_free(m->learnt);
    m->learnt = NULL;
}

static void
remember(struct calls_mask *m, struct view v)
{
    if (v.n >= SAID_MIN)
        calls_learnt_add(&m->learnt, v);
}

/* As it is, and as it stands in JSON, where some write "/" as "\/". */
static void
learn(struct calls_mask *m, struct view v)
{
    AUTO(buf) json = { .ceiling = JSON_GROWS * SAID_MAX + 2 };
    AUTO(buf) slashes = { .ceiling = JSON_GROWS * SAID_MAX };
    struct json j = { .out = &json };
    if (v.n < SAID_MIN || v.n > SAID_MAX)
        return;
    remember(m, v);
    json_bytes(&j, v);
    if (json.failed)
        return;
    struct view inner = { json.p + 1, json.n - 2 };
    if (inner.n != v.n)
        remember(m, inner);
    for (size_t i = 0; i < inner.n; i++) {
        if (inner.p[i] == '/')
            buf_append(&slashes, "\\", 1);
        buf_append(&slashes, inner.p + i, 1);
    }
    if (slashes.n != inner.n)
        remember(m, (struct view){ slashes.p, slashes.n });
}

static struct view
trim(struct view v)
{
    return view_trim(v, " \t");
}

/* What stands before the next `stop` goes off the front of *rest; is there one? */
static bool
take_until(struct view *rest, char stop, struct view *ret)
{
    const uint8_t *end = rest->n ? memchr(rest->p, stop, rest->n) : NULL;
    *ret = *rest;
    if (end)
        ret->n = (size_t)(end - rest->p);
    size_t n = ret->n + (end != NULL);
    *rest = n < rest->n ? (struct view){ rest->p + n, rest->n - n } : (struct view){ 0 };
    return end;
}

static int
hex(uint8_t c)
{
    if (c >= '0' && c <= '9')
        return c - '0';
    c = ascii_fold(c);
    return c >= 'a' && c <= 'f' ? c - 'a' + 10 : -1;
}

/* Without percent-coding. */
static void
put_plain(struct buf *out, struct view v)
{
    for (size_t i = 0; i < v.n; i++) {
        bool is_coded = v.p[i] == '%' && i + 2 < v.n && hex(v.p[i + 1]) >= 0 &&
                        hex(v.p[i + 2]) >= 0;
        uint8_t c = v.p[i];
        if (is_coded)
            c = (uint8_t)(hex(v.p[i + 1]) << 4 | hex(v.p[i + 2]));
        buf_append(out, &c, 1);
        i += is_coded ? 2 : 0;
    }
}

static void
learn_coded(struct calls_mask *m, struct view v)
{
    AUTO(buf) plain = { .ceiling = SAID_MAX };
    learn(m, v);
    put_plain(&plain, v);
    if (!plain.failed && plain.n != v.n)
        learn(m, (struct view){ plain.p, plain.n });
}

/* "a=x; b=y": each value, with its quotes and without; of Set-Cookie the first alone. */
static void
learn_cookies(struct calls_mask *m, struct view rest, bool is_set)
{
    do {
        struct view value, name;
        take_until(&rest, ';', &value);
        struct view whole = value;
        value = trim(take_until(&value, '=', &name) ? value : whole);
        learn_coded(m, value);
        if (value.n > 2 && value.p[0] == '"' && value.p[value.n - 1] == '"')
            learn_coded(m, (struct view){ value.p + 1, value.n - 2 });
    } while (rest.n && !is_set);
}

/* Its value is one. */
static bool
has_url(const struct calls_header *h)
{
    static const char *const urls[] = { "location", "content-location", "referer", NULL };
    return is_one_of(h->name, urls);
}

void
calls_mask_learn(struct calls_mask *m, const struct calls_header *h)
{
    static const char *const cookies[] = { "cookie", "cookie2", NULL };
    static const char *const set[] = { "set-cookie", "set-cookie2", NULL };
    struct view value = trim(h->value), rest = value, scheme;
    if (has_url(h))
        calls_mask_learn_url(m, value);
    if (!calls_mask_is_credential(h->name))
        return;
    if (is_one_of(h->name, cookies) || is_one_of(h->name, set)) {
        learn_cookies(m, value, is_one_of(h->name, set));
        return;
    }
    learn(m, value);
    if (take_until(&rest, ' ', &scheme))
        learn(m, trim(rest));
}

static bool
is_secret_parameter(struct view name)
{
    AUTO(buf) plain = { 0 };
    put_plain(&plain, name);
    return plain.failed || calls_mask_is_credential((struct view){ plain.p, plain.n });
}

void
calls_mask_learn_url(struct calls_mask *m, struct view url)
{
    struct view value, name;
    take_until(&url, '?', &value);
    while (url.n) {
        take_until(&url, '&', &value);
        if (take_until(&value, '=', &name) && is_secret_parameter(name))
            learn_coded(m, value);
    }
}

/* -- what was said is masked -- */

struct putting {
    struct view text;
    size_t stop;
    size_t plain;   /* where what is not written yet begins */
    size_t covered; /* behind what is masked */
    struct buf *out;
};

/* A calls_learnt_fn. */
static void
put_mask(void *ctx, size_t start, size_t end)
{
    struct putting *p = ctx;
    if (start >= p->stop)
        return;
    if (start >= p->covered) {
        buf_append(p->out, p->text.p + p->plain, start - p->plain);
        buf_puts(p->out, REDACT_MASK "credential]");
    }
    p->covered = end > p->covered ? end : p->covered;
    p->plain = p->covered < p->stop ? p->covered : p->stop;
}

/*
 * The text up to `stop`. *covered: so many bytes belong to what was masked before. Two
 * that reach over each other become one mask.
 */
static void
put_said(const struct calls_mask *m, size_t *covered, struct view text, size_t stop,
         struct buf *out)
{
    struct putting p = { text, stop, *covered < stop ? *covered : stop, *covered, out };
    int r = m->learnt ? calls_learnt_find(m->learnt, text, put_mask, &p) : 0;
    if (r < 0)
        out->failed = r;
    else if (stop > p.plain)
        buf_append(out, text.p + p.plain, stop - p.plain);
    *covered = p.covered > stop ? p.covered - stop : 0;
}

int
calls_mask_said(const struct calls_mask *m, struct view text, struct buf *out)
{
    size_t covered = 0;
    if (!m->learnt)
        return buf_append(out, text.p, text.n);
    put_said(m, &covered, text, text.n, out);
    return out->failed;
}

/* -- … in a text that comes in pieces -- */

/* How many bytes at its end something may begin with that was learnt, and is no longer
 * than `max`. */
static size_t
begun(const struct calls_mask *m, struct view text, size_t max)
{
    return m->learnt ? calls_learnt_begun(m->learnt, text, max) : 0;
}

static int
let_out(const struct calls_mask *m, struct calls_said *s, size_t stop, struct buf *out)
{
    AUTO(buf) said = { 0 };
    struct view text = { s->text.p, s->text.n };
    size_t same = 0;
    put_said(m, &s->covered, text, stop, &said);
    while (same < s->shown && same < said.n && said.p[same] == text.p[same])
        same++; /* it was let out before */
    int r = said.failed ? said.failed : buf_append(out, said.p + same, said.n - same);
    size_t shown = s->covered                ? 0
                   : stop < CALLS_SAID_SHOWN ? stop
                                             : (size_t)CALLS_SAID_SHOWN;
    buf_drop(&s->text, stop - shown);
    s->shown = shown;
    return r;
}

int
calls_said_feed(const struct calls_mask *m, struct calls_said *s, struct view piece,
                struct buf *out)
{
    if (!m->learnt)
        return buf_append(out, piece.p, piece.n);
    int r = buf_append(&s->text, piece.p, piece.n);
    if (r < 0)
        return r;
    size_t keep = begun(m, (struct view){ s->text.p, s->text.n }, CALLS_SAID_HOLD);
    keep = keep > CALLS_SAID_SHOWN ? keep : 0;
    size_t most = s->text.n - s->shown; /* what was let out is not taken back */
    return let_out(m, s, s->text.n - (keep < most ? keep : most), out);
}

int
calls_said_flush(const struct calls_mask *m, struct calls_said *s, struct buf *out)
{
    size_t n = begun(m, (struct view){ s->text.p, s->text.n }, CALLS_SAID_HOLD);
    size_t most = s->text.n - s->shown;
    bool is_cut = n >= SAID_MIN;
    n = n < most ? n : most; /* what was let out is not taken back */
    int r = s->text.n ? let_out(m, s, s->text.n - (is_cut ? n : 0), out) : 0;
    if (!r && is_cut)
        r = buf_puts(out, REDACT_MASK "credential]");
    calls_said_release(s);
    return r;
}

size_t
calls_said_held(const struct calls_said *s)
{
    return s->text.n - s->shown;
}

void
calls_said_release(struct calls_said *s)
{
    buf_release(&s->text);
    *s = (struct calls_said){ 0 };
}

/* -- whole texts -- */

static size_t
first_letter(struct view v)
{
    size_t i = 0;
    while (i < v.n && (v.p[i] == ' ' || (v.p[i] >= '\t' && v.p[i] <= '\r')))
        i++;
    return i;
}

static bool
is_json(struct view body)
{
    size_t i = first_letter(body);
    return i < body.n && (body.p[i] == '{' || body.p[i] == '[') && json_in_is_one(body);
}

int
calls_mask_text(struct redact *redact, struct view text, struct buf *out)
{
    size_t before = out->n;
    if (out->failed)
        return out->failed;
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
    if (!m->learnt)
        return calls_mask_text(m->redact, body, out);
    int r = calls_mask_said(m, body, &said);
    return r < 0 ? buf_puts(out, left_out)
                 : calls_mask_text(m->redact, (struct view){ said.p, said.n }, out);
}

int
calls_mask_header(struct calls_mask *m, const struct calls_header *h, struct buf *out)
{
    if (calls_mask_is_credential(h->name))
        return buf_puts(out, REDACT_MASK "header]");
    return has_url(h) ? calls_mask_url(m, h->value, out)
                      : calls_mask_body(m, h->value, out);
}

/* A secret that is seen only without percent-coding takes all of it away. */
static void
put_value(struct calls_mask *m, struct view value, struct buf *out)
{
    AUTO(buf) plain = { 0 };
    AUTO(buf) masked = { 0 };
    put_plain(&plain, value);
    bool is_coded = plain.n != value.n;
    if (is_coded)
        calls_mask_body(m, (struct view){ plain.p, plain.n }, &masked);
    if (is_coded && (plain.failed || masked.failed || masked.n != plain.n ||
                     memcmp(masked.p, plain.p, plain.n) != 0))
        buf_puts(out, REDACT_MASK "query]");
    else
        calls_mask_body(m, value, out);
}

static void
put_parameters(struct calls_mask *m, struct view rest, struct buf *out)
{
    while (rest.n) {
        struct view value, name;
        bool has_more = take_until(&rest, '&', &value);
        bool has_value = take_until(&value, '=', &name);
        put_value(m, name, out);
        if (has_value)
            buf_puts(out, "=");
        if (value.n && is_secret_parameter(name))
            buf_puts(out, REDACT_MASK "query]");
        else
            put_value(m, value, out);
        if (has_more)
            buf_puts(out, "&");
    }
}

int
calls_mask_url(struct calls_mask *m, struct view url, struct buf *out)
{
    struct view path;
    bool has_query = take_until(&url, '?', &path);
    calls_mask_body(m, path, out);
    if (has_query)
        buf_puts(out, "?");
    put_parameters(m, url, out);
    return out->failed;
}

/* -- as it comes -- */

/* Is it JSON? Its first letter tells. */
static int
look_at_kind(struct calls_mask *m, struct calls_mask_stream *s, struct view bytes)
{
    size_t i = s->has_begun ? bytes.n : first_letter(bytes);
    if (i == bytes.n)
        return 0;
    s->has_begun = true;
    if (bytes.p[i] != '{' && bytes.p[i] != '[')
        return 0;
    s->strings = calloc(1, sizeof(*s->strings));
    if (!s->strings)
        return -ENOMEM;
    s->strings->redact = m->redact;
    return 0;
}

/* What the scanner has let out. */
static int
pass_strings(struct calls_mask_stream *s, bool is_last, struct buf *out)
{
    if (!s->strings)
        return 0;
    int r = redact_json_pieces_feed(s->strings, (struct view){ s->plain.p, s->plain.n },
                                    is_last, out);
    buf_clear(&s->plain);
    return r;
}

static struct buf *
scanned(struct calls_mask_stream *s, struct buf *out)
{
    return s->strings ? &s->plain : out;
}

/* The last bytes may be the beginning of what was said. */
static int
pass_on(struct calls_mask *m, struct calls_mask_stream *s, size_t keep, struct buf *out)
{
    AUTO(buf) said = { .ceiling = MASK_GROWS * (STREAM_AT_ONCE + SAID_MAX) };
    struct view text = { s->waiting.p, s->waiting.n };
    size_t stop = text.n > keep ? text.n - keep : 0;
    put_said(m, &s->covered, text, stop, &said);
    int r = said.failed ? said.failed
                        : redact_stream_feed(s->redact, said.p, said.n, scanned(s, out));
    buf_drop(&s->waiting, stop);
    return r < 0 ? r : pass_strings(s, false, out);
}

int
calls_mask_feed(struct calls_mask *m, struct calls_mask_stream *s, struct view bytes,
                struct buf *out)
{
    int r = s->redact ? 0
                      : redact_stream_new(&s->redact, m->redact,
                                          &(struct redact_options){ .is_whole = true });
    if (r >= 0)
        r = look_at_kind(m, s, bytes);
    while (bytes.n && r >= 0) {
        size_t n = bytes.n < STREAM_AT_ONCE ? bytes.n : STREAM_AT_ONCE;
        r = buf_append(&s->waiting, bytes.p, n);
        if (r >= 0)
            r = pass_on(m, s,
                        begun(m, (struct view){ s->waiting.p, s->waiting.n }, SAID_MAX),
                        out);
        bytes = (struct view){ bytes.p + n, bytes.n - n };
    }
    return r;
}

void
calls_mask_cut(struct calls_mask_stream *s)
{
    s->is_cut = true;
    if (s->redact)
        redact_stream_cut(s->redact);
    if (s->strings)
        s->strings->is_cut = true;
}

/* The beginning of what was said, at the end of a body that breaks off. */
static int
mask_begun(struct calls_mask *m, struct calls_mask_stream *s, struct buf *out)
{
    size_t n = begun(m, (struct view){ s->waiting.p, s->waiting.n }, SAID_MAX);
    int r = pass_on(m, s, n, out);
    if (r < 0 || n < SAID_MIN)
        return r;
    s->waiting.n = 0;
    return buf_puts(&s->waiting, REDACT_MASK "credential]");
}

int
calls_mask_flush(struct calls_mask *m, struct calls_mask_stream *s, struct buf *out)
{
    if (!s->redact)
        return 0;
    int r = s->is_cut ? mask_begun(m, s, out) : 0;
    if (r >= 0)
        r = pass_on(m, s, 0, out);
    if (r >= 0)
        r = redact_stream_flush(s->redact, scanned(s, out));
    if (r >= 0)
        r = pass_strings(s, true, out);
    if (s->strings)
        redact_json_pieces_release(s->strings);
    free(s->strings);
    s->strings = NULL;
    s->has_begun = s->is_cut = false;
    return r;
}

void
calls_mask_stream_release(struct calls_mask_stream *s)
{
    redact_stream_free(s->redact);
    buf_release(&s->waiting);
    buf_release(&s->plain);
    if (s->strings)
        redact_json_pieces_release(s->strings);
    free(s->strings);
    *s = (struct calls_mask_stream){ 0 };
}
