/* SPDX-License-Identifier: MIT */
#include "support/redact_kit.h"

#include <ctype.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "support/rng.h"

/* -- samples -- */

#define LOWER "abcdefghijklmnopqrstuvwxyz"
#define UPPER "ABCDEFGHIJKLMNOPQRSTUVWXYZ"
#define DIGIT "0123456789"

static const struct {
    const char *name, *alphabet;
} classes[] = {
    { "alnum", DIGIT UPPER LOWER },
    { "digit", DIGIT },
    { "lower", LOWER },
    { "upper", UPPER },
    { "hex", DIGIT "abcdef" },
    { "b64", DIGIT UPPER LOWER "+/" },
    { "b64url", DIGIT UPPER LOWER "-_" },
};

static void
put_random(struct buf *out, const char *alphabet, size_t n, uint32_t *rng)
{
    for (size_t i = 0; i < n; i++)
        buf_append(out, alphabet + rng_below(rng, (uint32_t)strlen(alphabet)), 1);
}

static const char *
alphabet_of(const char *name, size_t n)
{
    for (size_t i = 0; i < sizeof(classes) / sizeof(classes[0]); i++)
        if (strlen(classes[i].name) == n && !strncmp(classes[i].name, name, n))
            return classes[i].alphabet;
    return NULL;
}

static void
put_jwt(struct buf *out, size_t n, uint32_t *rng)
{
    buf_puts(out, "eyJhbGciOiJIUzI1NiIsInR5cCI6IkpXVCJ9."); /* {"alg":"HS256",… */
    buf_puts(out, "eyJ");
    put_random(out, alphabet_of("alnum", 5), n > 90 ? n - 84 : 6, rng);
    buf_puts(out, ".");
    put_random(out, alphabet_of("alnum", 5), 43, rng);
}

/* What stands between '<' and '>'; false: nothing that is known. */
static bool
put_template(struct buf *out, const char *p, size_t n, uint32_t *rng)
{
    const char *star = memchr(p, '*', n);
    size_t name = star ? (size_t)(star - p) : n;
    size_t count = star ? strtoul(star + 1, NULL, 10) : 0;
    const char *alphabet = alphabet_of(p, name);
    if (alphabet && count) {
        put_random(out, alphabet, count, rng);
    } else if (name == 3 && !strncmp(p, "ghp", 3)) {
        buf_puts(out, "ghp_");
        put_random(out, alphabet_of("alnum", 5), 36, rng);
    } else if (name == 3 && !strncmp(p, "jwt", 3)) {
        put_jwt(out, count, rng);
    } else if (name == 5 && !strncmp(p, "begin", 5)) {
        buf_printf(out, "-----%s %s-----", "BEGIN", "RSA PRIVATE KEY");
    } else if (name == 3 && !strncmp(p, "end", 3)) {
        buf_printf(out, "-----%s %s-----", "END", "RSA PRIVATE KEY");
    } else {
        return false;
    }
    return true;
}

/* The next character of a sample, or what a template stands for; returns the rest. */
static const char *
expand_one(struct buf *out, const char *p, uint32_t *rng)
{
    const char *close = *p == '<' ? strchr(p, '>') : NULL;
    if (close && put_template(out, p + 1, (size_t)(close - p - 1), rng))
        return close + 1;
    buf_append(out, p, 1);
    return p + 1;
}

void
kit_expand(struct buf *out, const char *sample, uint32_t *rng)
{
    while (*sample)
        sample = expand_one(out, sample, rng);
    assert_int_equal(out->failed, 0);
}

/* "[[rule:" has come; returns what follows. */
static const char *
open_secret(struct kit_sample *s, const char *p)
{
    size_t n = strcspn(p, ":");
    if (*p != '+') {
        assert_true(s->finds.n < KIT_FINDS_MAX && n < sizeof(s->rules[0]));
        char *rule = s->rules[s->finds.n];
        memcpy(rule, p, n);
        s->finds.v[s->finds.n++] = (struct redact_find){ rule, s->in.n, s->in.n };
        buf_printf(&s->text, "[REDACTED:%s]", rule);
    }
    return p + n + 1;
}

static void
add_piece(struct kit_sample *s, const struct buf *piece, bool is_secret)
{
    buf_append(&s->in, piece->p, piece->n);
    if (!is_secret)
        buf_append(&s->text, piece->p, piece->n);
    for (size_t i = 0; i < piece->n; i++) {
        uint8_t c = piece->p[i];
        if (is_secret && c >= 0x20)
            c = c >= 0x80 && c < 0xc0 ? 0 : '*'; /* characters are narrow here */
        buf_append(&s->stars, &c, 1);
    }
    if (is_secret)
        s->finds.v[s->finds.n - 1].end = s->in.n;
}

void
kit_sample_init(struct kit_sample *s, const char *sample)
{
    *s = (struct kit_sample){ .in = { 0 } };
    AUTO(buf) piece = { 0 };
    uint32_t rng = rng_seed(2026);
    bool is_secret = false;
    while (*sample) {
        if (!strncmp(sample, "[[", 2) && (isalpha(sample[2]) || sample[2] == '+')) {
            sample = open_secret(s, sample + 2);
            is_secret = true;
        } else if (!strncmp(sample, "]]", 2) && is_secret) {
            sample += 2;
            is_secret = false;
        } else {
            buf_clear(&piece);
            sample = expand_one(&piece, sample, &rng);
            add_piece(s, &piece, is_secret);
        }
    }
    assert_int_equal(s->in.failed | s->text.failed | s->stars.failed, 0);
}

