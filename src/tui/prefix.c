/* SPDX-License-Identifier: MIT */
#include "tui/prefix.h"

#include <ctype.h>
#include <stdio.h>
#include <string.h>
#include <strings.h>

#include "tui/keys_priv.h"

#define PASTE_BEGIN "\033[200~"
#define PASTE_END   "\033[201~"

enum {
    ESC = 0x1b,
    MARK_SIZE = sizeof(PASTE_BEGIN) - 1,
    SHIFT = 1, /* of kitty's modifiers, which are sent with 1 added … */
    CTRL = 4,
    LOCKS = 64, /* … and from here on are those that lock */
    RELEASE = 3,
    MODIFIER_FIRST = 57441, /* keys that only modify others */
    MODIFIER_LAST = 57454,
    PARAMS = 3,
    SUBS = 3,
};

/* -- as people write it -- */

static const char *
skip_ctrl(const char *text)
{
    static const char *const heads[] = { "^", "C-", "Ctrl-" };
    for (size_t i = 0; i < sizeof(heads) / sizeof(heads[0]); i++)
        if (!strncasecmp(text, heads[i], strlen(heads[i])))
            return text + strlen(heads[i]);
    return "";
}

int
tui_prefix_parse(const char *text, uint8_t *ret, struct err *err)
{
    const char *of = skip_ctrl(text);
    unsigned char c = (unsigned char)of[0];
    if (!c || of[1] || !(isalpha(c) || strchr("[\\]^_", c)))
        return err_set(err, ERR_USAGE,
                       "'%s' is no key for a prefix: it is Ctrl and a letter or one of "
                       "\\ ] ^ _, as in ^] or Ctrl-]",
                       text);
    uint8_t key = c & 0x1f;
    if (key == ESC)
        return err_set(err, ERR_USAGE,
                       "'%s' cannot be the prefix: other keys begin with it", text);
    if (key == '\t' || key == '\n' || key == '\r')
        return err_set(err, ERR_USAGE, "'%s' cannot be the prefix: it is %s", text,
                       key == '\t' ? "Tab" : "Enter");
    *ret = key;
    return 0;
}

const char *
tui_prefix_name(uint8_t key, char room[16])
{
    snprintf(room, 16, "Ctrl-%c", (key & 0x1f) + '@');
    return room;
}

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
    return n < in.n && in.p[n] >= 0x40 && in.p[n] < 0x7f ? n + 1 : 0;
}

/* Of what begins at in: so much is one key's, or a piece of one. Not more than there is.
 */
static size_t
key_size(struct view in)
{
    if (in.p[0] != ESC || in.n < 2)
        return 1;
    size_t n = csi_size(in);
    if (n)
        return n;
    return in.p[1] == 'O' && in.n > 2 && in.p[2] >= 0x20 ? 3 : 2;
}

/* A key as far as it matters here. */
struct key {
    unsigned code, shifted, base; /* of the character, as kitty tells it; 0: not told */
    unsigned modifiers;           /* without those that lock */
    bool is_release;
};

/* CSI code:shifted:base ; modifiers:event ; text u, or CSI 27 ; modifiers ; code ~. */
static struct key
parse_csi(struct view v)
{
    unsigned number[PARAMS][SUBS] = { 0 }, at = 0, sub = 0;
    for (size_t i = 2; i + 1 < v.n; i++) {
        uint8_t c = v.p[i];
        if (c >= '0' && c <= '9' && at < PARAMS && sub < SUBS && number[at][sub] < 100000)
            number[at][sub] = number[at][sub] * 10 + (c - '0');
        else if (c == ':')
            sub++;
        else if (c == ';')
            at++, sub = 0;
    }
    struct key key = { .is_release = number[1][1] == RELEASE,
                       .modifiers = (number[1][0] ? number[1][0] - 1 : 0) % LOCKS };
    if (v.p[v.n - 1] == '~' && number[0][0] == 27)
        key.code = key.shifted = number[2][0]; /* which has Shift in it already */
    else if (v.p[v.n - 1] == 'u')
        key.code = number[0][0], key.shifted = number[0][1], key.base = number[0][2];
    return key;
}

/* The character that makes this control byte with Ctrl. */
static unsigned
character_of(uint8_t key)
{
    return key <= 26 ? key + 0x60U : key + 0x40U;
}

static bool
is_prefix(const struct tui_prefix *p, struct key key)
{
    unsigned want = character_of(p->key);
    if (!p->key)
        return false;
    /* ^ and _ stand on shifted keys. Of a letter it would be another key. */
    if (key.modifiers == (CTRL | SHIFT))
        return key.shifted == want && (want == '^' || want == '_');
    /* The place on the keyboard, where letters are not latin. */
    bool is_there = key.code == want || (key.code > 0x7f && key.base == want);
    return key.modifiers == CTRL && is_there;
}

