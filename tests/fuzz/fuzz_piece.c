/* SPDX-License-Identifier: MIT */
/* Any bytes are a piece or a damaged one; one that is, is the same after it was packed
 * and unpacked; so is one that is made of these bytes as rows. */
#include "fuzz/fuzz.h"
#include "library/grams_priv.h"
#include "library/piece_priv.h"

static void
check_same(const struct piece *a, const struct piece *b)
{
    CHECK(a->text.n == b->text.n && a->rows.n == b->rows.n);
    CHECK(!a->text.n || !memcmp(a->text.p, b->text.p, a->text.n));
    CHECK(!a->text.n || a->text.p[a->text.n - 1] == '\n');
    for (size_t at = 0; at < a->text.n; at++) {
        struct piece_row x = piece_row_at(a, at), y = piece_row_at(b, at);
        CHECK(x.start <= at && x.start == y.start && x.index == y.index &&
              x.write_byte == y.write_byte && x.ts_ns == y.ts_ns && x.label == y.label);
        struct label l = piece_label_of(a, &x), m = piece_label_of(b, &y);
        CHECK(l.kind == m.kind && l.type == m.type && l.role == m.role);
        CHECK(l.tool.n == m.tool.n &&
              (!l.tool.n || !memcmp(l.tool.p, m.tool.p, l.tool.n)));
    }
}

/* What is taken out of the index is what was put there. */
static void
check_words(const struct piece *a, const struct piece *b)
{
    AUTO(buf) before = { 0 }, after = { 0 };
    static struct grams *grams;
    CHECK(grams || !grams_new(&grams));
    CHECK(!piece_words(a, grams, &before) && !piece_words(b, grams, &after));
    CHECK(before.n == after.n && (!before.n || !memcmp(before.p, after.p, before.n)));
}

static void
check_round(struct piece *p)
{
    AUTO(piece) back = { 0 };
    AUTO(buf) packed = { 0 };
    int r = piece_pack(p, &packed);
    CHECK(r == 0 || r == ERR_LIMIT); /* other numbers may take fewer bytes than ours */
    if (r == 0) {
        CHECK(piece_unpack((struct view){ packed.p, packed.n }, &back) == 0);
        check_same(p, &back);
        check_words(p, &back);
    }
}

int
LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    AUTO(piece) p = { 0 };
    struct view in = { data ? data : (const uint8_t *)"", size };
    int r = piece_unpack(in, &p);
    CHECK(r == 0 || r == ERR_DAMAGED);
    CHECK(r == 0 || (!p.text.n && !p.rows.n));
    check_round(&p);
    piece_clear(&p);
    for (size_t at = 0; at < in.n && !piece_is_full(&p);) {
        size_t n = in.p[at] % 32, rest = in.n - at - 1;
        n = n < rest ? n : rest;
        struct piece_row row = { at, in.p[at] * UINT64_C(0x123456789abcdef), ~at, 0, 0 };
        const struct label label = {
            LABEL_TURN, in.p[at] % TURN_TYPES, in.p[at] % 4, { in.p + at + 1, n }
        };
        int number = in.p[at] & 64 ? piece_label(&p, &label) : in.p[at] >> 7;
        CHECK(number >= 0 || number == ERR_LIMIT);
        row.label = number < 0 ? LABEL_LINE : (uint32_t)number;
        CHECK(piece_add(&p, &row, (struct view){ in.p + at + 1, n }, in.p[at] & 32) == 0);
        at += n + 1;
    }
    check_round(&p);
    return 0;
}
