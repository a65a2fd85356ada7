/* SPDX-License-Identifier: MIT */
/* redact_priv.h -- the rules at work: packs, their engines, and what is derived from
 * them. */
#ifndef REDACT_REDACT_PRIV_H
#define REDACT_REDACT_PRIV_H

#include "redact/engine_priv.h"
#include "redact/pack_priv.h"
#include "redact/redact.h"

enum { REDACT_PACKS = 2 }; /* built in, and the user's */

/* Leads and rules are numbered through all packs; the user's come first, as they are more
 * special. */
struct redact_pack {
    struct pack pack;
    struct engine *engine;
    struct buf bytes; /* of the user's */
    uint32_t first_rule, first_lead;
};

struct texts;

struct redact_literal {
    const char *text;
    size_t n;
    bool has_context;
};

struct redact {
    struct redact_pack packs[REDACT_PACKS];
    size_t n_packs;
    uint32_t n_rules, n_leads;
    const struct pack_rule **rules; /* borrowed from the packs */
    const struct pack_lead **leads;
    uint32_t *lead_rules;            /* the rule of a lead, numbered through */
    bool *is_off;                    /* by rule */
    uint32_t *ends;                  /* by rule: room for engine_shapes() */
    struct redact_literal *literals; /* what tokens begin with, sorted */
    size_t n_literals, literal_max;
    bool begins_literal[256];    /* by first byte */
    uint64_t pairs[65536 / 64];  /* by the first two: bits */
    struct redact_stream *whole; /* for redact_text(); NULL: not made yet */
    struct texts *texts; /* what is looked for instead of all that; NULL: nothing */
    struct pack_rule texts_rule;
};

/* Which rules match at the start of text, and how far: in ends, which goes on collecting
 * until it is cleared. */
int redact_ask_shapes(struct redact *r, enum pack_shapes which, struct view text);
void redact_clear_ends(struct redact *r);
/* Whether text, which ends where the input ends for now, may be the beginning of a
 * token's lead. starts_word: it stands where a token may begin. */
bool redact_may_lead(const struct redact *r, struct view text, bool starts_word);
/* The last of the input, and its end: feed and flush at once. */
int redact_stream_last(struct redact_stream *s, struct view text, struct buf *out);
/* By an `allow` line of any pack. */
bool redact_is_allowed(const struct redact *r, struct view secret);

#endif
