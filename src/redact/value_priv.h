/* SPDX-License-Identifier: MIT */
/*
 * value_priv.h -- whether a text looks like a secret, or like what stands where one would
 * be.
 *
 * The weak half of the scanner: for kinds without a format of their own. Everything here
 * is a guess from how people write code, settings and documentation.
 */
#ifndef REDACT_VALUE_PRIV_H
#define REDACT_VALUE_PRIV_H

#include "redact/name_priv.h"

/* What a text is made of. */
struct value_mix {
    size_t n, digits, lowers, uppers, hex, symbols, blanks, others;
    size_t changes; /* from one of letters (by case), digits, symbols to another */
};

struct value_mix value_mix(struct view v);
/* A capital behind the first letter, and small letters. */
bool value_has_hump(struct view v);
/* Shannon, in 1/100 bit a byte. */
uint32_t value_entropy(struct view v);
/* `xxxx`, `<token>`, `your-key-here`, `${VAR}`, one character over and over … */
bool value_is_placeholder(struct view v);
/* Code rather than a literal (is_literal: what stands there is surely meant as one): a.b,
 * f(x), a[i], A::B, $VAR, %s, /path, !tag. */
bool value_is_expression(struct view v, bool is_literal);
/* The part of an unquoted run that is the value: without `&next=…` and trailing commas.
 */
struct view value_trim(struct view v);
bool value_is_password(struct view v, const struct name *name);
bool value_is_secret(struct view v, const struct name *name);

#endif
