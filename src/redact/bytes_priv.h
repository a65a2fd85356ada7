/* SPDX-License-Identifier: MIT */
/* bytes_priv.h -- questions about single bytes. */
#ifndef REDACT_BYTES_PRIV_H
#define REDACT_BYTES_PRIV_H

#include <ctype.h>
#include <stdbool.h>
#include <stdint.h>
#include <string.h>

static inline bool
byte_in(const char *set, uint8_t c)
{
    return c && strchr(set, c);
}

/* Of a name or a number. */
static inline bool
byte_is_word(uint8_t c)
{
    return (c < 0x80 && isalnum(c)) || c == '_';
}

static inline uint8_t
byte_lower(uint8_t c)
{
    return c >= 'A' && c <= 'Z' ? (uint8_t)(c + ('a' - 'A')) : c;
}

static inline bool
bytes_have_letter(const uint8_t *p, size_t n)
{
    for (size_t i = 0; i < n; i++)
        if (p[i] < 0x80 && isalpha(p[i]))
            return true;
    return false;
}

static inline bool
byte_is_quote(uint8_t c)
{
    return c == '"' || c == '\'' || c == '`';
}

#endif
