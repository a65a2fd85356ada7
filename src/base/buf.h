/* SPDX-License-Identifier: MIT */
/*
 * buf.h -- growable bytes with a ceiling, and borrowed bytes.
 *
 * A buf that would pass its ceiling (or the memory) stays as it is and the call says
 * ERR_LIMIT or -ENOMEM; the failure is also remembered (`failed`), so that a run of
 * appends may be checked once at its end.
 */
#ifndef BASE_BUF_H
#define BASE_BUF_H

#include <stddef.h>
#include <stdint.h>

#include "base/auto.h"
#include "base/err.h"

struct view {
    const uint8_t *p;
    size_t n;
};

struct buf {
    uint8_t *p;
    size_t n;
    size_t cap;
    size_t ceiling; /* 0: BUF_CEILING */
    int failed;     /* first error of an append, else 0 */
};

enum { BUF_CEILING = 64 << 20 };

void buf_release(struct buf *b);
/* Forget the contents and the failure; the memory stays. */
void buf_clear(struct buf *b);
/* Forget the first n bytes. */
void buf_drop(struct buf *b, size_t n);
/* Give back the memory behind the contents. */
void buf_shrink(struct buf *b);
/* Room for `more` bytes behind the contents. */
int buf_reserve(struct buf *b, size_t more);
/* Grow by n bytes whose values the caller sets; NULL on failure. */
uint8_t *buf_grow(struct buf *b, size_t n);
int buf_append(struct buf *b, const void *p, size_t n);
int buf_puts(struct buf *b, const char *s);
/* In decimal. */
int buf_put_u64(struct buf *b, uint64_t v);
/* 1234567 as 1,234,567 */
int buf_put_grouped(struct buf *b, uint64_t v);
int buf_printf(struct buf *b, const char *fmt, ...) __attribute__((format(printf, 2, 3)));
/* The contents as a C string (a NUL stands behind them); "" when out of memory. */
const char *buf_str(struct buf *b);

/* How many bytes they begin alike with. */
size_t view_common(struct view a, struct view b);
/* Without such bytes at its ends. */
struct view view_trim(struct view v, const char *bytes);

#endif
