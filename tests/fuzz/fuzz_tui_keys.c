/* SPDX-License-Identifier: MIT */
/* Keys are the same however their bytes are cut; what they say is in range. */
#include "fuzz/fuzz.h"
#include "tui/keys_priv.h"

static void
take_all(struct buf *out, struct view in, size_t step)
{
    struct tui_keys keys = { 0 };
    struct tui_key key;
    while (in.n) {
        struct view piece = { in.p, in.n < step ? in.n : step };
        in = (struct view){ in.p + piece.n, in.n - piece.n };
        while (tui_keys_next(&keys, &piece, &key)) {
            CHECK(key.kind <= TUI_KEY_MOUSE);
            CHECK(key.kind == TUI_KEY_MOUSE
                      ? key.mouse <= TUI_MOUSE_OTHER && !key.is_pasted
                      : !key.mouse && !key.row && !key.col);
            CHECK(!key.rune || key.kind == TUI_KEY_CHAR);
            CHECK(key.rune <= 0x10ffff && (key.rune < 0xd800 || key.rune > 0xdfff));
            CHECK(key.kind != TUI_KEY_CHAR || (key.rune >= 0x20 && key.rune < 0x7f) ||
                  key.rune >= 0xa0);
            buf_printf(out, "%d %x %d%d%d%d %d %u %u\n", (int)key.kind,
                       (unsigned)key.rune, key.has_shift, key.has_alt, key.has_ctrl,
                       key.is_pasted, (int)key.mouse, key.row, key.col);
        }
        CHECK(!piece.n);
    }
    if (tui_keys_timeout(&keys, &key))
        buf_puts(out, "escape\n");
    CHECK(!tui_keys_timeout(&keys, &key));
    CHECK(tui_keys_wait_ms(&keys) < 0);
}

int
LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct view in = { data, size };
    AUTO(buf) whole = { 0 };
    take_all(&whole, in, size + 1);
    for (size_t step = 1; step <= 5; step += 2) {
        AUTO(buf) cut = { 0 };
        take_all(&cut, in, step);
        CHECK(cut.n == whole.n && (!cut.n || !memcmp(cut.p, whole.p, cut.n)));
    }
    return 0;
}
