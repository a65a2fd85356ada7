/* SPDX-License-Identifier: MIT */
/*
 * However the input is cut, the same comes out and the same is found; the output is the
 * input with its finds masked, and never too much is held.
 *
 * Input: a byte of options, one of columns, one that says how to cut, then what is fed.
 * There 0xff and a byte stand for many random letters, 0xfe and a byte for the byte
 * before over and over, 0xfd and a byte for a new width: small inputs reach the limits.
 */
#include "fuzz/fuzz.h"
#include "redact/project_priv.h"
#include "support/rng.h"

enum {
    IS_TERMINAL = 1,
    KEEPS_LENGTH = 2,
    IS_WHOLE = 4,
    INPUT_MAX = 12000,
    STEP_1_MAX = 2500, /* longer ones are not fed byte by byte: it takes too long */
    RESIZES_MAX = 16,
    REPEAT = 32,
};

struct input {
    struct redact_options opt;
    uint8_t cut;
    struct buf bytes, kinds;
    struct {
        size_t at;
        uint32_t cols;
    } resizes[RESIZES_MAX];
    size_t n_resizes;
};

struct find {
    const char *rule;
    size_t start, end;
};

struct result {
    struct buf out, finds;
};

#define FINDS(r) ((const struct find *)(const void *)(r)->finds.p)
#define COUNT(r) ((r)->finds.n / sizeof(struct find))

/* -- the input -- */

static void
put_random(struct buf *out, unsigned seed, size_t n)
{
    static const char letters[] =
        "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789";
    uint32_t rng = rng_seed(seed);
    for (size_t i = 0; i < n; i++)
        buf_append(out, &letters[rng_below(&rng, sizeof(letters) - 1)], 1);
}

static void
put_special(struct input *in, uint8_t what, uint8_t arg)
{
    struct buf *b = &in->bytes;
    if (what == 0xff) {
        put_random(b, arg, (size_t)arg * REPEAT);
    } else if (what == 0xfe) {
        for (size_t i = 0; b->n && i < (size_t)arg * REPEAT; i++)
            buf_append(b, (uint8_t[]){ b->p[b->n - 1] }, 1);
    } else if (in->n_resizes < RESIZES_MAX) {
        in->resizes[in->n_resizes].at = b->n;
        in->resizes[in->n_resizes++].cols = arg;
    }
}

static void
read_input(struct input *in, struct view data)
{
    uint8_t options = fuzz_byte(&data);
    in->opt = (struct redact_options){
        .is_terminal = options & IS_TERMINAL,
        .keeps_length = options & KEEPS_LENGTH,
        .is_whole = options & IS_WHOLE,
        .cols = fuzz_byte(&data),
    };
    in->cut = fuzz_byte(&data);
    while (data.n && in->bytes.n < INPUT_MAX) {
        uint8_t c = fuzz_byte(&data);
        if (c >= 0xfd)
            put_special(in, c, fuzz_byte(&data));
        else
            buf_append(&in->bytes, &c, 1);
    }
    CHECK(!in->bytes.failed);
}

/* What each byte is: text, payload of a string, or part of a sequence. */
static void
read_kinds(struct input *in)
{
    struct project p = { .is_terminal = in->opt.is_terminal };
    struct lane lanes[PROJECT_LANES] = { 0 };
    CHECK(!in->bytes.n || buf_grow(&in->kinds, in->bytes.n));
    CHECK(project_feed(&p, lanes, in->bytes.p, in->bytes.n, 0, in->kinds.p, 0, true) ==
          in->bytes.n);
    for (size_t i = 0; i < PROJECT_LANES; i++)
        lane_release(&lanes[i]);
}

/* -- running -- */

static void
keep_find(void *ctx, const struct redact_find *find)
{
    struct result *r = *(struct result **)ctx;
    struct find f = { find->rule, (size_t)find->start, (size_t)find->end };
    CHECK(!buf_append(&r->finds, &f, sizeof(f)));
}

