/* SPDX-License-Identifier: MIT */
/* The operations are the same however the input is cut, and each is within its limits. */
#include "fuzz/fuzz.h"
#include "term/parser.h"

static void
put_op(struct buf *out, const struct term_op *op, uint64_t end)
{
    for (size_t i = 0; op->kind == TERM_OP_ASCII && i < op->n; i++) {
        CHECK(op->text[i] >= 0x20 && op->text[i] < 0x7f);
        buf_printf(out, "%c at %llu\n", op->text[i],
                   (unsigned long long)(end - op->n + i + 1));
    }
    for (size_t i = 0; op->kind == TERM_OP_RUNES && i < op->n; i++) {
        CHECK(op->runes[i] >= 0x80 && op->runes[i] <= 0x10ffff);
        buf_printf(out, "U+%x\n", op->runes[i]);
    }
    if (op->kind == TERM_OP_ASCII || op->kind == TERM_OP_RUNES)
        return;
    if (op->kind == TERM_OP_EXECUTE) {
        CHECK(op->final < 0x20 && (op->n == 1 || op->final == '\n'));
        for (size_t i = op->n; i--;)
            buf_printf(out, "control %d at %llu\n", op->final,
                       (unsigned long long)(end - i));
        return;
    }
    buf_printf(out, "op %d %d at %llu\n", (int)op->kind, op->final,
               (unsigned long long)end);
    CHECK(op->kind == TERM_OP_OSC || (op->final >= 0x30 && op->final < 0x7f));
    if (op->kind == TERM_OP_ESC || op->kind == TERM_OP_CSI)
        buf_printf(out, "  %d\n", op->intermediate);
    if (op->kind == TERM_OP_CSI || op->kind == TERM_OP_DCS) {
        CHECK(op->n_params <= TERM_PARAMS_MAX);
        CHECK(!op->marker || (op->marker >= '<' && op->marker <= '?'));
        buf_printf(out, "  %d %x:", op->marker, op->sub_params);
        for (unsigned i = 0; i < op->n_params; i++) {
            CHECK(op->params[i] <= TERM_PARAM_MAX);
            buf_printf(out, " %u", op->params[i]);
        }
        buf_puts(out, "\n");
    }
    if (op->kind == TERM_OP_OSC || op->kind == TERM_OP_DCS)
        buf_append(out, op->string.p, op->string.n);
}

static void
run(struct view in, size_t step, struct buf *out)
{
    struct term_parser p = { 0 };
    for (size_t at = 0; at < in.n; at += step) {
        struct view piece = { in.p + at, in.n - at < step ? in.n - at : step };
        struct term_op op;
        size_t pos = 0, count = 0;
        while (term_parser_next(&p, piece, &pos, &op)) {
            CHECK(++count <= 2 * piece.n); /* it comes to an end */
            put_op(out, &op, at + pos);
        }
        CHECK(pos == piece.n);
    }
    term_parser_release(&p);
}

int
LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    AUTO(buf) whole = { 0 };
    struct view in = { data, size };
    run(in, size ? size : 1, &whole);
    for (size_t step = 1; step <= 7; step += 2) {
        AUTO(buf) cut = { 0 };
        run(in, step, &cut);
        CHECK(cut.n == whole.n && (!cut.n || !memcmp(cut.p, whole.p, cut.n)));
    }
    return 0;
}
