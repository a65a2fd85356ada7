/* SPDX-License-Identifier: MIT */
/*
 * judge_priv.h -- is this a secret, of which rule, and how far does it reach?
 *
 * Asked once for each candidate, when all of its text is there. The answer depends on
 * nothing else, so that it is the same however the text came.
 */
#ifndef REDACT_JUDGE_PRIV_H
#define REDACT_JUDGE_PRIV_H

#include "redact/redact_priv.h"

enum {
    JUDGE_RULES = 64,
    JUDGE_WRAPS = 64,
    JUDGE_MARGIN = 8,       /* columns that an application may leave free at the right */
    JUDGE_NEXT_LINE = '\n', /* the run ended with its line */
    JUDGE_NEXT_END = -1,    /* with the input */
    JUDGE_NEXT_CUT = -2,    /* it goes on, but nobody may wait any longer */
    JUDGE_NEXT_LONG = -3,   /* it goes on, but is longer than any secret of its rules */
};

/* A line end inside of the text that a terminal would show as a wrap. */
struct judge_wrap {
    size_t at;    /* before text[at] */
    uint32_t col; /* how many bytes the line had */
};

/* What of a line is on its last row: the terminal wraps it, too. */
static inline uint32_t
judge_last_row(uint32_t col, uint32_t cols)
{
    return col ? (col - 1) % cols + 1 : 0;
}

/* Whether a line of that many bytes may have been wrapped: full but for a margin, or,
 * when the width is not known, no short one. */
static inline bool
judge_is_full(uint32_t col, uint32_t cols)
{
    return cols ? judge_last_row(col, cols) + JUDGE_MARGIN >= cols : col >= 24;
}

struct judge_rule {
    uint16_t rule;
    uint16_t
        lead_n; /* bytes of the literal that the secret begins with; 0: it has none */
};

struct judge_sample {
    struct view before; /* on the same line */
    struct view text;   /* from the first byte of the secret to the end of the run */
    int next;           /* the byte behind it, or one of JUDGE_NEXT_… */
    const struct judge_rule *rules; /* in the order of their numbers */
    size_t n_rules;
    const struct judge_wrap *wraps;
    size_t n_wraps;
    uint32_t cols; /* of the terminal; 0: not known */
};

struct judge_verdict {
    uint32_t rule;
    size_t end;   /* in text */
    bool is_open; /* the secret goes on behind the cut */
};

/* 1: a secret; 0: none; else an error. */
int judge(struct redact *r, const struct judge_sample *s, struct judge_verdict *ret);

/* -- its parts -- */

/* The first n bytes of the text, with `next` behind them: the first rule that says yes.
 */
int judge_as(struct redact *r, const struct judge_sample *s, size_t n, int next,
             struct judge_verdict *ret);
/* How far any of the patterns reaches into the text, line ends or not. */
size_t judge_reach(struct redact *r, const struct judge_sample *s, int *ret_error);
/* wrap.c: the text up to the first line end, and as much behind it as belongs to it. */
int judge_wrapped(struct redact *r, const struct judge_sample *s,
                  struct judge_verdict *ret);
/* stump.c: a secret of which only the beginning has come. */
int judge_stump(struct redact *r, const struct judge_sample *s,
                struct judge_verdict *ret);
/* stump.c: what follows a secret without a gap, up to the end of the input, may be of a
 * longer one. */
void judge_take_rest(const struct redact *r, const struct judge_sample *s,
                     struct judge_verdict *v);

#endif
