/* SPDX-License-Identifier: MIT */
/* scrub.c -- secrets out of texts, JSON and files of bytes. */
#include "library/scrub_priv.h"

#include <ctype.h>
#include <errno.h>
#include <stdlib.h>

#include "base/base64.h"
#include "base/file.h"
#include "base/json.h"
#include "base/json_in.h"
#include "base/utf8.h"
#include "calls/rewrite.h"
#include "session/id.h"

enum {
    PASSES = 4,       /* over a text, until nothing is found */
    PIECE = 64 << 10, /* of a file of bytes */
    KEY_MAX = 32,     /* a longer one is no word of a format */
    FORMAT_MAX = 40,  /* … and so is a longer value */
    STATUS_MAX = 16,  /* … or status */
};

struct scrub {
    struct redact *secrets;         /* borrowed */
    struct redact_stream *masks;    /* with the rule's name where the secret was */
    struct redact_stream *stars;    /* with stars, as many */
    struct scrub_count found;       /* by either, since it was cleared */
    struct buf key, string, masked; /* of JSON */
    struct buf text[2];             /* from one pass to the next */
};

static void
on_find(void *ctx, const struct redact_find *find)
{
    struct scrub *s = ctx;
    s->found.places++;
    s->found.bytes += find->end - find->start;
}

int
scrub_new(struct scrub **ret, struct redact *secrets)
{
    struct redact_options opt = { .is_whole = true, .on_find = on_find };
    struct scrub *s = calloc(1, sizeof(*s));
    if (!s)
        return -ENOMEM;
    s->secrets = secrets;
    opt.ctx = s;
    int e = redact_stream_new(&s->masks, secrets, &opt);
    opt.keeps_length = true;
    if (!e)
        e = redact_stream_new(&s->stars, secrets, &opt);
    if (e < 0)
        scrub_free(s);
    else
        *ret = s;
    return e;
}

void
scrub_free(struct scrub *s)
{
    if (!s)
        return;
    redact_stream_free(s->masks);
    redact_stream_free(s->stars);
    buf_release(&s->key);
    buf_release(&s->string);
    buf_release(&s->masked);
    buf_release(&s->text[0]);
    buf_release(&s->text[1]);
    free(s);
}

/* -- texts -- */

static bool
is_same(struct view a, const struct buf *b)
{
    return a.n == b->n && (!a.n || !memcmp(a.p, b->p, a.n));
}

/* NULs, with which stars fill up the room of longer characters. */
static void
drop_nuls(struct buf *b)
{
    size_t n = 0;
    for (size_t i = 0; i < b->n; i++)
        if (b->p[i])
            b->p[n++] = b->p[i];
    b->n = n;
}

/* In, once through the scanner; 1: something was masked. */
static int
pass(struct scrub *s, struct redact_stream *stream, struct view in, struct buf *out)
{
    s->found = (struct scrub_count){ 0 };
    buf_clear(out);
    int e = redact_stream_feed(stream, in.p, in.n, out);
    if (!e)
        e = redact_stream_flush(stream, out);
    /* A secret that reads like its mask is none. */
    return e ? e : s->found.places && !is_same(in, out);
}

/* The name of a rule may itself be what is looked for: behind the first pass there are
 * stars. */
int
scrub_text(struct scrub *s, struct view in, struct buf *out, struct scrub_count *count)
{
    int e = pass(s, s->masks, in, &s->text[0]);
    if (e <= 0)
        return e < 0 ? e : buf_append(out, in.p, in.n);
    struct scrub_count first = s->found;
    size_t at = 0;
    for (int i = 1; e > 0 && i < PASSES; i++, at = !at) {
        struct view again = { s->text[at].p, s->text[at].n };
        e = pass(s, s->stars, again, &s->text[!at]);
        if (e > 0)
            drop_nuls(&s->text[!at]);
    }
    if (e)
        return e < 0 ? e : ERR_LIMIT;
    count->places += first.places;
    count->bytes += first.bytes;
    return buf_append(out, s->text[at].p, s->text[at].n);
}

int
scrub_stars(struct scrub *s, struct view in, struct buf *out, struct scrub_count *count)
{
    int e = pass(s, s->stars, in, &s->text[0]);
    if (e <= 0)
        return e < 0 ? e : buf_append(out, in.p, in.n);
    for (size_t i = 0; i < s->text[0].n; i++)
        if (!s->text[0].p[i])
            s->text[0].p[i] = '*';
    count->places += s->found.places;
    count->bytes += s->found.bytes;
    return buf_append(out, s->text[0].p, s->text[0].n);
}

