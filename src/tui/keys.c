/* SPDX-License-Identifier: MIT */
#include "tui/keys_priv.h"

#include "base/utf8.h"

enum {
    ESC = 0x1b,
    DEL = 0x7f,
    SEQUENCE_MS = 50,
    PASTE_MS = 1000, /* a paste whose end does not come */
    PARAMS = 3,
    SHIFT = 1, /* modifiers, which are sent with 1 added */
    ALT = 2,
    CTRL = 4,
    RELEASE = 3, /* kitty's events */
    MOUSE_SHIFT = 4,
    MOUSE_ALT = 8,
    MOUSE_CTRL = 16,
    MOUSE_WHEEL = 64,
    X10_BYTES = 3,
};

enum state {
    GROUND,
    ESCAPE,
    CSI,
    SS3,        /* whose old forms have numbers, too */
    X10,        /* CSI M: a mouse told in three bytes, of a terminal without SGR 1006 */
    CONSOLE,    /* CSI [ of the Linux console: one byte more */
    STRING,     /* OSC, DCS, APC …: an answer to a question that was not ours */
    STRING_ESC, /* … perhaps its end */
    IN_RUNE,
};

/* What became of a byte. */
enum step { MORE, KEY, NONE, AGAIN };

static void
reset(struct tui_keys *k, enum state state)
{
    k->state = state;
    k->n = 0;
    k->is_overlong = k->is_mouse = false;
}

static void
hold(struct tui_keys *k, uint8_t c)
{
    if (k->n < TUI_KEYS_HELD)
        k->held[k->n++] = c;
    else
        k->is_overlong = true;
}

/* -- characters -- */

static struct tui_key
control(uint8_t c)
{
    switch (c) {
    case '\r':
    case '\n':
        return (struct tui_key){ .kind = TUI_KEY_ENTER };
    case '\t':
        return (struct tui_key){ .kind = TUI_KEY_TAB };
    case '\b':
    case DEL:
        return (struct tui_key){ .kind = TUI_KEY_BACKSPACE };
    default:
        c = (uint8_t)(c + '@');
        return (struct tui_key){ .kind = TUI_KEY_CHAR,
                                 .rune = c >= 'A' && c <= 'Z' ? c + 32U : c,
                                 .has_ctrl = true };
    }
}

static enum step
take_plain(struct tui_keys *k, uint8_t c, struct tui_key *ret)
{
    bool was_return = k->was_return;
    k->was_return = c == '\r' && k->is_pasting;
    if (c == ESC) {
        reset(k, ESCAPE);
        return MORE;
    }
    if (c >= 0x80) {
        reset(k, IN_RUNE);
        hold(k, c);
        return c >= 0xc2 && c <= 0xf4 ? MORE : NONE;
    }
    if (c == '\n' && was_return) /* a clipboard's line may end in both */
        return NONE;
    *ret = c < 0x20 || c == DEL ? control(c)
                                : (struct tui_key){ .kind = TUI_KEY_CHAR, .rune = c };
    return KEY;
}

static enum step
take_rune(struct tui_keys *k, uint8_t c, struct tui_key *ret)
{
    uint8_t lead = k->held[0];
    unsigned size = lead < 0xe0 ? 2 : lead < 0xf0 ? 3 : 4;
    uint32_t rune;
    if ((c & 0xc0) != 0x80)
        return AGAIN;
    hold(k, c);
    if (k->n < size)
        return MORE;
    if (utf8_next(k->held, k->n, &rune) != (int)size || rune < 0xa0)
        return NONE;
    *ret = (struct tui_key){ .kind = TUI_KEY_CHAR, .rune = rune };
    return KEY;
}

/* -- sequences -- */

struct csi {
    unsigned param[PARAMS][2]; /* each with one below it, after a colon */
    unsigned count;
};

static struct csi
parse_params(const struct tui_keys *k)
{
    struct csi csi = { .count = k->n ? 1 : 0 };
    unsigned sub = 0;
    for (unsigned i = 0; i < k->n; i++) {
        uint8_t c = k->held[i];
        if (c == ';')
            csi.count++, sub = 0;
        else if (c == ':')
            sub++;
        else if (c >= '0' && c <= '9' && csi.count <= PARAMS && sub < 2) {
            unsigned *n = &csi.param[csi.count - 1][sub];
            *n = *n < 1000000 ? *n * 10 + (c - '0') : *n;
        }
    }
    return csi;
}

