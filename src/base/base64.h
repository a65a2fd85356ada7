/* SPDX-License-Identifier: MIT */
/* base64.h -- bytes as letters (RFC 4648, section 4), and back. */
#ifndef BASE_BASE64_H
#define BASE_BASE64_H

#include <stdbool.h>

#include "base/buf.h"

/* Appends them; with "=" at the end where it is due. */
void base64_put(struct view bytes, struct buf *out);
/* Appends the bytes. False, and nothing is appended, for what base64_put() does not make:
 * other characters, a wrong length, bits that are left over. */
bool base64_take(struct view text, struct buf *out);

#endif
