/* SPDX-License-Identifier: MIT */
/* title.h -- what a session is called, as a document may have it. */
#ifndef PLAY_TITLE_H
#define PLAY_TITLE_H

#include "redact/redact.h"

/* Appends the text masked (redact NULL: as it is), on one line and without control
 * characters. */
int play_title(struct redact *redact, const char *text, struct buf *out);

#endif
