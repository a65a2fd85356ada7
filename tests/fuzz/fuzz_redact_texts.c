/* SPDX-License-Identifier: MIT */
/*
 * Literal texts: however the input is cut, the same comes out; nothing of them is left in
 * the bytes, but for sequences; and where nothing lies between their bytes, what is
 * masked is what a search for each at each place finds.
 *
 * Input: a byte of options, one of columns, one that says how to cut, lines of texts, an
 * empty line, then what is fed. There 0xff and a byte stand for the bytes before over and
 * over.
 */
#include "fuzz/fuzz.h"
#include "redact/bytes_priv.h"
#include "redact/only.h"
#include "redact/project_priv.h"

enum { IS_TERMINAL = 1, INPUT_MAX = 6000, STEP_1_MAX = 1500, REPEAT = 8 };

struct input {
    struct redact_options opt;
    uint8_t cut;
    bool is_plain; /* it has no escapes, and neither it nor the texts a tab */
    bool has_star; /* one of the texts may look like a mask */
    struct view texts;
    struct buf bytes, kinds;
};

static void
read_bytes(struct input *in, struct view data)
{
    while (data.n && in->bytes.n < INPUT_MAX) {
        uint8_t c = fuzz_byte(&data);
        if (c != 0xff) {
            buf_append(&in->bytes, &c, 1);
            continue;
        }
        size_t n = fuzz_byte(&data), from = in->bytes.n > n ? in->bytes.n - n : 0;
        size_t end = in->bytes.n;
        for (int i = 0; i < REPEAT; i++)
            for (size_t k = from; k < end; k++)
                buf_append(&in->bytes, (uint8_t[]){ in->bytes.p[k] }, 1);
    }
    CHECK(!in->bytes.failed);
}

static void
read_input(struct input *in, struct view data)
{
    uint8_t options = fuzz_byte(&data);
    in->opt = (struct redact_options){ .is_terminal = options & IS_TERMINAL,
                                       .cols = fuzz_byte(&data),
                                       .is_whole = true,
                                       .keeps_length = true };
    in->cut = fuzz_byte(&data);
    const uint8_t *end = memmem(data.p, data.n, "\n\n", 2);
    in->texts = (struct view){ data.p, end ? (size_t)(end - data.p) : data.n };
    size_t skip = in->texts.n + (end ? 2 : 0);
    read_bytes(in, (struct view){ data.p + skip, data.n - skip });
    in->is_plain = !in->opt.is_terminal;
    for (size_t i = 0; i < in->bytes.n; i++)
        in->is_plain &= !byte_in("\x1b\\\t", in->bytes.p[i]);
    for (size_t i = 0; i < in->texts.n; i++) {
        in->is_plain &= in->texts.p[i] != '\t';
        in->has_star |= byte_in("*\xef\xbc\x8a", in->texts.p[i]);
    }
}

static void
read_kinds(struct input *in)
{
    struct project p = { .is_terminal = in->opt.is_terminal, .is_literal = true };
    struct lane lanes[PROJECT_LANES] = { 0 };
    CHECK(!in->bytes.n || buf_grow(&in->kinds, in->bytes.n));
    CHECK(project_feed(&p, lanes, in->bytes.p, in->bytes.n, 0, in->kinds.p, 0, true) ==
          in->bytes.n);
    for (size_t i = 0; i < PROJECT_LANES; i++)
        lane_release(&lanes[i]);
}

static void
run(const struct input *in, struct redact *r, size_t step, struct buf *out)
{
    struct redact_stream *s;
    CHECK(!redact_stream_new(&s, r, &in->opt));
    for (size_t at = 0, n; at < in->bytes.n; at += n) {
        n = step ? step : (size_t)(in->bytes.p[at] ^ in->cut) % 61 + 1;
        n = n < in->bytes.n - at ? n : in->bytes.n - at;
        CHECK(!redact_stream_feed(s, in->bytes.p + at, n, out));
        CHECK(redact_stream_held(s) <= REDACT_TEXTS_HOLD);
    }
    CHECK(!redact_stream_flush(s, out));
    redact_stream_free(s);
}

/* The next of the texts, as the scanner reads them; n = 0: none. */
static struct view
next_text(struct view *rest)
{
    while (rest->n) {
        const uint8_t *end = memchr(rest->p, '\n', rest->n);
        struct view v = { rest->p, end ? (size_t)(end - rest->p) : rest->n };
        rest->n -= v.n + (end != NULL);
        rest->p += v.n + (end != NULL);
        while (v.n && byte_in(" \t\r", v.p[v.n - 1]))
            v.n--;
        while (v.n && byte_in(" \t\r", v.p[0])) {
            v.p++;
            v.n--;
        }
        if (v.n)
            return v;
    }
    return (struct view){ 0 };
}

/* No text is left but in the middle of a sequence. */
static void
check_gone(const struct input *in, const struct buf *out)
{
    struct view rest = in->texts;
    for (struct view t = next_text(&rest); t.n; t = next_text(&rest)) {
        const uint8_t *at = out->p;
        size_t n = out->n;
        while (n && (at = memmem(at, n, t.p, t.n))) {
            size_t from = (size_t)(at - out->p);
            for (size_t i = from; i < from + t.n; i++)
                CHECK(in->kinds.p[i] == PROJECT_OTHER);
            at++;
            n = out->n - from - 1;
        }
    }
}

static void
check_masks(const struct input *in, const struct buf *out)
{
    AUTO(buf) want = { 0 };
    CHECK(!in->bytes.n || buf_grow(&want, in->bytes.n));
    if (want.n)
        memset(want.p, 0, want.n);
    struct view rest = in->texts;
    for (struct view t = next_text(&rest); t.n; t = next_text(&rest))
        for (size_t i = 0; i + t.n <= in->bytes.n; i++)
            if (!memcmp(in->bytes.p + i, t.p, t.n))
                memset(want.p + i, 1, t.n);
    for (size_t i = 0; i < out->n; i++)
        CHECK((out->p[i] != in->bytes.p[i]) == want.p[i]);
}

static void
check_input(struct input *in, struct redact *r)
{
    AUTO(buf) whole = { 0 };
    static const size_t steps[] = { 0, 1, 7 };
    read_kinds(in);
    run(in, r, SIZE_MAX, &whole);
    CHECK(whole.n == in->bytes.n);
    for (size_t i = 0; i < sizeof(steps) / sizeof(steps[0]); i++) {
        AUTO(buf) cut = { 0 };
        if (steps[i] == 1 && in->bytes.n > STEP_1_MAX)
            continue; /* it takes too long */
        run(in, r, steps[i], &cut);
        CHECK(cut.n == whole.n);
        CHECK(!cut.n || !memcmp(cut.p, whole.p, cut.n));
    }
    if (!in->has_star)
        check_gone(in, &whole);
    if (!in->has_star && in->is_plain)
        check_masks(in, &whole);
}

int
LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct input in = { 0 };
    struct redact *r;
    struct err err;
    read_input(&in, (struct view){ data, size });
    int e = redact_only_texts(&r, in.texts, &err);
    CHECK(!e || e == ERR_USAGE);
    if (!e) {
        check_input(&in, r);
        redact_close(r);
    }
    buf_release(&in.bytes);
    buf_release(&in.kinds);
    return 0;
}
