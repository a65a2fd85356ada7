/* SPDX-License-Identifier: MIT */
#include "base/err.h"

#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

__attribute__((format(printf, 3, 0))) static void
fill(struct err *err, int code, const char *fmt, va_list ap)
{
    err->code = code;
    vsnprintf(err->text, sizeof(err->text), fmt, ap);
}

int
err_set(struct err *err, int code, const char *fmt, ...)
{
    if (err) {
        va_list ap;
        va_start(ap, fmt);
        fill(err, code, fmt, ap);
        va_end(ap);
    }
    return code;
}

static const char *
reason(int code)
{
    switch (code) {
    case ERR_DAMAGED:
        return "it is damaged";
    case ERR_BUSY:
        return "somebody else is at it";
    case ERR_LIMIT:
        return "it is too long or too large";
    default:
        return strerror(-code);
    }
}

__attribute__((format(printf, 3, 0))) static int
with_reason(struct err *err, int code, const char *fmt, va_list ap)
{
    int told = code == -ENOENT ? ERR_MISSING : code;
    if (err) {
        fill(err, told, fmt, ap);
        size_t n = strlen(err->text);
        snprintf(err->text + n, sizeof(err->text) - n, ": %s", reason(code));
    }
    return told;
}

int
err_sys(struct err *err, const char *fmt, ...)
{
    int code = -errno;
    va_list ap;
    va_start(ap, fmt);
    code = with_reason(err, code, fmt, ap);
    va_end(ap);
    return code;
}

int
err_code(struct err *err, int code, const char *fmt, ...)
{
    va_list ap;
    va_start(ap, fmt);
    code = with_reason(err, code, fmt, ap);
    va_end(ap);
    return code;
}
