/* SPDX-License-Identifier: MIT */
/*
 * findings.h -- the secrets in a stream: line, column, and the text around them.
 *
 * What is shown of the stream is always masked. Only a window of it is kept, so that
 * lines may be of any length.
 */
#ifndef CLI_FINDINGS_H
#define CLI_FINDINGS_H

#include "redact/redact.h"

struct cli_finding {
    const char *rule;
    uint64_t start, end;   /* bytes of the stream */
    uint64_t line, column; /* of its first byte, from 1; columns are bytes */
    struct view excerpt;   /* its line or a part of that, without control characters */
};

/* In the order of the stream. Negative: feeding ends with that. */
typedef int (*cli_finding_fn)(void *ctx, const struct cli_finding *f);

struct cli_found;

struct cli_findings {
    struct redact_stream *stream;
    cli_finding_fn fn;
    void *ctx;
    struct buf masked;      /* the window */
    uint64_t masked_start;  /* byte of the stream that it begins with */
    struct cli_found *list; /* by start; those before `told` serve as masks only */
    size_t count, cap, told;
    uint64_t lines;        /* that have begun */
    uint64_t *line_starts; /* where the latest of them did, a ring */
    struct buf excerpt;
    int failed;
};

/* The redact must outlive it. */
int cli_findings_init(struct cli_findings *f, struct redact *redact, bool is_terminal,
                      uint32_t cols, cli_finding_fn fn, void *ctx);
void cli_findings_release(struct cli_findings *f);
int cli_findings_feed(struct cli_findings *f, const void *p, size_t n);
/* The end of a stream; the next one may follow. */
int cli_findings_end(struct cli_findings *f);

#endif
