/* SPDX-License-Identifier: MIT */
#include "play/title.h"

#include "play/clean.h"

int
play_title(struct redact *redact, const char *text, struct buf *out)
{
    struct view v = { (const uint8_t *)text, strlen(text) };
    return play_clean_masked(redact, v, true, out);
}
