/* SPDX-License-Identifier: MIT */
/*
 * json_pieces.c -- a string that is there from quote to quote is searched at once. One
 * whose end has not come is decoded unit by unit for a scanner, and each unit is passed
 * on as it came when all of its bytes are decided; from a secret on, the string waits for
 * its end. A string that turns out to be none ends there, and the search with it.
 */
#include "redact/json_pieces.h"

#include "base/json_scan.h"
#include "base/utf8.h"
#include "redact/json.h"
#include "redact/json_priv.h"

enum { CHANGED_MAX = 1 << 20 }; /* of a string with a secret in it, so much waits */

/* What has no bytes has an address, too. */
static struct view
behind(const struct buf *b, size_t at)
{
    return at < b->n ? (struct view){ b->p + at, b->n - at }
                     : (struct view){ (const uint8_t *)"", 0 };
}

/* -- a string that has not ended -- */

static bool
is_at_quote(const struct redact_json_pieces *s)
{
    return s->seen < s->raw.n && s->raw.p[s->seen] == '"';
}

static bool
has_ended(const struct redact_json_pieces *s, bool is_last)
{
    return s->is_off || is_last || is_at_quote(s);
}

/* What was not seen of it is decoded: how many bytes. */
static ssize_t
decode_rest(struct redact_json_pieces *s, struct view rest, bool is_last)
{
    size_t before = s->plain.n, says;
    ssize_t n = json_units(rest, is_last, &s->plain);
    s->is_off = n == ERR_DAMAGED;
    return s->is_off ? (ssize_t)json_units_of(rest, s->plain.n - before, &says) : n;
}

/* What has come and was not seen goes to the scanner, up to the closing quote. */
static int
scan(struct redact_json_pieces *s, bool is_last, struct buf *let)
{
    size_t before = s->plain.n;
    struct view rest = behind(&s->raw, s->seen);
    ssize_t n = decode_rest(s, rest, is_last);
    if (n < 0)
        return (int)n;
    s->has_escape |= n && memchr(rest.p, '\\', (size_t)n);
    s->seen += (size_t)n;
    int r = 0;
    if (s->plain.n > before)
        r = redact_stream_feed(s->scanner, s->plain.p + before, s->plain.n - before, let);
    if (s->is_cut && !s->is_off && !is_at_quote(s))
        redact_stream_cut(s->scanner);
    if (!r && has_ended(s, is_last))
        r = redact_stream_flush(s->scanner, let);
    return r;
}

/* Units all of whose bytes are clean go. */
static int
pass_clean(struct redact_json_pieces *s, struct buf *out)
{
    size_t says;
    size_t n = json_units_of((struct view){ s->raw.p, s->seen }, s->clean, &says);
    int r = buf_append(out, s->raw.p, n);
    buf_drop(&s->raw, n);
    s->seen -= n;
    buf_drop(&s->plain, says);
    s->clean -= says;
    return r;
}

/* What the scanner has let out: as it came, or from some byte on something else. */
static int
take(struct redact_json_pieces *s, struct view let, struct buf *out)
{
    if (s->is_changed) {
        s->plain.n = 0;
        return buf_append(&s->masked, let.p, let.n);
    }
    size_t same = view_common(let, behind(&s->plain, s->clean));
    s->clean += same;
    int r = pass_clean(s, out);
    s->is_changed = same < let.n;
    if (r < 0 || !s->is_changed)
        return r;
    r = buf_append(&s->masked, s->plain.p, s->clean);
    s->plain.n = s->clean = 0;
    return r < 0 ? r : buf_append(&s->masked, let.p + same, let.n - same);
}

/* Up to a character's end. */
static int
pass_masked(struct redact_json_pieces *s, bool ends, struct buf *out)
{
    size_t n = ends ? s->masked.n : utf8_whole(s->masked.p, s->masked.n);
    int r = json_put_inside((struct view){ s->masked.p, n }, out);
    buf_drop(&s->masked, n);
    return r;
}

