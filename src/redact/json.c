/* SPDX-License-Identifier: MIT */
#include "redact/json.h"

#include "base/json.h"
#include "base/json_in.h"

/* A string with its quotes. */
static int
put_string(struct redact *r, struct view raw, struct buf *out)
{
    AUTO(buf) text = { .ceiling = raw.n + 1 };
    AUTO(buf) masked = { .ceiling = out->ceiling };
    struct json_in in = { .p = raw.p, .end = raw.p + raw.n };
    struct json j = { .out = out };
    if (!memchr(raw.p, '\\', raw.n))
        return buf_append(out, raw.p, raw.n);
    if (!json_in_str(&in, &text) || text.failed)
        return text.failed ? text.failed : ERR_DAMAGED;
    int e = redact_text(r, text.p, text.n, &masked);
    if (e < 0)
        return e;
    if (masked.n == text.n && (!text.n || !memcmp(masked.p, text.p, text.n)))
        return buf_append(out, raw.p, raw.n);
    json_bytes(&j, (struct view){ masked.p, masked.n });
    return out->failed;
}

static int
put_strings(struct redact *r, struct view json, struct buf *out)
{
    size_t start = 0;
    int e = 0;
    for (size_t i = 0; i < json.n && e >= 0;) {
        if (json.p[i] != '"') {
            i++;
            continue;
        }
        buf_append(out, json.p + start, i - start);
        start = json_in_string_end(json, i + 1);
        e = put_string(r, (struct view){ json.p + i, start - i }, out);
        i = start;
    }
    return e < 0 ? e : buf_append(out, json.p + start, json.n - start);
}

int
redact_json(struct redact *r, struct view json, struct buf *out)
{
    AUTO(buf) masked = { .ceiling = out->ceiling };
    int e = redact_text(r, json.p, json.n, &masked);
    struct view v = { masked.p, masked.n };
    if (e < 0)
        return e;
    return json_in_is_one(v) ? put_strings(r, v, out) : buf_append(out, v.p, v.n);
}
