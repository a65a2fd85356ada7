/* SPDX-License-Identifier: MIT */
/* bench_redact_pcre.h -- the same rules through PCRE2 with its JIT, one after the other:
 * what a scanner does that has one pattern a rule. */
#ifndef BENCH_REDACT_PCRE_H
#define BENCH_REDACT_PCRE_H

#include "redact/redact.h"

struct bench_pcre;

/* ret_taken: how many rules it could compile. */
struct bench_pcre *bench_pcre_new(const struct redact *r, size_t *ret_taken);
void bench_pcre_free(struct bench_pcre *b);
/* How many matches there are of all rules. */
size_t bench_pcre_scan(struct bench_pcre *b, struct view text);

#endif