/* How long the piece at `at` is; step 0: as the input says. */
static size_t
piece(const struct input *in, size_t at, size_t step)
{
    size_t n = in->bytes.n - at, most = step;
    if (!step)
        most = (size_t)(in->bytes.p[at] ^ in->cut) % 61 + (in->cut & 1 ? 1 : 64);
    n = n < most ? n : most;
    for (size_t i = 0; i < in->n_resizes; i++)
        if (in->resizes[i].at > at && in->resizes[i].at - at < n)
            n = in->resizes[i].at - at;
    return n;
}

static void
resize(const struct input *in, size_t at, struct redact_stream *s)
{
    for (size_t i = 0; i < in->n_resizes; i++)
        if (in->resizes[i].at == at)
            redact_stream_resize(s, in->resizes[i].cols);
}

static void
run(const struct input *in, struct redact_stream *s, size_t step, struct result *r)
{
    redact_stream_resize(s, in->opt.cols);
    for (size_t at = 0, n; at < in->bytes.n; at += n) {
        n = piece(in, at, step);
        resize(in, at, s);
        CHECK(!redact_stream_feed(s, in->bytes.p + at, n, &r->out));
        CHECK(redact_stream_held(s) <= REDACT_HOLD);
    }
    CHECK(!redact_stream_flush(s, &r->out));
    CHECK(!redact_stream_held(s));
}

/* -- judging -- */

static void
tell(const char *name, const struct result *r)
{
    fprintf(stderr, "%s, %zu bytes:\n", name, r->out.n);
    for (size_t i = 0; i < COUNT(r); i++)
        fprintf(stderr, "  %s %zu-%zu\n", FINDS(r)[i].rule, FINDS(r)[i].start,
                FINDS(r)[i].end);
}

static void
check_same(const struct result *a, const struct result *b, size_t step)
{
    bool is_same = a->out.n == b->out.n && COUNT(a) == COUNT(b) &&
                   (!a->out.n || !memcmp(a->out.p, b->out.p, a->out.n));
    for (size_t i = 0; is_same && i < COUNT(a); i++)
        is_same = !strcmp(FINDS(a)[i].rule, FINDS(b)[i].rule) &&
                  FINDS(a)[i].start == FINDS(b)[i].start &&
                  FINDS(a)[i].end == FINDS(b)[i].end;
    if (is_same)
        return;
    size_t at = 0;
    while (at < a->out.n && at < b->out.n && a->out.p[at] == b->out.p[at])
        at++;
    tell("whole", a);
    tell("cut", b);
    fprintf(stderr, "pieces of %zu (0: chosen); the output differs from %zu on\n", step,
            at);
    abort();
}

/* Whether a find hides this byte: one of its own lane. */
static bool
is_hidden(const struct input *in, const struct result *r, size_t at)
{
    for (size_t i = 0; i < COUNT(r); i++)
        if (FINDS(r)[i].start <= at && at < FINDS(r)[i].end &&
            in->kinds.p[FINDS(r)[i].start] == in->kinds.p[at])
            return true;
    return false;
}

/* A star of one column or, in several bytes, of two; NULs fill up. */
static bool
is_star(uint8_t c, uint8_t got)
{
    return got == '*' ||
           (c >= 0x80 && (!got || got == 0xef || got == 0xbc || got == 0x8a));
}

/* Between the lines of a key may lie some that are none, or more than can be held. */
static bool
may_have_gaps(const struct input *in)
{
    return memmem(in->bytes.p, in->bytes.n, "-----", 5) ||
           memmem(in->bytes.p, in->bytes.n, "-Lin", 4);
}

static void
check_stars(const struct input *in, const struct result *r)
{
    CHECK(r->out.n == in->bytes.n);
    for (size_t i = 0; i < in->bytes.n; i++) {
        uint8_t c = in->bytes.p[i], got = r->out.p[i];
        if (!is_hidden(in, r, i) || c < ' ' || c == 0x7f)
            CHECK(got == c);
        else
            CHECK(is_star(c, got) || (got == c && may_have_gaps(in)));
    }
}

