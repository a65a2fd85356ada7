/* SPDX-License-Identifier: MIT */
/* text_view.h -- the bytes of a string, as most of what is tested takes them. */
#ifndef TEXT_VIEW_H
#define TEXT_VIEW_H

#include <string.h>

#include "base/buf.h"

static inline struct view
text_view(const char *text)
{
    return (struct view){ (const uint8_t *)text, strlen(text) };
}

#endif
