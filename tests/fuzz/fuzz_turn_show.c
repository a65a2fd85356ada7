/* SPDX-License-Identifier: MIT */
/* A text cleaned piece by piece is the text cleaned whole, and nothing of an event's
 * texts reaches a terminal but characters: with colour there are our sequences, and
 * between them the same as without. */
#include "base/utf8.h"
#include "fuzz/fuzz.h"
#include "turn/clean.h"
#include "turn/show.h"

static void
check_clean(const struct buf *out)
{
    CHECK(!out->failed && utf8_is_text(out->p, out->n));
    for (size_t i = 0, len; i < out->n; i += len) {
        uint32_t cp = 0;
        len = (size_t)utf8_next(out->p + i, out->n - i, &cp);
        CHECK(cp == '\n' || cp == '\t' || (cp >= 0x20 && cp < 0x7f) || cp >= 0xa0);
        CHECK(!(cp >= 0x202a && cp <= 0x202e) && !(cp >= 0x2066 && cp <= 0x2069));
    }
}

static void
check_pieces(struct view text)
{
    AUTO(buf) whole = { 0 };
    AUTO(buf) pieces = { 0 };
    AUTO(buf) again = { 0 };
    struct turn_clean c = { 0 };
    turn_clean(text, &whole);
    check_clean(&whole);
    for (size_t i = 0, n; i < text.n; i += n) {
        n = 1 + text.p[i] % 5;
        n = n < text.n - i ? n : text.n - i;
        turn_clean_feed(&c, (struct view){ text.p + i, n }, &pieces);
        CHECK(pieces.n <= whole.n && !memcmp(pieces.p ? pieces.p : text.p,
                                             whole.p ? whole.p : text.p, pieces.n));
    }
    turn_clean_end(&c, &pieces);
    CHECK(pieces.n == whole.n && (!whole.n || !memcmp(pieces.p, whole.p, whole.n)));
    turn_clean((struct view){ whole.p, whole.n }, &again);
    CHECK(again.n == whole.n && (!whole.n || !memcmp(again.p, whole.p, whole.n)));
}

/* Takes out ESC [ digits and semicolons m, and no other. */
static void
strip(const struct buf *in, struct buf *out)
{
    for (size_t i = 0; i < in->n; i++) {
        if (in->p[i] != 0x1b) {
            buf_append(out, in->p + i, 1);
            continue;
        }
        CHECK(++i < in->n && in->p[i] == '[');
        do
            CHECK(++i < in->n);
        while ((in->p[i] >= '0' && in->p[i] <= '9') || in->p[i] == ';');
        CHECK(in->p[i] == 'm');
    }
}

/* Its fields are parts of the input. */
static struct turn_event
event_of(struct view in)
{
    struct turn_event e = turn_event((enum turn_type)(fuzz_byte(&in) % TURN_TYPES));
    uint8_t bits = fuzz_byte(&in);
    e.is_user = bits & 1;
    e.is_error = bits & 2;
    e.is_partial = bits & 4;
    e.exit_code = bits & 8 ? bits : -1;
    e.turns = bits & 16 ? bits : TURN_UNKNOWN;
    size_t n = fuzz_byte(&in);
    n = n < in.n ? n : in.n;
    struct view name = { in.p, n }, rest = { in.p + n, in.n - n };
    e.name = e.id = e.model = name;
    e.parent = bits & 32 ? name : (struct view){ 0 };
    e.text = e.json = rest;
    return e;
}

int
LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct view in = { data ? data : (const uint8_t *)"", size };
    struct turn_event e = event_of(in);
    check_pieces(in);
    for (int i = 0; i < 4; i++) {
        AUTO(buf) plain = { 0 };
        AUTO(buf) coloured = { 0 };
        AUTO(buf) stripped = { 0 };
        struct turn_show opt = { .is_verbose = i & 1, .is_whole = i & 2 };
        CHECK(turn_show(&e, &opt, &plain) == 0);
        check_clean(&plain);
        CHECK(e.is_partial || !plain.n || plain.p[plain.n - 1] == '\n');
        opt.is_coloured = true;
        CHECK(turn_show(&e, &opt, &coloured) == 0);
        strip(&coloured, &stripped);
        CHECK(stripped.n == plain.n);
        CHECK(!plain.n || !memcmp(stripped.p, plain.p, plain.n));
    }
    return 0;
}
