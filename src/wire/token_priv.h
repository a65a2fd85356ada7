/* SPDX-License-Identifier: MIT */
/* token_priv.h -- which bytes may stand where in a field line (RFC 9110, 5.5 and 5.6.2).
 */
#ifndef WIRE_TOKEN_PRIV_H
#define WIRE_TOKEN_PRIV_H

#include <stdbool.h>
#include <stdint.h>
#include <string.h>

#include "base/ascii.h"

/* Of a name or a method. */
static inline bool
wire_is_token(uint8_t c)
{
    uint8_t letter = ascii_fold(c);
    return (letter >= 'a' && letter <= 'z') || (c >= '0' && c <= '9') ||
           (c && strchr("!#$%&'*+-.^_`|~", c));
}

static inline bool
wire_is_blank(uint8_t c)
{
    return c == ' ' || c == '\t';
}

/* Of a value, blanks among it. */
static inline bool
wire_is_value(uint8_t c)
{
    return (c >= ' ' && c != 0x7f) || c == '\t';
}

#endif
