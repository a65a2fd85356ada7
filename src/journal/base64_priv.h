/* SPDX-License-Identifier: MIT */
/* base64_priv.h -- bytes that are no text, as letters (RFC 4648, with its padding). */
#ifndef JOURNAL_BASE64_PRIV_H
#define JOURNAL_BASE64_PRIV_H

#include <stdbool.h>

#include "base/buf.h"

void journal_base64_put(struct view bytes, struct buf *out);
/* Appends the bytes; false, with nothing appended, for what is none. */
bool journal_base64_read(struct view text, struct buf *out);

#endif
