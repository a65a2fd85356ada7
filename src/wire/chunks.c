/* SPDX-License-Identifier: MIT */
/*
 * chunks.c -- chunks, byte by byte but for their data.
 *
 * Stricter than RFC 9112 in one thing: no blank stands between a size and what follows
 * it. Trailers must be field lines, so that a request which somebody put behind the last
 * chunk is not passed over as one.
 */
#include "wire/chunks.h"

#include "base/ascii.h"
#include "wire/head.h"
#include "wire/token_priv.h"

enum { SIZE_DIGITS_MAX = 16 };

enum state {
    SIZE,
    EXTENSION,
    SIZE_LF,
    DATA,
    DATA_CR,
    DATA_LF,
    TRAILER, /* at the beginning of a line */
    TRAILER_NAME,
    TRAILER_VALUE,
    TRAILER_LF,
    LAST_LF,
    OVER,
    BROKEN,
};

static int
hex_digit(uint8_t byte)
{
    uint8_t c = ascii_fold(byte);
    return c >= '0' && c <= '9' ? c - '0' : c >= 'a' && c <= 'f' ? c - 'a' + 10 : -1;
}

static enum state
take_size(struct wire_chunks *c, uint8_t byte)
{
    int digit = hex_digit(byte);
    if (digit < 0 && !c->count)
        return BROKEN;
    if (byte == '\r')
        return SIZE_LF;
    c->count++;
    if (byte == ';')
        return EXTENSION;
    if (digit < 0 || c->count > SIZE_DIGITS_MAX)
        return BROKEN;
    c->left = c->left << 4 | (uint64_t)digit;
    return c->left > WIRE_LENGTH_MAX ? BROKEN : SIZE;
}

static enum state
take_extension(struct wire_chunks *c, uint8_t byte)
{
    if (byte == '\r')
        return SIZE_LF;
    return wire_is_value(byte) && ++c->count <= WIRE_CHUNK_LINE_MAX ? EXTENSION : BROKEN;
}

static enum state
end_size(struct wire_chunks *c)
{
    c->count = 0;
    return c->left ? DATA : TRAILER;
}

static enum state
take_trailer(struct wire_chunks *c, enum state state, uint8_t byte)
{
    if (byte == '\r' && state == TRAILER)
        return LAST_LF;
    if (++c->count > WIRE_TRAILERS_MAX)
        return BROKEN;
    if (state == TRAILER_LF)
        return byte == '\n' ? TRAILER : BROKEN;
    if (state == TRAILER_VALUE)
        return byte == '\r' ? TRAILER_LF : wire_is_value(byte) ? TRAILER_VALUE : BROKEN;
    if (state == TRAILER_NAME && byte == ':')
        return TRAILER_VALUE;
    return wire_is_token(byte) ? TRAILER_NAME : BROKEN;
}

static enum state
take(struct wire_chunks *c, uint8_t byte)
{
    enum state state = (enum state)c->state;
    switch (state) {
    case SIZE:
        return take_size(c, byte);
    case EXTENSION:
        return take_extension(c, byte);
    case SIZE_LF:
        return byte == '\n' ? end_size(c) : BROKEN;
    case DATA_CR:
        return byte == '\r' ? DATA_LF : BROKEN;
    case DATA_LF:
        return byte == '\n' ? SIZE : BROKEN;
    case TRAILER:
    case TRAILER_NAME:
    case TRAILER_VALUE:
    case TRAILER_LF:
        return take_trailer(c, state, byte);
    case LAST_LF:
        return byte == '\n' ? OVER : BROKEN;
    case DATA:
    case OVER:
    case BROKEN:
        break;
    }
    return BROKEN;
}

static void
take_data(struct wire_chunks *c, struct view *rest, struct view *ret_data)
{
    size_t n = rest->n < c->left ? rest->n : (size_t)c->left;
    *ret_data = (struct view){ rest->p, n };
    *rest = (struct view){ rest->p + n, rest->n - n };
    c->left -= n;
    if (!c->left)
        c->state = DATA_CR;
}

int
wire_chunks_next(struct wire_chunks *c, struct view *rest, struct view *ret_data)
{
    while (rest->n && c->state != OVER && c->state != BROKEN) {
        if (c->state == DATA) {
            take_data(c, rest, ret_data);
            return 1;
        }
        c->state = take(c, *rest->p);
        if (c->state != BROKEN)
            *rest = (struct view){ rest->p + 1, rest->n - 1 };
    }
    return c->state == OVER ? 2 : c->state == BROKEN ? ERR_DAMAGED : 0;
}
