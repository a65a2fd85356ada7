/* SPDX-License-Identifier: MIT */
/*
 * keys_priv.h -- what a terminal sends, as keys.
 *
 * The forms of xterm, rxvt, the Linux console and kitty; however the bytes are cut. What
 * is no key of those below (F keys, focus, a report, garbage) is passed over. Pure: the
 * caller has the clock, which alone tells Escape from the beginning of a sequence.
 */
#ifndef TUI_KEYS_PRIV_H
#define TUI_KEYS_PRIV_H

#include <stdbool.h>

#include "base/buf.h"

enum tui_key_kind {
    TUI_KEY_CHAR, /* rune; with Ctrl it is a letter in lower case, or one of @[\]^_ */
    TUI_KEY_ENTER,
    TUI_KEY_ESCAPE,
    TUI_KEY_BACKSPACE,
    TUI_KEY_TAB,
    TUI_KEY_UP,
    TUI_KEY_DOWN,
    TUI_KEY_LEFT,
    TUI_KEY_RIGHT,
    TUI_KEY_HOME,
    TUI_KEY_END,
    TUI_KEY_PAGE_UP,
    TUI_KEY_PAGE_DOWN,
    TUI_KEY_DELETE,
    TUI_KEY_MOUSE, /* as SGR 1006 tells it; never pasted */
};

enum tui_mouse {
    TUI_MOUSE_PRESS, /* of the left button */
    TUI_MOUSE_WHEEL_UP,
    TUI_MOUSE_WHEEL_DOWN,
    TUI_MOUSE_OTHER, /* releases, other buttons, movement */
};

struct tui_key {
    enum tui_key_kind kind;
    uint32_t rune;
    bool has_shift; /* where the terminal says so; of characters the rune tells */
    bool has_alt, has_ctrl;
    bool is_pasted; /* from the clipboard: never a command */
    enum tui_mouse mouse;
    unsigned row, col; /* of the mouse, from 0 */
};

/* Is it this character, typed; with Ctrl? */
static inline bool
tui_key_is_char(struct tui_key key, uint32_t rune)
{
    return key.kind == TUI_KEY_CHAR && key.rune == rune && !key.has_ctrl &&
           !key.has_alt && !key.is_pasted;
}

static inline bool
tui_key_is_ctrl(struct tui_key key, uint32_t rune)
{
    return key.kind == TUI_KEY_CHAR && key.rune == rune && key.has_ctrl && !key.has_alt &&
           !key.is_pasted;
}

enum { TUI_KEYS_HELD = 32 };

/* Zeroed it is ready for use. */
struct tui_keys {
    unsigned state; /* private, as all of it */
    bool is_pasting;
    bool was_return; /* a pasted line's end may go on with a newline */
    bool is_overlong;
    bool is_mouse;
    uint8_t held[TUI_KEYS_HELD]; /* of a sequence or a character that has begun */
    unsigned n;
};

/* Takes bytes from the front of *in until a key is whole. False: *in is empty. */
bool tui_keys_next(struct tui_keys *k, struct view *in, struct tui_key *ret);
/* How long to wait for more of what has begun: ms; -1: nothing has. */
int tui_keys_wait_ms(const struct tui_keys *k);
/* No more came in that time. True: it was a key. */
bool tui_keys_timeout(struct tui_keys *k, struct tui_key *ret);

#endif
