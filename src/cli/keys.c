/* SPDX-License-Identifier: MIT */
#include "cli/keys.h"

#include <ctype.h>
#include <strings.h>

#include "base/utf8.h"
#include "cli/nearest.h"

enum kind {
    BYTE,   /* value itself */
    CURSOR, /* CSI value; SS3 value in application mode */
    PAD,    /* SS3 value: F1 to F4 */
    NUMBER, /* CSI value ~ */
};

/* As xterm counts them; what it sends is one more. */
enum { SHIFT = 1, ALT = 2, CTRL = 4 };

struct key {
    const char *name;
    enum kind kind;
    uint8_t value;
};

/* Of several names the first is the one that is suggested. */
static const struct key keys[] = {
    { "Enter", BYTE, '\r' },     { "Return", BYTE, '\r' }, { "Tab", BYTE, '\t' },
    { "Escape", BYTE, 0x1b },    { "Esc", BYTE, 0x1b },    { "Space", BYTE, ' ' },
    { "Backspace", BYTE, 0x7f }, { "BSpace", BYTE, 0x7f }, { "Up", CURSOR, 'A' },
    { "Down", CURSOR, 'B' },     { "Right", CURSOR, 'C' }, { "Left", CURSOR, 'D' },
    { "Home", CURSOR, 'H' },     { "End", CURSOR, 'F' },   { "Insert", NUMBER, 2 },
    { "Ins", NUMBER, 2 },        { "Delete", NUMBER, 3 },  { "Del", NUMBER, 3 },
    { "PageUp", NUMBER, 5 },     { "PgUp", NUMBER, 5 },    { "PageDown", NUMBER, 6 },
    { "PgDn", NUMBER, 6 },       { "F1", PAD, 'P' },       { "F2", PAD, 'Q' },
    { "F3", PAD, 'R' },          { "F4", PAD, 'S' },       { "F5", NUMBER, 15 },
    { "F6", NUMBER, 17 },        { "F7", NUMBER, 18 },     { "F8", NUMBER, 19 },
    { "F9", NUMBER, 20 },        { "F10", NUMBER, 21 },    { "F11", NUMBER, 23 },
    { "F12", NUMBER, 24 },
};

enum { KEYS = sizeof(keys) / sizeof(keys[0]), NAME_MAX_LEN = 16 };

static const struct {
    const char *name;
    unsigned mod;
} mods[] = {
    { "C", CTRL },  { "Ctrl", CTRL }, { "Control", CTRL }, { "M", ALT },
    { "Alt", ALT }, { "Meta", ALT },  { "S", SHIFT },      { "Shift", SHIFT },
};

/* Takes C-, Alt+ and their like from the front; what is left names the key. */
static const char *
take_mods(const char *name, unsigned *ret)
{
    *ret = 0;
    for (size_t i = 0; i < sizeof(mods) / sizeof(mods[0]); i++) {
        size_t n = strlen(mods[i].name);
        if (strncasecmp(name, mods[i].name, n) != 0 || !strchr("-+", name[n]) ||
            !name[n] || !name[n + 1])
            continue;
        unsigned more;
        name = take_mods(name + n + 1, &more);
        *ret = mods[i].mod | more;
        return name;
    }
    if (name[0] == '^' && name[1] && !name[2]) {
        *ret = CTRL;
        name++;
    }
    return name;
}

/* -1: there is no such control character. */
static int
control_of(uint8_t c)
{
    if (c == '?')
        return 0x7f;
    if (c == ' ')
        return 0;
    return c >= 0x40 && c < 0x7f ? toupper(c) & 0x1f : -1;
}

static bool
put_byte(uint8_t c, unsigned mod, struct buf *out)
{
    if (c == '\t' && mod & SHIFT) {
        buf_puts(out, mod & ALT ? "\033\033[Z" : "\033[Z");
        return !(mod & CTRL);
    }
    int made = c == 0x7f && mod & CTRL ? 8 : mod & CTRL ? control_of(c) : c;
    if (made < 0 || mod & SHIFT)
        return false;
    if (mod & ALT)
        buf_puts(out, "\033");
    buf_append(out, &(uint8_t){ (uint8_t)made }, 1);
    return true;
}

static bool
put_key(const struct key *k, unsigned mod, bool is_app_cursor, struct buf *out)
{
    switch (k->kind) {
    case BYTE:
        return put_byte(k->value, mod, out);
    case CURSOR:
    case PAD:
        if (mod)
            buf_printf(out, "\033[1;%u%c", mod + 1, k->value);
        else
            buf_printf(out, "\033%c%c", k->kind == PAD || is_app_cursor ? 'O' : '[',
                       k->value);
        return true;
    case NUMBER:
        buf_printf(out, "\033[%u", k->value);
        if (mod)
            buf_printf(out, ";%u", mod + 1);
        buf_puts(out, "~");
        return true;
    }
    return false;
}

static bool
put_character(const char *c, unsigned mod, struct buf *out)
{
    uint32_t cp;
    size_t n = strlen(c);
    if (!n || (size_t)utf8_next((const uint8_t *)c, n, &cp) != n)
        return false;
    if (n == 1)
        return put_byte((uint8_t)*c, mod, out);
    if (mod & (CTRL | SHIFT))
        return false;
    buf_puts(out, mod ? "\033" : "");
    buf_puts(out, c);
    return true;
}

static bool
put(const char *name, bool is_app_cursor, struct buf *out)
{
    unsigned mod;
    const char *rest = take_mods(name, &mod);
    for (size_t i = 0; i < KEYS; i++)
        if (!strcasecmp(keys[i].name, rest))
            return put_key(&keys[i], mod, is_app_cursor, out);
    return put_character(rest, mod, out);
}

static void
lower(char ret[NAME_MAX_LEN], const char *name)
{
    size_t i = 0;
    for (; name[i] && i < NAME_MAX_LEN - 1; i++)
        ret[i] = (char)tolower((unsigned char)name[i]);
    ret[i] = 0;
}

/* NULL: none is near, or the key is there and only not with these modifiers. */
static const char *
suggest(const char *name)
{
    unsigned mod;
    char word[NAME_MAX_LEN], names[KEYS][NAME_MAX_LEN];
    const char *list[KEYS];
    lower(word, take_mods(name, &mod));
    for (size_t i = 0; i < KEYS; i++) {
        lower(names[i], keys[i].name);
        list[i] = names[i];
    }
    const char *near = cli_nearest(word, list, KEYS);
    for (size_t i = 0; near && i < KEYS; i++)
        if (near == names[i] && strcmp(near, word) != 0)
            return keys[i].name;
    return NULL;
}

int
cli_keys_find(const char *name, bool is_app_cursor, struct buf *out, struct err *err)
{
    size_t n = out->n;
    if (put(name, is_app_cursor, out))
        return out->failed ? err_code(err, out->failed, "cannot send a key") : 0;
    out->n = n;
    const char *near = suggest(name);
    if (near)
        return err_set(err, ERR_USAGE, "there is no key '%s'; did you mean '%s'?", name,
                       near);
    return err_set(err, ERR_USAGE,
                   "there is no key '%s'; 'man ahr-send' lists what there is", name);
}

bool
cli_keys_has_modes(const char *name)
{
    AUTO(buf) one = { 0 };
    AUTO(buf) other = { 0 };
    put(name, false, &one);
    put(name, true, &other);
    return one.n != other.n || (one.n && memcmp(one.p, other.p, one.n) != 0);
}
