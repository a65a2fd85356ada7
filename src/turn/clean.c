/* SPDX-License-Identifier: MIT */
#include "turn/clean.h"

#include "base/plain_scan.h"
#include "base/utf8.h"

enum state {
    PLAIN,
    ESCAPE,       /* behind ESC */
    INTERMEDIATE, /* behind ESC and a character that says that one more comes */
    CSI,
    STRING, /* OSC, DCS, SOS, PM, APC */
};

enum { ESC = 0x1b, BEL = 0x07, CAN = 0x18, SUB = 0x1a };

/* Not to be seen, but able to make a text look as another: Unicode's format characters
 * but those that join. */
static const struct {
    uint32_t first, last;
} misleading[] = {
    { 0x61c, 0x61c },     { 0x180e, 0x180e },   { 0x200b, 0x200b },
    { 0x200e, 0x200f },   { 0x202a, 0x202e },   { 0x2060, 0x2064 },
    { 0x2066, 0x206f },   { 0xfeff, 0xfeff },   { 0xfff9, 0xfffb },
    { 0x13430, 0x1343f }, { 0x1bca0, 0x1bca3 }, { 0x1d173, 0x1d17a },
    { 0xe0001, 0xe0001 },
};

static bool
is_misleading(uint32_t cp)
{
    for (size_t i = 0; i < sizeof(misleading) / sizeof(misleading[0]); i++)
        if (cp <= misleading[i].last)
            return cp >= misleading[i].first;
    return false;
}

static enum state
plain(struct turn_clean *c, uint32_t cp, struct view bytes, struct buf *out)
{
    bool is_rest_of_crlf = c->was_cr && cp == '\n';
    if (utf8_is_line_end(cp)) {
        if (!is_rest_of_crlf)
            buf_puts(out, "\n");
        c->was_cr = cp == '\r';
        return PLAIN;
    }
    if (cp == ESC)
        return ESCAPE;
    if (cp == 0x9b)
        return CSI;
    if (cp == 0x90 || cp == 0x98 || (cp >= 0x9d && cp <= 0x9f))
        return STRING;
    if ((utf8_is_control(cp) && cp != '\t') || is_misleading(cp))
        return PLAIN;
    c->was_cr = false;
    buf_append(out, bytes.p, bytes.n);
    return PLAIN;
}

static enum state
escape(struct turn_clean *c, uint32_t cp, struct view bytes, struct buf *out)
{
    if (cp == '[')
        return CSI;
    if (cp == ']' || cp == 'P' || cp == 'X' || cp == '^' || cp == '_')
        return STRING;
    if (cp >= 0x20 && cp <= 0x2f)
        return INTERMEDIATE;
    return cp >= 0x30 && cp <= 0x7e ? PLAIN : plain(c, cp, bytes, out);
}

static enum state
intermediate(struct turn_clean *c, uint32_t cp, struct view bytes, struct buf *out)
{
    if (cp >= 0x20 && cp <= 0x2f)
        return INTERMEDIATE;
    return cp >= 0x30 && cp <= 0x7e ? PLAIN : plain(c, cp, bytes, out);
}

static enum state
csi(struct turn_clean *c, uint32_t cp, struct view bytes, struct buf *out)
{
    if (cp >= 0x20 && cp <= 0x3f)
        return CSI;
    return cp >= 0x40 && cp <= 0x7e ? PLAIN : plain(c, cp, bytes, out);
}

/* ESC \ ends it too: as a sequence of its own. */
static enum state
string(struct turn_clean *c, uint32_t cp, struct view bytes, struct buf *out)
{
    if (utf8_is_line_end(cp) || cp == ESC)
        return plain(c, cp, bytes, out);
    return cp == BEL || cp == 0x9c || cp == CAN || cp == SUB ? PLAIN : STRING;
}

static void
take(struct turn_clean *c, uint32_t cp, struct view bytes, struct buf *out)
{
    static enum state (*const steps[])(struct turn_clean *, uint32_t, struct view,
                                       struct buf *) = {
        [PLAIN] = plain, [ESCAPE] = escape, [INTERMEDIATE] = intermediate,
        [CSI] = csi,     [STRING] = string,
    };
    c->state = (uint8_t)steps[c->state](c, cp, bytes, out);
}

static void
take_bad(struct turn_clean *c, struct buf *out)
{
    static const uint8_t replacement[] = { 0xef, 0xbf, 0xbd };
    take(c, 0xfffd, (struct view){ replacement, sizeof(replacement) }, out);
}

/* The character at p, or a stump; 0: more must be known. */
static size_t
take_one(struct turn_clean *c, const uint8_t *p, size_t n, bool is_end, struct buf *out)
{
    uint32_t cp;
    size_t len = (size_t)utf8_next(p, n, &cp);
    if (len) {
        take(c, cp, (struct view){ p, len }, out);
        return len;
    }
    bool is_open;
    len = utf8_stump(p, n, &is_open);
    if (is_open && !is_end)
        return 0;
    take_bad(c, out);
    return len;
}

/* What was left of the piece before, together with this one; how much of this is gone. */
static size_t
take_stump(struct turn_clean *c, struct view piece, struct buf *out)
{
    size_t used = 0;
    while (c->stump_size && used < piece.n) {
        size_t before = c->stump_size;
        c->stump[c->stump_size++] = piece.p[used++];
        size_t len = take_one(c, c->stump, c->stump_size, false, out);
        if (!len)
            continue;
        used -= len <= before; /* the new byte is not part of it */
        c->stump_size = 0;
    }
    return used;
}

void
turn_clean_feed(struct turn_clean *c, struct view piece, struct buf *out)
{
    size_t i = take_stump(c, piece, out);
    while (i < piece.n) {
        size_t n = c->state == PLAIN ? plain_scan(piece.p + i, piece.n - i, false) : 0;
        if (n) {
            buf_append(out, piece.p + i, n);
            c->was_cr = false;
        } else {
            n = take_one(c, piece.p + i, piece.n - i, false, out);
        }
        if (!n)
            break;
        i += n;
    }
    if (i < piece.n) {
        c->stump_size = (uint8_t)(piece.n - i);
        memcpy(c->stump, piece.p + i, piece.n - i);
    }
}

void
turn_clean_end(struct turn_clean *c, struct buf *out)
{
    if (c->stump_size)
        take_one(c, c->stump, c->stump_size, true, out);
    *c = (struct turn_clean){ 0 };
}

void
turn_clean(struct view text, struct buf *out)
{
    struct turn_clean c = { 0 };
    turn_clean_feed(&c, text, out);
    turn_clean_end(&c, out);
}
