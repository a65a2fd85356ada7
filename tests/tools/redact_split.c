/* SPDX-License-Identifier: MIT */
/*
 * redact_split.c -- what the scanner makes of each case on stdin, however it is cut.
 * usage: redact_split < CASES
 *
 * A case, all numbers little-endian:
 *
 *     u8 flags (1 terminal, 2 keeps_length, 4 a long text: cut in a few ways only)
 *     u8[3] 0   u32 cols   u32 length   u32 ranges   ranges * (u32 start, u32 end) bytes
 *
 * The ranges are the bytes of the secret; sequences and line ends may lie between. Each
 * case gives a line of JSON:
 *
 *     finds     [["rule",start,end],…] of the whole feed
 *     left      secret bytes that stand in the clear
 *     over      other bytes that were masked
 *     cut_left  the most secret bytes in the clear when the input ends inside of the
 * secret cut_at    … and how many of its bytes had come by then wrong     what does not
 * hold, else ""
 */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "base/file.h"
#include "base/le.h"
#include "redact/redact.h"

enum { IS_TERMINAL = 1, KEEPS_LENGTH = 2, IS_LONG = 4 };
enum { HEAD_BYTES = 16, INPUT_MAX = 1 << 30 };

struct test_case {
    unsigned flags;
    uint32_t cols;
    const uint8_t *in; /* borrowed */
    size_t n;
    uint8_t *is_secret; /* a byte each */
    size_t first, end;  /* of the secret; both n without one */
};

/* What one run gave. */
struct result {
    struct buf out;
    struct redact_find *finds;
    size_t count, cap;
};

struct report {
    size_t left, over, cut_left, cut_at;
    const char *wrong;
    size_t wrong_at;
};

static void
die(const char *what)
{
    fprintf(stderr, "redact_split: %s\n", what);
    exit(1);
}

static void
keep_find(void *ctx, const struct redact_find *find)
{
    struct result *r = *(struct result **)ctx;
    if (r->count == r->cap) {
        r->cap = r->cap ? 2 * r->cap : 16;
        r->finds = realloc(r->finds, r->cap * sizeof(*r->finds));
        if (!r->finds)
            die("out of memory");
    }
    r->finds[r->count++] = *find;
}

/* -- running -- */

struct subject {
    struct redact_stream *stream;
    struct result *into; /* where on_find writes */
};

static void
begin(struct subject *s, struct result *r)
{
    buf_clear(&r->out);
    r->count = 0;
    s->into = r;
}

static void
feed(struct subject *s, const uint8_t *p, size_t n)
{
    if (redact_stream_feed(s->stream, p, n, &s->into->out) < 0)
        die("feed failed");
}

static void
flush(struct subject *s)
{
    if (redact_stream_flush(s->stream, &s->into->out) < 0)
        die("flush failed");
}

static void
feed_whole(struct subject *s, const struct test_case *c, size_t n, struct result *r)
{
    begin(s, r);
    feed(s, c->in, n);
    flush(s);
}

static void
feed_pieces(struct subject *s, const struct test_case *c, size_t step, struct result *r)
{
    begin(s, r);
    for (size_t i = 0; i < c->n; i += step)
        feed(s, c->in + i, c->n - i < step ? c->n - i : step);
    flush(s);
}

/* -- judging -- */

static void
note(struct report *rep, const char *wrong, size_t at)
{
    if (rep->wrong)
        return;
    rep->wrong = wrong;
    rep->wrong_at = at;
}

static bool
is_same(const struct result *a, const struct result *b)
{
    if (a->out.n != b->out.n || a->count != b->count ||
        (a->out.n && memcmp(a->out.p, b->out.p, a->out.n)))
        return false;
    for (size_t i = 0; i < a->count; i++)
        if (a->finds[i].start != b->finds[i].start ||
            a->finds[i].end != b->finds[i].end ||
            strcmp(a->finds[i].rule, b->finds[i].rule))
            return false;
    return true;
}

/* Finds come in order, lie in the first n bytes and do not overlap. */
static bool
is_in_order(const struct result *r, size_t n)
{
    uint64_t done = 0;
    for (size_t i = 0; i < r->count; i++) {
        if (r->finds[i].start < done || r->finds[i].end <= r->finds[i].start ||
            r->finds[i].end > n)
            return false;
        done = r->finds[i].end;
    }
    return true;
}

/* A sequence, a line end, an indentation inside of the secret. */
static bool
is_between(const struct test_case *c, size_t i)
{
    return c->first < i && i < c->end && !c->is_secret[i];
}

/* Stars for bytes of finds, everything else as it was. */
static bool
is_starred(const struct test_case *c, size_t n, const struct result *r)
{
    size_t at = 0;
    if (r->out.n != n)
        return false;
    for (size_t i = 0; i < n; i++) {
        while (at < r->count && r->finds[at].end <= i)
            at++;
        bool may_be_star = at < r->count && r->finds[at].start <= i && c->in[i] >= ' ' &&
                           !is_between(c, i);
        if (r->out.p[i] != c->in[i] && !(may_be_star && r->out.p[i] == '*'))
            return false;
    }
    return true;
}

