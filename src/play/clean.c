/* SPDX-License-Identifier: MIT */
#include "play/clean.h"

#include "base/utf8.h"
#include "term/width.h"

int
play_clean(struct view text, bool is_one_line, struct buf *out)
{
    uint32_t cp = 0, last;
    for (size_t i = 0, len; i < text.n; i += len) {
        last = cp;
        len = (size_t)utf8_next(text.p + i, text.n - i, &cp);
        if (!len) {
            len = 1;
            cp = 0;
        }
        if (cp == '\n' && last == '\r')
            continue;
        if (utf8_is_line_end(cp) || cp == '\t')
            buf_puts(out, is_one_line ? " " : cp == '\t' ? "\t" : "\n");
        else if (utf8_is_control(cp))
            buf_puts(out, "\xef\xbf\xbd");
        else if (!term_is_control(cp)) /* as in the model's lines */
            buf_append(out, text.p + i, len);
    }
    return out->failed;
}

int
play_clean_masked(struct redact *redact, struct view text, bool is_one_line,
                  struct buf *out)
{
    AUTO(buf) clean = { 0 };
    int r = play_clean(text, is_one_line, redact ? &clean : out);
    return r < 0 || !redact ? r : redact_text(redact, clean.p, clean.n, out);
}
