/* SPDX-License-Identifier: MIT */
/*
 * A terminal that shows nothing, then one model, then another, by diff's bytes alone,
 * looks as they do. The bytes are of the allow-list.
 */
#include "fuzz/fuzz.h"
#include "fuzz/term_input.h"
#include "term/parser.h"

static bool
is_allowed(const struct term_op *csi)
{
    if (csi->marker == '?')
        return csi->final == 'h' || csi->final == 'l';
    if (csi->marker)
        return csi->marker == '=' && csi->final == 'u';
    if (csi->intermediate)
        return csi->intermediate == ' ' && csi->final == 'q';
    return strchr("HGCJKSm", csi->final) != NULL;
}

static void
check_allowed(const struct buf *bytes)
{
    struct term_parser p = { 0 };
    struct term_op op;
    size_t pos = 0;
    while (term_parser_next(&p, (struct view){ bytes->p, bytes->n }, &pos, &op)) {
        switch (op.kind) {
        case TERM_OP_ASCII:
        case TERM_OP_RUNES:
            break;
        case TERM_OP_EXECUTE:
            CHECK(op.final == '\r' || op.final == '\n');
            break;
        case TERM_OP_ESC:
            CHECK(op.final == '\\' && !op.intermediate);
            break;
        case TERM_OP_CSI:
            CHECK(is_allowed(&op));
            break;
        case TERM_OP_OSC:
            CHECK(op.string.n >= 3 && !memcmp(op.string.p, "8;;", 3));
            break;
        case TERM_OP_DCS:
            CHECK(op.kind != TERM_OP_DCS);
        }
    }
    CHECK(p.state == TERM_STATE_GROUND);
    term_parser_release(&p);
}

static void
show(struct term *screen, const struct term *old, const struct term *now)
{
    AUTO(buf) bytes = { 0 };
    CHECK(!term_diff(old, now, &bytes));
    check_allowed(&bytes);
    term_feed(screen, bytes.p, bytes.n, 0);
    AUTO(buf) a = { 0 };
    AUTO(buf) b = { 0 };
    term_input_look(&a, now);
    term_input_look(&b, screen);
    term_input_same(old ? "diff" : "first diff", &a, &b);
}

int
LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct view in = { data, size }, same = in, half;
    struct term *a = term_input_new(&in), *b = term_input_new(&same);
    half = (struct view){ in.p, in.n / 2 };
    term_input_feed(a, half, 0);
    term_input_feed(b, in, 0);
    term_resize(b, term_cols(a), term_rows(a));

    struct term_options opt = term_options_default();
    opt.cols = term_cols(a);
    opt.rows = term_rows(a);
    struct term *screen = term_new(&opt);
    CHECK(screen);
    show(screen, NULL, a);
    show(screen, a, b);
    show(screen, b, a);
    term_free(a);
    term_free(b);
    term_free(screen);
    return 0;
}
