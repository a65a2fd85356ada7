/* SPDX-License-Identifier: MIT */
#include "turn/content.h"

#include "turn/fields.h"

struct view
turn_content_text(struct view content, struct buf *out)
{
    if (!content.n || content.p[0] != '[')
        return content.n && content.p[0] == '{' ? content : turn_text(content, out);
    struct view type = { 0 }, text = { 0 };
    const struct turn_field wanted[] = { { "type", &type }, { "text", &text } };
    buf_clear(out);
    for (; turn_known_next(&content, wanted, 2); type = text = (struct view){ 0 }) {
        if (out->n)
            buf_puts(out, "\n");
        if (turn_str(text, out))
            continue;
        buf_puts(out, "[");
        if (!turn_str(type, out))
            buf_puts(out, "?");
        buf_puts(out, "]");
    }
    return (struct view){ out->p, out->n };
}