/* -- JSON -- */

static bool
is_word(const struct buf *b, size_t max)
{
    for (size_t i = 0; i < b->n; i++)
        if (!isalpha(b->p[i]) && b->p[i] != '_')
            return false;
    return b->n <= max;
}

static bool
is_made_of(const struct buf *b, const char *bytes, size_t max)
{
    for (size_t i = 0; i < b->n; i++)
        if (!b->p[i] || !strchr(bytes, b->p[i]))
            return false;
    return b->n <= max;
}

static bool
is_key(const struct buf *key, const char *name)
{
    return key->n == strlen(name) && !memcmp(key->p, name, key->n);
}

/* What our own files hold by their format, and could not be read without: a text that is
 * to be masked may well stand in a date. */
static bool
is_of_format(const struct buf *key, struct buf *value)
{
    static const char digits[] = "0123456789.:TZ+-";
    if (is_key(key, "status") || is_key(key, "kind") || is_key(key, "signal") ||
        is_key(key, "what") || is_key(key, "type") || is_key(key, "role") ||
        is_key(key, "direction") || is_key(key, "action") || is_key(key, "change"))
        return is_word(value, STATUS_MAX);
    if (is_key(key, "ts_ns") || is_key(key, "time") || is_key(key, "ahrVersion") ||
        is_key(key, "ahr_version") || is_key(key, "timestamp") ||
        is_key(key, "created_at") || is_key(key, "completed_at"))
        return is_made_of(value, digits, FORMAT_MAX);
    return value->n == SESSION_ID_LEN && session_id_is(buf_str(value));
}

/* Bytes that are no text stand in our files as base64: masked as what they are. */
static int
mask_base64(struct scrub *s, struct buf *ret, struct scrub_count *count)
{
    AUTO(buf) bytes = { .ceiling = SIZE_MAX };
    AUTO(buf) masked = { .ceiling = SIZE_MAX };
    uint64_t before = count->places;
    if (!base64_take((struct view){ s->string.p, s->string.n }, &bytes) ||
        utf8_is_text(bytes.p, bytes.n))
        return 0;
    int e = scrub_text(s, (struct view){ bytes.p, bytes.n }, &masked, count);
    if (e || count->places == before)
        return e;
    buf_clear(ret);
    base64_put((struct view){ masked.p, masked.n }, ret);
    return ret->failed;
}

/* The string in s->string, which stands in the text as `raw`. */
static int
put_string(struct scrub *s, struct view raw, bool names, struct buf *out,
           struct scrub_count *count)
{
    bool stays = names ? is_word(&s->string, KEY_MAX) : is_of_format(&s->key, &s->string);
    uint64_t before = count->places;
    buf_clear(&s->masked);
    int e = stays ? 0
                  : scrub_text(s, (struct view){ s->string.p, s->string.n }, &s->masked,
                               count);
    if (!e && !stays && count->places == before)
        e = mask_base64(s, &s->masked, count);
    if (e)
        return e;
    if (count->places == before)
        return buf_append(out, raw.p, raw.n);
    struct json j = { .out = out };
    json_bytes(&j, (struct view){ s->masked.p, s->masked.n });
    return out->failed;
}

/* All strings; what stands between them stays. */
static int
mask_strings(struct scrub *s, struct view in, struct buf *out, struct scrub_count *count)
{
    struct json_in at = { .p = in.p, .end = in.p + in.n };
    const uint8_t *done = in.p;
    int e = 0;
    buf_clear(&s->key);
    while (!e && at.p < at.end) {
        const uint8_t *start = memchr(at.p, '"', (size_t)(at.end - at.p));
        if (!start)
            break;
        at.p = start;
        buf_clear(&s->string);
        if (!json_in_str(&at, &s->string))
            break; /* it has no end */
        e = s->string.failed;
        struct view raw = { start, (size_t)(at.p - start) };
        bool names = json_in_peek(&at) == ':';
        if (!e)
            e = buf_append(out, done, (size_t)(start - done));
        if (!e)
            e = put_string(s, raw, names, out, count);
        done = raw.p + raw.n;
        buf_clear(&s->key);
        if (names && !e)
            e = buf_append(&s->key, s->string.p, s->string.n);
    }
    return e ? e : buf_append(out, done, (size_t)(in.p + in.n - done));
}

