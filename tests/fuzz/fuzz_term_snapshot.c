/* SPDX-License-Identifier: MIT */
/*
 * A restored model is the one that was taken: all that can be asked of it is the same,
 * now and after more input. Bytes that are no snapshot are refused, or give a model that
 * can be used.
 */
#include "fuzz/fuzz.h"
#include "fuzz/term_input.h"
#include "term/dump.h"

static struct term *
restore(struct view bytes)
{
    struct term_options opt = term_options_default();
    opt.scrollback_rows = opt.alternate_rows = 40;
    struct term *t = NULL;
    struct err err;
    return term_restore(bytes, &opt, &t, &err) < 0 ? NULL : t;
}

static void
check_same(const char *what, struct term *a, struct term *b)
{
    AUTO(buf) x = { 0 };
    AUTO(buf) y = { 0 };
    term_damage_clear(a);
    term_damage_clear(b);
    dump_all(&x, a);
    dump_all(&y, b);
    term_input_same(what, &x, &y);
}

/* Damages a snapshot as the input says, and looks whether the result is of use. */
static void
try_damaged(struct buf *bytes, struct view how)
{
    for (int i = 0; i < 4 && bytes->n; i++) {
        size_t at = (size_t)(fuzz_byte(&how) | fuzz_byte(&how) << 8) % bytes->n;
        bytes->p[at] ^= fuzz_byte(&how);
    }
    struct term *t = restore((struct view){ bytes->p, bytes->n });
    if (!t)
        return;
    if (term_cols(t) * term_rows(t) < 10000) {
        AUTO(buf) out = { 0 };
        AUTO(buf) diff = { 0 };
        CHECK(!term_diff(NULL, t, &diff));
        term_input_allowed(&diff);
        CHECK(!term_serialise(t, true, &out));
        term_input_feed(t, how, 0);
        dump_all(&out, t);
    }
    term_free(t);
}

int
LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct view in = { data, size };
    struct term *alien = restore(in);
    term_free(alien);

    struct term *t = term_input_new(&in);
    struct view first = { in.p, in.n / 2 }, rest = { in.p + in.n / 2, in.n - in.n / 2 };
    term_input_feed(t, first, 0);
    AUTO(buf) bytes = { 0 };
    CHECK(!term_snapshot(t, true, &bytes));
    struct term *copy = restore((struct view){ bytes.p, bytes.n });
    CHECK(copy);
    check_same("restored", t, copy);
    term_input_feed(t, rest, 0);
    term_input_feed(copy, rest, 0);
    check_same("restored and fed", t, copy);
    term_free(copy);
    term_free(t);
    try_damaged(&bytes, in);
    return 0;
}