/* A key by its number in CSI number ~, or in kitty's CSI number u. */
static const struct {
    unsigned number;
    enum tui_key_kind kind;
} tilde_keys[] = {
    { 1, TUI_KEY_HOME }, { 7, TUI_KEY_HOME },    { 4, TUI_KEY_END },
    { 8, TUI_KEY_END },  { 5, TUI_KEY_PAGE_UP }, { 6, TUI_KEY_PAGE_DOWN },
    { 3, TUI_KEY_DELETE },
}, kitty_keys[] = {
    { 9, TUI_KEY_TAB },         { 13, TUI_KEY_ENTER },       { 27, TUI_KEY_ESCAPE },
    { 127, TUI_KEY_BACKSPACE }, { 57414, TUI_KEY_ENTER },    { 57417, TUI_KEY_LEFT },
    { 57418, TUI_KEY_RIGHT },   { 57419, TUI_KEY_UP },       { 57420, TUI_KEY_DOWN },
    { 57421, TUI_KEY_PAGE_UP }, { 57422, TUI_KEY_PAGE_DOWN }, { 57423, TUI_KEY_HOME },
    { 57424, TUI_KEY_END },     { 57426, TUI_KEY_DELETE },
};

/* By its letter in CSI letter, CSI 1;modifiers letter, SS3 letter. */
static const struct {
    uint8_t letter;
    enum tui_key_kind kind;
    bool has_shift; /* rxvt's */
} letter_keys[] = {
    { 'A', TUI_KEY_UP, false },    { 'B', TUI_KEY_DOWN, false },
    { 'C', TUI_KEY_RIGHT, false }, { 'D', TUI_KEY_LEFT, false },
    { 'a', TUI_KEY_UP, true },     { 'b', TUI_KEY_DOWN, true },
    { 'c', TUI_KEY_RIGHT, true },  { 'd', TUI_KEY_LEFT, true },
    { 'H', TUI_KEY_HOME, false },  { 'F', TUI_KEY_END, false },
    { 'M', TUI_KEY_ENTER, false }, { 'Z', TUI_KEY_TAB, true },
};

static enum step
with_modifiers(struct tui_key key, unsigned sent, struct tui_key *ret)
{
    unsigned modifiers = sent ? sent - 1 : 0;
    key.has_shift |= modifiers & SHIFT;
    key.has_alt = modifiers & ALT;
    key.has_ctrl = modifiers & CTRL;
    *ret = key;
    return KEY;
}

static enum step
find_letter(const struct csi *csi, uint8_t letter, struct tui_key *ret)
{
    /* Old xterms sent the modifiers alone. */
    unsigned modifiers = csi->count > 1 ? csi->param[1][0] : csi->param[0][0];
    for (size_t i = 0; i < sizeof(letter_keys) / sizeof(letter_keys[0]); i++)
        if (letter_keys[i].letter == letter)
            return with_modifiers(
                (struct tui_key){ .kind = letter_keys[i].kind,
                                  .has_shift = letter_keys[i].has_shift },
                modifiers, ret);
    return NONE;
}

/* A character by its number; shifted letters may come as the plain ones. */
static enum step
find_number(unsigned number, unsigned modifiers, struct tui_key *ret)
{
    for (size_t i = 0; i < sizeof(kitty_keys) / sizeof(kitty_keys[0]); i++)
        if (kitty_keys[i].number == number)
            return with_modifiers((struct tui_key){ .kind = kitty_keys[i].kind },
                                  modifiers, ret);
    if (number < 0x20 || (number >= DEL && number < 0xa0) ||
        (number >= 0xd800 && number < 0xf900) || number > 0x10ffff)
        return NONE;
    unsigned held = modifiers ? modifiers - 1 : 0;
    if (held & CTRL && number >= 'A' && number <= 'Z')
        number += 32;
    else if (held & SHIFT && !(held & CTRL) && number >= 'a' && number <= 'z')
        number -= 32;
    return with_modifiers((struct tui_key){ .kind = TUI_KEY_CHAR, .rune = number },
                          modifiers, ret);
}

static enum step
find_tilde(struct tui_keys *k, const struct csi *csi, struct tui_key *ret)
{
    unsigned number = csi->param[0][0];
    if (number == 200 || number == 201)
        k->is_pasting = number == 200;
    if (number == 27) /* xterm's modifyOtherKeys */
        return find_number(csi->param[2][0], csi->param[1][0], ret);
    for (size_t i = 0; i < sizeof(tilde_keys) / sizeof(tilde_keys[0]); i++)
        if (tilde_keys[i].number == number)
            return with_modifiers((struct tui_key){ .kind = tilde_keys[i].kind },
                                  csi->param[1][0], ret);
    return NONE;
}

/* CSI < button ; column ; row, with M for a press and m for a release. What a paste holds
 * of the kind was never done by a mouse. */
static enum step
find_mouse(const struct tui_keys *k, const struct csi *csi, uint8_t final,
           struct tui_key *ret)
{
    unsigned held = csi->param[0][0];
    unsigned button = held & ~(unsigned)(MOUSE_SHIFT | MOUSE_ALT | MOUSE_CTRL);
    unsigned col = csi->param[1][0], row = csi->param[2][0];
    if (csi->count != 3 || !col || !row || (final != 'M' && final != 'm') ||
        k->is_pasting)
        return NONE;
    *ret = (struct tui_key){ .kind = TUI_KEY_MOUSE,
                             .has_shift = held & MOUSE_SHIFT,
                             .has_alt = held & MOUSE_ALT,
                             .has_ctrl = held & MOUSE_CTRL,
                             .mouse = TUI_MOUSE_OTHER,
                             .row = row - 1,
                             .col = col - 1 };
    if (final == 'M' && button == 0)
        ret->mouse = TUI_MOUSE_PRESS;
    else if (final == 'M' && button == MOUSE_WHEEL)
        ret->mouse = TUI_MOUSE_WHEEL_UP;
    else if (final == 'M' && button == MOUSE_WHEEL + 1)
        ret->mouse = TUI_MOUSE_WHEEL_DOWN;
    return KEY;
}

