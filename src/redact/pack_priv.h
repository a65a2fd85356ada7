/* SPDX-License-Identifier: MIT */
/*
 * pack_priv.h -- compiled rules as bytes: what a scanner needs to know of each rule, the
 * leads that announce a secret, and the two databases of the pattern engine.
 *
 * Two databases, because two questions are asked. Leads are looked for in every byte, in
 * streaming mode: the literal a token begins with, or a telling name and the first byte
 * of its value. They are rare, and say where a secret would start. Shapes are asked only
 * there, in block mode, anchored: which rules match what stands here, and how far.
 */
#ifndef REDACT_PACK_PRIV_H
#define REDACT_PACK_PRIV_H

#include <stdbool.h>

#include "base/buf.h"

enum {
    PACK_MAX = 4096, /* of a rule's length: as much as may be held */
    PACK_SUM = 8,    /* bytes of the sum at the end of a pack */
};

/* How far the text of a candidate reaches. */
enum pack_run {
    PACK_WORD,  /* to white space, a quote, a backslash, '<' or '>' */
    PACK_LINE,  /* to the end of the line, or of the quotes around it */
    PACK_BLOCK, /* key lines up to the END line */
};

/* What a rule asks beyond its pattern. */
enum pack_check {
    PACK_CHECK_NONE,
    PACK_CHECK_CRC32_BASE62,
    PACK_CHECK_BECH32,
    PACK_CHECK_CRC16_BASE32,
    PACK_CHECK_JWT,
    PACK_CHECK_PASSWORD, /* any value of a name that says password */
    PACK_CHECK_SECRET,   /* a value that looks random, of a name that says secret */
    PACK_CHECKS,
};

/* In the rule file's spelling, by enum pack_check. */
extern const char *const pack_check_names[PACK_CHECKS];

struct pack_rule {
    const char *id, *about;
    const char *pattern; /* "": the whole run */
    const char *names;   /* words, separated by spaces; "": not by name */
    const char *then;    /* bytes, one of which must follow; "": any */
    uint32_t entropy;    /* floor, in 1/100 bit a byte */
    uint32_t max;        /* bytes */
    enum pack_run run;
    enum pack_check check;
};

enum pack_lead_kind {
    PACK_LEAD_TOKEN, /* the literal itself; the secret begins with it */
    PACK_LEAD_AFTER, /* a context and the first byte of the secret */
    PACK_LEAD_NAME,  /* a telling name, and the first byte of its value */
    PACK_LEAD_BLOCK, /* the line before a block */
};

struct pack_lead {
    enum pack_lead_kind kind;
    uint32_t rule,
        last_rule;       /* of a name: all from the first to the last that go by name */
    const char *literal; /* of a token, else "" */
    bool has_context;    /* a token behind an `after`: what stands before it is settled */
};

/* Shapes of tokens begin with their literal and are told apart at once; those of values
 * are not, and take longer. So they are asked separately. */
enum pack_shapes { PACK_TOKENS, PACK_VALUES, PACK_SHAPES };

struct pack {
    struct pack_rule *rules;
    struct pack_lead *leads; /* by the id of their expression */
    const char **allow, **off;
    size_t n_rules, n_leads, n_allow, n_off;
    struct view lead_db, shape_dbs[PACK_SHAPES];
};

int pack_write(const struct pack *p, struct buf *out);
/* What the pack points to lies in bytes, which must outlive it. ERR_DAMAGED when they are
 * no pack, or one of another version. */
int pack_read(struct pack *p, struct view bytes);
void pack_release(struct pack *p);
/* Whether the sum at the end of a pack is right: asked of those that come from a disk. */
bool pack_is_sound(struct view bytes);

#endif
