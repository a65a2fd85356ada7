/* SPDX-License-Identifier: MIT */
/*
 * rules_priv.h -- the rule file, read.
 *
 * Plain text: a paragraph a rule, `key value` on each line, the first one `rule ID`; '#'
 * begins a comment. doc/redact-rules.md says what each key means. Used when rules are
 * compiled, never when text is scanned.
 */
#ifndef REDACT_RULES_PRIV_H
#define REDACT_RULES_PRIV_H

#include "base/buf.h"
#include "redact/pack_priv.h"

enum { RULES_MAX = 1024, RULES_EXTRAS_MAX = 4096 };

struct rules_rule {
    struct pack_rule made; /* what goes into the pack */
    const char *after;     /* or NULL; so are the next two */
    const char *keywords;  /* words, separated by spaces */
    const char *hits;
    unsigned line;
};

struct rules {
    struct rules_rule *v;
    size_t n;
    const char **allow, **off;
    size_t n_allow, n_off;
};

/* text is cut into strings in place, and must outlive the rules. The message names path
 * and line. */
int rules_parse(struct rules *r, char *text, const char *path, struct err *err);
void rules_release(struct rules *r);
/* The next word of a list, or n = 0; *at goes on. */
struct view rules_word(const char **at);

#endif