static bool
is_json(struct view in)
{
    struct json_in at = { .p = in.p, .end = in.p + in.n };
    while (!at.failed && (json_in_peek(&at), at.p < at.end))
        json_in_skip(&at);
    return !at.failed;
}

/* Once through all strings, and through what is no JSON as a text. */
static int
mask_json(struct scrub *s, struct view in, struct buf *out, struct scrub_count *count)
{
    AUTO(buf) strings = { .ceiling = SIZE_MAX };
    if (is_json(in))
        return mask_strings(s, in, out, count);
    int e = mask_strings(s, in, &strings, count);
    return e ? e : scrub_text(s, (struct view){ strings.p, strings.n }, out, count);
}

/* What is no JSON may have other strings than before when it is masked. */
int
scrub_json(struct scrub *s, struct view in, struct buf *out, struct scrub_count *count)
{
    AUTO(buf) made = { .ceiling = SIZE_MAX };
    AUTO(buf) next = { .ceiling = SIZE_MAX };
    int e = mask_json(s, in, &made, count);
    for (int i = 1; !e; i++) {
        struct scrub_count more = { 0 };
        buf_clear(&next);
        e = mask_json(s, (struct view){ made.p, made.n }, &next, &more);
        if (e || !more.places)
            break;
        struct buf swap = made;
        made = next;
        next = swap;
        e = i < PASSES ? 0 : ERR_LIMIT;
    }
    return e ? e : buf_append(out, made.p, made.n);
}

int
scrub_json_lines(struct scrub *s, struct view in, struct buf *out,
                 struct scrub_count *count)
{
    int e = 0;
    while (!e && in.n) {
        const uint8_t *end = memchr(in.p, '\n', in.n);
        size_t n = end ? (size_t)(end - in.p) : in.n;
        e = scrub_json(s, (struct view){ in.p, n }, out, count);
        if (!e && end)
            e = buf_append(out, "\n", 1);
        in.p += n + (end != NULL);
        in.n -= n + (end != NULL);
    }
    return e;
}

/* -- calls of the wire -- */

struct scrub_calls {
    struct scrub *s;
    struct scrub_count *count;
    int to_fd;
};

static int
mask_part(void *ctx, struct view text, struct buf *out)
{
    struct scrub_calls *c = ctx;
    struct json_in in = { .p = text.p, .end = text.p + text.n };
    uint8_t first = text.n ? json_in_peek(&in) : 0;
    bool is_json = (first == '{' || first == '[') && json_in_is_one(text);
    return is_json ? scrub_json(c->s, text, out, c->count)
                   : scrub_text(c->s, text, out, c->count);
}

static void
count_found(void *ctx, size_t bytes)
{
    struct scrub_calls *c = ctx;
    c->count->places++;
    c->count->bytes += bytes;
}

static int
write_lines(void *ctx, struct view lines)
{
    struct scrub_calls *c = ctx;
    return file_write_all(c->to_fd, lines.p, lines.n);
}

int
scrub_wire(struct scrub *s, const char *path, int to_fd, struct scrub_count *count,
           uint64_t *ret_dropped, struct err *err)
{
    struct scrub_calls c = { s, count, to_fd };
    const struct calls_rewrite_options opt = { .secrets = s->secrets,
                                               .mask = mask_part,
                                               .found = count_found,
                                               .write = write_lines,
                                               .ctx = &c };
    return calls_rewrite(path, &opt, ret_dropped, err);
}

/* -- files of bytes -- */

static int
put(int fd, struct buf *out, int e)
{
    if (!e)
        e = file_write_all(fd, out->p, out->n);
    buf_clear(out);
    return e;
}

int
scrub_bytes(struct scrub *s, int from_fd, int to_fd, struct scrub_count *count)
{
    AUTO(buf) in = { 0 };
    AUTO(buf) out = { 0 };
    ssize_t n = 0;
    int e = buf_reserve(&in, PIECE);
    s->found = (struct scrub_count){ 0 };
    while (!e && (n = file_read(from_fd, in.p, PIECE)) > 0)
        e = put(to_fd, &out, redact_stream_feed(s->stars, in.p, (size_t)n, &out));
    if (!e)
        e = put(to_fd, &out, redact_stream_flush(s->stars, &out));
    else
        redact_stream_reset(s->stars);
    if (e || n < 0)
        return e ? e : (int)n;
    count->places += s->found.places;
    count->bytes += s->found.bytes;
    return 0;
}
