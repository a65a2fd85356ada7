/* SPDX-License-Identifier: MIT */
/*
 * rewrite.h -- a session.wire.jsonl once more, with other secrets masked in it.
 *
 * Line by line, in their order. Bodies that are told by others are told anew, as those
 * have other bytes now; the texts in the events of a reply are searched as the one text
 * that they are. What is no line of such a file is left out, and so is a body of which
 * something is missing: nobody could look through it.
 */
#ifndef CALLS_REWRITE_H
#define CALLS_REWRITE_H

#include "base/err.h"
#include "redact/redact.h"

/* Functions return an error (< 0), which ends it and is returned, or 0. */
struct calls_rewrite_options {
    struct redact *secrets; /* borrowed */
    /* Appends the text, or JSON, without them. */
    int (*mask)(void *ctx, struct view text, struct buf *out);
    /* Something was masked in events, which `mask` was not asked for. */
    void (*found)(void *ctx, size_t bytes);
    int (*write)(void *ctx, struct view lines);
    void *ctx;
};

/* *ret_dropped: so many lines were left out. */
int calls_rewrite(const char *path, const struct calls_rewrite_options *opt,
                  uint64_t *ret_dropped, struct err *err);

#endif