/* It has ended: at a quote, or as there is no more, or it is none. */
static int
end_string(struct redact_json_pieces *s, struct buf *out)
{
    bool stays = !s->is_changed || (!s->has_escape && !s->has_more);
    size_t end = is_at_quote(s) ? s->seen + 1 : s->raw.n;
    int r = stays ? buf_append(out, s->raw.p, end) : pass_masked(s, true, out);
    if (!r && !stays)
        r = buf_append(out, s->raw.p + s->seen, end - s->seen);
    buf_drop(&s->raw, end);
    s->seen = s->clean = 0;
    buf_clear(&s->plain);
    buf_clear(&s->masked);
    s->is_inside = s->has_escape = s->is_changed = s->has_more = false;
    return r;
}

/* Too long to wait for its end. */
static int
relieve(struct redact_json_pieces *s, struct buf *out)
{
    if (s->masked.n < CHANGED_MAX && s->raw.n < CHANGED_MAX)
        return 0;
    s->has_more = true;
    buf_drop(&s->raw, s->seen);
    s->seen = 0;
    return pass_masked(s, false, out);
}

/* What has come of it is in raw. */
static int
go_on(struct redact_json_pieces *s, bool is_last, struct buf *out)
{
    AUTO(buf) let = { .ceiling = SIZE_MAX };
    int r = scan(s, is_last, &let);
    if (!r)
        r = take(s, (struct view){ let.p, let.n }, out);
    if (r < 0)
        return r;
    return has_ended(s, is_last) ? end_string(s, out)
           : s->is_changed       ? relieve(s, out)
                                 : 0;
}

/* -- what is around it -- */

/* Behind the closing quote of the one that begins at `at`; 0: that has not come. */
static size_t
string_end(struct view v, size_t at)
{
    at++;
    while (at < v.n) {
        at = (size_t)(json_scan(v.p + at, v.p + v.n).end - v.p);
        if (at < v.n && v.p[at] == '"')
            return at + 1;
        at += 2;
    }
    return 0;
}

/* *rest is what is behind the first quote of a string. */
static int
begin(struct redact_json_pieces *s, struct view *rest)
{
    int r = s->scanner ? 0
                       : redact_stream_new(&s->scanner, s->redact,
                                           &(struct redact_options){ .is_whole = true });
    if (r < 0)
        return r;
    redact_stream_reset(s->scanner);
    s->is_inside = true;
    r = buf_append(&s->raw, rest->p, rest->n);
    *rest = (struct view){ 0 };
    return r;
}

/* Up to behind the next string, or into it: it has not all come, or it is none. */
static int
pass_outside(struct redact_json_pieces *s, struct view *rest, struct buf *out)
{
    struct view v = *rest;
    const uint8_t *quote = memchr(v.p, '"', v.n);
    size_t at = quote ? (size_t)(quote - v.p) : v.n;
    size_t end = quote ? string_end(v, at) : v.n;
    int r = buf_append(out, v.p, at);
    if (!r && quote)
        r = end ? redact_json_string(s->redact, (struct view){ v.p + at, end - at }, out)
                : ERR_DAMAGED;
    if (r != ERR_DAMAGED) {
        *rest = (struct view){ v.p + end, v.n - end };
        return r;
    }
    *rest = (struct view){ v.p + at + 1, v.n - at - 1 };
    r = buf_append(out, "\"", 1);
    return r < 0 ? r : begin(s, rest);
}

int
redact_json_pieces_feed(struct redact_json_pieces *s, struct view bytes, bool is_last,
                        struct buf *out)
{
    AUTO(buf) left = { 0 };
    struct view rest = bytes;
    int r = 0;
    if (s->is_inside) {
        rest = (struct view){ 0 };
        r = buf_append(&s->raw, bytes.p, bytes.n);
        if (!r)
            r = go_on(s, is_last, out);
    }
    while (!r && !s->is_inside && !s->is_off && (rest.n || s->raw.n)) {
        if (s->raw.n) { /* what is behind a string that was waited for */
            buf_release(&left);
            left = s->raw;
            s->raw = (struct buf){ 0 };
            rest = (struct view){ left.p, left.n };
        }
        r = pass_outside(s, &rest, out);
        if (!r && s->is_inside)
            r = go_on(s, is_last, out);
    }
    return r < 0 ? r : buf_append(out, rest.p, rest.n);
}

void
redact_json_pieces_release(struct redact_json_pieces *s)
{
    redact_stream_free(s->scanner);
    buf_release(&s->raw);
    buf_release(&s->plain);
    buf_release(&s->masked);
    *s = (struct redact_json_pieces){ .redact = s->redact };
}
