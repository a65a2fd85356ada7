/* SPDX-License-Identifier: MIT */
#include "play/title.h"

#include "play/clean_priv.h"

int
play_title(struct redact *redact, const char *text, struct buf *out)
{
    AUTO(buf) masked = { 0 };
    struct view v = { (const uint8_t *)text, strlen(text) };
    if (redact) {
        int r = redact_text(redact, v.p, v.n, &masked);
        if (r < 0)
            return r;
        v = (struct view){ masked.p, masked.n };
    }
    return play_clean(v, true, out);
}
