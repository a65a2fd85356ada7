/* SPDX-License-Identifier: MIT */
#include "base/json.h"

#include "base/plain_scan.h"
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

/* len 0: no UTF-8. */
static bool
is_plain(int len, uint32_t cp)
{
    return len && cp >= 0x20 && cp != '"' && cp != '\\' && cp != 0x7f && cp != 0x2028 &&
           cp != 0x2029;
}

static void
put_escaped(struct buf *out, int len, uint32_t cp)
{
    if (!len)
        buf_puts(out, "\xef\xbf\xbd");
    else if (cp == '"' || cp == '\\')
        buf_append(out, (const char[]){ '\\', (char)cp }, 2);
    else if (cp == '\n' || cp == '\t' || cp == '\r')
        buf_puts(out, cp == '\n' ? "\\n" : cp == '\t' ? "\\t" : "\\r");
    else
        buf_printf(out, "\\u%04x", cp);
}

/* Most texts need no care: they are written in one go. */
static bool
put_plain(struct json *j, struct view s, bool is_key)
{
    size_t n = plain_scan(s.p, s.n, true);
    uint8_t *p = n < s.n ? NULL : buf_grow(j->out, n + 2 + j->comma + is_key);
    if (!p)
        return false;
    if (j->comma)
        *p++ = ',';
    *p++ = '"';
    if (n)
        memcpy(p, s.p, n);
    p[n] = '"';
    if (is_key)
        p[n + 1] = ':';
    j->comma = !is_key;
    return true;
}

void
json_bytes(struct json *j, struct view s)
{
    if (put_plain(j, s, false))
        return;
    separate(j);
    buf_puts(j->out, "\"");
    size_t run = 0; /* where what needs no care begins */
    for (size_t i = 0; (i += plain_scan(s.p + i, s.n - i, true)) < s.n;) {
        uint32_t cp;
        int len = utf8_next(s.p + i, s.n - i, &cp);
        size_t next = i + (len ? (size_t)len : 1);
        if (!is_plain(len, cp)) {
            buf_append(j->out, s.p + run, i - run);
            put_escaped(j->out, len, cp);
            run = next;
        }
        i = next;
    }
    if (s.n > run)
        buf_append(j->out, s.p + run, s.n - run);
    buf_puts(j->out, "\"");
}

void
json_str(struct json *j, const char *s)
{
    json_bytes(j, (struct view){ (const uint8_t *)s, strlen(s) });
}

void
json_str_or_none(struct json *j, const char *s)
{
    if (s)
        json_str(j, s);
    else
        json_none(j);
}

void
json_key_bytes(struct json *j, struct view key)
{
    if (put_plain(j, key, true))
        return;
    json_bytes(j, key);
    buf_puts(j->out, ":");
    j->comma = false;
}

void
json_key(struct json *j, const char *key)
{
    json_key_bytes(j, (struct view){ (const uint8_t *)key, strlen(key) });
}

void
json_u64(struct json *j, uint64_t v)
{
    separate(j);
    buf_put_u64(j->out, v);
}

void
json_u64_str(struct json *j, uint64_t v)
{
    separate(j);
    buf_puts(j->out, "\"");
    buf_put_u64(j->out, v);
    buf_puts(j->out, "\"");
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

void
json_raw(struct json *j, struct view value)
{
    separate(j);
    buf_append(j->out, value.p, value.n);
}