static bool
has_at(const struct buf *b, size_t at, const void *p, size_t n)
{
    return at <= b->n && n <= b->n - at && (!n || memcmp(b->p + at, p, n) == 0);
}

static void
put_mask(struct buf *b, const struct redact_find *f)
{
    if (buf_printf(b, "[REDACTED:%s]", f->rule) < 0)
        die("out of memory");
}

/* Masks in the place of finds, everything else as it was. */
static bool
is_replaced(const struct test_case *c, size_t n, const struct result *r)
{
    AUTO(buf) want = { .ceiling = INPUT_MAX };
    size_t in = 0;
    for (size_t i = 0; i < r->count; i++) {
        (void)buf_append(&want, c->in + in, (size_t)r->finds[i].start - in);
        put_mask(&want, &r->finds[i]);
        in = (size_t)r->finds[i].end;
    }
    (void)buf_append(&want, c->in + in, n - in);
    if (want.failed)
        die("out of memory");
    return want.n == r->out.n && has_at(&want, 0, r->out.p, r->out.n);
}

/* As is_replaced, but sequences and line ends of a find may still be there, before or
 * behind its mask: what is left of the output must be what lies in the input, in that
 * order, and nothing of it a byte of a secret. */
static bool
is_replaced_on_screen(const struct test_case *c, size_t n, const struct result *r)
{
    AUTO(buf) mask = { 0 };
    size_t in = 0, out = 0, masked = 0, find = 0;
    for (; in < n; in++) {
        while (find < r->count && r->finds[find].end <= in)
            find++;
        bool is_found = find < r->count && r->finds[find].start <= in;
        if (is_found && masked == find) {
            buf_clear(&mask);
            put_mask(&mask, &r->finds[find]);
            if (has_at(&r->out, out, mask.p, mask.n)) {
                out += mask.n;
                masked++;
            }
        }
        if (out < r->out.n && r->out.p[out] == c->in[in] &&
            !(is_found && c->is_secret[in]))
            out++;
        else if (!is_found)
            return false;
    }
    return out == r->out.n && masked == r->count;
}

static void
check_masks(const struct test_case *c, size_t n, const struct result *r,
            struct report *rep)
{
    if (!is_in_order(r, n))
        note(rep, "finds out of order", n);
    else if (c->flags & KEEPS_LENGTH  ? !is_starred(c, n, r)
             : c->flags & IS_TERMINAL ? !is_replaced_on_screen(c, n, r)
                                      : !is_replaced(c, n, r))
        note(rep, "the output is not the input with its finds masked", n);
}

/* Of the first n bytes: which of the secret are clear, which others are not. */
static void
count_bytes(const struct test_case *c, size_t n, const struct result *r, size_t *ret_left,
            size_t *ret_over)
{
    size_t at = 0, left = 0, over = 0;
    for (size_t i = 0; i < n; i++) {
        while (at < r->count && r->finds[at].end <= i)
            at++;
        bool is_masked = at < r->count && r->finds[at].start <= i;
        if (c->flags & KEEPS_LENGTH && i < r->out.n)
            is_masked = r->out.p[i] == '*' && (c->in[i] != '*' || is_masked);
        left += c->is_secret[i] && !is_masked;
        /* A terminal's find has sequences in it; only stars tell them apart. */
        over += !c->is_secret[i] && is_masked &&
                (c->flags & KEEPS_LENGTH || !(c->flags & IS_TERMINAL));
    }
    *ret_left = left;
    *ret_over = over;
}

/* -- cutting -- */

static void
check_splits(struct subject *s, const struct test_case *c, const struct result *whole,
             struct result *r, struct report *rep)
{
    for (size_t k = 0; k <= c->n && !rep->wrong; k++) {
        begin(s, r);
        feed(s, c->in, k);
        size_t out = r->out.n;
        if (redact_stream_held(s->stream) > REDACT_HOLD)
            note(rep, "too much is held", k);
        if (out > whole->out.n || (out && memcmp(r->out.p, whole->out.p, out)))
            note(rep, "handed out too soon", k);
        feed(s, c->in + k, c->n - k);
        flush(s);
        if (!is_same(r, whole))
            note(rep, "cut in two it comes out otherwise", k);
    }
}

/* The input ends inside of the secret. */
static void
check_ends(struct subject *s, const struct test_case *c, struct result *r,
           struct report *rep)
{
    size_t come = 0;
    for (size_t k = c->first + 1; k < c->end && !rep->wrong; k++) {
        size_t left, over;
        come += c->is_secret[k - 1];
        feed_whole(s, c, k, r);
        check_masks(c, k, r, rep);
        count_bytes(c, k, r, &left, &over);
        if (left > rep->cut_left) {
            rep->cut_left = left;
            rep->cut_at = come;
        }
    }
}

