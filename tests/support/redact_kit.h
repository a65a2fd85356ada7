/* SPDX-License-Identifier: MIT */
/*
 * redact_kit.h -- texts with secrets in them, and what the scanner must make of each.
 *
 * A sample is one string. [[rule:secret]] stands around what is to be masked, [[+:more]]
 * around what goes on with the secret before (a sequence may lie between). Secrets are
 * made when the test runs, so that none stands in the source:
 *
 *     <alnum*36>  36 letters and digits; also digit, lower, upper, hex, b64, b64url
 *     <ghp>       a token of GitHub's       <jwt*900>  a web token of about that length
 *     <begin> <end>  the lines around a private key
 */
#ifndef REDACT_KIT_H
#define REDACT_KIT_H

#include "redact/redact.h"
#include "term/term.h"

enum { KIT_FINDS_MAX = 64 };

struct kit_finds {
    struct redact_find v[KIT_FINDS_MAX];
    size_t n;
};

struct kit_sample {
    struct buf in;
    struct buf text;  /* with [REDACTED:rule] */
    struct buf stars; /* of the same length */
    struct kit_finds finds;
    char rules[KIT_FINDS_MAX][65];
};

void kit_sample_init(struct kit_sample *s, const char *sample);
void kit_sample_release(struct kit_sample *s);
/* Appends what a sample's <…> stand for; `rng` is the state of the generator. */
void kit_expand(struct buf *out, const char *sample, uint32_t *rng);

/* For cmocka's groups: *state is the scanner with the rules that are built in. */
int kit_open(void **state);
int kit_close(void **state);

/* All of the input in pieces, and the end. `finds` may be NULL. */
void kit_run(struct redact *r, struct redact_options opt, struct view in, size_t piece,
             struct buf *out, struct kit_finds *finds);
/* The sample comes out as it says: in one piece, in single bytes and in others, as text
 * and with stars; and it is found where it says. */
void kit_check(struct redact *r, const char *sample, struct redact_options opt);
void kit_check_all(struct redact *r, const char *const *samples,
                   struct redact_options opt);
/* What came and what should have; fails the test when they differ. */
void kit_same(struct view got, struct view want, const char *what);
/* A terminal of that many columns and twelve rows that was fed with these bytes. */
struct term *kit_shown(const struct buf *bytes, unsigned cols);

#endif
