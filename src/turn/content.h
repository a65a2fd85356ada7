/* SPDX-License-Identifier: MIT */
/* content.h -- what stands in the content of a message or a result, as one text. */
#ifndef TURN_CONTENT_H
#define TURN_CONTENT_H

#include "base/buf.h"

/* A string, or blocks of which only texts can be shown ("[image]"); raw, good JSON. What
 * had to be copied lies in out, which is cleared then. */
struct view turn_content_text(struct view content, struct buf *out);

#endif
