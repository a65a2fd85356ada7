/* SPDX-License-Identifier: MIT */
#include "base/json.h"

#include <inttypes.h>

#include "base/utf8.h"

static void
separate(struct json *j)
{
    if (j->comma)
        buf_puts(j->out, ",");
    j->comma = true;
}

void
json_open(struct json *j, char bracket)
{
    separate(j);
    buf_append(j->out, &bracket, 1);
    j->comma = false;
}

void
json_close(struct json *j, char bracket)
{
    buf_append(j->out, &bracket, 1);
    j->comma = true;
}

static void
put_escaped(struct buf *out, const uint8_t *p, size_t len, uint32_t cp)
{
    if (cp == '"' || cp == '\\')
        buf_printf(out, "\\%c", (int)cp);
    else if (cp < 0x20 || cp == 0x7f || cp == 0x2028 || cp == 0x2029)
        buf_printf(out, "\\u%04x", cp);
    else
        buf_append(out, p, len);
}

void
json_bytes(struct json *j, struct view s)
{
    separate(j);
    buf_puts(j->out, "\"");
    for (size_t i = 0; i < s.n;) {
        uint32_t cp;
        int len = utf8_next(s.p + i, s.n - i, &cp);
        if (len)
            put_escaped(j->out, s.p + i, (size_t)len, cp);
        else
            buf_puts(j->out, "\xef\xbf\xbd");
        i += len ? (size_t)len : 1;
    }
    buf_puts(j->out, "\"");
}

void
json_str(struct json *j, const char *s)
{
    json_bytes(j, (struct view){ (const uint8_t *)s, strlen(s) });
}

void
json_key(struct json *j, const char *key)
{
    json_str(j, key);
    buf_puts(j->out, ":");
    j->comma = false;
}

void
json_u64(struct json *j, uint64_t v)
{
    separate(j);
    buf_printf(j->out, "%" PRIu64, v);
}

void
json_u64_str(struct json *j, uint64_t v)
{
    separate(j);
    buf_printf(j->out, "\"%" PRIu64 "\"", v);
}

void
json_bool(struct json *j, bool v)
{
    separate(j);
    buf_puts(j->out, v ? "true" : "false");
}

void
json_none(struct json *j)
{
    separate(j);
    buf_puts(j->out, "null");
}
