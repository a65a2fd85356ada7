/* SPDX-License-Identifier: MIT */
#include "cli/path.h"

#include "base/utf8.h"
#include "term/width.h"

/* Of the n bytes at p the first character, if it can stand as it is; else 0. */
static size_t
plain(const uint8_t *p, size_t n)
{
    uint32_t cp;
    int len = utf8_next(p, n, &cp);
    bool is_odd = len <= 0 || cp < 0x20 || cp == '"' || cp == '\\' || term_is_control(cp);
    return is_odd ? 0 : (size_t)len;
}

static bool
is_plain(const uint8_t *p, size_t n)
{
    if (!n || p[0] == ' ' || p[n - 1] == ' ')
        return false;
    for (size_t i = 0, len; i < n; i += len)
        if (!(len = plain(p + i, n - i)))
            return false;
    return true;
}

static void
put_escaped(struct buf *out, uint8_t byte)
{
    static const char named[] = "\a\b\t\n\v\f\r\"\\", letters[] = "abtnvfr\"\\";
    const char *at = byte ? strchr(named, byte) : NULL;
    if (at)
        buf_printf(out, "\\%c", letters[at - named]);
    else
        buf_printf(out, "\\%03o", byte);
}

void
cli_path_put(struct buf *out, const char *path)
{
    const uint8_t *p = (const uint8_t *)path;
    size_t n = strlen(path);
    if (is_plain(p, n)) {
        buf_append(out, p, n);
        return;
    }
    buf_puts(out, "\"");
    for (size_t i = 0; i < n;) {
        size_t len = plain(p + i, n - i);
        if (len)
            buf_append(out, p + i, len);
        else
            put_escaped(out, p[i]);
        i += len ? len : 1;
    }
    buf_puts(out, "\"");
}

void
cli_path_json(struct json *j, const char *key, const char *path)
{
    static const char digits[] = "0123456789abcdef";
    size_t n = strlen(path);
    json_key(j, key);
    json_str(j, path);
    if (utf8_is_text(path, n))
        return;
    AUTO(buf) name = { 0 };
    AUTO(buf) hex = { 0 };
    buf_printf(&name, "%s_bytes", key);
    for (size_t i = 0; i < n; i++) {
        uint8_t byte = (uint8_t)path[i];
        buf_append(&hex, (const char[]){ digits[byte >> 4], digits[byte & 15] }, 2);
    }
    json_key(j, buf_str(&name));
    json_str(j, buf_str(&hex));
}
