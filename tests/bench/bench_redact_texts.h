/* SPDX-License-Identifier: MIT */
/* bench_redact_texts.h -- texts for the secret scanner: ordinary, full of secrets, and
 * hostile. */
#ifndef BENCH_REDACT_TEXTS_H
#define BENCH_REDACT_TEXTS_H

#include <stdbool.h>

#include "base/buf.h"

struct bench_text {
    const char *name;
    bool is_terminal;
    bool is_asked; /* a speed is, by the issue */
    void (*make)(struct buf *out, size_t n);
    const char *head, *body; /* without `make`: once, and over and over */
};

/* Each ends with one that has no name. */
extern const struct bench_text bench_ordinary[], bench_hostile_texts[];

/* Appends n bytes or a little more; aborts when it cannot. */
void bench_text_make(const struct bench_text *t, struct buf *out, size_t n);
/* NULL: there is none of that name. */
const struct bench_text *bench_text_find(const char *name);

#endif