static void
check_masks(const struct input *in, const struct result *r)
{
    AUTO(buf) want = { 0 };
    for (size_t i = 0; i < in->bytes.n; i++) {
        for (size_t k = 0; k < COUNT(r); k++)
            if (FINDS(r)[k].start == i)
                buf_printf(&want, "[REDACTED:%s]", FINDS(r)[k].rule);
        if (!is_hidden(in, r, i))
            buf_append(&want, in->bytes.p + i, 1);
    }
    CHECK(want.n == r->out.n && (!want.n || !memcmp(want.p, r->out.p, want.n)));
}

static void
check_finds(const struct input *in, const struct result *r)
{
    size_t done[PROJECT_LANES] = { 0 };
    for (size_t i = 0; i < COUNT(r); i++) {
        const struct find *f = &FINDS(r)[i];
        CHECK(f->start < f->end && f->end <= in->bytes.n);
        uint8_t lane = in->kinds.p[f->start];
        CHECK(lane < PROJECT_LANES);
        CHECK(done[lane] <= f->start);
        done[lane] = f->end;
    }
}

/*
 * Rests between the pieces: what they hand out may be clear, everything else is as
 * without them.
 */
static void
check_rests(const struct input *in, struct redact_stream *s, const struct result *whole)
{
    AUTO(buf) out = { 0 };
    size_t rested = 0;
    redact_stream_resize(s, in->opt.cols);
    for (size_t at = 0, n; at < in->bytes.n; at += n) {
        n = piece(in, at, 0);
        resize(in, at, s);
        CHECK(!redact_stream_feed(s, in->bytes.p + at, n, &out));
        for (size_t i = rested; i < out.n; i++)
            CHECK(out.p[i] == whole->out.p[i]);
        size_t before = out.n;
        CHECK(!redact_stream_rest(s, &out));
        for (size_t i = before; i < out.n; i++)
            CHECK(out.p[i] == whole->out.p[i] || out.p[i] == in->bytes.p[i]);
        rested = out.n;
    }
    CHECK(!redact_stream_flush(s, &out));
    CHECK(out.n == whole->out.n);
    for (size_t i = rested; i < out.n; i++)
        CHECK(out.p[i] == whole->out.p[i]);
}

static struct redact *
rules(void)
{
    static struct redact *r; /* opened once: it takes a while */
    struct err err;
    if (!r)
        CHECK(!redact_open(&r, NULL, &err));
    return r;
}

static void
check_input(struct input *in)
{
    static const size_t steps[] = { 0, 7, 1 };
    struct result whole = { 0 }, cut = { 0 }, *into = &whole;
    struct redact_stream *s;
    in->opt.on_find = keep_find;
    in->opt.ctx = &into;
    read_kinds(in);
    CHECK(!redact_stream_new(&s, rules(), &in->opt));
    run(in, s, SIZE_MAX, &whole);
    check_finds(in, &whole);
    if (in->opt.keeps_length)
        check_stars(in, &whole);
    else if (!may_have_gaps(in))
        check_masks(in, &whole);
    into = &cut;
    for (size_t i = 0; i < sizeof(steps) / sizeof(steps[0]); i++) {
        if (steps[i] == 1 && in->bytes.n > STEP_1_MAX)
            continue;
        buf_clear(&cut.out);
        buf_clear(&cut.finds);
        run(in, s, steps[i], &cut);
        check_same(&whole, &cut, steps[i]);
    }
    if (in->opt.keeps_length)
        check_rests(in, s, &whole);
    redact_stream_free(s);
    struct buf *const all[] = { &whole.out, &whole.finds, &cut.out, &cut.finds };
    for (size_t i = 0; i < sizeof(all) / sizeof(all[0]); i++)
        buf_release(all[i]);
}

int
LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct input in = { 0 };
    read_input(&in, (struct view){ data, size });
    check_input(&in);
    buf_release(&in.bytes);
    buf_release(&in.kinds);
    return 0;
}
