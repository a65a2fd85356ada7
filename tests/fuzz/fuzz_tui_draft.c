/* SPDX-License-Identifier: MIT */
/*
 * A draft stays text within its ceiling, with the cursor in it, whatever is typed; its
 * lines on the screen are its text; all can be undone. Input: columns, a text before,
 * a zero byte, then what is typed.
 */
#include "base/utf8.h"
#include "fuzz/fuzz.h"
#include "tui/draft_priv.h"

static bool
is_boundary(const struct tui_draft *d)
{
    return d->cursor == d->text.n ||
           (d->cursor < d->text.n && (d->text.p[d->cursor] & 0xc0) != 0x80);
}

static void
check_text(const struct tui_draft *d)
{
    CHECK(d->text.n <= TUI_DRAFT_BYTES && !d->text.failed);
    CHECK(is_boundary(d));
    CHECK(!d->text.n || utf8_is_text(d->text.p, d->text.n));
    for (size_t i = 0; i < d->text.n; i++) {
        uint8_t c = d->text.p[i];
        CHECK((c >= 0x20 && c != 0x7f) || c == '\n' || c == '\t');
    }
    CHECK(d->n_undo <= TUI_DRAFT_UNDO);
}

static void
check_lines(struct tui_draft *d, struct term_widths *widths)
{
    size_t lines = tui_draft_lines(d, widths), line;
    unsigned col;
    CHECK(lines >= 1 && lines <= d->text.n + 1);
    tui_draft_cursor(d, widths, &line, &col);
    CHECK(line < lines && (col < d->cols || !col));
    CHECK(tui_draft_place(d, widths, line, col) <= d->text.n);
    for (size_t i = 0; i < lines; i++) {
        AUTO(buf) out = { 0 };
        tui_draft_put(d, i, widths, &out);
        CHECK(!out.n || utf8_is_line(out.p, out.n));
    }
}

/* Undone step by step, it is as it was where no step was too old. */
static void
check_undo(struct tui_draft *d, struct view before, bool has_all)
{
    while (tui_draft_undo(d))
        check_text(d);
    CHECK(!d->n_undo && !d->undo.n);
    if (has_all)
        CHECK(d->text.n == before.n &&
              (!before.n || !memcmp(d->text.p, before.p, before.n)));
}

int
LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static struct term_widths widths; /* of Unicode, not of one input */
    AUTO(buf) before = { 0 };
    struct tui_draft d = { 0 };
    struct tui_keys keys = { 0 };
    struct tui_key key;
    bool has_all = true;
    if (size < 2)
        return 0;
    const uint8_t *zero = memchr(data + 1, 0, size - 1);
    size_t n = zero ? (size_t)(zero - data) - 1 : 0;
    struct view in = { data + 1 + n, size - 1 - n };
    d.cols = data[0] % 90;
    tui_draft_set(&d, (struct view){ data + 1, n });
    buf_append(&before, d.text.p, d.text.n);
    buf_clear(&d.undo);
    d.n_undo = 0;
    while (tui_keys_next(&keys, &in, &key)) {
        tui_draft_key(&d, key, &widths);
        check_text(&d);
        has_all &= d.n_undo < TUI_DRAFT_UNDO;
    }
    check_lines(&d, &widths);
    check_undo(&d, (struct view){ before.p, before.n }, has_all);
    tui_draft_release(&d);
    return 0;
}
