/* SPDX-License-Identifier: MIT */
#include "journal/base64_priv.h"

static const char letters[] =
    "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";

void
journal_base64_put(struct view bytes, struct buf *out)
{
    for (size_t i = 0; i < bytes.n; i += 3) {
        size_t n = bytes.n - i < 3 ? bytes.n - i : 3;
        uint32_t v = (uint32_t)bytes.p[i] << 16;
        v |= n > 1 ? (uint32_t)bytes.p[i + 1] << 8 : 0;
        v |= n > 2 ? bytes.p[i + 2] : 0;
        char group[4] = { letters[v >> 18], letters[v >> 12 & 63], letters[v >> 6 & 63],
                          letters[v & 63] };
        for (size_t pad = n + 1; pad < 4; pad++)
            group[pad] = '=';
        buf_append(out, group, sizeof(group));
    }
}

/* Of four letters: how many bytes they are, 0: none. */
static size_t
read_group(const uint8_t *p, bool is_last, uint8_t ret[3])
{
    uint32_t v = 0;
    size_t pads = !is_last || p[3] != '=' ? 0 : p[2] == '=' ? 2 : 1;
    for (size_t i = 0; i < 4; i++) {
        const char *letter = i < 4 - pads && p[i] ? strchr(letters, p[i]) : letters;
        if (!letter || (i < 4 - pads && !p[i]))
            return 0;
        v = v << 6 | (uint32_t)(letter - letters);
    }
    ret[0] = (uint8_t)(v >> 16);
    ret[1] = (uint8_t)(v >> 8);
    ret[2] = (uint8_t)v;
    return 3 - pads;
}

bool
journal_base64_read(struct view text, struct buf *out)
{
    size_t before = out->n;
    bool is_good = text.n % 4 == 0;
    for (size_t i = 0; is_good && i < text.n; i += 4) {
        uint8_t bytes[3];
        size_t n = read_group(text.p + i, i + 4 == text.n, bytes);
        is_good = n && buf_append(out, bytes, n) == 0;
    }
    if (!is_good)
        out->n = before;
    return is_good;
}