/* Nothing of what was dropped comes back. */
static void
check_reset(struct subject *s, const struct test_case *c, const struct result *whole,
            struct result *r, struct report *rep)
{
    size_t middle = c->first + (c->end - c->first) / 2;
    begin(s, r);
    feed(s, c->in, middle);
    redact_stream_reset(s->stream);
    feed_whole(s, c, c->n, r);
    if (!is_same(r, whole))
        note(rep, "a reset leaves something behind", middle);
}

static void
check_case(struct subject *s, const struct test_case *c, struct result *whole,
           struct result *r, struct report *rep)
{
    static const size_t steps[] = { 1, 7, 997, 4096, 65536 };
    feed_whole(s, c, c->n, whole);
    check_masks(c, c->n, whole, rep);
    count_bytes(c, c->n, whole, &rep->left, &rep->over);
    size_t first = c->flags & IS_LONG ? 2 : 0, last = c->flags & IS_LONG ? 4 : 1;
    for (size_t i = first; i <= last; i++) {
        feed_pieces(s, c, steps[i], r);
        if (!is_same(r, whole))
            note(rep, "fed in pieces it comes out otherwise", steps[i]);
    }
    check_reset(s, c, whole, r, rep);
    if (c->flags & IS_LONG)
        return;
    check_splits(s, c, whole, r, rep);
    if (!rep->left)
        check_ends(s, c, r, rep);
}

static void
print_report(const struct result *whole, const struct report *rep)
{
    printf("{\"finds\":[");
    for (size_t i = 0; i < whole->count; i++)
        printf("%s[\"%s\",%" PRIu64 ",%" PRIu64 "]", i ? "," : "", whole->finds[i].rule,
               whole->finds[i].start, whole->finds[i].end);
    printf("],\"left\":%zu,\"over\":%zu,\"cut_left\":%zu,\"cut_at\":%zu,\"wrong\":\"",
           rep->left, rep->over, rep->cut_left, rep->cut_at);
    if (rep->wrong)
        printf("%s (%zu)", rep->wrong, rep->wrong_at);
    printf("\"}\n");
}

/* -- the cases -- */

static void
run_case(struct redact *redact, const struct test_case *c)
{
    struct subject s = { 0 };
    struct result whole = { .out.ceiling = INPUT_MAX }, r = { .out.ceiling = INPUT_MAX };
    struct report rep = { 0 };
    struct redact_options opt = {
        .is_terminal = c->flags & IS_TERMINAL,
        .keeps_length = c->flags & KEEPS_LENGTH,
        .cols = c->cols,
        .on_find = keep_find,
        .ctx = &s.into,
    };
    if (redact_stream_new(&s.stream, redact, &opt) < 0)
        die("no stream");
    check_case(&s, c, &whole, &r, &rep);
    print_report(&whole, &rep);
    redact_stream_free(s.stream);
    buf_release(&whole.out);
    buf_release(&r.out);
    free(whole.finds);
    free(r.finds);
}

/* Takes one case from the view; false when its bytes are not all there. */
static bool
take_case(struct view *in, struct test_case *ret)
{
    if (in->n < HEAD_BYTES)
        return false;
    struct test_case c = { .flags = in->p[0],
                           .cols = get_le32(in->p + 4),
                           .n = get_le32(in->p + 8) };
    size_t ranges = get_le32(in->p + 12);
    if (ranges > in->n / 8 || in->n - HEAD_BYTES < 8 * ranges ||
        in->n - HEAD_BYTES - 8 * ranges < c.n)
        return false;
    c.in = in->p + HEAD_BYTES + 8 * ranges;
    c.first = c.end = c.n;
    c.is_secret = calloc(c.n + 1, 1);
    if (!c.is_secret)
        die("out of memory");
    for (size_t i = 0; i < ranges; i++) {
        size_t start = get_le32(in->p + HEAD_BYTES + 8 * i);
        size_t end = get_le32(in->p + HEAD_BYTES + 8 * i + 4);
        if (start > end || end > c.n)
            die("a range lies outside of its case");
        memset(c.is_secret + start, 1, end - start);
        c.first = i ? c.first : start;
        c.end = end;
    }
    size_t size = HEAD_BYTES + 8 * ranges + c.n;
    in->p += size;
    in->n -= size;
    *ret = c;
    return true;
}

static void
read_all(struct buf *in)
{
    ssize_t n;
    do {
        if (buf_reserve(in, 1 << 16) < 0)
            die("the cases are too long");
        n = file_read(STDIN_FILENO, in->p + in->n, 1 << 16);
        if (n < 0)
            die("cannot read");
        in->n += (size_t)n;
    } while (n > 0);
}

int
main(void)
{
    struct buf in = { .ceiling = INPUT_MAX };
    struct redact *redact;
    struct err err;
    if (redact_open(&redact, NULL, &err) < 0)
        die(err.text);
    read_all(&in);
    struct view rest = { in.p, in.n };
    while (rest.n) {
        struct test_case c;
        if (!take_case(&rest, &c))
            die("a case is cut off");
        run_case(redact, &c);
        free(c.is_secret);
    }
    redact_close(redact);
    buf_release(&in);
    return 0;
}