static enum step
end_sequence(struct tui_keys *k, uint8_t final, struct tui_key *ret)
{
    bool is_foreign = k->is_overlong || (k->n && (k->held[0] < '0' || k->held[0] > ';'));
    struct csi csi = parse_params(k);
    if (k->is_mouse)
        return is_foreign ? NONE : find_mouse(k, &csi, final, ret);
    bool is_urxvt_mouse = final == 'M' && k->state == CSI;
    if (is_foreign || is_urxvt_mouse || csi.count > PARAMS || csi.param[1][1] == RELEASE)
        return NONE;
    if (final == '~')
        return find_tilde(k, &csi, ret);
    if (final == 'u')
        return find_number(csi.param[0][1] ? csi.param[0][1] : csi.param[0][0],
                           csi.param[1][0], ret);
    return find_letter(&csi, final, ret);
}

static enum step
take_csi(struct tui_keys *k, uint8_t c, struct tui_key *ret)
{
    if (c < 0x20 || c >= 0x7f)
        return AGAIN;
    bool is_first = !k->n && !k->is_mouse && k->state == CSI;
    if (is_first && (c == '[' || c == 'M')) {
        reset(k, c == '[' ? CONSOLE : X10);
        return MORE;
    }
    if (is_first && c == '<') {
        k->is_mouse = true;
        return MORE;
    }
    if (c >= 0x40)
        return end_sequence(k, c, ret);
    hold(k, c);
    return MORE;
}

static enum step
take_escape(struct tui_keys *k, uint8_t c, struct tui_key *ret)
{
    if (c == ESC) { /* and then another, which may begin something */
        *ret = (struct tui_key){ .kind = TUI_KEY_ESCAPE };
        return KEY;
    }
    if (c == '[' || c == 'O') {
        reset(k, c == '[' ? CSI : SS3);
        return MORE;
    }
    if (c && strchr("]PX^_", c)) {
        reset(k, STRING);
        return MORE;
    }
    enum step step = c >= 0x80 ? NONE : take_plain(k, c, ret);
    if (step == KEY)
        ret->has_alt = true;
    return step;
}

static enum step
take_string(struct tui_keys *k, uint8_t c)
{
    if (c == '\a' || (k->state == STRING_ESC && c == '\\'))
        return NONE;
    if (k->state == STRING_ESC && c != ESC) {
        k->state = ESCAPE; /* it was cut off; what follows is something else */
        return AGAIN;
    }
    k->state = c == ESC ? STRING_ESC : STRING;
    return MORE;
}

static enum step
take(struct tui_keys *k, uint8_t c, struct tui_key *ret)
{
    switch ((enum state)k->state) {
    case GROUND:
        return take_plain(k, c, ret);
    case ESCAPE:
        return take_escape(k, c, ret);
    case CSI:
    case SS3:
        return take_csi(k, c, ret);
    case X10:
        hold(k, c);
        return k->n < X10_BYTES ? MORE : NONE;
    case CONSOLE:
        return NONE;
    case STRING:
    case STRING_ESC:
        return take_string(k, c);
    case IN_RUNE:
        return take_rune(k, c, ret);
    }
    return NONE;
}

bool
tui_keys_next(struct tui_keys *k, struct view *in, struct tui_key *ret)
{
    while (in->n) {
        bool was_escape = k->state == ESCAPE, was_string = k->state == STRING_ESC;
        uint8_t c = in->p[0];
        enum step step = take(k, c, ret);
        if (step == AGAIN) {
            if (!was_string)
                reset(k, GROUND);
            continue;
        }
        in->p++;
        in->n--;
        if (step == MORE)
            continue;
        reset(k, was_escape && c == ESC && step == KEY ? ESCAPE : GROUND);
        if (step == KEY) {
            ret->is_pasted = k->is_pasting;
            return true;
        }
    }
    return false;
}

int
tui_keys_wait_ms(const struct tui_keys *k)
{
    if (k->state != GROUND)
        return SEQUENCE_MS;
    return k->is_pasting ? PASTE_MS : -1;
}

bool
tui_keys_timeout(struct tui_keys *k, struct tui_key *ret)
{
    bool is_escape = k->state == ESCAPE;
    if (k->state == GROUND)
        k->is_pasting = k->was_return = false;
    reset(k, GROUND);
    if (is_escape)
        *ret = (struct tui_key){ .kind = TUI_KEY_ESCAPE, .is_pasted = k->is_pasting };
    return is_escape;
}
