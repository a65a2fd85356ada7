/* SPDX-License-Identifier: MIT */
#include "client/keys_priv.h"

#include "base/utf8.h"

#define PASTE_BEGIN "\033[200~"
#define PASTE_END   "\033[201~"

enum {
    ESC = 0x1b,
    CTRL_C = 0x03,
    PREFIX = 0x1d,
    BRACKET = ']',
    CTRL = 4,   /* of kitty's modifiers, which are sent with 1 added … */
    LOCKS = 64, /* … and from here on are those that lock */
    RELEASE = 3,
    MODIFIER_FIRST = 57441, /* keys that only modify others */
    MODIFIER_LAST = 57454,
    PARAMS = 3,
};

/* A key as far as it matters here. */
struct key {
    unsigned code; /* of the character; 0: another one */
    bool is_ctrl;
    bool is_release;
};

/* -- one key's bytes -- */

/* The size of the CSI at the start; 0 when it is none, or cut off. */
static size_t
csi_size(struct view in)
{
    size_t n = 2;
    if (in.n < 3 || in.p[0] != ESC || in.p[1] != '[')
        return 0;
    while (n < in.n && in.p[n] >= 0x20 && in.p[n] < 0x40)
        n++;
    return n < in.n ? n + 1 : 0;
}

static size_t
key_size(struct view in)
{
    size_t n = csi_size(in);
    uint32_t rune;
    if (n)
        return n;
    if (in.p[0] == ESC && in.n > 1)
        return in.p[1] == 'O' && in.n > 2 ? 3 : 2;
    int size = utf8_next(in.p, in.n, &rune);
    return size > 0 ? (size_t)size : 1;
}

/* CSI code:alternates ; modifiers:event ; text u, or CSI 27 ; modifiers ; code ~. */
static struct key
parse_csi(struct view v)
{
    unsigned number[PARAMS][2] = { 0 }, at = 0, sub = 0;
    for (size_t i = 2; i + 1 < v.n; i++) {
        uint8_t c = v.p[i];
        if (c >= '0' && c <= '9' && at < PARAMS && sub < 2 && number[at][sub] < 100000)
            number[at][sub] = number[at][sub] * 10 + (c - '0');
        else if (c == ':')
            sub++;
        else if (c == ';')
            at++, sub = 0;
    }
    bool is_xterm = v.p[v.n - 1] == '~' && number[0][0] == 27;
    if (!is_xterm && v.p[v.n - 1] != 'u')
        return (struct key){ .is_release = number[1][1] == RELEASE };
    unsigned modifiers = number[1][0] ? number[1][0] - 1 : 0;
    return (struct key){ .code = is_xterm ? number[2][0] : number[0][0],
                         .is_ctrl = modifiers % LOCKS == CTRL,
                         .is_release = number[1][1] == RELEASE };
}

static struct key
parse_key(struct view v)
{
    if (csi_size(v))
        return parse_csi(v);
    if (v.n != 1)
        return (struct key){ 0 };
    if (v.p[0] == PREFIX)
        return (struct key){ .code = BRACKET, .is_ctrl = true };
    if (v.p[0] == CTRL_C)
        return (struct key){ .code = 'c', .is_ctrl = true };
    return (struct key){ .code = v.p[0] };
}

/* -- what it is for -- */

enum use { FOR_SESSION, FOR_US, LEAVE };

static enum use
use_after_prefix(struct keys *k, struct key key)
{
    if (key.is_release || (key.code >= MODIFIER_FIRST && key.code <= MODIFIER_LAST))
        return FOR_US;
    k->has_prefix = false;
    if (key.code == BRACKET && key.is_ctrl)
        return FOR_SESSION;
    return key.code == 'd' && !key.is_ctrl ? LEAVE : FOR_US;
}

static enum use
use_of(struct keys *k, struct key key)
{
    if (k->has_prefix)
        return use_after_prefix(k, key);
    if (key.code == BRACKET && key.is_ctrl) {
        k->has_prefix = !key.is_release;
        return FOR_US;
    }
    bool leaves = key.code == (key.is_ctrl ? 'c' : 'q') && !key.is_release;
    return k->is_watching && leaves ? LEAVE : FOR_SESSION;
}

/* One byte of a paste; its end may come in pieces. */
static void
take_pasted(struct keys *k, uint8_t c)
{
    static const char end[] = PASTE_END;
    if (c != (uint8_t)end[k->matched])
        k->matched = 0;
    if (c == (uint8_t)end[k->matched])
        k->matched++;
    if (!end[k->matched]) {
        k->matched = 0;
        k->is_pasting = false;
    }
}

bool
keys_take(struct keys *k, struct view in, struct buf *out)
{
    while (in.n) {
        size_t n = k->is_pasting ? 1 : key_size(in);
        struct view v = { in.p, n };
        enum use use = FOR_SESSION;
        if (k->is_pasting)
            take_pasted(k, in.p[0]);
        else if (n == strlen(PASTE_BEGIN) && !memcmp(in.p, PASTE_BEGIN, n))
            k->is_pasting = true, k->has_prefix = false;
        else
            use = use_of(k, parse_key(v));
        if (use == LEAVE)
            return true;
        if (use == FOR_SESSION && !k->is_watching)
            buf_append(out, v.p, v.n);
        in.p += n;
        in.n -= n;
    }
    return false;
}
