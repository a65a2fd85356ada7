/* SPDX-License-Identifier: MIT */
/*
 * err.h -- how a failure is told.
 *
 * Functions return 0 or a count, else a negative code: -errno or one of ERR_…. Where a
 * person will read the reason, the last parameter is a struct err, filled once where most
 * is known; callers may put context in front. Only cli/ and main.c print it.
 */
#ifndef BASE_ERR_H
#define BASE_ERR_H

#include "base/banned.h"

/* Below every errno. cli_exit_status() turns each into the program's exit status. */
enum {
    ERR_USAGE = -10001,   /* wrong command line */
    ERR_MISSING = -10002, /* no such session or file */
    ERR_DAMAGED = -10003, /* data is damaged; what could be read was delivered */
    ERR_BUSY = -10004,    /* somebody else is at it */
    ERR_LIMIT = -10005,   /* over a ceiling */
    ERR_NEWER = -10006,   /* made by a newer ahr */
};

struct err {
    int code;
    char text[512];
};

/* Each returns the code that it stored, so that callers can `return err_…(…)`; err may be
 * NULL. */
int err_set(struct err *err, int code, const char *fmt, ...)
    __attribute__((format(printf, 3, 4)));
/* As err_set with -errno, and ": <strerror>" behind the text. ENOENT becomes ERR_MISSING.
 */
int err_sys(struct err *err, const char *fmt, ...) __attribute__((format(printf, 2, 3)));
/* The same for a negative errno at hand. */
int err_code(struct err *err, int code, const char *fmt, ...)
    __attribute__((format(printf, 3, 4)));

#endif