void
kit_sample_release(struct kit_sample *s)
{
    buf_release(&s->in);
    buf_release(&s->text);
    buf_release(&s->stars);
}

/* -- the scanner -- */

int
kit_open(void **state)
{
    struct err err = { 0 };
    struct redact *r = NULL;
    int e = redact_open(&r, NULL, &err);
    if (e)
        print_error("%s\n", err.text);
    *state = r;
    return e;
}

int
kit_close(void **state)
{
    redact_close(*state);
    return 0;
}

static void
note(void *ctx, const struct redact_find *find)
{
    struct kit_finds *f = ctx;
    if (f && f->n < KIT_FINDS_MAX)
        f->v[f->n++] = *find;
}

void
kit_run(struct redact *r, struct redact_options opt, struct view in, size_t piece,
        struct buf *out, struct kit_finds *finds)
{
    struct redact_stream *s = NULL;
    opt.on_find = note;
    opt.ctx = finds;
    assert_int_equal(redact_stream_new(&s, r, &opt), 0);
    for (size_t at = 0; at < in.n; at += piece) {
        size_t n = in.n - at < piece ? in.n - at : piece;
        assert_int_equal(redact_stream_feed(s, in.p + at, n, out), 0);
        assert_true(redact_stream_held(s) <= REDACT_HOLD);
    }
    assert_int_equal(redact_stream_flush(s, out), 0);
    assert_int_equal(redact_stream_held(s), 0);
    redact_stream_free(s);
}

/* -- comparing -- */

/* Some bytes from `at` on, made visible. */
static void
show(const char *head, struct view v, size_t at)
{
    enum { BEFORE = 60, SHOWN = 160 };
    size_t from = at > BEFORE ? at - BEFORE : 0;
    AUTO(buf) out = { 0 };
    for (size_t i = from; i < v.n && i < from + SHOWN; i++)
        buf_printf(&out, v.p[i] >= 0x20 && v.p[i] < 0x7f ? "%c" : "\\x%02x", v.p[i]);
    print_error("%s %zu bytes, from %zu: %s\n", head, v.n, from, buf_str(&out));
}

void
kit_same(struct view got, struct view want, const char *what)
{
    size_t at = 0;
    while (at < got.n && at < want.n && got.p[at] == want.p[at])
        at++;
    if (at == got.n && at == want.n)
        return;
    print_error("%s\n", what);
    show("got ", got, at);
    show("want", want, at);
    fail();
}

static void
same_finds(const struct kit_finds *got, const struct kit_finds *want, const char *what)
{
    bool is_same = got->n == want->n;
    for (size_t i = 0; is_same && i < got->n; i++)
        is_same = !strcmp(got->v[i].rule, want->v[i].rule) &&
                  got->v[i].start == want->v[i].start && got->v[i].end == want->v[i].end;
    if (is_same)
        return;
    print_error("%s\n", what);
    for (size_t i = 0; i < got->n; i++)
        print_error("got  %s %ju-%ju\n", got->v[i].rule, (uintmax_t)got->v[i].start,
                    (uintmax_t)got->v[i].end);
    for (size_t i = 0; i < want->n; i++)
        print_error("want %s %ju-%ju\n", want->v[i].rule, (uintmax_t)want->v[i].start,
                    (uintmax_t)want->v[i].end);
    fail();
}

static void
check_cut(struct redact *r, const struct kit_sample *s, struct redact_options opt,
          size_t piece, const char *what)
{
    AUTO(buf) out = { 0 };
    struct kit_finds finds = { .n = 0 };
    const struct buf *want = opt.keeps_length ? &s->stars : &s->text;
    kit_run(r, opt, (struct view){ s->in.p, s->in.n }, piece, &out, &finds);
    kit_same((struct view){ out.p, out.n }, (struct view){ want->p, want->n }, what);
    same_finds(&finds, &s->finds, what);
}

void
kit_check(struct redact *r, const char *sample, struct redact_options opt)
{
    static const size_t pieces[] = { SIZE_MAX / 2, 1, 2, 3, 7, 100, 4096 };
    struct kit_sample s;
    kit_sample_init(&s, sample);
    for (size_t i = 0; i < sizeof(pieces) / sizeof(pieces[0]); i++)
        for (int k = 0; k < 2; k++) {
            opt.keeps_length = k;
            check_cut(r, &s, opt, pieces[i], sample);
        }
    kit_sample_release(&s);
}

void
kit_check_all(struct redact *r, const char *const *samples, struct redact_options opt)
{
    for (; *samples; samples++)
        kit_check(r, *samples, opt);
}

struct term *
kit_shown(const struct buf *bytes, unsigned cols)
{
    struct term_options opt = term_options_default();
    opt.cols = cols;
    opt.rows = 12;
    struct term *t = term_new(&opt);
    assert_non_null(t);
    term_feed(t, bytes->p, bytes->n, 0);
    return t;
}