/* The prefix at the front, in any form: its size, else 0. */
static size_t
prefix_size(const struct tui_prefix *p, struct view in, bool *ret_is_release)
{
    *ret_is_release = false;
    if (in.p[0] == p->key && p->key)
        return 1;
    size_t n = csi_size(in);
    if (!n)
        return 0;
    struct key key = parse_csi((struct view){ in.p, n });
    *ret_is_release = key.is_release;
    return is_prefix(p, key) ? n : 0;
}

bool
tui_prefix_is(const struct tui_prefix *p, const struct tui_key *key)
{
    return p->key && key->kind == TUI_KEY_CHAR && key->has_ctrl && !key->has_alt &&
           !key->is_pasted && key->rune == character_of(p->key);
}

/* -- pastes -- */

/* The first bytes, as far as they go on with a mark of which p->matched have come.
 * *ret_is_whole: it is there now. */
static size_t
match(struct tui_prefix *p, const char *mark, struct view in, bool *ret_is_whole)
{
    size_t n = 0;
    while (n < in.n && p->matched < MARK_SIZE && in.p[n] == (uint8_t)mark[p->matched])
        n++, p->matched++;
    *ret_is_whole = p->matched == MARK_SIZE;
    if (*ret_is_whole || n < in.n)
        p->matched = 0;
    return n;
}

/* So many bytes are pasted. */
static size_t
take_pasted(struct tui_prefix *p, struct view in)
{
    bool is_whole = false;
    size_t n = match(p, PASTE_END, in, &is_whole);
    if (!is_whole && !p->matched) {
        /* What did not match may begin the mark itself: only its first byte is ESC. */
        const uint8_t *esc = memchr(in.p + n, ESC, in.n - n);
        n = esc ? (size_t)(esc - in.p) : in.n;
        struct view rest = { in.p + n, in.n - n };
        n += match(p, PASTE_END, rest, &is_whole);
    }
    p->is_pasting = !is_whole;
    return n;
}

/* A paste's begin at the front, or the rest of it: so many bytes; 0: there is none. One
 * that is cut off may go on with the next read. */
static size_t
take_paste_begin(struct tui_prefix *p, struct view in)
{
    bool is_whole, had_begun = p->matched;
    size_t n = match(p, PASTE_BEGIN, in, &is_whole);
    if (had_begun && !is_whole && !p->matched)
        n = match(p, PASTE_BEGIN, in, &is_whole); /* from its start */
    p->is_pasting = is_whole;
    return is_whole || p->matched ? n : 0;
}

/* -- whose it is -- */

static size_t
plain_size(struct view in, uint8_t key)
{
    size_t n = 0;
    while (n < in.n && in.p[n] != ESC && in.p[n] != key)
        n++;
    return n;
}

void
tui_prefix_take(struct tui_prefix *p, struct view *in, struct buf *out)
{
    size_t n = 0; /* at the front, for the session */
    while (n < in->n && !p->is_held) {
        struct view rest = { in->p + n, in->n - n };
        bool is_release;
        size_t size = p->is_pasting ? take_pasted(p, rest) : take_paste_begin(p, rest);
        if (!size)
            size = plain_size(rest, p->key);
        n += size;
        if (size)
            continue;
        size = prefix_size(p, rest, &is_release);
        if (!size) {
            n += key_size(rest);
            continue;
        }
        buf_append(out, in->p, n);
        *in = (struct view){ rest.p + size, rest.n - size };
        n = 0;
        p->is_held = !is_release;
    }
    buf_append(out, in->p, n);
    *in = (struct view){ in->p + n, in->n - n };
}

bool
tui_prefix_again(struct tui_prefix *p, struct view *in, struct buf *out)
{
    while (in->n && p->is_held) {
        bool is_release;
        size_t prefix = prefix_size(p, *in, &is_release), n = csi_size(*in);
        struct key key = n ? parse_csi((struct view){ in->p, n }) : (struct key){ 0 };
        bool is_mark = n == MARK_SIZE && !memcmp(in->p, PASTE_BEGIN, n);
        if (is_mark || (prefix && !is_release)) {
            p->is_held = false;
            n = is_mark ? 0 : prefix;
            buf_append(out, in->p, n);
        } else if (!is_release &&
                   (key.code < MODIFIER_FIRST || key.code > MODIFIER_LAST)) {
            return false;
        }
        *in = (struct view){ in->p + n, in->n - n };
    }
    return !p->is_held;
}
